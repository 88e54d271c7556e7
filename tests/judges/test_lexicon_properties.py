"""Properties of the lexicon judge that hold for every text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gnt.evidence import JudgedLabel, Reason
from pytest_gnt.judges.lexicon_data import LANGUAGES
from pytest_gnt.judges.lexicon_forms import load_lexicon
from pytest_gnt.judges.lexicon_verdict import NO_PERSON, PAIRED, judge_text
from tests.judges.lexicon_cases import ROWS

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
BUDGET_S = 0.001
"""Mean time a sentence; the sentences of the tables are of ordinary length."""


def _likely_words(lang: str) -> st.SearchStrategy[str]:
    """Texts out of the lexicon's own forms and the tables' words, so that every rule meets odd neighbours."""
    forms = sorted(load_lexicon(lang).forms)
    closed = sorted({word for rows in load_lexicon(lang).rows.values() for word in rows})
    table = sorted({word for row in ROWS[lang] for word in row.text.split()})
    words = st.one_of(
        st.sampled_from(forms), st.sampled_from(closed), st.sampled_from(table), st.sampled_from(list(".,;:/'’*-("))
    )
    return st.lists(words, max_size=25).map(" ".join)


@pytest.mark.parametrize("lang", LANGUAGES)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_text_gets_a_verdict_and_phrases_stand_in_it(lang: str, data: st.DataObject) -> None:
    text = data.draw(st.one_of(ANY_TEXT, _likely_words(lang)))
    source = data.draw(
        st.one_of(ANY_TEXT, st.sampled_from(["She and he said they are ready.", "The dealers know it."]))
    )
    stated = data.draw(st.sampled_from(["M", "F", None]))
    words = data.draw(st.lists(st.one_of(ANY_TEXT, st.sampled_from(text.split() or ["x"])), max_size=3))
    verdict = judge_text(lang, source, text, stated, words)
    assert (verdict.label is None) == (verdict.reason is not None)
    assert all(phrase.text and phrase.text in text for phrase in verdict.phrases)
    assert judge_text(lang, source, text, stated, words) == verdict
    genders = {phrase.gender for phrase in verdict.phrases}
    if verdict.label is JudgedLabel.NEUTRAL:
        assert genders <= {"N"}
    elif verdict.label is not None:
        right = all(phrase.correct for phrase in verdict.phrases)
        assert (verdict.label is JudgedLabel.CORRECTLY_GENDERED) == right
        assert genders & {"M", "F"}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "unit", ["stato ", "stessi ", "più ", "persona ", "α", "Arbeiter", "ο ", "der ", "I", "'", "*"]
)
def test_long_monotonous_text_ends_soon(lang: str, unit: str) -> None:
    start = time.process_time()
    judge_text(lang, unit * 4000, unit * 4000, None, (unit,))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sentence_takes_less_than_a_millisecond(lang: str) -> None:
    rows = ROWS[lang]
    for row in rows:
        judge_text(lang, row.source, row.text, None)
    rounds = []
    for _ in range(5):
        start = time.process_time()
        for row in rows:
            judge_text(lang, row.source, row.text, None)
        rounds.append((time.process_time() - start) / len(rows))
    assert min(rounds) < BUDGET_S


@pytest.mark.parametrize("text", ["", " ", "…", "123 456", "\ud83d"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_text_without_letters_is_undecided(lang: str, text: str) -> None:
    assert judge_text(lang, "x", text, None).reason is Reason.UNDECIDED


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_text_in_another_language_is_undecided_not_neutral(lang: str) -> None:
    text = "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan."
    verdict = judge_text(lang, "All human beings are born free.", text, None)
    assert (verdict.label, verdict.reason) == (None, Reason.UNDECIDED)


def test_the_untranslated_source_is_undecided_in_greek_and_german() -> None:
    source = "The honest manager finished the work."
    assert judge_text("el", source, source, None).reason is Reason.UNDECIDED
    assert judge_text("de", source, source, None).reason is Reason.UNDECIDED


def test_decomposed_accents_make_no_difference() -> None:
    composed, decomposed = "La señora está cansada.", "La sen\u0303ora esta\u0301 cansada."
    one, two = (judge_text("es", "She is tired.", text, "F") for text in (composed, decomposed))
    assert one.label == two.label == JudgedLabel.CORRECTLY_GENDERED
    assert two.phrases[0].text == "La sen\u0303ora"


def test_flags_tell_absence_of_evidence_and_paired_forms() -> None:
    assert judge_text("it", "It rains.", "Oggi piove e fa freddo.", None).flags == (NO_PERSON,)
    assert judge_text("de", "Citizens vote.", "Bürgerinnen und Bürger wählen heute.", None).flags == (PAIRED,)
