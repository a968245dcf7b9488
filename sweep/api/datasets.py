"""Rows of a run as an xarray Dataset: axes of a grid, supports and observed points of a structure, and entries of lists are dimensions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.design.axis import SCHEME, Counted, Listed, Whole
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.results.frames import facts_of, library
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr

ROW, POINT = "row", "point"
SUPPORT, OBSERVED = "support", "observed"  # dimensions of a structure
ABOUT = {SUPPORT: "support of the structure", OBSERVED: "observed point of the structure"}
LEVELS = ("halving", "level", "chain")  # columns of adaptive designs


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a Dataset.

    Attributes:
        dimensions: their names, the last ones those inside a row. values: of as many axes. facts: its attributes.
    """

    dimensions: tuple[str, ...]
    values: np.ndarray
    facts: dict[str, str]

    def __iter__(self) -> Any:
        """As xarray takes it."""
        return iter((self.dimensions, self.values, self.facts))


def to_xarray(table: pa.Table, config: Config) -> xr.Dataset:
    """The rows of a study, `point` and `status` among their columns, as a Dataset; see `Run.to_xarray`."""
    xarray = library("xarray")
    design = config.design
    grid = design.axes if isinstance(design, Grid) else ()
    shape = tuple(axis.count for axis in grid) or (table.num_rows,)
    dimensions = tuple(axis.name for axis in grid) or (ROW,)
    places = np.asarray(table.column(POINT).to_numpy()) if grid else np.arange(table.num_rows)
    parameters = {*(quantity.name for quantity in config.model.parameters), POINT, SCHEME, *LEVELS}
    facts = attributes_of(table)
    coordinates = {axis.name: Variable((axis.name,), values_along(axis), facts[axis.name]) for axis in grid}
    variables: dict[str, Variable] = {}
    for name in table.column_names:
        if grid and (name in coordinates or name == POINT):
            continue
        values, inner = array_of(table.column(name)), inner_of(name, config)
        if name in {*config.fixed, SCHEME} and name not in config.swept and table.num_rows:
            coordinates[name] = Variable(inner[: values.ndim - 1], values[0], facts[name])
        else:
            home = coordinates if name in parameters else variables
            home[name] = Variable((*dimensions, *inner[: values.ndim - 1]), arranged(values, places, shape), facts[name])
    stacked, names = with_places(variables, config, len(dimensions))
    names |= entries_of(table, config, stacked)
    about = {"study": config.name, "model": config.model.name, **({} if SCHEME in table.column_names else {SCHEME: config.scheme})}
    found: xr.Dataset = xarray.Dataset(
        {name: tuple(each) for name, each in stacked.items()}, {name: tuple(each) for name, each in (coordinates | names).items()}, about
    )
    return found


def attributes_of(table: pa.Table) -> dict[str, dict[str, str]]:
    """Column -> its attributes: `long_name`, and `units` and `description` if it has them."""
    units, descriptions = facts_of(table, "unit"), facts_of(table, "description")
    return {
        name: {"long_name": name.replace("_", " "), **({"units": units[name]} if name in units else {}),
               **({"description": descriptions[name]} if name in descriptions else {})}
        for name in table.column_names
    }  # fmt: skip


def columns_of(names: Sequence[str], there: Sequence[str], config: Config) -> list[str]:
    """The columns of a Dataset with some variables, and with all parameters: `wear_power` of a structure is that of all its supports."""
    wanted: list[str] = []
    for name in names:
        meant = [name] if name in there else [each for each in there if each.startswith(f"{name}[")]
        wanted += meant or [name]
    parameters = {*config.swept, *config.fixed, POINT, SCHEME, *LEVELS}
    found = [name for name in there if name in parameters or name in wanted]
    return found + [name for name in wanted if name not in found]


def inner_of(name: str, config: Config) -> tuple[str]:
    """The dimension inside a row of a column of lists."""
    structure = config.model.structure
    if structure is not None and structure.lists and any(q.name == name and q.length == len(structure.order) for q in config.returns):
        return (SUPPORT,)
    return (f"{name.partition('[')[0]}_entry",)


