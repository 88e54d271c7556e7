"""Selection: filters, and a sample that is seeded, stratified, of whole groups, and stable under new rows."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Case, Gender, Identity, Subset
from pytest_gnt.config import RunSettings
from pytest_gnt.runner.selection import sample, select
from pytest_gnt.suite import Selection


def corpus(sentences: int = 40) -> list[Case]:
    out = []
    for number in range(sentences):
        for lang in ("it", "de"):
            subset, gender = ((Subset.SET_N, None), (Subset.SET_G, Gender.F), (Subset.SET_G, Gender.M))[number % 3]
            out.append(
                Case(
                    id=f"m/en-{lang}/{number}",
                    corpus="m",
                    subset=subset,
                    target_lang=lang,
                    source=f"s{number}",
                    group=f"m/{number}",
                    gender=gender,
                )
            )
    return out


def variants(sentences: int = 20) -> list[Case]:
    return [
        Case(
            id=f"a/en-zh/{number}/{identity.replace(' ', '-')}",
            corpus="a",
            subset=Subset.SYNTHESIZED,
            target_lang="zh",
            source="s",
            group=f"a/{number}",
            identity=identity,
        )
        for number in range(sentences)
        for identity in Identity
    ]


@given(st.integers(1, 100), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_sample_does_not_depend_on_order(size: int, seed: int, shuffler: random.Random) -> None:
    cases = corpus()
    shuffled = list(cases)
    shuffler.shuffle(shuffled)
    assert sample(cases, size, seed) == sample(shuffled, size, seed)


def test_strata_are_in_proportion() -> None:
    cases = corpus(300)
    chosen = sample(cases, 60, 0)
    counts = Counter((case.target_lang, case.subset, case.gender) for case in cases if case.id in chosen)
    assert set(counts.values()) == {10}


def test_variants_of_a_sentence_stay_together() -> None:
    chosen = sample(variants(), 30, 0)
    assert len(chosen) == 28
    groups = Counter(identifier.split("/")[2] for identifier in chosen)
    assert set(groups.values()) == {14}


def test_another_seed_is_another_sample_and_new_rows_move_little() -> None:
    cases = variants(100)
    assert sample(cases, 140, 0) != sample(cases, 140, 1)
    before = sample(cases, 140, 0)
    after = sample(variants(105), 147, 0)
    assert len(before & after) >= 0.7 * len(before)


def test_filters_of_run_and_suite_add_up() -> None:
    suite = Selection("a", None, frozenset({"queer", "man"}), None, (), True)
    settings = RunSettings(identities=("queer", "woman"), langs=("zh",))
    chosen = select(variants(2), suite, settings)
    assert [case.identity for case in chosen] == [Identity.QUEER] * 2
    assert select(variants(2), suite, RunSettings(langs=("it",))) == []
