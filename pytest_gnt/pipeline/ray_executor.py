"""Stages as actors of a Ray cluster. This process plans, commits and reads; actors do nothing but compute."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_gnt.config import Placement, RaySettings
from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.executor import POLL_SECONDS, Executor, StageCount, as_stored, check_complete
from pytest_gnt.pipeline.ray_cluster import amount, connect, nodes, some_node_has
from pytest_gnt.pipeline.ray_crew import AT_ONCE, Crew, Terms, asked
from pytest_gnt.pipeline.ray_worker import Report, product_version, raised_again
from pytest_gnt.work import JsonObject, Provider, Work

_SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""Variables of this process that hold on the nodes, too."""


def movable(provider: Provider[Any, Any]) -> bool:
    """Whether a provider is worth sending: it says so where it loads a model or runs a program.

    Look-ups, counting and requests to a server are as quick from here, and a server's key stays here.
    """
    return bool(getattr(provider, "movable", False))


@dataclass(slots=True)
class RayExecutor(Executor):
    """An `Executor` that sends what is `movable` to a Ray cluster and does the rest itself.

    The cluster is not asked for anything before a stage has something to compute there.

    Attributes:
        settings: the ``[ray]`` table.
        gpus: GPUs that a stage's model needs, by the name of the stage, where the settings do not say.
    """

    settings: RaySettings = field(default_factory=RaySettings)
    gpus: Mapping[str, int] = field(default_factory=dict)
    _ray: Any = None
    _connected: bool = False
    _told: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the actors' providers had to say, each thing once."""
        return tuple(dict.fromkeys(note for notes in self._told.values() for note in notes))

    def close(self) -> None:
        """Leave the cluster; what this run has started there ends."""
        Executor.close(self)
        ray, self._ray = self._ray, None
        if ray is not None and self._connected:
            ray.shutdown()

    def _compute(
        self,
        provider: Provider[Any, Any],
        works: dict[str, Work],
        pending: list[str],
        answers: dict[str, JsonObject],
        count: StageCount,
    ) -> None:
        """See `Executor`. A batch is committed as soon as it is here, whatever becomes of the others."""
        if not pending or not movable(provider):
            Executor._compute(self, provider, works, pending, answers, count)
            return
        packed = self._packed(provider)
        terms, size = self._terms(provider, packed, len(pending))
        batches = self._leased(pending, size, answers, count)
        more = True
        with Crew(self._ray, terms, self.progress.note) as crew:
            try:
                while more or crew.busy:
                    while more and crew.room:
                        batch = next(batches, None)
                        if batch:
                            crew.give([works[key] for key in batch])
                        more = batch is not None
                        if not batch:
                            break
                    self._take(provider.stage, crew.collect(POLL_SECONDS), answers, count)
            except BaseException:
                self._rescue(crew, provider.stage, answers, count)
                raise

    def _take(
        self,
        stage: str,
        reports: Sequence[tuple[Sequence[Work], Report]],
        answers: dict[str, JsonObject],
        count: StageCount,
    ) -> None:
        """Commit what actors have answered.

        Raises:
            GntError: an actor's provider cannot go on.
        """
        for works, report in reports:
            self._commit(stage, [(works[index], answer) for index, answer in report.answers])
            answers.update((works[index].key, as_stored(answer)) for index, answer in report.answers)
            count.computed += len(report.answers)
            self.progress.advance(len(report.answers))
            self._told[report.worker] = report.notes
        for works, report in reports:
            if report.failure is not None:
                raise raised_again(report.failure)
            check_complete(stage, works, {index for index, _ in report.answers})

    def _rescue(self, crew: Crew, stage: str, answers: dict[str, JsonObject], count: StageCount) -> None:
        """The run ends here, for another reason: keep what has arrived and not been looked at."""
        with suppress(Exception):
            self._take(stage, crew.collect(0.0), answers, count)

    def _packed(self, provider: Provider[Any, Any]) -> Any:
        """The provider in Ray's object store, which each node fetches once.

        Raises:
            GntError: the cluster cannot be reached, or the provider cannot be pickled.
        """
        if self._ray is None:
            self._ray, self._connected = connect(self.settings)
        try:
            packed = self._ray.cloudpickle.dumps(provider)
        except Exception as error:
            raise GntError(
                f"the provider of stage {provider.stage} cannot be sent to Ray: {error}. Use --gnt-executor=local, or "
                "load what cannot be pickled at the first request"
            ) from error
        return self._ray.put(packed)

    def _terms(self, provider: Provider[Any, Any], packed: Any, pending: int) -> tuple[Terms, int]:
        """What the stage's actors are told, and how many requests a batch has."""
        placement = self.settings.placement(provider.stage)
        options = self._options(provider.stage, placement)
        workers = min(placement.workers or self._workers(options["num_gpus"]), pending)
        size = placement.batch_size or min(provider.batch_size, math.ceil(pending / (AT_ONCE * workers)))
        terms = Terms(
            stage=provider.stage,
            workers=workers,
            options=options,
            packed=packed,
            environment={name: os.environ[name] for name in _SWITCHES if name in os.environ},
            folder=None if "working_dir" in self.settings.runtime_env else str(Path.cwd()),
            version=product_version(),
            retries=self.settings.retries,
            start_timeout=self.settings.start_timeout,
        )
        return terms, size

    def _options(self, stage: str, placement: Placement) -> dict[str, Any]:
        gpus = placement.num_gpus
        if gpus is None:
            gpus = self.gpus.get(stage, 0) if amount(self._ray, "GPU") else 0
        cpus = 1.0 if placement.num_cpus is None else placement.num_cpus
        wanted = {name: value for name, value in placement.resources.items() if value}
        options = {
            "num_cpus": cpus,
            "num_gpus": gpus,
            "resources": wanted,
            "max_restarts": 0,
            "scheduling_strategy": "SPREAD",
        }
        if not some_node_has(self._ray, {"CPU": cpus, "GPU": gpus, **wanted}):
            self.progress.note(
                f"{stage}: no node of the Ray cluster has {asked(options)}, which an actor asks for; waiting "
                f"{self.settings.start_timeout:g} s for one that has"
            )
        return options

    def _workers(self, gpus: float) -> int:
        """One actor for each share of the cluster's GPUs where an actor needs any, else one a node."""
        if gpus:
            return max(1, math.floor(amount(self._ray, "GPU") / gpus))
        return max(1, len(nodes(self._ray)))
