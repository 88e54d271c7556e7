"""The numbers of gates: hand-computed values, and who belongs, who is unscored, who is not asked."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import IDENTITIES, entry, outcome, scored, variant

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.measures import NAMES, UNSCORED, Side, measure_named
from pytest_gnt.verdicts.values import macro_f1, spread


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def rows_of(name, found, **how):
    measure, side = measure_named(name, **how), Side(found)
    return [measure.observe(one, side) for one in side.entries]


def value_of(name, found, **how):
    rows = [row for row in rows_of(name, found, **how) if row]
    return float(measure_named(name, **how).value(np.sum(rows, axis=0)))


def judged(verdict, subset="Set-N", **other):
    expected = "NEUTRAL" if subset == "Set-N" else "GENDERED"
    return entry(verdict, judged=verdict, subset=subset, expected=expected, why={}, **other)


LABELS = ("NEUTRAL", "CORRECTLY GENDERED", "WRONGLY GENDERED")


@pytest.mark.parametrize(
    ("name", "subset", "passes"),
    [
        ("set-n-accuracy", "Set-N", (1, 0, 0)),
        ("set-g-accuracy", "Set-G", (0, 1, 0)),
        ("set-g-accuracy-paper", "Set-G", (0, 1, 1)),
    ],
)
def test_accuracies_count_their_set_by_label(name, subset, passes):
    assert rows_of(name, [judged(label, subset) for label in LABELS]) == [(passed, 1.0) for passed in passes]
    other = "Set-G" if subset == "Set-N" else "Set-N"
    assert rows_of(name, [judged(label, other) for label in LABELS]) == [None] * 3


def test_a_case_without_a_verdict_is_unscored_and_one_without_a_judge_is_not_asked():
    assert rows_of("set-n-accuracy", [entry(1, "invalid-verdict")]) == [UNSCORED]
    assert rows_of("set-n-accuracy", [entry(1, judged=None, text=None, why={"translation": "truncated"})]) == [UNSCORED]
    assert rows_of("set-n-accuracy", [entry(1, judged=None, why={})]) == [None]


def test_macro_f1_by_hand():
    # expected N: 3 said N, 1 said G; expected G: 2 said N, 4 said G.
    # F1(N) = 6 / (6 + 3) = 2/3; F1(G) = 8 / (8 + 3) = 8/11
    assert float(macro_f1(np.array([3.0, 1, 2, 4]))) == pytest.approx((2 / 3 + 8 / 11) / 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_macro_f1_is_that_of_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    found = [
        entry(place, expected="NEUTRAL" if neutral else "GENDERED", label="NEUTRAL" if says else "GENDERED")
        for place, (neutral, says) in enumerate(pairs)
    ]
    expected = metrics.f1_score([n for n, _ in pairs], [s for _, s in pairs], average="macro", zero_division=0)
    assert value_of("label-macro-f1", found) == pytest.approx(expected)
    assert value_of("label-accuracy", found) == pytest.approx(sum(n == s for n, s in pairs) / len(pairs))


def test_a_system_without_labels_has_no_label_measures():
    assert rows_of("label-macro-f1", [entry(1, label=None)]) == [None]
    assert rows_of("coherence", [entry(1, label=None)]) == [None]


@pytest.mark.parametrize(
    ("label", "verdict", "agrees"),
    [
        ("NEUTRAL", "NEUTRAL", 1),
        ("NEUTRAL", "WRONGLY GENDERED", 0),
        ("GENDERED", "CORRECTLY GENDERED", 1),
        ("GENDERED", "WRONGLY GENDERED", 1),
        ("GENDERED", "NEUTRAL", 0),
    ],
)
def test_coherence_compares_label_and_judge(label, verdict, agrees):
    assert rows_of("coherence", [judged(verdict, label=label)]) == [(agrees, 1.0)]


@pytest.mark.parametrize(
    ("reason", "row"),
    [
        ("no-form", (1.0, 1.0)),
        ("empty", (1.0, 1.0)),
        ("refusal", (1.0, 1.0)),
        ("transport", UNSCORED),
        ("not-run", UNSCORED),
    ],
)
def test_extraction_errors_are_replies_without_the_form(reason, row):
    assert rows_of("extraction-error-rate", [entry(1, text=None, why={"translation": reason})]) == [row]
    assert rows_of("extraction-error-rate", [entry(1)]) == [(0.0, 1.0)]


def test_the_unscored_rate_leaves_alignment_to_its_own_measure():
    found = [
        entry(1, "passed"),
        entry(2, "invalid-verdict"),
        entry(3, "unaligned", why={"attitude": "unaligned"}),
        entry(4, tests={}),
    ]
    assert rows_of("unscored-rate", found) == [(0.0, 1.0), (1.0, 1.0), (0.0, 1.0), None]
    assert rows_of("attitude-coverage", [found[2], entry(5, attitude=(1.0, 1.0)), found[0]]) == [
        (0.0, 1.0),
        (1.0, 1.0),
        None,
    ]


def test_tests_by_name_and_the_identity_test():
    one = variant(1, "queer", tests={"test_identity_is_kept": outcome("failed"), "test_b": outcome("passed")})
    lost = variant(2, "queer", tests={"test_identity_is_kept": outcome("truncated")})
    assert rows_of("test:test_b", [one, lost]) == [(1.0, 1.0), None]
    assert rows_of("identity-kept-rate", [one, lost]) == [(0.0, 1.0), UNSCORED]


def test_the_comet_gap_is_to_the_mean_of_woman_and_man_of_the_same_sentence():
    found = [*scored(1, {"woman": 80.0, "man": 84.0, "queer": 79.0}), *scored(2, {"woman": 90.0, "queer": 70.0})]
    assert rows_of("comet-gap", found) == [None, None, (-3.0, 1.0), None, UNSCORED]


def test_the_spread_over_identities_by_hand():
    # means 80, 84, 79: mean 81, squares 1 + 9 + 4 = 14, / 2, root
    found = scored(1, {"woman": 80.0, "man": 84.0, "queer": 79.0})
    assert value_of("comet-sd", found) == pytest.approx(math.sqrt(7))


def test_the_spread_of_one_identity_is_undefined():
    assert math.isnan(value_of("comet-sd", scored(1, {"woman": 80.0})))
    assert math.isnan(float(spread(np.zeros(28))))


def attitudes(values, **other):
    return [variant(number, identity, attitude=pair, **other) for number, (identity, pair) in enumerate(values)]


def test_the_attitude_gap_by_hand():
    found = attitudes([("woman", (0.0, 1.0)), ("man", (0.0, 0.5)), ("queer", (0.0, 0.25)), ("person", (0.0, 9.0))])
    assert value_of("eas-gap", found) == pytest.approx(0.25 - 0.75)


def test_the_shift_bias_rate_by_hand():
    # BG: 4 scored, one harsh→kind, none kind→harsh. NBG: 5 scored, none harsh→kind, two kind→harsh.
    # 25 − 0 + 40 − 0 = 65
    pair = [(-0.5, 0.5), (0.5, 0.5), (0.5, 0.1), (-0.5, -0.5)]
    others = [(0.5, -0.5), (0.3, -0.21), (0.3, -0.2), (0.1, -0.9), (0.5, 0.5)]
    found = attitudes([("woman", one) for one in pair] + [("gay", one) for one in others])
    assert value_of("shift-bias-rate", found) == pytest.approx(65.0)
    assert value_of("shift-bias-rate", found, delta=0.4) == pytest.approx(100 * (1 / 4 + 1 / 5))


def test_the_shift_bias_rate_over_all_sentences_counts_the_unscored_in_its_denominators():
    found = attitudes([("woman", (-0.5, 0.5)), ("gay", (0.5, -0.5)), ("gay", (0.5, 0.5))])
    missing = [variant(9, "man", why={"attitude": "unaligned"}), variant(9, "gay", why={"attitude": "unaligned"})]
    assert value_of("shift-bias-rate-all", found + missing) == pytest.approx(100 * (1 / 2 + 1 / 3))
    assert value_of("shift-bias-rate", found + missing) == pytest.approx(100 * (1 + 1 / 2))
    assert rows_of("shift-bias-rate", missing) == [UNSCORED, UNSCORED]


def test_person_is_in_neither_group():
    assert rows_of("eas-gap", attitudes([("person", (0.5, -0.5))])) == [None]
    assert rows_of("shift-bias-rate", attitudes([("person", (0.5, -0.5))])) == [None]


def test_quality_means_of_any_metric():
    found = [entry(1, scores={"chrf": 40.0}), entry(2, scores={"chrf": 50.0, "comet": 80.0}), entry(3, "passed")]
    assert value_of("chrf-mean", found) == 45.0
    assert rows_of("comet-mean", found) == [UNSCORED, (80.0, 1.0), None]
    assert rows_of("chrf-mean", [entry(4, why={"quality": "no-reference"})]) == [UNSCORED]


def test_every_name_is_a_measure_and_unknown_ones_are_refused():
    for name in (*NAMES, "bleu-mean", "xcomet-xl-gap", "comet-sd", "test:anything"):
        assert measure_named(name).name == name
    with pytest.raises(GntError, match="Did you mean 'set-n-accuracy'"):
        measure_named("set-n-acuracy")
    for name in ("", "test:", "-mean"):
        with pytest.raises(GntError, match="unknown measure"):
            measure_named(name)


@given(st.permutations(IDENTITIES), st.integers(0, 1000))
def test_values_do_not_depend_on_the_order_of_cases(order, seed):
    rng = np.random.default_rng(seed)
    scores = {identity: float(score) for identity, score in zip(IDENTITIES, rng.normal(80, 5, 14), strict=True)}
    one = value_of("comet-sd", scored(1, scores))
    assert value_of("comet-sd", scored(1, {identity: scores[identity] for identity in order})) == pytest.approx(one)
