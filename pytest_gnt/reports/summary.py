"""`report.json`: the run in numbers, everything that a rate depends on beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pytest_gnt.verdicts.keyword_tally import KeywordTally
from pytest_gnt.verdicts.rates import Tally
from pytest_gnt.verdicts.results import SCHEMA
from pytest_gnt.verdicts.tables import Tables


def build_summary(
    tally: Tally,
    *,
    tables: Tables,
    keywords: KeywordTally,
    about: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
    started: datetime,
    seconds: float,
    exit_status: int,
    incomplete: str | None,
    limits: Sequence[str],
    gates: Sequence[Mapping[str, Any]],
    baseline: Mapping[str, Any] | None,
    repeats: Mapping[str, Any] | None,
    stored: Sequence[str],
) -> dict[str, Any]:
    """Put the summary together. ``about`` holds what the session knows: product, model, judge, corpora, signature."""
    return {
        "schema": SCHEMA,
        "product": about["product"],
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "complete": incomplete is None,
        "incomplete_why": incomplete,
        "exit_status": exit_status,
        "limits": list(limits),
        "model": about["model"],
        "signature": about["signature"],
        "judge": about["judge"],
        "attitude": about["attitude"],
        "notes": about["notes"],
        "usage": merged_usage(about["usage"]),
        "corpora": about["corpora"],
        "counts": {"cases": tally.cases, "tests": tally.tests, **tally.outcomes},
        "unscored": dict(sorted(tally.reasons.items())),
        "flags": dict(sorted(tally.flags.items())),
        "judge_flags": dict(sorted(tally.judge_flags.items())),
        "rates": tally.rates(),
        "corrected": corrected(about["judge"], tally),
        "means": tally.means(),
        "tables": tables.to_json(),
        **keywords.to_json(),
        "stages": merged_stages(stages),
        "gates": list(gates),
        "baseline": baseline,
        "repeats": repeats,
        "stored": list(stored),
    }


def corrected(judge: Mapping[str, Any] | None, tally: Tally) -> list[dict[str, Any]]:
    """Accuracies by language and set that allow for the judge's measured mistakes; none without a calibration."""
    if judge is None or not judge.get("calibration"):
        return []
    from pytest_gnt.verdicts.calibration import Calibration, corrected_rows

    judged = ((*place, labels) for place, labels in sorted(tally.judged.items()))
    return corrected_rows(Calibration.from_json(judge["calibration"]), judged)


def merged_stages(stages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a stage. Workers of one run saw the same requests: computed counts add up, others are the largest."""
    merged: dict[str, dict[str, Any]] = {}
    for row in stages:
        into = merged.setdefault(row["stage"], {"stage": row["stage"], "requested": 0, "computed": 0, "seconds": 0.0})
        into["requested"] = max(into["requested"], row["requested"])
        into["computed"] += row["computed"]
        into["seconds"] = max(into["seconds"], row["seconds"])
    for into in merged.values():
        into["stored"] = into["requested"] - into["computed"]
    return list(merged.values())


def merged_usage(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a model: what the run's processes sent and received, added up. Cost is None where no price is known."""
    merged: dict[str, dict[str, Any]] = {}
    for row in rows:
        into = merged.setdefault(row["model"], {"model": row["model"], "cost": None})
        for key in ("requests", "prompt_tokens", "completion_tokens"):
            into[key] = into.get(key, 0) + row[key]
        if row["cost"] is not None:
            into["cost"] = (into["cost"] or 0.0) + row["cost"]
    return list(merged.values())
