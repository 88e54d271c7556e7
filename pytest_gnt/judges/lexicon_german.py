"""How German expresses the gender of people: nouns, their determiners where the noun is a used adjective, pronouns."""

from __future__ import annotations

import re

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_data import Entry
from pytest_gnt.judges.lexicon_forms_de import look_up
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence, as_gender, as_number
from pytest_gnt.judges.lexicon_source import Number
from pytest_gnt.judges.lexicon_text import is_inclusive, opens_sentence, word_set

_TITLES: dict[str, PhraseGender] = {"Frau": "F", "Herr": "M", "Herrn": "M", "Herren": "M", "Frauen": "F"}
_FEMININE = re.compile(r"(?:er|ist|ent|ant|or|är|eur|at|og|ik|ier|ör|urg|et|oph|nd|al)in(nen)?$")
_IST = re.compile(r"(?:al|on|iz|an|ur|er|en|in|ol|iv|ör|or|ar|og|ät|et)ist(?:en)?$")
_ADJECTIVE = re.compile(r"[a-zäöüß](?:e|er|en|em|es)$")
_VERBS = word_set(
    "hat haben ist sind war muss soll sollte kann könnte will wird würde weiß darf mag möchte hatte konnte musste"
)

# determiners by the gender that they give to a used adjective (der Abgeordnete) with this ending
_MASCULINE_E = word_set("der dieser jener jeder derjenige derselbe welcher mancher solcher")
_FEMININE_E = re.compile(
    r"^(?:die|diese|jene|jede|diejenige|dieselbe|welche|manche|solche|zur|(?:[mds]?ein|kein|ihr|unser|eure?)e)$"
)
_MASCULINE_EN = re.compile(
    r"^(?:dem|des|zum|vom|beim|im|am|(?:dies|jen|jed|manch)e[ms]|(?:[mds]?ein|kein|ihr|unser|eur)(?:en|em|es))$"
)
_FEMININE_EN = re.compile(r"^(?:zur|(?:dies|jen|jed|manch|welch)er|(?:[mds]?ein|kein|ihr|unser|eur)er)$")
_EIN = re.compile(r"^(?:[mds]?ein|kein|ihr|unser|euer)$")
_ARTICLES = word_set("der die den dem ein eine einen einem einer")
_PREPOSITIONS = word_set(
    "in im an am auf aus bei beim mit nach seit von vom zu zum zur über unter vor für durch gegen ohne um"
)
_PLURAL_ER = word_set("vieler einiger mehrerer aller zweier dreier weniger anderer")
_MASCULINE_ARTICLE = re.compile(
    r"^(?:der|den|dem|des|zum|vom|beim|(?:dies|jen|jed)e[rnms]|(?:[mds]?ein|kein|unser|ihr)(?:en|em|es)?)$"
)
_FEMININE_ARTICLE = re.compile(r"^(?:die|zur|diese|jene|jede|(?:[mds]?ein|kein|unser|ihr)er?)$")


