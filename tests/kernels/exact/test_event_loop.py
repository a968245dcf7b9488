"""The event loop with laws that are not friction: walls on both sides, resets, and a stiffness that softens, against closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.law import Guard, Instant, Phase
from tribosweep.kernels.exact import oscillator, rigid_loop
from tribosweep.kernels.exact.event_loop import MOST_RAPID, end_of, machine, outcome
from tribosweep.kernels.excitation.harmonic import Harmonic
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.contacts import RIGID

GAP = 0.3


class Touch(NamedTuple):
    """Which wall is touched: -1, 0 or 1, and how often one was."""

    side: jax.Array
    count: jax.Array


class Plain:
    """What the laws of these tests do not say."""

    kinds = ("", "touches")

    def rest(self, memory: Any, at: Instant) -> Any:
        return memory, at.v, at.a

    def kind(self, memory: Any, crossed: tuple[jax.Array, ...], after: Any) -> Any:
        return jnp.where(after.count > memory.count, 1.0, 0.0)


@dataclass
class Walls(Plain):
    """Springs at +GAP and -GAP. Two guards in flight, one for each contact; in contact the wall's force is one."""

    m: jax.Array
    k: jax.Array
    k_n: jax.Array

    def start(self, at: Instant) -> tuple[Touch, jax.Array]:
        zero = jnp.zeros_like(at.v)
        return Touch(zero, zero), zero

    def phase(self, memory: Touch, x: jax.Array, v: jax.Array, a: jax.Array) -> Phase:
        touches, one, zero = memory.side != 0.0, jnp.ones_like(x), jnp.zeros_like(x)
        pressed = jnp.maximum(memory.side * x - GAP, 0.0)
        right = Guard(jnp.where(touches, pressed, jnp.maximum(GAP - x, 0.0)), jnp.where(touches, memory.side, -one), zero, zero)
        left = Guard(jnp.where(touches, one, jnp.maximum(GAP + x, 0.0)), jnp.where(touches, zero, one), zero, zero)
        return Phase(jnp.where(touches, self.k_n, 0.0), zero, (right, left))

    def transition(self, memory: Touch, crossed: tuple[jax.Array, ...], v0: jax.Array, at: Instant) -> tuple[Touch, jax.Array, jax.Array]:
        enters = (memory.side == 0.0) & (crossed[0] | crossed[1])
        side = jnp.where(
            memory.side == 0.0, jnp.where(crossed[0], 1.0, jnp.where(crossed[1], -1.0, 0.0)), jnp.where(crossed[0], 0.0, memory.side)
        )
        return Touch(side, memory.count + jnp.where(enters, 1.0, 0.0)), at.v, at.a


@dataclass
class Bouncing(Plain):
    """A ball on a floor at x = 0 that gives back the part `e` of the speed: a reset, infinitely often in a finite time."""

    m: jax.Array
    e: jax.Array

    def start(self, at: Instant) -> tuple[Touch, jax.Array]:
        zero = jnp.zeros_like(at.v)
        return Touch(zero, zero), zero

    def phase(self, memory: Touch, x: jax.Array, v: jax.Array, a: jax.Array) -> Phase:
        lies, zero, one = memory.side != 0.0, jnp.zeros_like(x), jnp.ones_like(x)
        return Phase(
            zero,
            zero,
            (Guard(jnp.where(lies, one, jnp.maximum(x, 0.0)), jnp.where(lies, zero, one), zero, zero),),
            jnp.where(lies, zero, one),
        )

    def transition(self, memory: Touch, crossed: tuple[jax.Array, ...], v0: jax.Array, at: Instant) -> tuple[Touch, jax.Array, jax.Array]:
        hits = crossed[0]
        return memory._replace(count=memory.count + jnp.where(hits, 1.0, 0.0)), jnp.where(hits, -self.e * at.v, at.v), at.a

    def rest(self, memory: Touch, at: Instant) -> tuple[Touch, jax.Array, jax.Array]:
        return memory._replace(side=jnp.ones_like(at.v)), jnp.zeros_like(at.v), jnp.zeros_like(at.a)


