"""Files that are whole at any moment: replaced in one step, under locks that processes share."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_gnt.errors import GntError

_LOCK = ".lock"
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes that write to it; waits until it is free. The folder is made if needed.

    The lock is the kernel's (``flock`` on a file that is removed afterwards), so a killed process leaves none behind.

    Raises:
        GntError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = take_lock(folder / _LOCK)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    try:
        yield
    finally:
        give_lock_back(folder / _LOCK, stream)


def take_lock(path: Path) -> int:
    """Make a lock file and hold it; returns what `give_lock_back` needs. Waits for the process that holds it.

    Raises:
        OSError: the file cannot be made.
    """
    while True:
        stream = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            hold(stream)
            if os.path.samestat(os.fstat(stream), path.stat()):
                return stream
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(stream)
            raise
        os.close(stream)


def hold(stream: int, *, wait: bool = True) -> None:
    """Lock an open file or folder for this process; where the file system has no locks, nothing is held.

    Raises:
        BlockingIOError: another process holds it, and ``wait`` is false.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def give_lock_back(path: Path, stream: int) -> None:
    """Remove a lock file and let the next process take it."""
    # Removed while it is held: who waits for it sees that the name is gone and takes a new one.
    with contextlib.suppress(OSError):
        path.unlink()
    os.close(stream)


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write lines (UTF-8, LF) to a temporary file beside ``path``, flush it to the disk, and put it in its place.

    Call it under `locked`. Leftovers of killed processes are removed.

    Raises:
        GntError: it cannot be written (read-only folder, full disk); the old file is then as it was.
    """
    path = path.resolve()
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            leftover.unlink()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            for line in lines:
                stream.write(line.encode("utf-8") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Make the new name last through a power cut; some file systems do not offer it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _cannot_write(path: Path, error: OSError) -> GntError:
    return GntError(
        f"{path} cannot be written: {error.strerror or error}. What was there is unchanged; free the disk, make the "
        "folder writable, or choose another one."
    )
