"""From sums of sufficient statistics, of shape (…, k), to the numbers of `pytest_gnt.verdicts.measures`, of shape (…).

A number that is not defined (no case, no identity) is NaN; no function warns.
"""

from __future__ import annotations

import numpy as np

from pytest_gnt.verdicts.resampling import Floats


def ratio(sums: Floats, over: int = 0, under: int = 1) -> Floats:
    """One sum over another."""
    top, bottom = sums[..., over], sums[..., under]
    quotient: Floats = np.divide(top, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom != 0)
    return quotient


def macro_f1(sums: Floats) -> Floats:
    """Mean F1 of the classes that occur, expected or said; sums: (both N, N said G, G said N, both G)."""
    wrong = sums[..., 1] + sums[..., 2]
    found = [np.stack([2 * sums[..., place], 2 * sums[..., place] + wrong], axis=-1) for place in (0, 3)]
    scores = np.stack([ratio(pair) for pair in found])
    defined = np.isfinite(scores)
    return ratio(np.stack([np.where(defined, scores, 0).sum(axis=0), defined.sum(axis=0)], axis=-1))


def spread(sums: Floats) -> Floats:
    """Standard deviation (n − 1) of the identities' means; sums: a sum for each, then a count for each."""
    width = sums.shape[-1] // 2
    totals, counts = sums[..., :width], sums[..., width:]
    there = counts > 0
    means = np.divide(totals, counts, out=np.zeros(np.shape(totals)), where=there)
    number = there.sum(axis=-1)
    centre = ratio(np.stack([means.sum(axis=-1), number], axis=-1))
    squares = np.where(there, (means - np.nan_to_num(centre)[..., None]) ** 2, 0).sum(axis=-1)
    deviation: Floats = np.sqrt(ratio(np.stack([squares, np.maximum(number - 1, 0)], axis=-1)))
    return deviation


def gap_of_means(sums: Floats) -> Floats:
    """Difference of two means; sums: sum and count of the one, then of the other."""
    return ratio(sums, 0, 1) - ratio(sums, 2, 3)


def shift_bias(sums: Floats) -> Floats:
    """R_TP(BG) − R_TP(NBG) + R_TN(NBG) − R_TN(BG) in percent; sums: TP, TN, n of BG, then of NBG."""
    pair = ratio(sums, 0, 2) - ratio(sums, 1, 2)
    others = ratio(sums, 3, 5) - ratio(sums, 4, 5)
    return 100 * (pair - others)
