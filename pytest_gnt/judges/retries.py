"""What happens to a verdict that cannot be read: another attempt where one may help, decided from the replies alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_gnt.engines.protocol import GenerationRequest, Message, Reply
from pytest_gnt.judges.untrusted import without_lone_surrogates
from pytest_gnt.judges.verdict_reader import Fault, Reading

MAX_QUOTED = 4000
"""Characters of a bad reply that a repair turn shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When to ask again.

    Attributes:
        repairs: how often a reply that is out of form or contradicts itself is sent back with what is wrong about it.
        warmer: how often a request is repeated after an empty list of phrases, each time at a higher temperature (the
            published judge's policy).
        warmer_by: by how much the temperature is raised each time.
    """

    repairs: int = 1
    warmer: int = 3
    warmer_by: float = 0.2


def next_request(
    policy: RetryPolicy, first: GenerationRequest, replies: Sequence[Reply], readings: Sequence[Reading]
) -> GenerationRequest | None:
    """The request of the next attempt, or None where the last reading stands.

    Replies that were cut off, refused or filtered, and requests without a reply, are not repeated: the same request
    would meet the same end.
    """
    fault = readings[-1].fault
    if fault is Fault.NO_PHRASES:
        warmed = sum(reading.fault is Fault.NO_PHRASES for reading in readings)
        if warmed > policy.warmer:
            return None
        decoding = first.decoding
        return replace(
            first, decoding=replace(decoding, temperature=round(decoding.temperature + warmed * policy.warmer_by, 3))
        )
    if fault is Fault.FORM:
        repaired = sum(reading.fault is Fault.FORM for reading in readings)
        return _repair(first, replies[-1], readings[-1]) if repaired <= policy.repairs else None
    return None


def _repair(first: GenerationRequest, reply: Reply, reading: Reading) -> GenerationRequest:
    quoted = without_lone_surrogates(reply.text or "")[:MAX_QUOTED] or "(nothing)"
    turns = (*first.prefix, Message("user", first.user), Message("assistant", quoted))
    what = without_lone_surrogates(reading.detail)
    user = f"That answer cannot be used: {what}. Look at the same text again and answer in the form that was asked for."
    return replace(first, prefix=turns, user=user)
