"""Pass rates and means by stratum, each with its n and its unscored count."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from pytest_gnt.case import Identity
from pytest_gnt.verdicts.results import CaseResult, Outcome

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

_NO_SCORES = "(no quality scores)"

Stratum = tuple[tuple[str, str], ...]

_IDENTITY_ORDER = {str(identity): place for place, identity in enumerate(Identity)}


@dataclass(slots=True)
class Rate:
    """How often one test passed in one stratum. ``n`` counts decided cases only."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0

    @property
    def n(self) -> int:
        return self.passed + self.failed

    def add(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.PASSED:
                self.passed += 1
            case Outcome.FAILED:
                self.failed += 1
            case Outcome.UNSCORED:
                self.unscored += 1

    def to_json(self) -> dict[str, Any]:
        low, high = wilson(self.passed, self.n)
        return {
            "n": self.n,
            "passed": self.passed,
            "failed": self.failed,
            "unscored": self.unscored,
            "rate": self.passed / self.n if self.n else None,
            "low": low,
            "high": high,
        }


@dataclass(slots=True)
class Mean:
    """Running mean and standard deviation (Welford) of one metric in one stratum; what is unscored is counted apart."""

    n: int = 0
    unscored: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, value: float | None) -> None:
        if value is None or not math.isfinite(value):
            self.unscored += 1
            return
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)

    def to_json(self) -> dict[str, Any]:
        spread = math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else None
        return {"n": self.n, "unscored": self.unscored, "mean": self.mean if self.n else None, "sd": spread}


def wilson(passed: int, n: int) -> tuple[float | None, float | None]:
    """Wilson's 95% interval of a share (Wilson 1927, the closed formula); (None, None) without cases.

    Written out, since a run that is compared with nothing needs no more of scipy, which takes half a second to load.
    """
    if n == 0:
        return None, None
    share, z2 = passed / n, _Z * _Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return 0.0 if passed == 0 else max(0.0, centre - half), 1.0 if passed == n else min(1.0, centre + half)


def strata(result: CaseResult) -> Iterator[Stratum]:
    """The strata that a case counts in: language and subset, the stated gender within them, and the identity."""
    yield (("lang", result.lang), ("subset", result.subset))
    if result.gender is not None:
        yield (("lang", result.lang), ("subset", result.subset), ("gender", result.gender))
    if result.identity is not None:
        yield (("lang", result.lang), ("identity", result.identity))


@dataclass(slots=True)
class Tally:
    """Counts a run case by case; order does not matter."""

    cases: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    reasons: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    flags: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    judge_flags: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    judged: dict[tuple[str, str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Verdicts by corpus, language and set; ``unscored`` is one of them."""
    _rates: dict[tuple[str, str, Stratum], Rate] = field(default_factory=lambda: defaultdict(Rate))
    _means: dict[tuple[str, str, Stratum], Mean] = field(default_factory=lambda: defaultdict(Mean))

    def add(self, result: CaseResult) -> None:
        self.cases += 1
        places = tuple(strata(result))
        for name, test in result.tests.items():
            self.outcomes[test.outcome] += 1
            if test.outcome is Outcome.UNSCORED:
                self.reasons[test.reason or "unknown"] += 1
            for place in places:
                self._rates[(result.corpus, name, place)].add(test.outcome)
        for flag in (result.translation or {}).get("flags", ()):
            self.flags[flag] += 1
        if result.judgement is not None:
            self._add_judgement(result, result.judgement)
        self._quality_metrics[result.corpus].update((result.quality or {}).get("scores", {}))
        for metric, value in _numbers(result):
            for place in places:
                self._means[(result.corpus, metric, place)].add(value)

    _quality_metrics: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def _add_judgement(self, result: CaseResult, judgement: Mapping[str, Any]) -> None:
        self.judged[result.corpus, result.lang, result.subset][judgement.get("label") or "unscored"] += 1
        for flag in judgement.get("flags", ()):
            self.judge_flags[flag] += 1

    @property
    def tests(self) -> int:
        return sum(self.outcomes.values())

    def rates(self) -> list[dict[str, Any]]:
        """One row a test and stratum, in a fixed order."""
        return [
            {"test": test, "corpus": corpus, "by": dict(place), **rate.to_json()}
            for (corpus, test, place), rate in sorted(self._rates.items(), key=lambda item: _order(item[0]))
        ]

    def means(self) -> list[dict[str, Any]]:
        """One row a metric and stratum, in a fixed order.

        A case without quality scores counts as unscored in every quality metric that its corpus has.
        """
        rows = {key: copy(mean) for key, mean in self._means.items() if key[1] != _NO_SCORES}
        for (corpus, name, place), without in self._means.items():
            if name == _NO_SCORES:
                for metric in self._quality_metrics[corpus]:
                    rows.setdefault((corpus, metric, place), Mean()).unscored += without.unscored
        return [
            {"metric": metric, "corpus": corpus, "by": dict(place), **mean.to_json()}
            for (corpus, metric, place), mean in sorted(rows.items(), key=lambda item: _order(item[0]))
        ]


def tally(results: Iterable[CaseResult]) -> Tally:
    """Count all results."""
    out = Tally()
    for result in results:
        out.add(result)
    return out


def _numbers(result: CaseResult) -> Iterator[tuple[str, float | None]]:
    if result.quality is not None:
        scores: Mapping[str, float] = result.quality.get("scores", {})
        yield from scores.items()
        if not scores:
            yield _NO_SCORES, None
    if result.attitude is not None:
        for name in ("source_score", "target_score", "shift"):
            yield f"eas_{name.removesuffix('_score')}", result.attitude.get(name)


def _order(key: tuple[str, str, Stratum]) -> tuple[Any, ...]:
    corpus, name, place = key
    ranked = tuple((part, _IDENTITY_ORDER.get(value, -1), value) for part, value in place)
    return corpus, name, len(place), tuple(part for part, _ in place), ranked
