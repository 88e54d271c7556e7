"""Bootstrap and randomization over groups of cases.

Cases of one group (the 14 identity variants of a sentence) rise and fall together, so groups are what is resampled.
Each group's *sufficient statistics* (a row of k numbers, e.g. sum and count) are extracted once; a resample only adds
rows up, and a number such as a macro-F1 is a function of the k sums. Everything is seeded and independent of the
order in which cases came, as long as the caller orders the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_gnt.verdicts.statistics import CONFIDENCE, Interval, Side

Floats = NDArray[np.float64]
Counts = NDArray[np.uint16]
Value = Callable[[Floats], Floats]
"""From sums of shape (…, k) to values of shape (…), NaN where undefined. Larger is better."""

RESAMPLES = 2_000
DRAWS = 20_000
FIRST_DRAWS = 1_000
NOT_WORTH_MORE = 0.1
EXACT_GROUPS = 12
_CHUNK_CELLS = 2_000_000
_KEPT_CELLS = 8_000_000
_TIE = 1e-9


class Spread(NamedTuple):
    """What a bootstrap found: a percentile interval and the standard error."""

    interval: Interval
    error: float


def bootstrap(rows: Floats, value: Value, *, seed: int, resamples: int = RESAMPLES) -> Spread | None:
    """Uncertainty of ``value`` over groups (Efron 1979; percentile interval). ``rows``: one row a group.

    None for fewer than two groups, and where the value is undefined in more than half of the resamples.
    """
    if len(rows) < 2:
        return None
    return _spread(np.concatenate([value(sums) for sums in _resampled(rows, seed, resamples)]))


def bootstrap_difference(
    before: Floats, after: Floats, value: Value, *, seed: int, resamples: int = RESAMPLES
) -> Spread | None:
    """Uncertainty of ``value(after) - value(before)``; both sides of a group are drawn together (paired)."""
    if len(before) < 2:
        return None
    width = before.shape[1]
    both = np.hstack([before, after])
    return _spread(
        np.concatenate([value(sums[:, width:]) - value(sums[:, :width]) for sums in _resampled(both, seed, resamples)])
    )


def randomization_test(before: Floats, after: Floats, value: Value, *, seed: int, side: Side = "worse") -> float:
    """Paired randomization test (Fisher 1935; for MT: Riezler and Maxwell 2005): p-value of a change of ``value``.

    If both sides come from one system, the sides of each group may be swapped. One row a group on both sides. Where
    the value is undefined, p = 1.
    """
    total, change = before.sum(axis=0) + after.sum(axis=0), after - before

    def gap(sums: Floats) -> Floats:
        return value((total + sums) / 2) - value((total - sums) / 2)

    return swap_test(change, gap, seed=seed, side=side)


def swap_test(changes: Floats, statistic: Value, *, seed: int, side: Side = "worse") -> float:
    """How often random signs of the groups' changes give a ``statistic`` of their sums as extreme as the one seen.

    Groups without a change cannot matter. Up to 12 others all signs are tried, so p is exact; else 20,000 are drawn
    (1,000 where they already show that nothing is there) and p = (1 + as extreme) / (1 + drawn). Without any change,
    p = 1.
    """
    changes = changes[np.any(changes != 0, axis=1)]
    seen = float(statistic(changes.sum(axis=0)))
    if not len(changes) or not np.isfinite(seen):
        return 1.0
    if len(changes) <= EXACT_GROUPS:
        return float(np.mean(_extreme(statistic(_all_signs(len(changes)) @ changes), seen, side)))
    rng = np.random.default_rng(seed)
    p = 1.0
    for draws in (FIRST_DRAWS, DRAWS):
        hits = 0
        for sums in _random_sums(rng, draws, changes):
            hits += int(np.count_nonzero(_extreme(statistic(sums), seen, side)))
        p = (1 + hits) / (1 + draws)
        if p > NOT_WORTH_MORE:
            break
    return p


def _extreme(gaps: Floats, seen: float, side: Side) -> NDArray[np.bool_]:
    slack = _TIE * max(1.0, abs(seen))
    # A swap that leaves the value undefined counts as extreme: it must not make a change look surer than it is.
    undefined = ~np.isfinite(gaps)
    hits = gaps <= seen + slack if side == "worse" else np.abs(gaps) >= abs(seen) - slack
    found: NDArray[np.bool_] = hits | undefined
    return found


def _all_signs(groups: int) -> Floats:
    bits = (np.arange(2**groups)[:, None] >> np.arange(groups)) & 1
    return (2 * bits - 1).astype(np.float64)


def _random_sums(rng: np.random.Generator, draws: int, changes: Floats) -> Iterator[Floats]:
    """Sums of the changes under random signs, in chunks of shape (size, k)."""
    groups = len(changes)
    for size in _chunks(draws, groups):
        bits = np.frombuffer(rng.bytes(size * -(-groups // 8)), dtype=np.uint8).reshape(size, -1)
        kept = np.unpackbits(bits, axis=1, count=groups).astype(np.float64)
        yield 2 * (kept @ changes) - changes.sum(axis=0)


def _resampled(rows: Floats, seed: int, resamples: int) -> Iterator[Floats]:
    """Sums of rows drawn with replacement, in chunks of shape (size, k)."""
    for times in _times_drawn(len(rows), seed, resamples):
        yield times.astype(np.float64) @ rows


def _times_drawn(groups: int, seed: int, resamples: int) -> Iterable[Counts]:
    """How often each group is drawn, in chunks of shape (size, groups); the same for every sample of that size."""
    if groups * resamples <= _KEPT_CELLS:
        return _kept_draws(groups, seed, resamples)
    return _draws(groups, seed, resamples)


@lru_cache(maxsize=4)
def _kept_draws(groups: int, seed: int, resamples: int) -> tuple[Counts, ...]:
    return tuple(_draws(groups, seed, resamples))


def _draws(groups: int, seed: int, resamples: int) -> Iterator[Counts]:
    rng = np.random.default_rng(seed)
    for size in _chunks(resamples, groups):
        drawn = rng.integers(0, groups, size=(size, groups)) + groups * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups).astype(np.uint16)


def _chunks(total: int, width: int) -> Iterator[int]:
    most = max(1, _CHUNK_CELLS // max(1, width))
    while total > 0:
        yield min(most, total)
        total -= most


def _spread(values: Floats, confidence: float = CONFIDENCE) -> Spread | None:
    defined = values[np.isfinite(values)]
    if 2 * len(defined) <= len(values):
        return None
    low, high = np.quantile(defined, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Spread(Interval(float(low), float(high)), float(np.std(defined, ddof=1)))
