"""What engines over a transformers checkpoint share: settings are checked at once, weights loaded at first need."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from pytest_gnt.engines.checkpoints import Checkpoint, load, unload
from pytest_gnt.engines.devices import pick_device, pick_dtype
from pytest_gnt.engines.weights import Progress, revision
from pytest_gnt.errors import GntError

_log = logging.getLogger(__name__)

LoadedT = TypeVar("LoadedT")


class CheckpointEngine(ABC, Generic[LoadedT]):
    """A checkpoint that is not in memory before it is needed, and can be given back.

    A subclass names the transformers class to load, and makes of a fresh checkpoint what it works with (`_prepared`).

    Args:
        model: a folder, ``pkg:NAME`` or a hub id; see `pytest_gnt.engines.weights`.
        dtype: ``auto``, ``float32``, ``bfloat16`` or ``float16``.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N`` (an index into the visible devices).
        batch_size: rows in one batch.
        progress: told one line whenever the user has to wait for something.
        counts: further settings that must be at least 1, by name.

    Raises:
        GntError: an unknown or impossible setting.
    """

    movable: ClassVar[bool] = True
    """See `pytest_gnt.work.Provider`."""

    _auto_class: ClassVar[str] = "AutoModelForCausalLM"
    _version: ClassVar[int] = 1
    """Part of the context: raise it when results change without any setting having changed."""

    def __init__(
        self, model: str, *, dtype: str, device: str, batch_size: int, progress: Progress | None, **counts: int
    ) -> None:
        for name, value in {"batch_size": batch_size, **counts}.items():
            if value < 1:
                raise GntError(f"{name} is {value}: it must be at least 1")
        self._model = model
        self._device = pick_device(device)
        self._dtype = pick_dtype(dtype, self._device)
        self._batch_size = batch_size
        self._progress = progress or _log.info
        self._loaded: LoadedT | None = None

    def close(self) -> None:
        """Give the model's memory back."""
        if self._loaded is not None:
            self._release(self._loaded)
            self._loaded = None
            unload()

    def _context(self) -> dict[str, object]:
        """What every such engine's results depend on; needs no weights."""
        return {
            "backend": "transformers",
            "version": self._version,
            "model": self._model,
            "revision": revision(self._model),
            "dtype": self._dtype,
        }

    def _load(self) -> LoadedT:
        if self._loaded is None:
            checkpoint = load(
                self._model,
                auto_class=self._auto_class,
                device=self._device,
                dtype=self._dtype,
                progress=self._progress,
            )
            self._loaded = self._prepared(checkpoint)
        return self._loaded

    @abstractmethod
    def _prepared(self, checkpoint: Checkpoint) -> LoadedT:
        """What the engine works with, made of a checkpoint that has just been loaded."""

    def _release(self, loaded: LoadedT) -> None:
        """Drop what holds on to the model's memory beside the checkpoint itself."""
