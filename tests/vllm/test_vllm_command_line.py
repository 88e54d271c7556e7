"""The public command line with a model in vLLM, in process and served."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.case import Form
from pytest_gnt.prompts.builder import reply_regex
from pytest_gnt.verdicts.results import read_results, read_summary
from tests.vllm.conftest import SENTENCES

Run = Callable[..., pytest.RunResult]

LOADING = "Loading safetensors"
"""What vLLM prints when it loads a model."""

OFF = ("--gnt-judge=none", "--gnt-attitude-model=none", "--gnt-shots=2")


def in_process(model: Path) -> str:
    return (
        f'[models.tiny]\nbackend = "vllm"\nmodel = "{model}"\ndtype = "float32"\nenforce_eager = true\n'
        "max_new_tokens = 48\n"
    )


def served(url: str) -> str:
    return (
        f'[models.served]\nbackend = "openai"\nmodel = "tiny"\nbase_url = "{url}"\napi_key_env = "NO_SUCH_KEY"\n'
        "max_new_tokens = 48\nconcurrency = 8\n"
    )


def replies(folder: Path, corpus: str = "own") -> dict[str, Mapping[str, Any]]:
    return {row.id: row.translation or {} for row in read_results(folder) if row.corpus == corpus}


def check_bound(found: Mapping[str, Mapping[str, Any]], lang: str = "it") -> int:
    """Every finished reply has the asked form; how many there are."""
    pattern = re.compile(reply_regex(lang, labelled=True))
    finished = [one for one in found.values() if one["finish_reason"] == "stop"]
    assert all(pattern.fullmatch(one["raw"]) for one in finished)
    assert all(one["label"] in {str(form) for form in Form} for one in finished if one["text"])
    return len(finished)


@pytest.fixture(scope="module")
def kept() -> dict[str, dict[str, Mapping[str, Any]]]:
    """Replies that one test leaves for another, so that the engine starts once."""
    return {}


def test_llama_in_process(run: Run, llama: Path, pytester: pytest.Pytester, kept: dict[str, Any]) -> None:
    result = run(in_process(llama), "--gnt-model=tiny", *OFF, "suites/", "own/")
    assert result.ret == 1, result.stdout.str()[-3000:]
    rows = replies(pytester.path / "gnt-report")
    long = rows.pop("own/en-it/long")
    assert (long["reason"], long["text"]) == ("over-long", None)
    assert len(rows) == len(SENTENCES)
    assert not [one for one in rows.values() if one["reason"] in ("transport", "over-long")]
    assert check_bound(rows) > 0
    kept["in process"] = rows
    summary = read_summary(pytester.path / "gnt-report")
    assert summary["counts"]["cases"] > 200
    # From a warm store nothing is loaded: an engine that cannot start is not missed.
    again = run(in_process(llama), "--gnt-model=tiny", *OFF, "suites/", "own/", timeout=120)
    assert again.ret == 1
    again.stdout.fnmatch_lines(["*gnt: translate: * requests, * stored*"])
    assert read_summary(pytester.path / "gnt-report")["stages"][0]["computed"] == 0
    assert {key: one for key, one in replies(pytester.path / "gnt-report").items() if key in rows} == rows


def test_gemma3_in_a_grid_is_loaded_once(run: Run, gemma3: Path, pytester: pytest.Pytester) -> None:
    run(in_process(gemma3), "--version", timeout=60)  # writes the project folder
    command = [sys.executable, "-m", "pytest_gnt.cli", "grid", "--models", "tiny", "--prompts", "S", "--shots", "0,2"]
    command += ["--suites", "suites/test_mgente.py", "--suites", "own/", "--judge", "none"]
    result = pytester.run(*command, timeout=420)
    assert result.ret == 0, result.stderr.str()[-3000:]
    runs = pytester.path / "gnt-grid" / "runs" / "tiny"
    for folder in (runs / "S.0", runs / "S.2"):
        rows = replies(folder)
        assert rows.pop("own/en-it/long")["reason"] == "over-long"
        # The template refuses the system role: its text went into the first user turn, and no request failed.
        assert not [one for one in rows.values() if one["reason"] in ("transport", "over-long")]
        check_bound(rows)
    assert [LOADING in (runs / name / "pytest.log").read_text() for name in ("S.0", "S.2")] == [True, False]
    with (pytester.path / "gnt-grid" / "grid.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [(row["prompt"], row["shots"], row["lang"]) for row in table] == [
        ("S", shots, lang) for shots in ("0", "2") for lang in ("de", "el", "es", "it")
    ]
    # The over-long case is no reply at all; every other one either has the form or has not.
    assert all(int(row["extraction-error-rate:n"]) == int(row["cases"]) - (row["lang"] == "it") for row in table)


def test_served_replies_are_those_of_the_engine_in_process(
    run: Run, server: str, pytester: pytest.Pytester, kept: dict[str, Any]
) -> None:
    result = run(served(server), "--gnt-model=served", *OFF, "own/")
    assert result.ret == 1, result.stdout.str()[-3000:]
    rows = replies(pytester.path / "gnt-report")
    long = rows.pop("own/en-it/long")
    assert long["text"] is None
    assert long["reason"] == "over-long"
    if "in process" not in kept:
        pytest.skip("the replies of the engine in process are missing: run the whole file")
    texts = {key: (one["raw"], one["finish_reason"]) for key, one in rows.items()}
    assert texts == {key: (one["raw"], one["finish_reason"]) for key, one in kept["in process"].items()}
    assert len(texts) == 24


OWN_FAULT = (None, "truncated", "invalid-verdict", "contradiction", "refusal")
"""Why a reply that did come is no verdict. A prompt that did not fit or a request that failed is not among them."""


def check_verdicts(folder: Path, cases: int) -> None:
    """Each translation has a verdict or a reason that is the reply's own fault, and the counts add up."""
    rows = list(read_results(folder))
    assert len(rows) == cases
    for row in rows:
        translation, judged = row.translation or {}, row.judgement
        assert judged is not None, row.id
        assert (judged["label"] is None) == (judged["reason"] is not None), (row.id, judged)
        assert judged["label"] in (None, "CORRECTLY GENDERED", "WRONGLY GENDERED", "NEUTRAL")
        allowed = OWN_FAULT if translation["reason"] is None else (translation["reason"],)
        assert judged["reason"] in allowed, (row.id, judged)
    summary = read_summary(folder)
    counts = summary["counts"]
    assert counts["cases"] == cases
    assert counts["passed"] + counts["failed"] + counts["unscored"] == counts["tests"]
    assert sum(summary["unscored"].values()) == counts["unscored"]
    assert next(row for row in summary["stages"] if row["stage"] == "judge")["computed"] > 0


