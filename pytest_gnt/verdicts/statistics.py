"""Intervals and tests on counts. Nothing here ever returns NaN or warns: what a sample cannot tell is None, or p = 1.

The distributions are scipy's; what is written out here are closed formulas with their source, and Holm's step-down
rule, which scipy does not have with weights. Everything that resamples is in `pytest_gnt.verdicts.resampling`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

CONFIDENCE = 0.95

_NOTHING = 1e-12

Side = Literal["worse", "two-sided"]
"""What a test looks for: a worsening only, or a change in either direction."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval of a share (Wilson 1927), between 0 and 1; None without cases.

    Raises:
        ValueError: ``successes`` is not between 0 and ``n``.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))


def mcnemar(worse: int, better: int, side: Side = "worse") -> float:
    """Exact McNemar test: p-value of the pairs that differ (McNemar 1947, with the binomial distribution).

    ``worse`` pairs went from pass to fail, ``better`` from fail to pass; pairs that agree say nothing. Without a pair
    that differs, p = 1.
    """
    if worse + better == 0:
        return 1.0
    from scipy.stats import binomtest

    alternative: Literal["greater", "two-sided"] = "greater" if side == "worse" else "two-sided"
    return float(binomtest(worse, worse + better, 0.5, alternative=alternative).pvalue)


def paired_difference(worse: int, better: int, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of the change of a share between two runs of the same ``n`` cases; None without cases.

    Agresti and Min (2005), *Simple improved confidence intervals for comparing matched proportions*: Wald's interval
    after half a case was added to each cell of the 2 × 2 table. It has a width even where no pair differs.
    """
    if n == 0:
        return None
    total = n + 2
    change = (better - worse) / total
    variance = (worse + better + 1) / total - change**2
    half = _upper(0.5 - confidence / 2) * math.sqrt(variance / total)
    return Interval(max(-1.0, change - half), min(1.0, change + half))


def holm(p_values: Sequence[float | None], weights: Sequence[float] | None = None) -> list[float | None]:
    """Holm's adjusted p-values (Holm 1979); with weights his weighted rule: an error share in proportion to the weight.

    None stands for a test that was not made: it stays None and costs the others nothing.

    Raises:
        ValueError: a weight is not positive, or their number is another.
    """
    chosen = [1.0] * len(p_values) if weights is None else list(weights)
    if len(chosen) != len(p_values) or not all(weight > 0 for weight in chosen):
        raise ValueError("a positive weight for each p-value is needed")
    made = [(p, weight, place) for place, (p, weight) in enumerate(zip(p_values, chosen, strict=True)) if p is not None]
    made.sort(key=lambda test: (test[0] / test[1], test[2]))
    adjusted: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for step, (p, weight, place) in enumerate(made):
        left = math.fsum(other for _, other, _ in made[step:])
        floor = max(floor, min(1.0, p * left / weight))
        adjusted[place] = floor
    return adjusted


def smallest_detectable_share(n: int, discordance: float, alpha: float, power: float = 0.9) -> float | None:
    """The smallest fall of a pass rate that a one-sided McNemar test of ``n`` pairs finds with the given power.

    ``discordance`` is the share of pairs that differ between two runs of one system (both directions together). The
    fall d solves d·√n = z(1−α)·√ψ + z(power)·√(ψ−d²) with ψ = discordance + d (Connor 1987, *Sample size for testing
    differences in proportions for the paired-sample design*, solved for the difference). None where not even a fall
    by everything would show.
    """
    if n <= 0 or 0.5**n > alpha:
        return None
    from scipy.optimize import brentq

    z_alpha, z_power = _upper(alpha), _upper(1 - power)

    def excess(fall: float) -> float:
        differing = min(1.0, discordance + fall)
        return fall * math.sqrt(n) - z_alpha * math.sqrt(differing) - z_power * math.sqrt(max(0.0, differing - fall**2))

    if excess(1.0) < 0:
        return None
    return float(brentq(excess, _NOTHING, 1.0))  # not 0, which solves the equation where nothing differs


def smallest_detectable_mean(standard_error: float | None, alpha: float, power: float = 0.9) -> float | None:
    """The smallest fall that a one-sided test finds with the given power: (z(1−α) + z(power)) standard errors.

    None where the standard error is unknown or 0: from pairs that are all tied, nothing can be said about noise.
    """
    if standard_error is None or not standard_error > 0:
        return None
    return (_upper(alpha) + _upper(1 - power)) * standard_error


def _upper(tail: float) -> float:
    """The standard normal deviate that is exceeded with this probability."""
    from scipy.special import ndtri

    return -float(ndtri(tail))
