"""The cases as compressed blocks inside a page.

The table needs little of a case and needs it of every case: ids, filters, outcomes, scores, source, translation. These
stand column by column in *index* blocks of `INDEX_ROWS` cases, which the page decodes when it opens. The rest is only
wanted of the case that is looked at; it stands in *detail* blocks of `DETAIL_ROWS` cases, decoded when needed.
A block is JSON, compressed by zlib, in base64: no text of a case can ever be taken for markup.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from typing import IO, Any

from pytest_gnt.case import Identity
from pytest_gnt.reports.html_attitude import shift_of
from pytest_gnt.verdicts.changes import Change
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import CaseResult, Outcome

INDEX_ROWS = 4096
DETAIL_ROWS = 128
LEVEL = 6

OUTCOMES = ("", *map(str, Outcome))
"""Outcome codes of the page; 0 means that the case does not have the test."""

ONE = ("corpus", "lang", "subset", "gender", "identity", "said", "judged", "shift")
"""Filters of which a case has one value or none."""
MANY = ("reason", "flag")
"""Filters of which a case may have several values."""

_EVIDENCE = ("judgement", "attitude", "quality")
_OF_DETAIL = ("expected", "references", "contrast_references", "attitude_word", "origin", *_EVIDENCE)
_EMPTY: tuple[Any, ...] = (None, "", [], (), {})


class Codes:
    """Numbers for the values of a vocabulary, in order of appearance; 0 stands for no value."""

    def __init__(self) -> None:
        self.values: list[str] = [""]
        self._codes: dict[str, int] = {}

    def __getitem__(self, value: str | None) -> int:
        if value is None:
            return 0
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code


class BlockWriter:
    """Takes cases one by one and writes their blocks to a stream; memory does not grow with the number of cases."""

    def __init__(self, stream: IO[str]) -> None:
        self.cases = 0
        self.compressed = 0
        self._stream = stream
        self._codes = {name: Codes() for name in (*ONE, *MANY, "test", "change", "metric")}
        self._index: list[dict[str, Any]] = []
        self._details: list[dict[str, Any]] = []
        self._blocks = {"index": 0, "detail": 0}

    @property
    def tests(self) -> list[str]:
        """The names of the tests met so far."""
        return self._codes["test"].values[1:]

    def add(self, result: CaseResult, changes: Mapping[str, Change], before: Entry | None) -> None:
        """Take the next case."""
        self.cases += 1
        self._index.append(self._index_row(result, changes))
        self._details.append(detail(result, before))
        if len(self._index) == INDEX_ROWS:
            self._flush_index()
        if len(self._details) == DETAIL_ROWS:
            self._flush_details()

    def finish(self, **more: Any) -> None:
        """Write what is left, and the block that says how to read the others."""
        self._flush_index()
        self._flush_details()
        meta = {
            "cases": self.cases,
            "blocks": self._blocks,
            "rows": {"index": INDEX_ROWS, "detail": DETAIL_ROWS},
            "one": ONE,
            "many": MANY,
            "outcomes": OUTCOMES,
            "identities": list(map(str, Identity)),
            "values": {name: codes.values for name, codes in self._codes.items()},
            **more,
        }
        self._write("meta", meta)

    def _index_row(self, result: CaseResult, changes: Mapping[str, Change]) -> dict[str, Any]:
        codes = self._codes
        return {
            "id": result.id,
            "group": result.group,
            "source": result.source,
            "text": (result.translation or {}).get("text"),
            "one": {name: codes[name][value and str(value)] for name, value in _single(result).items()},
            "many": {name: sorted(codes[name][value] for value in values) for name, values in _several(result).items()},
            "tests": {codes["test"][name]: OUTCOMES.index(test.outcome) for name, test in result.tests.items()},
            "changes": {codes["test"][name]: codes["change"][change.kind] for name, change in changes.items()},
            "scores": {codes["metric"][name]: value for name, value in _numbers(result).items()},
        }

    def _flush_index(self) -> None:
        rows, self._index = self._index, []
        if not rows:
            return
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in ("id", "group", "source", "text")}
        for name in ("one", "many"):
            columns[name] = {key: [row[name][key] for row in rows] for key in rows[0][name]}
        for name, missing in (("tests", 0), ("changes", 0), ("scores", None)):
            keys = sorted({key for row in rows for key in row[name]})
            columns[name] = {key: [row[name].get(key, missing) for row in rows] for key in keys}
        self._write(f"index-{self._blocks['index']}", columns)
        self._blocks["index"] += 1

    def _flush_details(self) -> None:
        rows, self._details = self._details, []
        if rows:
            self._write(f"detail-{self._blocks['detail']}", rows)
            self._blocks["detail"] += 1

    def _write(self, name: str, data: Any) -> None:
        packed = pack(data)
        self.compressed += len(packed)
        self._stream.write(f'<script type="text/plain" id="gnt-{name}">{packed}</script>\n')


def pack(data: Any) -> str:
    """JSON, compressed, as base64. Lone surrogates travel as JSON escapes."""
    try:
        text = _json(data)
    except ValueError:  # NaN or Infinity, which JSON does not know
        text = _json(_finite(data))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), LEVEL)).decode("ascii")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def detail(result: CaseResult, before: Entry | None) -> dict[str, Any]:
    """What the view of one case shows beyond its row."""
    record = {name: value for name in _OF_DETAIL if (value := getattr(result, name)) not in _EMPTY}
    record["tests"] = {
        name: [test.reason or "", _without(test.message, result)]
        for name, test in result.tests.items()
        if test.reason or test.message
    }
    for name in _EVIDENCE:
        if name in record:
            record[name] = {
                key: _short(value) for key, value in record[name].items() if value not in _EMPTY and key != "statistics"
            }
    if result.translation is not None:
        record["translation"] = _slim_translation(result.translation)
    if before is not None:
        record["before"] = _slim_before(before, (result.translation or {}).get("text"))
    return record


def _short(value: Any) -> Any:
    """Numbers with as many digits as anyone reads."""
    if isinstance(value, float):
        return round(value, 4)
    return {key: _short(part) for key, part in value.items()} if isinstance(value, dict) else value


def _slim_translation(translation: Mapping[str, Any]) -> dict[str, Any]:
    """Without the text, which the index has; a raw reply that holds it is given by what stands around it."""
    slim = {key: value for key, value in translation.items() if key not in ("text", "label") and value not in _EMPTY}
    raw, text = translation.get("raw"), translation.get("text")
    if raw and text and text in raw:
        start = raw.index(text)
        del slim["raw"]
        slim["around"] = [raw[:start], raw[start + len(text) :]]
    return slim


def _slim_before(before: Entry, text: str | None) -> dict[str, Any]:
    out = {
        "tests": {name: [str(test.outcome), test.reason or ""] for name, test in before.tests.items()},
        "label": before.label,
        "judged": before.judged,
        "scores": dict(before.scores),
        "attitude": before.attitude,
        "why": dict(before.why),
        "same": before.text == text,
    }
    if before.text != text:
        out["text"] = before.text
    return {key: value for key, value in out.items() if value not in _EMPTY}


def _without(message: str, result: CaseResult) -> str:
    """A message without the lines that only repeat what is shown beside it: source, translation, reference, id."""
    repeated = {result.source, (result.translation or {}).get("text"), *result.references} - {None, ""}
    repeated |= {result.id, f"{result.id} ({result.origin})"}
    return "\n".join(line for line in message.split("\n") if line.strip().partition("  ")[2].strip() not in repeated)


def _numbers(result: CaseResult) -> dict[str, float]:
    """The sortable numbers of a case: quality scores, then the attitude's."""
    named = dict((result.quality or {}).get("scores", {}))
    for name in ("source_score", "target_score", "shift"):
        named[f"eas {name.removesuffix('_score')}"] = (result.attitude or {}).get(name)
    return {
        name: round(value, 3)
        for name, value in named.items()
        if isinstance(value, (int, float)) and math.isfinite(value)
    }


def _single(result: CaseResult) -> dict[str, Any]:
    return {
        "corpus": result.corpus,
        "lang": result.lang,
        "subset": result.subset,
        "gender": result.gender,
        "identity": result.identity,
        "said": (result.translation or {}).get("label"),
        "judged": (result.judgement or {}).get("label"),
        "shift": shift_of(result),
    }


def _several(result: CaseResult) -> dict[str, set[str]]:
    """Error kinds (why something of the case could not be decided: by its tests and its evidence) and flags."""
    kinds = [each for each in (result.translation, result.judgement, result.attitude, result.quality) if each]
    reasons = {test.reason for test in result.tests.values()} | {evidence.get("reason") for evidence in kinds}
    flags = {flag for evidence in kinds for flag in evidence.get("flags", ())}
    return {"reason": {str(reason) for reason in reasons if reason}, "flag": {str(flag) for flag in flags}}


def _finite(value: Any) -> Any:
    """The same with numbers that are none given as text, so that they stay visible."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, (list, tuple)) else value
