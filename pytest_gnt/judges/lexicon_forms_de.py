"""Inflection of German person nouns, and how a compound is taken apart."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gnt.judges.lexicon_data import Entry, Lexicon, Row

Form = tuple[str, Entry]

ADJECTIVE_ENDINGS = ("e", "er", "en", "em", "es")
_SHORT_HEADS = frozenset(
    {"Mann", "Männer", "Männern", "Frau", "Frauen", "Sohn", "Dame", "Damen", "Kraft", "Leute", "Arzt", "Ärzte"}
)
_MIN_HEAD = 6
_MIN_PREFIX = 3
_MAX_WORD = 60
_MIN_ADJECTIVE = 9


def forms(row: Row) -> Iterator[Form]:
    """The forms of one entry of ``de.tsv``; nouns keep their capital."""
    kind, lemma, *rest = row
    if kind == "er":
        plural = (rest[0] if rest else "") or lemma
        feminine = (rest[1] if len(rest) > 1 else "") or _feminine(lemma)
        yield from _masculine(lemma, {lemma, f"{lemma}s", f"{lemma}es", plural, _dative(plural)})
        yield from _feminines(lemma, feminine)
    elif kind == "weak":
        feminine = (rest[1] if len(rest) > 1 else "") or _feminine(lemma)
        ending = "n" if lemma.endswith("e") else "en"
        yield from _masculine(lemma, {lemma, f"{lemma}{ending}"})
        yield from _feminines(lemma, feminine)
    elif kind in {"masc", "fem"}:
        yield lemma, Entry("noun", kind[0].upper(), "", lemma)
    elif kind == "special":
        yield lemma, Entry("noun", rest[0], "", lemma)
    elif kind == "adjn":
        for ending in ADJECTIVE_ENDINGS:
            yield f"{lemma}{ending}", Entry("common", "", "", lemma, frozenset({"adjn", ending}))
    elif kind == "fixed":
        yield lemma, Entry("fixed", "N", "", lemma)
    elif kind == "common":
        yield lemma, Entry("common", "", "", lemma)
        yield f"{lemma}s", Entry("common", "", "", lemma)


def _feminine(lemma: str) -> str:
    return f"{lemma[:-1] if lemma.endswith('e') else lemma}in"


def _dative(plural: str) -> str:
    return plural if plural[-1] in "ns" else f"{plural}n"


def _masculine(lemma: str, written: set[str]) -> Iterator[Form]:
    for form in sorted(written):
        yield form, Entry("noun", "M", "", lemma)


def _feminines(lemma: str, feminine: str) -> Iterator[Form]:
    yield feminine, Entry("noun", "F", "s", lemma)
    plural = f"{feminine}nen" if feminine.endswith("in") else f"{feminine}{'' if feminine.endswith('en') else 'n'}"
    yield plural, Entry("noun", "F", "p", lemma)


def look_up(lexicon: Lexicon, word: str) -> tuple[Entry, ...]:
    """The readings of a noun, of the head of a compound (``Bauarbeiter``: ``Arbeiter``), or nothing."""
    if lexicon.has("thing", word):
        return ()
    if word in lexicon.forms:
        return lexicon.forms[word]
    if len(word) > _MAX_WORD:
        return ()
    for start in range(_MIN_PREFIX, len(word) - 3):
        head = word[start:].capitalize()
        if lexicon.has("thing", head):
            return ()
        if (len(head) >= _MIN_HEAD or head in _SHORT_HEADS) and _is_compound_head(lexicon.forms.get(head, ())):
            return lexicon.forms[head]
    return ()


def _is_compound_head(entries: tuple[Entry, ...]) -> bool:
    """Used adjectives with short stems are no heads: ``Verhalten`` holds no ``Alten``."""
    return any("adjn" not in entry.flags or len(entry.lemma) >= _MIN_ADJECTIVE for entry in entries)
