"""Write docs/performance.md: run the benchmarks whose sections are asked for, keep the other sections as they are.

    python benchmarks/page.py                          # overhead, growth, report: about 25 minutes
    python benchmarks/page.py growth report            # these two
    python benchmarks/page.py peers                    # installs the peers into .venv-peers
    python benchmarks/page.py overhead --from FILE     # a table that was printed before

A section stands between two comments, ``<!-- section NAME -->`` and ``<!-- end NAME -->``. Everything else of the page
is written by hand, sections among it that need other machines or environments (vLLM, COMET).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"

SECTIONS = {
    "overhead": ("overhead.py",),
    "growth": ("growth.py",),
    "report": ("report_size.py",),
    "peers": ("peers.py",),
}
USUAL = ("overhead", "growth", "report")


def table_of(section: str) -> str:
    """What a section's script prints.

    Raises:
        CalledProcessError: the script failed; its output is shown.
    """
    script, *options = SECTIONS[section]
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def replaced(page: str, section: str, text: str) -> str:
    """The page with the text of one section in place.

    Raises:
        ValueError: the page has no such section.
    """
    pattern = re.compile(rf"(<!-- section {section} -->\n).*?(<!-- end {section} -->)", re.DOTALL)
    if pattern.search(page) is None:
        raise ValueError(f"{PAGE} has no section {section}: put '<!-- section {section} -->' and its end there")
    return pattern.sub(lambda found: f"{found[1]}{text.strip()}\n{found[2]}", page)


def main() -> None:
    """Run, and write after each section, so that an interrupt loses one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=list(USUAL), metavar=f"{{{','.join(SECTIONS)}}}")
    parser.add_argument("--from", dest="file", type=Path, help="take the one section's table from this file")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.sections) - set(SECTIONS))
    if unknown or (arguments.file and len(arguments.sections) != 1):
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "--from is for one section")
    for section in arguments.sections:
        text = arguments.file.read_text(encoding="utf-8") if arguments.file else table_of(section)
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), section, text), encoding="utf-8")
        print(f"{PAGE}: {section}")


if __name__ == "__main__":
    main()
