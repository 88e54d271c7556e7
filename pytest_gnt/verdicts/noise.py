"""Run-to-run noise: how much results move when the same system translates the same cases again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev, variance

import numpy as np

from pytest_gnt.verdicts.measures import Measure, Row
from pytest_gnt.verdicts.results import Outcome


@dataclass(frozen=True, slots=True)
class FlipRate:
    """How often two runs of one system disagree on a case.

    Attributes:
        cases: cases that were decided in at least two runs.
        unstable: of those, cases that were not decided alike in all runs.
        rate: probability that two runs disagree on a case, from 0 to 1; None without cases.
    """

    cases: int
    unstable: int
    rate: float | None


def flip_rate(outcomes: Iterable[Sequence[Outcome]]) -> FlipRate:
    """The flip rate from the outcomes of K repeats of each case; unscored repeats are left out.

    With s passes in k decided repeats, two of them disagree with probability 2·s·(k − s) / (k·(k − 1)), without bias
    at any k ≥ 2; the rate is the mean over cases.
    """
    shares = []
    for repeats in outcomes:
        decided = [outcome is Outcome.PASSED for outcome in repeats if outcome is not Outcome.UNSCORED]
        passes, number = sum(decided), len(decided)
        if number >= 2:
            shares.append(2 * passes * (number - passes) / (number * (number - 1)))
    return FlipRate(len(shares), sum(share > 0 for share in shares), fmean(shares) if shares else None)


def run_noise(measure: Measure, ids: Sequence[str], runs: Sequence[Callable[[str], Row | None]]) -> float | None:
    """Standard deviation of a measure from run to run, in its unit; None with fewer than two runs.

    Rates and means: the root of the mean within-case variance over n, which for a rate with flip rate f is
    √(f / 2n). Pooled measures: the standard deviation of the runs' values. ``runs`` look up a case's row.
    """
    if len(runs) < 2:
        return None
    found = [[run(key) for key in ids] for run in runs]
    if measure.kind == "pooled":
        sums = [np.sum([row for row in rows if row], axis=0) for rows in found if any(rows)]
        values = [value for value in (float(measure.value(np.asarray(row))) for row in sums) if math.isfinite(value)]
        return stdev(values) if len(values) >= 2 else None
    by_case = [[row[0] for row in rows if row] for rows in zip(*found, strict=True)]
    variances = [variance(values) for values in by_case if len(values) >= 2]
    return math.sqrt(fmean(variances) / len(variances)) if variances else None
