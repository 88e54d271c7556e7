"""Comparing words without regard to case, width, composition and invisible marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
"""Ranges of the scripts that put no blanks between words (Han, Kana, Thai, Lao, Burmese, Khmer)."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTER = rf"[^\W{UNSPACED}]"
"""What may not stand beside a whole word; a Chinese character beside a Latin one separates."""
_CLUSTER = re.compile("[^\u0300-\u036f][\u0300-\u036f]*|[\u0300-\u036f]+", re.DOTALL)
"""A character with the accents that are set on it."""


def fold(text: str) -> str:
    """Compatibility forms, case and invisible marks removed, blanks single."""
    return " ".join(_folded(_INVISIBLE.sub("", text)).split())


def occurrences(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Where a folded word stands in a folded text: as a whole word, in scripts without blanks anywhere."""
    if not form:
        return iter(())
    pattern = re.escape(form)
    if not _UNSPACED.search(form):
        pattern = f"(?<!{_LETTER}){pattern}(?!{_LETTER})"
    return (match.span() for match in re.finditer(pattern, text))


def find(text: str, word: str) -> list[tuple[int, int]]:
    """The places of a word in a text as it stands, in its own indices; folding decides what is equal."""
    folded, places = _with_places(text)
    return [(places[start][0], places[end - 1][1]) for start, end in occurrences(folded, fold(word)) if start < end]


def _with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A folded text, and for each of its characters the span that it comes from."""
    chars: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _CLUSTER.finditer(text):
        folded = _folded(_INVISIBLE.sub("", match[0]))
        for char in folded:
            if char.isspace():
                if chars and chars[-1] == " ":
                    continue
                char = " "
            chars.append(char)
            places.append(match.span())
    return "".join(chars), places


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
