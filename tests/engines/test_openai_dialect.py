"""What a server does not take is learnt from its answers, once; a prompt that does not fit teaches nothing."""

from __future__ import annotations

import json

import pytest

from pytest_gnt.engines.protocol import Constraint, Message
from pytest_gnt.evidence import Reason
from tests.openai_stub import REGEX, SCHEMA, Connect, ask, echo, replies
from tests.stub_server import Script, StubReply, StubRequest, chat, error

pytest.importorskip("openai", reason="needs the openai package")


def refuses(parameter: str, message: str, code: str | None, param: str | None) -> Script:
    def script(request: StubRequest) -> StubReply:
        if parameter in request.body:
            return error(400, message, code, param)
        return echo(request)

    return script


@pytest.mark.parametrize("machine_readable", [True, False])
@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0. Only the default (1) is supported."),
        ("structured_outputs", "Unrecognized request argument supplied: structured_outputs"),
    ],
)
def test_a_refused_parameter_is_learnt_once(
    connect: Connect, parameter: str, message: str, machine_readable: bool
) -> None:
    script = refuses(parameter, message, *(("unsupported_parameter", parameter) if machine_readable else (None, None)))
    server, engine = connect(script)
    found = replies(engine, ask(*map(str, range(30)), constraint=REGEX))
    assert [reply.text for reply in found] == [f"reply to {n}" for n in range(30)]
    assert len(server.requests) == 31
    assert any(f"refuses {parameter}" in note for note in engine.notes)
    assert engine.traffic.retries == 0
    if parameter == "max_tokens":
        assert server.requests[-1].body["max_completion_tokens"] == 256
    else:
        assert server.requests[-1].body["max_tokens"] == 256


def test_two_refused_parameters(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        for name in ("temperature", "max_tokens"):
            if name in request.body:
                return error(400, f"{name} is not supported", "unsupported_parameter", name)
        return echo(request)

    server, engine = connect(script)
    assert all(reply.text for reply in replies(engine, ask("a", "b", "c")))
    assert len(server.requests) == 5


def test_a_schema_is_simplified_step_by_step(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        wanted = request.body.get("response_format")
        if wanted and wanted["type"] == "json_schema":
            bounded = "maxItems" in json.dumps(wanted)
            return error(400, "'maxItems' is not permitted" if bounded else "bad schema", None, "response_format")
        return chat('{"label": "good"}')

    server, engine = connect(script)
    found = replies(engine, ask("a", "b", constraint=Constraint("json", json.dumps(SCHEMA))))
    assert all(reply.text == '{"label": "good"}' for reply in found)
    formats = [request.body["response_format"] for request in server.requests]
    assert [one["type"] for one in formats] == ["json_schema", "json_schema", "json_object", "json_object"]
    assert "minItems" not in json.dumps(formats[1])
    assert formats[1]["json_schema"]["schema"]["properties"]["label"] == SCHEMA["properties"]["label"]
    assert len(engine.notes) == 2


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Only user and assistant roles are supported: role 'system' is invalid",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "TemplateError: system messages are not supported by this template",
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_system_role_is_folded_once(connect: Connect, message: str, status: int) -> None:
    def script(request: StubRequest) -> StubReply:
        if request.body["messages"][0]["role"] == "system":
            return error(status, message)
        return echo(request)

    server, engine = connect(script)
    prefix = (Message("system", "Be brief."), Message("user", "Q"), Message("assistant", "A"))
    found = replies(engine, ask(*map(str, range(12)), prefix=prefix))
    assert [reply.text for reply in found] == [f"reply to {n}" for n in range(12)]
    assert len(server.requests) == 13
    turns = server.requests[-1].body["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[0]["content"] == "Be brief.\n\nQ"
    assert any("first user message" in note for note in engine.notes)


def test_pydantics_complaints_are_understood(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        if "temperature" in request.body:
            detail = {"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}
            return StubReply(422, {"detail": [detail]})
        return echo(request)

    server, engine = connect(script)
    assert replies(engine, ask("a"))[0].text == "reply to a"
    assert len(server.requests) == 2


def test_a_complaint_that_nothing_helps_against_is_quoted(connect: Connect) -> None:
    server, engine = connect(lambda _: error(400, "The field 'model_kind' is required", "missing"))
    first, second = replies(engine, ask("a", "b"))
    assert first.reason is second.reason is Reason.TRANSPORT
    assert "model_kind" in first.detail
    assert len(server.requests) == 2


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("This model's maximum context length is 4096 tokens; response_format and max_tokens use 300.", None),
        ("Unsupported value: 'response_format' leaves no room", "context_length_exceeded"),
        ("The input (6012 tokens) is longer than the model's context length (4096 tokens).", "400"),
    ],
)
def test_an_over_long_prompt_is_one_error_and_nothing_is_learnt(
    connect: Connect, place: int, message: str, code: str | None
) -> None:
    def script(request: StubRequest) -> StubReply:
        return error(400, message, code, "response_format") if "long" in request.user else chat('{"label": "good"}')

    server, engine = connect(script)
    users = ["short"] * 3
    users[place] = "long " * 6000
    found = replies(engine, ask(*users, constraint=Constraint("json", json.dumps(SCHEMA))))
    assert [reply.reason for reply in found] == [Reason.OVER_LONG if n == place else None for n in range(3)]
    assert message[:30] in found[place].detail
    assert len(server.requests) == 3
    assert engine.notes == ()
