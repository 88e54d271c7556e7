"""Gates: when they fail, when they cannot tell, and what can never make them green."""

import json
import random
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import baseline, entries, entry, outcome, scored, variant

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.gates import DEFAULT_RULES, GateRule, GateSettings, Verdict, evaluate, is_red
from pytest_gnt.verdicts.statistics import mcnemar

ACCURACY = GateRule(measure="set-n-accuracy", max_drop=0.01)
ONLY = GateSettings(rules=(ACCURACY,), resamples=200)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def gates(old, new, rules=(ACCURACY,), corpus="mgente", **how):
    stored = {corpus: baseline(old, corpus=corpus)} if old is not None else None
    found = evaluate(new, stored, GateSettings(rules=tuple(rules), resamples=200), **how)
    return {gate.name: gate for gate in found}


def accuracy(old, new, **how):
    return gates(old, new, **how)["mgente[it]::set-n-accuracy"]


def runs(passing, failing, worse=0, better=0):
    """Two runs: that many cases pass in both, fail in both, get worse, get better."""
    before = ["passed"] * (passing + worse) + ["failed"] * (failing + better)
    after = ["passed"] * passing + ["failed"] * (worse + failing) + ["passed"] * better
    return entries(before), entries(after, text="Altra.")


def test_a_significant_fall_fails_and_says_by_how_much():
    gate = accuracy(*runs(600, 100, worse=40, better=10))
    assert gate.verdict is Verdict.FAIL
    assert gate.red
    assert (gate.value, gate.baseline_value) == (pytest.approx(610 / 750), pytest.approx(640 / 750))
    assert gate.delta == pytest.approx(-30 / 750)
    assert gate.delta_low < gate.delta < gate.delta_high < 0
    assert gate.p == pytest.approx(mcnemar(40, 10))
    assert gate.n == gate.compared == 750
    assert "85.3% → 81.3% (-4.0) on 750 cases" in gate.why


def test_equal_flips_in_both_directions_pass():
    gate = accuracy(*runs(600, 100, worse=25, better=25))
    assert gate.verdict is Verdict.PASS
    assert gate.delta == 0
    assert gate.p > 0.5
    assert gate.p_holm > 0.5


def test_an_improvement_passes():
    assert accuracy(*runs(500, 100, worse=10, better=90)).verdict is Verdict.PASS


def test_the_smallest_detectable_change_stands_beside_every_gate():
    few, many = accuracy(*runs(60, 40)), accuracy(*runs(600, 400))
    assert 0 < many.smallest_detectable < few.smallest_detectable < 0.3


@pytest.mark.parametrize("n", [1, 3, 12, 29])
def test_too_few_cases_are_undecided_not_passed(n):
    gate = accuracy(*runs(n - 1, 0, worse=1))
    assert gate.verdict is Verdict.UNDECIDED
    assert "too few" in gate.why
    assert not gate.red


def test_few_cases_that_all_fall_fail():
    """The exact test needs no minimum: 12 of 12 lost is no chance."""
    assert accuracy(*runs(0, 0, worse=12)).verdict is Verdict.FAIL


def test_a_gate_that_could_not_see_a_relevant_fall_is_undecided():
    rule = replace(ACCURACY, relevant=0.1)
    assert accuracy(*runs(60, 30, worse=5, better=5), rules=[rule]).verdict is Verdict.UNDECIDED
    assert accuracy(*runs(600, 300, worse=5, better=5), rules=[rule]).verdict is Verdict.PASS


def test_the_same_translations_pass_at_any_size():
    same = entries(["passed", "failed", "passed"])
    gate = accuracy(same, same)
    assert gate.verdict is Verdict.PASS
    assert "all 3 compared translations" in gate.why


def test_a_significant_but_small_fall_is_accepted():
    old, new = runs(20_000, 900, worse=90, better=10)
    assert accuracy(old, new, rules=[replace(ACCURACY, max_drop=0.01)]).verdict is Verdict.PASS
    assert accuracy(old, new, rules=[replace(ACCURACY, max_drop=0.0)]).verdict is Verdict.FAIL


