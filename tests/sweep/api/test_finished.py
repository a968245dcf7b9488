"""A run in Python: frames of every kind hold the same rows, failed rows can raise, and it shows and draws itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, RowError, Share, Study, run
from tribosweep.sweep.io.argument_names import reworded

A0, MU = [1.0, 2.0, 4.0], {"from": 0.1, "to": 0.5, "count": 5}
GRID: dict[str, Any] = {"study": {"name": "grid"}, "parameters": {"m": 2.0}, "sweep": {"axes": {"a0": A0, "mu": MU}}}

FAILS: dict[str, Any] = {"study": {"name": "fails"}, "sweep": {"design": "zip", "axes": {"a0": [1.0, 1e308], "mu": [0.1, 1e306]}}}


def expected(a0: Any, mu: Any) -> Any:
    """What the stand-in computes."""
    return np.asarray(a0) + 100.0 * np.asarray(mu)


def test_a_frame_has_units_and_words(fake: FakeKernels) -> None:
    frame = run(GRID).to_pandas()
    assert frame.attrs["units"]["a0"] == "m/s^2"
    assert frame.attrs["units"]["wear_power"] == "W"
    assert "status" not in frame.attrs["units"]
    assert "wear power" in frame.attrs["descriptions"]["wear_power"]
    assert (frame["status"].dtype, set(frame["status"])) == ("category", {"ok"})
    assert frame["regime"].isin(["stick", "stick-slip", "slip-slip"]).all()
    assert list(run(GRID).to_pandas(["mu", "status"]).columns) == ["mu", "status"]


def test_a_column_that_the_run_lacks_is_refused(fake: FakeKernels) -> None:
    found = run(GRID)
    for read in (found.to_arrow, found.to_pandas, found.to_polars, found.to_xarray):
        with pytest.raises(ConfigError, match=r"columns: the run has no column 'wear_powr'; did you mean 'wear_power'\?"):
            read(["a0", "wear_powr"])


def test_means_name_their_argument_and_no_option(fake: FakeKernels) -> None:
    with pytest.raises(ConfigError, match=r"\n  over: 'draw' is nothing that this run sweeps"):
        run(GRID).over("draw")


def test_polars_has_the_same_rows(fake: FakeKernels) -> None:
    found, frame = run(GRID).to_polars(), run(GRID).to_pandas()
    assert found.columns == list(frame.columns)
    assert found["regime"].to_list() == frame["regime"].tolist()
    np.testing.assert_array_equal(found["wear_power"].to_numpy(), expected(found["a0"].to_numpy(), found["mu"].to_numpy()))


def test_a_grid_becomes_dimensions(fake: FakeKernels) -> None:
    found = run(GRID).to_xarray()
    assert found.wear_power.dims == ("a0", "mu")
    np.testing.assert_array_equal(found.mu, np.linspace(0.1, 0.5, 5))
    np.testing.assert_array_equal(found.wear_power, found.a0 + 100.0 * found.mu)
    assert found.wear_power.sel(a0=4.0, mu=0.5) == 54.0
    assert (found.wear_power.attrs["units"], found.a0.attrs["units"], float(found.m)) == ("W", "m/s^2", 2.0)
    assert found.m.dims == ()
    assert set(np.unique(found.regime)) == {"stick", "stick-slip", "slip-slip"}
    assert found.attrs == {"study": "grid", "model": "rubbing_mass", "scheme": "exact"}
    assert set(run(GRID).to_xarray(["wear_power"]).data_vars) == {"wear_power"}


def test_words_defaults_and_schemes_are_coordinates_of_a_grid(fake: FakeKernels) -> None:
    axes = {"k_t": ["default", 9e6], "scheme": ["exact", "euler"], "a0": [1.0, 2.0]}
    found = run({"parameters": {"mu": 0.0}, "sweep": {"axes": axes}}).to_xarray()
    assert found.scheme.to_numpy().tolist() == ["exact", "euler"]
    assert np.isnan(found.k_t.to_numpy()[0])
    np.testing.assert_array_equal(found.wear_power.sel(scheme="euler") - found.wear_power.sel(scheme="exact"), np.full((2, 2), 1000.0))


def test_rows_that_are_not_computed_yet_are_nan(fake: FakeKernels, small_shards: int) -> None:
    part = run(GRID, share=Share.parse("2/2"))
    assert (part.complete, part.rows) == (False, 5)
    found = part.to_xarray()
    np.testing.assert_array_equal(np.isnan(found.wear_power), np.repeat([[True], [True], [False]], 5, axis=1))
    np.testing.assert_array_equal(found.wear_power[2], 4.0 + 100.0 * found.mu)
    assert pd.isna(found.status.to_numpy()[0, 0])


def test_other_designs_have_rows(fake: FakeKernels) -> None:
    sampled = {"sweep": {"design": "sobol", "count": 8, "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}}}
    found = run(sampled).to_xarray()
    assert found.wear_power.dims == ("row",)
    np.testing.assert_array_equal(found.wear_power, found.a0 + 100.0 * found.mu)
    assert found.point.to_numpy().tolist() == list(range(8))


def test_lists_have_a_dimension_of_their_own(fake: FakeKernels) -> None:
    steady = {"time": {"window": "steady"}, "parameters": {"k": 1.0}, "sweep": {"axes": {"a0": A0}}}
    found = run(steady).to_xarray()
    assert found.poincare_x.dims == ("a0", "poincare_x_entry")
    np.testing.assert_array_equal(found.poincare_x[:, :2], np.stack([found.wear_power, found.wear_power + 1.0], axis=1))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["a0", "mu", "k", "c", "m"]), min_size=1, max_size=4, unique=True), st.data())
def test_any_grid_has_each_value_at_its_coordinates(
    fake: FakeKernels, tmp_path_factory: pytest.TempPathFactory, names: list[str], data: Any
) -> None:
    axes = {name: data.draw(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=3, unique=True)) for name in names}
    found = run({"sweep": {"axes": axes}}, tmp_path_factory.mktemp("run")).to_xarray()
    assert found.wear_power.dims == tuple(names)
    for row in found.wear_power.to_dataframe().reset_index().to_dict("records"):
        assert row["wear_power"] == row.get("a0", 0.0) + 100.0 * row.get("mu", 0.1)


@pytest.mark.filterwarnings("ignore:overflow")
def test_failed_rows_raise_if_asked(fake: FakeKernels) -> None:
    with pytest.raises(RowError, match="1 of 2 rows failed") as caught:
        run(FAILS, throw=True)
    assert caught.value.first == ("point 1 (a0 = 1e+308, mu = 1e+306): a parameter is not a finite number",)
    finished = run(FAILS)
    assert finished.failed == 1
    for convert in (finished.to_arrow, finished.to_pandas, finished.to_polars, finished.to_xarray):
        with pytest.raises(RowError, match="point 1"):
            convert(throw=True)
    run(GRID, throw=True).to_pandas(throw=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow")
def test_it_shows_itself(fake: FakeKernels) -> None:
    shown = run({**GRID, "study": {"name": "a <b>bold name"}})._repr_html_()
    assert "a &lt;b&gt;bold name" in shown
    assert "<b>bold" not in shown
    assert "complete: 15 rows" in shown
    assert "<td>mu</td><td></td><td>0.1 to 0.5, 5 values, linear</td>" in shown
    assert "<td>a0</td><td>m/s^2</td><td>1.0, 2.0, 4.0</td>" in shown
    assert "<td>11</td>" in shown  # wear power of the first point
    assert "data:image/png;base64," in shown
    failed = run(FAILS)._repr_html_()
    assert "<b>1 failed</b>" in failed
    assert "<td>a parameter is not a finite number</td><td>1</td>" in failed
    assert "complete: 1 row<" in run({})._repr_html_()
    three = run(Study(name="three", a0=A0, mu=[0.1, 0.2], k_t=9e6, scheme=["exact", "euler"]))._repr_html_()
    assert "three: 6 points" in three  # a slice, by the first scheme


def test_it_draws_what_is_in_its_rows(fake: FakeKernels, tmp_path: Path) -> None:
    finished = run(GRID)
    picture = finished.plot("slip_distance", x="a0", out=tmp_path / "curves.svg")
    (axes,) = picture.figure.axes
    assert [line.get_label() for line in axes.lines] == [f"mu = {mu:g}" for mu in (0.1, 0.2, 0.3, 0.4, 0.5)]
    for line, mu in zip(axes.lines, np.linspace(0.1, 0.5, 5), strict=True):
        np.testing.assert_array_equal(np.stack(line.get_data()), [A0, expected(A0, mu)])
    assert "<svg" in (tmp_path / "curves.svg").read_text()
    assert "15 points" in repr(finished.map())
    assert finished.map().save(tmp_path / "map.png").stat().st_size > 1000
    (line,) = finished.plot(at={"mu": 0.49}).figure.axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), expected(A0, 0.5))


def test_errors_name_arguments_instead_of_options(fake: FakeKernels) -> None:
    axes = {"a0": A0, "mu": MU, "scheme": ["exact", "euler"]}
    three = run({"parameters": {"k_t": 9e6}, "sweep": {"axes": axes}})
    for call in (three.map, lambda: three.map(at={"mo": 1.0}), lambda: three.map(color="wear"), lambda: three.report("a.txt")):
        with pytest.raises(ConfigError) as caught:
            call()
        assert "--" not in str(caught.value)
    with pytest.raises(ConfigError, match=re.escape("give another one with out, or remove it")) as held:
        run(GRID, three.directory)
    with pytest.raises(ConfigError, match=r"(?m)^  parameters\.mo: unknown parameter") as wrong:
        run(GRID, overrides=["parameters.mo=1"])
    assert "--" not in f"{held.value}{wrong.value}"
    with pytest.raises(ConfigError, match=re.escape('at={"scheme": VALUE}')):
        three.map()


@pytest.mark.slow
def test_a_point_in_time_is_a_frame(tmp_path: Path) -> None:
    time = {"end": 1.0, "window": [0.0, 1.0]}
    finished = run({"parameters": {"mu": 0.1, "g": 9.81}, "time": time, "sweep": {"axes": {"a0": [0.5, 9.0]}}}, tmp_path / "run")
    rests, slides = finished.trace(0).to_pandas(), finished.trace(1, rows=100).to_pandas()
    assert rests.attrs["units"]["friction_force"] == "N"
    assert not rests.x.any()
    np.testing.assert_allclose(slides.friction_force.abs().max(), 0.981, rtol=1e-12)
    assert slides.x.abs().max() > 0.0
    found = finished.trace(1, stop=0.5)
    found.plot(tmp_path / "trace.png")
    assert (round(float(found.time[-1]), 9), repr(found)) == (
        0.5,
        f"<TimeTrace of 'study': {len(found.time):,} instants of point 1 by exact>",
    )
    with pytest.raises(ConfigError, match="start, stop: 1 problem"):
        finished.trace(1, start=0.5, stop=0.1)
    assert (tmp_path / "trace.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("said", "reworded_as"),
    [
        ("--set parameters.mu: must be a number", "parameters.mu: must be a number"),
        ("hold it at one, as in --at mu=0.2", 'hold it at one, as in at={"mu": 0.2}'),
        ("give --extend without --shard", "give extend=True without share"),
        (
            "it is torn; tribosweep check runs/a --repair computes it again",
            "it is torn; tribosweep check runs/a --repair computes it again",
        ),
    ],
)
def test_options_become_arguments_but_commands_stay(said: str, reworded_as: str) -> None:
    assert reworded(said) == reworded_as


def test_arguments_of_an_analysis_stand_beside_those_of_runs() -> None:
    assert reworded("give --extend, --from or --point", {"from": "start", "point": "points"}) == "give extend=True, start or points"
