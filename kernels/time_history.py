"""Time history of one run of the exact engine: its events, its impacts, and its motion and forces in time."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tribosweep.kernels.batch.program_key import groups
from tribosweep.kernels.batch.programs import contacts_of
from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.contact.wall import OFF, Pressed, Wall
from tribosweep.kernels.exact import event_loop, oscillator
from tribosweep.kernels.exact.forces import Moment, between
from tribosweep.kernels.excitation.record import Records, check_record
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.arguments import check_given, model_of
from tribosweep.kernels.models.contacts import Kind
from tribosweep.kernels.models.features import FEATURES, LINEAR, VARIED, varied
from tribosweep.kernels.models.observables import MOTION
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.observables.impacts import Shock
from tribosweep.kernels.results import Results
from tribosweep.kernels.runtime.stderr_filter import without_false_alarm
from tribosweep.kernels.segments.damped import highest

CHUNK = 256
PER_CALL = 512  # instants of a trace that one call computes
PARTS = 8  # a stretch between two events that is shorter than 4 steps of a trace is divided into these
NODES, WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(16)[0] + 1.0)), 0.5 * np.polynomial.legendre.leggauss(16)[1]
STAGES = ("window start", "window end", "end")

EVENT_COLUMNS = (
    Quantity("time", "s", "time of the event"),
    Quantity("event", "", "what happened", kind="word", words=("...",)),
    Quantity("x", "m", "displacement"),
    Quantity("v", "m/s", "velocity after the event"),
    Quantity("a", "m/s^2", "acceleration after the event"),
    Quantity("friction_force", "N", "friction on the mass after the event"),
    Quantity("wall_force", "N", "force of the wall after the event"),
    Quantity("compression", "m", "compression of the wall that is or was touched last; of two walls the larger"),
    Quantity("plastic_set", "m", "plastic set of the wall; of two walls the sum"),
    Quantity("kinetic_energy", "J", "kinetic energy"),
    Quantity("spring_energy", "J", "energy of the spring k"),
    Quantity("wall_energy", "J", "elastic energy of the wall"),
    Quantity("input_work", "J", "work of excitation and load since the start"),
    Quantity("viscous_work", "J", "work against the damper c since the start"),
    Quantity("friction_work", "J", "work against friction since the start"),
    Quantity("wall_work", "J", "work against the wall since the start: elastic, plastic and viscous"),
)
WORKS = ("input_work", "viscous_work", "friction_work", "wall_work")

IMPACT_COLUMNS = (
    Quantity("time", "s", "when the mass came into the wall"),
    Quantity("approach_velocity", "m/s", "velocity when the mass came into the wall"),
    Quantity("peak_force", "N", "largest force of the wall"),
    Quantity("impulse", "N s", "integral of the force of the wall"),
    Quantity("duration", "s", "time until the mass left the wall; NaN where the run ends before"),
)

TRACE_COLUMNS = (Quantity("time", "s", "time"), *MOTION)


def event_log(model: str | Model, params: Mapping[str, Any], most: int = event_loop.MOST_EVENTS, records: Records | None = None) -> Results:
    """The events of one oscillator in order of time, with the start as the first.

    Args:
        model: name of a model (`tribosweep.MODELS`).
        params: parameter name -> number (a table: its numbers), SI units; omitted names take their documented default.
        most: number of events after which the log may end (checked every CHUNK events); it also ends where time no longer advances.
        records: what the parameter `record` numbers.

    Returns:
        The columns of EVENT_COLUMNS, (n,) each, SI units; `event` are words. Forces and compression are 0 without such a
        contact. Of two bodies, x and v are those of the first minus the second.

    Raises:
        KeyError: unknown model or parameter. ValueError: a value that is not a single number, a number out of bounds, numbers that break
            a rule of the model, links or friction whose phases are not linear (`features.VARIED` but for LINEAR), or a record without
            `records`.

    Examples:
        >>> log = event_log("rubbing_mass", {"a0": 1.5, "end": 2.0})
        >>> list(log["event"][:3]), log.units["time"]
        (['start', 'window start', 'release'], 's')
        >>> pandas.DataFrame(log)
    """
    columns = _follow(model, params, most, records)
    return Results({quantity.name: columns[quantity.name] for quantity in EVENT_COLUMNS}, EVENT_COLUMNS)


def impacts(model: str | Model, params: Mapping[str, Any], most: int = event_loop.MOST_EVENTS, records: Records | None = None) -> Results:
    """The impacts of one oscillator on its walls in order of time: those of the whole run, counted as `simulate` counts them in a window.

    Args:
        model: see `event_log`, also for the errors.
        params: see `event_log`.
        most: see `event_log`.
        records: see `event_log`.

    Returns:
        The columns of IMPACT_COLUMNS, (n,) each: time [s], approach_velocity [m/s], peak_force [N], impulse [N s], duration [s].

    Examples:
        >>> hits = impacts("stop", {"gap": 0.01, "sides": 2, "k_n": 1e6, "a0": 5.0, "end": 3.0, "window_start": 0.0})
        >>> bool(hits.peak_force.max() > 0.0), hits.units["impulse"]
        (True, 'N s')
    """
    columns = _follow(model, params, most, records, whole=True)
    rows = []
    for n in range(len(model_of(model).walls)):
        for start, end, over in _visits(*(columns[f"{name} {n}"] for name in ("impacts", "held", "entered", "outside"))):
            inside = slice(start, end + 1)
            peak = max(columns["wall_force"][start], *columns["largest_force"][inside][1:], 0.0)
            impulse = columns["impulse"][end] - columns["impulse"][start]
            duration = columns["time"][end] - columns["time"][start] if over else np.nan
            rows.append((columns["time"][start], columns["approach"][start], peak, impulse, duration))
    rows.sort(key=lambda row: float(row[0]))
    return Results({quantity.name: np.array([row[i] for row in rows]) for i, quantity in enumerate(IMPACT_COLUMNS)}, IMPACT_COLUMNS)


def _visits(impacts: np.ndarray, held: np.ndarray, entered: np.ndarray, outside: np.ndarray) -> list[tuple[int, int, bool]]:
    """Events at which each impact of a wall begins and ends, and whether it ends in the run. Arguments: columns of the wall by event."""
    found = []
    for hit in np.flatnonzero(np.diff(impacts, prepend=0.0) > 0.0):
        entries = np.flatnonzero(entered[: hit + 1])
        released = hit + 1 + np.flatnonzero(held[hit + 1 :] != held[hit])
        over = released.size > 0
        last = int(released[0]) if over else len(held) - 1
        exits = np.flatnonzero(outside[: last + 1])
        found.append((int(entries[-1]) if entries.size else 0, int(exits[-1]) if over else last, over))
    return found


@without_false_alarm()
def trace(
    model: str | Model,
    params: Mapping[str, Any],
    start: float = 0.0,
    samples: int = 600,
    most: int = event_loop.MOST_EVENTS,
    records: Records | None = None,
    at: ArrayLike | None = None,
) -> Results:
    """One oscillator in time: at equal steps, just before and just after every event, and more closely between events that are close.

    The motion at each instant follows in closed form from the event before it.

    Args:
        model: see `event_log`, also for the errors.
        params: see `event_log`.
        records: see `event_log`.
        start: time at which the trace begins [s], before the end of the run.
        samples: number of instants at equal steps, the first and the last included.
        most: number of events after which the trace may end (checked every CHUNK events).
        at: (n,) times [s] of the run, in any order, instead of `start` and `samples`: the trace is at these times alone, in their order,
            and just after an event that happens at one of them. For data that were sampled at times of their own.

    Returns:
        time [s], x [m], v [m/s], friction_force and wall_force [N], (n,) each. n is the length of `at`; without it n >= samples,
        ascending in time. Forces are 0 without such a contact. Of two bodies, x and v are those of the first minus the second.

    Raises:
        ValueError: a time of `at` is not a number of the run, or as for `event_log`.

    Examples:
        >>> motion = trace("rubbing_mass", {"a0": 1.5, "end": 2.0})
        >>> pandas.DataFrame(motion).plot("time", "x")
        >>> trace("rubbing_mass", {"a0": 1.5, "end": 2.0}, at=[0.3, 1.7]).x.shape
        (2,)
    """
    kind, resolved = _resolve(model, params, records)
    states = _states(kind, resolved, most)
    begins: np.ndarray = states.t
    if at is None:
        times, since = _instants(begins, start, samples)
    else:
        times = _times_within(at, float(begins[-1]))
        since = np.searchsorted(begins, times, side="right") - 1
    found = _sampled(kind, resolved, states, times, since)
    columns = [found[name] for name in ("x", "v", "friction", "wall")]
    return Results(zip((quantity.name for quantity in TRACE_COLUMNS), (times, *columns), strict=True), TRACE_COLUMNS)


@without_false_alarm()
def total_acceleration(model: str | Model, params: Mapping[str, Any], at: ArrayLike, records: Records | None = None) -> np.ndarray:
    """The acceleration of one oscillator at given times, with that of its base: what an oscillator that stands on it feels.

    Args:
        model, params, records: see `event_log`, also for the errors. at: (n,) times [s] of the run.

    Returns:
        (n,) the forces of spring, damper, contacts, f0 and load over the mass [m/s^2].

    Raises:
        ValueError: two bodies, a time that is not of the run, or as for `event_log`.

    Examples:
        >>> total_acceleration("stop", {"k": 400.0, "c": 1.0, "gap": 0.1, "k_n": 1e5, "a0": 3.0, "end": 2.0}, [0.5, 1.0]).shape
        (2,)
    """
    kind, resolved = _resolve(model, params, records)
    if "m_2" in resolved and np.isfinite(resolved["m_2"]):
        raise ValueError("m_2: the motion of two bodies is that of one relative to the other; a total acceleration is of one body")
    states = _states(kind, resolved, event_loop.MOST_EVENTS)
    times = _times_within(at, float(states.t[-1]))
    now = _sampled(kind, resolved, states, times, np.searchsorted(states.t, times, side="right") - 1)
    p = {name: float(resolved[name]) for name in ("m", "k", "c", "load")}
    f0, omega, phase = (float(resolved.get(name, 0.0)) for name in ("f0", "omega", "phase"))
    pushed = f0 * np.sin(omega * times + phase) + p["load"]
    return np.asarray((pushed + now["friction"] - now["reaction"] - p["c"] * now["v"] - p["k"] * now["x"]) / p["m"])


def _states(kind: Kind, resolved: dict[str, np.ndarray], most: int) -> Any:
    """The states after all events of a run, along the first axis."""
    state = _start(kind, resolved)
    parts = [jax.tree.map(lambda value: np.asarray(value)[None], state)]
    while float(state.stage) < len(STAGES) and int(state.events) < most:
        state, part = _walk(kind, resolved, state)
        parts.append(jax.tree.map(np.asarray, part))
    return jax.tree.map(lambda *values: np.concatenate(values), *parts)


def _sampled(kind: Kind, resolved: dict[str, np.ndarray], states: Any, times: np.ndarray, since: np.ndarray) -> dict[str, np.ndarray]:
    """Motion and forces (`Moment`) by name, (n,), at `times` [s], each from the state at the place `since`."""
    room = -len(times) % PER_CALL
    padded = np.concatenate([since, np.zeros(room, int)]), np.concatenate([times, np.zeros(room)])
    found = []
    for place in range(0, len(times), PER_CALL):
        which, when = (values[place : place + PER_CALL] for values in padded)
        chosen = jax.tree.map(lambda values, which=which: values[which], states)
        found.append(jax.tree.map(np.asarray, _moments(kind, resolved, chosen, when)))
    return {name: np.concatenate([np.empty(0), *(getattr(m, name) for m in found)])[: len(times)] for name in Moment._fields}


def _times_within(at: ArrayLike, end: float) -> np.ndarray:
    """The times asked for, (n,) float64; ValueError if one is not in the run, which ends at `end` [s]."""
    times = np.array(at, dtype=np.float64)
    if times.ndim != 1:
        raise ValueError(f"at: must be a list of times [s], not an array of {times.ndim} dimensions")
    wrong = np.flatnonzero(~((times >= 0.0) & (times <= end)))
    if wrong.size:
        raise ValueError(f"at: entry {wrong[0]} is {times[wrong[0]]:g} s: must be >= 0 and <= {end:.9g} s, the end of the run")
    return times


def _instants(begins: np.ndarray, start: float, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Instants [s] at equal steps, around events and between close events, and the position of the state that each follows from.

    Args:
        begins: (e,) times of the states [s]. start, samples: see `trace`.
    """
    evenly = np.linspace(min(start, begins[-1]), begins[-1], samples)
    after = 1 + np.flatnonzero((np.diff(begins) > 0.0) & (begins[1:] > evenly[0]))  # events at one instant are one here
    knots = np.concatenate([evenly[:1], begins[after]])
    short = np.diff(knots) < 4.0 * (evenly[1] - evenly[0]) if samples > 1 else np.zeros(len(after), dtype=bool)
    within = np.arange(1, PARTS)[:, np.newaxis] / PARTS
    evenly = np.concatenate([evenly, (knots[:-1][short] + within * np.diff(knots)[short]).ravel()])
    at = np.concatenate([begins[after], begins[after], evenly])
    # each instant is computed from an earlier state: just before an event the preceding one, just after it the last one at that instant
    since = np.concatenate([after - 1, *(np.searchsorted(begins, times, side="right") - 1 for times in (begins[after], evenly))])
    order = np.lexsort((since, at))
    return at[order], since[order]


