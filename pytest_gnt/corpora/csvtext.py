"""Text that is quoted by the CSV rules (RFC 4180), cut into records; what cannot be told apart is refused.

The standard library's reader is lenient where it must not be here: it drops quote marks from text, swallows rows
after an opening quote, and takes a lone CR for a line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_gnt.errors import GntError

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')


class Record(NamedTuple):
    """One record: the line it starts in (from 1), its cells, and what is wrong with it, if anything."""

    line: int
    cells: list[str]
    fault: str = ""


class CsvScanner:
    """Cuts one text into records.

    Args:
        path: the file, for messages.
        text: its content.
        delimiter: the character between cells.
    """

    def __init__(self, path: Path, text: str, delimiter: str) -> None:
        self._path = path
        self._text = text
        self._delimiter = delimiter
        self._plain = re.compile(rf"[^{re.escape(delimiter)}\n]*")
        self._position = 0
        self._line = 1

    def records(self) -> Iterator[Record]:
        """All records in file order, the header included.

        Raises:
            GntError: a quote is never closed, or closes rows later in the middle of a cell, so that nobody can say
                where the rows end; names line and column.
        """
        width = 0
        while self._position < len(self._text):
            start = self._position
            record = self._record()
            width = width or len(record.cells)
            if self._line - record.line > 1:
                self._refuse_swallowed_rows(record, self._text[start : self._position], width)
            yield record

    def _record(self) -> Record:
        cells: list[str] = []
        start, fault = self._line, ""
        while True:
            if self._text.startswith('"', self._position):
                value, wrong = self._quoted(len(cells) + 1)
                fault = fault or wrong
            else:
                value = self._rest_of_cell()
            cells.append(value)
            if not self._text.startswith(self._delimiter, self._position):
                break
            self._position += 1
        self._position += 1
        self._line += 1
        return Record(start, cells, fault)

    def _rest_of_cell(self) -> str:
        found = self._plain.match(self._text, self._position)
        assert found is not None  # the pattern matches the empty text
        self._position = found.end()
        if self._text.startswith("\n", self._position):
            return found[0].removesuffix("\r")
        return found[0]

    def _quoted(self, column: int) -> tuple[str, str]:
        found = _QUOTED.match(self._text, self._position)
        if found is None:
            raise GntError(
                f"{self._path}: the quote that opens column {column} of line {self._line} is never closed, so the rows "
                "after it cannot be told apart; close it, or save the file as unquoted TSV"
            )
        opened, breaks = self._line, found[1].count("\n")
        self._position = found.end()
        self._line += breaks
        rest = self._rest_of_cell()
        if not rest or (rest == "\r" and self._position == len(self._text)):
            return found[1].replace('""', '"'), ""
        why = f"column {column} goes on after its closing quote ({rest[:20]!r}); double the quotes inside the cell"
        if breaks:
            raise GntError(
                f"{self._path}:{opened}: {why}; the quote closes {breaks} lines later, so rows cannot be told apart"
            )
        return found[0] + rest, why

    def _refuse_swallowed_rows(self, record: Record, raw: str, width: int) -> None:
        """Refuse a cell over several lines each of which would be a whole row by itself.

        That is what plain text with an opening quote in one row and a closing one in a later row looks like. Below
        three columns ordinary text with one comma a line would look the same, so nothing is concluded there.
        """
        lines = raw.rstrip("\r\n").split("\n")
        if width < 3 or any(line.count(self._delimiter) != width - 1 for line in lines):
            return
        raise GntError(
            f"{self._path}:{record.line}: a quoted cell runs over {len(lines)} lines, each of which is a row of "
            f"{width} cells without the quotes, so rows cannot be told apart; double the quotes that are "
            "text, or save the file as unquoted TSV"
        )
