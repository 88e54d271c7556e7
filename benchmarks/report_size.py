"""How large the report of the full job is, and what writing it takes.

python benchmarks/report_size.py [--cases 49624]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import load, machine, measure
from overhead import Bench
from workload import FULL

_WRITE = "import sys; from pathlib import Path; from pytest_gnt.reports.html import write_html; "
WRITE = _WRITE + "write_html(Path(sys.argv[1]))"


def main() -> None:
    """Run the job once, then write its page alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=FULL)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gnt-report-size-") as name:
        bench = Bench(Path(name), arguments.cases)
        bench.run("product")
        folder = bench.folder / "product" / "gnt-report"
        command = [sys.executable, "-c", WRITE, str(folder)]
        page = measure(command, cwd=bench.folder, env=bench.env)
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    print(f"{bench.size.cases:,} cases. {machine()}; {load()}; {time.strftime('%Y-%m-%d')}.\n")
    print("| file | size |\n| --- | ---: |")
    for name, size in sizes.items():
        print(f"| `{name}` | {size / 1e6:.2f} MB |")
    print(
        f"\nWriting `report.html` from the records (`gnt report`): {page.cpu:.1f} s of processor time, "
        f"{page.memory / 1e6:.0f} MB of memory."
    )


if __name__ == "__main__":
    main()
