"""The problem that samplers of a posterior solve: priors, likelihood, and the unbounded coordinates in which samplers move.

A sampler sees rows of coordinates X, (n, p), all real. `log_prior` is the density of X itself (it includes the derivative of the values by
the coordinates), so exp(log_prior) integrates to 1 over all X, and log_prior + log_likelihood is the unnormalised posterior of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sweep.analysis.calibration.posterior.priors import NOISE, Sampled


class Likelihood(Protocol):
    """The chance of the data as a function of the sampled numbers, in their units."""

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
        from kernels.runtime import jax_setup

        jax_setup.prepare()
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
        return np.asarray(self._log_priors(np.asarray(coordinates, dtype=float)))

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
        from scipy.special import expit

        coordinates = np.asarray(coordinates, dtype=float)
        prior, slopes = (np.asarray(each) for each in self._prior_slopes(coordinates))
        values = self.values(coordinates)
        log, along = self.likelihood.with_gradient(values)
        rates = self.width * expit(coordinates) * expit(-coordinates) * np.where(self.logarithmic, values, 1.0)
        return prior + log, slopes + along * rates

    @cached_property
    def _log_priors(self) -> Any:
        import jax

        return jax.jit(jax.vmap(self.traced_log_prior))

    @cached_property
    def _prior_slopes(self) -> Any:
        import jax

        return jax.jit(jax.vmap(jax.value_and_grad(self.traced_log_prior)))

    def traced_log_prior(self, y: Any) -> Any:
        """The logarithm of the prior density at coordinates y (p,), traced by JAX."""
        import jax
        import jax.numpy as jnp

        u = self.low + self.width * jax.nn.sigmoid(y)
        values = jnp.where(self.logarithmic, jnp.exp(jnp.where(self.logarithmic, u, 0.0)), u)
        of_values = sum(each.log_density()(values[place]) for place, each in enumerate(self.numbers))
        slopes = jnp.log(self.width) + jax.nn.log_sigmoid(y) + jax.nn.log_sigmoid(-y)
        return of_values + jnp.sum(slopes + jnp.where(self.logarithmic, u, 0.0))

    def log_density_of_values(self, coordinates: np.ndarray, log_density: np.ndarray) -> np.ndarray:
        """(n,) logarithms of the posterior density of the values, from those of the coordinates X (n, p)."""
        u = self.low + self.width / (1.0 + np.exp(-coordinates))
        slopes = np.log(self.width) - np.logaddexp(0.0, coordinates) - np.logaddexp(0.0, -coordinates)
        return np.asarray(log_density - np.sum(slopes + np.where(self.logarithmic, u, 0.0), axis=1))
