"""From conversations to prompts: templates that refuse roles, base models, and texts full of braces."""

from __future__ import annotations

import pytest
from tiny_checkpoints import CHAT_TEMPLATE, byte_level_tokenizer

from pytest_gnt.engines.chat_format import ChatFormat, PlainFormat, merged, prompt_format, system_folded
from pytest_gnt.engines.protocol import Message
from pytest_gnt.errors import EngineFailure

STRICT = (
    "{% for m in messages %}"
    "{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}"
    "<{{ m['role'] }}>{{ m['content'] }}</{{ m['role'] }}>"
    "{% endfor %}<assistant>"
)
DEAF = "{% for m in messages if m['role'] != 'system' %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
BRACES = [
    "Set A = {1, 2}; pay {amount} to the holder of {0}.",
    "a } alone",
    "50% of {{all}}",
    "$name and ${name}",
    "{% raise %}{# no #}",
]


def tokenizer(template: str | None):
    return byte_level_tokenizer(template)


CONVERSATION = (
    Message("system", "Translate."),
    Message("user", "Keep {gender}."),
    Message("user", "one"),
    Message("assistant", "uno"),
    Message("user", "two"),
)


def test_turns_of_one_role_are_merged() -> None:
    assert merged(CONVERSATION)[1] == Message("user", "Keep {gender}.\n\none")
    assert len(merged(CONVERSATION)) == 4


@pytest.mark.parametrize("template", [STRICT, DEAF])
def test_the_system_text_reaches_a_model_without_the_role_once(template: str) -> None:
    prompt = ChatFormat(tokenizer(template)).render(CONVERSATION)
    assert prompt.count("Translate.") == 1
    assert prompt.index("Translate.") < prompt.index("one")
    assert "<user>Translate.\n\nKeep {gender}.\n\none" in prompt
    assert prompt.endswith("<assistant>")


def test_a_template_that_takes_the_system_role_gets_it() -> None:
    prompt = ChatFormat(tokenizer(CHAT_TEMPLATE)).render(CONVERSATION)
    assert prompt.startswith("[system] Translate.\n[user] Keep {gender}.\n\none\n[assistant] uno\n")
    assert prompt.endswith("[user] two\n[assistant] ")


def test_the_decision_waits_for_a_system_turn() -> None:
    form = ChatFormat(tokenizer(STRICT))
    assert form.render((Message("user", "hello"),)) == "<user>hello</user><assistant>"
    assert form.render(CONVERSATION).count("Translate.") == 1


def test_a_template_that_refuses_everything_is_one_error_for_the_run() -> None:
    with pytest.raises(EngineFailure, match="No luck today"):
        ChatFormat(tokenizer("{{ raise_exception('No luck today') }}")).render(CONVERSATION)


@pytest.mark.parametrize("text", BRACES)
@pytest.mark.parametrize("template", [STRICT, CHAT_TEMPLATE, None])
def test_braces_are_text(text: str, template: str | None) -> None:
    form = prompt_format(tokenizer(template), "auto")
    prompt = form.render(
        (Message("system", text), Message("user", text), Message("assistant", text), Message("user", text))
    )
    assert prompt.count(text) == 4


def test_template_options_are_passed_on() -> None:
    template = "{% if thinking %}think{% else %}answer{% endif %}: {{ messages[0]['content'] }}"
    assert ChatFormat(tokenizer(template), {"thinking": True}).render((Message("user", "x"),)) == "think: x"


def test_a_base_model_gets_a_transcript() -> None:
    prompt = PlainFormat().render((*CONVERSATION[:1], Message("user", "one"), *CONVERSATION[3:]))
    assert prompt == "Translate.\n\none\nuno\n\ntwo\n"


def test_a_plain_reply_ends_where_the_next_block_begins() -> None:
    shown = (Message("user", "one"), Message("assistant", "uno"))
    assert PlainFormat().stop_texts(shown) == ("\n",)
    assert PlainFormat().stop_texts((Message("user", "a"), Message("assistant", "b\nc"))) == ("\n\n",)
    assert PlainFormat().stop_texts(()) == ("\n\n",)


def test_which_format_a_model_gets() -> None:
    assert prompt_format(tokenizer(None), "auto").name == "plain"
    assert prompt_format(tokenizer(CHAT_TEMPLATE), "auto").name == "chat"
    assert prompt_format(tokenizer(CHAT_TEMPLATE), "plain").name == "plain"
    with pytest.raises(EngineFailure, match="no chat template"):
        prompt_format(tokenizer(None), "chat")


def test_folding_without_a_user_turn() -> None:
    assert system_folded((Message("system", "a"), Message("assistant", "b"))) == (
        Message("user", "a"),
        Message("assistant", "b"),
    )
    assert system_folded(()) == ()
