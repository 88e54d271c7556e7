"""How Italian and Spanish express the gender of people: nouns and their determiners, pronouns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_gnt.judges.lexicon_data import Entry
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence, as_gender, as_number
from pytest_gnt.judges.lexicon_text import is_inclusive, word_set

_DEFINITE = word_set("il lo la l' i gli le del dello della dell' dei degli delle al allo alla all' ai agli alle dal dallo dalla dall' dai "
    "dagli dalle nel nello nella nell' sul sullo sulla sull' el los las")
_TITLES = word_set("signor signora signori signore signorina señor señora señores señoras señorita sr sra srta don doña")
_DEGREE = word_set("più meno molto così tanto más menos muy tan")
_BEFORE_ARTICLE = word_set("tutti tutte tutto tutta entrambi entrambe ambedue todos todas todo toda ambos ambas")
_AND = word_set("e ed o y u ni né")
_OF = {"it": frozenset(["di"]), "es": frozenset(["de"])}
_VERB = {
    "it": re.compile(r"(?:no|iamo|emo|[aei]te|[òì]|[aei]va|[ei]rà)$"),
    "es": re.compile(r"(?:n|mos|[áé]is|ó|aba|ía|[aei]rá)$"),
}
_MAX_ADJECTIVES = 3
# agent suffixes of nouns that the lexicon does not hold: (ending, gender, number); trusted right after a determiner only
_AGENTS = {
    "it": (
        ("trice", "F", "s"), ("trici", "F", "p"), ("tore", "M", "s"), ("tori", "M", "p"), ("ologo", "M", "s"), ("ologi", "M", "p"),
        ("ologa", "F", "s"), ("ologhe", "F", "p"), ("isti", "M", "p"), ("iste", "F", "p"), ("ista", "", "s"),
    ),
    "es": (
        ("dora", "F", "s"), ("doras", "F", "p"), ("dor", "M", "s"), ("dores", "M", "p"), ("ólogo", "M", "s"), ("ólogos", "M", "p"),
        ("óloga", "F", "s"), ("ólogas", "F", "p"), ("ista", "", "s"), ("istas", "", "p"),
    ),
}  # fmt: skip


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


class RomanceNouns:
    """Finds person nouns and pronouns of one Italian or Spanish sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.lang = sentence.lexicon.lang

    def run(self) -> None:
        """Go through the words from left to right."""
        for index, token in enumerate(self.s.tokens):
            if not self.s.free(index):
                continue
            if is_inclusive(token):
                self.s.add(Finding(index, index, "N", "", "inclusive form"))
            elif not self._noun(index):
                self._pronoun(index)

    # nouns

    def _noun(self, index: int) -> bool:
        entries = self.lex.forms.get(self.s.low(index), ())
        if not entries:
            return self._agent(index)
        fixed = next((entry for entry in entries if entry.role == "fixed"), None)
        if fixed is not None:
            return self._fixed(index, fixed)
        entries = tuple(entry for entry in entries if self._allowed(index, entry))
        if not entries:
            return False
        common = next((entry for entry in entries if entry.role == "common"), None)
        entry = common or self._agreeing(index, entries)
        if not self._said_of_fixed(index, entry):
            self._add_noun(index, entry)
        return True

    def _said_of_fixed(self, index: int, entry: Entry) -> bool:
        """``una persona su tre è disoccupata``: the noun only agrees with a fixed-gender noun."""
        place = index - 1
        while self.lex.has("adv", self.s.low(place)):
            place -= 1
        if not self.lex.has("cop", self.s.low(place)):
            return False
        subject = self.s.subject_before(place)
        if subject is None or not subject.fixed or subject.fixed != entry.gender:
            return False
        self.s.add(
            Finding(index, index, "N", as_number(entry.number), "agrees with a fixed-gender noun", fixed=subject.fixed)
        )
        return True

    def _agreeing(self, index: int, entries: tuple[Entry, ...]) -> Entry:
        """Of several readings (``infermiere``: one man, several women) the one that the determiners fit."""
        for entry in entries:
            left = self.left_of(index, entry.number)
            if left.evidence and all(entry.gender in genders for _, genders in left.evidence):
                return entry
        return entries[0]

    def _add_noun(self, index: int, entry: Entry) -> None:
        left = self.left_of(index, entry.number)
        end, title = index, self._is_title(index)
        if title:
            end = self._title_end(index)
        gender, note = entry.gender, f"“{self.s.low(index)}” is {_GENDER_WORD.get(entry.gender, '')} ({entry.lemma})"
        if entry.role == "common":
            gender, note = self._common_gender(index, entry, left)
            if not gender:
                end = self._right_adjective(index, entry)
                if end > index:
                    gender = self._adjective_gender(end, entry.number)
                    note = f"“{self.s.low(index)}” serves both genders; “{self.s.low(end)}” decides"
        self.s.add(Finding(left.start, end, as_gender(gender), as_number(entry.number), note, entry.lemma))

    def _common_gender(self, index: int, entry: Entry, left: NounPhrase) -> tuple[str, str]:
        for word, genders in left.evidence:
            if len(genders) == 1:
                return genders, f"“{self.s.low(index)}” serves both genders; “{word}” decides"
        return "", f"“{self.s.low(index)}” serves both genders and nothing next to it decides"

    def _fixed(self, index: int, entry: Entry) -> bool:
        left = self.left_of(index, entry.number)
        end = index
        while end - index < 2 and self.s.free(end + 1) and self._agrees(end + 1, entry):
            end += 1
        note = f"“{self.s.low(index)}” has one grammatical gender for everybody"
        self.s.add(Finding(left.start, end, "N", as_number(entry.number), note, entry.lemma, fixed=entry.gender))
        return True

    def _agrees(self, index: int, entry: Entry) -> bool:
        """``persone anziane``, ``personas voluntarias``: an adjective, or a person noun used as one, that agrees."""
        word = self.s.low(index)
        if any(self.lex.has(kind, word) for kind in ("det", "func", "cop", "pron", "perf")):
            return False
        if (entry.gender, entry.number) in self.lex.adjectives.get(word, ()):
            return True
        readings = self.lex.forms.get(word, ())
        if readings:
            return any(
                e.role != "fixed" and e.gender in {"", entry.gender} and e.number in {"", entry.number}
                for e in readings
            )
        return _ADJECTIVE[self.lang][entry.gender, entry.number].search(word) is not None

    def _agent(self, index: int) -> bool:
        word = self.s.low(index)
        if len(word) < 7 or not self.s.cues.agents or self.lex.has("thing", word) or word in self.lex.adjectives:
            return False
        for ending, gender, number in _AGENTS[self.lang]:
            if word.endswith(ending) and self._after_determiner(index, number):
                role = "noun" if gender else "common"
                self._add_noun(index, Entry(role, gender, number, word))  # type: ignore[arg-type]
                return True
        return False

    def _after_determiner(self, index: int, number: str) -> bool:
        left = self.left_of(index, number)
        return bool(left.determiners) or (number == "s" and self.lex.has("lead", self.s.low(index - 1)))

    # where a noun may stand

    def _allowed(self, index: int, entry: Entry) -> bool:
        if entry.gender == "F" and "ft" in entry.flags and not self.s.cues.states("F"):
            return False
        if entry.role == "common" and "ft" in entry.flags and self._names_thing(index, entry):
            return False
        return "head" not in entry.flags or self._head_position(index, entry)

    def _names_thing(self, index: int, entry: Entry) -> bool:
        """``la policía`` is the force; ``una policía`` a woman."""
        left = self.left_of(index, entry.number)
        return any(
            genders == "F" and word in {"la", "las"} for word, genders in left.evidence
        ) and not self.s.cues.states("F")

    def _head_position(self, index: int, entry: Entry) -> bool:
        left = self.left_of(index, entry.number)
        if not left.determiners and not self._led(index, entry.number):
            return False
        if entry.number == "s" and entry.flags & {"nat"} and left.determiners and left.determiners[0] in _DEFINITE:
            return False
        if entry.flags & {"pre"} or left.degree or not left.determiners:
            return self.closes(index)
        return True

    def _led(self, index: int, number: str) -> bool:
        """Whether a word stands before that a bare noun may follow: ``noi politici``, ``fra europei``, ``come politico``."""
        before = self.s.low(index - 1)
        if self.lex.has("we", before) or self.lex.has("lead", before) or before in _TITLES:
            return True
        if before in _AND and index >= 2 and (owner := self.s.owner[index - 2]) is not None:
            return bool(owner.lemma) and not owner.fixed
        return number == "p" and (self.lex.has("prep", before) or before in _DEGREE)

    def closes(self, index: int) -> bool:
        """Whether the noun phrase ends here, adjectives set aside: what follows is no noun that the word could belong to."""
        place = index + 1
        while place - index <= _MAX_ADJECTIVES and self._describes(place):
            place += 1
        following = self.s.low(place)
        if not self.s.is_word(place):
            return True
        if self.s.tokens[place].capital:
            return False
        if any(self.lex.has(kind, following) for kind in ("func", "cop", "perf", "adv", "art")):
            return True
        return _VERB[self.lang].search(following) is not None

    def _describes(self, place: int) -> bool:
        word = self.s.low(place)
        if any(self.lex.has(kind, word) for kind in ("func", "cop", "adv", "art")) or not self.s.is_word(place):
            return False
        return word in self.lex.adjectives or any("head" in entry.flags for entry in self.lex.forms.get(word, ()))

    # what stands around a noun

    def left_of(self, index: int, number: str) -> NounPhrase:
        """Walk left over determiners, known adjectives and a degree word between them and the noun.

        A definite article opens the phrase; only "all", "both" or a number may stand before it.
        """
        phrase = NounPhrase(index)
        place = index - 1
        opened = False
        while place >= 0 and index - place <= 5 and self.s.free(place):
            word = self.s.low(place)
            rows = [row for row in self.lex.of("det", word) if not number or row[1] == "sp" or row[1] == number]
            if opened and word not in _BEFORE_ARTICLE:
                break
            if rows:
                phrase.determiners.append(word)
                phrase.evidence.append((word, rows[0][0]))
                opened = opened or word in _DEFINITE
            elif word in _DEGREE and self.lex.has("det", self.s.low(place - 1)):
                phrase.degree = True
            elif shown := self._adjective_between(place, number):
                phrase.evidence.append((word, shown))
            else:
                break
            phrase.start = place
            place -= 1
        return phrase

    def _adjective_between(self, place: int, number: str) -> str:
        """The genders that a known adjective after a determiner allows; empty where the word is none."""
        if not any(
            row[1] == "sp" or not number or row[1] == number for row in self.lex.of("det", self.s.low(place - 1))
        ):
            return ""
        readings = {gender for gender, n in self.lex.adjectives.get(self.s.low(place), ()) if not number or n == number}
        return "".join(sorted(readings))

    def _right_adjective(self, index: int, entry: Entry) -> int:
        """``parlamentari eletti``, ``agenti di polizia destinati``: where an adjective shows the gender of the noun."""
        for place in (index + 1, index + 3 if self.s.low(index + 1) in _OF[self.lang] else index + 1):
            if self.s.is_word(place) and self.s.owner[place] is None and self._adjective_gender(place, entry.number):
                return place
        return index

    def _adjective_gender(self, index: int, number: str) -> str:
        word = self.s.low(index)
        if any(self.lex.has(kind, word) for kind in ("func", "det", "cop", "art", "stop")):
            return ""
        readings = {gender for gender, n in self.lex.adjectives.get(word, ()) if n == number}
        readings |= {
            e.gender for e in self.lex.forms.get(word, ()) if "nat" in e.flags and e.gender and e.number == number
        }
        return readings.pop() if len(readings) == 1 else ""

    def _is_title(self, index: int) -> bool:
        return self.s.low(index) in _TITLES

    def _title_end(self, index: int) -> int:
        """``la señora Hernández Mollar``, ``Signora Presidente``: the name or the office belongs to the phrase."""
        end = index + 1 if self.s.low(index + 1) == "." else index
        place = end + 1
        while place - index <= 4 and self.s.free(place) and self.s.tokens[place].capital:
            end = place
            place += 1
        office = self.lex.forms.get(self.s.low(place), ())
        return place if end <= index + 1 and self.s.free(place) and office else end

    # pronouns

    def _pronoun(self, index: int) -> None:
        for gender, number, condition in self.lex.of("pron", self.s.low(index)):
            if self._pronoun_counts(index, gender, condition):
                note = f"pronoun “{self.s.low(index)}”"
                start = index - 1 if condition in {"alone", "los"} and self._article_before(index) else index
                self.s.add(Finding(start, index, as_gender(gender), as_number(number), note))
                return

    def _article_before(self, index: int) -> bool:
        return self.s.free(index - 1) and self.s.low(index - 1) in _DEFINITE

    def _pronoun_counts(self, index: int, gender: str, condition: str) -> bool:
        if condition in {"alone", "of"} and self._of_persons(index):
            return True
        checks = {
            "always": lambda: not self._with_fixed(index),
            "alone": lambda: not self._of_things(index) and self._stands_alone(index),
            "third": lambda: gender in self.s.cues.third,
            "they": lambda: self.s.cues.they and not self._after_preposition(index),
            "those": lambda: self.s.cues.those and self.s.low(index + 1) in {"che", "que", "di", "hanno", "sono"},
            "los": lambda: self.s.low(index - 1) == "los" and self._stands_alone(index),
        }
        return condition in checks and checks[condition]()

    def _with_fixed(self, index: int) -> bool:
        """``nosotras, las personas``: the pronoun only agrees with a fixed noun."""
        return any(
            entry.role == "fixed"
            for place in range(index + 1, index + 4)
            for entry in self.lex.forms.get(self.s.low(place), ())
        )

    def _of_persons(self, index: int) -> bool:
        return self.s.low(index + 1) in _OF[self.lang] and self.lex.has("we", self.s.low(index + 2))

    def _of_things(self, index: int) -> bool:
        following = self.s.low(index + 1)
        return following in {"dei", "degli", "delle", "del", "dello", "della"} or (
            following == "de" and not self._of_persons(index)
        )

    def _stands_alone(self, index: int) -> bool:
        following = self.s.low(index + 1)
        if self.lex.has("art", following) and following not in {"lo", "la", "los", "las", "le"}:
            return False
        if self.lex.has("art", following):
            return self.s.low(index) not in {"todos", "todas", "tutti", "tutte"}
        return self.lex.has("we", following) or self.closes(index)

    def _after_preposition(self, index: int) -> bool:
        return self.s.low(index - 1) in {
            "con",
            "per",
            "di",
            "a",
            "da",
            "in",
            "su",
            "tra",
            "fra",
            "de",
            "en",
            "por",
            "para",
            "entre",
            "sobre",
        }


