"""The controlling process' record of a run: results are appended as they arrive, and put in order at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.results import SCHEMA, case_fields

if TYPE_CHECKING:
    from pytest_gnt.case import Case


class Recorder:
    """Appends one line a test to a file without a name, then merges them into ``cases.jsonl``, one line a case.

    Only a case id and a file position a test are held in memory. The file is gone with the process.

    Args:
        folder: on the disk that has room for the file.

    Raises:
        GntError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: list[tuple[str, str, int]] = []
        self._end = 0
        self._stream: IO[bytes] | None = None

    def add(self, result: dict[str, Any]) -> None:
        """Take the result of one test, as `result_of` made it."""
        # One line for the run and one for each of its repeats.
        text = "".join(f"{record}\n" for record in result["records"]).encode("ascii")
        try:
            if self._stream is None:
                self._stream = TemporaryFile(dir=self.folder)  # noqa: SIM115 - closed by close()
            self._stream.write(text)
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        self._places.append((result["case"], result["test"], self._end))
        self._end += len(text)

    def cases(self, repeat: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
        """One record a case as JSON text and as data, in order of case id, evidence and tests merged; of the run itself
        or of a repeat."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        self._places.sort()
        for _, places in groupby(self._places, key=itemgetter(0)):
            texts = [self._read(position, repeat) for _, _, position in places]
            records = [json.loads(text) for text in texts]
            if len(records) == 1:
                yield texts[0], records[0]
            else:
                record = _merged(records)
                yield _json(record), record

    def _read(self, position: int, repeat: int) -> str:
        if self._stream is None:
            raise RuntimeError("nothing was recorded")
        self._stream.seek(position)
        for _ in range(repeat):
            self._stream.readline()
        return self._stream.readline().decode("ascii").rstrip("\n")

    def close(self) -> None:
        """Give the file up: what it held is in ``cases.jsonl``."""
        if self._stream is not None:
            with suppress(OSError):  # a full disk: what was still to be flushed is lost anyway
                self._stream.close()
            self._stream = None


def result_of(case: Case, test: str, outcomes: Sequence[Mapping[str, Any]], change: str | None) -> dict[str, Any]:
    """What a test's report carries to the controlling process: plain builtins.

    The records are JSON text already: encoded where the tests run, they pass through all processes as they are.

    Args:
        case: the case.
        test: name of the suite's function.
        outcomes: of the run itself, then of its repeats: ``outcome``, ``reason``, ``message`` and ``evidence``.
        change: what became of the test since the baseline.
    """
    known = {key: value for key, value in case_fields(case).items() if value is not None}
    records = [
        {
            "schema": SCHEMA,
            **known,
            **found["evidence"],
            "tests": {test: {key: found[key] for key in ("outcome", "reason", "message")}},
        }
        for found in outcomes
    ]
    return {
        "case": case.id,
        "test": test,
        "outcome": outcomes[0]["outcome"],
        "change": change,
        "records": [_json(record) for record in records],
    }


# ASCII escapes keep lone surrogates and control characters from breaking the file or a reader of it.
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False)
_json = _ENCODER.encode


def _merged(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One record of several tests on one case."""
    tests = {name: result for record in records for name, result in record["tests"].items()}
    merged = {key: value for record in records for key, value in record.items() if key != "tests"}
    return {**merged, "tests": tests}


def write_lines(path: Path, rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Write rows, given as JSON text and as data, as JSON Lines, and hand the data on.

    Raises:
        GntError: the file cannot be written.
    """
    try:
        with path.open("w", encoding="ascii") as stream:
            for text, row in rows:
                stream.write(text + "\n")
                yield row
    except OSError as error:
        raise _cannot_write(path.parent, error) from error


def write_json(path: Path, data: Any) -> None:
    """Write one JSON document.

    Raises:
        GntError: the file cannot be written.
    """
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
    try:
        # A lone surrogate becomes its JSON escape, which reads back as the same character.
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise _cannot_write(path.parent, error) from error


def _cannot_write(folder: Path, error: OSError) -> GntError:
    return GntError(f"the report in {folder.parent} cannot be written: {error.strerror}. Free the disk, and run again.")
