"""What the attitude words, and the identity terms, of many cases became in their translations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_gnt.case import Case
from pytest_gnt.corpora.attitude_words import renderings
from pytest_gnt.corpora.identities import has_terms, identity_terms
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.metrics.alignment import Aligner, Alignment, LexiconAligner, SentencePair, targets
from pytest_gnt.pipeline.executor import Executor

Words = tuple[str, ...] | Reason


@dataclass(frozen=True, slots=True)
class Found:
    """One case's words.

    Attributes:
        words: what stands for the attitude word, or why nothing does.
        identity_words: what stands for the identity's term; None where the method does not look for it.
    """

    words: Words
    identity_words: Words | None = None


class WordFinder(Protocol):
    """Finds them."""

    def find(self, translations: Sequence[Translation], executor: Executor) -> list[Found]: ...


def known_renderings(case: Case) -> tuple[str, ...]:
    """What the case's corpus and the product know."""
    return tuple(dict.fromkeys((*case.attitude_renderings, *renderings(case.attitude_word or "", case.target_lang))))


@dataclass(frozen=True, slots=True)
class ByLexicon:
    """By the renderings that are known of each attitude word.

    Attributes:
        otherwise: what looks further where none of them is found; a copy of the source word is not looked into.
        known: the renderings of a case's attitude word.
    """

    otherwise: WordFinder | None = None
    known: Callable[[Case], tuple[str, ...]] = known_renderings
    _lexicon: LexiconAligner = field(default_factory=LexiconAligner)

    def find(self, translations: Sequence[Translation], executor: Executor) -> list[Found]:
        """See `WordFinder`."""
        found = [Found(self._words(translation)) for translation in translations]
        if self.otherwise is None:
            return found
        further = [place for place, one in enumerate(found) if one.words is Reason.UNALIGNED]
        for place, one in zip(
            further, self.otherwise.find([translations[place] for place in further], executor), strict=True
        ):
            found[place] = one
        return found

    def _words(self, translation: Translation) -> Words:
        case = translation.case
        if not _to_align(translation):
            return Reason.NO_ATTITUDE_WORD
        return self._lexicon.align(translation.text or "", self.known(case), case.target_lang, case.attitude_word)


@dataclass(frozen=True, slots=True)
class ByLinks:
    """By the links between the words of source and translation; each pair of sentences is linked once."""

    aligner: Aligner

    def find(self, translations: Sequence[Translation], executor: Executor) -> list[Found]:
        """See `WordFinder`."""
        asked = [place for place, translation in enumerate(translations) if _to_align(translation)]
        pairs = [_pair(translations[place]) for place in asked]
        alignments = executor.compute(self.aligner, pairs) if pairs else []
        found = [Found(Reason.NO_ATTITUDE_WORD)] * len(translations)
        for place, pair, alignment in zip(asked, pairs, alignments, strict=True):
            case = translations[place].case
            words = targets(pair, case.attitude_word or "", alignment)
            found[place] = Found(words, _identity_words(case, pair, alignment))
        return found


def _to_align(translation: Translation) -> bool:
    return translation.case.attitude_word is not None and translation.text is not None


def _pair(translation: Translation) -> SentencePair:
    case = translation.case
    return SentencePair(case.source, translation.text or "", case.source_lang, case.target_lang)


def _identity_words(case: Case, pair: SentencePair, alignment: Alignment) -> Words | None:
    """What the identity's term became: the longest term that stands in the source decides."""
    if case.identity is None or not has_terms(case.source_lang):
        return None
    for term in sorted(identity_terms(case.identity, case.source_lang), key=len, reverse=True):
        words = targets(pair, term, alignment)
        if words is not Reason.WORD_NOT_IN_SOURCE:
            return words
    return Reason.WORD_NOT_IN_SOURCE
