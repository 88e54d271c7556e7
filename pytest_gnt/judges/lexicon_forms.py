"""Inflection: from the lemmas of the data files to every form that a translation may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from pytest_gnt.judges import lexicon_forms_de as german
from pytest_gnt.judges import lexicon_forms_el as greek
from pytest_gnt.judges.lexicon_data import Entry, Lexicon, Role, Row, closed_classes, read_rows

Form = tuple[str, Entry]


@cache
def load_lexicon(lang: str) -> Lexicon:
    """Read a language's data file and inflect its lemmas (once a process).

    Raises:
        GntError: the package was installed without the file.
    """
    rows = list(read_rows(lang))
    inflect: dict[str, Callable[[Row], Iterator[Form]]] = {
        "it": italian_forms,
        "es": spanish_forms,
        "de": german.forms,
        "el": greek.forms,
    }
    classes = closed_classes(rows)
    forms = _collect(form for row in rows for form in inflect[lang](row))
    return Lexicon(lang, forms, classes, _adjectives(lang, classes.get("adjo", {})))


def _collect(pairs: Iterable[Form]) -> dict[str, tuple[Entry, ...]]:
    forms: dict[str, tuple[Entry, ...]] = {}
    for form, entry in pairs:
        known = forms.get(form, ())
        if entry not in known:
            forms[form] = (*known, entry)
    return forms


def _adjectives(lang: str, lemmas: Iterable[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    generate = {"it": italian_adjective, "es": spanish_adjective, "el": greek.adjective}.get(lang)
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    if generate is None:
        return found
    for lemma in lemmas:
        for form, reading in generate(lemma):
            found[form] = (*found.get(form, ()), reading)
    return found


def _flags(row: Row, *more: str) -> frozenset[str]:
    listed = row[3].split(",") if len(row) > 3 and row[3] else []
    return frozenset([*listed, *more])


# Italian


def italian_forms(row: Row) -> Iterator[Form]:
    """The forms of one entry of ``it.tsv``."""
    kind, lemma, *rest = row
    if kind in {"pair", "head"}:
        flags = _flags(row, *(("head",) if kind == "head" else ()))
        feminine = (rest[0] if rest else "") or italian_feminine(lemma)
        yield from _italian_pair(lemma, feminine, flags)
    elif kind == "common":
        yield from _italian_pair(lemma, lemma, frozenset())
    elif kind in {"masc", "fem"}:
        yield from _listed(lemma, rest, kind[0].upper())
    elif kind == "fixed":
        yield from _fixed(lemma, rest)


def italian_feminine(lemma: str) -> str:
    """The regular feminine of a masculine person noun or adjective."""
    if lemma.endswith("tore"):
        return f"{lemma[:-4]}trice"
    return f"{lemma[:-1]}a" if lemma[-1] in "oe" else lemma


def _italian_pair(masculine: str, feminine: str, flags: frozenset[str]) -> Iterator[Form]:
    if masculine == feminine:
        plurals_m, plurals_f = set(_italian_plurals(masculine, "M")), set(_italian_plurals(masculine, "F"))
        yield masculine, Entry("common", "", "" if masculine in plurals_m else "s", masculine, flags)
        if plurals_m == plurals_f:
            for form in sorted(plurals_m - {masculine}):
                yield form, Entry("common", "", "p", masculine, flags)
            return
    else:
        yield masculine, Entry("noun", "M", "s", masculine, flags)
        yield feminine, Entry("noun", "F", "s", masculine, flags)
        plurals_m, plurals_f = set(_italian_plurals(masculine, "M")), set(_italian_plurals(feminine, "F"))
    for form in sorted(plurals_m):
        yield form, Entry("noun", "M", "p", masculine, flags)
    for form in sorted(plurals_f):
        yield form, Entry("noun", "F", "p", masculine, flags)


def _italian_plurals(lemma: str, gender: str) -> Iterator[str]:
    stem, last = lemma[:-1], lemma[-1]
    if last not in "aeo" or lemma in {"re", "papà"}:
        yield lemma
    elif last == "a" and gender == "F":
        yield f"{stem}he" if stem[-1] in "cg" else f"{stem}e"
    elif last == "e":
        yield stem if stem.endswith("i") else f"{stem}i"
    elif stem.endswith("i"):
        yield stem
    elif stem[-1] in "cg":  # amici and tedeschi, psicologi and catalighi: both are kept, one of them never occurs
        yield from (f"{stem}i", f"{stem}hi")
    else:
        yield f"{stem}i"


def italian_adjective(lemma: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The four forms of an adjective in -o with their gender and number."""
    yield lemma, ("M", "s")
    yield f"{lemma[:-1]}a", ("F", "s")
    for form in _italian_plurals(lemma, "M"):
        yield form, ("M", "p")
    for form in _italian_plurals(f"{lemma[:-1]}a", "F"):
        yield form, ("F", "p")


