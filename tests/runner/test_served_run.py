"""A system behind a server, through the command line: cost limit, resuming, secrets, a server that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.conftest import House
from tests.stub_server import StubReply, StubRequest, StubServer, chat, error, serve

KEY = "sk-test-0000-not-real"
N = 30


def translate(request: StubRequest) -> StubReply:
    source = request.user.strip().splitlines()[-1]
    number = "".join(char for char in source if char.isdigit())
    return chat(f"<it> **NEUTRAL** [La persona numero {number} della casa ha parlato con calma.]", tokens=(100, 50))


@pytest.fixture
def server() -> Iterator[StubServer]:
    with serve(translate) as running:
        yield running


@pytest.fixture
def served(house: House, server: StubServer, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    rows = "".join(f"{number}\tPerson number {number} of the house spoke calmly.\tSet-N\n" for number in range(N))
    house.write("house.tsv", "id\tsource\tset\n" + rows)
    house.write(
        "gnt.toml",
        '[corpora.house]\npath="house.tsv"\nlang="it"\n'
        f'[models.served]\nbackend="openai"\nmodel="m"\nbase_url="{server.url}"\napi_key_env="HOUSE_KEY"\n'
        "concurrency=1\nretries=0\nprice_input=1000.0\nprice_output=2000.0\n",
    )
    house.write(
        "test_house.py",
        "from pytest_gnt import assert_neutral, cases\n\n"
        '@cases("house")\ndef test_neutral(judgement):\n    assert_neutral(judgement)\n',
    )
    return house


def test_a_cost_limit_stops_the_run_and_another_goes_on(served: House, server: StubServer) -> None:
    # A request costs 100 * 1000 / 1e6 + 50 * 2000 / 1e6 = 0.2.
    first = served.run("--gnt-max-cost=2.0", model="served")
    asked = len(server.requests)
    assert asked == 10, "no request beyond the limit"
    assert first.ret == pytest.ExitCode.TESTS_FAILED
    summary = served.summary()
    assert summary["unscored"] == {"not-run": N - asked}
    assert summary["usage"] == [
        {"model": "served", "requests": 10, "prompt_tokens": 1000, "completion_tokens": 500, "cost": pytest.approx(2.0)}
    ]
    assert "cost 2.0000" in first.stdout.str()
    second = served.run(model="served")
    assert second.ret == 0, second.stdout.str()
    assert len(server.requests) == N, "nothing is asked twice"
    assert served.summary()["counts"]["passed"] == N


def test_a_cost_limit_needs_a_price(served: House) -> None:
    text = (served.path / "gnt.toml").read_text()
    served.write("gnt.toml", text.replace("price_input=1000.0\nprice_output=2000.0\n", ""))
    result = served.run("--gnt-max-cost=2.0", model="served")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "has no price_input" in result.stderr.str()


@pytest.mark.parametrize("fault", ["401", "garbage", "good"])
def test_a_key_appears_nowhere(served: House, server: StubServer, fault: str) -> None:
    def script(request: StubRequest) -> StubReply:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        if fault == "401":
            return error(401, f"Incorrect API key provided: {KEY}")
        return StubReply(body="{") if fault == "garbage" else translate(request)

    server.script = script
    result = served.run("-l", "--tb=long", "-vv", "--log-level=DEBUG", "--junitxml=j.xml", "-n2", model="served")
    assert result.ret != 0 or fault == "good"
    assert KEY not in result.stdout.str() + result.stderr.str()
    files = [path for path in served.path.rglob("*") if path.is_file()]
    assert len(files) > 4
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path


def test_a_server_that_is_not_there_is_one_error(served: House, server: StubServer) -> None:
    text = (served.path / "gnt.toml").read_text()
    served.write("gnt.toml", text.replace(server.url, "http://127.0.0.1:9/v1"))
    result = served.run(model="served")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in result.stderr.lines if line.startswith("ERROR")]
    assert len(errors) == 1
    assert "127.0.0.1:9" in errors[0]


def test_what_the_server_was_sent_holds_the_sentence_byte_for_byte(served: House, server: StubServer) -> None:
    source = "Set A = {1, 2}; pay {amount} to {{all}} holders of ${name} and $name, 50% }"
    served.write("house.tsv", f"id\tsource\tset\n1\t{source}\tSet-N\n")
    served.run(model="served")
    assert source in server.requests[0].user
    record = json.loads((Path(served.path) / "gnt-report/cases.jsonl").read_text())
    assert record["source"] == source
