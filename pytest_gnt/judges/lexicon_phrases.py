"""Where an Italian or Spanish noun phrase begins and ends, and which gender its small words show."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_gnt.judges.lexicon_data import Entry
from pytest_gnt.judges.lexicon_sentence import Sentence
from pytest_gnt.judges.lexicon_text import word_set

DEFINITE = word_set(
    "il lo la l' i gli le del dello della dell' dei degli delle al allo alla all' ai agli alle dal dallo dalla "
    "dall' dai dagli dalle nel nello nella nell' sul sullo sulla sull' el los las"
)
DEGREE = word_set("più meno molto così tanto más menos muy tan")
OF = {"it": "di", "es": "de"}
_BEFORE_ARTICLE = word_set("tutti tutte tutto tutta entrambi entrambe ambedue todos todas todo toda ambos ambas")
_VERB = {
    "it": re.compile(r"(?:no|iamo|emo|[aei]te|[òì]|[aei]va|[ei]rà)$"),
    "es": re.compile(r"(?:n|mos|[áé]is|ó|aba|ía|[aei]rá)$"),
}
_STEM = {
    "it": r"(?:[aiu]t|[ioue]tt|[ieou]st|[eo]rs|[aeo]nt|os|iv|ic|an|es|istic)",
    "es": r"(?:[ai]d|iert|uest|os|iv|ic|an|ístic)",
}
_INVARIABLE = {
    ("it", "s"): r"(?:[ai]l|nt|es)e",
    ("it", "p"): r"(?:[ai]l|nt|es)i",
    ("es", "s"): r"(?:[ai]l|nte)",
    ("es", "p"): r"(?:[ai]l|nt)es",
}
_ENDING = {
    "it": {("M", "s"): "o", ("F", "s"): "a", ("M", "p"): "h?i", ("F", "p"): "h?e"},
    "es": {("M", "s"): "o", ("F", "s"): "a", ("M", "p"): "os", ("F", "p"): "as"},
}
_ADJECTIVE = {
    (lang, gender, number): re.compile(rf"{_STEM[lang]}{ending}$|{_INVARIABLE[lang, number]}$")
    for lang, endings in _ENDING.items()
    for (gender, number), ending in endings.items()
}
_MAX_LEFT = 5
_MAX_ADJECTIVES = 3


@dataclass(slots=True)
class NounPhrase:
    """What stands left of a noun.

    Attributes:
        start: first word of the phrase.
        determiners: the determiners, nearest first.
        evidence: words with the genders that they allow (``M``, ``F``, ``MF``), nearest first.
        degree: whether a degree word stands in between (``i più deboli``).
    """

    start: int
    determiners: list[str] = field(default_factory=list)
    evidence: list[tuple[str, str]] = field(default_factory=list)
    degree: bool = False


class RomancePhrases:
    """Looks around a noun of one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.lang = sentence.lexicon.lang

    def left_of(self, index: int, number: str) -> NounPhrase:
        """Walk left over determiners, known adjectives and a degree word between them and the noun.

        A definite article opens the phrase; only "all" or "both" may stand before it.
        """
        phrase = NounPhrase(index)
        opened = False
        for place in range(index - 1, max(-1, index - 1 - _MAX_LEFT), -1):
            word = self.s.low(place)
            if not self.s.free(place) or (opened and word not in _BEFORE_ARTICLE):
                break
            genders = self._determiner(word, number)
            if genders:
                phrase.determiners.append(word)
                opened = opened or word in DEFINITE
            elif word in DEGREE and self.lex.has("det", self.s.low(place - 1)):
                phrase.degree = True
            elif not (genders := self._adjective_between(place, number)):
                break
            if genders:
                phrase.evidence.append((word, genders))
            phrase.start = place
        return phrase

    def _determiner(self, word: str, number: str) -> str:
        """The genders that a determiner allows in this number; empty where the word is none."""
        for genders, determined in self.lex.of("det", word):
            if not number or determined in {"sp", number}:
                return genders
        return ""

    def _adjective_between(self, place: int, number: str) -> str:
        """The genders that a known adjective after a determiner allows; empty where the word is none."""
        if not self._determiner(self.s.low(place - 1), number):
            return ""
        readings = {gender for gender, n in self.lex.adjectives.get(self.s.low(place), ()) if not number or n == number}
        return "".join(sorted(readings))

    def adjective_right(self, index: int, number: str) -> int:
        """The place of an adjective that shows the gender of a noun, or the noun's own place.

        ``parlamentari eletti``; also past a complement: ``agenti di polizia destinati``.
        """
        places = (index + 1, index + 3) if self.s.low(index + 1) == OF[self.lang] else (index + 1,)
        return next((place for place in places if self.s.free(place) and self.adjective_gender(place, number)), index)

    def adjective_gender(self, index: int, number: str) -> str:
        """M or F where the word is an adjective that shows it in this number, else empty."""
        word = self.s.low(index)
        if any(self.lex.has(kind, word) for kind in ("func", "det", "cop", "art", "stop")):
            return ""
        readings = {gender for gender, n in self.lex.adjectives.get(word, ()) if n == number}
        readings |= {e.gender for e in self.lex.forms.get(word, ()) if "nat" in e.flags and e.number == number}
        return readings.pop() if len(readings) == 1 else ""

    def agrees(self, index: int, entry: Entry) -> bool:
        """``persone anziane``, ``personas voluntarias``: an adjective, or a person noun used as one, that agrees."""
        word = self.s.low(index)
        if any(self.lex.has(kind, word) for kind in ("det", "func", "cop", "pron", "perf")):
            return False
        numbers = ("s", "p") if not entry.number else (entry.number,)
        if any((entry.gender, number) in self.lex.adjectives.get(word, ()) for number in numbers):
            return True
        readings = self.lex.forms.get(word, ())
        if readings:
            fitting = [e for e in readings if e.role != "fixed" and e.gender in {"", entry.gender}]
            return any(e.number in {"", *numbers} for e in fitting)
        return any(_ADJECTIVE[self.lang, entry.gender, number].search(word) for number in numbers)

    def closes(self, index: int) -> bool:
        """Whether the noun phrase ends here, adjectives set aside: no noun follows that the word could belong to."""
        place = index + 1
        while place - index <= _MAX_ADJECTIVES and self._describes(place):
            place += 1
        if not self.s.is_word(place):
            return True
        if self.s.tokens[place].capital:
            return False
        following = self.s.low(place)
        if any(self.lex.has(kind, following) for kind in ("func", "cop", "perf", "adv", "art")):
            return True
        return _VERB[self.lang].search(following) is not None

    def _describes(self, place: int) -> bool:
        word = self.s.low(place)
        if any(self.lex.has(kind, word) for kind in ("func", "cop", "adv", "art")) or not self.s.is_word(place):
            return False
        return word in self.lex.adjectives or any("head" in entry.flags for entry in self.lex.forms.get(word, ()))
