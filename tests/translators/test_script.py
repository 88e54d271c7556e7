"""Simplified or traditional: a finding on the translation, with nothing rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gnt.case import Case, Subset
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.translators.script import script_of, with_script_flags

SIMPLIFIED = "邻居固执，可也守信。"
TRADITIONAL = "鄰居固執，可也守信。"
BOTH = "鄰居固执，可也守信。"


def flags(text: str | None, lang: str = "zh", *references: str, reason: Reason | None = None) -> tuple[str, ...]:
    case = Case(
        id="own/1",
        corpus="own",
        subset=Subset.AUTHENTIC,
        target_lang=lang,
        source="The neighbour is stubborn.",
        group="own/1",
        references=references,
    )
    before = Translation(case=case, text=text, reason=reason, flags=("quotes-removed",))
    after = with_script_flags(before)
    assert (after.text, after.reason, after.flags[:1]) == (text, reason, ("quotes-removed",))
    return after.flags[1:]


@pytest.mark.parametrize("lang", ["zh", "zh-Hans", "zh-Hant", "zh_TW", "zho_Hans"])
def test_a_mixture_is_found_whatever_was_asked_for(lang: str) -> None:
    assert flags(BOTH, lang) == ("mixed-script",)


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("zh-Hans", TRADITIONAL, ("wrong-script",)),
        ("zh-CN", TRADITIONAL, ("wrong-script",)),
        ("zho_Hant", SIMPLIFIED, ("wrong-script",)),
        ("zh-TW", SIMPLIFIED, ("wrong-script",)),
        ("zh-Hans", SIMPLIFIED, ()),
        ("zh-Hant", TRADITIONAL, ()),
        ("zh", TRADITIONAL, ("wrong-script",)),
        ("zh", SIMPLIFIED, ()),
        ("it", TRADITIONAL, ()),
    ],
)
def test_the_language_code_says_which_script_is_asked_for(lang: str, text: str, expected: tuple[str, ...]) -> None:
    assert flags(text, lang) == expected


def test_else_the_references_say_it() -> None:
    assert flags(TRADITIONAL, "zh", SIMPLIFIED) == ("wrong-script",)
    assert flags(SIMPLIFIED, "zh", SIMPLIFIED) == ()
    assert flags(TRADITIONAL, "zh", SIMPLIFIED, TRADITIONAL) == (), "references of both scripts ask for neither"
    assert flags(TRADITIONAL, "zh", TRADITIONAL) == ()
    assert flags(TRADITIONAL, "zh", "他人") == ("wrong-script",), "characters that both scripts share ask for nothing"


@pytest.mark.parametrize("text", ["他人", "OK.", "", "\ud83d", "🏳️‍🌈"])
def test_a_text_of_shared_characters_or_none_has_no_script(text: str) -> None:
    assert script_of(text) is None
    assert flags(text, "zh-Hans") == ()


def test_without_a_translation_there_is_nothing_to_find() -> None:
    assert flags(None, "zh", SIMPLIFIED, reason=Reason.EMPTY) == ()


def test_no_public_reference_is_taken_for_another_script(shared_data: Path) -> None:
    names = ("DictExample_convert_sents.AllType.hypo.zh", "GIMT_amb_sents_v3_extend.hypo.zh")
    lines = [line for name in names for line in (shared_data / "ambgimt" / name).read_text("utf-8").split("\n") if line]
    assert len(lines) == 4200 + 2578
    assert {script_of(line) for line in lines} == {"simplified"}
