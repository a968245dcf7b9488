"""One oscillator or arrays of them from Python: `tribosweep.simulate`, differentiable in every float parameter."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from tribosweep.kernels.batch.finish import as_codes, finish, in_lists, without_support
from tribosweep.kernels.batch.program_key import ProgramKey, key_of, mild_key_of, strongly_damped
from tribosweep.kernels.batch.programs import program
from tribosweep.kernels.batch.refusals import common_shape, refused
from tribosweep.kernels.batch.solve import shared_arguments
from tribosweep.kernels.excitation.record import Records, check_record
from tribosweep.kernels.models import Model, wear_laws
from tribosweep.kernels.models.arguments import check_given, model_of, nearest
from tribosweep.kernels.models.arrays import is_traced, plain
from tribosweep.kernels.models.features import LINEAR
from tribosweep.kernels.models.limits import check_uses
from tribosweep.kernels.models.links import COLUMNS as LINK_COLUMNS
from tribosweep.kernels.models.observables import MOTION
from tribosweep.kernels.models.outputs import Asked, check_asked
from tribosweep.kernels.models.parameters import normal_force_of_motion
from tribosweep.kernels.models.schemes import DOUBLE, EXACT
from tribosweep.kernels.numerics.fusion import decide, for_every_lane
from tribosweep.kernels.results import STATUS, Results
from tribosweep.kernels.runtime import jax_setup
from tribosweep.kernels.runtime.stderr_filter import without_false_alarm

Orders = tuple[tuple[str, ...], ...]  # the parameters of the derivatives of each order


@without_false_alarm()
def simulate(
    model: str | Model,
    params: Mapping[str, Any],
    scheme: str = EXACT,
    window: str | None = None,
    blocks: int = 0,
    statistics: bool = False,
    records: Records | None = None,
    *,
    multipliers: bool = False,
    throw: bool = False,
) -> Results:
    """Run one oscillator, or as many as the parameters' common shape has.

    Args:
        model: name of a model (`tribosweep.MODELS`), or the model of a structure (`tribosweep.kernels.models.structures.Structure.model`).
        params: parameter name -> float or array, SI units. Shapes broadcast together; a table has one axis more, the last, padded with
            NaN. Omitted names take their documented default. A word of `tribosweep list parameters` may be given as a text or its code.
        scheme: name of a scheme of the model. "exact" runs rigid friction if k_t is omitted, else penalised friction.
        window: None for the window of `params`; "steady" for one period of the motion to which the run tends, with its `period` among the
            observables (scheme exact; `params` then has no `end`, `window_start` and `window_end`).
        blocks: number of equal blocks (2 to 64) of a given window, for `wear_power_blocks`, `_scatter` and `_error`; 0: none.
        statistics: whether to compute mean, RMS, standard deviation and extremes of displacement and forces in a given window.
        records: the records that the parameter `record` numbers.
        multipliers: whether to compute the Floquet multipliers of the motion of a steady window, and what they say of its stability.
        throw: whether rows without results raise an error. Nobody knows of them while numbers are traced.

    Returns:
        Observable name -> array of the common shape, in SI units: a dict whose entries are attributes too, a pytree, with their `units`
        (`tribosweep.kernels.results.Results`). Words such as `regime` and `status` are codes, of which `in_words()` makes texts. A list
        (`poincare_x`, `poincare_v` of a steady window, `wear_power_blocks`)
        has one axis more, which is 64 long and padded with NaN. Wear volumes and depths are returned if `params` has what they need
        (`service_time`, `archard_k`, `contact_area`). A row that fails has NaN observables, codes and counts of -1, and its status.
        `period` is -1 if the motion has none.
        Rows of arrays that are out of bounds or break a rule (`Model.rules`) fail in this way, and so does one oscillator whose numbers
        are traced (jit, vmap, grad). Of a structure, whoever traces checks that a fixed step is stable.

    Raises:
        KeyError: unknown model, scheme or parameter; the message suggests the nearest one. TypeError: `params` is no mapping.
        ValueError: a value that is no number, a plain number out of bounds, one oscillator that breaks a rule (such as mu_s < mu_d), a time
            scheme with friction but without k_t, scheme "exact"
            with links or with friction whose phases are not linear (`features.VARIED` but for LINEAR), shapes that do not broadcast, an
            impossible `window`, a record without `records`,
            or blocks or statistics of a steady window, or multipliers of another; with `throw` rows without results, of which the
            message names the first.

    Meant for one oscillator, for fits and for derivatives; `tribosweep.run` is faster for many. One program runs all rows of a call, a
    simpler one if k and c are 0 in all rows. The last digit of a row may therefore depend on the other rows of the call (never in a
    study). Only rows of rigid friction whose damping is so strong that their free motion decays at once run in a slower program of their
    own: c / m is above 100 sqrt(k / m), and above 6e4 over the period of the excitation or over `end`, whichever is shorter (without an
    excitation over `end`). If m, c, k, omega or end is traced, all rows run in the faster program, where such rows may have more events
    than the bound.

    Works under jit, vmap, grad and jvp. Derivatives of `exact` are those of the motion with its event times (implicit function theorem), to
    any order; with rigid friction, second derivatives of `max_slip_speed` leave out how the instant of the peak moves. Derivatives of a
    time scheme are those of its computed steps. Where the force jumps (at entries, and where slip begins with mu_s > mu_d) they follow the
    instant, to first order in the step. In stick they are 0; with k_t, where the contact creeps, only those of wear. One-sided derivatives
    differ at a regime boundary only if the motion itself has a kink there.
    Derivatives by the ends of the window and by `end` are one-sided where these coincide: a window that begins with the run can begin
    later, one that ends with it can end earlier. Those by window_start at 0 have an error in proportion to the first step: by adapt1 and
    adapt2 all of them, by rk32 and rk54 those of block means and with LuGre or Dahl friction. `stick_fraction` by devogelaere has a wrong
    one by `end` where the window ends with the run. Extremes on a bound of the window follow it.
    Counts and codes have derivative 0.
    With window "steady" derivatives are those of the periodic motion (implicit function theorem on its Poincare section). The section does
    not determine the position of a mass without a spring (k = 0: it begins at x0), or of a mass that never slips. Both positions count as
    fixed: the derivative by k at k = 0 is not the limit for k -> 0.

    Examples:
        >>> one = simulate("rubbing_mass", {"a0": 15.0, "mu": 0.1, "window_start": 4.0})
        >>> round(float(one.wear_power), 4), one.units["wear_power"], one.in_words()["regime"]
        (15.2671, 'W', 'slip-slip')
        >>> def power(mu):
        ...     return simulate("rubbing_mass", {"a0": 15.0, "mu": mu, "window_start": 4.0}).wear_power
        >>> round(float(jax.grad(power)(0.1)), 3)
        -6.718
        >>> jax.vmap(power)(jax.numpy.array([0.1, 0.2])).shape  # the same as power(jax.numpy.array([0.1, 0.2]))
        (2,)
    """
    chosen = model_of(model)
    if scheme not in chosen.schemes:
        raise KeyError(f"{chosen.name} has no scheme {scheme!r}; {nearest(scheme, chosen.schemes)}it has {', '.join(chosen.schemes)}")
    asked = Asked(blocks, statistics, multipliers=multipliers)
    check_asked(asked)
    check_uses(chosen, scheme, params, window, asked, DOUBLE)
    given = check_given(chosen, params)
    if chosen.structure is not None and chosen.structure.lists:
        found = simulate(chosen.structure.scalars.model, given, scheme, records=records)
        listed = in_lists(chosen.returns(window, given), chosen.structure.order, found, jnp)
        results = Results(listed, (*chosen.observables, STATUS))
    else:
        results = Results(_apart_by_damping(chosen, given, scheme, window, asked, records), (*chosen.observables, STATUS))
    return results.raise_failed() if throw else results


@without_false_alarm()
def moment(model: str, params: Mapping[str, Any], records: Records | None = None) -> Results:
    """The results of `simulate` with scheme "exact", and the forces at the time `end`: one point of a trace, with derivatives.

    Args:
        model: see `simulate`.
        params: see `simulate`.
        records: see `simulate`.

    Returns:
        Observable name -> array as `simulate` returns it, and x [m], v [m/s], friction_force [N] (on the mass) and wall_force [N], with
        the values of `tribosweep.trace` at that time. Forces may jump at events: derivatives are valid between events.

    Raises:
        KeyError: unknown model or parameter.
        ValueError: a value that is no number, a plain number out of bounds, links or friction whose phases are not linear
            (`features.VARIED` but for LINEAR), shapes that do not broadcast, or a record without `records`.

    Examples:
        >>> last = moment("rubbing_mass", {"mu": 0.1, "a0": 5.0, "end": 2.0})
        >>> round(float(abs(last.friction_force)), 9), last.units["x"]  # differentiable, as simulate is
        (1.0, 'm')
    """
    chosen = model_of(model, oscillator=True)
    given = check_given(chosen, params)
    return Results(_run(chosen, given, key_of(chosen, given, EXACT, forces=True), records), (*chosen.observables, *MOTION, STATUS))


def _apart_by_damping(
    chosen: Model, params: Mapping[str, Any], scheme: str, window: str | None, asked: Asked, records: Records | None
) -> dict[str, jax.Array]:
    """All rows of a call: through one program, but strongly damped ones through another one than the others, which it would slow down."""
    known = {name: plain(value) for name, value in params.items()}
    key = mild_key_of(chosen, known, scheme, window, asked)
    damped = strongly_damped(chosen, known) if key.rigid_loop else None
    if damped is None or not damped.any():
        return _run(chosen, params, key, records, window)
    if damped.all():
        return _run(chosen, params, key.for_strong_damping, records, window)
    parts = []
    for strong in (False, True):
        own = _some_rows(chosen, known, damped, np.flatnonzero(damped == strong))
        # the mild rows may lack what the others have: k = c = 0 has a program of its own
        parts.append(
            _run(chosen, own, key.for_strong_damping if strong else mild_key_of(chosen, own, scheme, window, asked), records, window)
        )
    shape, axes = _axes_of(chosen, known, damped)
    sizes = [shape[axis] for axis in axes]
    place = np.argsort(np.argsort(damped.reshape(-1), kind="stable"), kind="stable")
    both = {name: jnp.concatenate([part[name] for part in parts])[place] for name in parts[0]}
    return {name: jnp.moveaxis(values.reshape(*sizes, *values.shape[1:]), range(len(axes)), axes) for name, values in both.items()}


def _axes_of(chosen: Model, params: Mapping[str, Any], mask: np.ndarray) -> tuple[tuple[int, ...], list[int]]:
    """The common shape of the parameters, and its axes along which a mask that broadcasts to it has more than one entry."""
    shape = common_shape(chosen, params)
    return shape, [len(shape) - mask.ndim + axis for axis, size in enumerate(mask.shape) if size > 1]


def _some_rows(chosen: Model, params: Mapping[str, Any], mask: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
    """The parameters of some rows of a call.

    Args:
        params: numbers, arrays of numpy, and what JAX traces. mask: broadcasts to their common shape. rows: positions in it, flattened.

    Returns:
        The parameters, with one axis for the rows in place of those of the mask, and first. Other axes stay, with one entry where a
        parameter has one: what programs do not read, such as the time in service, makes no more rows to run.
    """
    shape, axes = _axes_of(chosen, params, mask)
    found = {}
    for name, value in params.items():
        xp: Any = jnp if is_traced(value) else np
        table = np.shape(value)[-1:] if name in chosen.tables else ()
        own = np.shape(value)[: np.ndim(value) - len(table)]
        sizes = [*[1] * (len(shape) - len(own)), *own]
        if any(sizes[axis] > 1 for axis in axes):
            sizes = [shape[axis] if axis in axes else size for axis, size in enumerate(sizes)]
            whole: Any = xp.moveaxis(xp.broadcast_to(value, (*sizes, *table)), axes, range(len(axes)))
            found[name] = whole.reshape(mask.size, *whole.shape[len(axes) :])[rows]
        elif own:
            found[name] = xp.reshape(value, (1, *(size for axis, size in enumerate(sizes) if axis not in axes), *table))
        else:
            found[name] = value  # one for all rows
    return found


def _run(
    chosen: Model, params: Mapping[str, Any], key: ProgramKey, records: Records | None, window: str | None = None
) -> dict[str, jax.Array]:
    """Run rows of any common shape through one program."""
    if key.scheme == EXACT and (foreign := [name for name in key.varied if name not in LINEAR]):
        raise ValueError(f"scheme {EXACT!r} has no {foreign[0]}: choose a time scheme")
    codes = {"status", *(q.name for q in chosen.observables if q.kind in ("integer", "word"))}
    if "record" in key.features or (chosen.structure is not None and "record" in params):
        check_record(params["record"], records)
    resolved = chosen.resolve({name: jnp.asarray(value, jnp.result_type(float)) for name, value in params.items()}, xp=jnp)
    gaps = [name for name in resolved if name.partition("[")[0] == "gap"]
    afterwards = {name: jnp.asarray(resolved[name]) for name in (*wear_laws.READS, *wear_laws.SCAR, *gaps) if name in resolved}
    support: dict[str, Any] = {name: resolved[name] for name in ("normal_force", "normal_amplitude") if name in resolved}
    if chosen.structure is None:
        support["unpressed"] = jnp.asarray("normal_force" not in params) & (jnp.asarray(resolved["mu_s"]) == 0.0)
        resolved["normal_force"] = normal_force_of_motion(params, resolved)
    unread = key.unread(chosen)
    excluded = refused(chosen, params, key.scheme, window)
    whole = common_shape(chosen, resolved)
    resolved = {name: jnp.asarray(value, jnp.result_type(float)) for name, value in resolved.items() if name not in unread}
    if excluded is not None:
        read = "end" if chosen.structure is not None else "m"
        (bad,) = decide(jnp.asarray(excluded) > 0)
        resolved[read] = jnp.where(bad, jnp.nan, resolved[read])  # such a row is not run

    shape = common_shape(chosen, resolved)
    flat = {
        name: jnp.broadcast_to(value, (*shape, value.shape[-1])).reshape(math.prod(shape), value.shape[-1])
        if name in chosen.tables
        else jnp.broadcast_to(value, shape).reshape(-1)
        for name, value in resolved.items()
    }
    shared = shared_arguments(chosen, records if "record" in params else None)
    if "interval" in shared and "largest_step" in resolved and "largest_step" not in params:
        flat["largest_step"] = jnp.minimum(flat["largest_step"], shared["interval"])
    returned = chosen.returns(window, {*params, *key.asked.names})
    silent = {q.name for q in chosen.observables} - {q.name for q in returned}  # programs may compute more than was asked for
    traced = any(isinstance(value, jax.core.Tracer) for value in (*flat.values(), *shared.values()))
    run = _run_all if traced else _values_of_all
    results = {name: values for name, values in run(key, flat, shared).items() if name not in silent}
    shaped = {name: values.reshape(*shape, *values.shape[1:]) for name, values in results.items()}
    shaped |= without_support(chosen, support, shaped, jnp)
    shaped |= {q.name: jnp.zeros(shape) for q in returned if q.name in LINK_COLUMNS and q.name not in shaped}  # no link, no force
    # rows that differ only in what programs do not read, such as the time in service, are run once
    shaped = {name: jnp.broadcast_to(values, (*whole, *values.shape[len(shape) :])) for name, values in shaped.items()}
    if excluded is not None:
        unknown = jnp.where(bad, jnp.nan, 1.0)  # also the derivatives of such a row
        lists = {q.name for q in chosen.observables if q.kind == "list"}
        masks = {name: unknown[..., None] if name in lists else unknown for name in shaped if name not in codes}
        shaped |= {name: shaped[name] * mask for name, mask in masks.items()}
        shaped["status"] = jnp.where(bad, excluded, shaped["status"])
    shaped |= wear_laws.of_all(afterwards, shaped, params, jnp)
    return {name: as_codes(values, jnp.int32, jnp) if name in codes else values for name, values in shaped.items()}


def _every_row(key: ProgramKey, rows: dict[str, jax.Array], shared: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Every row through its program, with the arguments that all of them share."""
    found: dict[str, jax.Array] = jax.vmap(lambda row: _run_one(key, (), {**row, **shared}))(rows)
    return found


