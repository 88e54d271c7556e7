"""Screenshots of a report, for the documentation: light, dark, phone, one case, and the small one of the README.

    python scripts/screenshots.py FOLDER OUT [--case ID] [--readme docs/img/report.png]

FOLDER is a report folder that holds report.html. Needs selenium, chromium and chromedriver.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 200_000
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def start(profile: str) -> Any:
    """A headless Chromium."""
    from selenium import webdriver

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        sys.exit("no browser: install chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))


def show(driver: Any, page: Path, fragment: str, width: int, height: int, scheme: str) -> None:
    """Open the page and wait until its cases are there."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get("about:blank")
    driver.get(page.resolve().as_uri() + fragment)
    end = time.monotonic() + 30
    while not driver.execute_script("return document.documentElement.dataset.ready"):
        if time.monotonic() > end:
            sys.exit(f"{page} never became ready")
        time.sleep(0.05)
    time.sleep(0.3)  # a dialog is drawn after the cases are read


def shoot(driver: Any, path: Path, *, whole: bool = False) -> Path:
    """Write what is in sight, or the whole page, as PNG."""
    width, height = driver.execute_script(
        "return [innerWidth, arguments[0] ? document.documentElement.scrollHeight : innerHeight]", whole
    )
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    settings = {"captureBeyondViewport": True, "clip": clip} if whole else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", settings)["data"]))
    print(f"{path}: {width} x {height}, {path.stat().st_size:,} bytes")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="report folder that holds report.html")
    parser.add_argument("out", type=Path, help="folder for the screenshots")
    parser.add_argument("--case", help="case id to open (default: the first in the table)")
    parser.add_argument("--readme", type=Path, help="where to write the small screenshot of the top")
    options = parser.parse_args()
    page = options.folder / "report.html"
    if not page.is_file():
        sys.exit(f"{options.folder} holds no report.html: write it with  gnt report {options.folder}")
    with tempfile.TemporaryDirectory() as profile:
        driver = start(profile)
        try:
            show(driver, page, "", 1280, 900, "light")
            first = driver.execute_script("return document.querySelector('#rows a')?.textContent")
            shoot(driver, options.out / "light.png", whole=True)
            show(driver, page, "", 1280, 900, "dark")
            shoot(driver, options.out / "dark.png", whole=True)
            show(driver, page, "", 390, 844, "light")
            shoot(driver, options.out / "phone.png", whole=True)
            if case := options.case or first:
                show(driver, page, f"#case={case.replace('%', '%25')}", 1280, 1100, "light")
                shoot(driver, options.out / "case.png")
            if options.readme:
                show(driver, page, "", 1180, 1000, "light")
                if shoot(driver, options.readme).stat().st_size > MOST_BYTES:
                    sys.exit(f"{options.readme} is larger than {MOST_BYTES:,} bytes")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
