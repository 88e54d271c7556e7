"""The result store: one SQLite file that every process of a run shares.

Answers are keyed by a hash of all that they depend on. Each finished batch is one transaction, so a killed run loses at
most the batches it was working on. Work in progress is leased: a process takes a batch, nobody else computes it, and
the leases of a process that died are taken over.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_gnt.errors import GntError
from pytest_gnt.work import Answer, JsonObject, Work, canonical_json

SCHEMA = 1
BUSY_SECONDS = 60.0
CHUNK = 400  # keys a query; SQLite's default bound on variables is 999 in old builds
REMOTE_LEASE_SECONDS = 900.0

_TABLES = """
CREATE TABLE IF NOT EXISTS contexts (key TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, stage TEXT NOT NULL, context TEXT NOT NULL, input TEXT NOT NULL, value TEXT NOT NULL,
    run TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, owner TEXT NOT NULL, taken REAL NOT NULL) WITHOUT ROWID;
"""

# A process works on one batch at a time: a lease of its own that is still there was given up and can be taken again.
_LEASE = """
INSERT INTO leases VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET taken = excluded.taken WHERE owner = excluded.owner
"""


@dataclass(slots=True)
class Store:
    """An open store.

    ``run`` names the run: answers that may not be kept (a server was away) are seen by the processes of this run only.
    A connection is opened at first use and belongs to the process that opened it.

    Raises:
        GntError: the file cannot be created, read or written, or is of another version; the message names it.
    """

    path: Path
    run: str = ""
    owner: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}")
    _connection: sqlite3.Connection | None = None
    _contexts: set[str] = field(default_factory=set)

    def answers(self, keys: Sequence[str]) -> dict[str, JsonObject]:
        """The stored answers among ``keys``."""
        found: dict[str, JsonObject] = {}
        for chunk in _chunks(keys):
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT key, value FROM answers WHERE key IN ({marks}) AND (run IS NULL OR run = ?)"  # noqa: S608
            with self._guard() as db:
                for key, value in db.execute(sql, (*chunk, self.run)):
                    found[key] = json.loads(value)
        return found

    def commit(self, stage: str, results: Iterable[tuple[Work, Answer]]) -> None:
        """Write a batch and give its leases back, in one transaction."""
        with self._writing() as db:
            for work, answer in results:
                context = work.context.key
                if context not in self._contexts:
                    db.execute(
                        "INSERT OR IGNORE INTO contexts VALUES (?, ?)", (context, canonical_json(work.context.data))
                    )
                    self._contexts.add(context)
                row = (work.key, stage, context, canonical_json(work.input), canonical_json(answer.value))
                db.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
                    (*row, None if answer.keep else self.run),
                )
                db.execute("DELETE FROM leases WHERE key = ?", (work.key,))

    def lease(self, keys: Sequence[str], limit: int) -> list[str]:
        """Take up to ``limit`` of ``keys`` that are neither answered nor leased by a living process."""
        taken: list[str] = []
        with self._writing() as db:
            self._free_dead_leases(db)
            now = time.time()
            for key in keys:
                if len(taken) == limit:
                    break
                sql = "SELECT 1 FROM answers WHERE key = ? AND (run IS NULL OR run = ?)"
                if db.execute(sql, (key, self.run)).fetchone():
                    continue
                if db.execute(_LEASE, (key, self.owner, now)).rowcount:
                    taken.append(key)
        return taken

    def release(self) -> None:
        """Give back every lease of this process."""
        with self._writing() as db:
            db.execute("DELETE FROM leases WHERE owner = ?", (self.owner,))

    def close(self) -> None:
        """Release and close; safe to call twice."""
        if self._connection is not None:
            # A store that can no longer be written keeps leases, and they die with this process.
            with suppress(GntError):
                self.release()
            self._connection.close()
            self._connection = None

    def _free_dead_leases(self, db: sqlite3.Connection) -> None:
        for owner, taken in db.execute("SELECT owner, MAX(taken) FROM leases GROUP BY owner").fetchall():
            if owner != self.owner and not _alive(owner, taken):
                db.execute("DELETE FROM leases WHERE owner = ?", (owner,))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._guard() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def _guard(self) -> Iterator[sqlite3.Connection]:
        try:
            if self._connection is None:
                self._connection = _open(self.path)
            yield self._connection
        except sqlite3.DatabaseError as error:
            raise GntError(_advice(self.path, error)) from error


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GntError(
            f"the result store {path} cannot be created: {error.strerror}. Choose a place by --gnt-store."
        ) from error
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA):
        db.close()
        raise GntError(
            f"the result store {path} is of version {version}, this product writes {SCHEMA}. Use another --gnt-store."
        )
    db.executescript(_TABLES)
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    return db


def _advice(path: Path, error: sqlite3.DatabaseError) -> str:
    if isinstance(error, sqlite3.OperationalError):
        return (
            f"the result store {path} cannot be used: {error}. "
            "Check the disk and the rights, or choose another --gnt-store."
        )
    return f"the result store {path} is damaged: {error}. Move it away; what it held is computed again."


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


def _started(pid: int) -> str:
    """When a process started, in clock ticks since boot; tells a process from a later one of the same number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _alive(owner: str, taken: float) -> bool:
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return time.time() - taken < REMOTE_LEASE_SECONDS
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not started or _started(int(pid)) == started


def explain(store: Store, key: str) -> Mapping[str, Any] | None:
    """The parts behind a stored answer, to see why another request missed it."""
    with store._guard() as db:
        row = db.execute(
            "SELECT a.stage, c.data, a.input FROM answers a JOIN contexts c ON c.key = a.context WHERE a.key = ?",
            (key,),
        ).fetchone()
    return row and {"stage": row[0], "context": json.loads(row[1]), "input": json.loads(row[2])}