def small_judge(url: str) -> str:
    return (
        served(url).replace("max_new_tokens = 48", "max_new_tokens = 96")
        + '[judges.small]\nkind = "llm"\nmodel = "served"\nmax_tokens = 96\n'
    )


def test_a_served_judge_decides_the_whole_sample_or_says_why(run: Run, server: str, pytester: pytest.Pytester) -> None:
    """mGeNTE's shape: four languages, Set-N and Set-G, both genders."""
    options = ("--gnt-model=sample-v2", "--gnt-judge=small", "--gnt-baseline=none", "suites/test_mgente.py")
    result = run(small_judge(server), *options)
    assert result.ret in (0, 1), result.stdout.str()[-3000:]
    folder = pytester.path / "gnt-report"
    rows = list(read_results(folder))
    assert {(row.lang, row.subset, row.gender) for row in rows} == {
        (lang, *kind) for lang in ("de", "el", "es", "it") for kind in (("Set-N", None), ("Set-G", "F"), ("Set-G", "M"))
    }
    check_verdicts(folder, 96)
    # Another gate changes what is made of the verdicts; the judge is not asked again.
    again = run(small_judge(server), *options, "--gnt-max-unscored-rate=1")
    assert again.ret in (0, 1)
    again.stdout.fnmatch_lines(["*gnt: judge: 95 requests, 95 stored"])
    assert {row.id: row.judgement for row in read_results(folder)} == {row.id: row.judgement for row in rows}


def test_a_served_judge_decides_real_sentences_or_says_why(
    run: Run, server: str, pytester: pytest.Pytester, shared_data: Path
) -> None:
    """The 400 real rows of the data folder, their gendered references as the system's translations."""
    with (shared_data / "mgente/en-it.set-n.part.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    lines = [f"mgente/en-it/{row['ID']}\t{row['REF-G']}\n" for row in rows]
    (pytester.path / "hyp.tsv").write_text("case_id\ttranslation\n" + "".join(lines), encoding="utf-8")
    toml = '[models.written]\nbackend = "recorded"\npath = "hyp.tsv"\n' + small_judge(server)
    result = run(
        toml,
        "--gnt-model=written",
        "--gnt-judge=small",
        f"--gnt-data={shared_data}",
        "-q",
        "--tb=no",
        "suites/test_mgente.py",
    )
    assert result.ret in (0, 1), result.stdout.str()[-3000:]
    check_verdicts(pytester.path / "gnt-report", 400)
