"""In other people's test runs the plugin costs little and says nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_a_foreign_run_shows_nothing_of_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_a():\n    assert True\n\ndef test_b():\n    assert False\n")
    pytester.makepyprojecttoml("[tool.gnt.nonsense]\n")  # not read without cases or options of ours
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:platformdirs")
    result.assert_outcomes(passed=1, failed=1)
    lines = [line for line in result.outlines if not line.startswith("plugins:")]
    assert not [line for line in lines if "gnt" in line]
    assert not (pytester.path / "gnt-report").exists()
    assert not (pytester.path / ".gnt").exists()


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import pytest_gnt.plugin\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    foreign = {name for name in out if name not in sys.stdlib_module_names}
    assert foreign <= {"pytest_gnt"}, foreign


def test_names_that_look_like_suites_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        class Anything:
            def __getattr__(self, name):
                raise RuntimeError("touched")
        test_object = Anything()
        def test_plain():
            pass
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
