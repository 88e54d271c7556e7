"""Making a language-model engine from a model's settings: one function a backend, each importing only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_gnt.config import ModelSettings, OpenAIModel, TransformersModel, VllmModel
from pytest_gnt.errors import GntError
from pytest_gnt.runner.kept_engines import kept

if TYPE_CHECKING:
    from pytest_gnt.engines.protocol import Generator
    from pytest_gnt.runner.session import GntSession


def make_generator(gnt: GntSession | None, name: str, settings: ModelSettings) -> Generator:
    """The engine of a prompted model, for a translator or a judge. Nothing is loaded before its first request.

    Args:
        gnt: the session, for what only a pytest run has; None outside of one (the ``gnt`` command).
        name: the model's name, for messages.
        settings: its table of the configuration.

    Raises:
        GntError: the backend runs no prompted models, or something that it needs is not installed.
    """
    maker = _ENGINES.get(settings.backend)
    if maker is None or getattr(settings, "architecture", "causal") != "causal":
        raise GntError(
            f"model {name!r} cannot be prompted (backend {settings.backend}): use a causal model of one of the "
            f"backends {', '.join(sorted(_ENGINES))}"
        )
    engine = kept(settings.backend, settings.model_dump_json(), lambda: maker(gnt, settings))
    if gnt is not None:
        gnt.engines[name] = engine
    return engine


def reference(settings: TransformersModel) -> str:
    """The model with its revision, as `pytest_gnt.engines.weights` reads it."""
    return f"{settings.model}@{settings.revision}" if settings.revision else settings.model


def _transformers(gnt: GntSession | None, settings: TransformersModel) -> Generator:
    from pytest_gnt.engines.transformers_causal import CausalGenerator

    del gnt
    return CausalGenerator(
        reference(settings), dtype=settings.dtype, device=settings.device, batch_size=settings.batch_size
    )


def _openai(gnt: GntSession | None, settings: OpenAIModel) -> Generator:
    from pytest_gnt.engines.openai_server import OpenAIGenerator, Price

    priced = settings.price_input is not None or settings.price_output is not None
    price = Price(input=settings.price_input or 0.0, output=settings.price_output or 0.0) if priced else None
    most = gnt.settings.max_cost if gnt is not None else None
    if most is not None and price is None:
        raise GntError(f"--gnt-max-cost: model {settings.model!r} has no price_input and price_output in gnt.toml")
    return OpenAIGenerator(
        settings.model,
        base_url=settings.base_url,
        api_key_env=settings.api_key_env,
        api=settings.api,
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        retries=settings.retries,
        price=price,
        budget=None if most is None else lambda spent: spent < most,
    )


def usage_rows(engines: Mapping[str, Generator]) -> list[dict[str, Any]]:
    """Requests, tokens and cost of each server that was asked in this process, as plain builtins."""
    rows = []
    for name, engine in sorted(engines.items()):
        traffic = getattr(engine, "traffic", None)
        if traffic is not None and traffic.requests:
            rows.append(
                {
                    "model": name,
                    "requests": traffic.requests,
                    "prompt_tokens": traffic.prompt_tokens,
                    "completion_tokens": traffic.completion_tokens,
                    "cost": getattr(engine, "cost", None),
                }
            )
    return rows


def _vllm(gnt: GntSession | None, settings: VllmModel) -> Generator:
    from pytest_gnt.engines.vllm_inprocess import VllmGenerator

    del gnt
    return VllmGenerator(settings)


_ENGINES: dict[str, Callable[[GntSession | None, Any], Generator]] = {
    "transformers": _transformers,
    "openai": _openai,
    "vllm": _vllm,
}
