"""The `gnt` command. Each sub-command is a module of `pytest_gnt.commands`, imported only when it is called for."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from pytest_gnt.errors import GntError

_HELP: dict[str, str] = {
    "align-eval": "measure an aligner against gold words",
    "attitude-eval": "measure an attitude model against human labels of word pairs",
    "baseline": "list, show or prune stored baselines",
    "convert": "turn neutral sentences to the 14 identities",
    "diff": "compare two baselines or report folders",
    "doctor": "which backends, weights and data are usable here",
    "fetch": "fetch a public corpus",
    "grid": "model × language × prompt × shots as one table",
    "init": "copy the shipped suites and a first gnt.toml into a project",
    "judge-eval": "measure a judge against gold labels",
    "report": "rebuild the HTML page of a stored run",
    "setup": "make an environment for COMET",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``gnt``.

    Returns:
        The exit status: the sub-command's; 2 for a wrong call or a `GntError`, whose message goes to standard error.
    """
    parser = argparse.ArgumentParser(
        prog="gnt", description="Gender-neutral and gender-fair translation tests: tools beside pytest --gnt-model=…"
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    arguments = list(sys.argv[1:] if argv is None else argv)
    wanted = arguments[0] if arguments else ""
    for name in available():
        if name == wanted:
            _module(name).add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=_HELP[name], add_help=False)
    parsed = parser.parse_args(arguments)
    try:
        status: int = _module(parsed.command).run(parsed)
        sys.stdout.flush()
    except GntError as error:
        print(f"gnt {parsed.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away (`gnt diff … | head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def available() -> tuple[str, ...]:
    """The sub-commands of this version."""
    return tuple(name for name in _HELP if importlib.util.find_spec(_module_name(name)) is not None)


def _module_name(command: str) -> str:
    return f"pytest_gnt.commands.{command.replace('-', '_')}"


def _module(command: str) -> ModuleType:
    return importlib.import_module(_module_name(command))


if __name__ == "__main__":
    sys.exit(main())
