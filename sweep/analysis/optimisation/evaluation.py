"""Objectives, constraints and their exact derivatives at many points at once; every point has the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.kernels.batch.solve import check, solve
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.kernels.runtime import jax_setup, program_cache
from tribosweep.sweep.analysis.calibration.system import COUNTED, placed
from tribosweep.sweep.analysis.derivative_blocks import compiled, in_blocks
from tribosweep.sweep.analysis.optimisation.functions import Constraint, Objective
from tribosweep.sweep.analysis.optimisation.load import Optimisation
from tribosweep.sweep.execution.answers import Answers
from tribosweep.sweep.execution.record_bank import bind_records
from tribosweep.sweep.study.excitation import kernel_model

WIDTH, STEPPED_WIDTH = 8, 16  # lanes of a block, see `calibration.system`
PLAIN_ROOM = 4096  # rows of a call without derivatives, so that all calls share a program


@dataclass(frozen=True, slots=True)
class Rows:
    """Results of the rows of (lanes,) points.

    Attributes:
        values: (lanes, rows, observables); NaN where it did not happen.
        slopes: (lanes, rows, observables, n) derivatives by the coordinates in parts of their ranges.
        codes: (lanes, rows, words) regimes and counts. good: (lanes,) whether all rows of a point have results.
    """

    values: np.ndarray
    slopes: np.ndarray
    codes: np.ndarray
    good: np.ndarray


@dataclass(frozen=True, slots=True)
class Functions:
    """Objectives and constraints at one point, each as functions whose largest it is, so that small is good.

    Attributes:
        objectives: for each objective (k,) values and (k, n) derivatives by parts of the ranges, in its
            unit times its sign.
        constraints: for each constraint the same of sign (value - limit): kept where all are at most 0.
        measures: (objectives + constraints,) the measures themselves, in their units.
        codes: (rows, words). good: whether all rows have results and all functions values.
    """

    objectives: tuple[tuple[np.ndarray, np.ndarray], ...]
    constraints: tuple[tuple[np.ndarray, np.ndarray], ...]
    measures: np.ndarray
    codes: np.ndarray
    good: bool


class Evaluator:
    """Computes the functions of an optimisation.

    Attributes:
        space: the variables. names: observables that the functions need. words: regimes and counts that tell of jumps.
        count: number of rows of a point. runs, plain: rows computed so far with and without derivatives, those of an ended process too.
    """

    def __init__(self, optimisation: Optimisation, answers: Answers | None = None) -> None:
        """Take apart the rows of a point; the first call compiles a program. `answers`: what is known, and where new ones are kept."""
        self.answers = answers or Answers()
        config = optimisation.config
        self.optimisation, self.config, self.space = optimisation, config, optimisation.space
        self.model = config.model if config.excitation is None else kernel_model(config.model)
        self.functions: tuple[Objective | Constraint, ...] = (*optimisation.objectives, *optimisation.constraints)
        self.names = tuple(dict.fromkeys(name for each in self.functions for name in each.measure.names))
        kinds = {q.name: q.kind for q in config.returns}
        self.smooth = tuple(name for name in self.names if kinds[name] == "float")
        self.words = tuple(q.name for q in config.returns if q.kind in COUNTED and not q.survives)
        points = config.design.points(0, config.design.count)
        fixed, points, self.records = bind_records(config, points)
        self.count = points.count
        whole = {free.quantity.name for free in self.space.frees if free.node is None}
        words = {q.name for q in self.model.parameters if q.kind != "float"}
        left = {name: value for name, value in fixed.items() if name not in whole}
        # zeros and words select the program; other numbers are columns, so that one program serves other studies too
        self.constants = {
            name: value for name, value in left.items() if name == "record" or (name in words and np.ndim(value) == 0) or is_zero(value)
        }
        self.columns = {
            **{name: np.broadcast_to(np.asarray(value, float), (self.count, *np.shape(value)))
               for name, value in left.items() if name not in self.constants},
            **points.columns,
        }  # fmt: skip
        if self.stepped and "step" not in self.columns:
            self.columns["step"] = np.full(self.count, self.model.parameter("step").default)
        self.runs, self.plain = 0, 0
        self._program: Any = None

    @property
    def stepped(self) -> bool:
        """Whether a time scheme runs the rows."""
        return self.config.scheme != EXACT

    def tiled(self, values: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Variables and other columns of all rows of points (lanes, n): (lanes x rows,) each."""
        lanes = len(values)
        columns = {name: np.tile(each, (lanes,) + (1,) * (each.ndim - 1)) for name, each in self.columns.items()}
        return {name: np.repeat(values[:, place], self.count) for place, name in enumerate(self.space.names)}, columns

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """(lanes,) whether points (lanes, n) keep the bounds and the rules of the model in all rows."""
        lanes = len(values)
        along, columns = self.tiled(values)
        given = {**self.constants, **placed(columns, along, self.space)}
        with np.errstate(all="ignore"):
            status = check(self.model, self.config.scheme, self.model.resolve(given), given, {}, lanes * self.count)
        return np.asarray((status == Status.OK).reshape(lanes, self.count).all(axis=1))

    def rows(self, coordinates: np.ndarray) -> Rows:
        """Run the rows of points (lanes, n) with derivatives."""
        self.runs += len(coordinates) * self.count
        return self.answered("rows", coordinates, coordinates.shape[1], self.new_rows)

    def new_rows(self, coordinates: np.ndarray) -> Rows:
        """The same of points that are not known."""
        lanes, n = coordinates.shape
        values = self.space.values(coordinates)
        along, columns = self.tiled(values)
        first = self._program is None
        self._program = self._program or program_of(self)
        width = STEPPED_WIDTH if self.stepped else WIDTH
        found = in_blocks(self._program, along, columns, lanes * self.count, width, new="rows with derivatives" if first else "")
        shape = (lanes, self.count)
        slopes = np.zeros((*shape, len(self.names), n))
        for place, name in enumerate(self.names):
            for k, each in enumerate(self.space.names):
                if name in self.smooth:
                    slopes[:, :, place, k] = found[name, each].reshape(shape)
        slopes *= (self.space.rates(values) * self.space.width)[:, np.newaxis, np.newaxis]
        return self.collected(found, slopes, self.admissible(values))

    def plain_rows(self, coordinates: np.ndarray) -> Rows:
        """Run the rows of points (lanes, n) without derivatives, faster."""
        self.plain += len(coordinates) * self.count
        return self.answered("plain rows", coordinates, 0, self.new_plain_rows)

    def new_plain_rows(self, coordinates: np.ndarray) -> Rows:
        """The same of points that are not known."""
        lanes = len(coordinates)
        values = self.space.values(coordinates)
        along, columns = self.tiled(values)
        given = {**self.constants, **placed(columns, along, self.space)}
        jax_setup.prepare()
        program_cache.use()
        solution = solve(
            self.model, self.config.scheme, given, {}, lanes * self.count, self.config.window, PLAIN_ROOM, records=self.records,
            asked=self.config.asked,
        )  # fmt: skip
        found = {**solution.observables, "status": solution.status}
        return self.collected(found, np.zeros((lanes, self.count, len(self.names), len(self.space.names))), np.ones(lanes, bool))

    def collected(self, found: Mapping[Any, np.ndarray], slopes: np.ndarray, admissible: np.ndarray) -> Rows:
        """The results of rows by point."""
        shape = slopes.shape[:2]
        values = np.stack([np.asarray(found[name], float).reshape(shape) for name in self.names], axis=-1)
        codes = [np.asarray(found[name], float).reshape(shape) for name in self.words]
        good = np.isin(found["status"], RESULTS).reshape(shape).all(axis=1)
        return Rows(values, slopes, np.stack(codes, axis=-1) if codes else np.zeros((*shape, 0)), good & admissible)

    def answered(self, question: str, coordinates: np.ndarray, n: int, compute: Callable[[np.ndarray], Rows]) -> Rows:
        """The results of rows with derivatives by n coordinates (0: without), of which some may be known from an earlier process."""
        if self.answers.folder is None:
            return compute(coordinates)
        shape = (self.count, len(self.names))
        *sizes, size = np.cumsum([math.prod(shape), math.prod(shape) * n, self.count * len(self.words), 1]).tolist()
        numbers = self.answers.of(question, coordinates, size, lambda points: packed(compute(points), n))
        values, slopes, codes, good = np.split(numbers, sizes, axis=1)
        lanes = len(numbers)
        return Rows(
            values.reshape(lanes, *shape),
            slopes.reshape(lanes, *shape, n) if n else np.zeros((lanes, *shape, len(self.space.names))),
            codes.reshape(lanes, self.count, len(self.words)),
            good[:, 0] > 0.0,
        )

    def at(self, coordinates: np.ndarray) -> list[Functions]:
        """The functions and their derivatives at points (lanes, n)."""
        rows = self.rows(coordinates)
        return [self.functions_of(rows.values[lane], rows.slopes[lane], rows.codes[lane], bool(rows.good[lane]))
                for lane in range(len(coordinates))]  # fmt: skip

    def functions_of(self, values: np.ndarray, slopes: np.ndarray, codes: np.ndarray, good: bool) -> Functions:
        """The functions of one point, from its rows."""
        found, measures = [], []
        observed = dict(zip(self.names, values.T, strict=True))
        for each in self.functions:
            place, upper = self.names.index(each.measure.quantity.name), each.sign > 0.0
            limit = each.limit if isinstance(each, Constraint) else 0.0
            own, rates = each.measure.smooth(observed, slopes[:, place], upper)
            found.append((each.sign * (own - limit), each.sign * rates))
            measures.append(float(each.measure.values(observed, upper)))
        count = len(self.optimisation.objectives)
        whole = good and all(np.isfinite(f).all() and np.isfinite(rates).all() for f, rates in found)
        return Functions(tuple(found[:count]), tuple(found[count:]), np.array(measures), codes, whole)

    def measures(self, coordinates: np.ndarray) -> np.ndarray:
        """(lanes, objectives + constraints) measures at points (lanes, n), without derivatives; NaN where a point has no results."""
        return self.measures_of(self.plain_rows(coordinates))

    def measures_of(self, rows: Rows) -> np.ndarray:
        """(lanes, objectives + constraints) measures from rows."""
        observed = dict(zip(self.names, np.moveaxis(rows.values, -1, 0), strict=True))
        found = [each.measure.values(observed, each.sign > 0.0) for each in self.functions]
        return np.where(rows.good[:, np.newaxis], np.stack(found, axis=-1), np.nan)


def packed(rows: Rows, n: int) -> np.ndarray:
    """The results of points (lanes, m), with derivatives by n coordinates; without any they are 0."""
    parts = (rows.values, rows.slopes[..., :n], rows.codes, rows.good.astype(float))
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def is_zero(value: Any) -> bool:
    """Whether a fixed value is the number 0."""
    return np.ndim(value) == 0 and float(value) == 0.0


def program_of(evaluator: Evaluator) -> Any:
    """The compiled program that differentiates blocks of rows."""
    import jax.numpy as jnp

    from tribosweep.kernels import simulate

    config, space, constants, records = evaluator.config, evaluator.space, evaluator.constants, evaluator.records
    model = evaluator.model.name if evaluator.model.structure is None else evaluator.model

    def place(along: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
        return {**constants, **placed({key: jnp.asarray(each) for key, each in columns.items()}, along, space)}

    def run(parameters: dict[str, Any]) -> dict[str, Any]:
        return simulate(model, parameters, config.scheme, config.window, records=records, **config.asked.keywords)

    return compiled(run, place, evaluator.smooth, tuple(dict.fromkeys((*evaluator.words, *evaluator.names))))
