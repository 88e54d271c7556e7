"""A headless Chromium as the tests use it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)


class Browser:
    """The few things that tests do with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def size(self, width: int, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def media(self, **features: str) -> None:
        """Emulate media features, e.g. ``prefers_color_scheme="dark"``."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})

    def open(self, page: Path, fragment: str = "", ready: bool = True) -> None:
        """Load a page anew and wait until its cases are usable."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(page.as_uri() + fragment)
        if ready:
            self.wait("return document.documentElement.dataset.ready")

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, *arguments: Any, seconds: float = 20.0) -> Any:
        """Wait until a script returns something true."""
        end = time.monotonic() + seconds
        while not (value := self.js(script, *arguments)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)
        return value

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0]).innerText", selector))

    def choose(self, name: str, value: str) -> None:
        """Set one of the filters as a reader would."""
        self.js(
            "const field = document.querySelector(`#filters [name=${arguments[0]}]`); field.value = arguments[1];"
            "field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }))",
            name,
            value,
        )
        if name == "q":
            time.sleep(0.2)  # the page waits for the end of typing

    def rows(self) -> list[str]:
        """Case ids of the rows in the page, from the top."""
        return list(self.js("return [...document.querySelectorAll('#rows .row a')].map((link) => link.textContent)"))

    def fragment(self) -> str:
        return str(self.js("return location.hash"))

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.driver).send_keys(getattr(Keys, key)).perform()

    def complaints(self) -> list[str]:
        """Errors of the page since it was opened: failures of its script, violations of its security policy."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
