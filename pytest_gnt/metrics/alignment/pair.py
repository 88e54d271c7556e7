"""What an aligner is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_gnt.evidence import Reason
from pytest_gnt.work import JsonObject, Provider

STAGE = "align"

Link = tuple[int, int, int, int]
"""Start and end of a word in the source, start and end of a word in the translation, as indices into the texts."""


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A source sentence and its translation; languages are ISO 639-1 codes."""

    source: str
    target: str
    source_lang: str
    target_lang: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links between the words of two sentences, in order; ``reason`` and ``detail`` say why there are none.

    No links and no reason means that the aligner looked and linked nothing.
    """

    links: tuple[Link, ...] = ()
    reason: Reason | None = None
    detail: str = ""


Aligner = Provider[SentencePair, Alignment]
"""An aligner that links the words of whole sentences. The lexicon needs a word's renderings too and is not one."""


def to_answer(alignment: Alignment) -> dict[str, Any]:
    """An alignment as it is stored."""
    if alignment.reason is not None:
        return {"reason": str(alignment.reason), "detail": alignment.detail}
    return {"links": [list(link) for link in alignment.links]}


def from_answer(answer: JsonObject) -> Alignment:
    """A stored alignment."""
    if answer.get("reason"):
        return Alignment(reason=Reason(str(answer["reason"])), detail=str(answer.get("detail", "")))
    return Alignment(tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in answer["links"]))
