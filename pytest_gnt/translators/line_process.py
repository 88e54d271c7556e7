"""A child process that is talked to in lines, without ever blocking on a full pipe.

One thread writes, one reads replies, one keeps the end of what the program says on standard error. The child is the
leader of a process group of its own, so that closing it also ends what it has started.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from pytest_gnt.errors import EngineFailure

MAX_LINE = 1_000_000
"""Longest reply line in bytes; a longer one is cut into lines that are malformed."""

_STDERR_LINES = 20
_STDERR_WIDTH = 300
_GRACE = 2.0
"""Seconds that a program gets to end by itself."""


class LineProcess:
    """A running program.

    Args:
        argv: the program and its arguments; no shell is involved.
        env: variables to set beside the ones of this process.
        cwd: its working folder.

    Raises:
        EngineFailure: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise EngineFailure(f"cannot start the program {argv[0]!r}: {error}; check argv") from None
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._inbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._threads = [
            threading.Thread(target=target, args=(pipe,), daemon=True)
            for target, pipe in (
                (self._write, self._process.stdin),
                (self._read, self._process.stdout),
                (self._listen, self._process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def send(self, lines: Iterable[bytes]) -> None:
        """Queue lines for the program; returns at once."""
        for line in lines:
            self._outbox.put(line + b"\n")

    def end_input(self) -> None:
        """Close the program's standard input behind the lines sent so far."""
        self._outbox.put(None)

    def receive(self, timeout: float) -> bytes | None:
        """The next line of output without its end; None where the program has closed its output.

        Raises:
            TimeoutError: nothing came within so many seconds.
        """
        try:
            return self._inbox.get(timeout=max(0.0, timeout))
        except queue.Empty:
            raise TimeoutError from None

    def how_it_ended(self) -> str:
        """One sentence on the exit and the last lines of standard error; for a program whose output is closed."""
        try:
            code: int | None = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            code = None
        self._threads[2].join(_GRACE if code is not None else 0.1)
        if code is None:
            ended = "closed its output and runs on"
        elif code < 0:
            ended = f"was ended by signal {-code}"
        else:
            ended = f"ended with exit status {code}"
        said = " | ".join(self._stderr)
        return f"{ended}; standard error: {said}" if said else f"{ended} and said nothing on standard error"

    def close(self) -> None:
        """End the program and everything in its process group."""
        self.end_input()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            # The group outlives its leader where the program has started others.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, sign)
            if sign is signal.SIGTERM:
                self._wait_for_end()
        self._process.wait()
        for thread in self._threads:
            thread.join(_GRACE)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _wait_for_end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)

    def _write(self, pipe: IO[bytes]) -> None:
        # A program that has closed its input is noticed by its output ending.
        with contextlib.suppress(OSError, ValueError):
            while (line := self._outbox.get()) is not None:
                pipe.write(line)
                if self._outbox.empty():
                    pipe.flush()
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _read(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(MAX_LINE):
                self._inbox.put(line.rstrip(b"\r\n"))
        self._inbox.put(None)

    def _listen(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(MAX_LINE):
                text = line.decode("utf-8", "replace").strip()
                if text:
                    self._stderr.append(text[:_STDERR_WIDTH])


def deadline(seconds: float) -> float:
    """The moment so many seconds from now, on the clock of `remaining`."""
    return time.monotonic() + seconds


def remaining(moment: float) -> float:
    """Seconds until a moment; never negative."""
    return max(0.0, moment - time.monotonic())
