"""How Italian and Spanish pronouns express the gender of people."""

from __future__ import annotations

from pytest_gnt.judges.lexicon_phrases import DEFINITE, OF, RomancePhrases
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence, as_gender, as_number
from pytest_gnt.judges.lexicon_text import word_set

_ALL = word_set("todos todas tutti tutte")
_ARTICLE_OR_CLITIC = word_set("lo la los las le")
_OF_THINGS = word_set("dei degli delle del dello della de")
_PREPOSITIONS = word_set("con per di a da in su tra fra de en por para entre sobre")
_RELATIVE = word_set("che que di hanno sono")


class RomancePronouns:
    """Decides which pronouns of one sentence stand for people and show a gender."""

    def __init__(self, sentence: Sentence, around: RomancePhrases) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.around = around

    def look(self, index: int) -> None:
        """Record the word if it is a pronoun that counts here."""
        for gender, number, condition in self.lex.of("pron", self.s.low(index)):
            if self._counts(index, gender, condition):
                article = condition in {"alone", "los"} and self.s.free(index - 1) and self.s.low(index - 1) in DEFINITE
                note = f"pronoun “{self.s.low(index)}”"
                self.s.add(Finding(index - article, index, as_gender(gender), as_number(number), note))
                return

    def _counts(self, index: int, gender: str, condition: str) -> bool:
        cues = self.s.cues
        match condition:
            case "alone":
                return self._of_persons(index) or (not self._of_things(index) and self._stands_alone(index))
            case "of":
                return self._of_persons(index)
            case "always":
                return not self._with_fixed(index)
            case "third":
                return gender in cues.third
            case "they":
                return cues.they and self.s.low(index - 1) not in _PREPOSITIONS
            case "those":
                return cues.those and self.s.low(index + 1) in _RELATIVE
            case "los":
                return self.s.low(index - 1) == "los" and self._stands_alone(index)
        return False

    def _with_fixed(self, index: int) -> bool:
        """``nosotras, las personas``: the pronoun only agrees with a fixed noun."""
        places = range(index + 1, index + 4)
        return any(e.role == "fixed" for place in places for e in self.lex.forms.get(self.s.low(place), ()))

    def _of_persons(self, index: int) -> bool:
        return self.s.low(index + 1) == OF[self.lex.lang] and self.lex.has("we", self.s.low(index + 2))

    def _of_things(self, index: int) -> bool:
        """``molti dei problemi``: the noun after it decides."""
        return self.s.low(index + 1) in _OF_THINGS

    def _stands_alone(self, index: int) -> bool:
        following = self.s.low(index + 1)
        if self.lex.has("art", following):
            return following in _ARTICLE_OR_CLITIC and self.s.low(index) not in _ALL
        return self.lex.has("we", following) or self.around.closes(index)
