"""The run as a whole: stages before the first test, results as they arrive, files and exit status at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gnt.errors import GntError
from pytest_gnt.garbage import paused
from pytest_gnt.runner.gating import Comparison, gate_reports
from pytest_gnt.runner.items import CaseItem
from pytest_gnt.runner.pages import Pages
from pytest_gnt.runner.recorder import Recorder, write_json, write_lines
from pytest_gnt.runner.staging import SUMMARY, Staging, earlier_run
from pytest_gnt.verdicts.limits import overrun
from pytest_gnt.verdicts.noise import FlipRate, flip_rate
from pytest_gnt.verdicts.rates import Tally
from pytest_gnt.verdicts.results import CASES, CaseResult, Outcome, repeat_file
from pytest_gnt.verdicts.tables import Tables

if TYPE_CHECKING:
    from pytest_gnt.runner.session import GntSession
    from pytest_gnt.verdicts.keyword_tally import KeywordTally

ABOUT = "gnt"  # key in an xdist worker's output


class Control:
    """One a process. In an xdist worker it runs the stages; in the controlling process it keeps the record.

    ``about`` is what the run's processes say of corpora, stages and signature; in a parallel run it comes from the
    workers.
    """

    def __init__(self, gnt: GntSession) -> None:
        self.gnt = gnt
        self.started = datetime.now(UTC)
        self._clock = time.monotonic()
        self.about: dict[str, Any] = {}
        self.stages: list[dict[str, Any]] = []
        self.failure: str | None = None
        self.recorder: Recorder | None = None
        self.summary: dict[str, Any] | None = None
        self.empty = False
        self._interrupted = False
        self._staging: Staging | None = None
        self._temporary: TemporaryDirectory[str] | None = None
        self.tally: Tally | None = None
        self._pages: Pages | None = None
        self.tables = Tables()
        self.flips: FlipRate | None = None
        self.comparison = Comparison()
        self.crashed = 0
        self.limits: list[str] = []
        self._expected: int | None = None

    # -- in the process that runs tests

    def prepare(self, session: pytest.Session) -> bool:
        """Run the stages for the session's items; True where the tests must not run (a worker whose stages failed).

        Raises:
            pytest.UsageError: settings, model or store cannot be used (outside of workers, which pass the message on).
        """
        items = [item for item in session.items if isinstance(item, CaseItem)]
        try:
            self.gnt.check()
            if not items:
                self.empty = bool(self.gnt.corpora or self.gnt.unscored_metrics)
                return False
            from pytest_gnt.runner.progress import progress_for
            from pytest_gnt.runner.protocol import CaseRunner

            with progress_for(self.gnt.config) as progress:
                self.gnt.prepare(items, progress)
            CaseRunner.register(self.gnt.config, items)
        except pytest.UsageError as error:
            if not self.gnt.worker:
                raise
            self.failure = str(error)  # told once, by the controlling process
            session.shouldstop = "no test can run"
            return True
        self._expected = len(items)
        return False

    def send(self, output: dict[str, Any]) -> None:
        """Pass on what a worker knows, as plain builtins."""
        output[ABOUT] = {
            "about": self.gnt.about(),
            "stages": self.gnt.stage_rows(),
            "failure": self.failure,
            "expected": self._expected,
        }

    # -- in the controlling process

    def receive(self, output: Mapping[str, Any] | None) -> None:
        """Take what a worker sent; a worker that crashed sent nothing."""
        sent = (output or {}).get(ABOUT)
        if sent is None:
            return
        usage = [*self.about.get("usage", []), *sent["about"]["usage"]]
        notes = list(dict.fromkeys([*self.about.get("notes", []), *sent["about"]["notes"]]))
        self.about = (self.about or sent["about"]) | {"usage": usage, "notes": notes}
        self.gnt.told = self.about
        self.stages += sent["stages"]
        self._expected = self._expected or sent["expected"]
        self.failure = self.failure or sent["failure"]

    def record(self, report: pytest.TestReport) -> None:
        """Take one test's report."""
        try:
            if self.recorder is None:
                self._staging = Staging(self.report_folder)
                self.recorder = Recorder(self._staging.path)
            self.recorder.add(report.gnt)
            # pytest keeps every report to the end; what is written need not be held.
            del report.gnt["records"]
        except GntError as error:
            self.failure = self.failure or str(error)

    @cached_property
    def report_folder(self) -> Path:
        """Where the results go; a folder that is removed with the run where no report is wanted."""
        if self.gnt.settings.report != "none":
            return self.gnt.path(self.gnt.settings.report)
        self._temporary = TemporaryDirectory(prefix="gnt-report-")
        return Path(self._temporary.name)

    @property
    def _folder(self) -> Path:
        """Where they are until all are there."""
        assert self._staging is not None
        return self._staging.path

    @cached_property
    def keywords(self) -> KeywordTally:
        """The words of the translations, counted as the records go by."""
        from pytest_gnt.verdicts.keyword_tally import KeywordTally

        return KeywordTally()

    def conclude(self, session: pytest.Session) -> None:
        """All tests have run: put the records in order, evaluate the gates, and report each as a test of its own."""
        if self.recorder is None or self.failure is not None:
            return
        try:
            with paused():
                self._sort()
            if self.incomplete(session) is None:
                self.comparison = self.gnt.gating.compare(self._folder, self._about(), partial=self._about()["partial"])
        except (GntError, OSError) as error:
            self.failure = str(error)
            return
        for report in gate_reports(self.comparison.gates):
            self.gnt.config.hook.pytest_runtest_logreport(report=report)

    def finish(self, session: pytest.Session) -> None:
        """Write the summary and settle the exit status. Never raises: the run's own status is kept at least."""
        if self.recorder is not None:
            try:
                self._sort()
                self._write(session)
            except (GntError, OSError) as error:
                self.failure = self.failure or f"the report could not be written: {error}"
            finally:
                self._publish()
        self._interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        if self.failure is not None:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _publish(self) -> None:
        """Put in place what is whole: the records with their summary, and the pages that could be written."""
        assert self._staging is not None
        try:
            if (self._folder / SUMMARY).is_file():
                self._staging.publish()
        except GntError as error:
            self.failure = self.failure or str(error)

    def _sort(self) -> None:
        """Write ``cases.jsonl``, once."""
        if self.tally is not None or self.recorder is None:
            return
        stored = self.gnt.gating.baselines.values()
        entries = {key: entry for baseline in stored for key, entry in baseline.entries.items()}
        tally, pages = Tally(), Pages(entries or None)
        runs: dict[tuple[str, str], list[Outcome]] = {}
        for number in range(self.gnt.settings.repeats):
            name = repeat_file(number) if number else CASES
            for row in write_lines(self._folder / name, self.recorder.cases(number)):
                result = CaseResult.from_json(row)
                if not number:
                    pages.add(result)
                    tally.add(result)
                    self.tables.add(result)
                    self.keywords.add_result(result)
                if self.gnt.settings.repeats > 1:
                    for test, found in result.tests.items():
                        runs.setdefault((result.id, test), []).append(found.outcome)
        self.tally, self._pages = tally, pages
        self.flips = flip_rate(runs.values()) if runs else None

    def _about(self) -> dict[str, Any]:
        if not self.about:
            self.about = self.gnt.about()
        return self.about

    def _write(self, session: pytest.Session) -> None:
        from pytest_gnt.reports.junit import add_properties
        from pytest_gnt.reports.summary import build_summary

        assert self.tally is not None
        assert self._pages is not None
        self._decide(session, self.tally)
        self.summary = build_summary(
            self.tally,
            tables=self.tables,
            keywords=self.keywords,
            about=self._about(),
            stages=self.stages or self.gnt.stage_rows(),
            started=self.started,
            seconds=time.monotonic() - self._clock,
            exit_status=int(session.exitstatus),
            incomplete=self.incomplete(session),
            limits=self.limits,
            gates=[gate.to_json() for gate in self.comparison.gates],
            baseline=self.comparison.about,
            repeats=None if self.flips is None else {"runs": self.gnt.settings.repeats, **asdict(self.flips)},
            stored=[str(merge) for merge in self.comparison.merges],
        )
        write_json(self._folder / SUMMARY, self.summary)
        add_properties(self.gnt.config, self.summary)
        self._pages.write(self._folder)

    def _decide(self, session: pytest.Session, tally: Tally) -> None:
        """Fail closed: a run that could decide too little, or not be compared, is red, whatever the rest says."""
        self.limits = overrun(
            {"tests": tally.tests, "unscored": tally.outcomes["unscored"]},
            self._about()["corpora"],
            max_unscored_rate=self.gnt.settings.max_unscored_rate,
            max_refused_rate=self.gnt.settings.max_refused_rate,
        )
        baseline = self.comparison.about
        other = baseline is not None and not baseline["comparable"]
        if (self.limits or other) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def incomplete(self, session: pytest.Session) -> str | None:
        """Why the results are not those of the whole run; None where they are."""
        if session.exitstatus == pytest.ExitCode.INTERRUPTED:
            return "the run was interrupted"
        if self.crashed:
            return f"{self.crashed} tests left no result (a worker crashed)"
        done = self.tally.tests if self.tally is not None else 0
        if self._expected is not None and done < self._expected:
            return f"{self._expected - done} of {self._expected} tests did not run"
        return None

    def print(self, terminal: pytest.TerminalReporter) -> None:
        """The terminal summary."""
        from pytest_gnt.reports.terminal import corpus_lines, print_summary

        if self.failure is not None:
            terminal.section("pytest-gnt", red=True)
            terminal.line(f"ERROR: {self.failure}", red=True)
            for note in () if self.summary is not None else self.about.get("notes", ()):
                terminal.line(f"note: {note}")
        if self.summary is not None:
            folder = None if self.gnt.settings.report == "none" else self.report_folder
            print_summary(terminal, self.summary, folder)
            for text in self.summary["stored"]:
                terminal.line(f"baseline stored: {text}", green=True)
        elif self.empty:
            terminal.section("pytest-gnt")
            terminal.line(f"no case was selected: {self.gnt.selection_text()}")
            for row in self.gnt.about()["corpora"]:
                for line in corpus_lines(row):
                    terminal.line(line)
        self._say_what_stays(terminal)

    def _say_what_stays(self, terminal: pytest.TerminalReporter) -> None:
        """Say what a run without results leaves, and keep an earlier run's report from being taken for this one's."""
        if self.summary is not None or not self._reports():
            return
        if self._interrupted and self.failure is None:
            terminal.line(
                f"interrupted: what was computed is kept in {self.gnt.store_path}, the next run goes on there"
            )
        if earlier_run(self.report_folder):
            terminal.line(f"no test ran, so no report was written: {self.report_folder} holds an earlier run's")

    def _reports(self) -> bool:
        """Whether the run was to write a report."""
        if self.gnt.config.option.collectonly:
            return False
        try:
            return self.gnt.settings.model is not None and self.gnt.settings.report != "none"
        except GntError:  # a wrong setting, which has been told
            return False

    def close(self) -> None:
        """Release what is open, after an interrupt too."""
        if self.recorder is not None:
            self.recorder.close()
        if self._pages is not None:
            self._pages.close()
        if self._staging is not None:
            self._staging.close()
        if self._temporary is not None:
            self._temporary.cleanup()
