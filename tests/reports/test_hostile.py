"""Whatever a model or a file says: it is shown as it is and does nothing."""

from __future__ import annotations

import csv
import html.parser
import io
import json
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from hostile_texts import EVERY, HARMLESS, HIDDEN, MARKUP
from make_folder import Recipe, record_of, write_cases, write_summary

from pytest_gnt.reports.html import write_html
from pytest_gnt.reports.html_text import shown
from pytest_gnt.reports.markdown import write_markdown


def everywhere(text: str) -> dict[str, Any]:
    """A record with the text in every field that a model or a data file fills."""
    return {
        "source": text,
        "subset": text or "s",
        "lang": text or "l",
        "identity": text or None,
        "gender": text or None,
        "group": text or "g",
        "references": [text],
        "contrast_references": [text],
        "attitude_word": text,
        "origin": text,
        "translation": {
            "text": text, "label": text, "raw": f"before {text} after", "finish_reason": text, "reason": None,
            "detail": text, "flags": [text],
        },
        "judgement": {
            "label": text, "phrases": [{"text": text, "gender": text, "correct": False, "note": text}], "raw": text,
            "votes": [text, text], "flags": [text], "reason": None, "detail": text,
        },
        "attitude": {
            "source_word": text, "target_words": [text], "source_score": 1.0, "target_score": -1.0, "shift": -2.0,
            "reason": text, "detail": text,
        },
        "quality": {"scores": {text or "m": 1.5}, "reason": text, "detail": text},
        "tests": {text or "t": {"outcome": "unscored", "reason": text, "message": f"{text}\n  why {text}"}},
    }  # fmt: skip


