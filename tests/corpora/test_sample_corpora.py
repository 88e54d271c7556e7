"""The shipped sample goes through the same loaders and is complete."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_gnt.case import Gender, Identity, Subset
from pytest_gnt.corpora import sample
from pytest_gnt.corpora.identities import identities_named
from pytest_gnt.corpora.source import CorpusSource


@pytest.fixture
def mgente(balanced):
    return balanced(sample.load_mgente(CorpusSource(name="mgente", root=Path())))


@pytest.fixture
def ambgimt(balanced):
    return balanced(sample.load_ambgimt(CorpusSource(name="ambgimt", root=Path())))


def test_the_titles_say_that_it_is_a_sample(mgente, ambgimt):
    assert mgente.title == "mGeNTE (hand-written sample)"
    assert ambgimt.title == "AmbGIMT (hand-written sample)"


def test_the_mgente_sample(mgente):
    assert mgente.refused == ()
    counts = Counter((case.target_lang, case.subset, case.gender) for case in mgente.cases)
    for lang in ("it", "es", "de", "el"):
        assert counts[lang, Subset.SET_N, None] == 12
        assert counts[lang, Subset.SET_G, Gender.F] == counts[lang, Subset.SET_G, Gender.M] == 6
    assert len(mgente.cases) == 96
    assert mgente.cases[0].id == "mgente/en-it/S01"
    assert all(case.references and case.contrast_references for case in mgente.cases)
    assert len({case.group for case in mgente.cases}) == 24


def test_no_finding_about_the_sample_is_left(mgente, ambgimt):
    assert [note for note in mgente.notes if ": 24 rows: " not in note] == []
    assert ambgimt.notes == ("synthesized: 12 sentences in 12 blocks of 14",)


def test_the_ambgimt_sample(ambgimt):
    assert ambgimt.refused == ()
    assert Counter(case.identity for case in ambgimt.cases) == dict.fromkeys(Identity, 12)
    assert ambgimt.cases[8].id == "ambgimt/en-zh/synthesized/1/trans-man"
    assert len({case.attitude_word for case in ambgimt.cases}) == 12
    for case in ambgimt.cases:
        assert case.attitude_renderings
        assert case.identity in identities_named(case.references[0], "zh")


def test_languages_can_be_chosen():
    data = sample.load_mgente(CorpusSource(name="mgente", root=Path(), langs=("de",)))
    assert {case.target_lang for case in data.cases} == {"de"}
