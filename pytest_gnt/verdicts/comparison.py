"""A measure against its baseline in one stratum: values, change, intervals, p-value."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

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
from pytest_gnt.verdicts.samples import Sample
from pytest_gnt.verdicts.statistics import (
    Interval,
    Side,
    mcnemar,
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
        worsening: how far the measure fell, in its unit, turned so that worse is positive. Of a rate the larger of the
            fall on the compared cases and the fall with cases without a value as not passed.
        p: p-value; None where nothing can be compared. Of a rate, one-sided: with cases without a value as not passed.
        p_common: of a rate, the p-value on the compared cases alone.
    """

    before: float | None
    after: float | None
    delta: float | None
    interval: Interval | None
    error: float | None
    worsening: float | None
    p: float | None
    p_common: float | None = None


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
    measure: Measure, sample: Sample, name: str, seed: int, *, side: Side = "worse", resamples: int = RESAMPLES
) -> Comparison:
    """The measure on the cases that both runs have a value for. ``name``: of the gate, for a seed of its own.

    Rates: exact McNemar tests, or the same by randomization where a group has several cases; the interval is Agresti
    and Min's, or the bootstrap's. Other measures: randomization test and bootstrap over groups.
    """
    before, after = (_finite(measure.value(side.sum(axis=0))) if len(side) else None for side in _sides(sample))
    delta = None if before is None or after is None else after - before
    interval, error = _uncertainty(measure, sample, seed, resamples)
    own = seed_for(name, seed)
    return Comparison(
        before=before,
        after=after,
        delta=delta,
        interval=interval,
        error=error,
        worsening=worsening(measure, sample, delta),
        p=p_value(measure, sample, own, side),
        p_common=_rate_p(sample, own, side, missing=False) if measure.kind == "rate" and side == "worse" else None,
    )


def p_value(measure: Measure, sample: Sample, seed: int, side: Side = "worse") -> float | None:
    """See `compare`. None where there is nothing to compare."""
    if sample.compared + sample.lost + sample.recovered == 0:
        return None
    if measure.kind == "rate":
        return _rate_p(sample, seed, side, missing=side == "worse")
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
    """A seed of its own for each gate's test, so that chance in one draw does not strike all gates alike."""
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) ^ (seed & 0xFFFFFFFF)


def _sides(sample: Sample) -> tuple[Floats, Floats]:
    return sample.before, sample.after


def _rate_p(sample: Sample, seed: int, side: Side, *, missing: bool) -> float:
    """``missing``: count a case without a value as not passed, on both sides alike; else leave it out.

    The first makes sure that a run gains nothing by losing a case; the second, that it gains nothing from cases that
    the baseline had lost.
    """
    flips = sample.flips
    if flips.single:
        lost, recovered = (flips.lost, flips.recovered) if missing else (0, 0)
        return mcnemar(flips.worse + lost, flips.better + recovered, side)
    rows = flips.rows.sum(axis=1, keepdims=True) if missing else flips.rows[:, :1]
    return swap_test(rows, _only, seed=seed, side=side)


def _only(sums: Floats) -> Floats:
    return sums[..., 0]


def worsening(measure: Measure, sample: Sample, delta: float | None) -> float | None:
    """See `Comparison`."""
    fall = None if delta is None else (-delta if measure.better == "higher" else delta)
    if measure.kind != "rate":
        return fall
    cases, flips = sample.compared + sample.lost + sample.recovered, sample.flips
    if cases == 0:
        return fall
    net = (flips.worse + flips.lost - flips.better - flips.recovered) / cases
    return net if fall is None else max(net, fall)


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
