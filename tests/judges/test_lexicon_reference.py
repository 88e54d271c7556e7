"""Gendered words of the reference as evidence."""

from __future__ import annotations

import pytest

from pytest_gnt.evidence import JudgedLabel
from pytest_gnt.judges.lexicon_verdict import judge_text


def gendered(lang: str, text: str, words: tuple[str, ...], stated: str | None = None) -> list[tuple[str, str]]:
    verdict = judge_text(lang, "They came.", text, stated, words)  # type: ignore[arg-type]
    return [(phrase.text, phrase.gender) for phrase in verdict.phrases if phrase.gender != "N"]


@pytest.mark.parametrize(
    ("lang", "text", "word", "gender"),
    [
        ("it", "Sono arrivati gli zampognari.", "zampognari", "M"),
        ("es", "Llegaron las plañideras.", "plañideras", "F"),
        ("de", "Die Türmer kamen.", "Türmer", "M"),
        ("el", "Ήρθαν οι τσαγκάρηδες.", "τσαγκάρηδες", "M"),
    ],
)
def test_a_noun_that_the_lexicon_lacks_counts(lang: str, text: str, word: str, gender: str) -> None:
    assert gendered(lang, text, ()) == []
    assert gendered(lang, text, (word,)) == [(word, gender)]


def test_the_stated_gender_goes_before_the_ending() -> None:
    assert gendered("it", "È arrivata la guardiamarina.", ("guardiamarina",), "M") == [("guardiamarina", "M")]


def test_an_article_alone_is_no_evidence_but_with_its_noun_it_is() -> None:
    text = "Ringrazio interpreti e i presenti Stati."
    assert gendered("it", text, ("i", "gli")) == []
    assert gendered("it", "La felicito per questo.", ("la felicito",)) == [("La felicito", "M")]
    assert gendered("it", "La felicito per questo.", ("la felicito",), "F") == [("La felicito", "F")]


def test_what_agrees_with_a_fixed_noun_is_no_evidence() -> None:
    verdict = judge_text("it", "x", "La persona interessata è contenta.", None, ("interessata", "contenta"))
    assert verdict.label is JudgedLabel.NEUTRAL


def test_an_adjective_of_a_thing_is_no_evidence() -> None:
    assert gendered("it", "Il parere consultato era lungo.", ("consultato",)) == []
    assert gendered("it", "Non è stato consultato.", ("consultato",)) == [("consultato", "M")]


@pytest.mark.parametrize("word", ["", " ", "...", "*", "x" * 5000])
def test_odd_entries_do_no_harm(word: str) -> None:
    assert gendered("it", "Oggi piove.", (word,)) == []
