"""How the 14 identities are called in each language, and which of them a text names.

The terms lie in ``data/identity_terms.tsv`` (lang, identity, term; the first term of an identity is the usual one, the
others are accepted as well). A language is added by adding rows there.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pytest_gnt.case import Identity
from pytest_gnt.corpora.tables import read_table

_TERMS = Path(__file__).with_name("data") / "identity_terms.tsv"

# Scripts without blanks between words; elsewhere a term has to be a whole word.
_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def has_terms(lang: str) -> bool:
    """Whether the terms of a language (ISO 639-1) are known."""
    return lang in _table()


def identity_terms(identity: Identity, lang: str) -> tuple[str, ...]:
    """The terms for an identity, the usual one first.

    Raises:
        ValueError: the terms of the language are not known, see `has_terms`.
    """
    return _terms(lang)[identity]


def identities_named(text: str, lang: str) -> tuple[Identity, ...]:
    """The identities that a text names, in the order of their first mention, each once.

    Terms nest, so the longest one that stands at a place counts and the ones inside it do not: 性别酷儿 names
    genderqueer and not queer, 跨性别女性 trans woman and neither transgender nor woman. A bare 人 (as in 有才华的人,
    "one who is gifted") names nobody. In languages with blanks a term is a whole word, in any letter case.

    Raises:
        ValueError: the terms of the language are not known, see `has_terms`.
    """
    pattern, identity_of = _matcher(lang)
    return tuple(dict.fromkeys(identity_of[found[0].casefold()] for found in pattern.finditer(text)))


def _terms(lang: str) -> dict[Identity, tuple[str, ...]]:
    try:
        return _table()[lang]
    except KeyError:
        raise ValueError(f"no identity terms for {lang!r}; there are {', '.join(sorted(_table()))}") from None


@cache
def _table() -> dict[str, dict[Identity, tuple[str, ...]]]:
    table: dict[str, dict[Identity, tuple[str, ...]]] = {}
    for row in read_table(_TERMS).rows:
        lang, identity, term = row.cells["lang"] or "", Identity(row.cells["identity"] or ""), row.cells["term"] or ""
        terms = table.setdefault(lang, dict.fromkeys(Identity, ()))
        terms[identity] += (term,)
    return table


@cache
def _matcher(lang: str) -> tuple[re.Pattern[str], dict[str, Identity]]:
    identity_of = {term.casefold(): identity for identity, terms in _terms(lang).items() for term in terms}
    # Alternatives are tried in order, so the longest must come first.
    alternatives = "|".join(re.escape(term) for term in sorted(identity_of, key=len, reverse=True))
    if lang in _UNSPACED:
        return re.compile(alternatives), identity_of
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE), identity_of