def entries_of(table: pa.Table, config: Config, variables: dict[str, Variable]) -> dict[str, Variable]:
    """What the entries of lists belong to, where their columns say so: the frequencies of a spectrum, levels, or edges of classes.

    Args:
        table, config: see `to_xarray`. variables: of the Dataset. A dimension along which they differ in size or in entries has none.
    """
    from tribosweep.sweep.execution.parquet import ENTRIES, ENTRIES_UNIT, ENTRIES_VALUES

    along, units, texts = (facts_of(table, key) for key in (ENTRIES, ENTRIES_UNIT, ENTRIES_VALUES))
    sizes: dict[str, set[int]] = {}
    for variable in variables.values():
        for dimension, size in zip(variable.dimensions, variable.values.shape, strict=True):
            sizes.setdefault(dimension, set()).add(size)
    homes: dict[str, list[str]] = {}
    for name in texts:
        homes.setdefault(inner_of(name, config)[0], []).append(name)
    found = {}
    for dimension, columns in homes.items():
        first, values = columns[0], json.loads(texts[columns[0]])
        if sizes.get(dimension) == {len(values)} and len({texts[name] for name in columns}) == 1:
            facts = {"long_name": along[first], **({"units": units[first]} if first in units else {})}
            found[dimension] = Variable((dimension,), np.asarray(values, np.float64), facts)
    return found


def with_places(variables: dict[str, Variable], config: Config, outer: int) -> tuple[dict[str, Variable], dict[str, Variable]]:
    """The variables, of which those of several places, `wear_power[first]`, are one with a dimension; and the names of the places.

    Args:
        variables: by column. config: the study. outer: number of dimensions of rows.
    """
    structure = config.model.structure
    if structure is None:
        return variables, {}
    names = {SUPPORT: tuple(structure.order), OBSERVED: tuple(dict.fromkeys(point for point, _ in structure.rows))}
    of_points = tuple(f"{axis}_" for axis in dict.fromkeys(axis for _, axis in structure.rows))
    whole: dict[str, Variable] = {}
    parts: dict[tuple[str, str], dict[str, Variable]] = {}
    for column, variable in variables.items():
        base, _, place = column.removesuffix("]").partition("[")
        home = OBSERVED if base.startswith(of_points) and place in names[OBSERVED] else SUPPORT
        if place in names[home] and base not in variables:
            parts.setdefault((base, home), {})[place] = variable
        else:
            whole[column] = variable
    for (base, home), each in parts.items():
        whole[base] = along(base, home, each, names[home], outer)
    used = {dimension for variable in whole.values() for dimension in variable.dimensions}
    labels = {home: Variable((home,), np.array(names[home], dtype=object), {"long_name": ABOUT[home]}) for home in names if home in used}
    return whole, labels


def along(base: str, home: str, each: dict[str, Variable], names: tuple[str, ...], outer: int) -> Variable:
    """One variable of those of several places; NaN or None where a place has none."""
    first = next(iter(each.values()))
    shapes = {variable.values.shape for variable in each.values()}
    longest = tuple(int(size) for size in np.max(list(shapes), axis=0))
    kind: Any = np.result_type(*(variable.values for variable in each.values()))
    if kind.kind != "O" and (len(each) < len(names) or len(shapes) > 1):
        kind = np.result_type(kind, np.float64)
    missing: Any = {"O": None, "f": np.nan}.get(kind.kind, 0)
    found = np.full((len(names), *longest), missing, dtype=kind)
    for place, variable in each.items():
        inside: tuple[slice, ...] = tuple(slice(size) for size in variable.values.shape)
        found[names.index(place)][inside] = variable.values
    facts = {**first.facts, "long_name": base.replace("_", " ")}
    if "description" in facts:
        facts["description"] = facts["description"].rpartition("; at ")[0] or facts["description"]
    return Variable((*first.dimensions[:outer], home, *first.dimensions[outer:]), np.moveaxis(found, 0, outer), facts)


def values_along(axis: Counted) -> np.ndarray:
    """The values of an axis of a grid: numbers, NaN for a default; words and tables as texts."""
    quantity = axis.quantity if isinstance(axis, Listed) else None
    if axis.name != SCHEME and (quantity is None or quantity.kind not in ("word", "list")):
        values = np.asarray(axis.at(np.arange(axis.count)))
        whole = isinstance(axis, Whole) or (quantity is not None and quantity.kind == "integer" and np.isfinite(values).all())
        return values.astype(np.int64) if whole else values
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
