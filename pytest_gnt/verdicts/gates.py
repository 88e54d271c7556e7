"""Decisions over many cases: an absolute bound, a worsening against the baseline, or too little to tell.

How the false-alarm rate of a whole run is kept below 5%, and why missing cases cannot turn a run green, is explained
in docs/gates.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_gnt.verdicts.baseline import Baseline
from pytest_gnt.verdicts.changes import Pair, align
from pytest_gnt.verdicts.comparison import compare, estimate
from pytest_gnt.verdicts.decisions import ALPHA, Draft, GateResult, Verdict, decide, gate_name, is_red
from pytest_gnt.verdicts.entry import Entry, entries_of
from pytest_gnt.verdicts.measures import DELTA, Measure, Row, measure_named
from pytest_gnt.verdicts.noise import run_noise
from pytest_gnt.verdicts.resampling import RESAMPLES
from pytest_gnt.verdicts.results import CaseResult
from pytest_gnt.verdicts.rules import DEFAULT_RULES, GateRule
from pytest_gnt.verdicts.samples import Frame, Stratum, observe, observer, samples, stratum_of

__all__ = [
    "DEFAULT_RULES",
    "GateResult",
    "GateRule",
    "GateSettings",
    "Verdict",
    "decide",
    "evaluate",
    "is_red",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """How gates decide.

    Attributes:
        rules: one gate a rule and stratum.
        alpha: the most that a run of an unchanged system may be red, over all its gates together.
        seed: of every resampling.
        resamples: of the bootstrap.
        delta: a word is kind above, harsh below this score (AmbGIMT, δ).
    """

    rules: tuple[GateRule, ...] = DEFAULT_RULES
    alpha: float = ALPHA
    seed: int = 0
    resamples: int = RESAMPLES
    delta: float = DELTA


def evaluate(
    results: Iterable[CaseResult | Entry],
    baselines: Mapping[str, Baseline] | None = None,
    settings: GateSettings | None = None,
    *,
    partial: bool = False,
    known: Collection[str] | None = None,
    repeats: Sequence[Iterable[CaseResult | Entry]] = (),
    incomparable: Mapping[str, Collection[str]] | None = None,
) -> list[GateResult]:
    """Every gate of a run, in order of corpus, rule and stratum.

    Args:
        results: the run. Their order does not matter.
        baselines: corpus → baseline; without one, a gate has its absolute bounds only.
        settings: rules and levels.
        partial: the run was filtered or sampled, see `pytest_gnt.verdicts.changes.align`.
        known: ids of all cases that the corpora hold, see there.
        repeats: further runs of the same system on the same cases; gates widen by the noise between them.
        incomparable: corpus → signature keys in which run and baseline differ (``judge``, ``corpus`` …): gates that
            depend on them are not compared.

    Raises:
        GntError: a rule names an unknown measure.
        ValueError: a case id occurs twice.
    """
    settings = settings or GateSettings()
    stored = baselines or {}
    by_corpus: dict[str, list[Entry]] = {corpus: [] for corpus in stored}
    for entry in entries_of(results):
        by_corpus.setdefault(entry.corpus, []).append(entry)
    further = [[*entries_of(run)] for run in repeats]
    found: list[GateResult | Draft] = []
    for corpus in sorted(by_corpus):
        baseline = stored.get(corpus)
        run = _Run(
            corpus,
            by_corpus[corpus],
            Frame(
                align(baseline.entries if baseline else {}, by_corpus[corpus], partial=partial, known=known),
                partial=partial,
            ),
            baseline is not None,
            frozenset((incomparable or {}).get(corpus, ())),
            [[entry for entry in entries if entry.corpus == corpus] for entries in further],
        )
        if baseline is not None:
            found.append(_coverage(run))
        for rule in settings.rules:
            if rule.corpora is None or corpus in rule.corpora:
                found.extend(_drafts(run, rule, settings))
    drafts = [draft for draft in found if isinstance(draft, Draft)]
    decided = iter(decide(drafts, settings.alpha))
    return [next(decided) if isinstance(gate, Draft) else gate for gate in found]


@dataclass(frozen=True, slots=True)
class _Run:
    corpus: str
    entries: list[Entry]
    frame: Frame
    has_baseline: bool
    incomparable: frozenset[str]
    repeats: list[list[Entry]]

    def alone(self) -> Frame:
        """The run's cases without the baseline's."""
        return Frame([Pair(None, entry) for entry in sorted(self.entries, key=lambda entry: entry.id)])


def _drafts(run: _Run, rule: GateRule, settings: GateSettings) -> list[Draft]:
    measure = measure_named(rule.measure, delta=settings.delta)
    blocked = tuple(sorted(run.incomparable & set(measure.depends)))
    compared = run.has_baseline and not blocked
    frame = run.frame if compared else run.alone()
    found = samples(observe(measure, frame), frame, rule.by)
    runs = [observer(measure, entries) for entries in (run.entries, *run.repeats)] if run.repeats else []
    drafts = []
    for place, sample in found.items():
        own = rule.within(place)
        name = gate_name(run.corpus, place, measure.name)
        draft = Draft(
            corpus=run.corpus,
            stratum=place,
            measure=measure,
            rule=own,
            sample=sample,
            estimate=estimate(measure, sample, settings.seed, settings.resamples),
            noise=_noise(measure, place, rule, run, runs),
            blocked=blocked,
        )
        if compared and own.max_drop is not None:
            draft = replace(
                draft, comparison=compare(measure, sample, name, settings.seed, resamples=settings.resamples)
            )
        drafts.append(draft)
    return drafts


def _noise(
    measure: Measure, place: Stratum, rule: GateRule, run: _Run, runs: Sequence[Callable[[str], Row | None]]
) -> float | None:
    if not runs:
        return None
    ids = sorted(entry.id for entry in run.entries if stratum_of(entry, rule.by) == place)
    return run_noise(measure, ids, runs)


def _coverage(run: _Run) -> GateResult:
    """Whether the baseline's cases are still there: a smaller or another set of cases proves nothing."""
    stored = [pair for pair in run.frame.pairs if pair.before is not None]
    gone = sum(pair.gone for pair in stored)
    other = sum(not pair.comparable for pair in stored)
    share = 1 - (gone + other) / len(stored) if stored else None
    verdict, why = Verdict.PASS, f"all {len(stored)} cases of the baseline that were to run are there"
    if not stored:
        verdict, why = Verdict.UNDECIDED, "no case of the baseline was run"
    elif gone or other:
        verdict = Verdict.FAIL
        why = (
            f"of {len(stored)} cases of the baseline {gone} are gone and {other} have another source sentence; if that "
            "is meant, store a new baseline"
        )
    elif missing := () if run.frame.partial else _tests_missing(stored):
        verdict, why = Verdict.UNDECIDED, f"tests of the baseline that did not run: {', '.join(missing)}"
    return GateResult(
        name=gate_name(run.corpus, (), "coverage"),
        measure="coverage",
        title="cases of the baseline that can be compared",
        unit="share",
        better="higher",
        corpus=run.corpus,
        stratum={},
        verdict=verdict,
        severity="fail",
        value=share,
        n=len(stored),
        compared=len(stored) - gone - other,
        gone=gone,
        other_source=other,
        why=why,
    )


def _tests_missing(stored: Sequence[Pair]) -> list[str]:
    names = {
        name for pair in stored if pair.before and pair.after for name in pair.before.tests.keys() - pair.after.tests
    }
    return sorted(names)
