"""What becomes of the emotional attitude: EAS, shifts by identity, and the shift bias rate (AmbGIMT)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.case import BINARY, NON_BINARY, Identity
from pytest_gnt.metrics.attitude.shift import (
    DELTA,
    RESAMPLES,
    Interval,
    ShiftRates,
    shift_bias_intervals,
    shift_bias_rate,
    shift_counts,
)
from pytest_gnt.verdicts.results import CaseResult

SEED = 0
"""Of the bootstrap: the same in every report, so that equal records give equal tables."""

GROUPS = {"BG": tuple(map(str, BINARY)), "NBG": tuple(map(str, NON_BINARY))}
_IDENTITIES = tuple(map(str, Identity))


@dataclass(slots=True)
class _Counts:
    """Sentences, those with both scores, shifts to harsh and to kind, and the scores' sums over the second."""

    n: int = 0
    aligned: int = 0
    to_negative: int = 0
    to_positive: int = 0
    source: float = 0.0
    target: float = 0.0

    def add(self, row: tuple[int, int, int, int], source: float, target: float) -> None:
        n, aligned, negative, positive = row
        self.n += n
        self.aligned += aligned
        self.to_negative += negative
        self.to_positive += positive
        self.source += source
        self.target += target

    def merge(self, other: _Counts) -> None:
        row = other.n, other.aligned, other.to_negative, other.to_positive
        self.add(row, other.source, other.target)

    @property
    def rates(self) -> ShiftRates:
        return ShiftRates(self.n, self.aligned, self.to_negative, self.to_positive)


@dataclass(slots=True)
class AttitudeTable:
    """Counts the sentences that an attitude was asked of. R is a share of all of them, or of the aligned ones."""

    _counts: dict[str, _Counts] = field(default_factory=lambda: defaultdict(_Counts))
    _groups: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * 8))
    _deltas: set[float] = field(default_factory=set)

    def add(self, result: CaseResult) -> None:
        if result.attitude is None or result.identity is None:
            return
        source, target = (_finite(result.attitude.get(name)) for name in ("source_score", "target_score"))
        if result.attitude.get("reason") or source is None or target is None:
            source = target = None
        delta = _finite(result.attitude.get("delta"))
        delta = DELTA if delta is None else delta
        self._deltas.add(delta)
        row = shift_counts(source, target, delta)
        self._counts[result.identity].add(row, source or 0.0, target or 0.0)
        for offset, members in zip((0, 4), GROUPS.values(), strict=True):
            if result.identity in members:
                for place, count in enumerate(row, offset):
                    self._groups[result.group][place] += count

    def to_json(self) -> dict[str, Any] | None:
        """Rows for BG, NBG and each identity, and the shift bias rate; None where no attitude was asked for."""
        if not self._counts:
            return None
        groups = {name: self._merged(members) for name, members in GROUPS.items()}
        identities = {name: self._counts[name] for name in _IDENTITIES if name in self._counts}
        over_all, over_aligned = shift_bias_intervals(self._groups, SEED)
        return {
            "delta": min(self._deltas),
            "rows": [_row(name, counts) for name, counts in {**groups, **identities}.items() if counts.n],
            "shift_bias": self._bias(groups, over_all, aligned=False),
            "shift_bias_aligned": self._bias(groups, over_aligned, aligned=True),
            "resamples": RESAMPLES,
            "seed": SEED,
        }

    def _merged(self, members: tuple[str, ...]) -> _Counts:
        merged = _Counts()
        for name in members:
            if name in self._counts:
                merged.merge(self._counts[name])
        return merged

    def _bias(self, groups: dict[str, _Counts], interval: Interval, *, aligned: bool) -> dict[str, Any]:
        value = shift_bias_rate(groups["BG"].rates, groups["NBG"].rates, aligned=aligned)
        low, high = interval or (None, None)
        return {"value": value, "low": low, "high": high, "sentences": len(self._groups)}


def _row(name: str, counts: _Counts) -> dict[str, Any]:
    rates, aligned = counts.rates, counts.aligned
    return {
        "name": name,
        "n": counts.n,
        "aligned": aligned,
        "unscored": counts.n - aligned,
        "coverage": aligned / counts.n if counts.n else None,
        "source": counts.source / aligned if aligned else None,
        "target": counts.target / aligned if aligned else None,
        "to_negative": counts.to_negative,
        "to_positive": counts.to_positive,
        "r_tn": rates.r_tn,
        "r_tp": rates.r_tp,
        "r_tn_aligned": rates.r_tn_aligned,
        "r_tp_aligned": rates.r_tp_aligned,
    }


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None
