"""How Greek expresses the gender of people: nouns with articles and adjectives, pronouns, predicates."""

from __future__ import annotations

import re

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_data import Entry
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence, as_gender, as_number
from pytest_gnt.judges.lexicon_source import Number
from pytest_gnt.judges.lexicon_text import without_accents, word_set

_STEM = r"(?:ικ|ακ|ικ|ιακ|μέν|μεν|αί|αι|ιν|ειν|ίσι|ιμ|ερ|ύτερ|ότατ|ύτατ|οτερ|πιν|ών|ώδ|νέ|έν|ικ)"
_ADJECTIVE = re.compile(rf"{_STEM}(?:[οό]ς?|ού|ου|οι|οί|ους|ούς|[ωώ]ν|[ηή]ς?|[αά]ς?|ες|ές|ε)$")
_MASCULINE_ADJECTIVE = re.compile(r"(?:[οό]ς|οι|οί|ους|ούς)$")
_FEMININE_ADJECTIVE = re.compile(r"(?:[ηή]ς?|ες|ές)$")
_PARTICIPLE = re.compile(r"μέν(?:ος|οι|η|ες)$")
_PLURAL = ("ες", "ές", "εις", "είς")
# endings (without accents) of an adjective → endings of a noun that it may belong to
_AFTER = {"οι": ("οι", "οί", *_PLURAL), "ουσ": ("ους", "ούς", *_PLURAL), "εσ": _PLURAL, "ων": ("ων", "ών")}
_PRONOUN_TAILS = word_set("άλλο άλλον άλλος μας σας")
_CLITICS = word_set("μου σου μας σας του της τους")
_LINKS = word_set(
    "και ή που αλλά ούτε είτε πως ότι να θα από με σε για δεν μην κατά προς χωρίς ως μετά πριν ύστερα έως μέχρι"
)


