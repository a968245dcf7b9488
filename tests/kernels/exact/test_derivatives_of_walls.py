"""First derivatives of impacts against differences of another code: at random points, near grazing on both sides, at the threshold of
buckling, and where there is no spring and no damper.

The differences, of order 4 with two steps, are those of `tests/oracle/event_code.py`, which shares nothing with the kernels. A point counts
if both steps agree: the motion has no kink between their points.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernels
from tests.kernels.test_event_code import as_row, of_stop, of_two, of_wall

pytest.importorskip("numba")
from tests.oracle import event_code

BY = ("x0", "v0", "c", "k")
OF = ("x_end", "v_end", "impulse", "contact_time")
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0))  # of order 4
AHEAD = ((0.0, -25.0 / 12.0), (1.0, 4.0), (2.0, -3.0), (3.0, 4.0 / 3.0), (4.0, -0.25))  # to one side, where a number is at its bound 0


def jacobian(model: str, c: dict[str, Any], by: tuple[str, ...], of: tuple[str, ...]) -> np.ndarray:
    """(rows, of, by) derivatives of the engine."""
    n = c["m"].size
    columns = {name: jnp.asarray(np.broadcast_to(value, (n, *np.shape(value)[1:]))) for name, value in c.items()}
    at = jnp.stack([columns.pop(name) for name in by], axis=1)

    def values(x: jax.Array, row: dict[str, jax.Array]) -> jax.Array:
        found = kernels.simulate(model, {**row, **{name: x[i] for i, name in enumerate(by)}})
        return jnp.stack([found[name] for name in of])

    return np.asarray(jax.jit(jax.vmap(jax.jacfwd(values)))(at, columns))


def differences(c: dict[str, Any], by: tuple[str, ...], of: tuple[str, ...], step: float) -> np.ndarray:
    """(rows, of, by) differences of the event code; a step is relative to the size of each number, or to its typical size."""
    n = c["m"].size
    found = np.zeros((n, len(of), len(by)))
    for j, name in enumerate(by):
        own = np.broadcast_to(np.asarray(c[name], dtype=float), n)
        size = step * np.maximum(np.abs(own), 0.1)
        bounded = (own == 0.0) & (name in ("c", "k"))
        for place in range(len(AHEAD)):
            ahead, behind = AHEAD[place], STENCIL[min(place, 3)]
            offset, weight = (np.where(bounded, one, other) for one, other in zip(ahead, behind, strict=True))
            weight = np.where(~bounded & (place > 3), 0.0, weight)
            moved = c | {name: own + offset * size}
            values = event_code.solve([as_row(moved, i) for i in range(n)])
            for i, wanted in enumerate(of):
                found[:, i, j] += np.where(weight == 0.0, 0.0, weight * values[wanted]) / size
    return found


def check(
    model: str, c: dict[str, Any], by: tuple[str, ...] = BY, of: tuple[str, ...] = OF, steps: tuple[float, float] = (1e-4, 5e-5)
) -> float:
    """Compare all derivatives; return the part of them that counted."""
    coarse, fine = (differences(c, by, of, step) for step in steps)
    found = jacobian(model, c, by, of)
    scale = np.maximum(np.abs(fine), np.nanmedian(np.abs(fine), axis=0, keepdims=True)) + 1e-12
    sure = np.abs(coarse - fine) < 1e-6 * scale
    error = np.abs(found - fine) / scale
    print(model, found.shape, "sure:", round(float(sure.mean()), 3), "largest difference:", float(error[sure].max()))
    assert np.isfinite(found).all()
    assert (error[sure] < 5e-6).all(), (np.argwhere(sure & (error >= 5e-6))[:5], error[sure].max())
    return float(sure.mean())


def whole(c: dict[str, Any]) -> dict[str, Any]:
    """The oscillators with their whole run as window, none from a wall's face: the edges of another window, and such a start, are kinks."""
    c = {name: value for name, value in c.items() if name not in ("window_start", "window_end")}
    c["end"] = 0.5 * c["end"]
    faces = [c["gap"], *([-c["left_gap"]] if "left_gap" in c else []), *([-c["gap"]] if "sides" in c else [])]
    c["x0"] = np.where(np.any([np.abs(c["x0"] - face) < 0.05 for face in faces], axis=0), c["x0"] - 0.1234, c["x0"])
    return c


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["none", "penalised"])
def test_derivatives_of_stops(friction: str) -> None:
    assert check("stop", whole(of_stop(np.random.default_rng(11), 200, friction))) > 0.7


