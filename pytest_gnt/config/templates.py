"""How a language model is asked about words in one language: a table of the shipped file, or of the user's."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from pytest_gnt.config.models import Table

SLOT = "{word}"
ENOUGH = 5
"""Fewer kind or harsh words than this do not make a zero point."""

_PLACEHOLDER = re.compile(r"\{\s*([^\W\d]\w*)\s*\}")
Words = tuple[Annotated[str, Field(min_length=1)], ...]


class AttitudeTemplate(Table):
    """The questions of the emotional attitude score in one language.

    Attributes:
        positive, negative: the two questions, each with ``{word}`` once; other braces are text.
        yes: the answer whose probability is taken, with the blank that precedes it.
        no: its opposite, which the worked examples need.
        shots: worked examples, each ``"positive WORD yes"``: the question, the word, the answer to give.
        kind, harsh: words that are plainly kind or plainly harsh to say of a person; they set the zero point.
        reviewed: whether a native speaker has checked the table.
    """

    positive: str
    negative: str
    yes: str
    no: str = ""
    shots: Words = ()
    kind: Words
    harsh: Words
    reviewed: bool = False

    @field_validator("positive", "negative")
    @classmethod
    def _one_slot(cls, question: str) -> str:
        for name in _PLACEHOLDER.findall(question):
            if name != "word":
                raise ValueError(f"unknown placeholder {{{name}}}: only {SLOT} is filled in")
        if question.count(SLOT) != 1:
            raise ValueError(f"{SLOT} must be there once, where the word goes")
        return question

    @field_validator("yes")
    @classmethod
    def _visible(cls, answer: str) -> str:
        if not answer.strip() or "\n" in answer:
            raise ValueError("the answer must be a visible text on one line")
        return answer

    @field_validator("shots")
    @classmethod
    def _readable(cls, shots: Words) -> Words:
        for shot in shots:
            parts = shot.split()
            if len(parts) < 3 or parts[0] not in ("positive", "negative") or parts[-1] not in ("yes", "no"):
                raise ValueError(
                    f'{shot!r} must be written "positive WORD yes", or with negative and no for the opposites'
                )
        return shots

    @field_validator("kind", "harsh")
    @classmethod
    def _enough(cls, words: Words) -> Words:
        if len(set(words)) < ENOUGH:
            raise ValueError(f"{len(set(words))} different words are there, at least {ENOUGH} are needed")
        return words

    @model_validator(mode="after")
    def _differs(self) -> AttitudeTemplate:
        if self.positive == self.negative:
            raise ValueError("positive and negative ask the same question")
        if self.yes == self.no:
            raise ValueError("yes and no are the same answer")
        both = sorted(set(self.kind) & set(self.harsh))
        if both:
            raise ValueError(f"{both[0]!r} is both kind and harsh")
        if any(shot.split()[-1] == "no" for shot in self.shots) and not self.no:
            raise ValueError('no = "…" is missing, and the worked examples need it')
        return self
