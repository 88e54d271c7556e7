"""How the 14 identities are called in each language, and which of them a text names.

The terms of English and Chinese lie in ``data/identity_terms.tsv`` (lang, identity, term), those of further target
languages, which no native speaker has reviewed, in ``data/identity_terms.toml``. The first term of an identity is the
usual one, the others are accepted as well. A language is added by adding to the data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pytest_gnt.case import Identity
from pytest_gnt.corpora.tables import read_table
from pytest_gnt.work import digest

_TERMS = Path(__file__).with_name("data") / "identity_terms.tsv"
_MORE_TERMS = _TERMS.with_suffix(".toml")

# Scripts without blanks between words; elsewhere a term has to be a whole word.
_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})

# What is written together with the word behind it: conjunctions, prepositions and the article.
_PREFIXES = {"ar": "[وف]?(?:ال|لل|بال|كال|[بلك])?"}


def has_terms(lang: str) -> bool:
    """Whether the terms of a language (ISO 639-1) are known."""
    return lang in _table()


def identity_terms(identity: Identity, lang: str) -> tuple[str, ...]:
    """The terms for an identity, the usual one first.

    Raises:
        ValueError: the terms of the language are not known, see `has_terms`.
    """
    return tuple(term.replace("*", "") for term in _terms(lang)[identity])


def identities_named(text: str, lang: str) -> tuple[Identity, ...]:
    """The identities that a text names, in the order of their first mention, each once.

    Terms nest, so the longest one that stands at a place counts and the ones inside it do not: 性别酷儿 names
    genderqueer and not queer, 跨性别女性 trans woman and neither transgender nor woman. A bare 人 (as in 有才华的人,
    "one who is gifted") names nobody. In languages with blanks a term is a whole word, in any letter case.

    Raises:
        ValueError: the terms of the language are not known, see `has_terms`.
    """
    pattern, identity_of = _matcher(lang)
    return tuple(dict.fromkeys(identity_of[found.lastindex or 0] for found in pattern.finditer(text)))


def without_identity(text: str, identity: Identity, lang: str) -> str:
    """A text without the terms of one identity; terms of others that hold one of them stay (queer: 性别酷儿 stays).

    Raises:
        ValueError: the terms of the language are not known, see `has_terms`.
    """
    pattern, identity_of = _matcher(lang)
    return pattern.sub(lambda found: "" if identity_of[found.lastindex or 0] is identity else found[0], text)


def terms_digest(langs: Iterable[str]) -> str:
    """Hash of these languages' terms, 8 hex digits, for the signatures of numbers that depend on them."""
    rows = [(lang, identity, terms) for lang in sorted(set(langs) & set(_table())) for identity, terms in _order(lang)]
    return digest(rows)[:8]


def _order(lang: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(identity), terms) for identity, terms in _terms(lang).items()]


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
    for lang, more in tomllib.loads(_MORE_TERMS.read_text(encoding="utf-8")).items():
        table[lang] = {identity: tuple(more[identity.value]) for identity in Identity}
    return table


@cache
def _matcher(lang: str) -> tuple[re.Pattern[str], dict[int, Identity]]:
    """A pattern with a group for each term, and the identity of each group."""
    identity_of = {term.casefold(): identity for identity, terms in _terms(lang).items() for term in terms}
    # Alternatives are tried in order, so the longest must come first.
    terms = sorted(identity_of, key=len, reverse=True)
    alternatives = "|".join(f"({_term_pattern(term, lang)})" for term in terms)
    groups = {place: identity_of[term] for place, term in enumerate(terms, start=1)}
    if lang in _UNSPACED:
        # Few characters begin a term: a look at the first one spares the others some hundred alternatives.
        first = "".join(re.escape(char) for char in sorted({term[0] for term in terms}))
        return re.compile(f"(?=[{first}])(?:{alternatives})"), groups
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE), groups


def _term_pattern(term: str, lang: str) -> str:
    r"""A term as a pattern: ``*`` is the rest of a word, and blanks may be any blanks."""
    words = [re.escape(word).replace(r"\*", r"\w*") for word in term.split(" ")]
    return r"\s+".join(_PREFIXES.get(lang, "") + word for word in words)
