"""Keywords of a run's translations, counted as its records go by."""

from __future__ import annotations

from typing import Any

from pytest_gnt.metrics.keywords import Keywords
from pytest_gnt.verdicts.results import CaseResult


class KeywordTally(Keywords):
    """`Keywords` over case records. Cases without an identity or without a translation are not counted."""

    def add_result(self, result: CaseResult) -> None:
        """Count one case."""
        text = (result.translation or {}).get("text")
        if text and result.identity:
            self.add(result.corpus, result.lang, result.group, result.identity, text)

    def to_json(self) -> dict[str, Any]:
        """The parts of a summary."""
        return {"keywords": self.rows(), "keywords_about": self.about()}
