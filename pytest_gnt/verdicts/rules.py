"""What gates ask for: one rule a measure, with exceptions by stratum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.measures import measure_named
from pytest_gnt.verdicts.samples import FIELDS, Stratum

Severity = Literal["fail", "warn"]
_OVERRIDABLE = ("minimum", "maximum", "max_drop", "tested", "relevant", "min_n", "max_lost", "severity")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One gate in each stratum.

    Attributes:
        measure: its name, see `pytest_gnt.verdicts.measures.measure_named`.
        by: what cases are divided by: ``lang``, ``subset``, ``identity``, ``gender``, ``expected``; always by corpus.
        corpora: only these corpora; None for all that have the measure.
        minimum, maximum: bounds of the value itself, in the measure's unit; None for no bound.
        max_drop: worsening against the baseline that is accepted, in the measure's unit, whichever direction is worse;
            None for no comparison.
        tested: a worsening beyond ``max_drop`` fails only if it is significant. False: it fails as it is.
        relevant: a worsening that the gate must be able to see: where the smallest detectable one is larger, a gate
            that did not fail is undecided.
        weight: share of the run's false-alarm budget, relative to other rules; divided evenly over the rule's strata.
        min_n: with fewer cases a gate that did not fail is undecided.
        max_lost: net share of the baseline's cases that may lose their value (unscored, gone) before the gate fails.
        severity: ``warn`` shows a failed gate and leaves the exit status alone.
        overrides: stratum (``it``; ``zh,trans man``) → other values of minimum, maximum, max_drop, tested, relevant,
            min_n, max_lost, severity.

    Raises:
        GntError: the measure, a field or an override is not known; a number is out of range.
    """

    measure: str
    by: tuple[str, ...] = ("lang",)
    corpora: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_drop: float | None = 0.0
    tested: bool = True
    relevant: float | None = None
    weight: float = 0.05
    min_n: int = 30
    max_lost: float = 0.05
    severity: Severity = "fail"
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Lists, as configuration files have them, become tuples.
        object.__setattr__(self, "by", tuple(self.by))
        object.__setattr__(self, "corpora", None if self.corpora is None else tuple(self.corpora))
        measure_named(self.measure)
        for name in self.by:
            if name not in FIELDS:
                raise self._error(f"cases cannot be divided by {name!r}; known: {', '.join(FIELDS)}")
        if self.weight <= 0:
            raise self._error("the weight must be above 0")
        if self.max_drop is not None and self.max_drop < 0:
            raise self._error("max_drop is how much worse is accepted: 0 or more")
        if self.severity not in ("fail", "warn"):
            raise self._error(f"severity {self.severity!r} is neither 'fail' nor 'warn'")
        if None not in (self.minimum, self.maximum) and self.minimum > self.maximum:  # type: ignore[operator]
            raise self._error("the minimum is above the maximum")
        for place, values in self.overrides.items():
            for name in values:
                if name not in _OVERRIDABLE:
                    raise self._error(f"{place!r} cannot override {name!r}; known: {', '.join(_OVERRIDABLE)}")

    def within(self, stratum: Stratum) -> GateRule:
        """The rule as it holds in one stratum."""
        return replace(self, **self.overrides.get(label(stratum), {}), overrides={})

    def _error(self, why: str) -> GntError:
        return GntError(f"gate {self.measure}: {why}.")


def label(stratum: Stratum) -> str:
    """A stratum in rules and tables: ``it``, ``zh,trans man``."""
    return ",".join(value for _, value in stratum)


DEFAULT_RULES: tuple[GateRule, ...] = (
    GateRule(measure="set-n-accuracy", max_drop=0.01, relevant=0.1, weight=1.0),
    GateRule(measure="set-g-accuracy", max_drop=0.01, relevant=0.1, weight=1.0),
    GateRule(measure="label-macro-f1", max_drop=0.01, relevant=0.1),
    GateRule(measure="coherence", max_drop=0.01, relevant=0.1),
    GateRule(measure="extraction-error-rate", max_drop=0.01, maximum=0.1, relevant=0.1),
    GateRule(measure="unscored-rate", max_drop=0.01, maximum=0.1, relevant=0.1),
    GateRule(measure="comet-mean", max_drop=0.3, relevant=3.0),
    GateRule(measure="xcomet-mean", max_drop=0.3, relevant=3.0),
    GateRule(measure="cometkiwi-mean", max_drop=0.3, relevant=3.0),
    GateRule(measure="chrf-mean", max_drop=0.5, relevant=5.0),
    GateRule(measure="identity-kept-rate", by=("lang", "identity"), max_drop=0.01, relevant=0.1, weight=0.25),
    GateRule(measure="comet-gap", by=("lang", "identity"), max_drop=0.3, relevant=3.0),
    GateRule(measure="cometkiwi-gap", by=("lang", "identity"), max_drop=0.3, relevant=3.0),
    GateRule(measure="comet-sd", max_drop=0.2),
    GateRule(measure="cometkiwi-sd", max_drop=0.2),
    GateRule(measure="test:test_comet_gap_is_small", max_drop=0.01, relevant=0.1),
    GateRule(measure="eas-gap", max_drop=0.02),
    GateRule(measure="shift-bias-rate", max_drop=1.0),
    GateRule(measure="attitude-coverage", max_drop=0.02, relevant=0.1),
)
"""Sensible gates for both benchmarks. The two accuracies are what a release is about and hold most of the budget."""
