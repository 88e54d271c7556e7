"""``-n auto``: one worker a GPU where the model is loaded onto GPUs, else what xdist takes it to mean."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_gnt.config import load_config
from pytest_gnt.runner.worker_count import workers_for_gpus
from tests.runner.conftest import GNT_TOML, House

MODELS = """
[models.big]
backend = "vllm"
model = "owner/big"

[models.huge]
backend = "vllm"
model = "owner/huge"
tensor_parallel_size = 4

[models.small]
backend = "transformers"
model = "owner/small"

[models.cpu]
backend = "transformers"
model = "owner/small"
device = "cpu"

[models.served]
backend = "openai"
model = "big"
base_url = "http://127.0.0.1:9/v1"

[judges.local]
kind = "llm"
model = "big"
"""


def count(folder: Path, devices: int, **settings: Any) -> int | None:
    (folder / "gnt.toml").write_text(GNT_TOML + MODELS)
    (folder / "dev").mkdir()
    for number in range(devices):
        (folder / "dev" / f"nvidia{number}").touch()
    files = load_config(folder)
    gnt = SimpleNamespace(files=files, settings=files.overlay(settings))
    return workers_for_gpus(gnt, folder / "dev")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "devices", "workers"),
    [
        ({"model": "big"}, 4, 4),
        ({"model": "big"}, 0, None),
        ({"model": "huge"}, 8, 2),
        ({"model": "huge"}, 2, 1),
        ({"model": "small"}, 3, 3),
        ({"model": "cpu"}, 3, None),
        ({"model": "served"}, 3, None),
        ({"model": "served", "judge": "local"}, 3, 3),
        ({"model": "mine"}, 3, None),
        ({"model": "mine", "comet": "comet22"}, 3, 3),
        ({}, 3, None),
        ({"model": "no such"}, 3, None),
    ],
)
def test_workers_by_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], devices: int, workers: int | None
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert count(tmp_path, devices, **settings) == workers


@pytest.mark.parametrize(("visible", "workers"), [("GPU-a,MIG-b,2", 3), ("1,-1,2", 1), ("", None)])
def test_only_visible_gpus_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str, workers: int | None
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert count(tmp_path, 8, model="big") == workers


def test_the_users_own_number_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "7")
    assert count(tmp_path, 2, model="big") is None


def test_auto_asks_for_gpus_before_workers_start(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("gnt.toml", GNT_TOML + MODELS)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,GPU-c")
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
    house.run("-n", "auto").stdout.fnmatch_lines(["*1 worker*"])
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS")
    house.run("-n", "auto", "--gnt-comet=none", model="small").stdout.fnmatch_lines(["created: 3/3 workers"])
