"""Rates: published interval values, counted in equals counted out, order does not matter."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.verdicts.rates import Mean, tally, wilson
from pytest_gnt.verdicts.results import CaseResult, Outcome, TestResult


def test_wilson_agrees_with_a_published_example() -> None:
    # Newcombe 1998, Statistics in Medicine 17:857-872, table I (score method without continuity correction).
    for passed, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        found = wilson(passed, n)
        assert found == pytest.approx((low, high), abs=5e-5)


def test_an_empty_stratum_has_no_interval() -> None:
    assert wilson(0, 0) == (None, None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_running_mean_is_the_mean(values: list[float]) -> None:
    mean = Mean()
    for value in values:
        mean.add(value)
    row = mean.to_json()
    assert row["mean"] == pytest.approx(statistics.fmean(values), rel=1e-6, abs=1e-3)
    assert row["sd"] == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-3)


def test_what_is_not_finite_is_unscored_and_never_in_a_mean() -> None:
    mean = Mean()
    for value in (1.0, float("nan"), None, float("inf"), 3.0):
        mean.add(value)
    assert mean.to_json() == {"n": 2, "unscored": 3, "mean": 2.0, "sd": pytest.approx(2**0.5)}


def result(number: int, outcome: Outcome, lang: str = "it", scores: dict[str, float] | None = None) -> CaseResult:
    return CaseResult(
        id=f"c/en-{lang}/{number}",
        corpus="c",
        subset="Set-N",
        lang=lang,
        group=str(number),
        source="s",
        tests={"test_x": TestResult(outcome, "empty" if outcome is Outcome.UNSCORED else None)},
        quality=None if scores is None else {"scores": scores},
    )


results = st.lists(
    st.builds(result, st.integers(0, 99), st.sampled_from(Outcome), st.sampled_from(["it", "de"])), max_size=40
)


@given(results, st.randoms())
def test_rates_do_not_depend_on_order_and_add_up(rows: list[CaseResult], random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    one = tally(rows)
    assert one.rates() == tally(shuffled).rates()
    assert sum(row["passed"] + row["failed"] + row["unscored"] for row in one.rates()) == len(rows) == one.tests
    assert sum(one.reasons.values()) == one.outcomes["unscored"]


def test_a_case_without_scores_is_unscored_in_every_metric() -> None:
    rows = [
        result(1, Outcome.PASSED, scores={"bleu": 10.0, "chrf": 20.0}),
        result(2, Outcome.UNSCORED, scores={}),
        result(3, Outcome.UNSCORED, "de", scores={}),
    ]
    means = {
        (row["metric"], row["by"]["lang"]): (row["n"], row["unscored"], row["mean"]) for row in tally(rows).means()
    }
    assert means == {
        ("bleu", "it"): (1, 1, 10.0),
        ("chrf", "it"): (1, 1, 20.0),
        ("bleu", "de"): (0, 1, None),
        ("chrf", "de"): (0, 1, None),
    }


@given(st.text(), st.text())
def test_a_record_survives_json(source: str, message: str) -> None:
    import json

    one = CaseResult(
        id="c/en-it/1",
        corpus="c",
        subset="Set-N",
        lang="it",
        group="1",
        source=source,
        references=("r",),
        tests={"test_x": TestResult(Outcome.FAILED, None, message)},
        translation={"text": source},
    )
    assert CaseResult.from_json(json.loads(json.dumps(one.to_json()))) == one
