"""The built site in a browser, from disk: nothing is asked for from a network, nothing complains, and the search answers.

Needs the extra `docs`. With AXE=.../axe.min.js (npm package axe-core) the rules of accessibility are checked too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweep.report.browser import PHONE, Browser, open_browser

pytest.importorskip("zensical")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PAGES = ("index", "tutorials/regime_map", "explanations/exact_engine", "reference/parameters", "reference/python")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "docs.make", "--quick", "--out", str(out)], cwd=ROOT, check=True)
    return out / "html"


@pytest.fixture
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def show(browser: Browser, page: Path, scheme: str) -> None:
    """Open a page for someone who prefers light or dark pages."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.driver.get(page.as_uri())
    time.sleep(0.3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1300, 1000), PHONE])
def test_pages_are_whole_without_a_network(site: Path, browser: Browser, size: tuple[int, int], scheme: str) -> None:
    browser.resize(*size, mobile=size == PHONE)
    for name in PAGES:
        show(browser, site / f"{name}.html", scheme)
        shown, wide, inner = browser.run(
            "return [document.body.dataset.mdColorScheme, document.documentElement.scrollWidth, window.innerWidth]"
        )
        assert shown == {"light": "default", "dark": "slate"}[scheme]
        assert wide <= inner
        assert browser.run("return [...document.images].filter((each) => each.complete && !each.naturalWidth).length") == 0
        browser.picture(f"site-{name.replace('/', '-')}-{size[0]}-{scheme}")
        browser.resize(*size, mobile=size == PHONE)
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith(("file:", "data:", "blob:"))] == []


def test_formulas_are_typeset_and_code_is_reached_by_the_keyboard(site: Path, browser: Browser) -> None:
    show(browser, site / "explanations" / "exact_engine.html", "light")
    assert browser.run("return document.querySelectorAll('math mfrac').length") >= 2
    assert "$" not in browser.run("return document.querySelector('article').innerText")
    browser.resize(*PHONE, mobile=True)
    show(browser, site / "reference" / "studies.html", "light")
    unreached = "[...document.querySelectorAll('pre > code')].filter((each) => each.scrollWidth > each.clientWidth && each.tabIndex < 0)"
    assert browser.run(f"return {unreached}.length") == 0


def test_the_search_finds_a_parameter(site: Path, browser: Browser) -> None:
    show(browser, site / "index.html", "light")
    browser.driver.find_element("css selector", "body").send_keys("\ue009k")  # Ctrl and k
    time.sleep(0.5)
    browser.driver.switch_to.active_element.send_keys("stribeck_speed")
    results = "[...document.activeElement.shadowRoot.querySelectorAll('a')].map((each) => each.href)"  # the theme's search has its own tree
    found = browser.wait(f"const found = {results}; return found.some((href) => href.includes('parameters.html')) ? found : null")
    assert all(href.startswith("file:") for href in found)


@pytest.mark.skipif("AXE" not in os.environ, reason="AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(site: Path, browser: Browser, scheme: str) -> None:
    for name in PAGES:
        show(browser, site / f"{name}.html", scheme)
        browser.driver.execute_script(Path(os.environ["AXE"]).read_text(encoding="utf-8"))
        found = browser.run("return (await axe.run({ preload: false })).violations")
        serious = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in {"serious", "critical"}]
        assert serious == [], name
