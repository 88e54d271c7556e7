"""A run against its baseline: which one, what became of each case, the gates, and storing a new baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_gnt.config.files import did_you_mean
from pytest_gnt.errors import GntError
from pytest_gnt.runner.gate_rules import gate_settings
from pytest_gnt.verdicts.baseline import Baseline, baseline_folder, list_baselines, read_baseline
from pytest_gnt.verdicts.changes import ChangeKind, changes, count_changes
from pytest_gnt.verdicts.comparability import differences, notes
from pytest_gnt.verdicts.gates import GateResult, Verdict, evaluate
from pytest_gnt.verdicts.results import SCHEMA, CaseResult, case_fields, read_results, repeat_file
from pytest_gnt.verdicts.update import Merge, update_baseline

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.runner.session import GntSession

Mode = Literal["plain", "aggregate", "case", "update"]

_ACCEPTED = {
    "aggregate": frozenset(ChangeKind),
    "case": frozenset(ChangeKind) - {ChangeKind.REGRESSED, ChangeKind.NEW},
    "update": frozenset(ChangeKind),
}


@dataclass(slots=True)
class Comparison:
    """What gates and baseline say of a finished run."""

    gates: list[GateResult] = field(default_factory=list)
    about: dict[str, Any] | None = None
    merges: list[Merge] = field(default_factory=list)


class Gating:
    """The baseline of a run, if it has one, and how it decides.

    ``mode`` is ``plain`` without a baseline or with ``--gnt-gate=off``: each failing case fails the run. With
    ``aggregate`` gates decide, with ``case`` each regressed or new failing case; with ``update`` the run is stored and
    nothing but undecided cases can make it red.
    """

    def __init__(self, gnt: GntSession) -> None:
        self._gnt = gnt

    @property
    def _root(self) -> Path:
        return self._gnt.path(self._gnt.settings.baselines)

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the baseline to compare with; None where there is none.

        Raises:
            GntError: one was asked for by name and is not there.
        """
        settings = self._gnt.settings
        asked = settings.baseline
        if asked == "none" or settings.model is None:
            return None
        if asked is None:
            own = baseline_folder(self._root, settings.model)
            return own if own.is_dir() else None
        for folder in (baseline_folder(self._root, asked), self._gnt.path(asked)):
            if folder.is_dir():
                return folder
        known = sorted({folder.name for folder, _ in list_baselines(self._root)})
        raise GntError(
            f"--gnt-baseline: there is no baseline {asked!r} in {self._root}.{did_you_mean(asked, known)} "
            f"Known: {', '.join(known) or 'none'}. Store one with --gnt-model=NAME --gnt-update-baseline."
        )

    @property
    def mode(self) -> Mode:
        settings = self._gnt.settings
        if settings.update_baseline is not None:
            return "update"
        if self.folder is None or settings.gate == "off":
            return "plain"
        return settings.gate or "aggregate"

    @cached_property
    def baselines(self) -> dict[str, Baseline]:
        """The stored results by corpus, for the corpora of this session.

        Raises:
            GntError: a file is damaged; a baseline was asked for and none of its corpora is run.
        """
        if self.folder is None or self.mode == "update":
            return {}
        names = self._gnt.corpus_names()
        found = {name: read_baseline(self.folder, name) for name in names if (self.folder / f"{name}.jsonl").is_file()}
        if not found and names and self._gnt.settings.baseline is not None:
            raise GntError(
                f"the baseline {self.folder} holds nothing on {', '.join(names)}. Store it with --gnt-update-baseline."
            )
        return found

    def check(self) -> None:
        """Find a damaged or missing baseline and wrong gate rules before any model is loaded.

        Raises:
            GntError: see `baselines` and `gate_settings`.
        """
        _ = self.baselines
        gate_settings(self._gnt)

    def change(self, case: Case, test: str, outcome: Mapping[str, Any]) -> ChangeKind | None:
        """What became of one test of one case; None without a baseline of its corpus."""
        baseline = self.baselines.get(case.corpus)
        if baseline is None:
            return None
        before = baseline.entries.get(case.id)
        old = {case.id: before} if before is not None else {}
        record = CaseResult.from_json({"schema": SCHEMA, **case_fields(case), "tests": {test: outcome}})
        found = [change.kind for change in changes(old, [record], partial=True) if change.test == test]
        return found[0] if found else None

    def accepts(self, change: ChangeKind | None) -> bool:
        """Whether a failing case with this change leaves the run's status to the gates."""
        if self.mode == "plain":
            return False
        if self.mode == "update":
            return True
        return change is not None and change in _ACCEPTED[self.mode]

    def compare(self, folder: Path, about: Mapping[str, Any], *, partial: bool) -> Comparison:
        """Evaluate the gates of a finished run, or store it, from its report folder.

        Raises:
            GntError: the baseline cannot be read, written or, unless forced, mixed with this run.
        """
        if self.mode == "update":
            return Comparison(merges=[self._update(folder, about, row) for row in about["corpora"] if row["selected"]])
        if self._gnt.settings.gate == "off" or not (self.baselines or self._gnt.files.gates):
            return Comparison()
        blocked = self._blocked(about)
        gates = evaluate(
            read_results(folder),
            self.baselines,
            gate_settings(self._gnt),
            partial=partial,
            incomparable=blocked,
            repeats=[read_results(folder, repeat_file(number)) for number in range(1, self._gnt.settings.repeats)],
        )
        return Comparison(gates=gates, about=self._about(folder, about, partial))

    def _blocked(self, about: Mapping[str, Any]) -> dict[str, set[str]]:
        return {
            name: {found.key for found in differences(baseline.signature, about["signature"][name]) if found.blocks}
            for name, baseline in self.baselines.items()
        }

    def _about(self, folder: Path, about: Mapping[str, Any], partial: bool) -> dict[str, Any] | None:
        if not self.baselines or self.folder is None:
            return None
        signatures = {name: baseline.signature for name, baseline in self.baselines.items()}
        old = {key: entry for baseline in self.baselines.values() for key, entry in baseline.entries.items()}
        compared = (result for result in read_results(folder) if result.corpus in self.baselines)
        found = changes(old, compared, partial=partial)
        pairs = [(signatures[name], about["signature"][name]) for name in sorted(signatures)]
        blocks = [str(one) for before, after in pairs for one in differences(before, after) if one.blocks]
        return {
            "name": self.folder.name,
            "signature": signatures,
            "comparable": not blocks,
            "differences": blocks,
            "notes": [note for before, after in pairs for note in notes(before, after)],
            "changes": count_changes(found),
        }

    def _update(self, folder: Path, about: Mapping[str, Any], row: Mapping[str, Any]) -> Merge:
        name = row["name"]
        model = str(self._gnt.settings.model)
        return update_baseline(
            baseline_folder(self._root, model),
            name,
            (result for result in read_results(folder) if result.corpus == name),
            model=model,
            signature=about["signature"][name],
            revision=row["revision"],
            force=self._gnt.settings.update_baseline == "force",
        )


