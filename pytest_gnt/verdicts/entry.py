"""One case as comparisons see it: what a baseline stores of it, and how it stands on one line of JSON."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_gnt.verdicts.results import CaseResult, Outcome, TestResult

SOURCE_DIGITS = 16
DECIMALS = 4

KEYS = (
    "id",
    "lang",
    "subset",
    "group",
    "expected",
    "gender",
    "identity",
    "source",
    "tests",
    "text",
    "label",
    "judged",
    "scores",
    "attitude",
    "why",
)
"""The keys of a line, in their order."""

_NEEDED = ("id", "lang", "subset", "group", "source", "tests")
_TEXTS = ("id", "lang", "subset", "group", "source")
_OPTIONAL_TEXTS = ("expected", "gender", "identity", "text", "label", "judged")

# Characters that would split a line, vanish, reorder or break a text file: control characters, line and paragraph
# separators, marks of text direction, byte-order marks, non-characters, lone halves of surrogate pairs.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One case of a run or of a baseline.

    Attributes:
        source_digest: first 16 hex digits of the source sentence's SHA-256; the sentence itself is not stored, since
            corpora may not be passed on.
        tests: outcome and unscored reason of each test function.
        text: the translation; None where there is none.
        label: the form that the system says its translation has.
        judged: the judge's label.
        scores: quality scores, in points of 100.
        attitude: emotional attitude of the source and the target word; None where not known.
        why: kind of evidence → why it has no result. A kind that is neither here nor has a value was not asked for.
        source, phrases: known of a run only; not stored.
    """

    id: str
    lang: str
    subset: str
    group: str
    source_digest: str
    expected: str | None = None
    gender: str | None = None
    identity: str | None = None
    tests: Mapping[str, TestResult] = field(default_factory=dict)
    text: str | None = None
    label: str | None = None
    judged: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    attitude: tuple[float, float] | None = None
    why: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    phrases: tuple[Mapping[str, Any], ...] = ()

    @property
    def corpus(self) -> str:
        """The first part of the id."""
        return self.id.partition("/")[0]

    def asked(self, kind: str) -> bool:
        """Whether the run wanted evidence of this kind for the case, had it or not."""
        had = {
            "translation": self.text is not None,
            "judgement": self.judged is not None,
            "quality": bool(self.scores),
            "attitude": self.attitude is not None,
        }
        return had[kind] or kind in self.why

    def to_line(self) -> str:
        """One line of a baseline, without the line end. Equal entries give equal bytes."""
        tests = {name: _outcome_text(self.tests[name]) for name in sorted(self.tests)}
        values = {
            **{name: getattr(self, name) for name in ("id", "lang", "subset", "group")},
            **{name: getattr(self, name) for name in _OPTIONAL_TEXTS},
            "source": self.source_digest,
            "tests": tests,
            "scores": {name: _rounded(self.scores[name]) for name in sorted(self.scores)} or None,
            "attitude": self.attitude and [_rounded(score) for score in self.attitude],
            "why": {kind: self.why[kind] for kind in sorted(self.why)} or None,
        }
        row = {key: values[key] for key in KEYS if values[key] is not None}
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    @classmethod
    def from_line(cls, line: str) -> Entry:
        """Read a line back.

        Raises:
            ValueError: it is not JSON, holds NaN or Infinity, a key twice, a key or a value that does not belong.
        """
        row = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_object)
        if not isinstance(row, dict):
            raise ValueError("not a JSON object")
        _check_keys(row)
        return cls(
            id=row["id"],
            lang=row["lang"],
            subset=row["subset"],
            group=row["group"],
            source_digest=row["source"],
            expected=row.get("expected"),
            gender=row.get("gender"),
            identity=row.get("identity"),
            text=row.get("text"),
            label=row.get("label"),
            judged=row.get("judged"),
            tests={name: _outcome(name, text) for name, text in _mapping(row, "tests").items()},
            scores={name: _number(name, score) for name, score in _mapping(row, "scores").items()},
            attitude=_attitude(row.get("attitude")),
            why={kind: _text(kind, reason) for kind, reason in _mapping(row, "why").items()},
        )

    @classmethod
    def from_result(cls, result: CaseResult) -> Entry:
        """What a comparison needs of a case record.

        Scores are rounded as a baseline's are, so that equal results are equal. Scores that are not finite are left
        out, with that reason.
        """
        translation, judgement = result.translation or {}, result.judgement or {}
        scores, attitude, why = _finite_evidence(result)
        return cls(
            id=result.id,
            lang=result.lang,
            subset=result.subset,
            group=result.group,
            source_digest=digest_of(result.source),
            expected=result.expected,
            gender=result.gender,
            identity=result.identity,
            tests={name: TestResult(test.outcome, test.reason) for name, test in result.tests.items()},
            text=_joined(translation.get("text")),
            label=translation.get("label"),
            judged=judgement.get("label"),
            scores=scores,
            attitude=attitude,
            why=why,
            source=result.source,
            phrases=tuple(judgement.get("phrases", ())),
        )