_GENDER_WORD = {"M": "masculine", "F": "feminine"}
_STEM = {
    "it": r"(?:[aiu]t|[ioue]tt|[ieou]st|[eo]rs|[aeo]nt|os|iv|ic|an|es|istic)",
    "es": r"(?:[ai]d|iert|uest|os|iv|ic|an|ístic)",
}
_ADJECTIVE = {
    "it": {
        ("F", "s"): re.compile(rf"{_STEM['it']}a$|(?:[ai]l|nt|es)e$"), ("F", "p"): re.compile(rf"{_STEM['it']}h?e$|(?:[ai]l|nt|es)i$"),
        ("M", "s"): re.compile(rf"{_STEM['it']}o$|(?:[ai]l|nt|es)e$"), ("M", "p"): re.compile(rf"{_STEM['it']}h?i$|(?:[ai]l|nt|es)i$"),
    },
    "es": {
        ("F", "s"): re.compile(rf"{_STEM['es']}a$|(?:[ai]l|nte)$"), ("F", "p"): re.compile(rf"{_STEM['es']}as$|(?:[ai]l|nt)es$"),
        ("M", "s"): re.compile(rf"{_STEM['es']}o$|(?:[ai]l|nte)$"), ("M", "p"): re.compile(rf"{_STEM['es']}os$|(?:[ai]l|nt)es$"),
    },
}  # fmt: skip

