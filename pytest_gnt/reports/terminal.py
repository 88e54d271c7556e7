"""The terminal summary: pass rates by language and set and by identity, with n, unscored count and interval."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gnt.reports.judge_text import corrected_lines, flag_line, judge_lines
from pytest_gnt.reports.terminal_tables import attitude_lines as shift_lines
from pytest_gnt.reports.terminal_tables import identity_tables, reference_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 110


def print_summary(terminal: pytest.TerminalReporter, summary: Mapping[str, Any], folder: Path | None) -> None:
    """Write the summary section."""
    terminal.section("pytest-gnt")
    for line in header_lines(summary):
        terminal.line(line)
    for corpus in summary["corpora"]:
        for line in corpus_lines(corpus):
            terminal.line(line)
    rows = summary["rates"]
    for title, wanted in (("by language and set", ("lang", "subset")), ("by identity", ("lang", "identity"))):
        chosen = [row for row in rows if tuple(row["by"]) == wanted]
        if chosen:
            terminal.line("")
            _render(terminal, _rate_table(title, chosen))
    for line in corrected_lines(summary.get("corrected", ())):
        terminal.line(line)
    means = [row for row in summary["means"] if tuple(row["by"]) == ("lang", "subset")]
    if means:
        terminal.line("")
        _render(terminal, _mean_table(means))
    _print_tables(terminal, summary.get("tables", ()))
    print_gates(terminal, summary)
    for line in footer_lines(summary, folder):
        terminal.line(line)


def _print_tables(terminal: pytest.TerminalReporter, tables: Sequence[Mapping[str, Any]]) -> None:
    for table in identity_tables(tables):
        terminal.line("")
        _render(terminal, table)
    lines = [*reference_lines(tables), *shift_lines(tables)]
    for line in ["", *lines] if lines else []:
        terminal.line(line)


def print_gates(terminal: pytest.TerminalReporter, summary: Mapping[str, Any]) -> None:
    """What became of the baseline's cases, and every gate that did not simply pass."""
    baseline = summary["baseline"]
    if baseline is not None:
        terminal.line("")
        changes = ", ".join(f"{count} {kind}" for kind, count in baseline["changes"].items() if count)
        terminal.line(f"against baseline {baseline['name']}: {changes}")
        for text in baseline["differences"]:
            terminal.line(f"  RED: cannot be compared: {text}; run as the baseline was, or store a new one", red=True)
        for text in baseline["notes"]:
            terminal.line(f"  {text}", yellow=True)
    gates = summary["gates"]
    if not gates:
        return
    count = Counter(gate["verdict"] for gate in gates)
    terminal.line("gates: " + ", ".join(f"{count[verdict]} {verdict}" for verdict in _VERDICTS if count[verdict]))
    for gate in gates:
        if gate["verdict"] == "fail":
            colour = {"red": True} if gate["severity"] == "fail" else {"yellow": True}
            terminal.line(f"  {gate['name']}: {gate['title']}: {gate['why']}", **colour)


_VERDICTS = ("fail", "pass", "undecided", "not-applicable")


def header_lines(summary: Mapping[str, Any]) -> list[str]:
    """What was tested, by what it was judged, and how good the judge is."""
    model = summary["model"]
    title = f" ({model['title']})" if model["title"] else ""
    lines = [f"system     {model['name']}{title}", *judge_lines(summary["judge"])]
    lines += attitude_lines(summary["attitude"])
    return lines + [f"signature  {signature}" for signature in summary["signature"].values()]


def attitude_lines(attitude: Mapping[str, Any] | None) -> list[str]:
    """The attitude model, and how well it tells plainly kind from plainly harsh words in each language."""
    if attitude is None:
        return []
    lines = [f"attitude   {attitude['name']}"]
    for row in attitude["calibration"]:
        share = percent(row["auc"])
        lines.append(f"           {row['lang']}: tells kind from harsh in {share} of pairs of {row['n']} plain words")
    return lines if attitude["calibration"] else [lines[0] + " (raw scores, not calibrated)"]


