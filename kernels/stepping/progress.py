"""Progress of a run by a time scheme: where the next step ends, whether it is taken, and what the clock shows then; of both step loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Rotation
from tribosweep.kernels.models.schemes import MOST_STEPS
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.fusion import decide
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Limits, StepVerdict

NEARLY = 1.0 + 1e-6  # a step that ends so near before an instant is stretched to it


class Turned(NamedTuple):
    """Sine and cosine of the excitation's angle, and of the normal force's angle where it varies."""

    force: Rotation
    normal: Rotation | None


class Counted(NamedTuple):
    """Progress at fixed steps: number of steps taken, and the excitation's angle; None of structures, whose loads follow from the time."""

    steps: Array
    rotation: Turned | None = None


class Plan(NamedTuple):
    """Steps of a Runge-Kutta scheme that end where a support changes its phase (see `structure_course`).

    Attributes:
        h: length of the step that was planned before it was cut [s]. due: 1 if the next step is cut so, else 0.
        tries: number of such steps since the last other one. changes: 1 for the supports that change at the end of the next step, (G,).
    """

    h: Array
    due: Array
    tries: Array
    changes: tuple[Array, ...]


class Timed(NamedTuple):
    """Progress at chosen steps.

    Attributes:
        t, rest: time [s], and its part lost by rounding. They and the counts of steps are float64, whatever the type of other numbers.
        h: length of the next step [s].
        accepted, rejected: number of steps. control: memory of the step size control. failure: a status code, 0 while all is well.
        plan: of steps that end at changes of phases; None for other schemes.
    """

    t: Array
    rest: Array
    h: Array
    accepted: Array
    rejected: Array
    control: tuple[Array, ...]
    failure: Array
    plan: Plan | None = None


Clock: TypeAlias = Counted | Timed


def failure_at_start(finite: Array, whole: Array | None) -> Array:
    """Status code of a run that cannot begin, as a float; 0 if it can. `whole`: number of its fixed steps; None for chosen ones."""
    endless = jnp.zeros_like(finite) if whole is None else whole > MOST_STEPS
    return jnp.where(finite, jnp.where(endless, float(Status.TOO_MANY_STEPS), 0.0), float(Status.NOT_FINITE))


def goes_on(clock: Clock, whole: Array | None, end: Array) -> Array:
    """Whether a run of `whole` fixed steps, or until `end` [s] (`whole` is None), has neither reached its end nor failed."""
    return clock.steps < cast("Array", whole) if isinstance(clock, Counted) else (clock.t < end) & (clock.failure == 0.0)


def time(clock: Clock, h: Array | None) -> Array:
    """The time that a run has reached [s]; `h`: length of its fixed steps [s], None for chosen ones."""
    return clock.steps * cast("Array", h) if isinstance(clock, Counted) else clock.t


def outcome(clock: Clock, failure: Array, zero: Array) -> tuple[Array, Array, Array]:
    """Numbers of accepted and rejected steps, and the status code of a run, with that of a run that cannot begin."""
    if isinstance(clock, Counted):
        return clock.steps, zero, failure.astype(jnp.int32)
    return clock.accepted, clock.rejected, clock.failure.astype(jnp.int32)


class Stride(NamedTuple):
    """A step that is tried.

    Attributes:
        h: its length [s]. target: the next instant at which a step must end [s]. left: until then [s]. lands: whether it ends there.
    """

    h: Array
    target: Array
    left: Array
    lands: Array

    def moments(self, clock: Timed, fractions: Sequence[float]) -> list[Array]:
        """The times at fractions of it [s]."""
        return [clock.t + (clock.rest + fraction * self.h) for fraction in fractions]


def target(p: Mapping[str, Array], t: Array, within: Array) -> Array:
    """The bound of the window or the run that comes next [s]; `within`: the next bound in the window [s]."""
    return jnp.where(t < p["window_start"], p["window_start"], jnp.where(t < p["window_end"], within, p["end"]))


def stride(clock: Timed, target: Array, near: Array | float = NEARLY) -> Stride:
    """The next step, cut at an instant [s] or stretched to it if it ends within a factor `near`."""
    left = (target - clock.t) - clock.rest
    (lands,) = decide(left <= clock.h * near, like=clock.h)
    return Stride(jnp.where(lands, left.astype(clock.h.dtype), clock.h), target, left, lands)


def judged(
    clock: Timed, step: Stride, verdict: StepVerdict, takes: Array, going: Array, limits: Limits, first: Array
) -> tuple[Array, Array]:
    """Whether a step is taken, and the status code.

    Args:
        takes: whether it would be taken. going: whether the run goes on. first: length of the first step of the run [s].
    """
    # a step that is cut to hit an instant may be shorter than smallest_step, and so may its retries
    smallest = limits.smallest * jnp.minimum(1.0, step.left / first).astype(step.h.dtype)
    accepted, too_small, too_many = decide(
        takes,
        ~verdict.accepted & going & (verdict.shorter < smallest),
        going & (clock.accepted + clock.rejected >= MOST_STEPS - 1.0),
        like=step.h,
    )
    failure = jnp.where(too_many, float(Status.TOO_MANY_STEPS), jnp.where(too_small, float(Status.STEP_TOO_SMALL), clock.failure))
    return accepted, failure


def taken(clock: Timed, step: Stride, verdict: StepVerdict, limits: Limits, failure: Array, plan: Plan | None = None) -> Timed:
    """The clock after a step that is taken."""
    total = clock.t + (clock.rest + step.h)
    rest = (clock.rest + step.h) - (total - clock.t)
    return Timed(
        t=jnp.where(step.lands, step.target, total),
        rest=jnp.where(step.lands, 0.0, rest),
        h=jnp.maximum(verdict.longer, limits.smallest).astype(clock.h.dtype),
        accepted=clock.accepted + 1.0,
        rejected=clock.rejected,
        control=verdict.after,
        failure=failure,
        plan=plan,
    )


def refused(clock: Timed, verdict: StepVerdict, going: Array, failure: Array, h: Array, plan: Plan | None = None) -> Timed:
    """The clock after a step that is refused; `h`: length of the next one while the run goes on [s]."""
    return clock._replace(
        h=h.astype(clock.h.dtype),
        rejected=clock.rejected + jnp.where(going, 1.0, 0.0),
        control=verdict.again,
        failure=failure,
        plan=plan,
    )
