"""BLEU and chrF by sacreBLEU, with the tokenizer that the language needs, and BLEU without the identity's term.

AmbGIMT compares identities by BLEU after the term of the identity has been deleted from translation and reference,
where it was translated correctly: else an identity with a long term, which every system copies whole, would get a
higher BLEU for the same sentence. That score has a name of its own, ``bleu_without_identity``; ``bleu`` leaves the
texts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pytest_gnt.case import Case, Identity
from pytest_gnt.corpora.identities import has_terms, identities_named, terms_digest, without_identity
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Quality, Reason, Translation
from pytest_gnt.work import Answer, Context, JsonObject, Work

BLEU = "bleu"
CHRF = "chrf"
WITHOUT_IDENTITY = "bleu_without_identity"
METRICS = (BLEU, CHRF, WITHOUT_IDENTITY)

ORDERS = 4
"""BLEU counts n-grams of one to four tokens."""

_CHINESE = frozenset({"zh", "zho", "chi", "cmn", "yue"})
_BY_CHARACTER = frozenset({"ja", "jpn", "ko", "kor", "th", "tha"})

_TWO_LETTERS = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_ISO_639_1 = frozenset(_TWO_LETTERS.split())


def tokenizer_for(lang: str) -> str:
    """sacreBLEU's tokenizer for a language code: ``zh``, ``char``, or ``13a`` for languages written with spaces.

    Codes of any usual kind are read: ``zh``, ``zh-CN``, ``zho_Hans``, ``cmn``, ``en-zh``.

    Raises:
        GntError: not a language code; guessing 13a would give Chinese a meaningless score.
    """
    parts = [part for part in re.split(r"[-_]", lang.strip().lower()) if part]
    if not parts or not (parts[0] in _ISO_639_1 or re.fullmatch(r"[a-z]{3}", parts[0])):
        raise GntError(f"{lang!r} is not a language code: give one of ISO 639, such as it or zh.")
    if len(parts) == 2 and parts[0] == "en" and parts[1] in _CHINESE | _BY_CHARACTER:
        parts = parts[1:]  # a language pair
    if parts[0] in _CHINESE:
        return "zh"
    return "char" if parts[0] in _BY_CHARACTER else "13a"


class OverlapProvider:
    """Sentence BLEU (effective order, so that short sentences are not zero by rule) and chrF, in points of 100.

    With several references all metrics use all of them, as sacreBLEU does. A case about an identity also gets
    ``bleu_without_identity`` and, of both kinds of BLEU, the counts that `corpus_bleu` adds up.
    """

    stage = "quality"
    batch_size = 2048

    def __init__(self) -> None:
        self._contexts: dict[tuple[str, str | None], Context] = {}

    def work(self, subject: Translation) -> Work:
        case = subject.case
        tokenizer = tokenizer_for(case.target_lang)
        asked = {"hypothesis": subject.text, "references": list(case.references)}
        if case.identity is not None:
            asked |= {"identity": str(case.identity), "lang": case.target_lang}
        return Work(self._context(tokenizer, None if case.identity is None else case.target_lang), asked, tokenizer)

    def _context(self, tokenizer: str, lang: str | None) -> Context:
        """What scores depend on: the metrics, and the terms of the language where identities are compared."""
        key = tokenizer, lang
        if key not in self._contexts:
            metrics = {name: str(signature) for name, signature in signatures(tokenizer)}
            terms = {} if lang is None else {"terms": terms_digest([lang])}
            self._contexts[key] = Context({"stage": "quality", "metrics": metrics, **terms})
        return self._contexts[key]

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        for index, work in enumerate(works):
            yield index, Answer(_scored(work.payload, work.input))

    def read(self, subject: Translation, answer: JsonObject) -> Quality:
        statistics = {name: tuple(counts) for name, counts in answer.get("statistics", {}).items()}
        return Quality(case=subject.case, translation=subject, scores=dict(answer["scores"]), statistics=statistics)

    def close(self) -> None:
        """Nothing is held."""


def _scored(tokenizer: str, asked: JsonObject) -> dict[str, Any]:
    bleu, chrf = _metrics(tokenizer)
    hypothesis, references = asked["hypothesis"], asked["references"]
    found = {BLEU: bleu.sentence_score(hypothesis, references)}
    scores = {BLEU: found[BLEU].score, CHRF: chrf.sentence_score(hypothesis, references).score}
    if "identity" in asked:
        bare = without_kept_identity(hypothesis, references, Identity(asked["identity"]), asked["lang"])
        if bare is not None:
            found[WITHOUT_IDENTITY] = bleu.sentence_score(*bare)
            scores[WITHOUT_IDENTITY] = found[WITHOUT_IDENTITY].score
    answer: dict[str, Any] = {"scores": {name: round(value, 4) for name, value in scores.items()}}
    if "identity" in asked:
        answer["statistics"] = {name: _statistics(score) for name, score in found.items()}
    return answer


def without_kept_identity(
    hypothesis: str, references: Sequence[str], identity: Identity, lang: str
) -> tuple[str, list[str]] | None:
    """Translation and references as they are compared: without the identity's terms where the translation has it.

    The term was translated correctly where the translation names the identity; then every mention of it is deleted
    from both sides alike, whichever of its terms they use. Else nothing is: a lost or wrong term costs its n-grams. A
    reference that names no identity (12 blocks of AmbGIMT have such) loses nothing.

    Returns:
        None where the language's terms are not known, or nothing is left to compare on either side.
    """
    if not has_terms(lang):
        return None
    if identity in identities_named(hypothesis, lang):
        hypothesis = without_identity(hypothesis, identity, lang)
        references = [without_identity(reference, identity, lang) for reference in references]
    if not hypothesis.strip() and not any(reference.strip() for reference in references):
        return None
    return hypothesis, list(references)


def _statistics(score: Any) -> list[int]:
    """Lengths of translation and reference in tokens, then matching and all n-grams by order."""
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def corpus_bleu(statistics: Iterable[int]) -> float | None:
    """Corpus BLEU from the added-up counts of its sentences, as sacreBLEU's ``corpus_score`` gives it by default.

    Papineni et al. 2002; exponential smoothing, no effective order, as sacreBLEU has it for a corpus.

    Returns:
        Points of 100; None without a token in the references.
    """
    from sacrebleu.metrics import BLEU as Metric

    length, reference_length, *counts = map(int, statistics)
    if not reference_length:
        return None
    score = Metric.compute_bleu(
        counts[:ORDERS], counts[ORDERS:], length, reference_length, smooth_method="exp", effective_order=False
    )
    return float(score.score)


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
    from sacrebleu.metrics import BLEU as Metric
    from sacrebleu.metrics import CHRF as CharacterMetric

    return Metric(tokenize=tokenizer, effective_order=True), CharacterMetric()


@cache
def signatures(tokenizer: str) -> tuple[tuple[str, str], ...]:
    """sacreBLEU's own signature of each metric."""
    bleu, chrf = _metrics(tokenizer)
    return tuple((name, _signature(metric)) for name, metric in ((BLEU, bleu), (CHRF, chrf)))


