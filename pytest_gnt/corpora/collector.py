"""Gathers cases, refused rows and findings while a corpus is read, and checks at the end that every row is in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from pytest_gnt.case import Case
from pytest_gnt.corpora.source import CorpusData, RefusedRow
from pytest_gnt.corpora.textfile import TextFile, revision_of
from pytest_gnt.errors import GntError


class CaseCollector:
    """What one loader has read so far.

    Args:
        name: the corpus' name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._cases: dict[str, Case] = {}
        self._refused: list[RefusedRow] = []
        self._notes: list[str] = []
        self._tallies: dict[str, tuple[int, str]] = {}
        self._files: list[TextFile] = []
        self._rows_read = 0

    def open(self, file: TextFile) -> TextFile:
        """Count a file into the revision, and hand it back."""
        self._files.append(file)
        return file

    def expect(self, rows: int) -> None:
        """Announce rows that must end as a case or as a refused row."""
        self._rows_read += rows

    def add(self, case: Case, file: str, line: int) -> None:
        """Take a case; a second one with the same id is refused."""
        known = self._cases.setdefault(case.id, case)
        if known is not case:
            self.refuse(file, line, f"the id {case.id} was already used in {known.origin}")

    def find(self, case_id: str) -> Case | None:
        """The case with this id, if one was taken."""
        return self._cases.get(case_id)

    def replace(self, case: Case) -> None:
        """Put a changed case in the place of the one with the same id."""
        self._cases[case.id] = case

    def refuse(self, file: str, line: int, why: str) -> None:
        """Report a row that is no case."""
        self._refused.append(RefusedRow(file, line, why))

    def refuse_all(self, rows: Iterable[RefusedRow]) -> None:
        """Report rows that were refused before they came here."""
        self._refused.extend(rows)

    def note(self, text: str) -> None:
        """Report a finding about the corpus as a whole."""
        self._notes.append(text)

    def tally(self, what: str, where: str) -> None:
        """Count a finding that many rows can share; the note gives the count and the first place."""
        count, first = self._tallies.get(what, (0, where))
        self._tallies[what] = (count + 1, first)

    def data(self, title: str) -> CorpusData:
        """The corpus as read.

        Raises:
            GntError: a row was lost or counted twice. This is an error of the loader, not of the data.
        """
        accounted = len(self._cases) + len(self._refused)
        if self._rows_read != accounted:
            raise GntError(
                f"{self.name}: {self._rows_read} rows were read, but {accounted} are accounted for; "
                "please report this with the file that shows it"
            )
        tallies = (
            f"{what}: {count} row{'s' if count > 1 else ''} (first {first})"
            for what, (count, first) in self._tallies.items()
        )
        return CorpusData(
            name=self.name,
            cases=tuple(self._cases.values()),
            rows_read=self._rows_read,
            refused=tuple(self._refused),
            notes=(*self._notes, *tallies),
            revision=revision_of(self._files),
            title=title,
        )


def sentence_group(corpus: str, source: str) -> str:
    """Group of a sentence that comes without one; the same sentence shares it across rows and target languages."""
    return f"{corpus}/{hashlib.sha256(source.strip().encode()).hexdigest()[:12]}"
