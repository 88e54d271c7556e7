"""How time and memory of a run grow with the number of cases, everything being in the store.

    python benchmarks/growth.py                          # 1,000 to 50,000 cases
    python benchmarks/growth.py --sizes 50000,500000     # half a million: about 20 minutes

The growth between two sizes is given as the exponent of a power law: 1 is linear, below 1 the fixed costs of a run
still count, above 1 a case would cost the more the larger the run. The last line takes the fixed costs off: it fits
a + b·nᵏ through the smallest, the middle and the largest size.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import Measured, load, machine, progress, versions
from overhead import Bench

SIZES = (1_000, 5_000, 20_000, 50_000)


def run_sizes(sizes: list[int]) -> dict[int, Measured]:
    """A run of each size with a full store."""
    found = {}
    for cases in sizes:
        with tempfile.TemporaryDirectory(prefix="gnt-growth-") as name:
            bench = Bench(Path(name), cases)
            bench.run("product")
            found[bench.size.cases] = bench.run("product")
        one = found[bench.size.cases]
        progress(f"{bench.size.cases} cases: {one.seconds:.1f} s, {one.cpu:.1f} s of processor time; {load()}")
    return found


def exponent(first: tuple[float, float], second: tuple[float, float]) -> float:
    """k of a power law through two points (n, value)."""
    return math.log(second[1] / first[1]) / math.log(second[0] / first[0])


def fitted(points: list[tuple[float, float]]) -> float:
    """k of a + b·nᵏ through three points, by bisection on the ratio of the two differences."""
    (n1, y1), (n2, y2), (n3, y3) = points
    wanted = (y3 - y2) / (y2 - y1)
    low, high = 0.05, 4.0
    for _ in range(60):
        k = (low + high) / 2
        low, high = (k, high) if (n3**k - n2**k) / (n2**k - n1**k) < wanted else (low, k)
    return (low + high) / 2


def table(found: dict[int, Measured]) -> list[str]:
    """The Markdown table."""
    lines = [
        "| cases | clock | processor time | growth | peak memory | growth | processor time a case |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    last: tuple[int, Measured] | None = None
    for cases, one in found.items():
        time_growth = memory_growth = "–"
        if last is not None:
            time_growth = f"{exponent((last[0], last[1].cpu), (cases, one.cpu)):.2f}"
            memory_growth = f"{exponent((last[0], last[1].memory), (cases, one.memory)):.2f}"
        lines.append(
            f"| {cases:,} | {one.seconds:.1f} s | {one.cpu:.1f} s | {time_growth} | {one.memory / 1e6:.0f} MB | "
            f"{memory_growth} | {1000 * one.cpu / cases:.2f} ms |"
        )
        last = (cases, one)
    if len(found) >= 3:
        sizes = list(found)
        places = (sizes[0], sizes[len(sizes) // 2], sizes[-1])
        cpu, memory = (_fit(found, places, value) for value in (lambda one: one.cpu, lambda one: one.memory))
        lines += ["", f"Without the fixed costs: processor time grows with n^{cpu:.2f}, memory with n^{memory:.2f}."]
    return lines


def _fit(found: dict[int, Measured], places: tuple[int, ...], value: Callable[[Measured], float]) -> float:
    return fitted([(place, value(found[place])) for place in places])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    found = run_sizes([int(size) for size in parser.parse_args().sizes.split(",")])
    print(f"One run a size. {machine()}; {versions('pytest')}; {load()}; {time.strftime('%Y-%m-%d')}.\n")
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
