"""The shipped table of attitude words: what it holds, what it does not hold, and how it is made."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from pytest_gnt.corpora import attitude_words
from pytest_gnt.corpora.attitude_words import AttitudeWord, Renderings, renderings, sentence_hash
from pytest_gnt.corpora.tables import read_table

ROOT = Path(__file__).resolve().parents[2]


def test_renderings_come_longest_first_in_any_letter_case():
    found = renderings("Stubborn", "zh")
    assert "固执" in found
    assert [len(form) for form in found] == sorted(map(len, found), reverse=True)
    assert renderings("stubborn", "xx") == ()
    assert renderings("no such word", "zh") == ()


def test_a_single_character_of_low_confidence_is_no_rendering():
    known = Renderings()
    for word in (AttitudeWord("a", "神", "low"), AttitudeWord("a", "傻", "high"), AttitudeWord("a", "神圣", "low")):
        known.add_word(word)
    assert known.of("a", "zh") == ("神圣", "傻")


def test_a_sentence_is_found_by_its_hash_and_nothing_else_is():
    rows = read_table(attitude_words.WORDS_FILE).rows
    first = next(row.cells for row in rows if row.cells["sentence"])
    assert attitude_words.attitude_word(first["sentence"] or "") == AttitudeWord(
        first["attitude_word"] or "", first["zh_word"] or "", first["confidence"] or ""
    )
    assert attitude_words.attitude_word(sentence_hash("The person is not in AmbGIMT.")) is None


def test_a_line_without_hash_needs_its_word_in_the_sentence():
    row = next(row.cells for row in read_table(attitude_words.WORDS_FILE).rows if not row.cells["sentence"])
    subset, line, word = row["subset"] or "", int(row["line"] or 0), row["attitude_word"] or ""
    found = attitude_words.attitude_word_of(f"The person is {word}.", subset, line)
    assert found is not None
    assert found.word == word
    assert attitude_words.attitude_word_of("The person left.", subset, line) is None
    assert attitude_words.attitude_word_of(f"The person is {word}x.", subset, line) is None


def test_the_table_holds_no_sentence():
    for row in read_table(attitude_words.WORDS_FILE).rows:
        assert len((row.cells["attitude_word"] or "").split()) <= 2
        assert len(row.cells["zh_word"] or "") <= 10
        assert re.fullmatch(r"[0-9a-f]{16}|", row.cells["sentence"] or "")
        assert row.cells["confidence"] in ("high", "low")


@pytest.fixture
def build(monkeypatch, tmp_path):
    """The script as a module that writes into the test's folder."""
    spec = importlib.util.spec_from_file_location("build_attitude_words", ROOT / "scripts" / "build_attitude_words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WORDS_FILE", tmp_path / "made.tsv")
    return module


def test_the_shipped_table_is_what_the_script_makes(build, shared_data):
    assert build.main([str(shared_data / "ambgimt")]) == 0
    assert build.WORDS_FILE.read_bytes() == attitude_words.WORDS_FILE.read_bytes()


def test_the_script_refuses_a_word_that_is_not_in_its_sentence(build, shared_data, tmp_path, capsys):
    folder = tmp_path / "broken"
    shutil.copytree(shared_data / "ambgimt", folder)
    table = folder / "attitude_words.authentic.tsv"
    table.chmod(0o644)
    table.write_text(table.read_text(encoding="utf-8").replace("1\tgruff", "1\tcunning", 1), encoding="utf-8")
    assert build.main([str(folder)]) == 2
    assert "authentic, line 1: 'cunning' does not stand" in capsys.readouterr().err
    assert build.main([]) == 2
