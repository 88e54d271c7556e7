"""Binding a reply to a regular expression or a JSON schema while it is generated (outlines-core's token automaton).

The automaton is built once for each constraint. While the model's own first choice is allowed, which is nearly always,
a step costs one look-up; the mask over the whole vocabulary is computed only when the first few choices are refused.

Where a reply may end but may also go on, outlines-core (0.2) drops transitions of single-byte tokens, so that a model
could not begin a rare character there. So no state that a reply reaches is final in the automaton: the pattern ends
with a mark that replies cannot hold, and a reply may end where the mark may follow and completes the pattern.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pytest_gnt.engines.protocol import Constraint
from pytest_gnt.engines.weights import require
from pytest_gnt.errors import EngineFailure, GntError

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_ANCHOR = "a"
_END_MARK = "\U0010ffff"
"""The last code point, which is no character."""
_MARK_BYTE = 0xF4
"""The mark's first byte. Only it and private-use characters (plane 16) begin so; tokens with it are never allowed."""


class Automaton:
    """A constraint compiled for one tokenizer: states are numbers, steps are look-ups.

    Args:
        index: outlines-core's ``Index`` of the pattern with the end mark behind it.
        mark: id of the token that stands for the end mark; all real ids are below it.
    """

    def __init__(self, index: Any, mark: int) -> None:
        self._index = index
        self._mark = mark
        self._allowed: dict[int, Any] = {}
        self.start = int(index.get_initial_state())

    def after(self, state: int, token: int) -> int | None:
        """The state behind a token; None where the token is not allowed."""
        following = self._index.get_next_state(state, token)
        return None if following is None else int(following)

    def may_end(self, state: int) -> bool:
        """Whether the text so far meets the constraint."""
        behind = self.after(state, self._mark)
        return behind is not None and bool(self._index.is_final_state(behind))

    def allowed(self, state: int) -> Any:
        """Ids of the tokens that may follow, as a tensor; kept, since a reply stays in few states for long."""
        import torch

        if state not in self._allowed:
            tokens = torch.tensor(self._index.get_allowed_tokens(state) or [], dtype=torch.long)
            self._allowed[state] = tokens[tokens < self._mark]
        return self._allowed[state]


class Matcher:
    """How far one reply has come in its constraint.

    Args:
        automaton: the constraint.
        ends: ids of all tokens that end a reply.
    """

    def __init__(self, automaton: Automaton, ends: frozenset[int]) -> None:
        self._automaton = automaton
        self._ends = ends
        self._state = automaton.start

    def allows(self, token: int) -> bool:
        """Whether the reply may go on with this token; an end token only where the reply meets the constraint."""
        if token in self._ends:
            return self._automaton.may_end(self._state)
        return self._automaton.after(self._state, token) is not None

    def advance(self, token: int) -> None:
        """Take a token.

        Raises:
            ValueError: it is not allowed.
        """
        if token in self._ends:
            return
        following = self._automaton.after(self._state, token)
        if following is None:
            raise ValueError(f"token {token} is not allowed here")
        self._state = following

    @property
    def complete(self) -> bool:
        """Whether nothing but the end can follow."""
        return self._automaton.may_end(self._state) and not len(self._automaton.allowed(self._state))

    def mask(self, size: int, device: Any) -> Any:
        """A boolean tensor over the vocabulary: True where a token is allowed."""
        import torch

        mask = torch.zeros(size, dtype=torch.bool)
        mask[self._automaton.allowed(self._state)] = True
        if self._automaton.may_end(self._state):
            mask[[end for end in self._ends if end < size]] = True
        return mask.to(device)


class Compiler:
    """Builds automata for one tokenizer and keeps them.

    Args:
        tokenizer: a transformers tokenizer.
        ends: ids of the tokens that end a reply.
    """

    def __init__(self, tokenizer: Any, ends: frozenset[int]) -> None:
        require("outlines_core", "transformers", "constrained generation")
        self._tokenizer = tokenizer
        self._ends = ends
        self._mark = max(len(tokenizer), max(tokenizer.get_vocab().values()) + 1)
        self._automata: dict[Constraint, Automaton] = {}

    def matcher(self, constraint: Constraint) -> Matcher:
        """A matcher at the start of a reply.

        Raises:
            GntError: the constraint cannot be read; EngineFailure: the tokenizer cannot write anything that meets it.
        """
        if constraint not in self._automata:
            self._automata[constraint] = self._compile(constraint)
        return Matcher(self._automata[constraint], self._ends)

    def _compile(self, constraint: Constraint) -> Automaton:
        from outlines_core import Index  # type: ignore[import-untyped]

        pattern = as_pattern(constraint)
        try:
            return Automaton(Index(f"(?:{pattern}){_END_MARK}", self._vocabulary), self._mark)
        except Exception as error:  # outlines-core raises bare ValueErrors and panics of its own
            raise EngineFailure(f"cannot bind this model's replies to {pattern[:120]!r}: {str(error)[:200]}") from error

    @cached_property
    def _vocabulary(self) -> Any:
        from outlines_core import Vocabulary

        tokens = token_bytes(self._tokenizer, self._ends).items()
        written = {text: numbers for text, numbers in tokens if _MARK_BYTE not in text}
        return Vocabulary(self._mark + 1, {**written, _END_MARK.encode(): [self._mark]})


def as_pattern(constraint: Constraint) -> str:
    """The constraint as a regular expression.

    Raises:
        GntError: a JSON schema that is not JSON or that outlines-core cannot express.
    """
    if constraint.kind == "regex":
        return constraint.value
    from outlines_core.json_schema import build_regex_from_schema  # type: ignore[import-untyped]

    try:
        json.loads(constraint.value)
        # Bounded white space: a weak model could otherwise fill its whole reply with it.
        return str(build_regex_from_schema(constraint.value, r"[ ]?"))
    except Exception as error:  # outlines-core raises several kinds
        raise GntError(f"cannot use this JSON schema as a constraint: {str(error)[:200]}") from error


def token_bytes(tokenizer: Any, ends: frozenset[int]) -> Mapping[bytes, list[int]]:
    """The UTF-8 bytes that each token writes in the middle of a text; special tokens write none and are left out.

    A token's text is taken behind an anchor, because several decoders drop the blank before a text's first word.
    """
    special = {token for token, added in tokenizer.added_tokens_decoder.items() if added.special} | set(ends)
    bytewise = _byte_level_alphabet() if _is_byte_level(tokenizer) else None
    decoder = tokenizer.backend_tokenizer.decoder
    skip = len(decoder.decode([_ANCHOR]))
    found: dict[bytes, list[int]] = {}
    for token, number in tokenizer.get_vocab().items():
        if number in special:
            continue
        if bytewise is not None and all(char in bytewise for char in token):
            written = bytes(bytewise[char] for char in token)
        elif byte := _BYTE_TOKEN.fullmatch(token):
            written = bytes([int(byte[1], 16)])
        else:
            written = decoder.decode([_ANCHOR, token])[skip:].encode("utf-8", "replace")
        if written:
            found.setdefault(written, []).append(number)
    return found


def _is_byte_level(tokenizer: Any) -> bool:
    """Whether tokens are spelt in GPT-2's alphabet of 256 printable characters, by the decoder's own description."""
    decoder = tokenizer.backend_tokenizer.decoder
    return decoder is not None and b'"ByteLevel"' in decoder.__getstate__()


def _byte_level_alphabet() -> dict[str, int]:
    """GPT-2's map from characters to bytes: printable Latin-1 stands for itself, the rest is moved to U+0100 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(moved)}
