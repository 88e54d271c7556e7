"""Judge prompts in the published layout: sent as they are, flaws noted by file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_gnt.errors import GntError
from pytest_gnt.judges.published import PublishedPrompts, read_shots
from pytest_gnt.judges.settings import Setting
from pytest_gnt.judges.verdict_form import schema_text

GOOD = {"phrases": [{"phrase": "il coro", "gender": "N", "gender_correctness": "correct"}], "label": "NEUTRAL"}
SYSTEM = 'Judge {"this": "way"} and {so} on.\n'


def make_folder(
    root: Path, *, header: str = "src\ttgt\tout", rows: tuple[str, ...] = (), setting: str = "cross-p_l"
) -> Path:
    (root / "prompts" / "it").mkdir(parents=True)
    (root / "prompts" / "it" / setting).write_text(SYSTEM, encoding="utf-8")
    (root / "prompts" / "user_cross").write_text("Source: {src}\nTarget: {tgt}", encoding="utf-8")
    (root / "prompts" / "user_mono").write_text("Sentence: {tgt}", encoding="utf-8")
    (root / "shots" / "it").mkdir(parents=True)
    lines = [header, *(rows or (f"The choir sings.\tCanta il coro.\t{json.dumps(GOOD)}",))]
    (root / "shots" / "it" / f"{setting}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "schemas").mkdir()
    (root / "schemas" / "cross-p_l.json").write_text(schema_text(Setting.CROSS_PL), encoding="utf-8")
    return root


def test_prompts_come_out_as_published(tmp_path: Path) -> None:
    prompts = PublishedPrompts(make_folder(tmp_path))
    system, asked, answer = prompts.prefix("it")
    assert system.content == SYSTEM
    assert asked.content == "Source: The choir sings.\nTarget: Canta il coro."
    assert answer.content == json.dumps(GOOD)
    assert prompts.user_turn("A {tgt} b", "c {src} $d", "it") == "Source: A {tgt} b\nTarget: c {src} $d"
    assert prompts.notes == ()
    assert prompts.prefix("it") is prompts.prefix("it")


def test_other_column_names_and_file_endings(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, header="SRC\ttranslation\tout")
    (folder / "prompts" / "it" / "cross-p_l").rename(folder / "prompts" / "it" / "cross-p_l.txt")
    assert len(PublishedPrompts(folder).prefix("it")) == 3


def test_monolingual_setting_shows_the_translation_alone(tmp_path: Path) -> None:
    row = 'The choir sings.\tCanta il coro.\t{"label": "NEUTRAL"}'
    prompts = PublishedPrompts(make_folder(tmp_path, rows=(row,), setting="mono-l"), Setting.MONO_L)
    assert prompts.prefix("it")[1].content == "Sentence: Canta il coro."
    assert prompts.constraint().value == schema_text(Setting.MONO_L)
    assert prompts.notes == ()


FLAWS = {
    "trailing comma": (json.dumps(GOOD)[:-1] + ",}", "not valid JSON"),
    "no JSON": ("NEUTRAL", "there is no complete JSON object"),
    "label outside": (json.dumps(GOOD | {"label": "GENDERED"}), "label: Input should be"),
    "contradiction": (json.dumps(GOOD | {"label": "WRONGLY GENDERED"}), "every phrase is marked N"),
    "other phrases": (json.dumps(GOOD).replace("il coro", "la squadra"), "none of the phrases"),
}


@pytest.mark.parametrize("name", FLAWS)
def test_flaws_are_noted_by_line_and_kept(tmp_path: Path, name: str) -> None:
    out, note = FLAWS[name]
    sound = f"The choir sings.\tCanta il coro.\t{json.dumps(GOOD)}"
    prompts = PublishedPrompts(make_folder(tmp_path, rows=(sound, f"The choir sings.\tCanta il coro.\t{out}", sound)))
    turns = prompts.prefix("it")
    assert len(turns) == 7
    assert turns[4].content == out
    (found,) = prompts.notes
    assert found.startswith("cross-p_l.tsv:3: ")
    assert note in found


def test_row_that_does_not_fit_is_noted(tmp_path: Path) -> None:
    prompts = PublishedPrompts(make_folder(tmp_path, rows=("only one cell", f"a\tCanta il coro\t{json.dumps(GOOD)}")))
    assert len(prompts.prefix("it")) == 3
    assert "cross-p_l.tsv:2" in prompts.notes[0]


def test_schema_with_foreign_labels_is_noted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    text = schema_text(Setting.CROSS_PL).replace('"NEUTRAL"', '"NEUTRAL", "UNCLEAR"')
    (folder / "schemas" / "cross-p_l.json").write_text(text, encoding="utf-8")
    prompts = PublishedPrompts(folder)
    assert prompts.constraint().value == text
    assert "UNCLEAR" in prompts.notes[0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("schemas/cross-p_l.json", "{", "not a JSON schema"),
        ("schemas/cross-p_l.json", "[]", "not a JSON schema"),
        ("prompts/user_cross", "Target: {tgt}", "placeholders"),
        ("prompts/user_cross", "{src} {tgt} {ref}", "placeholders"),
        ("shots/it/cross-p_l.tsv", "src\ttgt\nx\ty\n", "column out"),
    ],
)
def test_files_that_cannot_be_used_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    folder = make_folder(tmp_path)
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(GntError, match=message) as caught:
        PublishedPrompts(folder).prefix("it")
    assert Path(name).name in str(caught.value)


def test_missing_language_and_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(GntError, match="no judge prompt for el in the setting cross-p\\+l"):
        PublishedPrompts(make_folder(tmp_path)).prefix("el")
    with pytest.raises(GntError, match="does not exist"):
        PublishedPrompts(tmp_path / "nowhere")


def test_flaws_of_the_real_files(shared_data: Path) -> None:
    flaws: list[str] = []
    for lang in ("it", "es", "de", "el"):
        shots, found = read_shots(shared_data / "neutreval" / f"shots_{lang}_cross-p_l.tsv", Setting.CROSS_PL)
        assert len(shots) == 8
        flaws += found
    assert flaws == [
        "shots_es_cross-p_l.tsv:2: not valid JSON",
        "shots_de_cross-p_l.tsv:9: none of the phrases is in the translation",
    ]
