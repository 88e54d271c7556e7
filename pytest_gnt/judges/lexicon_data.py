"""The lexicon of one language: word forms with the gender they express, and the small closed word classes.

The data files are ``data/<lang>.tsv``, written for this project: one entry a line, ``kind``, lemma or form, and what
the kind needs, tab-separated; lines that start with ``#`` are comments. docs/lexicon-judge.md describes the kinds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pytest_gnt.errors import GntError

DATA = Path(__file__).resolve().parent / "data"
LANGUAGES: tuple[str, ...] = ("it", "es", "de", "el")

Role = Literal["noun", "common", "fixed"]
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One reading of a word form.

    Attributes:
        role: ``noun`` says the gender of the person, ``common`` leaves it to its companions, ``fixed`` never says it.
        gender: M or F; for a ``fixed`` noun its grammatical gender (M, F, N); empty for ``common``.
        number: ``s``, ``p``, or empty where the form does not tell.
        lemma: the masculine (or only) lemma.
        flags: restrictions of the data file (``head``, ``ft``, ``pre``, ``nat``) and of the form (``gen``, ``is``).
    """

    role: Role
    gender: str
    number: str
    lemma: str
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Everything that the rules of one language look up.

    ``forms`` maps a form (lower case; German keeps capitals, Greek has no accents) to its readings, ``rows`` the first
    column of each closed class to its further columns, ``adjectives`` a form of a personal adjective to gender, number.
    """

    lang: str
    forms: dict[str, tuple[Entry, ...]]
    rows: dict[str, dict[str, tuple[Row, ...]]]
    adjectives: dict[str, tuple[tuple[str, str], ...]]

    def has(self, kind: str, word: str) -> bool:
        """Whether a closed class holds the word."""
        return word in self.rows.get(kind, {})

    def of(self, kind: str, word: str) -> tuple[Row, ...]:
        """The word's rows in a closed class, each without the word itself; empty where it is not in the class."""
        return self.rows.get(kind, {}).get(word, ())


def read_rows(lang: str) -> Iterator[Row]:
    """The entries of a language's data file.

    Raises:
        GntError: the package was installed without the file.
    """
    path = DATA / f"{lang}.tsv"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise GntError(
            f"The lexicon of language {lang!r} cannot be read ({error}): install pytest-gnt anew."
        ) from error
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            yield tuple(line.split("\t"))


def closed_classes(rows: Iterable[Row]) -> dict[str, dict[str, tuple[Row, ...]]]:
    """All rows by kind and first column; a word may have several rows in one class."""
    classes: dict[str, dict[str, tuple[Row, ...]]] = {}
    for kind, word, *rest in rows:
        known = classes.setdefault(kind, {})
        known[word] = (*known.get(word, ()), tuple(rest))
    return classes


@lru_cache(maxsize=1)
def lexicon_hash() -> str:
    """SHA-256 over the data files of all languages, as 64 hex digits."""
    total = hashlib.sha256()
    for lang in LANGUAGES:
        total.update(f"{lang}\0".encode())
        total.update((DATA / f"{lang}.tsv").read_bytes())
    return total.hexdigest()
