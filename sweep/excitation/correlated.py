"""Random loads of several channels that are correlated in space, as of turbulent flow along a tube."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tribosweep.kernels.excitation.record import Records
from tribosweep.sweep.excitation.draws import Draws
from tribosweep.sweep.excitation.stationary import Stationary


@dataclass(frozen=True, eq=False)
class Correlated(Draws):
    """Gaussian draws of C channels, with one spectrum but for a factor of each channel.

    Attributes:
        single: the spectrum, duration, interval and seed. Its unit is that of the loads.
        correlation: (C, C) correlation of the channels, the same at all frequencies: symmetric, positive semidefinite,
            ones on its diagonal.
        factors: (C,) factor of each channel; None for ones.
        duration, interval, seed: those of `single`.

    Raises:
        ValueError: a matrix that is no correlation, or another number of factors.
    """

    single: Stationary
    correlation: np.ndarray
    factors: np.ndarray | None = None
    duration: float = field(init=False)
    interval: float = field(init=False)
    seed: int = field(init=False)

    def __post_init__(self) -> None:
        """Check the matrix and the factors."""
        matrix = checked(self.correlation)
        factors = np.ones(len(matrix)) if self.factors is None else np.asarray(self.factors, float)
        if factors.shape != (len(matrix),) or not np.isfinite(factors).all():
            raise ValueError(f"there are {len(matrix)} channels, so that factors must be as many finite numbers")
        object.__setattr__(self, "correlation", matrix)
        object.__setattr__(self, "factors", factors)
        for name in ("duration", "interval", "seed"):
            object.__setattr__(self, name, getattr(self.single, name))

    @property
    def channels(self) -> int:
        """The number of channels of a draw."""
        return len(self.correlation)

    def draw(self, number: int) -> np.ndarray:
        """See `Draws.draw`: (C, samples). It is made of the draws number C to number C + C - 1 of the single channel."""
        parts = np.stack([self.single.draw(number * self.channels + place) for place in range(self.channels)])
        return np.asarray(np.asarray(self.factors)[:, None] * (self._root @ parts))

    @cached_property
    def _root(self) -> np.ndarray:
        return root_of(self.correlation)

    def records(self, count: int, first: int = 0) -> Records:
        """`count` draws from `first` on, as the records of a structure."""
        return Records(np.stack([self.draw(first + place) for place in range(count)]), self.single.interval)


def checked(correlation: np.ndarray) -> np.ndarray:
    """A (C, C) matrix; ValueError if it is no correlation."""
    matrix = np.asarray(correlation, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"a correlation must be a square matrix, not of the shape {matrix.shape}")
    if not np.isfinite(matrix).all() or np.abs(matrix - matrix.T).max() > 1e-9 or np.abs(np.diag(matrix) - 1.0).max() > 1e-9:
        raise ValueError("a correlation must be symmetric, with ones on its diagonal")
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -1e-9 * len(matrix):
        raise ValueError(f"a correlation must be positive semidefinite: it has the eigenvalue {smallest:g}")
    return matrix


def root_of(correlation: np.ndarray) -> np.ndarray:
    """A matrix whose product with its transpose is the correlation."""
    values, vectors = np.linalg.eigh(correlation)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def decaying(positions: np.ndarray, length: float) -> np.ndarray:
    """The correlation exp(-|z_i - z_j| / length) of channels at positions z [m], for a correlation length [m] > 0."""
    places = np.asarray(positions, float)
    if not (np.isfinite(length) and length > 0.0):
        raise ValueError(f"a correlation length must be a positive number, not {length:g} m")
    return np.asarray(np.exp(-np.abs(places[:, None] - places[None, :]) / length))
