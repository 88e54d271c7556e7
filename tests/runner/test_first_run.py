"""The first run as a user sees it: outcomes, messages, files, exit status, in one process and in several."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from tests.runner.conftest import HOUSE, MINE, House


def outcomes(house: House, folder: str = "gnt-report") -> dict[str, str]:
    return {
        case: result["outcome"] for case, record in house.cases(folder).items() for result in record["tests"].values()
    }


def test_each_sentence_is_a_test_and_a_failure_shows_its_evidence(house: House) -> None:
    result = house.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=1)
    text = result.stdout.str()
    assert "test_neutral[en-it/1]" in text
    assert "expected a gender-neutral translation, judged WRONGLY GENDERED" in text
    for part in (
        "source       The citizens have a right to be heard.",
        "translation  I cittadini hanno il diritto di essere ascoltati.",
        "reference    La cittadinanza ha il diritto di essere ascoltata.",
        "says itself  NEUTRAL",
    ):
        assert part in text
    assert "phrase       M" in text
    assert "Traceback" not in text
    assert outcomes(house) == {"house/en-it/1": "failed", "house/en-it/2": "passed", "house/en-it/3": "passed"}


def test_every_rate_has_its_n_interval_and_judge(house: House) -> None:
    text = house.run().stdout.str()
    assert "1/2 50.0% 9.5% – 90.5%" in " ".join(text.split())
    assert "judge      lexicon" in text
    assert "3 rows read = 3 cases + 0 refused; 3 cases selected" in text
    assert "3 cases, 3 tests = 2 passed + 1 failed + 0 unscored" in text


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_workers_change_nothing(house: House, workers: str) -> None:
    plain = house.run("--gnt-report=plain")
    parallel = house.run(workers, "--gnt-report=parallel", "--gnt-store=other.sqlite")
    assert plain.ret == parallel.ret == 1
    assert (house.path / "plain/cases.jsonl").read_bytes() == (house.path / "parallel/cases.jsonl").read_bytes()
    one, other = house.summary("plain"), house.summary("parallel")
    for key in set(one) - {"started", "finished", "seconds", "stages"}:
        assert one[key] == other[key], key


def test_a_missing_or_empty_translation_is_unscored_never_neutral(house: House) -> None:
    lines = (house.path / "mine.tsv").read_text().splitlines()
    house.write("mine.tsv", "\n".join([lines[0], "house/en-it/1\t\tNEUTRAL", lines[3]]) + "\n")
    result = house.run("-rs")
    assert result.ret == pytest.ExitCode.TESTS_FAILED, "a run that decides too little is red"
    assert outcomes(house) == {"house/en-it/1": "unscored", "house/en-it/2": "unscored", "house/en-it/3": "passed"}
    summary = house.summary()
    assert summary["unscored"] == {"empty": 1, "missing": 1}
    assert summary["counts"] == {"cases": 3, "tests": 3, "passed": 1, "failed": 0, "unscored": 2}
    assert "RED: 66.7% of the tests could not be decided" in result.stdout.str()
    assert house.run("--gnt-max-unscored-rate=0.7").ret == pytest.ExitCode.OK


def test_junit_carries_signature_rates_and_unscored_reasons(house: House) -> None:
    house.write("mine.tsv", MINE_HOSTILE)
    house.run("--junitxml=out.xml")
    root = ET.parse(house.path / "out.xml").getroot()
    properties = {item.get("name"): item.get("value") for item in root.iter("property")}
    assert properties["gnt.signature.house"].startswith("gnt:")
    assert properties["gnt.rate.house.test_neutral[it,Set-N]"] == "0.0000 (n=1, unscored=1)"
    assert properties["gnt_unscored"] == "empty"


MINE_HOSTILE = (
    "case_id\ttranslation\tlabel\n"
    "house/en-it/1\tI cittadini \x1b[31m\x00\x0b ]]> & < 😀 𠮷 hanno il diritto di essere ascoltati.\tNEUTRAL\n"
    "house/en-it/2\t\tNEUTRAL\n"
    "house/en-it/3\tLa signora Rossi, la ministra, ha detto di essere soddisfatta.\tGENDERED\n"
)


def test_hostile_text_harms_no_report(house: House) -> None:
    house.write("mine.tsv", MINE_HOSTILE)
    result = house.run("--junitxml=out.xml", "-n2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    ET.parse(house.path / "out.xml")
    assert "\x1b[31m" not in result.stdout.str()
    text = house.cases()["house/en-it/1"]["translation"]["text"]
    assert "\x1b[31m" in text
    assert "😀 𠮷" in text


def test_a_second_run_computes_nothing(house: House) -> None:
    house.run()
    first = house.summary()
    house.run()
    assert [row["computed"] for row in first["stages"]] == [row["requested"] for row in first["stages"]]
    assert [row["computed"] for row in house.summary()["stages"]] == [0] * len(first["stages"])


def test_a_changed_recording_is_read_anew(house: House) -> None:
    house.run()
    house.write("mine.tsv", MINE_HOSTILE.replace("I cittadini", "La cittadinanza ha").replace("ascoltati", "ascoltata"))
    house.run()
    assert house.cases()["house/en-it/1"]["translation"]["text"].startswith("La cittadinanza")


def test_selection_by_keyword_mark_and_node_id(house: House) -> None:
    assert house.run("-k", "Set-G").parseoutcomes() == {"passed": 1, "deselected": 2}
    assert house.run("-k", "en-it/2").parseoutcomes() == {"passed": 1, "deselected": 2}
    assert house.run("-m", "gnt").parseoutcomes() == {"passed": 2, "failed": 1}
    assert house.run("test_house.py::test_neutral[en-it/2]").parseoutcomes() == {"passed": 1}
    assert len(house.cases()) == 1


def test_an_error_in_a_suite_is_a_failure_with_its_traceback(house: House) -> None:
    house.write("test_house.py", SUITE_WITH_A_BUG)
    result = house.run()
    result.assert_outcomes(failed=1)
    assert "ZeroDivisionError" in result.stdout.str()
    assert "/pluggy/" not in result.stdout.str(), "the traceback begins in the suite"
    assert "ZeroDivisionError" in house.cases()["house/en-it/3"]["tests"]["test_bug"]["message"]


SUITE_WITH_A_BUG = """
from pytest_gnt import cases

