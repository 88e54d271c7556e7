"""What a language-model runtime has to offer. Translators, judges and the attitude metric are written against this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pytest_gnt.evidence import Reason

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """The form that a reply is bound to: a regular expression, or a JSON schema as text."""

    kind: Literal["regex", "json"]
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How a reply is generated. Temperature 0 is greedy."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One prompt. ``prefix`` (instructions and shots) is one object for many requests, ``user`` is the last turn."""

    prefix: tuple[Message, ...]
    user: str
    constraint: Constraint | None = None
    decoding: Decoding = field(default_factory=Decoding)

    @property
    def messages(self) -> tuple[Message, ...]:
        return (*self.prefix, Message("user", self.user))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one request.

    Attributes:
        text: the reply; None when there is none (see ``reason``).
        finish_reason: ``stop``, ``length``, ``content_filter`` … as the engine says.
        refusal: the server's own refusal text, where it has such a field.
        reason: set when no reply could be had for *this* request (over-long prompt, transport error …).
        detail: one sentence on the reason, free of keys and addresses with credentials.
        prompt_tokens, completion_tokens: usage where the engine reports it.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    reason: Reason | None = None
    detail: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Generator(Protocol):
    """A causal language model that continues prompts.

    Invariants: ``context`` needs no weights in memory and names everything about the engine that can change a reply
    (backend, model, revision, dtype, template), never a secret. ``generate`` yields every index of ``requests``
    exactly once, in any order; one bad request is one ``Reply`` with a reason. It raises ``EngineFailure`` only when
    the engine as a whole cannot go on.
    """

    def context(self) -> Mapping[str, object]: ...

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class NoScore:
    """Why there is no log-probability for one prompt; ``detail`` is one sentence, as in `Reply`."""

    reason: Reason
    detail: str


def over_long(tokens: int, window: int) -> NoScore:
    """Why a question that does not fit the model has no score."""
    detail = f"the question has {tokens} tokens; the model's window is {window}, answer included"
    return NoScore(Reason.OVER_LONG, detail)


def not_finite(value: float) -> NoScore:
    """Why a value that is no finite number is no score."""
    return NoScore(Reason.NOT_FINITE, f"the model's log-probability of the answer is {value}")


class Scorer(Protocol):
    """A causal language model that tells the probability of a fixed answer.

    ``score`` returns log P(answer | prompt) (natural logarithm, summed over the answer's tokens) for every prompt, in
    order; a `NoScore` where the engine has no finite value. The answer's tokens are those that it has in the text
    "prompt, then answer". Same rules for ``context`` as in `Generator`; ``score`` raises ``MetricUnavailable`` where
    the engine gives no log-probabilities at all.
    """

    def context(self) -> Mapping[str, object]: ...

    def score(self, prompts: Sequence[str], answer: str) -> list[float | NoScore]: ...

    def close(self) -> None: ...