def test_an_untested_fall_fails_as_it_is():
    old, new = runs(90, 5, worse=3, better=2)
    assert accuracy(old, new).verdict is not Verdict.FAIL
    assert accuracy(old, new, rules=[replace(ACCURACY, tested=False, max_drop=0.005)]).verdict is Verdict.FAIL


# Missing cases.


def test_passes_that_became_unscored_fail_like_failures():
    old = entries(["passed"] * 100)
    gate = accuracy(old, entries(["passed"] * 85 + ["transport"] * 15))
    assert gate.verdict is Verdict.FAIL
    assert gate.value == 1.0, "the rate itself does not show it"
    assert (gate.n, gate.unscored, gate.lost) == (85, 15, 15)
    assert "15 lost their value" in gate.why


def test_failures_that_became_unscored_do_not_raise_the_rate_for_free():
    """The rate rises from 50% to 100%, and the gate fails, since half of the cases have no value."""
    gate = accuracy(entries(["passed", "failed"] * 50), entries(["passed", "transport"] * 50))
    assert gate.value == 1.0
    assert gate.verdict is Verdict.FAIL
    assert "50 of 100 cases that had a value in the baseline have none now" in gate.why


def test_a_shrunken_set_fails():
    old = entries(["passed"] * 60 + ["failed"] * 40)
    found = gates(old, old[:60])
    assert found["mgente[it]::set-n-accuracy"].verdict is Verdict.FAIL
    assert found["mgente[it]::set-n-accuracy"].gone == 40
    assert found["mgente::coverage"].verdict is Verdict.FAIL
    assert "40 are gone" in found["mgente::coverage"].why


def test_another_source_sentence_is_left_out_and_reported():
    old = entries(["passed"] * 40)
    new = [*old[:39], replace(old[39], source_digest="f" * 16, judged="WRONGLY GENDERED")]
    found = gates(old, new)
    assert found["mgente[it]::set-n-accuracy"].compared == 39
    assert found["mgente[it]::set-n-accuracy"].other_source == 1
    assert found["mgente::coverage"].verdict is Verdict.FAIL


def test_cases_that_the_baseline_had_lost_do_not_hide_failures():
    """38 cases got worse; 38 others, unscored in the baseline, pass now."""
    old = entries(["passed"] * 712 + ["transport"] * 38)
    new = entries(["failed"] * 38 + ["passed"] * 712)
    assert accuracy(old, new).verdict is Verdict.FAIL


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["passed", "failed"]), min_size=20, max_size=80),
    st.integers(0, 30),
    st.data(),
)
def test_no_missing_case_turns_red_into_green(before, fall, data):
    """Take any red run; let any of its cases become unscored or disappear: it stays red."""
    after = ["failed" if place < fall else one for place, one in enumerate(before)]
    old, new = entries(before), entries(after, text="Altra.")
    if not is_red(gates(old, new).values()):
        return
    missing = data.draw(st.sets(st.integers(0, len(new) - 1)))
    lost = [entry(f"{place:05}", "transport") if place in missing else one for place, one in enumerate(new)]
    gone = [one for place, one in enumerate(new) if place not in missing]
    assert is_red(gates(old, lost).values())
    assert is_red(gates(old, gone).values())


def test_a_filtered_run_is_compared_on_what_it_ran():
    old = entries(["passed"] * 100)
    found = gates(old, [entry("00007", "failed")], partial=True)
    assert found["mgente::coverage"].verdict is Verdict.PASS
    assert found["mgente[it]::set-n-accuracy"].compared == 1
    assert found["mgente[it]::set-n-accuracy"].verdict is Verdict.UNDECIDED


def test_a_filtered_run_does_not_lose_what_it_did_not_ask_for():
    old = [replace(one, scores={"chrf": 50.0}) for one in entries(["passed"] * 40)]
    rule = GateRule(measure="chrf-mean")
    new = [replace(one, scores={"chrf": 50.0} if place < 20 else {}) for place, one in enumerate(old)]
    assert gates(old, new, [rule], partial=True)["mgente[it]::chrf-mean"].lost == 0
    assert gates(old, new, [rule])["mgente[it]::chrf-mean"].lost == 20


