"""Reading what an OpenAI-compatible server sends: good replies, errors, and replies that are neither."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Reason

_CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_CONTEXT = re.compile(
    r"(?i)(?:maximum|max(?:imum)? model|model['’]s) context|context (?:length|window|size|limit)"
    r"|context_length|max_model_len"
    r"|(?:prompt|input|request)[^.]{0,40}(?:is |are )?too (?:long|large|many tokens)|too many (?:input )?tokens"
    r"|(?:prompt|input)[^.]{0,60}(?:exceed|longer than)[^.]{0,60}(?:tokens|length|limit)"
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "moderation_blocked"})
_FILTER = re.compile(r"(?i)content (?:management|policy|filter)|flagged|moderation|responsible ?ai|safety system")
_RETRIED = frozenset({408, 409, 425, 429})


class Fate(Enum):
    """What is to be done about a response."""

    ANSWERED = auto()
    RETRY = auto()
    REFUSED_REQUEST = auto()
    THIS_ONE = auto()
    EVERYTHING = auto()


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, or what came in its place (``status`` 0).

    A server may quote a key that it refuses, so bodies are kept out of ``repr``: tracebacks show locals.

    Attributes:
        data: the body as JSON; None where it is none.
        text: the body as text.
        fault: why there is no response (connection, time-out).
        final: another attempt is not worth it.
        unreachable: there was not even a connection.
    """

    status: int
    data: Any = field(default=None, repr=False)
    text: str = field(default="", repr=False)
    retry_after: float | None = None
    fault: str = ""
    final: bool = False
    unreachable: bool = False

    @property
    def error(self) -> ErrorInfo:
        """The error in the body, in whatever form the server writes it."""
        return _error_info(self.data, self.text)


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """A server's error: its own words and its machine-readable parts."""

    message: str = field(repr=False)
    code: str | None = None
    param: str | None = None

    @property
    def is_context_overflow(self) -> bool:
        """The prompt does not fit the model. Looked for before anything else: the text may mention any parameter."""
        return self.code in _CONTEXT_CODES or _CONTEXT.search(self.message) is not None

    @property
    def is_filter(self) -> bool:
        """The server's filter stopped this request."""
        return self.code in _FILTER_CODES or _FILTER.search(self.message) is not None

    @property
    def is_quota(self) -> bool:
        """There is nothing left to spend: waiting does not help."""
        return self.code in ("insufficient_quota", "billing_hard_limit_reached")


def fate_of(response: Response, *, answered_before: bool) -> Fate:
    """What a response means for its request and for the others."""
    status, error = response.status, response.error
    if status == 0:
        return Fate.THIS_ONE if response.final else Fate.RETRY
    if status < 300:
        return Fate.ANSWERED
    if status in (401, 402, 404) or (status == 403 and not answered_before and not error.is_filter):
        return Fate.EVERYTHING
    if error.is_quota:
        return Fate.EVERYTHING
    if status in _RETRIED or status >= 500:
        return Fate.RETRY
    return Fate.REFUSED_REQUEST if status in (400, 422) else Fate.THIS_ONE


def parse_response(status: int, content: bytes, headers: Mapping[str, str]) -> Response:
    """A response from its parts. The body may be anything."""
    text = content.decode("utf-8", "replace")
    try:
        # The standard library's reader takes NaN and Infinity as servers write them.
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    return Response(status, data, text, _retry_after(headers))


def chat_reply(data: Any, text: str) -> Reply:
    """The reply in a body of ``/chat/completions``.

    Raises:
        ValueError: the body holds none; the message quotes the server.
    """
    choice = _first_choice(data, text)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise ValueError(f"a choice without a message: {_error_info(data, text).message}")
    content = _content(message.get("content"))
    refusal = message.get("refusal")
    finish = _text_or_none(choice.get("finish_reason"))
    reason, detail = None, ""
    if not content and not refusal and finish != "content_filter" and _thinking(message):
        reason = Reason.TRUNCATED if finish == "length" else Reason.EMPTY
        detail = (
            f"no answer beside the thinking (finish reason {finish}), which the server sends in a field of its own: "
            "raise max_new_tokens, or switch thinking or the server's reasoning parser off"
        )
    return Reply(
        text=content,
        finish_reason=finish,
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        reason=reason,
        detail=detail,
        **_usage(data),
    )


def text_reply(data: Any, text: str) -> Reply:
    """The reply in a body of ``/completions``. Raises as `chat_reply` does."""
    choice = _first_choice(data, text)
    finish = _text_or_none(choice.get("finish_reason"))
    return Reply(text=_content(choice.get("text")), finish_reason=finish, **_usage(data))


def _first_choice(data: Any, text: str) -> Mapping[str, Any]:
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ValueError(f"HTTP 200 without a choice: {_error_info(data, text).message}")
    return choices[0]


def _content(content: Any) -> str | None:
    """Text of a message; some servers send it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _thinking(message: Mapping[str, Any]) -> bool:
    return any(isinstance(message.get(name), str) and message[name] for name in ("reasoning_content", "reasoning"))


def _usage(data: Any) -> dict[str, Any]:
    usage = data.get("usage") if isinstance(data, Mapping) else None
    fields = usage if isinstance(usage, Mapping) else {}
    return {name: _count(fields.get(name)) for name in ("prompt_tokens", "completion_tokens")}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _error_info(data: Any, text: str) -> ErrorInfo:
    body = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(body, Mapping):
        details = body.get("detail")
        if isinstance(details, list) and details and isinstance(details[0], Mapping):
            where = [str(part) for part in details[0].get("loc", ()) if part != "body"]
            return ErrorInfo(str(details[0].get("msg", "")), None, ".".join(where) or None)
        message = body.get("message") or details or body.get("error")
        code = body.get("code")
        param = body.get("param")
        return ErrorInfo(
            str(message) if message else (text.strip() or "an empty body"),
            str(code) if code is not None else None,
            param if isinstance(param, str) else None,
        )
    return ErrorInfo(body if isinstance(body, str) and body else (text.strip() or "an empty body"))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from ``retry-after-ms`` or ``retry-after`` (seconds or a date)."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / scale)
        except ValueError:
            pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        from datetime import UTC, datetime

        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
