"""Tempered sequential Monte Carlo: particles move from the prior to the posterior, through densities prior x likelihood^exponent.

It needs values of the likelihood alone, many side by side, and no derivatives. So it also samples where observables jump across events,
and where the posterior has several modes. A stage of a chain:

    exponent  the largest one at which the effective sample size (sum w)^2 / sum w^2 of w = likelihood^(change of the exponent) is
              `ess` times the number of particles with a result, by bisection
    evidence  times the mean of w
    resample  systematically, so that all weights are equal again
    move      sweeps of differential evolution: x_i + g (x_a - x_b) + noise is accepted by the ratio of Metropolis. Each half of the
              particles moves by differences of the other half, which stays; so a move leaves the density invariant. Differences within
              a mode have the covariance of that mode, and those between modes, with g = 1, lead from one to the other

Several chains are independent populations; their scatter is that of what they estimate. Everything is a pure function of the seed.

Sources: P. Del Moral, A. Doucet and A. Jasra, Journal of the Royal Statistical Society B 68 (2006), 411-436; A. Jasra, D. A. Stephens,
A. Doucet and T. Tsagaris, Scandinavian Journal of Statistics 38 (2011), 1-22 (exponents); C. J. F. ter Braak, Statistics and Computing 16
(2006), 239-249 (differential evolution); D. Foreman-Mackey et al., Publications of the ASP 125 (2013), 306-312 (halves).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tribosweep.sweep.io.errors import ConfigError, Problem

WANTED = 0.25  # part of the moves that is accepted
ENOUGH = 3.0  # accepted moves of a particle in a stage, at least
SETTLED = 0.05  # a stage ends when a sweep moves the particles away from their start by less than this part
MOST_SWEEPS = 60
BETWEEN_MODES = 0.1  # part of the moves with g = 1
SPREAD_OF_SCALES = 0.5  # standard deviation of the logarithm of g
NOISE = 1e-3  # of a move, in standard deviations of a coordinate
SCALES = (1e-3, 4.0)  # g is between these, over its value for a normal density, 2.38 / sqrt(2 p)


class Target(Protocol):
    """What is sampled; see `problem.Problem`. Coordinates are (n, p), and logarithms (n,)."""

    def log_prior(self, coordinates: np.ndarray) -> np.ndarray:
        """Of the prior density."""

    def log_likelihood(self, coordinates: np.ndarray) -> np.ndarray:
        """Of the likelihood; -inf where a run fails."""

    def prior_sample(self, seed: int, count: int) -> np.ndarray:
        """Independent coordinates drawn from the prior."""


@dataclass(frozen=True, slots=True)
class SmcSettings:
    """How to sample.

    Attributes:
        particles: number of particles of a chain. chains: number of independent chains.
        seed: seed of everything. ess: effective sample size that a stage keeps, over the number of particles, between 0 and 1.
    """

    particles: int = 1000
    chains: int = 4
    seed: int = 1
    ess: float = 0.5


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage did.

    Attributes:
        exponent: of the likelihood at its end. ess: effective sample size before particles were resampled.
        log_evidence: logarithm of the evidence up to here.
        sweeps: number of sweeps. acceptance: part of all moves that were accepted.
        unique: number of different particles at its end. ancestors: number of first particles from which they descend.
    """

    exponent: float
    ess: float
    log_evidence: float
    sweeps: int
    acceptance: float
    unique: int
    ancestors: int


