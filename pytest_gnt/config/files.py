"""Reading configuration: one file, the presets beneath it, and errors that name the key and its nearest neighbour."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from pytest_gnt.config.models import (
    BACKENDS,
    AlignerSettings,
    AttitudeSettings,
    CometSettings,
    CorpusSettings,
    JudgeSettings,
    ModelSettings,
    PluginModel,
    Table,
)
from pytest_gnt.config.ray import RaySettings
from pytest_gnt.config.run import RunSettings
from pytest_gnt.config.templates import AttitudeTemplate
from pytest_gnt.errors import GntError

PACKAGE = Path(__file__).resolve().parent.parent
PRESETS = Path(__file__).with_name("presets.toml")
TABLES = (
    "run",
    "models",
    "judges",
    "aligners",
    "attitude_models",
    "attitude_templates",
    "comet",
    "corpora",
    "gates",
    "ray",
)

_LANGUAGE = re.compile("[a-z]{2,3}")

T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that files configure. ``folder`` is what relative paths are relative to."""

    folder: Path
    run: RunSettings = field(default_factory=RunSettings)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    judges: Mapping[str, JudgeSettings] = field(default_factory=dict)
    aligners: Mapping[str, AlignerSettings] = field(default_factory=dict)
    attitude_models: Mapping[str, AttitudeSettings] = field(default_factory=dict)
    attitude_templates: Mapping[str, AttitudeTemplate] = field(default_factory=dict)
    comet: Mapping[str, CometSettings] = field(default_factory=dict)
    corpora: Mapping[str, CorpusSettings] = field(default_factory=dict)
    gates: Mapping[str, Any] = field(default_factory=dict)
    ray: RaySettings = field(default_factory=RaySettings)

    def model(self, name: str) -> ModelSettings:
        return lookup(name, self.models, "model", "[models.NAME]")

    def judge(self, name: str) -> JudgeSettings:
        return lookup(name, self.judges, "judge", "[judges.NAME]")

    def aligner(self, name: str) -> AlignerSettings:
        return lookup(name, self.aligners, "aligner", "[aligners.NAME]")

    def attitude_model(self, name: str) -> AttitudeSettings:
        return lookup(name, self.attitude_models, "attitude model", "[attitude_models.NAME]")

    def comet_models(self, names: str) -> dict[str, CometSettings]:
        """The COMET models of a comma-separated list of names; none of them for ``none``."""
        if names.strip() == "none":
            return {}
        asked = [name.strip() for name in names.split(",") if name.strip()]
        return {name: lookup(name, self.comet, "COMET model", "[comet.NAME]") for name in asked}

    def path(self, text: str) -> Path:
        """A path of the configuration: ``package:…`` is what the product ships, anything else relative to the file."""
        if text.startswith("package:"):
            return PACKAGE / text.removeprefix("package:")
        return usable_path(self.folder, text)

    def overlay(self, options: Mapping[str, Any]) -> RunSettings:
        """The run's settings with the command line's on top.

        Raises:
            GntError: a value is not allowed; the message names the option.
        """
        given = {key: value for key, value in options.items() if value is not None}
        return validate(RunSettings, self.run.model_dump() | given, "--gnt-")


def usable_path(folder: Path, text: str) -> Path:
    """A path relative to a folder.

    Raises:
        GntError: no path of this system can be written so.
    """
    try:
        path = (folder / Path(text).expanduser()).resolve()
        path.exists()  # an over-long name shows itself here
    except (OSError, ValueError, RuntimeError) as error:
        raise GntError(f"{text[:80]!r} cannot be a path: {error}") from error
    return path


