"""What a run costs beside the models, as ratios to a bare pytest file with as many parametrized empty functions.

    python benchmarks/overhead.py                   # 49,624 cases, 3 rounds: about 12 minutes
    python benchmarks/overhead.py --cases 5000 --rounds 1
    python benchmarks/overhead.py --folder DIR      # keeps the job and its store for the next call

A case is one test on one case of the corpora, and the bare file has one function call for each. All answers are in the
store before anything is measured; what remains is reading the corpora, collecting, looking up and reading all evidence
(translations, judgements, attitudes, quality), running and reporting the tests, and writing the results and the pages.
One of nine tests fails, as in real runs. Both sides run in turns with the same options; the figures are medians over
the rounds of the ratio within a round. A bound is met when clock and processor time meet it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import Measured, environment, load, machine, measure, progress, versions
from workload import FULL, size_for, write_workload

PYTEST = (sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
SAMPLE = 500
SAMPLE_SECONDS = 3.0
MEMORY_LIMIT = 400_000_000

PROBE = """
import time
started = time.monotonic()

def pytest_runtest_logstart(nodeid):
    global started
    if started is not None:
        print(f"\\nfirst test after {time.monotonic() - started:.3f} s", flush=True)
        started = None
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of run, measured on both sides."""

    title: str
    options: tuple[str, ...]
    bound: float


ROWS = (
    Row("collect only", ("--collect-only",), 0.6),
    Row("run", (), 0.75),
    Row("run with `-n 2 --junitxml`", ("-n", "2", "--junitxml=junit.xml"), 1.0),
)
MEMORY_BOUND = 1.25


class Bench:
    """The job in a folder, and the runs of both sides."""

    def __init__(self, folder: Path, cases: int) -> None:
        self.folder = folder
        self.size = size_for(cases)
        self.env = environment(folder)
        self.env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), self.env.get("PYTHONPATH"))))
        write_workload(folder, self.size)
        (folder / "gnt_probe.py").write_text(PROBE)

    def run(self, side: str, *options: str, timeout: float = 1800.0) -> Measured:
        """One run.

        Raises:
            RuntimeError: it did not come to the end.
        """
        found = measure([*PYTEST, *options], cwd=self.folder / side, env=self.env, timeout=timeout)
        if found.status not in (0, 1):
            raise RuntimeError(f"{side}: exit status {found.status}\n{found.output[-4000:]}")
        return found

    def fill(self) -> None:
        """Put all answers into the store, and compiled Python beside it."""
        for side in ("product", "bare"):
            self.run(side)
            self.run(side, "--collect-only")

    def first_test(self) -> float:
        """Seconds from loading the plugins to the first test of a sample."""
        output = self.run("product", "-p", "gnt_probe", "-s", f"--gnt-sample={SAMPLE}").output
        return float(output.partition("first test after ")[2].split(" ", 1)[0])


Pair = tuple[Measured, Measured]


def measured_rows(bench: Bench, rounds: int) -> dict[Row, list[Pair]]:
    """Product and bare in turns, the order changing from round to round."""
    found: dict[Row, list[Pair]] = {row: [] for row in ROWS}
    for number in range(rounds):
        for row in ROWS:
            order = ("product", "bare") if number % 2 == 0 else ("bare", "product")
            sides = {side: bench.run(side, *row.options) for side in order}
            found[row].append((sides["product"], sides["bare"]))
            times = ", ".join(f"{side} {one.seconds:.1f} s ({one.cpu:.1f} s)" for side, one in sides.items())
            progress(f"round {number + 1}: {row.title}: {times}; {load()}")
    return found


def table(found: dict[Row, list[Pair]], first: float) -> list[str]:
    """The Markdown table."""
    lines = [
        "| | bound | ratio, clock | ratio, processor | | product, clock (processor) | bare, clock (processor) |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for row, pairs in found.items():
        clock, cpu = _ratio(pairs, lambda one: one.seconds), _ratio(pairs, lambda one: one.cpu)
        met = _met(clock <= row.bound and cpu <= row.bound)
        product, bare = (
            f"{_median(side, lambda one: one.seconds):.1f} s ({_median(side, lambda one: one.cpu):.1f} s)"
            for side in zip(*pairs, strict=True)
        )
        lines.append(f"| {row.title} | {row.bound} | {clock:.2f} | {cpu:.2f} | {met} | {product} | {bare} |")
    runs = next(pairs for row, pairs in found.items() if row.title == "run")
    ratio = _ratio(runs, lambda one: one.memory)
    own, bare_memory = (_median(side, lambda one: one.memory) for side in zip(*runs, strict=True))
    lines.append(
        f"| peak memory of the run | {MEMORY_BOUND} | {ratio:.2f} | | {_met(ratio <= MEMORY_BOUND)} | "
        f"{own / 1e6:.0f} MB | {bare_memory / 1e6:.0f} MB |"
    )
    lines.append(
        f"| peak memory of the run, in MB | {MEMORY_LIMIT / 1e6:.0f} | | | {_met(own <= MEMORY_LIMIT)} | "
        f"{own / 1e6:.0f} MB | |"
    )
    lines.append(
        f"| `--gnt-sample {SAMPLE}`: seconds from plugin load to the first test | {SAMPLE_SECONDS:g} | | | "
        f"{_met(first <= SAMPLE_SECONDS)} | {first:.1f} s | |"
    )
    return lines


def _median(side: tuple[Measured, ...], value: Callable[[Measured], float]) -> float:
    return statistics.median(value(one) for one in side)


def _ratio(pairs: list[Pair], value: Callable[[Measured], float]) -> float:
    return statistics.median(value(product) / value(bare) for product, bare in pairs)


def _met(met: bool) -> str:
    return "met" if met else "**missed**"


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="gnt-overhead-") as name:
        yield Path(name)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=FULL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the job here, so that the next call finds a full store")
    arguments = parser.parse_args()
    with _folder(arguments.folder) as folder:
        bench = Bench(folder, arguments.cases)
        progress(f"{bench.size.cases} cases: filling the store")
        bench.fill()
        first = statistics.median(bench.first_test() for _ in range(arguments.rounds))
        found = measured_rows(bench, arguments.rounds)
    rounds = f"{arguments.rounds} round{'s' if arguments.rounds > 1 else ''}"
    print(f"{bench.size.cases:,} cases, all evidence in the store; {rounds}. {machine()}; ", end="")
    print(f"{versions('pytest', 'pytest-xdist')}; {load()}; {time.strftime('%Y-%m-%d')}.\n")
    print("\n".join(table(found, first)))


if __name__ == "__main__":
    main()
