"""`gnt init [FOLDER]`: copy the shipped suites and a first gnt.toml into a project."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_gnt.errors import GntError

SUITES = "suites"

CONFIG = """\
# pytest-gnt: which system is tested. Run: pytest --gnt-model=mine suites/

[models.mine]
backend = "openai"                      # also: vllm, transformers, command, recorded
model = "my-translator"
base_url = "http://localhost:8000/v1"   # any OpenAI-compatible server
# api_key_env = "OPENAI_API_KEY"        # the key itself comes from the environment, never from a file

# A corpus of your own, a table with the columns id, source, set, gender, reference_neutral, reference_gendered:
# [corpora.house]
# path = "house.tsv"
# lang = "it"
"""


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt init``."""
    parser = subparsers.add_parser(
        "init",
        help="copy the shipped suites and a first gnt.toml into a project",
        description="Copies the shipped suites into FOLDER/suites and writes a gnt.toml to start from. "
        "Files that are there already stay as they are.",
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path())


def run(arguments: argparse.Namespace) -> int:
    """Write what is not there yet, and say what was done.

    Raises:
        GntError: the folder cannot be written.
    """
    folder: Path = arguments.folder
    wanted = {folder / SUITES / path.name: path.read_text(encoding="utf-8") for path in sorted(shipped_suites())}
    wanted[folder / "gnt.toml"] = CONFIG
    for path, text in wanted.items():
        print(f"{path}: {'written' if _write(path, text) else 'is there already, left as it is'}")
    print(f"try it without a model: pytest --gnt-model=sample-v2 --gnt-baseline=none {folder / SUITES}")
    return 0


def shipped_suites() -> list[Path]:
    """The suites' files: within the installed package, or beside it in a source tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_suites"
    folder = installed if installed.is_dir() else package.parent / SUITES
    return list(folder.glob("test_*.py"))


def _write(path: Path, text: str) -> bool:
    """Write a new file; whether it was new."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        if path.is_file():
            return False
        raise GntError(f"{path}: something that is not a file is in the way.") from None
    except OSError as error:
        raise GntError(f"{path} cannot be written: {error.strerror}.") from error
    return True
