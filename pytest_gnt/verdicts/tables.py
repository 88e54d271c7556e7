"""AmbGIMT's tables: quality by identity with its gap to woman and man, and what becomes of the attitude.

Built from the records of a run one by one; what is held grows with the number of sentences, not of cases or texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.case import Identity, Subset
from pytest_gnt.verdicts.results import CaseResult
from pytest_gnt.verdicts.table_attitude import AttitudeTable
from pytest_gnt.verdicts.table_quality import QualityTable

ALL = "all"
"""The subset that stands for all of a corpus' subsets together."""

_KNOWN = frozenset(map(str, Identity))
_SUBSETS = {ALL: 0, str(Subset.AUTHENTIC): 1, str(Subset.SYNTHESIZED): 2}


@dataclass(slots=True)
class _Place:
    """The tables of one corpus, language and subset."""

    cases: int = 0
    no_reference: int = 0
    quality: QualityTable = field(default_factory=QualityTable)
    attitude: AttitudeTable = field(default_factory=AttitudeTable)

    def add(self, result: CaseResult) -> None:
        self.cases += 1
        self.no_reference += not any(reference.strip() for reference in result.references)
        self.quality.add(result)
        self.attitude.add(result)


@dataclass(slots=True)
class Tables:
    """Counts the cases that are about an identity; the order in which they come does not matter."""

    _places: dict[tuple[str, str, str], _Place] = field(default_factory=dict)

    def add(self, result: CaseResult) -> None:
        if result.identity not in _KNOWN:
            return
        for subset in (ALL, result.subset):
            self._places.setdefault((result.corpus, result.lang, subset), _Place()).add(result)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a corpus, language and subset, in this order; ``all`` comes before its parts.

        None stands where a number is not defined; no number is NaN.
        """
        return [
            {
                "corpus": corpus,
                "lang": lang,
                "subset": subset,
                "cases": place.cases,
                "no_reference": place.no_reference,
                "quality": place.quality.metrics(lang),
                "attitude": place.attitude.to_json(),
            }
            for (corpus, lang, subset), place in sorted(self._places.items(), key=lambda item: _order(item[0]))
        ]


def tables_of(results: Iterable[CaseResult]) -> list[dict[str, Any]]:
    """The tables of a whole run."""
    tables = Tables()
    for result in results:
        tables.add(result)
    return tables.to_json()


def _order(place: tuple[str, str, str]) -> tuple[str, str, int, str]:
    corpus, lang, subset = place
    return corpus, lang, _SUBSETS.get(subset, len(_SUBSETS)), subset
