"""The likelihood of a calibration: independent normal errors of the measured numbers, with known standard deviations or a common factor.

A run that lacks an event which was measured has the full measured number as its residual, as in the fit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.analysis.calibration.system import Part, System, runner_of
from tribosweep.sweep.analysis.derivative_blocks import compiled_values, in_blocks

WIDTH = 64  # lanes of a block without derivatives


class NormalErrors:
    """The likelihood of the data of a calibration; see `problem.Likelihood`.

    Attributes:
        system: computes what is compared. inferred: whether the last of the sampled numbers is the factor of the standard deviations.
        measured: (data,) the numbers that were measured.
        constant: the part of the logarithm that depends on no parameter.
    """

    def __init__(self, system: System, inferred: bool, measured: np.ndarray | None = None) -> None:
        """Programs are compiled at the first call. `measured` replaces the measured numbers of the calibration."""
        data = system.data
        self.system, self.inferred = system, inferred
        self.measured = data.measured if measured is None else np.asarray(measured, dtype=float)
        self.constant = -float(np.sum(np.log(data.spread))) - 0.5 * data.count * math.log(2.0 * math.pi)
        self._programs: dict[int, Any] = {}

    def log(self, values: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the likelihood at values (n, p); -inf where a run fails or the numbers contradict each other."""
        data = self.system.data
        frees = np.ascontiguousarray(values[:, : len(self.system.space.names)])
        good = self.system.admissible(frees)
        predicted = np.full((len(frees), data.count), np.nan)
        for number, part in enumerate(self.system.parts):
            chosen = np.flatnonzero(good)
            if chosen.size:
                good[chosen] = self.run(number, part, frees[chosen], chosen, predicted)
        residuals = np.where(np.isfinite(predicted), predicted - self.measured, np.abs(self.measured)) / data.spread
        return self.of_residuals(residuals, values, good)[0]

    def run(self, number: int, part: Part, frees: np.ndarray, chosen: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Compute the numbers of a part for the `chosen` points, and store them in `predicted`; return which points have results."""
        system, data, points = self.system, self.system.data, len(frees)
        names = tuple(dict.fromkeys(part.names.values()))
        first = number not in self._programs
        if first:
            self._programs[number] = compiled_values(*runner_of(system, part), names)
        distinct = np.unique(part.shared[part.mine])
        along = {name: np.repeat(frees[:, place], len(distinct)) for place, name in enumerate(system.space.names)}
        columns = {
            name: np.tile(each[distinct], (points,) + (1,) * (each.ndim - 1))
            for name, each in {**system.run_columns, **part.columns}.items()
        }
        flat = in_blocks(self._programs[number], along, columns, points * len(distinct), WIDTH, new="runs of draws" if first else "")
        results = {name: each.reshape(points, len(distinct), *each.shape[1:]) for name, each in flat.items()}
        for place, name in part.names.items():
            here = np.flatnonzero((data.observable == place) & part.mine[data.run])
            row = np.searchsorted(distinct, part.shared[data.run[here]])
            each = results[name]
            found = each[:, row, part.at[data.run[here]]] if part.at is not None and each.ndim > 2 else each[:, row]
            predicted[np.ix_(chosen, here)] = found
        return np.asarray(np.isin(results["status"], RESULTS).all(axis=1))

    def with_gradient(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) logarithms and their (n, p) derivatives by the values; points without results have -inf and derivatives 0."""
        space, count = self.system.space, self.system.data.count
        frees = np.ascontiguousarray(values[:, : len(space.names)])
        measured = np.broadcast_to(self.measured, (len(frees), count))
        point = self.system.at(space.coordinates(frees), measured)
        residuals = point.residuals[:, :count] * self.system.noise  # over the stated standard deviations
        slopes = point.jacobian[:, :count] * self.system.noise / space.rates(frees)[:, np.newaxis]
        along = -np.einsum("nd,ndk->nk", residuals, slopes)
        if self.inferred:
            last = values[:, -1]
            along = np.column_stack([along / last[:, np.newaxis] ** 2, np.sum(residuals**2, axis=1) / last**3 - count / last])
        log, good = self.of_residuals(residuals, values, np.isfinite(along).all(axis=1))
        return log, np.where(good[:, np.newaxis], along, 0.0)

    def of_residuals(self, residuals: np.ndarray, values: np.ndarray, good: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) logarithms for residuals (n, data), with -inf where they are not `good`; and which are."""
        log = self.constant - 0.5 * np.sum(residuals**2, axis=1)
        if self.inferred:
            last = values[:, -1]
            log = self.constant - 0.5 * np.sum(residuals**2, axis=1) / last**2 - self.system.data.count * np.log(last)
        good = good & np.isfinite(log)
        return np.where(good, log, -np.inf), good
