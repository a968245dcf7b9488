"""The no-U-turn sampler of nutpie, all chains of which share calls of the engine.

nutpie runs each chain in a thread, which asks for the density and its gradient at one point after the other. The calling thread collects
what the chains ask for and computes it together: derivatives come from the compiled program of the fit, forward, and JAX stays in one
thread. Chains move in coordinates z that are independent and of unit variance if the posterior is the normal density around the optimum.

Source: M. D. Hoffman and A. Gelman, Journal of Machine Learning Research 15 (2014), 1593-1623.
"""

from __future__ import annotations

import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.execution.answers import Answers
from tribosweep.sweep.io import errors
from tribosweep.sweep.io.errors import ConfigError

Batch = list[tuple[np.ndarray, queue.SimpleQueue[Any]]]  # coordinates z, and where the answer goes
WAIT = 0.005  # s that a call of the engine waits for the other chains
CANDIDATES = 256  # random points from which the chains start
OVERDISPERSED = 2.0  # standard deviations of the starts, over those of the normal density around an optimum


@dataclass(frozen=True, slots=True)
class NutsSettings:
    """How to sample.

    Attributes:
        chains: number of chains. warmup: draws with which each adapts its step and its metric. draws: number of those that are kept.
        seed: seed of everything. acceptance: mean acceptance that the step of the leapfrog is adapted to.
    """

    chains: int = 4
    warmup: int = 300
    draws: int = 1000
    seed: int = 1
    acceptance: float = 0.8


@dataclass(frozen=True, slots=True)
class NutsResult:
    """The draws of all chains, after warm-up.

    Attributes:
        coordinates: (chains, draws, p). log_density: (chains, draws) of the coordinates.
        diverging: (chains, draws) whether the leapfrog of a draw left the level of energy. depth_reached: likewise, whether it was cut.
        steps: (chains, draws) leapfrog steps. acceptance: (chains, draws) mean acceptance. step_size: (chains,) at the end.
        evaluations: number of points at which the density was computed.
    """

    coordinates: np.ndarray
    log_density: np.ndarray
    diverging: np.ndarray
    depth_reached: np.ndarray
    steps: np.ndarray
    acceptance: np.ndarray
    step_size: np.ndarray
    evaluations: int


