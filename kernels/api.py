"""One oscillator or arrays of them from Python: `kernels.simulate`, differentiable in every float parameter."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from kernels.batch.programs import PROGRAMS, program
from kernels.excitation.record import Records, check_record, features_of, is_zero
from kernels.models import MODELS, Model, wear_laws
from kernels.models.arguments import check_given, nearest
from kernels.models.quantity import by_name
from kernels.models.schemes import DRIVEN, EXACT, FEATURES, NOTHING_ELSE, VARIED, Asked, check_asked, check_window, varied
from kernels.models.status import RESULTS, Status
from kernels.numerics.numbers import all_finite
from kernels.stepping import loop as stepping

MOMENT = "moment"  # programs that also tell the forces at the end
_CODES = {"status"} | {q.name for model in MODELS.values() for q in model.observables if q.kind in ("integer", "word")}
_OPTIONAL = {q.name for model in MODELS.values() for q in model.observables if q.optional or q.kind == "list"}
_SURVIVES = {q.name for model in MODELS.values() for q in model.observables if q.survives}


def simulate(
    model: str,
    params: Mapping[str, Any],
    scheme: str = EXACT,
    window: str | None = None,
    blocks: int = 0,
    statistics: bool = False,
    records: Records | None = None,
) -> dict[str, jax.Array]:
    """Run one oscillator, or as many as the parameters' common shape has.

    Args:
        model: name of a model (`kernels.MODELS`).
        params: parameter name -> float or array, SI units; shapes broadcast together (a table has one axis more, its last, padded with
            NaN); omitted names take their documented default. A word is its code.
        scheme: name of a scheme of the model. "exact" is rigid friction without k_t and penalised friction with it.
        window: "steady" for one period of the motion that the run tends to, with its `period` among the observables (scheme exact; `end`,
            `window_start` and `window_end` are not given); None for the window of `params`.
        blocks: into how many equal blocks (2 to 64) that window is divided, for `wear_power_blocks`, _scatter and _error; 0 for none.
        statistics: whether mean, RMS, standard deviation and extremes of displacement and forces in that window are wanted.
        records: which the parameter `record` chooses from.

    Returns:
        Observable name -> array of the common shape, in SI units. `regime` is a code into its words (`REGIMES`; a stop has more), `status`
        is a code into `SENTENCES` of kernels/models/status.py. A list (`poincare_x`, `poincare_v` of a steady window, `wear_power_blocks`)
        has one axis more, which is 64 long and padded with NaN. Wear volumes and depths are returned where `params` has what they need
        (`service_time`, `archard_k`, `contact_area`). A row that fails has NaN observables, codes and counts of -1, and its status.
        `period` is -1 where there is none.
        Plain numbers are held against their bounds; bounds of arrays, and rules, are the caller's to keep (`Model.rules`).

    Raises:
        KeyError: unknown model, scheme or parameter; says the nearest. TypeError: `params` is no mapping.
        ValueError: what is no number, a plain number out of bounds, a time scheme without k_t where there is friction, scheme "exact"
            where friction varies (`schemes.VARIED`), shapes that do not broadcast, a `window` that cannot be, a record without `records`,
            or blocks or statistics of a steady window.

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
        raise KeyError(f"no model {model!r}; {nearest(model, MODELS)}there are {', '.join(MODELS)}")
    chosen = MODELS[model]
    if scheme not in chosen.schemes:
        raise KeyError(f"{model} has no scheme {scheme!r}; {nearest(scheme, chosen.schemes)}it has {', '.join(chosen.schemes)}")
    check_window(window, scheme, params, chosen.steady)
    asked = Asked(blocks, statistics)
    check_asked(asked, window)
    return _run(chosen, params, scheme, window or scheme, records, asked)


