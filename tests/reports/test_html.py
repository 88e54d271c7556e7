"""The page as a file: what it is made from, what it holds, what it says of runs that are not as they should be."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from make_folder import Recipe, baseline_of, make_folder, record_of, write_cases, write_summary
from make_summary import example_gates

from pytest_gnt.errors import GntError
from pytest_gnt.reports.html import write_html
from pytest_gnt.reports.html_data import DETAIL_ROWS, INDEX_ROWS
from pytest_gnt.reports.html_verdict import gate_groups, gate_rows, verdict
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import read_results, read_summary


def blocks(page: Path) -> dict[str, Any]:
    """The decoded data blocks of a page, by name."""
    found = re.findall(r'<script type="text/plain" id="gnt-([a-z0-9-]+)">([A-Za-z0-9+/=]+)</script>', page.read_text())
    return {name: json.loads(zlib.decompress(base64.b64decode(packed))) for name, packed in found}


def test_the_blocks_hold_every_case(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Recipe(rows=30, sentences=30))
    data = blocks(write_html(folder))
    meta, index = data["meta"], data["index-0"]
    results = list(read_results(folder))
    assert meta["cases"] == len(results) == len(index["id"])
    assert meta["rows"] == {"index": INDEX_ROWS, "detail": DETAIL_ROWS}
    assert meta["blocks"] == {"index": 1, "detail": -(-len(results) // DETAIL_ROWS)}
    names, outcomes = meta["values"]["test"], meta["outcomes"]
    for place, result in enumerate(results):
        text = (result.translation or {}).get("text")
        assert (index["id"][place], index["source"][place], index["text"][place]) == (result.id, result.source, text)
        assert meta["values"]["identity"][index["one"]["identity"][place]] == (result.identity or "")
        tests = {names[int(code)]: outcomes[column[place]] for code, column in index["tests"].items() if column[place]}
        assert tests == {name: str(test.outcome) for name, test in result.tests.items()}
        detail = data[f"detail-{place // DETAIL_ROWS}"][place % DETAIL_ROWS]
        assert tuple(detail["references"]) == result.references
        if text is not None:
            before, after = detail["translation"]["around"]
            assert result.translation is not None
            assert before + text + after == result.translation["raw"]
        if result.judgement:
            assert detail["judgement"]["phrases"] == result.judgement["phrases"]


def test_equal_folders_give_equal_pages(tmp_path: Path) -> None:
    pages = [write_html(make_folder(tmp_path / name, Recipe(gates=example_gates()))) for name in ("a", "b")]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_the_policy_allows_this_style_and_these_scripts_only(tmp_path: Path) -> None:
    text = write_html(make_folder(tmp_path)).read_text(encoding="utf-8")
    content = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert content
    policy = content[1].replace("&#39;", "'")
    wanted = [re.search(r"<style>(.*?)</style>", text, re.S), *re.finditer(r"<script>(.*?)</script>", text, re.S)]
    hashes = {base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode() for part in wanted if part}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
    assert len(hashes) == 3
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"(src|href)=\"(?!#)", text)


@pytest.mark.parametrize("form", ["records", "entries", "lines"])
def test_a_baseline_may_be_records_entries_or_lines(tmp_path: Path, form: str) -> None:
    old = make_folder(tmp_path / "old", Recipe(version=1))
    new = make_folder(tmp_path / "new", Recipe(version=2))
    results = {result.id: result for result in read_results(old)}
    baseline: dict[str, Any] = {
        "records": lambda: baseline_of(old),
        "entries": lambda: {key: Entry.from_result(result) for key, result in results.items()},
        "lines": lambda: {key: json.loads(Entry.from_result(result).to_line()) for key, result in results.items()},
    }[form]()
    data = blocks(write_html(new, baseline))
    meta = data["meta"]
    kinds: dict[str, int] = {}
    for column in data["index-0"]["changes"].values():
        for code in column:
            kinds[meta["values"]["change"][code]] = kinds.get(meta["values"]["change"][code], 0) + 1
    expected: dict[str, int] = {}
    for result in read_results(new):
        for name, test in result.tests.items():
            pair = (str(results[result.id].tests[name].outcome), str(test.outcome))
            if pair in (("passed", "failed"), ("failed", "passed")):
                key = {"failed": "regressed", "passed": "fixed"}[pair[1]]
                expected[key] = expected.get(key, 0) + 1
    assert expected
    assert {key: kinds[key] for key in expected} == expected
    first = next(
        each for block, rows in data.items() if block.startswith("detail") for each in rows if "before" in each
    )
    assert first["before"]["tests"]


def test_a_case_that_the_baseline_lacks_is_new(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    baseline = baseline_of(folder)
    gone = baseline.pop("mgente/en-it/S05")
    data = blocks(write_html(folder, baseline))
    place = data["index-0"]["id"].index(gone["id"])
    changes = {data["meta"]["values"]["change"][column[place]] for column in data["index-0"]["changes"].values()}
    assert changes - {""} == {"new"}


def test_a_comparison_with_another_run_goes_where_it_is_told(tmp_path: Path) -> None:
    old = make_folder(tmp_path / "old", Recipe(version=1))
    new = make_folder(tmp_path / "new", Recipe(version=2))
    page = write_html(new, baseline_of(old), against="demo-v1", to=tmp_path / "diff.html")
    assert page == tmp_path / "diff.html"
    assert "Against <bdi>demo-v1</bdi>" in page.read_text(encoding="utf-8")
    assert not (new / "report.html").exists()


def test_tests_that_are_gone_are_counted_by_the_run(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    about = {"name": "old", "signature": {}, "comparable": True, "changes": {"gone": 7}}
    write_summary(folder, Recipe(), baseline=about)
    assert "7 gone" in write_html(folder, baseline_of(folder)).read_text(encoding="utf-8")
    without = write_html(folder).read_text(encoding="utf-8")
    assert "7 gone" in without
    assert "cases are not at hand" in without
    assert "has no baseline" not in without


def test_a_run_that_is_not_complete_says_what_is_missing(tmp_path: Path) -> None:
    why = "120 of 384 tests did not run"
    text = write_html(make_folder(tmp_path, Recipe(incomplete=why, exit_status=2))).read_text(encoding="utf-8")
    assert "Cannot tell: the run is not complete" in text
    assert text.count(why) >= 2
    assert "264 cases that have a result" in text


def test_counts_that_do_not_add_up_are_said(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Recipe(exit_status=0))
    lines = (folder / "cases.jsonl").read_text().splitlines(keepends=True)
    (folder / "cases.jsonl").write_text("".join(lines[:-3]))
    text = write_html(folder).read_text(encoding="utf-8")
    assert "Cannot tell: the counts do not add up" in text
    assert "the summary counts 264 cases, cases.jsonl holds 261" in text


def test_a_run_without_a_judge(tmp_path: Path) -> None:
    text = write_html(make_folder(tmp_path, Recipe(judge=False, sentences=0))).read_text(encoding="utf-8")
    assert "none: nothing was judged" in text
    assert 'id="coherence"' not in text
    assert 'id="attitude"' not in text
    assert 'id="identities"' not in text


def test_no_cases_at_all(tmp_path: Path) -> None:
    text = write_html(make_folder(tmp_path, Recipe(rows=0, sentences=0, exit_status=0))).read_text(encoding="utf-8")
    assert "Cannot tell: nothing was tested" in text
    assert 'id="rates"' not in text


def test_keywords_stand_there_only_if_the_run_has_them(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    assert 'id="keywords"' not in write_html(folder).read_text(encoding="utf-8")
    words = [{"word": "温柔", "count": 12, "others": 3}]
    write_summary(folder, Recipe(), keywords=[{"corpus": "ambgimt", "lang": "zh", "identity": "woman", "words": words}])
    text = write_html(folder).read_text(encoding="utf-8")
    assert "温柔" in text
    assert "12 : 3" in text
    note = "Chinese keywords need <jieba>"
    write_summary(folder, Recipe(), keywords_about={"threshold": 1.5, "translations": 0, "notes": [note]})
    text = write_html(folder).read_text(encoding="utf-8")
    assert "Chinese keywords need &lt;jieba&gt;" in text


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GntError, match=r"no report\.json"):
        write_html(tmp_path)
    make_folder(tmp_path)
    with (tmp_path / "cases.jsonl").open("a") as stream:
        stream.write("{broken\n")
    with pytest.raises(GntError, match=r"cases\.jsonl:265"):
        write_html(tmp_path)
    assert not (tmp_path / "report.html").exists(), "no half page is left"
    assert {path.name for path in tmp_path.iterdir()} == {"cases.jsonl", "report.json"}


def test_messages_do_not_repeat_what_stands_beside_them(tmp_path: Path) -> None:
    record = record_of("own/en-it/1")
    own = f"  phrase       M  il presidente\n  note: {record['source']}"
    message = f"judged WRONGLY GENDERED\n  source       {record['source']}\n{own}"
    record["tests"] = {"test_x": {"outcome": "failed", "reason": None, "message": message}}
    write_cases(tmp_path, [record])
    write_summary(tmp_path, Recipe())
    shown = blocks(write_html(tmp_path))["detail-0"][0]["tests"]["test_x"][1]
    assert shown == f"judged WRONGLY GENDERED\n{own}"


COUNTS = {"cases": 10, "tests": 10, "passed": 10, "failed": 0, "unscored": 0}
FAILING = {"passed": 8, "failed": 2}


@pytest.mark.parametrize(
    ("changed", "tone", "answer"),
    [
        ({}, "pass", "Yes: no test failed"),
        ({"gates": [{"name": "a", "verdict": "pass"}]}, "pass", "Yes: no gate failed"),
        ({"gates": [{"name": "a", "verdict": "fail"}]}, "fail", "No: 1 of 1 gate failed"),
        ({"gates": [{"name": "a", "verdict": "fail", "severity": "warn"}]}, "pass", "Yes: no gate failed"),
        ({"gates": [{"name": "a", "verdict": "undecided"}]}, "unknown", "Not red, but 1 of 1 gate could not decide"),
        ({"exit_status": 1, "counts": COUNTS | {"passed": 8, "failed": 2}}, "fail", "No: 2 of 10 tests failed"),
        (
            {
                "exit_status": 1,
                "counts": COUNTS | {"passed": 8, "unscored": 2},
                "limits": ["20.0% could not be decided"],
            },
            "fail",
            "No: too little could be read or decided",
        ),
        ({"counts": COUNTS | FAILING}, "unknown", "Not judged: tests failed, and no gate decided"),
        (
            {"counts": COUNTS | FAILING, "gates": [{"name": "a", "verdict": "not-applicable"}]},
            "unknown",
            "Not judged: tests failed, and no gate decided",
        ),
        ({"counts": COUNTS | FAILING, "gates": [{"name": "a", "verdict": "pass"}]}, "pass", "Yes: no gate failed"),
        ({"exit_status": 3}, "unknown", "Cannot tell: the run ended with an error"),
        ({"complete": False}, "unknown", "Cannot tell: the run is not complete"),
        (
            {"complete": False, "gates": [{"name": "a", "verdict": "fail"}]},
            "fail",
            "Cannot tell: the run is not complete",
        ),
        ({"counts": COUNTS | {"passed": 9}}, "unknown", "Cannot tell: the counts do not add up"),
        ({"counts": COUNTS | {"cases": 11}}, "unknown", "Cannot tell: the counts do not add up"),
    ],
)
def test_the_verdict(changed: dict[str, Any], tone: str, answer: str) -> None:
    summary = {"counts": COUNTS, "gates": [], "complete": True, "incomplete_why": None, "exit_status": 0, "corpora": []}
    found = verdict(summary | changed, 10)
    assert (found.tone, found.answer) == (tone, answer)


def test_many_gates_fold_but_failures_and_warnings_stay_open() -> None:
    kinds = ["fail", "pass", "undecided", "not-applicable"] * 5 + ["strange"]
    gates = [{"name": f"g{place:02}", "verdict": kind} for place, kind in enumerate(kinds)]
    gates[0]["severity"] = "warn"
    groups = gate_groups(gate_rows(gates))
    assert [row["verdict"] for row in groups["open"]] == ["strange", *["fail"] * 5]
    assert [(what, len(rows)) for what, rows in groups["folded"]] == [
        ("could not decide", 5),
        ("passed or did not apply", 10),
    ]


def test_the_summary_of_a_folder_reads_back(tmp_path: Path) -> None:
    assert read_summary(make_folder(tmp_path))["counts"]["cases"] == 264
