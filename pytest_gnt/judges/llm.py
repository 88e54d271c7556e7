"""The LLM judge: a prompted model that annotates phrases and labels translations, over any engine.

The task is the published one (Piergentili et al. 2025, arXiv 2504.11934; settings in `Setting`). Raw replies are
stored, so a better reader needs no new request. docs/judging.md says what its verdicts mean and how to calibrate it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.engines.protocol import Constraint, Decoding, GenerationRequest, Generator, Reply
from pytest_gnt.errors import EngineFailure
from pytest_gnt.evidence import JudgedLabel, Judgement, Reason, Translation
from pytest_gnt.judges.prompting import JudgePrompts, ShippedPrompts
from pytest_gnt.judges.retries import RetryPolicy, next_request
from pytest_gnt.judges.untrusted import INJECTION, looks_like_injection
from pytest_gnt.judges.verdict_reader import Reading, read_verdict
from pytest_gnt.work import Answer, Context, JsonObject, Work, digest

VERSION = 1
"""Part of the context: raised when stored replies of older versions must not be used any more."""

RETRIED = "retried"
GENDERED = "GENDERED"
DOWN_AFTER = 3
"""So many requests without a single reply mean that the judge is down, not that some cases are bad."""

_PASSING = frozenset({Reason.TRANSPORT, Reason.NOT_RUN, Reason.FILTERED, Reason.REFUSAL})
"""Reasons that another run may mend: such an answer is not stored."""


@dataclass(slots=True)
class _Inquiry:
    """One request under way: its texts for the reader, and every reply so far."""

    first: GenerationRequest
    source: str
    translation: str
    request: GenerationRequest
    replies: list[Reply] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)


class LlmJudge:
    """A `Provider[Translation, Judgement]` for any `Generator`.

    Args:
        generator: the engine; owned, and closed by `close`.
        prompts: wording and setting; by default the product's own, ``cross-p+l``.
        decoding: how replies are generated; temperature 0 unless there are several votes.
        retry: what happens to a verdict that cannot be read.
        constrain: bind replies to the schema while they are generated, where the engine can; they are checked anyway.
        batch_size: verdicts that one commit of the store covers.
    """

    stage = "judge"

    def __init__(
        self,
        generator: Generator,
        prompts: JudgePrompts | None = None,
        *,
        decoding: Decoding | None = None,
        retry: RetryPolicy | None = None,
        constrain: bool = True,
        batch_size: int = 256,
    ) -> None:
        self.prompts = prompts or ShippedPrompts()
        self.batch_size = batch_size
        self._generator = generator
        self._decoding = decoding or Decoding(max_tokens=1024)
        self._retry = retry or RetryPolicy()
        self._constraint: Constraint | None = self.prompts.constraint() if constrain else None
        self._contexts: dict[str, Context] = {}
        self._heard = False

    def work(self, subject: Translation, repeat: int = 0) -> Work:
        """The request for one translation. ``repeat`` tells votes on the same translation apart.

        Raises:
            ValueError: the translation has a reason instead of a text; such a one is never judged.
            GntError: there is no prompt for the language.
        """
        if subject.reason is not None or subject.text is None:
            raise ValueError(f"{subject.case.id}: there is no translation to judge ({subject.reason})")
        case = subject.case
        user = self.prompts.user_turn(case.source, subject.text, case.target_lang)
        decoding = dataclasses.replace(self._decoding, seed=self._decoding.seed + repeat)
        request = GenerationRequest(
            prefix=self.prompts.prefix(case.target_lang), user=user, constraint=self._constraint, decoding=decoding
        )
        payload = (request, case.source, subject.text)
        return Work(self._context(case.target_lang), {"user": user, "repeat": repeat}, payload)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`. A round of retries follows a round of requests while there are any.

        Raises:
            EngineFailure: the engine cannot go on, or nothing but transport errors came from it since the start.
        """
        open_: dict[int, _Inquiry] = {}
        for index, work in enumerate(works):
            request, source, translation = work.payload
            open_[index] = _Inquiry(request, source, translation, request)
        while open_:
            again: dict[int, _Inquiry] = {}
            yield from self._round(open_, again)
            open_ = again

    def _round(self, open_: Mapping[int, _Inquiry], again: dict[int, _Inquiry]) -> Iterator[tuple[int, Answer]]:
        """Send one request for each inquiry. Answers are handed on as they come; what is to be asked again goes there.

        As long as the engine has answered nothing at all its transport errors are held back: if that stays so, they are
        one error of the run, not one a case.
        """
        indices = list(open_)
        held: list[tuple[int, Answer]] = []
        for place, reply in self._generator.generate([open_[index].request for index in indices]):
            inquiry = open_[indices[place]]
            if self._asked_again(inquiry, reply):
                again[indices[place]] = inquiry
            else:
                held.append((indices[place], _store(inquiry)))
            self._heard = self._heard or reply.reason is not Reason.TRANSPORT
            if self._heard:
                yield from held
                held = []
        if len(held) >= DOWN_AFTER:
            why = held[0][1].value["attempts"][-1]["detail"]
            raise EngineFailure(f"the judge answered none of {len(held)} requests: {why}")
        yield from held

    def _asked_again(self, inquiry: _Inquiry, reply: Reply) -> bool:
        """Take a reply; whether there is to be another attempt."""
        inquiry.replies.append(reply)
        inquiry.readings.append(self._read(reply, inquiry.source, inquiry.translation))
        request = next_request(self._retry, inquiry.first, inquiry.replies, inquiry.readings)
        if request is not None:
            inquiry.request = request
        return request is not None

    def read(self, subject: Translation, answer: JsonObject) -> Judgement:
        """The verdict of the first attempt that can be read, else the last attempt's reason."""
        replies = stored_replies(answer)
        if not replies:
            return Judgement(case=subject.case, translation=subject, reason=Reason.INVALID, detail="no stored reply")
        readings = [self._read(reply, subject.case.source, subject.text or "") for reply in replies]
        place = next((at for at, reading in enumerate(readings) if reading.label), len(readings) - 1)
        return self._judgement(subject, readings[place], replies[place].text or "", retried=place > 0)

    def close(self) -> None:
        """Close the engine."""
        self._generator.close()

    @property
    def movable(self) -> bool:
        """As the engine is."""
        return bool(getattr(self._generator, "movable", False))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the prompts, and what the engine found out about its server."""
        return (*self.prompts.notes, *getattr(self._generator, "notes", ()))

    def about(self) -> dict[str, Any]:
        """What the judge's verdicts depend on beside the language: for signatures and calibration files."""
        return {
            "version": VERSION,
            "engine": dict(self._generator.context()),
            "setting": self.prompts.setting.value,
            "wording": self.prompts.name,
            "constraint": dataclasses.asdict(self._constraint) if self._constraint else None,
            "decoding": dataclasses.asdict(self._decoding),
            "retry": dataclasses.asdict(self._retry),
        }

    def key(self, lang: str) -> str:
        """Hash of everything that the verdicts on one language depend on: 64 hex digits.

        A server's address and the seed are left out: the same judge elsewhere, or drawn again, is the same judge.

        Raises:
            GntError: there is no prompt for the language.
        """
        data = dict(self._context(lang).data)
        data["engine"] = {name: value for name, value in data["engine"].items() if name != "base_url"}
        data["decoding"] = {name: value for name, value in data["decoding"].items() if name != "seed"}
        return digest(data)

    def _context(self, lang: str) -> Context:
        if lang not in self._contexts:
            prefix = [[message.role, message.content] for message in self.prompts.prefix(lang)]
            self._contexts[lang] = Context({"stage": self.stage, **self.about(), "prefix": prefix})
        return self._contexts[lang]

    def _read(self, reply: Reply, source: str, translation: str) -> Reading:
        return read_verdict(reply, self.prompts.setting, source=source, translation=translation)

    def _judgement(self, subject: Translation, reading: Reading, raw: str, *, retried: bool) -> Judgement:
        flags = [*reading.flags, *((RETRIED,) if retried else ())]
        if looks_like_injection(subject.text or "", subject.case.source):
            flags.append(INJECTION)
        label, reason, detail = three_way(reading, subject)
        return Judgement(
            case=subject.case,
            translation=subject,
            phrases=reading.phrases,
            label=label,
            raw=raw,
            reason=reason,
            detail=detail,
            votes=(reading.label or str(reading.reason),),
            flags=tuple(flags),
        )


