"""Measurements: values and standard deviations, and the settings of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tribosweep.kernels.models.quantity import Quantity

TRACED = {"x": "x_end", "v": "v_end"}  # observable of a trace -> observable of a run that ends at the sample; forces need their own program
FORCES = ("friction_force", "wall_force")


@dataclass(frozen=True, slots=True)
class ImposedPaths:
    """The paths of loops, one row per measured sample; paths of different lengths end with copies of their last sample.

    Attributes:
        x: (runs, L) displacement [m]. times: (runs, L) [s]. at: (runs,) position of the sample.
        timed: whether the times were measured; else they only number the samples.
    """

    x: np.ndarray
    times: np.ndarray
    at: np.ndarray
    timed: bool

    @property
    def here(self) -> np.ndarray:
        """(runs,) displacement of each sample [m]."""
        return np.asarray(self.x[np.arange(len(self.at)), self.at])


@dataclass(frozen=True, slots=True)
class Histories:
    """The times of the samples of traces that one run of a time scheme computes together.

    Attributes:
        times: (tests, S) [s], ascending; shorter traces end with copies of their last time, and a test without samples has zeros.
        at: (runs,) position of the sample among those of its test.
    """

    times: np.ndarray
    at: np.ndarray


@dataclass(frozen=True, slots=True)
class Measurements:
    """All measured numbers, and the runs to which they belong.

    Attributes:
        observables: name -> quantity, for the compared observables of tests and traces.
        settings: parameter -> (runs,) values, or (runs, L) of a table, for parameters that differ between runs or that a test sets.
        runs: (runs,) labels of the runs: the row of the test, or the trace and the time.
        tests: (runs,) number of the test of each run; all runs of one trace belong to one test.
        times: (runs,) time of the sample of a trace [s]; NaN if the run is a test by itself.
        run, observable: (data,) positions of each number in `runs` and `observables`.
        measured, sd, weight: (data,) the number and its standard deviation, in the unit of its observable, and its weight as a count.
        skipped: how many samples at t = 0 are left out, because they carry no information.
        paths: of loops of an imposed displacement, where all runs are samples of such loops; else None.
        histories: of traces of structures, whose runs share their steps; None where every sample of a trace has a run of its own.
    """

    observables: Mapping[str, Quantity]
    settings: Mapping[str, np.ndarray]
    runs: tuple[str, ...]
    tests: np.ndarray
    times: np.ndarray
    run: np.ndarray
    observable: np.ndarray
    measured: np.ndarray
    sd: np.ndarray
    weight: np.ndarray
    skipped: int = 0
    paths: ImposedPaths | None = None
    histories: Histories | None = None

    @property
    def count(self) -> int:
        """The number of measured numbers."""
        return len(self.measured)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return tuple(self.observables)

    @property
    def spread(self) -> np.ndarray:
        """(data,) effective standard deviation of each number: sd / sqrt(weight)."""
        return np.asarray(self.sd / np.sqrt(self.weight))

    @property
    def abscissa(self) -> np.ndarray:
        """(runs,) what a run is drawn over: the time of a sample of a trace [s], the displacement of one of a loop [m]; else NaN."""
        return self.times if self.paths is None else self.paths.here

    @property
    def forces(self) -> bool:
        """Whether the observables include forces in time."""
        return self.paths is None and any(name in FORCES for name in self.observables)
