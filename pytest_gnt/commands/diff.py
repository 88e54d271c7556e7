"""`gnt diff A B`: what changed from A to B, in numbers and sentence by sentence."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_gnt.commands.sides import baselines_root, find_side
from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.changes import by_id
from pytest_gnt.verdicts.diff import Diff, DiffSide, compare_sides


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "diff",
        help="compare two baselines or report folders",
        description="Compare two runs: rates side by side with intervals and p-values, then every case that changed.",
    )
    parser.add_argument("before", help="baseline name, baseline folder or report folder")
    parser.add_argument("after", help="the same, to be looked at")
    parser.add_argument("--format", choices=("terminal", "markdown", "json", "github"), default="terminal")
    parser.add_argument(
        "--html", type=Path, help="also write the page of the second run, a report folder, with the changes"
    )
    parser.add_argument("--output", type=Path, help="write to this file instead of the terminal")
    parser.add_argument("--limit", type=int, default=50, help="cases shown in full (default: 50)")
    parser.add_argument("--partial", action="store_true", help="the second run was filtered on purpose")
    parser.add_argument("--baselines", help="folder of stored baselines (default: that of gnt.toml)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resampling")
    parser.add_argument(
        "--fail-on-regression",
        choices=("any", "significant"),
        nargs="?",
        const="any",
        help="exit with 1 when a case regressed (any), or a number fell significantly",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the difference; 1 where it is a regression and that was asked for."""
    root = baselines_root(arguments.baselines)
    before, after = (find_side(name, root) for name in (arguments.before, arguments.after))
    before = replace(before, cases=list(before.cases))
    if arguments.html is not None:
        _write_page(arguments, before)
    diff = compare_sides(before, after, partial=arguments.partial, seed=arguments.seed)
    _write(diff, arguments)
    if arguments.fail_on_regression == "significant":
        return int(diff.significantly_worse)
    return int(arguments.fail_on_regression == "any" and diff.regressed)


def _write_page(arguments: argparse.Namespace, before: DiffSide) -> None:
    from pytest_gnt.reports.html import write_html

    folder = Path(arguments.after)
    if not (folder / "report.json").is_file():
        raise GntError(f"--html needs a report folder as its second side, and {arguments.after!r} is none")
    write_html(folder, by_id(before.cases), against=before.name, to=arguments.html)


def _write(diff: Diff, arguments: argparse.Namespace) -> None:
    if arguments.format == "terminal" and arguments.output is None:
        from rich.console import Console

        from pytest_gnt.reports.diff_text import render_diff

        Console(markup=False, highlight=False).print(render_diff(diff, limit=arguments.limit))
        return
    text = _text(diff, arguments.format, arguments.limit)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        arguments.output.write_text(text, encoding="utf-8", errors="backslashreplace")


def _text(diff: Diff, form: str, limit: int) -> str:
    from pytest_gnt.reports.diff_markdown import diff_markdown, github_annotations

    if form == "json":
        return json.dumps(diff.to_json(), ensure_ascii=True, indent=1, allow_nan=False) + "\n"
    if form == "github":
        return "".join(line + "\n" for line in github_annotations(diff))
    return diff_markdown(diff, limit=limit)
