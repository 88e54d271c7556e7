"""The parts of an invented run's summary that do not come from its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_gnt.verdicts.decisions import GateResult, Verdict

LANGS = ("it", "es", "de", "el")


def example_gates() -> list[dict[str, Any]]:
    """Gates with every verdict, as runs write them."""
    stratum = {"lang": "it"}
    accuracy = {
        "measure": "set-n-accuracy",
        "title": "Set-N accuracy",
        "unit": "share",
        "better": "higher",
        "corpus": "mgente",
    }
    gates = [
        GateResult(
            name="mgente[it]::set-n-accuracy",
            **accuracy,
            stratum=stratum,
            verdict=Verdict.PASS,
            severity="fail",
            value=0.833,
            low=0.552,
            high=0.953,
            baseline_value=0.417,
            common_value=0.833,
            delta=0.417,
            delta_low=0.1,
            delta_high=0.66,
            p=0.98,
            p_holm=1.0,
            n=12,
            compared=12,
            smallest_detectable=0.38,
            why="41.7% → 83.3% on 12 cases",
        ),
        GateResult(
            name="ambgimt::eas-gap",
            measure="eas-gap",
            title="attitude of NBG minus BG",
            unit="nats",
            better="higher",
            corpus="ambgimt",
            stratum={},
            verdict=Verdict.FAIL,
            severity="fail",
            value=-0.21,
            low=-0.3,
            high=-0.12,
            baseline_value=-0.02,
            common_value=-0.21,
            delta=-0.19,
            delta_low=-0.28,
            delta_high=-0.1,
            p=0.0002,
            p_holm=0.004,
            n=166,
            unscored=2,
            compared=166,
            smallest_detectable=0.09,
            why="-0.020 → -0.210 (-0.190) on 166 cases, p = 0.004 after Holm",
        ),
        GateResult(
            name="mgente[el]::set-n-accuracy",
            **accuracy,
            stratum={"lang": "el"},
            verdict=Verdict.UNDECIDED,
            severity="fail",
            value=0.5,
            low=0.25,
            high=0.75,
            n=12,
            smallest_detectable=0.38,
            why="12 cases are too few to tell",
        ),
        GateResult(
            name="mgente[es]::label-macro-f1",
            measure="label-macro-f1",
            title="macro-F1",
            unit="share",
            better="higher",
            corpus="mgente",
            stratum={"lang": "es"},
            verdict=Verdict.FAIL,
            severity="warn",
            value=0.71,
            n=24,
            why="below 80.0%",
        ),
        GateResult(
            name="mgente[de]::comet-mean",
            measure="comet-mean",
            title="mean COMET",
            unit="points",
            better="higher",
            corpus="mgente",
            stratum={"lang": "de"},
            verdict=Verdict.NOT_APPLICABLE,
            severity="fail",
            why="no bound is set and there is no baseline to compare with",
        ),
    ]
    return [gate.to_json() for gate in gates]


def about_run(version: int, judge: bool, cases: Mapping[str, int]) -> dict[str, Any]:
    """What a session knows of itself, invented. ``cases``: corpus → number."""
    quality = [
        {"gold": "NEUTR-evAL examples", "lang": lang, "n": 8, "accuracy": 0.875, "macro_f1": 0.86} for lang in LANGS
    ]
    return {
        "product": "pytest-gnt 0.1.0",
        "model": {"name": f"demo-v{version}", "backend": "recorded", "title": "invented system"},
        "judge": {"name": "lexicon", "title": "word lists", "quality": quality} if judge else None,
        "attitude": {
            "name": "recorded",
            "calibration": [{"lang": "zh", "auc": 0.93, "zero": 0.1, "unit": 1.0, "n": 60}],
        },
        "usage": [
            {"model": "judge-server", "requests": 96, "prompt_tokens": 41_000, "completion_tokens": 5200, "cost": 0.31}
        ],
        "notes": ["the invented system has no version"],
        "signature": {
            name: f"gnt:0.1.0|corpus:{name}@1f3a90c2|model:demo-v{version}|prompt:G+S/4@77ab|decoding:greedy|"
            "judge:lexicon@0.3|attitude:recorded|quality:bleu.intl+chrf2+comet22|seed:0"
            for name in cases
        },
        "corpora": [
            {
                "name": name,
                "title": "",
                "revision": "1f3a90c2",
                "rows_read": number + 2,
                "cases": number,
                "selected": number,
                "refused": 2,
                "notes": ["REF-N: 1 empty reference (en-el.tsv:7)"],
                "refused_rows": ["en-it.tsv:31: SRC is empty", "en-it.tsv:40: SET is 'SetN'; Set-N or Set-G is needed"],
            }
            for name, number in cases.items()
        ],
    }


def stage_counts(cases: int) -> list[dict[str, Any]]:
    """Stages of an invented run."""
    return [
        {"stage": "translate", "requested": cases, "computed": cases // 3, "seconds": 0.02 * cases},
        {"stage": "judge", "requested": cases // 2, "computed": cases // 2, "seconds": 0.004 * cases},
        {"stage": "attitude", "requested": cases // 2, "computed": cases // 7, "seconds": 0.006 * cases},
    ]
