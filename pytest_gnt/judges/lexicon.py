"""The offline judge: decides from a lexicon and agreement rules, in under a millisecond a sentence, always the same.

Its task and labels are those of the LLM judge (Piergentili et al. 2025, setting Cross+P+L): phrases that refer to
people with M, F or N and whether that agrees with the source, then one label. docs/lexicon-judge.md says how it
decides and how often it is right; `shipped_accuracy` gives these figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_gnt.evidence import JudgedLabel, Judgement, Phrase, PhraseGender, Reason, Translation
from pytest_gnt.judges.lexicon_data import DATA, LANGUAGES, lexicon_hash
from pytest_gnt.judges.lexicon_verdict import Verdict, judge_text
from pytest_gnt.work import Answer, Context, JsonObject, Work

VERSION = 1
"""Version of the rules: raised by every change that can change a verdict, so that no stored verdict is reused."""

ACCURACY_FILE = DATA / "lexicon_accuracy.json"


class LexiconJudge:
    """Judges translations into Italian, Spanish, German and Greek without any model (a `Provider`)."""

    stage = "judge"
    batch_size = 512
    name = "lexicon"

    def __init__(self) -> None:
        self.context = Context({"stage": self.stage, "judge": self.name, "version": VERSION, "lexicon": lexicon_hash()})

    @staticmethod
    def supports(lang: str) -> bool:
        """Whether there are a lexicon and rules for a target language (ISO 639-1 code)."""
        return lang in LANGUAGES

    def work(self, subject: Translation) -> Work:
        """What the verdict depends on: language, source, translation, stated gender, gendered words of the reference.

        Raises:
            ValueError: the translation has a reason instead of a text; such a one is never judged.
        """
        if subject.reason is not None or subject.text is None:
            raise ValueError(f"{subject.case.id}: there is no translation to judge ({subject.reason})")
        case = subject.case
        return Work(
            self.context,
            {
                "lang": case.target_lang,
                "source": case.source,
                "translation": subject.text,
                "gender": case.gender.value if case.gender else None,
                "gendered_words": list(case.gendered_words),
            },
        )

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """Judge each piece of work by itself, in order."""
        for index, work in enumerate(works):
            yield index, Answer(_answer(work.input))

    def read(self, subject: Translation, answer: JsonObject) -> Judgement:
        """Build the judgement; an answer that has not the form of this judge becomes `Reason.INVALID`."""
        raw = json.dumps(answer, ensure_ascii=False, sort_keys=True)
        try:
            verdict = _verdict(answer)
        except (KeyError, TypeError, ValueError) as error:
            verdict = Verdict(reason=Reason.INVALID, detail=f"The stored verdict cannot be read ({error}).")
        return Judgement(
            case=subject.case,
            translation=subject,
            phrases=verdict.phrases,
            label=verdict.label,
            raw=raw,
            reason=verdict.reason,
            detail=verdict.detail,
            flags=verdict.flags,
        )

    def close(self) -> None:
        """Nothing is held open."""


def _answer(data: JsonObject) -> dict[str, Any]:
    lang = data["lang"]
    if not LexiconJudge.supports(lang):
        known = ", ".join(LANGUAGES)
        detail = f"The lexicon judge knows {known}, not {lang!r}: choose another judge."
        return _as_json(Verdict(reason=Reason.UNSUPPORTED_LANGUAGE, detail=detail))
    return _as_json(
        judge_text(lang, data["source"], data["translation"], data["gender"], tuple(data["gendered_words"]))
    )


def _as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "phrases": [
            {"text": p.text, "gender": p.gender, "correct": p.correct, "note": p.note} for p in verdict.phrases
        ],
        "label": verdict.label.value if verdict.label else None,
        "reason": verdict.reason.value if verdict.reason else None,
        "detail": verdict.detail,
        "flags": list(verdict.flags),
    }


def _verdict(answer: JsonObject) -> Verdict:
    label = JudgedLabel(answer["label"]) if answer["label"] is not None else None
    reason = Reason(answer["reason"]) if answer["reason"] is not None else None
    if (label is None) == (reason is None):
        raise ValueError("exactly one of label and reason must be set")
    phrases = tuple(_phrase(phrase) for phrase in answer["phrases"])
    return Verdict(phrases, label, reason, str(answer["detail"]), tuple(map(str, answer.get("flags", ()))))


def _phrase(data: Mapping[str, Any]) -> Phrase:
    genders: dict[str, PhraseGender] = {"M": "M", "F": "F", "N": "N"}
    correct = data["correct"]
    if not isinstance(correct, bool | None):
        raise TypeError(f"correct: {correct!r}")
    return Phrase(str(data["text"]), genders[data["gender"]], correct, str(data["note"]))


@lru_cache(maxsize=1)
def shipped_accuracy() -> Mapping[str, Any]:
    """The measured accuracy of this judge, as ``benchmarks/judge_accuracy.py`` wrote it.

    Keys: ``lexicon`` (hash of the data files measured), ``version``, and ``gold``: a list of results with ``name``,
    ``split`` (``tuning`` or ``held-out``), ``lang``, ``n``, ``skipped``, ``accuracy``, ``macro_f1`` and ``confusion``.
    Empty where the file is not installed.
    """
    try:
        loaded: Mapping[str, Any] = json.loads(ACCURACY_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return loaded