def corpus_lines(corpus: Mapping[str, Any]) -> list[str]:
    """Rows in and rows out, refusals by file and line, and findings."""
    lines = [
        f"corpus     {corpus['name']}: {corpus['title'] or 'own data'}: {corpus['rows_read']} rows read = "
        f"{corpus['cases']} cases + {corpus['refused']} refused; {corpus['selected']} cases selected"
    ]
    lines += [f"           refused {row}" for row in corpus["refused_rows"]]
    if corpus["refused"] > len(corpus["refused_rows"]):
        lines.append(f"           … and {corpus['refused'] - len(corpus['refused_rows'])} more refused rows")
    return lines + [f"           note: {note}" for note in corpus["notes"]]


def footer_lines(summary: Mapping[str, Any], folder: Path | None) -> list[str]:
    """Counts, unscored reasons, stages, where the results lie."""
    counts = summary["counts"]
    lines = [
        "",
        f"{counts['cases']} cases, {counts['tests']} tests = {counts['passed']} passed + {counts['failed']} failed + "
        f"{counts['unscored']} unscored",
    ]
    if summary["unscored"]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in summary["unscored"].items())
        lines.append(f"unscored: {reasons}")
    if summary["flags"]:
        marks = ", ".join(f"{flag} {count}" for flag, count in summary["flags"].items())
        lines.append(f"translations marked: {marks}")
    lines += flag_line(summary.get("judge_flags", {}))
    lines += [f"RED: {text}" for text in summary.get("limits", ())]
    repeats = summary["repeats"]
    if repeats is not None:
        lines.append(
            f"run {repeats['runs']} times: {repeats['unstable']} of {repeats['cases']} decided tests were not decided "
            f"alike each time; two runs disagree on {percent(repeats['rate'])} of them"
        )
    lines += [f"note: {note}" for note in summary["notes"]]
    for row in summary["usage"]:
        cost = "" if row["cost"] is None else f", cost {row['cost']:.4f}"
        lines.append(
            f"asked {row['model']}: {row['requests']} requests, {row['prompt_tokens']} prompt + "
            f"{row['completion_tokens']} completion tokens{cost}"
        )
    if summary["baseline"] is None and not summary["stored"]:
        lines.append("no baseline: --gnt-update-baseline stores these results as one to compare later runs with")
    if summary["incomplete_why"]:
        lines.append(f"INCOMPLETE: {summary['incomplete_why']}")
    if folder is None:
        return lines
    return [*lines, f"results: {folder} (open {folder / 'report.html'} in a browser)"]


def _rate_table(title: str, rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    from rich.table import Table

    table = Table(title=f"pass rates {title}", title_justify="left", box=None, pad_edge=False)
    for name in ("test", "language", "set" if "subset" in rows[0]["by"] else "identity"):
        table.add_column(name)
    for name in ("passed", "rate", "95% interval", "unscored"):
        table.add_column(name, justify="right")
    last = None
    for row in rows:
        test = row["test"] if row["test"] != last else ""
        last = row["test"]
        table.add_row(
            test,
            *row["by"].values(),
            f"{row['passed']}/{row['n']}",
            percent(row["rate"]),
            f"{percent(row['low'])} – {percent(row['high'])}" if row["n"] else "–",
            str(row["unscored"] or ""),
        )
    return table


def _mean_table(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """One line a stratum, one column a metric: mean, with n where cases are missing."""
    from rich.table import Table

    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    table = Table(title="means", title_justify="left", box=None, pad_edge=False)
    table.add_column("language")
    table.add_column("set")
    table.add_column("n", justify="right")
    for metric in metrics:
        table.add_column(metric, justify="right")
    cells: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault(tuple(row["by"].values()), {})[row["metric"]] = row
    for place, found in cells.items():
        largest = max(row["n"] for row in found.values())
        table.add_row(*place, str(largest), *(_mean_cell(found.get(metric), largest) for metric in metrics))
    return table


def _mean_cell(row: Mapping[str, Any] | None, n: int) -> str:
    if row is None or row["mean"] is None:
        return "–"
    return f"{row['mean']:.2f}" + (f" (n={row['n']})" if row["n"] != n else "")


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"


def _render(terminal: pytest.TerminalReporter, renderable: RenderableType) -> None:
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=max(WIDTH, terminal._tw.fullwidth), no_color=True, markup=False)
    console.print(renderable)
    for line in buffer.getvalue().splitlines():
        terminal.line(line.rstrip())
