"""The table of a grid: one row a model, language, prompt configuration, number of shots and constraint.

It is written as CSV, Markdown and JSON.

Nothing in it depends on when or where it was made, so that equal results give equal bytes.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.measures import UNSCORED, Measure, Side, measure_named

MEASURES = (
    "label-accuracy",
    "label-macro-f1",
    "set-n-accuracy",
    "set-g-accuracy",
    "set-g-accuracy-paper",
    "coherence",
    "extraction-error-rate",
)
"""What every row of a grid over mGeNTE holds; quality metrics come behind them."""

ATTITUDE = ("shift-bias-rate-all", "shift-bias-rate", "eas-bg", "eas-nbg")
"""What rows hold beside them where cases are about identities (AmbGIMT)."""

_TITLES = {
    "label-accuracy": "label acc.",
    "label-macro-f1": "label F1",
    "set-n-accuracy": "Set-N",
    "set-g-accuracy": "Set-G strict",
    "set-g-accuracy-paper": "Set-G paper",
    "coherence": "coherence",
    "extraction-error-rate": "no form",
    "shift-bias-rate-all": "shift bias",
    "shift-bias-rate": "shift bias aligned",
    "eas-bg": "EAS BG",
    "eas-nbg": "EAS NBG",
}
_PLACES = {"eas-bg": 3, "eas-nbg": 3}
_DIGITS = 6
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Cell:
    """What one row stands for.

    ``prompt`` and ``shots`` are None for systems that are not prompted, ``constraint`` too where it is not varied.
    """

    model: str
    lang: str
    prompt: str | None
    shots: int | None
    constraint: str | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A measure's value over ``n`` cases, ``unscored`` more having none; shares from 0 to 1, qualities in points."""

    value: float | None
    n: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table: the cell, its cases and numbers by the measure's name, and the run's signature."""

    cell: Cell
    cases: int
    numbers: dict[str, Number]
    signature: str = ""


@dataclass(slots=True)
class GridTable:
    """The whole table. ``missing`` names runs that gave no result, with the reason."""

    about: dict[str, str]
    lines: list[Line] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The measures of all rows, in order."""
        found = {name for line in self.lines for name in line.numbers}
        quality = sorted(found - {*MEASURES, *ATTITUDE})
        if not found & set(ATTITUDE):
            return [*MEASURES, *quality]
        # A grid over identities has no labels and no judge: columns that are empty in every row say nothing.
        filled = {name for line in self.lines for name, each in line.numbers.items() if each.n or each.unscored}
        return [name for name in (*MEASURES, *ATTITUDE, *quality) if name in filled]

    @property
    def constrained(self) -> bool:
        """Whether the constraint is one of the things that differ."""
        return any(line.cell.constraint is not None for line in self.lines)

    def to_csv(self) -> str:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        heads = [head for name in self.names for head in (name, f"{name}:n", f"{name}:unscored")]
        constraint = ["constraint"] if self.constrained else []
        writer.writerow(["model", "lang", "prompt", "shots", *constraint, "cases", *heads, "signature"])
        for line in self.lines:
            cell = line.cell
            row: list[Any] = [cell.model, cell.lang, cell.prompt or "", _blank(cell.shots)]
            row += [*([cell.constraint or ""] if constraint else []), line.cases]
            for name in self.names:
                number = line.numbers.get(name, Number(None, 0, 0))
                row += [_blank(number.value), number.n, number.unscored]
            writer.writerow([*row, line.signature])
        return out.getvalue()

    def to_json(self) -> str:
        rows = [
            {
                "model": line.cell.model,
                "lang": line.cell.lang,
                "prompt": line.cell.prompt,
                "shots": line.cell.shots,
                **({"constraint": line.cell.constraint} if self.constrained else {}),
                "cases": line.cases,
                "numbers": {
                    name: {"value": number.value, "n": number.n, "unscored": number.unscored}
                    for name, number in line.numbers.items()
                },
                "signature": line.signature,
            }
            for line in self.lines
        ]
        missing = [{"run": run, "why": why} for run, why in self.missing]
        data = {"schema": SCHEMA, **self.about, "rows": rows, "missing": missing}
        return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        names = self.names
        what = ["model", "lang", "prompt", "shots", *(["constraint"] if self.constrained else [])]
        heads = [*what, "cases", *(_TITLES.get(name, name) for name in names)]
        lines = ["# Grid", "", *(f"- {key}: {_cell(value)}" for key, value in self.about.items()), ""]
        lines += [f"| {' | '.join(heads)} |", "|" + " --- |" * 3 + " ---: |" * (len(heads) - 3)]
        for line in self.lines:
            cell = line.cell
            texts = [cell.model, cell.lang, cell.prompt or "–", "–" if cell.shots is None else str(cell.shots)]
            texts += [cell.constraint or "–"] if self.constrained else []
            texts += [str(line.cases), *(_shown(name, line.numbers.get(name)) for name in names)]
            lines.append(f"| {' | '.join(_cell(text) for text in texts)} |")
        lines += [
            "",
            "Shares in percent, qualities in points of 100; in brackets the number of cases, and behind a plus sign "
            "those that could not be decided. *Set-G strict* counts correct gender, *paper* any gendered translation; "
            "*no form* is the share of replies from which no translation could be read.",
        ]
        if set(names) & set(ATTITUDE):
            lines += ["", _ABOUT_ATTITUDE]
        lines += ["", *(f"- not run: {_cell(run)}: {_cell(why)}" for run, why in self.missing)] if self.missing else []
        return "\n".join(lines) + "\n"


