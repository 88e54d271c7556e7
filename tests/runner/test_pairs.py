"""Tests that compare a case with the woman and the man variant of its sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.runner.conftest import SUITES

pytest_plugins = ["pytester"]

PLUGIN = '''
"""A metric that needs no model: a number from 0 to 100 that follows from the translation and means nothing."""

from pytest_gnt.evidence import Quality
from pytest_gnt.work import Answer, Context, Work


class Number:
    stage = "quality"
    batch_size = 64
    needs_reference = False

    def __init__(self, name):
        self.name = name
        self.context = Context({"stage": "number", "name": name})

    def work(self, subject):
        return Work(self.context, {"text": subject.text})

    def run(self, works):
        for index, work in enumerate(works):
            yield index, Answer({"score": float(sum(map(ord, work.input["text"])) % 101)})

    def read(self, subject, answer):
        return Quality(case=subject.case, translation=subject, scores={self.name: answer["score"]})

    def close(self):
        pass


def pytest_gnt_metrics(config):
    return {"cometkiwi": Number("cometkiwi")}
'''

SUITE = """
from pytest_gnt import NON_BINARY, assert_comet_gap, cases

@cases("ambgimt", identities=NON_BINARY, metrics=["cometkiwi"])
def test_gap(quality, pair):
    assert_comet_gap(quality, pair, tolerance=1)
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    def run(*arguments: str) -> pytest.RunResult:
        common = ("-p", "no:cacheprovider", "--rootdir=.", "--gnt-model=sample-v2", "--gnt-judge=none")
        return pytester.runpytest_subprocess(*common, "--gnt-baseline=none", *arguments, timeout=200)

    return run


def records(pytester: pytest.Pytester, folder: str = "gnt-report") -> dict[str, dict[str, Any]]:
    lines = (pytester.path / folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def summary(pytester: pytest.Pytester, folder: str = "gnt-report") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((pytester.path / folder / "report.json").read_text(encoding="utf-8"))
    return data


def test_selection_does_not_change_a_result(pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]) -> None:
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(SUITE)
    run()
    whole = records(pytester)
    outcomes = [record["tests"]["test_gap"]["outcome"] for record in whole.values()]
    assert len(outcomes) == 12 * 11
    assert outcomes.count("failed") > 5
    assert outcomes.count("passed") > 5
    text = next(r["tests"]["test_gap"]["message"] for r in whole.values() if r["tests"]["test_gap"]["message"])
    assert text.startswith("cometkiwi ")
    assert "\n  woman        " in text

    # One identity alone, into a store of its own: woman and man are translated and scored all the same.
    run("--gnt-identities=queer", "--gnt-report=part", "--gnt-store=part.sqlite")
    part = records(pytester, "part")
    assert len(part) == 12
    for key, record in part.items():
        assert record["tests"] == whole[key]["tests"]
    found = summary(pytester, "part")
    assert found["corpora"][0]["selected"] == 12
    assert "24 woman and man variants that were not selected were translated and scored" in " ".join(found["notes"])
    assert {row["stage"]: row["requested"] for row in found["stages"]}["translate"] == 36
    signature = next(iter(found["signature"].values()))
    assert signature == next(iter(summary(pytester)["signature"].values()))
    assert "gap10" in signature


def test_the_tolerance_comes_from_the_configuration_and_stands_in_the_signature(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(SUITE.replace(", tolerance=1", ""))
    (pytester.path / "gnt.toml").write_text("[run]\ncomet_gap = 0.5\n")
    result = run("--gnt-identities=trans woman")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*cometkiwi * below woman and man*; tolerated are 0.5*"])
    assert "gap0.5" in next(iter(summary(pytester)["signature"].values()))


def test_a_run_that_scores_no_such_metric_has_no_such_tests(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    run(str(SUITES / "test_ambgimt.py"))
    found = summary(pytester)
    assert {row["test"] for row in found["rates"]} == {"test_identity_is_kept", "test_attitude_is_kept"}
    assert "gap" not in next(iter(found["signature"].values())).partition("quality:")[2]
    pytester.makepyfile(SUITE)
    result = run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*no case was selected*tests about cometkiwi need --gnt-comet*"])


def test_pair_without_quality_is_an_error_of_the_suite(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    pytester.makepyfile(SUITE.replace("quality, pair)", "pair)", 1))
    result = run()
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*test_gap: pair is compared with quality; ask for both*"])


def test_the_shipped_suite_has_the_gap_tests_where_comet_is_on(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    pytester.makeconftest(PLUGIN)
    result = run("-p", "conftest", str(SUITES / "test_ambgimt.py"))
    rows = [row for row in summary(pytester)["rates"] if row["test"] == "test_comet_gap_is_small"]
    assert sum(row["n"] + row["unscored"] for row in rows if "identity" in row["by"]) == 12 * 11, result.stdout.str()
    assert not [row for row in rows if row["by"].get("identity") in ("person", "woman", "man")]
