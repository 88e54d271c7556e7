"""The attitude word of each AmbGIMT sentence, and how attitude words are rendered in the target languages.

AmbGIMT picks its sentences by a word for a person's character (gruff, cunning, terse), but its release does not mark
the word. ``data/attitude_words.tsv`` does: subset, line of the neutral file, hash of the sentence, attitude word, the
word that stands for it in the Chinese reference, and the confidence (high, low) of the pair. Sentences are not in it.
Rows without a hash are of lines whose sentence was not at hand when the table was made.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pytest_gnt.corpora.tables import Table, read_table
from pytest_gnt.errors import GntError
from pytest_gnt.work import digest

WORDS_FILE = Path(__file__).with_name("data") / "attitude_words.tsv"
SAMPLE_RENDERINGS_FILE = Path(__file__).with_name("sample") / "ambgimt" / "renderings.tsv"

HASH_DIGITS = 16
"""Hex digits of a sentence's hash."""


class AttitudeWord(NamedTuple):
    """An attitude word as it stands in its sentence.

    Attributes:
        word: the English word.
        zh_word: its rendering in the Chinese reference; empty where there is none.
        confidence: ``high`` or ``low``: how sure the pair is.
    """

    word: str
    zh_word: str = ""
    confidence: str = "high"


class Renderings:
    """Known translations of attitude words, by language."""

    def __init__(self) -> None:
        self._forms: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def add(self, word: str, lang: str, form: str) -> None:
        """Make a rendering known; one that is known already or blank changes nothing."""
        if word.strip() and form.strip():
            self._forms[lang, word.strip().casefold()][form.strip()] = None

    def add_word(self, word: AttitudeWord) -> None:
        """Make the Chinese rendering of a sentence's attitude word known.

        A single character of low confidence is left out: as a part of countless other words it would be found anywhere.
        """
        if len(word.zh_word) > 1 or word.confidence == "high":
            self.add(word.word, "zh", word.zh_word)

    def add_table(self, table: Table) -> None:
        """Make the rows of a table with the columns attitude_word, lang and rendering known."""
        require_columns(table, "attitude_word", "lang", "rendering")
        for row in table.rows:
            self.add(row.cells["attitude_word"] or "", row.cells["lang"] or "", row.cells["rendering"] or "")

    def of(self, word: str, lang: str) -> tuple[str, ...]:
        """Renderings of a word, the longest first, so that a search finds the whole of a nested one."""
        forms = self._forms.get((lang, word.strip().casefold()), {})
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def forms(self, lang: str) -> frozenset[str]:
        """All renderings in a language, of whatever word."""
        return frozenset(form for (of_lang, _), forms in self._forms.items() if of_lang == lang for form in forms)

    @property
    def digest(self) -> str:
        """Hash of all of them, 12 hex digits."""
        rows = sorted([lang, word, *sorted(forms)] for (lang, word), forms in self._forms.items())
        return digest(rows)[:12]

    def merged(self, other: Renderings) -> Renderings:
        """A new collection with the renderings of both."""
        both = Renderings()
        for part in (self, other):
            for (lang, word), forms in part._forms.items():
                both._forms[lang, word].update(forms)
        return both


def sentence_hash(sentence: str) -> str:
    """Key of a sentence in the shipped table; surrounding blanks do not count."""
    return hashlib.sha256(sentence.strip().encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def attitude_word(key: str) -> AttitudeWord | None:
    """The attitude word of the sentence with this hash; None where the table knows no word for it."""
    return _shipped().by_hash.get(key)


def attitude_word_of(sentence: str, subset: str, line: int) -> AttitudeWord | None:
    """The attitude word of a neutral AmbGIMT sentence.

    The hash decides. Only where the table has no hash for the line does the line number, and only if the word does
    stand in the sentence.
    """
    known = attitude_word(sentence_hash(sentence))
    if known is not None:
        return known
    by_line = _shipped().by_line.get((subset, line))
    return by_line if by_line and stands_in(by_line.word, sentence) else None


def renderings(word: str, lang: str) -> tuple[str, ...]:
    """All known renderings of an English attitude word in a language, the longest first; empty where none is known."""
    return shipped_renderings().of(word, lang)


def shipped_renderings() -> Renderings:
    """The renderings of the shipped table and of the hand-written sample."""
    return _shipped().renderings


def stands_in(word: str, sentence: str) -> bool:
    """Whether a word stands in a sentence as a whole word, in any letter case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE) is not None


def read_line_words(table: Table) -> dict[int, AttitudeWord]:
    """Attitude words by line of the neutral file, from a table with the columns line and attitude_word.

    The columns zh_word and confidence may be missing. A row without a word is left out.

    Raises:
        GntError: a column is missing, a row is refused, or a line number is none or occurs twice.
    """
    require_columns(table, "line", "attitude_word")
    if table.refused:
        raise GntError(f"{table.refused[0]}; correct the row")
    words: dict[int, AttitudeWord] = {}
    for row in table.rows:
        number = (row.cells["line"] or "").strip()
        if not number.isascii() or not number.isdigit() or int(number) in words:
            raise GntError(f"{table.file.path}:{row.line}: line {number!r} is no line number or occurs twice")
        words[int(number)] = _word(row.cells)
    return {line: word for line, word in words.items() if word.word}


def require_columns(table: Table, *names: str) -> None:
    """Refuse a table that lacks one of the columns.

    Raises:
        GntError: names the missing columns and the ones that are there.
    """
    missing = [name for name in names if name not in table.columns]
    if missing:
        there = ", ".join(table.columns)
        raise GntError(f"{table.file.path}: no column {', '.join(missing)}; there are {there}")


class _Shipped(NamedTuple):
    by_hash: dict[str, AttitudeWord]
    by_line: dict[tuple[str, int], AttitudeWord]
    renderings: Renderings


def _word(cells: dict[str, str | None]) -> AttitudeWord:
    return AttitudeWord(
        (cells["attitude_word"] or "").strip(),
        (cells.get("zh_word") or "").strip(),
        (cells.get("confidence") or "").strip() or "high",
    )


@cache
def _shipped() -> _Shipped:
    shipped = _Shipped({}, {}, Renderings())
    for row in read_table(WORDS_FILE).rows:
        word = _word(row.cells)
        if not word.word:
            continue
        if key := row.cells["sentence"]:
            shipped.by_hash[key] = word
        else:
            shipped.by_line[row.cells["subset"] or "", int(row.cells["line"] or 0)] = word
        shipped.renderings.add_word(word)
    shipped.renderings.add_table(read_table(SAMPLE_RENDERINGS_FILE))
    return shipped
