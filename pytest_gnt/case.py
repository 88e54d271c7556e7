"""The test item of every corpus, and the closed vocabularies that describe it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote


class Form(StrEnum):
    """The form of a translation with regard to gender: what a case expects, and what a model says of its own reply."""

    NEUTRAL = "NEUTRAL"
    GENDERED = "GENDERED"


class Gender(StrEnum):
    """The gender that a Set-G source states (mGeNTE, column GENDER)."""

    F = "F"
    M = "M"


class Subset(StrEnum):
    """The parts of the two benchmarks. A user's own table uses the first two."""

    SET_N = "Set-N"
    SET_G = "Set-G"
    AUTHENTIC = "authentic"
    SYNTHESIZED = "synthesized"


class Identity(StrEnum):
    """The 14 identities of AmbGIMT, in the order of its public files."""

    PERSON = "person"
    WOMAN = "woman"
    MAN = "man"
    ANDROGYNOUS = "androgynous"
    CISGENDER = "cisgender"
    GENDERQUEER = "genderqueer"
    INTERSEX = "intersex"
    TRANSGENDER = "transgender"
    TRANS_MAN = "trans man"
    TRANS_WOMAN = "trans woman"
    QUEER = "queer"
    LESBIAN = "lesbian"
    GAY = "gay"
    BISEXUAL = "bisexual"


BINARY: tuple[Identity, ...] = (Identity.WOMAN, Identity.MAN)
"""BG of the AmbGIMT paper."""

NON_BINARY: tuple[Identity, ...] = tuple(Identity)[3:]
"""NBG of the AmbGIMT paper: all but person, woman and man."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sentence to translate, with what is known about it.

    Attributes:
        id: stable, unique, ASCII: ``mgente/en-it/751``, ``ambgimt/en-zh/authentic/84/trans-man``. Baselines are
            keyed by it; it depends on the corpus alone, never on order or selection.
        corpus: name of the corpus, the first part of the id.
        subset: part of the corpus.
        target_lang: ISO 639-1 code of the language to translate into.
        source: the English sentence.
        references: reference translations in the form that the case expects (Ref-N for Set-N, Ref-G for Set-G).
        contrast_references: references in the opposite form (Ref-G for Set-N, Ref-N for Set-G).
        expected: the form that the translation should have; None where the corpus does not ask for one.
        gender: the stated gender of a Set-G source.
        identity: which of the 14 identities the sentence is about (AmbGIMT).
        group: id of the sentence that its variants share; the unit of resampling.
        attitude_word: the English word whose emotional attitude is followed (AmbGIMT).
        attitude_renderings: known translations of the attitude word in the target language.
        gendered_words: words of the gendered reference that carry gender (mGeNTE, column G-WORDS).
        origin: ``file:line`` the case was read from, for messages.
    """

    id: str
    corpus: str
    subset: Subset
    target_lang: str
    source: str
    group: str
    source_lang: str = "en"
    references: tuple[str, ...] = ()
    contrast_references: tuple[str, ...] = ()
    expected: Form | None = None
    gender: Gender | None = None
    identity: Identity | None = None
    attitude_word: str | None = None
    attitude_renderings: tuple[str, ...] = ()
    gendered_words: tuple[str, ...] = ()
    origin: str = ""

    @property
    def local_id(self) -> str:
        """The id without the corpus: what stands in the brackets of a test's name."""
        return self.id.partition("/")[2]

    @property
    def pair(self) -> str:
        """Language pair, e.g. ``en-it``."""
        return f"{self.source_lang}-{self.target_lang}"


_MAX_ID_PART = 64


def id_part(text: str) -> str:
    """Make one part of a case id from a text of the data: short, ASCII, without ``/ [ ] :`` and control characters.

    Plain ids stay as they are, blanks become ``-``, everything else is percent-encoded. A long text keeps its first
    characters and gets a hash of the whole, so two different texts never share an id.

    Raises:
        ValueError: the text is empty or blank.
    """
    stripped = text.strip()
    if not stripped:
        raise ValueError("empty id")
    encoded = quote(re.sub(r"\s+", "-", stripped), safe="._-+", errors="surrogatepass")
    if len(encoded) <= _MAX_ID_PART:
        return encoded
    digest = hashlib.sha256(stripped.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{encoded[: _MAX_ID_PART - 13]}-{digest}"
