"""Derivatives of the exact engine against differences of its (separately tested) values, on both sides of every regime boundary."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels import simulate

Columns = dict[str, Any]
Solve = Callable[..., dict[str, np.ndarray]]
Reference = Callable[[str], list[dict[str, Any]]]

COUNT = 64
ETA_STAR = 2.0 / math.sqrt(math.pi**2 + 4.0)
SMOOTH = ("wear_power", "wear_energy", "friction_power", "slip_distance", "stick_fraction", "max_slip_speed", "drift", "x_end", "v_end")
BASE = {"m": 1.0, "g": 10.0, "mu": 0.1, "omega": 2.0 * math.pi, "phase": 0.0, "x0": 0.0, "v0": 0.0, "load": 0.0, "f0": 0.0, "a0": 1.5}
TIMES = {"end": 12.0, "window_start": 4.0, "window_end": 12.0}


def columns(rows: list[dict[str, Any]]) -> Columns:
    """Rows as columns of COUNT entries, the last repeated."""
    padded = [*rows, *[rows[-1]] * (COUNT - len(rows))]
    assert len(padded) == COUNT
    return {name: jnp.array([float(row[name]) for row in padded]) for name in rows[0]}


def total(p: Columns, name: str = "wear_power") -> jax.Array:
    """The sum over the rows; its gradient holds the derivative of every row."""
    return simulate("rubbing_mass", p)[name].sum()


@functools.cache
def reverse() -> Any:
    """Jitted: columns -> derivative of wear power in every column, in reverse."""
    return jax.jit(jax.grad(total))


@functools.cache
def along() -> Any:
    """Jitted: columns, a direction -> observable -> derivative along it, forward."""

    def smooth(p: Columns) -> Mapping[str, jax.Array]:
        found = simulate("rubbing_mass", p)
        return {name: found[name] for name in SMOOTH}

    return jax.jit(lambda p, direction: jax.jvp(smooth, (p,), (direction,))[1])


def forward(p: Columns) -> dict[str, dict[str, jax.Array]]:
    """Observable -> parameter -> derivative, one parameter at a time, because that program compiles in half the time."""
    still = {name: jnp.zeros_like(values) for name, values in p.items()}
    found = {name: along()(p, still | {name: jnp.ones_like(values)}) for name, values in p.items()}
    return {each: {name: found[name][each] for name in p} for each in SMOOTH}


def stencil(points: np.ndarray) -> np.ndarray:
    """Weights of values at `points` (in steps) in the first derivative at 0."""
    powers = np.vander(points, increasing=True).T
    right = np.zeros(len(points))
    right[1] = 1.0
    return np.linalg.solve(powers, right)


def difference(solve: Solve, row: dict[str, Any], name: str, step: float, points: np.ndarray) -> dict[str, float]:
    """Derivative of every smooth observable in one parameter."""
    found = solve([row | {name: row[name] + step * point} for point in points])
    assert not found["status"].any()
    return {each: float(stencil(points) @ found[each]) / step for each in SMOOTH}


ONE_SIDED = np.arange(7.0)
CENTRAL = np.arange(-3.0, 4.0)

# eta on both sides of 1 and of eta*, close and far; the differences are taken away from the boundary
SIDES = [
    (boundary * (1.0 + side * distance), side * distance * boundary)
    for boundary in (1.0, ETA_STAR)
    for distance in (0.1, 1e-2, 1e-4)
    for side in (1.0, -1.0)
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a0", "mu", "omega"])
def test_wear_power_derivative_is_its_one_sided_difference_on_both_sides_of_each_boundary(solve: Solve, name: str) -> None:
    rows = [BASE | TIMES | {"a0": 1.0 / eta} for eta, _ in SIDES]
    exact = reverse()(columns(rows))[name]
    for index, (row, (eta, gap)) in enumerate(zip(rows, SIDES, strict=True)):
        # eta = mu g / a0: away from the boundary is up for mu and down for a0 when eta is above it
        away = {"mu": 1.0, "a0": -1.0, "omega": 1.0}[name] * math.copysign(1.0, gap)
        step = away * row[name] * (0.02 * abs(gap) / eta if name != "omega" else 1e-4)
        found = difference(solve, row, name, step, ONE_SIDED)["wear_power"]
        assert float(exact[index]) == pytest.approx(found, rel=1e-6, abs=1e-9), (eta, name)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("file", [pytest.param("rigid_k0.json", marks=pytest.mark.long), "rigid_oscillator.json"])
def test_every_derivative_of_every_observable_is_its_difference(solve: Solve, reference: Reference, file: str) -> None:
    moving = [row for row in reference(file) if row["margin"] > 0.01 and row["result"]["slip_phases"] > 0]
    chosen = [*moving[:8], *[row for row in moving[8:] if row["params"]["load"]][:6]]
    rows = [dict(row["row"]) for row in chosen]
    for row in rows:
        row["normal_force"] = row["normal_force"] or row["m"] * row["g"]
        if file == "rigid_k0.json":
            del row["k"], row["c"]
    jacobian = forward(columns(rows))
    for index, row in enumerate(rows):
        speed = abs(row["a0"]) / row["omega"]
        rate = row["omega"] + math.sqrt(row.get("k", 0.0) / row["m"])
        scales = {"x0": speed / row["omega"], "v0": speed, "load": row["m"] * row["a0"], "f0": row["m"] * row["a0"], "phase": 1.0}
        scales |= {"end": 1.0 / rate, "window_start": 1.0 / rate, "window_end": 1.0 / rate, "k": row["m"] * rate**2, "c": row["m"] * rate}
        values = {each: float(solve([row])[each][0]) for each in SMOOTH}
        sizes = {"drift": values["slip_distance"], "x_end": speed / row["omega"], "v_end": speed, "stick_fraction": 1.0}
        for name in row:
            if name == "g" or (name == "v0" and row[name] == 0.0):
                # a mass at rest starts to slip by v0 of either sign
                continue
            scale = scales.get(name) or abs(row[name])
            # only one side is admissible at a bound: k and c at 0, mu_s at mu_d, the window at the ends of the run
            points = (
                ONE_SIDED
                if name in ("k", "c", "mu_s", "window_start", "end")
                else -ONE_SIDED
                if name in ("mu_d", "window_end")
                else CENTRAL
            )
            found = difference(solve, row, name, 1e-4 * scale, points)
            for each in SMOOTH:
                if each == "max_slip_speed" and not row["load"]:  # forward and backward slips may tie for the largest
                    continue
                size = abs(values[each]) + sizes.get(each, 0.0)
                exact = float(jacobian[each][name][index])
                assert exact * scale == pytest.approx(found[each] * scale, rel=1e-6, abs=1e-6 * size), (index, each, name)


@pytest.mark.long
@pytest.mark.slow
def test_reverse_and_forward_derivatives_are_the_same_numbers() -> None:
    p = columns([BASE | TIMES | {"a0": a0, "v0": v0} for a0 in (0.99, 1.01, 1.5, 15.0) for v0 in (0.0, 0.1, -0.2)])
    backward, onward = reverse()(p), forward(p)["wear_power"]
    for name in p:
        np.testing.assert_allclose(backward[name], onward[name], rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_derivatives_are_finite_across_both_boundaries_and_exactly_on_them() -> None:
    ratios = np.concatenate(
        [np.linspace(-1e-3, 1e-3, 200), [0.0], *([sign * 10.0 ** -np.arange(4.0, 17.0)] for sign in (1.0, -1.0))], axis=None
    )
    rows = [BASE | TIMES | {"a0": (1.0 / boundary) * (1.0 + ratio)} for boundary in (1.0, ETA_STAR) for ratio in ratios]
    rows += [BASE | TIMES | {"mu": mu} for mu in (0.0, 0.15, math.nextafter(0.15, 0.0), math.nextafter(0.15, 1.0))]
    for start in range(0, len(rows), COUNT):
        p = columns(rows[start : start + COUNT])
        for name, slope in reverse()(p).items():
            assert np.isfinite(slope).all(), name


@pytest.mark.slow
def test_every_derivative_is_exactly_zero_in_stick() -> None:
    rows = [BASE | TIMES | {"a0": a0} for a0 in (0.0, 0.5, 0.99, 1.0)]
    found = reverse()(columns(rows))
    for name, slope in found.items():
        assert not np.asarray(slope).any(), name


@pytest.mark.long
@pytest.mark.slow
def test_second_derivatives_are_differences_of_first_ones() -> None:
    second = jax.jit(
        jax.vmap(jax.jacfwd(jax.grad(lambda a0, mu: total(BASE | TIMES | {"a0": a0, "mu": mu}), argnums=(0, 1)), argnums=(0, 1)))
    )
    a0, mu = jnp.array([0.9, 1.05, 1.5, 1.8, 4.0, 15.0]), jnp.full(6, 0.1)
    hessian = np.array(second(a0, mu))
    for i, size in enumerate((1.0, 0.1)):
        slopes = []
        for point in CENTRAL:
            moved = [BASE | TIMES | {"a0": float(x), "mu": float(y)} for x, y in zip(a0, mu, strict=True)]
            for row in moved:
                row[("a0", "mu")[i]] += 1e-4 * size * point
            found = reverse()(columns(moved))
            slopes.append([np.asarray(found["a0"])[:6], np.asarray(found["mu"])[:6]])
        rate = np.einsum("s,sjn->jn", stencil(CENTRAL), np.array(slopes)) / (1e-4 * size)
        np.testing.assert_allclose(hessian[:, i], rate, rtol=1e-6, atol=1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_differentiation_mapping_and_compiling_commute() -> None:
    def power(a0: jax.Array) -> jax.Array:
        return simulate("rubbing_mass", BASE | TIMES | {"a0": a0})["wear_power"]

    a0 = jnp.array([0.99, 1.5, 15.0])
    of_each = jax.jit(jax.vmap(jax.grad(power)))(a0)
    of_sum = jax.jit(jax.grad(lambda each: power(each).sum()))(a0)
    along = jax.jit(lambda each: jax.jvp(power, (each,), (jnp.ones(3),))[1])(a0)
    known = reverse()(columns([BASE | TIMES | {"a0": float(each)} for each in a0]))["a0"][:3]
    for other in (of_each, of_sum, along):
        np.testing.assert_allclose(other, known, rtol=1e-11, atol=0.0)


@pytest.mark.slow
def test_counts_and_codes_have_no_derivative_but_do_not_break_one() -> None:
    def mixed(a0: jax.Array) -> jax.Array:
        found = simulate("rubbing_mass", BASE | TIMES | {"a0": a0})
        return found["wear_power"] * (found["regime"] == 1) * found["slip_phases"]

    single = jax.grad(lambda a0: total(BASE | TIMES | {"a0": a0}))(1.5)
    assert float(jax.grad(mixed)(1.5)) == pytest.approx(17.0 * float(single), rel=1e-12)
