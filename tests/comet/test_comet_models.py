"""The real unbabel-comet with tiny checkpoints: its own scores, and everything that can be wrong with a model."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest

from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.comet import CometProvider
from pytest_gnt.metrics.comet_runtime import Installed, Kind, ask, identify
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from tests.comet.conftest import LONG, SENTENCES, Tiny, translation

pytestmark = pytest.mark.comet

KINDS: dict[str, Kind] = {
    "regression": "comet",
    "unified": "comet",
    "xcomet": "xcomet",
    "kiwi": "cometkiwi",
    "referenceless": "cometkiwi",
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


def found(python: str, tiny: Tiny, name: str, kind: Kind) -> Installed:
    return identify(python, str(tiny.folder / name), kind, offline=True)


@pytest.mark.parametrize("name", KINDS)
def test_scores_are_comets_own(comet_python: str, tiny: Tiny, tmp_path: Path, name: str) -> None:
    """Whatever the batch size and the order, and with the parts of a sample encoded apart and once."""
    kind = KINDS[name]
    provider = CometProvider("tiny", found(comet_python, tiny, name, kind), kind, batch_size=3, offline=True)
    subjects = [translation(*row) for row in SENTENCES]
    several = [translation(*SENTENCES[0], SENTENCES[3][2]), translation(*SENTENCES[0][:2], SENTENCES[3][2])]
    odd = [translation("a", text, "r") for text in ("\ud83d half a pair", "nul \0", "\u200d", "🏳️‍🌈", "x\u2028y")]
    computed = Executor(Store(tmp_path / "s")).compute(provider, [*reversed(subjects), *several, *odd])

    own = [100 * score for score in tiny.expected[name]]
    assert len({round(score, 3) for score in own}) > len(own) / 2, "the samples' scores should differ"
    scores = [one.scores[kind] for one in computed[: len(own)]]
    assert scores == pytest.approx(own[::-1], abs=1e-3)  # points of 100
    both, other = (one.scores for one in computed[len(own) : len(own) + 2])
    if kind == "cometkiwi":
        assert both == {kind: pytest.approx(own[0], abs=1e-3)}
    else:
        pair = [own[0], other[kind]]
        assert both == {kind: pytest.approx(max(pair), abs=1e-3), f"{kind}_mean": pytest.approx(fmean(pair), abs=1e-3)}
    assert all(one.reason is None and len(one.scores) == 1 for one in computed[len(own) + 2 :])

    cut = {one.translation: one.detail for one in computed}
    details = [cut[subject] for subject in subjects]
    window = f"{kind}: cut to the encoder's 64 tokens: "
    joined = "" if name in ("regression", "referenceless") else "the parts together, "
    assert details[0] == ""
    assert details[8] == window + "source" + (", the parts together" if joined else "")
    assert details[9] == window + joined + "translation"
    assert (details[10] == "") is (kind == "cometkiwi")


def test_weights_that_are_not_finite(comet_python: str, tiny: Tiny, tmp_path: Path) -> None:
    provider = CometProvider("tiny", found(comet_python, tiny, "broken", "comet"), "comet", offline=True)
    computed = Executor(Store(tmp_path / "s", run="1")).compute(provider, [translation(*row) for row in SENTENCES])
    assert {one.reason for one in computed} == {Reason.NOT_FINITE}
    assert all(not one.scores for one in computed)
    works = [provider.work(one.translation).key for one in computed]
    assert Store(tmp_path / "s", run="2").answers(works) == {}


def test_a_killed_worker_costs_what_was_open(comet_python: str, tiny: Tiny, tmp_path: Path) -> None:
    provider = CometProvider(
        "tiny", found(comet_python, tiny, "xcomet", "xcomet"), "xcomet", batch_size=1, offline=True
    )
    provider.batch_size = 500
    subjects = [translation(f"{LONG} {number}", LONG, f"reference {number}") for number in range(400)]

    class KillsAt:
        """Ends the worker when the tenth answer is there."""

        def start(self, stage: str, total: int) -> None:
            self.count = 0

        def advance(self, count: int) -> None:
            self.count += count
            if self.count == 10:
                [worker] = children()
                os.kill(worker, signal.SIGKILL)

        def finish(self, count: object) -> None:
            pass

    with pytest.raises(EngineFailure, match="the COMET worker was ended by signal 9"):
        Executor(Store(tmp_path / "s"), KillsAt()).compute(provider, subjects)
    assert children() == []
    kept = len(Store(tmp_path / "s").answers([provider.work(subject).key for subject in subjects]))
    assert 10 <= kept < 400


def children() -> list[int]:
    """Living COMET workers of this process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"comet_worker" in (path.parent / "cmdline").read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_an_encoder_that_is_not_there(comet_python: str, tiny: Tiny, tmp_path: Path) -> None:
    """Its files are looked for when the model is loaded."""
    copy = tmp_path / "lost"
    shutil.copytree(tiny.folder / "kiwi", copy)
    checkpoint = copy / "checkpoints" / "model.ckpt"
    data = checkpoint.read_bytes()
    name = str(tiny.folder / "encoder").encode()
    assert name in data
    checkpoint.write_bytes(data.replace(name, b"/" + b"x" * (len(name) - 1)))
    provider = CometProvider(
        "lost", identify(comet_python, str(copy), "cometkiwi", offline=True), "cometkiwi", offline=True
    )
    with pytest.raises(EngineFailure, match=r"the COMET worker failed \(loading the model\): OSError: .*xxxx"):
        list(provider.run([provider.work(translation("a", "b"))]))


