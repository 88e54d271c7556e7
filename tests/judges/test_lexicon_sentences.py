"""What the lexicon judge makes of small own sentences in each language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_gnt.judges.lexicon_verdict import judge_text
from tests.judges.lexicon_cases import ROWS, Row

MIN_ROWS, MIN_TRAPS = 15, 5


def _params() -> Iterator[object]:
    for lang, rows in ROWS.items():
        for row in rows:
            yield pytest.param(lang, row, id=f"{lang}-{row.text[:48]}")


@pytest.mark.parametrize(("lang", "row"), list(_params()))
def test_label_and_phrases(lang: str, row: Row) -> None:
    verdict = judge_text(lang, row.source, row.text, row.stated)
    found = {phrase.text for phrase in verdict.phrases if phrase.gender != "N"}
    assert (verdict.label, verdict.reason) == (row.label, None), verdict.phrases
    assert set(row.gendered) <= found
    if row.trap:
        assert not found


@pytest.mark.parametrize("lang", ROWS)
def test_table_has_enough_sentences_and_traps(lang: str) -> None:
    assert len(ROWS[lang]) >= MIN_ROWS
    assert sum(row.trap for row in ROWS[lang]) >= MIN_TRAPS
