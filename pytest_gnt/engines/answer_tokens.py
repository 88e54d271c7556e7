"""Which tokens an answer has behind a prompt: scorers sum the log-probabilities of just these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_gnt.errors import GntError

Ids = list[int]


def answer_tokens(tokenizer: Any, prompts: Sequence[str], answer: str) -> list[tuple[Ids, Ids]]:
    """Token ids of each prompt, and of the answer behind it.

    Prompt and answer are tokenized as one text, as a server does that is sent both: some tokenizers write a word at the
    beginning of a text otherwise than behind another. Only where the tokenizer joins the prompt's end and the answer
    into one token are the answer's tokens those that it has alone.

    Args:
        tokenizer: a transformers tokenizer; it sets a start token where it does so by itself.
        prompts: texts.
        answer: the text behind each of them, with the blank that precedes it.

    Raises:
        GntError: the answer has no tokens.
    """
    alone = list(tokenizer(answer, add_special_tokens=False, verbose=False)["input_ids"])
    if not alone:
        raise GntError(f"the answer {answer!r} has no tokens: the attitude template needs a visible answer")
    heads = tokenizer(list(prompts), verbose=False)["input_ids"]
    wholes = tokenizer([prompt + answer for prompt in prompts], verbose=False)["input_ids"]
    return [(list(head), _behind(list(head), list(whole)) or alone) for head, whole in zip(heads, wholes, strict=True)]


def _behind(head: Ids, whole: Ids) -> Ids:
    return whole[len(head) :] if whole[: len(head)] == head else []
