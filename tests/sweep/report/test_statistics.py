"""Quantiles and probabilities over draws, and signals, in a report: compared with numbers counted in the run's rows."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from tests.sweep.conftest import FakeKernels, fake_signals
from tests.sweep.report.browser import Browser, open_browser
from tests.sweep.report.test_report import unpack
from tribosweep.sweep import run
from tribosweep.sweep.analyses.signals import section
from tribosweep.sweep.cli import main
from tribosweep.sweep.report import groups
from tribosweep.sweep.report.content import read_content
from tribosweep.sweep.results.packing import COARSE, FINE

DRAWS: dict[str, Any] = {
    "study": {"name": "draws"},
    "sweep": {
        "design": "draws",
        "count": 60,
        "axes": {
            "a0": {"from": 1.0, "to": 4.0, "count": 4},
            "k": {"from": 0.5, "to": 2.0, "count": 3},
            "mu": {"from": 0.2, "to": 0.6},
        },
    },
}
SIGNALS: dict[str, Any] = {
    "study": {"name": "rattle", "model": "stop"},
    "parameters": {"gap": 0.002, "k_n": 1e5},
    "time": {"end": 4.0},
    "output": {
        "signals": {"interval": 0.01, "segment": 8, "psd": ["x"], "rainflow": {"x": [0.0, 1.0, 2.0]}, "woehler_exponent": 3},
    },
    "sweep": {"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2, 0.3, 0.4]}},
}


def numbers(text: str, count: int) -> np.ndarray:
    """The numbers of a packed statistic."""
    return np.asarray(unpack(text, count, COARSE), dtype=np.float64)


def test_quantiles_and_chances_are_those_of_the_rows(fake: FakeKernels, tmp_path: Path) -> None:
    fake.words_by_value = True
    directory = run(DRAWS, tmp_path / "a").directory
    found = read_content(directory, traces=0).facts["groups"]
    count = found["count"]
    assert (count, found["rows"], found["gridded"], found["sought"]) == (12, [60, 60], True, None)
    table = pd.read_parquet(directory / "points")
    a0, k = (np.asarray(unpack(text, count, FINE), dtype=np.float64) for text in found["places"])
    places = [table[np.isclose(table["a0"], x) & np.isclose(table["k"], y)] for x, y in zip(a0, k, strict=True)]
    for share, statistic in zip((0.05, 0.5, 0.95), found["quantiles"], strict=True):
        expected = [np.quantile(place["wear_power"], share) for place in places]
        np.testing.assert_allclose(numbers(statistic["value"], count), expected, rtol=1e-4)
    median = found["quantiles"][1]
    assert np.all(numbers(median["lower"], count) < numbers(median["value"], count))
    assert np.all(numbers(found["quantiles"][2]["upper"], count) == np.inf)  # 60 rows are too few for the end of a 95 % quantile
    words = [statistic["name"] for statistic in found["chances"]]
    assert set(words) == {f"regime = {word}" for word in table["regime"].unique()}
    for statistic in found["chances"]:
        hits = [int((place["regime"] == statistic["name"].removeprefix("regime = ")).sum()) for place in places]
        np.testing.assert_allclose(numbers(statistic["value"], count), np.array(hits) / 60.0, rtol=1e-4)
        ends = [binomtest(hit, 60).proportion_ci(0.95) for hit in hits]
        np.testing.assert_allclose(numbers(statistic["lower"], count), [end.low for end in ends], rtol=1e-3)
        np.testing.assert_allclose(numbers(statistic["upper"], count), [end.high for end in ends], rtol=1e-3)
        assert {line["of"] for line in statistic["lines"]} <= {"value"}


def test_the_line_of_a_chance_is_where_it_passes_the_level(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tribosweep.sweep.analysis.group_numbers import Interval

    def along(rows: Any, of: Any, event: Any, _areas: Any) -> tuple[str, Interval]:  # a probability that is a0 / 4
        first = np.unique(of.of, return_index=True)[1]
        chance = rows.along(rows.axes[0])[first] / 4.0
        return str(event), Interval(chance, chance - 0.1, chance + 0.1)

    monkeypatch.setattr(groups, "probability_in", along)
    fake.words_by_value = True
    found = read_content(run(DRAWS, tmp_path / "a").directory, traces=0).facts["groups"]
    (line,) = [line for line in found["chances"][0]["lines"] if line["level"] == 0.5]
    assert [value for value in line["x"] if value is not None] == pytest.approx([2.0] * (len(line["x"]) - 1))
    assert line["x"][-1] is line["y"][-1] is None


def test_without_draws_there_are_no_statistics_and_many_places_are_named(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = run({"sweep": {"axes": {"a0": [1.0, 2.0, 3.0], "mu": [0.1, 0.2]}}}, tmp_path / "grid").directory
    assert read_content(grid, traces=0).facts["groups"] is None
    assert read_content(grid, traces=0).facts["sections"].get("signals") is None
    single = read_content(grid, traces=0, over=("mu",)).facts["groups"]
    assert (single["count"], single["rows"], single["gridded"]) == (3, [2, 2], False)
    monkeypatch.setattr(groups, "MOST_PLACES", 5)
    content = read_content(run(DRAWS, tmp_path / "a").directory, traces=0)
    assert content.facts["groups"] is None
    assert any("more than 5 places" in note for note in content.facts["notes"])
    assert len(fake.calls) == 2


def test_draws_that_vary_alone_are_the_axis(fake: FakeKernels, tmp_path: Path) -> None:
    random = {"band": [1.0, 20.0], "rms": 1.0, "duration": 1.0, "interval": 0.01}
    alone = {
        "sweep": {"axes": {"draw": {"from": 0, "to": 4, "spacing": "integer"}}},
        "time": {"end": 1.0},
        "excitation": {"random": random},
    }
    directory = run({"study": {"name": "alone"}, **alone}, tmp_path / "alone").directory
    facts = read_content(directory, traces=0).facts
    assert [axis["name"] for axis in facts["axes"]] == ["draw"]
    assert main(["report", str(directory), "--traces", "0"]) == 0


def test_rows_above_each_other_are_told(fake: FakeKernels, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    axes = {name: {"from": 1.0, "to": 4.0} for name in ("a0", "k", "m")}
    directory = run({"sweep": {"design": "morris", "count": 40, "axes": axes}}, tmp_path / "a").directory
    table = pd.read_parquet(directory / "points")
    said = f"160 points lie at {len(table[['k', 'm']].drop_duplicates())} places, one above the other"
    assert any(note.startswith(said) for note in read_content(directory, "k", "m", traces=0).facts["notes"])
    capsys.readouterr()
    assert main(["map", str(directory), "--x", "k", "--y", "m"]) == 0
    assert said in capsys.readouterr().err
    assert main(["map", str(directory), "--x", "k", "--y", "m", "--over", "a0"]) == 0
    assert "above the other" not in capsys.readouterr().err
    assert len(fake.calls) == 1


def rising(model: Any, _scheme: str, asked: Any, columns: Any, _absent: Any, status: np.ndarray, _records: Any) -> Any:
    """Signals that grow with a0 and mu."""
    size = np.broadcast_to(columns["a0"] * (1.0 + columns["mu"]), len(status))
    return {name: size if not q.length else np.outer(size, 1.0 + np.arange(q.length)) for name, (q, _) in asked.columns(model).items()}


@pytest.fixture
def rattle(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    import tribosweep.kernels.batch.sampled

    monkeypatch.setattr(tribosweep.kernels.batch.sampled, "signals", rising)
    assert fake_signals is not rising
    assert not fake.calls
    return run(SIGNALS, tmp_path / "rattle").directory


def test_signals_are_medians_with_a_band_over_rows(rattle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = read_content(rattle, traces=0, over=("mu",)).facts["sections"]["signals"]
    assert [panel["name"] for panel in apart["panels"]] == ["psd_x", "rainflow_x"]
    psd, rainflow = apart["panels"]
    assert psd["entries"] == pytest.approx(np.fft.rfftfreq(8, 0.01))
    assert [(curve["name"], curve["rows"]) for curve in rainflow["curves"]] == [("a0 = 1", 4), ("a0 = 2", 4)]
    expected = np.quantile([1.1, 1.2, 1.3, 1.4], [0.16, 0.5, 0.84])[:, None] * [1.0, 2.0, 3.0]
    np.testing.assert_allclose([numbers(text, 3) for text in rainflow["curves"][0]["values"]], expected, rtol=1e-4)
    single = [(line["curve"], line["total"], line["largest"]) for line in apart["numbers"] if line["signal"] == "equivalent_range_x"]
    assert single == [("a0 = 1", pytest.approx(1.25), None), ("a0 = 2", pytest.approx(2.5), None)]
    together = read_content(rattle, traces=0).facts["sections"]["signals"]  # eight places are too many curves
    assert [(curve["name"], curve["rows"]) for curve in together["panels"][0]["curves"]] == [("", 8)]
    monkeypatch.setattr(section, "MOST_ENTRIES", 3)
    coarse = read_content(rattle, traces=0).facts["sections"]["signals"]["panels"][0]
    assert (coarse["stride"], coarse["entries"]) == (2, pytest.approx([6.25, 31.25, 50.0]))  # 0 and 12.5, 25 and 37.5, and 50 Hz
    monkeypatch.setattr(section, "MOST_ROWS", 3)
    content = read_content(rattle, traces=0)
    assert "signals" not in content.facts["sections"]
    assert any("more than 3 rows" in note for note in content.facts["notes"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    with open_browser() as opened:
        yield opened


@pytest.mark.slow
def test_the_page_draws_statistics_and_signals(browser: Browser, fake: FakeKernels, rattle: Path, tmp_path: Path) -> None:
    fake.words_by_value = True
    drawn = run(DRAWS, tmp_path / "a").directory
    for directory, options in ((drawn, []), (rattle, ["--over", "mu"])):
        assert main(["report", str(directory), "--traces", "0", *options]) == 0
        browser.open(directory / "report.html")
        assert browser.complaints() == []
        shown = browser.run("return ['groups', 'signals'].map((id) => !!element(id) && !element(id).hidden)")
        assert shown == ([True, False] if directory == drawn else [True, True])
        if directory == drawn:
            kinds = browser.run("return ['quantiles', 'chances'].map((id) => element(`${id}-chart`).data[0].type)")
            assert kinds == ["heatmap", "heatmap"]
            largest = browser.run("return Math.max(...element('quantiles-chart').data[0].z)")
            browser.run("element('quantile').value = 2; await drawGroups('quantile')")
            assert browser.run("return Math.max(...element('quantiles-chart').data[0].z)") > largest
        else:
            assert browser.run("return [...element('signal-charts').children].map((chart) => chart.data.length)") == [4, 4]
        browser.picture(f"report_statistics_{directory.name}")


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["show", "draw"])
def test_a_section_that_fails_says_so_and_the_page_goes_on(broken: str, browser: Browser, rattle: Path) -> None:
    assert main(["report", str(rattle), "--traces", "0", "--over", "mu"]) == 0
    page = rattle / "report.html"
    text = page.read_text(encoding="utf-8")
    script = re.search(r"<script>(\"use strict\";.*?)</script>", text, re.DOTALL)
    assert script
    head = {"show": "  show(found) {\n", "draw": "  async draw(found) {\n"}[broken]
    start, rest = script[1].split("sections.signals = {\n")
    faulty = f"{start}sections.signals = {{\n{rest.replace(head, head + '    throw new Error(`no such chart`);', 1)}"
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script[1], faulty)]
    page.write_text(text.replace(script[1], faulty).replace(*hashes), encoding="utf-8")
    browser.open(page)
    assert (
        browser.run("return element('signals').querySelector('.failure').textContent") == "This part cannot be shown here: no such chart."
    )
    assert browser.run("return element('map').data.length") > 0
    assert browser.run("return !element('groups').hidden && element('quantiles-chart').data.length > 0")
    (complaint,) = browser.complaints()
    assert "no such chart" in complaint
