"""pytest's own options do with cases what they do with any test."""

from __future__ import annotations

import pytest

from tests.runner.conftest import House


def run(house: House, *arguments: str) -> pytest.RunResult:
    """With pytest's cache, which the options are about."""
    return house.pytester.runpytest_subprocess("--gnt-model=mine", *arguments, timeout=120)


def ran(result: pytest.RunResult) -> list[str]:
    """The cases in the order in which they ran, by a verbose run's lines."""
    return [line.partition("[")[2].partition("]")[0] for line in result.outlines if "::test_" in line and "%]" in line]


def test_failed_cases_come_first_or_alone(house: House) -> None:
    house.write("mine.tsv", _failing_last())
    assert ran(run(house, "-v")) == ["en-it/1", "en-it/2", "en-it/3"]
    first = run(house, "-v", "--ff")
    assert ran(first) == ["en-it/2", "en-it/1", "en-it/3"]
    assert house.summary()["counts"]["tests"] == 3
    only = run(house, "-v", "--lf")
    assert ran(only) == ["en-it/2"]
    assert house.summary()["counts"] == {"cases": 1, "tests": 1, "passed": 0, "failed": 1, "unscored": 0}


def _failing_last() -> str:
    from tests.runner.conftest import MINE

    return (
        MINE.replace("I cittadini hanno il", "La cittadinanza ha il")
        .replace("ascoltati", "ascoltata")
        .replace("tutte le persone", "tutti i deputati")
    )


def test_a_stepwise_run_stops_at_the_failure_and_goes_on_there(house: House) -> None:
    house.write("mine.tsv", _failing_last())
    stopped = run(house, "-v", "--sw")
    assert ran(stopped) == ["en-it/1", "en-it/2"]
    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    assert house.summary()["complete"] is False
    assert ran(run(house, "-v", "--sw")) == ["en-it/2"]


@pytest.mark.parametrize("arguments", [("-x",), ("--maxfail=1",), ("-x", "-n2")])
def test_a_run_that_stops_at_a_failure_reports_what_it_has_as_partial(house: House, arguments: tuple[str, ...]) -> None:
    result = house.run(*arguments)
    summary = house.summary()
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert summary["counts"]["failed"] == 1
    assert summary["complete"] is (summary["counts"]["tests"] == 3)
    if not summary["complete"]:
        result.stdout.fnmatch_lines(["*INCOMPLETE: *"])


def test_collecting_lists_the_cases_and_computes_and_writes_nothing(house: House) -> None:
    result = house.run("--collect-only", "-q", model=None)
    assert result.ret == 0
    assert [line for line in result.outlines if "::" in line] == [
        "test_house.py::test_neutral[en-it/1]",
        "test_house.py::test_neutral[en-it/2]",
        "test_house.py::test_gendered[en-it/3]",
    ]
    assert not (house.path / "gnt-report").exists()
    assert not (house.path / ".gnt").exists()


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_run_without_cases_says_whose_report_stays(house: House, workers: tuple[str, ...]) -> None:
    nothing = house.run("-k", "nothing", *workers)
    assert nothing.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "earlier run" not in nothing.stdout.str()
    house.run()
    before = house.summary()
    again = house.run("-k", "nothing", *workers)
    again.stdout.fnmatch_lines(["no test ran, so no report was written: *gnt-report holds an earlier run's"])
    assert house.summary() == before
    assert "earlier run" not in house.run("--collect-only").stdout.str()