def gate_reports(gates: Sequence[GateResult]) -> Iterator[pytest.TestReport]:
    """Gates as tests of their own, three phases each, so that every reporter counts them like any other test."""
    for gate in gates:
        if gate.verdict is Verdict.NOT_APPLICABLE:
            continue
        node = f"gate::{gate.name}"
        place = ("gate", 0, gate.name)
        text = gate_text(gate)
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        longrepr: Any = None
        if gate.red:
            outcome, longrepr = "failed", text
        elif gate.verdict is not Verdict.PASS:
            outcome, longrepr = "skipped", ("gate", 0, f"{gate.verdict}: {text}")
        for when in ("setup", "call", "teardown"):
            called = when == "call"
            yield pytest.TestReport(
                nodeid=node,
                location=place,
                keywords={"gate": 1},
                outcome=outcome if called else "passed",
                longrepr=longrepr if called else None,
                when=when,
            )


def gate_text(gate: GateResult) -> str:
    """One gate in one line: value, baseline, change with interval, p, smallest detectable change, n."""
    parts = [f"{gate.title}: {_number(gate.value)}"]
    if gate.baseline_value is not None:
        parts.append(f"baseline {_number(gate.baseline_value)}")
    if gate.delta is not None:
        interval = ""
        if gate.delta_low is not None and gate.delta_high is not None:
            interval = f" [{gate.delta_low:+.3f}, {gate.delta_high:+.3f}]"
        parts.append(f"change {gate.delta:+.3f}{interval}")
    if gate.p_holm is not None:
        parts.append(f"p (Holm) {gate.p_holm:.4f}")
    if gate.smallest_detectable is not None:
        parts.append(f"smallest detectable change {gate.smallest_detectable:.3f}")
    return f"{', '.join(parts)}; n = {gate.n}, unscored {gate.unscored}: {gate.why}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
