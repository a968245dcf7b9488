"""Functions with known optima in place of those of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.optimisation.evaluation import Functions, Rows
from tribosweep.sweep.analysis.optimisation.functions import VALUE, WORST, Constraint, Measure, Objective
from tribosweep.sweep.analysis.optimisation.load import Optimisation
from tribosweep.sweep.study.free import Free
from tribosweep.sweep.study.optimise import SLSQP

Function = Callable[[Any], Any]


def measure(name: str, kind: str = VALUE) -> Measure:
    return Measure(kind, Quantity(name, "N", "a function"))


class Analytic:
    """Stands in for `evaluation.Evaluator`: functions of (n,) variables that return a number, or the rows of a worst case."""

    def __init__(self, optimisation: Optimisation, given: Sequence[Function], word: Function | None = None) -> None:
        self.optimisation, self.space = optimisation, optimisation.space
        self.functions = (*optimisation.objectives, *optimisation.constraints)
        self.model = SimpleNamespace(observables=[Quantity("count", "", "a count", kind="integer")])
        self.words, self.count = ("count",), 1
        self.given = [lambda x, f=f: jax.numpy.atleast_1d(f(x)) for f in given]
        self.rates = [jax.jit(jax.jacfwd(f)) for f in self.given]
        self.word = word or (lambda x: 0.0)
        self.runs = self.plain = 0

    def admissible(self, values: np.ndarray) -> np.ndarray:
        return np.ones(len(values), bool)

    def one(self, coordinates: np.ndarray) -> Functions:
        values = self.space.values(coordinates)
        found = []
        for function, f, rate in zip(self.functions, self.given, self.rates, strict=True):
            limit = getattr(function, "limit", 0.0)
            slopes = np.asarray(rate(values)) * self.space.rates(values) * self.space.width
            found.append((function.sign * (np.asarray(f(values)) - limit), function.sign * slopes))
        count = len(self.optimisation.objectives)
        measures = np.array([function.sign * each.max() + getattr(function, "limit", 0.0)
                             for function, (each, _) in zip(self.functions, found, strict=True)])  # fmt: skip
        return Functions(tuple(found[:count]), tuple(found[count:]), measures, np.array([[self.word(values)]]), True)

    def at(self, coordinates: np.ndarray) -> list[Functions]:
        self.runs += len(coordinates)
        return [self.one(each) for each in coordinates]

    def plain_rows(self, coordinates: np.ndarray) -> Rows:
        self.plain += len(coordinates)
        found = [self.one(each) for each in coordinates]
        values = np.array([each.measures for each in found])[:, np.newaxis]
        return Rows(values, np.zeros((*values.shape, 2)), np.array([each.codes for each in found]), np.ones(len(found), bool))

    def measures(self, coordinates: np.ndarray) -> np.ndarray:
        return self.plain_rows(coordinates).values[:, 0]


def problem(
    objectives: Sequence[tuple[Function, bool]], limits: Sequence[tuple[Function, str, float]], bounds: Sequence[tuple[float, float]],
    *, log: bool = False, starts: int = 6, front: int = 15, worst: bool = False, word: Function | None = None,
) -> tuple[Optimisation, Callable[..., Analytic]]:  # fmt: skip
    """An optimisation of functions, and what makes its evaluator.

    Args:
        objectives: (function, whether it is maximised). limits: (function, "<=" or ">=", limit). bounds: of the variables.
        log: whether scales are logarithmic. worst: whether the first objective is a worst case. word: a count that changes.
    """
    frees = [Free(f"x{i}", Quantity(f"x{i}", "1", "a variable"), None, low, high, log, low + 0.3 * (high - low))
             for i, (low, high) in enumerate(bounds)]  # fmt: skip
    goals = tuple(Objective(measure(f"f{i}", WORST if worst and i == 0 else VALUE), largest) for i, (_, largest) in enumerate(objectives))
    kept = tuple(Constraint(measure(f"g{i}"), relation == "<=", limit) for i, (_, relation, limit) in enumerate(limits))
    config: Any = SimpleNamespace(source="test", name="test")
    optimisation = Optimisation(config, {}, Space(frees), goals, kept, starts, 1, SLSQP, front)
    given = [f for f, _ in objectives] + [g for g, _, _ in limits]
    return optimisation, lambda *_: Analytic(optimisation, given, word)
