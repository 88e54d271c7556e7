"""A scripted engine and translations for the tests of the LLM judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_gnt.case import Case, Form, Gender, Subset
from pytest_gnt.engines.protocol import GenerationRequest, Reply
from pytest_gnt.evidence import Translation

Script = Callable[[GenerationRequest, int], Reply]


class ScriptedGenerator:
    """Answers by a function of the request and of how often that user turn was asked before; records every request."""

    def __init__(self, script: Script, backend: str = "scripted") -> None:
        self.script = script
        self.backend = backend
        self.requests: list[GenerationRequest] = []
        self.rounds: list[int] = []
        self.closed = 0

    def context(self) -> Mapping[str, object]:
        return {"backend": self.backend, "base_url": "http://here/v1"}

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        self.rounds.append(len(requests))
        for index in reversed(range(len(requests))):
            seen = sum(first_user(earlier) == first_user(requests[index]) for earlier in self.requests)
            self.requests.append(requests[index])
            yield index, self.script(requests[index], seen)

    def close(self) -> None:
        self.closed += 1


def first_user(request: GenerationRequest) -> str:
    """The turn that holds the sentences, in a repair conversation as well."""
    marked = [turn.content for turn in request.messages if turn.role == "user" and "cannot be used" not in turn.content]
    return marked[-1]


def verdict(label: str, *phrases: tuple[str, str, str]) -> str:
    """A reply of the setting cross-p+l."""
    names = ("phrase", "gender", "gender_correctness")
    return json.dumps(
        {"phrases": [dict(zip(names, phrase, strict=True)) for phrase in phrases], "label": label}, ensure_ascii=False
    )


def good(text: str | None, finish: str = "stop", **fields: Any) -> Reply:
    return Reply(text=text, finish_reason=finish, **fields)


NEUTRAL = verdict("NEUTRAL", ("Chi dirige", "N", "correct"))


def translation(
    text: str = "Chi dirige apre la seduta.",
    source: str = "The chair opens the session.",
    *,
    lang: str = "it",
    gender: str | None = None,
    number: int = 1,
) -> Translation:
    subset = Subset.SET_G if gender else Subset.SET_N
    case = Case(
        id=f"mgente/en-{lang}/{number}",
        corpus="mgente",
        subset=subset,
        target_lang=lang,
        source=source,
        group=f"g{number}",
        expected=Form.GENDERED if gender else Form.NEUTRAL,
        gender=Gender(gender) if gender else None,
    )
    return Translation(case=case, text=text, raw=text)
