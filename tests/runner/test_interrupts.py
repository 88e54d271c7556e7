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
REPORT = {"cases.jsonl", "report.html", "report.json", "report.md"}


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


@pytest.mark.parametrize("workers", [(), ("-n2",)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_stage_keeps_what_is_done_and_ends_with_2(
    slow: House, number: signal.Signals, workers: tuple[str, ...]
) -> None:
    asked = slow.path / "asked.txt"
    process = start(slow, *workers)
    wait_for(asked, 5)
    # A terminal sends Ctrl-C to every process of a run, a job runner asks the first one to end.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out.decode()
    assert "what was computed is kept in" in out.decode()
    done = len(asked.read_text().splitlines())
    again = start(slow)
    again.communicate(timeout=120)
    assert again.returncode == 0
    under_way = 2 if workers else 1
    assert len(asked.read_text().splitlines()) <= N + under_way, f"{done} were done before the interrupt"
    assert slow.summary()["complete"] is True


INTERRUPTING = """
import os, signal, sys, time
from pytest_gnt import cases

@cases("house")
def test_x(case, translation):
    if case.id.endswith("/9"):
        os.kill({process}, signal.SIGINT)
        time.sleep(0.5)
"""


@pytest.mark.parametrize(("workers", "process"), [((), "os.getpid()"), (("-n2",), "os.getppid()")])
def test_interrupted_tests_leave_a_report_that_says_that_it_is_partial(
    slow: House, workers: tuple[str, ...], process: str
) -> None:
    slow.write("slow.py", SLOW_PLUGIN.replace("0.15", "0"))
    slow.write("test_house.py", INTERRUPTING.replace("{process}", process))
    interrupted = start(slow, *workers)
    out, _ = interrupted.communicate(timeout=60)
    assert interrupted.returncode == pytest.ExitCode.INTERRUPTED, out.decode()
    summary = slow.summary()
    assert summary["complete"] is False
    assert summary["incomplete_why"] == "the run was interrupted"
    assert 0 < summary["counts"]["tests"] < N
    assert len(slow.cases()) == summary["counts"]["cases"]
    assert "INCOMPLETE: the run was interrupted" in out.decode()
    assert {path.name for path in (slow.path / "gnt-report").iterdir()} == REPORT


def test_an_interrupted_run_leaves_the_report_of_an_earlier_one_and_says_so(slow: House) -> None:
    slow.write("slow.py", SLOW_PLUGIN.replace("0.15", "0"))
    assert start(slow).wait(60) == 0
    before = slow.summary()
    slow.write("slow.py", SLOW_PLUGIN.replace('"model": "slow"', '"model": "slower"'))
    (slow.path / "asked.txt").unlink()
    process = start(slow)
    wait_for(slow.path / "asked.txt", 3)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert "gnt-report holds an earlier run's" in out.decode()
    assert slow.summary() == before


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
