"""Workers of pytest-xdist: the same results in any arrangement, nothing computed twice, dead ones replaced."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from tests.faults import project
from tests.faults.project import BATCH, Results
from tests.faults.runs import Runs

FIRST_GPU, SECOND_GPU = "GPU-8f2a0d5e-1b6c", "MIG-GPU-41c7/3/0"
PACE = {"PACE": "0.02"}
"""A system that takes its time, so that each worker gets a part of the work."""

SLOW = {"PACE": "0.2"}
"""So slow that the worker which is to die gets a part, however late it starts."""


class Plain:
    """A project, and what a run without workers leaves."""

    def __init__(self, folder: Path, runs: Runs) -> None:
        self.folder = folder
        self.runs = runs
        self.count = len(project.make(folder))
        whole = self.copy()
        self.status = runs.run(whole)
        self.outcomes = outcomes(whole)
        self.results = results_of(whole)

    def copy(self) -> Path:
        folder = self.folder.with_name("run")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        return folder


def results_of(folder: Path) -> Results:
    (folder / "baselines" / "mine").mkdir(parents=True, exist_ok=True)
    return project.results(folder)


def outcomes(folder: Path) -> str:
    """The counts in pytest's last line."""
    last = (folder / "out.txt").read_text().splitlines()[-1]
    return re.sub(r" in [0-9.]+s.*", "", last.strip("= "))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, runs: Runs) -> Plain:
    folder = tmp_path_factory.mktemp("workers") / "project"
    folder.mkdir()
    return Plain(folder, runs)


@pytest.mark.parametrize(
    "arguments",
    [
        "-n0",
        "-n1 --dist loadfile",
        "-n2 --dist load",
        "-n2 --dist loadscope",
        "-n4 --dist worksteal",
        "-n2 --dist each",
    ],
)
def test_any_number_of_workers_and_any_distribution_give_the_same(plain: Plain, arguments: str) -> None:
    folder = plain.copy()
    status = plain.runs.run(folder, *arguments.split(), environment=PACE)
    text = (folder / "out.txt").read_text()
    assert status == plain.status, text
    assert results_of(folder) == plain.results
    assert set(project.asked(folder).values()) == {1}
    # Workers that each run every test multiply the counts that pytest prints, and nothing else.
    assert (outcomes(folder) == plain.outcomes) is ("each" not in arguments)
    assert f"gnt: translating: {plain.count} to compute" in text
    assert re.search(rf"gnt: translate: {plain.count} requests, 0 stored, {plain.count} computed in", text)


@pytest.mark.parametrize("distribution", ["load", "loadscope"])
def test_a_worker_that_dies_at_work_is_replaced_and_costs_one_batch(plain: Plain, distribution: str) -> None:
    folder = plain.copy()
    environment = {**SLOW, "CUDA_VISIBLE_DEVICES": f"{FIRST_GPU},{SECOND_GPU}"}
    moment = {"alone": "translate"}
    status = plain.runs.run(folder, "-n2", "--dist", distribution, moment=moment, environment=environment)
    text = (folder / "out.txt").read_text()
    assert "replacing crashed worker gw0" in text
    assert status == plain.status, text
    assert outcomes(folder) == plain.outcomes
    assert results_of(folder) == plain.results
    asked = project.asked(folder)
    assert len(asked) == plain.count
    assert asked.total() <= plain.count + BATCH
    devices = set((folder / "devices.txt").read_text().splitlines())
    assert devices == {f"gw0 {FIRST_GPU}", f"gw1 {SECOND_GPU}", f"gw2 {FIRST_GPU}"}


def test_a_dead_worker_that_may_not_be_replaced_ends_the_run_and_keeps_what_was_done(plain: Plain) -> None:
    folder = plain.copy()
    moment = {"alone": "translate"}
    status = plain.runs.run(folder, "-n2", "--max-worker-restart=0", moment=moment, environment=SLOW)
    text = (folder / "out.txt").read_text()
    assert "worker gw0 crashed and worker restarting disabled" in text
    assert status not in (0, 1), text
    assert plain.runs.run(folder) == plain.status
    assert results_of(folder) == plain.results
    assert project.asked(folder).total() <= plain.count + BATCH * 2


def test_the_order_of_a_corpus_rows_changes_no_result(plain: Plain) -> None:
    folder = plain.copy()
    for name in ("house.tsv", "people.tsv"):
        header, *rows = (folder / name).read_text(encoding="utf-8").splitlines()
        random.Random(name).shuffle(rows)
        (folder / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert plain.runs.run(folder, environment=PACE) == plain.status
    found = results_of(folder)
    assert _without_places(found.cases) == _without_places(plain.results.cases)
    named = {"signature", "corpora"}  # they hold a hash of the files
    assert {key: value for key, value in found.summary.items() if key not in named} == {
        key: value for key, value in plain.results.summary.items() if key not in named
    }


def _without_places(cases: bytes) -> str:
    """The records without their lines in the file."""
    return re.sub(r"\.tsv:\d+", ".tsv", cases.decode("ascii"))
