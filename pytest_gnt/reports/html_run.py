"""What was run, on what, judged by what, and what it took: the facts that every number of the page depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.reports.html_text import duration, number, percent
from pytest_gnt.reports.judge_text import agreement_text

_STAGE_KEYS = ("stage", "requested", "stored", "computed", "failed", "seconds")


def signature_rows(signatures: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each corpus' signature, whole and in its parts."""
    return [
        {"corpus": corpus, "text": text, "parts": [part.partition(":")[::2] for part in text.split("|")]}
        for corpus, text in signatures.items()
    ]


def notes_of(summary: Mapping[str, Any]) -> list[str]:
    """What a reader of the run should know; with repeats, how far the runs agree."""
    notes = [str(note) for note in summary.get("notes", ())]
    repeats = summary.get("repeats")
    if repeats:
        notes.append(
            f"run {repeats['runs']} times: {number(repeats['unstable'])} of {number(repeats['cases'])} decided tests "
            f"were not decided alike each time; two runs disagree on {percent(repeats['rate'])} of them"
        )
    return notes


def judge_view(judge: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The judge and how often it is right, where that was measured; None where nothing was judged."""
    if judge is None:
        return None
    agreement = judge.get("agreement")
    notes = [judge.get("note", ""), *judge.get("notes", ())]
    return {
        "name": judge["name"],
        "title": judge.get("title", ""),
        "quality": [_quality(row) for row in judge["quality"] if row["n"]],
        "notes": [note for note in notes if note] + ([agreement_text(agreement)] if agreement else []),
    }


def _quality(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "lang": row["lang"],
        "gold": row["gold"],
        "n": number(row["n"]),
        "accuracy": _measured(row, "accuracy"),
        "macro_f1": _measured(row, "macro_f1"),
    }


def _measured(row: Mapping[str, Any], name: str) -> str:
    """A share with its interval, where it has one: ``0.93 [0.90, 0.95]``; a dash where it is not defined."""
    value, low, high = row.get(name), row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None:
        return "–"
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def corrected_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Accuracies that allow for the judge's measured mistakes, beside what the judge said."""
    return [
        {
            "label": f"{row['lang']} · {row['subset']}",
            "corpus": row["corpus"],
            "n": row["n"],
            "observed": row["observed"],
            "rate": row["rate"],
            "low": row["low"],
            "high": row["high"],
            "before": None,
            "basis": str(row["why"])
            if row["rate"] is None
            else f"sensitivity {row['sensitivity']:.2f}, specificity {row['specificity']:.2f} "
            f"on {number(row['gold'])} gold labels ({row['basis']})",
            "interval": "–" if row["rate"] is None else f"{percent(row['low'])} – {percent(row['high'])}",
        }
        for row in rows
    ]


def stage_rows(stages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The stages as a table; whatever else a stage counts (tokens, cost) gets a column of its own."""
    extra = list(dict.fromkeys(key for row in stages for key in row if key not in _STAGE_KEYS))
    return {
        "columns": [*_STAGE_KEYS[1:5], *extra],
        "rows": [
            {
                "stage": str(row["stage"]),
                "cells": [_count(row.get(key)) for key in (*_STAGE_KEYS[1:5], *extra)],
                "seconds": duration(float(row.get("seconds", 0.0))),
                "pace": _pace(row),
            }
            for row in stages
        ],
    }


def usage_rows(usage: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What was sent to servers and received, by model, and its cost in the currency of the configured prices."""
    return [
        {
            "model": str(row["model"]),
            **{key: _count(row.get(key)) for key in ("requests", "prompt_tokens", "completion_tokens")},
            "cost": "–" if row.get("cost") is None else number(row["cost"], 4),
        }
        for row in usage
    ]


def _count(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "–"
    if isinstance(value, int):
        return number(value)
    return number(value, 2) if isinstance(value, float) else str(value)


def _pace(row: Mapping[str, Any]) -> str:
    seconds, computed = row.get("seconds"), row.get("computed")
    return f"{number(computed / seconds, 1)}/s" if seconds and computed else "–"


def when(text: str) -> str:
    """A point in time to the minute, as it stands in the summary: ``2026-03-02 09:58 UTC``."""
    date, _, time = text.partition("T")
    zone = "UTC" if time.endswith(("+00:00", "Z")) else time[8:]
    return f"{date} {time[:5]} {zone}".strip()
