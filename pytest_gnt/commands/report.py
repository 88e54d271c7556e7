"""`gnt report FOLDER`: write the HTML and Markdown pages of a stored run anew, without any model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_gnt.commands.sides import baselines_root
from pytest_gnt.runner.pages import write_pages
from pytest_gnt.verdicts.baseline import SUMMARY, baseline_folder, list_baselines, read_baseline
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import read_summary


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("report", help="rebuild the HTML page of a stored run")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("gnt-report"), help="report folder of a run")
    parser.add_argument("--baselines", help="folder of stored baselines (default: that of gnt.toml)")


def run(arguments: argparse.Namespace) -> int:
    """Write the pages and say where they are."""
    summary = read_summary(arguments.folder)
    name = (summary.get("baseline") or {}).get("name")
    entries: dict[str, Entry] = {}
    if name is not None:
        folder = baseline_folder(baselines_root(arguments.baselines), name)
        if (folder / SUMMARY).is_file():
            for path, corpus in list_baselines(folder.parent):
                if path == folder:
                    entries.update(read_baseline(folder, corpus).entries)
        else:
            print(f"the baseline {name} is not in {folder.parent}: the page shows no earlier translations")
    for path in write_pages(arguments.folder, entries or None):
        print(path)
    return 0
