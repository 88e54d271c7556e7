"""A judge's measured quality as a file, and what a run makes of it: quality beside each rate, and corrected rates.

The file is written by ``gnt judge-eval --out`` and named in a judge's table (``calibration = "…"``). It says which
judge it is about by a key a language, a hash of everything that the judge's verdicts on that language depend on; a run
with another key does not use it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_gnt.case import Subset
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import JudgedLabel
from pytest_gnt.verdicts.agreement import THREE, TWO, Confusion, quality
from pytest_gnt.verdicts.correction import Corrected, Counted, correct

SCHEMA = 1
_ENDS = ("", "_low", "_high")

MIN_LABELS = 10
"""Gold labels of each kind that a correction rests on at least."""

POSITIVE: Mapping[str, str] = {Subset.SET_N: JudgedLabel.NEUTRAL, Subset.SET_G: JudgedLabel.CORRECTLY_GENDERED}
"""The label whose share is the accuracy of a set (Set-G: strict)."""


_SHOWN = ("n", "cases", "unscored", *(f"{name}{end}" for name in ("accuracy", "macro_f1", "kappa") for end in _ENDS))


class Place(NamedTuple):
    """Language, and set where the gold labels say it."""

    lang: str
    subset: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What gold labels told of a judge.

    Attributes:
        judge: its name.
        keys: language → hash of everything its verdicts depend on.
        gold: what it was measured on: file name, checksum, counts.
        labels: the labels of the gold, three or two.
        cells: confusions by language and set.
    """

    judge: str
    keys: Mapping[str, str]
    gold: Sequence[Mapping[str, Any]]
    labels: tuple[str, ...]
    cells: Mapping[Place, Confusion] = field(default_factory=dict)

    def by_lang(self) -> dict[str, Confusion]:
        """Confusions by language, all sets together."""
        merged: dict[str, Confusion] = {}
        for place, confusion in self.cells.items():
            merged[place.lang] = merged[place.lang] + confusion if place.lang in merged else confusion
        return dict(sorted(merged.items()))

    def rows(self) -> list[dict[str, Any]]:
        """Quality by language, for a run's header: ``gold``, ``lang``, ``n``, ``accuracy``, ``macro_f1`` …"""
        names = ", ".join(str(entry.get("file", "?")) for entry in self.gold)
        return [
            {
                "gold": names,
                "lang": lang,
                **{name: value for name, value in quality(confusion).items() if name in _SHOWN},
            }
            for lang, confusion in self.by_lang().items()
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "judge": self.judge,
            "keys": dict(sorted(self.keys.items())),
            "gold": [dict(entry) for entry in self.gold],
            "labels": list(self.labels),
            "cells": [
                {
                    "lang": place.lang,
                    "subset": place.subset,
                    "counts": [list(row) for row in confusion.counts],
                    "unscored": list(confusion.unscored),
                }
                for place, confusion in sorted(
                    self.cells.items(), key=lambda item: (item[0].lang, item[0].subset or "")
                )
            ],
        }

    @classmethod
    def from_json(cls, data: Any) -> Calibration:
        """Read one back.

        Raises:
            ValueError: it is none of this schema, or its counts cannot be.
        """
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"not a calibration of schema {SCHEMA}")
        try:
            labels = tuple(data["labels"])
            if labels not in (THREE, TWO):
                raise ValueError(f"unknown labels {labels}")
            cells = {Place(cell["lang"], cell["subset"]): _confusion(cell, labels) for cell in data["cells"]}
            return cls(judge=data["judge"], keys=data["keys"], gold=data["gold"], labels=labels, cells=cells)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"a field is missing or of a wrong type ({error})") from None


def _confusion(cell: Mapping[str, Any], labels: tuple[str, ...]) -> Confusion:
    counts, unscored = cell["counts"], cell["unscored"]
    rows = [*counts, unscored]
    sound = len(counts) == len(labels) and all(
        len(row) == len(labels) and all(type(number) is int and number >= 0 for number in row) for row in rows
    )
    if not sound:
        raise ValueError(f"the counts of {cell['lang']} are not {len(labels)} times {len(labels)} numbers")
    return Confusion(labels, tuple(tuple(row) for row in counts), tuple(unscored))


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file; it appears whole or not at all.

    Raises:
        GntError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(calibration.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise GntError(f"the calibration {path} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file.

    Raises:
        GntError: there is none, or it cannot be read.
    """
    try:
        return Calibration.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise GntError(f"there is no calibration {path}; make it by  gnt judge-eval --gold FILE --out {path}") from None
    except (OSError, ValueError) as error:
        raise GntError(f"{path} cannot be used as a calibration: {error}") from None


def restricted(calibration: Calibration, langs: Iterable[str]) -> Calibration:
    """The calibration for some of its languages."""
    kept = set(langs)
    return replace(
        calibration,
        keys={lang: key for lang, key in calibration.keys.items() if lang in kept},
        cells={place: confusion for place, confusion in calibration.cells.items() if place.lang in kept},
    )


def counted_cell(calibration: Calibration, lang: str, subset: str) -> tuple[Counted, Counted, str] | None:
    """Sensitivity and specificity for the accuracy of a set, and what they were measured on.

    The gold labels of the same set are used where there are enough of both kinds, else all of the language. None where
    there are too few, or where they do not tell right from wrong (two labels, Set-G).
    """
    positive = POSITIVE.get(subset)
    if positive is None or positive not in calibration.labels:
        return None
    candidates = [
        (calibration.cells.get(Place(lang, subset)), f"{lang}, {subset}"),
        (calibration.by_lang().get(lang), lang),
    ]
    for confusion, basis in candidates:
        if confusion is None:
            continue
        both, positives, neither, negatives = confusion.hits(positive)
        if min(positives, negatives) >= MIN_LABELS:
            return Counted(successes=both, trials=positives), Counted(successes=neither, trials=negatives), basis
    return None


def corrected_rows(
    calibration: Calibration, judged: Iterable[tuple[str, str, str, Mapping[str, int]]], *, seed: int = 0
) -> list[dict[str, Any]]:
    """Accuracy by language and set, corrected for the judge's mistakes, as plain JSON.

    Args:
        calibration: the judge's.
        judged: corpus, language, set, and how often each label was given (other keys are not counted).
        seed: of the bootstrap.
    """
    rows = []
    for corpus, lang, subset, labels in judged:
        positive = POSITIVE.get(subset)
        n = sum(labels.get(label, 0) for label in THREE)
        if positive is None or not n:
            continue
        run = Counted(successes=labels.get(positive, 0), trials=n)
        found = counted_cell(calibration, lang, subset)
        row = {"corpus": corpus, "lang": lang, "subset": subset, "n": n, "observed": run.share}
        rows.append(row | _corrected(run, found, seed))
    return rows


def _corrected(run: Counted, found: tuple[Counted, Counted, str] | None, seed: int) -> dict[str, Any]:
    if found is None:
        result = Corrected(why=f"fewer than {MIN_LABELS} gold labels of each kind")
        return {"rate": None, "low": None, "high": None, "why": result.why}
    sensitivity, specificity, basis = found
    result = correct(run, sensitivity, specificity, seed=seed)
    return {
        "rate": result.rate,
        "low": result.low,
        "high": result.high,
        "why": result.why,
        "sensitivity": sensitivity.share,
        "specificity": specificity.share,
        "gold": sensitivity.trials + specificity.trials,
        "basis": basis,
    }
