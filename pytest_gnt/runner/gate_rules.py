"""Gate rules from the configuration: the defaults, changed and added to by ``[gates.MEASURE]`` tables."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pytest_gnt.config.files import did_you_mean
from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.gates import DEFAULT_RULES, GateRule, GateSettings

if TYPE_CHECKING:
    from pytest_gnt.runner.session import GntSession

_KEYS = tuple(part.name for part in fields(GateRule) if part.name != "measure")


def gate_settings(gnt: GntSession) -> GateSettings:
    """The rules of a run.

    ``[gates]`` may hold ``alpha`` and one table a measure. A table changes the default rule of its measure, or adds a
    rule; ``enabled = false`` takes the rule out.

    Raises:
        GntError: an unknown measure or key, or a value that is not allowed.
    """
    table = dict(gnt.files.gates)
    alpha = table.pop("alpha", 0.05)
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise GntError(f"[gates] alpha: a number between 0 and 1 is needed, got {alpha!r}")
    rules = {rule.measure: rule for rule in DEFAULT_RULES}
    rules["unscored-rate"] = replace(rules["unscored-rate"], maximum=gnt.settings.max_unscored_rate)
    for measure, own in table.items():
        if not isinstance(own, dict):
            raise GntError(
                f"[gates] {measure}: a table is needed: [gates.{measure}].{did_you_mean(measure, ['alpha'])}"
            )
        if own.get("enabled") is False:
            rules.pop(measure, None)
            continue
        rules[measure] = _rule(measure, own, rules.get(measure))
    return GateSettings(rules=tuple(rules.values()), alpha=alpha, seed=gnt.settings.seed, delta=gnt.settings.delta)


def _rule(measure: str, own: dict[str, Any], default: GateRule | None) -> GateRule:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in own.items() if key != "enabled"
    }
    for key in values:
        if key not in _KEYS:
            raise GntError(
                f"[gates.{measure}] {key}: unknown key.{did_you_mean(key, _KEYS)} Known: enabled, {', '.join(_KEYS)}"
            )
    try:
        return replace(default or GateRule(measure=measure), **values)
    except TypeError as error:
        raise GntError(f"[gates.{measure}]: a value of a wrong type: {error}") from error