def _resolve(model: str | Model, params: Mapping[str, Any], records: Records | None) -> tuple[Kind, dict[str, np.ndarray]]:
    """The contacts of one oscillator, and its resolved parameters without those of excitations that it does not have."""
    chosen = model_of(model, oscillator=True)
    params = check_given(chosen, params, one=True)
    if has := [name for name, rows in varied(params).items() if np.any(rows) and name not in LINEAR]:
        raise ValueError(f"events and traces are those of scheme {EXACT!r}, which has no {has[0]}")
    if "record" in params:
        check_record(params["record"], records)
    refused(chosen, params, EXACT, one=True)
    resolved = {name: np.asarray(value, dtype=np.float64) for name, value in chosen.resolve(dict(params)).items()}
    if "record" in params:
        resolved |= {} if records is None else records.arguments()
    (key,) = groups(chosen, EXACT, None, resolved, np.zeros(1, dtype=int))
    unread = {name for feature, names in FEATURES.items() if feature not in key.features for name in names}
    unread |= {name for law, names in VARIED.items() if law not in key.varied for name in names}
    return contacts_of(key), {name: value for name, value in resolved.items() if name not in unread}


@without_false_alarm()
def _follow(
    model: str | Model, params: Mapping[str, Any], most: int, records: Records | None, whole: bool = False
) -> dict[str, np.ndarray]:
    """All columns of all events, among them those that only `impacts` reads. `whole`: whether the window is the whole run."""
    kind, resolved = _resolve(model, params, records)
    if whole:
        resolved |= {"window_start": np.zeros_like(resolved["end"]), "window_end": resolved["end"]}
    state = _start(kind, resolved)
    parts = [jax.tree.map(lambda value: np.asarray(value)[None], _seen(kind, resolved, state))]
    while float(state.stage) < len(STAGES) and int(state.events) < most:
        before = float(state.stage), float(state.t)
        state, part = _chunk(kind, resolved, state)
        parts.append(jax.tree.map(np.asarray, part))
        if (float(state.stage), float(state.t)) == before:  # CHUNK events at one instant: rounding keeps the run where it is
            break
    columns: dict[str, np.ndarray] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    made, _ = _machine(kind, resolved)
    names = np.array([*made.law.kinds, *reversed(STAGES)], dtype=object)
    columns["event"] = names[columns.pop("kind").astype(int)]
    columns["event"][0] = "start"
    columns |= {name: np.cumsum(columns[name]) for name in WORKS}
    keep = columns.pop("live") & (columns["event"] != "")
    keep[0] = True
    # the largest force over evaluations that are left out belongs to the next event
    pieces = np.cumsum(keep[::-1])[::-1]
    largest = np.zeros(pieces[0] + 1)
    np.maximum.at(largest, pieces, columns["largest_force"])
    columns["largest_force"] = largest[pieces]
    return {name: values[keep] for name, values in columns.items()}


