"""Which words of a translation stand for a word of the source, by an alignment of the two sentences."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment.folding import find, fold
from pytest_gnt.metrics.alignment.function_words import function_words
from pytest_gnt.metrics.alignment.pair import Alignment, Link, SentencePair


def targets(pair: SentencePair, word: str, alignment: Alignment) -> tuple[str, ...] | Reason:
    """The words that a source word became.

    The word is looked for as a whole word, in any case and width; an inflected form of it (*stubbornly* for *stubborn*)
    is another word. Where it stands more than once, the links of all its places count. Linked words that stand side by
    side are one, written as the translation writes them; others are several. Each different one counts once, in the
    order of the translation. Marks without a letter are no words; function words of the target language are left out,
    since links from a content word to them are the commonest error.

    Returns:
        The words, or why there are none: what the aligner says of the whole pair, ``WORD_NOT_IN_SOURCE``,
        ``UNALIGNED``, ``ALIGNED_TO_PUNCTUATION``, ``ALIGNED_TO_FUNCTION_WORD``, or ``COPIED_WORD`` where only the
        source word itself is linked.
    """
    if alignment.reason is not None:
        return alignment.reason
    places = find(pair.source, word)
    if not places:
        return Reason.WORD_NOT_IN_SOURCE
    linked = sorted({link[2:] for link in alignment.links if _touches(link, places)})
    if not linked:
        return Reason.UNALIGNED
    words = [span for span in linked if any(char.isalnum() for char in pair.target[slice(*span)])]
    if not words:
        return Reason.ALIGNED_TO_PUNCTUATION
    left_out = function_words(pair.target_lang)
    content = [span for span in words if fold(pair.target[slice(*span)]) not in left_out]
    if not content:
        return Reason.ALIGNED_TO_FUNCTION_WORD
    kept: dict[str, str] = {}
    for text in _joined(pair.target, content):
        if (folded := fold(text)) != fold(word):
            kept.setdefault(folded, " ".join(text.split()))
    return tuple(kept.values()) if kept else Reason.COPIED_WORD


def _touches(link: Link, places: Sequence[tuple[int, int]]) -> bool:
    return any(link[0] < end and start < link[1] for start, end in places)


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The texts of runs of spans with nothing but blanks between them."""
    runs: list[tuple[int, int]] = []
    for start, end in spans:
        if runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [text[start:end] for start, end in runs]
