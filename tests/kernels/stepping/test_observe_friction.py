"""The sums of the time schemes against the one definition of the observables, over random motions of one contact."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.penalised import Penalised
from tribosweep.kernels.observables import rubbing
from tribosweep.kernels.observables.interval import Interval
from tribosweep.kernels.stepping import observe_friction as stepping

H, STEPS, WINDOW = 0.01, 200, slice(40, 160)
P = {"window_start": 0.4, "window_end": 1.6, "normal_force": 10.0, "mu_d": 0.1}


def motion(seed):
    """Random velocities (STEPS,) that stop and turn, and the states of a penalised contact before the first step and after each."""
    rng = np.random.default_rng(seed)
    velocities = np.cumsum(rng.normal(0.0, 0.05, STEPS)) * (rng.random(STEPS) > 0.1)
    needed = rng.normal(0.0, 1.0, STEPS)
    law = Penalised(*(jnp.float64(value) for value in (1.0, 1.0, 300.0, 5.0)))
    evaluate = jax.jit(lambda memory, v, needed: law.evaluate(memory, H * v, v, needed)[1])
    states = [law.at_start(jnp.float64(0.0))]
    for v, force in zip(velocities, needed, strict=True):
        states.append(evaluate(states[-1], v, force))
    return velocities, states


def interval(before, after, speed, part):
    """A step as an `Interval`, on which the observables are defined."""
    return Interval(
        duration=part.duration,
        displacement=part.displacement,
        slip=jnp.where(after.slips, jnp.abs(part.displacement), 0.0),
        slipping=after.slips,
        resting=after.rests,
        sticking=~after.slips,
        begins=after.begins(before),
        top_speed=jnp.abs(speed),
    )


@pytest.mark.parametrize("seed", range(6))
def test_both_ways_of_summing_are_one(seed):
    velocities, states = motion(seed)
    one = rubbing.init(jnp.float64(0.0))
    tally = stepping.init(jnp.float64(0.0), Penalised(*(jnp.float64(1.0),) * 4))
    packed, few, drift = tally, None, 0.0
    for i, v in enumerate(velocities):
        inside = WINDOW.start <= i < WINDOW.stop
        part = stepping.SlipPart(jnp.float64(H * inside), jnp.float64(H * v * inside))
        speed = jnp.float64(v)
        one = rubbing.update(one, interval(states[i], states[i + 1], speed, part))
        tally = stepping.update(tally, states[i], states[i + 1], speed, part)
        if i <= WINDOW.start:
            packed = stepping.update(packed, states[i], states[i + 1], speed, part)
        elif inside:
            before = stepping.counted(packed, states[i]) if few is None else states[i]
            few = stepping.one_more(few or stepping.few(packed), before, states[i + 1], speed, jnp.float64(H * v))
            drift += H * v
    packed = stepping.add(packed, few, jnp.float64(drift), jnp.float64(H), jnp.float64(WINDOW.stop - WINDOW.start - 1))
    expected = rubbing.finish(one, P)
    assert expected["slip_phases"] > 1.0
    for found in (stepping.finish(tally, P), stepping.finish(packed, P)):
        for name, value in expected.items():
            assert float(found[name]) == pytest.approx(float(value), rel=1e-12, abs=1e-14), name
