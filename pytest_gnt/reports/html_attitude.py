"""The emotional attitude of words in source and translation: a density plot and the table behind it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.case import BINARY, NON_BINARY
from pytest_gnt.reports.charts import Scatter, scatter
from pytest_gnt.reports.html_text import fragment
from pytest_gnt.verdicts.results import CaseResult

DELTA = 0.2
"""δ of the AmbGIMT paper, for records that do not say theirs."""

GRAIN = 0.05
"""Width of the finest cell in which points are counted, in units of the score."""

LEVELS = ("kind", "neither", "harsh")

GROUPS = {
    "woman, man": frozenset(map(str, BINARY)),
    "other identities": frozenset(map(str, NON_BINARY)),
}


def level(score: float, delta: float) -> str:
    """``kind`` above δ, ``harsh`` below −δ."""
    return "kind" if score > delta else "harsh" if score < -delta else "neither"


def shift_of(result: CaseResult) -> str | None:
    """From what to what the attitude went, e.g. ``kind-harsh``; None where a score is missing."""
    scores = scores_of(result)
    if scores is None:
        return None
    delta = delta_of(result)
    return f"{level(scores[0], delta)}-{level(scores[1], delta)}"


def scores_of(result: CaseResult) -> tuple[float, float] | None:
    """Score of the source word and mean score of the target words, where both are finite numbers."""
    found = [(result.attitude or {}).get(name) for name in ("source_score", "target_score")]
    source, target = (float(value) if isinstance(value, (int, float)) else math.nan for value in found)
    return (source, target) if math.isfinite(source) and math.isfinite(target) else None


def delta_of(result: CaseResult) -> float:
    delta = (result.attitude or {}).get("delta", DELTA)
    return float(delta) if isinstance(delta, (int, float)) else DELTA


@dataclass(slots=True)
class Attitudes:
    """Counts the run's attitude shifts; memory does not grow with the number of cases."""

    cells: Counter[tuple[int, int]] = field(default_factory=Counter)
    shifts: Counter[tuple[str, str]] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    deltas: set[float] = field(default_factory=set)

    def add(self, result: CaseResult) -> None:
        if result.attitude is None:
            return
        groups = ["all", *(name for name, members in GROUPS.items() if result.identity in members)]
        self.totals.update(groups)
        self.deltas.add(delta_of(result))
        scores, shift = scores_of(result), shift_of(result)
        if scores is None or shift is None:
            self.missing.update(groups)
            return
        self.cells[_cell(scores[0]), _cell(scores[1])] += 1
        self.shifts.update((group, shift) for group in groups)

    def view(self) -> dict[str, Any] | None:
        """Plot, 3 × 3 table and the two shares by group; None where no attitude was asked for."""
        if not self.totals:
            return None
        delta = min(self.deltas)
        plot: Scatter | None = scatter(self.cells, GRAIN, delta) if self.cells else None
        scored = self.totals["all"] - self.missing["all"]
        return {
            "plot": plot,
            "delta": delta,
            "several_deltas": len(self.deltas) > 1,
            "n": self.totals["all"],
            "scored": scored,
            "missing": self.missing["all"],
            "levels": LEVELS,
            "rows": [(source, [self._entry(source, target, scored) for target in LEVELS]) for source in LEVELS],
            "groups": [self._group(name) for name in ("all", *GROUPS) if self.totals[name]],
        }

    def _entry(self, source: str, target: str, scored: int) -> dict[str, Any]:
        count = self.shifts["all", f"{source}-{target}"]
        return {
            "count": count,
            "share": count / scored if scored else 0.0,
            "kind": {("kind", "harsh"): "worse", ("harsh", "kind"): "better"}.get((source, target), ""),
            "link": fragment(shift=f"{source}-{target}"),
        }

    def _group(self, name: str) -> dict[str, Any]:
        n, missing = self.totals[name], self.missing[name]
        down, up = (self.shifts[name, shift] for shift in ("kind-harsh", "harsh-kind"))
        return {
            "name": name,
            "n": n,
            "missing": missing,
            "down": down,
            "up": up,
            "down_share": down / n,
            "up_share": up / n,
        }


def _cell(score: float) -> int:
    return math.floor(max(-1e6, min(1e6, score)) / GRAIN)
