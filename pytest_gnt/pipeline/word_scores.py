"""Scores of words by one attitude model: through the store, and on each language's own scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_gnt.errors import GntError, MetricUnavailable
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.attitude import (
    Calibration,
    Templates,
    WordQuery,
    WordScore,
    calibrate,
    calibration_queries,
)
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.work import Provider

MIN_AUC = 0.7
"""An attitude model that puts fewer pairs of plainly kind and plainly harsh words in order cannot tell a shift."""


@dataclass(frozen=True, slots=True)
class WordScores:
    """What an attitude model says of words.

    Attributes:
        raw: the score of each word as the model gives it.
        calibrations: what the plainly kind and harsh words say, by language.
        uncalibrated: languages without a scale, and why.
        notes: what the user has to know of the model.
    """

    raw: Mapping[WordQuery, WordScore] = field(default_factory=dict)
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    uncalibrated: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def calibrated(self, query: WordQuery) -> WordScore:
        """A word's score on its language's scale; without one where the model cannot tell the language's words."""
        score = self.raw[query]
        if score.score is None:
            return score
        calibration = self.calibrations.get(score.lang)
        if calibration is None:
            detail = self.uncalibrated.get(score.lang, f"the language {score.lang!r} has no scale")
            return WordScore(score.lang, score.word, None, Reason.UNDECIDED, detail)
        if calibration.auc < MIN_AUC:
            share = f"{calibration.auc:.0%}"
            detail = f"the attitude model tells kind from harsh words of {score.lang!r} in only {share} of pairs"
            return WordScore(score.lang, score.word, None, Reason.UNDECIDED, detail)
        return replace(score, score=(score.score - calibration.zero) / calibration.unit)


def word_scores(
    scorer: Provider[WordQuery, WordScore],
    templates: Templates,
    words: Sequence[WordQuery],
    executor: Executor,
    *,
    calibrated: bool = True,
) -> WordScores:
    """Score words, each once.

    Args:
        scorer: the attitude model.
        templates: whose kind and harsh words set the scale.
        words: in any order; the plainly kind and harsh words of their languages need not be among them.
        executor: asks the model for what is not in the store.
        calibrated: score the kind and harsh words too.

    Raises:
        GntError: the model or the store cannot go on. A model that has no log-probabilities leaves all words unscored.
    """
    langs = sorted({query.lang for query in words})
    plain = {lang: calibration_queries(lang, templates) for lang in langs} if calibrated else {}
    wanted = list(dict.fromkeys([*words, *(query for sets in plain.values() for one in sets for query in one)]))
    try:
        raw = dict(zip(wanted, executor.compute(scorer, wanted), strict=True))
    except MetricUnavailable as error:
        said = str(error)
        unscored = {query: _unscored(query, said) for query in wanted}
        return WordScores(unscored, notes=(f"attitude is not measured: {said}",))
    calibrations: dict[str, Calibration] = {}
    uncalibrated: dict[str, str] = {}
    for lang, (kind, harsh) in plain.items():
        try:
            calibrations[lang] = calibrate(lang, [raw[query] for query in kind], [raw[query] for query in harsh])
        except GntError as error:
            uncalibrated[lang] = str(error)
    spoken = [text for lang, text in uncalibrated.items() if templates.find(lang) is not None]
    return WordScores(raw, calibrations, uncalibrated, tuple(spoken))


def _unscored(query: WordQuery, detail: str) -> WordScore:
    return WordScore(query.lang, query.word, None, Reason.NO_LOG_PROBABILITIES, detail)
