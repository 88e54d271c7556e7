"""Which stretches of a sentence are quoted."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A straight single quote is a quote mark only where it cannot be an apostrophe.
_PAIRS = (
    re.compile(r'"[^"]*"'),
    re.compile("“[^”]*”"),
    re.compile("‘[^‘]*?’(?!\\w)"),
    re.compile(r"(?<!\w)'[^\"]*?(?<=[.,!?…])'(?!\w)"),
)

Span = tuple[int, int]


def quotations(text: str) -> Sequence[Span]:
    """Offsets of the quoted stretches, marks included, in the order of their beginnings; they can nest."""
    return sorted(match.span() for pattern in _PAIRS for match in pattern.finditer(text))


def innermost(spans: Sequence[Span], place: int) -> Span | None:
    """The smallest stretch that holds a place."""
    around = [span for span in spans if span[0] <= place < span[1]]
    return min(around, key=lambda span: span[1] - span[0]) if around else None
