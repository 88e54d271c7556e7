"""Case records and entries for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gnt.verdicts.baseline import Baseline, new_baseline
from pytest_gnt.verdicts.entry import Entry, digest_of
from pytest_gnt.verdicts.results import CaseResult, Outcome, TestResult

SIGNATURE = "gnt:0.1.0|corpus:mgente@ab12|model:m@1|prompt:p1|decoding:greedy|judge:lexicon@1|quality:chrf@2|seed:0"
TEST = "test_neutral"


def outcome(text: str) -> TestResult:
    """``passed``, ``failed`` or an unscored reason."""
    if text in ("passed", "failed"):
        return TestResult(Outcome(text))
    return TestResult(Outcome.UNSCORED, text)


def entry(number: int | str, result: str = "passed", **other: Any) -> Entry:
    """A Set-N case in Italian with one test; the judged label follows from the result."""
    key = f"mgente/en-it/{number}"
    labels = {"passed": "NEUTRAL", "failed": "WRONGLY GENDERED"}
    values: dict[str, Any] = {
        "id": key,
        "lang": "it",
        "subset": "Set-N",
        "group": key,
        "source_digest": digest_of(f"Sentence {number}."),
        "expected": "NEUTRAL",
        "tests": {TEST: outcome(result)},
        "text": f"Frase {number}.",
        "judged": labels.get(result),
        "why": {} if result in labels else {"judgement": result},
    }
    return Entry(**values | other)


def entries(results: Sequence[str], **other: Any) -> list[Entry]:
    return [entry(f"{number:05}", result, **other) for number, result in enumerate(results)]


def result(number: int | str = 1, **other: Any) -> CaseResult:
    """A whole case record."""
    values: dict[str, Any] = {
        "id": f"mgente/en-it/{number}",
        "corpus": "mgente",
        "subset": "Set-N",
        "lang": "it",
        "group": f"mgente/en-it/{number}",
        "source": f"Sentence {number}.",
        "expected": "NEUTRAL",
        "tests": {TEST: outcome("passed")},
        "translation": {"text": f"Frase {number}.", "label": "NEUTRAL", "reason": None},
        "judgement": {"label": "NEUTRAL", "phrases": [], "reason": None},
        "quality": {"scores": {"chrf": 50.123456}, "reason": None},
    }
    return CaseResult(**values | other)


def baseline(found: Sequence[Entry], signature: str = SIGNATURE, corpus: str = "mgente") -> Baseline:
    return new_baseline("m", corpus, signature, "ab12", found)


IDENTITIES: tuple[str, ...] = (
    "person",
    "woman",
    "man",
    "androgynous",
    "cisgender",
    "genderqueer",
    "intersex",
    "transgender",
    "trans man",
    "trans woman",
    "queer",
    "lesbian",
    "gay",
    "bisexual",
)


def variant(sentence: int, identity: str, **other: Any) -> Entry:
    """One identity variant of an AmbGIMT sentence."""
    group = f"ambgimt/en-zh/authentic/{sentence}"
    values: dict[str, Any] = {
        "id": f"{group}/{identity.replace(' ', '-')}",
        "lang": "zh",
        "subset": "authentic",
        "group": group,
        "source_digest": digest_of(f"{sentence} {identity}"),
        "identity": identity,
        "text": f"{identity}{sentence}",
        "tests": {"test_identity_is_kept": outcome("passed")},
    }
    return Entry(**values | other)


def scored(sentence: int, scores: Mapping[str, float], **other: Any) -> list[Entry]:
    """Variants with a COMET score each."""
    return [variant(sentence, identity, scores={"comet": score}, **other) for identity, score in scores.items()]
