"""Headless Chromium for tests of pages: what it asks for, what it complains of, and what it looks like."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

OUTPUT = Path(__file__).resolve().parents[3] / "test-output"
PHONE = (390, 844)


class Browser:
    """A browser that is open."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, within: float = 30.0) -> dict[str, float]:
        """Open a report and wait until it is complete: when it was painted, ready and complete [s]."""
        self.driver.get(page.as_uri())
        until = time.monotonic() + within
        while time.monotonic() < until:
            times = self.run("return {...document.body.dataset}")
            if "complete" in times:
                return {name: float(value) for name, value in times.items()}
            time.sleep(0.05)
        raise TimeoutError(f"{page} is not there after {within} s: {times}, {self.complaints()}")

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns; it may await."""
        waiting = "const done = arguments[arguments.length - 1]; (async (...arguments_) => {" + script + "})(...arguments).then(done)"
        return self.driver.execute_async_script(waiting, *arguments)

    def text(self, name: str) -> str:
        """The text of an element."""
        return self.driver.find_element(By.ID, name).text

    def move(self, x: float, y: float, click: bool = False) -> None:
        """Move the pointer to a part of the map's width and height from its lower left corner."""
        box = self.run(
            "const { box, width, height } = frameSize(); return [box.left + pixels('left'), box.top + pixels('top'), width, height]"
        )
        place = {"x": box[0] + x * box[2], "y": box[1] + (1.0 - y) * box[3]}
        for kind in ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ())):
            more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **place, **more})

    def wait(self, script: str, within: float = 10.0) -> Any:
        """Wait until a script returns something, and return that."""
        until = time.monotonic() + within
        while time.monotonic() < until:
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise TimeoutError(script)

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        """Give the screen another size."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def complaints(self) -> list[str]:
        """What the console says."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def picture(self, name: str) -> Path:
        """The whole page as a PNG in the output of the tests."""
        OUTPUT.mkdir(exist_ok=True)
        width, height = self.run("return [window.innerWidth, document.documentElement.scrollHeight]")
        self.resize(width, height, mobile=width < 500)
        time.sleep(0.5)  # charts fit themselves to the screen
        path = OUTPUT / f"{name}.png"
        assert self.driver.save_screenshot(str(path))
        return path


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A headless Chromium; without one the test is skipped, in CI it fails."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        message = "needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    options = Options()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    try:
        chrome.set_script_timeout(30)
        yield Browser(chrome)
    finally:
        chrome.quit()
