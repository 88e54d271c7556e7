"""Running a provider over many subjects: look up, lease, compute, commit, read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, JsonObject, Provider, Work

POLL_SECONDS = 0.2
COMMIT_SECONDS = 2.0

SubjectT = TypeVar("SubjectT")
EvidenceT = TypeVar("EvidenceT")


@dataclass(slots=True)
class StageCount:
    """What one stage did: distinct requests asked, found in the store, computed here, and by other processes."""

    stage: str
    requested: int = 0
    stored: int = 0
    computed: int = 0
    elsewhere: int = 0
    seconds: float = 0.0


class Progress(Protocol):
    """Where a stage's progress is shown."""

    def start(self, stage: str, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def finish(self, count: StageCount) -> None: ...


class Silent:
    """Shows nothing."""

    def start(self, stage: str, total: int) -> None:
        """Nothing to show."""

    def advance(self, count: int) -> None:
        """Nothing to show."""

    def finish(self, count: StageCount) -> None:
        """Nothing to show."""


@dataclass(slots=True)
class Executor:
    """Computes evidence in this process, sharing the store with others."""

    store: Store
    progress: Progress = field(default_factory=Silent)
    counts: list[StageCount] = field(default_factory=list)

    def compute(self, provider: Provider[SubjectT, EvidenceT], subjects: Sequence[SubjectT]) -> list[EvidenceT]:
        """Evidence for each subject, in order. Identical requests are computed once; nothing is loaded for stored ones.

        Raises:
            GntError: the provider or the store cannot go on; what was finished is committed.
        """
        works = [provider.work(subject) for subject in subjects]
        keys = [work.key for work in works]
        answers = self._answers(provider, dict(zip(keys, works, strict=True)))
        return [provider.read(subject, answers[key]) for subject, key in zip(subjects, keys, strict=True)]

    def _answers(self, provider: Provider[Any, Any], works: dict[str, Work]) -> dict[str, JsonObject]:
        started = time.monotonic()
        answers = self.store.answers(list(works))
        count = StageCount(provider.stage, requested=len(works), stored=len(answers))
        pending = [key for key in works if key not in answers]
        self.progress.start(provider.stage, len(pending))
        try:
            while pending:
                mine = self.store.lease(pending, provider.batch_size)
                if mine:
                    batch = [works[key] for key in mine]
                    answers.update(self._batch(provider, batch, self.progress.advance))
                    count.computed += len(mine)
                    taken = set(mine)
                    pending = [key for key in pending if key not in taken]
                    continue
                found = self.store.answers(pending)
                answers.update(found)
                count.elsewhere += len(found)
                self.progress.advance(len(found))
                pending = [key for key in pending if key not in found]
                if pending and not found:
                    time.sleep(POLL_SECONDS)  # another process holds the rest
        finally:
            provider.close()
            count.seconds = time.monotonic() - started
            self.counts.append(count)
            self.progress.finish(count)
        return answers

    def _batch(
        self, provider: Provider[Any, Any], batch: Sequence[Work], advance: Callable[[int], None]
    ) -> dict[str, JsonObject]:
        """Compute one leased batch and commit it, bit by bit where it is slow; after an error or an interrupt too."""
        done: dict[int, Answer] = {}
        fresh: list[tuple[Work, Answer]] = []
        committed = time.monotonic()
        try:
            for index, answer in provider.run(batch):
                done[index] = answer
                fresh.append((batch[index], answer))
                advance(1)
                if time.monotonic() - committed > COMMIT_SECONDS:
                    self.store.commit(provider.stage, fresh)
                    fresh, committed = [], time.monotonic()
        finally:
            self.store.commit(provider.stage, fresh)
        missing = len(batch) - len(done)
        if missing:
            raise AssertionError(
                f"provider of stage {provider.stage} left {missing} of {len(batch)} requests unanswered"
            )
        return {batch[index].key: answer.value for index, answer in done.items()}
