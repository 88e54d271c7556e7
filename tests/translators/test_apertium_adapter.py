"""The example adapter, run for real where Apertium is installed."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_gnt.case import Case
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.translators.command import CommandTranslator

ADAPTER = Path(__file__).resolve().parents[2] / "examples" / "apertium_adapter.py"
MakeCase = Callable[..., Case]
Translate = Callable[..., list[Translation]]


def has_apertium() -> bool:
    if shutil.which("apertium") is None:
        return False
    return "eng-spa" in subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout


needs_apertium = pytest.mark.skipif(not has_apertium(), reason="needs Apertium: apt install apertium-eng-spa")


@pytest.fixture
def apertium() -> Iterator[CommandTranslator]:
    translator = CommandTranslator([sys.executable, str(ADAPTER)], timeout=60)
    yield translator
    translator.close()


@needs_apertium
def test_sentences_are_translated(apertium: CommandTranslator, make_case: MakeCase, translate: Translate) -> None:
    sources = ["The person opens the door.", "The meeting is open.", "Two\nlines are here."]
    found = translate(apertium, [make_case(source, "es", str(n)) for n, source in enumerate(sources)])
    assert [one.text for one in found] == [
        "La persona abre la puerta.",
        "La reunión es abierta.",
        "Dos líneas son aquí.",
    ]
    again = translate(apertium, [make_case("The person opens the door.", "es", "9")])
    assert again[0].text == "La persona abre la puerta."


@needs_apertium
def test_signs_survive_and_lines_stay_apart(
    apertium: CommandTranslator, make_case: MakeCase, translate: Translate
) -> None:
    words = ["door", "[12/C]", "{x}", "^a$", "*unk", "@home", "#1", "\\n", "a+b~c", "<b>", "&amp;", "50%", "é", "."]
    rng = random.Random(7)
    cases = [make_case(f"House {n} has " + " ".join(rng.choices(words, k=6)), "es", str(n)) for n in range(200)]
    found = translate(apertium, cases)
    for case, one in zip(cases, found, strict=True):
        number = case.source.split()[1]
        assert number in one.raw.split()
        for sign in "[]{}^$@#\\<>~":
            assert one.raw.count(sign) == case.source.count(sign), (case.source, one.raw)


@needs_apertium
def test_a_language_without_data_is_an_error_of_its_own(
    apertium: CommandTranslator, make_case: MakeCase, translate: Translate
) -> None:
    found = translate(apertium, [make_case("The door.", "it"), make_case("The person opens the door.", "es")])
    assert [one.reason for one in found] == [Reason.TRANSPORT, None]
    assert "no Apertium data for en to it" in found[0].detail


def test_without_apertium_it_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ADAPTER)],
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path)},
        input="",
        check=False,
    )
    assert done.returncode == 3
    assert "apt install apertium-eng-spa" in done.stderr
