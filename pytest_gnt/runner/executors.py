"""Where the stages of a run are computed: in this process, or on a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gnt.config import Config, ModelSettings, TransformersModel, VllmModel
from pytest_gnt.engines.devices import pick_device
from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.executor import Executor, Progress
from pytest_gnt.pipeline.store import Store

if TYPE_CHECKING:
    import pytest

    from pytest_gnt.config import RunSettings
    from pytest_gnt.runner.session import GntSession


def check_executor(settings: RunSettings, config: pytest.Config) -> None:
    """Refuse what cannot work, before anything is collected.

    Raises:
        GntError: Ray is asked for and not installed, or asked for in a run of pytest-xdist.
    """
    if settings.executor != "ray":
        return
    if hasattr(config, "workerinput") or getattr(config.option, "tx", None):
        raise GntError(
            "--gnt-executor=ray and pytest-xdist exclude each other: Ray distributes the models, and the tests "
            "themselves do next to nothing. Leave -n out, or say -n0"
        )
    from pytest_gnt.engines.weights import require

    require("ray", "ray", "--gnt-executor=ray")


def make_executor(gnt: GntSession, attitude_model: str, progress: Progress) -> Executor:
    """The executor of ``--gnt-executor``. Nothing is connected yet.

    Args:
        gnt: the session.
        attitude_model: the attitude model that the run uses, or ``none``.
        progress: where progress is shown.
    """
    store = Store(gnt.store_path, run=gnt.run_id)
    if gnt.settings.executor == "local":
        return Executor(store, progress)
    from pytest_gnt.pipeline.ray_executor import RayExecutor

    gpus = stage_gpus(gnt.files, gnt.settings, attitude_model)
    return RayExecutor(store, progress, settings=gnt.files.ray, gpus=gpus)


def stage_gpus(files: Config, settings: RunSettings, attitude_model: str) -> dict[str, int]:
    """GPUs that the model of each stage is made for, by its settings; stages without a model are left out."""
    gpus = {"translate": model_gpus(files.model(str(settings.model)))}
    if settings.judge != "none" and (judge := files.judge(settings.judge).model) is not None:
        gpus["judge"] = model_gpus(files.model(judge))
    if attitude_model != "none":
        attitude = files.attitude_model(attitude_model)
        gpus["attitude"] = int(attitude.kind == "vllm") or (attitude.kind == "transformers" and _gpu(attitude.device))
    aligner = files.aligner(settings.aligner)
    aligner = files.aligner(aligner.otherwise) if aligner.otherwise is not None else aligner
    gpus["align"] = _gpu(aligner.device)
    return gpus | {comet.kind: _gpu(comet.device) for comet in files.comet_models(settings.comet).values()}


def model_gpus(model: ModelSettings) -> int:
    """GPUs that one copy of a system under test or of a judge's model takes."""
    if isinstance(model, VllmModel):
        return model.tensor_parallel_size or 1
    return _gpu(model.device) if isinstance(model, TransformersModel) else 0


def _gpu(device: str) -> int:
    """A device ``auto`` is settled here, not on the nodes: answers depend on it by the number format."""
    return int(pick_device(device) != "cpu")
