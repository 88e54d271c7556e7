"""Names of processes that hold leases, and whether the process behind a name still works."""

from __future__ import annotations

import os
import socket
from pathlib import Path

REMOTE_LEASE_SECONDS = 900.0
"""A process on another machine cannot be asked: a lease of its that is older than this is taken over."""


def owner_name(pid: int) -> str:
    """A name that no other process has, a later one of the same number neither: host, number, start."""
    return f"{socket.gethostname()}:{pid}:{_status(pid)[1]}"


def works(owner: str, age: float) -> bool:
    """Whether the process behind a name works.

    Args:
        owner: as `owner_name` made it.
        age: seconds since the process last took or renewed a lease.
    """
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return age < REMOTE_LEASE_SECONDS
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    state, since = _status(int(pid))
    # A killed process whose parent has not asked for its end yet still has its number.
    return state not in ("Z", "X") and (not started or since == started)


def _status(pid: int) -> tuple[str, str]:
    """State and start of a process (clock ticks since boot); empty where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return fields[0], fields[19]
    except (OSError, IndexError):
        return "", ""
