"""Gold labels: translations that people have judged, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gnt.case import Case, Form, Gender, Subset
from pytest_gnt.corpora.labels import read_label, shown
from pytest_gnt.corpora.tables import Row, Table
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Translation
from pytest_gnt.judges.reply_json import ReplyFault, find_object
from pytest_gnt.verdicts.agreement import THREE, TWO
from pytest_gnt.verdicts.labelled_files import read_labelled

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "source": ("source", "src", "SRC"),
    "translation": ("translation", "tgt", "hyp"),
    "label": ("label", "gold", "out"),
    "lang": ("lang", "language"),
    "set": ("set", "SET", "subset"),
    "gender": ("gender", "GENDER"),
}
"""The columns of a gold file and the names that each may have. The first two are needed, and either a language column
or the language of the whole file. ``out`` holds a JSON verdict, of which the label counts."""

_LABELS = (*THREE, "GENDERED")


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A translation with its gold label; None where the file has no labels. ``subset`` is None where it has no sets."""

    translation: Translation
    label: str | None
    subset: str | None

    @property
    def lang(self) -> str:
        return self.translation.case.target_lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Everything read: rows and refused rows together are all there were."""

    rows: Sequence[GoldRow]
    refused: Sequence[str]
    files: Sequence[Mapping[str, Any]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels to compare in: two where one row says GENDERED, which leaves open whether that is right."""
        return TWO if any(row.label == "GENDERED" for row in self.rows) else THREE


def read_gold(files: Sequence[tuple[str | None, Path]], *, labelled: bool = True) -> Gold:
    """Read gold files.

    Args:
        files: each with the language of all its rows, or None where a column says it.
        labelled: refuse rows without a label; False for files that only hold translations.

    Raises:
        GntError: a file cannot be read or lacks a column, or nothing is left.
    """
    found = read_labelled(files, lambda table, path, lang: _Reader(table, path, lang, labelled).read)
    if not found.rows:
        raise GntError(f"no usable gold row: {'; '.join(found.refused[:3])}")
    return Gold(rows=found.rows, refused=found.refused, files=found.files)


class _Reader:
    """Reads the rows of one table.

    Raises:
        GntError: a needed column is missing.
    """

    def __init__(self, table: Table, path: Path, lang: str | None, labelled: bool) -> None:
        self._path = path
        self._lang = lang
        self._labelled = labelled
        needed = {"source": "", "translation": ""}
        needed |= {"label": ""} if labelled else {}
        needed |= {} if lang else {"lang": ", or give LANG=FILE"}
        self._names = table.find_columns(COLUMNS, needed)

    def read(self, row: Row) -> GoldRow:
        """One row.

        Raises:
            ValueError: a cell is empty or not one of its vocabulary; says which.
        """
        source, text = self._text(row, "source"), self._text(row, "translation")
        lang = self._lang or self._text(row, "lang").strip()
        subset = self._word(row, "set", Subset)
        gender = self._word(row, "gender", Gender)
        name = f"gold/{self._path.name}/{row.line}"
        case = Case(
            id=name,
            corpus="gold",
            subset=subset or Subset.SET_N,
            target_lang=lang,
            source=source,
            group=name,
            expected=_EXPECTED.get(subset) if subset else None,
            gender=gender,
            origin=f"{self._path.name}:{row.line}",
        )
        return GoldRow(Translation(case=case, text=text, raw=text), self._label(row), str(subset) if subset else None)

    def _label(self, row: Row) -> str | None:
        cell = self._cell(row, "label")
        if cell is None or not cell.strip():
            if self._labelled:
                raise ValueError("there is no label")
            return None
        if self._names["label"] == "out":
            try:
                cell = str(find_object(cell, "label").value.get("label"))
            except ReplyFault as fault:
                raise ValueError(f"no verdict: {fault}") from None
        label = cell.strip().upper()
        if label not in _LABELS:
            raise ValueError(f"the label {shown(cell)} is none of {', '.join(_LABELS)}")
        return label

    def _word(self, row: Row, what: str, vocabulary: type[Any]) -> Any:
        cell = self._cell(row, what)
        if cell is None or not cell.strip():
            return None
        member, _ = read_label(vocabulary, cell)
        if member is None:
            raise ValueError(f"{what} {shown(cell)} is none of {', '.join(str(one) for one in vocabulary)}")
        return member

    def _text(self, row: Row, what: str) -> str:
        cell = self._cell(row, what)
        if cell is None or not cell.strip():
            raise ValueError(f"{what} is empty")
        return cell

    def _cell(self, row: Row, what: str) -> str | None:
        name = self._names[what]
        return None if name is None else row.cells.get(name)


_EXPECTED: Mapping[Subset, Form] = {Subset.SET_N: Form.NEUTRAL, Subset.SET_G: Form.GENDERED}
