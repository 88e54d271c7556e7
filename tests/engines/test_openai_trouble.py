"""Limits, filters, odd replies, silence, and the end of it all."""

from __future__ import annotations

import socket
import time

import pytest

from pytest_gnt.engines.openai_server import OpenAIGenerator, Price
from pytest_gnt.errors import EngineFailure
from pytest_gnt.evidence import Reason
from tests.openai_stub import KEY, Connect, ask, echo, in_turn, replies
from tests.stub_server import StubReply, StubRequest, chat, error

pytest.importorskip("openai", reason="needs the openai package")


def test_a_pause_that_is_asked_for_is_kept(connect: Connect) -> None:
    later = error(429, "slow down", retry_after="0.3")
    _, engine = connect(in_turn(later, later, chat("ok")))
    started = time.perf_counter()
    (reply,) = replies(engine, ask("a"))
    assert reply.text == "ok"
    assert 0.6 <= time.perf_counter() - started < 3
    assert (engine.traffic.requests, engine.traffic.retries) == (3, 2)


def test_a_pause_is_kept_by_all_requests(connect: Connect) -> None:
    times: list[float] = []

    def script(request: StubRequest) -> StubReply:
        times.append(time.perf_counter())
        return error(429, "slow down", retry_after="0.5") if request.number == 1 else echo(request)

    _, engine = connect(script, concurrency=2)
    replies(engine, ask(*map(str, range(12))))
    later = [moment - times[1] for moment in times[2:]]
    # One request was in flight already; the others waited.
    assert sum(moment < 0.45 for moment in later) <= 1


def test_a_limit_that_never_ends_ends_in_bounded_time(connect: Connect) -> None:
    server, engine = connect(lambda _: error(429, "slow down"), retries=3)
    (reply,) = replies(engine, ask("a"))
    assert reply.reason is Reason.TRANSPORT
    assert reply.detail == "HTTP 429: slow down (after 4 attempts)"
    assert len(server.requests) == 4


def test_a_pause_of_an_hour_is_not_waited_for(connect: Connect) -> None:
    server, engine = connect(lambda _: error(429, "daily limit", retry_after="3600"))
    (reply,) = replies(engine, ask("a"))
    assert "it asks to wait 3600 s" in reply.detail
    assert len(server.requests) == 1


def test_a_filtered_request_is_asked_once_and_alone(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        if request.user == "2":
            return error(400, "The response was filtered due to the content management policy.", "content_filter")
        return echo(request)

    server, engine = connect(script)
    found = replies(engine, ask("1", "2", "3"))
    assert [reply.reason for reply in found] == [None, Reason.FILTERED, None]
    assert "filtered" in found[1].detail
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (StubReply(body={"choices": None, "error": {"message": "quota of the day"}}), "quota of the day"),
        (StubReply(body={"choices": []}), "without a choice"),
        (StubReply(body="<html>gateway</html>"), "<html>gateway</html>"),
        (StubReply(body={"choices": [{"finish_reason": "stop"}]}), "without a message"),
        (StubReply(body=b"\xff\xfe"), "without a choice"),
        (StubReply(body="[]"), "without a choice"),
        (StubReply(body="x" * 100_000), "xxx"),
        (StubReply(body="[" * 100_000), "[[["),
        (StubReply(body={"object": "chat.completion", "choices": [{}] * 9}, cut=True), ""),
    ],
)
def test_odd_replies_are_errors_that_quote_the_server(connect: Connect, reply: StubReply, words: str) -> None:
    _, engine = connect(lambda request: reply if request.user == "odd" else echo(request), retries=1)
    first, second, third = replies(engine, ask("1", "odd", "3"))
    assert second.reason is Reason.TRANSPORT
    assert words in second.detail
    assert 0 < len(second.detail) < 400
    assert (first.text, third.text) == ("reply to 1", "reply to 3")


def test_a_reply_without_content_has_no_text(connect: Connect) -> None:
    _, engine = connect(in_turn(chat(None), chat(None, "length"), chat(None, refusal="I can't.")))
    found = replies(engine, ask("1")) + replies(engine, ask("2")) + replies(engine, ask("3"))
    assert [(one.text, one.finish_reason, one.refusal) for one in found] == [
        (None, "stop", None),
        (None, "length", None),
        (None, "stop", "I can't."),
    ]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_in_a_field_of_its_own_is_never_the_answer(connect: Connect, name: str) -> None:
    thought = {name: "<it> **GENDERED** [Il direttore apre.]"}
    _, engine = connect(
        in_turn(chat("<it> **NEUTRAL** [Chi apre.]", **thought), chat(None, **thought), chat("", "length", **thought))
    )
    good, empty, cut = (replies(engine, ask("a"))[0] for _ in range(3))
    assert (good.text, good.reason) == ("<it> **NEUTRAL** [Chi apre.]", None)
    assert (empty.reason, cut.reason) == (Reason.EMPTY, Reason.TRUNCATED)
    assert "thinking" in empty.detail


