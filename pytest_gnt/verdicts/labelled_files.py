"""Files that people have labelled: every row is read or refused with its reason, and the file is named by its hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pytest_gnt.corpora.tables import Row, Table, read_table

RowT = TypeVar("RowT")


@dataclass(slots=True)
class Labelled(Generic[RowT]):
    """Everything read: rows and refused rows together are all there were.

    Attributes:
        rows: in the order of files and lines.
        refused: ``file:line: reason``.
        files: name, hash and counts of each file.
    """

    rows: list[RowT] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    files: list[Mapping[str, Any]] = field(default_factory=list)


def read_labelled(
    files: Sequence[tuple[str | None, Path]], reader: Callable[[Table, Path, str | None], Callable[[Row], RowT]]
) -> Labelled[RowT]:
    """Read files of one kind.

    Args:
        files: each with the language of all its rows, or None where a column says it.
        reader: makes, of table, path and language, what reads a row; a ``ValueError`` of that refuses the row.

    Raises:
        GntError: a file cannot be read, or ``reader`` will not have it.
    """
    found: Labelled[RowT] = Labelled()
    for lang, path in files:
        table = read_table(path)
        read = reader(table, path, lang)
        before = len(found.refused)
        found.refused += [str(row) for row in table.refused]
        for row in table.rows:
            try:
                found.rows.append(read(row))
            except ValueError as error:
                found.refused.append(f"{path.name}:{row.line}: {error}")
        refused = len(found.refused) - before
        about = {"file": path.name, "sha256": table.file.digest, "rows": table.rows_read, "refused": refused}
        found.files.append(about)
    return found
