"""Each case against its baseline: pairing by id, and every transition by its own name."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import TEST, baseline, entries, entry, outcome

from pytest_gnt.verdicts.changes import ChangeKind, align, changes, count_changes

OUTCOMES = ("passed", "failed", "transport")


def kinds(old, new, **how):
    return {change.id.rpartition("/")[2]: change.kind for change in changes(baseline(old).entries, new, **how)}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("passed", "failed", "regressed"),
        ("passed", "transport", "lost"),
        ("passed", "passed", "still-passing"),
        ("failed", "passed", "fixed"),
        ("failed", "failed", "still-failing"),
        ("failed", "transport", "failing-unscored"),
        ("transport", "passed", "recovered"),
        ("transport", "failed", "unscored-failing"),
        ("transport", "truncated", "still-unscored"),
    ],
)
def test_every_transition(before, after, kind):
    assert kinds([entry(1, before)], [entry(1, after)]) == {"1": kind}


def test_cases_are_paired_by_id_not_by_position():
    old = entries(["passed", "failed", "passed", "failed", "passed"])
    new = list(reversed(old))
    assert set(kinds(old, new).values()) == {"still-passing", "still-failing"}


def test_missing_and_new_cases_are_listed():
    old = entries(["passed"] * 5)
    assert kinds(old, old[:4])["00004"] is ChangeKind.GONE
    assert kinds(old, [*old, entry("00005", "failed")])["00005"] is ChangeKind.NEW


def test_a_changed_source_is_not_comparable_whatever_the_outcome():
    old = [entry(1, "passed")]
    assert kinds(old, [entry(1, "failed", source_digest="f" * 16)]) == {"1": "not-comparable"}


def test_a_filtered_run_compares_what_it_ran():
    old = entries(["passed"] * 3)
    assert kinds(old, [entry("00001", "failed")], partial=True) == {"00001": "regressed"}


def test_in_a_filtered_run_a_case_that_the_corpus_no_longer_has_is_gone():
    old = entries(["passed"] * 3)
    known = {"mgente/en-it/00000", "mgente/en-it/00001"}
    assert kinds(old, old[:1], partial=True, known=known) == {"00000": "still-passing", "00002": "gone"}


def test_a_test_that_was_left_out_on_purpose_is_not_gone():
    old = [entry(1, tests={TEST: outcome("passed"), "test_b": outcome("passed")})]
    assert [change.kind for change in changes(baseline(old).entries, [entry(1)], partial=True)] == ["still-passing"]
    assert [change.kind for change in changes(baseline(old).entries, [entry(1)])] == ["gone", "still-passing"]


def test_counts_name_every_kind():
    counted = count_changes(changes(baseline(entries(["passed"])).entries, entries(["failed"])))
    assert counted["regressed"] == 1
    assert set(counted) == {str(kind) for kind in ChangeKind}


def test_a_case_twice_in_a_run_is_an_error():
    with pytest.raises(ValueError, match="occurs twice"):
        align({}, [entry(1), entry(1)])


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.sampled_from(OUTCOMES)), max_size=20), st.randoms())
def test_order_does_not_matter_and_every_test_is_counted_once(pairs, shuffle: random.Random):
    old, new = entries([b for b, _ in pairs]), entries([a for _, a in pairs])
    mixed = list(new)
    shuffle.shuffle(mixed)
    plain = changes(baseline(old).entries, new)
    assert changes(baseline(old).entries, mixed) == plain
    assert sum(count_changes(plain).values()) == len(pairs)
