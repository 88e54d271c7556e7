"""How far an identity stands from woman and man on the same sentences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pytest_gnt.case import BINARY
from pytest_gnt.verdicts.rates import Mean
from pytest_gnt.verdicts.results import CaseResult, Outcome

SHIFT = "attitude shift"
"""The name under which the attitude's shift stands among the metrics."""

WIDTH = 1.96
"""Standard errors on each side of a mean that hold 95%."""

Values = dict[str, dict[str, list[float]]]
"""Metric → identity → values; a sentence that occurs twice has two."""


@dataclass(slots=True)
class Gaps:
    """Collects the values of each sentence's variants.

    The gap of an identity is the mean over sentences of its value minus the mean of woman's and man's (AmbGIMT's gap to
    the binary group); a sentence without all three values of a metric does not count in it.
    """

    _groups: dict[tuple[str, str, str], Values] = field(default_factory=dict)

    def add(self, result: CaseResult) -> None:
        if result.identity is None:
            return
        values = self._groups.setdefault((result.corpus, result.lang, result.group), {})
        for metric, value in measured(result):
            values.setdefault(metric, {}).setdefault(result.identity, []).append(value)

    def table(self) -> dict[tuple[str, str], dict[str, dict[str, dict[str, Any]]]]:
        """Corpus and language → metric → identity → mean, n, and the gap with its number of sentences."""
        found: dict[tuple[str, str], dict[str, dict[str, tuple[Mean, Mean]]]] = defaultdict(lambda: defaultdict(dict))
        for (corpus, lang, _), values in self._groups.items():
            for metric, by_identity in values.items():
                _count(found[(corpus, lang)][metric], by_identity)
        return {
            place: {
                metric: {identity: _cell(*pair) for identity, pair in cells.items()}
                for metric, cells in metrics.items()
            }
            for place, metrics in found.items()
        }


def measured(result: CaseResult) -> Iterator[tuple[str, float]]:
    """The numbers of one case: 100 or 0 for each decided test, quality scores, the attitude's shift."""
    for name, test in result.tests.items():
        if test.outcome is not Outcome.UNSCORED:
            yield name, 100.0 if test.outcome is Outcome.PASSED else 0.0
    for name, score in (result.quality or {}).get("scores", {}).items():
        if isinstance(score, (int, float)):
            yield name, float(score)
    shift = (result.attitude or {}).get("shift")
    if isinstance(shift, (int, float)):
        yield SHIFT, float(shift)


def _count(cells: dict[str, tuple[Mean, Mean]], by_identity: dict[str, list[float]]) -> None:
    middle = {identity: fmean(values) for identity, values in by_identity.items()}
    binary = [middle[identity] for identity in BINARY if identity in middle]
    for identity, value in middle.items():
        mean, gap = cells.setdefault(identity, (Mean(), Mean()))
        for each in by_identity[identity]:
            mean.add(each)
        if len(binary) == len(BINARY):
            gap.add(value - fmean(binary))


def _cell(mean: Mean, gap: Mean) -> dict[str, Any]:
    return {
        "mean": mean.mean,
        "n": mean.n,
        "gap": gap.mean if gap.n else None,
        "sentences": gap.n,
        "clear": is_clear(gap),
    }


def is_clear(gap: Mean) -> bool:
    """Whether a mean over sentences is further from zero than 95% of those that chance would give (normal law)."""
    spread = gap.to_json()["sd"]
    return spread is not None and abs(gap.mean) > WIDTH * spread / math.sqrt(gap.n)
