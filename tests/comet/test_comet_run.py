"""A whole run with ``--gnt-comet``: the shipped sample, a recorded system, real unbabel-comet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_gnt.metrics.comet_runtime import PYTHON_VARIABLE
from tests.comet.conftest import Tiny
from tests.runner.conftest import SUITES

pytest_plugins = ["pytester"]

SUITE = """
from pytest_gnt import assert_quality, cases

@cases("mgente", langs=["it"])
def test_with_reference(quality):
    assert_quality(quality, "comet", -1000)

@cases("ambgimt", identities=["person", "woman"])
def test_without_reference(quality):
    assert_quality(quality, "cometkiwi", -1000)
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    common = ["-p", "no:cacheprovider", "--rootdir=.", "--gnt-model=sample-v2", "--gnt-judge=none"]
    return pytester.runpytest_subprocess(*common, *arguments, timeout=200)


def summary(pytester: pytest.Pytester) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((pytester.path / "gnt-report" / "report.json").read_text(encoding="utf-8"))
    return data


def test_an_unknown_model_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    result = run(pytester, "--gnt-comet=comet23")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unknown COMET model 'comet23'. Did you mean comet22*Add one as [[]comet.NAME]*"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('kind = "comit"\nmodel = "x/y"', "[comet.x] kind: Input should be 'comet', 'xcomet' or 'cometkiwi'"),
        ('kind = "comet"', "[comet.x] model: is missing"),
        ('kind = "comet"\nmodel = "x/y"\ngpu = 1', "[comet.x] gpu: unknown key"),
        ('kind = "comet"\nmodel = "x/y"\nbatch_size = 0', "[comet.x] batch_size: "),
    ],
)
def test_wrong_settings_are_usage_errors(pytester: pytest.Pytester, table: str, message: str) -> None:
    pytester.makepyfile(SUITE)
    (pytester.path / "gnt.toml").write_text(f"[comet.x]\n{table}\n")
    result = run(pytester, "--gnt-comet=x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_without_an_interpreter_it_is_one_usage_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PYTHON_VARIABLE, "/nowhere/python")
    pytester.makepyfile(SUITE)
    result = run(pytester, "--gnt-comet=comet22", "--gnt-offline")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{PYTHON_VARIABLE} names '/nowhere/python'" in result.stderr.str()


def test_two_models_of_one_kind_are_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    (pytester.path / "gnt.toml").write_text('[comet.other]\nkind = "comet"\nmodel = "own/other"\n')
    result = run(pytester, "--gnt-comet=comet22,other")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "comet22 and other are both of kind 'comet'" in result.stderr.str()


@pytest.mark.comet
def test_the_sample_is_scored_once_and_remembered(
    pytester: pytest.Pytester, comet_python: str, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv(PYTHON_VARIABLE, comet_python)
    pytester.makepyfile(SUITE)
    (pytester.path / "gnt.toml").write_text(
        f'[comet.reg]\nkind = "comet"\nmodel = "{tiny.folder}/regression"\n'
        f'[comet.qe]\nkind = "cometkiwi"\nmodel = "{tiny.folder}/kiwi"\n'
    )
    first = run(pytester, "--gnt-comet", "reg, qe", "--gnt-offline")
    assert first.ret == pytest.ExitCode.OK, first.stdout.str()
    cases = [json.loads(line) for line in (pytester.path / "gnt-report" / "cases.jsonl").read_text().splitlines()]
    scored = [case["quality"]["scores"] for case in cases if case["quality"]["reason"] is None]
    assert len(scored) >= len(cases) - 2 > 40
    assert all(set(scores) - {"bleu_without_identity"} == {"bleu", "chrf", "comet", "cometkiwi"} for scores in scored)
    assert len({scores["comet"] for scores in scored}) > len(scored) / 2
    assert all(not case["quality"]["scores"] for case in cases if case["quality"]["reason"] is not None)

    before = summary(pytester)
    assert all(".comet2.2.7" in line and ",reg@" in line and ",qe@" in line for line in before["signature"].values())
    means = {row["metric"] for row in before["means"]}
    assert {"bleu", "chrf", "comet", "cometkiwi"} <= means
    assert {row["stage"]: row["computed"] > 0 for row in before["stages"]}.items() >= {
        "comet": True,
        "cometkiwi": True,
    }.items()

    second = run(pytester, "--gnt-comet=qe,reg", "--gnt-offline")
    assert second.ret == pytest.ExitCode.OK
    after = summary(pytester)
    assert {row["computed"] for row in after["stages"]} == {0}
    assert after["means"] == before["means"]
    assert after["signature"] == before["signature"]


@pytest.mark.comet
def test_the_shipped_suite_compares_with_woman_and_man_and_fills_the_tables(
    pytester: pytest.Pytester, comet_python: str, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv(PYTHON_VARIABLE, comet_python)
    (pytester.path / "gnt.toml").write_text(
        f'[run]\ncomet_gap = 0.01\n[comet.reg]\nkind = "comet"\nmodel = "{tiny.folder}/regression"\n'
    )
    arguments = ("--gnt-comet=reg", "--gnt-offline", "--gnt-baseline=none", str(SUITES / "test_ambgimt.py"))
    result = run(pytester, *arguments, "--gnt-identities=queer,gay", "-k", "comet_gap")
    found = summary(pytester)
    cases = [json.loads(line) for line in (pytester.path / "gnt-report" / "cases.jsonl").read_text().splitlines()]
    outcomes = [case["tests"]["test_comet_gap_is_small"]["outcome"] for case in cases]
    assert len(outcomes) == 24
    assert "failed" in outcomes, result.stdout.str()
    message = next(
        case["tests"]["test_comet_gap_is_small"]["message"] for case in cases if "failed" in str(case["tests"])
    )
    assert message.startswith("comet ")
    assert "tolerated are 0.01" in message
    (metric,) = [each for each in found["tables"][0]["quality"] if each["metric"] == "comet"]
    assert [(row["identity"], row["n"], row["sentences"]) for row in metric["rows"]] == [
        ("queer", 12, 0),
        ("gay", 12, 0),
    ]
    assert all(".gap0.01" in line or ",gap0.01" in line for line in found["signature"].values())
