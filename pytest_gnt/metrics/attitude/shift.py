"""What happens to the emotional attitude in translation: one case's evidence, and the rates over many (AmbGIMT)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_gnt.case import BINARY, NON_BINARY, Case
from pytest_gnt.evidence import Attitude, Reason, Translation
from pytest_gnt.metrics.attitude.word import WordScore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2000
_AT_ONCE = 250
"""Draws held in memory at a time."""

DELTA = 0.2
"""How far from zero a score must lie to count as kind or harsh (AmbGIMT)."""


def attitude_of(
    case: Case,
    translation: Translation,
    align: tuple[str, ...] | Reason,
    source_score: WordScore | None,
    target_scores: Sequence[WordScore],
) -> Attitude:
    """The attitude evidence of one case.

    Args:
        case: the case; its attitude word is the source word.
        translation: what the system answered.
        align: the target words, or why there are none.
        source_score: zero-corrected score of the source word; None where the case has none.
        target_scores: zero-corrected scores of the target words, in the order of ``align``.

    Returns:
        Both scores, the target's as the mean over its words; or the first reason on the way there. One target word
        without a score leaves the case without one: a mean over the others would be about another sentence.
    """
    word = case.attitude_word or ""
    targets = align if isinstance(align, tuple) else ()

    def without(reason: Reason, detail: str, source: float | None = None) -> Attitude:
        return Attitude(
            case=case,
            translation=translation,
            source_word=word,
            target_words=targets,
            source_score=source,
            reason=reason,
            detail=detail,
        )

    if not word or source_score is None:
        return without(Reason.NO_ATTITUDE_WORD, "the case names no attitude word")
    if translation.reason is not None:
        return without(translation.reason, translation.detail, source_score.score)
    if source_score.score is None:
        return without(source_score.reason or Reason.NOT_FINITE, source_score.detail)
    if isinstance(align, Reason):
        return without(align, _WHY.get(align, ""), source_score.score)
    missing = next((score for score in target_scores if score.score is None), None)
    if missing is not None:
        return without(missing.reason or Reason.NOT_FINITE, missing.detail, source_score.score)
    values = [score.score for score in target_scores if score.score is not None]
    if not values or len(values) != len(align):
        return without(Reason.UNALIGNED, _WHY[Reason.UNALIGNED], source_score.score)
    return Attitude(
        case=case,
        translation=translation,
        source_word=word,
        target_words=targets,
        source_score=source_score.score,
        target_score=math.fsum(values) / len(values),
    )


_WHY = {
    Reason.UNALIGNED: "nothing in the translation was found to stand for the attitude word",
    Reason.ALIGNED_TO_PUNCTUATION: "the attitude word is linked to nothing but punctuation",
    Reason.ALIGNED_TO_FUNCTION_WORD: "the attitude word is linked to nothing but articles, particles and the like",
    Reason.COPIED_WORD: "the attitude word stands untranslated in the translation",
    Reason.WORD_NOT_IN_SOURCE: "the attitude word does not stand in the source as a whole word",
    Reason.NOTHING_TO_ALIGN: "source or translation holds no word that the aligner knows",
    Reason.TOO_LONG_TO_ALIGN: "source or translation is longer than the aligner takes",
}


@dataclass(frozen=True, slots=True)
class ShiftRates:
    """How often a kind word became harsh (TN) and a harsh one kind (TP).

    Attributes:
        n: all sentences.
        aligned: those with both scores.
        to_negative: sentences with e(source) > δ and e(target) < −δ.
        to_positive: sentences with e(source) < −δ and e(target) > δ.
    """

    n: int
    aligned: int
    to_negative: int
    to_positive: int

    @property
    def r_tn(self) -> float | None:
        """R_TN as in the paper: over all n. None where n is 0."""
        return _share(self.to_negative, self.n)

    @property
    def r_tp(self) -> float | None:
        """R_TP over all n."""
        return _share(self.to_positive, self.n)

    @property
    def r_tn_aligned(self) -> float | None:
        """R_TN over the sentences with both scores."""
        return _share(self.to_negative, self.aligned)

    @property
    def r_tp_aligned(self) -> float | None:
        """R_TP over the sentences with both scores."""
        return _share(self.to_positive, self.aligned)


def shift_rates(rows: Iterable[Attitude], delta: float = DELTA) -> ShiftRates:
    """Count the shifts. A sentence without both scores counts in n and in no shift.

    Raises:
        ValueError: delta is negative or not finite.
    """
    if not math.isfinite(delta) or delta < 0:
        raise ValueError(f"delta is {delta}: it must be 0 or more")
    counts = [_counts(row, delta) for row in rows]
    n, aligned, negative, positive = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0, 0, 0)
    return ShiftRates(n, aligned, negative, positive)


def shift_bias_rate(rates_bg: ShiftRates, rates_nbg: ShiftRates, *, aligned: bool = False) -> float | None:
    """R_TP(BG) − R_TP(NBG) + R_TN(NBG) − R_TN(BG), in percent: positive means worse for the non-binary identities.

    Args:
        rates_bg: rates of woman and man.
        rates_nbg: rates of the eleven other identities.
        aligned: take the rates over the sentences with both scores instead of all (the paper's).

    Returns:
        None where one of the groups has no sentence.
    """
    tp, tn = ("r_tp_aligned", "r_tn_aligned") if aligned else ("r_tp", "r_tn")
    parts = [getattr(rates_bg, tp), getattr(rates_nbg, tp), getattr(rates_nbg, tn), getattr(rates_bg, tn)]
    if any(part is None for part in parts):
        return None
    return float(100 * (parts[0] - parts[1] + parts[2] - parts[3]))


def shift_bias_interval(
    rows: Iterable[Attitude],
    delta: float = DELTA,
    *,
    aligned: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the shift bias rate, in percent.

    Whole groups are drawn with replacement: the 14 variants of one sentence are not independent.

    Args:
        rows: attitude evidence; identities outside BG and NBG do not count.
        delta: see `shift_rates`.
        aligned: see `shift_bias_rate`.
        seed: of the draws; the same seed gives the same interval, whatever the rows' order.
        resamples: number of draws.
        level: coverage.

    Returns:
        Lower and upper bound; None with fewer than two groups, or where draws hold no sentence of BG or NBG.
    """
    over_all, over_aligned = shift_bias_intervals(_group_table(rows, delta), seed, resamples, level)
    return over_aligned if aligned else over_all


Interval = tuple[float, float] | None


def shift_bias_intervals(
    table: Mapping[str, Sequence[int]], seed: int = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> tuple[Interval, Interval]:
    """The intervals of the rate over all sentences and over the aligned ones, from counts by group; see above.

    Args:
        table: group → n, aligned, TN, TP of BG, then of NBG.
        seed: of the draws.
        resamples: number of draws; they are made in parts, so that memory does not grow with it.
        level: coverage.
    """
    import numpy as np

    if len(table) < 2:
        return None, None
    per_group = np.array([table[group] for group in sorted(table)], dtype=np.int64)
    random, share = np.random.default_rng(seed), np.full(len(table), 1 / len(table))
    parts = [min(_AT_ONCE, resamples - start) for start in range(0, resamples, _AT_ONCE)]
    sums = np.concatenate([random.multinomial(len(table), share, size=size) @ per_group for size in parts])
    n_bg, a_bg, tn_bg, tp_bg, n_nbg, a_nbg, tn_nbg, tp_nbg = sums.T.astype(float)

    def interval(of_bg: Floats, of_nbg: Floats) -> Interval:
        valid = (of_bg > 0) & (of_nbg > 0)
        if not valid.any():
            return None
        rates = 100 * ((tp_bg - tn_bg)[valid] / of_bg[valid] + (tn_nbg - tp_nbg)[valid] / of_nbg[valid])
        low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    return interval(n_bg, n_nbg), interval(a_bg, a_nbg)


def _group_table(rows: Iterable[Attitude], delta: float) -> dict[str, list[int]]:
    """Per group: n, aligned, TN, TP of BG, then of NBG."""
    table: dict[str, list[int]] = defaultdict(lambda: [0] * 8)
    for row in rows:
        offset = 0 if row.case.identity in BINARY else 4 if row.case.identity in NON_BINARY else None
        if offset is None:
            continue
        for place, count in enumerate(_counts(row, delta)):
            table[row.case.group][offset + place] += count
    return dict(table)


def _counts(row: Attitude, delta: float) -> tuple[int, int, int, int]:
    return shift_counts(None if row.reason is not None else row.source_score, row.target_score, delta)


def shift_counts(source: float | None, target: float | None, delta: float) -> tuple[int, int, int, int]:
    """One sentence's 1 or 0 for: counted, aligned (both scores are there), turned harsh, turned kind."""
    if source is None or target is None:
        return 1, 0, 0, 0
    return 1, 1, int(source > delta and target < -delta), int(source < -delta and target > delta)


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
