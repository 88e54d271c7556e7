"""``gnt doctor``: what is usable here, and what to do for the rest."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from pytest_gnt.commands.checkup import Finding, checkup

_MARKS = {"ok": "ok", "missing": "--", "broken": "!!"}


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt doctor``."""
    parser = subparsers.add_parser(
        "doctor",
        help="which backends, weights and data are usable here",
        description="Looks at packages, devices, the configuration, weights, data and the store. Loads no model and "
        "asks no server.",
    )
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    parser.add_argument("--data", metavar="DIR", help="folder of the public corpora (default: the configuration's)")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings.

    Returns:
        0; 1 where something that is configured cannot be used (what is only absent is no fault).
    """
    findings = checkup(arguments.data)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        _print(findings)
    return 1 if any(finding.state == "broken" for finding in findings) else 0


def _print(findings: list[Finding]) -> None:
    width = max(len(finding.name) for finding in findings)
    section = ""
    for finding in findings:
        if finding.section != section:
            section = finding.section
            print(section)
        print(f"  {_MARKS[finding.state]}  {finding.name:<{width}}  {finding.detail}")
        if finding.advice:
            print(f"      {'':<{width}}  -> {finding.advice}")