class GermanRules:
    """Finds the phrases of one German sentence."""

    def __init__(self, sentence: Sentence, stated: PhraseGender | None) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.stated = stated

    def run(self) -> None:
        """Go through the words from left to right."""
        for index, token in enumerate(self.s.tokens):
            if not self.s.free(index):
                continue
            if is_inclusive(token):
                self.s.add(Finding(self._start(index), index, "N", "", "inclusive form"))
            elif token.text in _TITLES:
                self._title(index)
            elif not (token.capital and self._noun(index)):
                self._pronoun(index)

    # nouns

    def _noun(self, index: int) -> bool:
        word = self.s.tokens[index].text
        if self.lex.has("pron", word.lower()) or self.lex.has("det", word.lower()):
            return False
        entries = look_up(self.lex, word) or self._by_suffix(word)
        if not entries or self._is_adjective(index, entries):
            return False
        entry = next((e for e in entries if e.role == "fixed"), entries[0])
        if any(e.role == "common" for e in entries):
            entry = next(e for e in entries if e.role == "common")
        gender, note = self._gender_of(index, entry)
        number: Number = "s" if entry.number == "s" else "p" if entry.number == "p" else self._number(index)
        self.s.add(
            Finding(
                self._start(index),
                index,
                gender,
                number,
                note,
                entry.lemma,
                fixed=entry.gender if entry.role == "fixed" else "",
            )
        )
        return True

    def _gender_of(self, index: int, entry: Entry) -> tuple[PhraseGender, str]:
        word = self.s.tokens[index].text
        if entry.role == "fixed":
            return "N", f"“{word}” has one grammatical gender for everybody"
        if entry.role == "noun":
            kind = "masculine" if entry.gender == "M" else "feminine"
            return ("M" if entry.gender == "M" else "F"), f"“{word}” is {kind} ({entry.lemma})"
        determiner = self._determiner(index)
        gender = self._used_adjective(determiner, index, entry) if "adjn" in entry.flags else self._loan(determiner)
        if gender == "N":
            return "N", f"“{word}” serves all genders here"
        return gender, f"“{word}” serves all genders; “{determiner or word}” decides"

    def _used_adjective(self, determiner: str, index: int, entry: Entry) -> PhraseGender:
        ending = next(iter(entry.flags & {"e", "er", "en", "em", "es"}))
        if ending == "e":
            return "M" if determiner in _MASCULINE_E else "F" if _FEMININE_E.match(determiner) else "N"
        if ending == "er":
            return self._strong_er(determiner, index)
        if ending == "em":
            return "M"
        if ending == "en":
            return self._weak_en(determiner)
        return "N"

    def _strong_er(self, determiner: str, index: int) -> PhraseGender:
        if _EIN.match(determiner):
            return "M"
        before = self.s.tokens[index - 1] if index else None
        if before is None or determiner or before.low in _PLURAL_ER or (before.is_word and before.capital):
            return "N"
        return "M"

    def _weak_en(self, determiner: str) -> PhraseGender:
        if determiner != "im" and _MASCULINE_EN.match(determiner):
            return "M"
        if _FEMININE_EN.match(determiner):
            return "F"
        # "der Abgeordneten": she, or several; "den Abgeordneten": him, or several. A stated gender settles it.
        if determiner == "der" and self.stated == "F":
            return "F"
        return "M" if determiner == "den" and self.stated == "M" else "N"

    @staticmethod
    def _loan(determiner: str) -> PhraseGender:
        if _MASCULINE_ARTICLE.match(determiner):
            return "M"
        return "F" if _FEMININE_ARTICLE.match(determiner) else "N"

    def _by_suffix(self, word: str) -> tuple[Entry, ...]:
        if len(word) < 7 or self.lex.has("thing", word):
            return ()
        feminine = _FEMININE.search(word)
        if feminine:
            return (Entry("noun", "F", "p" if feminine.group(1) else "s", word),)
        return (Entry("noun", "M", "", word),) if _IST.search(word) and not word.endswith("geist") else ()

    def _is_adjective(self, index: int, entries: tuple[Entry, ...]) -> bool:
        """``Junge Menschen`` at the start of a sentence: a plain adjective before its noun."""
        if not any("adjn" in entry.flags for entry in entries):
            return False
        following = self.s.tokens[index + 1] if self.s.is_word(index + 1) else None
        return (
            following is not None
            and following.capital
            and (opens_sentence(self.s.tokens, index) or self._name_like(index))
        )

    def _name_like(self, index: int) -> bool:
        """``die Deutsche Bank``."""
        return self.s.tokens[index].text.startswith(("Deutsch", "Grün", "Link", "Heilig", "Rot", "Weiß", "Schwarz"))

    # what stands around a noun

    def _start(self, index: int) -> int:
        place = index
        while self.s.free(place - 1) and index - place < 5:
            low = self.s.low(place - 1)
            if self.lex.has("det", low):
                place -= 1
                if low in {"alle", "allen", "der", "die", "das", "den", "dem", "des"}:
                    break
            elif (
                _ADJECTIVE.search(self.s.tokens[place - 1].text)
                and self._leads(place - 1)
                and not self.s.tokens[place - 1].capital
            ):
                place -= 1
            else:
                break
        return place

    def _leads(self, index: int) -> bool:
        """Whether a determiner, with adjectives at most, stands before an adjective."""
        return self.lex.has("det", self.s.low(index - 1)) or (
            _ADJECTIVE.search(self.s.low(index - 1)) is not None and self.lex.has("det", self.s.low(index - 2))
        )

    def _determiner(self, index: int) -> str:
        for place in range(index - 1, max(-1, index - 5), -1):
            low = self.s.low(place)
            if self.lex.has("det", low) and low not in {"viele", "einige", "mehrere"}:
                return low
            if not self.s.is_word(place) or not _ADJECTIVE.search(low):
                break
        return self._extended_attribute(index)

    def _extended_attribute(self, index: int) -> str:
        """``Der in den Ruhestand gehende Vorgesetzte``: the determiner stands before a preposition."""
        if not _ADJECTIVE.search(self.s.low(index - 1)):
            return ""
        for place in range(index - 3, max(-1, index - 9), -1):
            if not self.s.is_word(place):
                return ""
            if self.s.low(place) in _ARTICLES and self.s.low(place + 1) in _PREPOSITIONS:
                return self.s.low(place)
        return ""

    def _number(self, index: int) -> Number:
        determiner = self._determiner(index)
        if re.match(r"^(?:(?:[mds]?ein|kein)(?:e[nmrs]?)?|dem|des|zum|vom|beim|jede[rnms]?)$", determiner):
            return "s"
        return (
            "p"
            if determiner in {"alle", "allen", "beide", "beiden", "zwei", "drei", "vier", "vielen", "einigen"}
            else ""
        )

    def _title(self, index: int) -> None:
        title = self.s.tokens[index].text
        end = index
        while end - index < 3 and self.s.free(end + 1) and self.s.tokens[end + 1].capital:
            end += 1
        number: Number = "p" if title in {"Herren", "Frauen"} else "s"
        self.s.add(Finding(self._start(index), end, _TITLES[title], number, f"“{title}”", lemma=title))

    # pronouns

    def _pronoun(self, index: int) -> None:
        for gender, number, condition in self.lex.of("pron", self.s.low(index)):
            if self._pronoun_counts(index, gender, condition):
                note = f"pronoun “{self.s.low(index)}”"
                self.s.add(Finding(index, index, as_gender(gender), as_number(number), note))
                return

    def _pronoun_counts(self, index: int, gender: str, condition: str) -> bool:
        if self.s.low(index + 1) == "von" and self.s.low(index + 2) in {"uns", "euch", "ihnen"}:
            return condition in {"of", "alone"}
        if condition == "always":
            return True
        if condition == "alone":
            return self._stands_alone(index)
        cues = self.s.cues
        return condition == "third" and (
            gender in cues.third or (self.s.low(index) == "er" and cues.they and not cues.it)
        )

    def _stands_alone(self, index: int) -> bool:
        following = index + 1
        if (
            not self.s.is_word(following)
            or self.s.low(following) in _VERBS
            or self.lex.has("func", self.s.low(following))
        ):
            return True
        if self.s.tokens[following].capital:
            return False
        described = (
            _ADJECTIVE.search(self.s.low(following))
            and self.s.is_word(following + 1)
            and self.s.tokens[following + 1].capital
        )
        return not described
