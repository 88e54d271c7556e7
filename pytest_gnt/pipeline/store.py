"""The result store: one SQLite file that every process of a run shares.

Answers are keyed by a hash of all that they depend on. Each finished batch is one transaction, so a killed run loses at
most the batches it was working on. Work in progress is leased: a process takes a batch, nobody else computes it, and
the leases of a process that died are taken over.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.owners import owner_name, works
from pytest_gnt.pipeline.store_file import (
    BUSY_SECONDS,
    DamagedStore,
    Identity,
    advice,
    connect,
    identity,
    set_aside,
)
from pytest_gnt.work import Answer, Context, JsonObject, Work, canonical_json

CHUNK = 400  # keys a query; SQLite's default bound on variables is 999 in old builds

# A process works on one batch at a time: a lease of its own that is still there was given up and can be taken again.
_LEASE = """
INSERT INTO leases VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET taken = excluded.taken WHERE owner = excluded.owner
"""

# The first answer that may be kept stands: who read it and who comes later see the same.
_ANSWER = """
INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, run = excluded.run WHERE answers.run IS NOT NULL
"""

_SEEN = "SELECT 1 FROM answers WHERE key = ? AND (run IS NULL OR run = ?)"

ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class Store:
    """An open store.

    A connection is opened at first use and belongs to the process that opened it. A store that turns out to be damaged
    is renamed, the run goes on with a new one, and ``notes`` says so.

    Attributes:
        path: the file.
        run: names the run: answers that may not be kept (a server was away) are seen by the processes of this run only.
        owner: names this process, see `owner_name`.
        clock: seconds since the epoch.
        patience: seconds to wait for another process' transaction.

    Raises:
        GntError: the file cannot be created, read or written, or is of another version; the message names it.
    """

    path: Path
    run: str = ""
    owner: str = field(default_factory=lambda: owner_name(os.getpid()))
    clock: Callable[[], float] = time.time
    patience: float = BUSY_SECONDS
    notes: list[str] = field(default_factory=list)
    _connection: sqlite3.Connection | None = None
    _opened: Identity | None = None
    _contexts: set[str] = field(default_factory=set)

    def answers(self, keys: Sequence[str]) -> dict[str, JsonObject]:
        """The stored answers among ``keys``."""
        found: dict[str, JsonObject] = {}
        for chunk in _chunks(keys):
            found.update(self._use(lambda db, chunk=chunk: self._select(db, chunk)))  # type: ignore[misc]
        return found

    def commit(self, stage: str, results: Iterable[tuple[Work, Answer]]) -> None:
        """Write a batch and give its leases back, in one transaction; renew the leases that this process still holds.

        An answer that is stored already stays as it is, unless it was one that may not be kept.
        """
        rows: list[tuple[Any, ...]] = []
        contexts: dict[str, Context] = {}
        for work, answer in results:
            rows.append(_row(stage, work, answer, self.run))
            contexts[work.context.key] = work.context
        if not rows:
            return
        self._use(lambda db: self._write(db, lambda: self._insert(db, contexts, rows)))
        self._contexts.update(contexts)

    def lease(self, keys: Sequence[str], limit: int) -> list[str]:
        """Take up to ``limit`` of ``keys``, in order, that are neither answered nor leased by a living process."""
        return self._use(lambda db: self._write(db, lambda: self._take(db, keys, limit)))

    def release(self) -> None:
        """Give back every lease of this process."""
        self._use(lambda db: self._write(db, lambda: db.execute("DELETE FROM leases WHERE owner = ?", (self.owner,))))

    def explain(self, key: str) -> Mapping[str, Any] | None:
        """The parts behind a stored answer, to see why another request missed it."""
        sql = "SELECT a.stage, c.data, a.input FROM answers a JOIN contexts c ON c.key = a.context WHERE a.key = ?"
        row = self._use(lambda db: db.execute(sql, (key,)).fetchone())
        return row and {"stage": row[0], "context": json.loads(row[1]), "input": json.loads(row[2])}

    def close(self) -> None:
        """Release and close; safe to call twice."""
        if self._connection is not None:
            # A store that can no longer be written keeps leases, and they die with this process.
            with suppress(GntError):
                self.release()
            self._disconnect()

    def _select(self, db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, JsonObject]:
        marks = ",".join("?" * len(keys))
        sql = f"SELECT key, value FROM answers WHERE key IN ({marks}) AND (run IS NULL OR run = ?)"  # noqa: S608
        try:
            return {key: json.loads(value) for key, value in db.execute(sql, (*keys, self.run))}
        except (ValueError, TypeError, RecursionError) as error:
            raise DamagedStore(f"an answer is not JSON: {error}") from error

    def _insert(self, db: sqlite3.Connection, contexts: Mapping[str, Context], rows: Sequence[tuple[Any, ...]]) -> None:
        for key in contexts.keys() - self._contexts:
            db.execute("INSERT OR IGNORE INTO contexts VALUES (?, ?)", (key, canonical_json(contexts[key].data)))
        db.executemany(_ANSWER, rows)
        db.executemany("DELETE FROM leases WHERE key = ?", [row[:1] for row in rows])
        db.execute("UPDATE leases SET taken = ? WHERE owner = ?", (self.clock(), self.owner))

    def _take(self, db: sqlite3.Connection, keys: Sequence[str], limit: int) -> list[str]:
        now = self.clock()
        for owner, taken in db.execute("SELECT owner, MAX(taken) FROM leases GROUP BY owner").fetchall():
            if owner != self.owner and not works(owner, now - taken):
                db.execute("DELETE FROM leases WHERE owner = ?", (owner,))
        mine: list[str] = []
        for key in keys:
            if len(mine) == limit:
                break
            if db.execute(_SEEN, (key, self.run)).fetchone():
                continue
            if db.execute(_LEASE, (key, self.owner, now)).rowcount:
                mine.append(key)
        return mine

    def _write(self, db: sqlite3.Connection, action: Callable[[], ResultT]) -> ResultT:
        """Do something in one transaction."""
        if db.in_transaction:  # an interrupt fell between the beginning of one and its care
            db.execute("ROLLBACK")
        db.execute("BEGIN IMMEDIATE")
        try:
            done = action()
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk ends it by itself
                with suppress(sqlite3.DatabaseError):
                    db.execute("ROLLBACK")
            raise
        return done

    def _use(self, action: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Do something with the store; once more, with a new one, where it turns out to be damaged."""
        try:
            return self._try(action)
        except DamagedStore as damage:
            self._replace(damage)
        try:
            return self._try(action)
        except DamagedStore as damage:
            raise GntError(f"the result store {self.path} is damaged again: {damage}. Check the disk.") from damage

    def _try(self, action: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        # Another process may have set the file aside, or someone has deleted it: what is written to it would be lost.
        if self._connection is not None and identity(self.path) != self._opened:
            self._disconnect()
        if self._connection is None:
            self._connection = connect(self.path, self.patience)
            self._opened = identity(self.path)
        with advice(self.path):
            return action(self._connection)

    def _replace(self, damage: DamagedStore) -> None:
        seen = self._opened or identity(self.path)
        self._disconnect()
        aside = set_aside(self.path, seen)
        if aside is not None:
            self.notes.append(
                f"the result store {self.path} was damaged ({damage}): it lies in {aside.name} now, and what it held "
                "is computed again"
            )

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._opened = None, None
        self._contexts.clear()


def _row(stage: str, work: Work, answer: Answer, run: str) -> tuple[Any, ...]:
    parts = (canonical_json(work.input), canonical_json(answer.value))
    return work.key, stage, work.context.key, *parts, None if answer.keep else run


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]
