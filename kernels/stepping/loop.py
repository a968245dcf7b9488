"""The loop that drives a fixed-step scheme over one rubbing mass with penalised friction."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kernels.contact import friction
from kernels.elementary import Array, all_finite, run_time_one, settle
from kernels.excitation.harmonic import Harmonic, Rotation
from kernels.observables import rubbing
from kernels.observables.interval import Interval
from kernels.status import Status
from kernels.stepping import euler

SCHEMES = {"euler": euler.step}


class Memory(NamedTuple):
    """What contact and excitation remember from one step to the next: the penalised contact, and the excitation's sine and cosine."""

    grip: friction.Grip
    rotation: Rotation


class State(NamedTuple):
    """One oscillator after a step: x [m], v [m/s], a [m/s^2], memory, whether it rests (1 or 0), observables."""

    x: Array
    v: Array
    a: Array
    memory: Memory
    resting: Array
    sums: rubbing.Rubbing


def steps(end: Array, step: Array) -> Array:
    """Number of steps of a run of `end` [s] with steps of at most `step` [s] (a float, whole)."""
    return jnp.ceil(end / step * (1.0 - 1e-12))


def simulate(p: dict[str, Any], scheme: str, most_steps: Array) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with penalised friction at a fixed step.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; finite k_t and c_t).
        scheme: a key of `SCHEMES` (compile-time).
        most_steps: length of the loop, at least `steps` of this oscillator; the largest of a batch. Beyond its own last step an oscillator
            stands still, which costs less than freezing every carried number.

    Returns:
        Observables by name (scalars), and the status code. A row whose numbers are not finite returns at once.

    Slip counts while the contact's flag says slip. At a reversal the mass rests if the friction needed to hold it is within mu_s F_n; the
    brief stuck state in which the contact's spring unloads is not rest. Validated by tests/kernels/test_euler.py.
    """
    take_step = SCHEMES[scheme]
    excitation, law = Harmonic.of(p), friction.Penalised.of(p)
    count = steps(p["end"], p["step"])
    h = p["end"] / count
    by_mass = 1.0 / p["m"]
    one = run_time_one(p["omega"])

    def acceleration(memory: Memory, x: Array, v: Array, moved: Array) -> tuple[Array, Memory]:
        grip = memory.grip._replace(stretch=memory.grip.stretch + moved)
        force, grip = friction.evaluate(law, grip, v)
        a = (excitation.force(memory.rotation.sine) - p["k"] * x - p["c"] * v + force) * by_mass
        return a, Memory(grip, memory.rotation)

    def advance(index: Array, s: State) -> State:
        before = s.memory.grip
        turned = s.memory._replace(rotation=s.memory.rotation.next())
        x, v, a, memory = take_step(acceleration, turned, s.x, s.v, s.a, jnp.where(index < count, h, 0.0))
        a, flag = settle(one, a, memory.grip.slipping)
        grip = memory.grip._replace(slipping=flag)
        memory = memory._replace(grip=grip)
        slipping, slipped = grip.slipping > 0.0, before.slipping > 0.0
        tried = slipped & ~friction.slip_goes_on(before, v)
        holds = jnp.abs(excitation.force(memory.rotation.sine) - p["k"] * x) <= law.static_limit
        (rest,) = settle(one, jnp.where(~slipping & jnp.where(tried, holds, s.resting > 0.0), 1.0, 0.0))
        resting = rest > 0.0
        # the stored force keeps the direction of the last slip through a brief stuck state
        turned_back = (grip.stored * before.stored < 0.0) | (slipped & (v * before.speed < 0.0))

        since = jnp.minimum(index, count) * h
        until = jnp.minimum(index + 1.0, count) * h
        inside = jnp.clip(jnp.minimum(until, p["window_end"]) - jnp.maximum(since, p["window_start"]), 0.0, h)
        (inside,) = settle(one, inside)
        moved = inside * v
        now = Interval(
            duration=inside,
            displacement=moved,
            slip=jnp.abs(moved),
            slipping=slipping,
            resting=resting,
            sticking=~slipping,
            begins=slipping & ((s.resting > 0.0) | turned_back),
            top_speed=jnp.abs(v),
        )
        return State(x, v, a, memory, rest, rubbing.update(s.sums, now))

    finite = all_finite(p.values())
    zero = jnp.zeros_like(by_mass)
    x, v = p["x0"] + zero, p["v0"] + zero
    a, memory = acceleration(Memory(friction.new_grip(zero), Rotation.start(excitation, h)), x, v, zero)
    start = State(x, v, a, memory, 1.0 - memory.grip.slipping, rubbing.init(zero))
    last = jax.lax.fori_loop(0, most_steps, lambda i, s: advance(i.astype(zero.dtype), s), start)
    return rubbing.finish(last.sums, p, last.x, last.v), jnp.where(finite, int(Status.OK), int(Status.NOT_FINITE))
