"""Whether a verdict agrees with its own evidence: its label with its phrases, its phrases with the translation.

By the published task (Piergentili et al. 2025) a neutral phrase is always correct, a translation with neutral phrases
only is NEUTRAL, and a gendered one is CORRECTLY or WRONGLY GENDERED as its gendered phrases agree with the source or
not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_gnt.evidence import Phrase

ABSENT = "phrase-not-in-translation"
ALL_ABSENT = "no-phrase-in-translation"
NEUTRAL_WRONG = "neutral-phrase-marked-wrong"

_BETWEEN_WORDS = re.compile(r"[\W_]+")


def contradiction(label: str, phrases: Sequence[Phrase]) -> str:
    """What is contradictory about a verdict, as one sentence; empty where label and phrases agree.

    Phrases whose ``correct`` is None (a judge that does not see the source) only tell gendered from neutral.
    """
    gendered = [phrase for phrase in phrases if phrase.gender != "N"]
    wrong = [phrase for phrase in gendered if phrase.correct is False]
    right = [phrase for phrase in gendered if phrase.correct]
    if label == "NEUTRAL":
        return f"NEUTRAL, but a phrase is marked {gendered[0].gender}" if gendered else ""
    if not gendered:
        return f"{label}, but every phrase is marked N"
    if label == "CORRECTLY GENDERED" and wrong:
        return "CORRECTLY GENDERED, but a gendered phrase is marked wrong"
    if label == "WRONGLY GENDERED" and right and not wrong:
        return "WRONGLY GENDERED, but every gendered phrase is marked correct"
    return ""


def phrase_flags(phrases: Sequence[Phrase], translation: str) -> tuple[str, ...]:
    """Marks of phrases that do not stand in the translation, and of neutral ones marked wrong.

    White space, punctuation and letter case do not count: judges copy them loosely.
    """
    text = f" {_words(translation)} "
    there = [f" {_words(phrase.text)} " in text for phrase in phrases]
    flags = [ALL_ABSENT if not any(there) else ABSENT] if not all(there) else []
    if any(phrase.gender == "N" and phrase.correct is False for phrase in phrases):
        flags.append(NEUTRAL_WRONG)
    return tuple(flags)


def _words(text: str) -> str:
    return _BETWEEN_WORDS.sub(" ", text).strip().casefold()