def strange_summary(folder: Path, text: str) -> None:
    """A summary with the text wherever a user's files or another program fill it."""
    quality = {"gold": text, "lang": text, "n": 1, "accuracy": 1.0, "macro_f1": None}
    baseline = {
        "name": text,
        "signature": {},
        "comparable": False,
        "differences": [text],
        "notes": [text],
        "changes": {},
    }
    gate = {"name": text, "title": text, "verdict": text, "unit": text, "why": text, "n": 1}
    write_summary(
        folder,
        Recipe(),
        product=text,
        model={"name": text, "backend": text, "title": text},
        signature={text: f"{text}|{text}:{text}"},
        judge={"name": text, "title": text, "quality": [quality], "note": text},
        corpora=[
            {
                "name": text, "title": text, "revision": text, "rows_read": 1, "cases": 1, "selected": 1, "refused": 0,
                "refused_rows": [text], "notes": [text],
            }
        ],
        unscored={text: 1},
        flags={text: 1},
        stages=[{"stage": text, "requested": 1, "stored": 0, "computed": 1, "seconds": 1.0, text: text}],
        gates=[gate, gate | {"verdict": "fail"}],
        incomplete_why=text,
        notes=[text],
        usage=[{"model": text, "requests": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost": None}],
        complete=False,
        keywords=[{"corpus": text, "lang": text, "identity": text, "words": [{"word": text, "count": 2, "others": 1}]}],
        baseline=baseline,
    )  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    records = [record_of(f"own/en-it/{place:02}", **everywhere(text)) for place, text in enumerate(EVERY)]
    write_cases(folder, records)
    strange_summary(folder, " ".join(EVERY))
    before = {
        record["id"]: record | {"translation": {**record["translation"], "text": "other " + record["source"]}}
        for record in records
    }
    return write_html(folder, before)


class Tags(html.parser.HTMLParser):
    """The tags of a page, and the content of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


def test_the_page_has_no_element_or_attribute_from_the_data(report: Path) -> None:
    tags = Tags()
    tags.feed(report.read_text(encoding="utf-8"))
    assert tags.names.count("script") == 2 + 3  # early, main; meta, index, detail
    assert not {"img", "b", "iframe", "object"} & set(tags.names)
    assert not [name for name, _ in tags.attributes if name.startswith("on") or name == "style"]
    links = [value for name, value in tags.attributes if name in ("href", "src")]
    assert all(value and value.startswith("#") for value in links)


def test_nothing_hidden_is_left_in_the_static_page(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert shown(text) == text.replace("\t", "\t")
    for marks in HIDDEN.values():
        for mark in marks:
            assert f"⟨{mark}⟩" in text


@pytest.mark.parametrize("place", range(len(EVERY)), ids=lambda place: f"text-{place}")
def test_every_text_is_seen_and_does_nothing(browser: Browser, report: Path, place: int) -> None:
    text = EVERY[place]
    browser.open(report, f"#case=own/en-it/{place:02}")
    browser.wait("return document.querySelector('#case').open && document.querySelector('#case-body').children.length")
    source = browser.js("return document.querySelector('#case .said').textContent")
    if text in MARKUP or text in HARMLESS:
        assert source == text
    for mark in HIDDEN.get(text, ()):
        assert mark in source
    whole = browser.js("return document.body.textContent")
    assert text not in HIDDEN or text not in whole
    assert browser.js("return window.pwned") is None
    assert browser.js("return document.querySelectorAll('img, b, iframe, [onclick], [onload], [onerror]').length") == 0


def test_the_table_shows_them_too(browser: Browser, report: Path) -> None:
    browser.open(report)
    seen = browser.js("return document.querySelector('#rows').textContent")
    assert MARKUP[0] in seen
    assert "U+D83D" in browser.js(
        "document.querySelector('#rows').scrollTop = 10 * 72; return new Promise((done) => requestAnimationFrame("
        "() => requestAnimationFrame(() => done(document.querySelector('#rows').textContent))))"
    )
    assert browser.js("return window.pwned") is None


def test_a_right_to_left_text_does_not_turn_its_surroundings(browser: Browser, report: Path) -> None:
    place = EVERY.index(HARMLESS[0])
    browser.open(report, f"#case=own/en-it/{place:02}")
    browser.wait("return document.querySelector('#case .said')")
    assert browser.js("return getComputedStyle(document.querySelector('#case .said')).direction") == "rtl"
    assert browser.js("return getComputedStyle(document.querySelector('#case')).direction") == "ltr"


def test_filters_with_hostile_values_work(browser: Browser, report: Path) -> None:
    for name in ("identity", "lang", "subset", "reason", "judged", "said", "flag", "gender"):
        browser.open(report)
        browser.choose(name, MARKUP[0])
        assert browser.js("return document.querySelectorAll('#rows .row').length") == 1, name
        assert browser.js("return window.pwned") is None


def test_the_policy_forbids_what_the_page_does_not_do(browser: Browser, report: Path) -> None:
    browser.open(report)
    refused = browser.js(
        "const tries = [() => { document.body.innerHTML = '<b>x</b>'; },"
        "() => { const script = document.createElement('script'); script.text = 'window.pwned = 1';"
        "document.body.append(script); }];"
        "return tries.map((attempt) => { try { attempt(); return false; } catch { return true; } })"
    )
    assert refused == [True, True]
    assert browser.js("return fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert browser.js("return window.pwned") is None
    assert browser.complaints(), "each attempt is reported"


FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n=1", "\u00a0=1", "\u200b=1", "＝1", "＋1", "－1", "＠A",
    "|calc", "%0A=1", '"=1"', "'=1",
)  # fmt: skip


def test_no_cell_of_the_csv_is_a_formula(browser: Browser, tmp_path: Path) -> None:
    records = [record_of(f"own/en-it/{place:02}", source=text) for place, text in enumerate(FORMULAS)]
    plain = ("He said: =1", "a-b", "1+1", 'say "no"', "two\nlines", "semi;colon", "comma, too", "\ud83d")
    records += [record_of(f"own/en-it/{len(FORMULAS) + place:02}", source=text) for place, text in enumerate(plain)]
    write_cases(tmp_path, records)
    write_summary(tmp_path, Recipe())
    browser.open(write_html(tmp_path))
    text = browser.js(
        "return new Promise((done) => { const real = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then(done); return real.call(URL, blob); };"
        "HTMLAnchorElement.prototype.click = () => {}; document.querySelector('#export').click(); })"
    )
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    sources = [row["source"] for row in rows]
    assert sources[: len(FORMULAS)] == [f"'{formula}" for formula in FORMULAS]
    assert sources[len(FORMULAS) : -1] == list(plain[:-1])
    assert sources[-1] == "\\ud83d"


def test_markdown_holds_no_markup_of_the_data(tmp_path: Path) -> None:
    records = [
        record_of(
            f"own/en-it/{place:02}",
            **everywhere(text) | {"tests": {"test_x": {"outcome": "failed", "reason": None, "message": text}}},
        )
        for place, text in enumerate(EVERY)
    ]
    write_cases(tmp_path, records)
    strange_summary(tmp_path, " ".join(EVERY))
    before = {
        each["id"]: each | {"tests": {"test_x": {"outcome": "passed", "reason": None, "message": ""}}}
        for each in records
    }
    text = write_markdown(tmp_path, before).read_text(encoding="utf-8")
    ours = ("<details><summary>", "</summary>", "</details>")
    for mark in ours:
        text = text.replace(mark, "")
    outside = "".join(part for place, part in enumerate(text.split("`")) if place % 2 == 0)
    assert "<" not in outside
    assert "![" not in outside
    assert shown(text) == text
    width = {line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| `own/")}
    assert width == {6}


def test_numbers_that_are_none_do_not_break_the_page(browser: Browser, tmp_path: Path) -> None:
    record = record_of(
        "own/en-it/1",
        quality={"scores": {"comet": float("nan"), "bleu": float("inf")}, "reason": None, "detail": "BaNaNa Infinity"},
        attitude={
            "source_word": "a",
            "target_words": [],
            "source_score": float("-inf"),
            "target_score": 1.0,
            "shift": None,
        },
    )
    (tmp_path / "cases.jsonl").write_text(json.dumps(record) + "\n")
    write_summary(tmp_path, Recipe())
    browser.open(write_html(tmp_path), "#case=own/en-it/1")
    browser.wait("return document.querySelector('#case table')")
    shown_text = browser.text("#case-body")
    assert "nan" in shown_text
    assert "inf" in shown_text
