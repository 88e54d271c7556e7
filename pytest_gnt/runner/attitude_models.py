"""Attitude models by their settings: what scores words, and what of it a signature has to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_gnt.config import VllmModel
from pytest_gnt.errors import GntError
from pytest_gnt.work import digest

if TYPE_CHECKING:
    from pytest_gnt.config import AttitudeSettings, Config
    from pytest_gnt.engines.protocol import Scorer
    from pytest_gnt.metrics.attitude import AttitudeScorer, RecordedScorer, Templates

DIGITS = 8
DEFAULT_ATTITUDE_MODEL = "gemma270m"


def word_scorer(
    files: Config, name: str, settings: AttitudeSettings, templates: Templates
) -> RecordedScorer | AttitudeScorer:
    """What gives scores of words. Nothing is loaded before the first word.

    Args:
        files: the configuration, for paths.
        name: the attitude model's name, for messages.
        settings: its table.
        templates: how words are asked for.

    Raises:
        GntError: a setting is missing, or something that the model needs is not installed.
    """
    from pytest_gnt.metrics.attitude import AttitudeScorer, RecordedScorer

    if settings.kind == "recorded":
        if settings.path is None:
            raise GntError(f'attitude model {name!r}: kind recorded needs path = "…"')
        return RecordedScorer(files.path(settings.path), templates=templates)
    if settings.model is None:
        raise GntError(f'attitude model {name!r}: kind {settings.kind} needs model = "…"')
    return AttitudeScorer(_engine(settings, settings.model), templates=templates)


def signature_part(
    name: str, scorer: RecordedScorer | AttitudeScorer, templates: Templates, langs: Iterable[str], *, calibrated: bool
) -> str:
    """The attitude model in a signature, as far as scores in these languages depend on it.

    The templates are part of it, and on the calibrated scale the words that set that scale.
    """
    from pytest_gnt.metrics.attitude.template import base_language

    used: dict[str, Any] = {}
    for lang in sorted({base_language(lang) for lang in langs}):
        known = templates.find(lang)
        used[lang] = [scorer.context_of(lang), known.scale_digest if known and calibrated else None]
    return f"{name}@{digest(used)[:DIGITS]}.{'calibrated' if calibrated else 'raw'}"


def _engine(settings: AttitudeSettings, model: str) -> Scorer:
    if settings.kind == "transformers":
        from pytest_gnt.engines.transformers_scorer import CausalScorer

        return CausalScorer(model, device=settings.device, batch_size=settings.batch_size)
    if settings.kind == "vllm":
        from pytest_gnt.engines.vllm_scorer import VllmScorer

        return VllmScorer(VllmModel(model=model, dtype="float32"))
    from pytest_gnt.engines.openai_scorer import OpenAIScorer

    return OpenAIScorer(model, base_url=settings.base_url, api_key_env=settings.api_key_env)
