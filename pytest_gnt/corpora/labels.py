"""Closed vocabularies as they stand in data files: exact, or tidied openly, never guessed."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

Vocabulary = TypeVar("Vocabulary", bound=StrEnum)


def read_label(vocabulary: type[Vocabulary], cell: str | None) -> tuple[Vocabulary | None, bool]:
    """Find the member that a cell names.

    Letter case and surrounding blanks are tolerated; anything else, a blank cell included, names nothing.

    Returns:
        The member or None, and whether the cell had to be tidied to find it.
    """
    text = cell or ""
    tidy = text.strip().casefold()
    for member in vocabulary:
        if text == member.value:
            return member, False
        if tidy == member.value.casefold():
            return member, True
    return None, False


def shown(cell: str | None) -> str:
    """A cell as messages show it: quoted and cut, or ``empty``."""
    if cell is None or not cell.strip():
        return "empty"
    return repr(cell if len(cell) <= 40 else cell[:39] + "…")
