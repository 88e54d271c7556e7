"""Files of translations, read into entries by case.

Three layouts:

- a table (TSV, CSV, JSON Lines) with a column ``case_id``; ``translation``, and where there are such, ``label``,
  ``raw_output`` and ``system``;
- a table with a column ``id`` (or ``ID``) and a language: a column ``lang``, a language pair such as ``en-it`` in the
  file's name, or a folder named by the language, as in the published mGeNTE output, whose columns
  ``translation_label`` and ``raw_output`` are understood;
- plain text, one line a case in the corpus' own order, with the language pair in the file's name (as WMT does).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pytest_gnt.case import Case, id_part
from pytest_gnt.corpora.tables import FORMATS, Table, read_table
from pytest_gnt.corpora.textfile import TextFile, read_text
from pytest_gnt.errors import GntError

COLUMNS = ("case_id", "id", "lang", "translation", "label", "raw_output", "system")
"""The documented columns; own names can be given for each."""

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "id": ("id", "ID"),
    "lang": ("lang", "language", "target_lang"),
    "label": ("label", "translation_label"),
}
_PAIR = re.compile(r"(?<![A-Za-z])([a-z]{2,3})-([a-z]{2,3}(?:-[A-Z][a-z]{3})?)(?![A-Za-z])")
_LANG = re.compile(r"[a-z]{2,3}")

Key = tuple[str, str]
"""Target language and the part of a case id behind the language pair."""

_Name = TypeVar("_Name", str, Key)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file holds for one case. ``raw`` is the whole reply where the file has it."""

    text: str | None
    label: str | None
    raw: str | None
    origin: str

    @property
    def content(self) -> tuple[str | None, str | None, str | None]:
        return self.text, self.label, self.raw


@dataclass(slots=True)
class Recording:
    """All entries of a system.

    Attributes:
        by_id: entries of tables with full case ids.
        by_key: entries of tables with ids and a language.
        digests: SHA-256 of each file's bytes, by file name.
        notes: what the user should know.
    """

    by_id: dict[str, Entry] = field(default_factory=dict)
    by_key: dict[Key, Entry] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def find(self, case: Case) -> Entry | None:
        """The entry of a case; None where the files have none."""
        return self.by_id.get(case.id) or self.by_key.get(key_of(case))

    def note_unknown(self, cases: Iterable[Case]) -> None:
        """Say how many entries belong to no case."""
        ids, keys = set(), set()
        for case in cases:
            ids.add(case.id)
            keys.add(key_of(case))
        unknown = [*(one for one in self.by_id if one not in ids)]
        unknown += [f"{lang}: {rest}" for lang, rest in self.by_key if (lang, rest) not in keys]
        if unknown:
            self.notes.append(f"{len(unknown)} recorded translation(s) belong to no case, e.g. {unknown[0]}")


def key_of(case: Case) -> Key:
    """The key of a case, as in tables that have an id and a language."""
    return case.target_lang, case.local_id.partition("/")[2]


def read_recording(
    path: Path,
    *,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    lang: str | None = None,
    order: Sequence[Case] = (),
) -> Recording:
    """Read a file, or all files of a folder.

    Args:
        path: the file or folder.
        system: keep rows whose ``system`` column holds this; without such a column, files with it in their name.
        columns: own column names by documented ones.
        lang: target language of tables that do not tell it.
        order: all cases in the order of their corpora, which line-aligned files are matched with.

    Raises:
        GntError: no file, a file that cannot be read or told apart, two different translations of one case (both lines
            are named), line counts that differ from the cases'.
    """
    unknown = sorted(set(columns or {}) - set(COLUMNS))
    if unknown:
        raise GntError(f"columns: {', '.join(unknown)} unknown; there are {', '.join(COLUMNS)}")
    recording = Recording()
    for file in _files(path):
        if file.suffix.lower() in FORMATS:
            _add_table(recording, file, system, dict(columns or {}), lang)
        elif path.is_dir() and _PAIR.search(file.name) is None:
            recording.notes.append(f"{file.name}: neither a table nor named by a language pair; left out")
        elif system is None or system in file.name or not path.is_dir():
            _add_lines(recording, file, lang, order)
    if not recording.by_id and not recording.by_key:
        wanted = f" of system {system!r}" if system else ""
        raise GntError(f"{path} holds no translations{wanted}; check path and system")
    return recording


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise GntError(f"{path} is an empty folder; put files of translations there")
    return files


