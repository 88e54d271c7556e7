"""Running a command and measuring it: clock, processor time of all its processes, peak memory.

Memory is VmHWM of ``/proc/PID/status``, the kernel's own mark of the most that a process ever held, read until the
process is gone. (``ru_maxrss`` would not do: a new program inherits that of the process which started it.)
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

POLL_SECONDS = 0.02
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a command.

    Attributes:
        seconds: clock time from start to exit.
        cpu: user and system time of the process and all its children, in seconds.
        memory: the largest VmHWM of one of its processes, in bytes.
        total_memory: the sum of the VmHWM of all its processes, in bytes.
        status: exit status.
        output: what it wrote to stdout and stderr.
    """

    seconds: float
    cpu: float
    memory: int
    total_memory: int
    status: int
    output: str = field(repr=False)


def measure(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float = 900.0) -> Measured:
    """Run a command to its end.

    Raises:
        TimeoutError: it took longer; it was killed.
    """
    peaks: dict[int, int] = {}
    with tempfile.TemporaryFile("w+b") as output:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT)
        status, usage = None, None
        while usage is None:
            for pid in family(process.pid):
                peaks[pid] = max(peaks.get(pid, 0), peak_memory(pid))
            done, status, found = os.wait4(process.pid, os.WNOHANG)
            if done:
                usage = found
            elif time.monotonic() - started > timeout:
                process.kill()
                raise TimeoutError(f"{' '.join(command)} ran for more than {timeout:.0f} s")
            else:
                time.sleep(POLL_SECONDS)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status or 0)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return Measured(
        seconds=seconds,
        cpu=usage.ru_utime + usage.ru_stime,
        memory=max(peaks.values(), default=0),
        total_memory=sum(peaks.values()),
        status=process.returncode,
        output=text,
    )


def family(pid: int) -> list[int]:
    """A process and all its descendants that are alive."""
    found = [pid]
    for member in found:
        try:
            for thread in os.listdir(f"/proc/{member}/task"):  # noqa: PTH208 - called often
                children = Path(f"/proc/{member}/task/{thread}/children").read_text()
                found += [int(child) for child in children.split()]
        except OSError:
            continue
    return found


def peak_memory(pid: int) -> int:
    """The most memory that a process ever held, in bytes; 0 where it is gone."""
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def environment(folder: Path) -> dict[str, str]:
    """The environment of measured runs: compiled Python is kept, beside the data and not in the source tree."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "GNT"))}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env | {"PYTHONPYCACHEPREFIX": str(folder / "pycache"), "OMP_NUM_THREADS": "1", "COLUMNS": "100"}


def machine() -> str:
    """The machine in one line."""
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    return (
        f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores, "
        f"{int(memory[1]) // 2**20 if memory else '?'} GB, Python {platform.python_version()}"
    )


def versions(*packages: str) -> str:
    """Installed versions of some packages."""
    return ", ".join(f"{name} {version(name)}" for name in packages)


def load() -> str:
    """How busy the machine is, beside what is measured."""
    return "load " + " ".join(f"{value:.1f}" for value in os.getloadavg())


def progress(text: str) -> None:
    """A line for the person who waits."""
    print(text, file=sys.stderr, flush=True)
