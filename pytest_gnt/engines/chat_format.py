"""From turns of a conversation to the text that a local model continues.

A model with a chat template gets that; whether the template puts up with a system role is found out by asking it, never
from the model's name. A base model gets a plain transcript:

    instructions

    question
    answer

    question

Braces, dollar signs and template syntax in the texts are text: nothing here formats strings with data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pytest_gnt.engines.protocol import Message
from pytest_gnt.errors import EngineFailure

FormatName = Literal["auto", "chat", "plain"]

_TURN_END = "\n"
_BLOCK_END = "\n\n"


def merged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join consecutive turns of one role, with a blank line between them."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, f"{turns[-1].content}\n\n{message.content}")
        else:
            turns.append(message)
    return tuple(turns)


def system_folded(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Move system turns to the start of the first user turn, once; for templates that refuse the role."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = merged(message for message in messages if message.role != "system")
    if not system:
        return rest
    if rest and rest[0].role == "user":
        return (Message("user", f"{system}\n\n{rest[0].content}"), *rest[1:])
    return (Message("user", system), *rest)


class ChatFormat:
    """The model's own chat template.

    Args:
        tokenizer: a transformers tokenizer with a chat template.
        options: further variables for the template, e.g. ``{"enable_thinking": False}``.
    """

    name = "chat"
    adds_special_tokens = False
    """The template writes the start token itself."""

    def __init__(self, tokenizer: Any, options: Mapping[str, object] | None = None) -> None:
        self._tokenizer = tokenizer
        self._options = dict(options or {})
        self._fold: bool | None = None

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt text.

        Raises:
            EngineFailure: the template refuses the conversation in every form.
        """
        if self._fold is None and any(message.role == "system" for message in messages):
            self._fold = not self._takes_system(messages)
        turns = system_folded(messages) if self._fold else merged(messages)
        try:
            return self._apply(turns)
        except Exception as error:  # a template is a program of its own: jinja2's errors and any that it causes
            raise EngineFailure(f"the model's chat template refuses the prompt: {str(error)[:200]}") from error

    def stop_texts(self, _messages: Sequence[Message]) -> tuple[str, ...]:
        """Texts that end a reply beside the model's own end tokens: none."""
        return ()

    def _takes_system(self, messages: Sequence[Message]) -> bool:
        """Whether the template renders a system turn, shown by the text being there."""
        system = next(message.content.strip() for message in messages if message.role == "system")
        try:
            return system in self._apply(merged(messages))
        except Exception:  # see render
            return False

    def _apply(self, turns: Sequence[Message]) -> str:
        chat = [{"role": turn.role, "content": turn.content} for turn in turns]
        return str(
            self._tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **self._options)
        )


class PlainFormat:
    """A few-shot transcript for models without a chat template; see the module's text."""

    name = "plain"
    adds_special_tokens = True

    def render(self, messages: Sequence[Message]) -> str:
        parts = []
        for message in messages:
            end = _TURN_END if message.role == "user" else _BLOCK_END
            parts.append(message.content.strip("\n") + end)
        return "".join(parts)

    def stop_texts(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """A reply ends where the next block would start: at the line's end if every shown answer is one line."""
        answers = [message.content.strip("\n") for message in messages if message.role == "assistant"]
        return (_TURN_END,) if answers and not any("\n" in answer for answer in answers) else (_BLOCK_END,)


PromptFormat = ChatFormat | PlainFormat


def prompt_format(tokenizer: Any, wanted: FormatName, options: Mapping[str, object] | None = None) -> PromptFormat:
    """Choose the format of a tokenizer's model.

    Raises:
        EngineFailure: ``chat`` is wanted and the tokenizer has no template.
    """
    has_template = bool(getattr(tokenizer, "chat_template", None))
    if wanted == "chat" and not has_template:
        raise EngineFailure("this model has no chat template: set format = 'plain' for it")
    return ChatFormat(tokenizer, options) if has_template and wanted != "plain" else PlainFormat()
