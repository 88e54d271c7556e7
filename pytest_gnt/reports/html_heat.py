"""The heat map of identities and metrics: each mean, and how far it is from woman and man on the same sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.case import BINARY, Identity
from pytest_gnt.reports.charts import POINT_STEPS, RATE_STEPS, SCORE_STEPS, level
from pytest_gnt.reports.html_gaps import SHIFT, Gaps
from pytest_gnt.reports.html_text import spoken, stratum_link

_ORDER = {str(identity): place for place, identity in enumerate(Identity)}


def heat_maps(gaps: Gaps, tests: Sequence[str]) -> list[dict[str, Any]]:
    """One map a corpus and language; metrics in the order tests, quality scores, attitude."""
    return [_map(corpus, lang, metrics, tests) for (corpus, lang), metrics in sorted(gaps.table().items())]


def _map(corpus: str, lang: str, metrics: Mapping[str, Any], tests: Sequence[str]) -> dict[str, Any]:
    columns = [_column(name, name in tests) for name in sorted(metrics, key=lambda name: _rank(name, tests))]
    identities = sorted({identity for cells in metrics.values() for identity in cells}, key=_place)
    return {
        "corpus": corpus,
        "lang": lang,
        "columns": columns,
        "rows": [
            {
                "identity": identity,
                "binary": identity in BINARY,
                "link": stratum_link(corpus, {"lang": lang, "identity": identity}),
                "cells": [_cell(metrics[column["name"]].get(identity), column["steps"]) for column in columns],
            }
            for identity in identities
        ],
    }


def _column(name: str, is_test: bool) -> dict[str, Any]:
    if is_test:
        return {"name": name, "title": spoken(name), "unit": "% passed", "digits": 1, "steps": RATE_STEPS}
    if name == SHIFT:
        return {"name": name, "title": name, "unit": "score", "digits": 2, "steps": SCORE_STEPS}
    return {"name": name, "title": name, "unit": "points of 100", "digits": 2, "steps": POINT_STEPS}


def _cell(cell: Mapping[str, Any] | None, steps: Sequence[float]) -> dict[str, Any] | None:
    if cell is None or not cell["n"]:
        return None
    return {**cell, "level": level(cell["gap"], steps) if cell["clear"] else 0}


def _rank(name: str, tests: Sequence[str]) -> tuple[int, str]:
    return (0 if name in tests else 2 if name == SHIFT else 1), name


def _place(identity: str) -> tuple[int, str]:
    return _ORDER.get(identity, len(_ORDER)), identity
