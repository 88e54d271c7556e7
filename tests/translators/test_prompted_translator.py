"""A scripted language model as a translator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Decoding, GenerationRequest, Reply
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.translators.prompted import PromptedTranslator

MakeCase = Callable[..., Case]
Translate = Callable[..., list[Translation]]


class Scripted:
    """Answers by a function of the request, in reverse order."""

    def __init__(self, answer: Callable[[GenerationRequest], Reply], name: str = "m") -> None:
        self.answer = answer
        self.name = name
        self.requests: list[GenerationRequest] = []
        self.closed = False

    def context(self) -> Mapping[str, object]:
        return {"backend": "scripted", "model": self.name}

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        self.requests += requests
        for index in reversed(range(len(requests))):
            yield index, self.answer(requests[index])

    def close(self) -> None:
        self.closed = True


def translator(generator: Scripted, *, shots: int = 4, **options: object) -> PromptedTranslator:
    prompts = PromptBuilder(PromptConfig(shots=shots))  # type: ignore[arg-type]
    return PromptedTranslator(generator, prompts, **options)  # type: ignore[arg-type]


def good(request: GenerationRequest) -> Reply:
    if request.user.startswith("<en>"):
        return Reply(text="<it> **NEUTRAL** [Chi presiede apre le porte.]", finish_reason="stop")
    return Reply(text="这个人很固执。", finish_reason="stop")


def test_cases_that_expect_a_form_are_asked_for_a_label(make_case: MakeCase, translate: Translate) -> None:
    engine = Scripted(good)
    cases = [
        make_case("Whoever chairs opens the doors.", "it"),
        make_case("The person is stubborn.", "zh", expected=None),
        make_case("Whoever presides opens the doors.", "it", "2"),
    ]
    provider = translator(engine)
    first, second, third = translate(provider, cases)
    assert (first.text, first.label, first.reason) == ("Chi presiede apre le porte.", Form.NEUTRAL, None)
    assert (second.text, second.label) == ("这个人很固执。", None)
    assert third.text == first.text
    assert engine.requests[0].prefix is engine.requests[2].prefix
    assert engine.requests[0].constraint != engine.requests[1].constraint
    assert [request.user for request in engine.requests] == [
        "<en> Whoever chairs opens the doors.",
        "English: The person is stubborn.\nChinese:",
        "<en> Whoever presides opens the doors.",
    ]
    provider.close()
    assert engine.closed


def test_equal_sentences_are_one_request(make_case: MakeCase) -> None:
    provider = translator(Scripted(good))
    one, other = (provider.work(make_case("The doors open.", "it", number)) for number in ("1", "2"))
    assert one.key == other.key


def test_every_change_of_what_is_asked_changes_the_key(make_case: MakeCase) -> None:
    case = make_case("The doors open.", "it")
    variants = [
        translator(Scripted(good)),
        translator(Scripted(good, "other")),
        translator(Scripted(good), shots=2),
        translator(Scripted(good), shots=0),
        translator(Scripted(good), decoding=Decoding(temperature=0.7)),
        translator(Scripted(good), decoding=Decoding(max_tokens=64)),
        translator(Scripted(good), decoding=Decoding(seed=1)),
        translator(Scripted(good), constrain=False),
    ]
    keys = [variant.work(case).key for variant in variants]
    keys += [variants[0].work(make_case("The doors open.", lang)).key for lang in ("es", "de")]
    keys += [variants[0].work(make_case("The doors open.", "it", expected=None)).key]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("reply", "kept", "reason"),
    [
        (Reply(text="<it> **NEUTRAL** [Chi presiede apre.]"), True, None),
        (Reply(text="nothing of the kind"), True, Reason.NO_FORM),
        (Reply(text="<it> **NEUTRAL** [Chi", finish_reason="length"), True, Reason.TRUNCATED),
        (Reply(text=None, reason=Reason.OVER_LONG, detail="too long"), True, Reason.OVER_LONG),
        (Reply(text=None, reason=Reason.TRANSPORT, detail="HTTP 503"), False, Reason.TRANSPORT),
        (Reply(text=None, reason=Reason.NOT_RUN, detail="budget"), False, Reason.NOT_RUN),
        (Reply(text=None, reason=Reason.FILTERED, detail="filter"), False, Reason.FILTERED),
        (Reply(text=None, refusal="I can't help with that."), False, Reason.REFUSAL),
        (Reply(text="I'm sorry, but I can't help with that."), False, Reason.REFUSAL),
    ],
)
def test_errors_that_may_pass_are_not_kept(
    make_case: MakeCase, reply: Reply, kept: bool, reason: Reason | None
) -> None:
    provider = translator(Scripted(lambda _: reply))
    case = make_case("Whoever chairs opens.", "it")
    ((_, answer),) = provider.run([provider.work(case)])
    assert answer.keep is kept
    assert provider.read(case, answer.value).reason is reason


def test_braces_reach_the_model_byte_for_byte(make_case: MakeCase, translate: Translate) -> None:
    engine = Scripted(good)
    source = "Pay {amount} to {{all}} holders of {0}, $name."
    translate(translator(engine), [make_case(source, "it")])
    assert engine.requests[0].user == f"<en> {source}"