def corpus_signature(tokenizer: str) -> str:
    """sacreBLEU's short signature of `corpus_bleu`, without the number of references, which differs by case."""
    from sacrebleu.metrics import BLEU as Metric

    return _short_signature(Metric(tokenize=tokenizer))


def part_of_signature(cases: Iterable[Case]) -> str:
    """What the scores of these cases depend on: sacreBLEU's short signatures, and the hash of the identity terms.

    Several tokenizers are joined: ``bleu@c:mixed/e:yes/tok:13a+zh/s:exp/v:2.6.0``.

    Raises:
        ValueError: a target language is no language code.
    """
    kinds = sorted({(case.target_lang, case.identity is not None) for case in cases})
    tokenizers = sorted({tokenizer_for(lang) for lang, _ in kinds}) or ["13a"]
    bleu, chrf = (_short_signature(metric).replace("|", "/") for metric in _metrics(tokenizers[0]))
    bleu = bleu.replace(f"tok:{tokenizers[0]}", f"tok:{'+'.join(tokenizers)}")
    about = [lang for lang, identities in kinds if identities]
    terms = [f"{WITHOUT_IDENTITY}@{terms_digest(about)}"] if about else []
    return ",".join([f"{BLEU}@{bleu}", f"{CHRF}@{chrf}", *terms])


def _signature(metric: Any) -> str:
    return "|".join(f"{key}:{value}" for key, value in sorted(_info(metric).items()) if value is not None)


def _short_signature(metric: Any) -> str:
    _info(metric)
    text: str = metric.get_signature().format(short=True)
    return text.partition("|")[2]  # the first part is the number of references


def _info(metric: Any) -> Mapping[str, Any]:
    # sacreBLEU has no signature before the first score. The number of references differs by case and is left out.
    metric.corpus_score(["a"], [["a"]])
    info: Mapping[str, Any] = metric.get_signature().info
    return {key: value for key, value in info.items() if key != "nrefs"}
