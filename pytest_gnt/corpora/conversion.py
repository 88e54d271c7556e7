"""Identity conversion: a neutral sentence about "the person" as the 14 identities of AmbGIMT.

English: the noun, the forms of "they" that mean the person, and the verbs that agree with them. Chinese: the term for
the person and 他/她. A sentence with marked places (``[The person] … [They] …``) is converted there only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_gnt.case import Identity
from pytest_gnt.corpora import conversion_chinese, conversion_english, conversion_slots
from pytest_gnt.corpora.conversion_plan import Plan
from pytest_gnt.corpora.textfile import TextFile

VERSION = "1"
"""Part of the revision of converted corpora: counts up whenever the same sentence can become another one."""

LANGUAGES = ("en", "zh")
"""Languages that can be converted."""


class NotConvertible(ValueError):
    """Why a sentence cannot be turned to the identities."""


def english_plan(text: str) -> Plan:
    """The places of an English sentence that change with the identity.

    Raises:
        NotConvertible: nothing in it names the person, or it is too long.
        GntError: the parser is needed and not usable.
    """
    if not text.strip():
        raise NotConvertible("blank line")
    try:
        plan = (
            conversion_slots.find_slots(text)
            if conversion_slots.has_slots(text)
            else conversion_english.find_plan(text)
        )
    except ValueError as error:
        raise NotConvertible(str(error)) from error
    if plan is None:
        raise NotConvertible('nothing says "the person", and no place is marked, as in [The person] … [They] …')
    return plan


def plan_lines(lines: Iterable[str]) -> list[Plan | NotConvertible]:
    """The plan of each line, or why it has none.

    Raises:
        GntError: the parser is needed and not usable.
    """
    plans: list[Plan | NotConvertible] = []
    for line in lines:
        try:
            plans.append(english_plan(line))
        except NotConvertible as why:
            plans.append(why)
    return plans


def converted_file(name: str, plans: Iterable[Plan | NotConvertible]) -> TextFile:
    """What stands for the converted sentences in the revision of a corpus: a hash of them and of `VERSION`."""
    summary = hashlib.sha256(f"conversion {VERSION}\n".encode())
    for plan in plans:
        if isinstance(plan, Plan):
            for identity in Identity:
                summary.update(f"{plan.sentence(identity)}\n".encode("utf-8", "surrogatepass"))
    return TextFile(path=Path(name), text="", encoding="utf-8", digest=summary.hexdigest())


def convert_english(text: str, identities: Sequence[Identity] = tuple(Identity)) -> tuple[str, ...]:
    """An English sentence about each of the identities.

    Raises:
        NotConvertible, GntError: see `english_plan`.
    """
    plan = english_plan(text)
    return tuple(plan.sentence(identity) for identity in identities)


def convert_chinese(text: str, identities: Sequence[Identity] = tuple(Identity)) -> tuple[str, ...]:
    """A Chinese sentence about each of the identities; without a term for the person (这个人, 此人 …) it names none.

    Raises:
        NotConvertible: the line is blank.
    """
    if not text.strip():
        raise NotConvertible("blank line")
    return tuple(conversion_chinese.chinese_sentence(text, identity) for identity in identities)
