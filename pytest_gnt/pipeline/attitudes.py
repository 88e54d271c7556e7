"""The attitude stage: find each attitude word in its translation, score every word once, correct by the zero point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_gnt.case import Case
from pytest_gnt.evidence import Attitude, Reason, Translation
from pytest_gnt.metrics.attitude import Calibration, Templates, WordQuery, WordScore, attitude_of
from pytest_gnt.pipeline.aligning import ByLexicon, Found, WordFinder
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.word_scores import WordScores, word_scores
from pytest_gnt.work import Provider

Aligned = tuple[str, ...] | Reason
_LISTED_ONLY = (
    "attitude words were looked up in a list of known renderings; one that is not listed is unscored (unaligned), "
    "however harsh it is: --gnt-aligner=lexicon+e5 looks for it with a model"
)


class Attitudes:
    """Finds each attitude word in its translation and scores words with one attitude model.

    Args:
        scorer: the attitude model, as a provider of word scores.
        calibrated: put the scores of each language on a scale on which 0 is the midpoint between plainly kind and
            plainly harsh words, and 1 and -1 are the means of the two, so that ``delta`` means the same for every
            model. Raw scores differ in size by model and lean towards one answer.
        delta: a word is kind above, harsh below this score.
        finder: how the word is found.
        templates: whose kind and harsh words set the scale; the shipped ones by default.
    """

    def __init__(
        self,
        scorer: Provider[WordQuery, WordScore],
        *,
        calibrated: bool,
        delta: float,
        finder: WordFinder | None = None,
        templates: Templates | None = None,
    ) -> None:
        self._scorer = scorer
        self._calibrated = calibrated
        self._delta = delta
        self._finder = finder or ByLexicon()
        self._templates = templates or Templates()
        self._found = WordScores()
        self._unlisted = False

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """What the plainly kind and harsh words say of the model, by language."""
        return self._found.calibrations

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user has to know of the attitude model, and of words that a list alone did not find."""
        return (*self._found.notes, _LISTED_ONLY) if self._unlisted else self._found.notes

    def attitudes(self, translations: Sequence[Translation], executor: Executor) -> list[Attitude]:
        """The attitude evidence of each translation, in order; every distinct word is scored once."""
        found = self._finder.find(translations, executor)
        by_list = isinstance(self._finder, ByLexicon) and self._finder.otherwise is None
        self._unlisted |= by_list and any(one.words is Reason.UNALIGNED for one in found)
        scores = self._scores(translations, [one.words for one in found], executor)
        return [
            replace(
                self._attitude(translation, one.words, scores), delta=self._delta, identity_words=_identity_words(one)
            )
            for translation, one in zip(translations, found, strict=True)
        ]

    def _scores(
        self, translations: Sequence[Translation], aligned: Sequence[Aligned], executor: Executor
    ) -> dict[WordQuery, WordScore]:
        wanted: dict[WordQuery, None] = {}
        for translation, words in zip(translations, aligned, strict=True):
            if words is not Reason.NO_ATTITUDE_WORD:
                wanted.update(dict.fromkeys(_queries(translation.case, words)))
        if not wanted:
            return {}
        self._found = word_scores(self._scorer, self._templates, list(wanted), executor, calibrated=self._calibrated)
        if self._calibrated:
            return {query: self._found.calibrated(query) for query in wanted}
        return {query: self._found.raw[query] for query in wanted}

    def _attitude(self, translation: Translation, words: Aligned, scores: dict[WordQuery, WordScore]) -> Attitude:
        case = translation.case
        if words is Reason.NO_ATTITUDE_WORD:
            return attitude_of(case, translation, words, None, ())
        source_query, *target_queries = _queries(case, words)
        return attitude_of(case, translation, words, scores[source_query], [scores[query] for query in target_queries])


def _identity_words(found: Found) -> tuple[str, ...] | None:
    """None where they were not looked for; a term that was left in the source's language is linked to itself."""
    match found.identity_words:
        case Reason.UNALIGNED | Reason.ALIGNED_TO_PUNCTUATION | Reason.ALIGNED_TO_FUNCTION_WORD:
            return ()
        case tuple() as words:
            return words
    return None


def _queries(case: Case, aligned: Aligned) -> list[WordQuery]:
    """The source word, then the target words that were found."""
    targets = () if isinstance(aligned, Reason) else aligned
    return [
        WordQuery(case.source_lang, case.attitude_word or ""),
        *(WordQuery(case.target_lang, word) for word in targets),
    ]
