"""The starts of a run for its basins: where each began, where it was at the end, and which of them share all other parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.schemes import PAIR, RUN, STEADY
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.analysis.group_statistics import group
from tribosweep.sweep.analysis.run_rows import slice_at, varying_of
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.design.axis import RECORD
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import BASINS, problems_of
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load

if TYPE_CHECKING:
    import pyarrow as pa

STARTS = ("x0", "v0")
ENDS, ENDS_OF_PAIR = ("x_end", "v_end"), ("x_end_2", "v_end_2")  # columns of the run: of the mass, and of a second body


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of a run, (n,) each.

    Attributes:
        state: state of the run (`run_state.state_of`). config: its study. held: parameter -> value that defines the slice.
        numbers: points of the design. x0, v0: initial displacement [m] and velocity [m/s]; NaN-free. Of two bodies all is of their
            relative motion.
        x, v: displacement and velocity at the end of the run. ends: its columns that say so. good: whether the run ended well.
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
    ends: tuple[str, ...]
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
    table = dataset.table(["point", *swept, *ends_of(config), "status"])
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
    return starts_of(state, config, held, table, [name for name in varying if name not in (*STARTS, *PAIR[1:])])


def ends_of(config: Config) -> tuple[str, ...]:
    """The columns that say where a run of the study ends."""
    return ENDS + ENDS_OF_PAIR if {*config.fixed, *config.swept} & {*PAIR} else ENDS


def relative(ends: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Displacement [m] and velocity [m/s] at the end of runs from their columns, of two bodies those of the relative motion."""
    x, v = (np.asarray(ends[one], float) - np.asarray(ends.get(two, 0.0)) for one, two in zip(ENDS, ENDS_OF_PAIR, strict=True))
    return x, v


def refused(config: Config) -> list[Problem]:
    """Why a study has no basins."""
    given = {name: config.paths.get(name, name) for name in (*config.fixed, *config.swept)}
    given |= {RECORD: config.paths.get(RECORD, RECORD)} if config.excitation is not None else {}
    found = problems_of(BASINS, config.model, sorted(config.schemes), given, [STEADY] * (config.window == STEADY))
    lacking = [name for name in ends_of(config) if name not in {quantity.name for quantity in config.returns}]
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
    parameters = {name: value for name, value in given.items() if name not in (*RUN, *STARTS, *PAIR[1:])}
    x0, v0, end = (np.broadcast_to(np.asarray(resolved[name], float), (count,)) for name in (*STARTS, "end"))
    ends = ends_of(config)
    if ENDS_OF_PAIR[0] in ends:
        x0, v0 = x0 - np.asarray(resolved["x0_2"]), v0 - np.asarray(resolved["v0_2"])
    good = pc.equal(table.column("status").cast("string"), Status.OK.sentence).to_numpy(zero_copy_only=False).astype(bool)
    x, v = relative({name: column(name) for name in ends})
    groups = group(table, names) if names else np.zeros(count, int)
    return Starts(state, config, held, column("point"), x0, v0, x, v, ends, good & np.isfinite(x) & np.isfinite(v), groups,
                  tuple(names), parameters, end)  # fmt: skip
