"""What the OpenAI-compatible engine sends to a server on a real socket, and what comes back."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from pytest_gnt.engines.openai_server import OpenAIGenerator, has_form
from pytest_gnt.engines.protocol import Constraint, Decoding, Message
from pytest_gnt.evidence import Reason
from tests.openai_stub import KEY, REGEX, SCHEMA, Connect, ask, echo, in_turn, replies
from tests.stub_server import StubReply, StubRequest, chat, completion

pytest.importorskip("openai", reason="needs the openai package")


def test_replies_come_back_to_their_requests(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        return StubReply(body=echo(request).body, delay=0.05 if "1" in request.user else 0.0)

    server, engine = connect(script)
    found = replies(engine, ask(*(f"sentence {n}" for n in range(40))))
    assert [reply.text for reply in found] == [f"reply to sentence {n}" for n in range(40)]
    assert {(reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) for reply in found} == {("stop", 10, 5)}
    assert (engine.traffic.requests, engine.traffic.retries, engine.traffic.prompt_tokens) == (40, 0, 400)
    assert len(server.requests) == 40


def test_a_request_as_it_is_sent(connect: Connect) -> None:
    server, engine = connect(echo, extra_body={"chat_template_kwargs": {"enable_thinking": False}})
    prefix = (Message("system", "S"), Message("user", "a"), Message("assistant", "b"))
    replies(engine, ask("c", prefix=prefix, decoding=Decoding(max_tokens=7)))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ],
        "max_tokens": 7,
        "temperature": 0.0,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_sampling_is_sent_when_it_is_wanted(connect: Connect) -> None:
    server, engine = connect(echo)
    replies(engine, ask("c", decoding=Decoding(temperature=0.7, top_p=0.9, seed=3)))
    assert {name: server.requests[0].body[name] for name in ("temperature", "top_p", "seed")} == {
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 3,
    }


@pytest.mark.parametrize(
    "text",
    [
        "Set A = {1, 2}; pay {amount} to {0}.",
        "50% of {{all}}",
        "$name ${name}",
        '"q" \\n \'',
        "一二\u2028三 😀𠮷",
        "\x00\x1b[31m",
    ],
)
def test_texts_arrive_byte_for_byte(connect: Connect, text: str) -> None:
    server, engine = connect(echo)
    (reply,) = replies(engine, ask(text))
    assert server.requests[0].user == text
    assert reply.text == f"reply to {text}"


def test_half_a_character_is_one_error(connect: Connect) -> None:
    _, engine = connect(echo)
    first, second = replies(engine, ask("ok", "bad \ud83d"))
    assert first.text == "reply to ok"
    assert second.reason is Reason.TRANSPORT


def test_the_completions_api_gets_a_plain_transcript(connect: Connect) -> None:
    server, engine = connect(lambda request: completion("b2"), api="completions")
    prefix = (Message("user", "a1"), Message("assistant", "b1"))
    (reply,) = replies(engine, ask("a2", prefix=prefix, constraint=REGEX))
    assert reply.text == "b2"
    (request,) = server.requests
    assert request.path == "/v1/completions"
    assert request.body["prompt"] == "a1\nb1\n\na2\n"
    assert request.body["stop"] == ["\n"]
    assert request.body["structured_outputs"] == {"regex": REGEX.value}


def test_connections_are_bounded(connect: Connect) -> None:
    in_flight, most = 0, 0

    def script(request: StubRequest) -> StubReply:
        nonlocal in_flight, most
        most = max(most, sum(1 for _ in server.requests) - answered())
        return StubReply(body=echo(request).body, delay=0.02)

    def answered() -> int:
        return engine.traffic.metered

    server, engine = connect(script, concurrency=4)
    replies(engine, ask(*map(str, range(24))))
    assert 1 < most <= 5


def test_results_are_yielded_as_they_come_and_can_be_left(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        return StubReply(body=echo(request).body, delay=0.0 if request.number < 3 else 1.0)

    server, engine = connect(script)
    started = time.perf_counter()
    for count, _ in enumerate(engine.generate(ask(*map(str, range(8)))), start=1):
        if count == 3:
            break
    assert time.perf_counter() - started < 0.9
    server.script = echo
    assert replies(engine, ask("again"))[0].text == "reply to again"


def test_a_regex_is_sent_as_servers_of_vllm_take_it_and_checked(connect: Connect) -> None:
    server, engine = connect(in_turn(chat("<it> **NEUTRAL** [Chi apre.]"), chat("Certo! Chi apre.")))
    first, second = replies(engine, ask("a", "b", constraint=REGEX))
    assert server.requests[0].body["structured_outputs"] == {"regex": REGEX.value}
    assert (first.text, second.text) == ("<it> **NEUTRAL** [Chi apre.]", "Certo! Chi apre.")
    assert engine.notes == ("1 of 2 replies do not have the form that the server was asked for",)


def test_a_schema_is_sent_as_response_format(connect: Connect) -> None:
    server, engine = connect(lambda _: chat('{"label": "good"}'))
    replies(engine, ask("a", constraint=Constraint("json", json.dumps(SCHEMA))))
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }
    assert engine.notes == ()


@pytest.mark.parametrize(
    ("text", "good"),
    [('{"label": "x"}', True), ('{"list": []}', False), ("[1]", False), ("no", False), ("[" * 100_000, False)],
)
def test_a_json_reply_is_checked_for_what_is_required(text: str, good: bool) -> None:
    assert has_form(text, Constraint("json", json.dumps(SCHEMA))) is good


def test_the_context_tells_engines_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def context(model: str = "m", **options: Any) -> str:
        return str(OpenAIGenerator(model, **{"base_url": "http://a/v1", **options}).context())

    contexts = [context(), context("n"), context(base_url="http://b/v1"), context(api="completions")]
    contexts.append(context(extra_body={"a": 1}))
    assert len(set(contexts)) == len(contexts)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert context() == contexts[0]
    assert context(concurrency=1, timeout=3.0, retries=0) == contexts[0]
