"""Prompt files in the published layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gnt.case import Case
from pytest_gnt.engines.protocol import Message
from pytest_gnt.errors import GntError
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.prompts.published import PublishedWording

pytest.importorskip("yaml", reason="prompt folders need PyYAML")

MakeCase = Callable[..., Case]

GOOD = """\
system_prompt:
  role: system
  content: You translate into Italian.

preamble:
  role: user
  content: |
    Translate. Answer like {"label": "NEUTRAL", "n": [1]}, never {}.

user_prompt:
  role: user
  content: <en> {input}

gender_neutral_guidelines:
  role: user
  content: "Guidelines: chi \\u0259\\n"

demonstrations:
  - user: <en> She {won}.
    assistant: <it> **GENDERED** [Lei {ha vinto}.]
    type: gendered

  - user: <en> He left.
    assistant: <it> **GENDERED** [Lui se n'è andato.]
    type: gendered

  - user: <en> They came.
    assistant: "<it> **NEUTRAL** [Sono arrivate molte persone.]"
    type: neutral

  - user: <en> People clapped.
    assistant: <it> **NEUTRAL** [La gente applaudì.]
    type: neutral
"""


def write(folder: Path, text: str = GOOD, name: str = "prompt_en-it.yaml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_papers_prompt_comes_out_character_for_character(tmp_path: Path, make_case: MakeCase) -> None:
    builder = PromptBuilder(PromptConfig(configuration="G+S", shots=2), PublishedWording(write(tmp_path)))
    assert builder.build_prefix("it", labelled=True) == (
        Message("system", "You translate into Italian."),
        Message(
            "user",
            'Translate. Answer like {"label": "NEUTRAL", "n": [1]}, never {}.\nGuidelines: chi ə\n<en> She {won}.',
        ),
        Message("assistant", "<it> **GENDERED** [Lei {ha vinto}.]"),
        Message("user", "<en> They came."),
        Message("assistant", "<it> **NEUTRAL** [Sono arrivate molte persone.]"),
    )
    assert builder.user_turn(make_case("Pay {input} to {0}.")) == "<en> Pay {input} to {0}."


def test_without_examples_everything_is_one_user_turn(tmp_path: Path, make_case: MakeCase) -> None:
    builder = PromptBuilder(PromptConfig(shots=0), PublishedWording(write(tmp_path)))
    assert builder.build_prefix("it", labelled=True) == ()
    assert builder.user_turn(make_case("Doors.")) == (
        'Translate. Answer like {"label": "NEUTRAL", "n": [1]}, never {}.\n<en> Doors.'
    )


def test_evaluated_sentences_are_not_shown(tmp_path: Path) -> None:
    builder = PromptBuilder(PromptConfig(shots=2), PublishedWording(write(tmp_path)), ["She {won}."])
    assert [shot.source for shot in builder.shots_for("it", labelled=True)] == ["He left.", "They came."]


def test_the_plain_form_is_worded_by_the_product(tmp_path: Path, make_case: MakeCase) -> None:
    builder = PromptBuilder(PromptConfig(shots=0), PublishedWording(write(tmp_path)))
    assert "English: Doors." in builder.user_turn(make_case("Doors.", "zh", None))


def test_a_language_without_a_file_is_named(tmp_path: Path) -> None:
    builder = PromptBuilder(PromptConfig(), PublishedWording(write(tmp_path)))
    with pytest.raises(GntError, match=r"no prompt file for es \(there are it\)"):
        builder.build_prefix("es", labelled=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<en> {input}", "<en> {sentence}", r":12: unknown placeholder \{sentence\} in user_prompt"),
        ("<en> {input}", "<en>", r":11: user_prompt must hold \{input\} once"),
        ("<en> {input}", "<en> {input} {source}", r":11: user_prompt must hold \{input\} once"),
        ("You translate", "You {verb}", r":3: unknown placeholder \{verb\} in system_prompt"),
        ("You translate", "You translate {input}", r":3: unknown placeholder \{input\} in system_prompt"),
        ("role: system", "role: boss", r":2: role must be one of system, user, assistant, not 'boss'"),
        ("  role: system\n", "", r":2: system_prompt lacks role"),
        ("preamble:", "preambel:", r":5: unknown key 'preambel' in the file"),
        ("    type: gendered\n\n  - user: <en> He", "    type: gender\n\n  - user: <en> He", r":21: type must be"),
        ("  content: You translate into Italian.", "  content:", r":3: system_prompt, content must be a text"),
        ("  content: You translate into Italian.", "  content: [a]", r":3: system_prompt, content must be a text"),
        ("demonstrations:\n", "demonstrations: none\nx:\n", r"unknown key 'x'"),
        ("  role: system\n", "  role: system\n  role: user\n", r":3: the key 'role' occurs twice"),
        ("  role: system\n", "  role: 'system\n", r"not valid YAML"),
        ("preamble:\n  role: user", "preamble:\n  role: user\n  extra: 1", r":7: unknown key 'extra' in preamble"),
    ],
)
def test_broken_files_are_refused_with_line_and_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(GntError, match=message):
        PublishedWording(tmp_path)


@pytest.mark.parametrize("text", ["", "- a\n", "text\n", "a: &x [1]\nb: *x\n"])
def test_files_that_are_something_else_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(GntError, match="key"):
        PublishedWording(write(tmp_path, text))


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    harmful = GOOD.replace("You translate into Italian.", "!!python/object/apply:os.system ['true']")
    with pytest.raises(GntError, match="must be a text"):
        PublishedWording(write(tmp_path, harmful))


def test_folders_without_prompt_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GntError, match="holds no prompt files"):
        PublishedWording(tmp_path)
    with pytest.raises(GntError, match="does not exist"):
        PublishedWording(tmp_path / "absent")


def test_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompt_en-it.yaml").write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(GntError, match="not UTF-8"):
        PublishedWording(tmp_path)
