"""The zero point of attitude scores: a model leans towards one answer, so that the raw sign says little."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_gnt.config.templates import ENOUGH
from pytest_gnt.errors import GntError
from pytest_gnt.metrics.attitude.template import Templates
from pytest_gnt.metrics.attitude.word import WordQuery, WordScore


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the plainly kind and plainly harsh words say about an attitude model in one language.

    Attributes:
        zero: the score that counts as neither kind nor harsh.
        kind_mean, harsh_mean: mean raw scores of the two sets.
        auc: share of (kind, harsh) pairs that the model puts in the right order: 0.5 is chance, 1 perfect.
        n: words scored.
    """

    zero: float
    kind_mean: float
    harsh_mean: float
    auc: float
    n: int

    @property
    def unit(self) -> float:
        """Half the distance between the two means: a plainly kind word lies about one unit above zero.

        Scores divided by it can be compared across languages and models; 0 or less where the model is of no use.
        """
        return (self.kind_mean - self.harsh_mean) / 2


def calibration_queries(
    lang: str, templates: Templates | None = None
) -> tuple[tuple[WordQuery, ...], tuple[WordQuery, ...]]:
    """The plainly kind and the plainly harsh words of a language; two empty tuples where there is no template.

    Without ``templates`` the shipped ones count.
    """
    known = (templates or Templates()).find(lang)
    if known is None:
        return (), ()
    kind, harsh = (tuple(WordQuery(lang, word) for word in words) for words in (known.kind, known.harsh))
    return kind, harsh


def zero_point(scores_kind: Sequence[float], scores_harsh: Sequence[float]) -> float:
    """The midpoint of the two sets' means.

    With one common spread it is the boundary with the fewest errors, and every word bears on it; a threshold tuned to
    the two lists hangs on the few words nearest to it, and moves when one of them is exchanged.

    Raises:
        ValueError: a set is empty or holds a number that is not finite.
    """
    if not scores_kind or not scores_harsh:
        raise ValueError("no scores to set a zero point with")
    if not all(math.isfinite(score) for score in (*scores_kind, *scores_harsh)):
        raise ValueError("scores that are not finite cannot set a zero point")
    return (_mean(scores_kind) + _mean(scores_harsh)) / 2


def calibrate(lang: str, kind: Iterable[WordScore], harsh: Iterable[WordScore]) -> Calibration:
    """Set the zero point of a language from the raw scores of `calibration_queries`.

    Raises:
        GntError: too few of the words could be scored.
    """
    kinds, harshes = ([word.score for word in words if word.score is not None] for words in (kind, harsh))
    if min(len(kinds), len(harshes)) < ENOUGH:
        raise GntError(
            f"the attitude model scored {len(kinds)} kind and {len(harshes)} harsh calibration words of {lang!r}, "
            f"and at least {ENOUGH} of each are needed: use another attitude model, or calibrate = false"
        )
    return Calibration(
        zero_point(kinds, harshes), _mean(kinds), _mean(harshes), _auc(kinds, harshes), len(kinds) + len(harshes)
    )


def centred(word: WordScore, zero: float, unit: float = 1.0) -> WordScore:
    """A score with the zero point subtracted, in natural-log units or in those of `Calibration.unit`.

    A missing score stays missing.

    Raises:
        ValueError: the unit is not above 0.
    """
    if not unit > 0:
        raise ValueError(f"unit is {unit}: it must be above 0")
    return word if word.score is None else replace(word, score=(word.score - zero) / unit)


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores)


def _auc(kind: Sequence[float], harsh: Sequence[float]) -> float:
    """Mann-Whitney: pairs in order, ties by half."""
    won = sum((k > h) + (k == h) / 2 for k in kind for h in harsh)
    return won / (len(kind) * len(harsh))
