"""What got worse, and for whom: the strata in which tests changed most against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.reports.html_baseline import BETTER, WORSE, Before
from pytest_gnt.reports.html_rates import Row, label
from pytest_gnt.reports.html_text import spoken, stratum_link
from pytest_gnt.verdicts.changes import ChangeKind
from pytest_gnt.verdicts.statistics import mcnemar

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


def totals(before: Before | None, about: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """How many tests changed in which way; kinds that did not occur are left out, but for the two that matter.

    Args:
        before: the comparison of the records; None where the baseline's are not at hand.
        about: the run's own summary of the comparison. It alone knows which of the baseline's cases are gone.
    """
    known: Mapping[str, int] = about["changes"] if about else {}
    if before is not None:
        known = {str(kind): count for kind, count in before.total.items()} | {"gone": known.get("gone", 0)}
    if not known:
        return []
    return [
        {"kind": kind, "meaning": meaning, "tone": tone, "count": known.get(kind, 0)}
        for kind, meaning, tone in KINDS
        if known.get(kind) or kind in ("regressed", "fixed")
    ]


def changed_strata(rates: Sequence[Row], before: Before, most: int = 12) -> list[dict[str, Any]]:
    """The strata that lost passes, net; those first in which chance explains it least.

    The order is by the exact McNemar test of each stratum alone, uncorrected: a few changes among few cases stand below
    the same share of changes among many.
    """
    found = [_stratum(row, before) for row in rates]
    worse = [row for row in found if row["net"] < 0]
    return sorted(worse, key=lambda row: (row["p"], row["net"], row["label"]))[:most]


def _stratum(row: Row, before: Before) -> dict[str, Any]:
    corpus, test, by = row["corpus"], row["test"], row["by"]
    counts: Mapping[ChangeKind, int] = before.changes.get((corpus, test, tuple(by.items())), {})
    count = {kind: counts.get(kind, 0) for kind in (*WORSE, *BETTER)}
    worse, better = (sum(count[kind] for kind in kinds) for kinds in (WORSE, BETTER))
    was = before.rate(corpus, test, by)
    regressed = count[ChangeKind.REGRESSED]
    return {
        "test": spoken(test),
        "corpus": corpus,
        "label": label(by),
        "before": was,
        "rate": row["rate"],
        "delta": None if was is None or row["rate"] is None else row["rate"] - was,
        "n": row["n"],
        "regressed": regressed,
        "lost": count[ChangeKind.LOST],
        "better": better,
        "net": better - worse,
        "p": mcnemar(worse, better),
        "link": stratum_link(corpus, by, test=test, change="regressed" if regressed else "lost"),
    }
