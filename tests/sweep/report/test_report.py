"""Reports: one file that shows a run in a browser without a network, and says what it cannot show."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.image import imread

from tests.sweep.conftest import FakeKernels
from tests.sweep.report.browser import PHONE, Browser, open_browser
from tribosweep.sweep import ConfigError, run
from tribosweep.sweep.analysis.map_areas import FAILED, codes
from tribosweep.sweep.cli import main
from tribosweep.sweep.report import columns as report_columns
from tribosweep.sweep.report import content as report_content
from tribosweep.sweep.report.columns import MOST_FINE
from tribosweep.sweep.report.content import read_content
from tribosweep.sweep.report.labels import html_label
from tribosweep.sweep.report.traces import last_part, together, trace_together
from tribosweep.sweep.results.packing import COARSE, FINE, pack_floats, pack_integers
from tribosweep.sweep.study.load import load

A0 = {"from": 1.0, "to": 10.0, "count": 12}
MU = {"from": 0.02, "to": 0.8, "count": 9, "spacing": "log"}
ROD: dict[str, Any] = {
    "study": {"name": "rod", "model": "body", "scheme": "euler"},
    "structure": {"directions": "xy"},
    "supports": {"ring": {"obstacle": "ring"}, "stop": {"normal": [0.0, 1.0, 0.0], "gap": 1e-3}},
    "loads": {"east": {"amplitude": 400.0, "omega": 157.0}, "north": {"direction": [0, 1, 0], "amplitude": 350.0, "omega": 195.0}},
    "parameters": {"m": 0.5, "k": 3e4, "c": 3.0, "k_n": 5e5, "c_n": 30.0, "c_t": 20.0},
    "time": {"end": 0.2, "step": 2e-5},
    "sweep": {"axes": {"gap[ring]": [4e-4, 6e-4, 8e-4], "mu": [0.1, 0.3]}},
}
CONFIGS = Path(__file__).resolve().parents[3] / "configs"
MOST_BYTES = 20_000_000
MOST_SECONDS = 3.0
SLACK = 4.0  # a machine that does other things besides
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    with open_browser() as opened:
        yield opened


def report(sections: dict[str, Any], folder: Path, *options: str) -> Path:
    """Run a study and write its report."""
    directory = run(sections, folder / "run").directory
    assert main(["report", str(directory), *options]) == 0
    return directory / "report.html"


def facts_of(page: Path) -> dict[str, Any]:
    """What a report says of its run."""
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


@pytest.mark.slow
def test_the_traces_of_a_structure_are_those_of_its_rows_at_the_support() -> None:
    loads = {name: {**each, "channel": 0} for name, each in ROD["loads"].items()}
    random = {"spectrum": [[5.0, 1.0], [50.0, 1.0]], "duration": 0.3, "interval": 1e-3, "seed": 1}
    config = load({**ROD, "loads": loads, "excitation": {"random": random}})
    rows = [{**config.fixed, "gap[ring]": 4e-4, "mu": 0.1, "draw": float(draw)} for draw in (3, 0)]
    assert last_part(config.model, rows[0]) == 0.0  # ten periods are longer than the run
    assert last_part(config.model, rows[0] | {"end": 1.0}) == pytest.approx(1.0 - 10 * 2.0 * np.pi / 157.0)
    still = {"amplitude[east]": 0.0, "amplitude[north]": 0.0, "end": 1.0}
    assert last_part(config.model, rows[0] | still) == pytest.approx(1.0 - 10 * 2.0 * np.pi * (0.5 / 3e4) ** 0.5)
    given, bank = together(config.excitation, rows)
    assert bank is not None
    assert [row["record"] for row in given] == [0.0, 1.0]
    excitation: Any = config.excitation
    np.testing.assert_array_equal(bank.samples.reshape(2, -1), [excitation.draw(3).ravel(), excitation.draw(0).ravel()])
    found = trace_together(config, "euler", rows)
    assert [each is not None and each["normal_force[ring]"].max() > 0.0 for each in found] == [True, True]


# ---- in a browser


@pytest.mark.slow
def test_a_report_shows_rows_slices_and_traces(browser: Browser, tmp_path: Path) -> None:
    sections = {"study": {"name": "small"}, "time": {"window": [4.0, 12.0]}, "sweep": {"axes": {"a0": A0, "mu": MU}}}
    page = report(sections, tmp_path, "--traces", "12")
    rows = pd.read_parquet(page.parent / "points").sort_values(["mu", "a0"], ignore_index=True)
    browser.resize(1280, 900)
    browser.open(page)
    # what the page has unpacked is what the run holds
    for name in ("wear_power", "drift", "x_end"):
        unpacked = browser.run("return Array.from(await column(arguments_[0]))", name)
        np.testing.assert_array_equal(np.array(unpacked, np.float32), rows[name].to_numpy(np.float32))
    # the row under the pointer: a corner, then another
    for (x, y), number in (((0.99, 0.99), len(rows) - 1), ((0.01, 0.01), 0)):
        browser.move(x, y)
        browser.wait(f"return document.getElementById('row-values').dataset.row === '{number}'")
        assert browser.text("row-title") == f"Point {rows['point'][number]}"
        said = browser.text("row-values")
        assert f"{rows['regime'][number]}" in said
        for name in ("a0", "mu", "wear_power"):
            found = re.search(rf"^{name} (\S+)( \S+)?$", said, re.MULTILINE)
            assert found
            assert float(found[1]) == pytest.approx(rows[name][number], rel=1e-6)
    # slices through it
    browser.wait("return document.getElementById('slice-x').data?.length")
    slices = browser.run("return ['slice-x', 'slice-y'].map((id) => Array.from(document.getElementById(id).data[0].y))")
    for heights, name in zip(slices, ("mu", "a0"), strict=True):
        np.testing.assert_allclose(heights, rows[rows[name] == rows[name][0]]["wear_power"].to_numpy(np.float32))
    # a click chooses the nearest trace and says so
    before = browser.run("return document.getElementById('trace').dataset.point")
    browser.move(0.97, 0.03, click=True)
    browser.wait(f"return document.getElementById('trace').dataset.point !== '{before}'")
    said = browser.text("trace-title")
    assert "nearest of" in said
    chosen = int(browser.run("return document.getElementById('trace').dataset.point"))
    assert said.startswith(f"Point {chosen} (a0 = ")
    assert rows.set_index("point")["a0"][chosen] > 6.0
    assert rows.set_index("point")["mu"][chosen] < 0.1
    moments = browser.run("return ['motion', 'loop'].map((id) => document.getElementById(id).data[0].x.length)")
    assert min(moments) > 100
    # another shade, by the keyboard another row
    browser.run("document.getElementById('shade').value = 'drift'; document.getElementById('shade').dispatchEvent(new Event('change'))")
    browser.wait("return state.shade.name === 'drift'")
    browser.run("document.getElementById('frame').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true }))")
    browser.wait("return Number(document.getElementById('row-values').dataset.row) === 11 + 12")
    assert "float64" in browser.text("provenance")
    assert browser.run("return document.getElementById('technical').textContent.includes('config_hash')")
    assert 'name = "small"' in browser.text("config")
    assert browser.text("statuses").split() == ["ok", "108"]
    # the colour bar goes from the least to the largest value, and a friction loop is one whole period, closed if it returns
    at = "Array.from(document.querySelectorAll('#ticks span'), (each) => [Number(each.textContent), parseFloat(each.style.left)])"
    ticks, (low, high) = np.array(browser.run(f"return {at}")), browser.run("return state.range")
    assert len(ticks) > 2
    np.testing.assert_allclose(ticks[:, 1], 100.0 * (ticks[:, 0] - low) / (high - low), atol=0.1)
    # (x = 0, 1, 2, 1, 0, ... at whole seconds, of which the last 3.5 s are asked for, or the last 4 s, after which it returns)
    loop = "const t = { x: [0, 1, 2, 1, 0, 1, 2, 1, 0] }; return lastLoop(t, arguments_[0], arguments_[1])(t.x)"
    assert browser.run(loop, 5, 0.5) == [0.5, 1, 2, 1, 0]
    assert browser.run(loop, 5, 0.0) == [0, 1, 2, 1, 0, 0]
    # words and lists do not squeeze the names beside them, and no unit is cut off
    assert browser.run("const box = document.getElementById('row-values'); return box.scrollWidth <= box.clientWidth")
    assert browser.run("return document.querySelector('#row-values td').getBoundingClientRect().width") > 60
    assert imread(browser.picture("report-small")).std() > 0.05
    assert browser.complaints() == []
    assert {address.partition(":")[0] for address in browser.requests()} <= {"file", "data", "blob"}


@pytest.mark.slow
def test_a_report_of_a_structure_shows_orbits_and_forces_at_its_support(browser: Browser, tmp_path: Path) -> None:
    page = report(ROD, tmp_path, "--traces", "12", "--support", "ring")
    rows = pd.read_parquet(page.parent / "points").sort_values(["mu", "gap[ring]"], ignore_index=True)
    browser.resize(1280, 900)
    browser.open(page)
    unpacked = browser.run("return Array.from(await column('wear_power[ring]'))")
    np.testing.assert_array_equal(np.array(unpacked, np.float32), rows["wear_power[ring]"].to_numpy(np.float32))
    browser.move(0.99, 0.99, click=True)
    last = rows["point"].iloc[-1]
    browser.wait(f"return document.getElementById('trace').dataset.point === '{last}'")
    assert browser.text("trace-title") == f"Point {last} (gap[ring] = 0.0008 m, mu = 0.3) at ring."
    told = "document.getElementById('loop').data.map((each) => [each.name, Array.from(each.x), Array.from(each.y)])"
    parts = {name: np.array([x, y], float) for name, x, y in browser.run(f"return {told}")}
    assert [*parts] == ["no contact", "contact holds", "contact slips", "clearance"]
    assert np.hypot(*parts["clearance"]) == pytest.approx(np.full(129, 0.8), rel=1e-6)
    largest = max(np.nanmax(np.hypot(*parts[name])) for name in ("contact holds", "contact slips"))
    assert largest == pytest.approx(0.8 + 1e3 * rows["max_penetration[ring]"].iloc[-1], abs=0.05)
    peaks = browser.run("return document.getElementById('motion').data.map((each) => Math.max(...each.y))")
    assert max(peaks) == pytest.approx(rows["normal_force_peak[ring]"].iloc[-1], rel=0.05)
    assert imread(browser.picture("report-structure")).std() > 0.05
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_page_runs_its_own_scripts_and_no_other(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=planted=1>\u202e<script>planted=2</script>"
    page = report({"study": {"name": "x"}, "sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path)
    text = page.read_text(encoding="utf-8").replace('"study":"x"', f'"study":{json.dumps(hostile)}'.replace("<", "\\u003c"))
    page.write_text(text.replace("<header>", f"<header>{hostile}"), encoding="utf-8")  # as if something were not escaped
    browser.open(page)
    browser.run("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.planted = 3' }))")
    assert browser.run("return window.planted === undefined")
    assert browser.run("return fetch('https://example.org').then(() => 'sent', () => 'kept')") == "kept"
    assert browser.text("study").startswith("<img src=x onerror")
    assert all("Content Security Policy" in each for each in browser.complaints())


@pytest.mark.slow
def test_a_report_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    axes = {"a0": {"from": 1.0, "to": 10.0}, "mu": {"from": 0.02, "to": 0.8}}
    page = report({"sweep": {"design": "sobol", "count": 64, "axes": axes}}, tmp_path, "--traces", "2", "--color", "slip_distance")
    browser.resize(*PHONE, mobile=True)
    browser.open(page)
    browser.move(0.5, 0.5)
    browser.wait("return document.getElementById('row-values').dataset.row")
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
    assert browser.run("return document.getElementById('map').getBoundingClientRect().width") > 0.85 * PHONE[0]
    # every pixel has the colour of the row nearest to it
    places = pd.read_parquet(page.parent / "points")[["a0", "mu"]].to_numpy()
    scaled = (places - places.min(axis=0)) / np.ptp(places, axis=0)
    for u, v in np.random.default_rng(1).random((20, 2)):
        found = browser.run(
            "const [[a, b], [c, d]] = view(); const [u, v] = arguments_; return state.rows.at(a + u * (b - a), c + v * (d - c))", u, v
        )
        away = np.hypot(*(scaled - (u, v)).T)
        assert away[found] <= away.min() * (1.0 + 1e-5) + 1e-6
    browser.picture("report-phone")
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_million_points_are_there_in_three_seconds_and_twenty_megabytes(browser: Browser, tmp_path: Path) -> None:
    directory = run(CONFIGS / "regime_map.toml", tmp_path / "run").directory
    assert main(["report", str(directory), "--traces", "6", "--out", str(tmp_path / "big.html")]) == 0
    assert (tmp_path / "big.html").stat().st_size < MOST_BYTES
    browser.resize(1280, 900)
    times = browser.open(tmp_path / "big.html")
    print({"million points": times, "bytes": (tmp_path / "big.html").stat().st_size})
    assert times["painted"] < MOST_SECONDS
    assert times["ready"] < SLACK * MOST_SECONDS
    browser.move(0.75, 0.25)
    number = int(browser.wait("return document.getElementById('row-values').dataset.row"))
    rows = pd.read_parquet(directory / "points").sort_values(["mu", "a0"], ignore_index=True)
    power = browser.run("return (await column('wear_power'))[arguments_[0]]", number)
    assert power == pytest.approx(rows["wear_power"][number], rel=2.0**-14)
    assert browser.text("row-title") == f"Point {rows['point'][number]:,}"
    browser.picture("report-million")
    assert browser.complaints() == []
    assert {address.partition(":")[0] for address in browser.requests()} <= {"file", "data", "blob"}


# ---- what it holds


def unpack(text: str, count: int, dropped: int) -> np.ndarray:
    """Undo `pack_floats` as the page does."""
    import base64
    import zlib

    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(-1, count).astype(np.uint32)
    unsigned = sum(plane << np.uint32(8 * place) for place, plane in enumerate(planes))
    differences = (unsigned >> 1).astype(np.int32) ^ -(unsigned & 1).astype(np.int32)
    return (np.cumsum(differences, dtype=np.int32) << dropped).view(np.float32)


def test_numbers_are_packed_to_the_digits_that_are_kept() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(size=500) * 10.0 ** rng.uniform(-30, 30, 500), [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 3.4e38]])
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    np.testing.assert_array_equal(unpack(pack_floats(values, FINE), len(values), FINE), single)
    np.testing.assert_allclose(unpack(pack_floats(values, COARSE), len(values), COARSE)[:500], single[:500], rtol=2.0**-14)
    assert np.isnan(unpack(pack_floats(values, COARSE), len(values), COARSE)[502])
    numbers = np.array([0, 1, 5, -1, 2**30, 7])
    np.testing.assert_array_equal(unpack(pack_integers(numbers), 6, 0).view(np.int32), numbers)
    smooth = np.sin(np.linspace(0.0, 1.0, 10_000))
    assert len(pack_floats(smooth, COARSE)) < 15_000


def test_a_column_without_any_word_has_no_codes() -> None:
    assert codes(pa.chunked_array([pa.array([None, None], pa.dictionary(pa.int32(), pa.string()))]), ()).tolist() == [FAILED, FAILED]


def test_a_report_holds_its_study_and_asks_for_nothing(fake: FakeKernels, tmp_path: Path) -> None:
    sections = {"study": {"name": "a <script> & <b>"}, "parameters": {"m": 2.0}, "sweep": {"axes": {"a0": A0, "mu": MU}}}
    page = report(sections, tmp_path, "--traces", "0")
    text = page.read_text(encoding="utf-8")
    assert "<title>a &lt;script&gt; &amp; &lt;b&gt; - tribosweep</title>" in text
    outside = re.sub(r'<script type="text/plain" id="plotly">.*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)=["'](?!data:)|@import|url\(|fetch\(|XMLHttpRequest|https?:""", outside)
    scripts = re.findall(r"""(?:<script>|id="plotly">)(.*?)</script>""", text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in text.partition("Content-Security-Policy")[2][:400]
    facts = facts_of(page)
    assert (facts["kind"], facts["count"], facts["study"]) == ("grid", 108, "a <script> & <b>")
    assert facts["statuses"] == {"ok": 108}
    assert ["m", "2", "kg"] in facts["fixed"]
    assert {"device", "dtype", "jax"} <= {name for name, _ in facts["provenance"]}
    assert "config_hash" in {name for name, _ in facts["technical"]}
    assert [axis["log"] for axis in facts["axes"]] == [False, True]
    assert {line["name"] for line in facts["boundaries"]} == {"η = 1", "η* = 0.5370"}
    assert fake.calls == [108]


def test_one_parameter_many_and_a_slice_are_shown_each_in_its_way(fake: FakeKernels, tmp_path: Path) -> None:
    ranges = {"a0": {"from": 1.0, "to": 10.0}, "mu": {"from": 0.02, "to": 0.8}, "k": {"from": 0.0, "to": 9.0}}
    line = report({"sweep": {"axes": {"mu": [0.3, 0.1, 0.2]}}}, tmp_path / "line", "--traces", "0")
    assert (facts_of(line)["kind"], facts_of(line)["limits"]) == ("line", [[0.1, 0.3]])
    many = report({"sweep": {"design": "sobol", "count": 64, "axes": ranges}}, tmp_path / "many", "--x", "mu", "--y", "k", "--traces", "0")
    assert (facts_of(many)["kind"], facts_of(many)["loose"]) == ("points", ["a0"])
    assert next(facts for facts in facts_of(many)["columns"] if facts["name"] == "a0")["parameter"]
    slice_ = report({"sweep": {"axes": {"a0": A0, "mu": MU, "k": [0.0, 4.0]}}}, tmp_path / "slice", "--at", "k=3", "--traces", "0")
    assert (facts_of(slice_)["kind"], facts_of(slice_)["held"], facts_of(slice_)["count"]) == ("grid", {"k": 4.0}, 108)
    assert len(fake.calls) == 3


def test_columns_for_which_there_is_no_room_are_named(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = run({"sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "a").directory
    monkeypatch.setattr(report_columns, "ROOM", 1500)
    content = read_content(directory, traces=0)
    assert content.left_out
    assert "wear_power" not in content.left_out
    assert any(content.left_out[-1] in note for note in content.facts["notes"])
    monkeypatch.setattr(report_content, "MOST_ROWS", 30)
    thin = read_content(directory, traces=0)
    assert thin.facts["count"] == 6 * 5
    assert any("Every 2nd value" in note for note in thin.facts["notes"])
    assert thin.facts["count"] <= MOST_FINE
    assert len(fake.calls) == 1


def test_what_is_missing_of_a_run_is_said(fake: FakeKernels, small_shards: int, tmp_path: Path, capsys: Captured) -> None:
    fake.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        run({"sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "a")
    assert main(["report", str(tmp_path / "a"), "--traces", "0"]) == 0
    assert f"it has {2 * small_shards} of 108 points" in capsys.readouterr().err


REFUSED = {
    "an axis that is not in the run": (["--x", "muu"], "--x: 'muu' is no parameter; did you mean 'mu'?"),
    "a shade that is no observable": (["--color", "wear"], "--color: 'wear' is no observable"),
    "a file of another kind": (["--out", "report.txt"], "report.txt: must end in .html or .pdf"),
    "a number of traces below 0": (["--traces", "-1"], "--traces"),
    "a slice of nothing": (["--at", "k=1"], "--at: 'k' is nothing that this run varies; "),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_report_that_cannot_be_written_is_refused_with_its_reason(
    options: list[str], message: str, fake: FakeKernels, tmp_path: Path, capsys: Captured
) -> None:
    directory = run({"sweep": {"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2]}}}, tmp_path / "a").directory
    assert main(["report", str(directory), *options]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert not list(directory.glob("*.html"))
    assert fake.calls == [4]


def test_a_run_of_one_point_or_none_has_no_report(fake: FakeKernels, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="this run varies nothing"):
        read_content(run({"sweep": {"axes": {"a0": [1.0]}}}, tmp_path / "a").directory)
    with pytest.raises(ConfigError, match="holds no run"):
        read_content(tmp_path / "b")
    assert fake.calls == [1]


def test_a_column_of_nothing_but_nan_is_refused_where_it_is_asked_for(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = fake.solve

    def nowhere(*arguments: Any, **asked: Any) -> Any:
        solution = solve(*arguments, **asked)
        for name in ("drift", "wear_power"):
            solution.observables[name][:] = np.nan
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", nowhere)
    directory = run({"sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "a").directory
    with pytest.raises(ConfigError, match="drift has no value in any row"):
        read_content(directory, color="drift", traces=0)
    assert read_content(directory, traces=0).facts["count"] == 108


def test_without_plotly_the_command_that_installs_it_is_told(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = run({"sweep": {"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2]}}}, tmp_path / "a").directory
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoPlotly(), *sys.meta_path])
    assert main(["report", str(directory)]) == 2
    assert "pip install 'tribosweep[report]'" in capsys.readouterr().err
    assert fake.calls == [4]


class NoPlotly:
    """An import system without plotly."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse plotly."""
        if name == "plotly":
            raise ModuleNotFoundError(name, name=name)


def test_labels_are_written_for_a_page() -> None:
    from tribosweep.kernels.models import BUCKLING_WALL, RUBBING_MASS

    model = load(ROD).model
    own = (*model.parameters, *model.observables)
    labels = {quantity.name: html_label(quantity) for quantity in (*RUBBING_MASS.parameters, *BUCKLING_WALL.parameters, *own)}
    assert labels["gap"] == "gap [m]"
    assert labels["gap[ring]"] == "gap of ring [m]"
    assert labels["a0"] == "<i>a</i><sub>0</sub> [m/s<sup>2</sup>]"
    assert labels["mu"] == "<i>μ</i>"
    assert labels["f_crit"] == "<i>f</i><sub>crit</sub> [N]"
    assert labels["v0_2"] == "<i>v</i><sub>0,2</sub> [m/s]"
    assert not [label for label in labels.values() if "\\" in label or "{" in label]
