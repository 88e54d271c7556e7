"""Inflection of Greek person nouns. Forms are written without accents, since the accent moves within a paradigm."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gnt.judges.lexicon_data import Entry, Row
from pytest_gnt.judges.lexicon_text import without_accents

Form = tuple[str, Entry]

# ending → (form ending, number, flags); "gen" marks forms that show no gender by themselves, "o" those a neuter has too
_Paradigm = tuple[tuple[str, str, str], ...]
_OS: _Paradigm = (
    ("οσ", "s", ""), ("ου", "s", "gen"), ("ο", "s", "o"), ("ε", "s", ""),
    ("οι", "p", ""), ("ων", "p", "gen"), ("ουσ", "p", ""),
)  # fmt: skip
_IS: _Paradigm = (("ησ", "s", ""), ("η", "s", ""), ("εσ", "p", ""), ("ων", "p", "gen"))
_AS: _Paradigm = (("ασ", "s", ""), ("α", "s", ""), ("εσ", "p", ""), ("ων", "p", "gen"))
_EAS: _Paradigm = (("εασ", "s", ""), ("εα", "s", ""), ("εισ", "p", "is"), ("εων", "p", "gen"))
_ISIS: _Paradigm = (("ησ", "s", ""), ("η", "s", ""), ("ουσ", "s", ""), ("εισ", "p", "is"), ("ων", "p", "gen"))
_OUS: _Paradigm = (("ουσ", "s", ""), ("ου", "s", ""), ("ουδεσ", "p", ""), ("ουδων", "p", "gen"))
_FEM_A: _Paradigm = (("α", "s", ""), ("ασ", "s", ""), ("εσ", "p", ""), ("ων", "p", "gen"))
_FEM_I: _Paradigm = (("η", "s", ""), ("ησ", "s", ""), ("εσ", "p", ""), ("ων", "p", "gen"))
_FEM_OU: _Paradigm = (("ου", "s", ""), ("ουσ", "s", ""), ("ουδεσ", "p", ""))
_NEUTER: _Paradigm = (("ι", "s", ""), ("ιου", "s", ""), ("ια", "p", ""), ("ιων", "p", ""))
_ADJECTIVAL = ("ικόσ", "ακόσ", "ικός", "ακός")


def forms(row: Row) -> Iterator[Form]:
    """The forms of one entry of ``el.tsv``."""
    kind, lemma, *rest = row
    second = rest[0] if rest else ""
    if kind == "pair":
        yield from _noun(lemma, "M", lemma, frozenset())
        yield from _noun(second or _feminine(lemma), "F", lemma, frozenset())
    elif kind == "part":
        yield from _noun(lemma, "M", lemma, frozenset({"head"}))
        if second != "-":
            yield from _noun(second or _feminine(lemma), "F", lemma, frozenset({"head"}))
    elif kind in {"common", "commonis"}:
        flags = frozenset({"head"}) if lemma.endswith(_ADJECTIVAL) else frozenset()
        for ending, number, mark in _decline(lemma, kind):
            yield ending, Entry("common", "", number, lemma, flags | ({mark} if mark else frozenset()))
    elif kind in {"masc", "fem"}:
        yield from _noun(lemma, kind[0].upper(), lemma, frozenset(), neuter=second == "n")
    elif kind == "fixed":
        yield without_accents(lemma), Entry("fixed", second.upper(), "", lemma)


def _feminine(lemma: str) -> str:
    return f"{lemma[:-2]}η" if lemma.endswith(("ος", "ός")) else lemma


def _noun(lemma: str, gender: str, name: str, flags: frozenset[str], *, neuter: bool = False) -> Iterator[Form]:
    for form, number, mark in _decline(lemma, "neuter" if neuter else "noun", feminine=gender == "F"):
        yield form, Entry("noun", gender, number, name, flags | ({mark} if mark else frozenset()))


def _decline(lemma: str, kind: str, *, feminine: bool = False) -> Iterator[tuple[str, str, str]]:
    plain = without_accents(lemma)
    paradigm, cut = _paradigm(plain, kind, feminine)
    if paradigm is None:
        yield plain, "", ""
        return
    for ending, number, mark in paradigm:
        yield plain[: len(plain) - cut] + ending, number, mark


def _paradigm(plain: str, kind: str, feminine: bool) -> tuple[_Paradigm | None, int]:
    if kind == "neuter":
        return _NEUTER, 1
    if feminine:
        if plain.endswith("ου"):
            return _FEM_OU, 2
        return (_FEM_A, 1) if plain.endswith("α") else (_FEM_I, 1)
    for ending, paradigm in (
        ("εασ", _EAS),
        ("οσ", _OS),
        ("ησ", _ISIS if kind == "commonis" else _IS),
        ("ασ", _AS),
        ("ουσ", _OUS),
    ):
        if plain.endswith(ending):
            return paradigm, len(ending)
    return None, 0


def adjective(lemma: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The gendered forms of an adjective in -ος with their gender and number, without accents."""
    stem = without_accents(lemma)[:-2]
    yield f"{stem}οσ", ("M", "s")
    yield f"{stem}οι", ("M", "p")
    yield f"{stem}ουσ", ("M", "p")
    yield f"{stem}εσ", ("F", "p")
    yield f"{stem}η", ("F", "s")
    if stem[-1:] in "αειουηωρ":
        yield f"{stem}α", ("F", "s")
