"""BLEU and chrF of one translation by sacreBLEU, with the tokenizer that its language needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pytest_gnt.evidence import Quality, Reason, Translation
from pytest_gnt.work import Answer, Context, JsonObject, Work

_CHINESE = frozenset({"zh", "zho", "chi", "cmn", "yue"})
_BY_CHARACTER = frozenset({"ja", "jpn", "ko", "kor", "th", "tha"})


def tokenizer_for(lang: str) -> str:
    """sacreBLEU's tokenizer for a language code: ``zh``, ``char``, or ``13a`` for languages written with spaces.

    Codes of any usual kind are read: ``zh``, ``zh-CN``, ``zho_Hans``, ``cmn``, ``en-zh``.

    Raises:
        ValueError: not a language code; guessing 13a would give Chinese a meaningless score.
    """
    parts = [part for part in re.split(r"[-_]", lang.strip().lower()) if part]
    if not parts or not re.fullmatch(r"[a-z]{2,3}", parts[0]):
        raise ValueError(f"{lang!r} is not a language code")
    if len(parts) == 2 and parts[0] == "en" and parts[1] in _CHINESE | _BY_CHARACTER:
        parts = parts[1:]  # a language pair
    if parts[0] in _CHINESE:
        return "zh"
    return "char" if parts[0] in _BY_CHARACTER else "13a"


class OverlapProvider:
    """Sentence BLEU (effective order, so that short sentences are not zero by rule) and chrF, in points of 100.

    With several references both metrics use all of them, as sacreBLEU does.
    """

    stage = "quality"
    batch_size = 2048

    def __init__(self) -> None:
        self._contexts: dict[str, Context] = {}

    def work(self, subject: Translation) -> Work:
        case = subject.case
        tokenizer = tokenizer_for(case.target_lang)
        if tokenizer not in self._contexts:
            data = {"stage": "quality", "metrics": {name: str(signature) for name, signature in signatures(tokenizer)}}
            self._contexts[tokenizer] = Context(data)
        asked = {"hypothesis": subject.text, "references": list(case.references)}
        return Work(self._contexts[tokenizer], asked, tokenizer)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        for index, work in enumerate(works):
            bleu, chrf = _metrics(work.payload)
            hypothesis, references = work.input["hypothesis"], work.input["references"]
            scores = {
                "bleu": bleu.sentence_score(hypothesis, references).score,
                "chrf": chrf.sentence_score(hypothesis, references).score,
            }
            yield index, Answer({"scores": {name: round(value, 4) for name, value in scores.items()}})

    def read(self, subject: Translation, answer: JsonObject) -> Quality:
        return Quality(case=subject.case, translation=subject, scores=dict(answer["scores"]))

    def close(self) -> None:
        """Nothing is held."""


def quality_without(translation: Translation) -> Quality | None:
    """The quality record of a translation that cannot be scored; None where it can."""
    case = translation.case
    if translation.reason is not None:
        detail = f"no translation: {translation.detail}" if translation.detail else "no translation"
        return Quality(case=case, translation=translation, reason=translation.reason, detail=detail)
    if not any(reference.strip() for reference in case.references):
        return Quality(
            case=case, translation=translation, reason=Reason.NO_REFERENCE, detail="the case has no reference"
        )
    return None


@cache
def _metrics(tokenizer: str) -> tuple[Any, Any]:
    from sacrebleu.metrics import BLEU, CHRF

    return BLEU(tokenize=tokenizer, effective_order=True), CHRF()


@cache
def signatures(tokenizer: str) -> tuple[tuple[str, str], ...]:
    """sacreBLEU's own signature of each metric."""
    bleu, chrf = _metrics(tokenizer)
    # sacreBLEU has no signature before the first score. The number of references differs by case and is left out.
    return tuple((name, _signature(metric)) for name, metric in (("bleu", bleu), ("chrf", chrf)))


def _signature(metric: Any) -> str:
    metric.corpus_score(["a"], [["a"]])
    info: Mapping[str, Any] = metric.get_signature().info
    return "|".join(f"{key}:{value}" for key, value in sorted(info.items()) if key != "nrefs" and value is not None)
