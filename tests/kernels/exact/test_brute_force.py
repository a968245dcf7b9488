"""No event is missed or out of order: two thousand oscillators of each kind are compared with brute-force steps of 1e-6 s."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from tests.oracle import brute_force, generate, generate_penalised
from tribosweep.kernels.exact import event_loop, rigid_loop
from tribosweep.kernels.exact.oscillator import Kind, setup
from tribosweep.kernels.models.contacts import PENALISED, RIGID

Columns = dict[str, np.ndarray]
Sequences = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

COUNT, END, LANES = 2000, 3.0, 40
MOST = 20_000
NAMES = ("m", "c", "k", "mu_s", "mu_d", "normal_force", "a0", "f0", "omega", "phase", "load", "x0", "v0", "k_t", "c_t")
TOLERANCE = 1e-3 * brute_force.STEP  # the steps' own rounding, three million times; 2e-12 s at worst where this was written
CLOSE = 2.0 * brute_force.STEP  # two crossings within one step are what steps miss


def draw(penalised: bool) -> Columns:
    """Oscillators of every kind in the reference data that have few periods in the run and no contact too fast for the steps."""
    rng = Random(2000 + penalised)
    rigid: dict[str, Callable[..., Any]] = dict.fromkeys(generate.K0_KINDS, generate.draw_k0)
    rigid |= dict.fromkeys(generate.OSCILLATOR_KINDS, generate.draw_oscillator)
    kinds = dict.fromkeys(generate_penalised.KINDS, generate_penalised.draw) if penalised else rigid
    rows: list[dict[str, float]] = []
    while len(rows) < COUNT:
        kind = list(kinds)[len(rows) % len(kinds)]
        p = kinds[kind](rng, kind)
        contact = p.get("k_t", 0.0) / p["m"]
        if 3.0 <= p["omega"] <= 40.0 and contact <= 1e8:
            rows.append({**p, "normal_force": p["normal_force"] or p["m"] * p["g"]})
    return {name: np.array([row[name] for row in rows]) for name in NAMES if name in rows[0]}


def with_window(p: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the run to END."""
    return {**p, "window_start": 0.0, "window_end": END, "end": END}


def by_law(friction: str) -> Callable[[Any], Any]:
    """The event loop of any law."""

    def machine(p: dict[str, Any]) -> Any:
        made = setup(with_window(p), Kind(friction))
        one = event_loop.machine(made.law, made.excitation, made.p, made.observe, made.sums, made.finite)
        return one.start, one.next_event, lambda state: state.memory.friction.direction

    return machine


def dedicated(free: bool) -> Callable[[Any], Any]:
    """The shorter ways of rigid friction."""

    def machine(p: dict[str, Any]) -> Any:
        one = rigid_loop.machine(with_window(p), free)

        def next_event(state: Any) -> Any:
            """One event: the loop takes a release and the slip after it together."""
            return jax.tree.map(lambda rest, slip: jnp.where(state.direction == 0.0, rest, slip), one.rest(state), one.slip(state))

        return one.start, next_event, lambda state: state.direction

    return machine


