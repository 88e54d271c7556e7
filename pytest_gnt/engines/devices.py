"""Which device and number format a model runs with, decided without importing torch."""

from __future__ import annotations

import ctypes
import os
import re
from functools import lru_cache
from pathlib import Path

from pytest_gnt.errors import GntError

DTYPES = {"float32": "float32", "fp32": "float32", "bfloat16": "bfloat16", "bf16": "bfloat16", "float16": "float16"}


@lru_cache(maxsize=1)
def cuda_present() -> bool:
    """Whether the NVIDIA driver shows this process at least one device."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in {"", "-1"}:
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except (OSError, AttributeError):
        return False


@lru_cache(maxsize=1)
def cpu_multiplies_bfloat16() -> bool:
    """Whether the CPU has matrix instructions for bfloat16 (AMX); without them float32 is the faster format."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"), re.M)
    except OSError:
        return False
    return flags is not None and "amx_bf16" in flags[1].split()


def wait_without_spinning() -> None:
    """Let idle OpenMP threads sleep; has an effect before torch is first imported. A setting of the user's own stays.

    By default they spin. On a machine that other programs use too, spinning threads keep each other from the cores:
    with two threads on two busy cores, generation was over three times slower than with one; asleep, it was as fast.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def pick_device(wanted: str) -> str:
    """``auto`` becomes ``auto`` (spread over the visible GPUs) or ``cpu``; ``cpu``, ``cuda`` and ``cuda:N`` stay.

    Raises:
        GntError: the setting is not one of these.
    """
    if wanted == "auto":
        return "auto" if cuda_present() else "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", wanted):
        raise GntError(f"device {wanted!r} is unknown: use auto, cpu, cuda or cuda:N")
    return wanted


def pick_dtype(wanted: str, device: str) -> str:
    """The number format by its full name. ``auto`` is bfloat16 where the device is fast with it, else float32.

    Raises:
        GntError: the setting is not ``auto`` or one of `DTYPES`.
    """
    if wanted != "auto":
        if wanted not in DTYPES:
            raise GntError(f"dtype {wanted!r} is unknown: use auto, {', '.join(DTYPES)}")
        return DTYPES[wanted]
    return "bfloat16" if device != "cpu" or cpu_multiplies_bfloat16() else "float32"
