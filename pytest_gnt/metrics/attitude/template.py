"""The questions that a language model is asked about a word, by language (``data/attitude_templates.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from pytest_gnt.config import AttitudeTemplate
from pytest_gnt.config.templates import SLOT
from pytest_gnt.work import digest


@dataclass(frozen=True, slots=True)
class Template:
    """How the attitude of a word is asked for (AmbGIMT, section on the emotional attitude score).

    Attributes:
        lang: ISO 639-1 code.
        positive: the question whether the word is positive, with ``{word}`` once.
        negative: its twin.
        answer: the affirmative answer whose probability is taken, with the blank that precedes it.
        shots: answered questions that precede each question.
        kind: words that are plainly kind to say of a person, for the zero point.
        harsh: words that are plainly harsh.
        reviewed: whether a native speaker has checked it.
    """

    lang: str
    positive: str
    negative: str
    answer: str
    shots: str
    kind: tuple[str, ...]
    harsh: tuple[str, ...]
    reviewed: bool = False

    @classmethod
    def of(cls, lang: str, table: AttitudeTemplate) -> Template:
        """A template from its table."""
        asked = {"positive": table.positive, "negative": table.negative}
        answers = {"yes": table.yes, "no": table.no}
        shots = []
        for shot in table.shots:
            question, *words, answer = shot.split()
            shots.append(_filled(asked[question], " ".join(words)) + answers[answer] + "\n")
        return cls(
            lang, table.positive, table.negative, table.yes, "".join(shots), table.kind, table.harsh, table.reviewed
        )

    def prompts(self, word: str) -> tuple[str, str]:
        """The two prompts for a word. The word is text: braces in it mean nothing."""
        return self.shots + _filled(self.positive, word), self.shots + _filled(self.negative, word)

    @property
    def digest(self) -> str:
        """Hash of everything that changes a raw score, 12 hex digits."""
        return digest([self.positive, self.negative, self.answer, self.shots])[:12]

    @property
    def scale_digest(self) -> str:
        """Hash of the words that set the scale of calibrated scores."""
        return digest([list(self.kind), list(self.harsh)])[:12]


class Templates:
    """Templates by language: the shipped ones, and the user's in their place or beside them.

    Args:
        own: the user's, by ISO 639-1 code.
    """

    def __init__(self, own: Mapping[str, AttitudeTemplate] | None = None) -> None:
        mine = {lang: Template.of(lang, table) for lang, table in (own or {}).items()}
        self._by_lang = {**_shipped(), **mine}

    def find(self, lang: str) -> Template | None:
        """The template of a language; a region or script behind the code is ignored. None where there is none."""
        return self._by_lang.get(base_language(lang))

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that have a template."""
        return tuple(self._by_lang)


def base_language(lang: str) -> str:
    """``zh`` of ``zh-Hans`` or ``ZH_cn``."""
    return lang.replace("_", "-").partition("-")[0].lower()


def template(lang: str) -> Template | None:
    """The shipped template of a language; see `Templates.find`."""
    return Templates().find(lang)


def languages() -> tuple[str, ...]:
    """Languages that have a shipped template."""
    return Templates().languages


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Template]:
    text = files("pytest_gnt.metrics").joinpath("data", "attitude_templates.toml").read_text(encoding="utf-8")
    tables = {
        lang: AttitudeTemplate.model_validate(
            {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        )
        for lang, table in tomllib.loads(text).items()
    }
    return MappingProxyType({lang: Template.of(lang, table) for lang, table in tables.items()})


def _filled(question: str, word: str) -> str:
    head, _, tail = question.partition(SLOT)
    return head + word + tail
