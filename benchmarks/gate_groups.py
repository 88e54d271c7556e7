"""Why groups are what is resampled: false alarms on sentences that share their fate with 13 variants.

Simulates pairs of runs of one unchanged system on an AmbGIMT-sized suite (298 sentences × 14 identities). In 5% of the
sentences the two runs word all variants differently, so that their results move together. For each number the share of
pairs with p ≤ 0.05 is printed: it must not be above 5%. The first row is the same pass rate under an exact McNemar
test of all 4,172 cases, as if they were independent.

    python benchmarks/gate_groups.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pytest_gnt.case import BINARY, NON_BINARY, Identity
from pytest_gnt.verdicts.comparison import p_value
from pytest_gnt.verdicts.measures import measure_named
from pytest_gnt.verdicts.samples import Flips, Sample
from pytest_gnt.verdicts.statistics import mcnemar, wilson

SENTENCES, PAIRS, LEVEL = 298, 1000, 0.05
REWORDED = 0.05
DELTA = 0.2
IDENTITIES = tuple(Identity)
OF_PAIR = np.array([identity in BINARY for identity in IDENTITIES])
OF_OTHERS = np.array([identity in NON_BINARY for identity in IDENTITIES])
Floats = NDArray[np.float64]


def scores(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A score of each variant in two runs, of shape (sentences, identities)."""
    nature = rng.normal(size=(SENTENCES, 1)) + 0.5 * rng.normal(size=(SENTENCES, len(IDENTITIES)))
    moved = rng.random((SENTENCES, 1)) < REWORDED
    first, second = (
        nature + moved * (rng.normal(size=(SENTENCES, 1)) + 0.3 * rng.normal(size=nature.shape)) for _ in range(2)
    )
    return first, second


def rate_sample(first: Floats, second: Floats) -> Sample:
    """A pass is a score above −1."""
    passed = first > -1, second > -1
    worse, better = int(np.sum(passed[0] & ~passed[1])), int(np.sum(~passed[0] & passed[1]))
    sums = [np.stack([side.sum(axis=1), np.full(SENTENCES, len(IDENTITIES))], axis=1).astype(float) for side in passed]
    net = np.stack([sums[1][:, 0] - sums[0][:, 0], np.zeros(SENTENCES)], axis=1)
    flips = Flips(worse=worse, better=better, single=False, rows=net)
    return Sample(now=sums[1], before=sums[0], after=sums[1], n=first.size, compared=first.size, flips=flips)


def pooled(first: Floats, second: Floats, row: str) -> Sample:
    before, after = (ROWS[row](side) for side in (first, second))
    return Sample(now=after, before=before, after=after, n=first.size, compared=first.size)


def by_identity(side: Floats) -> Floats:
    return np.hstack([side, np.ones_like(side)])


def by_part(side: Floats) -> Floats:
    parts = [side[:, OF_OTHERS].sum(axis=1), np.full(len(side), OF_OTHERS.sum())]
    parts += [side[:, OF_PAIR].sum(axis=1), np.full(len(side), OF_PAIR.sum())]
    return np.stack(parts, axis=1).astype(float)


def shifts(side: Floats) -> Floats:
    """Attitude turned: the source words of half the sentences are kind, of the others harsh."""
    kind = (np.arange(len(side)) % 2 == 0)[:, None]
    kinder, harsher = ~kind & (side > DELTA), kind & (side < -DELTA)
    parts = []
    for members in (OF_PAIR, OF_OTHERS):
        parts += [kinder[:, members].sum(axis=1), harsher[:, members].sum(axis=1), np.full(len(side), members.sum())]
    return np.stack(parts, axis=1).astype(float)


ROWS = {"comet-sd": by_identity, "eas-gap": by_part, "shift-bias-rate": shifts}


def p_values(seed: int) -> Iterator[dict[str, float]]:
    """One unchanged system, run twice."""
    rng = np.random.default_rng(seed)
    for number in range(PAIRS):
        first, second = scores(rng)
        rate = rate_sample(first, second)
        found = {"pass rate, cases taken as independent": mcnemar(rate.flips.worse, rate.flips.better)}
        found["pass rate (test:NAME)"] = p_value(measure_named("test:any"), rate, number) or 0.0
        for name in ROWS:
            found[name] = p_value(measure_named(name), pooled(first, second, name), number) or 0.0
        yield found


def main() -> None:
    started = time.process_time()
    hits: dict[str, int] = {}
    for found in p_values(1):
        for name, p in found.items():
            hits[name] = hits.get(name, 0) + (p <= LEVEL)
    print("| number | pairs | p ≤ 0.05 (95%) |")
    print("| --- | ---: | ---: |")
    for name, count in hits.items():
        interval = wilson(count, PAIRS)
        bounds = f"{100 * interval.low:.1f}–{100 * interval.high:.1f}%" if interval else "–"
        print(f"| {name} | {PAIRS} | {100 * count / PAIRS:.1f}% ({bounds}) |")
    print(f"\n{time.process_time() - started:.0f} s of processor time, numpy {np.__version__}")


if __name__ == "__main__":
    main()
