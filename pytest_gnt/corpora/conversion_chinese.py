"""Chinese references of the neutral sentences turned to each identity: the term for the person, and 他/她."""

from __future__ import annotations

import re

from pytest_gnt.case import Identity
from pytest_gnt.corpora.conversion_forms import forms_of

_TERM = re.compile(
    "(?:这|那)(?:一)?(?:个|位|名)人(?:士)?(?!口(?!齿)|[们际力工群类])|(?:此|该|这|那)人(?:士)?(?!口(?!齿)|[们际力工群类])|(?:這|那)(?:個|位)人(?:士)?(?!口(?!齒)|[們際力工群類])|(?:該|這)人(?:士)?(?!口(?!齒)|[們際力工群類])"
)
_OF = re.compile("(?<=的)人(?![们类口际生群民心情物工力士])")
_SUPERLATIVE = re.compile("最[^，。；]*的$")
_BOTH = re.compile("他/她|她/他|他／她|他或她|她或他")
_ALONE = re.compile("(?<![其吉排利维无自])他(?![们們人乡国/／或])(?<!/他)(?<!／他)")
_SOMEONE = re.compile("[一另某](?:个|位|名|個)|[男女]|先生|太太|小姐|·")


def names_person(text: str) -> bool:
    """Whether a neutral reference has a term for the person that can be replaced."""
    return bool(_TERM.search(text) or _open_terms(text))


def chinese_sentence(text: str, identity: Identity) -> str:
    """The reference for an identity. Where it names no person, only its 他/她 changes.

    Terms such as 这个人, 此人 and 该人 become the identity's term; where there is none of them, 人 behind a clause with
    的 does (真正有才华的人), unless that clause is a superlative. 他/她 becomes 她 or 他, or stays for identities with
    "they". A bare 他 becomes 她 where the person is named before it in the same sentence and nobody else is in
    between. 他们 never changes, since it cannot be told from the others' 他们.
    """
    forms = forms_of(identity)
    if not forms.zh:
        return text
    alone = _alone(text) if forms.zh_pronoun == "她" else []
    changes = [(match.start(), match.end(), forms.zh) for match in _TERM.finditer(text)]
    if not changes:
        changes = [(place, place + 1, forms.zh_of) for place in _open_terms(text)]
    if forms.zh_pronoun:
        changes += [(match.start(), match.end(), forms.zh_pronoun) for match in _BOTH.finditer(text)]
        changes += [(place, place + 1, forms.zh_pronoun) for place in alone]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _open_terms(text: str) -> list[int]:
    """Places of 人 behind a clause with 的, in a reference that has no other term for the person."""
    if _TERM.search(text):
        return []
    places = [match.start() for match in _OF.finditer(text)]
    return [place for place in places if not _SUPERLATIVE.search(text[:place])]


def _alone(text: str) -> list[int]:
    """Places of a bare 他 that means the person."""
    places = []
    for match in _ALONE.finditer(text):
        sentence = text[max(text.rfind(mark, 0, match.start()) for mark in "。！？") + 1 : match.start()]
        terms = list(_TERM.finditer(sentence))
        if terms and not _SOMEONE.search(sentence[terms[-1].end() :]):
            places.append(match.start())
    return places
