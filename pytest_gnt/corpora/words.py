"""Lists of words in one cell, whose separator is not fixed."""

from __future__ import annotations

import re

_SEPARATORS = (";", "；", "|", "\t", ",", "，", "、", "/")
_WRAPPING = "[]{}()\"'“”„«»‘’ \t\n"
_LETTERS = re.compile(r"\w")


def split_words(cell: str | None, text: str = "") -> tuple[str, ...]:
    """Split a cell that lists words or phrases.

    The strongest separator that occurs cuts (``;`` before ``|``, ``,`` and ``/``). Where the text is known from which
    the words come, it decides the open questions: a piece that stands in it stays whole, a piece that does not is cut
    at weaker separators, and at blanks if all its parts stand in the text.

    Args:
        cell: the list; brackets and quotes around the items are dropped.
        text: the sentence that the words were taken from, if there is one.

    Returns:
        The items in order, each once.
    """
    if cell is None or not cell.strip():
        return ()
    folded = text.casefold()
    for position, separator in enumerate(_SEPARATORS):
        if separator in cell:
            weaker = _SEPARATORS[position + 1 :]
            items = [item for piece in cell.split(separator) for item in _refine(piece, folded, weaker)]
            break
    else:
        items = _refine(cell, folded, ())
    return tuple(dict.fromkeys(item for item in items if _LETTERS.search(item)))


def _refine(piece: str, text: str, separators: tuple[str, ...]) -> list[str]:
    """Cut a piece further where the text says that it is no phrase of its own."""
    whole = piece.strip(_WRAPPING)
    if not text or whole.casefold() in text:
        return [whole]
    for position, separator in enumerate(separators):
        if separator in piece:
            weaker = separators[position + 1 :]
            return [item for part in piece.split(separator) for item in _refine(part, text, weaker)]
    parts = [part.strip(_WRAPPING) for part in whole.split()]
    return parts if all(part.casefold() in text for part in parts) else [whole]
