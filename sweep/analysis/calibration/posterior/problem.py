"""The problem that samplers of a posterior solve: priors, likelihood, and the unbounded coordinates in which samplers move.

A sampler sees rows of coordinates X, (n, p), all real. `log_prior` is the density of X itself (it includes the derivative of the values by
the coordinates), so exp(log_prior) integrates to 1 over all X, and log_prior + log_likelihood is the unnormalised posterior of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tribosweep.sweep.design.priors import NOISE, Sampled


class Likelihood(Protocol):
    """The probability of the data as a function of the sampled numbers, in their units."""

    def log(self, values: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the likelihood at values (n, p), on the host; -inf where a run fails or the numbers contradict each other."""

    def with_gradient(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, and (n, p) derivatives by the values; 0 where the logarithm is -inf."""


class Problem:
    """Priors and a likelihood.

    Attributes:
        numbers: what is sampled, p numbers: the free parameters, and the factor of the noise if that is inferred.
        likelihood: of the data.
    """

    def __init__(self, numbers: Sequence[Sampled], likelihood: Likelihood) -> None:
        """Set the bounds of the coordinates."""
        self.numbers, self.likelihood = tuple(numbers), likelihood
        self.logarithmic = np.array([each.logarithmic for each in numbers], dtype=bool)
        ends = np.array([each.support for each in numbers])
        low, high = (np.where(self.logarithmic, np.log(np.where(self.logarithmic, end, 1.0)), end) for end in ends.T)
        self.low, self.width = low, high - low

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers, in the order of the columns of X."""
        return tuple(each.name for each in self.numbers)

    @property
    def units(self) -> tuple[str, ...]:
        """Their units."""
        return tuple(each.unit for each in self.numbers)

    @property
    def noise(self) -> int | None:
        """The column of the factor of the noise, or None if it is known."""
        places = [place for place, each in enumerate(self.numbers) if each.role == NOISE]
        return places[0] if places else None

    def values(self, coordinates: np.ndarray) -> np.ndarray:
        """(n, p) numbers in their units at coordinates X (n, p)."""
        from scipy.special import expit

        u = self.low + self.width * expit(coordinates)
        return np.where(self.logarithmic, np.exp(np.where(self.logarithmic, u, 0.0)), u)

    def coordinates(self, values: np.ndarray) -> np.ndarray:
        """(n, p) coordinates X of numbers (n, p) between their bounds; those on a bound move inside by 1e-9 of the range."""
        from scipy.special import logit

        u = np.where(self.logarithmic, np.log(np.where(self.logarithmic, values, 1.0)), values)
        return np.asarray(logit(np.clip((u - self.low) / self.width, 1e-9, 1.0 - 1e-9)))

    def log_prior(self, coordinates: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the prior density of X at coordinates (n, p)."""
        return self.prior(np.asarray(coordinates, dtype=float))[0]

    def log_likelihood(self, coordinates: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the likelihood at coordinates (n, p); -inf where a run fails or the numbers contradict each other."""
        return self.likelihood.log(self.values(np.asarray(coordinates, dtype=float)))

    def prior_sample(self, seed: int, count: int) -> np.ndarray:
        """(count, p) independent coordinates X drawn from the prior."""
        fractions = np.random.default_rng(seed).random((count, len(self.numbers)))
        drawn = np.column_stack([each.quantile(fractions[:, place]) for place, each in enumerate(self.numbers)])
        return self.coordinates(drawn)

    def log_density(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) logarithms of the unnormalised posterior density of X at coordinates (n, p), and their (n, p) derivatives by X.

        The likelihood computes its derivatives forward, beside its value, for all rows at once: reverse mode cannot go through loops over
        events.
        """
        coordinates = np.asarray(coordinates, dtype=float)
        prior, slopes = self.prior(coordinates)
        values = self.values(coordinates)
        log, along = self.likelihood.with_gradient(values)
        return prior + log, slopes + along * self.rates(coordinates) * np.where(self.logarithmic, values, 1.0)

    def prior(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) logarithms of the prior density of X at coordinates (n, p), and their (n, p) derivatives by X."""
        from scipy.special import expit

        values, rates = self.values(coordinates), self.rates(coordinates)
        each = [number.log_density(values[:, place]) for place, number in enumerate(self.numbers)]
        of_values, slopes = (np.column_stack(some) for some in zip(*each, strict=True))
        along = slopes * rates * np.where(self.logarithmic, values, 1.0) + np.where(self.logarithmic, rates, 0.0)
        return np.sum(of_values + self.log_rates(coordinates), axis=1), along + 1.0 - 2.0 * expit(coordinates)

    def rates(self, coordinates: np.ndarray) -> np.ndarray:
        """(n, p) derivatives of u by X."""
        from scipy.special import expit

        return np.asarray(self.width * expit(coordinates) * expit(-coordinates))

    def log_rates(self, coordinates: np.ndarray) -> np.ndarray:
        """(n, p) logarithms of the derivatives of the values by X."""
        from scipy.special import expit, log_expit

        u = self.low + self.width * expit(coordinates)
        return np.asarray(np.log(self.width) + log_expit(coordinates) + log_expit(-coordinates) + np.where(self.logarithmic, u, 0.0))

    def log_density_of_values(self, coordinates: np.ndarray, log_density: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the posterior density of the values, from those of the coordinates X (n, p)."""
        return np.asarray(log_density - np.sum(self.log_rates(coordinates), axis=1))
