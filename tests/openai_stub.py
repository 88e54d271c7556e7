"""Helpers for tests of the OpenAI-compatible engine: requests, scripts and what is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_gnt.engines.openai_server import OpenAIGenerator
from pytest_gnt.engines.protocol import Constraint, GenerationRequest, Reply
from tests.stub_server import Script, StubReply, StubRequest, StubServer, chat

KEY = "sk-test-0000-not-real"
REGEX = Constraint("regex", r"<it> \*\*NEUTRAL\*\* \[[^\]]+\]")
SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["good", "bad"]}, "list": {"type": "array", "maxItems": 3, "minItems": 1}},
    "required": ["label"],
}

Connect = Callable[..., tuple[StubServer, OpenAIGenerator]]


def ask(*users: str, **options: Any) -> list[GenerationRequest]:
    prefix = options.pop("prefix", ())
    return [GenerationRequest(prefix=prefix, user=user, **options) for user in users]


def replies(engine: OpenAIGenerator, requests: list[GenerationRequest]) -> list[Reply]:
    found = dict(engine.generate(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


def echo(request: StubRequest) -> StubReply:
    return chat(f"reply to {request.user}")


def in_turn(*script: StubReply) -> Script:
    """Replies by the request's number; the last one again and again."""
    return lambda request: script[min(request.number, len(script) - 1)]
