"""Levenberg-Marquardt fits by optimistix, many at once. Lanes differ in their start, their data, or their fixed parameters.

At each step a lane needs the residuals and their Jacobian at one point. One call of the engine's program computes them for all lanes and
runs together. The solver then receives the affine function with these residuals and this Jacobian. So the engine is compiled only once for
any number of lanes, and every step can be inspected.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tribosweep.kernels.runtime.compiling import compiling
from tribosweep.sweep.analysis.calibration.system import FitPoint, System
from tribosweep.sweep.io.errors import ConfigError, Problem

MOST_STEPS = 200
TOLERANCE = 1e-10  # of steps and residuals, relative and absolute
LEAST_STEP = 1e-9  # of an angle [rad]: if a shorter step is rejected as well, the fit ends
MOST_BEHIND = 2  # largest number of parameters that a step may leave unchanged in order to keep the rules of the model
LEAST_GAIN = 1e-6  # at an optimum, one more step gains less than this part of 1 and of chi^2
STEPPED_GAIN = 0.01  # the same of chi^2 where jumps of a time scheme end a fit: parameters are then off by 0.1 standard deviations at most
CONVERGED, KINK, STUCK, UNFINISHED, FAILED = "converged", "at a kink", "stuck", "too many steps", "failed"
OPTIMAL = (CONVERGED, KINK)
OUTCOMES = {
    KINK: "ended at a kink or a jump of an observable, and fits from points around it found nothing better",
    STUCK: "got stuck where no step lowers the loss although its gradient is not 0: a jump or a kink of an observable is in the way",
    UNFINISHED: "did not end within their steps",
    FAILED: "failed at their start: a run has no results there",
}


@dataclass(frozen=True, slots=True)
class FitStep:
    """An accepted step of some lanes.

    Attributes:
        lanes: their numbers. coordinates: (lanes, n) after the step. codes: (lanes, runs, words) regimes and counts after the step.
    """

    lanes: np.ndarray
    coordinates: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True, slots=True)
class Fits:
    """Fits, one per lane.

    Attributes:
        coordinates: (lanes, n) ends of the fits. point: residuals and Jacobian there.
        outcome: (lanes,) CONVERGED; STUCK: no step lowers the loss although its gradient is not 0, because of a jump or a kink; UNFINISHED:
            too many steps; FAILED: the start has no results.
        steps: (lanes,) number of tried steps. path: accepted steps in their order, if they were requested.
    """

    coordinates: np.ndarray
    point: FitPoint
    outcome: np.ndarray
    steps: np.ndarray
    path: list[FitStep]

    @property
    def chi2(self) -> np.ndarray:
        """(lanes,) sums of the squared residuals; infinite if a fit failed."""
        squares = np.sum(self.point.residuals**2, axis=1)
        return np.where(np.isfinite(squares), squares, np.inf)


def fit(
    system: System,
    starts: np.ndarray,
    measured: np.ndarray | None = None,
    held: np.ndarray | None = None,
    trace: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Fits:
    """Minimise the sum of squared residuals from every start.

    Args:
        system: the residuals. starts: (lanes, n) coordinates within the bounds.
        measured: (lanes, data) numbers that replace the measured ones.
        held: (lanes, n) mask of parameters that keep their start value.
        trace: whether to keep the paths. tell: called after each step with the number of finished lanes and of all lanes.
    """
    begin, advance = solver()
    space, lanes = system.space, len(starts)
    y = space.angles(starts)
    everywhere = np.ones(lanes, dtype=bool)
    moving = np.ones_like(starts) if held is None else np.where(held, 0.0, 1.0)
    point = system.at(starts, measured)
    alive = np.isfinite(point.residuals).all(axis=1)
    outcome = np.where(alive, UNFINISHED, FAILED).astype(object)
    best = FitPoint(*(np.array(each) for each in (point.residuals, point.jacobian, point.codes, point.predicted)))
    path = [FitStep(np.arange(lanes), starts.copy(), point.codes)] if trace else []
    steps = np.zeros(lanes, dtype=int)
    state, asked = None, y
    live = alive.copy()
    while live.any() and steps.max() < MOST_STEPS:
        which = np.flatnonzero(live)
        if state is not None:
            point = system.at(space.at(asked[which]), None if measured is None else measured[which])
        else:
            point = FitPoint(*(each[which] for each in (point.residuals, point.jacobian, point.codes, point.predicted)))
        turning = (space.turning(asked[which]) * moving[which])[:, np.newaxis]
        residuals, jacobian = (np.zeros((lanes, *each.shape[1:])) for each in (point.residuals, point.jacobian))
        residuals[which] = point.residuals
        jacobian[which] = np.nan_to_num(point.jacobian) * turning
        given = (asked, residuals, jacobian)
        with compiling("steps of least squares") if state is None else nullcontext():
            state = begin(y, given) if state is None else state
            before = np.asarray(state.num_accepted_steps)
            y_new, state = advance(y, given, state, live)
        accepted = live & (np.asarray(state.num_accepted_steps) > before)
        y = np.array(y_new)
        asked = kept_admissible(system, y, np.array(state.y_eval), live)
        state = replace(state, y_eval=asked)
        steps += live
        taken, was = accepted[which], np.sum(best.residuals**2, axis=1)
        for into, each in zip((best.residuals, best.jacobian, best.codes, best.predicted),
                              (point.residuals, point.jacobian, point.codes, point.predicted), strict=True):  # fmt: skip
            into[accepted] = each[taken]
        if trace and taken.any():
            path.append(FitStep(which[taken], space.at(y[which[taken]]), point.codes[taken]))
        done = np.asarray(state.terminate) & accepted
        ends = live & ((np.abs(asked - y).max(axis=1) < LEAST_STEP) | ~np.isfinite(asked).all(axis=1))
        if system.stepped and accepted.any():  # jumps as small as a step keep such a fit from ending at rounding
            done |= accepted & at_optimum(best, space.turning(y) * moving)
            now = np.sum(best.residuals**2, axis=1)
            ends |= accepted & (steps > 1) & (was - now <= LEAST_GAIN * np.maximum(1.0, now))
        ends |= live & done
        outcome[live & done] = CONVERGED
        outcome[ends & ~done] = STUCK
        live &= ~ends
        if tell is not None:
            tell(int(np.count_nonzero(everywhere & ~live)), lanes)
    coordinates = np.where(moving > 0.0, space.at(y), starts)
    turning = space.turning(y) * moving
    settled = (outcome != FAILED) & (outcome != CONVERGED) & at_optimum(best, turning, STEPPED_GAIN if system.stepped else 0.0)
    outcome[settled] = CONVERGED
    return Fits(coordinates, best, outcome, steps, path)


def kept_admissible(system: System, y: np.ndarray, asked: np.ndarray, live: np.ndarray) -> np.ndarray:
    """Correct the requested (lanes, n) angles so that a step from y keeps the rules of the model.

    A step that breaks a rule leaves as few parameters unchanged as possible, or is halved. If neither helps, it is tried and rejected.
    """
    space, n = system.space, y.shape[1]
    broken = np.flatnonzero(live & np.isfinite(asked).all(axis=1))
    broken = broken[~system.admissible(space.values(space.at(asked[broken])))]
    asked = asked.copy()
    sets = [each for size in range(1, min(n, MOST_BEHIND + 1)) for each in itertools.combinations(range(n), size)]
    masks = np.ones((1 + len(sets), n))
    for row, each in enumerate(sets, start=1):
        masks[row, list(each)] = 0.0
    parts = np.concatenate([length * masks for length in (1.0, 0.5)])
    for lane in broken.tolist():
        tried = y[lane] + parts * (asked[lane] - y[lane])
        good = np.flatnonzero(system.admissible(space.values(space.at(tried))))
        if good.size:
            asked[lane] = tried[good[0]]
    return asked


def at_optimum(point: FitPoint, turning: np.ndarray, gain_in_noise: float = 0.0) -> np.ndarray:
    """(lanes,) whether a Gauss-Newton step would gain almost nothing, or less of chi^2 than `gain_in_noise`."""
    residuals = np.nan_to_num(point.residuals)
    left, sizes, _ = np.linalg.svd(np.nan_to_num(point.jacobian) * turning[:, np.newaxis], full_matrices=False)
    seen = sizes > 1e-9 * sizes.max(axis=1, keepdims=True)
    gain = np.sum((np.einsum("lmk,lm->lk", left, residuals) * seen) ** 2, axis=1)
    return np.asarray(gain <= np.maximum(gain_in_noise, LEAST_GAIN * np.maximum(1.0, np.sum(residuals**2, axis=1))))


@functools.cache
def solver() -> tuple[Any, Any]:
    """The two programs of the solver: its initial state, and one step of every lane that is still running.

    Raises:
        ConfigError: optimistix is missing.
    """
    try:
        import optimistix
    except ModuleNotFoundError as error:
        if error.name != "optimistix":
            raise
        message = "a fit needs optimistix, which is not installed: pip install 'tribosweep[calibration]'"
        raise ConfigError("tribosweep calibrate", [Problem("", message)]) from None
    import jax
    import jax.numpy as jnp

    method: Any = optimistix.LevenbergMarquardt(rtol=TOLERANCE, atol=TOLERANCE)
    options = {"jac": "bwd"}  # for the affine function, whose Jacobian is known
    nothing: frozenset[object] = frozenset()

    def affine(y: Any, given: Any) -> tuple[Any, None]:
        at, residuals, jacobian = given
        return residuals + jacobian @ (y - at), None

    def begin(y: Any, given: Any) -> Any:
        return method.init(affine, y, given, options, jax.eval_shape(lambda: given[1]), None, nothing)

    def advance(y: Any, given: Any, state: Any, live: Any) -> Any:
        later, after, _ = method.step(affine, y, given, options, state, nothing)
        return jax.tree.map(lambda new, old: jnp.where(live, new, old), (later, after), (y, state))

    return jax.jit(jax.vmap(begin)), jax.jit(jax.vmap(advance))