_run_all = jax.jit(_every_row, static_argnums=0)  # within what JAX traces, which may differentiate it
_values_of_all = jax.jit(_every_row, static_argnums=0, compiler_options=dict(jax_setup.FOR_VALUES))


def _observed(key: ProgramKey, nested: bool, p: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Observables and status of one oscillator, all as floats; NaN where it failed."""
    results, status = finish(*program(key, nested)(p), jnp)
    return {**results, "status": status.astype(jnp.result_type(float))}


def _with_jacobian(
    function: Callable[[dict[str, jax.Array]], Any], p: dict[str, jax.Array], names: tuple[str, ...], one_by_one: bool = False
) -> tuple[Any, Any]:
    """A function's value, and its forward Jacobian by the parameters `names`, whose axis comes first.

    `one_by_one`: take the derivatives in a loop, so that the program has one copy of the function's derivative and compiles sooner.
    """
    flat, unravel = ravel_pytree({name: p[name] for name in names})

    def along(direction: jax.Array) -> Any:
        return jax.jvp(lambda chosen: function({**p, **chosen}), ({name: p[name] for name in names},), (unravel(direction),))

    if one_by_one:
        values, rates = jax.lax.map(along, jnp.eye(flat.size))
        return jax.tree.map(lambda each: each[0], values), rates
    found: tuple[Any, Any] = jax.vmap(along, out_axes=(None, 0))(jnp.eye(flat.size))
    return found


def _batch_first(tree: Any, p: dict[str, jax.Array]) -> Any:
    """The same arrays, each with one entry for every row that `p` has one for; under vmap their mapped axis comes first.

    JAX needs both to be the same for a function and for the derivative that it is given, here results of different programs.
    """
    return jax.tree.map(lambda x: jax.lax.reshape(jax.lax.reshape(x, (1, *x.shape)), x.shape), for_every_lane(tree, p))


def _nested(key: ProgramKey, orders: Orders, p: dict[str, jax.Array]) -> Any:
    """`_run_one` by forward derivatives of forward derivatives."""
    if not orders:
        return _observed(key, True, p)
    return _with_jacobian(functools.partial(_nested, key, orders[:-1]), p, orders[-1], one_by_one=True)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _run_one(key: ProgramKey, orders: Orders, p: dict[str, jax.Array]) -> Any:
    """Observables of one oscillator and their derivatives, with a derivative for both modes.

    Loops transpose badly, but a Jacobian by forward derivatives is linear in the tangents. So the derivative of order n is the one of order
    n + 1, by the parameters that vary, times their tangents.

    Args:
        orders: for each order of derivative, the parameters that it is taken by; () for the observables alone.
        p: resolved parameters (scalars, tables (n,)).

    Returns:
        The observables R0; with one order (R0, its Jacobian) = R1; with two (R1, its Jacobian); and so on.
    """
    if not orders:
        return _batch_first(_observed(key, False, p), p)
    if len(orders) == 1:
        return _batch_first(_with_jacobian(functools.partial(_observed, key, False), p, orders[0]), p)
    return _batch_first(_nested(key, orders, p), p)


def _run_one_jvp(key: ProgramKey, orders: Orders, primals: Any, tangents: Any) -> Any:
    """The derivative of one order more, times the tangents."""
    (p,), (rates,) = primals, tangents
    varying = {name: rate for name, rate in rates.items() if not isinstance(rate, jax.custom_derivatives.SymbolicZero)}
    values, jacobian = _run_one(key, (*orders, tuple(varying)), p)
    flat, _ = ravel_pytree(varying)
    return values, jax.tree.map(lambda rows: sum(rows[i] * flat[i] for i in range(flat.size)), jacobian)


_run_one.defjvp(_run_one_jvp, symbolic_zeros=True)
