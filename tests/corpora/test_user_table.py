"""The user's own table: documented columns, own names, rows that are no case."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Form, Gender, Identity, Subset
from pytest_gnt.corpora import table
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.errors import GntError


@pytest.fixture
def load(write, balanced):
    """Load a table given as text."""

    def _load(text: str, name: str = "own.tsv", langs: tuple[str, ...] | None = None, **options: object):
        path = write(name, text)
        return balanced(table.load(CorpusSource(name="own", root=path, langs=langs, options=options)))

    return _load


def test_all_columns(load):
    data = load(
        "id\tsource\tlang\tset\tgender\treference_gendered\treference_neutral\treference_neutral_2\tgendered_words\n"
        "7\tShe spoke.\tes\tSet-G\tF\tElla habló.\tSe habló.\tAlguien habló.\tella; hablada\n"
        "8\tThey spoke.\tES\tset-n\t\tEllos hablaron.\tSe habló.\t\tellos\n"
    )
    gendered, neutral = data.cases
    assert (gendered.id, gendered.subset, gendered.gender, gendered.expected) == (
        "own/en-es/7",
        Subset.SET_G,
        Gender.F,
        Form.GENDERED,
    )
    assert gendered.references == ("Ella habló.",)
    assert gendered.contrast_references == ("Se habló.", "Alguien habló.")
    assert gendered.gendered_words == ("ella", "hablada")
    assert (neutral.id, neutral.expected, neutral.references) == ("own/en-es/8", Form.NEUTRAL, ("Se habló.",))
    assert "own.tsv: set read in spite of letter case or blanks: 1 row (first own.tsv:3)" in data.notes
    assert data.title == "own"


def test_identity_rows_need_no_set(load):
    data = load(
        "id\tsource\tlang\tidentity\tgroup\tattitude_word\tattitude_renderings\treference\n"
        "1a\tThe trans man is terse.\tzh\tTrans-Man\ts1\tterse\t简短; 简明扼要\t跨性别男性很简洁。\n"
        "1b\tThe person is terse.\tzh\tperson\ts1\tterse\t\t\n"
        "2\tThe person left.\tzh\tperson\t\tterse\t\t\n"
    )
    first, second, third = data.cases
    assert (first.identity, first.subset, first.expected) == (Identity.TRANS_MAN, Subset.AUTHENTIC, None)
    assert first.group == second.group == "own/s1" != third.group
    assert first.attitude_renderings == ("简明扼要", "简短")
    assert "简洁" in second.attitude_renderings
    assert third.attitude_word is None
    assert "own.tsv: attitude_word that does not stand in the source: 1 row (first own.tsv:4)" in data.notes
    assert "own.tsv: empty reference: 2 rows (first own.tsv:3)" in data.notes


def test_own_column_names_and_a_language_for_all(load):
    data = load(
        "No,English,Set,Kommentar\n1,They spoke.,Set-N,x\n",
        "own.csv",
        lang="de",
        title="House style",
        columns={"id": "No", "source": "English", "set": "Set"},
    )
    assert data.cases[0].id == "own/en-de/1"
    assert data.title == "House style"
    assert "own.csv: columns not used: Kommentar" in data.notes


def test_json_lines_with_lists_and_numbers(load):
    rows = [
        {"id": 7, "source": "They spoke.", "lang": "it", "set": "Set-N", "reference_neutral": ["Uno.", "Due."]},
        {"id": "8", "source": "None", "lang": "it", "set": "Set-N"},
    ]
    data = load("".join(f"{json.dumps(row)}\n" for row in rows), "own.jsonl")
    assert [case.id for case in data.cases] == ["own/en-it/7", "own/en-it/8"]
    assert data.cases[0].references == ("Uno.", "Due.")
    assert data.cases[1].source == "None"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("\tText.\tit\tSet-N\t\t", "id is empty"),
        ("1\t \tit\tSet-N\t\t", "source is empty"),
        ("1\tText.\t\tSet-N\t\t", "lang is empty"),
        ("1\tText.\tItalian!\tSet-N\t\t", "lang is 'Italian!'"),
        ("1\tText.\tit\t\t\t", "set is empty; Set-N or Set-G is needed, or an identity"),
        ("1\tText.\tit\tSetN\t\t", "set is 'SetN'"),
        ("1\tText.\tit\tauthentic\t\t", "set is 'authentic'"),
        ("1\tText.\tit\tSet-G\t\t", "gender of a Set-G row is empty"),
        ("1\tText.\tit\tSet-G\tN\t", "gender of a Set-G row is 'N'"),
        ("1\tText.\tit\t\t\trobot", "identity is 'robot'"),
        ("0\tText.\tit\tSet-N\t\t", "already used in own.tsv:2"),
        ("1\tText.", "number of cells is 2"),
    ],
)
def test_a_row_that_is_no_case_is_refused_by_line(load, row, why):
    data = load(f"id\tsource\tlang\tset\tgender\tidentity\n0\tFirst.\tit\tSet-N\t\t\n{row}\n9\tLast.\tit\tSet-N\t\t\n")
    assert [case.source for case in data.cases] == ["First.", "Last."]
    assert data.refused[0].line == 3
    assert why in data.refused[0].why


def test_rows_in_other_languages_are_left_out_and_counted(load):
    data = load("id\tsource\tlang\tset\n1\tA.\tit\tSet-N\n1\tA.\tes\tSet-N\n2\tB.\tes\tSetN\n", langs=("it",))
    assert data.rows_read == len(data.cases) == 1
    assert "own.tsv: rows in languages that are not wanted were left out: es 2" in data.notes


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id\ttext\tlang\n1\ta\tit\n", {}, "no column 'source'; there are id, text, lang"),
        ("id\tsource\n1\ta\n", {}, "no column 'lang'"),
        ("id\tsource\n1\ta\n", {"lang": "it", "columns": {"set": "SET"}}, "no column 'SET'"),
        ("id\tsource\n1\ta\n", {"lang": "it", "columns": {"SRC": "source"}}, "'SRC' is none of id, source"),
        ("id\tsource\n1\ta\n", {"lang": "it", "columns": ["id"]}, "must map names to names"),
        ("id\tsource\n1\ta\n", {"lang": 7}, "must be a text"),
        ("id\tsource\n1\ta\n", {"language": "it"}, "no option 'language'"),
    ],
)
def test_settings_and_columns_that_do_not_fit_are_refused(load, text, options, message):
    with pytest.raises(GntError, match=message):
        load(text, **options)


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(GntError, match="is a folder"):
        table.load(CorpusSource(name="own", root=tmp_path))


CELL = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), max_size=8)
ROW = st.tuples(
    CELL,
    CELL,
    st.sampled_from(["it", "es", ""]),
    st.sampled_from(["Set-N", "Set-G", "x", ""]),
    st.sampled_from(["F", "", "q"]),
    st.sampled_from(["gay", "trans man", "?", ""]),
    CELL,
)


@given(st.lists(ROW, min_size=1, max_size=12))
def test_no_cell_text_changes_the_count(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("law") / "own.tsv"
    lines = ["id\tsource\tlang\tset\tgender\tidentity\treference", *("\t".join(cells) for cells in rows)]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    data = table.load(CorpusSource(name="own", root=path, options={"format": "tsv"}))
    assert data.rows_read == len(rows) == len(data.cases) + len(data.refused)
    for case in data.cases:
        line = int(case.origin.rpartition(":")[2])
        assert case.source == rows[line - 2][1]


def test_the_sentences_of_winomt_as_a_table(shared_data, load):
    lines = (shared_data / "winomt" / "winomt.en-es.aws_google.tsv").read_text(encoding="utf-8").split("\n")
    one_system = [line for line in lines if line.startswith(("system", "aws"))]
    data = load(
        "".join(f"{line}\n" for line in one_system), lang="es", set="Set-G", columns={"id": "idx", "source": "src"}
    )
    genders = [line.split("\t")[2] for line in one_system[1:]]
    assert data.rows_read == len(genders) == 3888
    assert sum(case.gender is Gender.F for case in data.cases) == genders.count("female")
    assert sum(case.gender is Gender.M for case in data.cases) == genders.count("male")
    assert len(data.refused) == genders.count("neutral")
    assert {bad.why for bad in data.refused} == {"gender of a Set-G row is 'neutral'; F or M is needed"}
