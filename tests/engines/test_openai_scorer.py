"""Log-probabilities that a server tells of a prompt, and what in them is no number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pytest_gnt.engines.openai_scorer import OpenAIScorer
from pytest_gnt.engines.protocol import NoScore
from pytest_gnt.errors import MetricUnavailable
from pytest_gnt.evidence import Reason
from tests.openai_stub import Connect
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


def of_prompt(prompt: str, values: list[Any]) -> StubReply:
    """The same in ``prompt_logprobs``, as vLLM's servers write it: nothing predicts the first token."""
    words = re.findall(r"\s*\S+", prompt)
    rows = [
        {str(place): {"logprob": value, "rank": 1, "decoded_token": word}}
        for place, (word, value) in enumerate(zip(words, values, strict=True))
    ]
    return completion(" next", prompt_logprobs=[None, *rows[1:]])


def reasons(values: list[float | NoScore]) -> list[Reason | float]:
    return [value.reason if isinstance(value, NoScore) else value for value in values]


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


def test_a_server_that_refuses_echo_is_asked_for_prompt_logprobs(scorer: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        if "echo" in request.body:
            return error(400, "echo is not supported", "unsupported_parameter", "echo")
        return of_prompt(request.body["prompt"], [-1.0, -2.0, -4.0, -8.0])

    server, engine = scorer(script)
    assert engine.score(["Q: A:"] * 5, " Yes indeed") == [-12.0] * 5
    assert ["echo" in request.body for request in server.requests] == [True, *[False] * 5], "learnt once"
    assert server.requests[1].body["prompt_logprobs"] == 0


def test_a_server_that_ignores_echo_is_asked_for_prompt_logprobs(scorer: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        if "echo" in request.body:
            return completion(" next", logprobs={"tokens": [" next"], "token_logprobs": [-0.5], "text_offset": [0]})
        return of_prompt(request.body["prompt"], [-1.0, -2.0, -4.0])

    server, engine = scorer(script)
    assert engine.score(["Q: A:"] * 3, " Yes") == [-4.0] * 3
    assert len(server.requests) == 4


@pytest.mark.parametrize("parameter", ["temperature", "max_tokens"])
def test_another_refused_parameter_is_left_out(scorer: Any, parameter: str) -> None:
    def script(request: StubRequest) -> StubReply:
        if parameter in request.body:
            return error(400, f"{parameter} is not supported", "unsupported_parameter", parameter)
        return echoed(request.body["prompt"], [-1.0, -2.0, -4.0, -8.0])

    server, engine = scorer(script)
    assert engine.score(["Q: A:"] * 3, " Yes") == [-4.0] * 3
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (-9999.0, "-9999"),
        (-100.0, "-100"),
        (None, "null"),
        ("x", "no number"),
        (True, "no number"),
    ],
)
@pytest.mark.parametrize("way", ["echo", "prompt_logprobs"])
def test_what_is_no_number_is_no_score(scorer: Any, value: Any, named: str, way: str) -> None:
    def script(request: StubRequest) -> StubReply:
        if "echo" in request.body and way != "echo":
            return error(400, "echo is not supported", "unsupported_parameter", "echo")
        found = value if request.body["prompt"].startswith("bad") else -4.0
        if way == "echo":
            return echoed(request.body["prompt"], [None, -2.0, found, -1.0])
        return of_prompt(request.body["prompt"], [None, -2.0, found])

    _, engine = scorer(script)
    good, bad, other = engine.score(["ok A:", "bad A:", "ok A:"], " Yes")
    assert good == other == -4.0
    assert bad.reason is Reason.NOT_FINITE
    assert named in bad.detail


@pytest.mark.parametrize("odd_first", [False, True])
def test_each_unusable_reply_has_its_own_reason(scorer: Any, odd_first: bool) -> None:
    def script(request: StubRequest) -> StubReply:
        prompt = request.body["prompt"]
        match prompt.split()[0]:
            case "short":
                return echoed(prompt, [-1.0, -2.0])
            case "merged":
                merged = {"tokens": ["merged", " A: Yes", " next"], "token_logprobs": [None, -1.0, -2.0]}
                return completion(prompt + " next", logprobs=merged)
            case "bare":
                return completion(prompt + " next")
            case "odd":
                return StubReply(body={"choices": []})
        return echoed(prompt, [-1.0, -2.0, -4.0, -8.0])

    _, engine = scorer(script)
    kinds = ["fine", "short", "merged", "bare", "odd"]
    if odd_first:
        kinds = kinds[1:] + kinds[:1]
    found = dict(zip(kinds, engine.score([f"{kind} A:" for kind in kinds], " Yes"), strict=True))
    assert found["fine"] == -4.0
    assert reasons([found[kind] for kind in ("short", "merged", "bare", "odd")]) == [
        Reason.NO_LOG_PROBABILITIES,
        Reason.NO_LOG_PROBABILITIES,
        Reason.NO_LOG_PROBABILITIES,
        Reason.TRANSPORT,
    ]
    assert "2 log-probabilities for 4 tokens" in found["short"].detail
    assert "joins the answer ' Yes' with what precedes it" in found["merged"].detail
    assert "no log-probabilities of the question" in found["bare"].detail


