"""The form of an LLM judge's verdict: one model a setting, which both makes the JSON schema and checks the reply.

Field names and limits are those of the published judge (Piergentili et al. 2025): 1 to 10 phrases, each M, F or N and,
where the source is seen, correct or wrong; then the label.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pytest_gnt.judges.settings import Setting

MAX_PHRASES = 10

Text = Annotated[str, StringConstraints(min_length=1)]
CrossLabel = Literal["CORRECTLY GENDERED", "WRONGLY GENDERED", "NEUTRAL"]
MonoLabel = Literal["GENDERED", "NEUTRAL"]


class _Form(BaseModel):
    """Values of exactly these types; further keys are passed over (servers without schemas let models add a reason)."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class MonoPhrase(_Form):
    phrase: Text
    gender: Literal["M", "F", "N"]


class CrossPhrase(MonoPhrase):
    gender_correctness: Literal["correct", "wrong"]


class MonoVerdict(_Form):
    label: MonoLabel


class MonoPhrasesVerdict(_Form):
    phrases: list[MonoPhrase] = Field(min_length=1, max_length=MAX_PHRASES)
    label: MonoLabel


class CrossVerdict(_Form):
    label: CrossLabel


class CrossPhrasesVerdict(_Form):
    phrases: list[CrossPhrase] = Field(min_length=1, max_length=MAX_PHRASES)
    label: CrossLabel


VerdictForm = MonoVerdict | MonoPhrasesVerdict | CrossVerdict | CrossPhrasesVerdict

_FORMS: dict[Setting, type[VerdictForm]] = {
    Setting.MONO_L: MonoVerdict,
    Setting.MONO_PL: MonoPhrasesVerdict,
    Setting.CROSS_L: CrossVerdict,
    Setting.CROSS_PL: CrossPhrasesVerdict,
}


def labels_of(setting: Setting) -> tuple[str, ...]:
    """The labels that a verdict of this setting can have."""
    schema = _FORMS[setting].model_json_schema()
    return tuple(schema["properties"]["label"]["enum"])


def check_verdict(data: object, setting: Setting) -> VerdictForm:
    """A verdict from parsed JSON.

    Raises:
        ValueError: it has not the form; the message is one short sentence and quotes at most a few characters.
    """
    try:
        return _FORMS[setting].model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the reply"
        got = f" (got {first['input']!r:.60})" if first["type"] != "missing" else ""
        raise ValueError(f"{place}: {first['msg']}{got}") from None


@cache
def schema_text(setting: Setting) -> str:
    """The JSON schema that replies are bound to: self-contained, closed objects, phrases before the label."""
    schema = _FORMS[setting].model_json_schema()
    return json.dumps(_plain(schema, schema.get("$defs", {})), ensure_ascii=True)


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references and titles, which not every engine reads, and with no further keys allowed."""
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    plain = {
        key: {name: _plain(part, definitions) for name, part in value.items()}
        if key == "properties"
        else _plain(value, definitions)
        for key, value in node.items()
        if key not in ("$defs", "title", "description")
    }
    return {**plain, "additionalProperties": False} if plain.get("type") == "object" else plain
