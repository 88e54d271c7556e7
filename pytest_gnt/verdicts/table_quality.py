"""Quality by identity: scores of sentences and of the whole corpus, and how far each identity is from woman and man."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any, NamedTuple

from pytest_gnt.case import BINARY, Identity
from pytest_gnt.metrics.bleu import ORDERS, corpus_bleu, corpus_signature, tokenizer_for
from pytest_gnt.verdicts.rates import Mean
from pytest_gnt.verdicts.results import CaseResult

IDENTITIES = tuple(map(str, Identity))
_PLACE = {identity: place for place, identity in enumerate(IDENTITIES)}
_BINARY = tuple(_PLACE[str(identity)] for identity in BINARY)
_COUNTS = 2 + 2 * ORDERS
_FIRST = ("comet", "comet_mean", "xcomet", "xcomet_mean", "cometkiwi", "bleu_without_identity", "bleu", "chrf")

SENTENCE, CORPUS = "sentence", "corpus"


class _Value(NamedTuple):
    """One cell: the score, over how many cases, the gap, over how many sentences."""

    value: float | None
    n: int
    gap: float | None
    sentences: int | None


@dataclass(slots=True)
class QualityTable:
    """Scores by metric and identity.

    A *sentence* score is the mean over cases. Its gap is the mean over sentences of the identity's score minus the mean
    of woman's and man's on the same sentence; a sentence without all three does not count, one that the corpus holds
    twice counts once, by the mean of its scores. A *corpus* score is computed once from all sentences; its gap is the
    difference to the mean of woman's and man's.
    """

    _asked: Counter[str] = field(default_factory=Counter)
    _means: dict[str, dict[str, Mean]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Mean)))
    _groups: dict[str, dict[str, array[float]]] = field(default_factory=lambda: defaultdict(dict))
    _sums: dict[str, dict[str, list[int]]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, result: CaseResult) -> None:
        if result.quality is None or result.identity is None:
            return
        self._asked[result.identity] += 1
        for metric, score in result.quality.get("scores", {}).items():
            if isinstance(score, (int, float)) and math.isfinite(score):
                self._means[metric][result.identity].add(score)
                self._add_to_group(metric, result, score)
        for metric, counts in result.quality.get("statistics", {}).items():
            # A case more, then the counts of its n-grams.
            sums = self._sums[metric].setdefault(result.identity, [0] * (1 + _COUNTS))
            for place, count in enumerate((1, *counts)):
                sums[place] += count

    def _add_to_group(self, metric: str, result: CaseResult, score: float) -> None:
        """Sum and number of an identity's scores, side by side."""
        groups = self._groups[metric]
        cells = groups.get(result.group)
        if cells is None:
            cells = groups[result.group] = array("d", bytes(16 * len(IDENTITIES)))
        place = 2 * _PLACE[str(result.identity)]
        cells[place] += score
        cells[place + 1] += 1

    def metrics(self, lang: str) -> list[dict[str, Any]]:
        """One object a metric and level; the corpus scores of a metric come before those of its sentences."""
        found: list[dict[str, Any]] = []
        for metric in sorted({*self._means, *self._sums}, key=_rank):
            if metric in self._sums:
                signature = corpus_signature(tokenizer_for(lang))
                found.append(self._metric(metric, CORPUS, self._corpus_values(metric), signature))
            if metric in self._means:
                found.append(self._metric(metric, SENTENCE, self._sentence_values(metric), None))
        return found

    def _metric(self, metric: str, level: str, values: Mapping[str, _Value], signature: str | None) -> dict[str, Any]:
        rows = [self._row(identity, values.get(identity)) for identity in IDENTITIES if self._asked[identity]]
        scores, gaps = ([row[name] for row in rows if row[name] is not None] for name in ("value", "gap"))
        return {
            "metric": metric,
            "level": level,
            "signature": signature,
            "pooled": self._pooled(metric, level),
            "rows": rows,
            "identities": len(scores),
            "mean": fmean(scores) if scores else None,
            "sd": stdev(scores) if len(scores) > 1 else None,
            "gap_mean": fmean(gaps) if gaps else None,
            "gap_sd": stdev(gaps) if len(gaps) > 1 else None,
        }

    def _pooled(self, metric: str, level: str) -> float | None:
        """The score over all identities together."""
        if level == CORPUS:
            return corpus_bleu([sum(column) for column in zip(*self._sums[metric].values(), strict=True)][1:])
        n = sum(mean.n for mean in self._means[metric].values())
        return sum(mean.n * mean.mean for mean in self._means[metric].values()) / n if n else None

    def _row(self, identity: str, found: _Value | None) -> dict[str, Any]:
        value = found or _Value(None, 0, None, 0)
        return {"identity": identity, "unscored": self._asked[identity] - value.n, **value._asdict()}

    def _sentence_values(self, metric: str) -> dict[str, _Value]:
        gaps: dict[str, Mean] = defaultdict(Mean)
        for identity, gap in _gaps(self._groups[metric].values()):
            gaps[identity].add(gap)
        return {
            identity: _Value(mean.mean, mean.n, gaps[identity].mean if gaps[identity].n else None, gaps[identity].n)
            for identity, mean in self._means[metric].items()
        }

    def _corpus_values(self, metric: str) -> dict[str, _Value]:
        scores = {identity: corpus_bleu(counts) for identity, (_, *counts) in self._sums[metric].items()}
        pair = [score for identity in BINARY if (score := scores.get(str(identity))) is not None]
        middle = fmean(pair) if len(pair) == len(BINARY) else None
        return {
            identity: _Value(score, self._sums[metric][identity][0], _difference(score, middle), None)
            for identity, score in scores.items()
        }


def _gaps(groups: Iterable[array[float]]) -> Iterator[tuple[str, float]]:
    """Of every sentence, the gap of each identity that it has a score for."""
    for cells in groups:
        scores = [total / n if n else None for total, n in zip(cells[::2], cells[1::2], strict=True)]
        pair = [score for place in _BINARY if (score := scores[place]) is not None]
        if len(pair) == len(_BINARY):
            middle = fmean(pair)
            for identity, score in zip(IDENTITIES, scores, strict=True):
                if score is not None:
                    yield identity, score - middle


def _difference(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def _rank(metric: str) -> tuple[int, str]:
    return (_FIRST.index(metric) if metric in _FIRST else len(_FIRST)), metric