class GreekRules:
    """Finds the phrases of one Greek sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.plain = [without_accents(token.text) for token in sentence.tokens]

    def run(self) -> None:
        """Nouns first, then pronouns, then the predicates that agree with them."""
        for rule in (self._noun, self._pronoun, self._predicate):
            for index in range(len(self.s.tokens)):
                if self.s.free(index):
                    rule(index)

    # nouns

    def _noun(self, index: int) -> None:
        if self._title(index):
            return
        entries = tuple(entry for entry in self.lex.forms.get(self.plain[index], ()) if self._allowed(index, entry))
        if not entries:
            return
        entry = self._reading(index, entries)
        if entry.role == "fixed":
            note = f"“{self.s.low(index)}” has one grammatical gender for everybody"
            self.s.add(
                Finding(self._start(index), self._fixed_end(index), "N", "", note, entry.lemma, fixed=entry.gender)
            )
            return
        gender, note = self._gender_of(index, entry)
        self.s.add(Finding(self._start(index), index, gender, as_number(entry.number), note, entry.lemma))

    def _reading(self, index: int, entries: tuple[Entry, ...]) -> Entry:
        """``fixed`` before ``common``, and among nouns the one that the article fits."""
        for role in ("fixed", "common"):
            for entry in entries:
                if entry.role == role:
                    return entry
        genders = self._article_gender(index, "")
        return next((entry for entry in entries if entry.gender in genders), entries[0])

    def _gender_of(self, index: int, entry: Entry) -> tuple[PhraseGender, str]:
        word = self.s.low(index)
        if entry.role == "noun":
            kind = "masculine" if entry.gender == "M" else "feminine"
            return ("M" if entry.gender == "M" else "F"), f"“{word}” is {kind} ({entry.lemma})"
        letters = self._article_gender(index, entry.number)
        if len(letters) == 1:
            return ("M" if letters == "M" else "F"), f"“{word}” serves both genders; its article or adjective decides"
        if entry.number == "p" and not entry.flags & {"gen", "is"}:
            return "M", f"“{word}” serves both genders; the bare plural is the masculine generic"
        return "N", f"“{word}” serves both genders and nothing next to it decides"

    def _article_gender(self, index: int, number: str) -> str:
        """The gender letters (M, F) that the words before a noun leave open."""
        letters = "MF"
        for place in range(self._start(index), index):
            letters = _narrow(letters, self._shown(place, number))
        return letters

    def _shown(self, place: int, number: str) -> str:
        word = self.s.low(place)
        rows = [row for row in self.lex.of("det", word) if not number or row[1] in {"sp", number}]
        if rows:
            return rows[0][0]
        if self.lex.has("det", word) or self.lex.has("adjec", word):
            return "MF"
        if _MASCULINE_ADJECTIVE.search(word):
            return "M"
        return "F" if _FEMININE_ADJECTIVE.search(word) else "MF"

    def _start(self, index: int) -> int:
        """First word of the noun phrase: articles and the adjectives between them and the noun."""
        place = start = index
        while place > 0 and index - place < 5 and self.s.free(place - 1):
            word = self.s.low(place - 1)
            if self.lex.has("det", word):
                start = place - 1
            elif not self._adjective_at(place - 1):
                break
            place -= 1
        return start

    def _adjective_at(self, place: int) -> bool:
        word = self.s.low(place)
        closed = any(self.lex.has(kind, word) for kind in ("func", "cop", "adv")) or word in _LINKS
        if closed or len(word) < 3:
            return False
        return (
            self.plain[place] in self.lex.adjectives
            or self.lex.has("adjec", word)
            or _ADJECTIVE.search(word) is not None
        )

    def _fixed_end(self, index: int) -> int:
        return (
            index + 1 if self.s.low(index + 1) in {"αυτό", "αυτά", "μας", "σας"} and self.s.free(index + 1) else index
        )

    def _title(self, index: int) -> bool:
        for gender, number in self.lex.of("title", self.s.low(index)):
            if not self._is_title(index):
                continue
            end = self._title_end(index)
            self.s.add(
                Finding(
                    self._start(index),
                    end,
                    as_gender(gender),
                    as_number(number),
                    f"“{self.s.low(index)}”",
                    self.s.low(index),
                )
            )
            return True
        return False

    def _is_title(self, index: int) -> bool:
        """``κύριος`` also means "main": as a title it stands before a name, an office, a sign or another title."""
        following = self.s.low(index + 1)
        if not self.s.is_word(index + 1) or self.s.tokens[index + 1].capital or self.s.tokens[index].capital:
            return True
        joined = following in {"και", "μου", "μας"}
        return joined or bool(self.lex.forms.get(self.plain[index + 1]))

    def _title_end(self, index: int) -> int:
        end = index + 1 if self.s.low(index + 1) == "." else index
        place = end + 1
        while (
            place - index <= 3
            and self.s.free(place)
            and (self.s.tokens[place].capital or self.lex.forms.get(self.plain[place]))
        ):
            end = place
            place += 1
        return end

    # where a noun may stand

    def _allowed(self, index: int, entry: Entry) -> bool:
        if entry.role == "fixed":
            return True
        if "o" in entry.flags and not self._led_by(index, {"τον", "έναν", "στον", "κάποιον", "αυτόν", "κάθε"}):
            return entry.role == "common" and not self._led_by(index, {"το", "στο", "ένα", "αυτό"})
        if "head" not in entry.flags:
            return True
        if "gen" in entry.flags and entry.number == "s":  # του νέου: of the new one, or of the new thing
            return False
        return self._head_position(index, entry)

    def _led_by(self, index: int, words: set[str]) -> bool:
        return any(self.s.low(place) in words for place in range(self._start(index), index))

    def _head_position(self, index: int, entry: Entry) -> bool:
        before = self.s.low(index - 1)
        led = (
            self.lex.has("det", before)
            or before in {"ως", "σαν"}
            or (entry.number == "p" and before in {"από", "για", "με", "και"})
        )
        between = self._start(index) < index
        return (led or between) and not self._modifies_next(index, entry)

    def _modifies_next(self, index: int, entry: Entry) -> bool:
        """``οι νέοι κανονισμοί``: an adjective before the noun that it agrees with."""
        following = self.s.low(index + 1)
        if following in _CLITICS and self.lex.forms.get(self.plain[index + 2] if index + 2 < len(self.plain) else ""):
            return True
        if (
            not self.s.is_word(index + 1)
            or self.lex.has("func", following)
            or following in _LINKS
            or self.lex.has("det", following)
        ):
            return False
        for ending, after in _AFTER.items():
            if self.plain[index].endswith(ending):
                return following.endswith(after)
        return entry.gender == "F" or following.endswith(
            ("ος", "ός", "ης", "ής", "ας", "έας", "ο", "ό", "α", "η", "ή", "ου", "ού")
        )

    # pronouns

    def _pronoun(self, index: int) -> None:
        for gender, number, condition in self.lex.of("pron", self.s.low(index)):
            if self._pronoun_counts(index, gender, condition):
                end = index + (self.s.free(index + 1) and self.s.low(index + 1) in _PRONOUN_TAILS)
                self.s.add(Finding(index, end, as_gender(gender), as_number(number), f"pronoun “{self.s.low(index)}”"))
                return

    def _pronoun_counts(self, index: int, gender: str, condition: str) -> bool:
        following = self.s.low(index + 1)
        if condition == "alone" and following in {"μας", "σας"}:
            return True
        if condition in {"of", "alone"} and following == "από" and self.lex.has("we", self.s.low(index + 2)):
            return True
        if self.lex.has("art", following) and self.s.is_word(index + 2) and condition != "always":
            return False
        if condition == "alone":
            return self._stands_alone(index)
        if condition == "third":
            return gender in self.s.cues.third
        return condition == "always" or (condition == "those" and self.s.cues.those and following == "που")

    def _stands_alone(self, index: int) -> bool:
        """No noun follows that the word could belong to."""
        if not self.s.is_word(index + 1):
            return True
        following = self.s.low(index + 1)
        if following in _LINKS or self.lex.has("func", following) or self.lex.has("cop", following):
            return True
        if following in {"άλλο", "άλλον", "άλλος"} or self.lex.has("pron", following):
            return True
        noun_like = following.endswith(
            ("ος", "ός", "οι", "οί", "ους", "ούς", "ες", "ές", "εις", "είς", "ης", "ής", "ας", "άς", "ο", "ό", "α", "ά")
        )
        return not noun_like or following.endswith(("ουν", "άνε", "ούν"))

    # predicates

    def _predicate(self, index: int) -> None:
        persons = {row[0] for row in self.lex.of("cop", self.s.low(index))}
        if not persons:
            return
        place = index + 1
        while self.lex.has("adv", self.s.low(place)):
            place += 1
        reading = self._agreement(place)
        if reading is None:
            return
        if "1" in persons:
            self._add(index, place, *reading)
        else:
            self._third_person(index, place, *reading)

    def _agreement(self, place: int) -> tuple[PhraseGender, Number] | None:
        word = self.s.low(place)
        if not self.s.free(place) or self.lex.has("stop", word) or self.lex.has("adjec", word):
            return None
        known = self.lex.adjectives.get(self.plain[place], ())
        if known:
            return as_gender(known[0][0]), as_number(known[0][1])
        if not _PARTICIPLE.search(word):
            return None
        gender: PhraseGender = "M" if word.endswith(("ος", "οι")) else "F"
        return gender, "s" if word.endswith(("ος", "η")) else "p"

    def _third_person(self, index: int, place: int, gender: PhraseGender, number: Number) -> None:
        subject = self.s.subject_before(index, gender)
        if (
            subject is not None
            and not subject.fixed
            and (subject.gender == "N" or subject.gender == gender)
            and subject.lemma
        ):
            if subject.gender == "N":
                self.s.decide(subject, gender, f"“{self.s.low(place)}” agrees with it")
            self._add(place, place, gender, number)
        elif (subject is None or not subject.fixed) and gender in self.s.cues.third and number == "s":
            self._add(place, place, gender, number)

    def _add(self, start: int, end: int, gender: PhraseGender, number: Number) -> None:
        if self.s.owner[end] is None:
            self.s.add(Finding(start, end, gender, number, f"“{self.s.low(end)}” agrees with a person"))


def _narrow(open_letters: str, shown: str) -> str:
    """The letters that both allow; a contradiction (or a neuter) leaves what was open before."""
    both = "".join(letter for letter in open_letters if letter in shown)
    return both or open_letters