def _add_table(recording: Recording, path: Path, system: str | None, own: dict[str, str], lang: str | None) -> None:
    table = read_table(path)
    names = _column_names(table, own)
    if system is not None and "system" not in names and system not in path.name:
        return
    _add_file(recording, table.file)
    recording.notes += table.notes
    if table.refused:
        recording.notes.append(f"{path.name}: {len(table.refused)} row(s) refused, e.g. {table.refused[0]}")
    if "case_id" not in names:
        lang = lang or _lang_of(path)
    if "case_id" not in names and "lang" not in names and lang is None:
        raise GntError(f"{path} does not tell its language; put e.g. en-it into its name, or add a column lang")
    systems: Counter[str] = Counter()
    for number, cells in table.rows:
        values = {name: cells.get(column) for name, column in names.items()}
        systems[values.get("system") or ""] += 1
        if system is not None and "system" in names and values["system"] != system:
            continue
        entry = Entry(values.get("translation"), values.get("label"), values.get("raw_output"), f"{path.name}:{number}")
        _add_row(recording, values, entry, lang)
    if system is None and len(systems) > 1:
        raise GntError(f"{path} holds several systems ({', '.join(sorted(systems)[:8])}); choose one by system = …")


def _column_names(table: Table, own: dict[str, str]) -> dict[str, str]:
    """The file's columns by documented names."""
    names: dict[str, str] = {}
    for name in COLUMNS:
        wanted = (own[name],) if name in own else _SPELLINGS.get(name, (name,))
        present = [column for column in wanted if column in table.columns]
        if present:
            names[name] = present[0]
        elif name in own:
            raise GntError(f"{table.file.path} has no column {own[name]!r}; it has {', '.join(table.columns)}")
    if "translation" not in names and "raw_output" not in names:
        raise GntError(f"{table.file.path} has no column translation; it has {', '.join(table.columns)}")
    if "case_id" not in names and "id" not in names:
        raise GntError(f"{table.file.path} has neither a column case_id nor id; it has {', '.join(table.columns)}")
    return names


def _add_row(recording: Recording, values: Mapping[str, str | None], entry: Entry, lang: str | None) -> None:
    if values.get("case_id") is not None:
        _put(recording.by_id, (values["case_id"] or "").strip(), entry)
        return
    row_lang = (values.get("lang") or lang or "").strip()
    parts = [part for part in (values.get("id") or "").split("/") if part.strip()]
    if not row_lang or not parts:
        recording.notes.append(f"{entry.origin}: no id or no language in this row; left out")
        return
    target = _PAIR.fullmatch(row_lang)
    key = (target[2] if target else row_lang, "/".join(map(id_part, parts)))
    _put(recording.by_key, key, entry)


def _put(entries: dict[_Name, Entry], key: _Name, entry: Entry) -> None:
    """Add an entry. A repeated equal one is dropped; a different one makes the file unusable."""
    earlier = entries.setdefault(key, entry)
    if earlier is not entry and earlier.content != entry.content:
        shown = key if isinstance(key, str) else "/".join(key)
        raise GntError(f"two different translations of {shown}: {earlier.origin} and {entry.origin}; remove one")


def _lang_of(path: Path) -> str | None:
    """The target language that a file's name, its ending or its folder tells."""
    for name in (path.name, path.parent.name):
        found = _PAIR.search(name)
        if found:
            return found[2]
    ending = path.suffix.lstrip(".")
    if path.suffix.lower() not in FORMATS and _LANG.fullmatch(ending) and len(ending) == 2:
        return ending
    return path.parent.name if _LANG.fullmatch(path.parent.name) else None


def _add_lines(recording: Recording, path: Path, lang: str | None, order: Sequence[Case]) -> None:
    file = read_text(path)
    _add_file(recording, file)
    lang = lang or _lang_of(path)
    candidates = [case for case in order if lang is None or case.target_lang == lang]
    cases = _matching(path, candidates)
    if len(cases) != len(file.lines):
        raise GntError(
            f"{path} has {len(file.lines)} lines, but there are {len(cases)} cases"
            f"{f' for {lang}' if lang else ''}; line-aligned files need one line a case, in the corpus' order"
        )
    for number, (case, line) in enumerate(zip(cases, file.lines, strict=True), start=1):
        _put(recording.by_id, case.id, Entry(line, None, None, f"{path.name}:{number}"))


def _matching(path: Path, cases: Sequence[Case]) -> Sequence[Case]:
    """The cases that a file is about: of all corpora and subsets, those that its name names."""
    for attribute in ("corpus", "target_lang", "subset"):
        values = {str(getattr(case, attribute)) for case in cases}
        named = {value for value in values if value.lower() in path.name.lower()}
        if attribute == "target_lang" and len(values) > 1:
            raise GntError(f"{path} does not tell its language; put e.g. en-it into its name")
        if len(values) > 1 and named:
            cases = [case for case in cases if str(getattr(case, attribute)) in named]
    return cases


def _add_file(recording: Recording, file: TextFile) -> None:
    name = file.name if file.name not in recording.digests else f"{file.path.parent.name}/{file.name}"
    recording.digests[name] = file.digest
