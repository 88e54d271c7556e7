"""What a run leaves in its report folder: built in a hidden folder within it, put in place in the end.

So the files of an earlier run stand together until those of this one are all there, a run that is killed leaves them as
they were, and two runs with the same folder do not mix.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

from pytest_gnt.errors import GntError
from pytest_gnt.files import hold, locked
from pytest_gnt.verdicts.results import CASES, repeat_file

SUMMARY = "report.json"

_PREFIX = ".unfinished-"
_PAGES = ("report.html", "report.md")


class Staging:
    """The hidden folder of one run.

    Attributes:
        path: where the run writes.

    Raises:
        GntError: the report folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with locked(folder):
            try:
                _remove_leftovers(folder)
                self.path = Path(mkdtemp(prefix=_PREFIX, dir=folder))
                self._handle: int | None = os.open(self.path, os.O_RDONLY)
                hold(self._handle)  # for as long as this process lives
            except OSError as error:
                raise GntError(f"the report in {folder} cannot be written: {error.strerror}.") from error

    def publish(self) -> None:
        """Put the files in the place of an earlier run's; remove what it left and this one did not write.

        Raises:
            GntError: the folder cannot be written.
        """
        with locked(self._folder):
            written = sorted(self.path.iterdir())
            try:
                for path in written:
                    path.replace(self._folder / path.name)
                for path in {*self._folder.glob(repeat_file(0).replace("0", "*")), *map(self._folder.joinpath, _PAGES)}:
                    if path.name not in {one.name for one in written}:
                        path.unlink(missing_ok=True)
            except OSError as error:
                raise GntError(f"{self._folder} cannot be written: {error.strerror}.") from error

    def close(self) -> None:
        """Remove the hidden folder; safe to call twice."""
        if self._handle is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._handle)
            self._handle = None


def earlier_run(folder: Path) -> bool:
    """Whether a report folder holds the results of a run."""
    return (folder / CASES).is_file() and (folder / SUMMARY).is_file()


def _remove_leftovers(folder: Path) -> None:
    """Remove the hidden folders of runs that were killed; a living run holds its own."""
    for leftover in folder.glob(f"{_PREFIX}*"):
        handle = os.open(leftover, os.O_RDONLY)
        try:
            hold(handle, wait=False)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(leftover, ignore_errors=True)
        finally:
            os.close(handle)