def entries_of(cases: Iterable[CaseResult | Entry]) -> Iterable[Entry]:
    """Case records and entries alike, as entries."""
    return (case if isinstance(case, Entry) else Entry.from_result(case) for case in cases)


def digest_of(source: str) -> str:
    """The digest by which a changed source sentence is noticed."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:SOURCE_DIGITS]


def _finite_evidence(
    result: CaseResult,
) -> tuple[dict[str, float], tuple[float, float] | None, dict[str, str]]:
    why = {}
    for kind in ("translation", "judgement", "attitude", "quality"):
        evidence = getattr(result, kind)
        if evidence is not None and evidence.get("reason"):
            why[kind] = str(evidence["reason"])
    scores = dict((result.quality or {}).get("scores", {}))
    finite = {name: _rounded(score) for name, score in scores.items() if _is_finite(score)}
    if len(finite) < len(scores):
        why["quality"] = "not-finite"
    source, target = ((result.attitude or {}).get(name) for name in ("source_score", "target_score"))
    attitude = None
    if _is_finite(source) and _is_finite(target):
        attitude = _rounded(source), _rounded(target)  # type: ignore[arg-type]
    elif result.attitude is not None:
        why.setdefault("attitude", "not-finite")
    return finite, attitude, why


def _is_finite(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS) + 0.0  # the sum turns -0.0 into 0.0


def _joined(text: str | None) -> str | None:
    """Two halves of a surrogate pair side by side become the character they stand for, as every JSON reader has it."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _outcome_text(test: TestResult) -> str:
    return f"{test.outcome}: {test.reason}" if test.reason else str(test.outcome)


def _outcome(name: str, text: object) -> TestResult:
    outcome, _, reason = _text(name, text).partition(": ")
    try:
        return TestResult(Outcome(outcome), reason or None)
    except ValueError:
        raise ValueError(f"test {name!r}: {outcome!r} is not passed, failed or unscored") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return row


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a baseline may hold")


def _check_keys(row: Mapping[str, Any]) -> None:
    unknown = [key for key in row if key not in KEYS]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}")
    missing = [key for key in _NEEDED if key not in row]
    if missing:
        raise ValueError(f"key {missing[0]!r} is missing")
    for name in _TEXTS:
        if not _text(name, row[name]):
            raise ValueError(f"{name!r} is empty")
    for name in _OPTIONAL_TEXTS:
        if row.get(name) is not None:
            _text(name, row[name])


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is not a text")
    return value


def _mapping(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not an object")
    return value


def _number(name: str, value: object) -> float:
    if not _is_finite(value):
        raise ValueError(f"{name!r} is not a finite number")
    return float(value)  # type: ignore[arg-type]


def _attitude(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("'attitude' is not the two scores of source and target word")
    return _number("attitude", value[0]), _number("attitude", value[1])
