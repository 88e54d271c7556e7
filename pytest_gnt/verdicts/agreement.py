"""How far a judge agrees with gold labels, with another judge, and with itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_gnt.evidence import JudgedLabel
from pytest_gnt.verdicts.rates import wilson

THREE: tuple[str, ...] = tuple(str(label) for label in JudgedLabel)
TWO: tuple[str, ...] = ("GENDERED", "NEUTRAL")
"""For gold labels that do not say whether a gendered translation is right."""

DRAWS = 2000
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = Ints | Floats


def in_two(label: str) -> str:
    """A three-way label as one of two."""
    return label if label in TWO else "GENDERED"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of gold label (rows) by judged label (columns), both in the order of ``labels``.

    Attributes:
        unscored: how many of each gold label the judge could not decide; they are in no other count.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    unscored: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str | None]], labels: Sequence[str]) -> Confusion:
        """Count pairs of gold and judged label; a judged None is unscored.

        Raises:
            ValueError: a label is not among ``labels``.
        """
        names = tuple(labels)
        counts = [[0] * len(names) for _ in names]
        unscored = [0] * len(names)
        for gold, judged in pairs:
            row = names.index(gold)
            if judged is None:
                unscored[row] += 1
            else:
                counts[row][names.index(judged)] += 1
        return cls(names, tuple(map(tuple, counts)), tuple(unscored))

    @property
    def n(self) -> int:
        """Decided cases."""
        return sum(map(sum, self.counts))

    @property
    def gold(self) -> int:
        """All cases, undecided ones included."""
        return self.n + sum(self.unscored)

    def __add__(self, other: Confusion) -> Confusion:
        if self.labels != other.labels:
            raise ValueError(f"counts of other labels: {self.labels} and {other.labels}")
        counts = tuple(
            tuple(a + b for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip(self.counts, other.counts, strict=True)
        )
        unscored = tuple(a + b for a, b in zip(self.unscored, other.unscored, strict=True))
        return Confusion(self.labels, counts, unscored)

    def hits(self, label: str) -> tuple[int, int, int, int]:
        """For one label against the rest: gold ones judged so, all gold ones; others judged otherwise, all others."""
        place = self.labels.index(label)
        positives = sum(self.counts[place])
        both = self.counts[place][place]
        judged = sum(row[place] for row in self.counts)
        negatives = self.n - positives
        return both, positives, negatives - (judged - both), negatives


def accuracy(counts: Counts) -> Floats:
    """Share on the diagonal, for a stack of matrices (the last two axes). NaN without cases."""
    total = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.trace(counts, axis1=-2, axis2=-1) / total, dtype=np.float64)


def f1_by_label(counts: Counts) -> Floats:
    """F1 of each label; 0 for a label that is never right, NaN for one that occurs on neither side."""
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    both = counts.sum(axis=-1) + counts.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * right / both, dtype=np.float64)


def macro_f1(counts: Counts) -> Floats:
    """Unweighted mean of F1 over the labels that occur in gold or judged (as scikit-learn's default)."""
    scores = f1_by_label(counts)
    there = ~np.isnan(scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(there, scores, 0.0).sum(axis=-1) / there.sum(axis=-1), dtype=np.float64)


def kappa(counts: Counts) -> Floats:
    """Cohen's kappa (Cohen 1960). NaN where chance alone agrees always."""
    total = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1) / total**2
        return np.asarray((accuracy(counts) - expected) / (1 - expected), dtype=np.float64)


def quality(confusion: Confusion, seed: int = 0) -> dict[str, Any]:
    """Everything that is said of a judge's agreement, as plain JSON.

    Shares have Wilson's 95% interval, macro-F1 and kappa a percentile interval (parametric bootstrap, see `_drawn`). A
    value that is not defined is None.
    """
    counts = np.array(confusion.counts, dtype=np.int64)
    n = confusion.n
    low, high = wilson(int(np.trace(counts)), n)
    drawn = _drawn(counts, seed) if n else np.zeros((0, len(counts), len(counts)))
    return {
        "n": n,
        "cases": confusion.gold,
        "unscored": sum(confusion.unscored),
        "accuracy": _number(accuracy(counts)),
        "accuracy_low": low,
        "accuracy_high": high,
        **_with_interval("macro_f1", macro_f1(counts), macro_f1(drawn)),
        **_with_interval("kappa", kappa(counts), kappa(drawn)),
        "labels": {label: _label_quality(confusion, label) for label in confusion.labels},
        "confusion": {
            gold: dict(zip(confusion.labels, row, strict=True)) | {"unscored": missing}
            for gold, row, missing in zip(confusion.labels, confusion.counts, confusion.unscored, strict=True)
        },
    }


def _label_quality(confusion: Confusion, label: str) -> dict[str, Any]:
    both, positives, _, _ = confusion.hits(label)
    judged = sum(row[confusion.labels.index(label)] for row in confusion.counts)
    scores = f1_by_label(np.array(confusion.counts, dtype=np.int64))
    return {
        "support": positives,
        **_share("recall", both, positives),
        **_share("precision", both, judged),
        "f1": _number(scores[confusion.labels.index(label)]),
    }


def _share(name: str, part: int, whole: int) -> dict[str, Any]:
    low, high = wilson(part, whole)
    return {name: part / whole if whole else None, f"{name}_low": low, f"{name}_high": high}


def _drawn(counts: Ints, seed: int) -> Floats:
    """Matrices that could as well be behind the counts: cell shares from a Dirichlet with Perks's prior.

    The plain bootstrap never draws a mistake that was not seen, so a judge without one on eight labels would get an
    interval of width 0. Labels that do not occur at all are left out.
    """
    there = (counts.sum(axis=0) + counts.sum(axis=1)) > 0
    seen = counts[np.ix_(there, there)]
    generator = np.random.default_rng(seed)
    drawn = generator.dirichlet(seen.ravel() + 1.0 / seen.size, size=DRAWS)
    return np.asarray(drawn.reshape(DRAWS, *seen.shape), dtype=np.float64)


def _with_interval(name: str, value: Floats, drawn: Floats) -> dict[str, Any]:
    found = _number(value)
    sound = drawn[np.isfinite(drawn)]
    if found is None or not len(sound):
        return {name: found, f"{name}_low": None, f"{name}_high": None}
    low, high = np.percentile(sound, [2.5, 97.5])
    return {name: found, f"{name}_low": min(found, float(low)), f"{name}_high": max(found, float(high))}


def _number(value: Any) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None


def vote_agreement(votes: Iterable[Sequence[str]]) -> Mapping[str, Any]:
    """How far the votes of a judge agree, over the cases with at least two readable ones.

    Returns:
        ``cases``, ``unanimous`` (share of them), and ``alpha``: Krippendorff's alpha for nominal data, by the package
        krippendorff; None where it is not installed (``note`` says so) or where all votes are the same label.
    """
    units = [[vote for vote in cast if vote in THREE or vote in TWO] for cast in votes]
    units = [unit for unit in units if len(unit) > 1]
    names = sorted({vote for unit in units for vote in unit})
    found: dict[str, Any] = {
        "cases": len(units),
        "unanimous": sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None,
        "alpha": None,
        "note": "",
    }
    if importlib.util.find_spec("krippendorff") is None:
        found["note"] = "for Krippendorff's alpha: pip install 'pytest-gnt[judging]'"
    elif len(names) > 1:
        import krippendorff

        table = np.array([[unit.count(name) for name in names] for unit in units])
        found["alpha"] = float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))
    return found
