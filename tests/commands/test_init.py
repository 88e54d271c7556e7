"""`gnt init` gives a project something that runs."""

from __future__ import annotations

import sys

import pytest


def init(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.run(sys.executable, "-m", "pytest_gnt.cli", "init", *arguments, timeout=60)


def test_what_it_writes_runs(pytester: pytest.Pytester) -> None:
    assert init(pytester).ret == 0
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-q", "--gnt-model=sample-v2", "--gnt-baseline=none", "suites/", timeout=120
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # the sample system has planted faults
    result.stdout.fnmatch_lines(["264 cases, *"])
    # The configuration is read: its system is known, and what it lacks is a server.
    known = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--gnt-model=mina", "suites/", timeout=60)
    assert "Did you mean mine" in known.stderr.str()


def test_what_is_there_stays(pytester: pytest.Pytester) -> None:
    own = pytester.path / "sub" / "gnt.toml"
    own.parent.mkdir()
    own.write_text("# mine\n")
    result = init(pytester, "sub")
    assert result.ret == 0
    assert own.read_text() == "# mine\n"
    result.stdout.fnmatch_lines(["sub/suites/test_ambgimt.py: written", "sub/gnt.toml: is there already*"])


def test_a_file_in_the_way_is_said(pytester: pytest.Pytester) -> None:
    (pytester.path / "suites").write_text("")
    result = init(pytester)
    assert result.ret == 2
    result.stderr.fnmatch_lines(["gnt init: suites/test_ambgimt.py: something that is not a file*"])
