"""What happened in one run of the exact engine: its events one by one, and its impacts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kernels.contact.friction import Penalised
from kernels.contact.together import Both
from kernels.elementary import run_time_one, sincos
from kernels.exact import events, oscillators
from kernels.exact.bent import Bent
from kernels.exact.damped import Damped
from kernels.models import MODELS
from kernels.quantity import Quantity

CHUNK = 256
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
    Quantity("compression", "m", "compression of the wall that is or was touched last"),
    Quantity("plastic_set", "m", "plastic set of the wall"),
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
    Quantity("approach_velocity", "m/s", "velocity there"),
    Quantity("peak_force", "N", "largest force of the wall"),
    Quantity("impulse", "N s", "integral of the force of the wall"),
    Quantity("duration", "s", "time until the mass left the wall; NaN where the run ends before"),
)


def event_log(model: str, params: Mapping[str, Any], most: int = events.MOST_EVENTS) -> dict[str, np.ndarray]:
    """The events of one oscillator in their order, the start among them.

    Args:
        model: name of a model (`kernels.MODELS`).
        params: parameter name -> number (a table: its numbers), SI units; omitted names take their documented default.
        most: how many events, at most.

    Returns:
        The columns of EVENT_COLUMNS, (n,) each; forces and compression are 0 where there is no such contact. Of two bodies, x and v are
        those of the first less the second. Looks at the motion that change nothing are left out.

    Raises:
        KeyError: unknown model or parameter.
    """
    columns = _follow(model, params, most)
    return {quantity.name: columns[quantity.name] for quantity in EVENT_COLUMNS}


def impacts(model: str, params: Mapping[str, Any], most: int = events.MOST_EVENTS) -> dict[str, np.ndarray]:
    """The impacts of one oscillator on its wall in their order.

    Args:
        model, params, most: see `event_log`.

    Returns:
        The columns of IMPACT_COLUMNS, (n,) each.
    """
    columns = _follow(model, params, most)
    happened = columns["event"]
    starts = np.flatnonzero((happened == "impact") | ((happened == "start") & (columns["compression"] > 0.0)))
    ends = np.flatnonzero(columns["outside"])
    rows = []
    for start in starts:
        later = ends[ends > start]
        end = int(later[0]) if later.size else len(happened) - 1
        inside = slice(int(start), end + 1)
        peak = max(columns["wall_force"][start], *columns["largest_force"][inside][1:], 0.0)
        impulse = columns["impulse"][end] - columns["impulse"][start]
        duration = columns["time"][end] - columns["time"][start] if later.size else np.nan
        rows.append((columns["time"][start], columns["approach"][start], peak, impulse, duration))
    return {quantity.name: np.array([row[i] for row in rows]) for i, quantity in enumerate(IMPACT_COLUMNS)}


def _follow(model: str, params: Mapping[str, Any], most: int) -> dict[str, np.ndarray]:
    """Every event with all that is known of it."""
    chosen = MODELS[model]
    resolved = {name: np.asarray(value, dtype=np.float64) for name, value in chosen.resolve(dict(params)).items()}
    kind = kind_of(model, resolved)
    state = _start(kind, resolved)
    parts = [jax.tree.map(lambda value: np.asarray(value)[None], _seen(kind, resolved, state))]
    while float(state.stage) < len(STAGES) and int(state.events) < most:
        state, part = _chunk(kind, resolved, state)
        parts.append(jax.tree.map(np.asarray, part))
    columns: dict[str, np.ndarray] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    made, _ = _machine(kind, resolved)
    names = np.array([*made.law.kinds, *reversed(STAGES)], dtype=object)
    columns["event"] = names[columns.pop("kind").astype(int)]
    columns["event"][0] = "start"
    columns |= {name: np.cumsum(columns[name]) for name in WORKS}
    keep = columns.pop("live") & (columns["event"] != "")
    keep[0] = True
    # what was seen over looks that are left out belongs to the event after them
    pieces = np.cumsum(keep[::-1])[::-1]
    largest = np.zeros(pieces[0] + 1)
    np.maximum.at(largest, pieces, columns["largest_force"])
    columns["largest_force"] = largest[pieces]
    return {name: values[keep] for name, values in columns.items()}


def kind_of(model: str, resolved: Mapping[str, np.ndarray]) -> oscillators.Kind:
    """The contacts of one oscillator."""
    friction = oscillators.PENALISED if np.isfinite(resolved["k_t"]) else oscillators.RIGID
    if "k_n" not in resolved:
        return oscillators.Kind(friction)
    bends = "damping_criterion" in resolved and bool(resolved["damping_criterion"] != 0.0)
    return oscillators.Kind(None if resolved["normal_force"] == 0.0 else friction, model, bends)


def _machine(kind: oscillators.Kind, p: dict[str, Any]) -> tuple[oscillators.Setup, Any]:
    made = oscillators.setup({name: jnp.asarray(value) for name, value in p.items()}, kind)
    return made, events.machine(made.law, made.excitation, made.p, made.observe, made.sums, made.finite, log=True)


@functools.partial(jax.jit, static_argnums=0)
def _start(kind: oscillators.Kind, p: dict[str, Any]) -> Any:
    return _machine(kind, p)[1].start


@functools.partial(jax.jit, static_argnums=0)
def _seen(kind: oscillators.Kind, p: dict[str, Any], s: Any) -> dict[str, jax.Array]:
    return _columns(_machine(kind, p)[0], s, s)


@functools.partial(jax.jit, static_argnums=0)
def _chunk(kind: oscillators.Kind, p: dict[str, Any], s: Any) -> tuple[Any, dict[str, jax.Array]]:
    """CHUNK events further; those after the end are not live."""
    made, machine = _machine(kind, p)

    def one(s: Any, _: None) -> tuple[Any, dict[str, jax.Array]]:
        live = s.stage < len(STAGES)
        after = jax.tree.map(lambda new, old: jnp.where(live, new, old), machine.next_event(s), s)
        works = _works(made, s, jnp.where(live, after.t - s.t, 0.0))
        return after, {**_columns(made, s, after), **works, "live": live}

    return jax.lax.scan(one, s, None, length=CHUNK)


def _columns(made: oscillators.Setup, before: Any, s: Any) -> dict[str, jax.Array]:
    """What is known just after an event."""
    zero = jnp.zeros_like(s.t)
    columns = {"time": s.t, "kind": s.kind, "x": s.x, "v": s.anchor.v, "a": s.anchor.a, "live": s.t >= 0.0}
    columns |= dict.fromkeys(("friction_force", "wall_force", "compression", "plastic_set", "impulse", "largest_force"), zero)
    columns |= {"approach": s.anchor.v, "outside": s.t < 0.0, "wall_energy": zero, **dict.fromkeys(WORKS, zero)}
    columns |= {"kinetic_energy": 0.5 * made.p["m"] * s.anchor.v**2, "spring_energy": 0.5 * made.p["k"] * s.x**2}
    if made.friction is not None:
        contact = s.memory.friction if isinstance(s.memory, Both) else s.memory
        columns["friction_force"] = contact.force
    if made.wall is not None:
        wall = made.wall
        pressed, was = (each.memory.wall if isinstance(each.memory, Both) else each.memory for each in (s, before))
        y, side = wall.compression(pressed, s.x), pressed.side
        columns["compression"] = y
        columns["wall_force"] = jnp.maximum(0.0, wall.force(pressed, y).at(y, side * s.anchor.v))
        columns["plastic_set"] = wall.plastic_set(pressed, s.x)
        columns["wall_energy"] = wall.energy(pressed, s.x)
        columns["impulse"] = s.sums.shock.impulse
        y0, y1 = wall.compression(was, before.x), wall.compression(was, s.x)
        ends = [wall.force(was, y0).at(y0, was.side * before.anchor.v), wall.force(was, y1).at(y1, was.side * s.anchor.v)]
        columns["largest_force"] = jnp.maximum(0.0, jnp.maximum(*ends))
        columns["outside"] = (pressed.phase == 0.0) & (was.phase != 0.0)
    return columns


def _works(made: oscillators.Setup, s: Any, duration: jax.Array) -> dict[str, jax.Array]:
    """Works [J] over the `duration` [s] from a state to the next event, by a Gauss-Legendre rule on pieces short against its scales."""
    p, law = made.p, made.law
    phase = law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
    moves = 1.0 if phase.moves is None else phase.moves
    alpha, omega = made.excitation.amplitude / p["m"], p["omega"]
    zeta, w2 = 0.5 * (p["c"] + phase.damping) / p["m"], (p["k"] + phase.stiffness) / p["m"]
    segment = Damped(alpha, omega, zeta, w2, run_time_one(omega))
    contact = None if made.friction is None else (s.memory.friction if isinstance(s.memory, Both) else s.memory)
    pressed = None if made.wall is None else (s.memory.wall if isinstance(s.memory, Both) else s.memory)

    def power(tau: jax.Array) -> jax.Array:
        m = segment.motion(s.anchor, tau)
        if phase.bend is not None:
            bent = Bent(alpha, omega, zeta, w2, phase.bend / p["m"]).motion(s.anchor, jnp.where(phase.bend != 0.0, tau, 0.0))
            m = jax.tree.map(lambda other, one: jnp.where(phase.bend != 0.0, other, one), bent, m)
        v, zero = m.v * moves, jnp.zeros_like(tau)
        sine, _ = sincos(s.anchor.angle + omega * tau)
        rubs = hits = zero
        if contact is not None and made.friction is not None:
            held = contact.force + zero
            if isinstance(made.friction.law, Penalised):
                grip = made.friction.law
                holds = contact.force - grip.k_t * m.d - grip.c_t * (m.v - s.anchor.v)
                held = jnp.where(contact.direction == 0.0, holds, held)
            rubs = -held * v
        if pressed is not None and made.wall is not None:
            y = made.wall.compression(pressed, s.x + m.d * moves)
            hits = made.wall.force(pressed, y).at(y, pressed.side * v) * pressed.side * v
        return jnp.stack([made.excitation.force(sine) * v, p["c"] * v * v, rubs, hits])

    count = jnp.floor(duration * segment.rate) + 1.0
    length = duration / count

    def piece(n: jax.Array, total: jax.Array) -> jax.Array:
        values = jax.vmap(lambda node: power((n + node) * length))(jnp.asarray(NODES))
        return total + length * jnp.sum(values * jnp.asarray(WEIGHTS)[:, None], axis=0)

    total = jax.lax.fori_loop(0, count.astype(int), piece, jnp.zeros(len(WORKS)))
    return dict(zip(WORKS, total, strict=True))
