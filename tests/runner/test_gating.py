"""Baselines and gates through the public command line: green against itself, red where it got worse, nothing lost."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.cli import main
from tests.runner.conftest import House

Run = Callable[..., pytest.RunResult]

PLANTED = Path(__file__).resolve().parents[2] / "pytest_gnt/corpora/sample/systems/planted.tsv"


def planted(system: str) -> dict[str, set[str]]:
    """Case id → faults, of one recorded sample system."""
    found: dict[str, set[str]] = {}
    with PLANTED.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["system"] == system:
                found.setdefault(row["case_id"], set()).add(row["fault"])
    return found


def records(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


@pytest.fixture
def stored(run_suites: Run, pytester: pytest.Pytester) -> Path:
    """The baseline of sample-v1."""
    result = run_suites("--gnt-model=sample-v1", "--gnt-update-baseline", "-q", "--tb=no")
    assert result.ret == 0, "storing a baseline is no test of it"
    assert "baseline stored: mgente: 96 added" in result.stdout.str()
    return pytester.path / "baselines/sample-v1"


def test_a_system_is_green_against_itself(run_suites: Run, stored: Path) -> None:
    before = {path.name: path.read_bytes() for path in stored.iterdir() if path.suffix != ".lock"}
    result = run_suites("--gnt-model=sample-v1", "-v", "--tb=no")
    assert result.ret == 0
    text = result.stdout.str()
    assert "STILL FAILING" in text
    assert "gate::mgente[it]::set-n-accuracy" in text
    assert "against baseline sample-v1:" in text
    assert "regressed" not in result.parseoutcomes()
    assert before == {path.name: path.read_bytes() for path in stored.iterdir() if path.suffix != ".lock"}


def test_a_worse_version_is_red_on_exactly_the_planted_regressions(
    run_suites: Run, stored: Path, pytester: pytest.Pytester
) -> None:
    result = run_suites(
        "--gnt-model=sample-v2", "--gnt-baseline=sample-v1", "--gnt-gate=case", "-q", "-n2", "--junitxml=j.xml"
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    one, other = planted("sample-v1"), planted("sample-v2")
    dropped = {case for case, faults in other.items() if "dropped-identity" in faults} - {
        case for case, faults in one.items() if "dropped-identity" in faults
    }
    assert len(dropped) == 8
    failed = {
        case.get("name")
        for case in ET.parse(pytester.path / "j.xml").getroot().iter("testcase")
        if case.find("failure") is not None and "gate" not in str(case.get("classname"))
    }
    identities = {name for name in failed if name and name.startswith("test_identity_is_kept")}
    assert identities == {f"test_identity_is_kept[{case.partition('/')[2]}]" for case in dropped}
    harsher = {case.partition("/")[2] for case, faults in other.items() if "harsher-word" in faults}
    attitudes = {name for name in failed if name and name.startswith("test_attitude_is_kept")}
    assert attitudes
    assert {name.partition("[")[2].rstrip("]") for name in attitudes if name} <= harsher
    assert failed == identities | attitudes, "nothing got worse in mGeNTE"
    assert {"regressed", "fixed"} <= {name for name, count in summary_changes(pytester.path).items() if count}


def summary_changes(folder: Path) -> dict[str, int]:
    data = json.loads((folder / "gnt-report/report.json").read_text(encoding="utf-8"))
    changes: dict[str, int] = data["baseline"]["changes"]
    return changes


def test_single_flips_leave_the_status_to_the_gates(run_suites: Run, stored: Path) -> None:
    result = run_suites("--gnt-model=sample-v2", "--gnt-baseline=sample-v1", "-v", "--tb=no")
    assert "REGRESSED" in result.stdout.str()
    assert "FIXED" in result.stdout.str()
    assert result.ret == 0, "twelve sentences a stratum are too few to tell; the gates say undecided"
    assert "undecided" in result.stdout.str()


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_an_update_stores_the_same_bytes_however_it_ran(
    run_suites: Run, stored: Path, workers: str, pytester: pytest.Pytester
) -> None:
    before = {path.name: path.read_bytes() for path in stored.iterdir() if path.suffix in (".json", ".jsonl")}
    for path in stored.iterdir():
        path.unlink()
    assert run_suites("--gnt-model=sample-v1", "--gnt-update-baseline", workers, "-q", "--tb=no").ret == 0
    assert before == {path.name: path.read_bytes() for path in stored.iterdir() if path.suffix in (".json", ".jsonl")}


def test_a_filtered_update_leaves_the_rest_alone(run_suites: Run, stored: Path) -> None:
    before = (stored / "mgente.jsonl").read_bytes()
    result = run_suites("--gnt-model=sample-v1", "--gnt-update-baseline", "-k", "en-it and S03", "-q", "--tb=no")
    assert result.ret == 0
    assert "0 added, 0 replaced, 1 unchanged, 0 kept although run, 95 not run" in result.stdout.str()
    assert (stored / "mgente.jsonl").read_bytes() == before


def test_a_filtered_run_is_compared_on_what_it_has(run_suites: Run, stored: Path) -> None:
    result = run_suites("--gnt-model=sample-v1", "--gnt-langs=it", "-q", "--tb=no")
    assert result.ret == 0
    assert "gone" not in result.stdout.str()


def test_a_baseline_that_is_asked_for_and_not_there_is_an_error(house: House) -> None:
    result = house.run("--gnt-baseline=last-release")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "there is no baseline 'last-release'" in result.stderr.str()


def test_a_damaged_baseline_is_named_by_file_and_line(house: House) -> None:
    assert house.run("--gnt-update-baseline").ret == 0
    path = house.path / "baselines/mine/house.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:-5], lines[2]]) + "\n")
    result = house.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "house.jsonl:2:" in result.stderr.str()


def test_other_sentences_are_not_compared(house: House) -> None:
    assert house.run("--gnt-update-baseline").ret == 0
    table = house.path / "house.tsv"
    table.write_text(table.read_text().replace("a right to be heard", "a right to speak"))
    result = house.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "coverage" in result.stdout.str()
    assert house.run("--gnt-update-baseline").ret == pytest.ExitCode.USAGE_ERROR
    assert house.run("--gnt-force-update-baseline").ret == 0
    assert house.run().ret == 0


def test_another_judge_cannot_be_compared_and_is_red(house: House) -> None:
    assert house.run("--gnt-update-baseline").ret == 0
    assert house.run().ret == 0
    result = house.run("--gnt-judge=none", "--gnt-max-unscored-rate=1", "-k", "test_neutral")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "cannot be compared: the judge differs" in result.stdout.str()


def test_one_function_of_a_suite_is_a_partial_run(house: House) -> None:
    assert house.run("--gnt-update-baseline").ret == 0
    result = house.run("test_house.py::test_neutral")
    assert result.ret == 0, result.stdout.str()


def test_gates_are_configured_in_the_file(house: House) -> None:
    text = (house.path / "gnt.toml").read_text()
    house.write("gnt.toml", text + "\n[gates.set-n-accuracy]\nminimum = 0.9\nmin_n = 1\n")
    house.run("--gnt-update-baseline")
    result = house.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "house[it]::set-n-accuracy" in result.stdout.str()
    house.write("gnt.toml", text + "\n[gates.set-n-accuracy]\nminimun = 0.9\n")
    result = house.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "minimun: unknown key. Did you mean minimum" in result.stderr.str()


def test_two_versions_of_a_commercial_product_on_winomt(pytester: pytest.Pytester, shared_data: Path) -> None:
    """AWS as baseline, Google as candidate: two systems with a real difference."""
    with (shared_data / "winomt/winomt.en-es.aws_google.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    gender = {"female": "F", "male": "M"}
    table = ["id\tsource\tset\tgender"]
    table += [
        f"{r['idx']}\t{r['src']}\tSet-G\t{gender[r['gender']]}"
        for r in rows
        if r["system"] == "aws" and r["gender"] in gender
    ]
    known = {line.partition("\t")[0] for line in table}
    texts = ["system\tcase_id\ttranslation"]
    texts += [f"{r['system']}\twinomt/en-es/{r['idx']}\t{r['tgt']}" for r in rows if r["idx"] in known]
    (pytester.path / "winomt.tsv").write_text("\n".join(table) + "\n", encoding="utf-8")
    (pytester.path / "systems.tsv").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (pytester.path / "gnt.toml").write_text(
        '[corpora.winomt]\npath="winomt.tsv"\nlang="es"\n'
        '[models.aws]\nbackend="recorded"\npath="systems.tsv"\nsystem="aws"\n'
        '[models.google]\nbackend="recorded"\npath="systems.tsv"\nsystem="google"\n'
    )
    pytester.makepyfile(
        test_winomt="from pytest_gnt import assert_correctly_gendered, cases\n\n"
        '@cases("winomt", sets=["Set-G"])\ndef test_gender_is_kept(judgement):\n'
        "    assert_correctly_gendered(judgement)\n"
    )

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--tb=no", "-q", *arguments, timeout=300)

    assert run("--gnt-model=aws", "--gnt-update-baseline").ret == 0
    assert run("--gnt-model=aws").ret == 0
    result = run("--gnt-model=google", "--gnt-baseline=aws")
    gates = {gate["name"]: gate for gate in json.loads((pytester.path / "gnt-report/report.json").read_text())["gates"]}
    gate = gates["winomt[es]::set-g-accuracy"]
    assert gate["compared"] > 3000
    worse = gate["delta"] < -gate["smallest_detectable"]
    better = gate["delta"] > 0
    assert worse or better, "the two systems differ by more than noise"
    assert (gate["verdict"] == "fail") == worse
    assert (result.ret == pytest.ExitCode.TESTS_FAILED) == any(g["verdict"] == "fail" for g in gates.values())


def test_diff_of_two_baselines(
    run_suites: Run, stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stored.parents[1])
    assert run_suites("--gnt-model=sample-v2", "--gnt-baseline=none", "-q", "--tb=no").ret == 1
    assert main(["diff", "sample-v1", "gnt-report", "--format", "json", "--output", "diff.json"]) == 0
    diff = json.loads(Path("diff.json").read_text())
    assert diff["regressed"] is True
    flips = {flip["id"] for flip in diff["flips"] if flip["kind"] == "regressed"}
    assert "ambgimt/en-zh/synthesized/5/queer" in flips
    capsys.readouterr()
    assert main(["diff", "sample-v1", "gnt-report", "--format", "markdown", "--fail-on-regression"]) == 1
    text = capsys.readouterr().out
    assert "queer" in text
    assert main(["diff", "sample-v1", "gnt-report", "--html", "diff.html"]) == 0
    assert "sample-v1" in Path("diff.html").read_text(encoding="utf-8")
    assert main(["diff", "sample-v1", "sample-v1", "--html", "diff.html"]) == 2
    assert main(["diff", "sample-v1", "sample-v1", "--fail-on-regression"]) == 0
    capsys.readouterr()
    assert main(["diff", "sample-v1", "sample-v9"]) == 2
    assert "Did you mean sample-v1" in capsys.readouterr().err


def test_baseline_commands(stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(stored.parents[1])
    assert main(["baseline", "list"]) == 0
    assert "sample-v1 on mgente: 96 cases" in capsys.readouterr().out
    assert main(["baseline", "show", "sample-v1"]) == 0
    assert "gnt:" in capsys.readouterr().out
    lines = (stored.parents[1] / "gnt-report/cases.jsonl").read_text().splitlines()
    (stored.parents[1] / "gnt-report/cases.jsonl").write_text("\n".join(lines[1:]) + "\n")
    assert main(["baseline", "prune", "sample-v1", "--like", "gnt-report", "--dry-run"]) == 0
    assert "would go: ambgimt/" in capsys.readouterr().out
    assert main(["baseline", "prune", "sample-v1", "--like", "gnt-report"]) == 0
    assert "ambgimt: 1 of 168 cases taken out" in capsys.readouterr().out
