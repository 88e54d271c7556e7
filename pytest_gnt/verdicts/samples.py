"""One measure in one stratum: which cases have a value now, which had one, and which can be compared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_gnt.verdicts.changes import Pair
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.measures import UNSCORED, Measure, Row, Side
from pytest_gnt.verdicts.resampling import Floats

Stratum = tuple[tuple[str, str], ...]
FIELDS = ("lang", "subset", "identity", "gender", "expected")
"""What cases can be divided by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Of a rate: what became of its passes.

    Attributes:
        worse, better: compared cases that passed before and fail now, or the other way round.
        lost, recovered: passes that have no value now (unscored or gone), or had none before.
        single: no group has more than one case.
        rows: net change of passes, one row a group: on compared cases; by losses and recoveries.
    """

    worse: int = 0
    better: int = 0
    lost: int = 0
    recovered: int = 0
    single: bool = True
    rows: Floats = field(default_factory=lambda: np.zeros((0, 2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a measure found in one stratum.

    Attributes:
        now: sums of all cases with a value in the run, one row a group.
        before, after: sums of the compared cases (a value on both sides, same source), one row a group, same order.
        n, unscored: cases with and without a value in the run.
        had: cases that had a value in the baseline and that the run should have.
        compared: compared cases.
        lost, recovered: cases whose value is missing now (unscored or gone), or was missing before.
        gone: of the lost, those that the run does not have at all.
        other_source: cases left out because their source sentence is another one.
        same: every compared case has the same translation and the same row on both sides.
        flips: for rates.
    """

    now: Floats
    before: Floats
    after: Floats
    n: int
    unscored: int = 0
    had: int = 0
    compared: int = 0
    lost: int = 0
    recovered: int = 0
    gone: int = 0
    other_source: int = 0
    same: bool = False
    flips: Flips = field(default_factory=Flips)


_MOVES = {(0, True): "worse", (0, False): "better", (1, True): "passes lost", (1, False): "passes back"}


class _Collector:
    """Builds a `Sample` case by case."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.counts: Counter[str] = Counter()
        self.now: dict[str, list[float]] = {}
        self.sides: dict[str, tuple[list[float], list[float]]] = {}
        self.moves: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.members: Counter[str] = Counter()
        self.same = True

    def add(self, pair: Pair, before: Row | None, after: Row | None) -> None:
        group, counts = pair.any.group, self.counts
        if after is not None:
            counts["unscored" if after == UNSCORED else "n"] += 1
            if after:
                _accumulate(self.now.setdefault(group, [0.0] * len(after)), after)
        if not pair.comparable:
            counts["other_source"] += 1
            return
        if before is None:
            return
        if before:
            counts["had"] += 1
        if before and after:
            self._compare(pair, before, after)
        elif before:
            counts["lost"] += 1
            counts["gone"] += pair.gone
            self._move(group, 1, -self._good(before))
        elif after:
            counts["recovered"] += 1
            self._move(group, 1, self._good(after))

    def _compare(self, pair: Pair, before: Row, after: Row) -> None:
        group = pair.any.group
        self.counts["compared"] += 1
        sides = self.sides.setdefault(group, ([0.0] * len(before), [0.0] * len(after)))
        _accumulate(sides[0], before)
        _accumulate(sides[1], after)
        self.same = self.same and before == after and _same_text(pair)
        self._move(group, 0, self._good(after) - self._good(before))

    def _good(self, row: Row) -> float:
        return self.measure.good(row) if self.measure.kind == "rate" else 0.0

    def _move(self, group: str, place: int, change: float) -> None:
        self.members[group] += 1
        if change:
            self.counts[_MOVES[place, change < 0]] += 1
            self.moves[group][place] += change

    def sample(self) -> Sample:
        counts, groups = self.counts, sorted(self.sides)
        return Sample(
            now=_rows([self.now[group] for group in sorted(self.now)]),
            before=_rows([self.sides[group][0] for group in groups]),
            after=_rows([self.sides[group][1] for group in groups]),
            **{
                name: counts[name]
                for name in ("n", "unscored", "had", "compared", "lost", "recovered", "gone", "other_source")
            },
            same=self.same and counts["compared"] > 0,
            flips=Flips(
                worse=counts["worse"],
                better=counts["better"],
                lost=counts["passes lost"],
                recovered=counts["passes back"],
                single=all(members == 1 for members in self.members.values()),
                rows=_rows([self.moves[group] for group in sorted(self.moves)], 2),
            ),
        )


def samples(
    measure: Measure,
    pairs: Sequence[Pair],
    before: Side,
    after: Side,
    by: Sequence[str],
    partial: bool = False,
) -> dict[Stratum, Sample]:
    """The measure's sample in each stratum, in order. Empty where the run was not asked for it.

    Cases of which a field of ``by`` is unknown belong to no stratum. In a partial run, what was not asked of a case
    was left out on purpose.
    """
    rows = [
        (
            pair,
            None if pair.before is None else measure.observe(pair.before, before),
            None if pair.after is None else measure.observe(pair.after, after),
        )
        for pair in pairs
    ]
    if not _asked(measure, [pair.after for pair, _, _ in rows if pair.after], [row for _, _, row in rows]):
        return {}
    found: dict[Stratum, _Collector] = {}
    for pair, old, new in rows:
        if new is None and (old is None or (partial and not pair.gone)):
            continue
        place = stratum_of(pair.any, by)
        if place is not None:
            found.setdefault(place, _Collector(measure)).add(pair, old, new)
    return {place: found[place].sample() for place in sorted(found)}


def stratum_of(entry: Entry, by: Sequence[str]) -> Stratum | None:
    """Where a case belongs; None where a field is unknown."""
    place = tuple((name, getattr(entry, name)) for name in by)
    return None if any(value is None for _, value in place) else place


def observer(measure: Measure, entries: Iterable[Entry]) -> Callable[[str], Row | None]:
    """A look-up of a run's rows by case id; None for cases that do not belong or are not there."""
    side = Side(entries)
    rows = {entry.id: measure.observe(entry, side) for entry in side.entries}
    return rows.get


def _asked(measure: Measure, entries: Sequence[Entry], rows: Sequence[Row | None]) -> bool:
    """Whether the run wanted this number at all: a run without a judge has lost no verdicts."""
    if any(rows):
        return True
    kind = measure.evidence
    if kind == "quality" and any(entry.scores for entry in entries):
        return False
    if kind is None or kind == "translation":
        return any(row is not None for row in rows)
    return any(kind in entry.why for entry in entries)


def _same_text(pair: Pair) -> bool:
    return pair.before is not None and pair.after is not None and pair.before.text == pair.after.text


def _accumulate(into: list[float], row: Row) -> None:
    for place, value in enumerate(row):
        into[place] += value


def _rows(rows: Sequence[Sequence[float]], width: int = 2) -> Floats:
    return np.array(rows, dtype=np.float64) if rows else np.zeros((0, width))
