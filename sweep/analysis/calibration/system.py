"""The residuals of a calibration and their Jacobian, from the exact engine, at many parameter points at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.models.schemes import EXACT
from kernels.models.status import RESULTS
from kernels.runtime import stderr_filter
from sweep.analysis.calibration.data import TRACED, Measurements
from sweep.analysis.calibration.parameters import Space
from sweep.analysis.derivative_blocks import compiled, in_blocks
from sweep.study.config import Config

# lanes of a block; a fit has few rows (rows/s of the wall with seven derivatives on one core: 2100 at 8 lanes, 1200 at 16, 960 at 32)
WIDTH = 8
PATH = ("path", "path_times", "path_at")  # columns of a run that is a sample of a loop
COUNTED = ("integer", "word")  # kinds of observables that jump where a regime ends


@dataclass(frozen=True, slots=True)
class ComputedRows:
    """Results of (rows,) runs of the engine.

    Attributes:
        values: (rows, observables), NaN if the event did not happen. slopes: (rows, observables, n) derivatives by the free parameters.
        codes: (rows, words) regimes and counts, whole numbers as floats. good: (rows,) whether a row has results.
    """

    values: np.ndarray
    slopes: np.ndarray
    codes: np.ndarray
    good: np.ndarray


@dataclass(frozen=True, slots=True)
class FitPoint:
    """Residuals of (lanes,) parameter points. Each point has m residuals: those of the data, then those of the priors.

    Attributes:
        residuals: (lanes, m) computed minus measured number, over its standard deviation; NaN for the whole lane if a run fails or the
            parameters contradict each other.
        jacobian: (lanes, m, n) derivatives by the coordinates of the free parameters.
        codes: (lanes, runs, words) regimes and counts.
        predicted: (lanes, data) computed numbers; NaN if the event did not happen.
    """

    residuals: np.ndarray
    jacobian: np.ndarray
    codes: np.ndarray
    predicted: np.ndarray


class System:
    """The residuals of a calibration.

    If a run lacks an event that was measured (such as a buckling time of a wall that does not buckle), the residual is the full measured
    number with derivative 0, and the other numbers drive the fit.

    Attributes:
        space, data: see `load.Calibration`. words: names of the observed regimes and counts.
    """

    def __init__(self, config: Config, space: Space, data: Measurements) -> None:
        """Choose the program; the first call compiles it."""
        self.space, self.data, self.model = space, data, config.model
        self.words = tuple(q.name for q in config.returns if q.kind in COUNTED and not q.survives) if data.paths is None else ()
        self.window, self.asked = config.window, config.asked
        self.names = tuple(data.names if data.forces or data.paths else (TRACED.get(name, name) for name in data.names))
        swept = set(data.settings)
        self.fixed = {name: value for name, value in config.fixed.items() if name not in swept}
        self.scheme = config.scheme
        self.columns = columns_of(config.model, self.fixed, data, space)
        paths = data.paths
        self.paths = {} if paths is None else dict(zip(PATH, (paths.x, paths.times, paths.at), strict=True))
        free = {free.name for free in space.frees}
        words = {q.name for q in config.model.parameters if q.kind != "float"}
        # zeros and words select the program; other numbers are columns, so that one program serves them all
        self.constants = {
            name: value for name, value in self.fixed.items() if name not in {*self.columns, *free} and (name in words or value == 0.0)
        }
        self.program: Any = None
        self.evaluations = 0

    @property
    def priors(self) -> list[tuple[int, float, float]]:
        """(position, mean, standard deviation) of the parameters with a prior, in coordinates."""
        return [(place, *free.known) for place, free in enumerate(self.space.frees) if free.known is not None]

    def rows(self, values: np.ndarray, runs: np.ndarray) -> ComputedRows:
        """Run the engine for free parameters (rows, n); `runs` (rows,) gives the run of the data for each row."""
        along = {name: np.ascontiguousarray(values[:, place]) for place, name in enumerate(self.space.names)}
        columns = {name: each[runs] for name, each in {**self.columns, **self.paths}.items()}
        with nullcontext() if self.program is not None else stderr_filter.without_false_alarm():  # about loaded programs
            self.program = self.program or program_of(self)
            found = in_blocks(self.program, along, columns, len(runs), 1, WIDTH)
        self.evaluations += len(runs)
        return ComputedRows(
            values=np.stack([found[name] for name in self.names], axis=1),
            slopes=np.stack([np.stack([found[name, each] for each in self.space.names], axis=1) for name in self.names], axis=1),
            codes=np.stack([found[name] for name in self.words], axis=1).astype(float) if self.words else np.zeros((len(runs), 0)),
            good=np.isin(found["status"], RESULTS),
        )

    def at(self, coordinates: np.ndarray, measured: np.ndarray | None = None) -> FitPoint:
        """Residuals at coordinates (lanes, n), against the data or against other `measured` numbers (lanes, data)."""
        lanes, n = coordinates.shape
        data, runs = self.data, len(self.data.runs)
        values = self.space.values(coordinates)
        admissible = self.admissible(values)
        rows = self.rows(np.repeat(values, runs, axis=0), np.tile(np.arange(runs), lanes))
        predicted = rows.values.reshape(lanes, runs, -1)[:, data.run, data.observable]
        slopes = rows.slopes.reshape(lanes, runs, -1, n)[:, data.run, data.observable] * self.space.rates(values)[:, np.newaxis]
        against = data.measured if measured is None else measured
        happened = np.isfinite(predicted)
        residuals = np.where(happened, predicted - against, np.abs(against)) / data.spread
        jacobian = np.where(happened[..., np.newaxis], slopes, 0.0) / data.spread[:, np.newaxis]
        for place, mean, std in self.priors:
            residuals = np.append(residuals, (coordinates[:, place : place + 1] - mean) / std, axis=1)
            unit = np.zeros((lanes, 1, n))
            unit[:, 0, place] = 1.0 / std
            jacobian = np.append(jacobian, unit, axis=1)
        good = admissible & rows.good.reshape(lanes, runs).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2))
        residuals[~good] = np.nan
        return FitPoint(residuals, jacobian, rows.codes.reshape(lanes, runs, -1), predicted)

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """(lanes,) whether parameters (lanes, n) keep the bounds and the rules of the model in all runs."""
        lanes, runs = len(values), len(self.data.runs)
        repeated = {name: np.tile(each, (lanes,) + (1,) * (each.ndim - 1)) for name, each in self.columns.items()}
        columns = placed(repeated, {name: np.repeat(values[:, place], runs) for place, name in enumerate(self.space.names)}, self.space)
        with np.errstate(all="ignore"):
            resolved = self.model.resolve({**self.constants, **columns})
            broken = [np.broadcast_to(np.asarray(rule.broken(resolved, self.scheme)), (lanes * runs,)) for rule in self.model.rules]
        outside = [free.quantity.out_of_bounds(values[:, place]) for place, free in enumerate(self.space.frees)]
        return np.asarray(~np.any(broken, axis=0).reshape(lanes, runs).any(axis=1) & ~np.any(outside, axis=0))


def columns_of(model: Model, fixed: Mapping[str, Any], data: Measurements, space: Space) -> dict[str, np.ndarray]:
    """The columns of every run except the free parameters: settings, fixed numbers other than 0, and tables."""
    runs = len(data.runs)
    columns = dict(data.settings)
    whole = {free.quantity.name for free in space.frees if free.node is None}
    for name, value in fixed.items():
        if name in columns or name in whole or model.parameter(name).kind == "word" or (np.ndim(value) == 0 and value == 0.0):
            continue
        columns[name] = np.broadcast_to(np.asarray(value, dtype=float), (runs, *np.shape(value)))
    return columns


def placed(columns: Mapping[str, Any], along: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Parameters: the columns with the free numbers inserted; works on arrays of numpy and of JAX."""
    found = dict(columns)
    for free in space.frees:
        value = along[free.name]
        if free.node is None:
            found[free.name] = value
        elif isinstance(value, np.ndarray):
            found[free.quantity.name] = np.array(found[free.quantity.name])
            found[free.quantity.name][..., free.node] = value
        else:
            found[free.quantity.name] = found[free.quantity.name].at[..., free.node].set(value)
    return found


