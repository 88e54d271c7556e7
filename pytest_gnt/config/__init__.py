"""Settings: `gnt.toml` or `[tool.gnt]`, the built-in presets, and what the command line says."""

from pytest_gnt.config.files import Config, load_config
from pytest_gnt.config.models import (
    AlignerSettings,
    AttitudeSettings,
    CometSettings,
    CommandModel,
    CorpusSettings,
    JudgeSettings,
    ModelSettings,
    OpenAIModel,
    PluginModel,
    RecordedModel,
    TransformersModel,
    VllmModel,
)
from pytest_gnt.config.ray import Placement, RaySettings
from pytest_gnt.config.run import RunSettings
from pytest_gnt.config.templates import AttitudeTemplate

__all__ = [
    "AlignerSettings",
    "AttitudeSettings",
    "AttitudeTemplate",
    "CometSettings",
    "CommandModel",
    "Config",
    "CorpusSettings",
    "JudgeSettings",
    "ModelSettings",
    "OpenAIModel",
    "Placement",
    "PluginModel",
    "RaySettings",
    "RecordedModel",
    "RunSettings",
    "TransformersModel",
    "VllmModel",
    "load_config",
]
