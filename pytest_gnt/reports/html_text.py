"""Text of models and data files made fit to be shown: what a page would swallow, reorder or hide is made visible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

# Control characters but for tab and line feed, separators that break lines unseen, marks of text direction, invisible
# characters, private use, non-characters, lone halves of surrogate pairs, invisible tag characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufdd0-\ufdef"
    "\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def shown(text: str) -> str:
    """The text with every hidden character written as its code point, e.g. ``⟨U+202E⟩``; not escaped for HTML.

    The result holds no lone surrogate and can be encoded as UTF-8.
    """
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def fragment(**wanted: str | None) -> str:
    """A link into the page that opens a case or narrows the table: ``#test=…&identity=trans%20man``.

    Values are quoted so that nothing in them can be read as another key; lone surrogates become U+FFFD, which no case
    matches.
    """
    given = {key: value.encode("utf-8", "replace") for key, value in wanted.items() if value is not None}
    return "#" + "&".join(f"{key}={quote(value, safe='/')}" for key, value in given.items())


def stratum_link(corpus: str, by: Mapping[str, str], **more: str | None) -> str:
    """A link that narrows the table to one stratum of a corpus."""
    return fragment(corpus=corpus, **{key: str(value) for key, value in by.items()}, **more)


def spoken(name: str) -> str:
    """A test's function name as words: ``test_identity_is_kept`` → ``identity is kept``."""
    return name.removeprefix("test_").replace("_", " ")


def number(value: float | int, digits: int = 0, sign: bool = False) -> str:
    """A number for people: thousands apart, a real minus sign, no sign on what rounds to zero."""
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    return text.lstrip("+-") if not text.strip("+-0.,") else text.replace("-", "−")


def percent(share: float | None, digits: int = 1) -> str:
    """A share as per cent; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f}%"


def duration(seconds: float) -> str:
    """A length of time in the two largest units that it has."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
