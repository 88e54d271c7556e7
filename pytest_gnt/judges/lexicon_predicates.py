"""How Italian and Spanish predicates agree with people: ``sono convinta``, ``estamos seguros``, ``ci ha informati``."""

from __future__ import annotations

import re

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence
from pytest_gnt.judges.lexicon_source import Number
from pytest_gnt.judges.lexicon_text import word_set

_PARTICIPLE = {
    "it": re.compile(
        r"(?:[aiu]t|[ioue]tt|[ieoau]st|[aeiou]ss|[aeo]rs|[aeo]rt|[aei]s|[aeoui]nt|[ou]lt|issim|os|us)[oaie]$"
    ),
    "es": re.compile(r"(?:[ai]d|ít|[eiou]ct|iert|uest|critt?|crit|os|ísim|iv)[oa]s?$"),
}
_ENDINGS: dict[str, dict[str, tuple[PhraseGender, Number]]] = {
    "it": {"o": ("M", "s"), "a": ("F", "s"), "i": ("M", "p"), "e": ("F", "p")},
    "es": {"o": ("M", "s"), "a": ("F", "s"), "os": ("M", "p"), "as": ("F", "p")},
}
_WE_VERB = {"it": ("iamo", "emo", "emmo"), "es": ("mos",)}
_BEEN = {"it": frozenset({"stato", "stata", "stati", "state"}), "es": frozenset({"sido", "estado", "siendo"})}
_WHO = {"it": frozenset({"chi"}), "es": frozenset({"quien"})}
_OPENERS = word_set("che que non no e y ma pero perché porque quando cuando se si già ya dove donde e anche también")
# predicates that need no person as their subject
_IMPERSONAL = word_set(
    "necessario vero chiaro certo giusto sicuro detto stato dato visto previsto scritto richiesto inaccettabile "
    "ovvio noto logico necesario cierto claro justo dicho dado previsto escrito lógico sabido hecho fatto "
    "successo accaduto avvenuto trattato deciso tutto poco molto tanto ora tempo solo proposto stabilito "
    "ricordato sottolineato indispensabile obvio decidido propuesto señalado pedido chiesto"
)
_HAVE = re.compile(
    r"^(?:ho|hai|ha|abbiamo|avete|hanno|avevo|avevi|aveva|avevamo|avevate|avevano|avrà|avrebbe|avrei|abbia|abbiano)$"
)
_REFLEXIVE = frozenset({"sí", "sé", "se"})
_CLITIC = frozenset({"mi", "ti", "ci", "vi"})


