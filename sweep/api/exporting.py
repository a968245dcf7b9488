"""Rows of a run as one file for other programs: CSV, Parquet, Arrow or NetCDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.api.datasets import columns_of, to_xarray
from tribosweep.sweep.execution.dataset import Dataset, rows_of
from tribosweep.sweep.io.atomic import make_folders, write_whole
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.frames import facts_of, library
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa


def as_csv(table: pa.Table, _config: Config) -> bytes:
    """Text with units in the header, "a0 [m/s^2]", as tables of points are read; lists as "2;3;4", nothing where there is no value."""
    import pyarrow.types as kinds

    units = facts_of(table, "unit")
    frame = table.to_pandas()
    for name in table.column_names:
        if kinds.is_list(table.schema.field(name).type):
            frame[name] = [None if cell is None else ";".join(map(repr, map(float, cell))) for cell in frame[name]]
    header = [f"{name} [{units[name]}]" if units.get(name, "1") != "1" else name for name in table.column_names]
    text: str = frame.to_csv(index=False, header=header)
    return text.encode()


def as_parquet(table: pa.Table, _config: Config) -> bytes:
    """One Parquet file with units and descriptions in the metadata of its fields."""
    from tribosweep.sweep.io import sealed_parquet

    return sealed_parquet.to_bytes(table)


def as_arrow(table: pa.Table, _config: Config) -> bytes:
    """One Arrow file (Feather, version 2), which other programs map into memory."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    whole = table.unify_dictionaries()
    with pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole)
    return bytes(sink.getvalue())


def as_netcdf(table: pa.Table, config: Config) -> bytes:
    """The Dataset of `Run.to_xarray` as NetCDF 4."""
    library("h5netcdf", "xarray")
    return bytes(to_xarray(table, config).to_netcdf(engine="h5netcdf"))


NETCDF = ".nc"
FORMATS: dict[str, Callable[[pa.Table, Config], bytes]] = {
    ".csv": as_csv, ".parquet": as_parquet, ".arrow": as_arrow, ".feather": as_arrow, NETCDF: as_netcdf,
}  # fmt: skip


def check_suffix(out: Path) -> None:
    """ConfigError if no format has the ending of a file."""
    if out.suffix.lower() not in FORMATS:
        raise ConfigError("--out", [Problem("", f"{out}: must end in one of {', '.join(FORMATS)}")])


def export(directory: Path, config: Config, out: Path, columns: Sequence[str] | None) -> Path:
    """Write the rows of a run in the format that the ending of a file says; see `Run.export`.

    Raises:
        ConfigError: the ending is unknown, the run has no such column, or a package is missing. OSError: the file cannot be written; one of
            that name is as it was.
    """
    check_suffix(out)
    suffix = out.suffix.lower()
    wanted = columns_of(columns, Dataset(directory).names, config) if columns is not None and suffix == NETCDF else columns
    data = FORMATS[suffix](rows_of(directory, wanted), config)
    make_folders(out.parent)
    write_whole(out, data)
    return out
