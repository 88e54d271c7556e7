"""Diffs on the terminal and in Markdown: readable, complete, and safe from what models write."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import SIGNATURE, baseline, entries, entry
from rich.console import Console

from pytest_gnt.reports.diff_markdown import diff_markdown, escape, github_annotations
from pytest_gnt.reports.diff_text import render_diff
from pytest_gnt.verdicts.diff import DiffSide, compare_sides, side_of_baselines

HOSTILE = (
    "a | b `c` <script>alert(1)</script> [x](javascript:y) ![i](http://e) @team #12 $x$ **b** "
    "\x1b[31m\n\n# h \u202e www.e.it"
)


def compare(old, new, **how):
    return compare_sides(DiffSide("v1", old), DiffSide("v2", new), resamples=50, **how)


@pytest.fixture
def hostile():
    old = [entry(1, "passed", text="Chi dirige apre.", source="Whoever leads opens.", scores={"chrf": 60.0})]
    phrase = {"text": HOSTILE, "gender": "F", "correct": False}
    new = [entry(1, "failed", text=HOSTILE, source=HOSTILE, phrases=(phrase,), scores={"chrf": 40.0})]
    return compare(old, new)


def on_terminal(diff, **how):
    stream = io.StringIO()
    Console(file=stream, width=200, force_terminal=False, color_system=None).print(render_diff(diff, **how))
    return stream.getvalue()


def test_the_terminal_shows_rates_and_flips():
    old = entries(["passed"] * 40, source="Who leads?")
    new = [entry("00000", "failed", text="Il capo 00000.", source="Who leads?"), *old[1:]]
    shown = on_terminal(compare(old, new))
    assert "v1 → v2" in shown
    assert "1 regressed, 39 still-passing" in shown
    assert re.search(r"set-n-accuracy +it +100\.0% +97\.5% +-2\.5 ", shown)
    assert "regressed  mgente/en-it/00000  test_neutral" in shown
    assert "source   Who leads?" in shown
    assert "text     [-Frase-]{+Il capo+} 00000." in shown
    assert "verdict  NEUTRAL → WRONGLY GENDERED" in shown


def test_the_terminal_is_safe_from_models(hostile):
    shown = on_terminal(hostile)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\u001b[31m\\u000a\\u000a# h" in shown
    assert "F a | b" in shown
    assert "scores   chrf -20.00" in shown


def test_rich_markup_in_texts_is_text():
    old, new = [entry(1, text="[red]x[/red]")], [entry(1, "failed", text="[bold]y[/nothing]")]
    assert "{+bold+}" in on_terminal(compare(old, new))


def test_limits_say_what_they_leave_out():
    diff = compare(entries(["passed"] * 30), entries(["failed"] * 30))
    assert "… and 25 more regressed" in on_terminal(diff, limit=5)
    assert "… and 25 more regressed" in diff_markdown(diff, limit=5)
    assert diff_markdown(diff, limit=5).count("**regressed**") == 5


def test_reasons_and_notes_come_first():
    one = side_of_baselines("a", [baseline(entries(["passed"]))])
    other = side_of_baselines("b", [baseline(entries(["passed"]), SIGNATURE.replace("lexicon@1", "q`w`@1"))])
    diff = compare_sides(one, other, resamples=50)
    assert "NOT COMPARABLE  mgente: the judge differs" in on_terminal(diff)
    assert "**Not comparable:** mgente: the judge differs (lexicon&#64;1 → q&#96;w&#96;&#64;1)" in diff_markdown(diff)


def test_markdown_tables_have_as_many_cells_as_columns(hostile):
    lines = [line for line in diff_markdown(hostile).splitlines() if line.startswith("|")]
    assert lines
    assert {line.count("|") for line in lines} == {10}


def test_markdown_renders_hostile_text_as_text(hostile):
    markdown_it = pytest.importorskip("markdown_it")
    html = (
        markdown_it.MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .render(diff_markdown(hostile))
    )
    assert set(re.findall(r"<([a-z0-9]+)", html)) <= {
        "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong", "del", "ins",
    }  # fmt: skip
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert html.count("<strong>") == diff_markdown(hostile).count("**regressed**")


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_escaped_text_is_one_line_without_markup_that_shows_the_text(text):
    import html as entities

    from pytest_gnt.verdicts.wording import visible

    escaped = escape(text)
    assert entities.unescape(escaped) == visible(text)
    assert escaped.splitlines() in ([escaped], [])
    assert not re.search(r"[<>|`*_\[\]~@\\$!{}]|://|www\.", escaped)
    escaped.encode("utf-8")


def test_annotations_of_regressed_cases_are_one_safe_line_each(hostile):
    (line,) = github_annotations(hostile)
    assert line.startswith("::error title=regressed%3A mgente/en-it/1 test_neutral::source: ")
    assert "\n" not in line
    assert "%0Averdict: NEUTRAL → WRONGLY GENDERED" in line
    many = compare(entries(["passed"] * 30), entries(["failed"] * 30))
    assert len(github_annotations(many)) == 10
    assert github_annotations(compare(entries(["failed"]), entries(["passed"]))) == []