def three_way(reading: Reading, subject: Translation) -> tuple[JudgedLabel | None, Reason | None, str]:
    """The three-way label of a reading.

    A judge that does not see the source only knows GENDERED. Where the source leaves gender open (Set-N) that is wrong;
    where the case states a gender, the phrases tell whether they agree with it; else it is undecided.
    """
    if reading.label is None:
        return None, reading.reason, reading.detail
    if reading.label != GENDERED:
        return JudgedLabel(reading.label), None, ""
    case = subject.case
    shown = {phrase.gender for phrase in reading.phrases} - {"N"}
    if case.expected == "NEUTRAL":
        return JudgedLabel.WRONGLY_GENDERED, None, ""
    if case.gender is not None and shown:
        agrees = shown == {case.gender.value}
        return (JudgedLabel.CORRECTLY_GENDERED if agrees else JudgedLabel.WRONGLY_GENDERED), None, ""
    detail = "judged GENDERED by a judge that does not see the source, so whether that is correct is not known"
    return None, Reason.UNDECIDED, detail


def _store(inquiry: _Inquiry) -> Answer:
    """Every attempt's raw reply; not kept where another run may get a better end."""
    attempts = [
        {
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "refusal": reply.refusal,
            "reason": reply.reason.value if reply.reason is not None else None,
            "detail": reply.detail,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
        }
        for reply in inquiry.replies
    ]
    return Answer({"attempts": attempts}, keep=inquiry.readings[-1].reason not in _PASSING)


def stored_replies(answer: JsonObject) -> list[Reply]:
    """The replies of a stored answer; none where it has not the form of this stage."""
    try:
        return [
            Reply(**{**attempt, "reason": Reason(attempt["reason"]) if attempt["reason"] is not None else None})
            for attempt in answer["attempts"]
        ]
    except (KeyError, TypeError, ValueError):
        return []