def _machine(kind: Kind, p: dict[str, Any]) -> tuple[oscillator.EventSetup, Any]:
    made = oscillator.setup({name: jnp.asarray(value) for name, value in p.items()}, kind)
    return made, event_loop.machine(made.law, made.excitation, made.p, made.observe, made.sums, made.finite, log=True)


@functools.partial(jax.jit, static_argnums=0)
def _start(kind: Kind, p: dict[str, Any]) -> Any:
    return _machine(kind, p)[1].start


@functools.partial(jax.jit, static_argnums=0)
def _seen(kind: Kind, p: dict[str, Any], s: Any) -> dict[str, jax.Array]:
    return _columns(_machine(kind, p)[0], s, s)


@functools.partial(jax.jit, static_argnums=0)
def _chunk(kind: Kind, p: dict[str, Any], s: Any) -> tuple[Any, dict[str, jax.Array]]:
    """CHUNK events further: the last state, and the columns of each event. Events after the end of the run are not live."""
    made, machine = _machine(kind, p)

    def one(s: Any, _: None) -> tuple[Any, dict[str, jax.Array]]:
        live = (s.stage < len(STAGES)) & (s.events < event_loop.MOST_EVENTS)
        after = jax.lax.cond(live, machine.next_event, lambda s: s, s)
        works = _works(made, s, jnp.where(live, after.t - s.t, 0.0))
        return after, {**_columns(made, s, after), **works, "live": live}

    return jax.lax.scan(one, s, None, length=CHUNK)


