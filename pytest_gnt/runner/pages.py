"""The pages of a report folder that people read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_gnt.verdicts.entry import Entry
    from pytest_gnt.verdicts.results import CaseResult


def write_pages(folder: Path, baseline: Mapping[str, Entry] | None = None) -> list[Path]:
    """Write ``report.html`` and ``report.md`` from the folder's records.

    Raises:
        GntError: the records cannot be read.
    """
    from pytest_gnt.reports.html import write_html
    from pytest_gnt.reports.markdown import write_markdown

    return [write_html(folder, baseline), write_markdown(folder, baseline)]


class Pages:
    """The same pages of a run that has just ended, made while its records are put in order, so that each is read once.

    Args:
        baseline: the cases to compare with, by case id; None without a baseline.
    """

    def __init__(self, baseline: Mapping[str, Entry] | None) -> None:
        from pytest_gnt.reports.html import Pass
        from pytest_gnt.reports.html_baseline import Before
        from pytest_gnt.reports.html_data import BlockWriter
        from pytest_gnt.reports.markdown import Reading

        self._baseline = baseline
        self._blocks = TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 - closed by close()
        self._page = Pass(BlockWriter(self._blocks), baseline)
        self._summary = Reading(before=Before() if baseline is not None else None)

    def add(self, result: CaseResult) -> None:
        """Take the next case, in order of id."""
        from pytest_gnt.reports.html_baseline import before_of, changes_of

        before = before_of(result, self._baseline)
        changes = changes_of(result, before) if self._baseline is not None else {}
        self._page.add(result, before, changes)
        self._summary.add(result, before, changes)

    def write(self, folder: Path) -> None:
        """All cases are in: write both pages into a folder, which holds the run's summary.

        Raises:
            GntError: the folder cannot be written.
        """
        from pytest_gnt.reports import html, markdown
        from pytest_gnt.verdicts.results import read_summary

        summary = read_summary(folder)
        self._page.finish()
        html.write_page(folder / html.NAME, summary, self._page, self._blocks)
        markdown.write_summary(folder / markdown.NAME, summary, self._summary)

    def close(self) -> None:
        """Give the blocks up."""
        self._blocks.close()
