"""Python's garbage collector and the many objects of a large run.

Items and cases live as long as the run. The collector would look at all of them again and again while they are made and
while the tests run, which takes longer than making them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No garbage collection inside; for code that makes many objects, all of which stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def seldom() -> Iterator[None]:
    """Garbage collection after ten thousand new objects instead of some hundred; for code of others that keeps what it
    makes, as pytest keeps its reports."""
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], _MANY) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


_MANY = 10_000


def settle() -> None:
    """Take everything that is there now out of the collector's sight: it stays as long as the run."""
    gc.freeze()


def begin() -> None:
    """A session begins: what another one in this process left can be collected again."""
    if gc.get_freeze_count():
        gc.unfreeze()
