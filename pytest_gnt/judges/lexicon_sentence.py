"""The working paper of the lexicon judge: one translation with the phrases found so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_data import Lexicon
from pytest_gnt.judges.lexicon_source import Number, SourceCues, read_source
from pytest_gnt.judges.lexicon_text import Token, tokenize

_CLAUSE_ENDS = frozenset(".;!?…")


@dataclass(frozen=True, slots=True)
class Finding:
    """A phrase that refers to people.

    Attributes:
        start, end: first and last token.
        gender: M, F or N.
        number: singular, plural, or empty where the form does not tell.
        note: what in the lexicon decided.
        lemma: the person noun in it, empty for pronouns and predicates.
        fixed: the grammatical gender (M, F, N) of a fixed-gender noun, agreement with which expresses nobody's gender;
            else empty.
    """

    start: int
    end: int
    gender: PhraseGender
    number: Number
    note: str
    lemma: str = ""
    fixed: str = ""


class Sentence:
    """A translation, its words, what the source says, and the findings; each word belongs to at most one finding."""

    def __init__(self, text: str, source: str, lexicon: Lexicon) -> None:
        self.text = text
        self.lexicon = lexicon
        self.cues: SourceCues = read_source(source)
        self.tokens: tuple[Token, ...] = tokenize(text)
        self.owner: list[Finding | None] = [None] * len(self.tokens)

    def add(self, finding: Finding) -> None:
        """Record a phrase, cut down to the words that no earlier phrase holds."""
        start, end = finding.start, finding.end
        while start < end and self.owner[start] is not None:
            start += 1
        if start != finding.start:
            finding = replace(finding, start=start)
        for index in range(start, end + 1):
            self.owner[index] = finding

    def decide(self, finding: Finding, gender: PhraseGender, note: str) -> None:
        """Give an open phrase the gender that a predicate or the reference shows."""
        decided = replace(finding, gender=gender, note=note)
        for index in range(finding.start, finding.end + 1):
            if self.owner[index] is finding:
                self.owner[index] = decided

    @property
    def findings(self) -> list[Finding]:
        """All phrases in the order of the text."""
        found: list[Finding] = []
        for owner in self.owner:
            if owner is not None and (not found or owner is not found[-1]):
                found.append(owner)
        return found

    def phrase(self, finding: Finding) -> str:
        """The phrase as it stands in the translation."""
        return self.text[self.tokens[finding.start].start : self.tokens[finding.end].end]

    def low(self, index: int) -> str:
        """The lower-case word at a place; empty outside the sentence."""
        return self.tokens[index].low if 0 <= index < len(self.tokens) else ""

    def is_word(self, index: int) -> bool:
        """Whether there is a word (not a sign, not the end) at a place."""
        return 0 <= index < len(self.tokens) and self.tokens[index].is_word

    def free(self, index: int) -> bool:
        """Whether there is a word at a place that no phrase holds yet."""
        return self.is_word(index) and self.owner[index] is None

    def subject_before(self, index: int, gender: str = "", reach: int = 16) -> Finding | None:
        """The nearest phrase to the left in the clause; fixed nouns that cannot agree with ``gender`` are skipped."""
        for place in range(index - 1, max(-1, index - 1 - reach), -1):
            if self.tokens[place].text in _CLAUSE_ENDS:
                return None
            owner = self.owner[place]
            if owner is not None and not (gender and owner.fixed and owner.fixed != gender):
                return owner
        return None


def as_gender(letter: str) -> PhraseGender:
    """A gender letter of the data files as the gender of a phrase; anything but M and F is N."""
    return "M" if letter == "M" else "F" if letter == "F" else "N"


def as_number(letter: str) -> Number:
    """A number letter of the data files as a number; anything but s and p is open."""
    return "s" if letter == "s" else "p" if letter == "p" else ""
