"""A table of the user's own: TSV, CSV or JSON Lines, one row a case.

Columns (own names can be given by the option ``columns``, e.g. ``{source = "SRC"}``):

====================== =============================================================================================
``id``                 required; unique within a language
``source``             required; the English sentence
``lang``               target language; may be missing where the option ``lang`` gives it for all rows
``set``                ``Set-N`` or ``Set-G``; may be blank where an identity is given (then ``authentic``, or
                       ``synthesized`` where that is written); may be missing where the option ``set`` gives it
``gender``             ``F`` or ``M`` (or ``female``, ``male``); required in Set-G
``reference``          a reference in the form that is expected
``reference_neutral``  a gender-neutral reference
``reference_gendered`` a gendered reference
``gendered_words``     words of the gendered reference that carry gender, separated by ``;``
``identity``           one of the 14 identities
``group``              name of the sentence that identity variants share; by default equal sentences are a group
``attitude_word``      a word of the source whose emotional attitude is followed
``attitude_renderings`` its known translations, separated by ``;``; by default the shipped ones
====================== =============================================================================================

The three reference columns can be repeated (``reference_2``, ``reference_neutral_2``, ``reference_neutral_3`` …); in
JSON Lines a list does the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pytest_gnt.case import Case, Form, Gender, Identity, Subset, id_part
from pytest_gnt.corpora.attitude_words import renderings, stands_in
from pytest_gnt.corpora.collector import CaseCollector, sentence_group
from pytest_gnt.corpora.labels import read_label, shown
from pytest_gnt.corpora.options import check_options, mapping_option, text_option
from pytest_gnt.corpora.source import CorpusData, CorpusSource
from pytest_gnt.corpora.tables import Row, Table, read_table
from pytest_gnt.corpora.words import split_words
from pytest_gnt.errors import GntError

REFERENCES = ("reference", "reference_neutral", "reference_gendered")
COLUMNS = (
    "id",
    "source",
    "lang",
    "set",
    "gender",
    *REFERENCES,
    "gendered_words",
    "identity",
    "group",
    "attitude_word",
    "attitude_renderings",
)
"""The documented columns."""

_LANG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*", re.IGNORECASE)
_NUMBERED = re.compile(r"(.+)_([2-9]|[1-9][0-9]+)")


def load(source: CorpusSource) -> CorpusData:
    """Read the user's table.

    Rows in languages that are not wanted are left out and counted in a note; they are not among the rows read.

    Options: ``lang``, ``set`` and ``columns`` (see above), ``format`` (see `read_table`), ``title``.

    Raises:
        GntError: the file cannot be read as a table, a required column is missing, or an option is wrong.
    """
    check_options(source, ("lang", "set", "columns", "format", "title"))
    if source.root.is_dir():
        raise GntError(f"corpus {source.name!r}: {source.root} is a folder; set path to the table itself")
    collector = CaseCollector(source.name)
    table = read_table(source.root, text_option(source, "format"))
    collector.open(table.file)
    for note in table.notes:
        collector.note(note)
    names = _column_names(source, table)
    reader = _RowReader(source, collector, table, names)
    reader.read()
    unknown = [column for column in table.columns if column not in names.values()]
    if unknown:
        collector.note(f"{table.file.name}: columns not used: {', '.join(unknown)}")
    return collector.data(text_option(source, "title") or source.name)


def _column_names(source: CorpusSource, table: Table) -> Mapping[str, str]:
    """The file's own names by documented ones, repeated references (``reference_2``) included."""
    own = mapping_option(source, "columns")
    for name, column in own.items():
        if not _is_documented(name):
            raise GntError(
                f"corpus {source.name!r}: columns maps documented names to your own, and {name!r} is none of "
                f"{', '.join(COLUMNS)}"
            )
        if column not in table.columns:
            raise GntError(f"{table.file.path}: no column {column!r}; there are {', '.join(table.columns)}")
    taken = set(own.values())
    names = {column: column for column in table.columns if _is_documented(column) and column not in taken} | own
    for required in ("id", "source"):
        if required not in names:
            raise GntError(
                f"{table.file.path}: no column {required!r}; there are {', '.join(table.columns)}; rename one, or set "
                f"columns for the corpus, e.g. {{{required} = {table.columns[0]!r}}}"
            )
    if "lang" not in names and text_option(source, "lang") is None:
        raise GntError(f"{table.file.path}: no column 'lang'; add it, or set lang for the corpus")
    return names


def _is_documented(name: str) -> bool:
    numbered = _NUMBERED.fullmatch(name)
    return name in COLUMNS or (numbered is not None and numbered[1] in REFERENCES)


class _Refused(Exception):
    """Why a row is no case."""