def moment(model: str, params: Mapping[str, Any], records: Records | None = None) -> dict[str, jax.Array]:
    """What `simulate` returns for scheme "exact", and what acts at the time `end`: one point of a trace, with derivatives.

    Args:
        model, params, records: see `simulate`. Where an event happens forces may jump: derivatives hold between events.

    Returns:
        Observable name -> array as `simulate` returns it, and x [m], v [m/s], friction_force [N] (on the mass), wall_force [N], which are
        those of `kernels.trace` at that time.

    Raises:
        KeyError: unknown model or parameter.
        ValueError: what is no number, a plain number out of bounds, friction that varies (`schemes.VARIED`), shapes that do not
            broadcast, or a record without `records`.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r}; {nearest(model, MODELS)}there are {', '.join(MODELS)}")
    return _run(MODELS[model], params, EXACT, MOMENT, records)


def _run(
    chosen: Model, params: Mapping[str, Any], scheme: str, engine: str, records: Records | None, asked: Asked = NOTHING_ELSE
) -> dict[str, jax.Array]:
    """Rows of any common shape through the program that `engine` (a scheme, "steady" or MOMENT) and the parameters ask for."""
    check_given(chosen, params)
    features, switches = features_of(params), {name: 0.0 if is_zero(params.get(name, 0.0)) else 2.0 for name in VARIED}
    if "stribeck_exponent" not in params or is_zero(params["stribeck_exponent"] - 1.0):
        switches["stribeck_exponent"] = 1.0
    if scheme == EXACT and (has := [name for name, rows in varied(switches).items() if rows]):
        raise ValueError(f"scheme {scheme!r} has no {has[0]}: choose a time scheme")
    if "record" in features:
        check_record(params["record"], records)
    unread = chosen.unread(scheme, switches) | {name for feature, names in FEATURES.items() if feature not in features for name in names}
    resolved = chosen.resolve({name: jnp.asarray(value, jnp.result_type(float)) for name, value in params.items()}, xp=jnp)
    afterwards = {name: jnp.asarray(resolved[name]) for name in wear_laws.READS}
    resolved = {name: jnp.asarray(value, jnp.result_type(float)) for name, value in resolved.items() if name not in unread}
    pressed = resolved["normal_force"] + jnp.abs(resolved.get("normal_amplitude", 0.0))
    if scheme != EXACT and "k_t" not in params and not is_zero(resolved["mu_s"] * pressed):
        raise ValueError(f"scheme {scheme!r} needs the tangential stiffness k_t [N/m]")
    if scheme == EXACT:
        engine, rigid_friction = _program(chosen, params, engine, bool(features & {*DRIVEN}), asked)
        if rigid_friction:
            resolved = {name: value for name, value in resolved.items() if name not in chosen.penalty}

    shape = jnp.broadcast_shapes(*(value.shape[:-1] if name in chosen.tables else value.shape for name, value in resolved.items()))
    flat = {
        name: jnp.broadcast_to(value, (*shape, value.shape[-1])).reshape(math.prod(shape), value.shape[-1])
        if name in chosen.tables
        else jnp.broadcast_to(value, shape).reshape(-1)
        for name, value in resolved.items()
    }
    shared = records.arguments() if records is not None and "record" in features else {}
    if shared and "largest_step" in resolved and "largest_step" not in params:
        flat["largest_step"] = jnp.minimum(flat["largest_step"], shared["interval"])
    results = _run_all(engine, asked, flat, shared)
    shaped = {name: values.reshape(*shape, *values.shape[1:]) for name, values in results.items()}
    shaped |= wear_laws.volumes(afterwards, shaped["wear_power"], params, jnp)
    return {name: jnp.nan_to_num(values, nan=-1.0).astype(jnp.int32) if name in _CODES else values for name, values in shaped.items()}


def _program(model: Model, params: Mapping[str, Any], engine: str, driven: bool, asked: Asked) -> tuple[str, bool]:
    """The program of the exact engine for these parameters, and whether it reads no penalised contact; `driven`: not by one sine alone."""

    def known_zero(*names: str) -> bool:
        return all(is_zero(params.get(name, 0.0)) for name in names)

    rigid_friction = "k_t" not in params or _is_infinite(params["k_t"])
    if "k_n" in by_name(model.parameters):
        bare = known_zero("mu", "mu_s", "normal_force")
        if len(model.walls) > 1:
            laws = ",".join(_law_of(wall.prefix, params) for wall in model.walls)
            return f"{engine}-{'bare' if bare else 'rigid' if rigid_friction else 'penalised'}-{model.name}:{laws}", bare or rigid_friction
        bends = not known_zero("damping_criterion") and ("c_buckled" in params or "post_damping" in params)
        name = f"{engine}-{'bare' if bare else 'rigid' if rigid_friction else 'penalised'}-{model.name}{'-bent' if bends else ''}"
        return name, bare or rigid_friction
    if engine == MOMENT or asked.names:
        return f"{engine}-{'rigid' if rigid_friction else 'penalised'}", rigid_friction
    rigid = "rigid" if driven else "lean" if known_zero("k", "c") else "general"
    return f"{engine}-{rigid if rigid_friction else 'penalised'}", rigid_friction


def _law_of(prefix: str, params: Mapping[str, Any]) -> str:
    """The law that a program has for one of several walls: elastic in all rows, buckling, or that with a damping that may vary."""
    if f"{prefix}f_crit" not in params or _is_infinite(params[f"{prefix}f_crit"]):
        return "stop"
    varies = not is_zero(params.get(f"{prefix}damping_criterion", 0.0)) and any(
        prefix + name in params for name in ("c_buckled", "post_damping")
    )
    return "varying" if varies else "buckling"


def _is_infinite(value: Any) -> bool:
    """Whether a parameter is known to be infinite while tracing, in every row."""
    return not isinstance(value, jax.core.Tracer) and bool(np.all(np.isposinf(np.asarray(value))))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _run_all(engine: str, asked: Asked, rows: dict[str, jax.Array], shared: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Every row through `_run_one`, with what all of them share."""
    return jax.vmap(lambda row: _run_one(engine, asked, {**row, **shared}))(rows)


