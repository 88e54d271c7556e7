"""Two runs side by side: every rate with its change, and the cases behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pytest_gnt.verdicts.baseline import Baseline
from pytest_gnt.verdicts.changes import Change, ChangeKind, Pair, align, by_id, changes, count_changes
from pytest_gnt.verdicts.comparability import differences
from pytest_gnt.verdicts.comparison import compare
from pytest_gnt.verdicts.decisions import gate_name
from pytest_gnt.verdicts.entry import Entry, entries_of
from pytest_gnt.verdicts.measures import DELTA, NAMES, Measure, measure_named
from pytest_gnt.verdicts.resampling import RESAMPLES
from pytest_gnt.verdicts.results import CaseResult, read_results, read_summary
from pytest_gnt.verdicts.samples import Frame, Sample, Stratum, observe, samples
from pytest_gnt.verdicts.statistics import holm
from pytest_gnt.verdicts.words import Segment, word_diff

LEVELS = ((), ("lang",), ("lang", "gender"), ("lang", "identity"))
"""How rates are divided: over all, by language, and within it by stated gender and by identity."""

POINTS_PER_NAT = 10
MOVE_POINTS = 10.0
_SHOWN = (
    ChangeKind.REGRESSED,
    ChangeKind.LOST,
    ChangeKind.UNSCORED_FAILING,
    ChangeKind.FAILING_UNSCORED,
    ChangeKind.FIXED,
    ChangeKind.RECOVERED,
)


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One side of a diff: a run or baselines. ``signatures``: corpus → signature."""

    name: str
    cases: Iterable[CaseResult | Entry]
    signatures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """One measure in one stratum, on the cases that both sides have a value for.

    Attributes:
        before, after, delta: in the measure's unit; delta = after − before.
        low, high: 95% interval of delta.
        p, p_holm: two-sided p-value; after Holm's correction over the rows of the same level of division.
        compared: number of cases; lost, recovered: cases whose value is missing after, or was missing before.
        trend: ``worse`` or ``better`` where p_holm ≤ 0.05, else ``same``.
    """

    corpus: str
    stratum: Mapping[str, str]
    measure: str
    title: str
    unit: str
    better: str
    before: float | None
    after: float | None
    delta: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    compared: int
    lost: int
    recovered: int
    trend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One case whose outcome (``kind``) or whose scores moved.

    Attributes:
        test: the test function; empty for cases whose scores moved and whose outcome did not.
        source: None where both sides are baselines, which do not store it.
        words: the way from one translation to the other.
        phrases_before, phrases_after: the judge's phrases, where a side is a run.
        scores: metric → change, in points; ``attitude`` → change of the target word's attitude, in nats.
        size: the largest change in points of 100; a nat of attitude counts for 10.
    """

    id: str
    kind: str
    test: str
    lang: str
    source: str | None
    before: str | None
    after: str | None
    words: tuple[Segment, ...]
    judged_before: str | None
    judged_after: str | None
    phrases_before: tuple[Mapping[str, Any], ...]
    phrases_after: tuple[Mapping[str, Any], ...]
    reason: str | None
    scores: Mapping[str, float]
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two runs compared.

    Attributes:
        before, after: names of the sides.
        reasons: why numbers cannot be compared, by corpus; empty where they can.
        notes: what a reader should know.
        counts: tests by kind of change.
        rows: rates and means.
        flips: changed outcomes, worst first, then by size.
        moves: cases of the same outcome whose scores moved by 10 points or more, largest first.
        gone, new, other_source: case ids.
    """

    before: str
    after: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    counts: Mapping[str, int]
    rows: tuple[DiffRow, ...]
    flips: tuple[Flip, ...]
    moves: tuple[Flip, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    other_source: tuple[str, ...]

    @property
    def regressed(self) -> bool:
        """Whether the second side is worse anywhere: a test that passed does not, or a number fell significantly."""
        single = self.counts[ChangeKind.REGRESSED] + self.counts[ChangeKind.LOST]
        return single > 0 or self.significantly_worse

    @property
    def significantly_worse(self) -> bool:
        """Whether any number fell significantly."""
        return any(row.trend == "worse" for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Plain builtins. Segments of words become ``{"op": …, "text": …}``."""
        data = asdict(self)
        for name in ("flips", "moves"):
            data[name] = [
                row | {"words": [segment._asdict() for segment in flip.words]}
                for row, flip in zip(data[name], getattr(self, name), strict=True)
            ]
        for name in ("rows", "reasons", "notes", "gone", "new", "other_source"):
            data[name] = list(data[name])
        return {"schema": 1, **data, "regressed": self.regressed}


def side_of_baselines(name: str, baselines: Sequence[Baseline]) -> DiffSide:
    """Stored baselines of one model as a side."""
    entries = [entry for baseline in baselines for entry in baseline.entries.values()]
    return DiffSide(name, entries, {baseline.corpus: baseline.signature for baseline in baselines})


def side_of_report(folder: Path, name: str | None = None) -> DiffSide:
    """A report folder as a side; its name is the model's unless given.

    Raises:
        GntError: the folder holds no finished run, or its files cannot be read.
    """
    summary = read_summary(folder)
    signatures = summary.get("signature") or {}
    return DiffSide(name or str(summary.get("model", {}).get("name", folder.name)), read_results(folder), signatures)


def compare_sides(
    before: DiffSide,
    after: DiffSide,
    *,
    partial: bool = False,
    delta: float = DELTA,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Diff:
    """Compare two sides, case by case and in their numbers.

    Args:
        before: the side that is measured against.
        after: the side that is looked at.
        partial: the second side was filtered: cases and tests that it does not have are not gone.
        delta: a word is kind above, harsh below this score.
        seed: of the resampling.
        resamples: of the bootstrap.

    Raises:
        GntError: a side cannot be read, or a signature is none.
        ValueError: a case id occurs twice on a side.
    """
    olds, news = by_id(before.cases), list(entries_of(after.cases))
    pairs = align(olds, news, partial=partial)
    found = changes(olds, news, partial=partial)
    flips = [_flip(pair, change.kind, change.test) for pair, change in _shown(pairs, found)]
    flipped = {flip.id for flip in flips}
    moves = [_flip(pair, "moved", "") for pair in pairs if pair.any.id not in flipped and _moved(pair)]
    reasons, notes = _signatures(before, after)
    return Diff(
        before=before.name,
        after=after.name,
        reasons=reasons,
        notes=notes,
        counts=count_changes(found),
        rows=tuple(_rows(pairs, partial, delta, seed, resamples)),
        flips=tuple(
            sorted(flips, key=lambda flip: (_SHOWN.index(ChangeKind(flip.kind)), -flip.size, flip.id, flip.test))
        ),
        moves=tuple(sorted(moves, key=lambda move: (-move.size, move.id))),
        gone=tuple(pair.any.id for pair in pairs if pair.gone),
        new=tuple(pair.any.id for pair in pairs if pair.before is None),
        other_source=tuple(pair.any.id for pair in pairs if not pair.comparable),
    )


def _moved(pair: Pair) -> bool:
    if pair.before is None or pair.after is None or not pair.comparable:
        return False
    return _size(_score_changes(pair.before, pair.after)) >= MOVE_POINTS


def _shown(pairs: Sequence[Pair], found: Iterable[Change]) -> Iterator[tuple[Pair, Change]]:
    there = {pair.any.id: pair for pair in pairs}
    return ((there[change.id], change) for change in found if change.kind in _SHOWN)


def _score_changes(before: Entry, after: Entry) -> dict[str, float]:
    common = sorted(before.scores.keys() & after.scores.keys())
    moved = {name: round(after.scores[name] - before.scores[name], 4) for name in common}
    if before.attitude and after.attitude:
        moved["attitude"] = round(after.attitude[1] - before.attitude[1], 4)
    return moved


def _size(scores: Mapping[str, float]) -> float:
    return max(
        (abs(move) * (POINTS_PER_NAT if name == "attitude" else 1) for name, move in scores.items()), default=0.0
    )


def _signatures(before: DiffSide, after: DiffSide) -> tuple[tuple[str, ...], tuple[str, ...]]:
    reasons: list[str] = []
    notes: list[str] = []
    for corpus in sorted(before.signatures.keys() & after.signatures.keys()):
        for found in differences(before.signatures[corpus], after.signatures[corpus]):
            (reasons if found.blocks else notes).append(f"{corpus}: {found}")
    return tuple(reasons), tuple(notes)


def _flip(pair: Pair, kind: str, test: str) -> Flip:
    before, after = pair.before, pair.after
    if before is None or after is None:
        raise ValueError("a flip has two sides")
    scores = _score_changes(before, after)
    outcome = after.tests.get(test)
    return Flip(
        id=after.id,
        kind=str(kind),
        test=test,
        lang=after.lang,
        source=after.source or before.source,
        before=before.text,
        after=after.text,
        words=word_diff(before.text or "", after.text or "", after.lang),
        judged_before=before.judged,
        judged_after=after.judged,
        phrases_before=before.phrases,
        phrases_after=after.phrases,
        reason=(outcome.reason if outcome else None) or next(iter(after.why.values()), None),
        scores=scores,
        size=_size(scores),
    )


def _rows(pairs: Sequence[Pair], partial: bool, delta: float, seed: int, resamples: int) -> Iterator[DiffRow]:
    by_corpus: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_corpus.setdefault(pair.any.corpus, []).append(pair)
    levels: dict[tuple[str, ...], list[_Cell]] = {by: [] for by in LEVELS}
    for corpus in sorted(by_corpus):
        frame = Frame(by_corpus[corpus], partial=partial)
        several = len({pair.any.lang for pair in frame.pairs}) > 1
        for name in _measures(frame.pairs):
            measure = measure_named(name, delta=delta)
            observed = observe(measure, frame)
            for by in LEVELS if several else LEVELS[1:]:  # over all is by language where there is one
                found = samples(observed, frame, by).items()
                levels[by] += [_Cell(corpus, place, measure, sample) for place, sample in found if sample.compared]
    for cells in levels.values():
        yield from _level(cells, seed, resamples)


class _Cell(NamedTuple):
    corpus: str
    stratum: Stratum
    measure: Measure
    sample: Sample


def _level(cells: Sequence[_Cell], seed: int, resamples: int) -> Iterator[DiffRow]:
    made = [
        compare(
            cell.measure,
            cell.sample,
            gate_name(cell.corpus, cell.stratum, cell.measure.name),
            seed,
            side="two-sided",
            resamples=resamples,
        )
        for cell in cells
    ]
    adjusted = holm([found.p for found in made])
    for (corpus, place, measure, sample), found, p_holm in zip(cells, made, adjusted, strict=True):
        low, high = found.interval or (None, None)
        significant = p_holm is not None and p_holm <= 0.05 and found.delta
        improved = bool(found.delta) and (found.delta > 0) == (measure.better == "higher")  # type: ignore[operator]
        yield DiffRow(
            corpus=corpus,
            stratum=dict(place),
            measure=measure.name,
            title=measure.title,
            unit=measure.unit,
            better=measure.better,
            before=found.before,
            after=found.after,
            delta=found.delta,
            low=low,
            high=high,
            p=found.p,
            p_holm=p_holm,
            compared=sample.compared,
            lost=sample.lost,
            recovered=sample.recovered,
            trend="same" if not significant else "better" if improved else "worse",
        )


def _measures(pairs: Sequence[Pair]) -> list[str]:
    """Every measure that the cases may have: the catalogue, the tests that ran, the metrics that were scored."""
    entries = [entry for pair in pairs for entry in (pair.before, pair.after) if entry]
    tests = sorted({name for entry in entries for name in entry.tests})
    metrics = sorted({name for entry in entries for name in entry.scores})
    identities = any(entry.identity for entry in entries)
    kinds = ("mean", "gap", "sd") if identities else ("mean",)
    return [*(f"test:{name}" for name in tests), *NAMES, *(f"{metric}-{kind}" for metric in metrics for kind in kinds)]