def sequences(machine: Callable[[Any], Any], p: Columns) -> Sequences:
    """Oscillator, time and kind (direction of slip) of every event, and the displacement at the end."""

    def block(lanes: Any) -> Any:
        start = jax.vmap(lambda each: machine(each)[0])(lanes)

        def step(each: Any, state: Any) -> Any:
            _, next_event, direction = machine(each)
            after = next_event(state)
            before, now = direction(state), direction(after)
            kind = jnp.where(before == 0.0, brute_force.RELEASE, jnp.where(now == 0.0, brute_force.STOP, brute_force.REVERSAL))
            return after, jnp.where(before == now, 0, kind)

        def follow(carry: Any) -> Any:
            state, count, times, kinds = carry
            after, kind = jax.vmap(step)(lanes, state)
            goes = state.stage < 3.0
            at = jnp.where(goes & (kind > 0), count, MOST)
            lane = jnp.arange(LANES)
            times, kinds = times.at[lane, at].set(after.t, mode="drop"), kinds.at[lane, at].set(kind, mode="drop")
            chosen = jax.tree.map(lambda new, old: jnp.where(goes, new, old), after, state)
            return chosen, count + (at < MOST), times, kinds

        empty = jnp.zeros((LANES, MOST))
        first = start, jnp.zeros(LANES, int), empty, empty.astype(int)
        return jax.lax.while_loop(lambda carry: jnp.any(carry[0].stage < 3.0), follow, first)

    blocks = {name: values.reshape(-1, LANES) for name, values in p.items()}
    run = jax.jit(block)
    found = [[], [], [], []]
    for n in range(len(p["m"]) // LANES):
        last, count, times, kinds = jax.tree.map(np.asarray, run({name: values[n] for name, values in blocks.items()}))
        lane, place = np.nonzero(np.arange(MOST) < count[:, None])
        for part, values in zip(found, (n * LANES + lane, times[lane, place], kinds[lane, place], last.x), strict=True):
            part.append(values)
    return tuple(np.concatenate(part) for part in found)


@functools.cache
def oscillators(penalised: bool) -> Columns:
    """The oscillators of this file."""
    return draw(penalised)


@functools.cache
def stepped(penalised: bool) -> brute_force.Events:
    """Every step of every run."""
    return brute_force.run(oscillators(penalised), END, penalised)


def apart(lane: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(COUNT,) whether no two events of an oscillator are so close that steps may miss such events."""
    shortest = np.full(COUNT, np.inf)
    near = lane[1:] == lane[:-1]
    np.minimum.at(shortest, lane[1:][near], np.diff(time)[near])
    return shortest > CLOSE


def compare(expected: brute_force.Events, found: Sequences) -> None:
    """Check for the same events in the same order at the same times or, if steps are too coarse to tell, for the same end."""
    lane, time, kind, x_end = found
    told = apart(expected.lane, expected.time) & apart(lane, time)
    assert np.count_nonzero(~told) < 0.01 * COUNT
    brute, exact = told[expected.lane], told[lane]
    different = np.bincount(expected.lane[brute], minlength=COUNT) != np.bincount(lane[exact], minlength=COUNT)
    assert not different.any(), np.flatnonzero(different)
    assert expected.kind[brute].tolist() == kind[exact].tolist()
    np.testing.assert_allclose(time[exact], expected.time[brute], rtol=0.0, atol=TOLERANCE)
    np.testing.assert_allclose(x_end, expected.x_end, rtol=1e-9, atol=1e-9)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("penalised", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_event_loop_misses_no_event_of_2000_oscillators_and_takes_none_out_of_order(penalised: bool) -> None:
    expected = stepped(penalised)
    assert len(expected.time) > 40_000
    compare(expected, sequences(by_law(PENALISED if penalised else RIGID), oscillators(penalised)))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
def test_the_shorter_ways_of_rigid_friction_do_not_either(free: bool) -> None:
    p, expected = oscillators(False), stepped(False)
    lanes = np.arange(COUNT)
    if free:
        lean = np.flatnonzero((p["k"] == 0.0) & (p["c"] == 0.0))
        lanes = np.resize(lean, -(-lean.size // LANES) * LANES)
    lane, time, kind, x_end = sequences(dedicated(free), {name: values[lanes] for name, values in p.items()})
    # without friction a mass starts where it rests by a release at t = 0, which is none
    true = (time > 0.0) | (kind != brute_force.RELEASE)
    for n, i in enumerate(lanes):
        ours, theirs = (lane == n) & true, expected.lane == i
        assert kind[ours].tolist() == expected.kind[theirs].tolist(), i
        np.testing.assert_allclose(time[ours], expected.time[theirs], rtol=0.0, atol=TOLERANCE)
    np.testing.assert_allclose(x_end, expected.x_end[lanes], rtol=1e-9, atol=1e-9)


def test_the_matrix_of_a_step_is_the_exponential_of_its_generator() -> None:
    p = draw(penalised=True)
    some = {name: values[:40] for name, values in p.items()} | {"amplitude": p["m"][:40]}
    a = brute_force.generator(some, some["k_t"], some["c_t"], 1.0)
    np.testing.assert_allclose(brute_force.increments(a) + np.eye(5), scipy.linalg.expm(a * brute_force.STEP), rtol=1e-13, atol=1e-15)


@pytest.mark.slow
def test_steps_by_brute_force_find_the_known_events_of_a_braked_slide_and_of_a_release() -> None:
    # a slide at 2 m/s braked at 1 m/s^2 stops after 2 s; a force that grows as sin(0.5 t) is 0.6 of its largest at 2 asin(0.6)
    zero = np.zeros(brute_force.WIDTH)
    base = dict.fromkeys(NAMES, zero) | {"m": zero + 1.0, "normal_force": zero + 10.0, "omega": zero + 0.5}
    slide = brute_force.run(base | {"mu_s": zero + 0.1, "mu_d": zero + 0.1, "v0": zero + 2.0}, 2.5, penalised=False)
    assert slide.kind.tolist() == [brute_force.STOP] * brute_force.WIDTH
    np.testing.assert_allclose(slide.time, 2.0, rtol=1e-10)
    np.testing.assert_allclose(slide.x_end, 2.0, rtol=1e-10)
    released = brute_force.run(base | {"mu_s": zero + 0.3, "mu_d": zero + 0.2, "f0": zero + 5.0}, 1.5, penalised=False)
    assert released.kind.tolist() == [brute_force.RELEASE] * brute_force.WIDTH
    np.testing.assert_allclose(released.time, 2.0 * math.asin(0.6), rtol=1e-10)
