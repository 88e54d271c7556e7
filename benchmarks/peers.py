"""This product beside what people use instead: the same 500 cases against the same endpoint.

    python benchmarks/peers.py                    # every tool, 1 round: about 5 minutes, after the installs
    python benchmarks/peers.py --only product,promptfoo --rounds 3

The job: 500 English sentences; for each, one request to an endpoint that answers after 50 ms, at most 32 at once
(`peer_stub.py`), and one check: the reply says that it is neutral, which 333 of 500 do. How each tool does it:

- product: its ``openai`` backend, a table with 500 rows, a suite of one test;
- pytest, pytest -n 8: a parametrized test that calls the endpoint with the official client;
- deepeval: ``deepeval test run`` with its cache on, a custom metric that calls the endpoint;
- promptfoo: its OpenAI provider and a JavaScript assertion, 32 at once.

Measured: clock and memory (sum over all processes) from nothing, what is installed having been compiled by one run
before; then, from nothing again, ``kill -9`` on the whole
process group once 250 answers are out, and the same command once more: what is kept is 500 less the requests of the
second run. The tools are installed into ``.venv-peers`` (``--install``), the versions pinned below. Telemetry, sharing
and update checks are switched off where a tool has them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import environment, family, load, machine, measure, progress

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".venv-peers"
PYTHON = PEERS / "bin" / "python"
PROMPTFOO = PEERS / "node" / "node_modules" / ".bin" / "promptfoo"
PYTHON_PACKAGES = ("deepeval==4.3.1", "openai==3.57.0", "pytest==9.2.0", "pytest-xdist==3.8.0")
NODE_PACKAGE = "promptfoo@0.121.17"  # the newest that runs on Node 20
CASES = 500
NEUTRAL = sum(number % 3 > 0 for number in range(CASES))

SOURCE = "This is sentence number {number} about the colleagues who work in this house."
PROMPT = "Translate into Italian and say whether the translation is gender-neutral.\n<en> [{source}]"

_PLAIN = f"""
import os
import pytest
from openai import OpenAI

SOURCES = [{SOURCE!r}.format(number=number) for number in range({CASES})]

def ask(source, client=[]):
    client or client.append(OpenAI(base_url=os.environ["STUB_URL"], api_key="none"))
    prompt = {PROMPT!r}.format(source=source)
    reply = client[0].chat.completions.create(model="stub", messages=[{{"role": "user", "content": prompt}}])
    return reply.choices[0].message.content
"""

TEST_PLAIN = (
    _PLAIN
    + """
@pytest.mark.parametrize("source", SOURCES)
def test_neutral(source):
    assert "**NEUTRAL**" in ask(source)
"""
)

TEST_DEEPEVAL = (
    _PLAIN
    + """
from deepeval import assert_test
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Neutral(BaseMetric):
    threshold = 1.0
    async_mode = False

    def measure(self, test_case, *args, **kwargs):
        self.reason = ask(test_case.input)
        self.score = float("**NEUTRAL**" in self.reason)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return bool(self.success)

    @property
    def __name__(self):
        return "Neutral"

@pytest.mark.parametrize("source", SOURCES)
def test_neutral(source):
    assert_test(LLMTestCase(input=source, actual_output="made by the metric"), [Neutral()])
"""
)

TEST_PRODUCT = """
from pytest_gnt import cases
from pytest_gnt.case import Form

@cases("house")
def test_neutral(translation):
    assert translation.label is Form.NEUTRAL
"""

SETTINGS_PRODUCT = """
[run]
model = "stub"
prompt = "none"
shots = 0
max_unscored_rate = 0.0

[corpora.house]
path = "house.tsv"
lang = "it"

[models.stub]
backend = "openai"
model = "stub"
base_url = "{url}"
constrain = false
concurrency = 32
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: its command, its files, how it says how many cases have passed, and its environment."""

    name: str
    command: tuple[str, ...]
    write: Callable[[Path, str], None]
    passed: str
    env: dict[str, str] = field(default_factory=dict)


def write_product(folder: Path, url: str) -> None:
    """A table, a suite, settings."""
    rows = "".join(f"{number}\t{SOURCE.format(number=number)}\tSet-N\n" for number in range(CASES))
    (folder / "house.tsv").write_text("id\tsource\tset\n" + rows)
    (folder / "test_house.py").write_text(TEST_PRODUCT)
    (folder / "gnt.toml").write_text(SETTINGS_PRODUCT.format(url=url))
    (folder / "pytest.ini").write_text("[pytest]\n")


def write_plain(folder: Path, _: str) -> None:
    """One test file."""
    (folder / "test_plain.py").write_text(TEST_PLAIN)
    (folder / "pytest.ini").write_text("[pytest]\n")


def write_deepeval(folder: Path, _: str) -> None:
    """One test file."""
    (folder / "test_deepeval.py").write_text(TEST_DEEPEVAL)
    (folder / "pytest.ini").write_text("[pytest]\n")


def write_promptfoo(folder: Path, url: str) -> None:
    """The configuration."""
    config = {
        "prompts": [PROMPT.format(source="{{source}}")],
        "providers": [{"id": "openai:chat:stub", "config": {"apiBaseUrl": url, "apiKey": "none"}}],
        "defaultTest": {"assert": [{"type": "javascript", "value": "output.includes('**NEUTRAL**')"}]},
        "tests": [{"vars": {"source": SOURCE.format(number=number)}} for number in range(CASES)],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))


_QUIET = ("-q", "--tb=no", "-p", "no:cacheprovider")
_DEEPEVAL_ENV = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
}
_PROMPTFOO_ENV = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_CONFIG_DIR": "state",
}
_DEEPEVAL = (str(PEERS / "bin" / "deepeval"), "test", "run", "test_deepeval.py", "-c")
PROMPTFOO_RUN = (
    *(str(PROMPTFOO), "eval", "-c", "promptfooconfig.json", "-j", "32"),
    *("--no-progress-bar", "--no-table", "--no-share", "-o", "out.json"),
)

ALL = (
    Peer(
        "product", (sys.executable, "-m", "pytest", *_QUIET), write_product, r"(\d+) passed", {"OPENAI_API_KEY": "none"}
    ),
    Peer("pytest", (str(PYTHON), "-m", "pytest", *_QUIET), write_plain, r"(\d+) passed"),
    Peer("pytest -n 8", (str(PYTHON), "-m", "pytest", *_QUIET, "-n", "8"), write_plain, r"(\d+) passed"),
    Peer("deepeval -n 8", (*_DEEPEVAL, "-n", "8"), write_deepeval, r"(\d+) passed", _DEEPEVAL_ENV),
    Peer("promptfoo", PROMPTFOO_RUN, write_promptfoo, r"(\d+) passed", _PROMPTFOO_ENV),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One tool in one round."""

    peer: str
    seconds: float
    cpu: float
    memory: int
    requests: int
    passed: int | None
    kept: int
    killed_at: int


