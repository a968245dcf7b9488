"""The residuals of a calibration and their Jacobian at many parameter points at once, from the exact engine or a time scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.analysis.calibration.data import TRACED, Measurements
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.derivative_blocks import compiled, in_blocks
from tribosweep.sweep.design.axis import RECORD
from tribosweep.sweep.execution.record_bank import choice
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.excitation import Excitation, kernel_model

if TYPE_CHECKING:
    from tribosweep.kernels.excitation.record import Records

# lanes of a block; a fit has few rows (rows/s of the wall with seven derivatives on one core: 2100 at 8 lanes, 1200 at 16, 960 at 32)
WIDTH = 8
STEPPED_WIDTH = 16  # of a time scheme: a step of 64 lanes takes three times as long as one of 8
PATH = ("path", "path_times")  # columns of a run that is a loop
SAMPLES = "samples"  # the column of the times of a history
LOOPS, MOMENTS, HISTORIES, ENDS = "loops", "moments", "histories", "ends"  # programs
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


@dataclass(slots=True)
class Part:
    """Some runs of a calibration, and the program that computes them.

    Attributes:
        kind: of the program: LOOPS, MOMENTS, HISTORIES or ENDS.
        mine: (runs,) mask of its runs. names: position of an observable in the data -> its name in the results.
        shared: (runs,) the run whose parameters the engine runs for a run: itself, or the first sample of its trace.
        at: (runs,) where a run is in the samples of that run, if several share one; else None.
        columns: more columns, (runs, ...). program: once it is compiled.
    """

    kind: str
    mine: np.ndarray
    names: dict[int, str]
    shared: np.ndarray
    at: np.ndarray | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    program: Any = None


class System:
    """The residuals of a calibration.

    If a run lacks an event that was measured (such as a buckling time of a wall that does not buckle), the residual is the full measured
    number with derivative 0, and the other numbers drive the fit.

    Attributes:
        space, data: see `load.Calibration`. words: names of the observed regimes and counts. parts: the programs and their runs.
        model, columns, constants: of the study, for its rules; columns are (runs, ...), without free parameters.
        noise: factor of the standard deviations of the data, but not of the priors: 1, or what the residuals say of it.
        runs_model, run_columns, run_constants, records: the same as programs read them, and the records that shake the runs.
    """

    def __init__(self, config: Config, space: Space, data: Measurements) -> None:
        """Choose the programs; the first call compiles them."""
        self.space, self.data, self.model = space, data, config.model
        self.runs_model = config.model if config.excitation is None else kernel_model(config.model)
        self.words = tuple(q.name for q in config.returns if q.kind in COUNTED and not q.survives) if data.paths is None else ()
        self.window, self.asked = config.window, config.asked
        swept = set(data.settings)
        self.fixed = {name: value for name, value in config.fixed.items() if name not in swept}
        self.scheme = config.scheme
        self.columns = columns_of(config.model, self.fixed, data, space, self.stepped)
        free = {free.name for free in space.frees}
        words = {q.name for q in config.model.parameters if q.kind != "float"}
        # zeros and words select the program; other numbers are columns, so that one program serves them all
        self.constants = {
            name: value for name, value in self.fixed.items() if name not in {*self.columns, *free} and (name in words or value == 0.0)
        }
        self.run_constants, self.run_columns, self.records = shaken(self, config.excitation)
        self.parts = parts_of(self)
        self.distinct = np.unique(np.concatenate([part.shared[part.mine] for part in self.parts]))
        self.evaluations, self.noise = 0, 1.0

    @property
    def stepped(self) -> bool:
        """Whether a time scheme runs the tests."""
        return self.scheme != EXACT and self.data.paths is None

    @property
    def priors(self) -> list[tuple[int, float, float]]:
        """(position, mean, standard deviation) of the parameters with a prior, in coordinates."""
        return [(place, *free.known) for place, free in enumerate(self.space.frees) if free.known is not None]

    def rows(self, values: np.ndarray, runs: np.ndarray, step: float = 1.0) -> ComputedRows:
        """Run the engine for free parameters (rows, n); `runs` (rows,) gives the run of the data for each row.

        `step` is a factor of the fixed steps of a time scheme.
        """
        count, observables, n = len(runs), len(self.data.names), len(self.space.names)
        found = ComputedRows(
            np.full((count, observables), np.nan),
            np.zeros((count, observables, n)),
            np.zeros((count, len(self.words))),
            np.zeros(count, dtype=bool),
        )
        for part in self.parts:
            mine = np.flatnonzero(part.mine[runs])
            if mine.size:
                self.evaluations += self.compute(part, values, runs, mine, step, found)
        return found

    def compute(self, part: Part, values: np.ndarray, runs: np.ndarray, mine: np.ndarray, step: float, found: ComputedRows) -> int:
        """Compute the rows `mine` by the program of their part, and store them; return how many runs of the engine that took."""
        shared, back = part.shared[runs[mine]], np.arange(mine.size)
        computed = values[mine]
        if part.at is not None:
            each, back = np.unique(np.column_stack([shared, computed]), axis=0, return_inverse=True)
            shared, computed, back = each[:, 0].astype(int), each[:, 1:], back.reshape(-1)
        along = {name: np.ascontiguousarray(computed[:, place]) for place, name in enumerate(self.space.names)}
        columns = {name: each[shared] for name, each in {**self.run_columns, **part.columns}.items()}
        if step != 1.0:
            columns["step"] = step * columns["step"]
        first = part.program is None
        part.program = part.program or program_of(self, part)  # from here on programs are kept, of which the filter must know
        width = STEPPED_WIDTH if self.stepped else WIDTH
        results = in_blocks(part.program, along, columns, len(shared), width, new="runs with derivatives" if first else "")
        for place, name in part.names.items():
            where = (back, part.at[runs[mine]]) if part.at is not None and results[name].ndim > 1 else (back,)
            found.values[mine, place] = results[name][where]
            for k, free in enumerate(self.space.names):
                found.slopes[mine, place, k] = results[name, free][where]
        for k, name in enumerate(self.words):
            found.codes[mine, k] = results[name][back]
        found.good[mine] = np.isin(results["status"], RESULTS)[back]
        return len(shared)

    def at(self, coordinates: np.ndarray, measured: np.ndarray | None = None, step: float = 1.0) -> FitPoint:
        """Residuals at coordinates (lanes, n), against the data or against other `measured` numbers (lanes, data); `step` as for `rows`."""
        lanes, n = coordinates.shape
        data, runs = self.data, len(self.data.runs)
        values = self.space.values(coordinates)
        admissible = self.admissible(values)
        rows = self.rows(np.repeat(values, runs, axis=0), np.tile(np.arange(runs), lanes), step)
        predicted = rows.values.reshape(lanes, runs, -1)[:, data.run, data.observable]
        slopes = rows.slopes.reshape(lanes, runs, -1, n)[:, data.run, data.observable] * self.space.rates(values)[:, np.newaxis]
        against = data.measured if measured is None else measured
        happened = np.isfinite(predicted)
        spread = self.noise * data.spread
        residuals = np.where(happened, predicted - against, np.abs(against)) / spread
        jacobian = np.where(happened[..., np.newaxis], slopes, 0.0) / spread[:, np.newaxis]
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
        lanes, runs = len(values), len(self.distinct)
        repeated = {name: np.tile(each[self.distinct], (lanes,) + (1,) * (each.ndim - 1)) for name, each in self.columns.items()}
        columns = placed(repeated, {name: np.repeat(values[:, place], runs) for place, name in enumerate(self.space.names)}, self.space)
        with np.errstate(all="ignore"):
            resolved = self.model.resolve({**({} if self.records is None else {RECORD: 0.0}), **self.constants, **columns})
            broken = [np.broadcast_to(np.asarray(rule.broken(resolved, self.scheme)), (lanes * runs,)) for rule in self.model.rules]
        outside = [free.quantity.out_of_bounds(values[:, place]) for place, free in enumerate(self.space.frees)]
        return np.asarray(~np.any(broken, axis=0).reshape(lanes, runs).any(axis=1) & ~np.any(outside, axis=0))


def parts_of(system: System) -> list[Part]:
    """The programs of a calibration, each with its runs."""
    data, count = system.data, len(system.data.runs)
    every, itself = np.ones(count, dtype=bool), np.arange(count)
    _, first, test = np.unique(data.tests, return_index=True, return_inverse=True)
    if data.paths is not None:
        path = dict(zip(PATH, (data.paths.x, data.paths.times), strict=True))
        return [Part(LOOPS, every, dict(enumerate(data.names)), first[test], data.paths.at, columns=path)]
    if data.forces and not system.stepped:
        return [Part(MOMENTS, every, dict(enumerate(data.names)), itself)]
    if data.histories is None:
        return [Part(ENDS, every, {place: TRACED.get(name, name) for place, name in enumerate(data.names)}, itself)]
    times, traced = data.histories.times[test], np.isfinite(data.times)
    # lanes without samples step at the pace of those beside them
    end = system.columns.get("end", np.full(count, system.model.parameter("end").default))
    times = np.where(traced[:, np.newaxis], times, end[:, np.newaxis] * np.linspace(0.0, 1.0, times.shape[1] + 1)[1:])
    shared = Part(HISTORIES, every, dict(enumerate(data.names)), first[test], data.histories.at, {SAMPLES: times})
    needy = {q.name for q in system.model.observables if q.needs}
    if needy.isdisjoint(data.names):
        return [shared]
    observables = {q.name for q in system.model.observables}
    histories = {place: name for place, name in shared.names.items() if name not in observables}
    ends = {place: name for place, name in shared.names.items() if name in observables}
    return [replace(shared, mine=traced, names=histories), Part(ENDS, ~traced, ends, itself)]


def columns_of(model: Model, fixed: Mapping[str, Any], data: Measurements, space: Space, stepped: bool) -> dict[str, np.ndarray]:
    """The columns of every run except the free parameters: settings, fixed numbers other than 0, and tables."""
    runs = len(data.runs)
    columns = dict(data.settings)
    whole = {free.quantity.name for free in space.frees if free.node is None}
    for name, value in fixed.items():
        if name in columns or name in whole or model.parameter(name).kind == "word" or (np.ndim(value) == 0 and value == 0.0):
            continue
        columns[name] = np.broadcast_to(np.asarray(value, dtype=float), (runs, *np.shape(value)))
    if stepped and "step" not in columns:
        columns["step"] = np.full(runs, model.parameter("step").default)
    return columns


def shaken(system: System, excitation: Excitation | None) -> tuple[dict[str, Any], dict[str, np.ndarray], Records | None]:
    """The constants and columns of runs in which `record` is a position in the bank, and the bank; loops follow no record."""
    if excitation is None:
        return system.constants, system.columns, None
    from tribosweep.kernels.excitation.record import Records

    name, default = choice(excitation)
    runs = len(system.data.runs)
    given = system.columns.get(name, system.constants.get(name, default))
    numbers = np.broadcast_to(np.asarray(given, float), (runs,))
    positions, bank = excitation.take(numbers, len(np.unique(numbers)))
    constants = {key: value for key, value in system.constants.items() if key != name}
    columns = {key: each for key, each in system.columns.items() if key != name}
    if system.data.paths is None:
        columns[RECORD] = positions
    return constants, columns, Records(bank, excitation.interval)


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


def program_of(system: System, part: Part) -> Any:
    """The compiled program of a part: blocks of runs with their derivatives."""
    run, place = runner_of(system, part)
    return compiled(run, place, tuple(dict.fromkeys(part.names.values())), system.words)


def runner_of(system: System, part: Part) -> tuple[Any, Any]:
    """Two functions that JAX traces: row parameters -> observables with `status`, and (free numbers, columns) -> row parameters."""
    import jax.numpy as jnp

    from tribosweep.kernels import moment, simulate
    from tribosweep.kernels.imposed_path import along_path
    from tribosweep.kernels.structure_samples import samples

    model, constants, space, records = system.runs_model, system.run_constants, system.space, system.records

    def place(along: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
        return {**constants, **placed({key: jnp.asarray(each) for key, each in columns.items()}, along, space)}

    def loop(parameters: dict[str, Any]) -> dict[str, Any]:
        path, times = (parameters.pop(key) for key in PATH)
        return {**along_path(model.name, parameters, path, times, timed), "status": jnp.zeros((), int)}

    def history(parameters: dict[str, Any]) -> dict[str, Any]:
        times = parameters.pop(SAMPLES)
        return samples(model, parameters, times, system.scheme, records)

    def end(parameters: dict[str, Any]) -> dict[str, Any]:
        chosen = model.name if model.structure is None else model
        return simulate(chosen, parameters, system.scheme, system.window, records=records, **system.asked.keywords)

    timed = system.data.paths is not None and system.data.paths.timed
    run = {LOOPS: loop, MOMENTS: lambda parameters: moment(model.name, parameters, records), HISTORIES: history, ENDS: end}[part.kind]
    return run, place


def regimes_in_words(model: Model, names: Sequence[str], codes: np.ndarray) -> list[str]:
    """Each regime and count as text."""
    quantities = {quantity.name: quantity for quantity in model.observables}
    found = []
    for name, code in zip(names, codes, strict=True):
        words = quantities[name].words
        found.append(words[int(code)] if 0 <= code < len(words) else f"{name} {code:.0f}")
    return found