def program_of(system: System) -> Any:
    """The compiled program of blocks of runs with their derivatives."""
    import jax.numpy as jnp

    from kernels import moment, simulate

    name, constants, space, window = system.model.name, system.constants, system.space, system.window
    asked = system.asked.keywords

    paths = system.data.paths

    def place(along: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
        return {**constants, **placed({key: jnp.asarray(each) for key, each in columns.items()}, along, space)}

    def sample(parameters: dict[str, Any]) -> dict[str, Any]:
        path, times, at = (parameters.pop(key) for key in PATH)
        found = along_path(name, parameters, path, times, timed)
        return {**{key: values[at] for key, values in found.items()}, "status": jnp.zeros((), int)}

    if paths is not None:
        from kernels.imposed_path import along_path

        timed = paths.timed
        return compiled(sample, place, system.names, ())

    def run(parameters: dict[str, Any]) -> dict[str, Any]:
        return moment(name, parameters) if system.data.forces else simulate(name, parameters, EXACT, window, **asked)

    return compiled(run, place, system.names, system.words)


def regimes_in_words(model: Model, names: Sequence[str], codes: np.ndarray) -> list[str]:
    """Each regime and count as text."""
    quantities = {quantity.name: quantity for quantity in model.observables}
    found = []
    for name, code in zip(names, codes, strict=True):
        words = quantities[name].words
        found.append(words[int(code)] if words and code >= 0 else f"{name} {int(code)}")
    return found
