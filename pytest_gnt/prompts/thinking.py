"""Thinking text before the answer: taken out before anything of the reply is read."""

from __future__ import annotations

import re

from pytest_gnt.prompts.form import is_inside_answer

_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def answer_after_thinking(text: str, *, source: str = "") -> str | None:
    """The part of a reply that follows its thinking; the reply itself where there is none.

    Thinking is a block at the reply's start, or everything up to a closing tag whose opening tag is missing (some chat
    templates put it into the prompt). A tag inside an answer's brackets, or one that the source also holds, is text.

    Returns:
        None where thinking was opened and never closed: there is no answer.
    """
    opened = _OPEN.match(text.lstrip()) is not None
    if not opened and (_CLOSE.search(text) is None or _CLOSE.search(source)):
        return text
    ends = _ends_of_thinking(text)
    if ends:
        return text[_last_useful(text, ends) :]
    if opened and not _OPEN.search(source):
        return None
    return text


def _ends_of_thinking(text: str) -> list[int]:
    ends: list[int] = []
    for match in _CLOSE.finditer(text):
        if not is_inside_answer(text, match.start(), ends[-1] if ends else 0):
            ends.append(match.end())
    return ends


def _last_useful(text: str, ends: list[int]) -> int:
    """The last end that something follows: a stray tag at the reply's end does not empty the reply."""
    for end in reversed(ends):
        if text[end:].strip():
            return end
    return ends[0]