_ABOUT_ATTITUDE = (
    "*Shift bias* is the shift bias rate in percent over all sentences, then over the aligned ones; *EAS* the mean "
    "score of the translated attitude words of woman and man (BG) and of the eleven others (NBG). *-corpus* is corpus "
    "BLEU, *-mean* a mean over sentences, both over all identities; *-gap* is to woman and man on the same sentence "
    "(person and the eleven others), *-sd* the standard deviation over identities."
)


def line_of(cell: Cell, entries: Iterable[Entry], signature: str, tables: Iterable[Mapping[str, Any]] = ()) -> Line:
    """The row of one cell: its language's cases, in the order given, and what the run's tables by identity say."""
    side = Side(entry for entry in entries if entry.lang == cell.lang)
    metrics = sorted({metric for entry in side.entries for metric in entry.scores})
    places = [place for place in tables if (place["lang"], place["subset"]) == (cell.lang, "all")]
    names = [*MEASURES, *(f"{metric}-mean" for metric in metrics)]
    if places:
        names += [f"{metric}-{kind}" for metric in metrics for kind in ("gap", "sd")]
    numbers = {name: number(measure_named(name), side) for name in names}
    for place in places:
        numbers |= _of_place(place)
    return Line(cell, len(side.entries), numbers, signature)


def _of_place(place: Mapping[str, Any]) -> dict[str, Number]:
    """Attitude and corpus BLEU of all identities together."""
    found = {}
    for metric in place["quality"]:
        if metric["level"] == "corpus":
            found[f"{metric['metric']}-corpus"] = _rounded(
                metric["pooled"],
                sum(row["n"] for row in metric["rows"]),
                sum(row["unscored"] for row in metric["rows"]),
            )
    attitude = place["attitude"]
    if attitude is None:
        return found
    groups = {row["name"]: row for row in attitude["rows"]}
    for name in ("BG", "NBG"):
        row = groups.get(name, {"target": None, "aligned": 0, "unscored": 0})
        found[f"eas-{name.lower()}"] = _rounded(row["target"], row["aligned"], row["unscored"])
    n, aligned = (sum(groups[name][key] for name in ("BG", "NBG") if name in groups) for key in ("n", "aligned"))
    found["shift-bias-rate-all"] = _rounded(attitude["shift_bias"]["value"], n, 0)
    found["shift-bias-rate"] = _rounded(attitude["shift_bias_aligned"]["value"], aligned, n - aligned)
    return found


def _rounded(value: float | None, n: int, unscored: int) -> Number:
    return Number(None if value is None else round(value, _DIGITS), n, unscored)


def number(measure: Measure, side: Side) -> Number:
    """One measure over all cases of a side."""
    rows = [row for entry in side.entries if (row := measure.observe(entry, side)) is not None]
    scored = [row for row in rows if row != UNSCORED]
    unscored = len(rows) - len(scored)
    if not scored:
        return Number(None, 0, unscored)
    value = float(measure.value(np.array(scored, dtype=float).sum(axis=0)))
    return Number(round(value, _DIGITS) if math.isfinite(value) else None, len(scored), unscored)


def _blank(value: float | int | None) -> str:
    return "" if value is None else str(value)


def _shown(name: str, found: Number | None) -> str:
    if found is None or (found.value is None and not found.unscored):
        return "–"
    digits = _PLACES.get(name, 1)
    shown = "–" if found.value is None else f"{100 * found.value if name in MEASURES else found.value:.{digits}f}"
    return f"{shown} ({found.n}{f'+{found.unscored}' if found.unscored else ''})"


def _cell(text: str) -> str:
    """A text that stays inside its cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def languages(entries: Sequence[Entry]) -> list[str]:
    """The languages of the cases, in alphabetical order."""
    return sorted({entry.lang for entry in entries})
