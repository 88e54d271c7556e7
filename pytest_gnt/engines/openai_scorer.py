"""How probable a fixed answer is after each of many prompts, through an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.openai_client import Client
from pytest_gnt.engines.openai_dialect import Body
from pytest_gnt.engines.openai_endpoint import open_endpoint
from pytest_gnt.engines.openai_logprobs import (
    PromptTokens,
    answer_places,
    echoed_tokens,
    places_behind,
    prompt_tokens,
    sum_of,
)
from pytest_gnt.engines.openai_replies import text_reply
from pytest_gnt.engines.protocol import NoScore, Reply
from pytest_gnt.errors import MetricUnavailable
from pytest_gnt.evidence import Reason


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to ask a server for the log-probabilities of a prompt.

    Attributes:
        fields: what the request says beside the prompt; the server has to know all of them.
        read: finds the tokens in its reply.
    """

    fields: Mapping[str, Any]
    read: Callable[[Any, str], PromptTokens | None]


_WAYS = (_Way({"echo": True, "logprobs": 1}, echoed_tokens), _Way({"prompt_logprobs": 0}, prompt_tokens))
"""OpenAI's own way, then vLLM's. Which one a server knows is learnt from its first reply."""


class _Unread(Exception):
    """No log-probabilities came of asking in this way."""

    def __init__(self, way: _Way, why: NoScore) -> None:
        super().__init__(why.detail)
        self.way = way
        self.why = why


class OpenAIScorer:
    """A `Scorer` over the completions API: the server tells the log-probability of each token of prompt and answer.

    Args: as for `OpenAIGenerator`.

    Raises:
        GntError: the address is none, or a key is needed and there is none.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        concurrency: int = 32,
        timeout: float = 120.0,
        retries: int = 5,
        backoff: float = 0.5,
    ) -> None:
        self._model = model
        self._known = False
        self._said = ""
        endpoint = open_endpoint(base_url, api_key_env)
        self._client = Client(endpoint, concurrency=concurrency, timeout=timeout, retries=retries, backoff=backoff)

    def context(self) -> Mapping[str, object]:
        """See `Scorer`. Both ways of asking are for the same numbers."""
        return {"backend": "openai", "base_url": self._client.endpoint.shown, "model": self._model, "api": "echo"}

    def score(self, prompts: Sequence[str], answer: str) -> list[float | NoScore]:
        """See `Scorer`.

        Raises:
            MetricUnavailable: the server does not give log-probabilities of a prompt at all.
            EngineFailure: it cannot be used.
        """
        values: list[float | NoScore] = [_UNANSWERED] * len(prompts)

        async def ask(prompt: str) -> float | NoScore:
            return await self._ask(prompt, answer)

        for index, value in self._client.map(prompts, ask, lambda _: "score"):
            values[index] = value
        return values

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def __repr__(self) -> str:
        return f"OpenAIScorer({self._model!r} at {self._client.endpoint.shown})"

    async def _ask(self, prompt: str, answer: str) -> float | NoScore:
        found = await self._tokens(prompt + answer, prompt)
        if isinstance(found, NoScore):
            return found
        places = answer_places(found, prompt, answer)
        if not places:
            alone = await self._tokens(prompt, prompt)
            places = range(0) if isinstance(alone, NoScore) else places_behind(found, alone)
        return sum_of(found, places, answer)

    async def _tokens(self, text: str, head: str) -> PromptTokens | NoScore:
        """The tokens of a text in whatever way the server tells them; ``head`` is how the text begins."""
        while True:
            try:
                return await self._tokens_one_way(text, head)
            except _Unread as unread:
                if self._known:
                    # The server can do it, and did not do it this once.
                    return unread.why
                self._client.dialect.dropped |= set(unread.way.fields)
                self._said = unread.why.detail

    async def _tokens_one_way(self, text: str, head: str) -> PromptTokens | NoScore:
        found: list[PromptTokens | NoScore] = []
        asked = self._way()

        def write() -> Body:
            nonlocal asked
            dialect = self._client.dialect
            asked = self._way()
            limit = {dialect.token_field: 1, "temperature": 0.0}
            kept = {name: value for name, value in limit.items() if name not in dialect.dropped}
            return {"model": self._model, "prompt": text, **kept, **asked.fields}

        def read(data: Any, body: str) -> Reply:
            tokens = asked.read(data, body)
            if tokens is None or not _holds(tokens, data, text, head):
                raise _Unread(asked, _NOTHING)
            self._known = True
            found.append(_complete(tokens))
            return text_reply(data, body)

        reply = await self._client.request("/completions", write, read)
        if found:
            return found[0]
        missing = NoScore(reply.reason or Reason.TRANSPORT, reply.detail)
        if reply.detail.startswith(_REFUSED):
            raise _Unread(asked, missing)
        return missing

    def _way(self) -> _Way:
        """How to ask, by what the server has refused.

        Raises:
            MetricUnavailable: it has refused every way.
        """
        for way in _WAYS:
            if not self._client.dialect.dropped & set(way.fields):
                return way
        raise MetricUnavailable(
            f"{self._client.endpoint.shown} gives no log-probabilities for prompts (echo with logprobs, or "
            "prompt_logprobs), which attitude scores need; use a server that does, such as vLLM's, or another "
            f"attitude model{f' (the last reply: {self._said})' if self._said else ''}"
        )


_HEAD = 40
"""As many characters of a prompt in a reply show that it is an echo."""

_REFUSED = ("HTTP 400", "HTTP 422")
"""How the detail of a request begins that the server takes for a wrong one."""

_NOTHING = NoScore(Reason.NO_LOG_PROBABILITIES, "the server's reply holds no log-probabilities of the question")
_UNANSWERED = NoScore(Reason.TRANSPORT, "there is no reply")


def _complete(tokens: PromptTokens) -> PromptTokens | NoScore:
    if len(tokens.values) == len(tokens.tokens):
        return tokens
    detail = f"the server sends {len(tokens.values)} log-probabilities for {len(tokens.tokens)} tokens"
    return NoScore(Reason.NO_LOG_PROBABILITIES, detail)


def _holds(tokens: PromptTokens, data: Any, text: str, head: str) -> bool:
    """Whether the tokens are the text's: servers that do not know ``echo`` send those of their reply alone."""
    if not tokens.generated or text in "".join(tokens.tokens):
        return True
    reply = data["choices"][0].get("text")
    return isinstance(reply, str) and reply.strip().startswith(head.strip()[:_HEAD])
