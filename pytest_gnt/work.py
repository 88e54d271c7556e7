"""The one shape of all model work: what is asked, what it depends on, and how an answer is read.

A *provider* (translator, judge, attitude scorer, quality metric) turns a subject into `Work`, computes answers for
batches of it, and reads an answer back into evidence. Answers are stored; evidence is read from them anew in each run,
so that a better reader needs no new model call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

Json = Any
JsonObject = Mapping[str, Any]


def canonical_json(value: Json) -> str:
    """JSON with sorted keys and no white space. Lone surrogates are escaped, so the text is always valid UTF-8.

    Raises:
        ValueError: the value holds NaN or an infinity, which JSON does not have.
    """
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Json) -> str:
    """SHA-256 of a value's canonical JSON, as 64 hex digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


class Context:
    """Everything an answer depends on beside its own input: stage version, model, revision, prompt prefix, decoding.

    Shared by many pieces of work, so that its hash is computed once.
    """

    def __init__(self, data: JsonObject) -> None:
        self.data = data

    @cached_property
    def key(self) -> str:
        return digest(self.data)


@dataclass(frozen=True, slots=True)
class Work:
    """One request: its shared context, its own input (JSON), and what the provider needs to compute it.

    ``payload`` follows from context and input; it is not part of the key and is never stored.
    """

    context: Context
    input: JsonObject
    payload: Any = None

    @property
    def key(self) -> str:
        """The store's key: equal exactly when context and input are equal."""
        text = self.context.key + canonical_json(self.input)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider computed: plain JSON, and whether it may be stored.

    An error that another attempt could mend (a server that is away) is not kept; a reply that is bad in itself is.
    """

    value: JsonObject
    keep: bool = True


SubjectT = TypeVar("SubjectT", contravariant=True)
EvidenceT = TypeVar("EvidenceT", covariant=True)


class Provider(Protocol[SubjectT, EvidenceT]):
    """A source of evidence.

    Invariants: ``work`` and ``read`` are cheap, deterministic and need no weights; ``work`` is a function of the
    subject and the configuration alone. ``run`` yields each index of ``works`` exactly once, in any order, and does not
    depend on the order or size of the batch; it raises `GntError` only when nothing further can be computed at all.
    ``batch_size`` is how many pieces of work one commit covers.

    A provider that loads a model or runs a program may also say ``movable = True``: copies of it, pickled before the
    first ``run``, can compute on other machines and give the same answers there. It must hold no secrets.
    """

    stage: str
    batch_size: int

    def work(self, subject: SubjectT) -> Work: ...

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]: ...

    def read(self, subject: SubjectT, answer: JsonObject) -> EvidenceT: ...

    def close(self) -> None: ...
