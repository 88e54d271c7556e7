"""A causal language model in this process, through vLLM: all pending prompts at once, bound replies, prefix cache."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_gnt.config import VllmModel
from pytest_gnt.engines.chat_format import FormatName, PromptFormat, prompt_format
from pytest_gnt.engines.protocol import Constraint, Decoding, GenerationRequest, Reply
from pytest_gnt.engines.vllm_runtime import Ask, Runtime, check_installed, first_line, model_reference, run, start, stop
from pytest_gnt.engines.weights import Progress, revision
from pytest_gnt.evidence import Reason

_log = logging.getLogger(__name__)
_VERSION = 1
"""Part of the context: raise it when replies change without any setting having changed."""


class VllmGenerator:
    """A `Generator` over a model in vLLM; the engine is started by the first `generate`.

    Only the decoding that a request states is applied; of a checkpoint's own ``generation_config`` nothing but the end
    tokens counts.

    Args:
        settings: the model's table of the configuration.
        format: ``chat`` (the model's template), ``plain`` (a transcript), or ``auto``: chat where there is a template.
        progress: told one line whenever the user has to wait for something.

    Raises:
        EngineFailure: vLLM is not installed.
    """

    movable = True

    def __init__(self, settings: VllmModel, *, format: FormatName = "auto", progress: Progress | None = None) -> None:
        check_installed(settings.model)
        self._settings = settings
        self._format = format
        self._progress = progress or _log.info
        self._loaded: tuple[Runtime, PromptFormat] | None = None

    def context(self) -> Mapping[str, object]:
        settings = self._settings
        return {
            "backend": "vllm",
            "version": _VERSION,
            "model": settings.model,
            "revision": revision(model_reference(settings)),
            "dtype": settings.dtype,
            "format": self._format,
            "max_model_len": settings.max_model_len,
            "engine_args": dict(settings.engine_args),
        }

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        if not requests:
            return
        runtime, form = self._load()
        prompts = _Prompts(runtime, form)
        asks: list[Ask] = []
        for index, request in enumerate(requests):
            asked = prompts.ask(index, request)
            if isinstance(asked, Reply):
                yield index, asked
            else:
                asks.append(asked)
        for index, output in run(runtime, asks):
            yield index, _reply(output)

    def close(self) -> None:
        if self._loaded is not None:
            stop(self._loaded[0])
            self._loaded = None

    def _load(self) -> tuple[Runtime, PromptFormat]:
        if self._loaded is None:
            runtime = start(self._settings, self._progress)
            try:
                self._loaded = runtime, prompt_format(runtime.tokenizer, self._format)
            except BaseException:
                stop(runtime)
                raise
        return self._loaded


class _Prompts:
    """Renders and tokenizes requests; one that does not fit the model's window becomes a reply with the reason."""

    def __init__(self, runtime: Runtime, form: PromptFormat) -> None:
        self._runtime = runtime
        self._form = form
        self._stops = lru_cache(maxsize=256)(form.stop_texts)

    def ask(self, index: int, request: GenerationRequest) -> Ask | Reply:
        text = self._form.render(request.messages)
        special = self._form.adds_special_tokens
        tokens = self._runtime.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
        window = self._runtime.window
        if len(tokens) >= window:
            return Reply(
                text=None,
                reason=Reason.OVER_LONG,
                detail=f"the prompt has {len(tokens)} tokens; the model's window is {window}, reply included",
                prompt_tokens=len(tokens),
            )
        if not tokens:
            return Reply(text=None, reason=Reason.EMPTY, detail="the prompt is empty", prompt_tokens=0)
        stops = () if request.constraint else self._stops(request.prefix)
        return Ask(index, tokens, _sampling(request.decoding, request.constraint, stops, window - len(tokens)))


def _sampling(decoding: Decoding, constraint: Constraint | None, stops: Sequence[str], room: int) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        temperature=decoding.temperature,
        top_p=decoding.top_p,
        # Greedy decoding draws nothing, and a seeded request costs vLLM a random generator of its own.
        seed=decoding.seed if decoding.temperature > 0 else None,
        max_tokens=min(decoding.max_tokens, room),
        stop=list(stops) or None,
        structured_outputs=_structured(constraint) if constraint else None,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def _structured(constraint: Constraint) -> Any:
    from vllm.sampling_params import StructuredOutputsParams

    return StructuredOutputsParams(**{constraint.kind: constraint.value})


def _reply(output: Any) -> Reply:
    if isinstance(output, Exception):
        return Reply(text=None, reason=Reason.TRANSPORT, detail=f"vLLM refused the request: {first_line(output)}")
    made = output.outputs[0]
    if made.finish_reason not in ("stop", "length"):
        detail = f"vLLM ended the request early ({made.finish_reason})"
        return Reply(text=None, finish_reason=made.finish_reason, reason=Reason.TRANSPORT, detail=detail)
    return Reply(
        text=made.text,
        finish_reason=made.finish_reason,
        prompt_tokens=len(output.prompt_token_ids),
        completion_tokens=len(made.token_ids),
    )
