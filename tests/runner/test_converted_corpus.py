"""A run on neutral AmbGIMT lines that are converted on the fly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SUITE = """
from pytest_gnt import assert_identity_kept, cases

@cases("ambgimt")
def test_identity_is_kept(translation):
    assert_identity_kept(translation)
"""

GNT_TOML = """
[corpora.ambgimt]
path = "data"
loader = "ambgimt"
options = {convert = CONVERT}

[models.mine]
backend = "recorded"
path = "mine.tsv"
"""


def run(pytester: pytest.Pytester, convert: str) -> dict[str, str]:
    """Run with the option; the outcome of each case by its id."""
    toml = GNT_TOML.replace("CONVERT", convert)
    pytester.path.joinpath("gnt.toml").write_text(toml, encoding="utf-8")
    pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-q", "--gnt-model=mine", "--gnt-baseline=none", "--gnt-gate=off", timeout=120
    )
    lines = (pytester.path / "gnt-report/cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry["id"]: entry["tests"]["test_identity_is_kept"]["outcome"] for entry in map(json.loads, lines)}


def signature(pytester: pytest.Pytester) -> str:
    return str(json.loads((pytester.path / "gnt-report/report.json").read_text(encoding="utf-8"))["signature"])


def test_converted_lines_run_as_cases_and_show_in_the_signature(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    pytester.makepyfile(test_suite=SUITE)
    pytester.path.joinpath("data").mkdir()
    stem = pytester.path / "data" / "DictExample_convert_sents"
    stem.with_suffix(".txt").write_text("The person says they never give up.\n", encoding="utf-8")
    recorded = "case_id\ttranslation\nambgimt/en-zh/authentic/1/person\t这个人从不放弃。\n"
    recorded += (
        "ambgimt/en-zh/authentic/1/woman\t这个女人从不放弃。\nambgimt/en-zh/authentic/1/queer\t这个人从不放弃。\n"
    )
    pytester.path.joinpath("mine.tsv").write_text(recorded, encoding="utf-8")
    neutral = run(pytester, "false")
    plain = signature(pytester)
    assert list(neutral) == ["ambgimt/en-zh/authentic/1/person"]
    converted = run(pytester, "true")
    assert len(converted) == 14
    prefix = "ambgimt/en-zh/authentic/1"
    outcomes = [converted[f"{prefix}/{name}"] for name in ("person", "woman", "queer", "gay")]
    assert outcomes == ["passed", "passed", "failed", "unscored"]
    assert signature(pytester) != plain
