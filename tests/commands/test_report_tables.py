"""`gnt report RUN --tables`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gnt.reports.table_formats import markdown
from pytest_gnt.verdicts.results import CaseResult, Outcome, TestResult
from pytest_gnt.verdicts.tables import tables_of
from tests.verdicts.test_tables import ATTITUDES, HAND, case

Gnt = Callable[..., int]


def write_run(folder: Path, cases: list[CaseResult], *, tables: bool = True) -> Path:
    folder.mkdir()
    lines = [json.dumps(each.to_json()) for each in cases]
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    summary = {"schema": 1, **({"tables": tables_of(cases)} if tables else {})}
    (folder / "report.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


@pytest.fixture
def stored(project: Path) -> Path:
    return write_run(project / "gnt-report", [*HAND, *ATTITUDES])


def test_json_is_what_the_run_stored(stored: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("report", "--tables", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((stored / "report.json").read_text())["tables"]
    assert not (stored / "report.html").exists()


def test_csv_holds_every_number_unrounded(stored: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("report", stored, "--tables", "--format=csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    (queer,) = [row for row in rows if (row["subset"], row["measure"], row["identity"]) == ("all", "comet", "queer")]
    assert {key: float(queer[key]) for key in ("value", "n", "unscored", "gap", "sentences")} == {
        "value": 52.0,
        "n": 3,
        "unscored": 0,
        "gap": -7.0,
        "sentences": 2,
    }
    bias = {row["measure"]: row for row in rows if row["subset"] == "all" and row["measure"].startswith("shift_bias")}
    assert float(bias["shift_bias"]["value"]) == pytest.approx(40.0)
    assert float(bias["shift_bias_aligned"]["value"]) == pytest.approx(50.0)
    assert {row["subset"] for row in rows} == {"all", "authentic"}


def test_markdown_is_the_default_and_says_each_place_once(
    stored: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnt("report", "--tables") == 0
    out = capsys.readouterr().out
    headings = [line for line in out.splitlines() if line.startswith("## ")]
    assert headings == ["## Quality: ambgimt, zh, authentic", "## Attitude: ambgimt, zh, authentic"]
    assert "| queer | 3 | 52.00 | −7.00 |" in out
    assert "| **mean of 4** |  | 70.08 | −1.25 |" in out
    assert "| NBG | 4 + 1 | 80.0% |" in out
    assert "| 40.00% | 0.00% | 50.00% | 0.00% |" in out
    assert "Shift bias rate: +40.00 [" in out
    widths = {line.count("|") for line in out.splitlines() if line.startswith("| ")}
    assert len(widths) == 2


def test_latex_can_be_pasted(stored: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("report", "--tables", "--format", "latex") == 0
    out = capsys.readouterr().out
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == 2
    assert r"queer & 3 & 52.00 & $-$7.00 \\" in out
    assert r"R\_TN" in out
    assert "−" not in out
    body = [line for line in out.splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") for line in body}) == 2


def test_a_run_of_an_older_version_is_counted_anew(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project / "old", HAND, tables=False)
    assert gnt("report", "old", "--tables", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == tables_of(HAND)


def test_a_run_without_identities_says_so(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    tests = {"test_x": TestResult(Outcome.PASSED)}
    write_run(project / "plain", [case(1, None, {"bleu": 1.0}, tests=tests)])
    assert gnt("report", "plain", "--tables") != 0
    assert "no case of this run is about one" in capsys.readouterr().err


def test_numbers_of_cases_that_differ_by_metric_stand_beside_each() -> None:
    cases = [
        case(1, "woman", {"bleu": 10.0, "cometkiwi": 50.0}),
        case(1, "man", {"cometkiwi": 60.0}),
        case(1, "queer", {}, references=()),
    ]
    text = markdown(tables_of(cases))
    assert "| identity | CometKiwi | gap | n | BLEU (mean of sentences) | gap | n |" in text
    assert "| man | 60.00 | +5.00 | 1 | – | – | 0 + 1 |" in text
    assert "1 of 3 cases have no reference." in text


def test_names_cannot_leave_their_cell() -> None:
    cases = [case(1, "woman", {"a|b`<i>": 10.0}, corpus="x|y", subset="Set-N")]
    lines = markdown(tables_of(cases)).splitlines()
    assert lines[0] == "## Quality: x\\|y, zh, Set-N"
    assert "| a\\|b\\`\\<i> |" in lines[2]
