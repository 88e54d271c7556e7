"""The attitude stage: find each attitude word in its translation, score every word once, correct by the zero point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_gnt.case import Case
from pytest_gnt.corpora.attitude_words import renderings
from pytest_gnt.evidence import Attitude, Reason, Translation
from pytest_gnt.metrics.attitude import (
    Calibration,
    LexiconAligner,
    WordQuery,
    WordScore,
    attitude_of,
    calibrate,
    calibration_queries,
)
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.work import Provider

MIN_AUC = 0.7
"""An attitude model that puts fewer pairs of plainly kind and plainly harsh words in order cannot tell a shift."""

Aligned = tuple[str, ...] | Reason


class Attitudes:
    """Aligns by the renderings that are known of each word and scores words with one attitude model.

    Args:
        scorer: the attitude model, as a provider of word scores.
        calibrated: put the scores of each language on a scale on which 0 is the midpoint between plainly kind and
            plainly harsh words, and 1 and -1 are the means of the two, so that ``delta`` means the same for every
            model. Raw scores differ in size by model and lean towards one answer.
        delta: a word is kind above, harsh below this score.
    """

    def __init__(self, scorer: Provider[WordQuery, WordScore], *, calibrated: bool, delta: float) -> None:
        self._scorer = scorer
        self._calibrated = calibrated
        self._delta = delta
        self._aligner = LexiconAligner()
        self.calibrations: dict[str, Calibration] = {}

    def attitudes(self, translations: Sequence[Translation], executor: Executor) -> list[Attitude]:
        """The attitude evidence of each translation, in order; every distinct word is scored once."""
        aligned = [self._align(translation) for translation in translations]
        scores = self._scores(translations, aligned, executor)
        return [
            replace(self._attitude(translation, words, scores), delta=self._delta)
            for translation, words in zip(translations, aligned, strict=True)
        ]

    def _align(self, translation: Translation) -> Aligned:
        case = translation.case
        if case.attitude_word is None or translation.text is None:
            return Reason.NO_ATTITUDE_WORD
        known = dict.fromkeys((*case.attitude_renderings, *renderings(case.attitude_word, case.target_lang)))
        return self._aligner.align(translation.text, known, case.target_lang, case.attitude_word)

    def _scores(
        self, translations: Sequence[Translation], aligned: Sequence[Aligned], executor: Executor
    ) -> dict[WordQuery, WordScore]:
        wanted: dict[WordQuery, None] = {}
        for translation, words in zip(translations, aligned, strict=True):
            if words is not Reason.NO_ATTITUDE_WORD:
                wanted.update(dict.fromkeys(_queries(translation.case, words)))
        if not wanted:
            return {}
        langs = sorted({query.lang for query in wanted})
        plain = {lang: calibration_queries(lang) for lang in langs} if self._calibrated else {}
        queries = list(dict.fromkeys([*wanted, *(query for sets in plain.values() for one in sets for query in one)]))
        raw = dict(zip(queries, executor.compute(self._scorer, queries), strict=True))
        self.calibrations = {
            lang: calibrate(lang, [raw[query] for query in kind], [raw[query] for query in harsh])
            for lang, (kind, harsh) in plain.items()
            if kind and harsh
        }
        return {query: self._scaled(raw[query]) for query in wanted}

    def _scaled(self, score: WordScore) -> WordScore:
        calibration = self.calibrations.get(score.lang)
        if calibration is None or score.score is None:
            return score
        if calibration.auc < MIN_AUC:
            share = f"{calibration.auc:.0%}"
            detail = f"the attitude model tells kind from harsh words of {score.lang!r} in only {share} of pairs"
            return WordScore(score.lang, score.word, None, Reason.UNDECIDED, detail)
        return replace(score, score=(score.score - calibration.zero) / calibration.unit)

    def _attitude(self, translation: Translation, words: Aligned, scores: dict[WordQuery, WordScore]) -> Attitude:
        case = translation.case
        if words is Reason.NO_ATTITUDE_WORD:
            return attitude_of(case, translation, words, None, ())
        source_query, *target_queries = _queries(case, words)
        return attitude_of(case, translation, words, scores[source_query], [scores[query] for query in target_queries])


def _queries(case: Case, aligned: Aligned) -> list[WordQuery]:
    """The source word, then the target words that were found."""
    targets = () if isinstance(aligned, Reason) else aligned
    return [
        WordQuery(case.source_lang, case.attitude_word or ""),
        *(WordQuery(case.target_lang, word) for word in targets),
    ]