# Spanish

_ACUTE = str.maketrans("áéíóú", "aeiou")


def spanish_forms(row: Row) -> Iterator[Form]:
    """The forms of one entry of ``es.tsv``."""
    kind, lemma, *rest = row
    if kind in {"pair", "head"}:
        flags = _flags(row, *(("head",) if kind == "head" else ()))
        feminine = (rest[0] if rest else "") or spanish_feminine(lemma)
        yield from _spanish_pair(lemma, feminine, flags)
    elif kind == "common":
        flags = frozenset(rest[:1])
        yield from _spanish_pair(lemma, lemma, flags)
    elif kind in {"masc", "fem"}:
        yield from _listed(lemma, rest, kind[0].upper())
    elif kind == "fixed":
        yield from _fixed(lemma, rest)


def spanish_feminine(lemma: str) -> str:
    """The regular feminine of a masculine person noun or adjective."""
    if lemma[-1] == "o":
        return f"{lemma[:-1]}a"
    if lemma[-1] in "rlnsz":
        return f"{_plain_ending(lemma)}a"
    return lemma


def _plain_ending(lemma: str) -> str:
    """``alemán`` → ``aleman``: the accent of the last syllable goes when a syllable is added."""
    return lemma[:-2] + lemma[-2:].translate(_ACUTE) if lemma[-1] in "ns" else lemma


def _spanish_plural(lemma: str) -> str:
    if lemma[-1] in "aeoáéó" or lemma in {"nazi"}:
        return f"{lemma}s"
    if lemma in {"joven"}:
        return "jóvenes"
    if lemma[-1] == "z":
        return f"{lemma[:-1]}ces"
    return f"{_plain_ending(lemma)}es"


def _spanish_pair(masculine: str, feminine: str, flags: frozenset[str]) -> Iterator[Form]:
    # -nte serves both genders even where a feminine in -nta exists: "la presidente"
    common = masculine == feminine or masculine.endswith("nte")
    role: Role = "common" if common else "noun"
    gender = "" if common else "M"
    yield masculine, Entry(role, gender, "s", masculine, flags)
    yield _spanish_plural(masculine), Entry(role, gender, "p", masculine, flags)
    if masculine != feminine:
        yield feminine, Entry("noun", "F", "s", masculine, flags)
        yield _spanish_plural(feminine), Entry("noun", "F", "p", masculine, flags)


def spanish_adjective(lemma: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The four forms of an adjective with their gender and number."""
    feminine = spanish_feminine(lemma)
    if feminine == lemma:
        return
    yield lemma, ("M", "s")
    yield feminine, ("F", "s")
    yield _spanish_plural(lemma), ("M", "p")
    yield f"{feminine}s", ("F", "p")


# both


def _listed(singular: str, rest: list[str], gender: str) -> Iterator[Form]:
    plural = rest[0] if rest else ""
    yield singular, Entry("noun", gender, "" if plural == singular else "s", singular)
    if plural not in {"", "-", singular}:
        yield plural, Entry("noun", gender, "p", singular)


def _fixed(singular: str, rest: list[str]) -> Iterator[Form]:
    gender, plural = rest[0].upper(), rest[1] if len(rest) > 1 else "-"
    yield singular, Entry("fixed", gender, "" if plural == singular else "s", singular)
    if plural not in {"-", singular}:
        yield plural, Entry("fixed", gender, "p", singular)
