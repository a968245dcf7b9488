"""The event loop with laws that are not friction: walls on both sides, resets, and a stiffness that softens, against closed forms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

from kernels.contact.phases import Guard, Phase, Point
from kernels.exact.events import run
from kernels.excitation.harmonic import Harmonic

GAP = 0.3


class Touch(NamedTuple):
    """Which wall is touched: -1, 0 or 1, and how often one was."""

    side: jax.Array
    count: jax.Array


class Walls(NamedTuple):
    """Springs at +GAP and -GAP. Two guards in flight, one for each contact; in contact the wall's force is one."""

    m: jax.Array
    k: jax.Array
    k_n: jax.Array

    def start(self, at: Point) -> tuple[Touch, jax.Array]:
        zero = jnp.zeros_like(at.v)
        return Touch(zero, zero), at.needed / self.m

    def phase(self, memory: Touch, x: jax.Array, v: jax.Array, a: jax.Array) -> Phase:
        touches, one, zero = memory.side != 0.0, jnp.ones_like(x), jnp.zeros_like(x)
        pressed = jnp.maximum(memory.side * x - GAP, 0.0)
        right = Guard(jnp.where(touches, pressed, jnp.maximum(GAP - x, 0.0)), jnp.where(touches, memory.side, -one), zero, zero)
        left = Guard(jnp.where(touches, one, jnp.maximum(GAP + x, 0.0)), jnp.where(touches, zero, one), zero, zero)
        return Phase(zero, (self.k + jnp.where(touches, self.k_n, 0.0)) / self.m, (right, left))

    def transition(self, memory: Touch, crossed: tuple[jax.Array, ...], v0: jax.Array, at: Point) -> tuple[Touch, jax.Array, jax.Array]:
        enters = (memory.side == 0.0) & (crossed[0] | crossed[1])
        side = jnp.where(
            memory.side == 0.0, jnp.where(crossed[0], 1.0, jnp.where(crossed[1], -1.0, 0.0)), jnp.where(crossed[0], 0.0, memory.side)
        )
        return Touch(side, memory.count + jnp.where(enters, 1.0, 0.0)), at.v, at.a


class Bouncing(NamedTuple):
    """A ball on a floor at x = 0 that gives back the part `e` of the speed: a reset, infinitely often in a finite time."""

    m: jax.Array
    e: jax.Array

    def start(self, at: Point) -> tuple[Touch, jax.Array]:
        zero = jnp.zeros_like(at.v)
        return Touch(zero, zero), at.a

    def phase(self, memory: Touch, x: jax.Array, v: jax.Array, a: jax.Array) -> Phase:
        lies, zero, one = memory.side != 0.0, jnp.zeros_like(x), jnp.ones_like(x)
        return Phase(zero, zero, (Guard(jnp.where(lies, one, jnp.maximum(x, 0.0)), jnp.where(lies, zero, one), zero, zero),))

    def transition(self, memory: Touch, crossed: tuple[jax.Array, ...], v0: jax.Array, at: Point) -> tuple[Touch, jax.Array, jax.Array]:
        hits = crossed[0]
        v = jnp.where(hits, -self.e * at.v, at.v)
        lies = hits & (jnp.abs(v) < 1e-10)
        side = jnp.where(lies, 1.0, memory.side)
        return Touch(side, memory.count + jnp.where(hits, 1.0, 0.0)), jnp.where(side > 0.0, 0.0, v), jnp.where(side > 0.0, 0.0, at.a)


def follow(law: Any, **changes: float) -> Any:
    """End of a run without excitation."""
    p = {"m": 2.0, "k": 0.0, "c": 0.0, "x0": 0.0, "v0": 0.0, "omega": 1.0, "load": 0.0, "end": 5.0} | changes
    p |= {"window_start": 0.0, "window_end": p["end"]}
    numbers = {name: jnp.asarray(value) for name, value in p.items()}
    excitation = Harmonic(0.0 * numbers["m"], numbers["omega"], 0.0 * numbers["m"], numbers["load"])
    begin = 0.0 * numbers["m"]
    last, status = jax.jit(lambda: run(law, excitation, numbers, lambda sums, _memory, now: sums + now.duration, begin, jnp.array(True)))()
    assert int(status) == 0
    assert float(last.sums) == pytest.approx(p["end"], rel=1e-13)
    return last


def test_a_mass_between_two_walls_goes_from_one_to_the_other() -> None:
    m, k_n, v0, end = 2.0, 300.0, 0.7, 20.0
    last = follow(Walls(jnp.array(m), jnp.array(0.0), jnp.array(k_n)), v0=v0, end=end)
    flight, stay = 2.0 * GAP / v0, math.pi * math.sqrt(m / k_n)
    inside = end + 0.5 * flight  # since the mass left the wall behind it
    half, rest = divmod(inside, flight + stay)
    sign = -1.0 if half % 2 else 1.0
    assert rest < flight
    assert float(last.x) == pytest.approx(sign * (rest * v0 - GAP), rel=1e-11)
    assert float(last.anchor.v) == pytest.approx(sign * v0, rel=1e-12)
    assert int(last.memory.count) == int(half)


def test_a_softening_wall_lets_the_mass_run_away_as_cosh() -> None:
    m, k_n, v0 = 2.0, -8.0, 0.7
    last = follow(Walls(jnp.array(m), jnp.array(0.0), jnp.array(k_n)), v0=v0, end=2.0)
    # beyond the gap x - centre follows m x'' = 8 x: here from the wall's own zero, x = 0
    rate, since = 2.0, 2.0 - GAP / v0
    a = float(last.anchor.a)
    assert float(last.anchor.v) == pytest.approx(v0 * math.cosh(rate * since), rel=1e-12)
    assert float(last.x) - GAP == pytest.approx(v0 / rate * math.sinh(rate * since), rel=1e-12)
    assert a == pytest.approx(v0 * rate * math.sinh(rate * since), rel=1e-12)


def test_resets_that_accumulate_end_at_rest() -> None:
    # falls from 1 m: lands after sqrt(2/g), then every bounce lasts e times the one before
    g, e = 10.0, 0.5
    last = follow(Bouncing(jnp.array(2.0), jnp.array(e)), x0=1.0, load=-2.0 * g, end=5.0)
    assert float(last.anchor.v) == 0.0
    assert float(last.x) == pytest.approx(0.0, abs=1e-12)
    assert int(last.memory.count) == math.ceil(math.log(1e-10 / math.sqrt(2.0 * g)) / math.log(e))
    before = follow(Bouncing(jnp.array(2.0), jnp.array(e)), x0=1.0, load=-2.0 * g, end=math.sqrt(2.0 / g) * 1.5)
    # at the top of the first bounce, e^2 as high
    assert float(before.x) == pytest.approx(e * e, rel=1e-12)
    assert int(before.memory.count) == 1