def lookup(name: str, known: Mapping[str, T], what: str, where: str) -> T:
    """A named setting.

    Raises:
        GntError: no such name; lists the nearest and all known ones.
    """
    if name in known:
        return known[name]
    near = did_you_mean(name, known)
    raise GntError(f"unknown {what} {name!r}.{near} Known: {', '.join(sorted(known))}. Add one as {where} in gnt.toml.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def load_config(root: Path) -> Config:
    """Read ``gnt.toml`` of a folder, else ``[tool.gnt]`` of its ``pyproject.toml``, on top of the presets.

    Raises:
        GntError: the file is not TOML, or holds an unknown key or a value of a wrong type.
    """
    presets = _tables(_read_toml(PRESETS), PRESETS)
    path, data = _find(root)
    own = _tables(data, path)
    for section in ("models", "judges", "aligners", "attitude_models", "comet", "corpora"):
        own[section] = presets[section] | own[section]
    where = path.name
    return Config(
        folder=root,
        run=validate(RunSettings, _tuples(own["run"]), f"{where} [run] "),
        models={name: _model(name, table, where) for name, table in own["models"].items()},
        judges=_named(JudgeSettings, own["judges"], f"{where} [judges."),
        aligners=_named(AlignerSettings, own["aligners"], f"{where} [aligners."),
        attitude_models=_named(AttitudeSettings, own["attitude_models"], f"{where} [attitude_models."),
        attitude_templates=_templates(own["attitude_templates"], f"{where} [attitude_templates."),
        comet=_named(CometSettings, own["comet"], f"{where} [comet."),
        corpora=_named(CorpusSettings, {k: _tuples(v) for k, v in own["corpora"].items()}, f"{where} [corpora."),
        gates=own["gates"],
        ray=validate(RaySettings, own["ray"], f"{where} [ray] "),
    )


def _find(root: Path) -> tuple[Path, dict[str, Any]]:
    own = root / "gnt.toml"
    if own.is_file():
        return own, _read_toml(own)
    project = root / "pyproject.toml"
    if project.is_file():
        return project, _read_toml(project).get("tool", {}).get("gnt", {})
    return own, {}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise GntError(f"{path}:{line}: not UTF-8. Save the file as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise GntError(f"{path}: not valid TOML: {error}") from error


def _tables(data: dict[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    for key, value in data.items():
        if key not in TABLES:
            raise GntError(f"{path}: unknown table [{key}].{did_you_mean(key, TABLES)} Known: {', '.join(TABLES)}.")
        if not isinstance(value, dict):
            raise GntError(f"{path}: {key} must be a table: [{key}].")
    return {name: dict(data.get(name, {})) for name in TABLES}


def _tuples(table: Any) -> Any:
    """A table with its lists as tuples: what the settings hold does not change."""
    if not isinstance(table, dict):
        return table
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _named(kind: type[T], tables: Mapping[str, Any], where: str) -> dict[str, T]:
    return {name: validate(kind, table, f"{where}{name}] ") for name, table in tables.items()}


def _templates(tables: Mapping[str, Any], where: str) -> dict[str, AttitudeTemplate]:
    for lang in tables:
        if not _LANGUAGE.fullmatch(lang):
            raise GntError(f"{where}{lang}] must be named by a language code such as sv, without region and script.")
    return _named(AttitudeTemplate, {lang: _tuples(table) for lang, table in tables.items()}, where)


def _model(name: str, table: Any, where: str) -> ModelSettings:
    place = f"{where} [models.{name}] "
    if not isinstance(table, dict) or not isinstance(table.get("backend"), str):
        raise GntError(f'{place}needs backend = "…", one of {", ".join(sorted(BACKENDS))}, or a plugin\'s.')
    return validate(BACKENDS.get(table["backend"], PluginModel), table, place)


def validate(kind: type[T], data: Any, where: str) -> T:
    """Validate a table.

    Raises:
        GntError: one sentence a fault, each naming the key.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        faults = [_fault(kind, item, option=where.startswith("--")) for item in error.errors()]
        raise GntError("; ".join(f"{where}{fault}" for fault in faults)) from None


def _fault(kind: type[Table], item: Any, *, option: bool) -> str:
    key = ".".join(str(part) for part in item["loc"]) or "(table)"
    if option:
        key = key.replace("_", "-")
    if item["type"] == "extra_forbidden":
        known = _table_at(kind, item["loc"][:-1]).model_fields
        return f"{key}: unknown key.{did_you_mean(str(item['loc'][-1]), known)} Known: {', '.join(known)}"
    if item["type"] == "missing":
        return f"{key}: is missing"
    said = item["msg"].removeprefix("Value error, ")
    return f"{key}: {said} (got {item['input']!r:.80})"


def _table_at(kind: type[Table], path: Iterable[Any]) -> type[Table]:
    """The table within a table that a path of keys leads to."""
    for name in path:
        inner = kind.model_fields[name].annotation if name in kind.model_fields else None
        if isinstance(inner, type) and issubclass(inner, Table):
            kind = inner
    return kind
