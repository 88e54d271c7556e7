"""A store that is damaged, foreign, full, locked or read-only: one clear message, nothing lost, nothing wrong."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, Work
from tests.faults import project
from tests.faults.runs import Runs

CONTEXT = Context({"stage": "test"})


def work(number: int) -> Work:
    return Work(CONTEXT, {"number": number})


def filled(path: Path, count: int = 2000) -> list[Work]:
    """A closed store with so many answers."""
    works = [work(number) for number in range(count)]
    store = Store(path)
    store.commit("test", [(one, Answer({"text": f"answer {number} " * 5})) for number, one in enumerate(works)])
    store.close()
    return works


def garbage_header(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(random.Random(1).randbytes(200))


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def damaged_page(path: Path) -> None:
    middle = path.stat().st_size // 2 // 4096 * 4096
    with path.open("r+b") as stream:
        stream.seek(middle)
        stream.write(random.Random(1).randbytes(4096))


def not_json(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE answers SET value = substr(value, 1, 9)")
    database.close()


def not_utf8(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE answers SET value = CAST(x'ff00ff' AS TEXT)")
    database.close()


def lost_table(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE answers")
    database.close()


def log_of_another(path: Path) -> None:
    """A log without its database, as a careless copy leaves it, in front of a damaged one."""
    garbage_header(path)
    path.with_name(f"{path.name}-wal").write_bytes(random.Random(1).randbytes(5000))


DAMAGES = [garbage_header, truncated, damaged_page, not_json, not_utf8, lost_table, log_of_another]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_store_is_set_aside_and_said_and_the_work_goes_on(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "store.sqlite"
    works = filled(path)
    damage(path)
    what_was_there = path.read_bytes()
    store = Store(path)
    assert store.answers([one.key for one in works]) == {}
    assert (tmp_path / "store.sqlite.damaged-1").read_bytes() == what_was_there
    assert store.notes == [
        note for note in store.notes if "was damaged" in note and "store.sqlite.damaged-1" in note and str(path) in note
    ]
    assert len(store.notes) == 1
    assert store.lease([works[0].key], 1) == [works[0].key]
    store.commit("test", [(works[0], Answer({"text": "anew"}))])
    store.close()
    assert Store(path).answers([works[0].key]) == {works[0].key: {"text": "anew"}}


def test_each_damaged_store_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    for number in range(3):
        filled(path, 1)
        garbage_header(path)
        store = Store(path)
        assert store.answers(["x"]) == {}
        store.close()
        assert (tmp_path / f"store.sqlite.damaged-{number + 1}").is_file()


def test_damage_that_a_second_process_finds_too_costs_one_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    works = filled(path)
    damaged_page(path)
    one, other = Store(path), Store(path)
    keys = [one.key for one in works]
    assert one.lease(["new"], 1) == other.lease(["new"], 1)  # both have the old file open
    one.answers(keys)
    one.commit("test", [(works[0], Answer({"text": "anew"}))])
    assert other.answers(keys) == {works[0].key: {"text": "anew"}}
    assert [path.name for path in tmp_path.glob("*damaged*") if path.suffix == ".damaged-1"] == [
        "store.sqlite.damaged-1"
    ]
    assert not list(tmp_path.glob("*damaged-2*"))
    assert one.notes
    assert not other.notes


def test_a_store_that_is_deleted_under_a_run_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    store = Store(path)
    store.commit("test", [(work(1), Answer({"n": 1}))])
    for one in tmp_path.iterdir():
        one.unlink()
    store.commit("test", [(work(2), Answer({"n": 2}))])
    store.close()
    assert Store(path).answers([work(1).key, work(2).key]) == {work(2).key: {"n": 2}}


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE answers (other INTEGER)")
    database.execute("PRAGMA user_version = 99")
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(GntError, match=r"store\.sqlite is of version 99, this product writes 1"):
        Store(path).answers(["x"])
    assert path.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {"store.sqlite"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_text("case_id\ttranslation\n" * 300, encoding="utf-8"), "is a text file"),
        (lambda path: _foreign(path), "is a database of another program"),
    ],
)
def test_what_is_no_store_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "mine"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(GntError, match=message) as caught:
        Store(path).answers(["x"])
    assert "--gnt-store" in str(caught.value)
    assert {one.name for one in tmp_path.iterdir()} == {"mine"}
    assert before is None or path.read_bytes() == before


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bookmarks (url TEXT)")
    database.close()


def test_a_full_disk_keeps_what_was_committed_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    works = filled(path, 50)
    store = Store(path)
    store.answers([])
    store.lease(["x"], 1)
    assert store._connection is not None
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    more = [(work(1000 + number), Answer({"text": "long " * 1000})) for number in range(50)]
    with pytest.raises(GntError, match=r"store\.sqlite cannot be used: its disk is full.*free the disk") as caught:
        store.commit("test", more)
    assert str(path) in str(caught.value)
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.commit("test", more)
    assert len(store.answers([one.key for one in works] + [one.key for one, _ in more])) == 100


def test_a_store_that_stays_locked_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    filled(path, 1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = Store(path, patience=0.2)
    with pytest.raises(GntError, match="another process keeps it locked"):
        store.lease(["x"], 1)
    holder.execute("ROLLBACK")
    holder.close()
    assert store.lease(["x"], 1) == ["x"]


def test_an_interrupt_in_a_transaction_leaves_the_store_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store.sqlite")
    assert store.lease(["x"], 1)
    assert store._connection is not None
    store._connection.execute("BEGIN IMMEDIATE")  # as if Ctrl-C had come right behind it
    assert store.lease(["y"], 1) == ["y"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Store, "_take", _interrupted)
        store.lease(["z"], 1)
    store.commit("test", [(work(1), Answer({"n": 1}))])
    assert Store(tmp_path / "store.sqlite").answers([work(1).key])


def _interrupted(*arguments: object) -> None:
    raise KeyboardInterrupt


def test_an_answer_that_may_be_kept_stands_against_a_later_one(tmp_path: Path) -> None:
    one, other = Store(tmp_path / "s", run="one"), Store(tmp_path / "s", run="other")
    one.commit("test", [(work(1), Answer({"text": "there"}))])
    other.commit("test", [(work(1), Answer({"reason": "transport"}, keep=False))])
    other.commit("test", [(work(1), Answer({"text": "late"}))])
    assert Store(tmp_path / "s").answers([work(1).key]) == {work(1).key: {"text": "there"}}


def test_a_context_is_stored_with_the_answers_that_need_it_after_a_failed_commit_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    assert store.lease([work(1).key], 1)
    assert store._connection is not None
    store._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(GntError, match="cannot be written"):
        store.commit("test", [(work(1), Answer({"n": 1}))])
    store._connection.execute("PRAGMA query_only = OFF")
    store.commit("test", [(work(1), Answer({"n": 1}))])
    assert store.explain(work(1).key) == {"stage": "test", "context": {"stage": "test"}, "input": {"number": 1}}


WRITER = """
import sys
from pathlib import Path
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, Work

