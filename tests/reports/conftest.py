"""A real browser for the tests of the HTML report, and report folders to open in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import FLAGS, Browser
from make_folder import Recipe, baseline_of, make_folder
from make_summary import example_gates

from pytest_gnt.reports.html import write_html

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium; tests that need it are skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (extra: dev)")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("no browser: install chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    folder = tmp_path_factory.mktemp("chromium")
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    made.set_script_timeout(30)
    yield made
    made.quit()


@pytest.fixture
def browser(driver: Any) -> Iterator[Browser]:
    """A browser at desktop size with the system's light theme."""
    made = Browser(driver)
    made.size(1280)
    made.media(prefers_color_scheme="light")
    yield made
    assert made.complaints() == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which is not part of the project."""
    path = Path(os.environ.get("GNT_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
    if not path.is_file():
        pytest.skip("no axe-core: npm install --no-save axe-core, or set GNT_AXE to its axe.min.js")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small run, compared with an older one."""
    folder = tmp_path_factory.mktemp("sample")
    make_folder(folder / "before", Recipe(version=1))
    now = make_folder(folder / "now", Recipe(version=2, gates=example_gates()))
    return write_html(now, baseline_of(folder / "before"))
