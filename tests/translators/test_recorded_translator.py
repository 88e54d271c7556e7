"""Files of translations in place of a system: every layout, and what is wrong with files in practice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.case import Case, Form, Subset
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.translators.recorded import RecordedTranslator

MakeCase = Callable[..., Case]
Translate = Callable[..., list[Translation]]


def write(path: Path, text: str, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding=options.pop("encoding", "utf-8"), newline="", **options)
    return path


@pytest.fixture
def doors(make_case: MakeCase) -> list[Case]:
    return [
        make_case("Whoever chairs the meeting opens the doors.", "it", "1"),
        make_case("Whoever leaves last closes them.", "it", "2"),
    ]


ROWS = [("mgente/en-it/1", "Chi presiede apre le porte."), ("mgente/en-it/2", "Chi esce per ultimo le chiude.")]


@pytest.mark.parametrize("name", ["s.tsv", "s.csv", "s.jsonl"])
def test_tables_by_case_id(tmp_path: Path, doors: list[Case], translate: Translate, name: str) -> None:
    if name.endswith("jsonl"):
        text = "".join(json.dumps({"case_id": key, "translation": text}) + "\n" for key, text in ROWS)
    else:
        tab = "\t" if name.endswith("tsv") else ","
        text = f"case_id{tab}translation\n" + "".join(f"{key}{tab}{text}\n" for key, text in ROWS)
    translator = RecordedTranslator(write(tmp_path / name, text), cases=doors)
    assert [one.text for one in translate(translator, doors)] == [text for _, text in ROWS]
    assert [one.label for one in translate(translator, doors)] == [None, None]
    assert translator.notes == ()


@pytest.mark.parametrize(
    ("cell", "label", "flags"),
    [
        ("NEUTRAL", Form.NEUTRAL, ()),
        ("GENDERED", Form.GENDERED, ()),
        ("**NEUTRAL**", Form.NEUTRAL, ()),
        ("", None, ()),
        ("neutral", None, ("unreadable-label",)),
        ("**ERROR**", None, ("unreadable-label",)),
    ],
)
def test_labels(
    tmp_path: Path, doors: list[Case], translate: Translate, cell: str, label: Form | None, flags: tuple[str, ...]
) -> None:
    path = write(tmp_path / "s.tsv", f"case_id\ttranslation\tlabel\nmgente/en-it/1\tChi presiede apre.\t{cell}\n")
    (found,) = translate(RecordedTranslator(path), doors[:1])
    assert (found.label, found.flags) == (label, flags)


def test_a_missing_row_a_blank_cell_and_words_that_look_missing(
    tmp_path: Path, make_case: MakeCase, translate: Translate
) -> None:
    cases = [make_case(source, "it", str(number)) for number, source in enumerate(("None", "NA", "x y z", "gone"))]
    path = write(
        tmp_path / "s.tsv",
        "case_id\ttranslation\nmgente/en-it/0\tNone\nmgente/en-it/1\tn/a\nmgente/en-it/2\t\n",
    )
    found = translate(RecordedTranslator(path), cases)
    assert [(one.text, one.reason) for one in found] == [
        ("None", None),
        ("n/a", None),
        (None, Reason.EMPTY),
        (None, Reason.MISSING),
    ]


PUBLISHED = (
    "ID,Europarl_ID,SET,SRC,translation_label,translation,raw_output,set_label\n"
    '1,e1,Set-N,"Whoever chairs the meeting opens the doors.",**NEUTRAL**,"Chi [oggi","<it> **NEUTRAL** '
    '[Chi [oggi] presiede apre le porte.]",**NEUTRAL**\n'
    '2,e2,Set-N,"Whoever leaves last closes them.",**NEUTRAL**,"Chi esce","<it> **NEUTRALE** [Chi esce]",**NEUTRAL**\n'
)


@pytest.mark.parametrize("place", ["it/data_some--model_prompt_v1.csv", "out.en-it.csv", "any.csv"])
def test_the_published_layout_of_mgente_output(
    tmp_path: Path, doors: list[Case], translate: Translate, place: str
) -> None:
    path = write(tmp_path / place, PUBLISHED)
    translator = RecordedTranslator(path, lang="it" if place == "any.csv" else None, cases=doors)
    first, second = translate(translator, doors)
    # The raw reply counts: the published columns lose text behind an inner bracket and take any label for NEUTRAL.
    assert (first.text, first.label) == ("Chi [oggi] presiede apre le porte.", Form.NEUTRAL)
    assert (second.text, second.label, second.reason) == (None, None, Reason.NO_FORM)
    assert translator.notes == ()


def test_a_folder_of_published_files(
    tmp_path: Path, doors: list[Case], make_case: MakeCase, translate: Translate
) -> None:
    write(tmp_path / "it" / "data.csv", PUBLISHED)
    write(tmp_path / "es" / "data.csv", 'ID,translation\n1,"Quien preside abre las puertas."\n')
    found = translate(RecordedTranslator(tmp_path), [*doors, make_case("Whoever chairs opens.", "es", "1")])
    assert found[2].text == "Quien preside abre las puertas."
    assert found[0].text == "Chi [oggi] presiede apre le porte."


def test_ids_stay_text_and_may_have_parts(tmp_path: Path, make_case: MakeCase, translate: Translate) -> None:
    cases = [
        make_case("The person is stubborn.", "zh", "authentic/7/trans-man", corpus="ambgimt", expected=None),
        make_case("The person is kind.", "zh", "007", corpus="table", expected=None),
    ]
    path = write(
        tmp_path / "s.tsv",
        "id\tlang\ttranslation\nauthentic/7/trans man\tzh\t这个人很固执。\n007\ten-zh\t这个人很善良。\n7\tzh\t别的\n",
    )
    translator = RecordedTranslator(path, cases=cases)
    assert [one.text for one in translate(translator, cases)] == ["这个人很固执。", "这个人很善良。"]
    assert translator.notes == ("1 recorded translation(s) belong to no case, e.g. zh: 7",)


def test_one_of_several_systems(tmp_path: Path, make_case: MakeCase, translate: Translate) -> None:
    path = write(
        tmp_path / "w.en-es.tsv",
        "system\tidx\ttgt\naws\t0\tLa persona abre.\ngoogle\t0\tQuien preside abre.\naws\t1\tx\n",
    )
    columns = {"id": "idx", "translation": "tgt"}
    case = make_case("The chair opens.", "es", "0", corpus="winomt")
    for system, text in (("aws", "La persona abre."), ("google", "Quien preside abre.")):
        assert translate(RecordedTranslator(path, system=system, columns=columns), [case])[0].text == text
    with pytest.raises(GntError, match="no translations of system 'bing'"):
        RecordedTranslator(path, system="bing", columns=columns)


def test_several_systems_and_none_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "s.tsv", "system\tcase_id\ttranslation\na\tx/en-it/1\tuno\nb\tx/en-it/2\tdue\n")
    with pytest.raises(GntError, match=r"several systems \(a, b\)"):
        RecordedTranslator(path)


def test_two_different_translations_of_a_case_are_refused_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "s.tsv", "case_id\ttranslation\nx/en-it/1\tuno\nx/en-it/2\tdue\nx/en-it/1\ttre\n")
    with pytest.raises(GntError, match=r"two different translations of x/en-it/1: s\.tsv:2 and s\.tsv:4"):
        RecordedTranslator(path)


def test_equal_repeats_are_one(tmp_path: Path, doors: list[Case], translate: Translate) -> None:
    path = write(tmp_path / "s.tsv", "case_id\ttranslation\n" + f"{ROWS[0][0]}\t{ROWS[0][1]}\n" * 2)
    assert translate(RecordedTranslator(path), doors[:1])[0].text == ROWS[0][1]


def test_broken_rows_and_rows_of_no_case_are_counted(tmp_path: Path, doors: list[Case], translate: Translate) -> None:
    path = write(
        tmp_path / "s.tsv",
        f"case_id\ttranslation\n{ROWS[0][0]}\t{ROWS[0][1]}\n"
        "only one cell\nmgente/en-it/9\tChi?\nmgente/en-it/8\tChi?\n",
    )
    translator = RecordedTranslator(path, cases=doors)
    assert translate(translator, doors)[1].reason is Reason.MISSING
    assert [note.split(",")[0] for note in translator.notes] == [
        "s.tsv: 1 row(s) refused",
        "2 recorded translation(s) belong to no case",
    ]


def corpus(make_case: MakeCase, count: int = 3) -> list[Case]:
    return [
        make_case(
            f"Door {number} of the {subset.value} hall stays open.", lang, f"{subset.value}/{number}", subset=subset
        )
        for lang in ("it", "es")
        for subset in (Subset.AUTHENTIC, Subset.SYNTHESIZED)
        for number in range(count)
    ]


def test_line_aligned_files(tmp_path: Path, make_case: MakeCase, translate: Translate) -> None:
    cases = corpus(make_case)
    lines = [f"La porta {number} resta aperta." for number in range(6)]
    path = write(tmp_path / "wmt.mysystem.en-it", "\n".join(lines) + "\n")
    translator = RecordedTranslator(path, cases=cases)
    found = translate(translator, list(reversed(cases[:6])))
    assert [one.text for one in found] == lines[::-1]
    assert translate(translator, cases[6:7])[0].reason is Reason.MISSING


def test_a_file_for_one_part_of_a_corpus(tmp_path: Path, make_case: MakeCase, translate: Translate) -> None:
    cases = corpus(make_case)
    write(tmp_path / "mgente.en-it.synthesized.txt", "Porta zero aperta.\r\nPorta\u2028uno aperta.\r\n\r\n")
    write(tmp_path / "mgente.en-es.authentic.txt", "Puerta cero\nPuerta uno\nPuerta dos")
    write(tmp_path / "README", "what is in here\n")
    translator = RecordedTranslator(tmp_path, cases=cases)
    found = translate(translator, cases)
    assert [one.text for one in found] == [
        *(None, None, None, "Porta zero aperta.", "Porta uno aperta.", None),
        *("Puerta cero", "Puerta uno", "Puerta dos", None, None, None),
    ]
    assert found[5].reason is Reason.EMPTY
    assert found[0].reason is Reason.MISSING
    assert translator.notes == ("README: neither a table nor named by a language pair; left out",)


@pytest.mark.parametrize("lines", [5, 7, 1])
def test_line_counts_that_differ_are_refused(tmp_path: Path, make_case: MakeCase, lines: int) -> None:
    path = write(tmp_path / "sys.en-it.txt", "riga\n" * lines)
    with pytest.raises(GntError, match=rf"has {lines} lines, but there are 6 cases for it"):
        RecordedTranslator(path, cases=corpus(make_case))


def test_line_aligned_files_need_a_language(tmp_path: Path, make_case: MakeCase) -> None:
    path = write(tmp_path / "system.txt", "riga\n" * 6)
    with pytest.raises(GntError, match="does not tell its language"):
        RecordedTranslator(path, cases=corpus(make_case))


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("s.tsv", "case_id\thyp\nx\ty\n", {}, "no column translation; it has case_id, hyp"),
        ("s.tsv", "key\ttranslation\nx\ty\n", {}, "neither a column case_id nor id"),
        ("s.tsv", "id\ttranslation\nx\ty\n", {}, "does not tell its language"),
        ("s.tsv", "case_id\ttranslation\nx\ty\n", {"columns": {"translation": "hyp"}}, "no column 'hyp'"),
        ("s.tsv", "case_id\ttranslation\nx\ty\n", {"columns": {"text": "hyp"}}, "columns: text unknown"),
        ("s.jsonl", "nonsense\n", {}, "no JSON object a line"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(GntError, match=message):
        RecordedTranslator(write(tmp_path / name, text), **options)


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(GntError, match="does not exist"):
        RecordedTranslator(tmp_path / "absent.tsv")
    with pytest.raises(GntError, match="empty folder"):
        RecordedTranslator(tmp_path)


def test_keys_follow_the_files_content_and_not_its_place(tmp_path: Path, doors: list[Case]) -> None:
    text = "case_id\ttranslation\n" + "".join("\t".join(row) + "\n" for row in ROWS)
    keys = [
        RecordedTranslator(write(tmp_path / folder / "s.tsv", content)).work(doors[0]).key
        for folder, content in (("a", text), ("b", text), ("c", text.replace("apre", "apra")))
    ]
    assert keys[0] == keys[1] != keys[2]


def test_what_is_recorded_is_held_to_the_same_rules(tmp_path: Path, doors: list[Case], translate: Translate) -> None:
    path = write(
        tmp_path / "s.tsv",
        f"case_id\ttranslation\tlabel\nmgente/en-it/1\t{doors[0].source}\tNEUTRAL\n"
        "mgente/en-it/2\tWer zuletzt geht, macht sie bitte wieder zu.\tNEUTRAL\n",
    )
    found = translate(RecordedTranslator(path), doors)
    assert [(one.reason, one.label) for one in found] == [(Reason.SOURCE_COPY, None), (Reason.WRONG_LANGUAGE, None)]


def test_fifty_thousand_rows_are_read_quickly(tmp_path: Path, make_case: MakeCase) -> None:
    rows = "".join(f"mgente/en-it/{number}\tLa porta numero {number} resta aperta.\n" for number in range(50_000))
    path = write(tmp_path / "s.tsv", "case_id\ttranslation\n" + rows)
    case = make_case("Door 49999 stays open.", "it", "49999")
    started = time.perf_counter()
    translator = RecordedTranslator(path)
    assert time.perf_counter() - started < 5.0
    assert translator.work(case).payload.text == "La porta numero 49999 resta aperta."


def test_the_two_systems_of_winomt(shared_data: Path, make_case: MakeCase, translate: Translate) -> None:
    path = shared_data / "winomt" / "winomt.en-es.aws_google.tsv"
    case = make_case("The developer argued with the designer.", "es", "0", corpus="winomt")
    translator = RecordedTranslator(path, system="google", columns={"id": "idx", "translation": "tgt"})
    assert len(translator._recording.by_key) == 3888
    assert translate(translator, [case])[0].raw.startswith("El desarrollador")


def test_published_genderous_output_with_untranslated_rows(
    shared_data: Path, make_case: MakeCase, translate: Translate, tmp_path: Path
) -> None:
    rows = [line.split("\t") for line in (shared_data / "genderous" / "genderous.de.tsv").read_text().splitlines()[1:]]
    rows = [row for row in rows if row[0] == rows[-1][0]]
    cases = [make_case(row[3], "de", str(number)) for number, row in enumerate(rows)]
    path = tmp_path / "s.tsv"
    path.write_text(
        "case_id\ttranslation\n" + "".join(f"{c.id}\t{row[4]}\n" for c, row in zip(cases, rows, strict=True))
    )
    found = translate(RecordedTranslator(path), cases)
    faulty = [one for one in found if one.reason is not None]
    assert all(one.reason in (Reason.WRONG_LANGUAGE, Reason.SOURCE_COPY) for one in faulty)
    assert all(" the " in f" {one.raw.lower()}" for one in faulty)
