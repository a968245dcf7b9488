"""Derivatives of the exact engine at 500 random points of each kind, some of them near grazes and on both sides of these.

A reference is a one-sided difference of seven values of the engine itself. Its error is its distance from the differences of six and of
five values, plus rounding. Steps of several sizes are tried, and the one with the least error counts. Along a stencil the events must stay
the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.oracle import generate, generate_penalised
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import program as program_of
from tribosweep.kernels.exact import event_loop, rigid_loop
from tribosweep.kernels.exact.oscillator import Kind, finish, setup
from tribosweep.kernels.models.contacts import PENALISED
from tribosweep.kernels.observables import rubbing

pytestmark = pytest.mark.long

Columns = dict[str, np.ndarray]

RANDOM, GRAZING = 340, 160
LANES, BLOCKS = 20, 5  # rows at once, and blocks of one call
SMOOTH = ("wear_power", "slip_distance", "stick_fraction", "max_slip_speed", "drift", "x_end", "v_end")
BODY = ("m", "k", "c", "mu_s", "mu_d", "normal_force", "a0", "f0", "omega", "phase", "load", "x0", "v0")
TIMES = ("window_start", "window_end", "end")
POINTS = 7
MOST_EVENTS = 20_000
ROUNDING = 1e-14  # of a value, relative to its size
KINDS = [False, True]
RELATIVE_STEPS = (1e-3, 1e-4, 1e-5, 1e-6)


class Run(NamedTuple):
    """Results of a run: observables by name, number of events that change the direction of slip, and time of the last of them [s]."""

    observables: dict[str, jax.Array]
    turns: jax.Array
    last: jax.Array


def names(penalised: bool) -> tuple[str, ...]:
    """Every float parameter."""
    return (*BODY, *TIMES, *(("k_t", "c_t") if penalised else ()))


def run(penalised: bool, p: dict[str, Any]) -> Run:
    """One oscillator by the engine's own loop, with its events counted."""
    made = None
    if penalised:
        made = setup(p, Kind(PENALISED))
        machine: Any = event_loop.machine(made.law, made.excitation, made.p, made.observe, made.sums, made.finite)
    else:
        machine = rigid_loop.machine(p, free=False)

    def side(state: Any) -> Any:
        return state.memory.friction.direction if penalised else state.direction

    def next_event(state: Any) -> Any:
        """One event: the loop of rigid friction takes a release and the slip after it together."""
        if penalised:
            return machine.next_event(state)
        return jax.tree.map(lambda rest, slip: jnp.where(state.direction == 0.0, rest, slip), machine.rest(state), machine.slip(state))

    def follow(carry: Any) -> Any:
        state, turns, last = carry
        after = next_event(state)
        turned = side(state) != side(after)
        return after, turns + jnp.where(turned, 1.0, 0.0), jnp.where(turned, jax.lax.stop_gradient(after.t), last)

    zero = jnp.zeros(())
    state, turns, last = jax.lax.while_loop(
        lambda carry: (carry[0].stage < 3.0) & (carry[0].events < 20_000), follow, (machine.start, zero, zero)
    )
    found = rubbing.finish(state.sums, p) if made is None else finish(made, state, zero, zero)[0]
    found |= {"x_end": state.x, "v_end": state.anchor.v}
    return Run({name: found[name] for name in SMOOTH}, turns, last)


@functools.cache
def program(penalised: bool, order: int) -> Callable[..., Any]:
    """Jitted: columns, and a direction for each order -> runs, or their derivatives along the directions."""

    def one(p: dict[str, Any], *directions: dict[str, Any]) -> Any:
        if order == 0:
            return run(penalised, p)

        def value(p: dict[str, Any]) -> Any:
            found, _ = program_of(ProgramKey("exact", friction="penalised" if penalised else "rigid"), nested=order > 1)(p)
            return {name: found[name] for name in SMOOTH}

        function: Callable[..., Any] = value
        for direction in directions:
            function = functools.partial(lambda inner, along, p: jax.jvp(inner, (p,), (along,))[1], function, direction)
        return function(p)

    mapped = jax.jit(lambda *blocks: jax.lax.map(lambda lanes: jax.vmap(one)(*lanes), blocks))

    def call(*columns: Columns) -> Any:
        count, size = len(columns[0]["m"]), BLOCKS * LANES
        parts = []
        for first in range(0, count, size):  # one length, so that the program compiles once
            rows = np.arange(first, first + size) % count
            parts.append(mapped(*({name: values[rows].reshape(-1, LANES) for name, values in each.items()} for each in columns)))
        return jax.tree.map(lambda *values: np.concatenate([np.asarray(each).reshape(-1) for each in values])[:count], *parts)

    return call


