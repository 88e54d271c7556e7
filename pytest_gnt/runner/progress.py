"""Progress of the stages: a bar on a terminal; elsewhere a line at the start, at the end and every 30 seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_gnt.pipeline.executor import Progress, Silent, StageCount

if TYPE_CHECKING:
    from rich.progress import TaskID

LINE_SECONDS = 30.0

_NAMES = {"translate": "translating", "judge": "judging", "attitude": "scoring attitude", "quality": "scoring quality"}


@contextmanager
def progress_for(config: pytest.Config) -> Iterator[Progress]:
    """The progress display of a session, with output capturing suspended while it is shown.

    A worker of xdist has no terminal; it tells the process that controls it.
    """
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput"):
        from pytest_gnt.runner.worker_progress import teller

        yield teller(config.workerinput)
        return
    if terminal is None:
        yield Silent()
        return
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is None:
        with Bars(terminal) as bars:
            yield bars
        return
    with capture.global_and_fixture_disabled(), Bars(terminal) as bars:
        yield bars


class Bars:
    """A rich progress bar for each stage that computes anything, then one line with its counts and throughput."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._terminal = terminal
        self._console = Console(file=terminal._tw._file, force_terminal=True if terminal.isatty else None)
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not terminal.isatty,
        )
        self._task: TaskID | None = None
        self._name = ""
        self._total = self._done = 0
        self._started = self._said = 0.0

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._bars.stop()

    def start(self, stage: str, total: int) -> None:
        if not total:
            return
        self._name, self._total, self._done = _NAMES.get(stage, stage), total, 0
        self._started = self._said = time.monotonic()
        if self._terminal.isatty:
            self._task = self._bars.add_task(self._name, total=total, speed="")
        else:
            self._line(f"gnt: {self._name}: {total} to compute …")

    def advance(self, count: int) -> None:
        self._done += count
        if self._task is not None:
            task = self._bars.tasks[-1]
            speed = f"{task.speed:.1f}/s" if task.speed else ""
            self._bars.update(self._task, advance=count, speed=speed)
        elif not self._terminal.isatty and time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            self._line(self._so_far(self._said - self._started))

    def receive(self, count: int) -> None:
        self.advance(count)

    def note(self, text: str) -> None:
        self._line(f"gnt: {text}")

    def _so_far(self, seconds: float) -> str:
        """E.g. ``gnt: translating: 120 of 264 (3.1/s, 46 s left)``."""
        text = f"gnt: {self._name}: {self._done} of {self._total}"
        if not self._done or not seconds:
            return text
        speed = self._done / seconds
        return f"{text} ({speed:.1f}/s, {max(0, self._total - self._done) / speed:.0f} s left)"

    def finish(self, count: StageCount) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        self._line(stage_line(count))

    def _line(self, text: str) -> None:
        if self._terminal.verbosity >= 0:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def stage_line(count: StageCount) -> str:
    """One stage in words, e.g. ``gnt: translate: 264 requests, 200 stored, 64 computed in 41.0 s (1.6/s)``."""
    parts = [f"{count.requested} requests", f"{count.stored} stored"]
    if count.computed:
        speed = f" ({count.computed / count.seconds:.1f}/s)" if count.seconds > 0 else ""
        parts.append(f"{count.computed} computed in {count.seconds:.1f} s{speed}")
    if count.elsewhere:
        parts.append(f"{count.elsewhere} by other processes")
    return f"gnt: {count.stage}: {', '.join(parts)}"
