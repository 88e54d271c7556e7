"""Finding the places of an English sentence about "the person" that change with the identity."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_gnt.corpora.conversion_agreement import agreeing_verbs
from pytest_gnt.corpora.conversion_forms import word_list
from pytest_gnt.corpora.conversion_plan import PRONOUN_KINDS, Kind, Plan, Slot
from pytest_gnt.corpora.conversion_quotes import innermost, quotations

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MENTION = re.compile(r"(?<![\w-])(?:the)\s+(?P<noun>person)(?![\w-])", re.IGNORECASE)
"""A mention of the person; only its noun changes."""

_PRONOUN = re.compile(rf"(?<![\w'’])(?<!\w-)(?:{'|'.join(PRONOUN_KINDS)})(?![\w-])", re.IGNORECASE)

_NAMED = re.compile(r"[\w]/$|^/[\w]")

NAMED = "named as a word: they/them"
QUOTED = "in quoted speech that does not speak of the person"


def find_plan(text: str) -> Plan | None:
    """The plan of a neutral sentence, or None where nothing in it names the person.

    Which "they" means the person is decided by rules on the parse; see `conversion_referents`. A "they" of which no
    rule says otherwise means the person.

    Raises:
        GntError: the sentence needs the parser, and it is not usable.
        ValueError: the sentence is too long for the parser.
    """
    nouns = [Slot(*match.span("noun"), Kind.NOUN) for match in MENTION.finditer(text)]
    if not nouns:
        return None
    spans = quotations(text)
    kept: dict[Slot, str] = {}
    pronouns: list[Slot] = []
    for match in _PRONOUN.finditer(text):
        slot = Slot(*match.span(), PRONOUN_KINDS[match[0].lower()])
        quote = innermost(spans, slot.start)
        if _NAMED.search(text[max(slot.start - 2, 0) : slot.start]) or _NAMED.match(text[slot.end : slot.end + 2]):
            kept[slot] = NAMED
        elif quote and not any(quote[0] <= noun.start < quote[1] for noun in nouns):
            kept[slot] = QUOTED
        else:
            pronouns.append(slot)
    verbs: Sequence[Slot] = ()
    if any(_needs_parse(text, slot) for slot in pronouns):
        from pytest_gnt.corpora.conversion_parse import parse

        verbs = _read_parse(parse(text), nouns, pronouns, kept)
    slots = sorted([*nouns, *(slot for slot in pronouns if slot not in kept), *verbs])
    return Plan(text, tuple(slots), tuple(sorted(kept.items())))


def _needs_parse(text: str, slot: Slot) -> bool:
    """Whether the parse can say something of a pronoun: of "their" only where it may go with another noun."""
    if slot.kind is not Kind.POSSESSIVE:
        return True
    words = re.findall(r"\w+", text[slot.end : slot.end + 60])[:3]
    return any(word.lower() in word_list("nouns") for word in words)


def _read_parse(doc: Doc, nouns: Sequence[Slot], pronouns: Sequence[Slot], kept: dict[Slot, str]) -> Sequence[Slot]:
    """Put the pronouns of others into ``kept``, and find the verbs of the person's "they"."""
    from pytest_gnt.corpora.conversion_referents import Referents

    tokens: Mapping[int, Token] = {token.idx: token for token in doc}
    referents = Referents({tokens[noun.start].i for noun in nouns if noun.start in tokens})
    verbs: dict[int, Slot] = {}
    for slot in pronouns:
        token = tokens.get(slot.start)
        if token is None:
            continue
        reason = referents.other(token)
        if reason:
            kept[slot] = reason
        elif slot.kind is Kind.SUBJECT:
            for verb in agreeing_verbs(token):
                verbs[verb.idx] = Slot(verb.idx, verb.idx + len(verb.text), Kind.VERB)
    taken = {slot.start for slot in (*nouns, *pronouns)}
    return tuple(verb for verb in verbs.values() if verb.start not in taken)
