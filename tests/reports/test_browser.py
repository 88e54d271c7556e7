"""The page in a real browser: what a reader does with it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from chromium import Browser
from make_folder import Recipe, make_folder

from pytest_gnt.reports.html import write_html


def test_the_verdict_stands_first_and_the_cases_are_usable(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    assert browser.text("main h1") == "No: 1 of 5 gates failed"
    assert browser.js("return document.title").startswith("Failed · demo-v2")
    assert browser.text("#count") == "264 cases"
    assert browser.js("return document.querySelector('#loading').hidden")
    assert browser.rows()[0] == "ambgimt/en-zh/authentic/1/androgynous"


def test_filters_narrow_the_table_and_stand_in_the_address(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    browser.choose("corpus", "mgente")
    browser.choose("lang", "el")
    browser.choose("outcome", "failed")
    ids = browser.rows()
    assert ids
    assert all(each.startswith("mgente/en-el/") for each in ids)
    assert browser.text("#count") == f"{len(ids)} of 264 cases"
    assert browser.fragment() == "#outcome=failed&corpus=mgente&lang=el"
    browser.open(sample, browser.fragment())
    assert browser.rows() == ids
    browser.js("document.querySelector('#clear').click()")
    assert browser.text("#count") == "264 cases"
    assert browser.fragment() == ""


@pytest.mark.parametrize(
    ("filters", "script"),
    [
        ({"identity": "trans woman", "test": "test_identity_is_kept", "outcome": "failed"}, "identity"),
        ({"gender": "F", "subset": "Set-G"}, "gender"),
        ({"reason": "unaligned"}, "reason"),
        ({"said": "GENDERED", "judged": "NEUTRAL"}, "coherence"),
        ({"shift": "kind-neither"}, "attitude"),
        ({"change": "regressed"}, "change"),
    ],
)
def test_every_filter_agrees_with_the_records(
    browser: Browser, sample: Path, filters: dict[str, str], script: str
) -> None:
    from make_folder import baseline_of

    records = baseline_of(sample.parent)
    before = baseline_of(sample.parent.parent / "before")

    def wanted(record: dict) -> bool:
        tests = {name: test["outcome"] for name, test in record["tests"].items()}
        match script:
            case "identity":
                return record.get("identity") == "trans woman" and tests["test_identity_is_kept"] == "failed"
            case "gender":
                return record.get("gender") == "F" and record["subset"] == "Set-G"
            case "reason":
                return any(test["reason"] == "unaligned" for test in record["tests"].values())
            case "coherence":
                said, judged = record["translation"]["label"], record.get("judgement", {}).get("label")
                return said == "GENDERED" and judged == "NEUTRAL"
            case "attitude":
                scores = record.get("attitude") or {}
                source, target = scores.get("source_score"), scores.get("target_score")
                return source is not None and target is not None and source > 0.2 and -0.2 <= target <= 0.2
        old = {name: test["outcome"] for name, test in before[record["id"]]["tests"].items()}
        return any(old[name] == "passed" and outcome == "failed" for name, outcome in tests.items())

    expected = sorted(record["id"] for record in records.values() if wanted(record))
    assert expected, "the sample has none: the test shows nothing"
    browser.open(sample, "#" + "&".join(f"{name}={value.replace(' ', '%20')}" for name, value in filters.items()))
    found = browser.js(
        "const all = []; const body = document.querySelector('#rows'); return new Promise((done) => {"
        "const take = () => { for (const { textContent } of body.querySelectorAll('a'))"
        "if (!all.includes(textContent)) all.push(textContent);"
        "const more = body.scrollTop + body.clientHeight < body.scrollHeight - 1; body.scrollTop += 300;"
        "if (more) requestAnimationFrame(() => requestAnimationFrame(take)); else done(all); }; take(); })"
    )
    assert sorted(found) == expected
    assert browser.text("#count").startswith(f"{len(expected)} of ")


def test_search_finds_words_in_source_translation_and_id(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    browser.choose("q", "STUBBORN trans-woman")
    assert browser.rows() == ["ambgimt/en-zh/authentic/1/trans-woman"]
    assert browser.js("return document.querySelector('#rows mark').textContent").lower() == "stubborn"
    browser.choose("q", "固执")
    assert browser.rows()
    browser.choose("q", "no such words anywhere")
    assert browser.js("return document.querySelector('#grid').hidden")
    assert browser.text("#nothing") == "No case matches."
    assert browser.js("return document.querySelector('#export').disabled")


def test_a_group_of_the_charts_leads_to_its_cases(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    link = "[...document.querySelectorAll('#rates a')].find((a) => a.textContent === 'queer')"
    browser.js(f"{link}.click()")
    browser.wait("return document.querySelector('#filters [name=identity]').value === 'queer'")
    assert all(each.endswith("/queer") for each in browser.rows())
    browser.driver.back()
    browser.wait("return document.querySelector('#count').innerText === '264 cases'")


def test_sorting_puts_missing_values_last(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    column = "return [...document.querySelectorAll('#rows .score')].map((cell) => cell.firstChild.textContent)"
    browser.js("document.querySelector('.head [data-sort=\"score comet\"]').click()")
    assert browser.js("return document.querySelector('.head .score').getAttribute('aria-sort')") == "ascending"
    rising = [float(value) for value in browser.js(column)]
    assert rising == sorted(rising)
    browser.js("document.querySelector('.head [data-sort=\"score comet\"]').click()")
    assert browser.fragment() == "#sort=score%20comet&dir=down"
    falling = [float(value) for value in browser.js(column)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[-1]
    browser.js("const body = document.querySelector('#rows'); body.scrollTop = body.scrollHeight")
    browser.wait(
        "return [...document.querySelectorAll('#rows .score')].some((cell) => cell.firstChild.textContent === '–')"
    )


def test_a_deep_link_opens_the_case_with_its_evidence(browser: Browser, sample: Path) -> None:
    browser.open(sample, "#case=ambgimt/en-zh/synthesized/9/trans-woman")
    browser.wait("return document.querySelector('#case').open && document.querySelector('.siblings')")
    assert browser.text("#case-title") == "ambgimt/en-zh/synthesized/9/trans-woman"
    identities = browser.js("return [...document.querySelectorAll('.siblings tbody th')].map((cell) => cell.innerText)")
    assert identities[:4] == ["person", "woman", "man", "androgynous"]
    assert len(identities) == 14
    assert browser.js("return document.querySelector('.siblings .here th').innerText") == "trans woman"
    assert browser.js("return document.querySelector('mark.att').textContent") == "honest"
    browser.js("document.querySelector('.siblings tbody a').click()")
    browser.wait("return document.querySelector('#case-title').innerText.endsWith('/person')")
    browser.press("ESCAPE")
    browser.wait("return !document.querySelector('#case').open && !location.hash.includes('case=')")


def test_phrases_are_marked_with_their_gender_and_the_baseline_with_its_difference(
    browser: Browser, sample: Path
) -> None:
    browser.open(sample, "#change=regressed&corpus=mgente&test=test_neutral_where_gender_is_open")
    browser.js("document.querySelector('#rows a').click()")
    browser.wait("return document.querySelector('#case').open && document.querySelector('#case del')")
    marks = browser.js(
        "return [...document.querySelectorAll('#case .said mark')].map((m) => [m.className, m.textContent])"
    )
    assert marks
    assert all(text.endswith("M✕") and name.startswith("M") for name, text in marks)
    whole = browser.js(
        "const box = document.querySelector('#case del').closest('.said').cloneNode(true);"
        "const without = (name) => { const copy = box.cloneNode(true);"
        "copy.querySelectorAll(name).forEach((e) => e.remove()); return copy.textContent; };"
        "return [without('ins'), without('del')]"
    )
    from make_folder import baseline_of

    case = browser.text("#case-title")
    assert whole[0] == baseline_of(sample.parent.parent / "before")[case]["translation"]["text"]
    assert whole[1] == baseline_of(sample.parent)[case]["translation"]["text"]


def test_differences_give_both_texts_back(browser: Browser, sample: Path) -> None:
    import random

    rng = random.Random(5)
    alphabet = ["la", "il", " ", " ", "presidente", "固执", "的", "，", "\n", "é", "\ud83d", "😀", "x"]
    pairs = [["".join(rng.choices(alphabet, k=rng.randrange(25))) for _ in range(2)] for _ in range(300)]
    pairs += [["same text", "same text"], ["", "new"], ["old", ""], ["a " * 3000, "b " * 3000]]
    browser.open(sample)
    wrong = browser.js(
        "return JSON.parse(arguments[0]).filter(([before, after]) => { const pieces = difference(before, after, 'zh');"
        "const side = (other) => pieces.filter(([kind]) => kind !== other).map(([, text]) => text).join('');"
        "return side('come') !== before || side('gone') !== after; }).length",
        json.dumps(pairs),  # a lone surrogate cannot travel to the browser but as an escape
    )
    assert wrong == 0
    pieces = browser.js("return difference('the old man sat', 'the old woman sat', 'en')")
    assert pieces == [["same", "the old "], ["gone", "man"], ["come", "woman"], ["same", " sat"]]


def test_previous_and_next_follow_the_filtered_order(browser: Browser, sample: Path) -> None:
    browser.open(sample, "#identity=gay&sort=eas%20shift&outcome=passed")
    ids = browser.rows()
    browser.js("document.querySelector('#rows a').click()")
    browser.wait("return document.querySelector('#case').open")
    assert browser.js("return document.querySelector('#previous').disabled")
    for each in ids[1:4]:
        browser.js("document.querySelector('#next').click()")
        browser.wait("return document.querySelector('#case-title').innerText === arguments[0]", each)


def test_an_unknown_case_is_said_to_be_unknown(browser: Browser, sample: Path) -> None:
    browser.open(sample, "#case=mgente/en-it/%3Cb%3Enone")
    assert browser.text("#trouble") == "This report has no case mgente/en-it/<b>none."
    browser.open(sample, "#case=%E0%A4%A&outcome=failed&bogus=1")
    assert browser.js("return document.querySelector('#filters [name=outcome]').value") == "failed"


def test_only_the_rows_in_sight_are_in_the_page(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    assert browser.js("return document.querySelectorAll('#rows .row').length") < 40
    browser.js("document.querySelector('#rows').scrollTop = 1e9")
    browser.wait("return document.querySelector('#rows [aria-rowindex=\"265\"]')")
    assert browser.js("return document.querySelectorAll('#rows .row').length") < 40
    order = browser.js("return [...document.querySelectorAll('#rows .row')].map((row) => Number(row.ariaRowIndex))")
    assert order == sorted(order)


def test_the_table_is_worked_by_keys_alone(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    browser.js("document.querySelector('#export').focus()")
    browser.press("TAB")  # the head of the table
    for _ in range(5):
        if browser.js("return document.activeElement.closest('#rows') !== null"):
            break
        browser.press("TAB")
    focused = "return document.activeElement.textContent"
    assert browser.js(focused) == "ambgimt/en-zh/authentic/1/androgynous"
    browser.press("ARROW_DOWN")
    assert browser.js(focused) == "ambgimt/en-zh/authentic/1/bisexual"
    browser.press("END")
    assert browser.js(focused) == "mgente/en-it/S24"
    browser.press("ENTER")
    browser.wait("return document.querySelector('#case').open")
    assert browser.js("return document.activeElement.closest('dialog') !== null")
    browser.press("ESCAPE")
    browser.wait("return !location.hash.includes('case=')")
    assert browser.js(focused) == "mgente/en-it/S24"
    browser.press("HOME")
    assert browser.js(focused) == "ambgimt/en-zh/authentic/1/androgynous"


def test_dark_follows_the_system_and_the_button(browser: Browser, sample: Path) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    browser.open(sample)
    light = browser.js(colour)
    browser.media(prefers_color_scheme="dark")
    browser.wait(f"{colour} !== '{light}'")
    dark = browser.js(colour)
    browser.js("document.querySelector('#theme').click()")
    assert browser.js(colour) == light
    browser.open(sample)
    assert browser.js(colour) == light, "the choice lasts"
    browser.js("document.querySelector('#theme').click(); document.querySelector('#theme').click()")
    assert browser.js(colour) == dark


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_page(browser: Browser, sample: Path, width: int) -> None:
    browser.size(width)
    browser.open(sample, "#case=mgente/en-de/S07")
    browser.wait("return document.querySelector('#case-body').children.length")
    for box in ("document.documentElement", "document.querySelector('#case')"):
        wide, room = browser.js(f"return [{box}.scrollWidth, {box}.clientWidth]")
        assert wide <= room, box


def test_the_csv_holds_what_is_in_sight(browser: Browser, sample: Path) -> None:
    browser.open(sample)
    browser.choose("corpus", "mgente")
    browser.choose("outcome", "unscored")
    text = browser.js(
        "return new Promise((done) => { const real = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then(done); return real.call(URL, blob); };"
        "HTMLAnchorElement.prototype.click = () => {}; document.querySelector('#export').click(); })"
    )
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["id"] for row in rows] == browser.rows()
    assert all(row["error kinds"] for row in rows)
    assert text.endswith("\r\n")


def test_print_shows_light_charts_and_the_first_rows(browser: Browser, sample: Path) -> None:
    import base64

    browser.media(prefers_color_scheme="dark")
    browser.open(sample)
    pdf = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf.startswith(b"%PDF")
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js("return document.querySelectorAll('#rows .row').length") == 24
    assert "The first 24 of 264 cases" in browser.js("return document.querySelector('#print-rest').textContent")
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js("return document.querySelector('#print-rest').textContent") == ""
    assert browser.rows()[0] == "ambgimt/en-zh/authentic/1/androgynous"


@pytest.mark.parametrize(
    ("fragment", "width", "scheme"),
    [
        ("", 1280, "light"),
        ("", 1280, "dark"),
        ("", 390, "light"),
        ("#case=ambgimt/en-zh/authentic/7/gay", 1280, "dark"),
    ],
)
def test_axe_finds_nothing(browser: Browser, sample: Path, axe: str, fragment: str, width: int, scheme: str) -> None:
    browser.media(prefers_color_scheme=scheme)
    browser.size(width)
    browser.open(sample, fragment)
    if fragment:
        browser.wait("return document.querySelector('.siblings')")
    browser.js(axe)
    # In an open dialog the first link of all is one to another case; axe takes it for a link that skips navigation.
    rules = {"skip-link": {"enabled": not fragment}}
    violations = browser.js(
        "return axe.run(document, { rules: arguments[0] }).then((found) => found.violations)", rules
    )
    assert [(each["id"], each["impact"], each["nodes"][0]["html"][:200]) for each in violations] == []


def test_without_decompression_the_page_says_so(browser: Browser, sample: Path, tmp_path: Path) -> None:
    script = {"source": "delete globalThis.DecompressionStream"}
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    try:
        browser.open(sample, ready=False)
        browser.wait("return !document.querySelector('#trouble').hidden")
        assert "cannot unpack the cases" in browser.text("#trouble")
        assert browser.text("main h1") == "No: 1 of 5 gates failed"
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_file_that_was_cut_off_says_so(browser: Browser, sample: Path, tmp_path: Path) -> None:
    page = tmp_path / "cut.html"
    page.write_text(sample.read_text(encoding="utf-8").replace('id="gnt-index-0"', 'id="other"'), encoding="utf-8")
    browser.open(page, ready=False)
    browser.wait("return !document.querySelector('#trouble').hidden")
    assert "index-0 is missing" in browser.text("#trouble")


def test_an_empty_run_opens(browser: Browser, tmp_path: Path) -> None:
    page = write_html(make_folder(tmp_path / "none", Recipe(rows=0, sentences=0, exit_status=5)))
    browser.open(page)
    assert browser.text("main h1") == "Cannot tell: the run ended with an error"
    assert browser.text("#count") == "0 cases"
    assert browser.text("#nothing") == "No case matches."
