"""A user's own sentence with marked places: ``[The person] is tenacious. [They] never give up.``

Marked are mentions of the person (``[the person]``, ``[The person's]``, ``[a person]``), forms of "they", and, where
the agreement shall not be left to the parser, verbs in both forms (``[give|gives]``). Nothing else changes but the
verbs that agree with a marked "they".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_gnt.corpora.conversion_plan import PRONOUN_KINDS, Kind, Plan, Slot
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOUN = re.compile(r"(?:(?:the|an?|this|that|each|every|one|another|any|no)\s+)?person(?:['’]s)?", re.IGNORECASE)
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"([^\s|]+)\|([^\s|]+)")


def has_slots(text: str) -> bool:
    """Whether a sentence marks a mention of the person or a form of "they"."""
    return any(_kind(match[1]) not in (None, Kind.CHOICE) for match in _BRACKET.finditer(text))


def find_slots(text: str) -> Plan:
    """The plan of a sentence with marked places. Other brackets stay as they are.

    Where the sentence marks a verb in both forms, all agreement is the user's; else the parser finds the verbs.

    Raises:
        GntError: verbs have to be found and the parser is not usable.
        ValueError: no place is marked, or the sentence is too long for the parser.
    """
    parts: list[str] = []
    slots: list[Slot] = []
    place = length = 0
    for match in _BRACKET.finditer(text):
        kind = _kind(match[1])
        if kind is None:
            continue
        before = text[place : match.start()]
        inner, singular = match[1], ""
        if choice := _CHOICE.fullmatch(inner):
            inner, singular = choice[1], choice[2]
        slots.append(Slot(length + len(before), length + len(before) + len(inner), kind, singular))
        parts += [before, inner]
        length += len(before) + len(inner)
        place = match.end()
    plain = "".join([*parts, text[place:]])
    if not any(slot.kind is not Kind.CHOICE for slot in slots):
        raise ValueError("no mention of the person and no form of they is marked")
    return Plan(plain, tuple(sorted([*slots, *_verbs(plain, slots)])))


def _kind(inner: str) -> Kind | None:
    pronoun = PRONOUN_KINDS.get(inner.lower())
    if pronoun is not None:
        return pronoun
    if _NOUN.fullmatch(inner):
        return Kind.NOUN
    return Kind.CHOICE if _CHOICE.fullmatch(inner) else None


def _verbs(text: str, slots: Sequence[Slot]) -> list[Slot]:
    subjects = {slot.start for slot in slots if slot.kind is Kind.SUBJECT}
    if not subjects or any(slot.kind is Kind.CHOICE for slot in slots):
        return []
    try:
        from pytest_gnt.corpora.conversion_agreement import agreeing_verbs
        from pytest_gnt.corpora.conversion_parse import parse

        doc = parse(text)
    except GntError as error:
        raise GntError(f"{error}, or mark the verbs in both forms: [They] [give|gives]") from error
    verbs = {verb.idx: verb for token in doc if token.idx in subjects for verb in agreeing_verbs(token)}
    found = [Slot(place, place + len(verb.text), Kind.VERB) for place, verb in sorted(verbs.items())]
    # Where text is glued to a mark, the parser's word can reach into it; the marked place is the user's.
    return [verb for verb in found if all(verb.end <= slot.start or slot.end <= verb.start for slot in slots)]
