"""mGeNTE (Savoldi et al. 2025, arXiv 2501.09409): English sentences with gender left open (Set-N) or stated (Set-G).

Files, one folder: ``en-it.tsv``, ``en-es.tsv``, ``en-de.tsv``, ``en-el.tsv`` (a name may go on after the pair, such as
``en-it.part.tsv``), and beside them ``en-it_common.tsv`` … with three neutral references a sentence.

How the ``_common`` files are counted: they repeat rows of the main files by ID. Such a row is a second copy of a row
that is counted already; it only adds its neutral references to the case and is not counted again (a note tells how many
there were). A ``_common`` row whose ID the main file lacks is a row of its own and becomes a case; one whose sentence
differs from the main file's under the same ID is a row of its own and is refused. So ``rows_read`` is the rows of the
main files plus the ``_common`` rows that were not merged.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pytest_gnt.case import Case, Form, Gender, Subset, id_part
from pytest_gnt.corpora.collector import CaseCollector, sentence_group
from pytest_gnt.corpora.labels import read_label, shown
from pytest_gnt.corpora.options import check_options, text_option
from pytest_gnt.corpora.source import CorpusData, CorpusSource
from pytest_gnt.corpora.tables import Row, Table, read_table
from pytest_gnt.corpora.words import split_words
from pytest_gnt.errors import GntError

LANGUAGES = ("it", "es", "de", "el")
"""Target languages of the published corpus, in the order of the paper."""

PUBLISHED_ROWS = 1500
"""Rows of each published main file, half of them Set-N and half Set-G."""

TITLE = "mGeNTE"

_FILE_NAME = re.compile(r"en-([a-z]{2,3})(_common)?([._-].*)?\.(tsv|csv|jsonl)", re.IGNORECASE)
_NEUTRAL_COLUMN = re.compile(r"ref-?n(?:eutral)?-?(\d*|[a-c])")
_KNOWN = frozenset(
    ("id", "europarl-id", "set", "src", "ref-g", "ref-n", "common", "gender", "ref-g-ann", "g-words"),
)


def load(source: CorpusSource) -> CorpusData:
    """Read mGeNTE from a folder (or its subfolder ``mgente``) or from one of its files.

    A wanted language without a file gives no cases and a note. The option ``format`` (see `read_table`) applies to all
    files.

    Raises:
        GntError: no file is there, or a file cannot be read as a table with the columns ID, SET and SRC.
    """
    return read(source, TITLE, PUBLISHED_ROWS)


def read(source: CorpusSource, title: str, published_rows: int | None = None) -> CorpusData:
    """Read data of mGeNTE's form; see `load`.

    Args:
        source: where the files lie.
        title: how reports call the data.
        published_rows: rows that a complete main file has; a note tells where a file has another number.
    """
    check_options(source, ("format",))
    collector = CaseCollector(source.name)
    files = _find_files(source.root)
    wanted = source.langs if source.langs is not None else tuple(dict.fromkeys(file.lang for file in files))
    for lang in wanted:
        parts = [file for file in files if file.lang == lang]
        if not parts:
            there = ", ".join(dict.fromkeys(file.lang for file in files))
            collector.note(f"{source.name}: no file for {lang!r}; there are {there}")
        for part in parts:
            _LanguageFile(collector, part, text_option(source, "format")).read(published_rows)
    return collector.data(title)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    lang: str
    common: bool


def _find_files(root: Path) -> list[_File]:
    """The corpus' files: main files before common ones, so that the latter find the cases that they add to."""
    folder = root / "mgente" if (root / "mgente").is_dir() else root
    paths = [root] if root.is_file() else sorted(folder.iterdir()) if folder.is_dir() else []
    files = []
    for path in paths:
        name = _FILE_NAME.fullmatch(path.name)
        if name:
            files.append(_File(path, name[1].lower(), name[2] is not None))
    if not files:
        raise GntError(
            f"no mGeNTE file in {folder}: put en-it.tsv (en-es, en-de, en-el) of the mGeNTE release there, or point "
            "--gnt-data at the folder that holds them"
        )
    order = {lang: number for number, lang in enumerate(LANGUAGES)}
    return sorted(files, key=lambda file: (order.get(file.lang, len(order)), file.lang, file.common, file.path.name))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The file's own names of the columns; None where it has none."""

    id: str
    subset: str
    source: str
    gendered: str | None
    neutral: tuple[str, ...]
    gender: str | None
    gendered_words: str | None


