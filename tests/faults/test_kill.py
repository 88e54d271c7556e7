"""A run that is killed at any moment, started again, leaves what a run leaves that was never killed."""

from __future__ import annotations

import json
import os
import random
import shutil
from array import array
from collections import defaultdict
from pathlib import Path

import pytest

from tests.faults import project
from tests.faults.project import BATCH
from tests.faults.runs import Runs

KILLS = int(os.environ.get("GNT_KILLS", "20"))
"""Kills without xdist; a tenth as many with it."""

SHARDS = 2

UPDATE = "--gnt-update-baseline"

PARTS = {
    "store": ("pytest_gnt.pipeline.store", "pytest_gnt.pipeline.store_file", "pytest_gnt.pipeline.owners"),
    "translating": ("pytest_gnt.translators", "pytest_gnt.pipeline.executor", "pytest_gnt.pipeline.stages"),
    "judging": ("pytest_gnt.judges",),
    "attitude": ("pytest_gnt.metrics.attitude", "pytest_gnt.pipeline.attitudes", "pytest_gnt.metrics.alignment"),
    "quality": ("pytest_gnt.metrics.bleu", "pytest_gnt.pipeline.word_scores"),
    "tests": ("pytest_gnt.runner.items", "pytest_gnt.verdicts.assertions", "pytest_gnt.runner.recorder"),
    "records": ("pytest_gnt.runner.recorder", "pytest_gnt.runner.staging", "pytest_gnt.runner.control"),
    "baselines": ("pytest_gnt.verdicts.update", "pytest_gnt.verdicts.baseline", "pytest_gnt.verdicts.entry"),
    "files": ("pytest_gnt.files",),
    "pages": ("pytest_gnt.reports",),
}
"""Where a run is killed: as often in each part, however short it is."""


class Killed:
    """A project with the results of an older version of the system, where the run of a new version is killed.

    ``old`` and ``new`` are what the two leave when nothing happens.
    """

    def __init__(self, folder: Path, runs: Runs) -> None:
        self.runs = runs
        self.before = folder / "before"
        self.before.mkdir()
        self.count = len(project.make(self.before))
        assert runs.run(self.before, UPDATE) == 0, (self.before / "out.txt").read_text()
        self.old = project.results(self.before)
        project.version(self.before, 2)
        (self.before / "asked.txt").unlink()
        whole = self.copy("whole")
        assert runs.run(whole, UPDATE, moment={"record": "events"}) == 0, (whole / "out.txt").read_text()
        self.new = project.results(whole)
        assert self.old.cases != self.new.cases
        assert self.old.baselines != self.new.baselines
        self.parts = _parts(whole / "events")

    def copy(self, name: str) -> Path:
        folder = self.before.with_name(name)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.before, folder)
        return folder

    def check(self, folder: Path, workers: int = 1) -> None:
        """Look at what the kill left, run again, and look at what that leaves."""
        project.check_whole(folder, self.old, self.new)
        status = self.runs.run(folder, UPDATE)
        assert status == 0, (folder / "out.txt").read_text()
        assert project.results(folder) == self.new
        project.check_tidy(folder)
        asked = project.asked(folder)
        assert len(asked) == self.count
        assert asked.total() <= self.count + BATCH * workers, "at most the batches under way are computed again"


def _parts(record: Path) -> dict[str, list[int]]:
    """The moments of an undisturbed run, by part."""
    names = json.loads(record.with_suffix(".json").read_text())
    events = array("H")
    events.frombytes(record.read_bytes())
    parts: dict[str, list[int]] = defaultdict(list)
    wanted = {
        number: part
        for number, name in enumerate(names)
        for part, modules in PARTS.items()
        if any(name == module or name.startswith(f"{module}.") for module in modules)
    }
    for moment, number in enumerate(events, 1):
        if number in wanted:
            parts[wanted[number]].append(moment)
    return parts


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, runs: Runs) -> Killed:
    return Killed(tmp_path_factory.mktemp("killed"), runs)


def test_every_part_of_a_run_has_moments(killed: Killed) -> None:
    assert killed.parts.keys() == PARTS.keys()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_run_killed_anywhere_ends_like_any_other_when_it_is_run_again(killed: Killed, shard: int) -> None:
    chance = random.Random(f"kill {shard}")
    parts = [part for _ in range(KILLS) for part in PARTS][shard:KILLS:SHARDS]
    for part in parts:
        moment = chance.choice(killed.parts[part])
        folder = killed.copy("run")
        status = killed.runs.run(folder, UPDATE, moment={"at": moment})
        assert status == -9, f"moment {moment} ({part}) was not reached: {(folder / 'out.txt').read_text()}"
        killed.check(folder)


def test_a_run_killed_again_and_again_gets_done(killed: Killed) -> None:
    chance = random.Random("again")
    folder = killed.copy("run")
    kills = 0
    for _ in range(12):
        moment = chance.choice([moment for part in killed.parts.values() for moment in part])
        kills += killed.runs.run(folder, UPDATE, moment={"at": moment}) == -9
        project.check_whole(folder, killed.old, killed.new)
    assert kills >= 3  # the more is stored, the fewer moments there are
    killed.check(folder, workers=kills + 1)


@pytest.mark.parametrize("part", ["controller", "worker"])
def test_a_run_with_workers_killed_anywhere_ends_like_any_other(killed: Killed, part: str) -> None:
    chance = random.Random(f"workers {part}")
    longest = max(max(moments) for moments in killed.parts.values())
    kills = 0
    for _ in range(max(2, KILLS // 20)):
        folder = killed.copy("run")
        moment = {"at" if part == "controller" else "worker": chance.randrange(longest // 20, longest // 2)}
        kills += killed.runs.run(folder, UPDATE, "-n2", moment=moment) == -9
        killed.check(folder, workers=2)
    assert kills
