"""Making an aligner from its settings, in a pytest run and outside of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_gnt.errors import GntError
from pytest_gnt.work import digest

if TYPE_CHECKING:
    from pytest_gnt.config import AlignerSettings, Config
    from pytest_gnt.pipeline.aligning import WordFinder

DIGITS = 8
_OF_LEXICON = frozenset({"kind", "title", "otherwise"})
_OF_AWESOME = frozenset({"kind", "title", "model", "layer", "threshold", "segmenter", "device", "batch_size"})


@dataclass(frozen=True, slots=True)
class AlignerSetup:
    """An aligner that is ready to run; nothing is loaded yet.

    Attributes:
        label: target languages → name and hash of everything that its links depend on, for signatures; raises
            `GntError` where a package or the weights are missing.
    """

    name: str
    finder: WordFinder
    label: Callable[[Iterable[str]], str]


def set_up_aligner(files: Config, name: str) -> AlignerSetup:
    """An aligner by its name in the configuration.

    Raises:
        GntError: there is no such aligner, a setting does not fit its kind, or a package is missing.
    """
    settings = files.aligner(name)
    allowed = _OF_LEXICON if settings.kind == "lexicon" else _OF_AWESOME
    unused = sorted(settings.model_fields_set - allowed)
    if unused:
        raise GntError(f"aligner {name!r}: {', '.join(unused)} is not for aligners of kind {settings.kind}")
    return _lexicon(files, name, settings) if settings.kind == "lexicon" else _awesome(name, settings)


def _lexicon(files: Config, name: str, settings: AlignerSettings) -> AlignerSetup:
    from pytest_gnt.corpora.attitude_words import shipped_renderings
    from pytest_gnt.metrics.alignment.lexicon import VERSION
    from pytest_gnt.pipeline.aligning import ByLexicon

    own = f"{name}@{digest([VERSION, shipped_renderings().digest])[:DIGITS]}"
    if settings.otherwise is None:
        return AlignerSetup(name, ByLexicon(), lambda _: own)
    if settings.otherwise == name or files.aligner(settings.otherwise).otherwise is not None:
        raise GntError(f"aligner {name!r}: otherwise = {settings.otherwise!r} must name an aligner that has no other")
    other = set_up_aligner(files, settings.otherwise)
    return AlignerSetup(name, ByLexicon(other.finder), lambda langs: f"{own}+{other.label(langs)}")


def _awesome(name: str, settings: AlignerSettings) -> AlignerSetup:
    from pytest_gnt.metrics.alignment import AwesomeAligner, function_words
    from pytest_gnt.pipeline.aligning import ByLinks

    aligner = AwesomeAligner(
        settings.model,
        layer=settings.layer,
        threshold=settings.threshold,
        chinese=settings.segmenter,
        device=settings.device,
        batch_size=settings.batch_size,
    )

    def label(langs: Iterable[str]) -> str:
        words = {lang: aligner.segmenter_key(lang) for lang in sorted(set(langs))}
        return f"{name}@{digest([aligner.context(), words, function_words.digest()])[:DIGITS]}"

    return AlignerSetup(name, ByLinks(aligner), label)
