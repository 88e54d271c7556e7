"""mGeNTE's files: labels, references, the common files, and the real rows."""

from __future__ import annotations

import codecs
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Form, Gender, Subset
from pytest_gnt.corpora import mgente
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.errors import GntError

COLUMNS = ("ID", "Europarl_ID", "SET", "SRC", "REF-G", "REF-N", "COMMON", "GENDER", "REF-G_ann", "G-WORDS")
HEADER = "\t".join(COLUMNS)


def row(**cells: str) -> str:
    """One line of the ten-column table."""
    values = {"ID": "1", "SET": "Set-N", "SRC": "They spoke.", "REF-G": "Essi parlarono.", "REF-N": "Si parlò."} | cells
    return "\t".join(values.get(name, "") for name in COLUMNS)


def table(*rows: str) -> str:
    return "\n".join((HEADER, *rows)) + "\n"


def test_the_two_sets_expect_opposite_forms(write, source, balanced):
    write(
        "en-it.tsv",
        table(
            row(ID="1"),
            row(ID="2", SET="Set-G", GENDER="F", SRC="She spoke.", **{"G-WORDS": "essa; parlata"}),
        ),
    )
    neutral, gendered = balanced(mgente.load(source())).cases
    assert (neutral.id, neutral.subset, neutral.expected, neutral.gender) == (
        "mgente/en-it/1",
        Subset.SET_N,
        Form.NEUTRAL,
        None,
    )
    assert neutral.references == ("Si parlò.",)
    assert neutral.contrast_references == ("Essi parlarono.",)
    assert (gendered.expected, gendered.gender) == (Form.GENDERED, Gender.F)
    assert gendered.references == ("Essi parlarono.",)
    assert gendered.contrast_references == ("Si parlò.",)
    assert gendered.gendered_words == ("essa", "parlata")
    assert gendered.origin == "en-it.tsv:3"


def test_set_labels_are_tidied_openly_or_refused_by_line(write, source, balanced):
    labels = ["Set-N", "set-n", "Set-N ", "SetN", "Set-G", ""]
    write("en-it.tsv", table(*(row(ID=str(n), SET=label, GENDER="F") for n, label in enumerate(labels))))
    data = balanced(mgente.load(source()))
    assert Counter(case.subset for case in data.cases) == {Subset.SET_N: 3, Subset.SET_G: 1}
    assert [(bad.line, bad.why) for bad in data.refused] == [
        (5, "SET is 'SetN'; Set-N or Set-G is needed"),
        (7, "SET is empty; Set-N or Set-G is needed"),
    ]
    assert "en-it.tsv: SET read in spite of letter case or blanks: 2 rows (first en-it.tsv:3)" in data.notes
    assert "en-it.tsv: 6 rows: 3 Set-N, 1 Set-G F, 2 refused" in data.notes


@pytest.mark.parametrize("label", ["authentic", "synthesized", "N", "G", "Set-NG"])
def test_other_labels_never_land_in_a_set(write, source, balanced, label):
    write("en-it.tsv", table(row(ID="1"), row(ID="2", SET=label)))
    data = balanced(mgente.load(source()))
    assert len(data.cases) == 1
    assert repr(label) in data.refused[0].why


def test_gender_is_needed_in_set_g_only(write, source, balanced):
    genders = ["F", "M", "f", "N", ""]
    rows = [row(ID=f"g{n}", SET="Set-G", GENDER=gender) for n, gender in enumerate(genders)]
    write("en-it.tsv", table(*rows, row(ID="n1", GENDER=""), row(ID="n2", GENDER="X")))
    data = balanced(mgente.load(source()))
    assert [case.gender for case in data.cases] == [Gender.F, Gender.M, Gender.F, None, None]
    assert [bad.line for bad in data.refused] == [5, 6]
    assert "GENDER of a Set-G row is 'N'" in data.refused[0].why
    assert "en-it.tsv: GENDER is not used in Set-N rows; it holds 'X' 1" in data.notes
    assert "en-it.tsv: 7 rows: 2 Set-N, 1 Set-G M, 2 Set-G F, 2 refused" in data.notes


def test_words_that_look_missing_are_text_and_an_empty_reference_is_reported(write, source, balanced):
    words = [("None", "Nessuno"), ("NA", "n/a"), ("null", "nullo"), ("NaN", "non so"), ("Nobody came.", " ")]
    write("en-it.tsv", table(*(row(ID=str(n), SRC=s, **{"REF-N": r}) for n, (s, r) in enumerate(words))))
    data = balanced(mgente.load(source()))
    assert [case.source for case in data.cases] == [source for source, _ in words]
    assert [case.references for case in data.cases] == [("Nessuno",), ("n/a",), ("nullo",), ("non so",), ()]
    assert "en-it.tsv: empty reference REF-N: 1 row (first en-it.tsv:6)" in data.notes


