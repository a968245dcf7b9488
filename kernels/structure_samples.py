"""The motion and the forces of a structure, or of an oscillator by a time scheme, at given times, with derivatives: `samples`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tribosweep.kernels.batch.finish import as_codes, finish, without_support
from tribosweep.kernels.batch.program_key import ProgramKey, key_of
from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.batch.solve import shared_arguments
from tribosweep.kernels.excitation.record import Records, check_record
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.arguments import check_given, nearest
from tribosweep.kernels.models.arrays import is_traced
from tribosweep.kernels.models.parameters import normal_force_of_motion
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import RESULTS
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_classes
from tribosweep.kernels.stepping import at_times, loop, structure_at_times, structure_loop
from tribosweep.kernels.stepping.loop import STEPPERS


def samples(
    model: Model, params: Mapping[str, Any], times: ArrayLike, scheme: str = "devogelaere", records: Records | None = None
) -> dict[str, jax.Array]:
    """Motion and forces of one structure or oscillator at given times, and its observables.

    Args:
        model: of a structure (`tribosweep.kernels.models.structures.Structure.model`) or of `tribosweep.MODELS`, of one body.
        params: see `tribosweep.simulate`; single numbers.
        times: (n,) [s], ascending, within the run. scheme: a time scheme. records: what the parameter `record` numbers.

    Returns:
        The names of `models.structure_columns.sampled`, or of an oscillator x, v, a, friction_force and wall_force, (n,) each,
        linear between the ends of steps; every observable of a run that does not need further parameters, and `status`, as
        `tribosweep.simulate` returns them. A run that fails has NaN.

    Raises:
        KeyError: unknown scheme or parameter. TypeError: `params` is no mapping. ValueError: scheme exact or two bodies, values that are no
            numbers, out of bounds or contradictory, or times that do not ascend within the run.

    Derivatives by jvp and jacfwd, also under jit and vmap, are those of the steps taken, not of how a scheme chooses them. The samples need
    memory for themselves alone, whatever the number of steps. A force of contact is continuous only without c_n, and its slope in time
    jumps where contact begins: its derivatives hold between the instants at which an entry moves past a step.
    A run whose numbers are traced and break a rule has NaN and a status. Whoever traces checks that times lie within the run, and of a
    structure that a fixed step is stable.
    """
    if model.structure is None and (scheme == EXACT or "m_2" in params):
        raise ValueError("two bodies have no samples of one" if scheme != EXACT else f"{EXACT!r} is no time scheme: see tribosweep.trace")
    if scheme not in model.schemes:
        raise KeyError(f"{model.name} has no scheme {scheme!r}; {nearest(scheme, model.schemes)}it has {', '.join(model.schemes)}")
    params = check_given(model, params, one=True)
    if "record" in params:
        check_record(params["record"], records)
    if model.structure is not None and model.structure.lists:
        model = model.structure.scalars.model
    excluded = refused(model, params, scheme, one=True)
    _check_times(times, params.get("end", model.parameter("end").default))
    program = key_of(model, params, scheme)
    resolved = model.resolve({name: jnp.asarray(value, float) for name, value in params.items()}, xp=jnp)
    support: dict[str, Any] = {name: resolved[name] for name in ("normal_force", "normal_amplitude") if name in resolved}
    if model.structure is None:
        resolved["normal_force"] = normal_force_of_motion(params, resolved)
    unread = program.unread(model)
    p = {name: jnp.asarray(value, float) for name, value in resolved.items() if name not in unread}
    shared = shared_arguments(model, records if "record" in params else None)
    if "interval" in shared and "largest_step" in p and "largest_step" not in params:
        p["largest_step"] = jnp.minimum(p["largest_step"], shared["interval"])
    arguments = {**p, **{name: jnp.asarray(value) for name, value in shared.items() if name not in unread}}
    if excluded is not None:
        arguments["end"] = jnp.where(excluded > 0, jnp.nan, arguments["end"])  # such a row is not run
    found = _sampled(program, arguments, jnp.asarray(times, float))
    found |= without_support(model, support, found, jnp)
    if excluded is not None:
        found["status"] = jnp.where(excluded > 0, excluded, found["status"])
    codes = {"status", *(q.name for q in model.observables if q.kind in ("integer", "word"))}
    return {name: as_codes(value, jnp.int32, jnp) if name in codes else value for name, value in found.items()}


def _check_times(times: ArrayLike, end: Any) -> None:
    """ValueError for plain times that do not ascend, or leave a run up to a plain `end` [s]."""
    if is_traced(times):
        return
    given = np.asarray(times, float)
    if given.ndim != 1 or not np.isfinite(given).all() or np.any(np.diff(given) < 0.0):
        raise ValueError("times must be a list of finite numbers [s] that ascend")
    if not is_traced(end) and given.size and not 0.0 <= given[0] <= given[-1] <= float(end):
        raise ValueError(f"times must lie within the run, from 0 to {float(end):g} s, not from {given[0]:g} to {given[-1]:g} s")


@functools.partial(jax.jit, static_argnums=0)
def _sampled(key: ProgramKey, p: dict[str, Any], times: Array) -> dict[str, Array]:
    """The samples and observables of one run, which steps up to the first time, then up to the next, and then up to its end."""
    stepper = STEPPERS[key.scheme]
    driver: Any = structure_loop if key.structure is not None else loop
    sampler: Any = structure_at_times if key.structure is not None else at_times
    if key.structure is not None:
        setup: Any = structure_loop.prepare(stepper, p, key.structure)
        start: Any = structure_at_times.begin(stepper, setup)
    else:
        setup = loop.prepare(stepper, p, laws=key.walls)
        none = jnp.zeros(0)
        start = at_times.begin(stepper, setup, impact_classes.init(none, none, 0.0 * p["end"], p["end"], 1, 0))  # no impacts are counted

    def at(reached: Any, moment: Array) -> tuple[Any, dict[str, Array]]:
        reached = sampler.advance(stepper, setup, reached, moment)
        return reached, sampler.sample(setup, reached, moment)

    # the end of the run is one more time: a program with one copy of a step compiles in half the time
    reached, seen = jax.lax.scan(at, start, jnp.append(times, 2.0 * p["end"]))
    found = {name: values[:-1] for name, values in seen.items()}
    results, code = driver.finish(setup, reached.run)
    observables, status = finish(results, code, jnp)
    good = functools.reduce(operator.or_, (status == int(each) for each in RESULTS))
    return {**observables, **{name: jnp.where(good, value, jnp.nan) for name, value in found.items()}, "status": status}
