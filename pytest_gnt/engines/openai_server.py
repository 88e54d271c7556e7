"""Models behind an OpenAI-compatible server: vLLM's, llama.cpp's, a cloud's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pytest_gnt.engines.openai_client import Client, Traffic
from pytest_gnt.engines.openai_dialect import Body
from pytest_gnt.engines.openai_endpoint import open_endpoint
from pytest_gnt.engines.openai_replies import chat_reply, text_reply
from pytest_gnt.engines.protocol import Constraint, GenerationRequest, Reply

Api = Literal["chat", "completions"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a server charges, in currency units a million tokens."""

    input: float = 0.0
    output: float = 0.0

    def of(self, traffic: Traffic) -> float:
        """Cost of what has been used so far."""
        return (traffic.prompt_tokens * self.input + traffic.completion_tokens * self.output) / _MILLION


class OpenAIGenerator:
    """A `Generator` over the chat or completions API.

    Args:
        model: the model's name at the server.
        base_url: address of the API, e.g. ``http://localhost:8000/v1``; None for OpenAI's own.
        api_key_env: environment variable that holds the key.
        api: ``chat``, or ``completions`` for base models without a chat template.
        concurrency: requests in flight at once.
        timeout: seconds for one attempt.
        retries: further attempts after failures that may pass; their waits grow, and `Retry-After` is kept.
        backoff: seconds before the first retry.
        extra_body: further fields of each request, e.g. ``{"chat_template_kwargs": {"enable_thinking": false}}``.
        price: what tokens cost.
        budget: asked before each request with the cost so far, requests in flight included as far as can be told; on
            False nothing is sent any more, and what is not sent has the reason NOT_RUN.

    Raises:
        GntError: the address is none, or a key is needed and there is none.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        api: Api = "chat",
        concurrency: int = 32,
        timeout: float = 120.0,
        retries: int = 5,
        backoff: float = 0.5,
        extra_body: Mapping[str, Any] | None = None,
        price: Price | None = None,
        budget: Callable[[float], bool] | None = None,
    ) -> None:
        self._model = model
        self._api = api
        self._extra = dict(extra_body or {})
        self._price = price
        self._budget = budget
        self._bound = 0
        self._unbound = 0
        self._client = Client(
            open_endpoint(base_url, api_key_env),
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            backoff=backoff,
            may_go_on=self._may_go_on,
        )

    def context(self) -> Mapping[str, object]:
        """See `Generator`. The address is part of it without its credentials; the key is not."""
        return {
            "backend": "openai",
            "base_url": self._client.endpoint.shown,
            "model": self._model,
            "api": self._api,
            "extra_body": self._extra,
        }

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        """See `Generator`. A bound form is checked on each reply, since servers ignore fields that they do not know."""
        return self._client.map(requests, self._ask, _kind)

    @property
    def traffic(self) -> Traffic:
        """Requests, retries and tokens so far."""
        return self._client.traffic

    @property
    def cost(self) -> float | None:
        """Cost so far by the configured price; None where there is no price."""
        return self._price.of(self.traffic) if self._price else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was learnt of the server, and whether it keeps replies to the asked form."""
        notes = list(self._client.dialect.notes)
        if self._unbound:
            notes.append(f"{self._unbound} of {self._bound} replies do not have the form that the server was asked for")
        return tuple(notes)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def __repr__(self) -> str:
        return f"OpenAIGenerator({self._model!r} at {self._client.endpoint.shown})"

    async def _ask(self, request: GenerationRequest) -> Reply:
        def write() -> Body:
            dialect = self._client.dialect
            body = dialect.chat_body(request) if self._api == "chat" else dialect.text_body(request)
            return {"model": self._model, **body, **self._extra}

        path, read = ("/chat/completions", chat_reply) if self._api == "chat" else ("/completions", text_reply)
        reply = await self._client.request(path, write, read)
        if request.constraint is not None and reply.text is not None and reply.finish_reason != "length":
            self._bound += 1
            self._unbound += not has_form(reply.text, request.constraint)
        return reply

    def _may_go_on(self) -> bool:
        if self._budget is None:
            return True
        return self._budget(self._expected_cost())

    def _expected_cost(self) -> float:
        """Cost so far, and as much for each request in flight as the finished ones have cost on average."""
        if self._price is None:
            return 0.0
        traffic = self.traffic
        spent = self._price.of(traffic)
        return spent + traffic.in_flight * spent / traffic.metered if traffic.metered else spent


def has_form(text: str, constraint: Constraint) -> bool:
    """Whether a reply has the form that it was bound to.

    The whole of it matches the expression, or it is a JSON object with the schema's required members.
    """
    if constraint.kind == "regex":
        return _compiled(constraint.value).fullmatch(text) is not None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    required = json.loads(constraint.value).get("required", [])
    return isinstance(value, dict) and all(name in value for name in required)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _kind(request: GenerationRequest) -> object:
    """What a server may refuse about a request: learnt once for each kind."""
    constraint = request.constraint
    has_system = any(message.role == "system" for message in request.prefix)
    return constraint.kind if constraint else None, has_system
