"""Words that the translations for one identity use and those for the others do not (AmbGIMT, Table 12).

The score is the log-odds ratio with an informative Dirichlet prior of Monroe, Colaresi and Quinn 2008 ("Fightin'
Words", equations 16, 20 and 22), over sentences: a word counts once in a translation, however often it stands there,
and it counts only in sentences in which some identities' translations have it and others do not.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pytest_gnt.case import Identity
from pytest_gnt.corpora.identities import has_terms, identity_terms
from pytest_gnt.metrics.alignment import chinese
from pytest_gnt.metrics.alignment.folding import fold
from pytest_gnt.metrics.alignment.function_words import function_words
from pytest_gnt.metrics.alignment.tokens import Segmentation, base_lang

THRESHOLD = 1.5
"""The least z-score of a word that is shown. Where identities differ by chance only, z has a standard deviation of
0.34, not 1, since the formula takes the variants of a sentence to be independent and they are not; among 340,000 words
drawn by chance none reached 1.5."""

PRIOR = 0.2
"""Weight of the prior relative to the counts: near here z is largest for a word that only one identity gets."""

MIN_GROUPS = 20
"""Sentences of a corpus below which nothing is counted. A word needs five sentences to reach the threshold where no
other identity gets it: among a handful of sentences that tells of the sentences, not of the system."""

MOST_SHOWN = 10
_LONGEST = 20_000
"""Characters of a translation that are looked at: more are no sentence."""
_LONGEST_WORD = 100
_MOST_ENTRIES = 3_000_000
"""Words of sentences that are kept, for all corpora together; beyond, further translations are not counted."""


@dataclass(slots=True)
class Sentence:
    """The words of one sentence's translations: of which identities there are translations, and which have a word.

    Identities are bits of a number: 1 << place.
    """

    identities: int = 0
    words: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Corpus:
    """One corpus in one language. ``waiting``: translations that are not cut before there are enough sentences."""

    lang: str
    sentences: dict[str, Sentence] = field(default_factory=dict)
    waiting: list[tuple[Sentence, int, str]] | None = field(default_factory=list)


class Keywords:
    """Counts words, one translation after the other, and tells which are typical of an identity.

    Function words and the terms for the identities themselves are not counted. Of several translations of one sentence
    for one identity the first counts.
    """

    def __init__(self) -> None:
        self._segmentation = Segmentation()
        self._corpora: dict[tuple[str, str], _Corpus] = {}
        self._identities: dict[str, int] = {}
        self._entries = 0
        self._translations = 0
        self._full = False

    def add(self, corpus: str, lang: str, group: str, identity: str, text: str) -> None:
        """Count one translation."""
        lang = base_lang(lang)
        counts = self._corpora.setdefault((corpus, lang), _Corpus(lang))
        if lang == "zh" and not chinese.installed():
            return
        bit = 1 << self._identities.setdefault(identity, len(self._identities))
        sentence = counts.sentences.setdefault(group, Sentence())
        if sentence.identities & bit:
            return
        sentence.identities |= bit
        self._translations += 1
        if counts.waiting is None:
            self._count(counts, sentence, bit, text)
            return
        counts.waiting.append((sentence, bit, text[:_LONGEST]))
        if len(counts.sentences) >= MIN_GROUPS:
            waiting, counts.waiting = counts.waiting, None
            for one in waiting:
                self._count(counts, *one)

    def rows(self) -> list[dict[str, Any]]:
        """One row an identity that has typical words, by corpus, language and the identities' own order.

        ``words`` holds word, ``count`` (translations of the identity that have it), ``others`` (translations of all
        other identities that have it) and ``z``, the most typical first.
        """
        order = [str(identity) for identity in Identity]
        names = sorted(self._identities, key=lambda one: (order.index(one) if one in order else len(order), one))
        rows = []
        for (corpus, lang), counts in sorted(self._corpora.items()):
            found = typical(counts.sentences.values(), [self._identities[name] for name in names])
            rows += [
                {"corpus": corpus, "lang": lang, "identity": name, "words": words}
                for name, words in zip(names, found, strict=True)
                if words
            ]
        return rows

    def about(self) -> dict[str, Any] | None:
        """What `rows` rests on; None where there was nothing to count."""
        if not self._corpora:
            return None
        return {
            "threshold": THRESHOLD,
            "translations": self._translations,
            "notes": [*dict.fromkeys(self._notes())],
        }

    def _notes(self) -> Iterator[str]:
        for (corpus, lang), counts in sorted(self._corpora.items()):
            if lang == "zh" and not chinese.installed():
                yield "Chinese keywords need the Python package 'jieba': run  pip install 'pytest-gnt[words]'"
            elif counts.waiting is not None:
                yield f"{corpus} {lang}: {len(counts.sentences)} sentences are too few ({MIN_GROUPS} are needed)"
            elif not has_terms(lang):
                yield f"{corpus} {lang}: the terms for the identities are not known and count as words"
        if self._full:
            yield "there are too many different words: the last translations are not counted"

    def _count(self, counts: _Corpus, sentence: Sentence, bit: int, text: str) -> None:
        if self._entries > _MOST_ENTRIES:
            sentence.identities &= ~bit
            self._translations -= 1
            self._full = True
            return
        before = len(sentence.words)
        for token in self._segmentation.tokens(text[:_LONGEST], counts.lang):
            if len(token.text) <= _LONGEST_WORD and (word := _counted(token.text, counts.lang)):
                sentence.words[word] = sentence.words.get(word, 0) | bit
        self._entries += len(sentence.words) - before


def typical(sentences: Iterable[Sentence], identities: Iterable[int]) -> list[list[dict[str, Any]]]:
    """The words typical of each identity against all others, the most typical first.

    With y the sentences in which the identity's translation holds the word, and ȳ those of the others, each sentence
    counted by the share of them that hold it (variants of one sentence are not independent: thirteen weigh no more than
    one), over sentences in which the word is in some translations and not in all:

        δ = log((y + α) / (n + α₀ − y − α)) − log((ȳ + α) / (n̄ + α₀ − ȳ − α)),   z = δ / √(1/(y + α) + 1/(ȳ + α))

    where n and n̄ are the words of all sentences, also of those that all translations share, α = `PRIOR` · (y + ȳ), and
    α₀ = `PRIOR` · (n + n̄).

    Args:
        sentences: what was counted.
        identities: the places of the identities.

    Returns:
        A list of words for each identity, in their order.
    """
    places = list(identities)
    own: dict[int, Counter[str]] = {place: Counter() for place in places}
    others: dict[int, defaultdict[str, float]] = {place: defaultdict(float) for place in places}
    translations: dict[int, Counter[str]] = {place: Counter() for place in places}
    total: Counter[str] = Counter()
    sums = {place: [0, 0.0] for place in places}
    for sentence in sentences:
        size = sentence.identities.bit_count()
        here = [place for place in places if sentence.identities >> place & 1]
        for word, holders in sentence.words.items():
            held = holders.bit_count()
            total[word] += held
            for place in here:
                has = holders >> place & 1
                sums[place][0] += has
                sums[place][1] += (held - has) / (size - 1) if size > 1 else 0
                if has:
                    translations[place][word] += 1
                if 0 < held < size:
                    if has:
                        own[place][word] += 1
                    if held > has:
                        others[place][word] += (held - has) / (size - 1)
    return [_typical(own[place], others[place], sums[place], translations[place], total) for place in places]


def _typical(
    own: Counter[str],
    others: defaultdict[str, float],
    sums: Sequence[float],
    translations: Counter[str],
    total: Counter[str],
) -> list[dict[str, Any]]:
    """The words of one identity; see `typical`."""
    n_own, n_others = sums
    prior = PRIOR * (n_own + n_others)
    scored: list[tuple[float, str]] = []
    for word, count in own.items():
        other = others.get(word, 0.0)
        if count <= other:
            continue
        alpha = PRIOR * (count + other)
        odds = [(y + alpha) / max(n + prior - y - alpha, 1e-9) for y, n in ((count, n_own), (other, n_others))]
        z = math.log(odds[0] / odds[1]) / math.sqrt(1 / (count + alpha) + 1 / (other + alpha))
        if z >= THRESHOLD:
            scored.append((-round(z, 2), word))
    return [
        {"word": word, "count": translations[word], "others": total[word] - translations[word], "z": -z}
        for z, word in sorted(scored)[:MOST_SHOWN]
    ]


class _LeftOut:
    """Words that are not counted in a language: function words, and the terms for identities, English ones too.

    In Chinese a word is left out with a term in it, and as a part of one: the cut between words may fall within a term.
    """

    def __init__(self, lang: str) -> None:
        terms = [fold(term) for code in {lang, "en"} if has_terms(code) for term in _all_terms(code)]
        self._words = function_words(lang) | {word for term in terms for word in term.split()}
        self._parts = [term for term in terms if len(term) > 1] if lang == "zh" else []

    def __contains__(self, word: str) -> bool:
        return word in self._words or any(word in term or term in word for term in self._parts)


def _all_terms(lang: str) -> list[str]:
    return [term for identity in Identity for term in identity_terms(identity, lang)]


_by_lang: dict[str, _LeftOut] = {}


@lru_cache(maxsize=1 << 16)
def _counted(text: str, lang: str) -> str:
    """The word that a token counts as; empty where it is none or is left out. Texts are long, their words few."""
    if text.isdecimal() or not any(char.isalnum() for char in text):
        return ""
    word = fold(text)
    return "" if word in _left_out(lang) else word


def _left_out(lang: str) -> _LeftOut:
    if lang not in _by_lang:
        _by_lang[lang] = _LeftOut(lang)
    return _by_lang[lang]
