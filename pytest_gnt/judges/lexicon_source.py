"""What the English source says about the gender of the people in it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_text import word_set

Number = Literal["s", "p", ""]

_CUES: dict[tuple[PhraseGender, Number], str] = {
    ("M", "s"): "mr sir he him his himself man gentleman father dad daddy son brother husband boy boyfriend king "
    "prince uncle nephew grandfather grandson widower groom bridegroom stepfather stepson fiancé monsieur herr signor "
    "señor lad male dude",
    ("M", "p"): "men gentlemen fathers sons brothers husbands boys kings princes uncles nephews grandfathers messrs",
    ("F", "s"): "mrs ms madam madame ma'am she her hers herself woman lady mother mum mom daughter sister wife girl "
    "girlfriend queen princess aunt niece grandmother granddaughter widow bride stepmother stepdaughter fiancée nun "
    "mademoiselle frau signora señora actress waitress stewardess heroine hostess duchess countess baroness empress "
    "heiress landlady mistress female policewoman chairwoman spokeswoman businesswoman congresswoman councilwoman "
    "saleswoman sportswoman ombudswoman midwife",
    ("F", "p"): "women ladies mothers daughters sisters wives girls queens princesses aunts nieces grandmothers widows "
    "nuns actresses waitresses policewomen businesswomen spokeswomen congresswomen chairwomen midwives",
}
# "policeman" or "chairman" names a role and is used of anybody: no cue, as in the published judgements.
_CUE_OF = {word: key for key, words in _CUES.items() for word in words.split()}
_THIRD = {word: _CUE_OF[word][0] for word in ("he", "him", "his", "himself", "she", "her", "hers", "herself")}
_THEY = word_set("they them their theirs themselves")
_THOSE = word_set("those who whoever whom whose anyone anybody everyone everybody people persons others")
_SPEAKER = word_set("i me my mine myself")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_AGENT_ENDINGS = ("er", "or", "ist", "ian", "ant", "ent", "ee", "man", "men", "person", "people")
_MIN_AGENT = 4
_MISS = re.compile(r"\bMiss(?:es)?\s+[A-Z]")
_CONTRACTION = re.compile(r"['’](?:s|re|ve|ll|d|m)$")


@dataclass(frozen=True, slots=True)
class SourceCues:
    """Gender cues of a source sentence.

    Attributes:
        words: the cue words found for each gender and number.
        third: genders of which the source has a third-person pronoun.
        they, those, it, speaker: whether it has such a word.
        agents: whether it has a word that may name a person by an agent suffix (``distributor``).
    """

    words: dict[tuple[PhraseGender, Number], tuple[str, ...]]
    third: frozenset[PhraseGender]
    they: bool
    those: bool
    it: bool
    speaker: bool
    agents: bool

    def support(self, gender: PhraseGender, number: Number) -> str | None:
        """The cue word that speaks for a phrase of this gender and number, or None.

        A cue for one person does not speak for a plural (``Mr Smith`` for ``i cittadini``) unless it is a title
        that occurs twice.
        """
        singular, plural = self.words.get((gender, "s"), ()), self.words.get((gender, "p"), ())
        if number == "p":
            return plural[0] if plural else (singular[0] if len(_titles(singular)) > 1 else None)
        found = singular or (plural if number == "" else ())
        return found[0] if found else None

    def states(self, gender: PhraseGender) -> bool:
        """Whether any word of the source states this gender."""
        return any(self.words.get((gender, number)) for number in ("s", "p"))


def _titles(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if word in {"mr", "mrs", "ms", "miss", "lady", "madam"}]


@lru_cache(maxsize=4096)
def read_source(source: str) -> SourceCues:
    """Collect the gender cues of an English sentence."""
    words = [_CONTRACTION.sub("", match.group().lower()) for match in _WORD.finditer(source)]
    found: dict[tuple[PhraseGender, Number], list[str]] = {}
    for word in words:
        if word in _CUE_OF:
            found.setdefault(_CUE_OF[word], []).append(word)
    if _MISS.search(source):
        found.setdefault(("F", "s"), []).append("miss")
    present = Counter(words)
    return SourceCues(
        words={key: tuple(value) for key, value in found.items()},
        third=frozenset(_THIRD[word] for word in words if word in _THIRD),
        they=any(word in present for word in _THEY),
        those=any(word in present for word in _THOSE),
        it="it" in present or "its" in present,
        speaker=any(word in present for word in _SPEAKER),
        agents=any(len(word) > _MIN_AGENT and word.removesuffix("s").endswith(_AGENT_ENDINGS) for word in present),
    )
