"""The page in a browser: a brush changes the counts of the other views, and they are those of pandas."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sweep.explore.conftest import SmallRun, serving
from tests.sweep.report.browser import PHONE, Browser, open_browser
from tribosweep.sweep.explore import rows as module


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(small: SmallRun) -> Iterator[str]:
    """Where the small run is served."""
    with serving(small.directory) as (found, _rows):
        yield found


def open_page(browser: Browser, address: str) -> None:
    """Open the page and wait until its views have shown all rows."""
    browser.requests()
    browser.driver.get("about:blank")
    browser.driver.get(address)
    browser.wait("return document.body.dataset.rows === '2400' && board.views.every((view) => view.counts || view.cells)")


def rows_become(browser: Browser, count: int) -> None:
    """Wait until that many rows pass the filters."""
    browser.wait(f"return document.body.dataset.rows === '{count}'")


def drag(browser: Browser, view: str, first: tuple[float, float], last: tuple[float, float]) -> None:
    """Drag the pointer over a view, from one part of its width and height (from its lower left corner) to another."""
    script = (
        f"const view = board.views.find(({{ key }}) => key === '{view}'); view.frame.box.scrollIntoView({{ block: 'center' }});"
        "const box = view.frame.box.getBoundingClientRect(), { left, top, width, height } = view.frame.inner;"
        "return [box.left + left, box.top + top, width, height]"
    )
    left, top, width, height = browser.run(script)
    places = [(left + x * width, top + (1.0 - y) * height) for x, y in (first, last)]
    middle = tuple(sum(each) / 2 for each in zip(*places, strict=True))
    steps = (
        ("mouseMoved", places[0]),
        ("mousePressed", places[0]),
        ("mouseMoved", middle),
        ("mouseMoved", places[1]),
        ("mouseReleased", places[1]),
    )
    for kind, (x, y) in steps:
        more = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "mouseMoved" or (x, y) != places[0] else {}
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})


def test_a_brush_changes_the_other_views_to_the_counts_of_pandas(browser: Browser, address: str, small: SmallRun) -> None:
    open_page(browser, address)
    table = small.table
    drag(browser, "a0", (0.25, 0.5), (0.5, 0.5))  # bins 15 to 29 of the 60 values
    values = sorted(table["a0"].unique())
    brushed = table[(table["a0"] >= values[15]) & (table["a0"] <= values[29])]
    rows_become(browser, len(brushed))
    words = browser.run("const v = board.views.find(({ key }) => key === 'regime'); return [v.column.words, [...v.counts]]")
    assert {words[0][int(code)]: int(n) for code, n in words[1]} == brushed["regime"].value_counts().to_dict()
    assert browser.run("return [...board.views.find(({ key }) => key === 'mu').counts]") == [15] * 40
    assert browser.run("return [...board.views.find(({ key }) => key === 'a0').counts]") == [40] * 60  # its own brush does not filter it

    browser.run("document.querySelectorAll('.words button')[1].click()")  # stick-slip
    both = brushed[brushed["regime"] == words[0][1]]
    rows_become(browser, len(both))
    assert 0 < len(both) < len(brushed)
    shown = browser.wait("return [...document.querySelectorAll('#filters li')].map((each) => each.textContent)")
    assert len(shown) == 2
    assert shown[1].startswith(f"regime: {words[0][1]}")
    first = browser.wait("return document.querySelector('tbody th button').textContent")
    assert int(first.replace(",", "")) == both["point"].min()

    browser.run("document.getElementById('clear').click()")
    rows_become(browser, 2400)
    assert not browser.complaints()
    assert all(each.startswith((address, "about:", "data:")) for each in browser.requests())


def test_a_rectangle_on_the_map_selects_its_cells(browser: Browser, address: str, small: SmallRun) -> None:
    open_page(browser, address)
    drag(browser, "map", (0.25, 0.5), (0.75, 0.75))
    a0, mu = (sorted(small.table[name].unique()) for name in ("a0", "mu"))
    inside = small.table[small.table["a0"].between(a0[15], a0[44]) & small.table["mu"].between(mu[20], mu[29])]
    rows_become(browser, len(inside))
    words = dict(
        browser.run(
            "const v = board.views.find(({ key }) => key === 'regime'); return [...v.counts].map(([c, n]) => [v.column.words[c], n])"
        )
    )
    assert words == {word: n for word, n in inside["regime"].value_counts().items() if n}


def test_limits_are_typed_by_keyboard(browser: Browser, address: str, small: SmallRun) -> None:
    open_page(browser, address)
    browser.run(
        "const v = board.views.find(({ key }) => key === 'wear_power'); v.from.focus(); v.from.value = '5'; v.to.value = '10';"
        "v.to.dispatchEvent(new Event('change'))"
    )
    chosen = small.table["wear_power"].between(5.0, 10.0, inclusive="left")
    rows_become(browser, int(chosen.sum()))
    assert browser.run("const v = board.views.find(({ key }) => key === 'wear_power'); return [v.from.value, v.to.value]") == ["5", "10"]
    assert not browser.complaints()


@pytest.mark.slow
def test_a_range_drops_rows_without_a_value_even_around_all_values(browser: Browser, small: SmallRun) -> None:
    least = float(small.table["wear_power"].min())
    with serving(small.directory) as (address, rows):
        rows._connection.execute("UPDATE loaded SET wear_power = NULL WHERE point % 24 = 0")  # noqa: SLF001 (100 rows)
        open_page(browser, address)
        view = "const v = board.views.find(({ key }) => key === 'wear_power');"
        assert browser.run(f"{view} return v.without.textContent") == "100 without"
        # typed: the limits that the fields show, and wider ones
        for low, high in (("v.from.value", "v.to.value"), (repr(str(least - 1.0)), "'1e9'")):
            browser.run(f"{view} v.from.value = {low}; v.to.value = {high}; v.to.dispatchEvent(new Event('change'))")
            rows_become(browser, 2300)
            browser.run("document.getElementById('clear').click()")
            rows_become(browser, 2400)
        drag(browser, "wear_power", (0.0, 0.5), (0.999, 0.5))
        rows_become(browser, 2300)
        assert not browser.complaints()


@pytest.mark.slow
def test_a_click_on_a_cell_shows_its_row_and_trace(browser: Browser, address: str, small: SmallRun) -> None:
    open_page(browser, address)
    drag(browser, "map", (0.7583, 0.5125), (0.7583, 0.5125))  # the middle of cell (45, 20)
    browser.wait("return document.querySelectorAll('#trace path.line').length === 3", within=60.0)
    a0, mu = (sorted(small.table[name].unique()) for name in ("a0", "mu"))
    (row,) = small.table[(small.table["a0"] == a0[45]) & (small.table["mu"] == mu[20])].to_dict("records")
    assert browser.run("return board.trace.point") == row["point"]
    values = browser.run(
        "return [...document.querySelectorAll('#trace dt')].map((each) => [each.textContent, each.nextSibling.textContent])"
    )
    assert float(dict(values)["wear_power [W]"]) == pytest.approx(row["wear_power"], rel=1e-6)
    assert dict(values)["regime"] == row["regime"]
    assert not browser.complaints()


@pytest.mark.slow
def test_other_columns_can_be_chosen_and_filters_stay(browser: Browser, address: str, small: SmallRun) -> None:
    open_page(browser, address)
    browser.run("const v = board.views.find(({ key }) => key === 'mu'); v.set([[0, 9]]); v.place()")
    rows_become(browser, 600)
    browser.run("board.adding.value = 'stick_fraction'; board.adding.dispatchEvent(new Event('change'))")
    browser.wait("return board.views.find(({ key }) => key === 'stick_fraction')?.counts")
    rows_become(browser, 600)
    counts = browser.run(
        "const v = board.views.find(({ key }) => key === 'stick_fraction'); return v.counts.reduce((a, b) => a + b) + v.none"
    )
    assert counts == 600
    browser.run("const s = document.querySelectorAll('#map select')[2]; s.value = 'wear_power'; s.dispatchEvent(new Event('change'))")
    browser.wait("return document.querySelector('#map .ramp') && board.views[0].cells")
    low = small.table.loc[small.table["mu"].isin(sorted(small.table["mu"].unique())[:10])]
    mean = browser.wait("const { cells, all } = board.views[0]; return cells.rows.some((n) => !n) && cells.value[9 * 60 + 59]")
    (expected,) = low[(low["a0"] == low["a0"].max()) & (low["mu"] == low["mu"].max())]["wear_power"]
    assert mean == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_brush_that_takes_long_to_prepare_says_so(browser: Browser, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page(browser, address)
    keep = module.Rows.keep

    def slowly(self: module.Rows, *given: Any) -> None:
        time.sleep(0.2)
        keep(self, *given)

    monkeypatch.setattr(module.Rows, "keep", slowly)
    assert browser.run("return document.getElementById('busy').hidden")
    browser.run("board.data.expect(board.views.find(({ key }) => key === 'wear_energy'))")
    browser.wait("return !document.getElementById('busy').hidden")
    browser.wait("return document.getElementById('busy').hidden")
    assert not browser.complaints()


@pytest.mark.slow
def test_the_page_fits_a_phone_and_every_control_has_a_name(browser: Browser, address: str) -> None:
    browser.resize(*PHONE, mobile=True)
    open_page(browser, address)
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
    unnamed = (
        "const named = (each) => each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length;"
        "return [...document.querySelectorAll('button, input, select')].filter((each) => !named(each)).length"
    )
    assert browser.run(unnamed) == 0
    browser.resize(1280, 900)


@pytest.mark.slow
def test_all_rows_of_a_large_run_are_counted_on_request(browser: Browser, small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SMALL", 1000)
    monkeypatch.setattr(module, "SAMPLE", 600)
    with serving(small.directory) as (address, _rows):
        browser.driver.get(address)
        browser.wait("return board.data && document.body.dataset.rows")
        assert 450 < int(browser.run("return document.body.dataset.rows")) < 750
        assert "sampled rows" in browser.text("count")
        assert browser.text("which") == "A sample is shown: one row in 4, chosen by a hash of its number."
        browser.run("document.getElementById('all-rows').click()")
        rows_become(browser, 2400)
        assert browser.text("which").startswith("All rows are counted.")
        browser.run("const v = board.views.find(({ key }) => key === 'mu'); v.set([[3, 12]]); v.place()")
        rows_become(browser, 600)
        words = dict(
            browser.run(
                "const v = board.views.find(({ key }) => key === 'regime'); return [...v.counts].map(([c, n]) => [v.column.words[c], n])"
            )
        )
        inside = small.table[small.table["mu"].isin(sorted(small.table["mu"].unique())[3:13])]
        assert words == {word: n for word, n in inside["regime"].value_counts().items() if n}
        assert not browser.complaints()
