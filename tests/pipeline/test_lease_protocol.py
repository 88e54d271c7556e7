"""The lease protocol in any order of events: workers come, take work, commit, crash, wait, and are taken for dead."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from pytest_gnt.pipeline.owners import REMOTE_LEASE_SECONDS
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, Work

CONTEXT = Context({"stage": "protocol"})
WORKS = {work.key: work for work in (Work(CONTEXT, {"number": number}) for number in range(7))}


class Worker:
    """A process on another machine: the store cannot ask whether it lives, and goes by the clock."""

    def __init__(self, machine: LeaseProtocol, number: int, run: str) -> None:
        self.number = number
        self.run = run
        self.store = Store(machine.path, run=run, owner=f"elsewhere:{number}:0", clock=lambda: machine.now)
        self.held: set[str] = set()
        self.seen = 0.0

    def lost(self, now: float) -> bool:
        """Whether it has been silent for so long that it may be taken for dead."""
        return now - self.seen >= REMOTE_LEASE_SECONDS


class LeaseProtocol(RuleBasedStateMachine):
    """What the store promises, against a model that only remembers."""

    workers = Bundle("workers")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name) / "store"
        self.now = 1000.0
        self.made = 0
        self.living: list[Worker] = []
        self.kept: dict[str, object] = {}
        self.passing: dict[str, str] = {}

    @rule(target=workers, run=st.sampled_from(["one", "other"]))
    def begin(self, run: str) -> Worker:
        self.made += 1
        worker = Worker(self, self.made, run)
        self.living.append(worker)
        return worker

    @rule(worker=workers, limit=st.integers(1, 4))
    def lease(self, worker: Worker, limit: int) -> None:
        taken = worker.store.lease(list(WORKS), limit)
        free = [key for key in WORKS if self._is_free(key, worker)]
        assert taken == free[:limit], "in order, and all that is free"
        for other in self.living:
            if other is not worker and other.lost(self.now):
                other.held.clear()  # whoever was silent for too long has lost what it held
        worker.held |= set(taken)
        if worker.held:
            worker.seen = self.now

    def _is_free(self, key: str, worker: Worker) -> bool:
        if key in self.kept or self.passing.get(key) == worker.run:
            return False
        return not any(key in other.held and not other.lost(self.now) for other in self.living if other is not worker)

    @precondition(lambda self: self.living)
    @rule(worker=workers, data=st.data(), keep=st.booleans())
    def commit(self, worker: Worker, data: st.DataObject, keep: bool) -> None:
        """Also of what was leased and lost meanwhile: a slow worker does not know."""
        done = data.draw(st.lists(st.sampled_from(sorted(WORKS)), unique=True, max_size=3))
        value = {"by": worker.number, "at": self.now}
        worker.store.commit("protocol", [(WORKS[key], Answer(value, keep=keep)) for key in done])
        for key in done:
            for other in self.living:
                other.held.discard(key)
            if key not in self.kept and keep:
                self.kept[key] = value
                self.passing.pop(key, None)
            elif key not in self.kept:
                self.passing[key] = worker.run
        if done and worker.held:
            worker.seen = self.now  # a commit renews what is still held

    @rule(worker=consumes(workers))
    def crash(self, worker: Worker) -> None:
        """Without a word: its leases stay until they are too old."""
        assert worker.store._connection is None or not worker.store._connection.in_transaction
        worker.store._disconnect()

    @rule(worker=consumes(workers))
    def leave(self, worker: Worker) -> None:
        worker.store.close()
        if worker.seen:  # it had opened the store
            worker.held.clear()

    @rule(seconds=st.sampled_from([1.0, 100.0, REMOTE_LEASE_SECONDS - 1, REMOTE_LEASE_SECONDS]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def no_key_is_leased_to_two(self) -> None:
        held = [key for worker in self.living if not worker.lost(self.now) for key in worker.held]
        assert len(held) == len(set(held))

    @invariant()
    def no_answer_is_lost(self) -> None:
        found = Store(self.path, run="a third").answers(list(WORKS))
        assert found == self.kept

    def teardown(self) -> None:
        """Whatever has happened, a worker that stays gets everything done."""
        self.now += REMOTE_LEASE_SECONDS
        last = Worker(self, self.made + 1, "last")
        rest = last.store.lease(list(WORKS), len(WORKS))
        assert set(rest) == WORKS.keys() - self.kept.keys()
        last.store.commit("protocol", [(WORKS[key], Answer({"by": "last"})) for key in rest])
        assert last.store.answers(list(WORKS)).keys() == WORKS.keys()
        for worker in [*self.living, last]:
            worker.store._disconnect()
        self._folder.cleanup()


LeaseProtocol.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLeaseProtocol = LeaseProtocol.TestCase
