"""Reading a judge's replies: whatever it sends, a verdict is read in one way only or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_scripts import NEUTRAL, good, verdict

from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Reason
from pytest_gnt.judges.settings import Setting
from pytest_gnt.judges.verdict_form import labels_of
from pytest_gnt.judges.verdict_reader import Fault, Reading, read_verdict

SOURCE = "The chair opens the session."
TEXT = "Chi dirige apre la seduta."
FENCE = "```"


def read(reply: str | Reply, setting: Setting = Setting.CROSS_PL, *, source: str = SOURCE, text: str = TEXT) -> Reading:
    return read_verdict(good(reply) if isinstance(reply, str) else reply, setting, source=source, translation=text)


def test_plain_verdict_is_read_as_it_is() -> None:
    reading = read(verdict("WRONGLY GENDERED", ("il direttore", "M", "wrong"), ("chi dirige", "N", "correct")))
    assert reading.label == "WRONGLY GENDERED"
    assert [(one.text, one.gender, one.correct) for one in reading.phrases] == [
        ("il direttore", "M", False),
        ("chi dirige", "N", True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{FENCE}json\n{NEUTRAL}\n{FENCE}",
        f"{FENCE}\n{NEUTRAL}\n{FENCE}",
        f"{FENCE}json\n{NEUTRAL}\n{FENCE}\nI chose NEUTRAL because nobody is gendered.",
        f"Sure! {NEUTRAL} Hope this helps",
        f"Here, as {{asked}}: {NEUTRAL}",
        f"{NEUTRAL}\n{NEUTRAL}",
        f'{{"source": "The chair"}} {NEUTRAL}',
    ],
)
def test_one_verdict_amid_other_text_is_read(text: str) -> None:
    reading = read(text)
    assert reading.label == "NEUTRAL"
    assert "text-around-json" in reading.flags


def test_braces_and_fences_within_a_text_are_text() -> None:
    whole = json.loads(NEUTRAL) | {"reason": f"see {FENCE}json {{}} {FENCE}"}
    reading = read(json.dumps(whole))
    assert (reading.label, reading.flags) == ("NEUTRAL", ())


def test_doubled_key_with_equal_values_says_one_thing() -> None:
    assert read(NEUTRAL[:-1] + ', "label": "NEUTRAL"}').label == "NEUTRAL"


@pytest.mark.parametrize(
    "text",
    [
        NEUTRAL + verdict("WRONGLY GENDERED", ("il direttore", "M", "wrong")),
        '{"label":"NEUTRAL","label":"WRONGLY GENDERED"}',
        "null",
        "[]",
        '"NEUTRAL"',
        "NEUTRAL",
        "17",
        f"[{NEUTRAL}]",
        f'{{"result": {NEUTRAL}}}',
        NEUTRAL.replace('"', "'"),
        '{"phrases":[{"phrase":"„chi dirige" apre","gender":"N","gender_correctness":"correct"}],"label":"NEUTRAL"}',
        '{"phrases": [{"phrase": "chi dir',
        NEUTRAL.replace("NEUTRAL", "NEUTRO"),
        NEUTRAL.replace("NEUTRAL", "neutral"),
        NEUTRAL.replace("NEUTRAL", "GENDERED"),
        NEUTRAL.replace('"N"', '"X"'),
        NEUTRAL.replace('"correct"', '"yes"'),
        NEUTRAL.replace('"correct"', "true"),
        '{"label": "NEUTRAL"}',
        '{"phrases": "none", "label": "NEUTRAL"}',
        '{"phrases": [{"phrase": "", "gender": "N", "gender_correctness": "correct"}], "label": "NEUTRAL"}',
        json.dumps({"phrases": [json.loads(NEUTRAL)["phrases"][0]] * 11, "label": "NEUTRAL"}),
        "La traduzione è neutra.",
        '{"phrases": NaN, "label": "NEUTRAL"}',
        '{"x":' * 5000,
        '{"label": ' + "9" * 5000 + "}",
        "{" * 60_000,
        "x" * 60_000,
    ],
)
def test_what_cannot_be_read_in_one_way_is_no_verdict(text: str) -> None:
    reading = read(text)
    assert reading.label is None
    assert reading.reason is Reason.INVALID
    assert reading.fault is Fault.FORM
    assert reading.detail


@pytest.mark.parametrize(
    "text",
    [NEUTRAL[:-1] + ",}", NEUTRAL.replace("]", ",]"), NEUTRAL.replace('"', "“", 1).replace('"', "”"), "tail"],
)
def test_unambiguous_faults_are_mended_and_marked(text: str) -> None:
    text = NEUTRAL.replace("Chi dirige", "Chi\ndirige") if text == "tail" else text
    reading = read(text)
    assert reading.label == "NEUTRAL"
    assert "repaired-json" in reading.flags


def test_commas_before_brackets_within_strings_stay() -> None:
    reading = read(NEUTRAL.replace("Chi dirige", "Chi, ] dirige,}")[:-1] + ",}")
    assert reading.phrases[0].text == "Chi, ] dirige,}"


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    reading = read(NEUTRAL.replace("Chi dirige", "ok \\ud83d"))
    assert reading.label == "NEUTRAL"
    assert reading.phrases[0].text == "ok \ufffd"
    assert "broken-characters" in reading.flags
    json.dumps([phrase.text for phrase in reading.phrases], ensure_ascii=False).encode()


def test_null_character_in_a_phrase_is_text() -> None:
    assert read(NEUTRAL.replace("Chi dirige", "chi\\u0000")).phrases[0].text == "chi\0"


CUT = '{"phrases": [{"phrase": "chi dir'
NO_VERDICTS = {
    "cut": (good(CUT, "length"), Reason.TRUNCATED),
    "nothing-at-limit": (good(None, "length"), Reason.TRUNCATED),
    "refused": (good(None, "stop", refusal="I cannot help"), Reason.REFUSAL),
    "filtered": (good("", "content_filter"), Reason.FILTERED),
    "valid-but-cut": (good('{"phrases": []}', "length"), Reason.TRUNCATED),
    "cut-with-stop": (good(CUT, "stop"), Reason.INVALID),
    "empty": (good("", "stop"), Reason.EMPTY),
    "declined": (good("I'm sorry, but I can't assess this text.", "stop"), Reason.REFUSAL),
    "declined-in-italian": (good("Mi dispiace, non posso aiutare con questa richiesta."), Reason.REFUSAL),
    "transport": (Reply(text=None, reason=Reason.TRANSPORT, detail="time-out"), Reason.TRANSPORT),
}


@pytest.mark.parametrize("name", NO_VERDICTS)
def test_causes_are_told_apart(name: str) -> None:
    reply, reason = NO_VERDICTS[name]
    reading = read(reply)
    assert (reading.label, reading.reason) == (None, reason)


def test_each_cause_has_words_of_its_own() -> None:
    told = {(read(reply).reason, read(reply).detail) for reply, _ in NO_VERDICTS.values()}
    assert len(told) >= len(NO_VERDICTS) - 1  # the two declining texts are one cause


def test_only_faults_of_form_are_worth_another_attempt() -> None:
    faults = {name: read(reply).fault for name, (reply, _) in NO_VERDICTS.items()}
    assert {name for name, fault in faults.items() if fault is not Fault.FINAL} == {"cut-with-stop"}


@pytest.mark.parametrize("finish", [None, "stop", "eos", "end_turn"])
def test_complete_reply_with_any_other_finish_reason_is_read(finish: str | None) -> None:
    assert read(Reply(text=NEUTRAL, finish_reason=finish)).label == "NEUTRAL"


@pytest.mark.parametrize(
    "text",
    [
        f'<think>maybe {{"label": "WRONGLY GENDERED"}} or [la direttrice]?</think>\n{NEUTRAL}',
        f"so the label is CORRECTLY GENDERED</think>\n{NEUTRAL}",
        f"<think>\n\n</think>\n\n{NEUTRAL}",
    ],
)
def test_thinking_is_not_the_answer(text: str) -> None:
    assert read(text).label == "NEUTRAL"


@pytest.mark.parametrize("text", [f"<think>maybe {NEUTRAL}", "<think>only thoughts</think>"])
def test_without_an_answer_after_thinking_there_is_no_verdict(text: str) -> None:
    reading = read(text)
    assert reading.label is None
    assert "thinking" in reading.detail or reading.reason is Reason.INVALID


def test_thinking_tag_within_the_verdict_is_text() -> None:
    reply = NEUTRAL.replace("Chi dirige", "il tag </think>")
    assert read(reply, text="Chi usa il tag </think> legge.").phrases[0].text == "il tag </think>"


CONTRADICTIONS = [
    verdict("NEUTRAL", ("il direttore", "M", "wrong")),
    verdict("NEUTRAL", ("chi dirige", "N", "correct"), ("la direttrice", "F", "correct")),
    verdict("CORRECTLY GENDERED", ("chi dirige", "N", "correct")),
    verdict("CORRECTLY GENDERED", ("il direttore", "M", "correct"), ("la collega", "F", "wrong")),
    verdict("WRONGLY GENDERED", ("chi dirige", "N", "correct")),
    verdict("WRONGLY GENDERED", ("il direttore", "M", "correct")),
]


@pytest.mark.parametrize("text", CONTRADICTIONS)
def test_label_against_its_phrases_is_no_verdict(text: str) -> None:
    reading = read(text)
    assert reading.label is None
    assert reading.reason is Reason.CONTRADICTION
    assert reading.phrases, "the phrases can be looked at"
    assert reading.fault is Fault.FORM


def test_empty_list_of_phrases_is_its_own_fault() -> None:
    reading = read('{"phrases": [], "label": "NEUTRAL"}')
    assert (reading.label, reading.reason, reading.fault) == (None, Reason.INVALID, Fault.NO_PHRASES)


def test_phrases_that_are_not_in_the_translation_are_marked() -> None:
    some = verdict("NEUTRAL", ("chi dirige", "N", "correct"), ("le persone", "N", "correct"))
    assert read(some).flags == ("phrase-not-in-translation",)
    assert read(verdict("NEUTRAL", ("le persone", "N", "correct"))).flags == ("no-phrase-in-translation",)
    assert read(verdict("NEUTRAL", ("CHI, dirige", "N", "correct"))).flags == ()
    assert read(verdict("NEUTRAL", ("hi dirig", "N", "correct"))).flags == ("no-phrase-in-translation",)


def test_neutral_phrase_marked_wrong_is_marked() -> None:
    assert "neutral-phrase-marked-wrong" in read(verdict("NEUTRAL", ("Chi dirige", "N", "wrong"))).flags


@pytest.mark.parametrize("setting", Setting)
def test_every_setting_reads_its_own_labels_and_no_others(setting: Setting) -> None:
    for label in ("NEUTRAL", "GENDERED", "CORRECTLY GENDERED", "WRONGLY GENDERED"):
        gendered = label != "NEUTRAL"
        phrase = {"phrase": "Chi dirige", "gender": "M" if gendered else "N"}
        if setting.sees_source:
            phrase["gender_correctness"] = "wrong" if label == "WRONGLY GENDERED" else "correct"
        answer: dict[str, object] = {"phrases": [phrase]} if setting.has_phrases else {}
        reading = read(json.dumps(answer | {"label": label}), setting)
        assert (reading.label == label) is (label in labels_of(setting))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_text_at_all_makes_the_reader_raise_or_guess(text: str) -> None:
    reading = read(text)
    assert (reading.label is None) == (reading.reason is not None)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(NEUTRAL)), st.text('{}[]",:\\N', max_size=3), st.integers(0, 3))
def test_damaged_verdicts_never_change_their_label(place: int, noise: str, dropped: int) -> None:
    damaged = NEUTRAL[:place] + noise + NEUTRAL[place + dropped :]
    assert read(damaged).label in (None, "NEUTRAL")
