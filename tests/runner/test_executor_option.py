"""``--gnt-executor=ray`` where Ray is not to be had, and what may be sent to other machines at all."""

from __future__ import annotations

import contextlib
import importlib.util
import pickle
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.config import RaySettings, VllmModel, load_config
from pytest_gnt.corpora import sample
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.engines.openai_scorer import OpenAIScorer
from pytest_gnt.engines.openai_server import OpenAIGenerator
from pytest_gnt.engines.transformers_causal import CausalGenerator
from pytest_gnt.engines.transformers_scorer import CausalScorer
from pytest_gnt.engines.transformers_seq2seq import Seq2SeqEngine
from pytest_gnt.errors import EngineFailure, GntError, MetricUnavailable
from pytest_gnt.judges.lexicon import LexiconJudge
from pytest_gnt.judges.llm import LlmJudge
from pytest_gnt.judges.votes import Panel
from pytest_gnt.metrics.attitude import AttitudeScorer
from pytest_gnt.metrics.bleu import OverlapProvider
from pytest_gnt.pipeline import ray_cluster
from pytest_gnt.pipeline.ray_executor import movable
from pytest_gnt.pipeline.ray_worker import StageWorker, raised_again
from pytest_gnt.pipeline.repeats import Repeated
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.runner.executors import stage_gpus
from pytest_gnt.translators.command import CommandTranslator
from pytest_gnt.translators.prompted import PromptedTranslator
from pytest_gnt.translators.sequence import SequenceTranslator
from pytest_gnt.work import Work
from tests.runner.conftest import GNT_TOML, House

PROMPT = PromptConfig(configuration="G+S", shots=4, constraint="none")
NO_RAY = pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")


@NO_RAY
def test_without_ray_the_option_says_how_to_get_it(house: House) -> None:
    result = house.run("--gnt-executor=ray")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    message = "--gnt-executor=ray needs the Python package 'ray': run  pip install 'pytest-gnt[ray]'"
    assert result.stderr.str().count(message) == 1
    assert not (house.path / ".gnt").exists()


