"""The verdict of each gate of a run: fail, undecided, pass or not applicable, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from pytest_gnt.verdicts.comparison import Comparison, Estimate, smallest_detectable
from pytest_gnt.verdicts.measures import Measure
from pytest_gnt.verdicts.rules import GateRule, Severity, label
from pytest_gnt.verdicts.samples import Sample, Stratum
from pytest_gnt.verdicts.statistics import Interval, holm
from pytest_gnt.verdicts.wording import change_text, value_text

ALPHA = 0.05
NOISE_WIDTH = 1.645
FEWEST_LOST = 5
COMMON_SHARE = 0.1


class Verdict(StrEnum):
    """What a gate says. Only ``fail`` makes a run red."""

    PASS = "pass"  # noqa: S105 (a verdict, not a password)
    FAIL = "fail"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate's verdict and all that it rests on. Numbers are in the measure's unit; None where not defined.

    Attributes:
        name: ``mgente[it]::set-n-accuracy``.
        title, unit, better: of the measure.
        stratum: field → value.
        value, low, high: over all cases that have a value now, with the 95% interval.
        baseline_value, common_value: of both runs over the compared cases.
        delta, delta_low, delta_high: common_value − baseline_value with the 95% interval.
        p, p_holm: one-sided p-value of a worsening; after Holm's correction over the run's gates.
        n, unscored: cases with and without a value now.
        compared, lost, recovered, gone, other_source: see `pytest_gnt.verdicts.samples.Sample`.
        smallest_detectable: the worsening that this gate would find with 90% probability.
        noise: standard deviation from run to run, where repeats were given.
        why: one sentence.
    """

    name: str
    measure: str
    title: str
    unit: str
    better: str
    corpus: str
    stratum: Mapping[str, str]
    verdict: Verdict
    severity: Severity
    value: float | None = None
    low: float | None = None
    high: float | None = None
    baseline_value: float | None = None
    common_value: float | None = None
    delta: float | None = None
    delta_low: float | None = None
    delta_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    n: int = 0
    unscored: int = 0
    compared: int = 0
    lost: int = 0
    recovered: int = 0
    gone: int = 0
    other_source: int = 0
    smallest_detectable: float | None = None
    noise: float | None = None
    why: str = ""

    @property
    def red(self) -> bool:
        """Whether this gate makes the run red."""
        return self.verdict is Verdict.FAIL and self.severity == "fail"

    def to_json(self) -> dict[str, Any]:
        """Plain builtins."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return values | {"stratum": dict(self.stratum), "verdict": str(self.verdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A gate before its verdict. ``blocked``: keys of the signature that forbid the comparison with the baseline."""

    corpus: str
    stratum: Stratum
    measure: Measure
    rule: GateRule
    sample: Sample
    estimate: Estimate = field(default_factory=Estimate)
    comparison: Comparison | None = None
    noise: float | None = None
    blocked: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return gate_name(self.corpus, self.stratum, self.measure.name)


def gate_name(corpus: str, stratum: Stratum, measure: str) -> str:
    """``mgente[it]::set-n-accuracy``; blanks in values become ``-``."""
    place = label(stratum).replace(" ", "-")
    return f"{corpus}[{place}]::{measure}" if place else f"{corpus}::{measure}"


def decide(drafts: Sequence[Draft], alpha: float = ALPHA) -> list[GateResult]:
    """Verdicts of all gates of one run: they share its false-alarm budget."""
    adjusted: dict[int, float | None] = {}
    levels: dict[int, float] = {}
    for severity in ("fail", "warn"):
        tested = [(place, draft) for place, draft in enumerate(drafts) if _tested(draft, severity)]
        hypotheses = [
            part
            for (place, draft), weight in zip(tested, _weights(tested), strict=True)
            for part in _hypotheses(place, draft, weight)
        ]
        corrected = holm([p for _, p, _ in hypotheses], [weight for _, _, weight in hypotheses])
        total = sum(weight for _, _, weight in hypotheses)
        for (place, _, weight), p_holm in zip(hypotheses, corrected, strict=True):
            adjusted[place] = _smaller(adjusted.get(place), p_holm)
            levels[place] = max(levels.get(place, 0.0), alpha * weight / total)
    return [_result(draft, adjusted.get(place), levels.get(place, alpha), alpha) for place, draft in enumerate(drafts)]


def is_red(gates: Iterable[GateResult]) -> bool:
    """Whether any gate makes the run red."""
    return any(gate.red for gate in gates)


def _tested(draft: Draft, severity: str) -> bool:
    made = draft.comparison is not None and draft.comparison.p is not None
    return made and draft.rule.tested and draft.rule.severity == severity


def _weights(tested: Sequence[tuple[int, Draft]]) -> list[float]:
    """A rule's weight divided over its gates, so that a rule with many strata does not drain the others."""
    rules = [(draft.measure.name, draft.rule.by) for _, draft in tested]
    return [draft.rule.weight / rules.count(rule) for (_, draft), rule in zip(tested, rules, strict=True)]


