"""How probable a fixed answer is after each of many prompts, through vLLM (the attitude metric asks so)."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.config import VllmModel
from pytest_gnt.engines.answer_tokens import answer_tokens
from pytest_gnt.engines.protocol import NoScore, not_finite, over_long
from pytest_gnt.engines.vllm_runtime import (
    Ask,
    Runtime,
    check_installed,
    first_line,
    model_reference,
    run,
    start,
    stop,
)
from pytest_gnt.engines.weights import Progress, revision
from pytest_gnt.evidence import Reason

_log = logging.getLogger(__name__)
_VERSION = 2
"""Part of the context: raise it when scores change without any setting having changed."""


class VllmScorer:
    """A `Scorer` over a model in vLLM; the engine is started by the first `score`.

    Prompts are raw text: no chat template is put around them. The start token is set where the tokenizer sets one.
    An answer of one token is read off the model's prediction after the prompt, so that prompts which begin alike share
    their computation; a longer answer is scored as the end of a prompt, which vLLM computes without its prefix cache.

    Args:
        settings: the model's table of the configuration. Choose float32 where scores have to be compared: in bfloat16
            the batch's composition moves a log-probability by several hundredths.
        progress: told one line whenever the user has to wait for something.

    Raises:
        EngineFailure: vLLM is not installed.
    """

    movable = True

    def __init__(self, settings: VllmModel, *, progress: Progress | None = None) -> None:
        check_installed(settings.model)
        self._settings = settings
        self._progress = progress or _log.info
        self._runtime: Runtime | None = None

    def context(self) -> Mapping[str, object]:
        return {
            "backend": "vllm",
            "version": _VERSION,
            "model": self._settings.model,
            "revision": revision(model_reference(self._settings)),
            "dtype": self._settings.dtype,
            "engine_args": dict(self._settings.engine_args),
        }

    def score(self, prompts: Sequence[str], answer: str) -> list[float | NoScore]:
        """See `Scorer.score`. A prompt that does not fit the model's window has no value."""
        if not prompts:
            return []
        runtime = self._load()
        encoded = answer_tokens(runtime.tokenizer, prompts, answer)
        scores: list[float | NoScore] = [_refused(len(prompt), runtime.window) for prompt, _ in encoded]
        for index, output in run(runtime, _asks(runtime, encoded)):
            scores[index] = _log_probability(output, encoded[index][1])
        return scores

    def close(self) -> None:
        if self._runtime is not None:
            stop(self._runtime)
            self._runtime = None

    def _load(self) -> Runtime:
        if self._runtime is None:
            # Raw values: probabilities as the model gives them, before anything that binds the reply.
            self._runtime = start(self._settings, self._progress, logprobs_mode="raw_logprobs")
        return self._runtime


def _asks(runtime: Runtime, encoded: Sequence[tuple[list[int], list[int]]]) -> list[Ask]:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    common: dict[str, Any] = {
        "temperature": 0.0,
        "max_tokens": 1,
        "detokenize": False,
        "output_kind": RequestOutputKind.FINAL_ONLY,
    }
    asks = []
    for index, (prompt, answer) in enumerate(encoded):
        if not prompt or len(prompt) + len(answer) >= runtime.window:
            continue
        if len(answer) == 1:
            # The reply is bound to the answer's token; the value reported is the unbound one.
            params = SamplingParams(**common, logprobs=0, allowed_token_ids=answer)
            asks.append(Ask(index, prompt, params))
        else:
            asks.append(Ask(index, [*prompt, *answer], SamplingParams(**common, prompt_logprobs=0)))
    return asks


def _refused(tokens: int, window: int) -> NoScore:
    """Why a question is not asked."""
    return over_long(tokens, window) if tokens else NoScore(Reason.EMPTY, "the question is empty")


def _log_probability(output: Any, answer: list[int]) -> float | NoScore:
    """Sum over the answer's tokens; a reason where vLLM refused the request or gives no finite value."""
    if isinstance(output, Exception):
        return NoScore(Reason.TRANSPORT, f"vLLM refused the question: {first_line(output)}")
    rows = output.outputs[0].logprobs if len(answer) == 1 else output.prompt_logprobs[-len(answer) :]
    value = float(sum(row[token].logprob for row, token in zip(rows, answer, strict=True)))
    return value if math.isfinite(value) else not_finite(value)