@functools.partial(jax.jit, static_argnums=0)
def _walk(kind: Kind, p: dict[str, Any], s: Any) -> tuple[Any, Any]:
    """CHUNK events further: the last state, and the state after each event. After the end of the run the state stays as it is."""
    machine = _machine(kind, p)[1]

    def one(s: Any, _: None) -> tuple[Any, Any]:
        live = (s.stage < len(STAGES)) & (s.events < event_loop.MOST_EVENTS)
        after = jax.lax.cond(live, machine.next_event, lambda s: s, s)
        return after, after

    return jax.lax.scan(one, s, None, length=CHUNK)


@functools.partial(jax.jit, static_argnums=0)
def _moments(kind: Kind, p: dict[str, Any], states: Any, times: jax.Array) -> Moment:
    """Motion and forces at `times` (n,) [s], each from the state of the same position in `states`, which is not later."""
    made = _machine(kind, p)[0]
    moments: Moment = jax.vmap(lambda s, time: between(made, s)(time - s.t))(states, times)
    return moments


def _columns(made: oscillator.EventSetup, before: Any, s: Any) -> dict[str, jax.Array]:
    """The columns of one event, just after it."""
    zero = jnp.zeros_like(s.t)
    columns = {"time": s.t, "kind": s.kind, "x": s.x, "v": s.anchor.v, "a": s.anchor.a, "live": s.t >= 0.0}
    columns |= dict.fromkeys(("friction_force", "wall_force", "compression", "plastic_set", "impulse", "largest_force"), zero)
    columns |= {"approach": s.anchor.v, "wall_energy": zero, **dict.fromkeys(WORKS, zero)}
    columns |= {"kinetic_energy": 0.5 * made.p["m"] * s.anchor.v**2, "spring_energy": 0.5 * made.p["k"] * s.x**2}
    if s.memory.friction is not None:
        columns["friction_force"] = s.memory.friction.force
    for n, wall in enumerate(made.walls):
        was, pressed, shock = before.memory.walls[n], s.memory.walls[n], s.sums.shocks[n]
        told = _wall_columns(wall, was, before, pressed, s, shock)
        columns |= {f"impacts {n}": shock.impacts, f"held {n}": shock.held}
        columns |= {
            f"entered {n}": (was.phase == OFF) & (pressed.phase != OFF),
            f"outside {n}": (was.phase != OFF) & (pressed.phase == OFF),
        }
        if n == 0:
            columns |= told
            continue
        columns |= {name: columns[name] + told[name] for name in ("wall_force", "plastic_set", "wall_energy", "impulse")}
        columns |= {name: jnp.maximum(columns[name], told[name]) for name in ("compression", "largest_force")}
    return columns


