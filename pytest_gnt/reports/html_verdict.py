"""The answer to the first question, may it ship?, from the summary of a run. Anything that is missing or does not add
up is said, and never counts in favour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.reports.html_text import duration, number, percent

GATE_ORDER = ("fail", "undecided", "pass", "not-applicable")

_SHOWN_FIRST = ("name", "verdict", "why", "value", "rate", "low", "high", "n", "bound", "baseline", "change", "p", "detectable")


@dataclass(frozen=True, slots=True)
class Verdict:
    """``tone`` is ``pass``, ``fail`` or ``unknown``; ``answer`` says it in words, ``reasons`` why."""

    tone: str
    answer: str
    reasons: tuple[str, ...]


def verdict(summary: Mapping[str, Any], found: int) -> Verdict:
    """Judge a run. ``found`` is the number of case records that the folder holds."""
    counts, gates = summary["counts"], summary["gates"]
    by_verdict = {name: [gate for gate in gates if gate.get("verdict") == name] for name in GATE_ORDER}
    failed, undecided = by_verdict["fail"], by_verdict["undecided"]
    reasons = [*_gate_reasons(gates, failed, undecided), *_count_reasons(counts), *discrepancies(summary, found)]
    if not summary["complete"]:
        why = summary["incomplete_why"] or "not all tests ran"
        return Verdict("fail" if failed else "unknown", "Cannot tell: the run is not complete", (why, *reasons))
    if not counts["tests"]:
        return Verdict("unknown", "Cannot tell: nothing was tested", tuple(reasons))
    if failed:
        return Verdict("fail", f"No: {_of(len(failed), len(gates), 'gate')} failed", tuple(reasons))
    if summary["exit_status"] not in (0, 1):
        status = f"pytest ended with exit status {summary['exit_status']}"
        return Verdict("unknown", "Cannot tell: the run ended with an error", (status, *reasons))
    if summary["exit_status"] == 1:
        return Verdict("fail", _red_answer(counts), tuple(reasons))
    if discrepancies(summary, found):
        return Verdict("unknown", "Cannot tell: the counts do not add up", tuple(reasons))
    if undecided:
        return Verdict("unknown", f"Nothing speaks against it, but {_of(len(undecided), len(gates), 'gate')} could not decide", tuple(reasons))
    return Verdict("pass", "Yes: every gate passed" if gates else "Yes: no test failed", tuple(reasons))


def discrepancies(summary: Mapping[str, Any], found: int) -> list[str]:
    """Counts that should be equal and are not: what went in has to come out."""
    counts = summary["counts"]
    wrong = []
    parts = sum(counts.get(name, 0) for name in ("passed", "failed", "unscored", "error"))
    if parts != counts["tests"]:
        wrong.append(f"{number(counts['tests'])} tests, but {number(parts)} outcomes")
    if found != counts["cases"]:
        wrong.append(f"the summary counts {number(counts['cases'])} cases, cases.jsonl holds {number(found)}")
    for corpus in summary["corpora"]:
        if corpus["rows_read"] != corpus["cases"] + corpus["refused"]:
            wrong.append(
                f"{corpus['name']}: {number(corpus['rows_read'])} rows read, but {number(corpus['cases'])} cases and "
                f"{number(corpus['refused'])} refused"
            )
    return wrong


def gate_rows(gates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The gates, those that decide first, each with its details in a fixed order."""

    def rank(gate: Mapping[str, Any]) -> tuple[int, str]:
        name = gate.get("verdict")
        return GATE_ORDER.index(name) if name in GATE_ORDER else -1, str(gate.get("name"))

    return [
        {
            "name": str(gate.get("name")),
            "verdict": str(gate.get("verdict")),
            "why": gate.get("why") or "",
            "details": [(key, value_text(key, gate[key])) for key in _detail_keys(gate)],
        }
        for gate in sorted(gates, key=rank)
    ]


def _detail_keys(gate: Mapping[str, Any]) -> list[str]:
    known = [key for key in _SHOWN_FIRST[3:] if gate.get(key) is not None]
    return known + [key for key in gate if key not in _SHOWN_FIRST and gate[key] not in (None, "", [], {})]


def value_text(key: str, value: Any) -> str:
    """A detail of a gate for people. Shares are given as shares, so that no unit is guessed."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        if key == "p":
            return "< 0.001" if 0 <= value < 0.001 else f"{value:.3f}"
        return number(value, 3, sign=key in ("change", "delta"))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_text(str(name), part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(value_text(key, part) for part in value)
    return str(value)


def _gate_reasons(gates: Sequence[Any], failed: Sequence[Any], undecided: Sequence[Any]) -> list[str]:
    if not gates:
        return ["no gates: the verdict is that of the single tests"]
    named = [("failed", failed), ("could not decide", undecided)]
    return [f"{what}: {_names(found)}" for what, found in named if found]


def _count_reasons(counts: Mapping[str, int]) -> list[str]:
    said = []
    if counts["failed"]:
        said.append(f"{number(counts['failed'])} of {number(counts['tests'])} tests failed")
    if counts["unscored"]:
        share = percent(counts["unscored"] / counts["tests"] if counts["tests"] else 0.0)
        said.append(f"{number(counts['unscored'])} ({share}) could not be decided")
    return said


def _red_answer(counts: Mapping[str, int]) -> str:
    if counts["failed"]:
        return f"No: {_of(counts['failed'], counts['tests'], 'test')} failed"
    return "No: too many tests could not be decided" if counts["unscored"] else "No: the run is red"


def _names(gates: Sequence[Mapping[str, Any]], most: int = 4) -> str:
    names = [str(gate.get("name")) for gate in gates]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _of(some: int, every: int, noun: str) -> str:
    return f"{number(some)} of {number(every)} {noun}{'' if every == 1 else 's'}"


def time_text(summary: Mapping[str, Any]) -> str:
    """How long the run took."""
    return duration(float(summary["seconds"]))