store = Store(Path(sys.argv[1]))
context = Context({"stage": "test"})
number = int(sys.argv[2])
while True:
    store.commit("test", [(Work(context, {"number": number + one}), Answer({"text": "x" * 3000})) for one in range(20)])
    number += 20
    print(number, flush=True)
"""


def test_a_process_killed_inside_a_commit_loses_nothing_that_was_committed_before(tmp_path: Path) -> None:
    chance = random.Random("commit")
    path = tmp_path / "store.sqlite"
    done = 0
    for _ in range(15):
        command = [sys.executable, "-c", WRITER, str(path), str(done)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.1))
            writer.kill()
            said = [done + 20, *map(int, writer.stdout.read().split("\n")[:-1])]
        done = max(said)
        store = Store(path)
        assert len(store.answers([work(number).key for number in range(done)])) == done
        store.close()
        assert not store.notes
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()


class Counting:
    """A provider that answers a request by its number."""

    stage = "test"
    batch_size = 8

    def __init__(self) -> None:
        self.asked: list[int] = []

    def work(self, subject: int) -> Work:
        return work(subject)

    def run(self, works: list[Work]) -> Iterator[tuple[int, Answer]]:
        for index, one in enumerate(works):
            self.asked.append(one.input["number"])
            yield index, Answer({"z": one.input["number"], "a": (1, 2)})

    def read(self, subject: int, answer: dict[str, object]) -> tuple[int, str]:
        return subject, repr(answer)

    def close(self) -> None:
        pass


def test_evidence_is_the_same_whether_it_was_computed_or_stored(tmp_path: Path) -> None:
    fresh = Executor(Store(tmp_path / "s")).compute(Counting(), [1, 2, 3])
    stored = Executor(Store(tmp_path / "s")).compute(Counting(), [1, 2, 3])
    assert fresh == stored


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, runs: Runs) -> Path:
    """A project that has been run."""
    folder = tmp_path_factory.mktemp("faults") / "done"
    folder.mkdir()
    project.make(folder)
    runs.run(folder, "--gnt-update-baseline")
    return folder


def copy(done: Path) -> Path:
    folder = done.with_name("run")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(done, folder)
    return folder


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_run_over_a_damaged_store_ends_as_ever_and_says_what_it_did(
    done: Path, runs: Runs, workers: tuple[str, ...]
) -> None:
    folder = copy(done)
    garbage_header(folder / ".gnt" / "store.sqlite")
    status = runs.run(folder, "--gnt-update-baseline", *workers)
    text = (folder / "out.txt").read_text()
    assert status == 0, text
    assert "store.sqlite.damaged-1" in text
    assert (folder / ".gnt" / "store.sqlite.damaged-1").is_file()
    assert not (folder / ".gnt" / "store.sqlite.damaged-2").exists()
    before, after = project.results(done), project.results(folder)
    assert after.cases == before.cases
    assert after.baselines == before.baselines
    assert any("store.sqlite.damaged-1" in note for note in after.summary["notes"])
    assert set(project.asked(folder).values()) == {2}, "once before, once now"


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_run_over_a_foreign_store_is_one_error(done: Path, runs: Runs, workers: tuple[str, ...]) -> None:
    folder = copy(done)
    shutil.rmtree(folder / ".gnt")
    (folder / ".gnt" / "store.sqlite").mkdir(parents=True)
    status = runs.run(folder, *workers)
    text = (folder / "out.txt").read_text()
    assert status == pytest.ExitCode.USAGE_ERROR, text
    assert text.count("is a folder. Give --gnt-store a file.") == 1, text
    assert "an earlier run" in text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can make a small disk, and not everywhere")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_full_for_the_store_ends_the_run_with_one_error_and_room_lets_it_go_on(
    done: Path, runs: Runs, small_disk: Path
) -> None:
    folder = copy(done)
    project.version(folder, 2)
    (folder / "asked.txt").unlink()
    store = f"--gnt-store={small_disk / 'store.sqlite'}"
    (small_disk / "ballast").write_bytes(bytes(928_000))
    before = project.results(folder)
    status = runs.run(folder, store, "--gnt-update-baseline")
    text = (folder / "out.txt").read_text()
    assert status == pytest.ExitCode.USAGE_ERROR, text
    assert text.count("its disk is full") == 1, text
    assert project.results(folder) == before
    (small_disk / "ballast").unlink()
    assert runs.run(folder, store, "--gnt-update-baseline") == 0, (folder / "out.txt").read_text()
    assert project.asked(folder).total() <= 24 + project.BATCH


def test_a_disk_that_is_full_for_the_report_keeps_the_old_report_and_the_answers(
    done: Path, runs: Runs, small_disk: Path
) -> None:
    folder = copy(done)
    shutil.copytree(folder / "gnt-report", small_disk / "report", ignore=shutil.ignore_patterns("*.html"))
    before = {path.name: path.read_bytes() for path in (small_disk / "report").iterdir()}
    ballast = os.open(small_disk / "ballast", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space"):
        while True:
            os.write(ballast, bytes(4096))
    os.close(ballast)
    status = runs.run(folder, f"--gnt-report={small_disk / 'report'}")
    text = (folder / "out.txt").read_text()
    assert status == pytest.ExitCode.USAGE_ERROR, text
    assert text.count("No space left on device") == 1, text
    assert "INTERNALERROR" not in text
    assert {path.name: path.read_bytes() for path in (small_disk / "report").iterdir()} == before


def test_two_runs_at_once_are_both_right_and_ask_for_nothing_twice(done: Path, runs: Runs) -> None:
    folder = copy(done)
    project.version(folder, 2)
    (folder / "asked.txt").unlink()
    with Runs() as others:
        others.begin(folder, "--gnt-report=one", environment={"PACE": "0.03"})
        status = runs.run(folder, "--gnt-report=other", environment={"PACE": "0.03"})
        assert others.end() == status
    assert (folder / "one" / "cases.jsonl").read_bytes() == (folder / "other" / "cases.jsonl").read_bytes()
    assert set(project.asked(folder).values()) == {1}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_may_not_be_written_is_one_error(tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    with pytest.raises(GntError, match="Make its folder writable, or choose another --gnt-store"):
        Store(folder / "store.sqlite").answers(["x"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_store_on_a_read_only_disk_is_one_error(small_disk: Path) -> None:
    filled(small_disk / "store.sqlite", 3)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    before = {path.name: path.read_bytes() for path in small_disk.iterdir()}
    with pytest.raises(GntError, match=r"store\.sqlite cannot be used: Read-only file system.*--gnt-store"):
        Store(small_disk / "store.sqlite").answers(["x"])
    assert {path.name: path.read_bytes() for path in small_disk.iterdir()} == before
