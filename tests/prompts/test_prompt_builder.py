"""Prompts as they reach a model: which parts they have, and that data in them stay data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import get_args

import pytest

from pytest_gnt.case import Case, Form, Identity
from pytest_gnt.corpora.identities import identity_terms
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.errors import GntError
from pytest_gnt.prompts.builder import PromptBuilder, reply_regex
from pytest_gnt.prompts.config import Configuration, PromptConfig, ShotCount
from pytest_gnt.prompts.form import read_form
from pytest_gnt.prompts.reply import read_reply
from pytest_gnt.prompts.shipped import GUIDELINE_LANGS, ShippedWording, glossary

MakeCase = Callable[..., Case]
LABELLED = sorted(GUIDELINE_LANGS)
PLAIN = ["de", "el", "es", "fr", "it", "ru", "zh"]
HOSTILE = [
    "Set A = {1, 2}; pay {amount} to the holder of {0}.",
    "a } alone",
    "50% of {{all}}",
    "{% raw %}{{ source }}{# no comment #}",
    "$name and ${name}",
    "He said \"no\" and 'yes' \\n \\",
    "<en> **NEUTRAL** [x]",
    "one\ntwo\u2028three",
]


def roles(builder: PromptBuilder, lang: str, *, labelled: bool) -> list[str]:
    return [message.role for message in builder.build_prefix(lang, labelled=labelled)]


@pytest.mark.parametrize("lang", LABELLED)
@pytest.mark.parametrize("shots", get_args(ShotCount))
@pytest.mark.parametrize("configuration", get_args(Configuration))
def test_each_configuration_has_its_parts(
    make_case: MakeCase, lang: str, shots: ShotCount, configuration: Configuration
) -> None:
    builder = PromptBuilder(PromptConfig(configuration=configuration, shots=shots))
    case = make_case("The doors open.", lang)
    turns = [*builder.build_prefix(lang, labelled=True), builder.user_turn(case)]
    whole = "\n".join(turn if isinstance(turn, str) else turn.content for turn in turns)
    assert ("professional translator" in whole) == ("S" in configuration)
    assert ("translate neutrally" in whole) == ("G" in configuration)
    assert "Translate English sentences" in whole
    system = ["system"] if "S" in configuration else []
    assert roles(builder, lang, labelled=True) == system + ["user", "assistant"] * shots
    labels = re.findall(r"^<\w\w> \*\*(\w+)\*\* \[(?!translation)", whole, re.MULTILINE)
    assert labels == ["GENDERED"] * (shots // 2) + ["NEUTRAL"] * (shots // 2)
    assert whole.endswith("<en> The doors open.")


@pytest.mark.parametrize("source", HOSTILE)
@pytest.mark.parametrize("expected", [Form.NEUTRAL, None])
@pytest.mark.parametrize("shots", [0, 4])
def test_sentences_arrive_byte_for_byte(
    make_case: MakeCase, source: str, expected: Form | None, shots: ShotCount
) -> None:
    builder = PromptBuilder(PromptConfig(shots=shots))
    turn = builder.user_turn(make_case(source, "it", expected))
    neighbour = builder.user_turn(make_case("@@", "it", expected))
    before, after = neighbour.split("@@")
    assert turn == before + source + after


@pytest.mark.parametrize("labelled", [True, False])
def test_the_prefix_is_one_object_for_all_cases(labelled: bool) -> None:
    builder = PromptBuilder(PromptConfig())
    assert builder.build_prefix("it", labelled=labelled) is builder.build_prefix("it", labelled=labelled)


@pytest.mark.parametrize("lang", LABELLED)
def test_the_examples_are_what_a_reader_of_replies_accepts(make_case: MakeCase, lang: str) -> None:
    config = PromptConfig(configuration="G+S", shots=4)
    for shot in ShippedWording().parts(lang, config, labelled=True).shots:
        parsed = read_reply(Reply(text=shot.assistant), make_case(shot.source, lang), "labelled")
        assert (parsed.reason, parsed.flags) == (None, ())
        assert parsed.label == (Form.NEUTRAL if shot.type == "neutral" else Form.GENDERED)
        assert re.fullmatch(reply_regex(lang, labelled=True), shot.assistant)


@pytest.mark.parametrize("lang", PLAIN)
def test_the_plain_examples_are_what_a_reader_of_replies_accepts(make_case: MakeCase, lang: str) -> None:
    for shot in ShippedWording().parts(lang, PromptConfig(), labelled=False).shots:
        parsed = read_reply(Reply(text=shot.assistant), make_case(shot.source, lang, None), "plain")
        assert (parsed.text, parsed.reason, parsed.flags) == (shot.assistant, None, ())
        assert re.fullmatch(reply_regex(lang, labelled=False), shot.assistant)


def test_there_is_a_spare_example_of_each_kind() -> None:
    for lang in LABELLED:
        types = [shot.type for shot in ShippedWording().parts(lang, PromptConfig(), labelled=True).shots]
        assert types == ["gendered"] * 3 + ["neutral"] * 3
    for lang in PLAIN:
        assert len(ShippedWording().parts(lang, PromptConfig(), labelled=False).shots) == 5


def test_evaluated_sentences_are_not_shown_as_examples() -> None:
    shown = PromptBuilder(PromptConfig(shots=4)).shots_for("it", labelled=True)
    builder = PromptBuilder(PromptConfig(shots=4), exclude_sources=[shown[0].source.upper() + " "])
    now = builder.shots_for("it", labelled=True)
    assert [shot.type for shot in now] == ["gendered", "gendered", "neutral", "neutral"]
    assert shown[0] not in now
    assert now[0] == shown[1]
    assert any("left out" in note for note in builder.notes)


def test_too_few_examples_are_said() -> None:
    builder = PromptBuilder(PromptConfig(shots=4))
    assert builder.shots_for("pl", labelled=True) == ()
    assert builder.notes == ("0 of 4 examples in prompts for Polish: no more exist",)
    assert roles(builder, "pl", labelled=True) == []
    assert roles(builder, "pl", labelled=False) == []


def test_languages_without_guidelines_of_their_own_get_the_generic_ones(make_case: MakeCase) -> None:
    builder = PromptBuilder(PromptConfig(configuration="G", shots=0))
    turn = builder.user_turn(make_case("The doors open.", "fr"))
    assert "How to translate neutrally into French" in turn
    assert "many languages" in turn


@pytest.mark.parametrize("lang", PLAIN)
def test_the_glossary_names_every_identity(lang: str) -> None:
    assert list(glossary(lang)) == [identity.value for identity in Identity]
    assert all(term.strip() == term and term for term in glossary(lang).values())


def test_the_chinese_glossary_has_terms_that_are_recognised_later() -> None:
    for identity in Identity:
        assert glossary("zh")[identity.value] in identity_terms(identity, "zh")


def test_constraints_of_ambgimt(make_case: MakeCase) -> None:
    case = make_case("The person is stubborn.", "zh", None)
    turns = {
        name: PromptBuilder(PromptConfig(shots=0, constraint=name)).user_turn(case)
        for name in ("none", "moral", "lexical", "moral+lexical")
    }
    assert {name: "same respect" in turn for name, turn in turns.items()} == {
        "none": False,
        "moral": True,
        "lexical": False,
        "moral+lexical": True,
    }
    assert {name: "trans woman = 跨性别女性" in turn for name, turn in turns.items()} == {
        "none": False,
        "moral": False,
        "lexical": True,
        "moral+lexical": True,
    }
    assert all(turn.endswith("English: The person is stubborn.\nChinese:") for turn in turns.values())


def test_a_missing_glossary_is_said() -> None:
    builder = PromptBuilder(PromptConfig(constraint="lexical"))
    with pytest.raises(GntError, match="there is none for Polish"):
        builder.build_prefix("pl", labelled=False)


@pytest.mark.parametrize(
    "wrong", [{"configuration": "S+G"}, {"shots": 3}, {"constraint": "strict"}, {"configuration": None}]
)
def test_values_outside_the_lists_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(GntError, match="choose one of"):
        PromptConfig(**wrong)  # type: ignore[arg-type]


def test_fingerprints_tell_prompts_apart() -> None:
    prints = {
        PromptBuilder(PromptConfig(configuration=configuration, shots=shots), exclude_sources=exclude).fingerprint(
            langs, labelled=labelled
        )
        for configuration in ("none", "G+S")
        for shots in (0, 4)
        for exclude in ([], ["I am convinced that every worker deserves safe conditions."])
        for langs in (["it"], ["it", "es"])
        for labelled in (True, False)
    }
    # Leaving an example out matters only where examples with labels are shown.
    labelled, plain = 2 * 2 * (1 + 2), 2 * 2 * 2
    assert len(prints) == labelled + plain
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in prints)


def test_a_fingerprint_does_not_depend_on_the_order_of_languages() -> None:
    builder = PromptBuilder(PromptConfig())
    assert builder.fingerprint(["it", "de"], labelled=True) == builder.fingerprint(["de", "it", "de"], labelled=True)


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ("<it> **NEUTRAL** [La relazione [fasc. 12/C] va approvata.]", True),
        ("<it> **NEUTRAL** [Vedi [1], [2] e [3].]", True),
        ("<it> **NEUTRAL** [a]", True),
        ("<it> **NEUTRAL** []", False),
        ("<it> **neutral** [a]", False),
        ("<es> **NEUTRAL** [a]", False),
        ("<it> **NEUTRAL** [a] b", False),
        ("<it> **NEUTRAL** [a\nb]", False),
        ("<it> **NEUTRAL** [a", False),
    ],
)
def test_the_bound_form_is_what_the_reader_reads(reply: str, fits: bool) -> None:
    assert bool(re.fullmatch(reply_regex("it", labelled=True), reply)) is fits
    if fits:
        assert read_form(reply, "it").label is Form.NEUTRAL


def test_a_plain_reply_is_bound_to_one_line() -> None:
    pattern = reply_regex("zh", labelled=False)
    assert re.fullmatch(pattern, "这个人很固执。")
    assert re.fullmatch(pattern, "这个人很固执。\n\n")
    assert not re.fullmatch(pattern, "这个人很固执。\n（注）")
    assert not re.fullmatch(pattern, "  ")
