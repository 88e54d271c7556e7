"""Running a provider over many subjects: look up, lease, compute, commit, read."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pytest_gnt.garbage import paused
from pytest_gnt.pipeline.interrupts import uninterrupted
from pytest_gnt.pipeline.store import Store
from pytest_gnt.work import Answer, JsonObject, Provider, Work, canonical_json

POLL_SECONDS = 0.2
COMMIT_SECONDS = 0.2
PIECE = 2000
"""Subjects whose stored answers are held at a time."""

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

    def advance(self, count: int) -> None:
        """So many were computed by this process."""

    def receive(self, count: int) -> None:
        """So many were computed by other processes."""

    def note(self, text: str) -> None:
        """Something that the user has to know now."""

    def finish(self, count: StageCount) -> None: ...


class Silent:
    """Shows nothing but notes."""

    def start(self, stage: str, total: int) -> None:
        """Nothing to show."""

    def advance(self, count: int) -> None:
        """Nothing to show."""

    def receive(self, count: int) -> None:
        """Nothing to show."""

    def note(self, text: str) -> None:
        """The one thing that is never kept back."""
        print(text, file=sys.stderr)

    def finish(self, count: StageCount) -> None:
        """Nothing to show."""


@dataclass(slots=True)
class Executor:
    """Computes evidence in this process, sharing the store with others."""

    store: Store
    progress: Progress = field(default_factory=Silent)
    counts: list[StageCount] = field(default_factory=list)
    _said: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What providers had to say that ran elsewhere; one that runs here is asked itself."""
        return ()

    def compute(self, provider: Provider[SubjectT, EvidenceT], subjects: Sequence[SubjectT]) -> list[EvidenceT]:
        """Evidence for each subject, in order. Identical requests are computed once; nothing is loaded for stored ones.

        Raises:
            GntError: the provider or the store cannot go on; what was finished is committed.
        """
        started = time.monotonic()
        evidence: list[Any] = [None] * len(subjects)
        count = StageCount(provider.stage)
        with paused():
            missing = self._stored(provider, subjects, evidence, count)
        works = {key: work for key, (work, _) in missing.items()}
        self.progress.start(provider.stage, len(works))
        answers: dict[str, JsonObject] = {}
        try:
            self._compute(provider, works, list(works), answers, count)
        finally:
            provider.close()
            count.seconds = time.monotonic() - started
            self.counts.append(count)
            self.progress.finish(count)
            for note in self.store.notes[self._said :]:
                self.progress.note(note)
            self._said = len(self.store.notes)
        for key, (_, places) in missing.items():
            for place in places:
                evidence[place] = provider.read(subjects[place], answers[key])
        return evidence

    def _stored(
        self,
        provider: Provider[SubjectT, EvidenceT],
        subjects: Sequence[SubjectT],
        evidence: list[EvidenceT],
        count: StageCount,
    ) -> dict[str, tuple[Work, list[int]]]:
        """Read what the store has, piece by piece, so that a full store costs no memory; the rest by key, with the
        places of the subjects that ask for it."""
        missing: dict[str, tuple[Work, list[int]]] = {}
        seen: set[bytes] = set()
        for start in range(0, len(subjects), PIECE):
            piece = subjects[start : start + PIECE]
            works = [provider.work(subject) for subject in piece]
            keys = [work.key for work in works]
            answers = self.store.answers(list(dict.fromkeys(key for key in keys if key not in missing)))
            seen.update(map(bytes.fromhex, answers))
            for place, (subject, work, key) in enumerate(zip(piece, works, keys, strict=True), start):
                answer = answers.get(key)
                if answer is None:
                    missing.setdefault(key, (work, []))[1].append(place)
                else:
                    evidence[place] = provider.read(subject, answer)
            del works, answers  # before those of the next piece come
        count.stored = len(seen)
        count.requested = count.stored + len(missing)
        return missing

    def _compute(
        self,
        provider: Provider[Any, Any],
        works: dict[str, Work],
        pending: list[str],
        answers: dict[str, JsonObject],
        count: StageCount,
    ) -> None:
        """Take batch after batch."""
        for mine in self._leased(pending, provider.batch_size, answers, count):
            if mine:
                answers.update(self._batch(provider, [works[key] for key in mine], count))
            else:
                time.sleep(POLL_SECONDS)

    def _leased(
        self, pending: list[str], size: int, answers: dict[str, JsonObject], count: StageCount
    ) -> Iterator[list[str]]:
        """Lease what nobody has, batch after batch, until everything is answered or leased here.

        What other processes took is put into ``answers`` when they are done, and taken over from the dead. An empty
        batch says that there is nothing to do but to wait for them.
        """
        others: list[str] = []
        while pending:
            mine = self.store.lease(pending, size)
            # Of what was looked at, the rest is in the hands of others or answered by them.
            looked = pending.index(mine[-1]) + 1 if len(mine) == size else len(pending)
            taken = set(mine)
            others += [key for key in pending[:looked] if key not in taken]
            pending = pending[looked:]
            if mine:
                yield mine
            if pending or not others:
                continue
            found = self.store.answers(others)
            answers.update(found)
            count.elsewhere += len(found)
            self.progress.receive(len(found))
            pending, others = [key for key in others if key not in found], []
            if pending and not found and not mine:
                yield []

    def _batch(self, provider: Provider[Any, Any], batch: Sequence[Work], count: StageCount) -> dict[str, JsonObject]:
        """Compute one leased batch and commit it, bit by bit where it is slow; after an error or an interrupt too."""
        done: dict[int, Answer] = {}
        fresh: list[tuple[Work, Answer]] = []
        committed = time.monotonic()
        try:
            for index, answer in provider.run(batch):
                done[index] = answer
                fresh.append((batch[index], answer))
                count.computed += 1
                self.progress.advance(1)
                if time.monotonic() - committed > COMMIT_SECONDS:
                    self._commit(provider.stage, fresh)
                    fresh, committed = [], time.monotonic()
        finally:
            self._commit(provider.stage, fresh)
        check_complete(provider.stage, batch, done)
        return {batch[index].key: as_stored(answer) for index, answer in done.items()}

    def close(self) -> None:
        """Give back what is open; safe to call twice."""
        self.store.close()

    def _commit(self, stage: str, results: Sequence[tuple[Work, Answer]]) -> None:
        with uninterrupted():
            self.store.commit(stage, results)


def as_stored(answer: Answer) -> JsonObject:
    """An answer as it is read back from the store: a run that goes on after another must not differ, in the order of
    keys either."""
    value: JsonObject = json.loads(canonical_json(answer.value))
    return value


def check_complete(stage: str, batch: Sequence[Work], done: Collection[int]) -> None:
    """Hold a provider to its word.

    Raises:
        AssertionError: it left requests unanswered.
    """
    missing = len(batch) - len(done)
    if missing:
        raise AssertionError(f"provider of stage {stage} left {missing} of {len(batch)} requests unanswered")