class Server:
    """The endpoint, in a process of its own."""

    def __init__(self) -> None:
        path = Path(__file__).with_name("peer_stub.py")
        self._process = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._base = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.url = f"{self._base}/v1"

    def answered(self) -> int:
        """Requests answered so far."""
        with urllib.request.urlopen(f"{self._base}/stats", timeout=30) as reply:
            return int(json.load(reply)["answered"])

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(10)


def install() -> None:
    """Make ``.venv-peers`` with the pinned versions."""
    if not PYTHON.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES], check=True)
    if not PROMPTFOO.is_file():
        folder = PEERS / "node"
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text("{}")
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", NODE_PACKAGE], cwd=folder, check=True)


def run_peer(peer: Peer, server: Server, folder: Path) -> Row:
    """From nothing; then killed at half, and once more."""
    env = environment(folder) | peer.env | {"STUB_URL": server.url, "NO_PROXY": "127.0.0.1", "HOME": str(folder)}
    env["PATH"] = f"{PEERS / 'bin'}{os.pathsep}{env['PATH']}"
    measure(peer.command, cwd=_fresh(folder / "trial", peer, server.url), env=env)
    whole = _fresh(folder / "whole", peer, server.url)
    before = server.answered()
    found = measure(peer.command, cwd=whole, env=env)
    requests = server.answered() - before
    passed = re.findall(peer.passed, found.output)
    again = _fresh(folder / "killed", peer, server.url)
    killed_at = _kill_at_half(peer, server, again, env)
    before = server.answered()
    measure(peer.command, cwd=again, env=env)
    kept = max(0, CASES - (server.answered() - before))
    row = Row(
        peer=peer.name,
        seconds=found.seconds,
        cpu=found.cpu,
        memory=found.total_memory,
        requests=requests,
        passed=int(passed[-1]) if passed else None,
        kept=kept,
        killed_at=killed_at,
    )
    progress(f"{row}; {load()}")
    if row.passed != NEUTRAL:
        progress(found.output[-1500:])
    return row


def _fresh(folder: Path, peer: Peer, url: str) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    peer.write(folder, url)
    return folder


def _kill_at_half(peer: Peer, server: Server, folder: Path, env: dict[str, str]) -> int:
    before = server.answered()
    process = subprocess.Popen(
        peer.command,
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and server.answered() - before < CASES // 2:
        time.sleep(0.01)
    members = family(process.pid)
    for member in members:
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()
    time.sleep(0.2)  # what was in flight is answered
    return server.answered() - before


def table(rows: list[Row]) -> list[str]:
    """The Markdown table; ratios are to the product's medians."""
    by_peer: dict[str, list[Row]] = {}
    for row in rows:
        by_peer.setdefault(row.peer, []).append(row)

    def median(name: str, value: Callable[[Row], float]) -> float:
        return statistics.median(value(row) for row in by_peer[name])

    base = "product" if "product" in by_peer else rows[0].peer
    lines = [
        "| | clock | ratio | processor time | ratio | memory | ratio | requests | passed | kept after a kill |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, own in by_peer.items():
        cells = []
        for value, unit, scale in (
            (lambda row: row.seconds, "s", 1.0),
            (lambda row: row.cpu, "s", 1.0),
            (lambda row: float(row.memory), "MB", 1e6),
        ):
            here = median(name, value)
            cells += [f"{here / scale:.{0 if unit == 'MB' else 1}f} {unit}", f"{here / median(base, value):.1f}"]
        last = own[-1]
        kept = f"{statistics.median(row.kept for row in own):.0f} of {last.killed_at}"
        lines.append(f"| {name} | {' | '.join(cells)} | {last.requests} | {last.passed} | {kept} |")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(peer.name for peer in ALL))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--install", action="store_true", help="make .venv-peers and stop")
    arguments = parser.parse_args()
    install()
    if arguments.install:
        return
    chosen = [peer for peer in ALL if peer.name in arguments.only.split(",")]
    rows = []
    server = Server()
    try:
        with tempfile.TemporaryDirectory(prefix="gnt-peers-") as name:
            for number in range(arguments.rounds):
                for peer in chosen if number % 2 == 0 else reversed(chosen):
                    rows.append(run_peer(peer, server, Path(name) / peer.name.replace(" ", "")))
    finally:
        server.close()
    pins = ", ".join((*PYTHON_PACKAGES, NODE_PACKAGE))
    print(f"{CASES} cases, {arguments.rounds} rounds; {pins}. {machine()}; {load()}; {time.strftime('%Y-%m-%d')}.\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
