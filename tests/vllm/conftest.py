"""Real vLLM on the CPU: tiny models, one server for the whole session, and a project folder to run pytest in."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tiny_models import save_gemma3, save_llama

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 400
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "VLLM_NO_USAGE_STATS": "1",
}

SENTENCES = [
    ("Set-N", "Anyone who chairs a meeting may open the window."),
    ("Set-N", "The candidates have until Monday to hand in their papers."),
    ("Set-N", "Every citizen can write to us."),
    ("Set-N", "Our colleagues have worked through the night."),
    ("Set-N", "The patient was tired of waiting."),
    ("Set-N", "Teachers are asked to bring a chair."),
    ("Set-N", "Whoever drives the bus sees the sea first."),
    ("Set-N", "I am grateful to all the translators."),
    ("Set-N", "The reporter asked {too} many questions."),
    ("Set-N", "Each member votes once; nobody votes twice."),
    ("Set-N", "Guests who arrive early are welcome."),
    ("Set-N", "The winner of the race was surprised."),
    ("Set-G", "The minister said that she would resign."),
    ("Set-G", "My uncle was the first doctor of the village."),
    ("Set-G", "Mrs Weber is the new director."),
    ("Set-G", "He was elected president of the club."),
    ("Set-G", "The actress was tired but happy."),
    ("Set-G", "Her brother became a nurse."),
    ("Set-G", "Sister Agnes is our oldest neighbour."),
    ("Set-G", "The king was crowned by himself."),
    ("Set-G", "Our grandmother was a pilot."),
    ("Set-G", "The engineer fed her cat."),
    ("Set-G", "Mr Rossi is a friend of the judge."),
    ("Set-G", "The lawyer forgot his hat."),
]
"""What is put through vLLM in process and through vLLM's server."""

WINDOW = 12288
"""Room for a judge's prompt with its eight examples, by this model's small vocabulary."""

LONG = "A word and one more, " * 2500


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.vllm)
            if importlib.util.find_spec("vllm") is None:
                item.add_marker(pytest.mark.skip(reason="vLLM is not installed here (make test-vllm)"))


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama(tmp_path_factory.mktemp("models") / "llama", window=WINDOW)


@pytest.fixture(scope="session")
def gemma3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_gemma3(tmp_path_factory.mktemp("models") / "gemma3")


@pytest.fixture(scope="session")
def server(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server of the tiny Llama, under the name ``tiny``; its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(llama)]
    command += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--enforce-eager", "--structured-outputs-config"]
    command += [json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, stdout=stream, stderr=subprocess.STDOUT, env={**os.environ, **ENVIRONMENT}, start_new_session=True
        )
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


def wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(
                f"the server ended with status {process.returncode}:\n{log.read_text(errors='replace')[-3000:]}"
            )
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"the server was not healthy in {START_SECONDS} s:\n{log.read_text(errors='replace')[-3000:]}")


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest over the product's suites and a table of our own, with the models of a ``gnt.toml``."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(ROOT / "suites", pytester.path / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    rows = ["id\tset\tgender\tsource\n"]
    for number, (subset, text) in enumerate(SENTENCES):
        rows.append(f"{number}\t{subset}\t{'F' if subset == 'Set-G' else ''}\t{text}\n")
    rows.append(f"long\tSet-N\t\t{LONG}\n")
    (pytester.path / "own.tsv").write_text("".join(rows), encoding="utf-8")
    (pytester.path / "own").mkdir()
    (pytester.path / "own" / "test_own.py").write_text(
        "from pytest_gnt import cases\n\n\n"
        '@cases("own")\n'
        "def test_reply(translation):\n"
        "    assert translation.text\n\n\n"
        '@cases("own", sets=["Set-N"])\n'
        "def test_judged(judgement):\n"
        "    assert judgement.label\n"
    )

    def call(toml: str, *options: str, timeout: float = 420) -> pytest.RunResult:
        corpus = '[corpora.own]\npath = "own.tsv"\nlang = "it"\n'
        (pytester.path / "gnt.toml").write_text(toml + corpus, encoding="utf-8")
        return pytester.runpytest_subprocess(*options, "-p", "no:cacheprovider", timeout=timeout)

    return call
