"""What a prompt is put together from, wherever the wording comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from pytest_gnt.engines.protocol import Message
from pytest_gnt.prompts.config import PromptConfig

ShotType = Literal["gendered", "neutral", "plain"]


@dataclass(frozen=True, slots=True)
class Shot:
    """A worked example: the user's turn, the reply to it, and the source sentence alone (to keep it from the cases)."""

    type: ShotType
    source: str
    user: str
    assistant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParts:
    """The wording for one language and one form of reply.

    Attributes:
        system, preamble, guidelines: None where there is none.
        shots: all there are, in order; spare ones included.
        joint: what stands between two parts that become one turn.
    """

    system: Message | None
    preamble: Message
    guidelines: Message | None
    shots: tuple[Shot, ...]
    joint: str = "\n\n"


class Wording(Protocol):
    """A source of prompt parts: the shipped texts, or a folder of published ones.

    ``labelled`` asks for the form with a label, else for the translation alone. ``parts`` raises `GntError` where the
    wording lacks something that the configuration asks for.
    """

    name: str

    def parts(self, lang: str, config: PromptConfig, *, labelled: bool) -> PromptParts: ...

    def user_turn(self, source: str, lang: str, *, labelled: bool) -> str: ...


def choose_shots(shots: Iterable[Shot], count: int, exclude_sources: frozenset[str]) -> tuple[Shot, ...]:
    """The examples to show: the first ones of each type, in the order given, none of whose source is to be left out.

    Where there are types, half are gendered and half neutral. A left-out example is replaced by the next of its type;
    where none is left there are fewer.
    """
    usable = [shot for shot in shots if comparable(shot.source) not in exclude_sources]
    plain = [shot for shot in usable if shot.type == "plain"][:count]
    gendered = [shot for shot in usable if shot.type == "gendered"][: count // 2]
    neutral = [shot for shot in usable if shot.type == "neutral"][: count - count // 2]
    return (*plain, *gendered, *neutral)


def comparable(source: str) -> str:
    """A sentence as it is compared with others: without differences of letter case and white space."""
    return " ".join(source.split()).casefold()
