"""Rows of TSV, CSV and JSON Lines: quotes, ordinary words that look missing, line breaks in cells, damaged rows."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_gnt.corpora import tables
from pytest_gnt.corpora.csvtext import CsvScanner
from pytest_gnt.corpora.tables import read_table
from pytest_gnt.errors import GntError

QUOTED_ROWS = (
    "ID\tSET\tSRC\n"
    '1\tSet-N\t"Quiet, please, the usher said.\n'
    "2\tSet-G\tShe left the hall.\n"
    '3\tSet-N\tSomeone shouted "Later!"\n'
    '4\tSet-N\tnobody moved"\n'
    "5\tSet-N\tThe lights went out.\n"
)


def column(table, name):
    return [row.cells[name] for row in table.rows]


# TSV


def test_quotes_in_a_tsv_are_text(write):
    table = read_table(write("t.tsv", QUOTED_ROWS))
    assert column(table, "SRC") == [line.split("\t")[2] for line in QUOTED_ROWS.splitlines()[1:]]
    assert [row.line for row in table.rows] == [2, 3, 4, 5, 6]
    assert table.refused == ()
    assert table.notes == ()


def test_a_quoted_first_word_keeps_its_quotes(write):
    table = read_table(write("t.tsv", 'ID\tSET\tSRC\n1\tSet-N\t"Quiet" was all the usher said.\n'))
    assert column(table, "SRC") == ['"Quiet" was all the usher said.']


def test_a_cell_wholly_in_quotes_keeps_them(write):
    table = read_table(write("t.tsv", 'ID\tSRC\n1\t"Later!"\n2\tNo.\n'))
    assert column(table, "SRC") == ['"Later!"', "No."]


def test_a_tsv_written_by_the_csv_rules_is_read_by_them_and_says_so(write):
    table = read_table(write("t.tsv", 'ID\tSRC\n1\tNo.\n2\t"Say ""no""."\n'))
    assert column(table, "SRC") == ["No.", 'Say "no".']
    assert "line 3, column 2" in table.notes[0]


def test_a_tsv_with_all_cells_quoted_is_read_by_the_csv_rules(write):
    table = read_table(write("t.tsv", '"ID"\t"SRC"\n"1"\t"Later!"\n'))
    assert table.columns == ("ID", "SRC")
    assert column(table, "SRC") == ["Later!"]


def test_bare_quotes_prove_that_doubled_ones_are_text(write):
    table = read_table(write("t.tsv", 'ID\tSRC\n1\tnobody moved"\n2\t"Say ""no""."\n'))
    assert column(table, "SRC") == ['nobody moved"', '"Say ""no""."']
    assert "line 3, column 2" in table.notes[0]


def test_a_tsv_that_cannot_be_told_apart_is_refused_unless_the_format_is_named(write):
    path = write("t.tsv", 'ID\tSRC\n1\t"Later!"\n2\t"Say ""no""."\n')
    with pytest.raises(GntError, match=r"cannot tell .*line 2, column 2.*line 3, column 2"):
        read_table(path)
    assert column(read_table(path, "tsv"), "SRC") == ['"Later!"', '"Say ""no""."']
    assert column(read_table(path, "tsv-quoted"), "SRC") == ["Later!", 'Say "no".']


def test_the_public_mgente_rows_hold_no_quoting_marks(shared_data):
    table = read_table(shared_data / "mgente" / "en-it.set-n.part.tsv")
    assert len(table.rows) == 400
    assert not any('""' in (cell or "") for row in table.rows for cell in row.cells.values())
    assert sum('"' in (row.cells["REF-G"] or "") for row in table.rows) == 2


def test_ordinary_words_stay_text(write):
    table = read_table(write("t.tsv", "ID\tSRC\tREF-N\n1\tNone\tNessuno\n2\tNA\tn/a\n3\tnull\tnullo\n4\tNaN\tnon so\n"))
    assert column(table, "SRC") == ["None", "NA", "null", "NaN"]
    assert column(table, "REF-N") == ["Nessuno", "n/a", "nullo", "non so"]


def test_crlf_leaves_no_mark_in_the_last_column(write):
    assert column(read_table(write("t.tsv", "ID\tSET\r\n1\tSet-N\r\n2\tSet-G\n")), "SET") == ["Set-N", "Set-G"]


def test_rows_that_do_not_fit_are_refused_and_the_rest_goes_on(write):
    long = "x" * (tables.MAX_CELL + 1)
    table = read_table(write("t.tsv", f"ID\tSRC\n1\ta\tb\n2\n\n3\t{long}\n4\tok\n"))
    assert [row.cells["ID"] for row in table.rows] == ["4"]
    assert [(bad.line, bad.file) for bad in table.refused] == [(2, "t.tsv"), (3, "t.tsv"), (4, "t.tsv"), (5, "t.tsv")]
    assert [bad.why for bad in table.refused][:3] == [
        "number of cells is 3, but the header names 2 columns",
        "number of cells is 1, but the header names 2 columns",
        "blank line",
    ]
    assert "100,001 characters" in table.refused[3].why
    assert table.rows_read == 5


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("ID\tSRC\tID", "'ID' occurs twice .columns 1 and 3."),
        ("ID\t\tSRC", "column 2 has no name"),
        ("\t", "no header"),
    ],
)
def test_unusable_headers(write, header, message):
    with pytest.raises(GntError, match=message):
        read_table(write("t.tsv", f"{header}\n1\t2\t3\n"))


def test_a_header_alone_is_no_table(write):
    with pytest.raises(GntError, match="no rows"):
        read_table(write("t.tsv", "ID\tSRC\n"))


def test_an_unknown_ending_or_format_is_refused(write):
    with pytest.raises(GntError, match=r"'.xlsx' is unknown"):
        read_table(write("t.xlsx", "ID\n1\n"))
    with pytest.raises(GntError, match="format 'excel' is unknown"):
        read_table(write("t.tsv", "ID\n1\n"), "excel")


# CSV


def test_csv_rules_are_honoured(write):
    table = read_table(write("t.csv", 'ID,SRC\n1,"Quiet, said the ""usher""."\n2,plain "inner" text\n'))
    assert column(table, "SRC") == ['Quiet, said the "usher".', 'plain "inner" text']


def test_tab_and_line_feed_inside_a_quoted_cell_are_one_row(write):
    table = read_table(write("t.csv", 'ID,SRC,SET\r\n1,"one\ttwo\nthree",Set-N\r\n2,four,Set-G\r\n'))
    assert column(table, "SRC") == ["one\ttwo\nthree", "four"]
    assert column(table, "SET") == ["Set-N", "Set-G"]
    assert [row.line for row in table.rows] == [2, 4]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(write, mark):
    table = read_table(write("t.csv", f"ID{mark}SRC\n1{mark}a\n"))
    assert table.columns == ("ID", "SRC")


def test_text_after_a_closing_quote_is_refused_by_line(write):
    table = read_table(write("t.csv", 'ID,SRC\n1,"Quiet" was all.\n2,ok\n'))
    assert column(table, "SRC") == ["ok"]
    assert str(table.refused[0]).startswith("t.csv:2: column 2 goes on after its closing quote")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ID,SRC\n1,"never closed\n2,b\n', "opens column 2 of line 2 is never closed"),
        ('ID,SRC\n1,"Quiet\n2,b\n3,He said "Later"\n', "closes 2 lines later"),
        ('ID,SET,SRC\n1,Set-N,"Quiet\n2,Set-G,b\n3,Set-N,moved"\n4,Set-N,c\n', "runs over 3 lines"),
        ('ID,"SRC" x\n1,2\n', "goes on after its closing quote"),
    ],
)
def test_a_csv_whose_rows_cannot_be_told_apart_is_refused(write, text, message):
    with pytest.raises(GntError, match=message):
        read_table(write("t.csv", text))


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=6))
def test_csv_cells_survive_any_writer(tmp_path_factory, rows):
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["ID", "SRC"], *rows])
    scanner = CsvScanner(tmp_path_factory.getbasetemp() / "x.csv", buffer.getvalue(), ",")
    assert [record.cells for record in scanner.records()] == [["ID", "SRC"], *rows]


@given(st.text(st.sampled_from('a,"\n\r'), max_size=30))
def test_any_csv_text_ends_in_records_or_in_one_error(text):
    from pathlib import Path

    try:
        records = list(CsvScanner(Path("x.csv"), text, ",").records())
    except GntError:
        assume(False)
    assert sum(bool(record.cells) for record in records) == len(records)
    assert [record.line for record in records] == sorted({record.line for record in records})
    assert len(records) <= text.count("\n") + 1


# JSON Lines


def test_json_numbers_keep_their_exact_text_and_null_is_nothing(write):
    table = read_table(write("t.jsonl", '{"id": 1.50, "source": "NA"}\n{"id": 7, "source": null, "x": "1"}\n'))
    assert column(table, "id") == ["1.50", "7"]
    assert column(table, "source") == ["NA", None]
    assert column(table, "x") == [None, "1"]


def test_a_json_list_becomes_numbered_columns(write):
    table = read_table(write("t.jsonl", '{"id": "a", "reference": ["x", "y"]}\n'))
    assert table.columns == ("id", "reference", "reference_2")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1, 2]", "JSON object is needed"),
        ('"NEUTRAL"', "JSON object is needed"),
        ("null", "JSON object is needed"),
        ('{"id": 1', "no valid JSON"),
        ('{"id": NaN}', "NaN is not JSON"),
        ('{"id": 1, "id": 2}', "'id' occurs twice"),
        ('{"id": ["a", "b"], "id_2": "c"}', "'id_2' occurs twice"),
        ('{"id": true}', "not true or false"),
        ('{"id": {"a": 1}}', "not an object"),
        ('{"id": [["a"]]}', "not a list"),
        ('{"id": "ok \\ud83d"}', "half a character"),
        ("", "blank line"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({"id": "x" * 100_001}), "100,001 characters"),
    ],
)
def test_a_bad_json_line_is_refused_and_the_rest_goes_on(write, line, why):
    table = read_table(write("t.jsonl", f'{{"id": "a"}}\n{line}\n{{"id": "b"}}\n'))
    assert column(table, "id") == ["a", "b"]
    assert table.refused[0].line == 2
    assert why in table.refused[0].why
    assert table.rows_read == 3


def test_a_file_without_any_object_is_refused(write):
    with pytest.raises(GntError, match="no JSON object a line"):
        read_table(write("t.jsonl", "ID,SRC\n1,2\n"))


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20), min_size=1))
def test_every_tsv_line_is_a_row_or_refused(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("law") / "t.tsv"
    path.write_bytes(("ID\tSRC\n" + "".join(f"{line}\n" for line in lines)).encode())
    table = read_table(path, "tsv")
    assert table.rows_read == len(lines)
    for row in table.rows:
        assert f"{row.cells['ID']}\t{row.cells['SRC']}" == lines[row.line - 2].removesuffix("\r")