def _engine(engine: str, asked: Asked, p: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Observables and status of one oscillator, all as floats; NaN where it failed."""
    results, status = program(engine, asked)(p) if engine in PROGRAMS else stepping.simulate(p, engine, asked)
    finite = all_finite(value for name, value in results.items() if name not in _OPTIONAL)

    def has_results(status: jax.Array) -> jax.Array:
        return functools.reduce(operator.or_, (status == int(each) for each in RESULTS))

    status = jnp.where(has_results(status) & ~finite, int(Status.OVERFLOW), status)
    good = has_results(status)
    lost = {name: -1.0 if name in _CODES else jnp.nan for name in results}
    floats = {name: value if name in _SURVIVES else jnp.where(good, value, lost[name]) for name, value in results.items()}
    return {**floats, "status": status.astype(jnp.result_type(float))}


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _run_one(engine: str, asked: Asked, p: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """`_engine` with a derivative that both directions can use: loops transpose badly, but a forward Jacobian is linear in the tangents."""
    return _engine(engine, asked, p)


def _run_one_jvp(engine: str, asked: Asked, primals: Any, tangents: Any) -> Any:
    """Forward Jacobian over the parameters that vary, times their tangents."""
    (p,), (rates,) = primals, tangents
    varying = {name: rate for name, rate in rates.items() if not isinstance(rate, jax.custom_derivatives.SymbolicZero)}
    flat, unravel = ravel_pytree(varying)

    def along(direction: jax.Array) -> Any:
        return jax.jvp(
            lambda chosen: _engine(engine, asked, {**p, **chosen}), ({name: p[name] for name in varying},), (unravel(direction),)
        )

    values, jacobian = jax.vmap(along, out_axes=(None, 0))(jnp.eye(flat.size))
    rate = {name: sum(jacobian[name][i] * flat[i] for i in range(flat.size)) for name in values}
    return values, rate


_run_one.defjvp(_run_one_jvp, symbolic_zeros=True)
