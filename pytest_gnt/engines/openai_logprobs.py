"""Log-probabilities of a prompt's tokens as servers send them, and what in them is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.protocol import NoScore
from pytest_gnt.evidence import Reason

_STAND_INS = frozenset({-100.0, -9999.0})
"""Values that servers write in place of minus infinity."""


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Tokens of a prompt and of what was generated behind it, in order, with what a server says of each.

    Attributes:
        tokens: their texts; empty where the server does not tell one.
        values: natural logarithms; a text where the server sends no finite one, which says what it sends.
        offsets: characters from the start of the prompt; empty where the server does not tell.
        generated: how many of the tokens are behind the prompt.
    """

    tokens: tuple[str, ...]
    values: tuple[float | str, ...]
    offsets: tuple[int, ...] = ()
    generated: int = 1


def echoed_tokens(data: Any, text: str) -> PromptTokens | None:
    """The tokens of an echoed prompt in a body of ``/completions``; None where the server sends none.

    Raises:
        ValueError: the body holds no choice.
    """
    logprobs = _choice(data, text).get("logprobs")
    if not isinstance(logprobs, Mapping):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list):
        return None
    offsets = logprobs.get("text_offset")
    return PromptTokens(
        tuple(map(str, tokens)),
        tuple(map(_value, values)),
        tuple(offsets) if isinstance(offsets, list) and all(isinstance(one, int) for one in offsets) else (),
        _generated(data),
    )


def prompt_tokens(data: Any, text: str) -> PromptTokens | None:
    """The tokens in ``prompt_logprobs``, which vLLM's servers have; None where the server sends none.

    Raises:
        ValueError: the body holds no choice.
    """
    rows = _choice(data, text).get("prompt_logprobs")
    if not isinstance(rows, list) or not any(isinstance(row, Mapping) and row for row in rows):
        return None
    # The prompt's own token comes first in each row. The first row is null: nothing predicts the first token.
    first = [next(iter(row.values()), None) if isinstance(row, Mapping) else None for row in rows]
    found = [one if isinstance(one, Mapping) else {} for one in first]
    texts = (one.get("decoded_token") for one in found)
    return PromptTokens(
        tuple(text if isinstance(text, str) else "" for text in texts),
        tuple(_value(one.get("logprob")) for one in found),
        generated=0,
    )


def sum_of(found: PromptTokens, places: range, answer: str) -> float | NoScore:
    """The sum over the answer's tokens, or why there is none: they could not be told, or one has no finite value."""
    if not places:
        detail = f"the server's tokenizer joins the answer {answer!r} with what precedes it"
        return NoScore(Reason.NO_LOG_PROBABILITIES, detail)
    values = [found.values[place] for place in places]
    fault = next((value for value in values if isinstance(value, str)), None)
    if fault is not None:
        return NoScore(Reason.NOT_FINITE, f"the server sends {fault} as the log-probability of the answer")
    return math.fsum(value for value in values if not isinstance(value, str))


def answer_places(found: PromptTokens, prompt: str, answer: str) -> range:
    """Where the answer's tokens are by what they spell; empty where they cannot be told."""
    return _by_text(found, prompt, answer) or _by_end(found, answer) or _by_offset(found, prompt, answer)


def places_behind(found: PromptTokens, prompt: PromptTokens) -> range:
    """Where the tokens behind the prompt are, by the prompt's own tokens; empty where those are not the first ones.

    For answers in tokens that spell nothing, such as halves of characters.
    """
    head = prompt.tokens[: len(prompt.tokens) - prompt.generated]
    last = len(found.tokens) - found.generated
    return range(len(head), last) if head and found.tokens[: len(head)] == head else range(0)


def _by_text(found: PromptTokens, prompt: str, answer: str) -> range:
    """The tokens that spell the answer exactly behind the prompt; a start mark may come before."""
    begin = "".join(found.tokens).find(prompt + answer)
    if begin < 0:
        return range(0)
    starts = {0: 0}
    length = 0
    for place, token in enumerate(found.tokens, start=1):
        length += len(token)
        starts.setdefault(length, place)
    first, last = starts.get(begin + len(prompt)), starts.get(begin + len(prompt) + len(answer))
    return range(first, last) if first is not None and last is not None else range(0)


def _by_end(found: PromptTokens, answer: str) -> range:
    """The prompt's last tokens, where they spell the answer: earlier ones may be halves of characters.

    Some servers give a half of a character no text, and the last half the whole character.
    """
    last = len(found.tokens) - found.generated
    spelt = ""
    for first in range(last - 1, 0, -1):
        spelt = found.tokens[first] + spelt
        if len(spelt) >= len(answer) and (spelt != answer or found.tokens[first - 1]):
            # A token without a text before is the beginning of the answer's first character.
            return range(first, last) if spelt == answer else range(0)
    return range(0)


def _by_offset(found: PromptTokens, prompt: str, answer: str) -> range:
    """For tokens that do not spell the text, such as halves of characters.

    Not where the server counts a token that is not in the prompt (a start mark), which would shift all offsets.
    """
    usable = len(found.offsets) == len(found.tokens) and len(prompt) in found.offsets
    if not usable or not prompt.startswith(found.tokens[0]):
        return range(0)
    start = found.offsets.index(len(prompt))
    end = next(
        (place for place in range(start, len(found.offsets)) if found.offsets[place] >= len(prompt) + len(answer)),
        len(found.offsets),
    )
    return range(start, end)


def _choice(data: Any, text: str) -> Mapping[str, Any]:
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ValueError(f"HTTP 200 without a choice: {text.strip() or 'an empty body'}")
    return choices[0]


def _generated(data: Mapping[str, Any]) -> int:
    """How many tokens the server says it made; one was asked for."""
    usage = data.get("usage")
    count = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    return count if count in (0, 1) else 1


def _value(value: Any) -> float | str:
    """A log-probability, or what stands in its place."""
    if value is None:
        return "null"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "no number"
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number in _STAND_INS or number <= min(_STAND_INS):
        return f"{number:g}, a stand-in for minus infinity,"
    return number
