"""Each case against its baseline: what got worse, what got better, what can no longer be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_gnt.verdicts.entry import Entry, entries_of
from pytest_gnt.verdicts.results import CaseResult, Outcome, TestResult


class ChangeKind(StrEnum):
    """What became of one test on one case."""

    REGRESSED = "regressed"
    LOST = "lost"
    FIXED = "fixed"
    RECOVERED = "recovered"
    STILL_PASSING = "still-passing"
    STILL_FAILING = "still-failing"
    FAILING_UNSCORED = "failing-unscored"
    UNSCORED_FAILING = "unscored-failing"
    STILL_UNSCORED = "still-unscored"
    NEW = "new"
    GONE = "gone"
    NOT_COMPARABLE = "not-comparable"


_KINDS = {
    (Outcome.PASSED, Outcome.FAILED): ChangeKind.REGRESSED,
    (Outcome.PASSED, Outcome.UNSCORED): ChangeKind.LOST,
    (Outcome.PASSED, Outcome.PASSED): ChangeKind.STILL_PASSING,
    (Outcome.FAILED, Outcome.PASSED): ChangeKind.FIXED,
    (Outcome.FAILED, Outcome.FAILED): ChangeKind.STILL_FAILING,
    (Outcome.FAILED, Outcome.UNSCORED): ChangeKind.FAILING_UNSCORED,
    (Outcome.UNSCORED, Outcome.PASSED): ChangeKind.RECOVERED,
    (Outcome.UNSCORED, Outcome.FAILED): ChangeKind.UNSCORED_FAILING,
    (Outcome.UNSCORED, Outcome.UNSCORED): ChangeKind.STILL_UNSCORED,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A case of one or both sides.

    ``comparable`` is False where the source sentence is another one. ``gone`` is True for a stored case that a run
    should have had and has not.
    """

    before: Entry | None
    after: Entry | None
    comparable: bool = True

    @property
    def any(self) -> Entry:
        """The side that there is; the newer one where there are both."""
        entry = self.after or self.before
        if entry is None:
            raise ValueError("a pair without a side")
        return entry

    @property
    def gone(self) -> bool:
        return self.after is None


@dataclass(frozen=True, slots=True)
class Change:
    """One test of one case against the baseline. ``before`` or ``after`` is None where a side does not have it."""

    id: str
    test: str
    kind: ChangeKind
    before: TestResult | None = None
    after: TestResult | None = None


def by_id(cases: Iterable[CaseResult | Entry]) -> dict[str, Entry]:
    """Entries by case id.

    Raises:
        ValueError: a case id occurs twice.
    """
    entries: dict[str, Entry] = {}
    for entry in entries_of(cases):
        if entry.id in entries:
            raise ValueError(f"{entry.id!r} occurs twice in one run")
        entries[entry.id] = entry
    return entries


def align(
    old: Mapping[str, Entry],
    new: Iterable[CaseResult | Entry],
    *,
    partial: bool = False,
    known: Collection[str] | None = None,
) -> list[Pair]:
    """Pair stored cases and a run's by case id, in order of id. Never by position.

    Args:
        old: the baseline's entries.
        new: the run.
        partial: the run was filtered or sampled: stored cases that it does not have were left out on purpose and make
            no pair. In a full run they are gone.
        known: ids of every case that the corpora hold now, before any selection. Given it, a stored case that is not
            among them is gone even in a partial run. None where the corpora were read in part (by language).

    Raises:
        ValueError: a case id occurs twice in the run.
    """
    entries = by_id(new)
    there = None if known is None else set(known)
    pairs = []
    for key in sorted(old.keys() | entries.keys()):
        before, after = old.get(key), entries.get(key)
        if after is None and partial and (there is None or key in there):
            continue
        same = before is None or after is None or before.source_digest == after.source_digest
        pairs.append(Pair(before, after, same))
    return pairs


def changes(
    old: Mapping[str, Entry],
    new: Iterable[CaseResult | Entry],
    *,
    partial: bool = False,
    known: Collection[str] | None = None,
) -> list[Change]:
    """Every test of every case against the baseline, in order of case id and test name.

    A pass that became unscored is ``lost``, not ``regressed``: nothing is known to be wrong, and yet the pass is gone;
    gates count it. A case whose source sentence changed is ``not-comparable``, whatever its outcome. Arguments as for
    `align`; in a partial run a test that a case does not have now was left out on purpose.
    """
    pairs = align(old, new, partial=partial, known=known)
    return [change for pair in pairs for change in _changes_of(pair, partial)]


def count_changes(found: Iterable[Change]) -> dict[str, int]:
    """How many changes of each kind, every kind named."""
    counted = Counter(change.kind for change in found)
    return {str(kind): counted[kind] for kind in ChangeKind}


def _changes_of(pair: Pair, partial: bool) -> Iterator[Change]:
    before = pair.before.tests if pair.before else {}
    after = pair.after.tests if pair.after else {}
    for name in sorted(before.keys() | after.keys()):
        kind = _kind(pair, before.get(name), after.get(name))
        if kind is ChangeKind.GONE and partial and pair.after is not None:
            continue
        yield Change(pair.any.id, name, kind, before.get(name), after.get(name))


def _kind(pair: Pair, before: TestResult | None, after: TestResult | None) -> ChangeKind:
    if before is None:
        return ChangeKind.NEW
    if after is None:
        return ChangeKind.GONE
    return _KINDS[before.outcome, after.outcome] if pair.comparable else ChangeKind.NOT_COMPARABLE