class _RowReader:
    """Makes the cases of one table."""

    def __init__(self, source: CorpusSource, collector: CaseCollector, table: Table, names: Mapping[str, str]) -> None:
        self._collector = collector
        self._table = table
        self._names = names
        self._name = table.file.name
        self._langs = source.langs
        self._lang = text_option(source, "lang")
        self._set = text_option(source, "set") or ""
        self._references = {kind: self._columns_of(kind) for kind in REFERENCES}
        self._unwanted: Counter[str] = Counter()

    def read(self) -> None:
        """Put every row into the collector."""
        self._collector.refuse_all(self._table.refused)
        for row in self._table.rows:
            try:
                lang = self._row_lang(row)
                if self._langs is not None and lang not in self._langs:
                    self._unwanted[lang] += 1
                    continue
                case = self._case(row, lang)
            except _Refused as refused:
                self._collector.refuse(self._name, row.line, str(refused))
            else:
                self._collector.add(case, self._name, row.line)
        self._collector.expect(self._table.rows_read - self._unwanted.total())
        if self._unwanted:
            counts = ", ".join(f"{lang} {count}" for lang, count in sorted(self._unwanted.items()))
            self._collector.note(f"{self._name}: rows in languages that are not wanted were left out: {counts}")

    def _columns_of(self, kind: str) -> tuple[str, ...]:
        found = {int(m[2]): n for n in self._names if (m := _NUMBERED.fullmatch(n)) and m[1] == kind}
        if kind in self._names:
            found[1] = kind
        return tuple(self._names[found[number]] for number in sorted(found))

    def _cell(self, row: Row, name: str) -> str:
        """A cell's text as it is, or nothing where it is blank or its column is missing."""
        column = self._names.get(name)
        cell = row.cells[column] if column else None
        return cell if cell and cell.strip() else ""

    def _row_lang(self, row: Row) -> str:
        lang = self._cell(row, "lang").strip() or self._lang or ""
        if not _LANG.fullmatch(lang):
            raise _Refused(f"lang is {shown(lang)}; a language code such as it or zh is needed")
        return lang.lower()

    def _case(self, row: Row, lang: str) -> Case:
        name, origin = self._collector.name, f"{self._name}:{row.line}"
        row_id, text = self._cell(row, "id"), self._cell(row, "source")
        if not row_id or not text:
            raise _Refused(f"{'source' if row_id else 'id'} is empty")
        identity = self._identity(row)
        subset = self._subset(row, identity, origin)
        references, contrast = self._reference_texts(row, subset, origin)
        word = self._attitude_word(row, text, origin)
        group = self._cell(row, "group")
        return Case(
            id=f"{name}/en-{lang}/{id_part(row_id)}",
            corpus=name,
            subset=subset,
            target_lang=lang,
            source=text,
            group=f"{name}/{id_part(group)}" if group else sentence_group(name, text),
            references=references,
            contrast_references=contrast,
            expected=_EXPECTED.get(subset),
            gender=self._gender(row, subset, origin),
            identity=identity,
            attitude_word=word,
            attitude_renderings=self._renderings(row, word, lang),
            gendered_words=self._gendered_words(row),
            origin=origin,
        )

    def _identity(self, row: Row) -> Identity | None:
        cell = self._cell(row, "identity")
        if not cell:
            return None
        identity, _ = read_label(Identity, re.sub(r"[-_\s]+", " ", cell))
        if identity is None:
            raise _Refused(f"identity is {shown(cell)}; one of {', '.join(Identity)} is needed")
        return identity

    def _subset(self, row: Row, identity: Identity | None, origin: str) -> Subset:
        cell = self._cell(row, "set") or self._set
        if not cell and identity is not None:
            return Subset.AUTHENTIC
        subset, tidied = read_label(Subset, cell)
        if subset is None or (subset not in _EXPECTED and identity is None):
            raise _Refused(f"set is {shown(cell)}; Set-N or Set-G is needed, or an identity")
        if tidied:
            self._collector.tally(f"{self._name}: set read in spite of letter case or blanks", origin)
        return subset

    def _gender(self, row: Row, subset: Subset, origin: str) -> Gender | None:
        cell = self._cell(row, "gender")
        if subset is not Subset.SET_G:
            if cell:
                self._collector.tally(f"{self._name}: gender is used in Set-G only, and not here", origin)
            return None
        gender, tidied = read_label(Gender, _GENDERS.get(cell.strip().casefold(), cell))
        if gender is None:
            raise _Refused(f"gender of a Set-G row is {shown(cell)}; F or M is needed")
        if tidied:
            self._collector.tally(f"{self._name}: gender read in spite of letter case or blanks", origin)
        return gender

    def _reference_texts(self, row: Row, subset: Subset, origin: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        plain, neutral, gendered = (
            [cell for column in self._references[kind] if (cell := row.cells[column]) and cell.strip()]
            for kind in REFERENCES
        )
        if subset is Subset.SET_G:
            expected, contrast = plain + gendered, neutral
        elif subset is Subset.SET_N:
            expected, contrast = plain + neutral, gendered
        else:
            expected, contrast = plain + neutral + gendered, []
        if any(self._references.values()) and not expected:
            self._collector.tally(f"{self._name}: empty reference", origin)
        return tuple(dict.fromkeys(expected)), tuple(dict.fromkeys(contrast))

    def _attitude_word(self, row: Row, text: str, origin: str) -> str | None:
        word = self._cell(row, "attitude_word").strip()
        if word and not stands_in(word, text):
            self._collector.tally(f"{self._name}: attitude_word that does not stand in the source", origin)
            return None
        return word or None

    def _renderings(self, row: Row, word: str | None, lang: str) -> tuple[str, ...]:
        if word is None:
            return ()
        own = split_words(self._cell(row, "attitude_renderings"))
        return tuple(sorted(own, key=len, reverse=True)) or renderings(word, lang)

    def _gendered_words(self, row: Row) -> tuple[str, ...]:
        columns = self._references["reference_gendered"] or self._references["reference"]
        texts = " ".join(row.cells[column] or "" for column in columns)
        return split_words(self._cell(row, "gendered_words"), texts)


_GENDERS = {"female": "F", "male": "M"}
_EXPECTED = {Subset.SET_N: Form.NEUTRAL, Subset.SET_G: Form.GENDERED}
