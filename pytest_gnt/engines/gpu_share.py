"""Which GPUs a worker process of pytest-xdist uses: each its own, so that no two load a model onto the same one.

The choice has to be made before anything in the process asks the CUDA driver for devices: the driver reads
``CUDA_VISIBLE_DEVICES`` once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

VARIABLE = "CUDA_VISIBLE_DEVICES"
WORKER = "PYTEST_XDIST_WORKER"
COUNT = "PYTEST_XDIST_WORKER_COUNT"


def share(worker: int, workers: int, devices: Sequence[str]) -> list[str]:
    """The devices of one worker: equal, contiguous parts; with more workers than devices, one device each in turn.

    Args:
        worker: its number, from 0.
        workers: how many there are.
        devices: the devices of all, as the caller names them (numbers, or UUIDs of whole or partial GPUs).
    """
    if workers >= len(devices):
        return [devices[worker % len(devices)]]
    begin, end = (number * len(devices) // workers for number in (worker, worker + 1))
    return list(devices[begin:end])


def take_share(environment: MutableMapping[str, str], place: int | None = None, folder: Path = Path("/dev")) -> None:
    """Leave a worker process the GPUs that are its own. Outside of a worker, and without GPUs, nothing is changed.

    Args:
        environment: the process' own; ``CUDA_VISIBLE_DEVICES`` is what the caller allows, and is narrowed.
        place: which of the workers it is, from 0; one that replaces a dead worker has that one's. None takes its
            number.
        folder: where the driver's device files are.
    """
    number = re.fullmatch(r"gw(\d+)", environment.get(WORKER, ""))
    devices = visible_devices(environment, folder)
    if number is None or not devices:
        return
    mine = int(number[1]) if place is None else place
    workers = max(int(environment.get(COUNT, "1")), mine + 1)
    environment[VARIABLE] = ",".join(share(mine, workers, devices))


def visible_devices(environment: Mapping[str, str], folder: Path = Path("/dev")) -> list[str]:
    """What the caller allows, else all that there are. An empty or negative entry ends the list, as in CUDA."""
    visible = environment.get(VARIABLE)
    if visible is None:
        found = sum(re.fullmatch(r"nvidia\d+", path.name) is not None for path in folder.glob("nvidia*"))
        return [str(index) for index in range(found)]
    allowed: list[str] = []
    for name in (part.strip() for part in visible.split(",")):
        if not name or name.startswith("-"):
            break
        allowed.append(name)
    return allowed
