"""``gnt report``: the pages of a stored run, made anew from its records; or its tables alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pytest_gnt.commands.sides import baselines_root
from pytest_gnt.errors import GntError
from pytest_gnt.runner.pages import write_pages
from pytest_gnt.verdicts.baseline import SUMMARY, baseline_folder, list_baselines, read_baseline
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import read_results, read_summary

FORMATS = ("md", "csv", "latex", "json")


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("report", help="rebuild the HTML page of a stored run, or print its tables")
    parser.add_argument(
        "folder", type=Path, nargs="?", default=Path("gnt-report"), help="report folder of a run (default: gnt-report)"
    )
    parser.add_argument("--baselines", help="folder of stored baselines (default: that of gnt.toml)")
    parser.add_argument(
        "--tables", action="store_true", help="print the tables by identity (AmbGIMT) and write no page"
    )
    parser.add_argument("--format", choices=FORMATS, default="md", help="of the tables (default: md)")


def run(arguments: argparse.Namespace) -> int:
    """Write the pages and say where they are, or print the tables."""
    if arguments.tables:
        return print_tables(arguments.folder, arguments.format)
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


def print_tables(folder: Path, form: str) -> int:
    """Print the tables that the run stored, or, for a run of an older version, count its cases.

    Raises:
        GntError: the folder is none of a run, no case of it is about an identity, or nothing of them was measured.
    """
    from pytest_gnt.reports.table_formats import FORMATS as WRITERS
    from pytest_gnt.verdicts.tables import tables_of

    summary = read_summary(folder)
    tables = summary["tables"] if "tables" in summary else tables_of(read_results(folder))
    if not tables:
        raise GntError(f"{folder} has no tables by identity: no case of this run is about one (AmbGIMT).")
    if not any(table.get("quality") or table.get("attitude") for table in tables):
        raise GntError(f"{folder} has no tables: no test of this run asked for quality or attitude.")
    text = WRITERS[form](tables)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 0
