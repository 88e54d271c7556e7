"""AmbGIMT's tables in the terminal: what fits in a screen; the page and ``gnt report --tables`` hold the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_gnt.reports.html_text import number, percent
from pytest_gnt.reports.table_sheets import ALL, Place, bias_text, metric_title

if TYPE_CHECKING:
    from rich.console import RenderableType

Metric = Mapping[str, Any]

_SHOWN = (
    ("comet", "sentence"),
    ("xcomet", "sentence"),
    ("cometkiwi", "sentence"),
    ("bleu_without_identity", "corpus"),
    ("bleu", "corpus"),
    ("chrf", "sentence"),
)
MOST_METRICS = 4


def identity_tables(tables: Iterable[Place]) -> Iterator[RenderableType]:
    """Score and gap of the main metrics by identity, one table a corpus and language, over all subsets."""
    for place in tables:
        if place["subset"] == ALL and place["quality"]:
            yield _table(place, _chosen(place["quality"]))


def _chosen(metrics: Sequence[Metric]) -> list[Metric]:
    there = {(metric["metric"], metric["level"]): metric for metric in metrics}
    if ("bleu_without_identity", "corpus") in there:
        there.pop(("bleu", "corpus"), None)
    return [there[key] for key in _SHOWN if key in there][:MOST_METRICS]


def _table(place: Place, metrics: Sequence[Metric]) -> RenderableType:
    from rich.table import Table

    title = f"quality by identity, {place['corpus']} {place['lang']} (gap: to woman and man)"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("identity")
    for metric in metrics:
        for name in (metric_title(metric), "gap", "n"):
            table.add_column(name, justify="right")
    for at, first in enumerate(metrics[0]["rows"] if metrics else ()):
        cells = [cell for metric in metrics for cell in _cells(metric["rows"][at])]
        table.add_row(first["identity"], *cells)
    for name in ("mean", "sd"):
        pairs = ((_number(metric[name]), _number(metric[f"gap_{name}"], name == "mean"), "") for metric in metrics)
        table.add_row(name, *(cell for pair in pairs for cell in pair))
    return table


def _cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    more = f"+{row['unscored']}" if row["unscored"] else ""
    return _number(row["value"]), _number(row["gap"], sign=True), f"{row['n']}{more}"


def _number(value: float | None, sign: bool = False) -> str:
    return "–" if value is None else number(value, 2, sign)


def attitude_lines(tables: Iterable[Place]) -> list[str]:
    """EAS of the two groups, their shifts, and the shift bias rate, one block a corpus and language."""
    lines = []
    for place in tables:
        attitude = place["attitude"]
        if place["subset"] != ALL or attitude is None:
            continue
        lines.append(f"attitude, {place['corpus']} {place['lang']} (δ = {attitude['delta']:g}):")
        lines += [_group_line(row) for row in attitude["rows"] if row["name"] in ("BG", "NBG")]
        over_all, aligned = bias_text(attitude["shift_bias"]), bias_text(attitude["shift_bias_aligned"])
        lines.append(f"  shift bias rate {over_all} over all, {aligned} over the aligned, in %")
    return lines


def _group_line(row: Mapping[str, Any]) -> str:
    scores = " → ".join("–" if row[name] is None else number(row[name], 3, True) for name in ("source", "target"))
    return (
        f"  {row['name']:<4} EAS {scores}; R_TN {percent(row['r_tn'], 2)}, R_TP {percent(row['r_tp'], 2)} of "
        f"{row['n']} ({percent(row['r_tn_aligned'], 2)}, {percent(row['r_tp_aligned'], 2)} of {row['aligned']} aligned)"
    )


def reference_lines(tables: Iterable[Place]) -> list[str]:
    """Where there is nothing to compare a translation with."""
    return [
        f"no reference: {place['no_reference']} of {place['cases']} cases of {place['corpus']} {place['lang']}: "
        "no BLEU, chrF and COMET for them"
        for place in tables
        if place["subset"] == ALL and place["no_reference"]
    ]
