"""Which words of a translation changed."""

from __future__ import annotations

import difflib
import re
from typing import Literal, NamedTuple

UNSPACED = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})
"""Languages that do not put blanks between words: compared character by character."""

MOST_TOKENS = 600
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Segment(NamedTuple):
    """A stretch of text that both sides have, that was removed, or that was added."""

    op: Literal["same", "removed", "added"]
    text: str


def word_diff(before: str, after: str, lang: str) -> tuple[Segment, ...]:
    """The way from one translation to another, word by word.

    The texts of ``same`` and ``removed`` make up ``before``, those of ``same`` and ``added`` ``after``. Texts of more
    than 600 tokens (loops, loose talk) are not compared in detail: what differs is one segment.
    """
    olds, news = tokens(before, lang), tokens(after, lang)
    if olds == news:
        return (Segment("same", before),) if before else ()
    if max(len(olds), len(news)) > MOST_TOKENS:
        return tuple(part for part in (Segment("removed", before), Segment("added", after)) if part.text)
    segments = []
    for op, low, high, new_low, new_high in difflib.SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        if op == "equal":
            segments.append(Segment("same", "".join(olds[low:high])))
            continue
        if high > low:
            segments.append(Segment("removed", "".join(olds[low:high])))
        if new_high > new_low:
            segments.append(Segment("added", "".join(news[new_low:new_high])))
    return tuple(segments)


def tokens(text: str, lang: str) -> list[str]:
    """Words, blanks and single other characters; in unspaced languages every character. Together they are the text."""
    if re.split("[-_]", lang.lower())[0] in UNSPACED:
        return list(text)
    return _TOKEN.findall(text)
