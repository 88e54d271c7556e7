"""Attitude scores of words from a language model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pytest_gnt.engines.protocol import NoScore, Scorer
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.attitude.template import Template, Templates
from pytest_gnt.metrics.attitude.word import WordQuery, WordScore, is_log_probability, read_score
from pytest_gnt.work import Answer, Context, JsonObject, Work

STAGE = "attitude"
VERSION = 1

_PASSING = frozenset({Reason.TRANSPORT, Reason.NOT_RUN, Reason.NO_LOG_PROBABILITIES})
"""Reasons that another attempt could mend: not stored."""


class AttitudeScorer:
    """A `Provider[WordQuery, WordScore]`: two questions a word, and how probable "yes" is after each.

    Equal words are equal work, so each is asked once however many sentences hold it.

    Args:
        scorer: the engine; owned, and closed by `close`.
        templates: how words are asked for; the shipped templates by default.
        batch_size: words that one commit of the store covers.
    """

    stage = STAGE

    def __init__(self, scorer: Scorer, *, templates: Templates | None = None, batch_size: int = 128) -> None:
        self.batch_size = batch_size
        self._scorer = scorer
        self._templates = templates or Templates()
        self._engine: Mapping[str, object] | None = None
        self._contexts: dict[str, Context] = {}

    @property
    def movable(self) -> bool:
        """As the engine is."""
        return bool(getattr(self._scorer, "movable", False))

    def context(self) -> Mapping[str, object]:
        """Everything that scores depend on beside the language, for signatures."""
        if self._engine is None:
            self._engine = dict(self._scorer.context())
        return {"stage": STAGE, "version": VERSION, "engine": self._engine}

    def context_of(self, lang: str) -> Mapping[str, object]:
        """Everything that the raw scores of one language depend on."""
        known = self._templates.find(lang)
        return {**self.context(), "template": known.digest if known else None}

    def work(self, subject: WordQuery) -> Work:
        """One word. A language without a template is work too: its answer says so."""
        if subject.lang not in self._contexts:
            self._contexts[subject.lang] = Context(self.context_of(subject.lang))
        return Work(self._contexts[subject.lang], {"lang": subject.lang, "word": subject.word})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`. The words of one language are one call of the engine."""
        by_lang: dict[str, list[int]] = defaultdict(list)
        for index, work in enumerate(works):
            by_lang[str(work.input["lang"])].append(index)
        for lang, indices in by_lang.items():
            known = self._templates.find(lang)
            if known is None:
                yield from ((index, _no_template(lang)) for index in indices)
            else:
                yield from self._ask(known, indices, [str(works[index].input["word"]) for index in indices])

    def read(self, subject: WordQuery, answer: JsonObject) -> WordScore:
        """The raw score, or the reason why there is none."""
        return read_score(subject, answer)

    def close(self) -> None:
        """Close the engine."""
        self._scorer.close()

    def _ask(self, known: Template, indices: Sequence[int], words: Sequence[str]) -> Iterator[tuple[int, Answer]]:
        asked = [(index, word) for index, word in zip(indices, words, strict=True) if word]
        yield from (
            (index, Answer({"reason": str(Reason.NO_ATTITUDE_WORD), "detail": "the word is empty"}))
            for index, word in zip(indices, words, strict=True)
            if not word
        )
        prompts = [prompt for _, word in asked for prompt in known.prompts(word)]
        values = self._scorer.score(prompts, known.answer)
        for place, (index, _) in enumerate(asked):
            yield index, _answer(values[2 * place], values[2 * place + 1])


def _answer(positive: float | NoScore, negative: float | NoScore) -> Answer:
    """What is stored of one word: both values, or the first reason why there is none."""
    for value in (positive, negative):
        if isinstance(value, NoScore):
            return Answer({"reason": str(value.reason), "detail": value.detail}, keep=value.reason not in _PASSING)
    values = (value if is_log_probability(value) else None for value in (positive, negative))
    return Answer(dict(zip(("log_p_positive", "log_p_negative"), values, strict=True)))


def _no_template(lang: str) -> Answer:
    detail = (
        f"there is no attitude template for the language {lang!r}: add one as [attitude_templates.{lang}] in gnt.toml"
    )
    return Answer({"reason": str(Reason.UNSUPPORTED_LANGUAGE), "detail": detail})
