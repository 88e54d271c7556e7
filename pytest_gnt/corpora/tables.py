"""Rows of a table: unquoted TSV, quoted CSV, JSON Lines. Text stays text, and every row is accounted for.

Nothing is converted: ``None``, ``NA`` and ``1e3`` are text, and ids are text. A row that does not fit is refused with
its line, the others go on.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_gnt.corpora.csvtext import CsvScanner, Record
from pytest_gnt.corpora.quoting import find_quoting
from pytest_gnt.corpora.source import RefusedRow
from pytest_gnt.corpora.textfile import TextFile, read_text
from pytest_gnt.errors import GntError

Cells = dict[str, str | None]

MAX_CELL = 100_000
"""Most characters of a cell. A longer one is no sentence but a damaged file."""

FORMATS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""File name endings and their formats. ``tsv-quoted`` (tabs, quoted like CSV) must be asked for by name."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Row(NamedTuple):
    """A row that fits the header: the line it starts in, and its cells by column; None for what JSON does not give."""

    line: int
    cells: Cells


@dataclass(frozen=True, slots=True)
class Table:
    """A table as read. Every data row is in ``rows`` or in ``refused``, never in both.

    Attributes:
        file: the file it was read from.
        columns: names in file order, without surrounding blanks.
        rows: the rows that fit, in file order.
        refused: the rows that do not, in file order.
        notes: findings about the file as a whole.
    """

    file: TextFile
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    refused: tuple[RefusedRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def rows_read(self) -> int:
        """Data rows found: those that fit and those refused."""
        return len(self.rows) + len(self.refused)

    def find_columns(self, spellings: Mapping[str, Sequence[str]], needed: Mapping[str, str]) -> dict[str, str | None]:
        """The column of each meaning, None where the table has none.

        Args:
            spellings: the names that a column of each meaning may have, the preferred one first.
            needed: the meanings that have to be there, and what else would do, to be added to the error.

        Raises:
            GntError: a needed column is missing; names the file and the columns that there are.
        """
        found = {
            meaning: next((name for name in names if name in self.columns), None)
            for meaning, names in spellings.items()
        }
        for meaning, else_ in needed.items():
            if found[meaning] is None:
                raise GntError(
                    f"{self.file.path}: there is no column {' or '.join(spellings[meaning])} "
                    f"(there are {', '.join(self.columns)}); rename one{else_}"
                )
        return found


def read_table(path: Path, format_name: str | None = None) -> Table:
    """Read one table.

    Args:
        path: the file.
        format_name: ``tsv``, ``tsv-quoted``, ``csv`` or ``jsonl``; by default what the file's ending says, and for
            .tsv what its quotes say (see `find_quoting`).

    Raises:
        GntError: the file cannot be decoded, has no rows, no usable header, or its rows cannot be told apart.
    """
    name = format_name or FORMATS.get(path.suffix.lower())
    reader = _READERS.get(name or "")
    if reader is None:
        raise GntError(
            f"{path}: the format {name or path.suffix!r} is unknown; "
            f"name the file .tsv, .csv or .jsonl, or set format to one of {', '.join(_READERS)}"
        )
    file = read_text(path)
    table = _read_unnamed_tsv(file) if name == "tsv" and format_name is None else reader(file)
    if not table.rows_read:
        raise GntError(f"{path} has a header but no rows; replace it by the real file")
    return table


def _read_unnamed_tsv(file: TextFile) -> Table:
    quoting = find_quoting(file)
    table = _read_quoted_tsv(file) if quoting.by_csv_rules else _read_tsv(file)
    return dataclasses.replace(table, notes=quoting.notes)


def _read_tsv(file: TextFile) -> Table:
    lines = file.lines
    columns = _header(file, lines[0].split("\t") if lines else [])
    records = (Record(number, line.split("\t")) for number, line in enumerate(lines[1:], start=2))
    return _fit(file, columns, records)


def _read_csv(file: TextFile) -> Table:
    header = file.lines[0] if file.lines else ""
    # Spreadsheets of many countries write semicolons into .csv.
    delimiter = next((mark for mark in ",;\t" if mark in header), ",")
    return _read_quoted(file, delimiter)


def _read_quoted_tsv(file: TextFile) -> Table:
    return _read_quoted(file, "\t")


def _read_quoted(file: TextFile, delimiter: str) -> Table:
    records = CsvScanner(file.path, file.text, delimiter).records()
    first = next(records, None)
    if first is not None and first.fault:
        raise GntError(f"{file.path}:1: {first.fault}")
    return _fit(file, _header(file, first.cells if first else []), records)


def _header(file: TextFile, cells: list[str]) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    if not any(names):
        raise GntError(f"{file.path} has no header in line 1; the first line must name the columns")
    for number, name in enumerate(names, start=1):
        if not name:
            raise GntError(f"{file.path}: column {number} has no name in line 1; name it or remove it")
        first = names.index(name) + 1
        if first != number:
            raise GntError(
                f"{file.path}: column {name!r} occurs twice (columns {first} and {number}); rename one of them"
            )
    return names


def _fit(file: TextFile, columns: tuple[str, ...], records: Iterable[Record]) -> Table:
    rows: list[Row] = []
    refused: list[RefusedRow] = []
    width = len(columns)
    for line, cells, fault in records:
        why = fault or _misfit(columns, cells, width)
        if why:
            refused.append(RefusedRow(file.name, line, why))
        else:
            rows.append(Row(line, dict(zip(columns, cells, strict=True))))
    return Table(file, columns, tuple(rows), tuple(refused))


def _misfit(columns: tuple[str, ...], cells: list[str], width: int) -> str:
    if len(cells) != width:
        if len(cells) == 1 and not cells[0].strip():
            return "blank line"
        return f"number of cells is {len(cells)}, but the header names {width} columns"
    for column, cell in zip(columns, cells, strict=True):
        if len(cell) > MAX_CELL:
            return f"{column} holds {len(cell):,} characters; at most {MAX_CELL:,} are accepted"
    return ""


class _RowFault(Exception):
    """What is wrong with one JSON line."""


def _read_jsonl(file: TextFile) -> Table:
    rows: list[Row] = []
    refused: list[RefusedRow] = []
    columns: dict[str, None] = {}
    for number, line in enumerate(file.lines, start=1):
        try:
            cells = _json_cells(line)
        except _RowFault as fault:
            refused.append(RefusedRow(file.name, number, str(fault)))
        else:
            columns.update(dict.fromkeys(cells))
            rows.append(Row(number, cells))
    if not rows and refused:
        raise GntError(f"{file.path} holds no JSON object a line; {refused[0]}")
    complete = tuple(Row(row.line, {name: row.cells.get(name) for name in columns}) for row in rows)
    return Table(file, tuple(columns), complete, tuple(refused))


def _json_cells(line: str) -> Cells:
    if not line.strip():
        raise _RowFault("blank line")
    try:
        # Numbers are kept as they are written: an id 007 or 1e3 must not become another one.
        value = json.loads(
            line, parse_int=str, parse_float=str, parse_constant=_refuse_constant, object_pairs_hook=_pairs
        )
    except ValueError as error:
        raise _RowFault(f"no valid JSON: {error}") from None
    except RecursionError:
        raise _RowFault("the JSON is nested too deeply") from None
    if not isinstance(value, _Pairs):
        raise _RowFault("a JSON object is needed in each line")
    return dict(_flat_cells(value))


class _Pairs(list[tuple[str, object]]):
    """The members of a JSON object, doubled keys included."""


def _pairs(pairs: list[tuple[str, object]]) -> _Pairs:
    return _Pairs(pairs)


def _refuse_constant(name: str) -> str:
    raise _RowFault(f"{name} is not JSON")


def _flat_cells(pairs: _Pairs) -> Iterator[tuple[str, str | None]]:
    """Text cells of an object; a list of texts becomes ``name``, ``name_2``, ``name_3`` …"""
    members: list[tuple[str, object]] = []
    for key, value in pairs:
        values = value if isinstance(value, list) and not isinstance(value, _Pairs) else [value]
        members += [(f"{key.strip()}_{number}" if number > 1 else key.strip(), v) for number, v in enumerate(values, 1)]
    doubled = [key for key, count in Counter(key for key, _ in members).items() if count > 1]
    if doubled:
        raise _RowFault(f"the key {doubled[0]!r} occurs twice")
    for key, value in members:
        if not (value is None or isinstance(value, str)):
            raise _RowFault(f"{key}: text or a number is needed, not {_json_type(value)}")
        if value and len(value) > MAX_CELL:
            raise _RowFault(f"{key} holds {len(value):,} characters; at most {MAX_CELL:,} are accepted")
        if _SURROGATE.search(key) or (value and _SURROGATE.search(value)):
            raise _RowFault(f"{key!r} holds half a character (a lone surrogate escape)")
        yield key, value


def _json_type(value: object) -> str:
    return "true or false" if isinstance(value, bool) else "an object" if isinstance(value, _Pairs) else "a list"


_READERS: dict[str, Callable[[TextFile], Table]] = {
    "tsv": _read_tsv,
    "tsv-quoted": _read_quoted_tsv,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
}
