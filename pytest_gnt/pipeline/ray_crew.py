"""The actors of one stage on a Ray cluster: who works on what, and what happens to the work of those that are lost.

Ray could restart actors by itself. It would hold their work back until the restarted actor has found a place, which in
a cluster that has just lost a node may be never; so a lost batch goes to the next actor that is free, and a new actor
joins when there is room for it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.ray_cluster import first_line
from pytest_gnt.pipeline.ray_worker import Greeting, Report, StageWorker
from pytest_gnt.work import Work

AT_ONCE = 2
"""Batches that an actor has: the one it works on, and the next, so that it need not wait for it."""

CLOSE_SECONDS = 20.0
"""Time that an actor gets to close its model by itself."""


@dataclass(slots=True, kw_only=True)
class Terms:
    """What the actors of a stage are told.

    Attributes:
        stage: its name, for messages.
        workers: how many actors there are to be.
        options: what each reserves, as ``options`` of a Ray actor.
        packed: reference to the pickled provider in Ray's object store.
        environment, folder: see `StageWorker`.
        version: of the product; an actor of another one is refused.
        retries, start_timeout: see `RaySettings`.
    """

    stage: str
    workers: int
    options: Mapping[str, Any]
    packed: Any
    environment: Mapping[str, str]
    folder: str | None
    version: str
    retries: int
    start_timeout: float


@dataclass(slots=True)
class _Batch:
    works: Sequence[Work]
    losses: int = 0


@dataclass(slots=True, eq=False)
class _Actor:
    """``open`` are the results that it owes, oldest first; before it is ready that is its greeting."""

    handle: Any
    greeting: Any
    host: str = ""
    open: deque[tuple[Any, _Batch]] = field(default_factory=deque)

    @property
    def ready(self) -> bool:
        return self.greeting is None

    @property
    def next(self) -> Any:
        """The reference that it will answer first; None where it has nothing to do."""
        if self.greeting is not None:
            return self.greeting
        return self.open[0][0] if self.open else None


class Crew:
    """The actors of one stage. Leaving it ends them, and so gives the model's place back to the cluster.

    Args:
        ray: the package, connected.
        terms: what they are told.
        note: told one line when an actor is lost.
    """

    def __init__(self, ray: Any, terms: Terms, note: Callable[[str], None]) -> None:
        self._ray = ray
        self._terms = terms
        self._note = note
        self._kind = ray.remote(StageWorker)
        self._actors: list[_Actor] = []
        self._waiting: deque[_Batch] = deque()
        self._trouble: Exception | None = None
        self._failed_starts = 0
        self._alone_since = time.monotonic()
        for _ in range(terms.workers):
            self._hire()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *details: object) -> None:
        self._close()

    @property
    def busy(self) -> bool:
        """Whether any batch is not done, or `collect` has an error to raise."""
        return bool(self._waiting or self._trouble) or any(actor.open for actor in self._actors)

    @property
    def room(self) -> bool:
        """Whether a further batch would be worked on, or be the next of an actor."""
        given = len(self._waiting) + sum(len(actor.open) for actor in self._actors)
        return given < AT_ONCE * sum(actor.ready for actor in self._actors)

    def give(self, works: Sequence[Work]) -> None:
        """Have a batch computed."""
        self._waiting.append(_Batch(works))
        self._hand_out()

    def collect(self, seconds: float) -> list[tuple[Sequence[Work], Report]]:
        """What has been computed since; waits so long where there is nothing yet.

        An error is held back until what arrived with it has been handed over.

        Raises:
            GntError: a batch was lost too often, no actor can be had, or it cannot use the provider.
        """
        if self._trouble is not None:
            error, self._trouble = self._trouble, None
            raise error
        self._hand_out()
        open_ = {actor.next: actor for actor in self._actors if actor.next is not None}
        if not open_:
            time.sleep(seconds)
            return []
        arrived, _ = self._ray.wait(list(open_), num_returns=1, timeout=seconds)
        if arrived:
            arrived, _ = self._ray.wait(list(open_), num_returns=len(open_), timeout=0)
        reports = []
        for ref in arrived:
            try:
                report = self._take(open_[ref], ref)
            except (GntError, self._ray.exceptions.RayTaskError) as error:
                self._trouble = self._trouble or error
            else:
                reports += [report] if report is not None else []
        self._check_patience()
        self._hand_out()
        return reports

    def _take(self, actor: _Actor, ref: Any) -> tuple[Sequence[Work], Report] | None:
        """One result: a greeting, a report, or the news that the actor is lost."""
        trouble = self._ray.exceptions
        try:
            said = self._ray.get(ref)
        except trouble.RayTaskError:
            if actor.ready:
                actor.open.popleft()
            raise  # a fault of the provider, shown as it is
        except trouble.RuntimeEnvSetupError as error:
            raise GntError(f"Ray cannot set up the runtime_env of [ray]: {first_line(error)}") from error
        except trouble.RayError as error:
            self._lose(actor, error)
            return None
        if isinstance(said, Greeting):
            self._welcome(actor, said)
            return None
        _, batch = actor.open.popleft()
        return batch.works, said

    def _welcome(self, actor: _Actor, greeting: Greeting) -> None:
        where = f"on the Ray node {greeting.host}"
        if greeting.version != self._terms.version:
            raise GntError(
                f"{where} there is pytest-gnt {greeting.version}, here it is {self._terms.version}: "
                "install the same version everywhere"
            )
        if greeting.failure is not None:
            raise GntError(
                f"stage {self._terms.stage} cannot be set up {where}: {greeting.failure}; install there what is "
                "installed here"
            )
        actor.greeting, actor.host = None, greeting.host
        self._failed_starts = 0

    def _lose(self, actor: _Actor, error: Exception) -> None:
        """Pass the actor's work on, and look for another actor.

        Raises:
            GntError: the batch that it worked on was lost too often, or no actor of the stage can start.
        """
        stage, why = self._terms.stage, first_line(error)
        self._actors.remove(actor)
        self._kill(actor)
        if not actor.ready:
            self._failed_starts += 1
            if self._failed_starts > self._terms.retries:
                if any(other.ready for other in self._actors):
                    return  # the others do without it
                raise GntError(f"no Ray actor for the stage {stage} can start: {why}")
        lost = [batch for _, batch in actor.open]
        if lost:
            lost[0].losses += 1
            if lost[0].losses > self._terms.retries:
                raise GntError(
                    f"stage {stage}: {lost[0].losses} Ray actors were lost while they worked on the same "
                    f"{len(lost[0].works)} requests (the last one: {why}). What was finished is kept. See Ray's logs; "
                    "where memory runs out, give the actors more or set a smaller batch_size in [ray]"
                )
        again = f"; {sum(len(batch.works) for batch in lost)} requests are given to another" if lost else ""
        self._note(f"{stage}: a Ray actor{f' on {actor.host}' if actor.host else ''} was lost{again} ({why})")
        self._waiting.extendleft(reversed(lost))
        self._hire()

    def _hire(self) -> None:
        terms = self._terms
        handle = self._kind.options(**terms.options).remote(terms.packed, dict(terms.environment), terms.folder)
        self._actors.append(_Actor(handle, handle.prepare.remote()))

    def _hand_out(self) -> None:
        """Give waiting batches to the actors that have the least to do."""
        while self._waiting:
            free = [actor for actor in self._actors if actor.ready and len(actor.open) < AT_ONCE]
            if not free:
                return
            actor = min(free, key=lambda one: len(one.open))
            batch = self._waiting.popleft()
            actor.open.append((actor.handle.run.remote(batch.works), batch))

    def _check_patience(self) -> None:
        now = time.monotonic()
        if any(actor.ready for actor in self._actors):
            self._alone_since = now
        elif now - self._alone_since > self._terms.start_timeout:
            self._trouble = self._trouble or GntError(
                f"no Ray actor for the stage {self._terms.stage} has started in {self._terms.start_timeout:g} s. Each "
                f"asks for {asked(self._terms.options)}; see `ray status` for what is free, or change [ray] in gnt.toml"
            )

    def _close(self) -> None:
        """End all actors: the idle ones close their models themselves, work in progress is broken off."""
        trouble = self._ray.exceptions.RayError
        closing = [actor.handle.close.remote() for actor in self._actors if actor.ready and not actor.open]
        try:
            if closing:
                with suppress(trouble):
                    self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_SECONDS)
        finally:
            for actor in self._actors:
                self._kill(actor)
            self._actors.clear()

    def _kill(self, actor: _Actor) -> None:
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(actor.handle)


def asked(options: Mapping[str, Any]) -> str:
    """What an actor reserves, in words."""
    resources = {"CPU": options["num_cpus"], "GPU": options["num_gpus"], **options["resources"]}
    return ", ".join(f"{value:g} {name}" for name, value in resources.items() if value) or "nothing"
