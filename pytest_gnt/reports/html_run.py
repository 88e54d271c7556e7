"""What was run, on what, judged by what, and what it took: the facts that every number of the page depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.reports.html_text import duration, number

_STAGE_KEYS = ("stage", "requested", "stored", "computed", "failed", "seconds")


def signature_rows(signatures: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each corpus' signature, whole and in its parts."""
    return [
        {"corpus": corpus, "text": text, "parts": [part.partition(":")[::2] for part in text.split("|")]}
        for corpus, text in signatures.items()
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
