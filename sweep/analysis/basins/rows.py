"""The starts of a run for its basins: where each began, where it was at the end, and which of them share all other parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import by_name
from kernels.models.schemes import RUN, STEADY
from kernels.models.status import Status
from sweep.analysis.group_statistics import group
from sweep.analysis.run_rows import slice_at, varying_of
from sweep.analysis.run_state import state_of
from sweep.design.axis import RECORD
from sweep.execution.dataset import Dataset
from sweep.execution.directory import RunDirectory
from sweep.io.errors import ConfigError, Problem
from sweep.study.capabilities import BASINS, problems_of
from sweep.study.config import Config
from sweep.study.load import load

if TYPE_CHECKING:
    import pyarrow as pa

STARTS = ("x0", "v0")
COMMAND = "tribosweep basins"


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of a run, (n,) each.

    Attributes:
        state: state of the run (`run_state.state_of`). config: its study. held: parameter -> value that defines the slice.
        numbers: points of the design. x0, v0: initial displacement [m] and velocity [m/s]; NaN-free.
        x, v: displacement and velocity at the end of the run. good: whether the run ended well.
        groups: number of the group of starts that share all other parameters, from 0 on. names: those parameters that vary.
        parameters: parameter -> value of all rows, or (n,), resolved as the exact engine reads it, without times of the run.
        time: (n,) end of the run [s].
    """

    state: dict[str, Any]
    config: Config
    held: dict[str, Any]
    numbers: np.ndarray
    x0: np.ndarray
    v0: np.ndarray
    x: np.ndarray
    v: np.ndarray
    good: np.ndarray
    groups: np.ndarray
    names: tuple[str, ...]
    parameters: dict[str, Any]
    time: np.ndarray

    @property
    def model(self) -> Model:
        """The model of the run."""
        return self.config.model

    def of(self, name: str) -> np.ndarray:
        """(n,) values of a number among the parameters, its default where the study leaves it out."""
        resolved = self.model.resolve(self.parameters)
        return np.broadcast_to(np.asarray(resolved[name], float), self.x.shape)

    @property
    def bound(self) -> np.ndarray:
        """(n,) whether a spring or a wall holds the mass: elsewhere a steady motion may be at any displacement."""
        return (self.of("k") > 0.0) | bool(self.model.walls)


def read(path: Path, at: Sequence[str]) -> Starts:
    """Read the starts of a run, complete or not.

    Args:
        path: directory of the run. at: "name=value" texts that hold parameters at a value.

    Raises:
        ConfigError: there is no run or no row, or it has no basins: neither `x0` nor `v0` varies, a steady window, another scheme than
            exact, or a model without steady motions.
    """
    state = state_of(path)
    config = load(RunDirectory(path).read_document())
    problems = refused(config)
    if not state["rows"]:
        problems.append(Problem("", "no shard is written yet: no start has an end"))
    if problems:
        raise ConfigError(str(path), problems)
    dataset, known = Dataset(path), by_name(config.model.parameters)
    swept = [name for name in dataset.names if name in known]
    table = dataset.table(["point", *swept, "x_end", "v_end", "status"])
    table, held = slice_at(table, varying_of(table, swept), at, problems)
    varying = varying_of(table, swept)
    if not set(STARTS) & set(varying):
        problems.append(Problem("", "neither x0 nor v0 varies: a basin is a set of starts"))
    problems += [
        Problem(name, "some rows leave it at its default: basins need its value in every row")
        for name in swept if table.column(name).null_count
    ]  # fmt: skip
    problems += [
        Problem(name, "is a table or a word of each row: hold it with --at") for name in varying if known[name].kind in ("list", "word")
    ]
    if problems:
        raise ConfigError(str(path), problems)
    return starts_of(state, config, held, table, [name for name in varying if name not in STARTS])


def refused(config: Config) -> list[Problem]:
    """Why a study has no basins."""
    given = {name: config.paths.get(name, name) for name in (*config.fixed, *config.swept)}
    given |= {RECORD: config.paths.get(RECORD, RECORD)} if config.excitation is not None else {}
    found = problems_of(BASINS, config.model, sorted(config.schemes), given, [STEADY] * (config.window == STEADY))
    lacking = [name for name in ("x_end", "v_end") if name not in {quantity.name for quantity in config.returns}]
    if lacking:
        found.append(Problem("output.columns", f"basins need {' and '.join(lacking)}: name them too, or leave columns out"))
    return found


def starts_of(state: dict[str, Any], config: Config, held: dict[str, Any], table: pa.Table, names: list[str]) -> Starts:
    """The starts of a table of rows."""
    import pyarrow.compute as pc

    def column(name: str) -> np.ndarray:
        return np.asarray(table.column(name).to_numpy(zero_copy_only=False))

    count, model = table.num_rows, config.model
    fixed = {name: value for name, value in config.fixed.items() if name not in config.swept}
    given = fixed | {name: column(name) for name in table.column_names if name in by_name(model.parameters)}
    resolved = model.resolve(given)
    parameters = {name: value for name, value in given.items() if name not in (*RUN, *STARTS, "window_start", "window_end")}
    ends = [np.broadcast_to(np.asarray(resolved[name], float), (count,)) for name in (*STARTS, "end")]
    good = pc.equal(table.column("status").cast("string"), Status.OK.sentence).to_numpy(zero_copy_only=False).astype(bool)
    x, v = column("x_end").astype(float), column("v_end").astype(float)
    groups = group(table, names) if names else np.zeros(count, int)
    return Starts(state, config, held, column("point"), ends[0], ends[1], x, v, good & np.isfinite(x) & np.isfinite(v), groups,
                  tuple(names), parameters, ends[2])  # fmt: skip
