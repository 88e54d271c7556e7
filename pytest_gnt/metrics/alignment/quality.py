"""How often an aligner finds the word that people found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment.folding import fold


@dataclass(slots=True)
class AlignerQuality:
    """Counts over pairs of sentences with one gold word each.

    A found word is *exact* where it equals the gold word, and *overlapping* where one of the two holds the other
    (固执的 and 固执): a longer or shorter cut of the right place.

    Attributes:
        pairs: pairs of sentences.
        answered: those in which the aligner found something.
        words: words found in them.
        exact_words, overlapping_words: those that are right.
        exact_pairs, overlapping_pairs: pairs in which one of the found words is right.
        reasons: why nothing was found.
    """

    pairs: int = 0
    answered: int = 0
    words: int = 0
    exact_words: int = 0
    overlapping_words: int = 0
    exact_pairs: int = 0
    overlapping_pairs: int = 0
    reasons: Counter[Reason] = field(default_factory=Counter)

    def add(self, found: Iterable[str] | Reason, gold: str) -> None:
        """Count one pair."""
        self.pairs += 1
        if isinstance(found, Reason):
            self.reasons[found] += 1
            return
        words, gold = [fold(word) for word in found], fold(gold)
        exact = [word == gold for word in words]
        overlapping = [word in gold or gold in word for word in words]
        self.answered += 1
        self.words += len(words)
        self.exact_words += sum(exact)
        self.overlapping_words += sum(overlapping)
        self.exact_pairs += any(exact)
        self.overlapping_pairs += any(overlapping)
