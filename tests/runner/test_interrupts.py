"""Killed and interrupted runs: what was computed is kept, what was not is computed, reports say what is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runner.conftest import House

SLOW_PLUGIN = '''
"""A translator that takes its time and writes down what it was asked for."""
import time
from pathlib import Path

from pytest_gnt.evidence import Translation
from pytest_gnt.work import Answer, Context, Work

ASKED = Path(__file__).with_name("asked.txt")

class Slow:
    stage = "translate"
    batch_size = 2
    context = Context({"stage": "translate", "model": "slow"})

    def work(self, case):
        return Work(self.context, {"source": case.source})

    def run(self, works):
        for index, work in enumerate(works):
            time.sleep(0.15)
            with ASKED.open("a") as stream:
                stream.write(work.input["source"] + "\\n")
            yield index, Answer({"text": work.input["source"].upper()})

    def read(self, case, answer):
        return Translation(case=case, text=answer["text"], raw=answer["text"])

    def close(self):
        pass

def pytest_gnt_translator(config, name, settings):
    return Slow() if settings["backend"] == "slow" else None
'''

N = 24


@pytest.fixture
def slow(house: House) -> House:
    house.write("slow.py", SLOW_PLUGIN)
    rows = "".join(f"{number}\tSentence number {number} of the house.\tSet-N\n" for number in range(N))
    house.write("house.tsv", "id\tsource\tset\n" + rows)
    house.write("gnt.toml", '[corpora.house]\npath="house.tsv"\nlang="it"\n[models.slow]\nbackend="slow"\n')
    house.write(
        "test_house.py",
        'from pytest_gnt import cases\n\n@cases("house")\ndef test_x(translation):\n    assert translation.text\n',
    )
    return house


def start(house: House, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "slow", "--gnt-model=slow", *arguments]
    return subprocess.Popen(
        command,
        cwd=house.path,
        env={**os.environ, "PYTHONPATH": str(house.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def wait_for(path: Path, lines: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and len(path.read_text().splitlines()) >= lines:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} did not grow to {lines} lines")


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_killed_run_goes_on_where_it_stopped(slow: House, workers: tuple[str, ...]) -> None:
    asked = slow.path / "asked.txt"
    process = start(slow, *workers)
    wait_for(asked, 7)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = asked.read_text().splitlines()
    assert len(before) < N
    again = start(slow)
    out, _ = again.communicate(timeout=120)
    assert again.returncode == 0, out.decode()
    after = asked.read_text().splitlines()
    assert set(after) == {f"Sentence number {number} of the house." for number in range(N)}
    batch, processes = 2, 2 if workers else 1
    assert len(after) - N <= batch * processes, "at most the batches under way are computed again"
    assert len(slow.cases()) == N


def test_ctrl_c_keeps_what_is_done_and_ends_with_2(slow: House) -> None:
    asked = slow.path / "asked.txt"
    process = start(slow)
    wait_for(asked, 5)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    done = len(asked.read_text().splitlines())
    again = start(slow)
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert len(asked.read_text().splitlines()) <= N + 1, f"{done} were done before the interrupt"


def test_workers_compute_nothing_twice(slow: House) -> None:
    process = start(slow, "-n2")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out.decode()
    asked = (slow.path / "asked.txt").read_text().splitlines()
    assert len(asked) == N == len(set(asked))


def test_a_run_that_stops_early_says_what_is_missing(slow: House) -> None:
    slow.write(
        "test_house.py",
        'from pytest_gnt import cases\n\n@cases("house")\ndef test_x(translation):\n    assert not translation.text\n',
    )
    process = start(slow, "-x")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"INCOMPLETE: {N - 1} of {N} tests did not run" in out.decode()
    assert slow.summary()["complete"] is False
