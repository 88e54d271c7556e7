"""A measure against its baseline in one stratum: values, change, intervals, p-value."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import partial

import numpy as np

from pytest_gnt.verdicts.measures import Measure
from pytest_gnt.verdicts.resampling import (
    RESAMPLES,
    Floats,
    Spread,
    bootstrap,
    bootstrap_difference,
    randomization_test,
    swap_test,
)
from pytest_gnt.verdicts.samples import Flips, Sample
from pytest_gnt.verdicts.statistics import (
    Interval,
    Side,
    mcnemar,
    mcnemar_with_losses,
    paired_difference,
    smallest_detectable_mean,
    smallest_detectable_share,
    wilson,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval; each None where it is not defined."""

    value: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs on their common cases.

    Attributes:
        before, after: the measure on the compared cases.
        delta: after − before.
        interval: 95% interval of delta.
        error: standard error of delta.
        worsening: how far the measure fell, in its unit, turned so that worse is positive, with passes that were lost
            counted as failures; at least the fall on the compared cases.
        p: p-value; None where nothing can be compared.
    """

    before: float | None
    after: float | None
    delta: float | None
    interval: Interval | None
    error: float | None
    worsening: float | None
    p: float | None


def estimate(measure: Measure, sample: Sample, seed: int, resamples: int = RESAMPLES) -> Estimate:
    """The measure over all cases with a value now. Wilson's interval, or the bootstrap where a group has several."""
    if sample.n == 0:
        return Estimate()
    sums = sample.now.sum(axis=0)
    value = _finite(measure.value(sums))
    if measure.kind == "rate" and len(sample.now) == sample.n:
        return Estimate(value, wilson(round(float(sums[0])), sample.n))
    spread = bootstrap(sample.now, measure.value, seed=seed, resamples=resamples)
    return Estimate(value, spread and spread.interval)


def compare(
    measure: Measure, sample: Sample, seed: int, *, side: Side = "worse", resamples: int = RESAMPLES
) -> Comparison:
    """The measure on the cases that both runs have a value for.

    Rates: exact McNemar test, with lost passes held against the run (one-sided), or the same by randomization where a
    group has several cases; the interval is Agresti and Min's, or the bootstrap's. Other measures: randomization test
    and bootstrap over groups.
    """
    before, after = (_finite(measure.value(side.sum(axis=0))) if len(side) else None for side in _sides(sample))
    delta = None if before is None or after is None else after - before
    interval, error = _uncertainty(measure, sample, seed, resamples)
    return Comparison(
        before=before,
        after=after,
        delta=delta,
        interval=interval,
        error=error,
        worsening=worsening(measure, sample, delta),
        p=p_value(measure, sample, seed, side),
    )


def p_value(measure: Measure, sample: Sample, seed: int, side: Side = "worse") -> float | None:
    """See `compare`. None where there is nothing to compare."""
    if sample.compared + sample.lost + sample.recovered == 0:
        return None
    if measure.kind == "rate":
        return _rate_p(sample.flips, seed, side)
    if sample.compared == 0:
        return None
    return randomization_test(*_sides(sample), measure.goodness, seed=seed, side=side)


def smallest_detectable(measure: Measure, sample: Sample, error: float | None, alpha: float) -> float | None:
    """The smallest worsening that a test at level ``alpha`` would find with 90% probability, in the measure's unit.

    For rates from the share of pairs that differ, for others from the standard error of the change.
    """
    if measure.kind == "rate" and sample.flips.single:
        flips = sample.flips
        pairs = max(sample.compared, flips.worse + flips.better)
        return smallest_detectable_share(pairs, (flips.worse + flips.better) / pairs if pairs else 0.0, alpha)
    return smallest_detectable_mean(error, alpha)


def seed_for(name: str, seed: int) -> int:
    """A seed of its own for each gate, so that no gate's numbers depend on which others there are."""
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) ^ (seed & 0xFFFFFFFF)


def _sides(sample: Sample) -> tuple[Floats, Floats]:
    return sample.before, sample.after


def _rate_p(flips: Flips, seed: int, side: Side) -> float:
    if flips.single:
        if side == "two-sided":
            return mcnemar(flips.worse, flips.better, side)
        return mcnemar_with_losses(flips.worse, flips.better, flips.lost, flips.recovered)
    return swap_test(flips.rows, partial(_net_passes, losses=side == "worse"), seed=seed, side=side)


def _net_passes(sums: Floats, *, losses: bool) -> Floats:
    """Passes won or lost on compared cases, less the net losses to unscored; the statistic of `mcnemar_with_losses`."""
    found: Floats = sums[..., 0] + (np.minimum(0.0, sums[..., 1]) if losses else 0.0)
    return found


def worsening(measure: Measure, sample: Sample, delta: float | None) -> float | None:
    """See `Comparison`."""
    fall = None if delta is None else (-delta if measure.better == "higher" else delta)
    if measure.kind != "rate":
        return fall
    cases = sample.compared + sample.lost
    if cases == 0:
        return fall
    # Flips count single cases also where groups have several, so this is a number of passes.
    flips = sample.flips
    net = flips.worse - flips.better + max(0, flips.lost - flips.recovered)
    return max(net / cases, -math.inf if fall is None else fall)


def _uncertainty(measure: Measure, sample: Sample, seed: int, resamples: int) -> tuple[Interval | None, float | None]:
    if measure.kind == "rate" and len(sample.before) == sample.compared:
        passes = sample.after[:, 0] - sample.before[:, 0] if sample.compared else np.zeros(0)
        down, up = int(np.count_nonzero(passes < 0)), int(np.count_nonzero(passes > 0))
        interval = paired_difference(down, up, sample.compared)
        return interval, None if interval is None else (interval.high - interval.low) / (2 * 1.96)
    spread: Spread | None = bootstrap_difference(*_sides(sample), measure.value, seed=seed, resamples=resamples)
    return (None, None) if spread is None else (spread.interval, spread.error)


def _finite(value: Floats) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
