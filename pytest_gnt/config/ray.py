"""The `[ray]` table: which cluster a run uses, and what the actors of its stages are given there."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pytest_gnt.config.models import Positive, Table

Amount = Annotated[float, Field(ge=0)]


class Placement(Table):
    """What is asked of the cluster for one stage.

    Attributes:
        workers: actors, each with the model of its own; None is one for each share of the cluster's GPUs where an actor
            needs any, else one a node.
        num_cpus: CPUs that an actor reserves; None is 1.
        num_gpus: GPUs that an actor reserves and sees; None is what the stage's model needs, 0 where the cluster has
            none.
        resources: custom resources that an actor reserves, e.g. ``{big_memory = 1}``: this is how nodes are chosen.
        batch_size: requests that an actor is given at once, and that are lost with it; None divides the work evenly, by
            no more than one commit of the model.
    """

    workers: Positive | None = None
    num_cpus: Amount | None = None
    num_gpus: Amount | None = None
    resources: dict[str, Amount] = Field(default_factory=dict)
    batch_size: Positive | None = None


class RayStages(Table):
    """Placements that differ from the rest, by the name of the stage."""

    translate: Placement = Placement()
    judge: Placement = Placement()
    align: Placement = Placement()
    attitude: Placement = Placement()
    comet: Placement = Placement()
    xcomet: Placement = Placement()
    cometkiwi: Placement = Placement()


class RaySettings(Placement):
    """How ``--gnt-executor=ray`` uses Ray.

    Attributes:
        address: ``HOST:PORT`` or ``ray://HOST:PORT`` of a running cluster, ``auto`` for the one that this machine is
            part of, ``local`` to start one on this machine for the run; None takes RAY_ADDRESS, else ``auto``.
        retries: how often a batch that was lost with its actor is given to another one.
        start_timeout: seconds without any actor that works after which the run gives up.
        runtime_env: passed on to Ray as it is. Ray shows it in its dashboard and logs: no keys or passwords in it.
        stages: placements of single stages.
    """

    address: Annotated[str, Field(min_length=1)] | None = None
    retries: Annotated[int, Field(ge=0)] = 3
    start_timeout: Annotated[float, Field(gt=0)] = 300.0
    runtime_env: dict[str, Any] = Field(default_factory=dict)
    stages: RayStages = RayStages()

    def placement(self, stage: str) -> Placement:
        """What a stage asks for: its own table, on top of what is said for all."""
        own = getattr(self.stages, stage, Placement())
        common = {name: getattr(self, name) for name in Placement.model_fields}
        return Placement(**common | {name: getattr(own, name) for name in own.model_fields_set})
