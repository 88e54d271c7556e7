"""Binding a reply to a regular expression or a JSON schema while it is generated (outlines-core's token automaton).

The automaton is built once for each constraint. While the model's own first choice is allowed, which is nearly always,
a step costs one look-up; the mask over the whole vocabulary is computed only when the first few choices are refused.
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


class Matcher:
    """How far one reply has come in its constraint.

    Args:
        guide: an outlines-core ``Guide`` at its start.
        ends: ids of all tokens that end a reply.
    """

    def __init__(self, guide: Any, ends: frozenset[int]) -> None:
        self._guide = guide
        self._ends = ends

    def allows(self, token: int) -> bool:
        """Whether the reply may go on with this token; an end token only where the reply is complete."""
        if token in self._ends:
            return bool(self._guide.is_finished())
        return bool(self._guide.accepts_tokens([token]))

    def advance(self, token: int) -> None:
        """Take a token that `allows` has allowed."""
        if token not in self._ends:
            self._guide.advance(token, False)

    @property
    def complete(self) -> bool:
        """Whether nothing but the end can follow."""
        return bool(self._guide.is_finished()) and set(self._guide.get_tokens()) <= self._ends

    def mask(self, size: int, device: Any) -> Any:
        """A boolean tensor over the vocabulary: True where a token is allowed."""
        import torch

        packed = torch.zeros((size + 31) // 32, dtype=torch.int32)
        self._guide.write_mask_into(packed.data_ptr(), packed.numel(), packed.element_size())
        bits = (packed.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32)) & 1
        allowed = bits.view(-1)[:size].bool()
        finished = bool(self._guide.is_finished())
        for end in self._ends:
            if end < size:
                allowed[end] = finished
        return allowed.to(device)


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
        self._indexes: dict[Constraint, Any] = {}

    def matcher(self, constraint: Constraint) -> Matcher:
        """A matcher at the start of a reply.

        Raises:
            GntError: the constraint cannot be read; EngineFailure: the tokenizer cannot write anything that meets it.
        """
        from outlines_core import Guide  # type: ignore[import-untyped]

        if constraint not in self._indexes:
            self._indexes[constraint] = self._compile(constraint)
        return Matcher(Guide(self._indexes[constraint]), self._ends)

    def _compile(self, constraint: Constraint) -> Any:
        from outlines_core import Index

        pattern = as_pattern(constraint)
        try:
            return Index(pattern, self._vocabulary)
        except Exception as error:  # outlines-core raises bare ValueErrors and panics of its own
            raise EngineFailure(f"cannot bind this model's replies to {pattern[:120]!r}: {str(error)[:200]}") from error

    @cached_property
    def _vocabulary(self) -> Any:
        from outlines_core import Vocabulary

        return Vocabulary(min(self._ends), token_bytes(self._tokenizer, self._ends))


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
