"""First derivatives of impacts against differences of another code: at random points, near grazing on both sides, at the threshold of
buckling, and where there is no spring and no damper.

The differences, of order 4 with two steps, are those of `tests/oracle/event_code.py`, which shares nothing with the kernels. A point counts
if both steps agree: the motion has no kink between their points.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.test_event_code import as_row, of_stop, of_two, of_wall, varying
from tribosweep import kernels

pytest.importorskip("numba")
from tests.oracle import event_code

pytestmark = pytest.mark.long

ROWS = 200
BY = ("x0", "v0", "c", "k", "gap", "k_n")
OF = ("x_end", "v_end", "impulse", "contact_time")
SET = (*OF, "plastic_set", "max_compression")
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0))  # of order 4
AHEAD = ((0.0, -25.0 / 12.0), (1.0, 4.0), (2.0, -3.0), (3.0, 4.0 / 3.0), (4.0, -0.25))  # to one side, where a number is at its bound 0


@functools.cache
def program(model: str, names: tuple[str, ...], by: tuple[str, ...], of: tuple[str, ...]) -> Callable[..., jax.Array]:
    """(rows, by) numbers and the other columns -> (rows, of, by) derivatives; tests of one model share it."""

    def values(x: jax.Array, row: dict[str, jax.Array]) -> jax.Array:
        found = kernels.simulate(model, {**row, **{name: x[i] for i, name in enumerate(by)}})
        return jnp.stack([found[name] for name in of])

    assert not set(names) & set(by)
    return jax.jit(jax.vmap(jax.jacfwd(values)))


def jacobian(model: str, c: dict[str, Any], by: tuple[str, ...], of: tuple[str, ...]) -> np.ndarray:
    """(rows, of, by) derivatives of the engine; the rows are repeated so that all tests have as many."""
    n = c["m"].size
    rows = np.arange(ROWS) % n
    columns = {name: jnp.asarray(np.broadcast_to(value, (n, *np.shape(value)[1:]))[rows]) for name, value in sorted(c.items())}
    at = jnp.stack([columns.pop(name) for name in by], axis=1)
    return np.asarray(program(model, tuple(columns), by, of)(at, columns))[:n]


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


def check(model: str, c: dict[str, Any], of: tuple[str, ...] = OF, steps: tuple[float, float] = (1e-4, 5e-5)) -> float:
    """Compare all derivatives; return the part of them that counted."""
    coarse, fine = (differences(c, BY, of, step) for step in steps)
    found = jacobian(model, c, BY, of)
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


def like(template: dict[str, Any], /, **given: Any) -> dict[str, Any]:
    """Oscillators with the columns of `template`, all numbers 0 but those given (m and omega are 1)."""
    n = len(np.atleast_1d(given["v0"]))
    plain = {name: value if np.ndim(value) == 0 else np.zeros(n) for name, value in template.items()}
    return plain | {"m": np.ones(n), "omega": np.ones(n), "sides": np.ones(n)} | {k: np.broadcast_to(v, n) * 1.0 for k, v in given.items()}


def stops() -> dict[str, Any]:
    """Random stops."""
    return whole(of_stop(np.random.default_rng(11), ROWS, "none"))


@pytest.mark.slow
def test_derivatives_of_stops() -> None:
    assert check("stop", stops()) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "more", "step"), [("rigid", (), 2e-4), ("penalised", ("k_t", "c_t"), 4e-4)])
@pytest.mark.parametrize("model", ["stop", "buckling_wall"])
def test_derivatives_of_walls_beside_friction_on_a_belt_under_a_normal_force_that_varies(
    model: str, friction: str, more: tuple[str, ...], step: float
) -> None:
    rng = np.random.default_rng(28)
    c = of_stop(rng, 60, friction) if model == "stop" else of_wall(rng, 60, friction, "stiffness")
    c = whole(varying(rng, c))
    c["mu_s"] = 1.2 * c["mu_d"]  # were they one, half of the differences would have mu_s < mu_d
    by = (*BY, "normal_amplitude", "normal_phase", "belt_speed", "mu_d", *more)
    of = (*(OF if model == "stop" else SET), "wear_power", "stick_fraction", "slip_distance")
    coarse, fine = (differences(c, by, of, each) for each in (step, 0.5 * step))  # rounding is larger at shorter ones
    scale = np.maximum(np.abs(fine), np.nanmedian(np.abs(fine), axis=0, keepdims=True)) + 1e-12
    sure = np.abs(coarse - fine) < 2e-7 * scale
    error = (np.abs(jacobian(model, c, by, of) - fine) / scale)[sure]
    print("sure:", round(float(sure.mean()), 3), "largest differences:", np.sort(error)[-3:])
    assert sure.mean() > 0.9
    assert error.max() < 1e-6


@pytest.mark.slow
def test_derivatives_of_two_walls() -> None:
    assert check("two_walls", whole(of_two(np.random.default_rng(12), ROWS, "none", "stop", "stop"))) > 0.7


def crushed() -> dict[str, Any]:
    """Random walls that buckle."""
    return whole(of_wall(np.random.default_rng(13), ROWS, "none", "stiffness"))


@pytest.mark.slow
def test_derivatives_of_a_wall_that_buckles_with_its_plastic_set() -> None:
    assert check("buckling_wall", crushed(), SET) > 0.7


@pytest.mark.slow
def test_derivatives_of_a_start_at_rest_at_the_face() -> None:
    face = np.linspace(0.0, 0.3, 8)
    c = like(stops(), v0=np.zeros(8), k=np.linspace(0.0, 30.0, 8), gap=face, x0=face, k_n=400.0, c=0.1, end=1.5, omega=5.0, a0=-3.0,
             phase=1.0, load=20.0)  # fmt: skip
    found = jacobian("stop", c, BY, OF)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 1e4
    for name in ("c", "k", "k_n"):  # no kink in these
        fine = differences(c, (name,), ("x_end", "v_end"), 1e-5)[:, :, 0]
        np.testing.assert_allclose(found[:, :2, BY.index(name)], fine, rtol=1e-6, atol=1e-8)


OFF = np.concatenate([-(10.0 ** np.linspace(-6.0, -1.0, 12)), 10.0 ** np.linspace(-6.0, -1.0, 12)])  # relative distance from the edge


def near(c: dict[str, Any], found: np.ndarray, rows: np.ndarray, by: tuple[str, ...], of: tuple[str, ...], all_of: tuple[str, ...]) -> None:
    """Compare derivatives at some rows with differences whose steps are far below the distance from the edge."""
    for row in rows:
        one = {name: value[row : row + 1] if np.ndim(value) else value for name, value in c.items()}
        step = 0.02 * abs(OFF[row])
        expected = differences(one, by, of, step)[0]
        accuracy = max(1e-6, 1e-12 / step)
        got = found[row][[all_of.index(name) for name in of]][:, [BY.index(name) for name in by]]
        np.testing.assert_allclose(got, expected, rtol=accuracy, atol=accuracy * np.abs(expected).max())


@pytest.mark.slow
def test_derivatives_near_grazing_on_both_sides() -> None:
    # x = v0/w sin(w t) reaches the gap at its crest where v0 = w gap
    c = like(stops(), v0=2.0 * 0.3 * (1.0 + OFF), k=4.0, gap=0.3, k_n=50.0, end=2.0)
    found = jacobian("stop", c, BY, OF)
    free = OFF < 0.0  # without an impact, whatever the gap
    np.testing.assert_allclose(found[free][:, :2, BY.index("v0")], [[math.sin(4.0) / 2.0, math.cos(4.0)]] * 12, rtol=1e-12)
    np.testing.assert_allclose(found[free][:, :, BY.index("gap")], 0.0, atol=1e-15)
    near(c, found, np.flatnonzero(~free), ("v0", "gap"), ("x_end", "v_end"), OF)


@pytest.mark.slow
def test_derivatives_on_both_sides_of_the_threshold_of_buckling() -> None:
    given = {"k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "softening": 0.8, "plateau": 0.2, "k_post": 0.7, "end": 6.0}
    c = like(crushed(), v0=1.0 + OFF, **given)
    c.pop("sides")
    found = jacobian("buckling_wall", c, BY, SET)
    near(c, found, np.arange(24), ("v0", "k_n"), ("x_end", "v_end", "plastic_set", "max_compression"), SET)
