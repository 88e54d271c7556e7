"""The interpreter that has COMET, tiny checkpoints of every kind, and a program that poses as the worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.case import Case, Subset
from pytest_gnt.evidence import Translation
from pytest_gnt.metrics.comet_runtime import PYTHON_VARIABLE, Installed

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

LONG = "they walked on and on " * 20
SENTENCES = [
    ("The person is stubborn, but keeps every promise.", "这个人固执，可也守信。", "此人固执，但守信用。"),
    ("The woman is stubborn, but keeps every promise.", "这个女人固执，可也守信。", "这位女士固执，但守信用。"),
    ("The trans man is terse.", "这位跨性别男性话很少。", "这位跨性别男性言简意赅。"),
    ("OK.", "好。", "好的。"),
    (
        "The President opened the debate.",
        "La presidenza ha aperto il dibattito.",
        "La Presidente ha aperto il dibattito.",
    ),
    (
        "The President opened the debate.",
        "Il Presidente ha aperto il dibattito.",
        "La Presidente ha aperto il dibattito.",
    ),
    ("I thank the rapporteur \u200d for  the report\t.", "Danke für den Bericht 🏳️‍🌈.", "Ich danke für den Bericht."),
    ("ὁ ἄνθρωπος", "ο άνθρωπος", "το άτομο"),
    (LONG, "andarono avanti", "camminarono"),
    ("Short.", LONG, "Breve."),
    ("Short.", "Breve.", LONG),
    (LONG, LONG, LONG),
]
"""Sources, translations, references: of many lengths, some repeated, some longer than the tiny encoders take."""


def translation(source: str, text: str | None, *references: str, name: str = "") -> Translation:
    """A translation of a case that is told apart by its texts."""
    case = Case(
        id=f"own/{name or abs(hash((source, text, references)))}",
        corpus="own",
        subset=Subset.SET_N,
        target_lang="it",
        source=source,
        group=name or source,
        references=references,
    )
    return Translation(case=case, text=text)


@dataclass(frozen=True, slots=True)
class Tiny:
    """Checkpoint folders by name, and COMET's own scores of `SENTENCES`."""

    folder: Path
    expected: dict[str, list[float]]


@pytest.fixture(scope="session")
def comet_python() -> str:
    """The interpreter of the COMET environment."""
    python = os.environ.get(PYTHON_VARIABLE) or str(ROOT / ".venv-comet" / "bin" / "python")
    if not Path(python).is_file():
        pytest.skip(f"the COMET environment is absent: run make test-comet, or set {PYTHON_VARIABLE}")
    return python


@pytest.fixture(scope="session")
def tiny(comet_python: str, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Tiny checkpoints, made and scored with by COMET itself."""
    folder = tmp_path_factory.mktemp("comet")
    samples = folder / "samples.json"
    samples.write_text(json.dumps([dict(zip(("src", "mt", "ref"), row, strict=True)) for row in SENTENCES]))
    argv = [comet_python, str(HERE / "make_checkpoints.py"), str(folder), str(samples)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    made = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert made.returncode == 0, made.stderr[-3000:]
    return Tiny(folder, json.loads((folder / "expected.json").read_text()))


FakeWorker = Callable[..., Installed]

_FAKE = """#!{python}
import json, os, sys, time
log = open({log!r}, "a")
if "identify" in sys.argv:
    print(json.dumps({{"gnt": "identity", "versions": {{"unbabel-comet": "2.2.7"}}, "checkpoint": "none",
        "kind": "regression_metric", "reference": True, "fingerprint": "0" * 64}}))
    sys.exit()
def say(**message):
    print(json.dumps(message), flush=True)
def score(sample):
    return len(sample["mt"]) / 100
def ready():
    say(gnt="ready", device="cpu", window=512)
def answer(samples):
    for place, sample in enumerate(samples):
        say(gnt="score", place=place, score=score(sample), cut=[])
{body}
ready()
for line in sys.stdin:
    samples = json.loads(line)["samples"]
    log.write(json.dumps(samples) + "\\n")
    log.flush()
    answer(samples)
"""


@pytest.fixture
def fake_worker(tmp_path: Path) -> FakeWorker:
    """Makes a program that speaks the worker's protocol; the score is the length of the translation.

    ``body`` is Python code that may replace ``score``, ``ready`` or ``answer``. What it is asked is in ``asked.jsonl``.
    """

    def make(body: str = "") -> Installed:
        program = tmp_path / "python"
        program.write_text(_FAKE.format(python=sys.executable, log=str(tmp_path / "asked.jsonl"), body=body))
        program.chmod(0o755)
        versions: dict[str, Any] = {"unbabel-comet": "2.2.7"}
        return Installed(python=str(program), versions=versions, checkpoint="none", fingerprint="f" * 64)

    return make