# Without loading: what a model is.


def test_a_copy_is_the_same_model_and_a_change_is_not(comet_python: str, tiny: Tiny, tmp_path: Path) -> None:
    first = found(comet_python, tiny, "regression", "comet")
    shutil.copytree(tiny.folder / "regression", tmp_path / "copy")
    copied = identify(comet_python, str(tmp_path / "copy"), "comet", offline=True)
    by_file = identify(comet_python, str(tmp_path / "copy" / "checkpoints" / "model.ckpt"), "comet", offline=True)
    assert first.fingerprint == copied.fingerprint == by_file.fingerprint
    assert first.fingerprint != found(comet_python, tiny, "broken", "comet").fingerprint
    assert first.versions["unbabel-comet"] == "2.2.7"
    assert (
        CometProvider("a", first, "comet").work(translation("a", "b", "r")).key
        != CometProvider("a", found(comet_python, tiny, "broken", "comet"), "comet")
        .work(translation("a", "b", "r"))
        .key
    )


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("kiwi", "comet", r'configured as kind = "comet" but is of kind "cometkiwi"'),
        ("referenceless", "xcomet", 'is of kind "cometkiwi"'),
        ("unified", "cometkiwi", 'is of kind "comet"'),
        ("xcomet", "comet", 'is of kind "xcomet"'),
        ("ranking", "comet", "is a ranking_metric, which gives no score of a translation"),
        ("encoder", "comet", r"holds 0 files checkpoints/\*\.ckpt"),
        ("nothing", "comet", "no folder or file"),
    ],
)
def test_models_that_cannot_be_used(comet_python: str, tiny: Tiny, name: str, kind: Kind, message: str) -> None:
    with pytest.raises(GntError, match=message):
        found(comet_python, tiny, name, kind)


@pytest.mark.parametrize(
    ("settings", "message"), [(None, "cannot be read"), ("[", "is not YAML"), ("3", "holds no settings")]
)
def test_settings_that_cannot_be_read(
    comet_python: str, tiny: Tiny, tmp_path: Path, settings: str | None, message: str
) -> None:
    shutil.copytree(tiny.folder / "kiwi", tmp_path / "m", ignore=shutil.ignore_patterns("hparams.yaml"))
    if settings is not None:
        (tmp_path / "m" / "hparams.yaml").write_text(settings)
    with pytest.raises(GntError, match=message):
        identify(comet_python, str(tmp_path / "m"), "cometkiwi", offline=True)


def test_a_hub_model_that_is_not_here_is_not_fetched_offline(
    comet_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(GntError, match=r"'own/model' is not in the hub cache of this machine and the run is offline"):
        identify(comet_python, "own/model", "comet", offline=True)


def test_a_hub_model_is_taken_from_the_cache(
    comet_python: str, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    place = tmp_path / "hub" / "models--own--cached"
    shutil.copytree(tiny.folder / "kiwi", place / "snapshots" / ("a" * 40))
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    model = identify(comet_python, "own/cached", "cometkiwi", offline=False)
    assert model.fingerprint == found(comet_python, tiny, "kiwi", "cometkiwi").fingerprint


def test_the_environments_versions(comet_python: str) -> None:
    assert set(json.loads(json.dumps(ask(comet_python, None, offline=True)["versions"]))) == {
        "unbabel-comet",
        "torch",
        "transformers",
    }
