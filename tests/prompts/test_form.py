"""The form of a labelled reply: what is tolerated, what is refused, and that nothing is ever shortened."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_gnt.case import Form
from pytest_gnt.prompts.form import as_one_line, read_form, render_form
from pytest_gnt.prompts.thinking import answer_after_thinking

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
BRACKETED = st.text(alphabet="[]ab .<>*/thinkit\n【】［］", max_size=40)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            "<it> **NEUTRAL** [La relazione [fasc. 12/C] va approvata dalla presidenza.]",
            "La relazione [fasc. 12/C] va approvata dalla presidenza.",
        ),
        ("<it> **NEUTRAL** [Manca un pezzo] qui.]", "Manca un pezzo] qui."),
        ("<it> **NEUTRAL** [Vedi [1], [2] e [3].]", "Vedi [1], [2] e [3]."),
        ("<it> **NEUTRAL** [Vedi [1 e basta.]", "Vedi [1 e basta."),
        ("<it> **NEUTRAL** [Prima riga.\nSeconda riga.]", "Prima riga. Seconda riga."),
        ("<it> **NEUTRAL** [Prima riga.\r\nSeconda riga.]", "Prima riga. Seconda riga."),
        ("<it> **NEUTRAL** [Prima riga.\n\n  Seconda riga.]", "Prima riga. Seconda riga."),
        ("<it> **NEUTRAL** [Prima riga.\u2028Seconda riga.]", "Prima riga. Seconda riga."),
        ("<it>\n**NEUTRAL**\n[Chi dirige apre.]", "Chi dirige apre."),
        ("<it>\u00a0**NEUTRAL**\u00a0[Chi dirige\u00a0apre.]", "Chi dirige\u00a0apre."),
        ("＜it＞ ＊＊NEUTRAL＊＊ ［Chi dirige apre.］", "Chi dirige apre."),
        ("<it> **NEUTRAL** 【Chi dirige apre.】", "Chi dirige apre."),
        ("<it> **NEUTRAL** ［Chi dirige [oggi] apre.］", "Chi dirige [oggi] apre."),
        ("<it> **NEUTRAL** ［Chi dirige apre.]", "Chi dirige apre."),
        ("“<it> **NEUTRAL** [Chi dirige apre.]”", "Chi dirige apre."),
        ("`<it> **NEUTRAL** [Chi dirige apre.]`", "Chi dirige apre."),
        ("<it> **NEUTRAL** [“Chi dirige apre”, dice.]", "“Chi dirige apre”, dice."),
        ("\ufeff<it> **NEUTRAL** [Chi dirige apre.]", "Chi dirige apre."),
        ("```\n<it> **NEUTRAL** [Chi dirige apre.]\n```", "Chi dirige apre."),
        ("```text\n<it> **NEUTRAL** [Chi dirige apre.]\n```", "Chi dirige apre."),
        ("<IT> **NEUTRAL** [Chi dirige apre.]", "Chi dirige apre."),
    ],
)
def test_the_whole_text_is_read(reply: str, text: str) -> None:
    reading = read_form(reply, "it")
    assert (reading.text, reading.label, reading.problem, reading.flags) == (text, Form.NEUTRAL, "", ())


@pytest.mark.parametrize(
    "reply",
    [
        "<it> **neutral** [Chi dirige apre.]",
        "<it> NEUTRAL [Chi dirige apre.]",
        "<it> **NEUTRALE** [Chi dirige apre.]",
        "<it> **NEUTRAL/GENDERED** [Chi dirige apre.]",
        "<it> ** NEUTRAL ** [Chi dirige apre.]",
        "<it> [Chi dirige apre.]",
        "<it> **UNGENDERED** [Chi dirige apre.]",
        "<it> **NOT NEUTRAL** [Chi dirige apre.]",
        "<it> *NEUTRAL* [Chi dirige apre.]",
        "<it> **NEUTRAL** Chi dirige apre.",
        "<it> **NEUTRAL** (Chi dirige apre.)",
        "<it> **NEUTRAL** [Chi dirige apre.",
        "**NEUTRAL** [Chi dirige apre.]",
        "Chi dirige apre.",
        "",
    ],
)
def test_no_exact_label_no_reading(reply: str) -> None:
    reading = read_form(reply, "it")
    assert reading.text is None
    assert reading.label is None
    assert reading.problem


def test_the_message_names_what_stands_in_the_place_of_the_label() -> None:
    assert "**NEUTRALE**" in read_form("<it> **NEUTRALE** [Chi dirige apre.]", "it").problem
    assert "missing" in read_form("<it> [Chi dirige apre.]", "it").problem


def test_a_label_inside_the_brackets_is_text() -> None:
    reading = read_form("<it> **GENDERED** [Il marchio **NEUTRAL** è del direttore.]", "it")
    assert reading.label is Form.GENDERED
    assert reading.text == "Il marchio **NEUTRAL** è del direttore."


def test_another_languages_tag_is_refused() -> None:
    assert "<es>" in read_form("<es> **NEUTRAL** [Quien dirige abre.]", "it").problem


def test_text_around_the_answer_is_flagged_and_not_scored() -> None:
    reading = read_form("Ecco:\n<it> **NEUTRAL** [Chi dirige apre.] Spero sia utile!", "it")
    assert reading.text == "Chi dirige apre."
    assert reading.flags == ("text-before-answer", "text-after-answer")


def test_a_remark_with_brackets_on_a_line_of_its_own_is_no_part_of_the_answer() -> None:
    reading = read_form("<it> **NEUTRAL** [Chi dirige apre.]\n\nNota: non ho scritto [il direttore].", "it")
    assert reading.text == "Chi dirige apre."
    assert "text-after-answer" in reading.flags


def test_brackets_that_can_be_read_in_two_ways_are_refused() -> None:
    reading = read_form("<it> **NEUTRAL** [Chi dirige apre.] (Non: [il direttore])", "it")
    assert reading.text is None
    assert "cannot be told" in reading.problem


def test_the_first_of_two_answers_with_one_label_is_taken() -> None:
    reading = read_form("<it> **NEUTRAL** [Chi dirige apre.]\n<it> **NEUTRAL** [La direzione apre.]", "it")
    assert (reading.text, reading.label) == ("Chi dirige apre.", Form.NEUTRAL)
    assert "second-answer-ignored" in reading.flags


def test_two_answers_with_different_labels_give_no_label() -> None:
    reading = read_form("<it> **NEUTRAL** [Chi dirige apre.]\n<it> **GENDERED** [Il direttore apre.]", "it")
    assert reading.label is None
    assert "differ" in reading.problem


def _is_ambiguous(text: str) -> bool:
    """A closing bracket comes before the opening one that would balance it."""
    depth, negative = 0, False
    for character in text:
        depth += (character == "[") - (character == "]")
        negative = negative or depth < 0
    return negative and depth >= 0


@given(text=ANY_TEXT | BRACKETED, label=st.sampled_from(Form))
@example(text="</think>", label=Form.NEUTRAL)
@example(text="a] </think> b", label=Form.NEUTRAL)
@example(text="x] <it> **GENDERED** [y", label=Form.NEUTRAL)
@example(text="x]\n<it> **GENDERED** [y", label=Form.NEUTRAL)
@example(text="[", label=Form.GENDERED)
@example(text="]", label=Form.GENDERED)
@example(text="\ud800", label=Form.NEUTRAL)
def test_what_is_rendered_is_read_back(text: str, label: Form) -> None:
    text = as_one_line(text)
    answer = answer_after_thinking(render_form(text, label, "it"))
    assert answer is not None
    reading = read_form(answer, "it")
    if _is_ambiguous(text):
        assert reading.problem or reading.text == text
    else:
        assert (reading.text, reading.label) == (text, label)


@given(ANY_TEXT)
def test_one_line_is_one_line_and_stays_so(text: str) -> None:
    line = as_one_line(text)
    assert len(line.splitlines()) <= 1
    assert as_one_line(line) == line
    line.encode()


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp"), blacklist_characters="\x85")))
def test_other_characters_are_not_touched(text: str) -> None:
    assert as_one_line(text) == text.strip()


@given(ANY_TEXT | BRACKETED)
def test_reading_never_raises(text: str) -> None:
    reading = read_form(text, "it")
    assert (reading.text is None) == bool(reading.problem)
