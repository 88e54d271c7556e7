"""The data files: well formed, broad, and without contradictions that a rule would have to guess about."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_gnt.judges.lexicon_data import DATA, LANGUAGES, lexicon_hash, read_rows
from pytest_gnt.judges.lexicon_forms import load_lexicon

_ROMANCE = "pair head common masc fem fixed adjc adjo det art pron we self cop inf adv stop lead prep thing func"
KINDS = {
    "it": _ROMANCE,
    "es": f"{_ROMANCE} perf",
    "de": "er weak masc fem adjn special fixed common thing det pron func",
    "el": "pair part common commonis masc fem title fixed adjec adjo det art pron we cop adv stop func",
}
MIN_PERSON_LEMMAS = 300
PERSON_KINDS = {"pair", "head", "common", "commonis", "part", "er", "weak", "masc", "fem", "adjn", "special"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_rows_are_known_unique_and_clean(lang: str) -> None:
    rows = list(read_rows(lang))
    assert {row[0] for row in rows} == set(KINDS[lang].split())
    assert [row for row, count in Counter(rows).items() if count > 1] == []
    assert [row for row in rows if any(cell != cell.strip() for cell in row) or not row[1]] == []
    assert "\r" not in (DATA / f"{lang}.tsv").read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_hundreds_of_person_nouns(lang: str) -> None:
    lemmas = {row[1] for row in read_rows(lang) if row[0] in PERSON_KINDS}
    assert len(lemmas) >= MIN_PERSON_LEMMAS


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fixed_gender_noun_is_nothing_else(lang: str) -> None:
    doubtful = [
        form
        for form, entries in load_lexicon(lang).forms.items()
        if any(e.role == "fixed" for e in entries) and any(e.role == "noun" for e in entries)
    ]
    assert doubtful == []


@pytest.mark.parametrize(
    ("lang", "form", "gender", "number"),
    [
        ("it", "amiche", "F", "p"),
        ("it", "psicologi", "M", "p"),
        ("it", "traduttrici", "F", "p"),
        ("it", "giornaliste", "F", "p"),
        ("es", "catalanas", "F", "p"),
        ("es", "alemanes", "M", "p"),
        ("es", "juezas", "F", "p"),
        ("es", "trabajadoras", "F", "p"),
        ("de", "Französinnen", "F", "p"),
        ("de", "Ärztin", "F", "s"),
        ("de", "Kollegen", "M", ""),
        ("de", "Witwen", "F", ""),
        ("el", "φοιτητριεσ", "F", "p"),
        ("el", "πολιτων", "M", "p"),
        ("el", "ελληνιδα", "F", "s"),
    ],
)
def test_inflection(lang: str, form: str, gender: str, number: str) -> None:
    readings = {(entry.gender, entry.number) for entry in load_lexicon(lang).forms[form]}
    assert (gender, number) in readings


def test_the_hash_names_the_content() -> None:
    assert len(lexicon_hash()) == 64
    assert lexicon_hash() == lexicon_hash()
