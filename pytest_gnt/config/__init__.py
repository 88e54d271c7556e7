"""Settings: `gnt.toml` or `[tool.gnt]`, the built-in presets, and what the command line says."""

from pytest_gnt.config.files import Config, load_config
from pytest_gnt.config.models import (
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
from pytest_gnt.config.run import RunSettings

__all__ = [
    "AttitudeSettings",
    "CometSettings",
    "CommandModel",
    "Config",
    "CorpusSettings",
    "JudgeSettings",
    "ModelSettings",
    "OpenAIModel",
    "PluginModel",
    "RecordedModel",
    "RunSettings",
    "TransformersModel",
    "VllmModel",
    "load_config",
]
