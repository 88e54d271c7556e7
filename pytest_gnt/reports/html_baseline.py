"""The baseline's side of a report: what each case was before, and the rates of the cases that both runs have."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.verdicts.changes import Change, ChangeKind, changes
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.rates import Rate, Stratum, strata
from pytest_gnt.verdicts.results import CaseResult

Baseline = Mapping[str, Entry | Mapping[str, Any]]
"""Case id → what was known of it: an `Entry`, a line of a baseline file or a line of ``cases.jsonl``."""

WORSE = (ChangeKind.REGRESSED, ChangeKind.LOST)
BETTER = (ChangeKind.FIXED, ChangeKind.RECOVERED)
COMPARED = (*WORSE, *BETTER, ChangeKind.STILL_PASSING, ChangeKind.STILL_FAILING)

Place = tuple[str, str, Stratum]
"""Corpus, test and stratum."""


def entry_of(value: Entry | Mapping[str, Any]) -> Entry:
    """A baseline's case.

    Raises:
        ValueError: the record is of another layout.
    """
    if isinstance(value, Entry):
        return value
    if "schema" in value:
        return Entry.from_result(CaseResult.from_json(value))
    return Entry.from_line(json.dumps(dict(value)))


def before_of(result: CaseResult, baseline: Baseline | None) -> Entry | None:
    """What a baseline has of a case; None where it has nothing, or there is no baseline.

    Raises:
        ValueError: the record is of another layout.
    """
    known = None if baseline is None else baseline.get(result.id)
    return None if known is None else entry_of(known)


def changes_of(result: CaseResult, before: Entry | None) -> dict[str, Change]:
    """What became of each test of one case. A test that only the baseline has was left out of this run."""
    old = {} if before is None else {before.id: before}
    return {change.test: change for change in changes(old, [result], partial=True)}


@dataclass(slots=True)
class Before:
    """Counts a run's changes by stratum, and the baseline's own outcomes on the cases that both have."""

    changes: dict[Place, Counter[ChangeKind]] = field(default_factory=lambda: defaultdict(Counter))
    rates: dict[Place, Rate] = field(default_factory=lambda: defaultdict(Rate))
    total: Counter[ChangeKind] = field(default_factory=Counter)

    def add(self, result: CaseResult, found: Mapping[str, Change]) -> None:
        places = tuple(strata(result))
        for name, change in found.items():
            self.total[change.kind] += 1
            for place in places:
                key = (result.corpus, name, place)
                self.changes[key][change.kind] += 1
                if change.before is not None and change.kind is not ChangeKind.NOT_COMPARABLE:
                    self.rates[key].add(change.before.outcome)

    def rate(self, corpus: str, test: str, by: Mapping[str, str]) -> float | None:
        """The baseline's pass rate in a stratum; None where it decided nothing there."""
        rate = self.rates.get((corpus, test, tuple(by.items())))
        return rate.passed / rate.n if rate and rate.n else None
