"""One engine for several sessions of one process: a grid loads a model once for all its prompt configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pytest_gnt.engines.protocol import GenerationRequest, Generator, Reply

LOCAL = frozenset({"transformers", "vllm"})
"""Backends that have weights to load."""

_engines: dict[str, Generator] | None = None


class _Kept:
    """An engine that a session may close without it being closed."""

    def __init__(self, engine: Generator) -> None:
        self._engine = engine

    @property
    def movable(self) -> bool:
        return bool(getattr(self._engine, "movable", False))

    def context(self) -> Mapping[str, object]:
        return self._engine.context()

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        return self._engine.generate(requests)

    def close(self) -> None:
        """It is closed at the end of `keep_engines`."""


@contextmanager
def keep_engines() -> Iterator[None]:
    """While this lasts, engines that are asked for by the same key are one engine; at its end all are closed."""
    global _engines
    before, _engines = _engines, {}
    try:
        yield
    finally:
        engines, _engines = _engines, before
        for engine in engines.values():
            engine.close()


def kept(backend: str, key: str, make: Callable[[], Generator]) -> Generator:
    """A new engine; inside of `keep_engines` the one that was made for the key before."""
    if _engines is None or backend not in LOCAL:
        return make()
    if key not in _engines:
        _engines[key] = make()
    return _Kept(_engines[key])