def _wall_columns(wall: Wall, was: Pressed, before: Any, pressed: Pressed, s: Any, shock: Shock) -> dict[str, jax.Array]:
    """The columns of a wall just after an event, from the wall's memory before (`was`) and after it (`pressed`)."""
    y, side = wall.compression(pressed, s.x), pressed.side
    y0, y1 = wall.compression(was, before.x), wall.compression(was, s.x)
    ends = [wall.force(was, y0).at(y0, was.side * before.anchor.v), wall.force(was, y1).at(y1, was.side * s.anchor.v)]
    return {
        "compression": y,
        "wall_force": jnp.maximum(0.0, wall.force(pressed, y).at(y, side * s.anchor.v)),
        "plastic_set": wall.plastic_set(pressed, s.x),
        "wall_energy": wall.energy(pressed, s.x),
        "impulse": shock.impulse,
        "largest_force": jnp.maximum(0.0, jnp.maximum(*ends)),
    }


def _works(made: oscillator.EventSetup, s: Any, duration: jax.Array) -> dict[str, jax.Array]:
    """Works [J] over the `duration` [s] from a state to the next event, by a Gauss-Legendre rule on pieces shorter than the time scales."""
    p, moment = made.p, between(made, s)
    phase = made.law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
    rate = highest(made.excitation.omega) + jnp.sqrt(jnp.abs(p["k"] + phase.stiffness) / p["m"]) + jnp.abs(p["c"] + phase.damping) / p["m"]

    def power(tau: jax.Array) -> jax.Array:
        now = moment(tau)
        return jnp.stack([now.driven * now.v, p["c"] * now.v * now.v, -now.friction * now.v, now.reaction * now.v])

    count = jnp.floor(duration * rate) + 1.0
    length = duration / count

    def piece(n: jax.Array, total: jax.Array) -> jax.Array:
        values = jax.vmap(lambda node: power((n + node) * length))(jnp.asarray(NODES))
        return total + length * jnp.sum(values * jnp.asarray(WEIGHTS)[:, None], axis=0)

    total = jax.lax.fori_loop(0, count.astype(int), piece, jnp.zeros(len(WORKS)))
    return dict(zip(WORKS, total, strict=True))
