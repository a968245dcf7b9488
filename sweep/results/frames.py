"""Rows of a run as frames of other libraries: pandas, polars. Units go with them where the library has a place for them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


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


def library(name: str, extra: str = "") -> ModuleType:
    """An optional library; ConfigError with the command that installs it, as part of an extra of its name or another, if it is missing."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{name} is not installed: pip install 'tribosweep[{extra or name}]'"
        raise ConfigError(f"to_{name}", [Problem("", message)]) from None
