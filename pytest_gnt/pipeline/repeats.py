"""Asking a provider again: the same requests under another repeat index, to measure how much answers move by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_gnt.engines.protocol import GenerationRequest
from pytest_gnt.pipeline.stages import Stages
from pytest_gnt.work import Context, Work


class Repeated:
    """A provider whose requests carry a repeat index, and so are computed anew; everything else is the provider's own.

    Sampling from a language model gets another seed; greedy decoding shows what batches and servers add by themselves.
    """

    def __init__(self, provider: Any, repeat: int) -> None:
        self._provider = provider
        self._repeat = repeat
        self._contexts: dict[int, tuple[Context, Context]] = {}

    def work(self, subject: Any) -> Work:
        """The provider's request, marked with the index."""
        inner: Work = self._provider.work(subject)
        payload = inner.payload
        if isinstance(payload, GenerationRequest):
            payload = replace(payload, decoding=replace(payload.decoding, seed=payload.decoding.seed + self._repeat))
        return Work(self._context(inner.context), inner.input, payload)

    def _context(self, inner: Context) -> Context:
        # Keyed by identity: a provider shares one context among many requests. It is kept, so its id stays its own.
        if id(inner) not in self._contexts:
            self._contexts[id(inner)] = (inner, Context({**inner.data, "repeat": self._repeat}))
        return self._contexts[id(inner)][1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_provider" not in vars(self):  # while a copy is being unpickled
            raise AttributeError(name)
        return getattr(self._provider, name)


def repeated(stages: Stages, repeat: int) -> Stages:
    """The stages with translator and judge asked again. Metrics are functions of the text and stay as they are."""
    return replace(
        stages,
        translator=Repeated(stages.translator, repeat),
        judge=Repeated(stages.judge, repeat) if stages.judge is not None else None,
    )
