"""Bifurcation diagrams: what a run with a steady window holds is drawn, and what cannot be drawn is said in a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.reference.closed_forms import damped_impact
from tribosweep.sweep import ConfigError, open_run, run
from tribosweep.sweep.analyses.bifurcation.figure import MARKERS, fill, kinds_of, style_of
from tribosweep.sweep.analyses.bifurcation.read import known_bifurcations, read_bifurcation
from tribosweep.sweep.analyses.bifurcation.result import APERIODIC, Bifurcation
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.parquet import schema
from tribosweep.sweep.study.load import load

Captured = pytest.CaptureFixture[str]
A0 = {"from": 0.0, "to": 29.0, "count": 30}
STEADY = {"time": {"window": "steady"}}


def steady(out: Path, axes: Mapping[str, Any], **sections: Any) -> Path:
    """Run a grid with a steady window and return its directory."""
    return run({**STEADY, **sections, "sweep": {"axes": axes}}, out).directory


def test_poincare_points_are_lists_in_the_dataset_of_a_steady_window_and_only_there(fake: FakeKernels, tmp_path: Path) -> None:
    directory = steady(tmp_path / "a", {"a0": [1.0, 2.0]}, parameters={"mu": 0.0})
    table = ds.dataset(directory / "points", format="parquet").to_table()
    assert table.column("poincare_x").to_pylist() == [[1.0, 2.0], [2.0, 3.0]]
    for name, unit in (("poincare_x", b"m"), ("poincare_v", b"m/s")):
        field = table.schema.field(name)
        assert pa.types.is_list(field.type)
        assert field.metadata[b"unit"] == unit
        assert field.metadata[b"description"]
    assert fake.windows == ["steady"]
    assert "poincare_x" not in schema(load({"sweep": {"axes": {"a0": [1.0]}}}), {}).names


def test_rows_that_fail_have_no_points(fake: FakeKernels, tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("a0,mu\n1,0\nnan,0\n", encoding="utf-8")
    directory = run({**STEADY, "sweep": {"design": "table", "file": str(points)}}, tmp_path / "a").directory
    assert ds.dataset(directory / "points", format="parquet").to_table().column("poincare_v").to_pylist() == [[1.0, 2.0], None]
    assert fake.calls == [2]


def test_points_are_gathered_over_the_parameter_that_varies(fake: FakeKernels, tmp_path: Path) -> None:
    directory = steady(tmp_path / "a", {"a0": [4.0, 8.0], "x0": [0.0, 1.0]}, parameters={"mu": 0.0})
    drawn = read_bifurcation(directory)
    assert (drawn.x.name, drawn.y.name, drawn.rows, drawn.points, drawn.failed) == ("a0", "poincare_x", 4, 4, 0)
    assert drawn.x_values.tolist() == [4.0] * 4 + [8.0] * 4
    assert drawn.y_values.tolist() == [4.0, 5.0] * 2 + [8.0, 9.0] * 2
    assert drawn.periods.tolist() == [4.0] * 4 + [8.0] * 4
    assert read_bifurcation(directory, x="a0", y="wear_power").y_values.tolist() == [4.0, 4.0, 8.0, 8.0]
    assert fake.calls == [4]


def test_python_json_and_a_file_have_the_same_points(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    directory = steady(tmp_path / "a", {"a0": [4.0, 8.0]}, parameters={"mu": 0.0})
    frame = open_run(directory).bifurcation(y="poincare_v").to_pandas()
    assert frame.attrs["units"] == {"a0": "m/s^2", "poincare_v": "m/s"}
    assert frame.to_numpy().tolist() == [[4.0, 4.0, 4.0], [4.0, 5.0, 4.0], [8.0, 8.0, 8.0], [8.0, 9.0, 8.0]]
    asked = ["bifurcation", str(directory), "--y", "poincare_v"]
    assert main([*asked, "--json"]) == main([*asked, "--out", str(tmp_path / "points.csv")]) == 0
    printed, _, last = capsys.readouterr().out.rpartition("}\n")
    assert json.loads(printed + "}")["points"] == frame.to_dict("records")
    assert last == f"{tmp_path / 'points.csv'}\n"
    assert pd.read_csv(tmp_path / "points.csv").equals(frame)
    assert not (directory / "bifurcation.png").exists()
    assert fake.calls == [2]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_diagram_is_drawn_beside_its_run_or_where_it_is_wanted(fake: FakeKernels, tmp_path: Path, capsys: Captured, suffix: str) -> None:
    directory, picture = steady(tmp_path / "a", {"a0": A0}, parameters={"mu": 0.0}), tmp_path / f"picture{suffix}"
    assert main(["bifurcation", str(directory), "--out", str(picture)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    first = picture.read_bytes()
    assert main(["bifurcation", str(directory), "--out", str(picture)]) == 0
    assert picture.read_bytes() == first
    assert main(["bifurcation", str(directory), "--y", "poincare_v"]) == 0
    assert imread(directory / "bifurcation.png").shape[:2] == (752, 1376)
    assert fake.calls == [30]


def test_every_period_is_told_from_the_others() -> None:
    assert len(set(MARKERS)) == 16
    styles = [style_of(period) for period in range(17)]
    assert len({(style["color"], style["marker"]) for style, _ in styles}) == 17
    assert styles[APERIODIC][1] == "no period up to 16"


def test_an_unfinished_run_is_drawn_as_far_as_it_is(fake: FakeKernels, small_shards: int, tmp_path: Path, capsys: Captured) -> None:
    fake.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        steady(tmp_path / "a", {"a0": A0})
    assert main(["bifurcation", str(tmp_path / "a")]) == 0
    assert f"{2 * small_shards} of 30 points are drawn" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        ({"a0": A0, "mu": [0.1, 0.2]}, {}, "this run varies a0, mu (x0, v0 may vary beside it)"),
        ({"a0": A0, "mu": [0.1, 0.2]}, {"x": "mu"}, "give a0 one value, for instance with --set, in a run of its own"),
        ({"a0": A0}, {"x": "aO"}, "'aO' is no parameter; did you mean 'a0'?"),
        ({"a0": A0}, {"x": "mu"}, "'mu' is the same in every row"),
        ({"a0": [1.0]}, {}, "needs a parameter that varies; this run varies nothing"),
        ({"a0": A0}, {"y": "poincare"}, "'poincare' is no observable; did you mean 'poincare_"),
        ({"a0": A0}, {"y": "regime"}, "'regime' holds words"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    fake: FakeKernels, tmp_path: Path, axes: dict[str, Any], options: dict[str, str], message: str
) -> None:
    directory = steady(tmp_path / "a", axes)
    with pytest.raises(ConfigError) as caught:
        read_bifurcation(directory, **options)
    assert message in str(caught.value)
    assert len(fake.calls) == 1


def test_a_notebook_shows_the_first_and_last_points(fake: FakeKernels) -> None:
    shown = periods(1000, {1: 1000})._repr_html_()
    assert shown.count("<tr") <= 63
    assert "1,000 points" in shown
    assert not fake.calls


def test_a_run_over_a_given_window_and_a_directory_without_a_run_have_no_diagram(
    fake: FakeKernels, tmp_path: Path, capsys: Captured
) -> None:
    run({"sweep": {"axes": {"a0": A0}}}, tmp_path / "a")
    assert main(["bifurcation", str(tmp_path / "a")]) == 2
    assert 'the run needs [time] window = "steady"' in capsys.readouterr().err
    assert main(["bifurcation", str(tmp_path / "none")]) == 2
    assert fake.calls == [30]


def test_theory_is_drawn_where_it_holds(fake: FakeKernels, tmp_path: Path) -> None:
    ball = {"load": 10.0, "k_n": 4e9, "c_n": 32290.0}
    study = {"study": {"model": "stop"}, "parameters": ball}
    drawn = read_bifurcation(steady(tmp_path / "a", {"a0": A0}, **study))
    assert damped_impact(1.0, ball["k_n"], ball["c_n"])[1] == pytest.approx(0.5, abs=1e-5)
    assert list(known_bifurcations(drawn).values()) == pytest.approx([10.471976, 15.268237], abs=1e-3)
    assert known_bifurcations(read_bifurcation(steady(tmp_path / "b", {"a0": A0}, **{**study, "parameters": {**ball, "k": 1.0}}))) == {}
    assert known_bifurcations(read_bifurcation(steady(tmp_path / "c", {"omega": [1.0, 2.0]}, **study))) == {}
    assert STOP.name == drawn.model.name
    assert np.isfinite(drawn.y_values).all()
    assert main(["bifurcation", str(tmp_path / "a")]) == 0
    assert len(fake.calls) == 3


def periods(count: int, times: dict[int, int]) -> Bifurcation:
    """A diagram over `count` values, with so many values of each period."""
    x = np.linspace(1.0, 2.0, count)
    each = np.concatenate([np.full(number, period) for period, number in times.items()])
    y = by_name(STOP.observables)["poincare_v"]
    return Bifurcation("many", STOP, STOP.parameter("a0"), y, np.resize(x, len(each)), np.sin(each), each, {"m": 1.0}, 0, count, count)


def test_rare_periods_share_an_entry_of_the_legend() -> None:
    often = {1: 400, 2: 300, 4: 100, 8: 50}
    drawn = periods(1000, {**often, **dict.fromkeys((3, 5, 6, 7, 12, 16), 3), APERIODIC: 30})
    assert kinds_of(drawn) == ([1, 2, 4, 8], [3, 5, 6, 7, 12, 16])
    assert kinds_of(periods(1000, {**often, 3: 1})) == ([1, 2, 3, 4, 8], [])
    figure = Figure(layout="constrained")
    fill(figure, drawn)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["period 1", "period 2", "period 4", "period 8", "period 3, 5 to 7, 12, 16", "no period up to 16"]
    assert sum(len(line.get_xdata()) for line in figure.axes[0].lines) == len(drawn.periods)  # none is left out
