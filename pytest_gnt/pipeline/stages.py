"""The stages of a run, one after the other: translate, judge, align and score attitude, score quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pytest_gnt.case import Case
from pytest_gnt.evidence import Attitude, Evidence, Judgement, Quality, Reason, Translation
from pytest_gnt.metrics.bleu import quality_without
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.prompts.identify import forget
from pytest_gnt.translators.script import with_script_flags
from pytest_gnt.work import Answer, JsonObject, Provider, Work

KINDS = ("translation", "judgement", "attitude", "quality")


class AttitudeStage(Protocol):
    """Aligns attitude words and scores them."""

    def attitudes(self, translations: Sequence[Translation], executor: Executor) -> list[Attitude]: ...


@runtime_checkable
class Voting(Protocol):
    """A judge that gives several votes on each translation: a provider of votes, and what decides among them."""

    stage: str
    batch_size: int

    def ballots(self, translations: Sequence[Translation]) -> list[Any]: ...

    def verdicts(self, ballots: Sequence[Judgement]) -> list[Judgement]: ...

    def work(self, subject: Any) -> Work: ...

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]: ...

    def read(self, subject: Any, answer: JsonObject) -> Judgement: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The providers of a run. None means that the user switched the stage off."""

    translator: Provider[Case, Translation]
    judge: Provider[Translation, Judgement] | Voting | None = None
    attitude: AttitudeStage | None = None
    quality: Sequence[Provider[Translation, Quality]] = ()


@dataclass(slots=True)
class Book:
    """The evidence of a run, by kind and case id."""

    _evidence: dict[str, dict[str, Evidence]] = field(default_factory=lambda: {kind: {} for kind in KINDS})

    def get(self, case: Case, kind: str) -> Evidence:
        return self._evidence[kind][case.id]

    def find(self, case: Case) -> dict[str, Evidence]:
        """Everything known about a case."""
        return {kind: by_id[case.id] for kind, by_id in self._evidence.items() if case.id in by_id}

    def judgements(self) -> list[Judgement]:
        """Every judgement, in the order of the cases."""
        return [one for one in self._evidence["judgement"].values() if isinstance(one, Judgement)]

    def put(self, kind: str, evidence: Sequence[Evidence]) -> None:
        self._evidence[kind].update((one.case.id, one) for one in evidence)

    def release(self, case: Case) -> None:
        """Let go of the evidence of a case that nobody will ask for again."""
        for by_id in self._evidence.values():
            by_id.pop(case.id, None)


def gather(executor: Executor, stages: Stages, needs: Mapping[str, Sequence[Case]]) -> Book:
    """Compute the evidence that is needed: ``needs`` maps a kind to the cases that need it.

    Every kind needs a translation first. Each model is loaded after the one before was closed. A case that fails in one
    stage is passed on with its reason and computed no further.

    Raises:
        GntError: a provider or the store cannot go on.
    """
    book = Book()
    wanted = {case.id: case for cases in needs.values() for case in cases}
    answered = executor.compute(stages.translator, list(wanted.values()))
    translations = dict(zip(wanted, map(with_script_flags, answered), strict=True))
    forget()
    book.put("translation", list(translations.values()))

    def of(kind: str) -> list[Translation]:
        return [translations[case.id] for case in needs.get(kind, ())]

    if needs.get("judgement"):
        book.put("judgement", judge(executor, stages.judge, of("judgement")))
    if needs.get("attitude"):
        book.put("attitude", attitudes(executor, stages.attitude, of("attitude")))
    if needs.get("quality"):
        book.put("quality", score(executor, stages.quality, of("quality")))
    return book


def judge(
    executor: Executor, provider: Provider[Translation, Judgement] | Voting | None, translations: Sequence[Translation]
) -> list[Judgement]:
    """A judgement for each translation; one with an error kind never reaches the judge."""
    sound = [one for one in translations if one.reason is None]
    judged = {one.case.id: one for one in _verdicts(executor, provider, sound)} if provider is not None else {}
    return [judged.get(one.case.id) or _not_judged(one) for one in translations]


def _verdicts(
    executor: Executor, provider: Provider[Translation, Judgement] | Voting, sound: Sequence[Translation]
) -> list[Judgement]:
    if isinstance(provider, Voting):
        return provider.verdicts(executor.compute(provider, provider.ballots(sound)))
    return executor.compute(provider, sound)


def _not_judged(translation: Translation) -> Judgement:
    reason, detail = _why_not(translation, "--gnt-judge")
    return Judgement(case=translation.case, translation=translation, reason=reason, detail=detail)


def attitudes(executor: Executor, stage: AttitudeStage | None, translations: Sequence[Translation]) -> list[Attitude]:
    """The attitude evidence of each translation."""
    sound = [one for one in translations if one.reason is None]
    found = {one.case.id: one for one in stage.attitudes(sound, executor)} if stage is not None else {}
    return [found.get(one.case.id) or _no_attitude(one) for one in translations]


def _no_attitude(translation: Translation) -> Attitude:
    reason, detail = _why_not(translation, "--gnt-attitude-model")
    return Attitude(case=translation.case, translation=translation, reason=reason, detail=detail)


def _why_not(translation: Translation, option: str) -> tuple[Reason, str]:
    if translation.reason is None:
        return Reason.NOT_RUN, f"the stage is off ({option}=none)"
    return translation.reason, f"no translation: {translation.detail}" if translation.detail else "no translation"


def score(
    executor: Executor, providers: Sequence[Provider[Translation, Quality]], translations: Sequence[Translation]
) -> list[Quality]:
    """The scores of all metrics, merged into one record a translation.

    A case without a reference is scored by the metrics that say they need none (``needs_reference = False``).
    """
    without = {one.case.id: quality_without(one) for one in translations}
    found: dict[str, list[Quality]] = {one.case.id: [] for one in translations}
    for provider in providers:
        allowed = {None} if getattr(provider, "needs_reference", True) else {None, Reason.NO_REFERENCE}
        sound = [one for one in translations if _reason(without[one.case.id]) in allowed]
        for quality in executor.compute(provider, sound):
            found[quality.case.id].append(quality)
    return [_merged(one, found[one.case.id], without[one.case.id]) for one in translations]


def _reason(quality: Quality | None) -> Reason | None:
    return quality.reason if quality is not None else None


def _merged(translation: Translation, parts: Sequence[Quality], without: Quality | None) -> Quality:
    """One record of all metrics' scores; the first reason where there is no score at all."""
    scores = {name: score for quality in parts for name, score in quality.scores.items()}
    if scores:
        return Quality(
            case=translation.case,
            translation=translation,
            scores=scores,
            statistics={name: counts for quality in parts for name, counts in quality.statistics.items()},
            detail="; ".join(quality.detail for quality in parts if quality.detail),
        )
    unscored = [quality for quality in parts if quality.reason is not None]
    return next(iter(unscored), None) or without or Quality(case=translation.case, translation=translation)
