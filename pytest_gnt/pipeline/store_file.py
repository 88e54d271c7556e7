"""The file behind the store: opened as ours, refused where it is not, set aside where it is damaged."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pytest_gnt.errors import GntError
from pytest_gnt.files import give_lock_back, take_lock

SCHEMA = 1
BUSY_SECONDS = 60.0

Identity = tuple[int, int]
"""Device and number of a file: another file under the same name has another."""

_TABLES = {
    "contexts": "key TEXT PRIMARY KEY, data TEXT NOT NULL",
    "answers": "key TEXT PRIMARY KEY, stage TEXT NOT NULL, context TEXT NOT NULL, input TEXT NOT NULL, "
    "value TEXT NOT NULL, run TEXT",
    "leases": "key TEXT PRIMARY KEY, owner TEXT NOT NULL, taken REAL NOT NULL",
}
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MAGIC = b"SQLite format 3\0"
_WHY = {
    sqlite3.SQLITE_FULL: "its disk is full. What was finished before is kept: free the disk and run again",
    sqlite3.SQLITE_BUSY: "another process keeps it locked. End that process (a backup, a database browser), or choose "
    "another --gnt-store",
    sqlite3.SQLITE_PROTOCOL: "its file system does not lock files as a database needs. Choose a --gnt-store on a local "
    "disk",
    sqlite3.SQLITE_READONLY: "it cannot be written. Make the file and its folder writable, or choose another "
    "--gnt-store",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Make its folder readable and writable, or choose another "
    "--gnt-store",
}
_OTHERWISE = "the disk gave an error. Check it, or choose another --gnt-store"


class DamagedStore(Exception):
    """What stands in the file cannot be what was written."""


def identity(path: Path) -> Identity | None:
    """Which file has this name now; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the file, or make it. A file that is not ours is left as it is.

    Raises:
        DamagedStore: it is a damaged database.
        GntError: it cannot be made or used, is of another version, or is something else.
    """
    with _held(path), advice(path):
        if path.is_dir():
            raise GntError(f"the result store {path} is a folder. Give --gnt-store a file.")
        db = sqlite3.connect(path, timeout=patience, isolation_level=None)
        try:
            _prepare(db, path)
        except BaseException as error:
            db.close()
            if isinstance(error, sqlite3.DatabaseError) and _is_text(path):
                raise GntError(f"{path} is a text file, not a result store. Give --gnt-store another file.") from error
            raise
        return db


def set_aside(path: Path, seen: Identity | None) -> Path | None:
    """Rename a damaged store, its log with it; returns the new name, None where another process has done it.

    Raises:
        GntError: the folder cannot be written.
    """
    with _held(path):
        if identity(path) != seen:
            return None
        number = 1
        while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        try:
            path.rename(aside)
            for ending in ("-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
        except OSError as error:
            raise GntError(
                f"the result store {path} is damaged and cannot be set aside: {error.strerror}. Move it away."
            ) from error
        return aside


@contextlib.contextmanager
def advice(path: Path) -> Iterator[None]:
    """Turn the database's errors into ours.

    Raises:
        DamagedStore, GntError: see `connect`.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        base = None if code is None else code & 0xFF
        if base in _DAMAGE or "decode to UTF-8" in str(error):
            raise DamagedStore(str(error)) from error
        why = _OTHERWISE if base is None else _WHY.get(base, _OTHERWISE)
        raise GntError(f"the result store {path} cannot be used: {why} ({error}).") from error


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """One process at a time makes, opens or renames the file."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = take_lock(lock)
    except OSError as error:
        raise GntError(
            f"the result store {path} cannot be used: {error.strerror} ({error.filename}). Make its folder writable, "
            "or choose another --gnt-store."
        ) from error
    try:
        yield
    finally:
        give_lock_back(lock, stream)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    # The version comes first: nothing is changed in a file of another one.
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA):
        raise GntError(
            f"the result store {path} is of version {version}, this product writes {SCHEMA}. Use another --gnt-store."
        )
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names - _TABLES.keys():
        raise GntError(f"{path} is a database of another program. Give --gnt-store another file.")
    if version == SCHEMA and names != _TABLES.keys():
        raise DamagedStore("a table is missing")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    if version == 0:
        _make(db)


def _make(db: sqlite3.Connection) -> None:
    """The tables, in one transaction: a process that is killed here leaves an empty file."""
    db.execute("BEGIN IMMEDIATE")
    for name, columns in _TABLES.items():
        db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("COMMIT")


def _is_text(path: Path) -> bool:
    """Whether the file was never a database: someone's text under this name is left alone."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError:
        return False
    if not start or start.startswith(_MAGIC) or b"\0" in start:
        return False
    try:
        start[:-4].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(start) - 8
    return True
