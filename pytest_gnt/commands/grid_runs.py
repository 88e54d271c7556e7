"""The runs of one model of a grid, in a process of their own: one pytest session a prompt configuration.

Started by ``gnt grid`` as ``python -m pytest_gnt.commands.grid_runs PLAN``. The plan is a JSON list of passes; a pass
is a list of runs, each with ``name``, ``args`` (pytest's), ``log`` and ``status`` (files to write). The model is loaded
once a pass: sessions of a pass share engines, and between two passes they are closed, so that a judge's model and the
translator's are not in memory together.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FINISHED = (0, 1)
"""Exit statuses of a session that ran to its end."""
INTERRUPTED = 2
INTERNAL_ERROR = 3


def main(plan: str) -> int:
    """Run a plan; 0 when it came to its end (whatever the runs gave), else pytest's status for an interrupt."""
    from pytest_gnt.runner.kept_engines import keep_engines

    console = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    for runs in json.loads(Path(plan).read_text(encoding="utf-8")):
        with keep_engines():
            for run in runs:
                started = time.monotonic()
                status = _session(run)
                Path(run["status"]).write_text(str(status), encoding="ascii")
                result = "done" if status in FINISHED else f"pytest ended with {status}, see {run['log']}"
                print(f"gnt grid: {run['name']}: {result} in {time.monotonic() - started:.1f} s", file=console)
                if status == INTERRUPTED:
                    return status
    return 0


def _session(run: Mapping[str, Any]) -> int:
    import pytest

    with _output_to(Path(run["log"])):
        try:
            return int(pytest.main(run["args"]))
        except Exception:  # a plugin of the user's, or a fault of ours: the other runs of the plan go on
            traceback.print_exc()
            return INTERNAL_ERROR


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Send everything that this process and its children print to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, number in zip(kept, (1, 2), strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