@dataclass(frozen=True, slots=True)
class Particles:
    """The n particles of a chain, which all have the same weight.

    Attributes:
        coordinates: (n, p). log_prior, log_likelihood: (n,).
        ancestors: (n,) numbers of the first particles from which they descend.
        scale: factor of the moves. stages: what was done so far.
    """

    coordinates: np.ndarray
    log_prior: np.ndarray
    log_likelihood: np.ndarray
    ancestors: np.ndarray
    scale: float = 1.0
    stages: tuple[Stage, ...] = ()

    @property
    def exponent(self) -> float:
        """The exponent of the likelihood in the density that they sample."""
        return self.stages[-1].exponent if self.stages else 0.0

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence up to their exponent."""
        return self.stages[-1].log_evidence if self.stages else 0.0

    def chosen(self, rows: np.ndarray) -> Particles:
        """Copies of some of them."""
        arrays = (self.coordinates[rows], self.log_prior[rows], self.log_likelihood[rows], self.ancestors[rows])
        return Particles(*arrays, self.scale, self.stages)


class Store(Protocol):
    """Where the particles of a chain are kept after each stage, so that a run that was ended goes on."""

    def load(self, chain: int) -> Particles | None:
        """The particles of a chain; None if it has not begun."""

    def save(self, chain: int, particles: Particles) -> None:
        """Keep the particles of a chain."""


class NoStore:
    """Nothing is kept."""

    def load(self, chain: int) -> None:
        """None."""

    def save(self, chain: int, particles: Particles) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class SmcResult:
    """The particles of all chains at exponent 1."""

    chains: tuple[Particles, ...]

    @property
    def log_evidence(self) -> float:
        """The logarithm of the mean evidence of the chains."""
        return float(np.logaddexp.reduce([each.log_evidence for each in self.chains]) - math.log(len(self.chains)))

    @property
    def log_evidence_std(self) -> float:
        """The standard error of `log_evidence` by the scatter of the chains; NaN for one chain."""
        found = [each.log_evidence for each in self.chains]
        return float(np.std(found, ddof=1) / math.sqrt(len(found))) if len(found) > 1 else math.nan


def sample(
    target: Target, settings: SmcSettings, store: Store | None = None, update: Callable[[int, int], None] | None = None
) -> SmcResult:
    """Sample a posterior.

    Args:
        target: priors and likelihood. settings: how.
        store: where particles are kept after each stage; chains that it has go on.
        update: called after each stage with (hundredths of chains done, hundredths of all chains).

    Raises:
        ConfigError: no particle of the prior has a result.
    """
    store = store or NoStore()
    done = []
    for chain in range(settings.chains):
        particles = store.load(chain)
        if particles is None:
            particles = begin(target, settings, chain)
        while particles.exponent < 1.0:
            particles = advance(target, settings, chain, particles)
            store.save(chain, particles)
            if update is not None:
                update(100 * chain + int(100.0 * particles.exponent), 100 * settings.chains)
        done.append(particles)
    return SmcResult(tuple(done))


def begin(target: Target, settings: SmcSettings, chain: int) -> Particles:
    """Draw the particles of a chain from the prior; ConfigError if none has a result."""
    seed = int(np.random.SeedSequence([settings.seed, chain]).generate_state(1)[0])
    coordinates = target.prior_sample(seed, settings.particles)
    found = Particles(coordinates, target.log_prior(coordinates), target.log_likelihood(coordinates), np.arange(settings.particles))
    if not np.isfinite(found.log_likelihood).any():
        message = f"none of {settings.particles:,} draws of the prior has a result: the runs fail, or the parameters contradict each other"
        raise ConfigError("calibration", [Problem("calibration.free", message)])
    return found


def advance(target: Target, settings: SmcSettings, chain: int, particles: Particles) -> Particles:
    """The particles of a chain after one more stage."""
    stage = len(particles.stages)
    exponent, weights = next_exponent(particles.log_likelihood, particles.exponent, settings.ess)
    log_mean = float(np.logaddexp.reduce(weights) - math.log(len(weights)))
    ess = effective_sample_size(weights)
    rng = np.random.default_rng([settings.seed, chain, stage])
    particles = particles.chosen(systematic(weights, rng.random()))
    log_evidence = particles.log_evidence + log_mean
    particles, sweeps, acceptance = moved(target, particles, exponent, rng)
    unique, ancestors = len(np.unique(particles.coordinates, axis=0)), len(np.unique(particles.ancestors))
    done = Stage(exponent, ess, log_evidence, sweeps, acceptance, unique, ancestors)
    return replace(particles, stages=(*particles.stages, done))


def effective_sample_size(log_weights: np.ndarray) -> float:
    """(sum w)^2 / sum w^2."""
    return float(np.exp(2.0 * np.logaddexp.reduce(log_weights) - np.logaddexp.reduce(2.0 * log_weights)))


def next_exponent(log_likelihood: np.ndarray, exponent: float, ess: float) -> tuple[float, np.ndarray]:
    """The next exponent, at most 1, and the (n,) logarithms of the weights.

    Args:
        log_likelihood: (n,), -inf for particles without a result. exponent: the present one.
        ess: effective sample size that is kept, over the number of particles with a result.
    """
    from scipy.optimize import brentq

    with_result = np.isfinite(log_likelihood)
    wanted = ess * np.count_nonzero(with_result)
    scaled = np.where(with_result, log_likelihood - log_likelihood[with_result].max(), -np.inf)
    maximum = log_likelihood[with_result].max()

    def excess(log_change: float) -> float:
        return effective_sample_size(np.exp(log_change) * scaled) - wanted

    last = math.log(1.0 - exponent)
    if excess(last) >= 0.0:
        return 1.0, log_weights_of(scaled, maximum, 1.0 - exponent)
    first = last - 1.0
    while excess(first) < 0.0:
        first -= 5.0
    found = exponent + math.exp(brentq(excess, first, last, xtol=1e-10))
    if found <= exponent:
        raise ConfigError("calibration", [Problem("calibration", "the likelihood is too sharp for float64: is a standard deviation 0?")])
    return found, log_weights_of(scaled, maximum, found - exponent)


def log_weights_of(scaled: np.ndarray, maximum: float, change: float) -> np.ndarray:
    """The logarithms of the weights for a change of the exponent; `scaled` are the log-likelihoods minus their `maximum`."""
    return np.asarray(change * scaled + change * maximum)


def systematic(log_weights: np.ndarray, start: float) -> np.ndarray:
    """(n,) rows of the particles that are taken: n evenly spaced places, the first at `start` in [0, 1), among the summed weights."""
    n = len(log_weights)
    ends = np.cumsum(np.exp(log_weights - np.logaddexp.reduce(log_weights)))
    found = np.searchsorted(ends / ends[-1], (start + np.arange(n)) / n, side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(np.isfinite(log_weights))[-1]))


def moved(target: Target, particles: Particles, exponent: float, rng: np.random.Generator) -> tuple[Particles, int, float]:
    """Move particles until they have forgotten where they were; also the number of sweeps, and the part of the moves that was accepted."""
    begun = particles.coordinates
    spread = begun.std(axis=0) + np.finfo(float).tiny
    accepted: list[float] = []
    distance = 0.0
    for _ in range(MOST_SWEEPS):
        particles, part = swept(target, particles, exponent, spread, rng)
        accepted.append(part)
        before, distance = distance, float(np.abs((particles.coordinates - begun) / spread).sum(axis=1).mean())
        if sum(accepted) >= ENOUGH and distance - before < SETTLED * distance:
            break
    return particles, len(accepted), float(np.mean(accepted))


def swept(target: Target, particles: Particles, exponent: float, spread: np.ndarray, rng: np.random.Generator) -> tuple[Particles, float]:
    """Propose one move for every particle, half after half; also the part that was accepted."""
    x, log_prior, log_likelihood = particles.coordinates.copy(), particles.log_prior.copy(), particles.log_likelihood.copy()
    n, p = x.shape
    order = rng.permutation(n)
    hits, local = 0, []
    for mine, others in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
        first, second = two_of(others, len(mine), rng)
        between = rng.random(len(mine)) < BETWEEN_MODES
        scales = particles.scale * 2.38 / math.sqrt(2.0 * p) * np.exp(SPREAD_OF_SCALES * rng.standard_normal(len(mine)))
        g = np.where(between, 1.0, scales)[:, np.newaxis]
        proposed = x[mine] + g * (x[first] - x[second]) + NOISE * spread * rng.standard_normal((len(mine), p))
        prior, likelihood = target.log_prior(proposed), target.log_likelihood(proposed)
        with np.errstate(invalid="ignore"):
            ratio = prior - log_prior[mine] + exponent * (likelihood - log_likelihood[mine])
        accepted = (np.log(rng.random(len(mine))) < ratio) & np.isfinite(prior) & np.isfinite(likelihood)
        to = mine[accepted]
        x[to], log_prior[to], log_likelihood[to] = proposed[accepted], prior[accepted], likelihood[accepted]
        hits += int(np.count_nonzero(accepted))
        local.append(accepted[~between])
    part = float(np.mean(np.concatenate(local)))
    scale = float(np.clip(particles.scale * math.exp(part - WANTED), *SCALES))
    return Particles(x, log_prior, log_likelihood, particles.ancestors, scale, particles.stages), hits / n


def two_of(others: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two different members of `others`, `count` times."""
    first = rng.integers(len(others), size=count)
    second = (first + rng.integers(1, len(others), size=count)) % len(others)
    return others[first], others[second]
