"""What the stages find out about one case, and what assertions look at: plain records that survive JSON.

Every record either holds a result or a ``reason`` why there is none; a result that is missing is never a neutral
verdict, a zero or a NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pytest_gnt.case import Case, Form

PhraseGender = Literal["M", "F", "N"]


class Reason(StrEnum):
    """Why a case could not be decided (the *error kinds* of the docs)."""

    # the translation
    EMPTY = "empty"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    SOURCE_COPY = "source-copy"
    WRONG_LANGUAGE = "wrong-language"
    NO_FORM = "no-form"
    LOOPING = "looping"
    OVER_LONG = "over-long"
    TRANSPORT = "transport"
    MISSING = "missing"
    NOT_RUN = "not-run"
    # the judgement
    INVALID = "invalid-verdict"
    CONTRADICTION = "contradiction"
    SPLIT_VOTE = "split-vote"
    UNSUPPORTED_LANGUAGE = "unsupported-language"
    UNDECIDED = "undecided"
    # attitude and quality
    NO_ATTITUDE_WORD = "no-attitude-word"
    UNALIGNED = "unaligned"
    ALIGNED_TO_PUNCTUATION = "aligned-to-punctuation"
    ALIGNED_TO_FUNCTION_WORD = "aligned-to-function-word"
    COPIED_WORD = "copied-word"
    WORD_NOT_IN_SOURCE = "word-not-in-source"
    NOTHING_TO_ALIGN = "nothing-to-align"
    TOO_LONG_TO_ALIGN = "too-long-to-align"
    UNKNOWN_WORD = "unknown-word"
    NOT_FINITE = "not-finite"
    NO_LOG_PROBABILITIES = "no-log-probabilities"
    NO_REFERENCE = "no-reference"


class JudgedLabel(StrEnum):
    """The verdict on one translation (Piergentili et al. 2025, three-way label)."""

    CORRECTLY_GENDERED = "CORRECTLY GENDERED"
    WRONGLY_GENDERED = "WRONGLY GENDERED"
    NEUTRAL = "NEUTRAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What the system under test answered for one case.

    Attributes:
        text: the translation itself; None exactly when ``reason`` is set.
        label: the form that the model says its translation has; None for systems that do not say.
        raw: the reply as it came, untouched.
        finish_reason: how generation ended (``stop``, ``length`` …) where the engine says.
        reason: why there is no usable translation.
        detail: one sentence on the reason.
        flags: suspicions that do not stop the scoring, e.g. ``suspected-refusal``.
    """

    case: Case
    text: str | None = None
    label: Form | None = None
    raw: str = ""
    finish_reason: str | None = None
    reason: Reason | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase of the translation that refers to a person.

    Attributes:
        text: the phrase as it stands in the translation.
        gender: M, F or N (no gender expressed).
        correct: whether that agrees with the source; None where the judge does not say.
        note: what in source or lexicon the judgement rests on.
    """

    text: str
    gender: PhraseGender
    correct: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict on one translation; ``label`` is None exactly when ``reason`` is set."""

    case: Case
    translation: Translation
    phrases: tuple[Phrase, ...] = ()
    label: JudgedLabel | None = None
    raw: str = ""
    reason: Reason | None = None
    detail: str = ""
    votes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attitude:
    """The emotional attitude of the attitude word in source and translation (AmbGIMT, EAS).

    Positive means a kind word. Calibrated scores have plainly kind words at 1 and plainly harsh ones at -1 in each
    language; raw ones (the paper's) are differences of natural-log probabilities.
    ``target_score`` is the mean over the aligned target words; a word is kind above ``delta``, harsh below ``-delta``.
    ``identity_words`` is what the aligner linked the identity's term to: nothing where it was dropped, None where the
    aligner did not look.
    """

    case: Case
    translation: Translation
    source_word: str = ""
    target_words: tuple[str, ...] = ()
    identity_words: tuple[str, ...] | None = None
    source_score: float | None = None
    target_score: float | None = None
    delta: float = 0.2
    reason: Reason | None = None
    detail: str = ""

    @property
    def shift(self) -> float | None:
        """Target minus source score: negative when the translation is harsher than the source."""
        if self.source_score is None or self.target_score is None:
            return None
        return self.target_score - self.source_score


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Quality scores of one translation, by metric name, in points of 100 (``bleu``, ``chrf``, ``comet`` …).

    ``statistics`` are counts that add up over cases, for scores of a whole corpus; see `pytest_gnt.metrics.bleu`.
    """

    case: Case
    translation: Translation
    scores: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, tuple[int, ...]] = field(default_factory=dict)
    reason: Reason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The woman and the man variant of a case's own sentence, with their scores: what its own score is compared with.

    Attributes:
        woman, man: None where the corpus has no such variant of the sentence.
        tolerance: how far below their mean a score may lie, in points of 100.
    """

    woman: Quality | None = None
    man: Quality | None = None
    tolerance: float = 10.0


Evidence = Translation | Judgement | Attitude | Quality
