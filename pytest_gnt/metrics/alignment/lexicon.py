"""Finding a word's translation in a sentence by a list of its known renderings."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment.folding import fold, occurrences

_folded = lru_cache(maxsize=1 << 14)(fold)

VERSION = 1
"""Part of the signature: raise it when the same renderings are found in other places."""


class LexiconAligner:
    """Aligns by look-up: the renderings that occur in the translation are the attitude word's translation.

    Longer renderings are found first and later ones may not overlap them (固执己见 before 固执). Every *distinct*
    rendering found counts once, in the order of first occurrence: a word used twice counts once, and the target's
    attitude is the mean over the distinct ones. Case and character width do not matter; in scripts with blanks only
    whole words count. Inflected forms are found only if the list has them.
    """

    def align(
        self, hypothesis: str, renderings: Iterable[str], lang: str, source_word: str | None = None
    ) -> tuple[str, ...] | Reason:
        """Find the renderings.

        Args:
            hypothesis: the translation.
            renderings: known translations of the word.
            lang: the translation's language; unused where the script itself shows how words are separated.
            source_word: the word itself, to recognise that it was left untranslated.

        Returns:
            The renderings found, as the list spells them; ``UNALIGNED`` where none is there, ``COPIED_WORD`` where the
            source word stands there instead.
        """
        del lang
        text = fold(hypothesis)
        taken: list[tuple[int, int]] = []
        first: dict[str, int] = {}
        known = {folded: rendering for rendering in renderings if (folded := _folded(rendering)) in text}
        for form in sorted(filter(None, known), key=lambda form: (-len(form), form)):
            for span in occurrences(text, form):
                if all(span[1] <= start or end <= span[0] for start, end in taken):
                    taken.append(span)
                    first.setdefault(known[form], span[0])
        if first:
            return tuple(sorted(first, key=lambda rendering: first[rendering]))
        if source_word and any(occurrences(text, fold(source_word))):
            return Reason.COPIED_WORD
        return Reason.UNALIGNED
