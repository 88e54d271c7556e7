"""A project folder for the `gnt` command, and a server that plays a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.stub_server import StubReply, StubRequest, StubServer, chat, serve

MODEL = """\
[models.stub]
backend = "openai"
model = "stub"
base_url = "{url}"
api_key_env = "NO_SUCH_KEY"
concurrency = 8
retries = 0
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    return folder


@pytest.fixture
def gnt() -> Callable[..., int]:
    """The `gnt` command in this process."""
    from pytest_gnt.cli import main

    return lambda *arguments: main([str(argument) for argument in arguments])


def translate(request: StubRequest) -> StubReply:
    """A labelled reply that follows from the whole prompt, so that every configuration has its own."""
    text = "".join(str(message["content"]) for message in request.body["messages"])
    choice = hashlib.sha256(text.encode()).digest()[0]
    label = "NEUTRAL" if choice % 3 else "GENDERED"
    if choice % 11 == 0:
        return chat("I would rather talk about the weather.")
    lang = request.user.partition("<")[2].partition(">")[0]
    target = next((code for code in ("it", "es", "de", "el") if f"<{code}>" in text and code != lang), "it")
    return chat(f"<{target}> **{label}** [La persona {choice} ringrazia la collega e il collega.]")


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with serve(translate) as server:
        yield server
