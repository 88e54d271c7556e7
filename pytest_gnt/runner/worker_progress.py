"""Progress of the stages that xdist's workers compute, shown by the process that controls them.

Each worker keeps a small file with what it has done; the controlling process reads them twice a second. It leaves a
file of its own when it is interrupted: workers that compute end then, instead of going on for nobody.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pytest_gnt.pipeline.executor import Progress, Silent, StageCount
from pytest_gnt.runner.progress import Bars

FOLDER = "gnt_progress"
"""Key in a worker's input: the folder of the files."""

SECONDS = 0.5

_STOP = "stop.now"


@dataclass(slots=True)
class Stage:
    """One stage in one worker. ``total`` is what was missing when it began, in all workers together."""

    stage: str
    total: int
    requested: int = 0
    stored: int = 0
    computed: int = 0
    seconds: float = 0.0


def teller(workerinput: Mapping[str, Any]) -> Progress:
    """What a worker tells its progress to."""
    folder = workerinput.get(FOLDER)
    return Silent() if folder is None else Teller(Path(folder) / str(workerinput["workerid"]))


class Teller(Silent):
    """Keeps the file of one worker. A file that cannot be written costs nothing but the display."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stages: list[Stage] = []
        self._told = 0.0

    def start(self, stage: str, total: int) -> None:
        self._stages.append(Stage(stage, total))
        self._tell()

    def advance(self, count: int) -> None:
        self._stages[-1].computed += count
        if time.monotonic() - self._told >= SECONDS:
            self._tell()

    def finish(self, count: StageCount) -> None:
        stage = self._stages[-1]
        stage.requested, stage.stored, stage.seconds = count.requested, count.stored, count.seconds
        self._tell()

    def note(self, text: str) -> None:
        """Travels with the worker's other notes, see `Control.send`."""

    def _tell(self) -> None:
        self._told = time.monotonic()
        if self._path.with_name(_STOP).exists():
            raise KeyboardInterrupt("the controlling process was interrupted")
        temporary = self._path.with_suffix(".new")
        with suppress(OSError):
            temporary.write_text(json.dumps([asdict(stage) for stage in self._stages]), encoding="utf-8")
            temporary.replace(self._path)


class Watch:
    """Shows the progress of all workers until it is stopped. ``KEY`` is the key of ``folder`` in a worker's input."""

    KEY = FOLDER

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._folder = TemporaryDirectory(prefix="gnt-progress-")
        self._bars = Bars(terminal)
        self._shown: list[int] = []
        self._finished = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gnt-progress", daemon=True)

    @property
    def folder(self) -> str:
        """For the workers' input."""
        return self._folder.name

    def start(self) -> None:
        """Begin to look; safe to call again."""
        if not self._thread.is_alive() and not self._stop.is_set():
            self._thread.start()

    def stop(self, *, interrupted: bool = False) -> None:
        """Show the last counts and end; safe to call again. ``interrupted`` ends the work of the workers too."""
        if self._stop.is_set():
            return
        if interrupted:
            with suppress(OSError):
                (Path(self._folder.name) / _STOP).touch()
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def close(self) -> None:
        """Remove the files, when no worker is left."""
        self.stop()
        self._folder.cleanup()

    def _run(self) -> None:
        opened = False
        while True:
            last = self._stop.wait(SECONDS)
            stages = merged(Path(self._folder.name))
            if stages and not opened and any(stage.total for stage in stages):
                self._bars.__enter__()
                opened = True
            self._show(stages)
            if last:
                break
        while self._finished < len(stages):
            self._end(stages[self._finished])
        if opened:
            self._bars.__exit__()

    def _show(self, stages: list[Stage]) -> None:
        for place, stage in enumerate(stages):
            if place == len(self._shown):
                # The stage before is over when a worker begins the next.
                while self._finished < place:
                    self._end(stages[self._finished])
                self._shown.append(0)
                self._bars.start(stage.stage, stage.total)
            computed = min(stage.computed, stage.total)
            if place == len(self._shown) - 1 and computed > self._shown[place]:
                self._bars.advance(computed - self._shown[place])
                self._shown[place] = computed

    def _end(self, stage: Stage) -> None:
        self._finished += 1
        if not stage.requested:
            self._bars.note(f"{stage.stage}: broken off, {stage.computed} of {stage.total} computed")
            return
        self._bars.finish(StageCount(stage.stage, stage.requested, stage.stored, stage.computed, 0, stage.seconds))


def merged(folder: Path) -> list[Stage]:
    """The stages in order, with what all workers did together."""
    stages: list[Stage] = []
    for path in sorted(folder.glob("*")):
        if path.suffix:
            continue
        with suppress(OSError, ValueError, TypeError):
            for place, told in enumerate(Stage(**fields) for fields in json.loads(path.read_text(encoding="utf-8"))):
                if place == len(stages):
                    stages.append(told)
                else:
                    _add(stages[place], told)
    return stages


def _add(stage: Stage, told: Stage) -> None:
    stage.computed += told.computed
    stage.total = max(stage.total, told.total)
    stage.seconds = max(stage.seconds, told.seconds)
    if told.requested:  # it has finished the stage
        # What a worker finds stored that another has just computed was not there when the stage began.
        stage.stored = min(stage.stored, told.stored) if stage.requested else told.stored
        stage.requested = told.requested
