"""`tribosweep export`: one file of a run's rows, with units, that reads back as the same numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import cli, run

A0, MU = [1.0 / 3.0, 2.0], [0.1, 0.2]


@pytest.fixture
def directory(fake: FakeKernels, tmp_path: Path) -> Path:
    """A run of four rows."""
    return run({"study": {"name": "four"}, "sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "four").directory


def export(*words: str | Path) -> int:
    """Exit status of the command."""
    return cli.main(["export", *map(str, words)])


EXACTLY = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}  # the default since pandas 3


def test_csv_has_units_and_every_digit(directory: Path, tmp_path: Path) -> None:
    assert export(directory, "--out", tmp_path / "new" / "rows.csv") == 0
    found = pd.read_csv(tmp_path / "new" / "rows.csv", **EXACTLY)
    assert found["a0 [m/s^2]"].tolist() == [A0[0], A0[0], A0[1], A0[1]]
    assert found["mu"].tolist() == MU * 2
    assert found["wear_power [W]"].tolist() == [a0 + 100.0 * mu for a0 in A0 for mu in MU]
    assert set(found["status"]) == {"ok"}


def test_columns_can_be_chosen(directory: Path, tmp_path: Path) -> None:
    assert export(directory, "--out", tmp_path / "rows.csv", "--column", "mu", "--column", "regime") == 0
    assert list(pd.read_csv(tmp_path / "rows.csv")) == ["mu", "regime"]


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
def test_parquet_and_arrow_keep_types_and_units(directory: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"rows{ending}"
    assert export(directory, "--out", file) == 0
    found = pq.read_table(file) if ending == ".parquet" else pa.ipc.open_file(file).read_all()
    assert found.schema.field("a0").metadata[b"unit"] == b"m/s^2"
    assert found.column("a0").to_pylist() == [A0[0], A0[0], A0[1], A0[1]]
    assert found.column("regime").to_pylist()[0] in ("stick", "stick-slip", "slip-slip")


def test_netcdf_has_the_axes_as_dimensions(directory: Path, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    assert export(directory, "--out", tmp_path / "rows.nc", "--column", "wear_power") == 0
    with xarray.open_dataset(tmp_path / "rows.nc", engine="h5netcdf") as found:
        assert found.wear_power.sel(a0=2.0, mu=0.2) == 22.0
        assert (found.wear_power.dims, found.a0.attrs["units"], set(found.data_vars)) == (("a0", "mu"), "m/s^2", {"wear_power"})


def test_another_ending_or_column_is_refused_and_nothing_is_written(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(directory, "--out", tmp_path / "rows.xlsx") == 2
    assert "must end in one of .csv, .parquet" in capsys.readouterr().err
    assert export(directory, "--out", tmp_path / "rows.csv", "--column", "wear_powr") == 2
    assert "did you mean 'wear_power'?" in capsys.readouterr().err
    assert not (tmp_path / "rows.csv").exists()
