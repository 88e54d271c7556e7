"""One word and its emotional attitude score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard

from pytest_gnt.evidence import Reason
from pytest_gnt.work import JsonObject


@dataclass(frozen=True, slots=True)
class WordQuery:
    """A word whose attitude is asked for.

    Attributes:
        lang: ISO 639-1 code of the word's language; a script or region behind a hyphen is ignored.
        word: the word. Line breaks and runs of blanks count as one blank.
    """

    lang: str
    word: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "lang", self.lang.replace("_", "-").partition("-")[0].lower())
        object.__setattr__(self, "word", " ".join(self.word.split()))


@dataclass(frozen=True, slots=True)
class WordScore:
    """log P(yes | "is it positive?") − log P(yes | "is it negative?"), natural logarithm: positive means a kind word.

    ``score`` is None exactly when ``reason`` is set. A provider reads it raw; `centred` subtracts the zero point.
    """

    lang: str
    word: str
    score: float | None
    reason: Reason | None = None
    detail: str = ""


def read_score(query: WordQuery, answer: JsonObject) -> WordScore:
    """Read a stored answer. Anything but two finite logarithms of probabilities is a reason, never a number."""
    if answer.get("reason"):
        return WordScore(query.lang, query.word, None, Reason(str(answer["reason"])), str(answer.get("detail", "")))
    positive, negative = answer.get("log_p_positive"), answer.get("log_p_negative")
    if not (is_log_probability(positive) and is_log_probability(negative)):
        detail = f"the attitude model gives no finite value for {query.word!r}"
        return WordScore(query.lang, query.word, None, Reason.NOT_FINITE, detail)
    return WordScore(query.lang, query.word, positive - negative)


# Servers write -100 or -9999 where they mean "masked": no answer that a template suggests is that improbable.
_FLOOR = -99.0
_ROUNDING = 1e-4


def is_log_probability(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number that a log-probability can be; sentinels for "none" are not."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and _FLOOR < value <= _ROUNDING
