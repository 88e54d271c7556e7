"""What all translators share: the stage's name and the form of its stored answers."""

from __future__ import annotations

from pytest_gnt.case import Case
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Reason
from pytest_gnt.prompts.refusals import looks_like_refusal
from pytest_gnt.work import Answer, JsonObject

STAGE = "translate"

VERSION = 1
"""Raised when stored answers of older versions must not be used any more."""

_PASSING = frozenset({Reason.TRANSPORT, Reason.NOT_RUN, Reason.FILTERED, Reason.REFUSAL})
"""Reasons that another attempt may mend: such an answer is not stored."""


def store_reply(reply: Reply) -> Answer:
    """A reply as an answer: its raw fields, so that a better reader can read it anew."""
    value = {
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "refusal": reply.refusal,
        "reason": reply.reason.value if reply.reason is not None else None,
        "detail": reply.detail,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
    refused = bool(reply.refusal) or looks_like_refusal(reply.text or "")
    return Answer(value, keep=reply.reason not in _PASSING and not refused)


def stored_reply(answer: JsonObject) -> Reply:
    """The reply that `store_reply` has stored.

    Raises:
        KeyError, ValueError: the answer is none of this stage.
    """
    reason = answer["reason"]
    return Reply(
        text=answer["text"],
        finish_reason=answer["finish_reason"],
        refusal=answer["refusal"],
        reason=Reason(reason) if reason is not None else None,
        detail=answer["detail"],
        prompt_tokens=answer["prompt_tokens"],
        completion_tokens=answer["completion_tokens"],
    )


def about(case: Case) -> dict[str, str]:
    """What a translation engine without prompts is told of a case."""
    return {"source": case.source, "source_lang": case.source_lang, "target_lang": case.target_lang}
