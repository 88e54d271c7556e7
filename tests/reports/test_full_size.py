"""The whole of both benchmarks, 49,624 cases: how large the page is, what it takes to write and to open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from chromium import Browser
from make_folder import Recipe, make_folder
from make_summary import example_gates

CASES = 49_624
MOST_BYTES = 25_000_000
MOST_MILLISECONDS = 3_000
MOST_MEMORY = 400_000_000

MEASURE = """
import re, sys
from pathlib import Path
from pytest_gnt.reports.html import write_html
write_html(Path(sys.argv[1]))
# Not ru_maxrss: a new program inherits that of the process which started it.
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""


class Written(NamedTuple):
    """A page, and the largest memory of the process that wrote it, in bytes."""

    page: Path
    memory: int


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = make_folder(tmp_path_factory.mktemp("full"), Recipe(rows=1500, sentences=3116, gates=example_gates()))
    done = subprocess.run([sys.executable, "-c", MEASURE, str(folder)], capture_output=True, text=True, check=True)
    return Written(folder / "report.html", int(done.stdout))


def test_the_file_and_the_memory_are_small(written: Written) -> None:
    assert written.page.stat().st_size <= MOST_BYTES
    assert written.memory <= MOST_MEMORY


def test_it_is_usable_soon_and_stays_quick(browser: Browser, written: Written, record_property) -> None:
    times = []
    for _ in range(3):
        browser.open(written.page, "#case=ambgimt/en-zh/synthesized/2001/queer")
        times.append(int(browser.js("return Number(document.documentElement.dataset.ready)")))
    record_property("usable_ms", times)
    # The machine may be busy with other tests: the best of three is the page's own time.
    assert min(times) <= MOST_MILLISECONDS
    assert browser.text("#count") == f"{CASES:,} cases"
    browser.wait("return document.querySelectorAll('.siblings tbody tr').length === 14")
    assert browser.js("return document.querySelectorAll('.row').length") < 60
    browser.press("ESCAPE")
    browser.wait("return !location.hash.includes('case=')")
    spent = browser.js(
        "const start = performance.now(); const field = document.querySelector('#filters [name=outcome]');"
        "field.value = 'failed'; field.dispatchEvent(new Event('change', { bubbles: true }));"
        "return performance.now() - start"
    )
    assert spent < MOST_MILLISECONDS / 3
    browser.choose("q", "stubborn")
    browser.wait("return document.querySelector('#count').innerText.includes(' of 49,624 cases')")