def test_tests_that_did_not_run_are_named():
    old = [replace(one, tests={**one.tests, "test_b": outcome("passed")}) for one in entries(["passed"] * 3)]
    gate = gates(old, entries(["passed"] * 3))["mgente::coverage"]
    assert gate.verdict is Verdict.UNDECIDED
    assert "test_b" in gate.why
    assert gates(old, entries(["passed"] * 3), partial=True)["mgente::coverage"].verdict is Verdict.PASS


def test_a_run_without_a_judge_has_no_judged_gates():
    old = entries(["passed"] * 40)
    new = [replace(one, judged=None, why={}) for one in old]
    assert "mgente[it]::set-n-accuracy" not in gates(old, new)


def test_a_system_without_labels_has_no_label_gates_even_where_translations_fail():
    rule = GateRule(measure="label-macro-f1")
    plain = entries(["passed"] * 40)
    failed = [replace(one, text=None, judged=None, why={"translation": "empty"}) for one in plain]
    assert "mgente[it]::label-macro-f1" not in gates(plain, [*plain[:20], *failed[20:]], [rule])
    said = [replace(one, label="NEUTRAL") for one in plain]
    assert gates(said, failed, [rule])["mgente[it]::label-macro-f1"].verdict is Verdict.FAIL


# Bounds.


def bound(new, **values):
    return accuracy(None, new, rules=[GateRule(measure="set-n-accuracy", **values)])


def test_bounds_need_no_baseline():
    new = entries(["passed"] * 60 + ["failed"] * 40)
    assert bound(new, minimum=0.5).verdict is Verdict.PASS
    gate = bound(new, minimum=0.7)
    assert gate.verdict is Verdict.FAIL
    assert gate.why == "60.0% is below the minimum 70.0%"
    assert bound(new, maximum=0.5).verdict is Verdict.FAIL
    assert bound(new).verdict is Verdict.NOT_APPLICABLE


def test_a_bound_on_few_cases_fails_only_beyond_the_interval():
    assert bound(entries(["failed"] * 10), minimum=0.7).verdict is Verdict.FAIL
    assert bound(entries(["passed"] * 6 + ["failed"] * 4), minimum=0.7).verdict is Verdict.UNDECIDED
    assert bound(entries(["passed"] * 10), minimum=0.7).verdict is Verdict.UNDECIDED


def test_a_bound_on_unscored_cases_alone_is_undecided():
    gate = bound(entries(["transport"] * 50), minimum=0.5)
    assert gate.verdict is Verdict.UNDECIDED
    assert gate.value is None


def test_a_maximum_of_the_unscored_rate():
    rule = GateRule(measure="unscored-rate", maximum=0.1)
    found = gates(None, entries(["passed"] * 80 + ["transport"] * 20), [rule])
    assert found["mgente[it]::unscored-rate"].verdict is Verdict.FAIL


def test_overrides_hold_in_their_stratum_only():
    rule = GateRule(measure="set-n-accuracy", minimum=0.5, overrides={"de": {"minimum": 0.9}})
    it, de = (
        [replace(one, lang=lang, id=one.id.replace("it", lang)) for one in entries(["passed"] * 40 + ["failed"] * 10)]
        for lang in ("it", "de")
    )
    found = gates(None, it + de, [rule])
    assert found["mgente[it]::set-n-accuracy"].verdict is Verdict.PASS
    assert found["mgente[de]::set-n-accuracy"].verdict is Verdict.FAIL


def test_a_warning_does_not_make_the_run_red():
    found = gates(None, entries(["failed"] * 50), [GateRule(measure="set-n-accuracy", minimum=0.5, severity="warn")])
    assert [gate.verdict for gate in found.values()] == [Verdict.FAIL]
    assert not is_red(found.values())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"measure": "set-n"}, "unknown measure"),
        ({"by": ("langs",)}, "cannot be divided by 'langs'"),
        ({"overrides": {"it": {"minimun": 1}}}, "cannot override 'minimun'"),
        ({"weight": 0}, "weight"),
        ({"max_drop": -0.1}, "max_drop"),
        ({"minimum": 0.9, "maximum": 0.1}, "minimum is above"),
        ({"severity": "info"}, "severity 'info'"),
    ],
)
def test_wrong_rules_are_refused(values, message):
    with pytest.raises(GntError, match=message):
        GateRule(**{"measure": "set-n-accuracy"} | values)


