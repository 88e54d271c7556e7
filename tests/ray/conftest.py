"""A cluster of two nodes on this machine for the whole session, and a project whose system is a small program."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

SECONDS = 120
"""A run that takes longer hangs."""

NODE = {"num_cpus": 1, "num_gpus": 1, "object_store_memory": 80 * 1024 * 1024}

# The GPU of a node is one for the cluster's books only.

PROGRAM = '''
"""Translates, takes its time, and writes down for whom it did what. Words of a sentence make it fail."""
import json, os, signal, sys, time

with open("gpus.txt", "a") as log:
    log.write(os.environ.get("CUDA_VISIBLE_DEVICES", "") + "\\n")

for line in sys.stdin:
    request = json.loads(line)
    source = request["source"]
    with open("asked.txt", "a") as log:
        log.write(f"{os.getppid()} {request['case_id']}\\n")
    time.sleep(0.05)
    if "crash" in source:
        sys.exit(3)
    if "murder" in source:
        os.kill(os.getppid(), signal.SIGKILL)
    if "chatter" in source:
        print("hello", flush=True)
    reply = {"id": request["id"], "translation": "Ha detto \\ud800: " + source}
    if "refuse" in source:
        reply = {"id": request["id"], "error": "no"}
    print(json.dumps(reply), flush=True)
'''

SUITE = """
from pytest_gnt import cases

@cases("house")
def test_translated(translation):
    assert translation.text

@cases("house")
def test_judged(judgement):
    assert judgement.label
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.ray)
            if importlib.util.find_spec("ray") is None:
                item.add_marker(pytest.mark.skip(reason="Ray is not installed here (make test-ray)"))


class TwoNodes:
    """The cluster. ``node`` is the one without the head; a lost one is replaced."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        self.pids = {self._cluster.head_node.all_processes["raylet"][0].process.pid}
        self.node: Any = None
        self.complete()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    @property
    def raylet(self) -> int:
        return int(self.node.all_processes["raylet"][0].process.pid)

    def complete(self) -> None:
        """Add the second node where there is none."""
        if self.node is None:
            self.node = self._cluster.add_node(**NODE)
            self.pids.add(self.raylet)
        self._cluster.wait_for_nodes(30)

    def kill_node(self) -> None:
        """End the second node at once, as if its plug had been pulled."""
        victims = [self.raylet, *children(self.raylet)]
        node, self.node = self.node, None
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        self._cluster.remove_node(node, allow_graceful=False)

    def shutdown(self) -> None:
        self._cluster.shutdown()


def children(parent: int) -> list[int]:
    """Processes that another has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and parent_of(int(entry.name)) == parent:
            found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


@pytest.fixture(scope="session")
def _nodes() -> Iterator[TwoNodes]:
    folder = tempfile.mkdtemp(prefix="gnt-ray-", dir="/tmp")  # sockets lie in it: a short path
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": folder}
    try:
        cluster = TwoNodes()
        try:
            yield cluster
        finally:
            cluster.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert not [pid for pid in cluster.pids if Path(f"/proc/{pid}/cmdline").is_file() and alive(pid)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.fixture
def cluster(_nodes: TwoNodes) -> TwoNodes:
    _nodes.complete()
    return _nodes


class Project:
    """A table of sentences, a program that translates them, and a configuration."""

    def __init__(self, path: Path, address: str) -> None:
        self.path = path
        self.address = address
        self.runs: list[subprocess.Popen[str]] = []
        self.write("translate.py", PROGRAM)
        self.write("test_house.py", SUITE)
        self.configure()
        self.sentences(24)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")

    def configure(self, ray: str = "batch_size = 3", models: str = "", address: str | None = None) -> None:
        argv = json.dumps([sys.executable, "translate.py"])
        self.write(
            "gnt.toml",
            '[corpora.house]\npath = "house.tsv"\nlang = "it"\n'
            f'[models.mine]\nbackend = "command"\nargv = {argv}\n{models}\n'
            f'[ray]\naddress = "{address or self.address}"\n{ray}\n',
        )

    def sentences(self, count: int, **special: str) -> None:
        """Sentences by number; ``n7="…"`` changes the seventh."""
        rows = [
            f"{number}\t{special.get(f'n{number}', f'Sentence number {number} of the house.')}\tSet-N\n"
            for number in range(count)
        ]
        self.write("house.tsv", "id\tsource\tset\n" + "".join(rows))

    def command(self, *arguments: str) -> list[str]:
        base = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short"]
        return [*base, "--gnt-model=mine", "--gnt-executor=ray", *arguments]

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        self.runs.append(
            subprocess.Popen(
                self.command(*arguments),
                cwd=self.path,
                env={**os.environ, "PYTHONPATH": str(self.path), **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        )
        return self.runs[-1]

    def close(self) -> None:
        """End what a failed test has left running."""
        for run in self.runs:
            if run.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(run.pid, signal.SIGKILL)
                run.communicate()

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Exit status and output of a run."""
        return finished(self.start(*arguments, **environment))

    def asked(self) -> list[tuple[int, str]]:
        """For which process and which case the program was asked, in order."""
        path = self.path / "asked.txt"
        if not path.exists():
            return []
        rows = (line.split() for line in path.read_text().splitlines() if line.count(" ") == 1)
        return [(int(parent), case) for parent, case in rows]

    def forget(self) -> None:
        (self.path / "asked.txt").unlink(missing_ok=True)

    def cases(self, folder: str = "gnt-report") -> bytes:
        return (self.path / folder / "cases.jsonl").read_bytes()

    def stages(self, folder: str = "gnt-report") -> dict[str, dict[str, Any]]:
        summary = json.loads((self.path / folder / "report.json").read_text(encoding="utf-8"))
        return {row["stage"]: row for row in summary["stages"]}

    def stored(self, stage: str = "translate") -> int:
        try:
            with closing(sqlite3.connect(f"file:{self.path}/.gnt/store.sqlite?mode=ro", uri=True)) as db:
                return int(db.execute("SELECT COUNT(*) FROM answers WHERE stage = ?", (stage,)).fetchone()[0])
        except sqlite3.OperationalError:  # it is just being made
            return 0


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a run's end; ends it where it hangs."""
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"the run hangs:\n{output[-3000:]}")
    return process.returncode, output


def wait_until(condition: Callable[[], bool], what: str, run: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition, during a run where one is given."""
    end = time.monotonic() + SECONDS
    while not condition():
        if run is not None and run.poll() is not None:
            pytest.fail(f"the run ended while the test waited {what}:\n{run.communicate()[0][-3000:]}")
        if time.monotonic() > end:
            pytest.fail(f"waited in vain: {what}")
        time.sleep(0.02)


def repeated_cases(asked: list[tuple[int, str]]) -> set[str]:
    return {case for case, times in Counter(case for _, case in asked).items() if times > 1}


@pytest.fixture
def project(tmp_path: Path, cluster: TwoNodes) -> Iterator[Project]:
    made = Project(tmp_path, cluster.address)
    yield made
    made.close()
