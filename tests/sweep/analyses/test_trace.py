"""Time histories and impacts of single points of a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from tribosweep import kernels
from tribosweep.kernels import structure_history
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.structure_history import IMPACT_COLUMNS
from tribosweep.sweep.analyses.events.log import events_of
from tribosweep.sweep.analyses.events.request import EventsRequest
from tribosweep.sweep.analyses.trace.figure import draw, of_structure
from tribosweep.sweep.analyses.trace.motion import steady_trace, trace_of
from tribosweep.sweep.analyses.trace.request import TraceRequest
from tribosweep.sweep.analyses.trace.result import Clearance, TimeTrace
from tribosweep.sweep.cli import main
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.toml import to_toml
from tribosweep.sweep.study.load import load

Captured = pytest.CaptureFixture[str]
ROD: dict[str, Any] = {
    "study": {"name": "rod", "model": "body", "scheme": "euler"},
    "structure": {"directions": "xy"},
    "supports": {"ring": {"obstacle": "ring", "gap": 5e-4}, "stop": {"normal": [0.0, 1.0, 0.0], "gap": 4e-4}},
    "loads": {"east": {"amplitude": 400.0, "omega": 157.0}, "north": {"direction": [0.0, 1.0, 0.0], "omega": 195.0}},
    "parameters": {"m": 0.5, "k": 3e4, "c": 3.0, "k_n": 5e5, "c_n": 30.0, "c_t": 20.0},
    "time": {"end": 0.1, "step": 1e-5},
    "sweep": {"axes": {"amplitude[north]": [0.0, 350.0], "mu": [0.1, 0.3]}},
}
GIVEN = {
    **ROD["parameters"], **ROD["time"], "gap[ring]": 5e-4, "gap[stop]": 4e-4, "amplitude[east]": 400.0, "omega[east]": 157.0,
    "omega[north]": 195.0,
}  # fmt: skip
SLIDING = {"study": {"name": "slides"}, "time": {"end": 4.0}, "sweep": {"axes": {"a0": [2.0, 8.0]}}}


def study(folder: Path, sections: dict[str, Any]) -> Path:
    """A study file."""
    file = folder / "study.toml"
    file.write_text(to_toml(sections), encoding="utf-8")
    return file


@pytest.mark.slow
def test_a_trace_of_a_structure_is_that_of_its_row() -> None:
    config = load(ROD)
    found = trace_of(config, 3, 2000)
    alone = structure_history.trace(config.model.structure.model, GIVEN | {"amplitude[north]": 350.0, "mu": 0.3}, "euler", 2000)
    assert (found.study, found.point, found.scheme) == ("rod", 3, "euler")
    assert [*found.columns] == [quantity.name for quantity in found.quantities]
    assert [each.name for each in found.clearances] == ["ring", "stop"]
    assert [(each.obstacle, each.gap) for each in found.clearances] == [("ring", 5e-4), ("plane", 4e-4)]
    assert len(found.time) == 2001
    assert alone["slips[ring]"].any()
    for name, values in alone.items():
        if name not in ("q", "v"):
            np.testing.assert_array_equal(found.columns[name], values, err_msg=name)
    np.testing.assert_array_equal(found.columns["q_1"], found.columns["y[centre]"])
    np.testing.assert_allclose(found.columns["place_1[stop]"], found.columns["y[centre]"])
    one = trace_of(config, 3, 100, 0.05, 0.06, "stop")
    assert not [name for name in one.columns if name.endswith("[ring]")]
    assert (one.time[0], one.time[-1]) == (pytest.approx(0.05), pytest.approx(0.06))
    assert len(one.time) == 101


@pytest.mark.slow
def test_impacts_of_structures_are_those_of_the_rows() -> None:
    config = load(ROD)
    table = events_of(config, EventsRequest(points=[3, 2], impacts=True)).to_pandas()
    assert [*table.columns] == ["point", *(quantity.name for quantity in IMPACT_COLUMNS)]
    for point, mu in ((3, 0.3), (2, 0.1)):
        row = GIVEN | {"amplitude[north]": 350.0, "mu": mu}
        alone = structure_history.impacts(config.model.structure.model, row, "euler")
        own = table[table["point"] == point]
        assert set(own["support"]) == {"ring", "stop"}
        for name, values in alone.items():
            np.testing.assert_array_equal(own[name].to_numpy(), values)
    assert list(dict.fromkeys(table["point"])) == [3, 2]


@pytest.mark.slow
def test_a_trace_of_one_coordinate_is_that_of_the_exact_engine() -> None:
    config = load(SLIDING)
    found = trace_of(config, 1, 50, 1.0, 2.0)
    assert found.scheme == "exact"
    assert (found.time[0], found.time[-1]) == (1.0, pytest.approx(2.0))
    p = config.model.resolve({})
    assert np.abs(found.columns["friction_force"]).max() == pytest.approx(p["mu"] * p["g"] * p["m"])
    whole = kernels.trace("rubbing_mass", {"a0": 8.0, "end": 4.0}, at=found.time)
    assert found.columns["x"] == pytest.approx(whole["x"], rel=1e-9, abs=1e-12)


@pytest.mark.slow
def test_without_what_tells_where_a_motion_begins_there_is_no_trace() -> None:
    at = {"x_end": 0.0, "v_end": 1.0, "period": 1.0}
    given = {"a0": 1.0, "k_post": 1.0}
    assert steady_trace(MODELS["buckling_wall"], given, at, 3) is None
    assert steady_trace(MODELS["buckling_wall"], given, at | {"x_end_2": 0.0, "v_end_2": 0.0, "buckled": 1.0}, 3) is None
    assert steady_trace(MODELS["stop"], {"a0": 1.0, "k_n": 1e3, "m_2": 1.0}, at, 3) is None


@pytest.mark.slow
def test_a_trace_of_a_steady_motion_is_one_period() -> None:
    sections = {"time": {"window": "steady"}, "parameters": {"omega": 6.0}, "sweep": {"axes": {"a0": [8.0]}}}
    found = trace_of(load(sections), 0, 100)
    assert found.period == pytest.approx(2.0 * np.pi / 6.0)
    assert found.time[-1] == pytest.approx(found.period)
    assert found.columns["v"][-1] == pytest.approx(found.columns["v"][0], abs=1e-6)
    some = trace_of(load({**sections, "output": {"columns": ["wear_power"]}}), 0, 100)  # which do not tell where it begins
    np.testing.assert_array_equal(some.columns["v"], found.columns["v"])


@pytest.mark.parametrize(
    ("sections", "options", "message"),
    [
        (ROD, ["--support", "rnig"], "--support: 'rnig' is no support of this structure; did you mean 'ring'? Known: ring, stop"),
        (SLIDING, ["--support", "ring"], "--support: the model rubbing_mass has no supports with names"),
        (ROD, ["--point", "4"], "--point: 4 is not a point of the study, which has 0 to 3"),
        (ROD, ["--from", "0.2"], "from 0.2 s to 0.1 s is no time of the run, which ends at 0.1 s"),
        (ROD, ["--to", "nan"], "from 0 s to nan s is no time of the run"),
        (ROD, ["--rows", "-1"], "-1 is no number of instants: give 0 to"),
        (SLIDING, ["--rows", "1"], "1 is no number of instants: give 2 to"),
        (ROD, ["--out", "a.txt"], "a.txt: must end in one of .csv, .parquet, .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_traced_is_refused(
    sections: dict[str, Any], options: list[str], message: str, tmp_path: Path, capsys: Captured
) -> None:
    file = study(tmp_path, sections)
    assert main(["trace", str(file), *options]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out
    assert [*tmp_path.iterdir()] == [file]


def test_events_of_a_structure_say_what_to_ask_for(tmp_path: Path, capsys: Captured) -> None:
    assert main(["events", str(study(tmp_path, ROD))]) == 2
    said = capsys.readouterr().err
    assert "--impacts" in said
    assert "tribosweep trace" in said
    free = {key: value for key, value in ROD.items() if key != "supports"}
    with pytest.raises(ConfigError, match="has none, hence no impacts"):
        events_of(load({**free, "parameters": {"k": 1.0}, "sweep": {"axes": {"c": [1.0]}}}), EventsRequest(impacts=True))


@pytest.mark.slow
def test_the_command_shows_extremes_and_writes_tables(tmp_path: Path, capsys: Captured) -> None:
    file = study(tmp_path, ROD)
    assert main(["trace", str(file), "--point", "3"]) == 0
    said = capsys.readouterr()
    lines = {line.split()[0]: line.split() for line in said.out.splitlines() if line.strip()}
    assert lines["time"][1:4] == ["s", "0", "0.1"]
    assert float(lines["normal_force[ring]"][6]) > 100.0
    assert "2,001 instants of point 3 by euler" in said.err
    for ending in (".csv", ".parquet"):
        out = tmp_path / f"trace{ending}"
        assert main(["trace", str(file), "--point", "3", "--out", str(out)]) == 0
        assert capsys.readouterr().out.strip() == str(out)
        table = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
        assert table.shape == (2001, 26)
        assert set(table["point"]) == {3}
    assert main(["trace", str(file), "--point", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scheme"] == "euler"
    assert found["time"] == table["time"].tolist()


@pytest.mark.slow
def test_pictures_show_orbits_with_their_clearance(tmp_path: Path) -> None:
    found = trace_of(load(ROD), 3, 2000)
    out = tmp_path / "trace.png"
    draw(found, out)
    assert imread(out).std() > 0.05
    first = out.read_bytes()
    draw(found, out)
    assert out.read_bytes() == first  # equal input gives equal bytes
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    of_structure(figure, found)
    orbit = figure.axes[0]
    assert (orbit.get_xlabel(), orbit.get_ylabel(), orbit.get_title(loc="left")) == ("along axis 1 [mm]", "along axis 2 [mm]", "ring")
    circle = orbit.lines[-1].get_xydata()
    assert np.hypot(*circle.T) == pytest.approx(np.full(len(circle), 0.5))
    holds, slips = (~np.isnan(line.get_xdata()) for line in orbit.lines[1:3])
    assert not (holds & slips).any()
    assert np.array_equal(holds | slips, found.columns["normal_force[ring]"] > 0.0)
    assert slips.any()
    assert [axes.get_ylabel() for axes in figure.axes[1:3]] == ["normal [N]", "friction [N]"]


@pytest.mark.slow
def test_pictures_of_one_coordinate_show_its_loop(tmp_path: Path) -> None:
    out = tmp_path / "trace.svg"
    assert main(["trace", str(study(tmp_path, SLIDING)), "--point", "1", "--rows", "300", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "friction on the mass, last period" in text
    assert "slides, point 1, by exact: 0 to 4 s" in text


def test_a_picture_has_more_instants_unless_their_number_is_given() -> None:
    assert (TraceRequest().for_picture().rows, TraceRequest(rows=5).for_picture().rows) == (20_000, 5)


@pytest.mark.parametrize(("peaks", "names"), [([5.0, 1.0, 4.0, 3.0, 2.0], ["s0", "s2", "s3", "s4"]), ([1.0, 1.0], ["s0", "s1"])])
def test_of_many_supports_those_that_push_most_are_drawn(peaks: list[float], names: list[str]) -> None:
    columns = {"time": np.zeros(1)} | {f"normal_force[s{number}]": np.array([peak]) for number, peak in enumerate(peaks)}
    clearances = tuple(Clearance(f"s{number}", "ring", 0.0, flat=False) for number in range(len(peaks)))
    found = TimeTrace("", 0, "euler", columns, (), clearances, np.nan).drawn
    assert [each.name for each in found] == names
