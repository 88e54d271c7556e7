"""Making a language-model engine from a model's settings: one function a backend, each importing only what it needs."""

from __future__ import annotations

from collections.abc import Callable
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
    return kept(settings.backend, settings.model_dump_json(), lambda: maker(gnt, settings))


def _transformers(gnt: GntSession | None, settings: TransformersModel) -> Generator:
    from pytest_gnt.engines.transformers_causal import CausalGenerator

    del gnt
    return CausalGenerator(settings.model, dtype=settings.dtype, device=settings.device, batch_size=settings.batch_size)


def _openai(gnt: GntSession | None, settings: OpenAIModel) -> Generator:
    from pytest_gnt.engines.openai_server import OpenAIGenerator, Price

    del gnt
    priced = settings.price_input is not None or settings.price_output is not None
    price = Price(input=settings.price_input or 0.0, output=settings.price_output or 0.0) if priced else None
    return OpenAIGenerator(
        settings.model,
        base_url=settings.base_url,
        api_key_env=settings.api_key_env,
        api=settings.api,
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        retries=settings.retries,
        price=price,
    )


def _vllm(gnt: GntSession | None, settings: VllmModel) -> Generator:
    from pytest_gnt.engines.vllm_inprocess import VllmGenerator

    del gnt
    return VllmGenerator(settings)


_ENGINES: dict[str, Callable[[GntSession | None, Any], Generator]] = {
    "transformers": _transformers,
    "openai": _openai,
    "vllm": _vllm,
}
