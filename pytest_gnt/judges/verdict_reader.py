"""From a judge's raw reply to a verdict, or to the reason why there is none. Nothing is guessed, and nothing is neutral
because it could not be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Phrase, Reason
from pytest_gnt.judges.consistency import contradiction, phrase_flags
from pytest_gnt.judges.reply_json import Found, ReplyFault, find_object, is_json_object
from pytest_gnt.judges.settings import Setting
from pytest_gnt.judges.verdict_form import CrossPhrasesVerdict, MonoPhrasesVerdict, VerdictForm, check_verdict
from pytest_gnt.prompts.refusals import looks_like_refusal
from pytest_gnt.prompts.thinking import answer_after_thinking

_CUT_OFF = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "content-filter", "safety"})
BROKEN = "broken-characters"


class Fault(StrEnum):
    """Kinds of unreadable verdicts, as far as another attempt may mend them."""

    FINAL = "final"
    """Another attempt would meet the same: no reply, cut off, refused, filtered."""
    FORM = "form"
    """Not in the form, or contradictory."""
    NO_PHRASES = "no-phrases"
    """In the form but for an empty list of phrases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A reply as read; ``label`` is None exactly when ``reason`` is set.

    Attributes:
        label: as the judge wrote it; ``GENDERED`` from a judge that does not see the source.
        phrases: also set where a contradiction is the reason, so that it can be looked at.
        fault: what kind of reason it is.
    """

    label: str | None = None
    phrases: tuple[Phrase, ...] = ()
    reason: Reason | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()
    fault: Fault | None = None


def read_verdict(reply: Reply, setting: Setting, *, source: str, translation: str) -> Reading:
    """Read one reply. Never raises, whatever the reply holds.

    The order of the checks is the order of causes: no reply at all, refused, filtered, cut off at the token limit (even
    where the rest happens to be valid), and only then the form and the verdict's agreement with itself.
    """
    early = _without_answer(reply)
    if early is not None:
        return early
    text = reply.text or ""
    answer = text if is_json_object(text) else answer_after_thinking(text, source=f"{source}\n{translation}")
    if answer is None or not answer.strip():
        return _failed(Reason.INVALID, "there is no answer after the thinking", Fault.FORM)
    try:
        found = find_object(answer, "label")
        return _verdict(found, setting, translation)
    except ReplyFault as fault:
        if looks_like_refusal(answer):
            return _failed(Reason.REFUSAL, "the judge declined to answer", Fault.FINAL)
        return _failed(Reason.INVALID, str(fault), Fault.FORM)


def _failed(reason: Reason, detail: str, fault: Fault, flags: Sequence[str] = ()) -> Reading:
    return Reading(reason=reason, detail=detail, fault=fault, flags=tuple(flags))


def _without_answer(reply: Reply) -> Reading | None:
    finish = reply.finish_reason
    if reply.reason is not None:
        return _failed(reply.reason, reply.detail or "the engine gave no reply", Fault.FINAL)
    if reply.refusal:
        return _failed(Reason.REFUSAL, "the server refused, in its field for refusals", Fault.FINAL)
    if finish in _FILTERED:
        return _failed(Reason.FILTERED, f"the server's filter stopped the reply (finish reason {finish})", Fault.FINAL)
    empty = reply.text is None or not reply.text.strip()
    if finish in _CUT_OFF:
        what = "cut off at the token limit"
        if empty:
            what = "no answer before the token limit (thinking may have used it up)"
        elif is_json_object(reply.text or ""):
            what += ", though what there is happens to be valid"
        return _failed(Reason.TRUNCATED, f"{what} (finish reason {finish}): raise max_tokens", Fault.FINAL)
    return _failed(Reason.EMPTY, "the reply is empty", Fault.FINAL) if empty else None


def _verdict(found: Found, setting: Setting, translation: str) -> Reading:
    if setting.has_phrases and found.value.get("phrases") == [] and "label" in found.value:
        return _failed(Reason.INVALID, "the list of phrases is empty", Fault.NO_PHRASES, found.flags)
    try:
        verdict = check_verdict(found.value, setting)
    except ValueError as error:
        return _failed(Reason.INVALID, str(error), Fault.FORM, found.flags)
    phrases = phrases_of(verdict)
    flags = (*found.flags, *_broken(phrases, translation), *phrase_flags(phrases, translation))
    if phrases and (what := contradiction(verdict.label, phrases)):
        return Reading(phrases=phrases, reason=Reason.CONTRADICTION, detail=what, flags=flags, fault=Fault.FORM)
    return Reading(label=verdict.label, phrases=phrases, flags=flags)


def phrases_of(verdict: VerdictForm) -> tuple[Phrase, ...]:
    """The phrases of a verdict as evidence; none in the settings without phrases."""
    match verdict:
        case CrossPhrasesVerdict():
            return tuple(Phrase(one.phrase, one.gender, one.gender_correctness == "correct") for one in verdict.phrases)
        case MonoPhrasesVerdict():
            return tuple(Phrase(one.phrase, one.gender) for one in verdict.phrases)
    return ()


def _broken(phrases: Sequence[Phrase], translation: str) -> tuple[str, ...]:
    broken = any("\ufffd" in phrase.text for phrase in phrases) and "\ufffd" not in translation
    return (BROKEN,) if broken else ()