def stack(rows: list[dict[str, float]]) -> Columns:
    """Rows as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def pick(p: Columns, chosen: Any) -> Columns:
    """Some rows, or the same one many times."""
    return {name: values[chosen] for name, values in p.items()}


def draw(rng: Random, penalised: bool) -> dict[str, float]:
    """An oscillator with friction, with times of a few periods and contacts that ring a few hundred times at most."""
    kinds: dict[str, Any] = dict.fromkeys(generate_penalised.KINDS, generate_penalised.draw)
    if not penalised:
        kinds = {"slip-slip": generate.draw_k0, "stick-slip": generate.draw_k0}
        kinds |= {kind: generate.draw_oscillator for kind in generate.OSCILLATOR_KINDS if kind != "frictionless"}
    while True:
        kind = rng.choice(list(kinds))
        p = kinds[kind](rng, kind)
        if p.get("k_t", 0.0) > 1e5 * p["m"] * p["omega"] ** 2:
            continue
        period = 2.0 * np.pi / p["omega"]
        end = rng.uniform(2.0, 5.0) * period
        start = rng.uniform(0.05, 0.5) * end
        times = {"end": end, "window_start": start, "window_end": rng.uniform(start + 0.2 * end, 0.99 * end)}
        return {**p, **times, "normal_force": p["normal_force"] or p["m"] * p["g"]}


@functools.cache
def grazes(penalised: bool) -> Columns:
    """Oscillators that touch a guard: bisection on a0 has found a change of the sequence of events within rounding."""
    rng, found = Random(77 + penalised), []
    keep = names(penalised)
    solve = program(penalised, 0)
    while len(found) < GRAZING // 2:
        p = stack([{name: row[name] for name in keep} for row in (draw(rng, penalised) for _ in range(400))])
        low, high = p["a0"].copy(), p["a0"] * 1.1
        at_low, at_high = solve(p), solve(p | {"a0": high})
        chosen = np.flatnonzero(at_low.turns != at_high.turns)
        p, low, high, turns = pick(p, chosen), low[chosen], high[chosen], at_low.turns[chosen]
        for _ in range(60):
            middle = 0.5 * (low + high)
            same = solve(p | {"a0": middle}).turns == turns
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        below, above = solve(p | {"a0": low}), solve(p | {"a0": high})
        # an event that leaves the run at its end is no graze
        inner = (np.maximum(below.last, above.last) < p["end"] * (1.0 - 1e-3)) & (below.turns > 0)
        found += [{name: float(values[i]) for name, values in (p | {"a0": low}).items()} for i in np.flatnonzero(inner)]
    return stack(found[: GRAZING // 2])


@functools.cache
def points(penalised: bool) -> tuple[Columns, np.ndarray]:
    """500 oscillators, and for each the relative distance to a known graze (1 where none is known)."""
    rng = Random(500 + penalised)
    rows: list[dict[str, float]] = []
    gaps = [1.0] * RANDOM
    keep = names(penalised)
    while len(rows) < RANDOM:
        fresh = [draw(rng, penalised) for _ in range(2 * RANDOM)]
        columns = stack([{name: row[name] for name in keep} for row in fresh])
        moves = np.flatnonzero(program(penalised, 0)(columns).turns > 0)
        rows += [{name: float(values[i]) for name, values in columns.items()} for i in moves]
    del rows[RANDOM:]
    at = grazes(penalised)
    for i in range(GRAZING):
        gap = 10.0 ** rng.uniform(-4.0, -2.0)
        row = {name: float(values[i // 2]) for name, values in at.items()}
        rows.append(row | {"a0": row["a0"] * (1.0 + (gap if i % 2 else -gap))})
        gaps.append(gap)
    return stack(rows), np.array(gaps)


def scales(p: Columns) -> Columns:
    """A natural size of every parameter."""
    force = np.abs(p["f0"] - p["m"] * p["a0"])
    speed = force / p["m"] / p["omega"]
    fast = p["omega"] + np.sqrt(p["k"] / p["m"]) + p["c"] / p["m"]
    if "k_t" in p:
        fast = fast + np.sqrt(p["k_t"] / p["m"])
    one = {name: np.abs(values) for name, values in p.items()}
    one |= {"phase": np.ones_like(force), "load": force, "f0": force, "x0": speed / p["omega"], "v0": speed}
    one |= dict.fromkeys(TIMES, 1.0 / fast) | {"k": p["m"] * p["omega"] ** 2 + p["k"], "c": p["m"] * p["omega"] + p["c"]}
    return one | ({"c_t": p["c_t"] + p["m"] * p["omega"]} if "c_t" in p else {})


def stencil(count: int) -> np.ndarray:
    """Weights of `count` values, the first at the point, for the first derivative at the point."""
    right = np.zeros(count)
    right[1] = 1.0
    return np.linalg.solve(np.vander(np.arange(float(count)), increasing=True).T, right)


def sizes(p: Columns) -> Columns:
    """Sizes that errors of observables are measured by."""
    speed = np.abs(p["f0"] - p["m"] * p["a0"]) / p["m"] / p["omega"]
    length, window = speed / p["omega"], p["window_end"] - p["window_start"]
    return {
        "wear_power": p["normal_force"] * length / window, "slip_distance": length, "stick_fraction": np.ones_like(speed),
        "max_slip_speed": speed, "drift": length, "x_end": length + np.abs(p["x0"]), "v_end": speed + np.abs(p["v0"]),
    }  # fmt: skip


def differences(penalised: bool, name: str, p: Columns, gaps: np.ndarray) -> tuple[Columns, Columns]:
    """One-sided derivatives in a parameter times its scale, and their errors (inf where events change along every stencil)."""
    solve = program(penalised, 0)
    scale = scales(p)[name]
    down = name in ("mu_d", "window_end")
    best = {each: np.zeros_like(scale) for each in SMOOTH}
    error = {each: np.full_like(scale, np.inf) for each in SMOOTH}
    at_point = solve(p)
    size = sizes(p)
    for relative in RELATIVE_STEPS:
        step = (-relative if down else relative) * np.minimum(1.0, 100.0 * gaps)
        values = [at_point, *(solve(p | {name: p[name] + n * step * scale}) for n in range(1, POINTS))]
        same = np.all([each.turns == at_point.turns for each in values], axis=0)
        for each in SMOOTH:
            rows = np.array([value.observables[each] for value in values])
            fine, *coarse = (stencil(n) @ rows[:n] / step for n in (POINTS, POINTS - 1, POINTS - 2))
            rounding = ROUNDING * np.abs(stencil(POINTS)).sum() / np.abs(step) * size[each]
            off = np.where(same, np.abs(fine - np.array(coarse)).max(axis=0) + rounding, np.inf)
            better = off < error[each]
            best[each], error[each] = np.where(better, fine, best[each]), np.where(better, off, error[each])
    return best, error


def kinked(name: str, each: str, p: Columns, penalised: bool) -> np.ndarray:
    """Where an observable has a kink in a parameter.

    A mass at rest starts to slip by a velocity of either sign. Without a spring the speeds of many slips tie for the largest: every
    period's where a load makes the mass drift, forward and backward ones where there is none.
    """
    if name == "v0" and not penalised:
        return p["v0"] == 0.0
    ties = (p["k"] == 0.0) & ((name == "k") | ((name == "load") & (p["load"] == 0.0)))
    return ties & (each == "max_slip_speed")


@pytest.mark.slow
@pytest.mark.parametrize("penalised", KINDS)
def test_every_derivative_is_its_one_sided_difference_at_500_points_near_grazes_and_away(penalised: bool) -> None:
    p, gaps = points(penalised)
    value = program(penalised, 0)(p)
    assert np.isfinite(np.array(list(value.observables.values()))).all()
    size = sizes(p)
    zero = dict.fromkeys(names(penalised), np.zeros_like(gaps))
    compared, resolved = 0, 0
    for name in names(penalised):
        exact = program(penalised, 1)(p, zero | {name: scales(p)[name]})
        found, error = differences(penalised, name, p, gaps)
        for each in SMOOTH:
            measure = size[each] + np.abs(exact[each])
            smooth = ~kinked(name, each, p, penalised)
            told = smooth & (error[each] < 1e-7 * measure)
            off = np.abs(exact[each] - found[each]) / measure
            compared, resolved = compared + np.count_nonzero(smooth), resolved + np.count_nonzero(told)
            assert (off[told] < 1e-6).all(), (each, name, np.flatnonzero(told & (off >= 1e-6)), off[told].max())
    assert resolved > 0.94 * compared, resolved / compared  # under penalised friction 0.947


@pytest.mark.slow
@pytest.mark.parametrize("penalised", KINDS)
def test_second_derivatives_are_finite_everywhere_and_exactly_at_grazes(penalised: bool) -> None:
    rng = np.random.default_rng(3)
    near, at = points(penalised)[0], grazes(penalised)
    p = {name: np.concatenate([near[name], at[name], at[name]]) for name in near}
    above = np.arange(len(p["a0"])) >= len(p["a0"]) - len(at["a0"])
    p["a0"] = np.where(above, np.nextafter(p["a0"], np.inf), p["a0"])
    for _ in range(3):
        along, then = ({name: rng.normal(size=above.size) * scale for name, scale in scales(p).items()} for _ in range(2))
        for name, values in program(penalised, 2)(p, along, then).items():
            assert np.isfinite(values).all(), (name, np.flatnonzero(~np.isfinite(values)))