def follow(law: Any, **changes: float) -> Any:
    """End of a run without excitation."""
    p = {"m": 2.0, "k": 0.0, "c": 0.0, "x0": 0.0, "v0": 0.0, "omega": 1.0, "load": 0.0, "end": 5.0} | changes
    p |= {"window_start": 0.0, "window_end": p["end"]}
    numbers = {name: jnp.asarray(value) for name, value in p.items()}
    excitation = Harmonic(0.0 * numbers["m"], numbers["omega"], 0.0 * numbers["m"], numbers["load"])
    begin = 0.0 * numbers["m"]
    made = machine(law, excitation, numbers, lambda sums, _before, _after, now: sums + now.duration, begin, jnp.array(True))
    last = jax.jit(lambda: end_of(made))()
    status = outcome(last, jnp.array(True))
    assert int(status) == 0
    assert float(last.sums) == pytest.approx(p["end"], rel=1e-13)
    return last


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_softening_wall_lets_the_mass_run_away_as_cosh() -> None:
    m, k_n, v0 = 2.0, -8.0, 0.7
    last = follow(Walls(jnp.array(m), jnp.array(0.0), jnp.array(k_n)), v0=v0, end=2.0)
    # beyond the gap x - centre follows m x'' = 8 x: here from the wall's own zero, x = 0
    rate, since = 2.0, 2.0 - GAP / v0
    a = float(last.anchor.a)
    assert float(last.anchor.v) == pytest.approx(v0 * math.cosh(rate * since), rel=1e-12)
    assert float(last.x) - GAP == pytest.approx(v0 / rate * math.sinh(rate * since), rel=1e-12)
    assert a == pytest.approx(v0 * rate * math.sinh(rate * since), rel=1e-12)


@pytest.mark.slow
def test_resets_that_accumulate_end_at_rest() -> None:
    # falls from 1 m: lands after sqrt(2/g), then every bounce lasts e times the one before
    g, e = 10.0, 0.5
    last = follow(Bouncing(jnp.array(2.0), jnp.array(e)), x0=1.0, load=-2.0 * g, end=5.0)
    assert float(last.anchor.v) == 0.0
    assert float(last.x) == pytest.approx(0.0, abs=1e-12)
    # 30 bounces of less than 1e-9 of 1 / omega each, the first of which is this one:
    short = math.ceil(math.log(1e-9 / (2.0 * math.sqrt(2.0 / g))) / math.log(e))
    assert int(last.memory.count) == pytest.approx(short + MOST_RAPID, abs=1)
    assert float(last.t) == 5.0
    before = follow(Bouncing(jnp.array(2.0), jnp.array(e)), x0=1.0, load=-2.0 * g, end=math.sqrt(2.0 / g) * 1.5)
    # at the top of the first bounce, e^2 as high
    assert float(before.x) == pytest.approx(e * e, rel=1e-12)
    assert int(before.memory.count) == 1


@pytest.mark.long
@pytest.mark.slow
def test_rigid_friction_in_the_loop_of_all_laws_is_that_of_its_own_loop() -> None:
    rng = np.random.default_rng(0)
    count = 200
    columns = {
        "a0": rng.uniform(0.5, 20.0, count), "mu_s": rng.uniform(0.0, 0.3, count), "omega": rng.uniform(1.0, 20.0, count),
        "k": np.where(rng.random(count) < 0.3, 0.0, 10.0 ** rng.uniform(-3.0, 3.0, count)),
        "c": np.where(rng.random(count) < 0.5, 0.0, rng.uniform(0.0, 3.0, count)), "phase": rng.uniform(0.0, 6.0, count),
        "load": np.where(rng.random(count) < 0.5, 0.0, rng.normal(size=count)),
        "v0": np.where(rng.random(count) < 0.5, 0.0, rng.normal(size=count)),
    }  # fmt: skip
    columns["mu_d"] = columns["mu_s"] * np.where(rng.random(count) < 0.5, 1.0, rng.uniform(0.3, 1.0, count))
    resolved = {name: np.broadcast_to(np.asarray(value, float), (count,)) for name, value in RUBBING_MASS.resolve(columns).items()}
    rows = {name: value for name, value in resolved.items() if name not in RUBBING_MASS.penalty}
    own, own_status = jax.jit(jax.vmap(lambda p: rigid_loop.simulate(p, free=False)))(rows)
    found, status = jax.jit(jax.vmap(lambda p: oscillator.simulate(p, oscillator.Kind(RIGID))))(rows)
    assert not own_status.any()
    assert not status.any()
    assert set(found) == set(own)
    for name, values in own.items():
        if name in ("regime", "slip_phases"):
            np.testing.assert_array_equal(found[name], values)
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-10, atol=1e-11, err_msg=name)
