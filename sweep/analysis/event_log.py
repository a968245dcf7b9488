"""The events and impacts of individual points of a study."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.sweep.design.points import Points, by_scheme
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.record_bank import record_of_row
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.table_files import write_table
from tribosweep.sweep.study.capabilities import EVENTS, IMPACTS, problems_of
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load
from tribosweep.sweep.study.rules import check_fixed

if TYPE_CHECKING:
    import pandas as pd

POINT = "point"


def read_study(path: Path) -> Config:
    """Read the study of a file or of a run's directory.

    Raises:
        ConfigError: the study cannot be read or is wrong, or the directory holds no run.
    """
    if not path.is_dir():
        return load(path)
    directory = RunDirectory(path)
    directory.read_run(to_continue=False)
    return replace(load(directory.read_document()), source=str(path))


def parameters_of(config: Config, point: int, use: str) -> dict[str, Any]:
    """The parameters of one point of a study that differ from their documented default, in SI units.

    Raises:
        ConfigError: the study has no such point, or the `use` (EVENTS, IMPACTS, FLOOR) is not for it.
    """
    if problems := problems_of(use, config.model, [], config.paths, [STEADY] * (config.window == STEADY)):
        raise ConfigError(config.source, problems)
    return given_of(config, point)


def given_of(config: Config, point: int) -> dict[str, Any]:
    """`parameters_of`, of a study with any window.

    Raises:
        ConfigError: the study has no such point.
    """
    row = _row_of(config, point)
    fixed = {name: value for name, value in config.fixed.items() if name not in row.columns}
    return fixed | {name: values[0] for name, values in row.columns.items() if name not in row.absent or not row.absent[name][0]}


def scheme_of(config: Config, point: int) -> str:
    """The scheme of one point; ConfigError if the study has no such point."""
    return by_scheme(_row_of(config, point), config.scheme)[0].scheme


def _row_of(config: Config, point: int) -> Points:
    """One point of a study; ConfigError if there is none of that number."""
    if not 0 <= point < config.design.count:
        raise ConfigError(
            config.source, [Problem("--point", f"{point} is not a point of the study, which has 0 to {config.design.count - 1}")]
        )
    return config.design.points(point, point + 1)


def events_of(config: Config, points: list[int], impacts: bool, most: int) -> pd.DataFrame:
    """The events or impacts of some points, in the order of the points and of time.

    The exact engine computes them. Impacts of a structure are computed by the scheme of the row.

    Args:
        config: the study. points: numbers of its points. impacts: whether to return impacts instead of events.
        most: number of events of a point after which its events may end; impacts are those of the whole run.

    Returns:
        One row per event: `point`, and the columns of `tribosweep.kernels.time_history.EVENT_COLUMNS`, or `IMPACT_COLUMNS` there for
        impacts; of a structure those of `tribosweep.kernels.structure_history.IMPACT_COLUMNS`.

    Raises:
        ConfigError: see `parameters_of`; or impacts of a model without a wall, events of a structure, or points that the scheme exact
            cannot run.
    """
    import pandas as pd

    from tribosweep.kernels import time_history

    rows = [parameters_of(config, point, IMPACTS if impacts else EVENTS) for point in points]
    if config.model.structure is not None:
        return _impacts_of_structures(config, points, rows)
    for row in rows:
        if problems := check_fixed(config.model, EXACT, row, config.paths, set()):
            raise ConfigError(config.source, problems)
    ask = time_history.impacts if impacts else functools.partial(time_history.event_log, most=most)
    frames = []
    for point, row in zip(points, rows, strict=True):
        shaken, records = record_of_row(config.excitation, row)
        table = ask(config.model.name, shaken) if records is None else ask(config.model.name, shaken, records=records)
        count = len(table["time"])
        frames.append(pd.DataFrame({POINT: np.full(count, point), **table}))
    return pd.concat(frames, ignore_index=True)


def _impacts_of_structures(config: Config, points: list[int], given: list[dict[str, Any]]) -> pd.DataFrame:
    """The impacts of some points of a structure, by the schemes of their rows, which have the parameters `given`; see `events_of`."""
    import pandas as pd

    from tribosweep.kernels import structure_history

    structure = config.model.structure
    if not structure.supports:
        raise ConfigError(config.source, [Problem("supports", "the structure has none, hence no impacts")])
    rows = [(scheme_of(config, point), each) for point, each in zip(points, given, strict=True)]
    for scheme, row in rows:
        if problems := check_fixed(config.model, scheme, row, config.paths, set()):
            raise ConfigError(config.source, problems)
    frames = []
    for point, (scheme, row) in zip(points, rows, strict=True):
        shaken, records = record_of_row(config.excitation, row)
        try:
            table = structure_history.impacts(structure.model, shaken, scheme, records)
        except ValueError as error:
            raise ConfigError(config.source, [Problem(f"point {point}", str(error))]) from None
        frames.append(pd.DataFrame({POINT: np.full(len(table["time"]), point), **table}))
    return pd.concat(frames, ignore_index=True)


def unfinished(table: pd.DataFrame) -> list[str]:
    """A sentence for each point whose events do not reach the end of its run; none for a table of impacts."""
    if "event" not in table:
        return []
    last = table.groupby(POINT, sort=False).last()
    return [
        f"Point {point} has no end: its events stop at t = {time:g} s, because it has more of them (--most), no longer advances, or is not "
        "finite: see the column `status` of its row."
        for point, time, event in zip(last.index, last["time"], last["event"], strict=True)
        if event != "end"
    ]


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table of events; errors as of `table_files.write_table`."""
    import pyarrow as pa

    write_table(pa.Table.from_pandas(table, preserve_index=False), path)
