"""The answer to the first question, may it ship?, from the summary of a run. Anything that is missing or does not add
up is said, and never counts in favour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.reports.html_text import duration, number, percent
from pytest_gnt.verdicts.wording import delta_text, p_text, value_text

GATE_ORDER = ("fail", "undecided", "pass", "not-applicable")

MOST_OPEN = 12
"""Number of gates up to which all are shown without being asked for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``tone`` is ``pass``, ``fail`` or ``unknown``; ``answer`` says it in words, ``reasons`` why."""

    tone: str
    answer: str
    reasons: tuple[str, ...]


def verdict(summary: Mapping[str, Any], found: int) -> Verdict:
    """Judge a run. ``found`` is the number of case records that the folder holds."""
    counts, gates = summary["counts"], summary["gates"]
    failed = [gate for gate in gates if is_red(gate)]
    wrong = discrepancies(summary, found)
    stored = [f"baseline stored: {text}" for text in summary.get("stored", ())]
    limits = summary.get("limits", ())
    reasons = (*_gate_reasons(gates), *_count_reasons(counts), *limits, *stored, *wrong)
    if not summary["complete"]:
        why = summary["incomplete_why"] or "not all tests ran"
        return Verdict("fail" if failed else "unknown", "Cannot tell: the run is not complete", (why, *reasons))
    if failed:
        return Verdict("fail", f"No: {_of(len(failed), len(gates), 'gate')} failed", reasons)
    if summary["exit_status"] not in (0, 1):
        status = f"pytest ended with exit status {summary['exit_status']}"
        return Verdict("unknown", "Cannot tell: the run ended with an error", (status, *reasons))
    if summary["exit_status"] == 1:
        return Verdict("fail", _red_answer(counts, summary.get("baseline"), limits), reasons)
    if not counts["tests"]:
        return Verdict("unknown", "Cannot tell: nothing was tested", reasons)
    if wrong:
        return Verdict("unknown", "Cannot tell: the counts do not add up", reasons)
    undecided = [gate for gate in gates if gate.get("verdict") == "undecided"]
    if undecided:
        return Verdict("unknown", f"Not red, but {_of(len(undecided), len(gates), 'gate')} could not decide", reasons)
    decided = any(gate.get("verdict") != "not-applicable" for gate in gates)
    if counts["failed"] and not decided:
        return Verdict("unknown", "Not judged: tests failed, and no gate decided", reasons)
    return Verdict("pass", "Yes: no gate failed" if decided else "Yes: no test failed", reasons)


def is_red(gate: Mapping[str, Any]) -> bool:
    """Whether a gate makes the run red. One that only warns does not; one of unknown severity does."""
    return gate.get("verdict") == "fail" and gate.get("severity", "fail") != "warn"


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
    """The gates, those that decide first."""
    return sorted((_gate_row(gate) for gate in gates), key=lambda row: (row["rank"], row["name"]))


def gate_groups(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Gates to show at once (``open``), and those to ask for (``folded``: what they are, and they).

    Failures and warnings are always open; few gates are all open.
    """
    if len(rows) <= MOST_OPEN:
        return {"open": rows, "folded": []}
    undecided = [row for row in rows if row["verdict"] == "undecided"]
    rest = [row for row in rows if row["verdict"] in ("pass", "not-applicable")]
    folded = [("could not decide", undecided), ("passed or did not apply", rest)]
    hidden = {row["name"] for _, group in folded for row in group}
    return {
        "open": [row for row in rows if row["name"] not in hidden],
        "folded": [(what, group) for what, group in folded if group],
    }


def _gate_row(gate: Mapping[str, Any]) -> dict[str, Any]:
    decision, unit = str(gate.get("verdict")), str(gate.get("unit"))
    low, high = gate.get("low"), gate.get("high")
    interval = None if low is None or high is None else _minus(f"{value_text(low, unit)} … {value_text(high, unit)}")
    return {
        "name": str(gate.get("name")),
        "title": str(gate.get("title") or ""),
        "verdict": decision,
        "warns": decision == "fail" and not is_red(gate),
        "rank": GATE_ORDER.index(decision) if decision in GATE_ORDER else -1,
        "why": str(gate.get("why") or ""),
        "now": _minus(value_text(gate.get("value"), unit)),
        "interval": interval,
        "before": _minus(value_text(gate.get("baseline_value"), unit)),
        "change": _minus(delta_text(gate.get("delta"), unit)),
        "p": p_text(gate.get("p_holm")),
        "n": gate.get("n"),
        "unscored": gate.get("unscored"),
        "detectable": value_text(gate.get("smallest_detectable"), unit),
    }


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _gate_reasons(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    if not gates:
        return ["no gates: the verdict is that of the single tests"]
    named = [
        ("failed", [gate for gate in gates if is_red(gate)]),
        ("warning", [gate for gate in gates if gate.get("verdict") == "fail" and not is_red(gate)]),
        ("could not decide", [gate for gate in gates if gate.get("verdict") == "undecided"]),
    ]
    return [f"{what}: {_names(found)}" for what, found in named if found]


def _count_reasons(counts: Mapping[str, int]) -> list[str]:
    said = []
    if counts["failed"]:
        said.append(f"{number(counts['failed'])} of {number(counts['tests'])} tests failed")
    if counts["unscored"]:
        share = percent(counts["unscored"] / counts["tests"] if counts["tests"] else 0.0)
        said.append(f"{number(counts['unscored'])} ({share}) could not be decided")
    return said


def _red_answer(counts: Mapping[str, int], baseline: Mapping[str, Any] | None, limits: Sequence[str]) -> str:
    if baseline is not None and not baseline.get("comparable", True):
        return "No: the run cannot be compared with its baseline"
    regressed = (baseline or {}).get("changes", {}).get("regressed", 0)
    if regressed:
        return f"No: {_of(regressed, counts['tests'], 'test')} regressed"
    if counts["failed"]:
        return f"No: {_of(counts['failed'], counts['tests'], 'test')} failed"
    return "No: too little could be read or decided" if limits else "No: the run is red"


def _names(gates: Sequence[Mapping[str, Any]], most: int = 4) -> str:
    names = [str(gate.get("name")) for gate in gates]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _of(some: int, every: int, noun: str) -> str:
    return f"{number(some)} of {number(every)} {noun}{'' if every == 1 else 's'}"


def time_text(summary: Mapping[str, Any]) -> str:
    """How long the run took."""
    return duration(float(summary["seconds"]))
