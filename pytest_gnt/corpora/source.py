"""What a corpus loader is given and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pytest_gnt.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSource:
    """Where a corpus lies and which part of it is wanted.

    Attributes:
        name: the corpus' name; the first part of each case id.
        root: folder or file that holds it.
        langs: target languages that are wanted; None for all that are there.
        options: loader-specific settings from the configuration (column names, language of a table …).
    """

    name: str
    root: Path
    langs: tuple[str, ...] | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that could not become a case: counted, named by file and line, and never dropped in silence."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusData:
    """A corpus as read. ``rows_read == len(cases) + len(refused)`` holds for every loader.

    Attributes:
        name: the corpus' name.
        cases: in file order.
        rows_read: data rows found in the files (identity variants count one each).
        refused: rows that are not cases, with the reason.
        notes: findings that the user should see once (repeated sentences, references that name no identity …).
        revision: hash of the content read (12 hex digits), part of every signature.
        title: how reports call it; says so where the data are hand-written samples.
    """

    name: str
    cases: tuple[Case, ...]
    rows_read: int
    refused: tuple[RefusedRow, ...] = ()
    notes: tuple[str, ...] = ()
    revision: str = ""
    title: str = ""


class CorpusLoader(Protocol):
    """Reads a corpus.

    Raises:
        GntError: the corpus as a whole cannot be read (missing, empty, wrong columns, unknown encoding, files that do
            not pair up); the message says what to do.
    """

    def __call__(self, source: CorpusSource) -> CorpusData: ...
