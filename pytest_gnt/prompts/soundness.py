"""Whether a text is a translation at all: not empty, not a copy of the source, not a loop, not far too long.

All rules compare with the source, so that a source which is itself short, repetitive or made of names is not held
against its translation.
"""

from __future__ import annotations

import re
import unicodedata

from pytest_gnt.prompts.languages import is_unspaced

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COPY_SHARE = 0.9
_MIN_COPIED_WORDS = 4
_MAX_PERIOD = 12
_LOOP_REPEATS = 8
_LONG_LOOP_REPEATS = 4
_LONG_LOOP_TOKENS = 20
_FOUR_TIMES = re.compile(rf"(.{{1,{_MAX_PERIOD}}})\1{{{_LONG_LOOP_REPEATS - 1}}}", re.DOTALL)


def is_blank(text: str) -> bool:
    """Whether a text holds no letter and no digit: white space, dots, quotation marks."""
    return not any(character.isalnum() for character in text)


def has_content(source: str) -> bool:
    """Whether a source can be translated by something with letters in it."""
    return not is_blank(source)


def is_source_copy(text: str, source: str) -> bool:
    """Whether the source came back untranslated.

    Compared are the words after NFKC and case folding. A copy is tolerated where there is next to nothing to translate:
    fewer than 3 words of the source begin with a small letter (names, headings of names, numbers, exclamations). A near
    copy counts where at least 4 words and 90 % of the words, in order of the source, are the same.
    """
    words, source_words = _folded_words(text), _folded_words(source)
    if words != source_words and not _nearly(words, source_words):
        return False
    small: int = sum(word[0].islower() for word in _WORD.findall(source))
    return small >= 3


def _nearly(words: list[str], source_words: list[str]) -> bool:
    if min(len(words), len(source_words)) < _MIN_COPIED_WORDS:
        return False
    if abs(len(words) - len(source_words)) > len(source_words) * (1 - _COPY_SHARE):
        return False
    same = sum(one == other for one, other in zip(words, source_words, strict=False))
    return same >= _COPY_SHARE * max(len(words), len(source_words))


def is_looping(text: str, source: str, lang: str) -> bool:
    """Whether some phrase is repeated on end: 8 times, or 4 times over at least 20 words (characters for Chinese).

    A source that repeats itself in the same way (by the same rule, from half the count on) may be translated so.
    """
    words = text.split()
    if is_unspaced(lang) or len(words) * 25 < len(text):
        # Most texts repeat nothing: found out by the regular expression, 30 times faster than by counting.
        if _FOUR_TIMES.search(text) is None:
            return False
        tokens = list(text)
    else:
        # Each word of a repetition but those of its first turn stands in the text before.
        if len(words) - len(set(words)) < _LOOP_REPEATS - 1:
            return False
        tokens = words
    repeats, length = _longest_repetition(tokens)
    if not (repeats >= _LOOP_REPEATS or (repeats >= _LONG_LOOP_REPEATS and length >= _LONG_LOOP_TOKENS)):
        return False
    in_source, _ = _longest_repetition(source.split())
    return in_source * 2 < repeats


def longest_allowed(source: str, lang: str) -> int:
    """Length in characters beyond which a translation is over-long.

    3 times the source plus 60; for Chinese, Japanese and Thai 1.5 times plus 40. Real translations stay far below.
    """
    factor, extra = (1.5, 40) if is_unspaced(lang) else (3.0, 60)
    return int(len(source) * factor) + extra


def _folded_words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def _longest_repetition(tokens: list[str]) -> tuple[int, int]:
    """How often a phrase of up to 12 tokens is repeated on end, and how many tokens that covers.

    Phrases without any letter or digit (dots, dashes) do not count.
    """
    best = (1, 0)
    for period in range(1, min(_MAX_PERIOD, len(tokens) // 2) + 1):
        run = 0
        for index in range(period, len(tokens)):
            if tokens[index] != tokens[index - period]:
                run = 0
                continue
            run += 1
            repeats = run // period + 1
            if repeats > best[0] and not is_blank("".join(tokens[index - period + 1 : index + 1])):
                best = (repeats, run + period)
    return best
