"""The verbs that agree with "they": the finite one of its clause, and those that are coordinated with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_gnt.corpora.conversion_forms import word_list
from pytest_gnt.corpora.conversion_parse import is_verb

if TYPE_CHECKING:
    from spacy.tokens import Token

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_AUXILIARIES = frozenset({"aux", "auxpass"})
_PLURAL_PAST = frozenset({"were"})
_AGREEING = frozenset({"are", "were", "have", "do", "'re", "’re", "'ve", "’ve"})
_MODALS = frozenset({"MD"})
_UNREAL = frozenset({"if", "though"})
_PERFECT = frozenset({"have", "'ve", "’ve", "are", "'re", "’re", "had", "were"})


def agreeing_verbs(pronoun: Token) -> list[Token]:
    """The verb forms that have to change where "they" becomes "she" or "he".

    Forms of the past and modal verbs do not change, except "were". "were" stays in an unreal comparison ("as if they
    were …"). In a question the auxiliary governs what is coordinated too ("Do they sing and dance?").

    Args:
        pronoun: a "they" in subject position.
    """
    if pronoun.dep_ not in SUBJECTS:
        follower = _following_verb(pronoun)
        return [follower] if follower is not None else []
    head = pronoun.head
    first = _finite(head, pronoun)
    found = [first] if first is not None and _changes(first) and not _unreal(first, head) else []
    found = [verb for verb in found if is_verb(verb.lower_)]
    asked = first is not None and first.i < pronoun.i and first is not head
    present = first is not None and first.tag_ == "VBP"
    # A base form that is coordinated with one is a present form too; after "do" and modal verbs it is not.
    plain = first is head or (first is not None and first.lower_ in _PERFECT)
    governor = head.head if head.dep_ in _AUXILIARIES else head
    for verb in _coordinated(governor):
        form = _finite(verb, None, plain)
        if form is None or not is_verb(form.lower_) or (asked and form is verb and form.lower_ != "are"):
            continue
        if _changes(form) or (present and form.tag_ == "VBD" and form.lower_ in word_list("same_past")):
            found.append(form)
    return found


def _following_verb(pronoun: Token) -> Token | None:
    """Where the parse has no subject here: the next word, if it can only be a finite verb in the plural."""
    if pronoun.i + 1 >= len(pronoun.doc):
        return None
    following = pronoun.nbor(1)
    return following if following.lower_ in _AGREEING or following.tag_ == "VBP" else None


def _finite(head: Token, pronoun: Token | None, plain: bool = True) -> Token | None:
    """The finite form of a clause: its first auxiliary, else its verb; None where there is none.

    Args:
        head: the head of the clause.
        pronoun: its subject, if it has one of its own.
        plain: without an auxiliary and a subject of its own, whether a base form may be read as a present form (it
            may not after a modal verb that also governs this one).
    """
    auxiliaries = sorted(_auxiliaries(head), key=lambda child: child.i)
    if any(child.tag_ == "TO" for child in auxiliaries):
        return None
    if auxiliaries:
        return auxiliaries[0]
    if head.tag_ in ("VBP", "VBD", "VBZ") or head.lower_ in _AGREEING:
        return head
    if head.tag_ == "VB" and plain and head.lower_ != "be" and not _directive(head):
        return head
    if pronoun is None or head.tag_ in ("VBG", "VBN"):
        return None
    return _misread(head, pronoun)


def _auxiliaries(head: Token) -> Iterator[Token]:
    for child in head.children:
        if child.dep_ in _AUXILIARIES:
            yield child
            yield from _auxiliaries(child)


def _misread(head: Token, pronoun: Token) -> Token | None:
    """A verb between "they" and its head that the parse did not take for an auxiliary."""
    between = range(min(pronoun.i, head.i) + 1, max(pronoun.i, head.i) + 1)
    return next((head.doc[i] for i in between if head.doc[i].tag_ == "VBP"), None)


def _directive(head: Token) -> bool:
    """Whether a base form stands in a clause that asks for something: "insist that they leave"."""
    return head.dep_ == "ccomp" and head.head.lower_ in word_list("directives")


def _changes(verb: Token) -> bool:
    if verb.lower_ == "be":
        return False
    if verb.tag_ in _MODALS or verb.tag_ in ("VBZ", "VBG", "VBN"):
        return verb.lower_ in ("'re", "’re", "'ve", "’ve")
    if verb.tag_ == "VBD":
        return verb.lower_ in _PLURAL_PAST
    return verb.tag_ in ("VBP", "VB") or verb.lower_ in _AGREEING


def _unreal(verb: Token, head: Token) -> bool:
    """Whether a "were" stands in an unreal comparison: "as if they were …"."""
    if verb.lower_ != "were":
        return False
    marks = [child for child in head.children if child.dep_ == "mark" and child.lower_ in _UNREAL]
    return any(mark.i > 0 and mark.nbor(-1).lower_ == "as" for mark in marks)


def _coordinated(head: Token) -> Iterator[Token]:
    """Verbs coordinated with a verb that have no subject of their own, also at second hand.

    In a list of three the parse can make the first verb a clause of the second ("they keep …, never betray … and …").
    """
    for child in head.children:
        if (child.dep_ == "conj" or _listed(child)) and _continues(child):
            yield child
            yield from _coordinated(child)
    second = head.head
    if head.dep_ == "advcl" and second.i > head.i and second.tag_ == "VB" and _continues(second):
        yield second
        yield from (verb for verb in _coordinated(second) if verb.i > second.i)


def _listed(verb: Token) -> bool:
    """Whether a verb that the parse takes for a clause within another is the second in a list: "forget, … and …"."""
    left = verb.left_edge
    after_comma = left.i > verb.head.i and left.nbor(-1).text == ","
    return bool(after_comma and verb.dep_ == "ccomp" and verb.tag_ == "VB")


def _continues(verb: Token) -> bool:
    """Whether a verb has no subject of its own."""
    return verb.tag_.startswith(("VB", "MD")) and not any(child.dep_ in SUBJECTS for child in verb.children)