def test_a_prompt_over_the_window_is_over_long(scorer: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        if request.body["prompt"].startswith("long"):
            return error(400, "This model's maximum context length is 8 tokens", "context_length_exceeded")
        return echoed(request.body["prompt"], [-1.0, -2.0, -4.0, -8.0])

    server, engine = scorer(script)
    good, bad = engine.score(["ok A:", "long A:"], " Yes")
    assert good == -4.0
    assert bad.reason is Reason.OVER_LONG
    assert len(server.requests) == 2


def test_halves_of_characters_are_found_by_their_place(scorer: Any) -> None:
    logprobs = {
        "tokens": ["问", "：", "bytes:\\xe6\\x98", "bytes:\\xaf", " next"],
        "token_logprobs": [None, -1.0, -2.0, -4.0, -8.0],
        "text_offset": [0, 1, 2, 2, 3],
    }
    _, engine = scorer(lambda _: completion("问：是 next", logprobs=logprobs))
    assert engine.score(["问："], "是") == [-6.0]


@pytest.mark.parametrize("usage", [{}, {"usage": {"completion_tokens": 1}}])
def test_a_word_in_halves_of_characters_behind_a_start_mark_does_not_hide_the_answer(scorer: Any, usage: Any) -> None:
    tokens = ["<s>", "问", "：", "�", "�", "答", "：", "不", "是", "是"]
    values = [None, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -2.0, -4.0, -8.0]
    reply = completion("问：固答：不是是", logprobs={"tokens": tokens, "token_logprobs": values})
    _, engine = scorer(lambda _: StubReply(body={**reply.body, **usage}))
    assert engine.score(["问：固答："], "不是") == [-6.0]


@pytest.mark.parametrize("halves", [["�", "�"], ["", "ì"]])
def test_an_answer_in_halves_of_characters_is_found_behind_the_prompt_s_tokens(scorer: Any, halves: list[str]) -> None:
    """The offsets are of no use: the server counts a start mark."""

    def script(request: StubRequest) -> StubReply:
        behind = [" ", "S", *halves] if request.body["prompt"].endswith(" Sì") else []
        tokens = ["<s>", "D: buono?", " R:", *behind, " no"]
        values = [None, -1.0, -1.0, *[-2.0, -4.0, -8.0, -16.0][: len(behind)], -0.5]
        logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": list(range(len(tokens)))}
        return completion(request.body["prompt"] + " no", logprobs=logprobs)

    _, engine = scorer(script)
    assert engine.score(["D: buono? R:"] * 2, " Sì") == [-30.0] * 2


def test_the_first_half_of_the_answer_s_first_character_counts(scorer: Any) -> None:
    tokens = ["<s>", "�", "答", "：", "", "", "是", "no"]
    values = [None, -1.0, -1.0, -1.0, -2.0, -4.0, -8.0, -0.5]
    _, engine = scorer(lambda _: completion("固答：是no", logprobs={"tokens": tokens, "token_logprobs": values}))
    assert engine.score(["固答："], "是") == [-14.0]


@pytest.mark.parametrize("logprobs", [None, {}, {"tokens": ["a"]}, []])
def test_a_server_without_logprobs_is_one_failure(scorer: Any, logprobs: Any) -> None:
    server, engine = scorer(lambda _: completion("x", logprobs=logprobs))
    with pytest.raises(MetricUnavailable, match="no log-probabilities for prompts"):
        engine.score(["Q: A:"] * 50, " Yes")
    assert len(server.requests) == 2, "each way of asking once"


@pytest.mark.parametrize("parameter", ["logprobs", "echo"])
def test_a_server_that_refuses_logprobs_is_one_failure(scorer: Any, parameter: str) -> None:
    def script(request: StubRequest) -> StubReply:
        refused = parameter if parameter in request.body else "prompt_logprobs"
        return error(400, f"{refused} is not supported", "unsupported_parameter", refused)

    server, engine = scorer(script)
    with pytest.raises(MetricUnavailable, match="no log-probabilities for prompts"):
        engine.score(["Q: A:"] * 50, " Yes")
    assert len(server.requests) == 2


def test_a_refusal_in_other_words_is_one_failure_that_quotes_them(scorer: Any) -> None:
    server, engine = scorer(lambda _: error(400, "Base models are switched off here"))
    with pytest.raises(MetricUnavailable, match=r"no log-probabilities for prompts.*Base models are switched off here"):
        engine.score(["Q: A:"] * 50, " Yes")
    assert len(server.requests) == 2


def test_a_refusal_of_one_question_is_that_questions_own(scorer: Any) -> None:
    def script(request: StubRequest) -> StubReply:
        if request.body["prompt"].startswith("bad"):
            return error(400, "no such character here")
        return echoed(request.body["prompt"], [-1.0, -2.0, -4.0, -8.0])

    _, engine = scorer(script)
    assert reasons(engine.score(["ok A:", "bad A:", "ok A:"], " Yes")) == [-4.0, Reason.TRANSPORT, -4.0]


def test_the_scorers_context(scorer: Any) -> None:
    server, engine = scorer(lambda _: completion("x"))
    assert engine.context() == {"backend": "openai", "base_url": server.url, "model": "tiny", "api": "echo"}
