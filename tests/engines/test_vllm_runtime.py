"""Passing requests through vLLM's engine, with a scripted engine in its place; tests/vllm has the real one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_gnt.config import VllmModel
from pytest_gnt.engines.vllm_runtime import Ask, Runtime, model_reference, run, start, stop, usable_devices
from pytest_gnt.errors import EngineFailure


@dataclass
class Output:
    request_id: str
    finished: bool = True


class EngineDeadError(Exception):
    """Named as vLLM names it."""


@dataclass
class Engine:
    """Finishes requests newest first, one a step; ``refuse`` are prompts that it does not take, ``die`` its steps."""

    refuse: Sequence[int] = ()
    die: int | None = None
    dead: bool = False
    lose: bool = False
    waiting: list[str] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    steps: int = 0
    stopped: float | None = None

    @property
    def engine_core(self) -> Any:
        return SimpleNamespace(shutdown=self._shutdown)

    def _shutdown(self, timeout: float) -> None:
        self.stopped = timeout

    def add_request(self, name: str, prompt: dict[str, Any], params: object) -> None:
        assert prompt["type"] == "token"
        if self.dead:
            raise EngineDeadError("EngineCore encountered an issue")
        if prompt["prompt_token_ids"][0] in self.refuse:
            raise RuntimeError("Failed to transform regex into a grammar\nand more")
        self.waiting.append(name)

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[Output]:
        self.steps += 1
        if self.die == self.steps:
            raise EngineDeadError("out of memory\ntrace")
        name = self.waiting.pop()
        unfinished = [Output(other, finished=False) for other in self.waiting]
        if self.lose:
            self.waiting.clear()
        return [*unfinished, Output(name)]

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names
        self.waiting = [name for name in self.waiting if name not in names]


def runtime(engine: Engine) -> Runtime:
    return Runtime(SimpleNamespace(llm_engine=engine), tokenizer=None, window=100)


def asks(count: int) -> list[Ask]:
    return [Ask(index, [index, 7], object()) for index in range(count)]


def test_every_request_is_answered_once_whatever_the_order() -> None:
    found = list(run(runtime(Engine()), asks(5)))
    assert [index for index, _ in found] == [4, 3, 2, 1, 0]
    assert all(output.finished for _, output in found)


def test_a_refused_request_is_one_request() -> None:
    found = dict(run(runtime(Engine(refuse=[1, 3])), asks(5)))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert isinstance(found[1], RuntimeError)
    assert isinstance(found[3], RuntimeError)
    assert found[4].finished


def test_a_dead_engine_ends_the_run_once_and_keeps_what_was_finished() -> None:
    done = []
    with pytest.raises(EngineFailure, match=r"stopped: out of memory\. What was finished is stored"):
        done.extend(run(runtime(Engine(die=3)), asks(5)))
    seen = []
    with pytest.raises(EngineFailure):
        for index, _ in run(runtime(Engine(die=3)), asks(5)):
            seen.append(index)
    assert seen == [4, 3]
    with pytest.raises(EngineFailure, match="encountered an issue"):
        list(run(runtime(Engine(dead=True)), asks(2)))


def test_what_the_engine_loses_is_said() -> None:
    found = dict(run(runtime(Engine(lose=True)), asks(3)))
    assert found[2].finished
    assert isinstance(found[0], ValueError)
    assert isinstance(found[1], ValueError)


def test_a_caller_that_stops_leaves_nothing_behind() -> None:
    engine = Engine()
    work = run(runtime(engine), asks(4))
    next(work)
    work.close()
    assert sorted(engine.aborted) == ["0", "1", "2"]
    again = list(run(runtime(engine), asks(2)))
    assert len(again) == 2


def test_names_of_requests_are_never_used_twice() -> None:
    shared = runtime(Engine())
    list(run(shared, asks(3)))
    assert shared.number() == "3"


def test_stopping_gives_the_engine_time_to_end() -> None:
    pytest.importorskip("torch")
    engine = Engine()
    held = runtime(engine)
    stop(held)
    assert engine.stopped is not None
    assert engine.stopped > 0
    assert held.llm is None


@pytest.mark.parametrize(
    ("visible", "heads", "size"),
    [(1, 64, 1), (2, 64, 2), (8, 64, 8), (6, 64, 4), (3, 28, 2), (8, 7, 7), (5, 3, 3), (0, 8, 1)],
)
def test_devices_share_the_attention_heads(visible: int, heads: int, size: int) -> None:
    assert usable_devices(visible, heads) == size


def test_a_missing_vllm_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    from pytest_gnt.engines.vllm_inprocess import VllmGenerator
    from pytest_gnt.engines.vllm_scorer import VllmScorer

    settings = VllmModel(model="owner/name")
    for make in (VllmGenerator, VllmScorer):
        with pytest.raises(EngineFailure, match=r"pip install 'pytest-gnt\[vllm\]'"):
            make(settings)
    with pytest.raises(EngineFailure, match="needs vLLM"):
        start(settings, print)


def test_a_revision_belongs_to_the_model() -> None:
    assert model_reference(VllmModel(model="owner/name", revision="abc")) == "owner/name@abc"
    assert model_reference(VllmModel(model="/models/mine")) == "/models/mine"
