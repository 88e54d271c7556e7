"""Bootstrap and randomization: against scipy and full enumeration, and on samples that say nothing."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_gnt.verdicts import resampling
from pytest_gnt.verdicts.resampling import bootstrap, bootstrap_difference, randomization_test, swap_test
from pytest_gnt.verdicts.values import ratio


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def means(values):
    return np.stack([np.asarray(values, float), np.ones(len(values))], axis=1)


def test_bootstrap_of_a_mean_agrees_with_scipy():
    values = np.random.default_rng(5).normal(10, 3, 200)
    found = bootstrap(means(values), ratio, seed=1, resamples=20_000)
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(2)
    )
    assert found.interval == pytest.approx(expected.confidence_interval, abs=0.03)
    assert found.error == pytest.approx(expected.standard_error, rel=0.03)


def test_paired_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(6)
    before = rng.normal(50, 20, 150)
    after = before - 1 + rng.normal(0, 2, 150)
    found = bootstrap_difference(means(before), means(after), ratio, seed=1, resamples=20_000)
    expected = stats.bootstrap(
        (before, after),
        lambda x, y, axis: np.mean(y, axis=axis) - np.mean(x, axis=axis),
        paired=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    assert found.interval == pytest.approx(expected.confidence_interval, abs=0.03)


def test_bootstrap_resamples_groups_not_cases():
    """100 sentences of 14 equal variants are 100 observations, not 1,400."""
    values = np.random.default_rng(7).normal(0, 1, 100)
    grouped = np.stack([14 * values, np.full(100, 14.0)], axis=1)
    error = bootstrap(grouped, ratio, seed=1).error
    assert error == pytest.approx(values.std(ddof=1) / 10, rel=0.1)
    assert bootstrap(means(np.repeat(values, 14)), ratio, seed=1).error < error / 3


def test_bootstrap_of_tiny_and_tied_samples():
    assert bootstrap(np.zeros((0, 2)), ratio, seed=1) is None
    assert bootstrap(means([5]), ratio, seed=1) is None
    tied = bootstrap(means([5, 5, 5]), ratio, seed=1)
    assert tied.interval == (5, 5)
    assert tied.error == 0
    assert bootstrap_difference(means([1]), means([2]), ratio, seed=1) is None


def test_bootstrap_of_an_undefined_value():
    assert bootstrap(np.zeros((5, 2)), ratio, seed=1) is None


def test_randomization_enumerates_few_groups():
    """Like scipy's permutation test with all swaps; the sums are 2⁸ sign patterns."""
    before = np.array([50.0, 61, 43, 55, 72, 30, 66, 48])
    after = before + np.array([-3.0, -1, 2, -4, -2, 1, -5, -2])
    expected = stats.permutation_test(
        (before, after),
        lambda x, y, axis: np.mean(y, axis=axis) - np.mean(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="less",
    ).pvalue
    assert randomization_test(means(before), means(after), ratio, seed=1) == pytest.approx(expected)


def test_randomization_of_many_groups_is_close_to_the_t_test():
    rng = np.random.default_rng(8)
    before = rng.normal(50, 10, 400)
    after = before + rng.normal(-0.4, 4, 400)
    expected = stats.ttest_rel(after, before, alternative="less").pvalue
    assert randomization_test(means(before), means(after), ratio, seed=1) == pytest.approx(expected, abs=0.005)


def test_randomization_of_single_flips_is_mcnemar():
    passes = np.array([1.0] * 10 + [0.0] * 2 + [1.0] * 30)
    after = np.array([0.0] * 10 + [1.0] * 2 + [1.0] * 30)
    assert randomization_test(means(passes), means(after), ratio, seed=1) == pytest.approx(79 / 4096)


def test_nothing_changed_or_nothing_there():
    same = means([1, 2, 3])
    assert randomization_test(same, same, ratio, seed=1) == 1.0
    assert randomization_test(np.zeros((0, 2)), np.zeros((0, 2)), ratio, seed=1) == 1.0
    assert randomization_test(np.zeros((3, 2)), np.ones((3, 2)) * [1, 0], ratio, seed=1) == 1.0
    assert swap_test(np.zeros((0, 2)), lambda sums: sums[..., 0], seed=1) == 1.0


def test_an_improvement_is_no_worsening():
    before, after = means(np.zeros(20)), means(np.ones(20))
    assert randomization_test(before, after, ratio, seed=1) > 0.5
    assert randomization_test(before, after, ratio, seed=1, side="two-sided") < 0.001


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=10), st.randoms())
def test_order_of_groups_does_not_matter_to_exact_tests(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    one, other = (
        randomization_test(means([b for b, _ in order]), means([a for _, a in order]), ratio, seed=1)
        for order in (pairs, shuffled)
    )
    assert one == pytest.approx(other)


def test_chunks_do_not_change_what_is_counted(monkeypatch):
    rng = np.random.default_rng(9)
    before, after = means(rng.normal(size=60)), means(rng.normal(size=60) - 0.3)
    whole = randomization_test(before, after, ratio, seed=3), bootstrap(before, ratio, seed=3)
    monkeypatch.setattr(resampling, "_CHUNK_CELLS", 60 * 64)
    parts = randomization_test(before, after, ratio, seed=3), bootstrap(before, ratio, seed=3)
    assert parts[0] == pytest.approx(whole[0], abs=0.01)
    assert parts[1].interval == pytest.approx(whole[1].interval, abs=0.05)
