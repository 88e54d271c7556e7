"""What one OpenAI-compatible server understands, learnt from its own refusals once for the run.

Never from a model's or vendor's name: sister models, local paths and proxies would be missed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.engines.chat_format import PlainFormat, merged, system_folded
from pytest_gnt.engines.protocol import Constraint, GenerationRequest

Body = dict[str, Any]

_BOUNDS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern", "format"})
_JSON_STEPS = ("json_schema", "json_schema without bounds", "json_object", "")
_ESSENTIAL = ("messages", "prompt", "model")
_UNSUPPORTED = re.compile(
    r"(?i)unsupported|not supported|does ?n[o']t support|unknown|unrecogni[sz]ed|unexpected|invalid|deprecated"
    r"|no longer|not (?:allowed|permitted|available)|extra (?:inputs|fields)|only the default|must be 1\b"
    r"|can(?:not|'t) be (?:used|set)"
)
_SYSTEM = re.compile(
    r"(?i)\bsystem\b.{0,30}\b(?:role|message|prompt|instruction)|\brole\b.{0,30}\bsystem\b|roles must alternate"
)


@dataclass(slots=True)
class Dialect:
    """How requests are written for this server; starts with the usual and is narrowed by `learn`.

    Attributes:
        system_role: whether system turns are sent as such, else folded into the first user turn.
        token_field: the name of the bound on a reply's length.
        json_step: how far JSON schemas had to be simplified, an index into ``_JSON_STEPS``.
        dropped: parameters that are not sent any more.
        notes: what was learnt, for the user.
    """

    system_role: bool = True
    token_field: str = "max_tokens"  # noqa: S105 - the name of a parameter
    json_step: int = 0
    dropped: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def chat_body(self, request: GenerationRequest) -> Body:
        """The request for ``/chat/completions``, without the model."""
        turns = merged(request.messages) if self.system_role else system_folded(request.messages)
        messages = [{"role": turn.role, "content": turn.content} for turn in turns]
        return {"messages": messages, **self._decoding(request), **self._constraint(request.constraint)}

    def text_body(self, request: GenerationRequest) -> Body:
        """The request for ``/completions``, without the model: a plain transcript, which ends where a turn ends."""
        form = PlainFormat()
        messages = request.messages
        body = {"prompt": form.render(messages), **self._decoding(request), **self._constraint(request.constraint)}
        stops = list(form.stop_texts(messages))
        if stops and "stop" not in self.dropped:
            body["stop"] = stops
        return body

    def learn(self, parameter: str, sent: Mapping[str, Any]) -> bool:
        """Adapt to a refused parameter of a request.

        Returns:
            Whether the same request would now be written differently, so that it is worth sending again.
        """
        if parameter == "messages":
            return self._learn_system(sent)
        if parameter not in sent:
            return False
        if parameter in ("max_tokens", "max_completion_tokens"):
            return self._learn_token_field(parameter)
        if parameter == "response_format":
            return self._learn_json_step(sent["response_format"])
        if parameter not in self.dropped:
            self.dropped.add(parameter)
            self.notes.append(f"the server refuses {parameter}: sent without it")
        return True

    def _learn_system(self, sent: Mapping[str, Any]) -> bool:
        if not any(message["role"] == "system" for message in sent.get("messages", ())):
            return False
        if self.system_role:
            self.system_role = False
            self.notes.append("the server refuses system messages: their text is put into the first user message")
        return True

    def _learn_token_field(self, refused: str) -> bool:
        other = "max_completion_tokens" if refused == "max_tokens" else "max_tokens"
        if self.token_field == refused and other not in self.dropped:
            self.dropped.add(refused)
            self.token_field = other
            self.notes.append(f"the server refuses {refused}: {other} is sent")
        return self.token_field != refused

    def _learn_json_step(self, sent: Mapping[str, Any]) -> bool:
        step = _json_step_of(sent)
        if self.json_step <= step:
            self.json_step = step + 1
            wanted = _JSON_STEPS[self.json_step] or "no response_format"
            self.notes.append(f"the server refuses this response_format: {wanted} is sent")
        return True

    def _decoding(self, request: GenerationRequest) -> Body:
        decoding = request.decoding
        body: Body = {self.token_field: decoding.max_tokens, "temperature": decoding.temperature}
        if decoding.top_p != 1.0:
            body["top_p"] = decoding.top_p
        if decoding.temperature > 0:
            body["seed"] = decoding.seed
        return {name: value for name, value in body.items() if name not in self.dropped}

    def _constraint(self, constraint: Constraint | None) -> Body:
        if constraint is None:
            return {}
        if constraint.kind == "regex":
            return {} if "structured_outputs" in self.dropped else {"structured_outputs": {"regex": constraint.value}}
        wanted = self._json_format(json.loads(constraint.value))
        return {"response_format": wanted} if wanted else {}

    def _json_format(self, schema: Mapping[str, Any]) -> Body | None:
        step = _JSON_STEPS[self.json_step]
        if not step:
            return None
        if step == "json_object":
            return {"type": "json_object"}
        shape = schema if step == "json_schema" else _without_bounds(schema)
        return {"type": "json_schema", "json_schema": {"name": "reply", "schema": shape, "strict": True}}


def refused_parameter(sent: Mapping[str, Any], message: str, code: str | None, param: str | None) -> str | None:
    """Which part of a request a 400 refuses as such; None where it complains of something else.

    The machine-readable ``param`` is believed first; words in the message only where they name a parameter that was
    sent and say that it is not supported.
    """
    head = re.split(r"[.\[]", param, maxsplit=1)[0] if param else ""
    if head in ("", "messages") and "messages" in sent and _SYSTEM.search(message):
        return "messages"
    if head in sent and head not in _ESSENTIAL:
        return head
    unsupported = (code or "").startswith(("unsupported", "unknown")) or _UNSUPPORTED.search(message)
    if not unsupported:
        return None
    named = [name for name in sent if name not in _ESSENTIAL and re.search(rf"\b{name}\b", message)]
    # "max_tokens is not supported, use max_completion_tokens": the refused one comes first.
    return min(named, key=message.find, default=None)


def _json_step_of(sent: Mapping[str, Any]) -> int:
    """How far the schema of a sent ``response_format`` had been simplified."""
    if sent.get("type") == "json_object":
        return 2
    schema = sent["json_schema"]["schema"]
    return 1 if schema == _without_bounds(schema) else 0


def _without_bounds(schema: Any) -> Any:
    """A JSON schema without the bounds on sizes that some servers cannot compile. The reply is checked all the same."""
    if isinstance(schema, Mapping):
        return {
            name: {key: _without_bounds(value) for key, value in inner.items()}
            if name == "properties" and isinstance(inner, Mapping)
            else _without_bounds(inner)
            for name, inner in schema.items()
            if name not in _BOUNDS
        }
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return [_without_bounds(item) for item in schema]
    return schema
