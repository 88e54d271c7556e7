"""How Italian and Spanish nouns express the gender of people."""

from __future__ import annotations

from pytest_gnt.judges.lexicon_data import Entry, Role
from pytest_gnt.judges.lexicon_phrases import DEFINITE, DEGREE, NounPhrase, RomancePhrases
from pytest_gnt.judges.lexicon_pronouns import RomancePronouns
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence, as_gender, as_number
from pytest_gnt.judges.lexicon_text import is_inclusive, word_set

_TITLES = word_set(
    "signor signora signori signore signorina señor señora señores señoras señorita sr sra srta don doña"
)
_AND = word_set("e ed o y u ni né")
_GENDER_WORD = {"M": "masculine", "F": "feminine"}
# agent suffixes of nouns that the lexicon does not hold, with gender and number; trusted after a determiner only
_AGENTS = {
    "it": (
        ("trice", "F", "s"), ("trici", "F", "p"), ("tore", "M", "s"), ("tori", "M", "p"),
        ("ologo", "M", "s"), ("ologi", "M", "p"), ("ologa", "F", "s"), ("ologhe", "F", "p"),
        ("isti", "M", "p"), ("iste", "F", "p"), ("ista", "", "s"),
    ),
    "es": (
        ("dora", "F", "s"), ("doras", "F", "p"), ("dor", "M", "s"), ("dores", "M", "p"),
        ("ólogo", "M", "s"), ("ólogos", "M", "p"), ("óloga", "F", "s"), ("ólogas", "F", "p"),
        ("ista", "", "s"), ("istas", "", "p"),
    ),
}  # fmt: skip
_MIN_AGENT = 7
_MAX_NAME = 4


