"""Derivatives by time schemes through entries, exits, stick and slip, against differences of motions whose events are located."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

import kernels
from kernels.models.structures import Structure, body_basis
from kernels.models.supports import Support
from tests.oracle.contact_phases import Bodies, Contact

SEEN = ("x_end[centre]", "x_rate_end[centre]", "y_rate_end[centre]", "impulse[it]", "wear_power[it]", "sliding_distance[it]")
MET = (*SEEN[:4], "friction_power[it]")  # slip distance and wear also jump where an anchor stops, which no term follows
FREE = {"m": 1.0, "k_n": 1e5, "c_n": 50.0, "k_t": 1e5, "c_t": 50.0, "mu_s": 0.2, "mu_d": 0.2, "v0[x]": 0.2, "v0[y]": 0.5, "gap": 1e-3}
SCHEMES = ("euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54")
LEVELS = (4e-5, 2e-5, 1e-5)


def pace(scheme: str, step: float) -> dict[str, float]:
    """Parameters of steps of about one length [s]."""
    if scheme.startswith("rk"):
        return {"tolerance": step * step, "largest_step": 50.0 * step}
    return {"step": step} if scheme in ("euler", "devogelaere") else {"step": step, "largest_step": step}


def log_uniform(rng: np.random.Generator, count: int, low: float, high: float) -> np.ndarray:
    """(count,) numbers whose logarithms are even between two bounds."""
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), count)))


@functools.cache
def body(obstacle: str = "plane") -> Any:
    """A body in x and y with one support."""
    return Structure(body_basis("xy"), [Support("it", "centre", obstacle)], body=True).model


def slopes(model: Any, scheme: str, rows: dict[str, Any], by: str, seen: tuple[str, ...]) -> np.ndarray:
    """(observables, rows) derivatives by a parameter."""
    run = lambda value: {name: kernels.simulate(model, {**rows, by: value}, scheme=scheme)[name] for name in seen}  # noqa: E731
    value = jax.numpy.asarray(rows[by])
    found = jax.jvp(run, (value,), (jax.numpy.ones_like(value),))[1]
    return np.stack([np.asarray(found[name]) for name in seen])


@pytest.mark.slow
@pytest.mark.long_cases("rk54", "euler", "devogelaere", "adapt?", "rk32")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_depends_on_the_way_of_a_free_flight(scheme: str) -> None:
    rows = {**FREE, "end": 0.03, **pace(scheme, 5e-6), "gap": np.array([1e-3, 1.2e-3])}
    found = slopes(body(), scheme, rows, "gap", SEEN)
    if scheme.startswith("rk"):  # steps end at the events
        assert np.abs(found[1:]).max() < 1e-4
    assert np.abs(found[1:3]).max() < 1.0  # 39.5 1/s without the term of the entry
    assert np.abs(found[3]).max() < 1.5  # 64.5


@pytest.mark.slow
@pytest.mark.long
def test_both_modes_give_the_same_derivative_through_an_entry() -> None:
    given = {**FREE, "end": 0.03, "step": 1e-5}
    backward = jax.grad(lambda gap: kernels.simulate(body(), {**given, "gap": gap}, scheme="euler")[SEEN[1]])(1e-3)
    forward = slopes(body(), "euler", given, "gap", SEEN[1:2])
    assert backward == pytest.approx(forward[0], abs=1e-9)


@functools.cache
def random_planes(count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows of a body that meets a plane, and the derivatives of MET by the gap, (observables, rows); NaN where events come too close."""
    rng = np.random.default_rng(48)
    draw = functools.partial(log_uniform, rng, count)
    mu_d = draw(0.1, 0.4)
    rows = {"m": draw(0.5, 2.0), "k": draw(100.0, 3000.0), "gap": draw(5e-4, 2e-3), "k_n": draw(3e4, 1e5), "c_n": draw(5.0, 60.0),
            "mu_d": mu_d, "mu_s": mu_d * draw(1.0, 1.6), "k_t": draw(3e4, 1e5), "c_t": draw(5.0, 60.0),
            "v0[x]": draw(0.2, 0.5), "v0[y]": draw(0.05, 0.5), "end": draw(0.02, 0.04)}  # fmt: skip

    def one(row: int, gap: float) -> np.ndarray:
        of = {name: float(values[row]) for name, values in rows.items()}
        contact = Contact((1.0, 0.0), (0.0, 1.0), gap, of["k_n"], of["c_n"], of["mu_s"], of["mu_d"], of["k_t"], of["c_t"])
        found = Bodies([of["m"]] * 2, [contact], lambda _: np.zeros(2), of["k"]).run([0.0, 0.0], [of["v0[x]"], of["v0[y]"]], of["end"])
        sums = found["impulse"][0], found["friction"][0] / of["end"]
        return np.array([found["q"][0], *found["v"], *sums])

    def difference(row: int, size: float) -> np.ndarray:
        gap = float(rows["gap"][row])
        return np.asarray((one(row, gap + size) - one(row, gap - size)) / (2.0 * size))

    slopes = []
    for row in range(count):
        near, far = difference(row, 1e-8), difference(row, 4e-8)
        slopes.append(near if np.all(np.abs(near - far) <= 1e-3 * (np.abs(near) + np.abs(near).max() * 1e-2)) else near * np.nan)
    return rows, np.stack(slopes, axis=1)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sixty_bodies_at_a_plane_have_the_derivatives_of_located_motions(scheme: str) -> None:
    rows, exact = random_planes(60)
    known = np.isfinite(exact).all(axis=0)
    assert known.sum() > 45
    scale = np.median(np.abs(exact[:, known]), axis=1, keepdims=True) + np.abs(exact[:, known])
    errors = []
    for step in LEVELS:
        found = slopes(body(), scheme, {**rows, **pace(scheme, step)}, "gap", MET)[:, known]
        errors.append(np.abs(found - exact[:, known]) / scale)
    assert np.median(errors[-1]) < 0.01
    assert np.quantile(errors[-1], 0.9) < 0.1
    assert np.quantile(errors[-1], 0.9) < 0.6 * np.quantile(errors[0], 0.9) or np.quantile(errors[0], 0.9) < 0.02


STOP = {"m": 1.0, "k": 300.0, "c": 0.5, "v0": 0.3, "gap": 2e-3, "k_n": 1e5, "c_n": 60.0, "a0": 8.0, "omega": 60.0, "end": 0.06,
        "mu_s": 0.15, "mu_d": 0.1, "normal_force": 9.81, "k_t": 2e4, "c_t": 3.0}  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scheme", [each for each in SCHEMES if each != "adapt1"])
def test_a_stop_has_the_derivatives_of_the_exact_engine(scheme: str) -> None:
    seen = ("x_end", "v_end", "impulse", "wear_power", "slip_distance", "first_contact_velocity", "rebound_velocity")
    for by in ("gap", "v0", "mu_s"):
        exact, found = (slopes("stop", name, STOP | given, by, seen) for name, given in (("exact", {}), (scheme, pace(scheme, 2e-5))))
        assert found == pytest.approx(exact, rel=0.2, abs=1e-6)
