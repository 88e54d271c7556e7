"""The lexicon judge as a provider: what it depends on, what it answers, what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_gnt.case import Case, Gender, Subset
from pytest_gnt.evidence import JudgedLabel, Judgement, Phrase, Reason, Translation
from pytest_gnt.judges.lexicon import LexiconJudge
from pytest_gnt.judges.lexicon_data import LANGUAGES, lexicon_hash
from pytest_gnt.work import Provider, canonical_json


def a_case(**changes: Any) -> Case:
    base = Case(
        id="t/en-it/1", corpus="t", subset=Subset.SET_N, target_lang="it", source="Teachers vote.", group="t/en-it/1"
    )
    return replace(base, **changes)


def a_translation(text: str | None = "Gli insegnanti votano.", case: Case | None = None, **changes: Any) -> Translation:
    return Translation(case=case or a_case(), text=text, raw=text or "", **changes)


def judge_one(subject: Translation) -> Judgement:
    judge: Provider[Translation, Judgement] = LexiconJudge()
    ((index, answer),) = judge.run([judge.work(subject)])
    assert index == 0
    assert answer.keep
    return judge.read(subject, json.loads(canonical_json(answer.value)))


def test_a_verdict_goes_through_the_store_unchanged() -> None:
    subject = a_translation()
    judgement = judge_one(subject)
    assert judgement.label is JudgedLabel.WRONGLY_GENDERED
    assert judgement.reason is None
    assert judgement.translation is subject
    (phrase,) = judgement.phrases
    assert (phrase.text, phrase.gender, phrase.correct) == ("Gli insegnanti", "M", False)
    assert "“gli” decides" in phrase.note
    assert "the source gives no gender" in phrase.note
    assert json.loads(judgement.raw)["label"] == "WRONGLY GENDERED"


def test_work_depends_on_what_the_verdict_depends_on_and_on_nothing_else() -> None:
    judge = LexiconJudge()
    work = judge.work(a_translation())
    assert work.context.data == {"stage": "judge", "judge": "lexicon", "version": 1, "lexicon": lexicon_hash()}
    assert judge.work(a_translation(case=a_case(id="t/en-it/2", group="x", references=("r",)))).key == work.key
    others = [
        a_translation("Il personale docente vota."),
        a_translation(case=a_case(source="The teachers vote.")),
        a_translation(case=a_case(target_lang="es")),
        a_translation(case=a_case(gender=Gender.M, subset=Subset.SET_G)),
        a_translation(case=a_case(gendered_words=("insegnanti",))),
    ]
    assert len({judge.work(other).key for other in [*others, a_translation()]}) == len(others) + 1


@pytest.mark.parametrize("reason", [Reason.EMPTY, Reason.REFUSAL, Reason.WRONG_LANGUAGE])
def test_a_translation_with_a_reason_is_never_judged(reason: Reason) -> None:
    with pytest.raises(ValueError, match="no translation to judge"):
        LexiconJudge().work(a_translation(None, reason=reason))


def test_another_language_is_unscored_with_advice() -> None:
    judgement = judge_one(a_translation("这个人很固执。", a_case(target_lang="zh")))
    assert (judgement.label, judgement.reason) == (None, Reason.UNSUPPORTED_LANGUAGE)
    assert "it, es, de, el" in judgement.detail
    assert not LexiconJudge.supports("zh")
    assert all(LexiconJudge.supports(lang) for lang in LANGUAGES)


def test_order_and_size_of_a_batch_change_nothing() -> None:
    judge = LexiconJudge()
    texts = ["Gli insegnanti votano.", "Il personale vota.", "La signora vota.", "È una questione politica."]
    works = [judge.work(a_translation(text)) for text in texts]
    together = dict(judge.run(works))
    backwards = dict(judge.run(works[::-1]))
    alone = [next(judge.run([work]))[1] for work in works]
    assert [together[i] for i in range(4)] == [backwards[3 - i] for i in range(4)] == alone


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"phrases": [], "label": None, "reason": None, "detail": ""},
        {"phrases": [], "label": "NEUTRAL", "reason": "undecided", "detail": ""},
        {"phrases": [], "label": "neutral", "reason": None, "detail": ""},
        {
            "phrases": [{"text": "x", "gender": "X", "correct": True, "note": ""}],
            "label": "NEUTRAL",
            "reason": None,
            "detail": "",
        },
        {
            "phrases": [{"text": "x", "gender": "N", "correct": "yes", "note": ""}],
            "label": "NEUTRAL",
            "reason": None,
            "detail": "",
        },
        {"phrases": 3, "label": "NEUTRAL", "reason": None, "detail": ""},
    ],
)
def test_a_damaged_stored_answer_is_invalid_never_neutral(answer: dict[str, Any]) -> None:
    judgement = LexiconJudge().read(a_translation(), answer)
    assert (judgement.label, judgement.reason) == (None, Reason.INVALID)


def test_a_stated_gender_makes_agreeing_phrases_correct() -> None:
    case = a_case(gender=Gender.F, subset=Subset.SET_G, source="The teacher votes.")
    assert judge_one(a_translation("La maestra vota.", case)).label is JudgedLabel.CORRECTLY_GENDERED
    assert judge_one(a_translation("Il maestro vota.", case)).label is JudgedLabel.WRONGLY_GENDERED
    assert judge_one(a_translation("Chi insegna vota.", case)).label is JudgedLabel.NEUTRAL


def test_a_cue_for_one_person_does_not_excuse_a_plural() -> None:
    case = a_case(source="Mr Rossi thanked the teachers.")
    judgement = judge_one(a_translation("Il signor Rossi ha ringraziato gli insegnanti.", case))
    assert [(p.text, p.correct) for p in judgement.phrases] == [("Il signor Rossi", True), ("gli insegnanti", False)]
    assert judgement.label is JudgedLabel.WRONGLY_GENDERED


def test_a_role_in_man_is_no_cue() -> None:
    case = a_case(source="An Italian policeman was there.")
    assert judge_one(a_translation("C'era un poliziotto.", case)).label is JudgedLabel.WRONGLY_GENDERED


def test_phrases_without_gender_are_reported_too() -> None:
    judgement = judge_one(a_translation("Ogni persona interessata ringrazia chi lavora."))
    assert [p.text for p in judgement.phrases] == ["Ogni persona interessata", "chi"]
    assert {p.gender for p in judgement.phrases} == {"N"}
    assert all(isinstance(p, Phrase) and p.correct for p in judgement.phrases)
