"""What runs on a node of a Ray cluster: one actor with one provider, whose model is loaded once, by its first batch.

Nothing here imports Ray: the class is made an actor by the process that controls the run.
"""

from __future__ import annotations

import importlib.metadata
import os
import pickle
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pytest_gnt import errors
from pytest_gnt.errors import GntError
from pytest_gnt.work import Answer, Provider, Work

Failure = tuple[str, str]
"""Name of a class of `pytest_gnt.errors`, and the message. Classes of plugins need not be known where it arrives."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a new actor says: where it is, its version of the product, and why it cannot work."""

    host: str
    version: str
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one batch.

    Attributes:
        answers: by the index of the request.
        failure: why the provider cannot go on, where it cannot; what it answered before is valid.
        notes: what the provider has to say of its program or engine so far.
        worker: which actor this is, as host and process.
    """

    answers: Sequence[tuple[int, Answer]]
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    worker: str = ""


class StageWorker:
    """The actor.

    Args:
        packed: the provider, pickled before anything was loaded.
        environment: variables to set before anything is imported, for switches such as ``HF_HUB_OFFLINE``.
        folder: the folder to work in where the node has it too, so that relative paths mean the same; None stays.
    """

    def __init__(self, packed: bytes, environment: Mapping[str, str], folder: str | None) -> None:
        self._packed = packed
        self._environment = dict(environment)
        self._folder = folder
        self._provider: Provider[Any, Any] | None = None

    def prepare(self) -> Greeting:
        """Unpack the provider; loads nothing."""
        os.environ.update(self._environment)
        if self._folder is not None:
            with suppress(OSError):
                os.chdir(self._folder)
        failure = None
        try:
            self._provider = pickle.loads(self._packed)  # noqa: S301
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        return Greeting(socket.gethostname(), product_version(), failure)

    def run(self, works: Sequence[Work]) -> Report:
        """Compute one batch."""
        provider = self._provider
        assert provider is not None
        answers: list[tuple[int, Answer]] = []
        failure = None
        try:
            answers.extend(provider.run(works))
        except GntError as error:
            failure = _told(error)
        worker = f"{socket.gethostname()}:{os.getpid()}"
        return Report(answers, failure, tuple(getattr(provider, "notes", ())), worker)

    def close(self) -> None:
        """Give back the model's memory and end what was started."""
        if self._provider is not None:
            self._provider.close()


def product_version() -> str:
    """The version of pytest-gnt that is installed where this runs."""
    return importlib.metadata.version("pytest-gnt")


def _told(error: GntError) -> Failure:
    known = (kind.__name__ for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind)
    return next(known), str(error)


def raised_again(failure: Failure) -> GntError:
    """The error that an actor met."""
    name, message = failure
    kind: type[GntError] = getattr(errors, name)
    return kind(message)