def _columns(table: Table, common: bool) -> _Columns:
    path = table.file.path
    own: dict[str, str] = {}
    for name in table.columns:
        first = own.setdefault(_column_key(name), name)
        if first != name:
            raise GntError(f"{path}: the columns {first!r} and {name!r} have the same meaning; remove one of them")
    missing = [name for name in ("ID", "SET", "SRC") if name.casefold() not in own]
    if missing:
        raise GntError(f"{path}: no column {', '.join(missing)}; there are {', '.join(table.columns)}")
    neutral = tuple(name for key, name in own.items() if _NEUTRAL_COLUMN.fullmatch(key))
    if common and len(neutral) < 2:
        raise GntError(
            f"{path}: the columns of the neutral references were not found (REF-N1, REF-N2, REF-N3 or alike); "
            f"there are {', '.join(table.columns)}; rename them"
        )
    return _Columns(own["id"], own["set"], own["src"], own.get("ref-g"), neutral, own.get("gender"), own.get("g-words"))


class _LanguageFile:
    """Reads one file into the collector."""

    def __init__(self, collector: CaseCollector, file: _File, format_name: str | None) -> None:
        self._collector = collector
        self._file = file
        self._table = read_table(file.path, format_name)
        self._columns = _columns(self._table, file.common)
        self._name = self._table.file.name
        self._totals: Counter[str] = Counter()
        self._odd_genders: Counter[str] = Counter()
        self._merged: dict[str, int] = {}

    def read(self, published_rows: int | None) -> None:
        table = self._table
        self._collector.open(table.file)
        self._collector.refuse_all(table.refused)
        for finding in table.notes:
            self._collector.note(finding)
        for row in table.rows:
            self._take(row)
        self._collector.expect(table.rows_read - len(self._merged))
        self._report(published_rows)

    def _take(self, row: Row) -> None:
        try:
            case_id = self._id(row)
            known = self._collector.find(case_id)
            case = self._case(row, case_id, known if self._file.common else None)
        except _Refused as refused:
            self._collector.refuse(self._name, row.line, str(refused))
            return
        if self._file.common and known is not None:
            self._merge(known, case, row.line)
            return
        if known is None:
            self._totals[f"{case.subset} {case.gender}" if case.gender else case.subset] += 1
        self._collector.add(case, self._name, row.line)

    def _id(self, row: Row) -> str:
        row_id = _text(row.cells[self._columns.id])
        if not row_id:
            raise _Refused("the ID is empty")
        return f"{self._collector.name}/en-{self._file.lang}/{id_part(row_id)}"

    def _case(self, row: Row, case_id: str, known: Case | None) -> Case:
        cells, columns, origin = row.cells, self._columns, f"{self._name}:{row.line}"
        text = _text(cells[columns.source])
        if not text:
            raise _Refused("SRC is empty")
        subset = self._subset(cells[columns.subset], origin)
        stated = cells[columns.gender] if columns.gender else None
        # A common file need not repeat what the main file has said of the sentence.
        gender = known.gender if known and not _text(stated) else self._gender(subset, stated, origin)
        gendered = tuple(filter(None, [_text(cells[columns.gendered])])) if columns.gendered else ()
        neutral = tuple(dict.fromkeys(filter(None, (_text(cells[name]) for name in columns.neutral))))
        if columns.neutral and not neutral:
            self._collector.tally(f"{self._name}: empty reference REF-N", origin)
        if columns.gendered and not gendered:
            self._collector.tally(f"{self._name}: empty reference REF-G", origin)
        open_gender = subset is Subset.SET_N
        return Case(
            id=case_id,
            corpus=self._collector.name,
            subset=subset,
            target_lang=self._file.lang,
            source=text,
            group=sentence_group(self._collector.name, text),
            references=neutral if open_gender else gendered,
            contrast_references=gendered if open_gender else neutral,
            expected=Form.NEUTRAL if open_gender else Form.GENDERED,
            gender=gender,
            gendered_words=self._gendered_words(row, gendered, origin),
            origin=origin,
        )

    def _subset(self, cell: str | None, origin: str) -> Subset:
        subset, tidied = read_label(Subset, cell)
        if subset not in (Subset.SET_N, Subset.SET_G):
            raise _Refused(f"SET is {shown(cell)}; Set-N or Set-G is needed")
        if tidied:
            self._collector.tally(f"{self._name}: SET read in spite of letter case or blanks", origin)
        return subset

    def _gender(self, subset: Subset, cell: str | None, origin: str) -> Gender | None:
        if subset is Subset.SET_N:
            if cell and cell.strip():
                self._odd_genders[shown(cell)] += 1
            return None
        gender, tidied = read_label(Gender, cell)
        if gender is None:
            raise _Refused(f"GENDER of a Set-G row is {shown(cell)}; F or M is needed")
        if tidied:
            self._collector.tally(f"{self._name}: GENDER read in spite of letter case or blanks", origin)
        return gender

    def _gendered_words(self, row: Row, gendered: tuple[str, ...], origin: str) -> tuple[str, ...]:
        if self._columns.gendered_words is None:
            return ()
        reference = gendered[0] if gendered else ""
        words = split_words(row.cells[self._columns.gendered_words], reference)
        folded = reference.casefold()
        if folded and any(word.casefold() not in folded for word in words):
            self._collector.tally(f"{self._name}: G-WORDS that do not stand in REF-G", origin)
        return words

    def _merge(self, known: Case, case: Case, line: int) -> None:
        first = self._merged.get(case.id)
        if first is not None or known.origin.startswith(f"{self._name}:"):
            self._collector.refuse(self._name, line, f"the id {case.id} was already used in {self._name}")
            return
        if known.source != case.source or known.subset is not case.subset:
            self._collector.refuse(self._name, line, f"SRC or SET differs from {known.origin} under the same ID")
            return
        self._merged[case.id] = line
        self._collector.replace(
            dataclasses.replace(
                known,
                references=_union(known.references, case.references),
                contrast_references=_union(known.contrast_references, case.contrast_references),
            )
        )

    def _report(self, published_rows: int | None) -> None:
        table, note = self._table, self._collector.note
        if self._merged:
            note(f"{self._name}: {len(self._merged)} rows added their references to the cases of the same ID")
        parts = [f"{count} {label}" for label, count in sorted(self._totals.items(), reverse=True)]
        refused = table.rows_read - len(self._merged) - self._totals.total()
        parts += [f"{refused} refused"] if refused else []
        note(f"{self._name}: {table.rows_read - len(self._merged)} rows: {', '.join(parts) or 'none'}")
        if published_rows is not None and not self._file.common and table.rows_read != published_rows:
            note(f"{self._name}: not the whole published file, which has {published_rows} rows, half of them Set-N")
        if not self._columns.neutral and self._totals[Subset.SET_N]:
            open_cases = self._totals[Subset.SET_N]
            note(f"{self._name}: no column REF-N, so its {open_cases} Set-N cases have no neutral reference")
        if self._odd_genders:
            values = ", ".join(f"{value} {count}" for value, count in self._odd_genders.most_common(5))
            note(f"{self._name}: GENDER is not used in Set-N rows; it holds {values}")
        unknown = [name for name in table.columns if not self._is_known(name)]
        if unknown:
            note(f"{self._name}: columns not used: {', '.join(unknown)}")

    def _is_known(self, column: str) -> bool:
        return _column_key(column) in _KNOWN or column in self._columns.neutral


class _Refused(Exception):
    """Why a row is no case."""


def _column_key(name: str) -> str:
    """A column's name without letter case and punctuation: REF-G_ann and ref_g_ann are one."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")


def _text(cell: str | None) -> str:
    """A cell's text as it is, or nothing where it is blank."""
    return cell if cell and cell.strip() else ""


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + second))
