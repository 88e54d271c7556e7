"""Configuration: presets beneath, own file above, and errors that name the key and the nearest known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gnt.config import RecordedModel, TransformersModel, load_config
from pytest_gnt.errors import GntError


def config(folder: Path, text: str):
    (folder / "gnt.toml").write_text(text, encoding="utf-8")
    return load_config(folder)


def test_presets_need_no_file(tmp_path: Path) -> None:
    loaded = load_config(tmp_path)
    papers = {
        "qwen72b",
        "llama70b",
        "llama8b",
        "gemma9b",
        "phi14b",
        "nllb3b",
        "minicpm2b",
        "mistral7b",
        "llama2-7b",
        "gpt4o",
    }
    assert papers <= set(loaded.models)
    assert isinstance(loaded.model("sample-v1"), RecordedModel)
    assert loaded.path(loaded.model("sample-v1").path).is_file()


def test_own_models_stand_beside_presets_and_win(tmp_path: Path) -> None:
    loaded = config(tmp_path, '[models.qwen72b]\nbackend="transformers"\nmodel="here"\n[run]\nlangs=["it"]\nshots=2\n')
    assert loaded.model("qwen72b") == TransformersModel(model="here")
    assert loaded.run.langs == ("it",)
    assert "phi14b" in loaded.models


def test_pyproject_is_read_where_there_is_no_gnt_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.gnt.run]\nmodel="phi14b"\n')
    assert load_config(tmp_path).run.model == "phi14b"
    (tmp_path / "gnt.toml").write_text('[run]\nmodel="llama8b"\n')
    assert load_config(tmp_path).run.model == "llama8b"


def test_options_win_over_the_file(tmp_path: Path) -> None:
    loaded = config(tmp_path, "[run]\nshots=2\nseed=3\n")
    settings = loaded.overlay({"shots": 4, "langs": ("de",), "model": None})
    assert (settings.shots, settings.seed, settings.langs) == (4, 3, ("de",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run]\nshot=2\n", r"gnt\.toml \[run\] shot: unknown key\. Did you mean shots"),
        ('[run]\nshots="2"\n', r"\[run\] shots: .*got '2'"),
        ("[run]\nshots=3\n", r"\[run\] shots: Input should be 0, 2 or 4"),
        ("[runs]\n", r"unknown table \[runs\]\. Did you mean run"),
        ("run=1\n", r"run must be a table"),
        ("[run\n", "not valid TOML"),
        ('[run]\nbaseline = ""\n', r"\[run\] baseline: String should have at least 1 character"),
        ('[corpora.x]\npath = "x"\nlangs = []\n', r"\[corpora\.x\] langs: .*at least 1 item"),
        ("[run]\nlangs = []\n", r"\[run\] langs: .*at least 1 item"),
        ('[models.x]\nmodel="y"\n', r"\[models\.x\] needs backend = "),
        ('[models.x]\nbackend="recorded"\n', r"\[models\.x\] path: is missing"),
        ('[models.x]\nbackend="vllm"\nmodel="m"\ntensor_paralel_size=2\n', "Did you mean tensor_parallel_size"),
        ("[run]\nmax_unscored_rate=1.5\n", "max_unscored_rate: Input should be less than or equal to 1"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GntError, match=message):
        config(tmp_path, text)


def test_an_unknown_model_lists_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(GntError, match=r"unknown model 'qwen72'\. Did you mean qwen72b.*Known: .*sample-v2"):
        load_config(tmp_path).model("qwen72")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "gnt.toml").write_bytes("\ufeff[run]\nseed=5\n".encode())
    assert load_config(tmp_path).run.seed == 5


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
@pytest.mark.parametrize("key", ["delta", "comet_gap"])
def test_a_number_that_is_not_finite_is_refused(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(GntError, match=rf"gnt\.toml \[run\] {key}: Input should be a finite number"):
        config(tmp_path, f"[run]\n{key} = {value}\n")