class RomanceNouns:
    """Finds person nouns and pronouns of one Italian or Spanish sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.s = sentence
        self.lex = sentence.lexicon
        self.around = RomancePhrases(sentence)
        self.pronouns = RomancePronouns(sentence, self.around)

    def run(self) -> None:
        """Go through the words from left to right."""
        for index, token in enumerate(self.s.tokens):
            if not self.s.free(index):
                continue
            if is_inclusive(token):
                self.s.add(Finding(index, index, "N", "", "inclusive form"))
            elif not self._noun(index):
                self.pronouns.look(index)

    def _noun(self, index: int) -> bool:
        entries = self.lex.forms.get(self.s.low(index), ())
        if not entries:
            return self._agent(index)
        fixed = next((entry for entry in entries if entry.role == "fixed"), None)
        if fixed is not None:
            self._add_fixed(index, fixed)
            return True
        entries = tuple(entry for entry in entries if self._allowed(index, entry))
        if not entries:
            return False
        common = next((entry for entry in entries if entry.role == "common"), None)
        entry = common or self._agreeing(index, entries)
        if not self._said_of_fixed(index, entry):
            self._add(index, entry)
        return True

    def _agreeing(self, index: int, entries: tuple[Entry, ...]) -> Entry:
        """Of several readings (``infermiere``: one man, several women) the one that the determiners fit."""
        for entry in entries:
            left = self.around.left_of(index, entry.number)
            if left.evidence and all(entry.gender in genders for _, genders in left.evidence):
                return entry
        return entries[0]

    def _add(self, index: int, entry: Entry) -> None:
        word, left = self.s.low(index), self.around.left_of(index, entry.number)
        end = self._title_end(index) if word in _TITLES else index
        gender, note = entry.gender, f"“{word}” is {_GENDER_WORD.get(entry.gender, '')} ({entry.lemma})"
        if entry.role == "common":
            end = self.around.adjective_right(index, entry.number)
            gender, decider = self._common_gender(left, end if end > index else None, entry.number)
            end = end if decider == self.s.low(end) else index
            note = f"“{word}” serves both genders" + (f"; “{decider}” decides" if decider else "")
        self.s.add(Finding(left.start, end, as_gender(gender), as_number(entry.number), note, entry.lemma))

    def _common_gender(self, left: NounPhrase, right: int | None, number: str) -> tuple[str, str]:
        """The gender that a noun for both genders gets from its phrase, and the word that decides; both or neither."""
        for word, genders in left.evidence:
            if len(genders) == 1:
                return genders, word
        return (self.around.adjective_gender(right, number), self.s.low(right)) if right is not None else ("", "")

    def _add_fixed(self, index: int, entry: Entry) -> None:
        left = self.around.left_of(index, entry.number)
        end = index
        while end - index < 2 and self.s.free(end + 1) and self.around.agrees(end + 1, entry):
            end += 1
        note = f"“{self.s.low(index)}” has one grammatical gender for everybody"
        self.s.add(Finding(left.start, end, "N", as_number(entry.number), note, entry.lemma, fixed=entry.gender))

    def _said_of_fixed(self, index: int, entry: Entry) -> bool:
        """``una persona su tre è disoccupata``: the noun only agrees with a fixed-gender noun."""
        place = index - 1
        while self.lex.has("adv", self.s.low(place)):
            place -= 1
        subject = self.s.subject_before(place) if self.lex.has("cop", self.s.low(place)) else None
        if subject is None or not subject.fixed or subject.fixed != entry.gender:
            return False
        note = "agrees with a fixed-gender noun"
        self.s.add(Finding(index, index, "N", as_number(entry.number), note, fixed=subject.fixed))
        return True

    def _agent(self, index: int) -> bool:
        word = self.s.low(index)
        if len(word) < _MIN_AGENT or not self.s.cues.agents:
            return False
        if self.lex.has("thing", word) or word in self.lex.adjectives:
            return False
        for ending, gender, number in _AGENTS[self.lex.lang]:
            if word.endswith(ending) and self._introduced(index, number):
                role: Role = "common" if not gender else "noun"
                self._add(index, Entry(role, gender, number, word))
                return True
        return False

    def _introduced(self, index: int, number: str) -> bool:
        if self.around.left_of(index, number).determiners:
            return True
        return number == "s" and self.lex.has("lead", self.s.low(index - 1))

    # where a noun may stand

    def _allowed(self, index: int, entry: Entry) -> bool:
        if "ft" in entry.flags and not self.s.cues.states("F") and self._names_thing(index, entry):
            return False
        return "head" not in entry.flags or self._head_position(index, entry)

    def _names_thing(self, index: int, entry: Entry) -> bool:
        """``la política`` names a field; ``la policía`` is the force, but ``una policía`` a woman."""
        if entry.role == "noun":
            return entry.gender == "F"
        return any(word in {"la", "las"} for word, _ in self.around.left_of(index, entry.number).evidence)

    def _head_position(self, index: int, entry: Entry) -> bool:
        left = self.around.left_of(index, entry.number)
        if not left.determiners and not self._led(index, entry.number):
            return False
        if entry.number == "s" and "nat" in entry.flags and left.determiners and left.determiners[0] in DEFINITE:
            return False
        bound = left.determiners and "pre" not in entry.flags and not left.degree
        return bool(bound) or self.around.closes(index)

    def _led(self, index: int, number: str) -> bool:
        """Whether a word that a bare noun may follow stands before: ``noi politici``, ``fra europei``."""
        before = self.s.low(index - 1)
        if self.lex.has("we", before) or self.lex.has("lead", before) or before in _TITLES:
            return True
        if before in _AND and index >= 2 and (owner := self.s.owner[index - 2]) is not None:
            return bool(owner.lemma) and not owner.fixed
        return number == "p" and (self.lex.has("prep", before) or before in DEGREE)

    def _title_end(self, index: int) -> int:
        """``la señora Hernández Mollar``, ``Signora Presidente``: the name or the office belongs to the phrase."""
        end = index + 1 if self.s.low(index + 1) == "." else index
        first = end + 1
        while end - index < _MAX_NAME and self.s.free(end + 1) and self.s.tokens[end + 1].capital:
            end += 1
        office = self.lex.forms.get(self.s.low(first), ())
        return first if end < first and self.s.free(first) and office else end
