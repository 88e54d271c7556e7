"""A sentence about "the person" with the places that change with the identity. Everything else stays byte for byte."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_gnt.case import Identity
from pytest_gnt.corpora.conversion_forms import forms_of, match_case, third_person

_NOUN = re.compile(r"(?P<article>an?\b)?(?P<between>.*?)(?P<noun>person)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)


class Kind(StrEnum):
    """What stands in a place that changes."""

    NOUN = "noun"
    SUBJECT = "subject"
    OBJECT = "object"
    POSSESSIVE = "possessive"
    ABSOLUTE = "absolute"
    REFLEXIVE = "reflexive"
    VERB = "verb"
    CHOICE = "choice"


PRONOUN_KINDS = {
    "they": Kind.SUBJECT,
    "them": Kind.OBJECT,
    "their": Kind.POSSESSIVE,
    "theirs": Kind.ABSOLUTE,
    "themself": Kind.REFLEXIVE,
    "themselves": Kind.REFLEXIVE,
}
"""The forms of "they" and their kinds."""


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A place that changes.

    Attributes:
        start: offset of its first character in the plan's text.
        end: offset behind its last character.
        kind: what stands there.
        singular: the form beside she and he; only for a choice that the user wrote (``[give|gives]``).
    """

    start: int
    end: int
    kind: Kind
    singular: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A sentence and its slots.

    Attributes:
        text: the sentence about "the person", without brackets.
        slots: in order, apart from each other.
        kept: forms of "they" that stay, with the reason.
    """

    text: str
    slots: tuple[Slot, ...]
    kept: tuple[tuple[Slot, str], ...] = field(default=())

    def __post_init__(self) -> None:
        ends = [0, *(slot.end for slot in self.slots)]
        if any(slot.start < end or slot.end <= slot.start for slot, end in zip(self.slots, ends, strict=False)):
            raise ValueError(f"slots out of order or one upon another in {self.text!r}")

    def sentence(self, identity: Identity) -> str:
        """The sentence about an identity; for "person" the text as it stands."""
        if identity is Identity.PERSON:
            return self.text
        parts: list[str] = []
        place = 0
        for slot in self.slots:
            parts += [self.text[place : slot.start], _form(slot, self.text[slot.start : slot.end], identity)]
            place = slot.end
        return "".join([*parts, self.text[place:]])


def _form(slot: Slot, text: str, identity: Identity) -> str:
    forms = forms_of(identity)
    pronouns = forms.pronouns
    if slot.kind is Kind.NOUN:
        return _noun(text, forms.noun)
    if pronouns.plural_verbs:
        return text
    if slot.kind is Kind.VERB:
        return third_person(text)
    if slot.kind is Kind.CHOICE:
        return slot.singular
    return match_case(text, getattr(pronouns, slot.kind.value))


def _noun(text: str, noun: str) -> str:
    """``the person's`` with another noun: "a" and "an" follow it, and its words the letter case of "person"."""
    match = _NOUN.fullmatch(text)
    if match is None:
        raise ValueError(f"no noun phrase of the person: {text!r}")
    words = " ".join(match_case(match["noun"], word) for word in noun.split(" "))
    article = match["article"] or ""
    if article:
        new = "an" if noun[0] in "aeiou" else "a"
        # A lone "A" begins a sentence; it does not say that all is in capitals.
        article = new.upper() if match["noun"].isupper() else match_case(article[0] + "a", new)
    return f"{article}{match['between']}{words}{match['rest']}"
