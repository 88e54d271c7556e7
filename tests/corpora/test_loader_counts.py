"""Counted in is counted out: whatever stands in a table, each of its rows is a case or refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gnt.corpora import mgente, table
from pytest_gnt.corpora.source import CorpusSource

CELL = st.one_of(
    st.sampled_from(["", " ", "NA", "None", "Set-N", "Set-G", "F", "M", "female", "woman", "trans man", "it", "gruff"]),
    st.text(alphabet=st.characters(exclude_characters="\t\r\n", exclude_categories=("Cs",)), max_size=12),
)
COLUMNS = ("id", "source", "set", "gender", "identity", "reference", "attitude_word")


def write(folder: str, name: str, text: str) -> Path:
    path = Path(folder) / name
    path.write_bytes(text.encode("utf-8"))
    return path


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[CELL] * len(COLUMNS)), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_each_row_of_a_table_is_a_case_or_refused(rows: list[tuple[str, ...]], end: str) -> None:
    lines = ["\t".join(COLUMNS), *("\t".join(row).replace('"', "'") for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "house.tsv", end.join(lines) + end)
        data = table.load(CorpusSource(name="house", root=path, options={"lang": "it"}))
    assert data.rows_read == len(rows)
    assert len(data.cases) + len(data.refused) == len(rows)
    assert len({case.id for case in data.cases}) == len(data.cases)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.dictionaries(st.sampled_from(COLUMNS), CELL | st.none() | st.integers() | st.lists(CELL, max_size=2)))
)
def test_each_line_of_json_is_a_case_or_refused(rows: list[dict[str, object]]) -> None:
    rows = [{"id": "0", "source": "x", "set": "Set-N"}, *rows]
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "house.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        data = table.load(CorpusSource(name="house", root=path, options={"lang": "it"}))
    assert data.rows_read == len(rows) == len(data.cases) + len(data.refused)


MGENTE = ("ID", "Europarl_ID", "SET", "SRC", "REF-G", "REF-N", "COMMON", "GENDER", "REF-G_ann", "G-WORDS")

GOOD = ("1", "e-1", "Set-N", "The citizens vote.", "I cittadini votano.", "La cittadinanza vota.", *[""] * 4)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[CELL] * len(MGENTE)), max_size=8))
def test_each_row_of_mgente_is_a_case_or_refused(rows: list[tuple[str, ...]]) -> None:
    rows = [GOOD, *rows]
    lines = ["\t".join(MGENTE), *("\t".join(row) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mgente").mkdir()
        write(folder, "mgente/en-it.tsv", "\n".join(lines) + "\n")
        data = mgente.load(CorpusSource(name="mgente", root=Path(folder)))
    assert data.rows_read == len(rows) == len(data.cases) + len(data.refused)
