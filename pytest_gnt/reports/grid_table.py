"""The table of a grid: one row a model, language, prompt configuration and number of shots; CSV, Markdown and JSON.

Nothing in it depends on when or where it was made, so that equal results give equal bytes.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
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
"""What every row holds; quality metrics come behind them."""

_TITLES = {
    "label-accuracy": "label acc.",
    "label-macro-f1": "label F1",
    "set-n-accuracy": "Set-N",
    "set-g-accuracy": "Set-G strict",
    "set-g-accuracy-paper": "Set-G paper",
    "coherence": "coherence",
    "extraction-error-rate": "no form",
}
_DIGITS = 6
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Cell:
    """What one row stands for. ``prompt`` and ``shots`` are None for systems that are not prompted."""

    model: str
    lang: str
    prompt: str | None
    shots: int | None


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
        quality = {name for line in self.lines for name in line.numbers} - set(MEASURES)
        return [*MEASURES, *sorted(quality)]

    def to_csv(self) -> str:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        heads = [head for name in self.names for head in (name, f"{name}:n", f"{name}:unscored")]
        writer.writerow(["model", "lang", "prompt", "shots", "cases", *heads, "signature"])
        for line in self.lines:
            cell = line.cell
            row: list[Any] = [cell.model, cell.lang, cell.prompt or "", _blank(cell.shots), line.cases]
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
        heads = ["model", "lang", "prompt", "shots", "cases", *(_TITLES.get(name, name) for name in names)]
        lines = ["# Grid", "", *(f"- {key}: {_cell(value)}" for key, value in self.about.items()), ""]
        lines += [f"| {' | '.join(heads)} |", "|" + " --- |" * 3 + " ---: |" * (len(heads) - 3)]
        for line in self.lines:
            cell = line.cell
            texts = [cell.model, cell.lang, cell.prompt or "–", "–" if cell.shots is None else str(cell.shots)]
            texts += [str(line.cases), *(_shown(name, line.numbers.get(name)) for name in names)]
            lines.append(f"| {' | '.join(_cell(text) for text in texts)} |")
        lines += [
            "",
            "Shares in percent, qualities in points of 100; in brackets the number of cases, and behind a plus sign "
            "those that could not be decided. *Set-G strict* counts correct gender, *paper* any gendered translation; "
            "*no form* is the share of replies from which no translation could be read.",
        ]
        lines += ["", *(f"- not run: {_cell(run)}: {_cell(why)}" for run, why in self.missing)] if self.missing else []
        return "\n".join(lines) + "\n"


def line_of(cell: Cell, entries: Iterable[Entry], signature: str) -> Line:
    """The row of one cell: its language's cases, in the order given."""
    side = Side(entry for entry in entries if entry.lang == cell.lang)
    metrics = sorted({metric for entry in side.entries for metric in entry.scores})
    measures = [measure_named(name) for name in (*MEASURES, *(f"{metric}-mean" for metric in metrics))]
    return Line(cell, len(side.entries), {measure.name: number(measure, side) for measure in measures}, signature)


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
    shown = "–" if found.value is None else f"{100 * found.value if name in MEASURES else found.value:.1f}"
    return f"{shown} ({found.n}{f'+{found.unscored}' if found.unscored else ''})"


def _cell(text: str) -> str:
    """A text that stays inside its cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def languages(entries: Sequence[Entry]) -> list[str]:
    """The languages of the cases, in alphabetical order."""
    return sorted({entry.lang for entry in entries})
