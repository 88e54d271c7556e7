"""`gnt baseline list|show|prune`: the stored baselines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_gnt.commands.sides import baselines_root
from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.baseline import Baseline, baseline_folder, list_baselines, prune, read_baseline, write_baseline
from pytest_gnt.verdicts.results import read_results


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("baseline", help="list, show or prune stored baselines")
    parser.add_argument("--baselines", help="folder of stored baselines (default: that of gnt.toml)")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every stored baseline with its counts")
    show = actions.add_parser(
        "show", help="one model's baselines: signature, counts, one line a case that did not pass"
    )
    show.add_argument("model")
    cut = actions.add_parser("prune", help="take out the cases that a full run does not have")
    cut.add_argument("model")
    cut.add_argument("--like", type=Path, required=True, help="report folder of a full run of the same corpora")
    cut.add_argument("--dry-run", action="store_true", help="only say what would go")


def run(arguments: argparse.Namespace) -> int:
    """List, show or prune."""
    root = baselines_root(arguments.baselines)
    if arguments.action == "list":
        for folder, corpus in list_baselines(root):
            print(_line(read_baseline(folder, corpus)))
        return 0
    stored = _of_model(root, arguments.model)
    if arguments.action == "show":
        for baseline in stored:
            _show(baseline)
        return 0
    return _prune(root, stored, arguments.like, dry=arguments.dry_run)


def _of_model(root: Path, model: str) -> list[Baseline]:
    wanted = baseline_folder(root, model)
    found = [read_baseline(folder, corpus) for folder, corpus in list_baselines(root) if folder == wanted]
    if not found:
        known = sorted({folder.name for folder, _ in list_baselines(root)})
        raise GntError(f"there is no baseline of {model!r} in {root}. Known: {', '.join(known) or 'none'}.")
    return found


def _line(baseline: Baseline) -> str:
    counts = baseline.counts()
    tests = ", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "unscored"))
    return f"{baseline.model} on {baseline.corpus}: {counts['cases']} cases, {tests}"


def _show(baseline: Baseline) -> None:
    print(_line(baseline))
    print(f"  {baseline.signature}")
    for older in baseline.older_signatures:
        print(f"  some cases: {older}")
    for key, entry in baseline.entries.items():
        for name, test in entry.tests.items():
            if test.outcome != "passed":
                print(f"  {test.outcome:8} {key} {name}{f' ({test.reason})' if test.reason else ''}")


def _prune(root: Path, stored: list[Baseline], like: Path, *, dry: bool) -> int:
    there: dict[str, set[str]] = {}
    for result in read_results(like):
        there.setdefault(result.corpus, set()).add(result.id)
    for baseline in stored:
        if baseline.corpus not in there:
            print(f"{baseline.corpus}: not in {like}, left as it is")
            continue
        cut = prune(baseline, there[baseline.corpus])
        gone = sorted(baseline.entries.keys() - cut.entries.keys())
        for key in gone:
            print(f"{'would go' if dry else 'gone'}: {key}")
        if gone and not dry:
            write_baseline(baseline_folder(root, baseline.model), cut)
        print(f"{baseline.corpus}: {len(gone)} of {len(baseline.entries)} cases {'would go' if dry else 'taken out'}")
    return 0
