"""One oscillator or arrays of them from Python: `kernels.simulate`, differentiable in every float parameter."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kernels.elementary import all_finite
from kernels.exact.programs import PROGRAMS
from kernels.models import MODELS
from kernels.schemes import EXACT, check_window
from kernels.status import Status
from kernels.stepping import loop as stepping

_CODES = ("regime", "slip_phases", "period", "accepted_steps", "rejected_steps", "status")


def simulate(model: str, params: Mapping[str, Any], scheme: str = EXACT, window: str | None = None) -> dict[str, jax.Array]:
    """Run one oscillator, or as many as the parameters' common shape has.

    Args:
        model: name of a model (`kernels.MODELS`).
        params: parameter name -> float or array, SI units; shapes broadcast together; omitted names take their documented default.
        scheme: name of a scheme of the model. "exact" is rigid friction without k_t and penalised friction with it.
        window: "steady" for one period of the motion that the run tends to, with its `period` among the observables (scheme exact; `end`,
            `window_start` and `window_end` are not given); None for the window of `params`.

    Returns:
        Observable name -> array of the common shape, in SI units. `regime` is a code into `REGIMES`, `status` one into
        `kernels.status.SENTENCES`. A row that fails has NaN observables, codes and counts of -1, and its status. Bounds and rules are the
        caller's to keep (`Model.rules`).

    Raises:
        KeyError: unknown model, scheme or parameter.
        ValueError: a time scheme without k_t where there is friction, shapes that do not broadcast, or a `window` that cannot be.

    Meant for one oscillator, for fits and for derivatives; `sweep.run` is faster on many. The lean segment serves a call whose k and c are
    all 0, so that the last digit of a row may depend on the others in the call (never in a study).

    Works under jit, vmap, grad and jvp. Derivatives of `exact` are those of the motion with its event times (implicit function theorem), to
    any order; of rigid friction, second ones of `max_slip_speed` leave out how the instant of the peak moves. Those of a time scheme are
    those of its steps as computed, which miss jumps of the force (mu_s > mu_d). They are 0 in stick (with k_t, where it creeps, only those
    of wear), and one-sided values differ across a regime boundary only where the motion itself has a kink. Counts and codes have
    derivative 0.
    With window "steady" they are those of the periodic motion (implicit function theorem on its section). Three things are not told by it
    and count as fixed: where a mass lies that nothing holds to a place (k = 0: it begins at x0), where it rests on a spring without ever
    slipping, and hence the derivative by k at k = 0, which is not that of k -> 0.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r}; there are {', '.join(MODELS)}")
    chosen = MODELS[model]
    if scheme not in chosen.schemes:
        raise KeyError(f"{model} has no scheme {scheme!r}; it has {', '.join(chosen.schemes)}")
    check_window(window, scheme, params)
    unread = chosen.unread(scheme)
    resolved = chosen.resolve({name: jnp.asarray(value, jnp.result_type(float)) for name, value in params.items()}, xp=jnp)
    resolved = {name: jnp.asarray(value, jnp.result_type(float)) for name, value in resolved.items() if name not in unread}
    if scheme != EXACT and "k_t" not in params and not _is_zero(resolved["mu_s"] * resolved["normal_force"]):
        raise ValueError(f"scheme {scheme!r} needs the tangential stiffness k_t [N/m]")
    engine = scheme
    if scheme == EXACT:
        lean = all(_is_zero(params.get(name, 0.0)) for name in ("k", "c"))
        rigid_friction = "k_t" not in params or _is_infinite(params["k_t"])
        engine = f"{window or EXACT}-{'penalised' if not rigid_friction else 'lean' if lean else 'general'}"
        if rigid_friction:
            resolved = {name: value for name, value in resolved.items() if name not in chosen.penalty}

    shape = jnp.broadcast_shapes(*(value.shape for value in resolved.values()))
    flat = {name: jnp.broadcast_to(value, shape).reshape(-1) for name, value in resolved.items()}
    results = _run_all(engine, flat)
    return {name: values.reshape(shape).astype(jnp.int32) if name in _CODES else values.reshape(shape) for name, values in results.items()}


def _is_zero(value: Any) -> bool:
    """Whether a parameter is known to be 0 while tracing; a traced one is not, so that it keeps its derivative."""
    return not isinstance(value, jax.core.Tracer) and not np.any(np.asarray(value))


def _is_infinite(value: Any) -> bool:
    """Whether a parameter is known to be infinite while tracing, in every row."""
    return not isinstance(value, jax.core.Tracer) and bool(np.all(np.isposinf(np.asarray(value))))


@functools.partial(jax.jit, static_argnums=0)
def _run_all(engine: str, rows: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Every row through `_run_one`."""
    return jax.vmap(functools.partial(_run_one, engine))(rows)


def _engine(engine: str, p: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Observables and status of one oscillator, all as floats; NaN where it failed."""
    results, status = PROGRAMS[engine](p) if engine in PROGRAMS else stepping.simulate(p, engine)
    finite = all_finite(results.values())
    status = jnp.where((status == int(Status.OK)) & ~finite, int(Status.OVERFLOW), status)
    good = status == int(Status.OK)
    floats = {name: jnp.where(good, value, -1.0 if name in _CODES else jnp.nan) for name, value in results.items()}
    return {**floats, "status": status.astype(jnp.result_type(float))}


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _run_one(engine: str, p: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """`_engine` with a derivative that both directions can use: loops transpose badly, but a forward Jacobian is linear in the tangents."""
    return _engine(engine, p)


def _run_one_jvp(engine: str, primals: Any, tangents: Any) -> Any:
    """Forward Jacobian over the parameters that vary, times their tangents."""
    (p,), (rates,) = primals, tangents
    varying = [name for name, rate in rates.items() if not isinstance(rate, jax.custom_derivatives.SymbolicZero)]

    def along(direction: jax.Array) -> Any:
        unit = {name: jnp.zeros_like(value) for name, value in p.items()}
        unit |= {name: direction[i] for i, name in enumerate(varying)}
        return jax.jvp(functools.partial(_engine, engine), (p,), (unit,))

    values, jacobian = jax.vmap(along, out_axes=(None, 0))(jnp.eye(len(varying)))
    rate = {name: sum(jacobian[name][i] * rates[each] for i, each in enumerate(varying)) for name in values}
    return values, rate


_run_one.defjvp(_run_one_jvp, symbolic_zeros=True)