@cases("house", sets=["Set-G"])
def test_bug(case, translation):
    1 / 0
"""


def test_own_assertions_may_leave_a_case_undecided(house: House) -> None:
    house.write(
        "test_house.py",
        "from pytest_gnt import cases, unscored\n\n"
        '@cases("house")\ndef test_own(translation):\n    unscored("house-rule", "not today")\n',
    )
    result = house.run("--gnt-max-unscored-rate=1")
    assert result.ret == 0
    assert result.parseoutcomes() == {"unscored": 3}
    assert house.summary()["unscored"] == {"house-rule": 3}


def test_results_are_strict_json(house: House) -> None:
    house.run()

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for line in (house.path / "gnt-report/cases.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=refuse)


def test_a_broken_row_is_refused_and_counted(house: House) -> None:
    house.write("house.tsv", HOUSE_WITH_A_FAULT)
    result = house.run()
    text = result.stdout.str()
    assert "2 rows read = 1 cases + 1 refused" in text
    assert "refused house.tsv:3: " in text
    assert house.summary()["corpora"][0]["refused"] == 1


HOUSE_WITH_A_FAULT = "id\tsource\tset\n1\tThe citizens have a right to be heard.\tSet-N\n2\tSomeone spoke.\tSetN\n"


def test_too_many_refused_rows_make_a_run_red(house: House) -> None:
    house.write(
        "mine.tsv", MINE.replace("I cittadini hanno", "La cittadinanza ha").replace("tutti i deputati", "tutti")
    )
    house.write("house.tsv", HOUSE + "".join(f"{n}\tA sentence.\tSet-X\t\t\t\n" for n in (4, 5)))
    options = ("--gnt-max-unscored-rate=1", "-k", "test_gendered")
    result = house.run(*options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "RED: 40.0% of the rows of house were refused, more than 10.0%" in result.stdout.str()
    assert house.summary()["limits"] == ["40.0% of the rows of house were refused, more than 10.0%"]
    assert "1 passed" in result.stdout.str()
    assert house.run(*options, "--gnt-max-refused-rate=0.4").ret == pytest.ExitCode.OK
