"""What a case costs does not grow with the run: counted, not timed."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.pipeline.executor import PIECE, Executor
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, JsonObject, Work

ROOT = Path(__file__).resolve().parents[2]

COUNTER = """
import sys

calls = 0

def count(frame, event, argument):
    global calls
    calls += 1

def pytest_runtestloop(session):
    sys.setprofile(count)

def pytest_unconfigure():
    sys.setprofile(None)
    print(f"\\ncalls: {calls}")
"""


class Upper:
    """A provider of nothing but text."""

    stage = "upper"
    batch_size = 1000

    def __init__(self) -> None:
        self._context = Context({"stage": "upper"})

    def work(self, subject: str) -> Work:
        return Work(self._context, {"text": subject})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        for index, work in enumerate(works):
            yield index, Answer({"text": work.input["text"].upper(), "more": "x" * 2000})

    def read(self, subject: str, answer: JsonObject) -> str:
        return str(answer["text"])

    def close(self) -> None:
        """Nothing is open."""


def subjects(count: int) -> list[str]:
    return [f"sentence {number}" for number in range(count)]


def statements(path: Path, count: int) -> int:
    """SQL statements of a run that finds everything in the store."""
    store = Store(path)
    seen: list[str] = []
    store.answers(["0"])
    assert store._connection is not None
    store._connection.set_trace_callback(seen.append)
    Executor(store).compute(Upper(), subjects(count))
    store._connection.set_trace_callback(None)
    store.close()
    return len(seen)


def test_a_full_store_is_asked_as_often_a_case_in_a_large_run_as_in_a_small_one(tmp_path: Path) -> None:
    with_all = Store(tmp_path / "s")
    Executor(with_all).compute(Upper(), subjects(4 * PIECE))
    with_all.close()
    small, large = statements(tmp_path / "s", PIECE), statements(tmp_path / "s", 4 * PIECE)
    assert small > 0
    assert large <= 4 * small


def test_answers_of_a_full_store_are_not_held(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    Executor(store).compute(Upper(), subjects(4 * PIECE))

    def peak(count: int) -> int:
        asked = subjects(count)
        gc.collect()
        tracemalloc.start()
        Executor(store).compute(Upper(), asked)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    # Each answer is over 2,000 bytes, the evidence read from it under 300.
    assert peak(4 * PIECE) - peak(PIECE) < 3 * PIECE * 500
    store.close()


def write_house(folder: Path, cases: int) -> None:
    rows = "".join(
        f"{number}\tThe citizens of town {number} have a right to be heard.\tSet-N\n" for number in range(cases)
    )
    (folder / "house.tsv").write_text("id\tsource\tset\n" + rows)
    said = "".join(
        f"house/en-it/{number}\tLa cittadinanza del comune {number} ha il diritto di essere ascoltata.\tNEUTRAL\n"
        for number in range(cases)
    )
    (folder / "mine.tsv").write_text("case_id\ttranslation\tlabel\n" + said)
    (folder / "gnt.toml").write_text(
        '[corpora.house]\npath = "house.tsv"\nlang = "it"\n[models.mine]\nbackend = "recorded"\npath = "mine.tsv"\n'
    )
    (folder / "test_house.py").write_text(
        "from pytest_gnt import assert_neutral, cases\n\n"
        '@cases("house")\ndef test_neutral(judgement):\n    assert_neutral(judgement)\n'
    )
    (folder / "counter.py").write_text(COUNTER)


def calls(pytester: pytest.Pytester, cases: int) -> int:
    """Function calls from the first stage to the end of a run with a full store."""
    write_house(pytester.path, cases)
    for _ in range(2):
        options = ("-p", "counter", "-p", "no:cacheprovider", "-q", "--gnt-model=mine", f"--gnt-store=store{cases}")
        result = pytester.runpytest_subprocess(*options, timeout=120)
    assert result.ret == 0
    return next(int(line.removeprefix("calls: ")) for line in result.outlines if line.startswith("calls: "))


def test_a_case_of_a_large_run_takes_as_many_calls_as_one_of_a_small_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    first, second, third = (calls(pytester, cases) for cases in (50, 100, 200))
    # The fixed costs fall out of the differences: 50 cases more, then 100 more.
    assert third - second < 2 * (second - first) * 1.1


@pytest.mark.parametrize("script", ["overhead.py"])
def test_the_benchmark_prints_its_table(script: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--cases", "200", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 6
    assert all("met" in row or "missed" in row for row in rows[2:])


def test_the_page_keeps_what_is_written_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from page import SECTIONS, replaced

    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for section in SECTIONS:
        once = replaced(page, section, "| new |")
        assert "| new |" in once
        assert replaced(once, section, "| new |") == once
        assert "vLLM" in once
    with pytest.raises(ValueError, match="no section weather"):
        replaced(page, "weather", "")


def test_the_peers_get_the_same_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import peers
    from peer_stub import completion

    def said(number: int) -> str:
        prompt = peers.PROMPT.format(source=peers.SOURCE.format(number=number))
        request: dict[str, Any] = json.loads(json.dumps({"messages": [{"role": "user", "content": prompt}]}))
        reply: Any = completion(request)
        return str(reply["choices"][0]["message"]["content"])

    assert sum("**NEUTRAL**" in said(number) for number in range(peers.CASES)) == peers.NEUTRAL == 333
