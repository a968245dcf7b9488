"""One structure with supports in time: its motion and forces (`trace`), and its impacts one by one (`impacts`)."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.batch.program_key import key_of
from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.batch.solve import shared_arguments
from tribosweep.kernels.contact.impact_sliding import size
from tribosweep.kernels.excitation.record import Records, check_record
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.arguments import check_given
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import SENTENCES, Status
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.models.supports import named
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.runtime.stderr_filter import without_false_alarm
from tribosweep.kernels.stepping import structure_loop
from tribosweep.kernels.stepping.loop import CHUNK, STEPPERS
from tribosweep.kernels.stepping.structure_run import StructureRun, StructureSetup, active

MOST_ROWS = 20_000_000  # of a trace
_HELD = "held"  # 1 during an impact, else 0; not part of a trace
IMPACT_COLUMNS = (
    Quantity("support", "", "name of the support"),
    Quantity("time", "s", "time at which the point enters the support"),
    Quantity("duration", "s", "time until it leaves, or until the run ends"),
    Quantity("velocity", "m/s", "penetration rate at the first step inside"),
    Quantity("exit_velocity", "m/s", "penetration rate at the last step inside"),
    Quantity("peak_force", "N", "largest normal force"),
    Quantity("impulse", "N s", "integral of the normal force"),
    Quantity("wear_energy", "J", "integral of the normal force times the sliding speed while the contact slips"),
)


@without_false_alarm()
def trace(
    model: Model,
    params: Mapping[str, Any],
    scheme: str = "devogelaere",
    rows: int = 2000,
    records: Records | None = None,
    within: tuple[float, float] = (0.0, math.inf),
) -> dict[str, np.ndarray]:
    """Motion and forces of one structure over its run.

    Args:
        model: of a structure (`tribosweep.kernels.models.structures.Structure.model`). params: see `tribosweep.simulate`; single numbers.
        scheme: a time scheme. rows: about how many instants are returned, evenly among the steps; 0 for every step.
        records: what the parameter `record` numbers.
        within: the times [s] from which and up to which instants are returned; the first is at or before the one, the last at or after
            the other.

    Returns:
        time [s], (n,); q, v, modal coordinates [m] and their rates [m/s], (n, N); of every observed point x[NAME], x_rate[NAME] and
        so on; of every support penetration[NAME], normal_force[NAME], tangential_force[NAME] (its size), place_1[NAME], place_2[NAME]
        (along its axes, from the clearance's centre), sliding_speed[NAME], and slips[NAME] (1 or 0). All are the values at the ends of
        steps.

    Raises:
        KeyError, TypeError: see `tribosweep.simulate`. ValueError: the same, more than one structure, or a run that fails.
    """
    key, own, shared = _resolve(model, params, scheme, records)
    return _shown(_history(key, scheme, own | shared, _Wanted(rows, *within)))


def _shown(history: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a trace has of a history."""
    return {name: values for name, values in history.items() if name.partition("[")[0] != _HELD}


@without_false_alarm()
def traces(
    model: Model,
    params: Sequence[Mapping[str, Any]],
    scheme: str = "devogelaere",
    rows: int = 2000,
    records: Records | None = None,
    within: Sequence[tuple[float, float]] = (),
) -> list[dict[str, np.ndarray] | None]:
    """The traces of several structures of one model, at fixed steps those of equally many steps side by side.

    The arguments are those of `trace`, with parameters and, if given, times `within` of each. None stands for a run that fails; the errors
    are those of `trace`. Coordinates (`q`, `v`) are left out.
    """
    wanted = [_Wanted(rows, *limits, coordinates=False) for limits in (within or [(0.0, math.inf)] * len(params))]
    found: list[dict[str, np.ndarray] | None] = [None] * len(params)
    together: dict[Any, list[tuple[int, dict[str, Any], dict[str, Any]]]] = {}
    for place, (given, wish) in enumerate(zip(params, wanted, strict=True)):
        key, own, shared = _resolve(model, given, scheme, records)
        if STEPPERS[scheme].control is None:
            skipped, counts = _counts(own, wish)
            together.setdefault((key, skipped, counts.tobytes()), []).append((place, own, shared))
            continue
        with contextlib.suppress(ValueError):
            found[place] = _shown(_history(key, scheme, own | shared, wish))
    for (key, _, _), each in together.items():
        skipped, counts = _counts(each[0][1], wanted[each[0][0]])
        own = {name: jnp.stack([one[name] for _, one, _ in each]) for name in each[0][1]}
        seen = {name: np.asarray(value) for name, value in _several(key, scheme, False, skipped, counts, own, each[0][2]).items()}
        for number, (place, _, _) in enumerate(each):
            one = _shown({name: values[number] for name, values in seen.items()})
            found[place] = one if all(np.isfinite(values).all() for values in one.values()) else None
    return found


@without_false_alarm()
def impacts(model: Model, params: Mapping[str, Any], scheme: str = "devogelaere", records: Records | None = None) -> dict[str, np.ndarray]:
    """The impacts of one structure in the order of time: the columns of IMPACT_COLUMNS, (n,) each. The arguments are those of `trace`.

    They are those of the whole run that `simulate` counts in a window. An impact lasts from the entry of the point into the support to its
    exit; both are interpolated within their steps.
    """
    key, own, shared = _resolve(model, params, scheme, records)
    history = _history(key, scheme, own | shared, _Wanted(0, coordinates=False))
    time, found = history["time"], []
    for support in model.structure.supports:
        of = functools.partial(named, of=support.name)
        depth, normal = history[of("penetration")], history[of("normal_force")]
        rate, speed = history[of("penetration_rate")], history[of("sliding_speed")] * history[of("slips")]
        entered = (depth > 0.0) & np.concatenate([[True], depth[:-1] <= 0.0])
        held = np.concatenate([[False], history[of(_HELD)] > 0.5, [False]])
        for begin, end in zip(_where(held[1:] & ~held[:-1]), _where(~held[1:] & held[:-1]), strict=True):
            if not begin and not rate[0] > 0.0:  # it starts inside, at rest or on its way out
                continue
            first = _where(entered[: begin + 1])[-1]
            last = first + _where(depth[first:end] > 0.0)[-1] + 1
            # rows first and last - 1 are inside, and those before and behind them outside
            begins = _crossing(time, depth, first - 1) if first else time[0]
            ends = _crossing(time, depth, last - 1) if last < len(time) else time[-1]
            around = slice(max(first - 1, 0), min(last + 1, len(time)))
            pushes, works = np.maximum(normal[around], 0.0), (normal * speed)[around]
            found.append(
                (
                    support.name,
                    begins,
                    ends - begins,
                    rate[first],
                    rate[last - 1],
                    normal[first:last].max(),
                    np.trapezoid(pushes, time[around]),
                    np.trapezoid(works, time[around]),
                )
            )
    found.sort(key=lambda row: cast("float", row[1]))
    return {quantity.name: np.array([row[place] for row in found]) for place, quantity in enumerate(IMPACT_COLUMNS)}


class _Wanted(NamedTuple):
    """Which instants of a run are wanted: about `rows` of them (0: all) from `start` to `stop` [s], with the coordinates or without."""

    rows: int
    start: float = 0.0
    stop: float = math.inf
    coordinates: bool = True


def _counts(p: Mapping[str, Any], wanted: _Wanted) -> tuple[int, np.ndarray]:
    """The number of fixed steps before the first instant that is wanted, and between each and the next, (rows,)."""
    end = float(p["end"])
    whole = math.ceil(end / float(p["step"]) * (1.0 - 1e-12))
    length = end / whole
    first = min(whole, max(0, math.floor(wanted.start / length * (1.0 + 1e-12))))
    last = max(first, math.ceil(min(wanted.stop, end) / length * (1.0 - 1e-12)))
    rows = min(wanted.rows or last - first, last - first)
    if rows > MOST_ROWS:
        raise ValueError(f"a trace of {rows:,} rows: ask for at most {MOST_ROWS:,}")
    return first, np.diff(np.round(np.linspace(first, last, rows + 1)).astype(np.int64))


def _history(key: StructureKey, scheme: str, p: dict[str, Any], wanted: _Wanted) -> dict[str, np.ndarray]:
    """The trace of one run; ValueError if it fails."""
    if STEPPERS[scheme].control is None:
        skipped, counts = _counts(p, wanted)
        found = {name: np.asarray(value) for name, value in _fixed(key, scheme, wanted.coordinates, skipped, counts, p).items()}
    else:
        found = _chosen(key, scheme, p, wanted)
        count = len(found["time"])
        if wanted.rows and count > wanted.rows + 1:
            keep = np.round(np.linspace(0, count - 1, wanted.rows + 1)).astype(np.int64)
            found = {name: values[keep] for name, values in found.items()}
    if not all(np.isfinite(values).all() for values in found.values()):
        raise ValueError(f"the run failed: {Status.OVERFLOW.sentence}")
    return found


def _where(mask: np.ndarray) -> list[int]:
    """The places that are true."""
    return [int(place) for place in np.flatnonzero(mask)]


def _crossing(time: np.ndarray, depth: np.ndarray, before: int) -> float:
    """Time at which the penetration is 0 between a row and the next."""
    low, high = depth[before], depth[before + 1]
    return float(time[before] + (time[before + 1] - time[before]) * (low / (low - high) if low != high else 0.0))


def _resolve(
    model: Model, params: Mapping[str, Any], scheme: str, records: Records | None
) -> tuple[StructureKey, dict[str, Any], dict[str, Any]]:
    """The key of one run, which is checked, its own arguments, and those that all runs of the structure share."""
    if model.structure is None:
        raise ValueError(f"{model.name} is no structure with supports: see tribosweep.trace")
    if scheme not in model.schemes:
        raise KeyError(f"{model.name} has no scheme {scheme!r}; it has {', '.join(model.schemes)}")
    params = check_given(model, params, one=True)
    if "record" in params:
        check_record(params["record"], records)
    key = key_of(model, params, scheme)
    refused(model, params, scheme, one=True)
    shared = shared_arguments(model, records if "record" in params else None)
    resolved = model.resolve({name: np.asarray(value, np.float64) for name, value in params.items()})
    if "interval" in shared and "largest_step" not in params:
        resolved["largest_step"] = np.minimum(resolved["largest_step"], shared["interval"])
    unread = key.unread(model)
    p = {name: jnp.asarray(value, float) for name, value in resolved.items() if name not in unread}
    return cast("StructureKey", key.structure), p, {name: jnp.asarray(value) for name, value in shared.items()}


def _seen(setup: StructureSetup, run: StructureRun, coordinates: bool) -> dict[str, Array]:
    """What a trace has of a run after a step."""
    state, body, key = run.state, setup.body, setup.key
    time = run.time(setup)
    found = {"time": time, "q": state.x, "v": state.v} if coordinates else {"time": time}
    places, rates = setup.p["points"] @ state.x, setup.p["points"] @ state.v
    for row, (point, axis) in enumerate(key.points):
        found |= {named(axis, point): places[row], named(f"{axis}_rate", point): rates[row]}
    for kinds, group, touch, sums in zip(key.groups, body.groups, cast("Any", state.memory), run.sums.contacts, strict=True):
        centred = [along - centre for along, centre in zip(touch.place, group.centre, strict=True)]
        for place, kind in enumerate(kinds):
            parts = {
                "penetration": touch.depth[place],
                "penetration_rate": touch.rate[place],
                "normal_force": touch.normal[place],
                "tangential_force": size(touch.tangential, touch.normal)[place],
                "sliding_speed": touch.speed[place],
                "slips": touch.slips[place],
                _HELD: jnp.where(sums.visit.held, 1.0, 0.0)[place],
            }
            parts |= {f"place_{axis + 1}": centred[axis][place] for axis in range(min(kind.axes, 2))}
            found |= {named(name, kind.name): value for name, value in parts.items()}
    return found


def _at_fixed_steps(
    key: StructureKey, scheme: str, coordinates: bool, skipped: Array, counts: Array, p: dict[str, Any]
) -> dict[str, Array]:
    """The trace at fixed steps: after `skipped` of them, then after each of the `counts` (rows,) more."""
    stepper = STEPPERS[scheme]
    setup = structure_loop.prepare(stepper, p, key)

    def further(run: StructureRun, count: Array) -> StructureRun:
        step = lambda _, now: structure_loop.attempt(stepper, setup, now)  # noqa: E731
        return cast("StructureRun", jax.lax.fori_loop(0, count, step, run))

    def one(run: StructureRun, count: Array) -> tuple[StructureRun, dict[str, Array]]:
        run = further(run, count)
        return run, _seen(setup, run, coordinates)

    run = further(structure_loop.begin(stepper, setup), skipped)
    found = jax.lax.scan(one, run, counts)[1]
    return {name: jnp.concatenate([first[None], found[name]]) for name, first in _seen(setup, run, coordinates).items()}


_fixed = jax.jit(_at_fixed_steps, static_argnums=(0, 1, 2))


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _several(
    key: StructureKey, scheme: str, coordinates: bool, skipped: Array, counts: Array, own: dict[str, Any], shared: dict[str, Any]
) -> dict[str, Array]:
    """Traces at fixed steps of several runs, whose `own` parameters have one axis more, the first."""

    def one(p: dict[str, Any]) -> dict[str, Array]:
        return _at_fixed_steps(key, scheme, coordinates, skipped, counts, p | shared)

    return jax.vmap(one)(own)


def _chosen(key: StructureKey, scheme: str, p: dict[str, Any], wanted: _Wanted) -> dict[str, np.ndarray]:
    """The trace at chosen steps: the start, then after every accepted step, as far as it is wanted."""
    state, first = _begin(key, scheme, wanted.coordinates, p)
    parts = [{name: np.asarray(value)[None] for name, value in first.items()}]
    rows, accepted = 1, 0.0
    while True:
        state, found, counts, active, failure = _attempts(key, scheme, wanted.coordinates, p, state)
        counts = np.asarray(counts)
        taken = np.diff(counts, prepend=accepted) > 0.0
        accepted = float(counts[-1])
        part = {name: np.asarray(value)[taken] for name, value in found.items()}
        if len(part["time"]):
            if part["time"][-1] < wanted.start:  # only the last instant may be the first that is wanted
                parts, rows = [{name: values[-1:] for name, values in part.items()}], 1
            else:
                parts.append(part)
                rows += len(part["time"])
        if float(failure):
            raise ValueError(f"the run failed: {SENTENCES[int(failure)]}")
        if not bool(active) or (len(part["time"]) and part["time"][-1] > wanted.stop):
            break
        if rows > MOST_ROWS:
            raise ValueError(f"a trace of more than {MOST_ROWS:,} steps")
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    low = max(0, int(np.searchsorted(found["time"], wanted.start, side="right")) - 1)
    high = int(np.searchsorted(found["time"], wanted.stop)) + 1
    return {name: values[low:high] for name, values in found.items()}


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _begin(key: StructureKey, scheme: str, coordinates: bool, p: dict[str, Any]) -> tuple[StructureRun, dict[str, Array]]:
    """The run at t = 0 and what a trace has of it."""
    stepper = STEPPERS[scheme]
    setup = structure_loop.prepare(stepper, p, key)
    run = structure_loop.begin(stepper, setup)
    return run, _seen(setup, run, coordinates)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _attempts(key: StructureKey, scheme: str, coordinates: bool, p: dict[str, Any], run: StructureRun) -> Any:
    """The run after CHUNK attempts, what a trace has after each, numbers of accepted steps, whether it goes on, and its failure."""
    stepper = STEPPERS[scheme]
    setup = structure_loop.prepare(stepper, p, key)

    def one(run: StructureRun, _: None) -> Any:
        run = structure_loop.attempt(stepper, setup, run)
        return run, (_seen(setup, run, coordinates), cast("Any", run.clock).accepted)

    run, (found, counts) = jax.lax.scan(one, run, None, length=CHUNK)
    return run, found, counts, active(setup, run), cast("Any", run.clock).failure
