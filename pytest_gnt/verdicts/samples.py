"""One measure in one stratum: which cases have a value now, which had one, and which can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pytest_gnt.verdicts.changes import Pair
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.measures import Measure, Row, Side
from pytest_gnt.verdicts.resampling import Floats

Bools = NDArray[np.bool_]
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


class Frame:
    """Pairs of cases of one corpus, with what all measures need to know of them. Pairs are in order of case id.

    In a partial run, what was not asked of a case was left out on purpose.
    """

    def __init__(self, pairs: Sequence[Pair], *, partial: bool = False) -> None:
        self.pairs = pairs
        self.partial = partial
        self._strata: dict[tuple[str, ...], dict[Stratum, Bools]] = {}
        self.before = Side(pair.before for pair in pairs if pair.before)
        self.after = Side(pair.after for pair in pairs if pair.after)
        codes = {group: code for code, group in enumerate(sorted({pair.any.group for pair in pairs}))}
        self.groups = np.array([codes[pair.any.group] for pair in pairs], dtype=np.intp)
        self.comparable = np.array([pair.comparable for pair in pairs], dtype=bool)
        self.gone = np.array([pair.gone for pair in pairs], dtype=bool)
        self.same_text = np.array([_same_text(pair) for pair in pairs], dtype=bool)

    def strata(self, by: tuple[str, ...]) -> dict[Stratum, Bools]:
        """Which cases are in which stratum, in order. Cases of which a field is unknown are in none."""
        if by not in self._strata:
            self._strata[by] = self._divided(by)
        return self._strata[by]

    def _divided(self, by: tuple[str, ...]) -> dict[Stratum, Bools]:
        places = [stratum_of(pair.any, by) for pair in self.pairs]
        names = sorted({place for place in places if place is not None})
        number = {name: code for code, name in enumerate(names)}
        codes = np.array([-1 if place is None else number[place] for place in places], dtype=np.intp)
        return {name: codes == code for name, code in number.items()}


@dataclass(frozen=True, slots=True)
class Observed:
    """A measure's rows of every pair of a frame: sums, whether there is a value, whether the case belongs."""

    measure: Measure
    before: Floats
    after: Floats
    had: Bools
    has: Bools
    belonged: Bools
    belongs: Bools


def observe(measure: Measure, frame: Frame) -> Observed | None:
    """Look at every case once; None where the run was not asked for this measure."""
    old = [None if pair.before is None else measure.observe(pair.before, frame.before) for pair in frame.pairs]
    new = [None if pair.after is None else measure.observe(pair.after, frame.after) for pair in frame.pairs]
    if not _asked(measure, frame.after.entries, new, had=any(old)):
        return None
    width = next(len(row) for row in (*old, *new, (0.0, 0.0)) if row)
    return Observed(
        measure,
        _matrix(old, width),
        _matrix(new, width),
        np.array([bool(row) for row in old], dtype=bool),
        np.array([bool(row) for row in new], dtype=bool),
        np.array([row is not None for row in old], dtype=bool),
        np.array([row is not None for row in new], dtype=bool),
    )


def samples(observed: Observed | None, frame: Frame, by: tuple[str, ...]) -> dict[Stratum, Sample]:
    """The measure's sample in each stratum that has one of its cases, in order."""
    if observed is None:
        return {}
    left_out = ~observed.belongs & (~observed.belonged | (frame.partial & ~frame.gone))
    found = {}
    for place, members in frame.strata(by).items():
        inside = members & ~left_out
        if np.any(inside):
            found[place] = _sample(observed, frame, inside)
    return found


def _sample(seen: Observed, frame: Frame, inside: Bools) -> Sample:
    paired = inside & frame.comparable
    compared = paired & seen.had & seen.has
    lost = paired & seen.had & ~seen.has
    recovered = paired & seen.belonged & ~seen.had & seen.has
    now = inside & seen.has
    return Sample(
        now=_sums(seen.after, now, frame.groups),
        before=_sums(seen.before, compared, frame.groups),
        after=_sums(seen.after, compared, frame.groups),
        n=_count(now),
        unscored=_count(inside & seen.belongs & ~seen.has),
        had=_count(paired & seen.had),
        compared=_count(compared),
        lost=_count(lost),
        recovered=_count(recovered),
        gone=_count(lost & frame.gone),
        other_source=_count(inside & ~frame.comparable),
        same=bool(np.any(compared)) and _all_same(seen, frame, compared),
        flips=_flips(seen, frame, compared, lost, recovered) if seen.measure.kind == "rate" else Flips(),
    )


def _flips(seen: Observed, frame: Frame, compared: Bools, lost: Bools, recovered: Bools) -> Flips:
    before, after = (seen.measure.good(side[:, 0]) for side in (seen.before, seen.after))
    change = np.where(compared, after - before, 0.0)
    moved = np.where(recovered, after, 0.0) - np.where(lost, before, 0.0)
    members = compared | lost | recovered
    return Flips(
        worse=_count(change < 0),
        better=_count(change > 0),
        lost=_count(moved < 0),
        recovered=_count(moved > 0),
        single=bool(np.all(np.bincount(frame.groups[members]) <= 1)),
        rows=_sums(np.stack([change, moved], axis=1), members, frame.groups),
    )


def stratum_of(entry: Entry, by: Sequence[str]) -> Stratum | None:
    """Where a case belongs; None where a field is unknown."""
    place = tuple((name, getattr(entry, name)) for name in by)
    return None if any(value is None for _, value in place) else place


def observer(measure: Measure, entries: Iterable[Entry]) -> Callable[[str], Row | None]:
    """A look-up of a run's rows by case id; None for cases that do not belong or are not there."""
    side = Side(entries)
    rows = {entry.id: measure.observe(entry, side) for entry in side.entries}
    return rows.get


def _asked(measure: Measure, entries: Sequence[Entry], rows: Sequence[Row | None], *, had: bool) -> bool:
    """Whether the run wanted this number at all: a run without a judge has lost no verdicts."""
    if any(rows):
        return True
    kind = measure.evidence
    if kind == "quality" and any(entry.scores for entry in entries):
        return False
    if kind is None or (kind == "translation" and had):
        return any(row is not None for row in rows)
    if kind == "translation":
        return False  # a system that never says a label has none to lose
    return any(kind in entry.why for entry in entries)


def _all_same(seen: Observed, frame: Frame, compared: Bools) -> bool:
    return bool(np.all(frame.same_text[compared]) and np.array_equal(seen.before[compared], seen.after[compared]))


def _same_text(pair: Pair) -> bool:
    return pair.before is not None and pair.after is not None and pair.before.text == pair.after.text


def _matrix(rows: Sequence[Row | None], width: int) -> Floats:
    nothing = (0.0,) * width
    return np.array([row or nothing for row in rows], dtype=np.float64).reshape(len(rows), width)


def _sums(rows: Floats, chosen: Bools, groups: NDArray[np.intp]) -> Floats:
    """Sums of the chosen rows, one row a group that has one, in order of group."""
    there, place = np.unique(groups[chosen], return_inverse=True)
    columns = [np.bincount(place, weights=column, minlength=len(there)) for column in rows[chosen].T]
    return np.stack(columns, axis=1) if len(there) else np.zeros((0, rows.shape[1]))


def _count(chosen: Bools) -> int:
    return int(np.count_nonzero(chosen))
