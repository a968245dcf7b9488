"""Rows of a run as frames of other libraries: pandas, polars, xarray. Units go with them where the library has a place for them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.design.axis import SCHEME, Counted, Listed
from sweep.design.grid import Grid
from sweep.io.errors import ConfigError, Problem
from sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr

ROW, POINT = "row", "point"
LEVELS = ("halving", "level")  # columns of adaptive designs


def facts_of(table: pa.Table, key: str) -> dict[str, str]:
    """Column -> its "unit" or its "description", for the columns that have one."""
    found = {field.name: (field.metadata or {}).get(key.encode(), b"").decode() for field in table.schema}
    return {name: fact for name, fact in found.items() if fact}


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """A table as a DataFrame, words as categories; `attrs` has the units and the descriptions of its columns."""
    frame: pd.DataFrame = table.to_pandas()
    frame.attrs = {"units": facts_of(table, "unit"), "descriptions": facts_of(table, "description")}
    return frame


def to_polars(table: pa.Table) -> pl.DataFrame:
    """A table as a polars DataFrame, words as categories; polars has no place for units."""
    found: pl.DataFrame = library("polars").from_arrow(table)
    return found


def to_xarray(table: pa.Table, config: Config) -> xr.Dataset:
    """The rows of a study, `point` and `status` among their columns, as a Dataset; see `Run.to_xarray`."""
    xarray = library("xarray")
    design = config.design
    grid = design.axes if isinstance(design, Grid) else ()
    shape = tuple(axis.count for axis in grid) or (table.num_rows,)
    dimensions = tuple(axis.name for axis in grid) or (ROW,)
    places = np.asarray(table.column(POINT).to_numpy()) if grid else np.arange(table.num_rows)
    units, descriptions = facts_of(table, "unit"), facts_of(table, "description")
    parameters = {*(quantity.name for quantity in config.model.parameters), POINT, SCHEME, *LEVELS}
    attributes = {
        name: {"long_name": name.replace("_", " "), **({"units": units[name]} if name in units else {}),
               **({"description": descriptions[name]} if name in descriptions else {})}
        for name in table.column_names
    }  # fmt: skip
    coordinates: dict[str, Any] = {axis.name: (axis.name, values_along(axis), attributes[axis.name]) for axis in grid}
    variables: dict[str, Any] = {}
    for name in table.column_names:
        if grid and (name in coordinates or name == POINT):
            continue
        values, inner = array_of(table.column(name)), (f"{name}_entry",)
        if name in config.fixed and name not in config.swept and table.num_rows:
            coordinates[name] = (inner[: values.ndim - 1], values[0], attributes[name])
        else:
            home = coordinates if name in parameters else variables
            home[name] = ((*dimensions, *inner[: values.ndim - 1]), arranged(values, places, shape), attributes[name])
    facts = {"study": config.name, "model": config.model.name, **({} if SCHEME in table.column_names else {SCHEME: config.scheme})}
    found: xr.Dataset = xarray.Dataset(variables, coordinates, facts)
    return found


def values_along(axis: Counted) -> np.ndarray:
    """The values of an axis of a grid: numbers, NaN for a default; words and tables as texts."""
    quantity = axis.quantity if isinstance(axis, Listed) else None
    if axis.name != SCHEME and (quantity is None or quantity.kind not in ("word", "list")):
        return axis.at(np.arange(axis.count))
    entries = axis.to_document()
    return np.array([";".join(f"{node:g}" for node in entry) if isinstance(entry, list) else str(entry) for entry in entries], dtype=object)


def array_of(column: pa.ChunkedArray) -> np.ndarray:
    """A column as (n,) numbers, NaN where there is none, or as (n,) texts; of lists (n, L) numbers, padded with NaN."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return np.asarray(column.cast(pa.string()).to_numpy(), dtype=object)
    if not pa.types.is_list(column.type):
        return np.asarray(column.to_numpy())
    entries = column.to_pylist()
    found = np.full((len(entries), max((len(entry) for entry in entries if entry), default=0)), np.nan)
    for row, entry in zip(found, entries, strict=True):
        row[: len(entry or ())] = entry or ()
    return found


def arranged(values: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The values (n, ...) of rows at their places in a grid; missing where a row is not computed yet."""
    whole = values
    if len(places) < np.prod(shape):
        kind = object if values.dtype == object else np.result_type(values, np.float64)
        whole = np.full((np.prod(shape), *values.shape[1:]), None if kind is object else np.nan, dtype=kind)
        whole[places] = values
    return whole.reshape(*shape, *values.shape[1:])


def library(name: str) -> ModuleType:
    """An optional library; ConfigError with the command that installs it if it is missing."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{name} is not installed: pip install 'tribosweep[{name}]'"
        raise ConfigError(f"to_{name}", [Problem("", message)]) from None
