"""How many workers ``-n auto`` means: one a GPU where a model of the run is loaded onto GPUs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gnt.config import ModelSettings, TransformersModel, VllmModel
from pytest_gnt.engines.gpu_share import visible_devices
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.runner.session import GntSession

OWN_CHOICE = "PYTEST_XDIST_AUTO_NUM_WORKERS"


def workers_for_gpus(gnt: GntSession, folder: Path = Path("/dev")) -> int | None:
    """One worker a visible GPU, or a group of GPUs where one model is spread over several.

    None leaves the choice to xdist: no GPU is visible, none is needed, the user chose a number by xdist's variable, or
    the settings are wrong (which is reported later).
    """
    if os.environ.get(OWN_CHOICE):
        return None
    try:
        needed = _gpus_a_worker(gnt)
    except GntError:
        return None
    devices = len(visible_devices(os.environ, folder))
    return max(1, devices // needed) if needed and devices else None


def _gpus_a_worker(gnt: GntSession) -> int:
    """GPUs that the largest model of the run needs; 0 where none needs any."""
    settings, files = gnt.settings, gnt.files
    if settings.model is None:
        return 0
    models = [files.model(settings.model)]
    if settings.judge != "none" and (judge := files.judge(settings.judge).model) is not None:
        models.append(files.model(judge))
    comet = any(one.device != "cpu" for one in files.comet_models(settings.comet).values())
    return max([int(comet), *map(_gpus, models)])


def _gpus(model: ModelSettings) -> int:
    if isinstance(model, VllmModel):
        return model.tensor_parallel_size or 1
    return int(isinstance(model, TransformersModel) and model.device != "cpu")
