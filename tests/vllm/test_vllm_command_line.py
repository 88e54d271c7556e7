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


def test_a_served_judge_decides_or_says_why(run: Run, server: str, llama: Path, pytester: pytest.Pytester) -> None:
    recorded = "".join(f"own/en-it/{n}\tLa persona numero {n} ringrazia la collega.\n" for n in range(len(SENTENCES)))
    (pytester.path / "hyp.tsv").write_text("case_id\ttranslation\n" + recorded, encoding="utf-8")
    toml = (
        '[models.written]\nbackend = "recorded"\npath = "hyp.tsv"\n'
        + served(server)
        + '[judges.small]\nkind = "llm"\nmodel = "served"\n'
    )
    result = run(toml, "--gnt-model=written", "--gnt-judge=small", "--gnt-attitude-model=none", "own/")
    assert result.ret in (0, 1), result.stdout.str()[-3000:]
    judged = [row.judgement for row in read_results(pytester.path / "gnt-report") if row.judgement is not None]
    judged = [one for one in judged if one["reason"] != "missing"]
    assert len(judged) == 12
    for one in judged:
        assert (one["label"] is None) == (one["reason"] is not None)
        assert one["reason"] not in ("transport", "not-run")
        assert one["label"] in (None, "CORRECTLY GENDERED", "WRONGLY GENDERED", "NEUTRAL")