def test_an_empty_id_or_source_and_a_second_use_of_an_id_are_refused(write, source, balanced):
    write("en-it.tsv", table(row(ID=" "), row(ID="2", SRC=""), row(ID="3"), row(ID="3", SRC="Again.")))
    data = balanced(mgente.load(source()))
    assert [case.source for case in data.cases] == ["They spoke."]
    assert [(bad.line, bad.why) for bad in data.refused] == [
        (2, "the ID is empty"),
        (3, "SRC is empty"),
        (5, "the id mgente/en-it/3 was already used in en-it.tsv:4"),
    ]


def test_odd_ids_become_short_ascii_and_do_not_move(write, source, balanced):
    odd = ["中文", "a/b::c", "x[1]", "y" * 40_000, "n\x00l"]
    write("en-it.tsv", table(*(row(ID=name) for name in odd)))
    first = balanced(mgente.load(source()))
    assert len(first.cases) == 5
    assert all(len(case.id) < 80 and case.id.isprintable() for case in first.cases)
    write("en-it.tsv", table(row(ID="new"), *(row(ID=name) for name in odd)))
    second = balanced(mgente.load(source()))
    assert [case.id for case in second.cases][1:] == [case.id for case in first.cases]


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, b""], ids=["marked", "plain"])
def test_a_byte_order_mark_is_in_no_id_and_crlf_in_no_cell(write, source, balanced, mark):
    write("en-it.tsv", mark + table(row(**{"G-WORDS": "essi"})).replace("\n", "\r\n").encode())
    case = balanced(mgente.load(source())).cases[0]
    assert case.id == "mgente/en-it/1"
    assert case.gendered_words == ("essi",)


# the common file

COMMON = "ID\tSET\tSRC\tREF-G\tREF-N1\tREF-N2\tREF-N3\n"


@pytest.mark.parametrize("style", ["REF-N{}", "REF-N_{}", "ref-n{}", "REF_N {}", "REF-N-{}"])
def test_common_rows_add_references_and_are_not_counted_twice(write, source, balanced, style):
    write("en-it.tsv", table(row(ID="1"), row(ID="2", SET="Set-G", GENDER="M"), row(ID="3")))
    header = COMMON
    for number in "123":
        header = header.replace(f"REF-N{number}", style.format(number))
    write(
        "en-it_common.tsv",
        header + "1\tSet-N\tThey spoke.\tEssi parlarono.\tSi parlò.\tDue.\tTre.\n"
        "2\tSet-G\tThey spoke.\tEssi parlarono.\tUno.\tDue.\tTre.\n"
        "1\tSet-N\tThey spoke.\tEssi parlarono.\tUno.\tDue.\tTre.\n"
        "3\tSet-N\tOther words.\tEssi.\tUno.\tDue.\tTre.\n"
        "4\tSet-N\tOf its own.\tEssi.\tUno.\tDue.\tTre.\n",
    )
    data = balanced(mgente.load(source()))
    cases = {case.id.rpartition("/")[2]: case for case in data.cases}
    assert cases["1"].references == ("Si parlò.", "Due.", "Tre.")
    assert cases["2"].references == ("Essi parlarono.",)
    assert cases["2"].contrast_references == ("Si parlò.", "Uno.", "Due.", "Tre.")
    assert cases["2"].gender is Gender.M
    assert cases["3"].references == ("Si parlò.",)
    assert cases["4"].references == ("Uno.", "Due.", "Tre.")
    assert data.rows_read == 3 + 3
    assert [(bad.file, bad.line) for bad in data.refused] == [("en-it_common.tsv", 4), ("en-it_common.tsv", 5)]
    assert "en-it_common.tsv: 2 rows added their references to the cases of the same ID" in data.notes


def test_a_common_file_alone_gives_cases_of_its_own(write, source, balanced):
    write("en-it_common.tsv", COMMON + "1\tSet-N\tThey spoke.\tEssi.\tUno.\tDue.\tTre.\n")
    data = balanced(mgente.load(source()))
    assert data.cases[0].references == ("Uno.", "Due.", "Tre.")
    assert data.rows_read == 1


def test_a_common_file_without_neutral_columns_is_refused(write, source):
    write("en-it_common.tsv", "ID\tSET\tSRC\tA\tB\n1\tSet-N\tThey.\tx\ty\n")
    with pytest.raises(GntError, match=r"neutral references were not found .* there are ID, SET, SRC, A, B"):
        mgente.load(source())


# files


def test_languages_follow_the_paper_and_can_be_chosen(write, source):
    for lang in ("el", "de", "it", "es"):
        write(f"mgente/en-{lang}.tsv", table(row()))
    assert [case.target_lang for case in mgente.load(source()).cases] == ["it", "es", "de", "el"]
    chosen = mgente.load(source(langs=("de", "fr")))
    assert [case.target_lang for case in chosen.cases] == ["de"]
    assert "mgente: no file for 'fr'; there are it, es, de, el" in chosen.notes


