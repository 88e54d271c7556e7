"""Intervals and tests on counts: published and hand-computed values, and what tiny and tied samples give."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.verdicts.statistics import (
    holm,
    mcnemar,
    paired_difference,
    smallest_detectable_mean,
    smallest_detectable_share,
    wilson,
)

SMALL = st.integers(0, 12)


def test_wilson_by_hand():
    # 8 of 10 with z = 1.959964: centre (8 + z²/2) / (10 + z²), half width z·√(8·2/10 + z²/4) / (10 + z²)
    z = 1.959963984540054
    centre, half = (8 + z * z / 2) / (10 + z * z), z * math.sqrt(1.6 + z * z / 4) / (10 + z * z)
    interval = wilson(8, 10)
    assert interval == pytest.approx((centre - half, centre + half), abs=1e-9)
    assert interval == pytest.approx((0.4901625, 0.9433178), abs=1e-6)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 750), (750, 750)])
def test_wilson_stays_within_0_and_1(k, n):
    low, high = wilson(k, n)
    assert 0 <= low < high <= 1
    assert low <= k / n <= high


def test_wilson_without_cases_and_with_impossible_counts():
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


def test_mcnemar_by_hand():
    # of 12 pairs that differ 10 got worse: (66 + 12 + 1) / 4096
    assert mcnemar(10, 2) == pytest.approx(79 / 4096)
    assert mcnemar(10, 2, "two-sided") == pytest.approx(2 * 79 / 4096)
    assert mcnemar(2, 10, "two-sided") == pytest.approx(2 * 79 / 4096)
    assert mcnemar(2, 10) > 0.99


def test_mcnemar_without_a_differing_pair():
    assert mcnemar(0, 0) == mcnemar(0, 0, "two-sided") == 1.0


@given(SMALL, SMALL)
def test_mcnemar_is_the_exact_binomial_tail(worse, better):
    n = worse + better
    tail = sum(Fraction(math.comb(n, k), 2**n) for k in range(worse, n + 1))
    assert mcnemar(worse, better) == pytest.approx(float(tail))


@given(st.integers(1, 40), st.floats(0.001, 0.2))
def test_mcnemar_keeps_its_level(n, level):
    false_alarms = sum(math.comb(n, worse) / 2**n for worse in range(n + 1) if mcnemar(worse, n - worse) <= level)
    assert false_alarms <= level + 1e-12


def test_paired_difference_by_hand():
    # Agresti and Min: 5 worse, 1 better of 20; each cell + 0.5: d = −4/22, variance (7/22 − d²)/22
    d = -4 / 22
    half = 1.959963984540054 * math.sqrt((7 / 22 - d * d) / 22)
    assert paired_difference(5, 1, 20) == pytest.approx((d - half, d + half))


def test_paired_difference_of_tied_and_empty_samples():
    assert paired_difference(0, 0, 0) is None
    low, high = paired_difference(0, 0, 10)
    assert low == pytest.approx(-high)
    assert high > 0
    assert paired_difference(1, 0, 1).low >= -1


def test_holm_by_hand():
    # sorted 0.005·4, 0.01·3, 0.03·2, 0.04·1 and never falling
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_out_what_was_not_tested():
    assert holm([None, 0.01, None, 0.02]) == pytest.approx([None, 0.02, None, 0.02])
    assert holm([]) == []
    assert holm([None]) == [None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels_holm(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected))


def test_weighted_holm_by_hand():
    # p/w: 0.02/2 first: 0.02·(2+1+1)/2 = 0.04; then 0.03/1: 0.03·2/1 = 0.06; then 0.5
    assert holm([0.5, 0.02, 0.03], [1, 2, 1]) == pytest.approx([0.5, 0.04, 0.06])


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 5)), min_size=2, max_size=8), st.randoms())
def test_holm_does_not_depend_on_order(tests, random):
    order = list(range(len(tests)))
    random.shuffle(order)
    plain = holm([p for p, _ in tests], [w for _, w in tests])
    shuffled = holm([tests[i][0] for i in order], [tests[i][1] for i in order])
    assert shuffled == pytest.approx([plain[i] for i in order])
    assert all(a >= p - 1e-12 for a, (p, _) in zip(plain, tests, strict=True))


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0]])
def test_holm_refuses_bad_weights(weights):
    with pytest.raises(ValueError, match="positive weight"):
        holm([0.1, 0.2], weights)


def test_smallest_detectable_share_solves_its_formula():
    n, noise, alpha, power = 750, 0.06, 0.005, 0.9
    fall = smallest_detectable_share(n, noise, alpha, power)
    differing = noise + fall
    z_alpha, z_power = 2.5758293035489004, 1.2815515655446004
    needed = (z_alpha * math.sqrt(differing) + z_power * math.sqrt(differing - fall**2)) ** 2 / fall**2
    assert needed == pytest.approx(n, rel=1e-6)
    assert 0.04 < fall < 0.06


def test_smallest_detectable_share_shrinks_with_n_and_grows_with_noise():
    falls = [smallest_detectable_share(n, 0.06, 0.005) for n in (100, 750, 3000)]
    assert falls == sorted(falls, reverse=True)
    assert smallest_detectable_share(750, 0.01, 0.005) < falls[1] < smallest_detectable_share(750, 0.2, 0.005)


def test_smallest_detectable_share_without_noise_by_hand():
    # ψ = d: d·√n = z(1−α)·√d + z(power)·√(d − d²); at α = 0.05, power 0.5 (z = 0): d = z²/n
    assert smallest_detectable_share(100, 0.0, 0.05, 0.5) == pytest.approx(1.6448536**2 / 100)


def test_smallest_detectable_share_of_too_few_cases():
    assert smallest_detectable_share(0, 0.1, 0.05) is None
    assert smallest_detectable_share(4, 0.0, 0.05) is None  # 0.5⁴ > 0.05: not even 4 of 4 would show


def test_smallest_detectable_mean():
    assert smallest_detectable_mean(2.0, 0.05, 0.9) == pytest.approx(2 * (1.6448536 + 1.2815516))
    assert smallest_detectable_mean(0.0, 0.05) is None
    assert smallest_detectable_mean(None, 0.05) is None
    assert smallest_detectable_mean(math.nan, 0.05) is None
