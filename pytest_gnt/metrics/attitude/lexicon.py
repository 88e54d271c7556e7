"""Finding a word's translation in a sentence by a list of its known renderings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from pytest_gnt.evidence import Reason

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_SCRIPTS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_SCRIPTS}]")
"""Scripts that put no blanks between words (Han, Kana, Thai, Lao): there a word is found anywhere."""
_LETTER = rf"[^\W{_SCRIPTS}]"
"""What may not stand beside a whole word; a Chinese character beside a Latin one separates."""


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
        text = _folded(hypothesis)
        taken: list[tuple[int, int]] = []
        first: dict[str, int] = {}
        known = {_folded(rendering): rendering for rendering in renderings}
        for form in sorted(filter(None, known), key=lambda form: (-len(form), form)):
            for span in _spans(text, form):
                if all(span[1] <= start or end <= span[0] for start, end in taken):
                    taken.append(span)
                    first.setdefault(known[form], span[0])
        if first:
            return tuple(sorted(first, key=lambda rendering: first[rendering]))
        if source_word and any(_spans(text, _folded(source_word))):
            return Reason.COPIED_WORD
        return Reason.UNALIGNED


def _folded(text: str) -> str:
    """Compatibility forms, case and invisible marks removed, blanks single."""
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).split())


def _spans(text: str, form: str) -> Iterable[tuple[int, int]]:
    pattern = re.escape(form)
    if not _UNSPACED.search(form):
        pattern = f"(?<!{_LETTER}){pattern}(?!{_LETTER})"
    return (match.span() for match in re.finditer(pattern, text))
