"""What is recorded is what was said, whatever characters it is made of."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_gnt.case import Case, Form
from pytest_gnt.runner.recorder import Recorder, result_of, write_json, write_lines
from pytest_gnt.runner.staging import Staging
from pytest_gnt.verdicts.results import CaseResult, read_results

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def joined(value: Any) -> Any:
    """JSON has no way to tell two halves of a character side by side from the character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, list):
        return [joined(one) for one in value]
    if isinstance(value, dict):
        return {joined(key): joined(one) for key, one in value.items()}
    return value


@settings(deadline=None)
@given(JSON)
@example("\ud83d")
@example("\ude00\ud83d \ud83d\ude00 \u2028\x00\\ud83d")
def test_a_json_report_reads_back_as_it_was(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        write_json(path, value)
        assert json.loads(path.read_text(encoding="utf-8")) == joined(value)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b"]), ANY_TEXT, ANY_TEXT), max_size=12), st.randoms()
)
def test_records_come_back_in_order_of_case_whatever_the_order_of_tests(
    tests: list[tuple[int, str, str, str]], random: Any
) -> None:
    unique = {(number, name): (text, message) for number, name, text, message in tests}
    order = list(unique)
    random.shuffle(order)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        for number, name in order:
            text, message = unique[number, name]
            evidence = {"translation": {"text": f"{number}", "raw": f"{number}"}}
            outcome = {"outcome": "failed", "reason": None, "message": text + message, "evidence": evidence}
            recorder.add(result_of(_case(number), name, [outcome], None))
        for _ in write_lines(Path(folder) / "cases.jsonl", recorder.cases()):
            pass
        recorder.close()
        found = list(read_results(Path(folder))) if unique else []
    assert [result.id for result in found] == sorted({_case(number).id for number, _ in unique})
    said = {(result.id, name): test.message for result in found for name, test in result.tests.items()}
    assert said == {
        (_case(number).id, name): joined(text + message) for (number, name), (text, message) in unique.items()
    }


def _case(number: int) -> Case:
    return Case(
        id=f"house/en-it/{number}",
        corpus="house",
        subset="Set-N",
        source_lang="en",
        target_lang="it",
        source=f"Sentence {number}.",
        group=f"house/{number}",
        expected=Form.NEUTRAL,
    )


def test_a_folder_shows_the_old_files_until_all_new_ones_are_there(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("old")
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "cases.repeat-1.jsonl").write_text("old")
    (tmp_path / "own.txt").write_text("the user's")
    staging = Staging(tmp_path)
    (staging.path / "cases.jsonl").write_text("new")
    (staging.path / "report.json").write_text("new")
    assert (tmp_path / "cases.jsonl").read_text() == "old"
    staging.publish()
    staging.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "cases.jsonl": "new",
        "report.json": "new",
        "own.txt": "the user's",
    }


def test_what_a_killed_run_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    living = Staging(tmp_path)
    (tmp_path / ".unfinished-killed").mkdir()
    (tmp_path / ".unfinished-killed" / "cases.jsonl").write_text("half")
    other = Staging(tmp_path)
    assert {path for path in tmp_path.iterdir() if path.is_dir()} == {living.path, other.path}
    living.close()
    other.close()
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_read_into_the_record_of_the_case(tmp_path: Path) -> None:
    outcome = {"outcome": "passed", "reason": None, "message": "", "evidence": {}}
    result = result_of(_case(1), "test_x", [outcome], None)
    assert CaseResult.from_json(json.loads(result["records"][0])).tests["test_x"].outcome == "passed"