@dataclass(slots=True)
class Requests:
    """What the threads of nutpie ask for.

    Attributes:
        points: (coordinates z, where the answer goes). kept: an entry for each draw so far.
    """

    points: queue.SimpleQueue[tuple[np.ndarray, queue.SimpleQueue[Any]]] = field(default_factory=queue.SimpleQueue)
    kept: list[None] = field(default_factory=list)

    def density(self) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        """The function that a chain calls with its coordinates z."""
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def ask(z: np.ndarray) -> tuple[float, np.ndarray]:
            self.points.put((z.copy(), answer))
            value, slopes = answer.get()
            return value, slopes

        return ask

    def expand(self, *_seeds: int) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
        """The function that a chain calls with each draw."""

        def keep(z: np.ndarray) -> dict[str, np.ndarray]:
            self.kept.append(None)
            return {"z": z}

        return keep

    def collect(self, expected: int) -> Batch:
        """What was asked for: up to the expected number, or what there is after WAIT."""
        try:
            found = [self.points.get(timeout=0.1)]
        except queue.Empty:
            return []
        until = time.monotonic() + WAIT
        while len(found) < expected:
            try:
                found.append(self.points.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                break
        return found


def sample(
    problem: Problem,
    centres: np.ndarray,
    covariance: np.ndarray,
    settings: NutsSettings,
    tell: Callable[[int, int], None] | None = None,
    answers: Answers | None = None,
) -> NutsResult:
    """Draw from the posterior of a problem.

    Args:
        problem: priors and likelihood. centres: (k, p) coordinates around which chains start, such as optima.
        covariance: (p, p) of the normal density around the first of them, roughly: it scales the first steps.
        settings: how to sample. tell: called with the number of draws so far and their total number, those of the warm-up included.
        answers: densities that are known, and where new ones are kept.

    Raises:
        ConfigError: nutpie is missing, no point near the centres has a density, or nutpie gives up.
    """
    nutpie, from_pyfunc = libraries()
    p = len(problem.names)
    root = np.linalg.cholesky(covariance)
    centre = centres[0]
    starts = starting_points(problem, centres, root, settings.seed)
    asked = Requests()
    model = from_pyfunc(
        p, asked.density, asked.expand, [np.dtype(float)], [(p,)], ["z"],
        make_initial_point_fn=lambda seed: np.linalg.solve(root, starts[seed % len(starts)] - centre),
    )  # fmt: skip
    total, evaluations = settings.chains * (settings.warmup + settings.draws), 0
    running = nutpie.sample(
        model, draws=settings.draws, tune=settings.warmup, chains=settings.chains, cores=settings.chains, seed=settings.seed,
        progress_bar=False, save_warmup=False, blocking=False, target_accept=settings.acceptance,
    )  # fmt: skip
    known = answers or Answers()

    def densities(z: np.ndarray) -> np.ndarray:
        log, slopes = problem.log_density(centre + times(z, root.T))
        return np.column_stack([log, times(slopes, root)])

    def answer(batch: Batch) -> None:
        found = known.of("density", np.array([z for z, _ in batch]), 1 + p, densities)
        for (_, where), (value, *slope) in zip(batch, found.tolist(), strict=True):
            where.put((value, np.array(slope)))

    expected = settings.chains
    batch: Batch = []
    try:
        while len(asked.kept) < total:
            batch = asked.collect(expected)
            if not batch:
                with named():
                    if ended(running):
                        break
                continue
            expected = len(batch) if len(batch) < expected else min(expected + 1, settings.chains)
            evaluations += len(batch)
            answer(batch)
            batch = []
            if tell is not None:
                tell(len(asked.kept), total)
        with named():
            trace = running.wait()
    except BaseException:
        end(asked, running, batch)
        known.save()
        raise
    stats = trace.sample_stats
    z = np.asarray(trace.posterior["z"])
    return NutsResult(
        coordinates=centre + z @ root.T,
        log_density=np.asarray(stats.logp),
        diverging=np.asarray(stats.diverging, dtype=bool),
        depth_reached=np.asarray(stats.maxdepth_reached, dtype=bool),
        steps=np.asarray(stats.n_steps),
        acceptance=np.asarray(stats.mean_tree_accept),
        step_size=np.asarray(stats.step_size_bar)[:, -1],
        evaluations=evaluations,
    )


def times(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """`rows @ matrix`, the same for a row whatever others there are: how many chains ask together depends on time."""
    with np.errstate(invalid="ignore"):  # of derivatives that are not finite
        return np.asarray(np.sum(rows[:, :, np.newaxis] * matrix, axis=1))


def ended(running: Any) -> bool:
    """Whether the sampler has ended, by itself or by an error."""
    try:
        return bool(running.is_finished)
    except TimeoutError:  # it is at work
        return False


@contextmanager
def named() -> Iterator[None]:
    """Raise ConfigError for what nutpie raises; a panic of its chains is no Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        why = next(filter(None, (line.strip() for line in str(error).splitlines())), type(error).__name__)
        message = f"the sampler gave up, most likely where derivatives are no numbers; --posterior smc needs none. nutpie says: {why}"
        raise ConfigError("tribosweep calibrate", [errors.Problem("--posterior", message)]) from error


def end(asked: Requests, running: Any, waiting: Batch) -> None:
    """End the chains: each gives up its draw, because its points have no density, and draws no more."""

    def cancel() -> None:
        with suppress(BaseException):  # it has ended by an error of its own, which is named
            running.cancel()

    ending = threading.Thread(target=cancel, daemon=True)
    ending.start()
    while ending.is_alive():
        for z, answer in waiting:
            answer.put((-np.inf, np.zeros_like(z)))
        waiting = asked.collect(1)


def starting_points(problem: Problem, centres: np.ndarray, root: np.ndarray, seed: int) -> np.ndarray:
    """Points with a density around the centres, which they share evenly.

    Raises:
        ConfigError: there is none.
    """
    rng = np.random.default_rng(seed)
    around = centres[np.arange(CANDIDATES) % len(centres)]
    tried = around + OVERDISPERSED * rng.standard_normal(around.shape) @ root.T
    log = problem.log_likelihood(tried)
    if not np.isfinite(log).any():
        message = "near the optimum no run has results: the posterior cannot be sampled from there"
        raise ConfigError("tribosweep calibrate", [errors.Problem("--posterior", message)])
    return np.asarray(tried[np.isfinite(log)])


def libraries() -> tuple[Any, Any]:
    """The module nutpie, and its function that takes a density in Python.

    Raises:
        ConfigError: it is missing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its next version
            import nutpie  # type: ignore[import-untyped]
            from nutpie.compiled_pyfunc import from_pyfunc  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        if error.name not in ("nutpie", "arviz"):
            raise
        message = f"sampling needs {error.name}, which is not installed: pip install 'tribosweep[posterior]'"
        raise ConfigError("tribosweep calibrate", [errors.Problem("--posterior", message)]) from None
    return nutpie, from_pyfunc
