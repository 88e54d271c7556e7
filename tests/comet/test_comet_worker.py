"""Parts of the worker script that need neither torch nor comet."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pytest_gnt.metrics.comet_worker import Sample, Scorer, fingerprint, pick_device


@pytest.mark.parametrize(
    ("wanted", "gpus", "process", "device"),
    [
        ("auto", 0, "", "cpu"),
        ("auto", 0, "gw3", "cpu"),
        ("auto", 1, "gw3", "cuda:0"),
        ("auto", 4, "", "cuda:0"),
        ("auto", 4, "gw6", "cuda:2"),
        ("auto", 4, "master", "cuda:0"),
        ("cpu", 4, "gw1", "cpu"),
        ("cuda:3", 4, "gw1", "cuda:3"),
    ],
)
def test_processes_spread_over_the_gpus(wanted: str, gpus: int, process: str, device: str) -> None:
    assert pick_device(wanted, gpus, process) == device


class Fragile(Scorer):
    """Scores the length of the translation; a batch with a bad sample fails whole."""

    def __init__(self, bad: str) -> None:
        self.bad = bad
        self.batches: list[int] = []

    def _scores(self, batch: list[Sample]) -> list[float]:
        self.batches.append(len(batch))
        if any(sample["mt"].startswith(self.bad) for sample in batch):
            raise ValueError("cannot be read")
        return [float(len(sample["mt"])) for sample in batch]


def guarded(scorer: Fragile, *texts: str) -> list[float | str]:
    results = scorer._guarded([{"src": "a", "mt": text} for text in texts])
    return [str(result) if isinstance(result, Exception) else result for result in results]


def test_one_bad_sample_does_not_cost_its_batch() -> None:
    scorer = Fragile("bad")
    assert guarded(scorer, "x", "bad", "yyy") == [1.0, "cannot be read", 3.0]
    assert scorer.batches == [3, 1, 1, 1]


def test_a_failure_of_everything_is_not_the_samples_fault() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        guarded(Fragile(""), "x", "y")
    assert guarded(Fragile(""), "x") == ["cannot be read"]


def archive(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("model/data.pkl", b"same")
        opened.writestr("model/data/0", content)
    return path


def test_a_fingerprint_sees_every_tensor_and_setting(tmp_path: Path) -> None:
    weights = bytes(100_000)
    first = fingerprint(archive(tmp_path / "a.ckpt", weights), b"x: 1")
    assert fingerprint(archive(tmp_path / "b.ckpt", weights), b"x: 1") == first
    changed = bytearray(weights)
    changed[50_000] = 1
    assert fingerprint(archive(tmp_path / "c.ckpt", bytes(changed)), b"x: 1") != first
    assert fingerprint(tmp_path / "a.ckpt", b"x: 2") != first


def test_a_checkpoint_of_the_old_format_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    path.write_bytes(b"\x80\x02" + bytes(3_000_000))
    first = fingerprint(path, b"")
    path.write_bytes(b"\x80\x02" + bytes(2_999_999) + b"\1")
    assert fingerprint(path, b"") != first
