"""Log-probabilities that a server echoes, and what in them is no number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pytest_gnt.engines.openai_server import OpenAIScorer
from pytest_gnt.errors import EngineFailure
from tests.openai_stub import Connect, echo
from tests.stub_server import Script, StubReply, StubRequest, StubServer, completion, error, serve

pytest.importorskip("openai", reason="needs the openai package")


def echoed(prompt: str, values: list[Any], *, offsets: bool = True, bos: bool = False, **extra: Any) -> StubReply:
    """An echo in words: ``values`` for the words of the prompt and one generated word."""
    words = [*re.findall(r"\s*\S+", prompt), " next"]
    tokens = ["<s>", *words] if bos else words
    places, at = [], 0
    for token in tokens:
        places.append(at)
        at += len(token)
    numbers = [None, *values] if bos else values
    logprobs: dict[str, Any] = {"tokens": tokens, "token_logprobs": numbers, **extra}
    if offsets:
        logprobs["text_offset"] = places
    # json.dumps writes NaN and -Infinity as servers do.
    return completion(prompt + " next", logprobs=logprobs)


@pytest.fixture
def scorer(connect: Connect) -> Iterator[Callable[[Script], tuple[StubServer, OpenAIScorer]]]:
    with ExitStack() as stack:

        def make(script: Script) -> tuple[StubServer, OpenAIScorer]:
            server = stack.enter_context(serve(script))
            engine = OpenAIScorer("tiny", base_url=server.url, api_key_env="STUB_KEY", backoff=0.01)
            stack.callback(engine.close)
            return server, engine

        yield make


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize("bos", [True, False])
def test_the_answers_tokens_are_summed(scorer: Any, offsets: bool, bos: bool) -> None:
    def script(request: StubRequest) -> StubReply:
        return echoed(request.body["prompt"], [-1.0, -2.0, -4.0, -8.0, -16.0], offsets=offsets, bos=bos)

    server, engine = scorer(script)
    assert engine.score(["Q: A:", "Q2: A:"], " Yes indeed") == [-12.0, -12.0]
    assert server.requests[0].body == {
        "model": "tiny",
        "prompt": "Q: A: Yes indeed",
        "max_tokens": 1,
        "temperature": 0.0,
        "echo": True,
        "logprobs": 1,
    }


@pytest.mark.parametrize("value", [float("-inf"), float("nan"), float("inf"), -9999.0, -100.0, None, "x", True])
def test_what_is_no_number_is_no_score(scorer: Any, value: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        bad = request.body["prompt"].startswith("bad")
        return echoed(request.body["prompt"], [None, -2.0, value if bad else -4.0, -1.0])

    _, engine = scorer(script)
    assert engine.score(["ok A:", "bad A:", "ok A:"], " Yes") == [-4.0, None, -4.0]


def test_tokens_that_cannot_be_told_apart_are_no_score(scorer: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        kind = request.body["prompt"].split()[0]
        if kind == "short":
            return echoed(request.body["prompt"], [-1.0, -2.0])
        if kind == "merged":
            merged = {"tokens": ["merged", " A: Yes", " next"], "token_logprobs": [None, -1.0, -2.0]}
            return completion("x", logprobs=merged)
        return StubReply(body={"choices": []})

    _, engine = scorer(script)
    assert engine.score(["short A:", "merged A:", "odd A:"], " Yes") == [None, None, None]


def test_halves_of_characters_are_found_by_their_place(scorer: Any) -> None:
    logprobs = {
        "tokens": ["问", "：", "bytes:\\xe6\\x98", "bytes:\\xaf", " next"],
        "token_logprobs": [None, -1.0, -2.0, -4.0, -8.0],
        "text_offset": [0, 1, 2, 2, 3],
    }
    _, engine = scorer(lambda _: completion("x", logprobs=logprobs))
    assert engine.score(["问："], "是") == [-6.0]


@pytest.mark.parametrize("logprobs", [None, {}, {"tokens": ["a"]}, []])
def test_a_server_without_logprobs_is_one_failure(scorer: Any, logprobs: Any) -> None:
    server, engine = scorer(lambda _: completion("x", logprobs=logprobs))
    with pytest.raises(EngineFailure, match="no log-probabilities for prompts"):
        engine.score(["Q: A:"] * 50, " Yes")
    assert len(server.requests) == 1


@pytest.mark.parametrize("parameter", ["logprobs", "echo"])
def test_a_server_that_refuses_logprobs_is_one_failure(scorer: Any, parameter: str) -> None:
    server, engine = scorer(lambda _: error(400, f"{parameter} is not supported", "unsupported_parameter", parameter))
    with pytest.raises(EngineFailure, match="no log-probabilities for prompts"):
        engine.score(["Q: A:"] * 50, " Yes")
    assert len(server.requests) == 1


def test_the_scorers_context(scorer: Any) -> None:
    server, engine = scorer(echo)
    assert engine.context() == {"backend": "openai", "base_url": server.url, "model": "tiny", "api": "echo"}
