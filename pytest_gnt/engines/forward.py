"""One forward pass over left-padded rows, with the keys and values of a shared prefix computed once.

Layout of a batch: every row ends at the last column, padding stands on the left, exactly as without a prefix cache. The
cached prefix is laid into each row *behind that row's padding*, so positions, masks and sliding windows are the same
numbers as in a pass without a cache; the columns behind the cached ones are computed anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_gnt.engines.batching import Ids
from pytest_gnt.engines.checkpoints import Checkpoint
from pytest_gnt.errors import EngineFailure

_KEPT_PREFIXES = 4
_GOOD_ENOUGH = 0.8
"""A kept prefix is used again when it covers this share of what a batch has in common."""


@dataclass(slots=True)
class Padded:
    """A batch as tensors: ids, attention mask and positions, all (rows, columns)."""

    ids: Any
    mask: Any
    positions: Any


def pad_left(rows: Sequence[Ids], pad: int, device: Any) -> Padded:
    """Put rows of different length into one rectangle, aligned at the right."""
    import torch

    width = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows], dtype=torch.long)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], dtype=torch.long)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return Padded(ids.to(device), mask.to(device), positions.to(device))


class Forward:
    """Runs a model over batches and keeps the last few shared prefixes."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._kept: OrderedDict[tuple[int, ...], list[tuple[Any, Any]]] = OrderedDict()

    @cached_property
    def plain_state(self) -> bool:
        """Whether the model's state is keys and values and nothing else (no recurrent layers).

        Only such a state can be laid out behind padding, and lose rows.
        """
        from transformers import DynamicCache
        from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

        if self._checkpoint.cache_argument not in self._checkpoint.arguments:
            return False
        layers = DynamicCache(config=self._checkpoint.model.config).layers
        return bool(layers) and all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)

    def start(self, rows: Sequence[Ids], shared: int, keep: int) -> tuple[Any, Any, Padded]:
        """Run the prompts of a batch.

        Args:
            rows: token ids, one row a prompt.
            shared: how many tokens all rows begin with in common; see `pytest_gnt.engines.batching.clusters`.
            keep: logits are returned for this many last columns.

        Returns:
            logits (rows, keep, vocabulary), the KV cache, and the batch.
        """
        batch = pad_left(rows, self._checkpoint.tokenizer.pad_token_id, self._checkpoint.device)
        prefix = self._prefix(rows, shared, batch, keep)
        cache = None if prefix is None else self._laid_out(prefix, batch)
        logits, cache = self.step(batch, cache, 0 if prefix is None else prefix[0][0].shape[-2], keep)
        return logits, cache, batch

    def step(self, batch: Padded, cache: Any, done: int, keep: int = 1) -> tuple[Any, Any]:
        """Run the columns from ``done`` on; the earlier ones are in the cache."""
        known = self._checkpoint.arguments
        arguments: dict[str, Any] = {
            "input_ids": batch.ids[:, done:],
            "attention_mask": batch.mask,
            "use_cache": True,
            "return_dict": True,
        }
        if "position_ids" in known:
            arguments["position_ids"] = batch.positions[:, done:]
        if "logits_to_keep" in known:
            arguments["logits_to_keep"] = keep
        if cache is not None:
            arguments[self._checkpoint.cache_argument] = cache
        output = self._checkpoint.model(**arguments)
        following = output.get(self._checkpoint.cache_argument)
        if following is None:
            raise EngineFailure(
                "this kind of model (one without a key-value cache) cannot be run by the transformers backend: "
                "use the vllm or the openai backend for it"
            )
        return output.logits[:, -keep:], following

    def close(self) -> None:
        self._kept.clear()

    def _prefix(self, rows: Sequence[Ids], shared: int, batch: Padded, keep: int) -> list[tuple[Any, Any]] | None:
        """Keys and values of the batch's prefix, a pair for each layer; None where a cache gains nothing."""
        width = batch.ids.shape[1]
        shortest = min(len(row) for row in rows)
        # The kept logits have to be computed, so the cache must end before them.
        shared = min(shared, width - keep)
        if not self.plain_state or len(rows) < 2 or shared < width // 4 or width - shortest > shared:
            return None
        wanted = tuple(rows[0][:shared])
        for kept in reversed(self._kept):
            if len(kept) >= _GOOD_ENOUGH * shared and kept == wanted[: len(kept)] and width - shortest <= len(kept):
                self._kept.move_to_end(kept)
                return self._kept[kept]
        self._kept[wanted] = self._run_prefix(wanted)
        if len(self._kept) > _KEPT_PREFIXES:
            self._kept.popitem(last=False)
        return self._kept[wanted]

    def _run_prefix(self, prefix: tuple[int, ...]) -> list[tuple[Any, Any]]:
        """Compute a prefix once, keeping all of it in every layer (a sliding window moves with each row's padding)."""
        from transformers import DynamicCache

        batch = pad_left([list(prefix)], self._checkpoint.tokenizer.pad_token_id, self._checkpoint.device)
        _logits, cache = self.step(batch, DynamicCache(), 0)
        return [(layer.keys, layer.values) for layer in cache.layers]

    def _laid_out(self, prefix: list[tuple[Any, Any]], batch: Padded) -> Any:
        """A cache for the batch: row by row, padding and then as much of the prefix as fits."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self._checkpoint.model.config)
        offsets = (1 - batch.mask).sum(-1).tolist()
        for index, (keys, values) in enumerate(prefix):
            cache.update(_shifted(keys, offsets), _shifted(values, offsets), index)
        return cache


def _shifted(states: Any, offsets: Sequence[int]) -> Any:
    """Copies of one row's states (1, heads, columns, size), each moved right by its offset, cut at the same width."""
    out = states.new_zeros((len(offsets), *states.shape[1:]))
    columns = states.shape[-2]
    for row, offset in enumerate(offsets):
        out[row, :, offset:] = states[0, :, : columns - offset]
    return out
