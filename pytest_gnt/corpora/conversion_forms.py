"""The words of each identity: noun, pronouns, Chinese term; and verbs in the third person singular.

The data lie in ``data/identity_forms.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_gnt.case import Identity

FORMS_FILE = Path(__file__).with_name("data") / "identity_forms.toml"

_SIBILANTS = ("s", "x", "z", "ch", "sh")
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Pronouns:
    """One set of English pronouns.

    Attributes:
        subject: she; ``object``: her; ``possessive``: her; ``absolute``: hers.
        reflexive: herself; empty where the one that stands there stays.
        plural_verbs: verbs stay in the plural form.
    """

    subject: str
    object: str
    possessive: str
    absolute: str
    reflexive: str
    plural_verbs: bool


@dataclass(frozen=True, slots=True)
class IdentityForms:
    """The words of one identity.

    Attributes:
        noun: what stands in the place of "person".
        pronouns: its English pronouns.
        zh: the Chinese term in the place of 这个人; empty where nothing changes.
        zh_of: the term after a clause with 的.
        zh_pronoun: what 他/她 becomes; empty where it stays.
    """

    noun: str
    pronouns: Pronouns
    zh: str
    zh_of: str
    zh_pronoun: str


def forms_of(identity: Identity) -> IdentityForms:
    """The words of an identity."""
    return _forms()[identity]


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of English words that the rules on referents and agreement use (table ``words`` of the data file)."""
    return frozenset(_data()["words"][name])


def third_person(verb: str) -> str:
    """The third person singular of a verb in the plural form of the present (or of "were"), in the same letter case.

    The rule is regular for all English verbs but those of the data file; modal verbs and past forms must not be given.
    """
    lower = verb.lower()
    known: str | None = _data()["verbs"].get(lower)
    if known is None:
        if lower.endswith("y") and lower[-2:-1] not in _VOWELS:
            known = lower[:-1] + "ies"
        elif lower.endswith(_SIBILANTS) or (lower.endswith("o") and lower[-2:-1] not in _VOWELS):
            known = lower + "es"
        else:
            known = lower + "s"
    return match_case(verb, known)


def match_case(model: str, text: str) -> str:
    """A text in the letter case of another: lower, Capital, or ALL CAPITALS (from two letters on)."""
    letters = [char for char in model if char.isalpha()]
    if len(letters) > 1 and all(char.isupper() for char in letters):
        return text.upper()
    if letters and letters[0].isupper():
        return text[:1].upper() + text[1:]
    return text


@cache
def _data() -> Mapping[str, Any]:
    with FORMS_FILE.open("rb") as stream:
        return tomllib.load(stream)


@cache
def _forms() -> Mapping[Identity, IdentityForms]:
    sets = {name: Pronouns(**table) for name, table in _data()["pronouns"].items()}
    return {
        Identity(name): IdentityForms(**{**table, "pronouns": sets[table["pronouns"]]})
        for name, table in _data()["identities"].items()
    }
