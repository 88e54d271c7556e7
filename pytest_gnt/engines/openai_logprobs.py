"""Log-probabilities of a prompt's tokens as servers echo them, and what in them is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_STAND_INS = frozenset({-100.0, -9999.0})
"""Values that servers write in place of minus infinity."""


@dataclass(frozen=True, slots=True)
class EchoedTokens:
    """Tokens of the echoed prompt and of what was generated after it, in order.

    ``values`` are natural logarithms; None where the server has no finite one. ``offsets`` are characters from the
    start of the prompt; empty where the server does not tell.
    """

    tokens: tuple[str, ...]
    values: tuple[float | None, ...]
    offsets: tuple[int, ...]


def echoed_logprobs(data: Any, text: str) -> EchoedTokens | None:
    """The echoed tokens in a body of ``/completions``; None where the server sends none.

    Raises:
        ValueError: the body holds no choice.
    """
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ValueError(f"HTTP 200 without a choice: {text.strip() or 'an empty body'}")
    logprobs = choices[0].get("logprobs")
    if not isinstance(logprobs, Mapping):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list):
        return None
    offsets = logprobs.get("text_offset")
    return EchoedTokens(
        tuple(map(str, tokens)),
        tuple(_finite(value) for value in values),
        tuple(offsets) if isinstance(offsets, list) and all(isinstance(one, int) for one in offsets) else (),
    )


def answer_logprob(echoed: EchoedTokens, prompt: str, answer: str) -> float | None:
    """The sum over the answer's tokens.

    Returns:
        None where they cannot be told from the prompt's, or one of them has no finite value.
    """
    if len(echoed.values) != len(echoed.tokens):
        return None
    places = _by_text(echoed, prompt, answer) or _by_offset(echoed, prompt, answer)
    values = [echoed.values[place] for place in places]
    if not values or any(value is None for value in values):
        return None
    return math.fsum(value for value in values if value is not None)


def _by_offset(echoed: EchoedTokens, prompt: str, answer: str) -> range:
    """For tokens that do not spell the text, such as halves of characters.

    Not where the server counts a token that is not in the prompt (a start mark), which would shift all offsets.
    """
    usable = len(echoed.offsets) == len(echoed.tokens) and len(prompt) in echoed.offsets
    if not usable or not prompt.startswith(echoed.tokens[0]):
        return range(0)
    start = echoed.offsets.index(len(prompt))
    end = next(
        (place for place in range(start, len(echoed.offsets)) if echoed.offsets[place] >= len(prompt) + len(answer)),
        len(echoed.offsets),
    )
    return range(start, end)


def _by_text(echoed: EchoedTokens, prompt: str, answer: str) -> range:
    """The tokens that spell the answer exactly behind the prompt; a start mark may come before."""
    begin = "".join(echoed.tokens).find(prompt + answer)
    if begin < 0:
        return range(0)
    starts = {0: 0}
    length = 0
    for place, token in enumerate(echoed.tokens, start=1):
        length += len(token)
        starts.setdefault(length, place)
    first, last = starts.get(begin + len(prompt)), starts.get(begin + len(prompt) + len(answer))
    return range(first, last) if first is not None and last is not None else range(0)


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value)
    return number if math.isfinite(number) and number not in _STAND_INS and number > min(_STAND_INS) else None
