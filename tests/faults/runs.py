"""Runs that start at once: forked from a process that has made such a run, and so has loaded everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SERVER = """
import contextlib, io, json, os, sys, tempfile
from pathlib import Path

import pytest

from tests.faults import project

COMMON = ["-p", "no:cacheprovider", "-p", "tests.faults.killer"]

with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    project.make(Path(folder))
    os.chdir(folder)
    status = pytest.main(COMMON)
    os.chdir("/")
sys.modules.pop("test_suite")
assert status in (0, 1), status
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        os.environ.update(order["environment"])
        os.chdir(order["folder"])
        out = os.open("out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0); os.dup2(out, 1); os.dup2(out, 2)
        os._exit(int(pytest.main([*COMMON, *order["arguments"]])))
    _, status = os.waitpid(child, 0)
    print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)
"""


@dataclass
class Runs:
    """Starts runs of pytest in a folder and waits for them. The status is negative for a killed one."""

    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Runs:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)])),
        }
        for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID", "PYTEST_ADDOPTS"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd="/",
        )
        while self._read() != "ready":
            pass
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.communicate()

    def run(
        self,
        folder: Path,
        *arguments: str,
        moment: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
    ) -> int:
        """One run; ``moment`` is for the plugin that kills. What it prints stands in ``out.txt``."""
        self.begin(folder, *arguments, moment=moment, environment=environment)
        return self.end()

    def begin(
        self,
        folder: Path,
        *arguments: str,
        moment: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """Start a run."""
        assert self._process is not None
        assert self._process.stdin is not None
        plan = folder / "moment.json"
        plan.unlink(missing_ok=True)
        if moment is not None:
            plan.write_text(json.dumps(moment))
        order = {"folder": str(folder), "arguments": arguments, "environment": environment or {}}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def end(self) -> int:
        """Wait for the run that was started; its status."""
        status: int = json.loads(self._read())
        return status

    def _read(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server ended"
        return line.strip()