class RomancePredicates:
    """Adds the predicates whose form says the gender of their subject, after nouns and pronouns are known."""

    def __init__(self, sentence: Sentence) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.lang = sentence.lexicon.lang

    def run(self) -> None:
        """Go through the words from left to right."""
        for index in range(len(self.s.tokens)):
            if not self.s.free(index):
                continue
            self._emphatic(index)
            if self.lex.has("inf", self.s.low(index)) and self._after_we(index):
                self._judge(index, index, {"1"})
            elif self.lex.has("cop", self.s.low(index)):
                self._copula(index)
            elif self.lang == "es" and self.lex.has("perf", self.s.low(index)) and self.s.low(index + 1) in _BEEN["es"]:
                self._judge(index, index + 1, {row[0] for row in self.lex.of("perf", self.s.low(index))})
            elif self.lang == "it" and _HAVE.match(self.s.low(index)):
                self._object_participle(index)

    def _after_we(self, index: int) -> bool:
        """``dobbiamo restare uniti``, ``tenemos que permanecer unidos``."""
        return any(self.s.low(place).endswith(_WE_VERB[self.lang]) for place in range(index - 3, index))

    def _copula(self, index: int) -> None:
        if self.s.low(index) in _BEEN["it"]:
            return
        self._judge(index, index, {row[0] for row in self.lex.of("cop", self.s.low(index))})

    def _judge(self, start: int, verb_end: int, persons: set[str]) -> None:
        place = self._predicate_place(verb_end)
        reading = self._reading(place)
        if reading is None or place - verb_end > 5:
            return
        gender, number = reading
        if "1" in persons and self._first_person(start, number):
            self._add(start, place, gender, number)
        elif "3" in persons:
            self._third_person(start, place, gender, number)

    def _predicate_place(self, verb_end: int) -> int:
        """The first word after the verb that is no adverb; ``stato`` is skipped where another participle follows."""
        place = self._past_adverbs(verb_end + 1)
        if self.s.low(place) in _BEEN[self.lang]:
            following = self._past_adverbs(place + 1)
            if self.lang == "es" or self._reading(following) is not None:
                return following
        return place

    def _past_adverbs(self, place: int) -> int:
        while self.lex.has("adv", self.s.low(place)) or self.s.low(place).endswith("mente"):
            place += 1
        return place

    def _reading(self, place: int) -> tuple[PhraseGender, Number] | None:
        """Gender and number that a predicate shows, or None where it is no predicate or shows no gender."""
        word = self.s.low(place)
        if not self.s.free(place) or any(self.lex.has(kind, word) for kind in ("stop", "adjc", "func", "art")):
            return None
        known = self.lex.adjectives.get(word, ())
        if len(known) == 1:
            gender, number = known[0]
            return ("M" if gender == "M" else "F"), ("s" if number == "s" else "p")
        if len(word) < 4 or word.endswith(("ista", "istas")) or not _PARTICIPLE[self.lang].search(word):
            return None
        endings = _ENDINGS[self.lang]
        return endings.get(word[-2:]) or endings.get(word[-1:])

    def _first_person(self, index: int, number: Number) -> bool:
        verb = self.s.low(index)
        if verb == "sono" and number == "p":  # then it is "they are", which may be said of things
            return False
        return not self._fixed_subject(index) and (
            verb != "sono" or self.s.cues.speaker or self.s.low(index - 1) in {"mi", "io"}
        )

    def _fixed_subject(self, index: int) -> bool:
        subject = self.s.subject_before(index, reach=3)
        comma = any(self.s.low(place) == "," for place in range(index - 3, index))
        return subject is not None and bool(subject.fixed) and not comma

    def _third_person(self, start: int, place: int, gender: PhraseGender, number: Number) -> None:
        subject = self.s.subject_before(start, gender)
        word = self.s.low(place)
        if subject is not None and subject.gender == "N":
            if not subject.fixed and subject.lemma and subject.number in {"", number}:
                self.s.decide(subject, gender, f"“{word}” agrees with it")
                self._add(start, place, gender, number)
            return
        if word in _IMPERSONAL:
            return
        stated = number == "s" and gender in self.s.cues.third and self._dropped_subject(start)
        if stated or self.s.low(start - 1) in _WHO[self.lang]:
            self._add(start, place, gender, number)

    def _dropped_subject(self, start: int) -> bool:
        before = self.s.low(start - 1)
        return start == 0 or not self.s.is_word(start - 1) or before in _OPENERS or self.lex.has("adv", before)

    def _object_participle(self, index: int) -> None:
        """``ci ha informati``: the participle agrees with the person before the verb; -o is the default."""
        before = self.s.low(index - 1)
        personal = before in _CLITIC or (before == "l'" and "F" in self.s.cues.third)
        reading = self._reading(index + 1)
        if personal and reading is not None and reading != ("M", "s"):
            self._add(index - 1, index + 1, *reading)

    def _emphatic(self, index: int) -> None:
        """``noi stessi``, ``yo misma``."""
        before = self.s.low(index - 1)
        if self.lex.has("we", before) and (before not in _REFLEXIVE or self.s.cues.third or self.s.cues.they):
            for gender, number in self.lex.of("self", self.s.low(index)):
                self._add(
                    index - 1 if self.s.free(index - 1) else index,
                    index,
                    "M" if gender == "M" else "F",
                    "s" if number == "s" else "p",
                )

    def _add(self, start: int, end: int, gender: PhraseGender, number: Number) -> None:
        if self.s.owner[end] is None:
            self.s.add(Finding(start, end, gender, number, f"“{self.s.low(end)}” agrees with a person"))
