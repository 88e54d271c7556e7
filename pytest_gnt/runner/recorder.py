"""The controlling process' record of a run: results are appended as they arrive, and put in order at the end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.results import SCHEMA

PARTIAL = "results.partial.jsonl"


class Recorder:
    """Appends one line a test to a partial file, then merges them into ``cases.jsonl``, one line a case.

    Only a case id and a file position a test are held in memory.

    Raises:
        GntError: the report folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: list[tuple[str, str, int]] = []
        self._stream: IO[bytes] | None = None

    def add(self, result: dict[str, Any]) -> None:
        """Take the result of one test: ``test``, ``outcome``, ``reason``, ``message``, ``case`` and evidence."""
        if self._stream is None:
            self._stream = self._open()
        place = self._stream.tell()
        # ASCII escapes keep lone surrogates and control characters from breaking the file or a reader of it.
        self._stream.write(json.dumps(result, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n")
        self._places.append((result["case"]["id"], result["test"], place))

    def _open(self) -> IO[bytes]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return (self.folder / PARTIAL).open("w+b")
        except OSError as error:
            raise GntError(
                f"the report folder {self.folder} cannot be written: {error.strerror}. Choose another --gnt-report."
            ) from error

    def cases(self, repeat: int = 0) -> Iterator[dict[str, Any]]:
        """One record a case, in order of case id, evidence and tests merged; of the run itself or of a repeat."""
        if self._stream is None:
            return
        self._stream.flush()
        self._places.sort()
        for _, places in groupby(self._places, key=lambda place: place[0]):
            yield _merged(_of(self._read(position), repeat) for _, _, position in places)

    def _read(self, position: int) -> dict[str, Any]:
        if self._stream is None:
            raise RuntimeError("nothing was recorded")
        self._stream.seek(position)
        row: dict[str, Any] = json.loads(self._stream.readline())
        return row

    def close(self) -> None:
        """Remove the partial file: what it held is in ``cases.jsonl``."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            (self.folder / PARTIAL).unlink(missing_ok=True)


def _of(row: dict[str, Any], repeat: int) -> dict[str, Any]:
    return row | row["repeats"][repeat - 1] if repeat else row


def _merged(rows: Iterator[dict[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {"schema": SCHEMA}
    tests: dict[str, Any] = {}
    for row in rows:
        record.update({key: value for key, value in row["case"].items() if value is not None})
        record.update(row["evidence"])
        tests[row["test"]] = {"outcome": row["outcome"], "reason": row["reason"], "message": row["message"]}
    record["tests"] = tests
    return record


def write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Write rows as JSON Lines and hand each on; the file appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="ascii") as stream:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n")
                yield row
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write one JSON document; the file appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
    # A lone surrogate becomes its JSON escape, which reads back as the same character.
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    temporary.replace(path)
