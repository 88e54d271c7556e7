"""Baselines under kill -9, with two writers, on full disks and in read-only folders."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from records import SIGNATURE, baseline, entries

from pytest_gnt import files
from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.baseline import read_baseline, write_baseline
from pytest_gnt.verdicts.update import update_baseline

HERE = Path(__file__).parent
KILLS = 25

WRITER = """
import sys
from pathlib import Path
from records import SIGNATURE, baseline, entries
from pytest_gnt.verdicts.baseline import write_baseline
folder, outcomes = Path(sys.argv[1]), ("passed", "failed")
states = [
    baseline(entries([one] * (300 + place)), SIGNATURE.replace("m@1", f"m@{one}"))
    for place, one in enumerate(outcomes)
]
print("ready", flush=True)
while True:
    for state in states:
        write_baseline(folder, state)
"""

UPDATER = """
import sys
from pathlib import Path
from records import SIGNATURE, entry
from pytest_gnt.verdicts.update import update_baseline
folder, first = Path(sys.argv[1]), int(sys.argv[2])
for number in range(first, first + 30):
    update_baseline(folder, "mgente", [entry(f"{number:05}")], model="m", signature=SIGNATURE, revision="ab12")
"""


def child(code, *arguments):
    paths = [str(HERE), str(HERE.parents[1])]
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_writer_leaves_one_of_the_two_states_whole(tmp_path):
    """Lines and summary belong together: each state has its own number of cases and its own signature."""
    delays = random.Random(3)
    seen = set()
    for _ in range(KILLS):
        writer = child(WRITER, tmp_path)
        try:
            assert writer.stdout.readline() == "ready\n"
            time.sleep(delays.uniform(0.02, 0.08))
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        if not (tmp_path / "mgente.jsonl").exists():
            continue
        found = read_baseline(tmp_path, "mgente")
        state = "passed" if found.counts()["passed"] else "failed"
        assert found.counts()[state] == len(found.entries) == {"passed": 300, "failed": 301}[state]
        assert f"m@{state}" in found.signature
        seen.add(state)
    assert seen == {"passed", "failed"}, "the kills came at one moment only"
    write_baseline(tmp_path, baseline(entries(["passed"])))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mgente.jsonl", "summary.json"]


@pytest.mark.parametrize("stop_at", range(1, 4))
@pytest.mark.parametrize("first", [True, False])
def test_a_stop_after_each_step_leaves_lines_and_summary_of_one_state(tmp_path, monkeypatch, stop_at, first):
    old, new = baseline(entries(["passed"])), baseline(entries(["failed"] * 2), SIGNATURE.replace("m@1", "m@2"))
    if not first:
        write_baseline(tmp_path, old)
    steps = []
    real = files.replace_file

    def step(path, lines):
        steps.append(path.name)
        if len(steps) == stop_at:
            raise KeyboardInterrupt
        real(path, lines)

    monkeypatch.setattr("pytest_gnt.verdicts.baseline.replace_file", step)
    with pytest.raises(KeyboardInterrupt):
        write_baseline(tmp_path, new)
    monkeypatch.undo()
    if first and stop_at <= 2:
        with pytest.raises(GntError, match="no baseline"):
            read_baseline(tmp_path, "mgente")
    else:
        found = read_baseline(tmp_path, "mgente")
        expected = new if stop_at == 3 else old
        assert (found.signature, found.counts()) == (expected.signature, expected.counts())
    # A second stop at the same place, then a whole write.
    monkeypatch.setattr("pytest_gnt.verdicts.baseline.replace_file", step)
    steps.clear()
    with pytest.raises(KeyboardInterrupt):
        write_baseline(tmp_path, new)
    monkeypatch.undo()
    if not first and stop_at < 3:
        assert read_baseline(tmp_path, "mgente").signature == old.signature
    write_baseline(tmp_path, new)
    assert read_baseline(tmp_path, "mgente").counts() == new.counts()


def test_two_updaters_at_once_lose_nothing(tmp_path):
    updaters = [child(UPDATER, tmp_path, first) for first in (0, 100, 200)]
    assert [updater.wait(timeout=120) for updater in updaters] == [0, 0, 0]
    for updater in updaters:
        updater.stdout.close()
    found = read_baseline(tmp_path, "mgente")
    wanted = [f"mgente/en-it/{first + number:05}" for first in (0, 100, 200) for number in range(30)]
    assert list(found.entries) == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mgente.jsonl", "summary.json"]


def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path, monkeypatch):
    write_baseline(tmp_path, baseline(entries(["passed"])))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(GntError, match=r"No space left on device.*unchanged"):
        update_baseline(tmp_path, "mgente", entries(["failed"]), model="m", signature=SIGNATURE, revision="ab12")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GntError, match=r"cannot be written: .*choose another"):
        write_baseline(tmp_path / "file" / "m", baseline(entries(["passed"])))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the next test covers the error")
def test_a_read_only_folder_is_a_clear_error(tmp_path):
    write_baseline(tmp_path, baseline(entries(["passed"])))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(GntError, match="cannot be written"):
            write_baseline(tmp_path, baseline(entries(["failed"])))
        assert read_baseline(tmp_path, "mgente").counts()["passed"] == 1
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_refused_lock_is_a_clear_error(tmp_path, monkeypatch, code):
    write_baseline(tmp_path, baseline(entries(["passed"])))

    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(GntError, match="cannot be written"):
        write_baseline(tmp_path, baseline(entries(["failed"])))
    monkeypatch.undo()
    assert read_baseline(tmp_path, "mgente").counts()["passed"] == 1
