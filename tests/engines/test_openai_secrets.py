"""Keys and credentials reach the wire and nothing else."""

from __future__ import annotations

import logging

import pytest

from pytest_gnt.engines.openai_server import OpenAIGenerator
from pytest_gnt.errors import EngineFailure, GntError
from tests.openai_stub import KEY, Connect, ask, echo, replies
from tests.stub_server import StubReply, StubRequest, error

pytest.importorskip("openai", reason="needs the openai package")


def test_nothing_secret_is_shown(
    connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = [KEY, "p4ssword", "user-name", "query-value"]
    said = f"bad key {KEY}, login user-name:p4ssword, ?key=query-value, Bearer abcdefghijk"

    def script(request: StubRequest) -> StubReply:
        return error(400 if request.number else 500, said)

    server, _ = connect(script)
    url = server.url.replace("http://", "http://user-name:p4ssword@") + "?key=query-value&api-version=7"
    engine = OpenAIGenerator("tiny", base_url=url, api_key_env="STUB_KEY", backoff=0.01)
    (reply,) = replies(engine, ask("a"))
    shown = f"{reply} {engine!r} {engine.context()} {engine.notes} {engine._client!r} {engine._client.endpoint!r}"
    server.script = lambda _: error(401, said)
    with pytest.raises(EngineFailure) as raised:
        list(engine.generate(ask("b")))
    shown += str(raised.value) + caplog.text
    # What a traceback with locals shows of the product's own frames.
    shown += "".join(str(entry.frame.f_locals) for entry in raised.traceback if "pytest_gnt" in str(entry.path))
    engine.close()
    for secret in [*secrets, "abcdefghijk"]:
        assert secret not in shown
    assert engine.context()["base_url"] == server.url.replace("http://", "http://***@") + "?key=***&api-version=7"
    # All of it went over the wire.
    assert server.requests[0].path == "/v1/chat/completions?key=query-value&api-version=7"
    assert server.requests[0].headers["authorization"].startswith("Basic ")


def test_without_a_key_none_is_sent(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "env-not-real")
    server, engine = connect(echo, api_key_env="NO_SUCH_KEY")
    replies(engine, ask("a"))
    assert "authorization" not in server.requests[0].headers
    assert "env-not-real" not in str(server.requests[0].headers)


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(GntError, match="set the environment variable OPENAI_API_KEY"):
        OpenAIGenerator("gpt")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "/v1"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(GntError, match="base_url must be an address"):
        OpenAIGenerator("tiny", base_url=url)
