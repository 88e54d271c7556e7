"""Loading a transformers checkpoint: quietly, with errors that say what to do."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.devices import wait_without_spinning
from pytest_gnt.engines.weights import Progress, Weights, require, resolve
from pytest_gnt.errors import EngineFailure

Model = Any
Tokenizer = Any
_UNBOUNDED = 10**9
"""Tokenizers without a limit state a number above this."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model in memory.

    Attributes:
        window: the most tokens that prompt and reply may have together; None where the checkpoint states no limit.
        arguments: names of the arguments that the model's forward pass knows.
    """

    model: Model
    tokenizer: Tokenizer
    window: int | None
    arguments: frozenset[str]

    @property
    def device(self) -> Any:
        return self.model.device

    @property
    def cache_argument(self) -> str:
        """The name of the KV cache's argument, which transformers renamed in 5.x."""
        return "cache" if "cache" in self.arguments else "past_key_values"


def load(ref: str, *, auto_class: str, device: str, dtype: str, progress: Progress | None = None) -> Checkpoint:
    """Load a model and its tokenizer.

    Args:
        ref: see `pytest_gnt.engines.weights`.
        auto_class: name of the transformers class, ``AutoModelForCausalLM`` or ``AutoModelForSeq2SeqLM``.
        device: ``cpu``, ``cuda[:N]``, or ``auto`` to spread a large model over the visible GPUs.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        progress: told what takes time.

    Raises:
        GntError: something is missing; EngineFailure: the checkpoint cannot be loaded.
    """
    wait_without_spinning()
    require("torch", "transformers", f"model {ref!r}")
    require("transformers", "transformers", f"model {ref!r}")
    weights = resolve(ref, progress)
    if progress:
        progress(f"loading {ref} ({dtype}, {device})")
    with _quiet():
        model, tokenizer = _load(weights, ref, auto_class, device, dtype)
    model.eval()
    return Checkpoint(model, tokenizer, _window(model, tokenizer), _arguments(model))


def unload() -> None:
    """Give the memory of models that are no longer referenced back before the next one is loaded."""
    gc.collect()
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _load(weights: Weights, ref: str, auto_class: str, device: str, dtype: str) -> tuple[Model, Tokenizer]:
    import torch
    import transformers

    if device != "cpu" and not torch.cuda.is_available():
        raise EngineFailure(
            f"model {ref!r} shall run on {device!r}, but this torch sees no GPU: "
            "install a CUDA build, or set device = 'cpu'"
        )
    placement = {} if device == "cpu" else {"device_map": "auto" if device == "auto" else {"": device}}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(weights.location, revision=weights.hub_commit or "main")
        model = getattr(transformers, auto_class).from_pretrained(
            weights.location, revision=weights.hub_commit or "main", dtype=getattr(torch, dtype), **placement
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        raise EngineFailure(f"cannot load model {ref!r}: {_first_line(error)}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars and advice out of the user's terminal while a model is loaded."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _window(model: Model, tokenizer: Tokenizer) -> int | None:
    config = model.config.get_text_config()
    stated = (getattr(config, "max_position_embeddings", None), getattr(tokenizer, "model_max_length", None))
    limits = [int(limit) for limit in stated if limit and 0 < limit < _UNBOUNDED]
    return min(limits, default=None)


def _arguments(model: Model) -> frozenset[str]:
    return frozenset(inspect.signature(model.forward).parameters)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300] or type(error).__name__
