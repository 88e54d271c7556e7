"""``gnt setup comet``: make the environment that COMET needs for itself, and fetch its models."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from pytest_gnt.errors import EngineFailure, GntError


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt setup``."""
    parser = subparsers.add_parser(
        "setup",
        help="make an environment for COMET",
        description="COMET's pins forbid it the environment of the other models. This makes one for it (about 1.5 GB) "
        "where pytest --gnt-comet=… finds it.",
    )
    parser.add_argument("what", choices=["comet"])
    parser.add_argument("--dir", metavar="DIR", help="where to make it (default: the user's cache folder)")
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help="interpreter to make it with")
    parser.add_argument("--torch", metavar="REQUIREMENT", help="requirement for PyTorch (default: the tested version)")
    parser.add_argument(
        "--model", metavar="NAME", action="append", default=[], help="COMET model to fetch; may be repeated"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the environment where it is not there yet, then fetch the models.

    Raises:
        GntError: the folder is in use by something else, or a step failed.
    """
    from pytest_gnt.metrics.comet_runtime import PYTHON_VARIABLE, VERSION, environment_folder, interpreter

    folder = Path(arguments.dir).expanduser().absolute() if arguments.dir else environment_folder()
    python = interpreter(folder)
    if _installed(python) == VERSION:
        print(f"COMET {VERSION} is already in {folder}")
    else:
        make(folder, arguments.python, arguments.torch)
        print(f"COMET {VERSION} is in {folder}")
    if arguments.dir:
        print(f"to use it, set {PYTHON_VARIABLE}={python}")
    for name in arguments.model:
        print(f"{name}: {fetch(str(python), name)}")
    return 0


def make(folder: Path, python: str, torch: str | None = None) -> None:
    """Make the environment. torch comes first and pinned: behind COMET, pip could choose a build for another machine.

    Raises:
        GntError: the folder holds something else, or a step failed.
    """
    from pytest_gnt.metrics.comet_runtime import REQUIREMENTS, TORCH, interpreter

    if folder.exists() and not (folder / "pyvenv.cfg").is_file() and any(folder.iterdir()):
        raise GntError(f"{folder} is no Python environment and not empty; give another --dir")
    own = str(interpreter(folder))
    install = [own, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    _step("making the environment", [python, "-m", "venv", "--clear", str(folder)])
    _step(f"installing {torch or TORCH}", [*install, torch or TORCH])
    _step(f"installing {', '.join(REQUIREMENTS)}", [*install, *REQUIREMENTS])
    _step("importing it", [own, "-I", "-W", "ignore", "-c", "import comet"])


def fetch(python: str, name: str) -> str:
    """Download a model of the configuration into the hub cache, unless it is there; returns its checkpoint.

    Raises:
        GntError: no such model, or it cannot be had.
    """
    from pytest_gnt.config import load_config
    from pytest_gnt.metrics.comet_runtime import ask

    config = load_config(Path.cwd())
    settings = config.comet_models(name)[name]
    local = config.path(settings.model)
    found = ask(python, str(local) if local.exists() else settings.model, offline=False, show=True)
    if "refusal" in found:
        raise GntError(f"COMET model {name!r}: {found['refusal']}")
    return str(found["checkpoint"])


def _installed(python: Path) -> str | None:
    """The version of COMET that an interpreter has; None where there is none."""
    from pytest_gnt.metrics.comet_runtime import PACKAGE, ask

    if not python.is_file():
        return None
    try:
        version: str | None = ask(str(python), None, offline=True)["versions"][PACKAGE]
    except EngineFailure:
        return None
    return version


def _step(title: str, argv: list[str]) -> None:
    print(f"{title} …", flush=True)
    try:
        status = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False).returncode  # noqa: S603
    except OSError as error:
        raise GntError(f"cannot run {argv[0]}: {error.strerror}; give a Python interpreter by --python") from error
    if status:
        raise GntError(f"{title} failed (exit status {status}); what went wrong stands above")