def test_content_in_parts_is_joined(connect: Connect) -> None:
    _, engine = connect(lambda _: chat([{"type": "text", "text": "Chi "}, {"type": "text", "text": "apre."}]))  # type: ignore[arg-type]
    assert replies(engine, ask("a"))[0].text == "Chi apre."


def test_a_silent_server_ends_at_the_timeout(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        return StubReply(hang=True) if request.user == "2" else echo(request)

    server, engine = connect(script, timeout=0.4)
    started = time.perf_counter()
    found = replies(engine, ask("1", "2", "3"))
    assert time.perf_counter() - started < 2
    assert [reply.reason for reply in found] == [None, Reason.TRANSPORT, None]
    assert found[1].detail == "no reply within 0.4 s"
    assert len(server.requests) == 3


@pytest.mark.parametrize("trouble", [error(500, "oops"), error(503, "loading"), chat("x" * 500)])
def test_trouble_that_passes_is_mended(connect: Connect, trouble: StubReply) -> None:
    passing = StubReply(trouble.status, trouble.body, cut=trouble.status == 200)
    _, engine = connect(in_turn(passing, chat("ok")))
    assert replies(engine, ask("a"))[0].text == "ok"
    assert engine.traffic.retries == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "environment variable STUB_KEY"),
        (403, "environment variable STUB_KEY"),
        (404, "model's name"),
        (402, "account"),
    ],
)
def test_a_server_that_refuses_us_is_one_failure(connect: Connect, status: int, words: str) -> None:
    server, engine = connect(lambda _: error(status, f"no entry for {KEY}"))
    with pytest.raises(EngineFailure, match=f"HTTP {status}: no entry for .*{words}") as raised:
        list(engine.generate(ask(*map(str, range(50)))))
    assert KEY not in str(raised.value)
    assert len(server.requests) == 1


def test_an_exhausted_quota_is_one_failure_and_keeps_what_is_finished(connect: Connect) -> None:
    def script(request: StubRequest) -> StubReply:
        return echo(request) if request.number < 10 else error(429, "You exceeded your quota", "insufficient_quota")

    _, engine = connect(script, concurrency=1)
    kept = []
    with pytest.raises(EngineFailure, match="exceeded your quota"):
        for pair in engine.generate(ask(*map(str, range(50)))):
            kept.append(pair)
    assert [reply.text for _, reply in kept] == [f"reply to {n}" for n in range(10)]


def test_no_server_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as placeholder:
        placeholder.bind(("127.0.0.1", 0))
        port = placeholder.getsockname()[1]
    engine = OpenAIGenerator("tiny", base_url=f"http://127.0.0.1:{port}/v1", api_key_env="NO_SUCH_KEY", backoff=0.05)
    started = time.perf_counter()
    with pytest.raises(EngineFailure, match=rf"cannot reach http://127\.0\.0\.1:{port}/v1"):
        list(engine.generate(ask(*map(str, range(200)))))
    assert time.perf_counter() - started < 5
    engine.close()


def test_a_server_that_fails_everything_is_given_up(connect: Connect) -> None:
    server, engine = connect(lambda _: error(500, "out of memory"), retries=0)
    with pytest.raises(EngineFailure, match="20 requests in a row; the last: HTTP 500: out of memory"):
        list(engine.generate(ask(*map(str, range(500)))))
    assert len(server.requests) < 100


def test_the_budget_stops_before_the_next_request(connect: Connect) -> None:
    server, engine = connect(
        echo, concurrency=1, price=Price(input=1000.0, output=2000.0), budget=lambda cost: cost < 0.1
    )
    found = replies(engine, ask(*map(str, range(20))))
    # 10 tokens in and 5 out cost 0.02 each time.
    assert [reply.reason for reply in found] == [None] * 5 + [Reason.NOT_RUN] * 15
    assert len(server.requests) == 5
    assert engine.cost == pytest.approx(0.1)


def test_requests_in_flight_count_against_the_budget(connect: Connect) -> None:
    _, engine = connect(
        lambda request: StubReply(body=echo(request).body, delay=0.05),
        concurrency=16,
        price=Price(input=1000.0, output=2000.0),
        budget=lambda cost: cost < 0.1,
    )
    replies(engine, ask(*map(str, range(64))))
    assert engine.cost is not None
    assert engine.cost <= 0.1 + 1e-9