# Families.


def test_all_tested_gates_of_a_run_share_one_budget():
    """A fall that one gate alone would call significant is not, as one of eight languages."""
    langs = ("it", "es", "de", "el", "fr", "pt", "ro", "ca")
    old, new = runs(80, 10, worse=9, better=1)
    alone = accuracy(old, new)
    assert alone.verdict is Verdict.FAIL
    calm = runs(90, 10)[0]
    stored = [
        replace(one, lang=lang, id=f"mgente/{lang}/{one.id}")
        for lang in langs
        for one in (old if lang == "it" else calm)
    ]
    current = [
        replace(one, lang=lang, id=f"mgente/{lang}/{one.id}")
        for lang in langs
        for one in (new if lang == "it" else calm)
    ]
    together = gates(stored, current)["mgente[it]::set-n-accuracy"]
    assert together.p == alone.p
    assert together.p_holm > alone.p_holm
    assert together.verdict is not Verdict.FAIL


def test_gates_do_not_depend_on_each_other_but_for_holm():
    old, new = runs(600, 100, worse=30, better=20)
    old = [replace(one, scores={"chrf": 50.0 + place % 7}) for place, one in enumerate(old)]
    new = [replace(one, scores={"chrf": 50.0 + place % 5}) for place, one in enumerate(new)]
    chrf = GateRule(measure="chrf-mean")
    one = gates(old, new, [chrf])["mgente[it]::chrf-mean"]
    both = gates(old, new, [ACCURACY, chrf])["mgente[it]::chrf-mean"]
    assert (one.p, one.low, one.delta_high) == (both.p, both.low, both.delta_high)


def test_order_of_cases_changes_nothing():
    old = [one for number in range(30) for one in scored(number, {"woman": 80.0 + number, "man": 81.0, "queer": 70.0})]
    new = [replace(one, scores={"comet": one.scores["comet"] - len(one.id) % 3}) for one in old]
    plain = evaluate(new, {"ambgimt": baseline(old, corpus="ambgimt")})
    shuffled = random.Random(4).sample(new, len(new))
    assert evaluate(shuffled, {"ambgimt": baseline(old, corpus="ambgimt")}) == plain


def test_variants_of_one_sentence_are_not_independent():
    """One sentence of 14 variants that all flip is one observation: no pooled McNemar test of 14 flips."""
    names = [str(number) for number in range(14)]
    rule = GateRule(measure="test:t", max_drop=0.0)

    def side(failing):
        return [
            replace(variant(sentence, name), tests={"t": outcome("failed" if sentence < failing else "passed")})
            for sentence in range(40)
            for name in names
        ]

    few = gates(side(0), side(3), [rule], corpus="ambgimt")["ambgimt[zh]::test:t"]
    assert few.p == pytest.approx(1 / 8)
    assert few.verdict is not Verdict.FAIL
    many = gates(side(0), side(10), [rule], corpus="ambgimt")["ambgimt[zh]::test:t"]
    assert many.p == pytest.approx(1 / 2**10)
    assert many.verdict is Verdict.FAIL


def test_a_fall_for_one_identity_is_seen_at_that_identity():
    old = [
        one for number in range(60) for one in scored(number, {"woman": 80.0, "man": 80.0, "queer": 79.0 + number % 4})
    ]
    new = [
        replace(one, scores={"comet": one.scores["comet"] - (6 + len(one.id) % 2) * (one.identity == "queer")})
        for one in old
    ]
    found = gates(old, new, [GateRule(measure="comet-gap", by=("lang", "identity"))], corpus="ambgimt")
    assert found["ambgimt[zh,queer]::comet-gap"].verdict is Verdict.FAIL
    assert [gate.stratum for gate in found.values() if gate.measure == "comet-gap"] == [
        {"lang": "zh", "identity": "queer"}
    ]


def test_gate_names_hold_no_blanks():
    found = gates(None, [variant(1, "trans man")], [GateRule(measure="identity-kept-rate", by=("lang", "identity"))])
    assert list(found) == ["ambgimt[zh,trans-man]::identity-kept-rate"]


