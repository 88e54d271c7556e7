"""From raw replies to translations or reasons."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Reason
from pytest_gnt.prompts.form import as_one_line
from pytest_gnt.prompts.reply import MAX_REPLY, read_reply, read_text

MakeCase = Callable[..., Case]

SOURCE = "Whoever chairs the meeting has to open the doors before the first guests arrive."
GOOD = "Chi presiede la riunione deve aprire le porte prima che arrivi il pubblico."


def labelled(text: str, label: str = "NEUTRAL") -> str:
    return f"<it> **{label}** [{text}]"


def test_a_good_reply_is_read(make_case: MakeCase) -> None:
    case = make_case(SOURCE)
    raw = Reply(text=labelled(GOOD), finish_reason="stop")
    parsed = read_reply(raw, case, "labelled")
    assert (parsed.text, parsed.label, parsed.reason, parsed.flags) == (GOOD, Form.NEUTRAL, None, ())
    evidence = parsed.translation(case, raw)
    assert (evidence.text, evidence.raw, evidence.finish_reason) == (GOOD, raw.text, "stop")


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("<it> **NEUTRAL** [Chi coordina il gruppo deve", "length", Reason.TRUNCATED),
        ("<it> **NEUTRAL** [Vedi [1] e poi chi coordina", "length", Reason.TRUNCATED),
        ("<zh> **NEUTRAL** [邻居固\ufffd", "length", Reason.TRUNCATED),
        (labelled(GOOD), "length", Reason.TRUNCATED),
        ("<it> **NEUTRAL** [Chi coordina il gruppo deve", "stop", Reason.NO_FORM),
        (labelled(""), "stop", Reason.EMPTY),
        (labelled(" "), "stop", Reason.EMPTY),
        (labelled("\u3000"), "stop", Reason.EMPTY),
        (labelled("."), "stop", Reason.EMPTY),
        (labelled("..."), "stop", Reason.EMPTY),
        (labelled("…"), "stop", Reason.EMPTY),
        (labelled("le persone " * 200), "stop", Reason.LOOPING),
        (labelled("Chi presiede " + "deve aprire le porte della sala e " * 4), "stop", Reason.LOOPING),
        (
            labelled(GOOD + " " + " ".join(f"Inoltre {n} persone attendono fuori." for n in range(30))),
            "stop",
            Reason.OVER_LONG,
        ),
        ("", "stop", Reason.EMPTY),
        (" \n ", "stop", Reason.EMPTY),
        (None, "stop", Reason.EMPTY),
        (None, "length", Reason.TRUNCATED),
        ("", "content_filter", Reason.FILTERED),
        ("<think>maybe [la direttrice]?", "stop", Reason.NO_FORM),
        ("<think>maybe [la direttrice]?", "length", Reason.TRUNCATED),
        ("<think>hm</think>", "stop", Reason.NO_FORM),
        ("<think>hm</think>\n" + labelled("Il direttore", "WRONG"), "stop", Reason.NO_FORM),
        (GOOD, "stop", Reason.NO_FORM),
        (labelled(SOURCE), "stop", Reason.SOURCE_COPY),
        (labelled(SOURCE.upper()), "stop", Reason.SOURCE_COPY),
        (labelled(SOURCE.replace("doors", "gates")), "stop", Reason.SOURCE_COPY),
        (labelled("Quien preside la reunión tiene que abrir las puertas antes."), "stop", Reason.WRONG_LANGUAGE),
        (labelled("The chair must unlock the entrance in good time today."), "stop", Reason.WRONG_LANGUAGE),
        (labelled("主持会议的人必须在第一批客人到来之前打开大门。"), "stop", Reason.WRONG_LANGUAGE),
        ("I'm sorry, but I can't translate this.", "stop", Reason.REFUSAL),
        ("Mi dispiace, ma non posso aiutarti con questa richiesta.", "stop", Reason.REFUSAL),
        ("x" * (MAX_REPLY + 1), "stop", Reason.OVER_LONG),
    ],
)
def test_what_is_no_translation_gets_its_own_reason(
    make_case: MakeCase, text: str | None, finish: str, reason: Reason
) -> None:
    parsed = read_reply(Reply(text=text, finish_reason=finish), make_case(SOURCE), "labelled")
    assert parsed.reason is reason
    assert parsed.text is None
    assert parsed.label is None
    assert parsed.detail


def test_the_token_limit_is_named(make_case: MakeCase) -> None:
    parsed = read_reply(Reply(text="<it> **NEUTRAL** [Chi", finish_reason="length"), make_case(SOURCE), "labelled")
    assert "length" in parsed.detail


def test_a_loop_up_to_the_token_limit_is_cut_off_and_flagged(make_case: MakeCase) -> None:
    raw = Reply(text="<it> **NEUTRAL** [" + "le persone " * 100, finish_reason="length")
    parsed = read_reply(raw, make_case(SOURCE), "labelled")
    assert (parsed.reason, parsed.flags) == (Reason.TRUNCATED, ("looping",))


def test_the_servers_own_refusal_counts(make_case: MakeCase) -> None:
    parsed = read_reply(Reply(text=None, refusal="I can't."), make_case(SOURCE), "labelled")
    assert parsed.reason is Reason.REFUSAL


def test_the_engines_reason_is_passed_on(make_case: MakeCase) -> None:
    raw = Reply(text=None, reason=Reason.OVER_LONG, detail="6012 tokens, the limit is 4096")
    parsed = read_reply(raw, make_case(SOURCE), "labelled")
    assert (parsed.reason, parsed.detail) == (Reason.OVER_LONG, "6012 tokens, the limit is 4096")


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("it", "Mi dispiace, non posso aiutare con questa richiesta."),
        ("es", "Lo siento, pero no puedo ayudar con eso."),
        ("de", "Es tut mir leid, aber ich kann dabei leider nicht helfen."),
        ("el", "Λυπάμαι, αλλά δεν μπορώ να βοηθήσω με αυτό το αίτημα."),
        ("zh", "抱歉，我无法协助处理这个请求。"),
    ],
)
def test_a_refusal_inside_the_form_is_suspected(make_case: MakeCase, lang: str, text: str) -> None:
    raw = Reply(text=f"<{lang}> **NEUTRAL** [{text}]")
    parsed = read_reply(raw, make_case(SOURCE, lang), "labelled")
    assert parsed.text == text
    assert parsed.flags == ("suspected-refusal",)
    assert read_reply(Reply(text=text), make_case(SOURCE, lang), "plain").reason is Reason.REFUSAL


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("it", "«Mi dispiace, ma non posso aiutare», disse chi stava allo sportello."),
        ("es", "«Lo siento, pero no puedo ayudar», dijo la persona de la ventanilla."),
        ("de", "„Es tut mir leid, aber ich kann nicht helfen“, hieß es am Schalter."),
        ("zh", "“抱歉，我帮不了忙，”办事员说。"),
    ],
)
@pytest.mark.parametrize("form", ["labelled", "plain"])
def test_the_translation_of_a_refusal_is_scored(make_case: MakeCase, lang: str, text: str, form: str) -> None:
    case = make_case("\"I'm sorry, but I can't help,\" the clerk said.", lang)
    raw = Reply(text=f"<{lang}> **NEUTRAL** [{text}]" if form == "labelled" else text)
    parsed = read_reply(raw, case, "labelled" if form == "labelled" else "plain")
    assert (parsed.text, parsed.reason, parsed.flags) == (text, None, ())


@pytest.mark.parametrize(
    "source",
    ["OK.", "Jean-Claude Juncker, Strasbourg, 1999.", "(Applause)", "Mr President!", "COM(1999) 455 - C5-0213"],
)
def test_names_and_very_short_sources_may_stay_as_they_are(make_case: MakeCase, source: str) -> None:
    assert read_text(source, make_case(source)).text == source


def test_a_source_that_repeats_itself_may_be_translated_so(make_case: MakeCase) -> None:
    source = "No, " * 9 + "said the speaker to everybody in the hall."
    text = "No, " * 9 + "disse la persona che parlava a tutta la sala."
    assert read_text(text, make_case(source)).reason is None
    assert read_text(text, make_case("The speaker said no to everybody in the hall.")).reason is Reason.LOOPING


@pytest.mark.parametrize(
    ("text", "lang", "reason"),
    [
        ("这个人很固执，可也守信用。", "zh", None),
        ("この人は頑固ですが、約束は守ります。", "zh", Reason.WRONG_LANGUAGE),
        ("The person is stubborn but keeps promises.", "zh", Reason.WRONG_LANGUAGE),
        ("这个人用乔拉·莫尔蒙粗鲁的语气说，OpenAI不行。", "zh", None),
        ("Ο Jean-Claude Juncker και η Hernández Mollar μίλησαν χθες.", "el", None),
        ("Jean-Claude Juncker e Hernández Mollar hanno parlato ieri sera.", "el", Reason.WRONG_LANGUAGE),
        ("Nein.", "it", None),
    ],
)
def test_languages_are_told_apart_when_there_is_enough_text(
    make_case: MakeCase, text: str, lang: str, reason: Reason | None
) -> None:
    assert read_text(text, make_case("The person is stubborn, but a promise is a promise.", lang)).reason is reason


def test_close_relatives_are_not_held_against_each_other(make_case: MakeCase) -> None:
    catalan = "La persona que presideix la reunió ha d'obrir les portes abans que arribi el públic."
    assert read_text(catalan, make_case(SOURCE, "es")).reason is None
    assert read_text(catalan, make_case(SOURCE, "de")).reason is Reason.WRONG_LANGUAGE


def test_half_characters_are_replaced_and_flagged(make_case: MakeCase) -> None:
    parsed = read_text("Chi presiede apre \ud83d le porte.", make_case(SOURCE))
    assert parsed.text == "Chi presiede apre \ufffd le porte."
    assert parsed.flags == ("broken-characters",)


@pytest.mark.parametrize(
    ("reply", "text", "flags"),
    [
        ("这个人很固执。", "这个人很固执。", ()),
        ("这个人很固执。\n\n", "这个人很固执。", ()),
        ("<think>stubborn = 固执</think>\n这个人很固执。", "这个人很固执。", ()),
        ("```\n这个人很固执。\n```", "这个人很固执。", ()),
        ("<zh> 这个人很固执。", "这个人很固执。", ("lead-in-removed",)),
        ("译文：这个人很固执。", "这个人很固执。", ("lead-in-removed",)),
        ("Translation:\n这个人很固执。", "这个人很固执。", ("lead-in-removed",)),
        ("**Chinese:** 这个人很固执。", "这个人很固执。", ("lead-in-removed",)),
        ("“这个人很固执。”", "这个人很固执。", ("quotes-removed",)),
        ("这个人说：“我很固执。”", "这个人说：“我很固执。”", ()),
    ],
)
def test_plain_replies(make_case: MakeCase, reply: str, text: str, flags: tuple[str, ...]) -> None:
    parsed = read_reply(Reply(text=reply), make_case("The person is stubborn.", "zh", None), "plain")
    assert (parsed.text, parsed.label, parsed.flags) == (text, None, flags)


@pytest.mark.parametrize(
    "reply",
    [
        "这个人很固执。\n（注：此处译为固执。）",
        "当然可以！\n\n这个人很固执。",
        "这个人很固执。\n\nEnglish: The dog barks.",
    ],
)
def test_talk_around_a_plain_translation_is_not_scored(make_case: MakeCase, reply: str) -> None:
    parsed = read_reply(Reply(text=reply), make_case("The person is stubborn.", "zh", None), "plain")
    assert parsed.reason is Reason.NO_FORM


def test_quotes_of_the_source_stay(make_case: MakeCase) -> None:
    case = make_case('"The person is stubborn."', "zh", None)
    assert read_reply(Reply(text="“这个人很固执。”"), case, "plain").text == "“这个人很固执。”"


def test_a_missing_translation_is_missing(make_case: MakeCase) -> None:
    assert read_text(None, make_case(SOURCE)).reason is Reason.MISSING
    assert read_text("", make_case(SOURCE)).reason is Reason.EMPTY


@pytest.mark.parametrize("text", ["None", "NA", "null", "NaN"])
def test_words_that_look_like_missing_values_are_text(make_case: MakeCase, text: str) -> None:
    assert read_reply(Reply(text=labelled(text)), make_case(text), "labelled").text == text


@given(
    text=st.text(alphabet=st.characters(), max_size=120) | st.none(),
    finish=st.sampled_from(["stop", "length", "content_filter", None]),
    source=st.text(max_size=60),
    lang=st.sampled_from(["it", "el", "zh", "xx", "zh-Hant"]),
)
def test_no_reply_raises_and_each_has_a_text_or_a_reason(
    make_case: MakeCase, text: str | None, finish: str | None, source: str, lang: str
) -> None:
    case = make_case(source, lang)
    for parsed in (
        read_reply(Reply(text=text, finish_reason=finish), case, "labelled"),
        read_reply(Reply(text=text, finish_reason=finish), case, "plain"),
        read_text(text, case),
    ):
        assert (parsed.text is None) == (parsed.reason is not None)
        assert parsed.text is None or parsed.text == as_one_line(parsed.text)
        assert parsed.reason is None or parsed.detail


@pytest.mark.parametrize(
    "hostile",
    [
        "\n" * 90_000,
        "[" * 90_000,
        "<it> **NEUTRAL** [" * 5_000,
        "</think>" * 10_000,
        "<think>" * 10_000,
        "<it> **NEUTRAL** [a]\n" * 4_000,
        "a " * 49_000,
        "sorry " * 15_000,
        "`" * 90_000,
        " " * 90_000 + "x",
    ],
)
def test_hostile_replies_are_read_quickly(make_case: MakeCase, hostile: str) -> None:
    import time

    case = make_case(SOURCE)
    started = time.perf_counter()
    for form in ("labelled", "plain"):
        read_reply(Reply(text=hostile), case, form)
    assert time.perf_counter() - started < 2.0
