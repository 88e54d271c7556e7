"""A pytest plugin that kills the run at a chosen moment, without mercy.

A moment is a number of events (calls, returns) in the product's own code, so that every part of a run can be hit, and
hit again. ``moment.json`` in the working folder says how: ``{"at": N}`` kills the process group at event N of this
process, ``{"worker": N}`` the same in any worker of xdist; ``{"alone": STAGE}`` kills the first worker alone, when it
has computed an answer of a stage that is not committed;
``{"record": FILE}`` writes down the module of each event instead. Workers write their GPUs to ``devices.txt``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from array import array
from pathlib import Path
from types import FrameType

import pytest

from pytest_gnt.pipeline.store import Store
from pytest_gnt.translators.command import CommandTranslator
from tests.faults.project import BATCH

PLAN = Path("moment.json")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    CommandTranslator.__init__.__kwdefaults__["batch_size"] = BATCH  # type: ignore[index]
    plan = json.loads(PLAN.read_text()) if PLAN.is_file() else {}
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        with Path("devices.txt").open("a") as stream:
            stream.write(f"{worker} {os.environ.get('CUDA_VISIBLE_DEVICES')}\n")
    if "record" in plan:
        config.add_cleanup(_record(Path(plan["record"])))
    elif worker is None and "at" in plan:
        _kill_at(plan["at"], lambda: os.killpg(0, signal.SIGKILL))
    elif worker is not None and "worker" in plan:
        _kill_at(plan["worker"], lambda: os.killpg(0, signal.SIGKILL))
    elif worker == "gw0" and "alone" in plan:
        _kill_before_commit(plan["alone"])


def _kill_at(moment: int, kill: object) -> None:
    left = moment

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if frame.f_globals.get("__name__", "").startswith("pytest_gnt"):
            left -= 1
            if not left:
                kill()  # type: ignore[operator]

    sys.setprofile(profile)


def _kill_before_commit(stage: str) -> None:
    def commit(store: Store, of: str, results: object) -> None:
        if of == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    Store.commit = commit  # type: ignore[method-assign, assignment]


def _record(path: Path) -> object:
    names: dict[str, int] = {}
    events = array("H")

    def profile(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("pytest_gnt"):
            events.append(names.setdefault(name, len(names)))

    sys.setprofile(profile)

    def write() -> None:
        sys.setprofile(None)
        path.write_bytes(events.tobytes())
        path.with_suffix(".json").write_text(json.dumps(list(names)))

    return write
