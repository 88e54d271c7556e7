"""Fixtures for the tests of engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pytest_gnt.engines.openai_server import OpenAIGenerator
from tests.openai_stub import KEY, Connect
from tests.stub_server import Script, StubServer, serve


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """A server with a script, and an engine that is connected to it."""
    monkeypatch.setenv("STUB_KEY", KEY)
    with ExitStack() as stack:

        def make(script: Script, **options: Any) -> tuple[StubServer, OpenAIGenerator]:
            server = stack.enter_context(serve(script))
            options = {"base_url": server.url, "api_key_env": "STUB_KEY", "backoff": 0.01, **options}
            engine = OpenAIGenerator("tiny", **options)
            stack.callback(engine.close)
            return server, engine

        yield make
