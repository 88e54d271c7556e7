"""`report.html`: one file that needs no network. May it ship? What got worse, and for whom? In which sentences?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from pytest_gnt.reports.html_attitude import Attitudes
from pytest_gnt.reports.html_baseline import Baseline, Before, before_of, changes_of
from pytest_gnt.reports.html_changed import KINDS, changed_strata, totals
from pytest_gnt.reports.html_coherence import Coherence
from pytest_gnt.reports.html_data import BlockWriter
from pytest_gnt.reports.html_gaps import Gaps
from pytest_gnt.reports.html_heat import heat_maps
from pytest_gnt.reports.html_page import render, write_file
from pytest_gnt.reports.html_rates import identity_panels, matrices, set_panels, weakest
from pytest_gnt.reports.html_run import (
    corrected_rows,
    judge_view,
    notes_of,
    signature_rows,
    stage_rows,
    usage_rows,
    when,
)
from pytest_gnt.reports.html_verdict import discrepancies, gate_groups, gate_rows, time_text, verdict
from pytest_gnt.reports.table_sheets import sheets
from pytest_gnt.verdicts.changes import Change
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import CaseResult, read_results, read_summary

NAME = "report.html"

_PIECE = 1 << 20


class Pass:
    """One reading of the cases: what the charts count, while the blocks are written."""

    def __init__(self, blocks: BlockWriter, baseline: Baseline | None) -> None:
        self.blocks = blocks
        self.coherence, self.attitudes, self.gaps = Coherence(), Attitudes(), Gaps()
        self.before = Before() if baseline is not None else None
        self._baseline = baseline

    def read(self, folder: Path) -> None:
        """Read every case of the folder once."""
        for result in read_results(folder):
            before = before_of(result, self._baseline)
            self.add(result, before, changes_of(result, before) if self.before is not None else {})
        self.finish()

    def add(self, result: CaseResult, before: Entry | None, changes: Mapping[str, Change]) -> None:
        """Take the next case, with what the baseline has of it and what became of its tests."""
        if self.before is not None:
            self.before.add(result, changes)
        for part in (self.coherence, self.attitudes, self.gaps):
            part.add(result)
        self.blocks.add(result, changes, before)

    def finish(self) -> None:
        """All cases are in."""
        self.blocks.finish(compared=self.before is not None, changes=[kind for kind, _, _ in KINDS])


def write_html(
    folder: Path, baseline: Baseline | None = None, *, against: str | None = None, to: Path | None = None
) -> Path:
    """Write ``report.html`` into a report folder, from its ``cases.jsonl`` and ``report.json``.

    Needs no model, no network and no more memory than a few blocks of cases and the counts of the charts.

    Args:
        folder: the report folder.
        baseline: the cases to compare with, by case id; None for a report without a comparison. Only ``get`` is used,
            once a case, so the mapping may read its records as they are asked for.
        against: what the baseline is called, where it is not the one that the run itself was compared with.
        to: the file to write instead.

    Raises:
        GntError: the folder is none of a run, a line cannot be read, or the page cannot be written.
        ValueError: a record of the baseline is of another layout.
    """
    summary = read_summary(folder)
    if against is not None:
        summary["baseline"] = {"name": against, "comparable": True, "changes": {}}
    with tempfile.TemporaryFile("w+", encoding="ascii") as stream:
        run = Pass(BlockWriter(stream), baseline)
        run.read(folder)
        return write_page(to or folder / NAME, summary, run, stream)


def write_page(path: Path, summary: dict[str, Any], run: Pass, blocks: IO[str]) -> Path:
    """Write the page of a finished reading, whose blocks stand in a stream.

    Raises:
        GntError: the page cannot be written.
    """
    blocks.seek(0)
    return write_file(path, render("report.html", view(summary, run), _pieces(blocks)))


def _pieces(stream: IO[str]) -> Iterator[str]:
    while piece := stream.read(_PIECE):
        yield piece


def view(summary: dict[str, Any], run: Pass) -> dict[str, Any]:
    """Everything that the templates show, by the name under which they look for it."""
    rates, before = summary["rates"], run.before
    tests = run.blocks.tests
    return {
        "summary": summary,
        "found": run.blocks.cases,
        "verdict": verdict(summary, run.blocks.cases),
        "discrepancies": discrepancies(summary, run.blocks.cases),
        "gates": gate_groups(gate_rows(summary["gates"])),
        "judge": judge_view(summary["judge"]),
        "corrected": corrected_rows(summary.get("corrected", ())),
        "signatures": signature_rows(summary["signature"]),
        "stages": stage_rows(summary["stages"]),
        "notes": notes_of(summary),
        "usage": usage_rows(summary.get("usage", ())),
        "time": time_text(summary),
        "finished": when(summary["finished"]),
        "compared": before is not None,
        "changes": totals(before, summary["baseline"]),
        "changed": changed_strata(rates, before) if before else [],
        "weakest": weakest(rates),
        "identity_panels": identity_panels(rates, before),
        "set_panels": set_panels(rates, before),
        "matrices": matrices(rates, before),
        "heat_maps": heat_maps(run.gaps, tests),
        "coherence": run.coherence.view(),
        "attitude": run.attitudes.view(),
        "sheets": sheets(summary.get("tables", ())),
        "keywords": summary.get("keywords") or [],
        "keywords_about": summary.get("keywords_about") or {},
        "change_kinds": KINDS,
    }
