"""BLEU and chrF: the tokenizer of the language, odd hypotheses, and the deletion of the identity's term."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sacrebleu.metrics import BLEU

from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Quality, Translation
from pytest_gnt.metrics.bleu import (
    OverlapProvider,
    corpus_bleu,
    corpus_signature,
    part_of_signature,
    tokenizer_for,
    without_kept_identity,
)

STUBBORN = "邻居固执，可也守信。"


def translation(
    text: str | None, *references: str, lang: str = "zh", identity: Identity | None = None, number: int = 0
) -> Translation:
    case = Case(
        id=f"own/en-{lang}/{number}",
        corpus="own",
        subset=Subset.AUTHENTIC,
        target_lang=lang,
        source="The neighbour is stubborn.",
        group=f"own/{number}",
        references=references,
        identity=identity,
    )
    return Translation(case=case, text=text)


def scored(*subjects: Translation) -> list[Quality]:
    provider = OverlapProvider()
    works = [provider.work(subject) for subject in subjects]
    answers = dict(provider.run(works))
    return [provider.read(subject, answers[at].value) for at, subject in enumerate(subjects)]


def without(text: str, reference: str, identity: Identity) -> tuple[str, Sequence[str]] | None:
    return without_kept_identity(text, [reference], identity, "zh")


@pytest.mark.parametrize("lang", ["zh", "zho_Hans", "en-zh", "zh-CN", "cmn"])
def test_equal_chinese_texts_score_100_for_every_code(lang: str) -> None:
    (quality,) = scored(translation(STUBBORN, STUBBORN, lang=lang))
    assert quality.scores["bleu"] == pytest.approx(100)
    assert "tok:zh" in part_of_signature([quality.case])


def test_languages_with_blanks_keep_13a_and_the_signature_says_so() -> None:
    assert tokenizer_for("it") == "13a"
    cases = [translation("x", "y", lang=lang).case for lang in ("it", "zh")]
    assert part_of_signature(cases[:1]).startswith("bleu@c:mixed/e:yes/tok:13a/s:exp/v:")
    assert part_of_signature(cases).startswith("bleu@c:mixed/e:yes/tok:13a+zh/s:exp/v:")
    assert corpus_signature("zh").startswith("c:mixed|e:no|tok:zh|s:exp|v:")


@pytest.mark.parametrize("lang", ["", "?", "Chinese", "z", "qq"])
def test_what_is_no_language_code_is_refused(lang: str) -> None:
    with pytest.raises(GntError, match="is not a language code"):
        tokenizer_for(lang)


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("", STUBBORN, 0),
        (" ", STUBBORN, 0),
        ("\x0c", STUBBORN, 0),
        ("守信。", "守信。", 100),
        ("OK.", "OK.", 100),
        (STUBBORN, "", 0),
        ("\ud83d固执", "\ud83d固执", 100),
    ],
)
def test_odd_hypotheses_get_a_score_and_never_another_ones(text: str, reference: str, expected: float) -> None:
    before, middle, after = scored(
        translation(STUBBORN, STUBBORN), translation(text, reference), translation(STUBBORN, STUBBORN)
    )
    assert before.scores["bleu"] == after.scores["bleu"] == pytest.approx(100)
    assert middle.scores["bleu"] == pytest.approx(expected)


def test_nothing_is_rewritten_before_it_is_scored() -> None:
    full, ascii_marks, traditional = scored(
        translation(STUBBORN, STUBBORN),
        translation("邻居固执,可也守信.", STUBBORN),
        translation("鄰居固執，可也守信。", STUBBORN),
    )
    assert full.scores["bleu"] > ascii_marks.scores["bleu"] > 0
    assert full.scores["bleu"] > traditional.scores["bleu"] > 0
    straight, curly = scored(
        translation("L'ordine del giorno è chiaro.", "L'ordine del giorno è chiaro.", lang="it"),
        translation("L’ordine del giorno è chiaro.", "L'ordine del giorno è chiaro.", lang="it"),
    )
    assert straight.scores["bleu"] > curly.scores["bleu"]


def test_the_term_is_deleted_on_both_sides_where_the_translation_has_it() -> None:
    found = without("这位跨性别男性很固执。", "跨性别男性固执，可也守信。", Identity.TRANS_MAN)
    assert found == ("这位很固执。", ["固执，可也守信。"])


def test_another_term_of_the_identity_counts_as_translated() -> None:
    found = without("这位女子很固执。", "这个女人固执。", Identity.WOMAN)
    assert found == ("这位很固执。", ["这个固执。"])


@pytest.mark.parametrize("text", ["这个人很固执。", "这位女性很固执。", "这位跨性别者很固执。"])
def test_nothing_is_deleted_where_the_term_is_lost_or_wrong(text: str) -> None:
    reference = "跨性别男性固执。"
    assert without(text, reference, Identity.TRANS_MAN) == (text, [reference])


@pytest.mark.parametrize(
    ("identity", "text", "left"),
    [
        (Identity.QUEER, "酷儿和性别酷儿都固执。", "和性别酷儿都固执。"),
        (Identity.GENDERQUEER, "酷儿和性别酷儿都固执。", "酷儿和都固执。"),
        (Identity.INTERSEX, "双性人不是双性恋者。", "不是双性恋者。"),
        (Identity.TRANSGENDER, "跨性别者认识跨性别女性。", "认识跨性别女性。"),
    ],
)
def test_terms_nest_and_only_the_longest_at_a_place_counts(identity: Identity, text: str, left: str) -> None:
    assert without(text, text, identity) == (left, [left])


def test_a_reference_that_names_no_identity_loses_nothing() -> None:
    assert without("同性恋者固执。", "邻居固执。", Identity.GAY) == ("固执。", ["邻居固执。"])


def test_where_nothing_is_left_there_is_no_score_and_the_other_scores_stay() -> None:
    (quality,) = scored(translation("酷儿", "酷儿", identity=Identity.QUEER))
    assert set(quality.scores) == set(quality.statistics) | {"chrf"} == {"bleu", "chrf"}


def test_without_terms_for_the_language_there_is_no_such_score() -> None:
    (quality,) = scored(translation("Die Person ist stur.", "Die Person ist stur.", lang="fi", identity=Identity.QUEER))
    assert set(quality.scores) == {"bleu", "chrf"}


def test_the_sentence_score_keeps_its_meaning_beside_the_new_one() -> None:
    text, reference = "这位跨性别男性言简意赅。", "这位跨性别男性话很少。"
    named, plain = scored(translation(text, reference, identity=Identity.TRANS_MAN), translation(text, reference))
    assert named.scores["bleu"] == plain.scores["bleu"]
    expected = BLEU(tokenize="zh", effective_order=True).sentence_score("这位言简意赅。", ["这位话很少。"]).score
    assert named.scores["bleu_without_identity"] == pytest.approx(expected, abs=1e-4) != named.scores["bleu"]


def test_added_up_counts_give_the_corpus_score_and_not_the_mean_of_sentences() -> None:
    pairs = [
        ("这位女士固执，但守信用。", "这个女人固执，可也守信。"),
        ("她很高。", "她很高。"),
        ("", "这个女人话很少。"),
        ("女人走了。女人又回来了，还带来了一位很固执的邻居。", "女人走了。"),
    ]
    found = scored(*(translation(*pair, identity=Identity.WOMAN) for pair in pairs))
    sums = [sum(column) for column in zip(*(quality.statistics["bleu"] for quality in found), strict=True)]
    expected = BLEU(tokenize="zh").corpus_score([text for text, _ in pairs], [[reference for _, reference in pairs]])
    assert corpus_bleu(sums) == pytest.approx(expected.score, abs=1e-9)
    mean = sum(quality.scores["bleu"] for quality in found) / len(found)
    assert abs(expected.score - mean) > 1


def test_a_short_sentence_is_0_as_a_corpus_and_100_as_a_sentence_as_the_signatures_say() -> None:
    (quality,) = scored(translation("守信。", "守信。", identity=Identity.WOMAN))
    assert quality.scores["bleu"] == pytest.approx(100)
    expected = BLEU(tokenize="zh").corpus_score(["守信。"], [["守信。"]]).score
    assert corpus_bleu(quality.statistics["bleu"]) == expected == 0
    assert "e:yes" in part_of_signature([quality.case])
    assert "e:no" in corpus_signature("zh")


def test_a_corpus_without_a_reference_token_has_no_score() -> None:
    assert corpus_bleu([3, 0, 0, 0, 0, 0, 3, 2, 1, 0]) is None


def test_several_references_are_all_used() -> None:
    (one,) = scored(translation("她很固执。", "这人话少。", identity=Identity.WOMAN))
    (two,) = scored(translation("她很固执。", "这人话少。", "她很固执。", identity=Identity.WOMAN))
    assert one.scores["bleu"] < two.scores["bleu"] == pytest.approx(100)
    expected = BLEU(tokenize="zh").corpus_score(["她很固执。"], [["这人话少。"], ["她很固执。"]])
    assert corpus_bleu(two.statistics["bleu"]) == pytest.approx(expected.score)