@NO_RAY
def test_the_file_can_choose_the_executor_and_the_command_line_another(house: House) -> None:
    house.write("gnt.toml", GNT_TOML + '[run]\nexecutor = "ray"\n')
    assert "pip install 'pytest-gnt[ray]'" in house.run().stderr.str()
    assert house.run("--gnt-executor=local").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("arguments", "table", "message"),
    [
        (["--gnt-executor=ray", "-n2"], "", "--gnt-executor=ray and pytest-xdist exclude each other"),
        (["--gnt-executor=dask"], "", "--gnt-executor: Input should be 'local' or 'ray'"),
        ([], "[ray]\nworker = 2", "[ray] worker: unknown key. Did you mean workers"),
        ([], "[ray.stages.jugde]", "[ray] stages.jugde: unknown key. Did you mean judge"),
        ([], "[ray.stages.judge]\nnum_gpu = 1", "[ray] stages.judge.num_gpu: unknown key. Did you mean num_gpus"),
        ([], "[ray]\nworkers = 0", "[ray] workers: Input should be greater than 0"),
        ([], "[ray]\nretries = -1", "[ray] retries: Input should be greater than or equal to 0"),
    ],
)
def test_wrong_settings(house: House, arguments: list[str], table: str, message: str) -> None:
    house.write("gnt.toml", GNT_TOML + table + "\n")
    result = house.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_port_where_something_else_listens_is_no_cluster(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "PROBE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"

        def serve() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(ConnectionError):
                connection.sendall(answer)
                while connection.recv(1000):  # until the other side has had enough
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(GntError, match=f"no Ray cluster answers at {address}"):
            ray_cluster.connect(RaySettings(address=address))
        thread.join(10)


def test_a_stage_has_its_own_placement_on_top_of_the_common_one(tmp_path: Path) -> None:
    (tmp_path / "gnt.toml").write_text(
        "[ray]\nworkers = 4\nnum_cpus = 2\nresources = {fast = 1}\n[ray.stages.judge]\nnum_cpus = 0.5\nnum_gpus = 4\n"
    )
    ray = load_config(tmp_path).ray
    judge, other = ray.placement("judge"), ray.placement("translate")
    assert (judge.workers, judge.num_cpus, judge.num_gpus, judge.resources) == (4, 0.5, 4, {"fast": 1})
    assert (other.workers, other.num_cpus, other.num_gpus) == (4, 2, None)
    assert ray.placement("a plugin's") == other


def test_gpus_are_what_each_stage_s_model_is_made_for(tmp_path: Path) -> None:
    (tmp_path / "gnt.toml").write_text(
        '[models.large]\nbackend = "vllm"\nmodel = "m"\ntensor_parallel_size = 4\n'
        '[models.served]\nbackend = "openai"\nmodel = "m"\nbase_url = "http://localhost/v1"\n'
        '[models.here]\nbackend = "transformers"\nmodel = "m"\ndevice = "cuda"\n'
        '[judges.big]\nkind = "llm"\nmodel = "large"\n'
        '[attitude_models.a]\nkind = "vllm"\nmodel = "m"\n'
    )
    files = load_config(tmp_path)
    run = files.overlay({"model": "here", "judge": "big", "comet": "none"})
    found = stage_gpus(files, run, "a")
    assert {stage: found[stage] for stage in ("translate", "judge", "attitude")} == {
        "translate": 1,
        "judge": 4,
        "attitude": 1,
    }
    served = stage_gpus(files, files.overlay({"model": "served"}), "none")
    assert served["translate"] == 0
    assert "judge" not in served
    assert "attitude" not in served


class Model:
    """Stands for an engine with weights."""

    movable = True

    def context(self) -> dict[str, object]:
        return {"backend": "none"}

    def close(self) -> None:
        """Nothing is open."""


def sent() -> list[Any]:
    engine: Any = Model()
    judge = LlmJudge(engine)
    return [
        PromptedTranslator(engine, PromptBuilder(PROMPT)),
        Repeated(PromptedTranslator(engine, PromptBuilder(PROMPT)), 1),
        judge,
        Panel(judge, 3),
        AttitudeScorer(engine),
        CommandTranslator(["translate"]),
    ]


@pytest.mark.parametrize("provider", sent(), ids=lambda provider: type(provider).__name__)
def test_what_loads_a_model_or_runs_a_program_is_sent(provider: Any) -> None:
    assert movable(provider)
    copy = pickle.loads(pickle.dumps(provider))
    assert movable(copy)
    assert (copy.stage, copy.batch_size) == (provider.stage, provider.batch_size)


def test_a_copy_asks_what_the_original_asks() -> None:
    provider = PromptedTranslator(Model(), PromptBuilder(PROMPT))  # type: ignore[arg-type]
    [case, *_] = sample.load_mgente(CorpusSource(name="mgente", root=Path())).cases
    work: Work = provider.work(case)
    copy: Work = pickle.loads(pickle.dumps(work))
    assert copy.key == work.key == pickle.loads(pickle.dumps(provider)).work(case).key
    assert copy.payload == work.payload


def test_look_ups_counting_and_requests_to_servers_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-very-secret-key")
    served = OpenAIGenerator("m", base_url="http://localhost:9/v1")
    scored = OpenAIScorer("m", base_url="http://localhost:9/v1")
    stay = [LexiconJudge(), OverlapProvider(), LlmJudge(served), Panel(LlmJudge(served), 3), AttitudeScorer(scored)]
    assert not any(movable(provider) for provider in stay)
    for engine in (served, scored):
        with pytest.raises(TypeError, match="a secret is not sent to another process"):
            pickle.dumps(engine)


def test_transformers_engines_are_sent() -> None:
    sequence = SequenceTranslator(Seq2SeqEngine("a/model", dtype="float32", device="cpu"))
    for provider in (LlmJudge(CausalGenerator("a/model")), AttitudeScorer(CausalScorer("a/model")), sequence):
        assert movable(pickle.loads(pickle.dumps(provider)))


def test_vllm_s_engines_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gnt.engines import vllm_inprocess, vllm_scorer

    for module in (vllm_inprocess, vllm_scorer):
        monkeypatch.setattr(module, "check_installed", lambda model: None)
    judge = LlmJudge(vllm_inprocess.VllmGenerator(VllmModel(model="m")))
    scorer = AttitudeScorer(vllm_scorer.VllmScorer(VllmModel(model="m")))
    for provider in (judge, scorer):
        assert movable(pickle.loads(pickle.dumps(provider)))


class Own(MetricUnavailable):
    """An error of a plugin, whose class need not be known elsewhere."""


class Failing:
    """Answers one request, then cannot go on."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, works: Any) -> Any:
        yield 1, "answer"
        raise self.error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (GntError("so it is"), GntError),
        (EngineFailure("so it is"), EngineFailure),
        (Own("so it is"), MetricUnavailable),
    ],
)
def test_an_error_of_an_actor_keeps_its_kind_and_what_was_answered_before(
    error: GntError, kind: type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    worker = StageWorker(pickle.dumps(Failing(error)), {}, None)
    assert worker.prepare().failure is None
    report = worker.run([None, None])  # type: ignore[list-item]
    assert report.answers == [(1, "answer")]
    assert report.failure is not None
    again = raised_again(report.failure)
    assert type(again) is kind
    assert str(again) == "so it is"


def test_an_actor_that_cannot_unpack_its_provider_says_why() -> None:
    greeting = StageWorker(b"not a pickle", {}, None).prepare()
    assert greeting.failure is not None
    assert "UnpicklingError" in greeting.failure
