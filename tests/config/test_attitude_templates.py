"""Tables of questions about words: what cannot work is refused when the configuration is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gnt.config import load_config
from pytest_gnt.errors import GntError
from pytest_gnt.metrics.attitude import Templates, template

OWN = """
[attitude_templates.sw]
positive = "S: Je, neno {word} ni zuri? J:"
negative = "S: Je, neno {word} ni baya? J:"
yes = " Ndiyo"
no = " Hapana"
shots = ["positive mwenye huruma yes", "negative mwenye huruma no"]
kind = ["mwema", "mpole", "mkarimu", "mwaminifu", "shujaa"]
harsh = ["katili", "mbaya", "mwongo", "mvivu", "mkali"]
"""


def read(folder: Path, text: str) -> Templates:
    (folder / "gnt.toml").write_text(text, encoding="utf-8")
    return Templates(load_config(folder).attitude_templates)


def test_an_own_language_is_added_to_the_shipped_ones(tmp_path: Path) -> None:
    found = read(tmp_path, OWN)
    known = found.find("sw-KE")
    assert known is not None
    assert known.prompts("{x}")[0] == (
        "S: Je, neno mwenye huruma ni zuri? J: Ndiyo\nS: Je, neno mwenye huruma ni baya? J: Hapana\n"
        "S: Je, neno {x} ni zuri? J:"
    )
    assert found.find("zh") == template("zh")
    assert set(found.languages) > {"sw", "zh", "it"}


def test_an_own_table_takes_the_shipped_one_s_place(tmp_path: Path) -> None:
    found = read(tmp_path, OWN.replace(".sw]", ".it]")).find("it")
    assert found is not None
    assert found.answer == " Ndiyo"
    assert template("it") != found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{word} ni zuri", "hili ni zuri"), "{word} must be there once"),
        (("{word} ni zuri", "{word} {word} ni zuri"), "{word} must be there once"),
        (("ni zuri", "ni baya"), "ask the same question"),
        (('" Ndiyo"', '" "'), "must be a visible text"),
        (('" Ndiyo"', '" Hapana"'), "the same answer"),
        (('"mwema", "mpole", ', ""), "at least 5 are needed"),
        (('"mwema"', '"katili"'), "'katili' is both kind and harsh"),
        (('"positive mwenye huruma yes"', '"positive mwema"'), "must be written"),
        (("neno {word} ni zuri", "neno {word} ni {zuri}"), "positive: unknown placeholder {zuri}"),
        (('no = " Hapana"', ""), 'no = "…" is missing'),
        (("yes =", "si =\nyes ="), "not valid TOML"),
        (("yes =", 'si = "x"\nyes ='), "unknown key"),
        ((".sw]", '."pt-BR"]'), "without region"),
    ],
)
def test_a_template_that_cannot_work_is_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    changed = OWN.replace(*change)
    assert changed != OWN
    with pytest.raises(GntError) as caught:
        read(tmp_path, changed)
    assert said in str(caught.value)


@pytest.mark.parametrize("braces", ["{1, 2}", "{}", "{ }", "} {", '{"a": 1}', "${0}", "$name"])
def test_braces_that_are_no_placeholder_are_text(tmp_path: Path, braces: str) -> None:
    changed = OWN.replace("S: Je", f"S {braces}: Je").replace('"S', "'S").replace('J:"', "J:'")
    known = read(tmp_path, changed).find("sw")
    assert known is not None
    assert known.prompts("mwema")[0].endswith(f"S {braces}: Je, neno mwema ni zuri? J:")