@pytest.mark.slow
def test_derivatives_of_two_walls() -> None:
    assert check("two_walls", whole(of_two(np.random.default_rng(12), 200, "none", "stop", "stop"))) > 0.7


@pytest.mark.slow
def test_derivatives_of_a_wall_that_buckles_with_its_plastic_set() -> None:
    assert check("buckling_wall", whole(of_wall(np.random.default_rng(13), 200, "none", "stiffness")), of=(*OF, "plastic_set")) > 0.7


@pytest.mark.slow
def test_derivatives_of_a_start_at_rest_at_the_face() -> None:
    ones = np.ones(8)
    c = {"m": ones, "k": np.linspace(0.0, 30.0, 8), "v0": 0.0 * ones, "gap": np.linspace(0.0, 0.3, 8), "x0": np.linspace(0.0, 0.3, 8),
         "k_n": 400.0 * ones, "c_n": 0.0 * ones, "c": 0.1 * ones, "end": 1.5 * ones, "omega": 5.0 * ones, "a0": -3.0 * ones, "phase": ones,
         "load": 20.0 * ones}  # fmt: skip
    assert check("stop", c | {"mu": 0.0}, ("x0", "c", "k"), ("x_end", "v_end"), (1e-5, 5e-6)) > 0.9


@pytest.mark.slow
def test_derivatives_near_grazing_on_both_sides() -> None:
    # x = v0/w sin(w t) reaches gap at its crest where v0 = w gap
    off = np.concatenate([-(10.0 ** np.linspace(-6.0, -1.0, 12)), 10.0 ** np.linspace(-6.0, -1.0, 12)])
    c = {"m": np.ones(24), "k": np.full(24, 4.0), "v0": 2.0 * 0.3 * (1.0 + off), "gap": np.full(24, 0.3), "x0": np.zeros(24),
         "k_n": np.full(24, 50.0), "c_n": np.zeros(24), "c": np.zeros(24), "end": np.full(24, 2.0), "omega": np.ones(24)}  # fmt: skip
    found = jacobian("stop", c | {"mu": 0.0}, ("v0", "gap"), ("x_end", "v_end"))
    # without an impact x = v0/w sin(w t), whatever the gap
    free = off < 0.0
    np.testing.assert_allclose(found[free][:, :, 0], [[math.sin(4.0) / 2.0, math.cos(4.0)]] * 12, rtol=1e-12)
    np.testing.assert_allclose(found[free][:, :, 1], 0.0, atol=1e-15)
    for row in np.flatnonzero(~free):  # steps far below the distance from the graze
        one = {name: value[row : row + 1] for name, value in c.items()}
        # relative to v0 and to gap, so that the impact stays
        expected = differences(one, ("v0", "gap"), ("x_end", "v_end"), 0.02 * off[row])[0]
        accuracy = max(1e-6, 1e-14 / (0.02 * off[row]) * 100.0)
        np.testing.assert_allclose(found[row], expected, rtol=accuracy, atol=accuracy * np.abs(expected).max())


@pytest.mark.slow
def test_derivatives_on_both_sides_of_the_threshold_of_buckling() -> None:
    off = np.concatenate([-(10.0 ** np.linspace(-6.0, -1.0, 12)), 10.0 ** np.linspace(-6.0, -1.0, 12)])
    ones = np.ones(24)
    c = {"m": ones, "k": 0.0 * ones, "c": 0.0 * ones, "x0": 0.0 * ones, "v0": 1.0 + off, "k_n": ones, "c_n": 0.0 * ones, "gap": 0.0 * ones,
         "f_crit": ones, "f_post": 0.5 * ones, "softening": 0.8 * ones, "plateau": 0.2 * ones, "k_post": 0.7 * ones, "end": 6.0 * ones,
         "omega": ones}  # fmt: skip
    of = ("x_end", "v_end", "plastic_set", "max_compression")
    found = jacobian("buckling_wall", c | {"mu": 0.0}, ("v0", "k_n"), of)
    for row in range(24):
        one = {name: value[row : row + 1] for name, value in c.items()}
        expected = differences(one, ("v0", "k_n"), of, 0.02 * abs(off[row]))[0]
        accuracy = max(1e-6, 1e-14 / (0.02 * abs(off[row])) * 100.0)
        np.testing.assert_allclose(found[row], expected, rtol=accuracy, atol=accuracy * np.abs(expected).max())
