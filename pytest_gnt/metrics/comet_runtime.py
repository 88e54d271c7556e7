"""The interpreter that COMET runs in, and what it says of a model without loading it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from pytest_gnt.engines.weights import cache_dir
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.work import digest

Kind = Literal["comet", "xcomet", "cometkiwi"]

PACKAGE = "unbabel-comet"
TORCH = "torch==2.13.0"
VERSION = "2.2.7"
REQUIREMENTS = (f"{PACKAGE}=={VERSION}", "setuptools<82")
"""What `gnt setup comet` installs behind torch. COMET 2.2.7 imports ``pkg_resources``, which setuptools 82 dropped."""

PYTHON_VARIABLE = "GNT_COMET_PYTHON"
WORKER = Path(__file__).with_name("comet_worker.py")

_TAIL = 12


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that can be scored with.

    Attributes:
        python: the interpreter that has COMET.
        versions: of unbabel-comet, torch and transformers there.
        checkpoint: the file with the weights.
        fingerprint: identity of the weights and their settings, 64 hex digits, the same on every machine.
    """

    python: str
    versions: Mapping[str, str | None]
    checkpoint: str
    fingerprint: str


def environment_folder() -> Path:
    """Where `gnt setup comet` puts its environment unless told otherwise."""
    return cache_dir() / "comet"


def interpreter(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / "bin" / "python"


def find_python(configured: str | None = None) -> str:
    """The interpreter to run COMET with: the variable `PYTHON_VARIABLE`, ``configured``, this one, or `setup`'s.

    Raises:
        GntError: the one asked for is not there, or none has COMET.
    """
    for origin, asked in ((PYTHON_VARIABLE, os.environ.get(PYTHON_VARIABLE)), ("python", configured)):
        if asked:
            # Never resolved: the link in an environment's bin/ is what makes the interpreter find its packages.
            path = Path(asked).expanduser()
            if not path.is_file():
                raise GntError(f"COMET: {origin} names {asked!r}, which is not there; name a Python interpreter")
            return str(path)
    if importlib.util.find_spec("comet") is not None and _installed_here():
        return sys.executable
    made = interpreter(environment_folder())
    if made.is_file():
        return str(made)
    raise GntError(
        "COMET is not installed: run  gnt setup comet  once (its pins need an environment of its own), or name an "
        f"interpreter that has {PACKAGE} by the variable {PYTHON_VARIABLE} or as python in [comet.NAME]"
    )


def _installed_here() -> bool:
    """Whether the module ``comet`` of this environment is the metric: another project has that name, too."""
    try:
        metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return True


def worker_argv(python: str, command: str, options: Mapping[str, Any]) -> list[str]:
    """The command line of the worker script; another interpreter does not get this one's ``PYTHON…`` variables."""
    isolated = [] if python == sys.executable else ["-E"]
    return [python, *isolated, str(WORKER), command, json.dumps(options)]


def identify(python: str, model: str, kind: Kind, *, offline: bool) -> Installed:
    """Find a model's checkpoint and check that it is of the kind that is expected of it.

    Args:
        python: see `find_python`.
        model: folder with ``checkpoints/*.ckpt`` and ``hparams.yaml``, checkpoint file, or hub id
            ``owner/name[@revision]``, which is downloaded where the cache does not have it.
        kind: ``comet`` and ``xcomet`` compare with a reference, ``cometkiwi`` does not.
        offline: whether a download is forbidden.

    Raises:
        GntError: the interpreter has no COMET, or the model is not there or of another kind.
        EngineFailure: the interpreter did not answer.
    """
    found = ask(python, model, offline)
    versions = found["versions"]
    if versions.get(PACKAGE) is None:
        raise GntError(f"COMET: {python} has no {PACKAGE}; run  gnt setup comet  or name another interpreter")
    if "refusal" in found:
        raise GntError(f"COMET model: {found['refusal']}")
    actual = _kind(found["kind"], reference=found["reference"])
    if actual != kind:
        is_what = f'of kind "{actual}"' if actual else f"a {found['kind']}, which gives no score of a translation"
        raise GntError(f'COMET model {model!r} is configured as kind = "{kind}" but is {is_what}')
    about = digest({"class": found["kind"], "file": found["fingerprint"]})
    return Installed(python=python, versions=versions, checkpoint=found["checkpoint"], fingerprint=about)


def _kind(class_identifier: str, *, reference: bool) -> Kind | None:
    if class_identifier == "xcomet_metric":
        return "xcomet"
    if class_identifier in ("regression_metric", "unified_metric", "referenceless_regression_metric"):
        return "comet" if reference else "cometkiwi"
    return None


@lru_cache(maxsize=16)
def ask(python: str, model: str | None, offline: bool, show: bool = False) -> dict[str, Any]:
    """What the worker script says under ``identify``; without a model it tells versions only.

    Args:
        python: the interpreter.
        model: see `identify`.
        offline: whether a download is forbidden.
        show: let its standard error, with the progress of a download, through to the terminal.

    Raises:
        EngineFailure: the interpreter cannot be run or says something else.
    """
    argv = worker_argv(python, "identify", {"model": model, "offline": offline})
    aside = None if show else subprocess.PIPE
    try:
        done = subprocess.run(  # noqa: S603
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=aside, check=False
        )
    except OSError as error:
        raise EngineFailure(f"COMET: cannot run {python}: {error.strerror}") from error
    for line in reversed(done.stdout.decode("utf-8", "replace").splitlines()):
        answer = message(line)
        if answer is not None and answer["gnt"] == "identity":
            return answer
    said = " | ".join((done.stderr or b"").decode("utf-8", "replace").split("\n")[-_TAIL:]).strip(" |")
    raise EngineFailure(f"COMET: {python} did not answer (exit status {done.returncode}): {said or 'it said nothing'}")


def message(line: str | bytes) -> dict[str, Any] | None:
    """A line of the worker's protocol; None for anything else that came through the pipe."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("gnt"), str) else None
