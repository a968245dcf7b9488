"""The key `table` of a study: a file with a force over time, in place of the lists `table_time` and `table_force`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.io.columns import MOST_WRITTEN, Wanted, read_columns
from tribosweep.sweep.io.errors import Problem, shorten
from tribosweep.sweep.study.schema_structure import OF_A_FILE, TABLE

VALUES = ("table_force", "table_value")  # of an oscillator, and of a load of a structure


def file_keys(model: Model) -> dict[str, str]:
    """The keys `table` that [parameters] of a model may have, `table[LOAD]` of a load, with their description."""
    names = [q.name.partition("[") for q in model.parameters]
    return {f"{TABLE}{bracket}{of}": OF_A_FILE for value, bracket, of in names if value in VALUES}


def expand(parameters: dict[str, Any], homes: dict[str, str], model: Model, folder: Path, problems: list[Problem]) -> None:
    """Put lists in place of files, in place.

    Args:
        parameters: [parameters] with those of [loads]. homes: keys of the latter. model: of the study.
        folder: folder to which paths are relative. problems: list to which problems are added.
    """
    known = by_name(model.parameters)
    for name in [each for each in parameters if each.partition("[")[0] == TABLE]:
        of, where = name.removeprefix(TABLE), homes.get(name, f"parameters.{name}")
        values = [value + of for value in VALUES if value + of in known]
        if not values:
            continue  # no parameter of this model: said with the other names
        file, lists = parameters.pop(name), [f"{TABLE}_time{of}", values[0]]
        if given := [each for each in lists if each in parameters]:
            problems.append(Problem(where, f"given twice: {given[0]} is a column of this file"))
            continue
        if not isinstance(file, str) or not file:
            problems.append(
                Problem(where, f'must be a file with the columns time and force (or acceleration), such as "pull.csv", not {shorten(file)}')
            )
            continue
        unit = known[values[0]].unit
        what = "force" if unit == "N" else "acceleration"
        wanted = [Wanted("time", "s", "time"), Wanted(what, unit, what)]
        columns = read_columns(folder / file, wanted, where, problems, MOST_WRITTEN)
        if columns is None:
            continue
        if not columns[0].size:
            problems.append(Problem(where, f"{file} has a header and no row: a table has a row for each instant"))
            continue
        for each, column in zip(lists, columns, strict=True):
            parameters[each], homes[each] = column.tolist(), where
