"""Words of a translation with their places, so that every phrase can be shown as it stands there."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_LETTER = r"[^\W\d_]"
_MARK = "[\u0300-\u036f]"
_WORD = re.compile(
    rf"(?:{_LETTER}{_MARK}*)+"  # a word, decomposed accents included
    rf"(?:[*:_@·]{_LETTER}+)*[*@]?"  # Bürger:innen, amig@s, tutt*
    r"['’ʼ]?"  # an elided article keeps its apostrophe: l', un'
    r"|[^\w\s]|[\d_]+"
)
_INCLUSIVE = re.compile(r"[*:_@·]|[əɜ]|[a-zäöüß]I(?:n|nnen)$|[b-df-hj-np-tv-z]xs?$")
_OPENERS = frozenset('.!?…:;«»„“”"(–—')


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign with its place; ``low`` is its composed lower-case form with a straight apostrophe."""

    text: str
    low: str
    start: int
    end: int
    is_word: bool

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def word_set(words: str) -> frozenset[str]:
    """A set of words from a blank-separated list."""
    return frozenset(words.split())


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into words and signs; never fails, whatever the text holds."""
    return tuple(_token(match) for match in _WORD.finditer(text))


def _token(match: re.Match[str]) -> Token:
    raw = match.group()
    low = unicodedata.normalize("NFC", raw).lower().replace("’", "'").replace("ʼ", "'")
    return Token(unicodedata.normalize("NFC", raw), low, match.start(), match.end(), raw[:1].isalpha())


def without_accents(word: str) -> str:
    """The word in lower case without accents; a Greek final sigma becomes a plain one."""
    plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))
    return plain.replace("ς", "σ")


def is_inclusive(token: Token) -> bool:
    """Whether the word is written in a form for all genders: ``Bürger:innen``, ``tutt*``, ``amig@s``, ``tuttə``."""
    return token.is_word and _INCLUSIVE.search(token.text) is not None


def opens_sentence(tokens: tuple[Token, ...], index: int) -> bool:
    """Whether the word stands where any word is written with a capital."""
    return index == 0 or tokens[index - 1].text in _OPENERS
