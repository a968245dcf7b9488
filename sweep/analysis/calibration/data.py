"""Measurements: values, standard deviations and settings of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernels.models.quantity import Quantity

TRACED = {"x": "x_end", "v": "v_end"}  # what a trace has of a run that ends there; forces need a program of their own
FORCES = ("friction_force", "wall_force")


@dataclass(frozen=True, slots=True)
class Measurements:
    """Every measured number, and the runs that it is one of.

    Attributes:
        observables: name -> quantity of those that are compared, as the engine names them.
        settings: parameter -> (runs,) value of every run, of tables (runs, L); what differs between runs, or is set by a test.
        runs: (runs,) what a run is called: the row of its test, or the trace and the time.
        tests: (runs,) which test a run is of: all runs of one trace are one test.
        times: (runs,) time of a sample of a trace [s]; NaN if the run is a test of its own.
        run, observable: (data,) positions of each number in `runs` and `observables`.
        measured, sd, weight: (data,) the number and its standard deviation, in the unit of its observable, and how often it counts.
        skipped: numbers that say nothing and are left out: samples at t = 0.
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

    @property
    def count(self) -> int:
        """How many numbers were measured."""
        return len(self.measured)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return tuple(self.observables)

    @property
    def spread(self) -> np.ndarray:
        """(data,) the standard deviation that each number counts with: sd / sqrt(weight)."""
        return np.asarray(self.sd / np.sqrt(self.weight))

    @property
    def forces(self) -> bool:
        """Whether forces in time are among them."""
        return any(name in FORCES for name in self.observables)
