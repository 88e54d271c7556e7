"""The summary for CI in Markdown."""

from __future__ import annotations

from pathlib import Path

from make_folder import Recipe, baseline_of, make_folder
from make_summary import example_gates

from pytest_gnt.reports.markdown import code, escaped, write_markdown


def test_the_verdict_comes_first_and_tables_are_whole(tmp_path: Path) -> None:
    old = make_folder(tmp_path / "old", Recipe(version=1))
    new = make_folder(tmp_path / "new", Recipe(version=2, gates=example_gates()))
    lines = write_markdown(new, baseline_of(old)).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "## ❌ demo-v2: No: 1 of 5 gates failed"
    assert "**264 cases, 432 tests** = " in "\n".join(lines)
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert headings == [
        "Gates",
        "What got worse, and for whom",
        "Pass rates by language and set",
        "Pass rates by identity",
        "Tables by identity",
        "Unscored tests",
        "The run",
    ]
    table: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        widths = {row.replace("\\|", "").count("|") for row in table}
        assert len(widths) <= 1, table[0]
        table = []
    assert any(line.startswith("| `ambgimt::eas-gap` | ❌ fail |") for line in lines)
    assert sum(line.startswith(("| `mgente/", "| `ambgimt/")) for line in lines) == 20


def test_without_a_baseline_nothing_is_said_of_changes(tmp_path: Path) -> None:
    text = write_markdown(make_folder(tmp_path, Recipe(judge=False))).read_text(encoding="utf-8")
    assert "got worse" not in text
    assert "Judge: none, nothing was judged." in text
    assert "no gates: the verdict is that of the single tests" in text


def test_an_incomplete_and_an_empty_run(tmp_path: Path) -> None:
    text = write_markdown(
        make_folder(tmp_path / "a", Recipe(incomplete="the run was interrupted", exit_status=2))
    ).read_text()
    assert text.startswith("## ⚠️ demo-v1: Cannot tell: the run is not complete\n\n- the run was interrupted\n")
    empty = write_markdown(make_folder(tmp_path / "b", Recipe(rows=0, sentences=0, exit_status=0))).read_text()
    assert "nothing was tested" in empty


def test_texts_are_no_markup() -> None:
    assert escaped("a|b\n<i>*x*</i> [l](u) @me https://x www.x") == (
        "a&#124;b &#60;i&#62;&#42;x&#42;&#60;/i&#62; &#91;l&#93;(u) &#64;me https&#58;//x www&#46;x"
    )
    assert code("a|b") == "`a\\|b`"
    assert code("a`b") == "a&#96;b"
