"""Thinking text is taken out, whatever it holds, and tags that belong to the translation stay."""

from __future__ import annotations

import pytest

from pytest_gnt.prompts.thinking import answer_after_thinking

ANSWER = "<it> **NEUTRAL** [Chi dirige apre.]"


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>maybe [la direttrice]? or **GENDERED** ...</think>\n{ANSWER}",
        f"maybe [la direttrice]? or **GENDERED** ...</think>\n{ANSWER}",
        f"<think>\n\n</think>\n{ANSWER}",
        f"<think></think>{ANSWER}",
        f"<think>\n<it> **GENDERED** [Il direttore apre.]\nno.</think>\n{ANSWER}",
        f"<it> **GENDERED** [Il direttore apre.]\nno, better neutral\n</think>\n{ANSWER}",
        f"<think>a</think>\n<think>b</think>\n{ANSWER}",
        f"<THINK>a</THINK>{ANSWER}",
        f"<thinking>a</thinking>{ANSWER}",
        f"<think>a</think>\n{ANSWER}\n</think>",
        ANSWER,
    ],
)
def test_the_answer_after_the_thinking_is_used(reply: str) -> None:
    answer = answer_after_thinking(reply)
    assert answer is not None
    assert answer.strip().removesuffix("</think>").strip() == ANSWER


@pytest.mark.parametrize("reply", ["<think>maybe <it> **NEUTRAL** [Chi dirige apre.]", "  <think>\nhm", "<reasoning>"])
def test_thinking_that_never_ends_has_no_answer(reply: str) -> None:
    assert answer_after_thinking(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "<it> **NEUTRAL** [Il tag </think> chiude il blocco.]",
        "<it> **NEUTRAL** [I tag <think> e </think> racchiudono il blocco.]",
        "<it> **NEUTRAL** [Il tag <think> apre il blocco.]",
    ],
)
def test_a_tag_inside_the_brackets_is_text(reply: str) -> None:
    assert answer_after_thinking(reply) == reply


def test_a_tag_inside_the_brackets_is_text_even_after_real_thinking() -> None:
    assert answer_after_thinking("<think>x</think><it> **NEUTRAL** [Il tag </think> chiude.]") == (
        "<it> **NEUTRAL** [Il tag </think> chiude.]"
    )


def test_a_tag_that_the_source_holds_is_text_in_a_plain_reply() -> None:
    reply = "标签 </think> 结束该块。"
    assert answer_after_thinking(reply, source="The tag </think> ends the block.") == reply
    assert answer_after_thinking("<think> 标签。", source="The <think> tag.") == "<think> 标签。"
