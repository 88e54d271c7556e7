"""How probable a fixed answer is after each of many prompts that mostly begin alike (the attitude metric asks so)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.answer_tokens import answer_tokens
from pytest_gnt.engines.batching import batches, clusters
from pytest_gnt.engines.checkpoints import Checkpoint
from pytest_gnt.engines.forward import Forward
from pytest_gnt.engines.loaded_checkpoint import CheckpointEngine
from pytest_gnt.engines.protocol import NoScore, not_finite, over_long
from pytest_gnt.engines.weights import Progress
from pytest_gnt.evidence import Reason


@dataclass(slots=True)
class _Loaded:
    checkpoint: Checkpoint
    forward: Forward


class CausalScorer(CheckpointEngine[_Loaded]):
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

    _version = 2

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "float32",
        device: str = "auto",
        batch_size: int = 32,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(model, dtype=dtype, device=device, batch_size=batch_size, progress=progress)

    def context(self) -> Mapping[str, object]:
        return self._context()

    def score(self, prompts: Sequence[str], answer: str) -> list[float | NoScore]:
        """See `Scorer.score`. A prompt that does not fit the model's window has no value."""
        if not prompts:
            return []
        loaded = self._load()
        window = loaded.checkpoint.window
        scores: list[float | NoScore] = [_EMPTY] * len(prompts)
        fitting: dict[tuple[int, ...], list[tuple[int, list[int]]]] = defaultdict(list)
        for place, (prompt, wanted) in enumerate(answer_tokens(loaded.checkpoint.tokenizer, prompts, answer)):
            if window is not None and len(prompt) + len(wanted) > window:
                scores[place] = over_long(len(prompt), window)
            elif prompt:
                # All but the answer's last token are read; each is predicted by what precedes it.
                fitting[tuple(wanted)].append((place, [*prompt, *wanted[:-1]]))
        for tokens, rows in fitting.items():
            values = self._values(loaded, [row for _, row in rows], tokens)
            for (place, _), value in zip(rows, values, strict=True):
                scores[place] = value if math.isfinite(value) else not_finite(value)
        return scores

    def _values(self, loaded: _Loaded, rows: Sequence[list[int]], tokens: Sequence[int]) -> list[float]:
        values = [math.nan] * len(rows)
        for cluster in clusters(rows):
            for batch in batches(cluster, self._batch_size):
                found = _log_probabilities(loaded.forward, [rows[i] for i in batch], cluster.shared, tokens)
                for row, value in zip(batch, found, strict=True):
                    values[row] = value
        return values

    def _prepared(self, checkpoint: Checkpoint) -> _Loaded:
        return _Loaded(checkpoint, Forward(checkpoint))

    def _release(self, loaded: _Loaded) -> None:
        loaded.forward.close()


_EMPTY = NoScore(Reason.EMPTY, "the question is empty")


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
