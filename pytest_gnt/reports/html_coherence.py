"""What a system says of its own translations, against what the judge finds."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.case import Form
from pytest_gnt.evidence import JudgedLabel
from pytest_gnt.reports.html_text import fragment
from pytest_gnt.verdicts.rates import wilson
from pytest_gnt.verdicts.results import CaseResult

NOT_JUDGED = "not judged"

_SAID = tuple(str(form) for form in Form)
_JUDGED = tuple(str(label) for label in JudgedLabel)
_COLUMNS = ("NEUTRAL", "CORRECTLY GENDERED", "WRONGLY GENDERED", NOT_JUDGED)


def judged_form(label: str) -> str:
    """The form behind the judge's three-way label."""
    return str(Form.NEUTRAL if label == JudgedLabel.NEUTRAL else Form.GENDERED)


@dataclass(slots=True)
class Coherence:
    """Counts self-reported label by judged label, by language. Cases without a self-reported label do not count."""

    _counts: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, result: CaseResult) -> None:
        said = (result.translation or {}).get("label")
        if said not in _SAID or result.judgement is None:
            return
        judged = result.judgement.get("label")
        self._counts[result.lang][said, judged if judged in _JUDGED else NOT_JUDGED] += 1

    def view(self) -> dict[str, Any] | None:
        """The matrix over all languages and the agreement of each; None where no system label met a judge."""
        if not self._counts:
            return None
        total: Counter[tuple[str, str]] = sum(self._counts.values(), Counter())
        languages = [_agreement(lang, self._counts[lang]) for lang in sorted(self._counts)]
        return {
            "columns": _COLUMNS if any(judged == NOT_JUDGED for _, judged in total) else _COLUMNS[:-1],
            "rows": [_row(said, total) for said in _SAID],
            "all": _agreement(None, total),
            "languages": languages if len(languages) > 1 else [],
        }


def _row(said: str, counts: Counter[tuple[str, str]]) -> dict[str, Any]:
    n = sum(counts[said, judged] for judged in _COLUMNS)
    return {
        "said": said,
        "n": n,
        "cells": {
            judged: {
                "count": counts[said, judged],
                "share": counts[said, judged] / n if n else 0.0,
                "agrees": judged != NOT_JUDGED and judged_form(judged) == said,
                "link": fragment(said=said, judged="none" if judged == NOT_JUDGED else judged),
            }
            for judged in _COLUMNS
        },
    }


def _agreement(lang: str | None, counts: Counter[tuple[str, str]]) -> dict[str, Any]:
    decided = {pair: count for pair, count in counts.items() if pair[1] != NOT_JUDGED}
    n = sum(decided.values())
    agreed = sum(count for (said, judged), count in decided.items() if judged_form(judged) == said)
    low, high = wilson(agreed, n)
    return {
        "label": lang, "passed": agreed, "n": n, "unscored": sum(counts.values()) - n,
        "rate": agreed / n if n else None, "low": low, "high": high, "before": None,
    }  # fmt: skip