def test_measures_that_cannot_be_compared_are_not():
    old, new = runs(600, 100, worse=40)
    gate = accuracy(old, new, incomparable={"mgente": ["judge"]})
    assert gate.verdict is Verdict.NOT_APPLICABLE
    assert gate.why == "not comparable: run and baseline differ in judge"
    assert gate.baseline_value is None
    assert accuracy(old, new, incomparable={"mgente": ["attitude"]}).verdict is Verdict.FAIL


def test_results_are_strict_json():
    old, new = runs(3, 2, worse=1)
    for gate in evaluate([*new, *scored(1, {"woman": 80.0})], {"mgente": baseline(old)}):
        text = json.dumps(gate.to_json(), allow_nan=False)
        assert json.loads(text)["verdict"] in ("pass", "fail", "undecided", "not-applicable")


@pytest.mark.parametrize("results", [[], ["passed"], ["failed"], ["transport"], ["passed"] * 2, ["transport"] * 40])
def test_tiny_tied_and_empty_samples_in_every_gate(results):
    old = entries(results, label="NEUTRAL", scores={"chrf": 50.0, "comet": 80.0})
    found = evaluate(old, {"mgente": baseline(old)}, GateSettings(resamples=50))
    assert not any(gate.red and gate.measure != "unscored-rate" for gate in found)
    assert all(gate.p in (None, 1.0) for gate in found)


def test_nothing_at_all():
    assert evaluate([]) == []
    assert [gate.verdict for gate in evaluate([], {"mgente": baseline([])})] == [Verdict.UNDECIDED]


def test_default_rules_cover_both_benchmarks():
    assert {rule.measure for rule in DEFAULT_RULES} >= {
        "set-n-accuracy",
        "set-g-accuracy",
        "label-macro-f1",
        "coherence",
        "extraction-error-rate",
        "unscored-rate",
        "comet-mean",
        "comet-gap",
        "comet-sd",
        "eas-gap",
        "shift-bias-rate",
        "identity-kept-rate",
    }


# Noise.


def test_repeats_widen_gates():
    """Two more runs of the same system differ so much that a fall of this size says nothing."""
    old, new = runs(150, 100, worse=30, better=8)
    rule = replace(ACCURACY, minimum=0.58)
    plain = accuracy(old, new, rules=[rule])
    assert plain.verdict is Verdict.FAIL
    assert plain.noise is None
    generator = random.Random(1)
    repeats = [entries(generator.choices(["passed", "failed"], k=288)) for _ in range(2)]
    wide = accuracy(old, new, rules=[rule], repeats=repeats)
    assert wide.noise > 0.02
    assert wide.verdict is not Verdict.FAIL


def test_repeats_that_agree_change_nothing():
    old, new = runs(600, 100, worse=40, better=10)
    gate = accuracy(old, new, repeats=[new, new])
    assert gate.noise == 0
    assert gate.verdict is Verdict.FAIL


# The simulation that docs/gates.md reports.


def test_the_simulation_decides_as_the_product_does(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import gates as simulation

    assert Path(simulation.__file__).parent.name == "benchmarks"
    try:
        scenario = simulation.Scenario("test", n=150, hit=0.15, runs=3)
        for pair in simulation.simulate(scenario, 5):
            assert simulation.red_gates(pair) == simulation.red_gates_case_by_case(pair) != set()
    finally:
        del sys.modules["gates"]


def test_few_false_alarms_and_many_hits(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import gates as simulation

    try:
        calm = [simulation.red_gates(pair) for pair in simulation.simulate(simulation.Scenario("calm", runs=60), 11)]
        worse = simulation.Scenario("worse", hit=0.05, runs=60)
        caught = ["mgente[it]::set-n-accuracy" in simulation.red_gates(pair) for pair in simulation.simulate(worse, 12)]
    finally:
        del sys.modules["gates"]
    # At a true rate of 5% more than 8 of 60 happen once in 400; at a true power of 90% fewer than 47 once in 500.
    assert sum(map(bool, calm)) <= 8
    assert sum(caught) >= 47