def _hypotheses(place: int, draft: Draft, weight: float) -> list[tuple[int, float | None, float]]:
    """What is tested of one gate: place, p, weight. Of a rate the compared cases alone too, at a small weight."""
    found = draft.comparison
    if found is None:
        return []
    if found.p_common is None:
        return [(place, found.p, weight)]
    return [(place, found.p, (1 - COMMON_SHARE) * weight), (place, found.p_common, COMMON_SHARE * weight)]


def _smaller(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else min(one, other)


def _result(draft: Draft, p_holm: float | None, level: float, alpha: float) -> GateResult:
    sample, found, measure = draft.sample, draft.comparison, draft.measure
    detectable = smallest_detectable(measure, sample, found.error, level) if found else None
    verdict, why = _verdict(draft, p_holm, detectable, alpha)
    low, high = draft.estimate.interval or (None, None)
    delta_low, delta_high = (found and found.interval) or (None, None)
    return GateResult(
        name=draft.name,
        measure=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        corpus=draft.corpus,
        stratum=dict(draft.stratum),
        verdict=verdict,
        severity=draft.rule.severity,
        value=draft.estimate.value,
        low=low,
        high=high,
        baseline_value=found.before if found else None,
        common_value=found.after if found else None,
        delta=found.delta if found else None,
        delta_low=delta_low,
        delta_high=delta_high,
        p=found.p if found else None,
        p_holm=p_holm,
        **{
            name: getattr(sample, name)
            for name in ("n", "unscored", "compared", "lost", "recovered", "gone", "other_source")
        },
        smallest_detectable=detectable,
        noise=draft.noise,
        why=why,
    )


def _verdict(draft: Draft, p_holm: float | None, detectable: float | None, alpha: float) -> tuple[Verdict, str]:
    checks = (
        _against_bounds(draft),
        _against_losses(draft),
        _against_baseline(draft, p_holm, detectable, alpha),
    )
    made = [check for check in checks if check is not None]
    for verdict in (Verdict.FAIL, Verdict.UNDECIDED, Verdict.PASS):
        reasons = [why for found, why in made if found is verdict]
        if reasons:
            return verdict, "; ".join(reasons)
    if draft.blocked:
        return Verdict.NOT_APPLICABLE, f"not comparable: run and baseline differ in {', '.join(draft.blocked)}"
    return Verdict.NOT_APPLICABLE, "no bound is set and there is no baseline to compare with"


def _against_bounds(draft: Draft) -> tuple[Verdict, str] | None:
    rule, value = draft.rule, draft.estimate.value
    if rule.minimum is None and rule.maximum is None:
        return None
    if value is None:
        return Verdict.UNDECIDED, f"none of {draft.sample.unscored} cases has a value"
    unit, slack = draft.measure.unit, NOISE_WIDTH * (draft.noise or 0.0)
    interval = draft.estimate.interval or Interval(-math.inf, math.inf)
    few = draft.sample.n < rule.min_n
    low, high = (interval.low, interval.high) if few else (value, value)
    shown = value_text(value, unit)
    if rule.minimum is not None and high < rule.minimum - slack:
        return Verdict.FAIL, f"{shown} is below the minimum {value_text(rule.minimum, unit)}"
    if rule.maximum is not None and low > rule.maximum + slack:
        return Verdict.FAIL, f"{shown} is above the maximum {value_text(rule.maximum, unit)}"
    if few:
        return Verdict.UNDECIDED, f"{draft.sample.n} cases are too few for a bound"
    return Verdict.PASS, f"{shown} is within its bounds"


def _against_losses(draft: Draft) -> tuple[Verdict, str] | None:
    sample = draft.sample
    net = sample.lost - sample.recovered
    if draft.comparison is None or net < FEWEST_LOST or net <= draft.rule.max_lost * sample.had:
        return None
    return (
        Verdict.FAIL,
        f"{sample.lost} of {sample.had} cases that had a value in the baseline have none now ({sample.gone} are gone)",
    )


def _against_baseline(
    draft: Draft, p_holm: float | None, detectable: float | None, alpha: float
) -> tuple[Verdict, str] | None:
    found, rule, sample, unit = draft.comparison, draft.rule, draft.sample, draft.measure.unit
    if found is None or rule.max_drop is None:
        return None
    if found.worsening is None:
        return Verdict.UNDECIDED, "no case has a value in both runs"
    accepted = rule.max_drop + NOISE_WIDTH * math.sqrt(2) * (draft.noise or 0.0)
    if found.worsening > accepted and (not rule.tested or (p_holm is not None and p_holm <= alpha)):
        return Verdict.FAIL, change_text(draft.measure, found, sample, p_holm)
    if sample.same:
        return Verdict.PASS, f"all {sample.compared} compared translations and values are those of the baseline"
    if sample.compared < rule.min_n or (draft.measure.kind == "rate" and detectable is None):
        return Verdict.UNDECIDED, f"{sample.compared} compared cases are too few to tell a worsening from chance"
    if rule.tested and rule.relevant is not None and detectable is not None and detectable > rule.relevant:
        return (
            Verdict.UNDECIDED,
            f"with {sample.compared} compared cases a worsening by {value_text(detectable, unit)} could go unseen",
        )
    return Verdict.PASS, change_text(draft.measure, found, sample, p_holm)
