"""The record of one case after a run: what `cases.jsonl` holds, what baselines are made from, what reports read.

Everything is plain JSON. The layout is versioned by `SCHEMA`; fields are only ever added within a version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_gnt.case import Case
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Attitude, Evidence, Judgement, Quality, Translation

SCHEMA = 1

EVIDENCE_KINDS = ("translation", "judgement", "attitude", "quality")


class Outcome(StrEnum):
    """The result of one test on one case. Unscored is neither a pass nor a failure."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test on one case: its outcome, the unscored reason where there is one, and the message shown to the user."""

    outcome: Outcome
    reason: str | None = None
    message: str = ""

    __test__ = False  # not a test class, whatever pytest thinks of its name


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One line of ``cases.jsonl``.

    ``translation``, ``judgement``, ``attitude`` and ``quality`` are the evidence records' own fields (see
    `pytest_gnt.evidence`) without their back references; None where the run did not need them.
    """

    id: str
    corpus: str
    subset: str
    lang: str
    group: str
    source: str
    expected: str | None = None
    gender: str | None = None
    identity: str | None = None
    references: tuple[str, ...] = ()
    contrast_references: tuple[str, ...] = ()
    attitude_word: str | None = None
    origin: str = ""
    tests: Mapping[str, TestResult] = field(default_factory=dict)
    translation: Mapping[str, Any] | None = None
    judgement: Mapping[str, Any] | None = None
    attitude: Mapping[str, Any] | None = None
    quality: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        out["tests"] = {name: asdict(result) for name, result in self.tests.items()}
        return {"schema": SCHEMA, **{key: value for key, value in out.items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseResult:
        """Read one line back.

        Raises:
            ValueError: the line is of another schema or lacks a field.
        """
        if data.get("schema") != SCHEMA:
            raise ValueError(f"schema {data.get('schema')!r}, this version reads {SCHEMA}")
        known = {f.name for f in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        for name in ("references", "contrast_references"):
            values[name] = tuple(values.get(name, ()))
        try:
            values["tests"] = {
                name: TestResult(Outcome(test["outcome"]), test.get("reason"), test.get("message", ""))
                for name, test in data.get("tests", {}).items()
            }
            return cls(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a case record: {error}") from error


def case_fields(case: Case) -> dict[str, Any]:
    """The fields of a record that come from the case alone, as plain builtins."""
    return {
        "id": case.id,
        "corpus": case.corpus,
        "subset": str(case.subset),
        "lang": case.target_lang,
        "group": case.group,
        "source": case.source,
        "expected": case.expected and str(case.expected),
        "gender": case.gender and str(case.gender),
        "identity": case.identity and str(case.identity),
        "references": list(case.references),
        "contrast_references": list(case.contrast_references),
        "attitude_word": case.attitude_word,
        "origin": case.origin,
    }


def evidence_fields(evidence: Evidence) -> dict[str, Any]:
    """An evidence record as plain builtins, without its back references; safe to travel between processes."""
    reason = evidence.reason and str(evidence.reason)
    common: dict[str, Any] = {"reason": reason, "detail": evidence.detail}
    match evidence:
        case Translation():
            own: dict[str, Any] = {
                "text": evidence.text,
                "label": evidence.label and str(evidence.label),
                "raw": evidence.raw,
                "finish_reason": evidence.finish_reason,
                "flags": list(evidence.flags),
            }
        case Judgement():
            own = {
                "label": evidence.label and str(evidence.label),
                "phrases": [asdict(phrase) for phrase in evidence.phrases],
                "raw": evidence.raw,
                "votes": list(evidence.votes),
                "flags": list(evidence.flags),
            }
        case Attitude():
            own = {
                "source_word": evidence.source_word,
                "target_words": list(evidence.target_words),
                "source_score": evidence.source_score,
                "target_score": evidence.target_score,
                "shift": evidence.shift,
                "delta": evidence.delta,
            }
            if evidence.identity_words is not None:
                own["identity_words"] = list(evidence.identity_words)
        case Quality():
            own = {"scores": dict(evidence.scores)}
            if evidence.statistics:
                own["statistics"] = {name: list(counts) for name, counts in evidence.statistics.items()}
    return own | common


CASES = "cases.jsonl"


def repeat_file(repeat: int) -> str:
    """Name of the file with the records of a repeat of the run, counted from 1."""
    return f"cases.repeat-{repeat}.jsonl"


def read_results(folder: Path, name: str = CASES) -> Iterator[CaseResult]:
    """The case records of a report folder, in order of case id.

    Raises:
        GntError: the folder holds no finished run, or a line cannot be read (named by its number).
    """
    path = folder / name
    if not path.is_file():
        raise GntError(f"{folder} is not a report folder: it holds no {name}. Give the folder of --gnt-report.")
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield CaseResult.from_json(json.loads(line))
            except ValueError as error:
                raise GntError(f"{path}:{number}: {error}") from error


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary (`report.json`) of a report folder.

    Raises:
        GntError: there is none, or it is not JSON of this schema.
    """
    path = folder / "report.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GntError(f"{folder} is not a report folder: it holds no report.json.") from None
    except ValueError as error:
        raise GntError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise GntError(f"{path}: not a summary of schema {SCHEMA}; write it anew with this version.")
    return data
