"""Whether the quote marks in a tab-separated file are text or were written by the CSV rules.

Both kinds are in circulation under the ending .tsv. A spreadsheet or data frame that writes such a file encloses the
cells that hold quotes in quotes and doubles their own; the public rows of mGeNTE are of that kind. Other writers leave
quotes as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_gnt.corpora.textfile import TextFile
from pytest_gnt.errors import GntError

_ENCLOSED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True, slots=True)
class Quoting:
    """The finding: read ``by_csv_rules`` or as plain text, and what the user should know of it."""

    by_csv_rules: bool
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Evidence:
    """First place of each kind of cell with quotes.

    Attributes:
        doubled: wholly in quotes, and the quotes inside are all doubled: what a CSV writer makes of quotes.
        enclosed: wholly in quotes without any inside: a CSV writer has no reason to, unless it quotes all cells.
        bare: quotes as a CSV writer never leaves them.
        header: a column name in quotes: the writer quotes all cells.
    """

    doubled: str = ""
    enclosed: str = ""
    bare: str = ""
    header: str = ""


def find_quoting(file: TextFile) -> Quoting:
    """Tell the two kinds apart by all cells of a tab-separated file.

    Raises:
        GntError: the cells speak for both kinds; names line and column.
    """
    if '"' not in file.text:
        return Quoting(by_csv_rules=False)
    found = _evidence(file)
    written = found.header or found.doubled
    if not written:
        return Quoting(by_csv_rules=False)
    if found.bare:
        note = (
            f"{file.name}: {written} looks quoted by the CSV rules, {found.bare} does not; all quotes are kept as text"
        )
        return Quoting(by_csv_rules=False, notes=(note,))
    if found.enclosed and not found.header:
        raise GntError(
            f"{file.path}: cannot tell whether quotes are text (as in {found.enclosed}) or CSV quoting (as in "
            f"{found.doubled}); save the file in one way, or set format to tsv or tsv-quoted"
        )
    note = f"{file.name}: {written} and others are quoted by the CSV rules; these quotes were taken off"
    return Quoting(by_csv_rules=True, notes=(note,))


def _evidence(file: TextFile) -> _Evidence:
    found = _Evidence()
    for number, line in enumerate(file.lines, start=1):
        if '"' not in line:
            continue
        for column, cell in enumerate(line.split("\t"), start=1):
            if '"' not in cell:
                continue
            place = f"line {number}, column {column}"
            if not _ENCLOSED.fullmatch(cell):
                found.bare = found.bare or place
            elif number == 1:
                found.header = found.header or place
            elif '""' in cell[1:-1]:
                found.doubled = found.doubled or place
            else:
                found.enclosed = found.enclosed or place
    return found
