"""The executor: each request once, batches committed as they end, errors keep what was done."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_gnt.errors import EngineFailure
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, Context, JsonObject, Work


class Upper:
    """Upper-cases; answers in random order; fails for the whole engine at one input."""

    stage = "upper"
    batch_size = 4

    def __init__(self, dies_at: str | None = None, log: Path | None = None) -> None:
        self.dies_at = dies_at
        self.log = log
        self.closed = 0
        self.asked: list[str] = []
        self.context = Context({"stage": "upper"})

    def work(self, subject: str) -> Work:
        return Work(self.context, {"text": subject})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        order = list(range(len(works)))
        random.shuffle(order)
        for index in order:
            text = works[index].input["text"]
            if text == self.dies_at:
                raise EngineFailure("the engine died")
            self.asked.append(text)
            if self.log:
                with self.log.open("a") as stream:
                    stream.write(text + "\n")
            yield index, Answer({"text": text.upper()})

    def read(self, subject: str, answer: JsonObject) -> str:
        return f"{subject}>{answer['text']}"

    def close(self) -> None:
        self.closed += 1


def test_results_stand_with_their_subjects(tmp_path: Path) -> None:
    provider = Upper()
    subjects = [f"s{number % 7}" for number in range(20)]
    executor = Executor(Store(tmp_path / "s"))
    assert executor.compute(provider, subjects) == [f"{one}>{one.upper()}" for one in subjects]
    assert sorted(provider.asked) == [f"s{number}" for number in range(7)]  # identical requests are computed once
    assert (executor.counts[0].requested, executor.counts[0].computed) == (7, 7)


def test_a_warm_store_asks_nothing(tmp_path: Path) -> None:
    Executor(Store(tmp_path / "s")).compute(Upper(), ["a", "b"])
    second = Upper()
    executor = Executor(Store(tmp_path / "s"))
    assert executor.compute(second, ["b", "a"]) == ["b>B", "a>A"]
    assert second.asked == []
    assert (executor.counts[0].stored, executor.counts[0].computed) == (2, 0)


def test_what_was_done_before_the_engine_died_is_kept(tmp_path: Path) -> None:
    subjects = [f"s{number:02}" for number in range(12)]
    dying = Upper(dies_at="s09")
    with pytest.raises(EngineFailure):
        Executor(Store(tmp_path / "s")).compute(dying, subjects)
    assert dying.closed == 1
    after = Upper()
    Executor(Store(tmp_path / "s")).compute(after, subjects)
    assert set(after.asked) & set(dying.asked) == set()
    assert set(after.asked) | set(dying.asked) == set(subjects)


def _share(path: Path, log: Path) -> None:
    subjects = [f"s{number:03}" for number in range(200)]
    found = Executor(Store(path)).compute(Upper(log=log), subjects)
    assert found == [f"{one}>{one.upper()}" for one in subjects]


def test_processes_share_the_work_and_compute_nothing_twice(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_share, args=(tmp_path / "s", tmp_path / "log")) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted((tmp_path / "log").read_text().split()) == [f"s{number:03}" for number in range(200)]
