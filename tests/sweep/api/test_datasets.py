"""Datasets of xarray: places of a structure are dimensions, draws are whole numbers, and NetCDF gives back what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.conftest import FakeKernels, FakeSolution
from tribosweep.sweep import Share, run
from tribosweep.sweep.api.datasets import columns_of, to_xarray
from tribosweep.sweep.execution.parquet import encode, schema
from tribosweep.sweep.study.load import load

CONFIGS = Path(__file__).parents[3] / "configs"

xarray = pytest.importorskip("xarray")

TWO: dict[str, Any] = {
    "study": {"name": "two", "model": "structure", "scheme": "euler"},
    "structure": {"basis": str(CONFIGS / "bases" / "row_of_three.json"), "observed": ["left", "middle", "right"]},
    "supports": {"left": {"point": "left"}, "between": {"point": "left", "other": "middle"}},
    "parameters": {"k_n": 1e7},
    "time": {"end": 1.0, "step": 1e-4},
    "sweep": {"axes": {"gap": [1e-3, 2e-3], "mu": [0.1, 0.2, 0.3]}},
}


def rows_of(study: dict[str, Any]) -> tuple[Any, Any, dict[str, np.ndarray]]:
    """The table and the study of a structure whose observables are consecutive numbers, and these numbers by column."""
    config = load(study)
    points, values = config.design.points(0, config.design.count), {}
    for number, quantity in enumerate(config.returns):
        codes = 1000.0 * number + np.arange(points.count)
        values[quantity.name] = codes % len(quantity.words) if quantity.kind == "word" else codes
        if quantity.kind == "list":
            values[quantity.name] = codes[:, None] + np.array([[0.0, 0.25, 0.5]])[:, : quantity.length or 3]
    solution = FakeSolution(values, np.zeros(points.count, np.int8), 0.0, 0.0)
    return config, encode(config, schema(config, {}), points, solution), values


@pytest.mark.slow
def test_supports_and_observed_points_are_dimensions() -> None:
    config, table, values = rows_of(TWO)
    found = to_xarray(table, config)
    assert found.wear_power.dims == ("gap", "mu", "support")
    assert found.x_rms.dims == ("gap", "mu", "observed")
    assert found.support.to_numpy().tolist() == ["left", "between"]  # the order of the study
    assert found.observed.to_numpy().tolist() == ["left", "middle", "right"]
    for support in ("left", "between"):
        np.testing.assert_array_equal(found.impacts.sel(support=support), values[f"impacts[{support}]"].reshape(2, 3))
        words = found.contact_regime.sel(support=support).to_numpy().ravel().tolist()
        assert words == table.column(f"contact_regime[{support}]").to_pylist()
    np.testing.assert_array_equal(found.x_rms.sel(observed="left"), values["x_rms[left]"].reshape(2, 3))  # a support has this name too
    assert found.impacts.dtype == np.int64
    assert found.wear_power.attrs["units"] == "W"
    assert not found.wear_power.attrs["description"].endswith("left")
    assert found.energy_end.dims == ("gap", "mu")


def test_lists_of_supports_have_the_same_dimension() -> None:
    config, table, values = rows_of({**TWO, "output": {"support_lists": True}})
    found = to_xarray(table, config)
    assert found.wear_power.dims == ("gap", "mu", "support")
    np.testing.assert_array_equal(found.wear_power.sel(support="between"), values["wear_power"][:, 1].reshape(2, 3))
    assert found.contact_regime.dims == ("gap", "mu", "support")


def test_a_name_of_a_dataset_means_the_columns_of_all_supports() -> None:
    config, table, _ = rows_of(TWO)
    found = columns_of(["wear_power", "x_rms[middle]"], table.column_names, config)
    assert [name for name in found if "[" in name] == ["wear_power[left]", "wear_power[between]", "x_rms[middle]"]
    assert {"point", "gap", "mu", "k_n"} <= set(found)
    chosen = to_xarray(table.select(found), config)
    assert set(chosen.data_vars) == {"wear_power", "x_rms"}
    assert np.isnan(chosen.x_rms.sel(observed="left")).all()


def test_draws_are_whole_numbers_along_their_dimension(fake: FakeKernels) -> None:
    random = {"band": [1.0, 20.0], "rms": 1.0, "duration": 1.0, "interval": 0.01}
    axes = {"mu": [0.1, 0.2], "draw": {"from": 0, "to": 3, "spacing": "integer"}}
    found = run({"study": {"name": "draws"}, "time": {"end": 1.0}, "excitation": {"random": random}, "sweep": {"axes": axes}}).to_xarray()
    assert found.wear_power.dims == ("mu", "draw")
    assert (found.draw.dtype, found.draw.to_numpy().tolist()) == (np.int64, [0, 1, 2, 3])


def test_entries_of_signals_are_coordinates(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"interval": 0.01, "segment": 8, "psd": ["x"], "rainflow": {"x": [0.0, "1 mm", "2 mm"]}}
    study = {"time": {"end": 4.0}, "output": {"signals": asked}, "sweep": {"axes": {"a0": [1.0, 2.0]}}}
    found = run({"study": {"name": "shaken"}, **study}, tmp_path / "shaken").to_xarray()
    np.testing.assert_allclose(found.psd_x_entry, np.fft.rfftfreq(8, 0.01))
    assert found.psd_x_entry.attrs == {"long_name": "frequency", "units": "Hz"}
    assert found.psd_x.sel(psd_x_entry=24.0, method="nearest").dims == ("a0",)
    np.testing.assert_allclose(found.rainflow_x_entry, [0.0, 1e-3, 2e-3])

    def nothing(model, _scheme, asked, _columns, _absent, status, _records):  # type: ignore[no-untyped-def]
        return {
            name: np.full((len(status), q.length) if q.length else len(status), np.nan) for name, (q, _) in asked.columns(model).items()
        }

    monkeypatch.setattr("tribosweep.kernels.batch.sampled.signals", nothing)
    empty = run({"study": {"name": "empty"}, **study}, tmp_path / "empty").to_xarray()
    assert (empty.psd_x.shape, "psd_x_entry" in empty.coords) == ((2, 0), False)


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_netcdf_gives_back_the_dataset(fake: FakeKernels, small_shards: int, tmp_path: Path, engine: str) -> None:
    axes = {"k_t": ["default", 9e6], "a0": [1.0, 2.0, 3.0], "scheme": ["exact", "euler"]}
    whole = run({"study": {"name": "whole"}, "parameters": {"mu": 0.0}, "sweep": {"axes": axes}}, tmp_path / "whole").to_xarray()
    sampled = {"design": "sobol", "count": 8, "axes": {"a0": {"from": 1.0, "to": 2.0}}}
    rows = run({"study": {"name": "rows"}, "parameters": {"mu": 0.2}, "sweep": sampled}, tmp_path / "rows").to_xarray()
    steady = {"study": {"name": "s"}, "time": {"window": "steady"}, "parameters": {"k": 1.0}, "sweep": {"axes": {"a0": [1.0, 2.0]}}}
    lists = run(steady, tmp_path / "lists").to_xarray()
    for found in (whole, rows, lists):
        found.to_netcdf(tmp_path / "rows.nc", engine=engine)
        with xarray.open_dataset(tmp_path / "rows.nc", engine=engine) as again:
            xarray.testing.assert_identical(again.load(), found)


def test_netcdf_of_a_run_that_is_not_complete_has_no_words_yet(fake: FakeKernels, small_shards: int, tmp_path: Path) -> None:
    axes = {"a0": [1.0, 2.0, 4.0], "mu": {"from": 0.1, "to": 0.5, "count": 5}}
    part = run({"sweep": {"axes": axes}}, tmp_path / "part", share=Share.parse("2/2")).to_xarray()
    part.to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "part.nc", engine="h5netcdf") as again:
        np.testing.assert_array_equal(again.wear_power, part.wear_power)
        assert again.status.to_numpy()[0, 0] in ("", None)
        assert again.status.to_numpy()[2, 4] == "ok"
