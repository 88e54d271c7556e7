"""Pairs of a word and its translation with a human label of the attitude's shift, as a table (AmbGIMT, appendix A)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gnt.corpora.labels import shown
from pytest_gnt.corpora.tables import Row, Table
from pytest_gnt.errors import GntError
from pytest_gnt.metrics.attitude import WordQuery
from pytest_gnt.verdicts.labelled_files import read_labelled

SHIFTS = ("to-positive", "neutral", "to-negative")
"""The three labels: the target word is kinder than the source word, about as kind, harsher."""

THRESHOLD = 1.0
"""A difference of scores beyond this counts as a shift (AmbGIMT, appendix A), in raw scores' natural-log units."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "source_word": ("source_word", "source", "src"),
    "target_word": ("target_word", "target", "tgt"),
    "label": ("label", "human", "gold"),
    "source_lang": ("source_lang",),
    "target_lang": ("target_lang", "lang"),
}
"""The columns of a file of pairs and the names that each may have. Without ``source_lang`` the source is English."""

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_]\w+)*")


@dataclass(frozen=True, slots=True)
class WordPair:
    """One pair; ``origin`` is file and line."""

    source: WordQuery
    target: WordQuery
    label: str
    origin: str

    @property
    def langs(self) -> str:
        """The language pair, such as ``en-zh``."""
        return f"{self.source.lang}-{self.target.lang}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPairs:
    """Everything read: pairs and refused rows together are all rows there were."""

    pairs: Sequence[WordPair]
    refused: Sequence[str]
    files: Sequence[Mapping[str, Any]]


def shift_label(difference: float, threshold: float = THRESHOLD) -> str:
    """The label of a difference e(target) − e(source): beyond the threshold it is a shift.

    Raises:
        ValueError: the threshold is negative or not finite, or the difference is not finite.
    """
    if not 0 <= threshold < float("inf"):
        raise ValueError(f"the threshold is {threshold}: it must be 0 or more")
    if not abs(difference) < float("inf"):
        raise ValueError("the difference is no finite number")
    if difference > threshold:
        return "to-positive"
    return "to-negative" if difference < -threshold else "neutral"


def read_word_pairs(files: Sequence[tuple[str | None, Path]]) -> WordPairs:
    """Read files of pairs.

    Args:
        files: each with the target language of all its rows, or None where a column says it.

    Raises:
        GntError: a file cannot be read or lacks a column, or nothing is left.
    """
    first: dict[tuple[WordQuery, WordQuery], str] = {}

    def reader(table: Table, path: Path, lang: str | None) -> Callable[[Row], WordPair]:
        read = _Reader(table, path, lang).read

        def read_once(row: Row) -> WordPair:
            pair = read(row)
            known = first.setdefault((pair.source, pair.target), pair.origin)
            if known != pair.origin:
                raise ValueError(f"the pair is there already ({known})")
            return pair

        return read_once

    found = read_labelled(files, reader)
    if not found.rows:
        raise GntError(f"no usable pair of words: {'; '.join(found.refused[:3])}")
    return WordPairs(pairs=found.rows, refused=found.refused, files=found.files)


class _Reader:
    """Reads the rows of one table.

    Raises:
        GntError: a needed column is missing.
    """

    def __init__(self, table: Table, path: Path, lang: str | None) -> None:
        self._path = path
        self._lang = lang
        needed = {"source_word": "", "target_word": "", "label": ""}
        needed |= {} if lang else {"target_lang": ", or give LANG=FILE"}
        self._names = table.find_columns(COLUMNS, needed)

    def read(self, row: Row) -> WordPair:
        """One row.

        Raises:
            ValueError: a cell is empty or not one of its vocabulary; says which.
        """
        source_lang = self._language(row, "source_lang") if self._names["source_lang"] else "en"
        return WordPair(
            WordQuery(source_lang, self._cell(row, "source_word")),
            WordQuery(self._lang or self._language(row, "target_lang"), self._cell(row, "target_word")),
            self._label(row),
            f"{self._path.name}:{row.line}",
        )

    def _label(self, row: Row) -> str:
        cell = self._cell(row, "label")
        label = re.sub(r"[\s_]+", "-", cell.lower())
        if label not in SHIFTS:
            raise ValueError(f"the label {shown(cell)} is none of {', '.join(SHIFTS)}")
        return label

    def _language(self, row: Row, what: str) -> str:
        cell = self._cell(row, what)
        if not _LANGUAGE.fullmatch(cell):
            raise ValueError(f"{what} {shown(cell)} is no language code")
        return cell

    def _cell(self, row: Row, what: str) -> str:
        cell = (row.cells.get(self._names[what] or "") or "").strip()
        if not cell:
            raise ValueError(f"{what} is empty")
        return cell
