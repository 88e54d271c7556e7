"""The store: keys, leases, transactions, and what happens to a damaged or read-only file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.owners import REMOTE_LEASE_SECONDS, owner_name
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, Work

CONTEXT = Context({"stage": "test", "model": "m"})


def work(text: str) -> Work:
    return Work(CONTEXT, {"text": text})


def test_an_answer_is_found_again_by_another_process(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "store.sqlite")
    store.commit("test", [(work("a\ud800\u2028 None"), Answer({"text": "b\ud800"}))])
    store.close()
    other = Store(tmp_path / "deep" / "store.sqlite")
    key = work("a\ud800\u2028 None").key
    assert other.answers([key, work("c").key]) == {key: {"text": "b\ud800"}}
    parts = other.explain(key)
    assert parts == {"stage": "test", "context": dict(CONTEXT.data), "input": {"text": "a\ud800\u2028 None"}}


@given(
    first=st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=4),
    second=st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=4),
)
def test_keys_differ_exactly_when_a_part_differs(first: dict[str, object], second: dict[str, object]) -> None:
    one, other = Work(CONTEXT, first), Work(CONTEXT, second)
    assert (one.key == other.key) == (first == second)
    assert (Context(first).key == Context(second).key) == (first == second)
    if first != second:
        assert Work(Context(first), {}).key != Work(Context(second), {}).key


def test_a_key_does_not_depend_on_the_order_of_parts() -> None:
    assert Work(CONTEXT, {"a": 1, "b": 2}).key == Work(CONTEXT, {"b": 2, "a": 1}).key


def test_an_answer_that_may_not_be_kept_is_seen_by_its_own_run_only(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    first = Store(path, run="one")
    first.commit("test", [(work("a"), Answer({"reason": "transport"}, keep=False))])
    assert first.answers([work("a").key])
    second = Store(path, run="two")
    assert not second.answers([work("a").key])
    assert second.lease([work("a").key], 1) == [work("a").key]
    second.commit("test", [(work("a"), Answer({"text": "there"}))])
    assert Store(path, run="three").answers([work("a").key]) == {work("a").key: {"text": "there"}}


def test_what_one_process_leased_another_does_not_get(tmp_path: Path) -> None:
    keys = [work(str(number)).key for number in range(5)]
    one = Store(tmp_path / "s")
    # The owner of this test's second store is another living process: the parent of this one.
    other = Store(tmp_path / "s", owner=owner_name(os.getppid()))
    assert one.lease(keys, 2) == keys[:2]
    assert other.lease(keys, 9) == keys[2:]
    assert other.lease(keys[:2], 9) == []
    assert one.lease(keys[2:], 9) == []
    other.release()
    assert one.lease(keys[2:], 9) == keys[2:]


def test_a_lease_that_its_process_gave_up_is_taken_again(tmp_path: Path) -> None:
    keys = [work("a").key]
    assert Store(tmp_path / "s").lease(keys, 1) == keys
    assert Store(tmp_path / "s").lease(keys, 1) == keys


def test_the_lease_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = owner_name(child.pid)
    dead = Store(tmp_path / "s", owner=owner)
    assert dead.lease([work("a").key], 1)
    one = Store(tmp_path / "s")
    assert one.lease([work("a").key], 1) == []
    child.communicate()
    assert one.lease([work("a").key], 1) == [work("a").key]


def test_a_failed_commit_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    good, bad = (work("a"), Answer({"x": 1})), (work("b"), Answer({"x": float("nan")}))
    with pytest.raises(ValueError, match="JSON"):
        store.commit("test", [good, bad])
    assert store.answers([work("a").key]) == {}
    store.commit("test", [good])
    assert len(store.answers([work("a").key])) == 1


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(GntError, match="version 99"):
        Store(path).answers(["x"])


def test_a_store_that_cannot_be_created_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GntError, match="--gnt-store"):
        Store(tmp_path / "file" / "store.sqlite").answers(["x"])


def test_many_keys_are_looked_up(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    works = [work(str(number)) for number in range(3000)]
    store.commit("test", [(one, Answer({"n": number})) for number, one in enumerate(works)])
    found = store.answers([one.key for one in works])
    assert [found[one.key]["n"] for one in works] == list(range(3000))


def test_a_commit_renews_the_leases_that_are_still_held(tmp_path: Path) -> None:
    now = [1000.0]
    slow = Store(tmp_path / "s", owner="elsewhere:1:0", clock=lambda: now[0])
    other = Store(tmp_path / "s", owner="elsewhere:2:0", clock=lambda: now[0])
    keys = [work("a").key, work("b").key]
    assert slow.lease(keys, 2) == keys
    now[0] += REMOTE_LEASE_SECONDS - 1
    slow.commit("test", [(work("a"), Answer({"text": "A"}))])
    now[0] += REMOTE_LEASE_SECONDS - 1
    assert other.lease(keys, 2) == []
    now[0] += 1
    assert other.lease(keys, 2) == [work("b").key]


def test_a_killed_process_that_nobody_has_waited_for_is_dead(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    dead = Store(tmp_path / "s", owner=owner_name(child.pid))
    assert dead.lease([work("a").key], 1)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and still has its number
    assert Store(tmp_path / "s").lease([work("a").key], 1) == [work("a").key]
    child.communicate()
