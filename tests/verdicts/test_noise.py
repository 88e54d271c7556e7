"""Run-to-run noise from repeats."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import entries, scored

from pytest_gnt.verdicts.measures import measure_named
from pytest_gnt.verdicts.noise import flip_rate, run_noise
from pytest_gnt.verdicts.results import Outcome
from pytest_gnt.verdicts.samples import observer

PASSED, FAILED, UNSCORED = Outcome.PASSED, Outcome.FAILED, Outcome.UNSCORED


def test_flip_rate_by_hand():
    # stable: 0; one of three differs: 2·2·1/(3·2) = 2/3; half of two: 1
    found = flip_rate([[PASSED] * 3, [PASSED, PASSED, FAILED], [PASSED, FAILED]])
    assert found.rate == pytest.approx((0 + 2 / 3 + 1) / 3)
    assert (found.cases, found.unstable) == (3, 2)


def test_unscored_repeats_are_left_out():
    assert flip_rate([[PASSED, UNSCORED, FAILED], [PASSED, UNSCORED], [UNSCORED]]).rate == 1.0
    assert flip_rate([[PASSED]]).rate is None
    assert flip_rate([]).cases == 0


@given(
    st.lists(st.lists(st.sampled_from([PASSED, FAILED]), min_size=2, max_size=5), min_size=1, max_size=10), st.randoms()
)
def test_flip_rate_is_between_0_and_1_and_does_not_depend_on_order(repeats, shuffle):
    found = flip_rate(repeats)
    assert 0 <= found.rate <= 1
    mixed = [shuffle.sample(one, len(one)) for one in repeats]
    assert flip_rate(shuffle.sample(mixed, len(mixed))).rate == pytest.approx(found.rate)


def noise(name, runs):
    measure = measure_named(name)
    ids = sorted({one.id for one in runs[0]})
    return run_noise(measure, ids, [observer(measure, run) for run in runs])


def test_noise_of_a_rate_follows_from_its_flip_rate():
    generator = random.Random(2)
    outcomes = [generator.choices(["passed", "failed"], weights=[4, 1], k=200) for _ in range(4)]
    found = noise("set-n-accuracy", [entries(run) for run in outcomes])
    flips = flip_rate([[Outcome(run[place]) for run in outcomes] for place in range(200)])
    assert found == pytest.approx(math.sqrt(flips.rate / (2 * 200)))


def test_noise_predicts_how_runs_differ():
    """The rate of one run of 300 coin tosses has a standard deviation of √(0.25/300)."""
    generator = random.Random(3)
    runs = [entries(generator.choices(["passed", "failed"], k=300)) for _ in range(5)]
    assert noise("set-n-accuracy", runs) == pytest.approx(math.sqrt(0.25 / 300), rel=0.1)


def test_noise_of_a_pooled_measure_is_the_spread_of_its_values():
    runs = [scored(1, {"woman": 80.0, "man": 80.0 + 2 * width}) for width in (1.0, 2.0, 3.0)]
    # two identities 2w apart have a standard deviation of √2·w
    assert noise("comet-sd", runs) == pytest.approx(math.sqrt(2))


def test_no_repeats_no_noise():
    assert noise("set-n-accuracy", [entries(["passed"])]) is None
    assert noise("set-n-accuracy", [entries(["transport"]), entries(["transport"])]) is None
    assert noise("comet-sd", [entries(["passed"]), entries(["passed"])]) is None
