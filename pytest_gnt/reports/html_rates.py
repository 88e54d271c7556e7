"""Pass rates as the templates show them: panels of rows with intervals, and the matrix of languages and sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from pytest_gnt.case import BINARY
from pytest_gnt.reports.charts import share_level
from pytest_gnt.reports.html_baseline import Before
from pytest_gnt.reports.html_text import spoken, stratum_link

Row = Mapping[str, Any]


def set_panels(rates: Sequence[Row], before: Before | None) -> list[dict[str, Any]]:
    """One panel a test: its rate by language and set, and by the stated gender within."""
    chosen = sorted((row for row in rates if "subset" in row["by"]), key=_place)
    return [_panel(test, corpus, rows, before) for (corpus, test), rows in _by_test(chosen)]


def identity_panels(rates: Sequence[Row], before: Before | None) -> list[dict[str, Any]]:
    """One panel a test and language: its rate by identity, beside that of woman and man together."""
    chosen = [row for row in rates if "identity" in row["by"]]
    panels = []
    for (corpus, test), rows in _by_test(chosen):
        for lang, of_lang in _by_lang(rows):
            panel = _panel(test, corpus, of_lang, before) | {"lang": lang}
            panels.append(panel | {"reference": _binary_rate(of_lang)})
    return panels


def matrices(rates: Sequence[Row], before: Before | None) -> list[dict[str, Any]]:
    """One matrix a corpus: languages down, sets (and tests, where a set has several) across."""
    found = []
    chosen = [row for row in rates if set(row["by"]) == {"lang", "subset"}]
    for corpus in dict.fromkeys(row["corpus"] for row in chosen):
        rows = [row for row in chosen if row["corpus"] == corpus]
        columns = sorted({(row["by"]["subset"], row["test"]) for row in rows})
        cells = {(row["by"]["lang"], row["by"]["subset"], row["test"]): _shown_row(row, before) for row in rows}
        found.append(
            {
                "corpus": corpus,
                "columns": [{"subset": subset, "test": spoken(test)} for subset, test in columns],
                "rows": [
                    (lang, [cells.get((lang, *column)) for column in columns])
                    for lang in sorted({row["by"]["lang"] for row in rows})
                ],
            }
        )
    return found


def weakest(rates: Sequence[Row], most: int = 8) -> list[dict[str, Any]]:
    """The strata that most certainly pass least often: by the upper end of their intervals."""
    decided = [row for row in rates if row["n"] and row["rate"] < 1]
    ranked = sorted(decided, key=lambda row: (row["high"], row["rate"]))
    return [_shown_row(row, None) | {"test": spoken(row["test"]), "corpus": row["corpus"]} for row in ranked[:most]]


def _panel(test: str, corpus: str, rows: Iterable[Row], before: Before | None) -> dict[str, Any]:
    return {
        "title": spoken(test),
        "corpus": corpus,
        "lang": None,
        "reference": None,
        "rows": [_shown_row(row, before) for row in rows],
        "compared": before is not None,
    }


def _shown_row(row: Row, before: Before | None) -> dict[str, Any]:
    was = before.rate(row["corpus"], row["test"], row["by"]) if before else None
    rate = row["rate"]
    return {
        **{key: row[key] for key in ("n", "passed", "failed", "unscored", "rate", "low", "high")},
        "label": label(row["by"]),
        "inner": "gender" in row["by"],
        "before": was,
        "delta": None if was is None or rate is None else rate - was,
        "level": share_level(rate),
        "link": stratum_link(row["corpus"], row["by"], test=row["test"]),
        "failed_link": stratum_link(row["corpus"], row["by"], test=row["test"], outcome="failed"),
    }


def label(by: Mapping[str, str]) -> str:
    """A stratum in words. An identity stands alone: its panel names the language."""
    return str(by["identity"]) if "identity" in by else " · ".join(map(str, by.values()))


def _binary_rate(rows: Sequence[Row]) -> float | None:
    binary = [row for row in rows if row["by"]["identity"] in BINARY]
    n = sum(row["n"] for row in binary)
    return sum(row["passed"] for row in binary) / n if n and len(binary) == len(BINARY) else None


def _by_test(rows: Sequence[Row]) -> list[tuple[tuple[str, str], list[Row]]]:
    keys = dict.fromkeys((row["corpus"], row["test"]) for row in rows)
    return [(key, [row for row in rows if (row["corpus"], row["test"]) == key]) for key in keys]


def _place(row: Row) -> tuple[str, ...]:
    """Genders stand under their language and set."""
    by = row["by"]
    return by.get("lang", ""), by.get("subset", ""), by.get("gender", "")


def _by_lang(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    def key(row: Row) -> str:
        return str(row["by"].get("lang", ""))

    return [(lang, list(of_lang)) for lang, of_lang in groupby(sorted(rows, key=key), key)]
