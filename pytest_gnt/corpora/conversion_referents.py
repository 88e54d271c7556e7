"""Which "they" is not the person.

The rules are few and careful: "they" means the person unless one of them says otherwise. Their error rate is measured
in the documentation.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pytest_gnt.corpora.conversion_agreement import SUBJECTS
from pytest_gnt.corpora.conversion_forms import word_list
from pytest_gnt.corpora.conversion_plan import PRONOUN_KINDS, Kind

if TYPE_CHECKING:
    from spacy.tokens import Token

OWN_OBJECT = "object of a verb whose subject is the person"
SAME_OBJECT = "the plural object of the verb before it"
GENERAL = "people in general, the subject of the clause before it"
LIKED = "what the person likes or dislikes"
EVENT = "an event"
GROUP = "the group that its relative clause describes"
PART_OF = "several, of which a part is named"
OTHER_SUBJECT = "the plural subject of its own clause"

_RELATIVES = frozenset({"who", "that", "which", "whom"})
_PLURAL_TAGS = frozenset({"NNS", "NNPS"})
_PLURAL_PRONOUNS = frozenset({"others", "those", "we", "these"})
_DEPTH = 12


class Referents:
    """Tells the "they" of others from the person's.

    Args:
        mentions: places of the nouns that name the person.
    """

    def __init__(self, mentions: Collection[int]) -> None:
        self._mentions = mentions

    def other(self, pronoun: Token) -> str | None:
        """Why a form of "they" is not the person; None where it is."""
        kind = PRONOUN_KINDS[pronoun.lower_]
        if kind is Kind.REFLEXIVE:
            return OTHER_SUBJECT if self._plural(_subject(_clause(pronoun))) else None
        if kind is Kind.OBJECT:
            return self._other_object(pronoun)
        if kind is Kind.SUBJECT:
            return self._other_subject(pronoun)
        if kind is Kind.POSSESSIVE:
            return self._other_possessor(pronoun)
        return None

    def _other_object(self, pronoun: Token) -> str | None:
        verb = pronoun.head
        if pronoun.dep_ in SUBJECTS:
            # "find them sensible", "want them to suspect": the subject that counts is that of "find", "want".
            verb = verb.head if verb.dep_ in ("ccomp", "xcomp") else verb
        elif pronoun.dep_ not in ("dobj", "dative", "iobj"):
            return self._other_of_preposition(pronoun)
        chain = _nonfinite_chain(verb)
        if chain is not None:
            return self._object_of_chain(pronoun, chain)
        return OWN_OBJECT if self._is_person(_subject(verb)) else None

    def _other_of_preposition(self, pronoun: Token) -> str | None:
        if _partitive(pronoun):
            return PART_OF
        # "gazed at them" like an object; "carries a book with them" can be the person.
        aimed = pronoun.head.lower_ == "at" and pronoun.head.dep_ == "prep"
        return OWN_OBJECT if aimed and self._is_person(_controller(pronoun.head.head)) else None

    def _object_of_chain(self, pronoun: Token, chain: list[Token]) -> str | None:
        """ "took the twins in hand, encouraging them": but not "impressed others, making them a model"."""
        if _lemma(chain[0]) in word_list("events") or any(_asks(verb) for verb in chain):
            return None
        for verb in chain:
            if any(noun.i < pronoun.i and _several(noun) for noun in _objects(verb)):
                return SAME_OBJECT
        return None

    def _other_subject(self, pronoun: Token) -> str | None:
        verb = pronoun.head
        if verb.lower_ in word_list("of_events"):
            return EVENT
        reason = self._general(verb) or self._liked(pronoun, verb) or self._group(verb)
        if reason is None and any(self._liked(earlier, earlier.head) for earlier in _earlier(pronoun)):
            return LIKED
        return reason

    def _general(self, verb: Token) -> str | None:
        for _ in range(3):
            for child in verb.children:
                if child.dep_ != "advcl" or not any(word.lower_ in ("if", "when") for word in child.children):
                    continue
                subject = _own_subject(child)
                if subject is not None and subject.lower_ in word_list("people") and not _determined(subject):
                    return GENERAL
            if verb.dep_ not in ("advcl", "conj", "ccomp"):
                return None
            verb = verb.head
        return None

    def _liked(self, pronoun: Token, verb: Token) -> str | None:
        cause = verb
        for _ in range(_DEPTH):
            if any(child.dep_ == "mark" and child.lower_ in ("because", "since") for child in cause.children):
                break
            if cause.dep_ not in ("advcl", "ccomp", "conj", "parataxis") or cause.head is cause:
                return None
            cause = cause.head
        governor = cause.head
        if _lemma(governor) not in word_list("object_causes"):
            return None
        liked = [child for child in governor.children if child.dep_ == "dobj" and child.i < pronoun.i]
        return LIKED if any(self._plural(child) for child in liked) else None

    def _group(self, verb: Token) -> str | None:
        for _ in range(3):
            if verb.dep_ not in ("advcl", "conj", "ccomp"):
                return None
            verb = verb.head
            if verb.dep_ == "relcl" and any(child.lower_ == "who" for child in verb.children):
                noun = verb.head
                return GROUP if self._plural(noun) or noun.lower_ in word_list("groups") else None
        return None

    def _other_possessor(self, pronoun: Token) -> str | None:
        noun = pronoun.head
        subject = _controller(_clause(pronoun))
        if subject is not None and subject.lower_ == "them" and self._other_object(subject):
            return OTHER_SUBJECT
        own = any(child.lower_ == "own" for child in noun.children)
        if not own and noun.lower_ not in word_list("nouns"):
            return None
        return OTHER_SUBJECT if self._plural(subject) else None

    def _plural(self, noun: Token | None) -> bool:
        """Whether a noun can be what "they" means beside the person: a plural, or a coordination."""
        if noun is None or self._is_person(noun):
            return False
        if noun.tag_ in _PLURAL_TAGS or noun.lower_ in _PLURAL_PRONOUNS:
            return True
        return any(child.dep_ == "conj" for child in noun.children) and noun.tag_.startswith("NN")

    def _is_person(self, noun: Token | None) -> bool:
        if noun is None:
            return False
        if noun.i in self._mentions or (noun.lower_ == "their" and noun.dep_ == "poss"):
            return True
        if noun.lower_ == "they":
            return self._other_subject(noun) is None
        if noun.lower_ in _RELATIVES and noun.head.dep_ == "relcl":
            return noun.head.head.i in self._mentions
        return False


def _earlier(pronoun: Token) -> list[Token]:
    """The "they" before this one in its sentence."""
    return [token for token in pronoun.sent if token.i < pronoun.i and token.lower_ == "they"]


def _own_subject(verb: Token) -> Token | None:
    return next((child for child in verb.children if child.dep_ in SUBJECTS), None)


def _object(verb: Token) -> Token | None:
    return next((child for child in verb.children if child.dep_ == "dobj"), None)


def _controller(verb: Token | None) -> Token | None:
    """The subject of a verb, of the one that it is coordinated with, or the object that an infinitive goes with."""
    for _ in range(_DEPTH):
        if verb is None:
            return None
        subject = _own_subject(verb)
        if subject is not None:
            return subject
        if verb.dep_ == "xcomp":
            return _object(verb.head)
        if verb.dep_ != "conj":
            return None
        verb = verb.head
    return None


def _nonfinite_chain(verb: Token) -> list[Token] | None:
    """The verbs from one without subject of its own up to the finite one that governs it.

    None where there is no participle among them: then the subject is that of the finite verb.
    """
    chain = [verb]
    participle = False
    for _ in range(_DEPTH):
        last = chain[-1]
        if _own_subject(last) is not None or last.head is last:
            break
        participle = participle or (last.tag_ == "VBG" and last.dep_ in ("advcl", "pcomp", "acl", "conj"))
        participle = participle or _asks(last)
        governor = _clause(last)
        if governor is None:
            break
        chain.append(governor)
    return chain if participle else None


def _asks(verb: Token) -> bool:
    """Whether an infinitive has a question word: "unsure of how to support them" does not say who supports."""
    return any(child.tag_ in ("WRB", "WP") for child in verb.children)


def _objects(verb: Token) -> list[Token]:
    """Objects of a verb and of its prepositions, one noun deep ("all of their assignments", "cruelty to animals")."""
    found = [child for child in verb.children if child.dep_ == "dobj"]
    for prep in verb.children:
        if prep.dep_ in ("prep", "agent"):
            found += [noun for noun in prep.children if noun.dep_ == "pobj"]
            found += [noun for gerund in prep.children if gerund.dep_ == "pcomp" for noun in _objects(gerund)]
    return found + [noun for head in found for prep in head.children if prep.dep_ == "prep" for noun in prep.children]


def _several(noun: Token) -> bool:
    return noun.tag_ in _PLURAL_TAGS or noun.lower_ in word_list("groups")


def _partitive(pronoun: Token) -> bool:
    """ "any of them", "each of them"."""
    whole = pronoun.head
    return whole.lower_ == "of" and whole.dep_ == "prep" and whole.head.lower_ in word_list("parts")


def _subject(verb: Token | None) -> Token | None:
    """The understood subject of a verb: its own, or that of the clause that it depends on."""
    for _ in range(_DEPTH):
        if verb is None:
            return None
        subject = _own_subject(verb)
        if subject is not None:
            return subject
        if verb.dep_ == "acl":
            # "their ability to explain them": whose ability it is explains.
            possessor = next((child for child in verb.head.children if child.dep_ == "poss"), None)
            return possessor if possessor is not None and verb.tag_ == "VB" else verb.head
        if verb.dep_ == "xcomp":
            addressed = _object(verb.head)
            if addressed is not None:
                return addressed
        if verb.dep_ == "relcl" or verb.head is verb:
            return None
        verb = _clause(verb)
    return None


def _clause(token: Token) -> Token | None:
    """The verb (or predicate) that a token depends on, also through prepositions and nouns."""
    for _ in range(_DEPTH):
        if token.head is token:
            return None
        token = token.head
        if token.tag_.startswith(("VB", "MD")) or _own_subject(token) is not None:
            return token
    return None


def _determined(noun: Token) -> bool:
    return any(child.dep_ in ("det", "poss") for child in noun.children)


def _lemma(verb: Token) -> str:
    """The base form of a verb, as far as the word lists need it."""
    word: str = verb.lower_
    lists = word_list("object_causes") | word_list("events")
    doubled = word[:-3] if len(word) > 6 and word[-4:-3] == word[-5:-4] and word.endswith("ing") else word
    forms = (word, word[:-1], word[:-2], word[:-3], word[:-3] + "e", doubled[:-1])
    return next((form for form in forms if form in lists), {"left": "leave", "kept": "keep"}.get(word, word))
