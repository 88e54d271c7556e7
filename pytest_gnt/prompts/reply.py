"""From a raw reply to a translation: what can be read is read, what cannot gets a reason, and nothing is guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.prompts.form import FormReading, as_one_line, read_form, unfenced
from pytest_gnt.prompts.identify import language_problem
from pytest_gnt.prompts.plain import read_plain
from pytest_gnt.prompts.refusals import looks_like_refusal, source_may_decline
from pytest_gnt.prompts.soundness import has_content, is_blank, is_looping, is_source_copy, longest_allowed
from pytest_gnt.prompts.thinking import answer_after_thinking

ReplyForm = Literal["labelled", "plain"]

MAX_REPLY = 100_000
"""Characters of a reply that are looked at; no translation of a sentence comes near."""

_CUT_OFF = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "content-filter", "safety"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """A reply as read; ``text`` is None exactly when ``reason`` is set.

    Attributes:
        text: the translation, one line (see `form.as_one_line`).
        label: what the model says of its translation; None for the plain form.
        reason: why there is no usable translation.
        detail: one sentence on the reason, without the reply's own text.
        flags: suspicions that do not stop the scoring: ``suspected-refusal``, ``text-before-answer``,
            ``text-after-answer``, ``second-answer-ignored``, ``lead-in-removed``, ``quotes-removed``,
            ``broken-characters``.
    """

    text: str | None = None
    label: Form | None = None
    reason: Reason | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()

    def translation(self, case: Case, reply: Reply) -> Translation:
        """The evidence that this reading makes, with the raw reply beside it."""
        return Translation(
            case=case,
            text=self.text,
            label=self.label,
            raw=reply.text or "",
            finish_reason=reply.finish_reason,
            reason=self.reason,
            detail=self.detail,
            flags=self.flags,
        )


def read_reply(raw: Reply, case: Case, form: ReplyForm) -> ParsedReply:
    """Read what a prompted model answered for one case. Never raises, whatever the reply holds.

    ``labelled`` asks for ``<it> **NEUTRAL** [translation]`` (see `form`), ``plain`` for the translation and nothing
    else, on one line. The order of the checks is the order of causes: no reply, refused or filtered by the server,
    thinking that never ended, cut off at the token limit, not in the form, and only then the soundness of the text.
    """
    early = _without_text(raw)
    if early is not None:
        return early
    text = raw.text or ""
    if len(text) > MAX_REPLY:
        return _failed(Reason.OVER_LONG, f"the reply has {len(text)} characters")
    answer = answer_after_thinking(text, source=case.source)
    cut_off = raw.finish_reason in _CUT_OFF
    if answer is None or (not answer.strip() and not cut_off):
        return _failed(Reason.TRUNCATED if cut_off else Reason.NO_FORM, "no answer after thinking")
    if cut_off:
        return _cut_off(raw, answer, case)
    reading = read_form(answer, case.target_lang) if form == "labelled" else read_plain(unfenced(answer), case)
    return _checked(reading, answer, case)


def read_text(text: str | None, case: Case) -> ParsedReply:
    """Read the output of a system that gives bare translations (NMT, a program, a file): no form, no label.

    Several lines become one. Never raises.
    """
    if text is None:
        return _failed(Reason.MISSING, "the system gave no translation for this case")
    if len(text) > MAX_REPLY:
        return _failed(Reason.OVER_LONG, f"the translation has {len(text)} characters")
    return _checked(FormReading(as_one_line(text)), text, case)


def reply_failure(raw: Reply, case: Case) -> ParsedReply | None:
    """What is wrong with a bare translation as a reply (no text, filtered, cut off), before its text is looked at."""
    early = _without_text(raw)
    if early is None and raw.finish_reason in _CUT_OFF:
        return _cut_off(raw, raw.text or "", case)
    return early


def _failed(reason: Reason, detail: str, flags: tuple[str, ...] = ()) -> ParsedReply:
    return ParsedReply(reason=reason, detail=detail, flags=flags)


def _without_text(raw: Reply) -> ParsedReply | None:
    """Replies whose envelope already says that there is no translation in them."""
    if raw.reason is not None:
        return _failed(raw.reason, raw.detail or "the engine gave no reply")
    if raw.refusal:
        return _failed(Reason.REFUSAL, "the server refused, in its field for refusals")
    if raw.finish_reason in _FILTERED:
        return _failed(Reason.FILTERED, f"finish reason {raw.finish_reason}")
    if raw.text is None or not raw.text.strip():
        if raw.finish_reason in _CUT_OFF:
            return _failed(Reason.TRUNCATED, f"no text before the token limit (finish reason {raw.finish_reason})")
        return _failed(Reason.EMPTY, "the reply is empty")
    return None


def _cut_off(raw: Reply, answer: str, case: Case) -> ParsedReply:
    looping = is_looping(as_one_line(answer[:4000]), case.source, case.target_lang)
    detail = f"cut off at the token limit (finish reason {raw.finish_reason})"
    return _failed(Reason.TRUNCATED, detail, ("looping",) if looping else ())


def _checked(reading: FormReading, answer: str, case: Case) -> ParsedReply:
    """Hold a reading against its source. Refusals come first: they explain a missing form."""
    if reading.text is None or reading.problem:
        if looks_like_refusal(answer) and not source_may_decline(case.source):
            return _failed(Reason.REFUSAL, "the reply is a refusal")
        return _failed(Reason.NO_FORM, reading.problem, reading.flags)
    text = reading.text
    refused = looks_like_refusal(text) and not source_may_decline(case.source)
    if refused and reading.label is None:
        return _failed(Reason.REFUSAL, "the reply is a refusal", reading.flags)
    reason, detail = _fault(text, case)
    flags = (*reading.flags, *(("suspected-refusal",) if refused else ()), *_character_flags(text, case))
    if reason is not None:
        return _failed(reason, detail, flags)
    return ParsedReply(text=text, label=reading.label, flags=flags)


def _fault(text: str, case: Case) -> tuple[Reason | None, str]:
    if is_blank(text) and (not text or has_content(case.source)):
        return Reason.EMPTY, "empty translation" if not text.strip() else "empty translation (no letter or digit in it)"
    if is_looping(text[:4000], case.source, case.target_lang):
        return Reason.LOOPING, "a phrase is repeated on end"
    limit = longest_allowed(case.source, case.target_lang)
    if len(text) > limit:
        return Reason.OVER_LONG, f"{len(text)} characters for a source of {len(case.source)} (limit {limit})"
    if case.target_lang != case.source_lang and is_source_copy(text, case.source):
        return Reason.SOURCE_COPY, "the source came back untranslated"
    problem = language_problem(text, case.target_lang, case.source_lang)
    return (Reason.WRONG_LANGUAGE, problem) if problem else (None, "")


def _character_flags(text: str, case: Case) -> tuple[str, ...]:
    return ("broken-characters",) if "\ufffd" in text and "\ufffd" not in case.source else ()
