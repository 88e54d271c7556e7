"""How probable a fixed answer is after each of many prompts that mostly begin alike (the attitude metric asks so)."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.batching import batches, clusters
from pytest_gnt.engines.checkpoints import Checkpoint, load, unload
from pytest_gnt.engines.devices import pick_device, pick_dtype
from pytest_gnt.engines.forward import Forward
from pytest_gnt.engines.weights import Progress, revision
from pytest_gnt.errors import GntError

_log = logging.getLogger(__name__)
_VERSION = 1
"""Part of the context: raise it when scores change without any setting having changed."""


@dataclass(slots=True)
class _Loaded:
    checkpoint: Checkpoint
    forward: Forward


class CausalScorer:
    """A `Scorer` over a transformers checkpoint; the weights are loaded by the first `score`.

    Prompts are raw text: no chat template is put around them. The start token is set where the tokenizer sets one.

    Args:
        model: a folder, ``pkg:NAME`` or a hub id; see `pytest_gnt.engines.weights`.
        dtype: float32 by default: in bfloat16 the batch's composition moves a log-probability by several hundredths.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        batch_size: prompts in one batch.
        progress: told one line whenever the user has to wait for something.

    Raises:
        GntError: an unknown setting.
    """

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "float32",
        device: str = "auto",
        batch_size: int = 32,
        progress: Progress | None = None,
    ) -> None:
        if batch_size < 1:
            raise GntError(f"batch_size is {batch_size}: it must be at least 1")
        self._model = model
        self._device = pick_device(device)
        self._dtype = pick_dtype(dtype, self._device)
        self._batch_size = batch_size
        self._progress = progress or _log.info
        self._loaded: _Loaded | None = None

    def context(self) -> Mapping[str, object]:
        return {
            "backend": "transformers",
            "version": _VERSION,
            "model": self._model,
            "revision": revision(self._model),
            "dtype": self._dtype,
        }

    def score(self, prompts: Sequence[str], answer: str) -> list[float | None]:
        """See `Scorer.score`. A prompt that does not fit the model's window has no value."""
        scores: list[float | None] = [None] * len(prompts)
        if not prompts:
            return scores
        loaded = self._load()
        tokens = self._answer_tokens(loaded, answer)
        rows, places = self._rows(loaded, prompts, tokens)
        for cluster in clusters(rows):
            for batch in batches(cluster, self._batch_size):
                values = _log_probabilities(loaded.forward, [rows[i] for i in batch], cluster.shared, tokens)
                for row, value in zip(batch, values, strict=True):
                    scores[places[row]] = value if math.isfinite(value) else None
        return scores

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.forward.close()
            self._loaded = None
            unload()

    def _load(self) -> _Loaded:
        if self._loaded is None:
            checkpoint = load(
                self._model,
                auto_class="AutoModelForCausalLM",
                device=self._device,
                dtype=self._dtype,
                progress=self._progress,
            )
            self._loaded = _Loaded(checkpoint, Forward(checkpoint))
        return self._loaded

    def _answer_tokens(self, loaded: _Loaded, answer: str) -> list[int]:
        tokens = loaded.checkpoint.tokenizer(answer, add_special_tokens=False, verbose=False)["input_ids"]
        if not tokens:
            raise GntError(f"the answer {answer!r} has no tokens: the attitude template needs a visible answer")
        return list(tokens)

    def _rows(
        self, loaded: _Loaded, prompts: Sequence[str], answer: Sequence[int]
    ) -> tuple[list[list[int]], list[int]]:
        """Prompts with all but the answer's last token behind them, and the place of each in the input."""
        window = loaded.checkpoint.window
        encoded = loaded.checkpoint.tokenizer(list(prompts), verbose=False)["input_ids"]
        rows, places = [], []
        for place, prompt in enumerate(encoded):
            if prompt and (window is None or len(prompt) + len(answer) <= window):
                rows.append([*prompt, *answer[:-1]])
                places.append(place)
        return rows, places


def _log_probabilities(forward: Forward, rows: Sequence[list[int]], shared: int, answer: Sequence[int]) -> list[float]:
    """Sum over the answer's tokens of the log-probability of each after what precedes it, for every row."""
    import torch

    with torch.inference_mode():
        logits, _cache, _batch = forward.start(rows, shared, len(answer))
        wanted = torch.tensor(answer, dtype=torch.long, device=logits.device)
        logits = logits.float()
        chosen: Any = logits.gather(-1, wanted.view(1, -1, 1).expand(len(rows), -1, 1)).squeeze(-1)
        values = (chosen - logits.logsumexp(-1)).sum(-1)
        return [float(value) for value in values.tolist()]
