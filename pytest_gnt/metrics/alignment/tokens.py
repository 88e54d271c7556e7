"""Cutting a sentence into words: what an aligner links, and what keywords are counted by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_gnt.metrics.alignment import chinese
from pytest_gnt.metrics.alignment.folding import UNSPACED

VERSION = 1
"""Part of the signature: raise it when the same text is cut in other places."""

ChineseSegmenter = Literal["jieba", "characters"]

_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")
_JOINS = frozenset("-\u2010\u2011_")
_HAN = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark, with its place in the text: ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it holds a letter or a digit."""
        return any(char.isalnum() for char in self.text)


class Segmentation:
    """Cuts texts of any language.

    Chinese is cut by jieba with a dictionary of its own: the product's identity terms and known renderings of
    attitude words are added to it, and no other user of jieba in the process changes it or sees it. Languages with
    blanks are cut at blanks and around punctuation; hyphens within a word do not cut, apostrophes do (l'ostinato is
    three tokens). In the other scripts without blanks (Japanese, Thai, Lao, Khmer, Burmese) every character is a token:
    neighbours that belong together are put together again when their links are read.

    Args:
        chinese: ``jieba``, or ``characters`` to cut Chinese by character.
    """

    def __init__(self, chinese: ChineseSegmenter = "jieba") -> None:
        self._by_character = chinese == "characters"

    def key(self, lang: str) -> str:
        """What the cuts in a language depend on, for signatures.

        Raises:
            GntError: jieba is needed and not installed.
        """
        if self._by_jieba(lang):
            return f"{chinese.key()}.v{VERSION}"
        return f"words.v{VERSION}"

    def tokens(self, text: str, lang: str) -> list[Token]:
        """The tokens of a text in order; blanks belong to none.

        Raises:
            GntError: jieba is needed and not installed.
        """
        if self._by_jieba(lang) and _HAN.search(text):
            return list(_placed(chinese.cut(text)))
        return list(_words(text))

    def _by_jieba(self, lang: str) -> bool:
        return base_lang(lang) == "zh" and not self._by_character


def base_lang(lang: str) -> str:
    """``zh`` of ``zh-Hant`` or ``zh_TW``."""
    return lang.replace("_", "-").partition("-")[0].lower()


def _words(text: str) -> Iterator[Token]:
    """Runs of letters and digits with the marks on them; every other character that is no blank by itself."""
    start: int | None = None
    in_word = False
    for place, char in enumerate(text):
        if char.isspace():
            if start is not None:
                yield Token(text[start:place], start, place)
            start, in_word = None, False
        elif start is not None and _attaches(char, in_word and _followed_by_letter(text, place)):
            continue
        elif char.isalnum() and not _UNSPACED_CHAR.match(char):
            if start is not None and not in_word:
                yield Token(text[start:place], start, place)
                start = None
            start, in_word = (place if start is None else start), True
        else:
            if start is not None:
                yield Token(text[start:place], start, place)
            start, in_word = place, False
    if start is not None:
        yield Token(text[start:], start, len(text))


def _attaches(char: str, inside: bool) -> bool:
    """Whether a character goes on with the token before it: a mark, an invisible sign, a hyphen within a word."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") or (char in _JOINS and inside)


def _followed_by_letter(text: str, place: int) -> bool:
    following = text[place + 1 : place + 2]
    return following.isalnum() and not _UNSPACED_CHAR.match(following)


def _placed(pieces: Iterable[str]) -> Iterator[Token]:
    """Pieces that make up the whole text, with their places; blanks left out."""
    start = 0
    for piece in pieces:
        end = start + len(piece)
        if not piece.isspace():
            yield Token(piece, start, end)
        start = end
