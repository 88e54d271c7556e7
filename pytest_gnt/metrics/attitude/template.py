"""The questions that a language model is asked about a word, by language (``data/attitude_templates.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pytest_gnt.work import digest

_SLOT = "{word}"


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
    """

    lang: str
    positive: str
    negative: str
    answer: str
    shots: str
    kind: tuple[str, ...]
    harsh: tuple[str, ...]

    def prompts(self, word: str) -> tuple[str, str]:
        """The two prompts for a word. The word is text: braces in it mean nothing."""
        return self.shots + _filled(self.positive, word), self.shots + _filled(self.negative, word)

    @property
    def digest(self) -> str:
        """Hash of everything that changes a score, 12 hex digits."""
        return digest([self.positive, self.negative, self.answer, self.shots])[:12]


def template(lang: str) -> Template | None:
    """The template of a language (ISO 639-1, a region or script behind it is ignored); None where there is none."""
    return _templates().get(lang.replace("_", "-").partition("-")[0].lower())


def languages() -> tuple[str, ...]:
    """Languages that have a template."""
    return tuple(_templates())


@lru_cache(maxsize=1)
def _templates() -> Mapping[str, Template]:
    text = files("pytest_gnt.metrics").joinpath("data", "attitude_templates.toml").read_text(encoding="utf-8")
    return {lang: _template(lang, table) for lang, table in tomllib.loads(text).items()}


def _template(lang: str, table: Mapping[str, Any]) -> Template:
    positive, negative, answer = str(table["positive"]), str(table["negative"]), str(table["yes"])
    asked = {"positive": positive, "negative": negative}
    shots = [
        _filled(asked[shot[0]], shot[1]) + (answer if shot[2] == "yes" else str(table["no"])) + "\n"
        for shot in (str(line).split() for line in table["shots"])
    ]
    kind, harsh = (tuple(str(word) for word in table[name]) for name in ("kind", "harsh"))
    return Template(lang, positive, negative, answer, "".join(shots), kind, harsh)


def _filled(question: str, word: str) -> str:
    head, _, tail = question.partition(_SLOT)
    return head + word + tail