def test_the_same_sentence_in_two_languages_is_one_group(write, source):
    write("en-it.tsv", table(row(ID="1"), row(ID="2", SRC="Other.")))
    write("en-es.tsv", table(row(ID="7")))
    groups = [case.group for case in mgente.load(source()).cases]
    assert groups[0] == groups[2] != groups[1]


def test_one_file_can_be_the_root(write, source):
    path = write("en-it.part.tsv", table(row()))
    write("en-es.tsv", table(row()))
    assert [case.id for case in mgente.load(source(root=path)).cases] == ["mgente/en-it/1"]


def test_a_folder_without_files_says_what_to_put_there(tmp_path, source):
    with pytest.raises(GntError, match=r"no mGeNTE file in .* en-it\.tsv"):
        mgente.load(source())
    with pytest.raises(GntError, match="no mGeNTE file"):
        mgente.load(source(root=tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("ID\tSRC", "no column SET; there are ID, SRC"),
        ("ID\tid\tSET\tSRC", "'ID' and 'id' have the same meaning"),
    ],
)
def test_wrong_columns_are_refused(write, source, header, message):
    write("en-it.tsv", f"{header}\n" + "\t".join("x" for _ in header.split("\t")) + "\n")
    with pytest.raises(GntError, match=message):
        mgente.load(source())


def test_unknown_columns_and_an_incomplete_file_are_noted(write, source):
    write("en-it.tsv", "ID\tSET\tSRC\tMY-NOTE\n1\tSet-N\tThey spoke.\tx\n")
    notes = mgente.load(source()).notes
    assert "en-it.tsv: columns not used: MY-NOTE" in notes
    assert "en-it.tsv: no column REF-N, so its 1 Set-N cases have no neutral reference" in notes
    assert any("published file" in note and "1500" in note for note in notes)


def test_an_unknown_option_is_refused(write, source):
    write("en-it.tsv", table(row()))
    with pytest.raises(GntError, match="no option 'fromat'; known are format"):
        mgente.load(source(options={"fromat": "tsv"}))
    assert mgente.load(source(options={"columns": {}, "lang": None})).rows_read == 1


def test_the_revision_follows_the_content(write, source):
    write("en-it.tsv", table(row()))
    before = mgente.load(source()).revision
    write("en-it.tsv", table(row(SRC="Changed.")))
    assert mgente.load(source()).revision != before


CELL = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), max_size=8)
ROW = st.tuples(CELL, st.sampled_from(["Set-N", "Set-G", "set-g ", "SetN", ""]), CELL, st.sampled_from("FMX ") | CELL)


@given(st.lists(ROW, min_size=1, max_size=12), st.lists(ROW, min_size=1, max_size=6))
def test_no_cell_text_changes_the_count(tmp_path_factory, rows, common):
    folder = tmp_path_factory.mktemp("law")
    lines = ["ID\tSET\tSRC\tGENDER", *("\t".join(cells) for cells in rows)]
    (folder / "en-it.tsv").write_bytes("\n".join(lines).encode() + b"\n")
    extra = [f"{cells[0]}\t{cells[1]}\t{cells[2]}\tuno\tdue" for cells in common]
    (folder / "en-it_common.tsv").write_bytes("\n".join(["ID\tSET\tSRC\tREF-N1\tREF-N2", *extra]).encode() + b"\n")
    data = mgente.load(CorpusSource(name="mgente", root=folder, options={"format": "tsv"}))
    merged = [note for note in data.notes if "added their references" in note]
    count = int(merged[0].split(": ")[1].split()[0]) if merged else 0
    assert len(data.cases) + len(data.refused) + count == len(rows) + len(common)
    assert data.rows_read == len(rows) + len(common) - count


def test_the_public_rows(shared_data, balanced):
    data = balanced(mgente.load(CorpusSource(name="mgente", root=shared_data)))
    assert data.rows_read == len(data.cases) == 400
    assert {case.subset for case in data.cases} == {Subset.SET_N}
    assert data.cases[0].id == "mgente/en-it/751"
    assert len({case.group for case in data.cases}) == 400
    assert all(case.references == () and len(case.contrast_references) == 1 for case in data.cases)
    assert data.title == "mGeNTE"


def test_the_public_rows_again_as_utf16(shared_data, tmp_path):
    original = shared_data / "mgente" / "en-it.set-n.part.tsv"
    copy = tmp_path / "mgente" / original.name
    copy.parent.mkdir()
    copy.write_bytes(original.read_text(encoding="utf-8").encode("utf-16"))
    recoded = mgente.load(CorpusSource(name="mgente", root=tmp_path))
    plain = mgente.load(CorpusSource(name="mgente", root=shared_data))
    assert recoded.cases == plain.cases
    assert recoded.revision != plain.revision
