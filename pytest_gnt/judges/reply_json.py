"""One JSON object out of a model's reply, which is hostile input: fences, prose, several objects, doubled keys.

What can be read in one way only is read, and marked where something had to be mended; all else is an error that says
what is wrong. A reply that is JSON already is never rewritten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pytest_gnt.judges.untrusted import without_lone_surrogates

MAX_REPLY = 50_000
"""Characters of a reply that are looked at; a verdict has a few thousand at most."""

REPAIRED = "repaired-json"
SURROUNDED = "text-around-json"


class ReplyFault(ValueError):
    """The reply holds no object that can be read in one way only."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object, and marks: ``repaired-json``, ``text-around-json``."""

    value: dict[str, Any]
    flags: tuple[str, ...] = ()


def find_object(text: str, key: str) -> Found:
    """The object of a reply that holds the key at its top level.

    Raises:
        ReplyFault: there is none, there are several that differ, or it can only be guessed at.
    """
    if len(text) > MAX_REPLY:
        raise ReplyFault(f"the reply has {len(text)} characters")
    stripped = text.strip()
    try:
        whole = _loads(stripped)
    except json.JSONDecodeError:
        return _search(stripped, key)
    if not isinstance(whole, dict):
        raise ReplyFault(f"the reply is JSON, but no object ({_kind(whole)})")
    return Found(whole)


def is_json_object(text: str) -> bool:
    """Whether a text is one JSON object and nothing else."""
    try:
        return isinstance(_loads(text.strip()), dict)
    except (json.JSONDecodeError, ReplyFault):
        return False


def _search(text: str, key: str) -> Found:
    """Look for objects amid other text. Pieces in braces that are no JSON and do not name the key are prose."""
    found: list[Found] = []
    for piece in _pieces(text):
        flags = () if piece == text else (SURROUNDED,)
        try:
            value, mended = _read(piece)
        except json.JSONDecodeError as error:
            if key in piece:
                raise ReplyFault(f"malformed JSON: {error.msg} at character {error.pos + 1}") from None
            continue
        if isinstance(value, dict):
            found.append(Found(value, (*flags, REPAIRED) if mended else flags))
    if not found:
        raise ReplyFault("there is no complete JSON object in the reply")
    wanted = [one for one in found if key in one.value]
    if not wanted:
        raise ReplyFault(f"the object has no key {key!r} at its top level")
    if any(one.value != wanted[0].value for one in wanted):
        raise ReplyFault(f"{len(wanted)} objects that differ")
    return wanted[0]


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)


def _pieces(text: str) -> Iterator[str]:
    """The outermost pieces in braces; an unclosed one goes to the end. Braces within JSON strings do not count."""
    place = text.find("{")
    while place >= 0:
        end = _end_of_piece(text, place)
        yield text[place:end]
        place = text.find("{", end)


def _end_of_piece(text: str, start: int) -> int:
    depth = 0
    for match in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0 and match[0] == "}":
            return match.end()
    return len(text)


def _read(piece: str) -> tuple[Any, bool]:
    """A piece as JSON, and whether it had to be mended."""
    try:
        return _loads(piece), False
    except json.JSONDecodeError as error:
        for mended in _repairs(piece):
            try:
                return _loads(mended, strict=False), True
            except json.JSONDecodeError:
                continue
        raise error


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def _repairs(piece: str) -> Iterator[str]:
    """The piece with faults mended that can be meant in one way only.

    Line breaks within strings, a comma before a closing bracket, and curly quotes where there is no straight one.
    """
    yield piece
    yield _outside_strings(piece, lambda part: _TRAILING_COMMA.sub(r"\1", part))
    if '"' not in piece and ("“" in piece or "”" in piece):
        yield piece.replace("“", '"').replace("”", '"')


def _outside_strings(piece: str, change: Callable[[str], str]) -> str:
    # A comma may be separated from its bracket by white space only, so no string can lie between the two.
    parts, last = [], 0
    for match in _STRING.finditer(piece):
        parts += [change(piece[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, change(piece[last:])])


def _loads(text: str, *, strict: bool = True) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, strict=strict)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise ReplyFault("JSON that is nested too deeply") from None
    except ValueError as error:  # integers of thousands of digits, and our own faults
        raise error if isinstance(error, ReplyFault) else ReplyFault(str(error)[:100]) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and made[key] != value:
            raise ReplyFault(f"the key {key!r:.40} occurs twice, with different values")
        # Half a surrogate pair, written as an escape, is valid JSON, and no valid text.
        made[key] = without_lone_surrogates(value) if isinstance(value, str) else value
    return made


def _constant(name: str) -> Any:
    raise ReplyFault(f"{name} is not JSON")


def _kind(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
