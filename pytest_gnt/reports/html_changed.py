"""What got worse, and for whom: the strata in which tests changed most against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_gnt.reports.html_baseline import BETTER, WORSE, Before
from pytest_gnt.reports.html_rates import Row, label
from pytest_gnt.reports.html_text import spoken, stratum_link
from pytest_gnt.verdicts.comparison import ChangeKind

KINDS = (
    ("regressed", "passed before, fails now", "worse"),
    ("lost", "passed before, cannot be decided now", "worse"),
    ("fixed", "failed before, passes now", "better"),
    ("recovered", "could not be decided before, passes now", "better"),
    ("still-passing", "passes as before", ""),
    ("still-failing", "fails as before", ""),
    ("failing-unscored", "failed before, cannot be decided now", ""),
    ("unscored-failing", "could not be decided before, fails now", ""),
    ("still-unscored", "cannot be decided, as before", ""),
    ("new", "not in the baseline", ""),
    ("gone", "in the baseline only", ""),
    ("not-comparable", "the source sentence is another one", ""),
)
"""Every kind of change: its name, what it means, and whether it counts for or against the release."""


def totals(before: Before) -> list[dict[str, Any]]:
    """How many tests changed in which way; kinds that did not occur are left out, but for the two that matter."""
    return [
        {"kind": kind, "meaning": meaning, "tone": tone, "count": before.total[ChangeKind(kind)]}
        for kind, meaning, tone in KINDS
        if before.total[ChangeKind(kind)] or kind in ("regressed", "fixed")
    ]


def changed_strata(rates: Sequence[Row], before: Before, most: int = 12) -> list[dict[str, Any]]:
    """The strata that lost most passes, worst first; those that lost none net are left out."""
    found = [_stratum(row, before) for row in rates]
    worse = [row for row in found if row["net"] < 0]
    return sorted(worse, key=lambda row: (row["net"] / row["compared"], row["net"], row["label"]))[:most]


def _stratum(row: Row, before: Before) -> dict[str, Any]:
    corpus, test, by = row["corpus"], row["test"], row["by"]
    counts = before.changes.get((corpus, test, tuple(by.items())), {})
    lost = sum(counts.get(kind, 0) for kind in WORSE)
    won = sum(counts.get(kind, 0) for kind in BETTER)
    was = before.rate(corpus, test, by)
    compared = sum(count for kind, count in counts.items() if kind not in (ChangeKind.NEW, ChangeKind.NOT_COMPARABLE))
    return {
        "test": spoken(test),
        "corpus": corpus,
        "label": label(by),
        "before": was,
        "rate": row["rate"],
        "delta": None if was is None or row["rate"] is None else row["rate"] - was,
        "n": row["n"],
        "regressed": counts.get(ChangeKind.REGRESSED, 0),
        "lost": counts.get(ChangeKind.LOST, 0),
        "better": won,
        "net": won - lost,
        "compared": max(1, compared),
        "link": stratum_link(corpus, by, test=test, change="regressed" if counts.get(ChangeKind.REGRESSED) else "lost"),
    }
