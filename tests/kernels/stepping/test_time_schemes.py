"""The time schemes: order, energy, agreement with an independent implementation, control of the step, and what happens when it fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.oracle import time_schemes
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.stepping import loop, progress

Solve = Callable[..., dict[str, np.ndarray]]
TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)
ADAPTIVE = tuple(name for name, scheme in SCHEMES.items() if scheme.adaptive)


def at_constant_step(row: dict[str, Any], step: float) -> dict[str, Any]:
    """The row with every scheme bound to one step: none is longer, and no control shortens it."""
    return row | {"step": step, "largest_step": step, "tolerance": 1e30, "retries": 0.0}


# ---------------------------------------------------------------------------------------------------------------------
# Order on a smooth problem

SMOOTH = {"m": 1.0, "k": 40.0, "a0": 3.0, "omega": 5.0, "phase": 0.3, "x0": 0.2, "v0": -0.5, "end": 16.0, "mu": 0.0, "k_t": 1.0, "c_t": 0.0}
ORDERS = {"euler": (1, 1), "devogelaere": (4, 3), "adapt1": (1, 1), "adapt2": (2, 2), "rk32": (3, 3), "rk54": (5, 5)}
COARSEST = {"rk32": 1 / 128, "devogelaere": 1 / 128, "rk54": 1 / 100}  # short enough for the limit, long enough to stand above rounding


def smooth_motion(c: float, t: float) -> tuple[float, float]:
    """Closed form of the underdamped oscillator SMOOTH under its harmonic load: x [m] and v [m/s]."""
    p, delta = SMOOTH, 0.5 * c
    nu = math.sqrt(p["k"] - delta**2)
    response = -p["a0"] * np.exp(1j * p["phase"]) / (p["k"] - p["omega"] ** 2 + 1j * p["omega"] * c)
    forced = lambda s: response * np.exp(1j * p["omega"] * s)  # noqa: E731
    x, v = p["x0"] - forced(0.0).imag, p["v0"] - (1j * p["omega"] * forced(0.0)).imag
    free = (x - 1j * (v + delta * x) / nu) * np.exp((-delta + 1j * nu) * t)
    return free.real + forced(t).imag, ((-delta + 1j * nu) * free).real + (1j * p["omega"] * forced(t)).imag


@pytest.mark.long_cases("False-devogelaere", "False-adapt1", "False-rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", TIME_SCHEMES)
@pytest.mark.parametrize("damped", [False, True])
def test_the_observed_order_over_three_halvings_is_that_of_the_scheme(solve: Solve, scheme: str, damped: bool) -> None:
    c = 1.5 if damped else 0.0
    steps = COARSEST.get(scheme, 1 / 512) * 0.5 ** np.arange(4.0)
    found = solve([at_constant_step(SMOOTH | {"c": c}, step) for step in steps], scheme)
    assert found["accepted_steps"].tolist() == np.round(16.0 / steps).tolist()
    assert not found["rejected_steps"].any()
    error = np.hypot(*(found[name] - exact for name, exact in zip(("x_end", "v_end"), smooth_motion(c, 16.0), strict=True)))
    orders = np.log2(error[:-1] / error[1:])
    np.testing.assert_allclose(orders, ORDERS[scheme][damped], atol=0.2)


# ---------------------------------------------------------------------------------------------------------------------
# Energy of the free oscillator x'' + x = 0 over a thousand periods, at 100 steps a period

FREE = {"m": 1.0, "k": 1.0, "mu": 0.0, "k_t": 1.0, "c_t": 0.0, "x0": 1.0, "omega": 1.0, "end": 2000.0 * math.pi}
H, STEPS = 2.0 * math.pi / 100.0, 100_000


def free_oscillation(solve: Solve, scheme: str) -> tuple[float, float]:
    """x [m] and v [m/s] after a thousand periods."""
    found = solve([at_constant_step(FREE, H)], scheme)
    assert found["accepted_steps"][0] == STEPS
    return float(found["x_end"][0]), float(found["v_end"][0])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "adapt1"])
def test_symplectic_euler_keeps_its_modified_energy(solve: Solve, scheme: str) -> None:
    x, v = free_oscillation(solve, scheme)
    assert x * x + v * v - H * x * v == pytest.approx(1.0, rel=1e-9)  # invariant of v -= h x; x += h v
    assert abs(x * x + v * v - 1.0) < 0.6 * H


@pytest.mark.slow
def test_central_differences_have_the_phase_of_theory_and_no_drift(solve: Solve) -> None:
    # x_n = cos(n theta) with sin(theta / 2) = h / 2, and the velocity put out is that of the old acceleration
    x, v = free_oscillation(solve, "adapt2")
    theta = 2.0 * math.asin(0.5 * H)
    assert x == pytest.approx(math.cos(STEPS * theta), abs=1e-8)
    before = math.cos((STEPS - 1) * theta)
    assert v == pytest.approx((x - before) / H - 0.5 * H * before, abs=1e-8)
    assert abs(x * x + v * v - 1.0) < H**2


POLYNOMIALS = {"rk32": (1, 1, 1 / 2, 1 / 6), "rk54": (1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 600)}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", POLYNOMIALS)
def test_runge_kutta_drifts_by_its_stability_polynomial(solve: Solve, scheme: str) -> None:
    x, v = free_oscillation(solve, scheme)
    polynomial = POLYNOMIALS[scheme]
    factor = abs(sum(weight * (1j * H) ** n for n, weight in enumerate(polynomial)))
    drift = math.expm1(2.0 * STEPS * math.log(factor))
    assert abs(drift) > 1e-7  # it is there to be seen
    assert x * x + v * v - 1.0 == pytest.approx(drift, rel=1e-3)


@pytest.mark.slow
def test_devogelaere_drifts_by_the_eigenvalue_of_its_step(solve: Solve) -> None:
    # the map of (x, v, x_h of the step before) for F = -x
    x, v, early = np.eye(3)
    half = x + 0.5 * H * v - H**2 / 24.0 * (4.0 * x - early)
    new = x + H * v - H**2 / 6.0 * (x + 2.0 * half)
    speed = v - H / 6.0 * (new + 4.0 * half + x)
    principal = max(abs(np.linalg.eigvals(np.array([new, speed, half]))))
    drift = math.expm1(2.0 * STEPS * math.log(principal))
    found = free_oscillation(solve, "devogelaere")
    assert abs(drift) > 1e-5
    assert found[0] ** 2 + found[1] ** 2 - 1.0 == pytest.approx(drift, rel=0.05)


# ---------------------------------------------------------------------------------------------------------------------
# An independent implementation, rubbing

RUBBING = ("x_end", "v_end", "slip_distance", "accepted_steps", "rejected_steps")


def rubbing_rows() -> list[dict[str, Any]]:
    """Random masses that rub, with and without spring, damper, loads and a larger static friction."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(24):
        mu_d = rng.uniform(0.05, 0.15)
        rows.append(
            {
                "m": rng.uniform(0.5, 2.0),
                "g": 10.0,
                "mu_d": mu_d,
                "mu_s": mu_d * (1.0 + 0.3 * (i % 3)),
                "k": rng.choice([0.0, 30.0]),
                "c": rng.choice([0.0, 0.7]),
                "a0": rng.uniform(0.5, 8.0),
                "f0": rng.uniform(-1.0, 1.0),
                "load": rng.choice([0.0, 0.3]),
                "omega": rng.uniform(3.0, 9.0),
                "phase": rng.uniform(0.0, 6.0),
                "x0": rng.choice([0.0, 0.1]),
                "v0": rng.choice([0.0, 0.4]),
                "k_t": rng.choice([4e3, 1e5]),
                "end": 1.0,
                "window_start": 0.3123,
                "window_end": 0.871,
                "step": 5e-4,
                "largest_step": 1e-2,
                "smallest_step": 1e-9,
            }
        )
    return rows


@pytest.mark.oracle("euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54")
@pytest.mark.parametrize("scheme", TIME_SCHEMES)
def test_rubbing_is_that_of_an_independent_implementation(solve: Solve, scheme: str) -> None:
    rows = rubbing_rows()
    found = solve(rows, scheme)
    expected = [time_schemes.run(scheme, row) for row in rows]
    adaptive = SCHEMES[scheme].adaptive
    assert found["rejected_steps"].sum() > 100 or not adaptive
    # error control compares differences near rounding: the two codes part there, within the tolerance of 1e-6 and by a step or two
    by_error = "tolerance" in SCHEMES[scheme].reads
    for name in RUBBING:
        counts = name.endswith("steps")
        # where the window begins and ends within a step the two interpolate otherwise
        slack = 1e-5 if by_error or (name == "slip_distance" and not adaptive) else 1e-9
        close = {"rtol": 0.0, "atol": 2.0 if by_error else 0.0} if counts else {"rtol": slack, "atol": slack * 1e-3}
        np.testing.assert_allclose(found[name], [each[name] for each in expected], err_msg=name, **close)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ADAPTIVE)
def test_a_step_that_is_rejected_leaves_nothing_behind(scheme: str) -> None:
    # a mass that slides fast against friction: a step over its reversal is far too long
    row = {"a0": 4.0, "v0": 0.1, "k_t": 1e5, "end": 3.0, "omega": 5.0, "step": 0.5, "largest_step": 1.0, "tolerance": 1e-6}
    p = {name: jnp.asarray(value) for name, value in RUBBING_MASS.resolve(row).items() if name not in RUBBING_MASS.unread(scheme)}
    stepper = loop.STEPPERS[scheme]
    setup = loop.prepare(stepper, p)
    before = loop.begin(stepper, setup)
    after = loop.attempt(stepper, setup, before)
    assert float(after.clock.rejected) == 1.0
    assert float(after.clock.h) < float(before.clock.h)
    assert float(after.clock.t) == 0.0
    jax.tree.map(np.testing.assert_array_equal, (after.state, after.sums), (before.state, before.sums))


@pytest.mark.slow
def test_devogelaere_has_no_spurious_slips_at_any_step(solve: Solve) -> None:
    # with a contact that remembers whole steps alone, one step in four gave up to 4 per cent more wear
    steps = 10.0 ** np.random.default_rng(1).uniform(-4.7, -3.55, 40)
    row = {"a0": 1.01, "k": 3e-5, "k_t": 9e6, "window_start": 4.0, "omega": 2.0 * math.pi}
    found = solve([row | {"step": step} for step in steps], "devogelaere")
    np.testing.assert_allclose(found["wear_power"], 2.263012946e-4, rtol=5e-5)


# ---------------------------------------------------------------------------------------------------------------------
# Control of the step


@pytest.mark.parametrize("scheme", ADAPTIVE)
def test_steps_end_at_the_window_and_the_end_of_the_run(solve: Solve, scheme: str) -> None:
    # a mass that slides freely: distances are exact whatever the steps
    row = {"mu": 0.0, "k_t": 1.0, "v0": 2.0, "end": 1.0, "window_start": 0.123456, "window_end": 0.7654321, "step": 0.01, "omega": 1.0}
    found = solve([row], scheme)
    assert found["status"][0] == Status.OK
    assert found["x_end"][0] == pytest.approx(2.0, rel=1e-14)
    assert found["drift"][0] == pytest.approx(2.0 * (0.7654321 - 0.123456), rel=1e-13)
    assert found["slip_distance"][0] == found["drift"][0]


@pytest.mark.parametrize("scheme", ["rk32", "rk54"])
def test_a_tighter_tolerance_gives_a_smaller_error_for_more_steps(solve: Solve, scheme: str) -> None:
    tolerances = [1e-3, 1e-5, 1e-7, 1e-9]
    found = solve([SMOOTH | {"c": 0.0, "tolerance": each, "largest_step": 0.5, "step": 1e-3} for each in tolerances], scheme)
    error = np.abs(found["x_end"] - smooth_motion(0.0, 16.0)[0])
    assert (np.diff(found["accepted_steps"]) > 0.0).all()
    assert (error < 100.0 * np.array(tolerances)).all(), error
    assert error[3] < 1e-3 * error[1]


@pytest.mark.parametrize("scheme", ADAPTIVE)
def test_a_step_below_the_smallest_is_a_status_of_that_row_alone(solve: Solve, scheme: str) -> None:
    row = {"a0": 3.0, "k_t": 9e6, "end": 0.2, "step": 1e-3, "largest_step": 1e-2, "omega": 6.0}
    found = solve([row | {"smallest_step": 9e-4}, row], scheme)
    assert found["status"].tolist() == [Status.STEP_TOO_SMALL, Status.OK]
    assert np.isnan(found["wear_power"][0])
    assert np.isnan(found["accepted_steps"][0])
    assert found["accepted_steps"][1] > 0


@pytest.mark.parametrize("scheme", ADAPTIVE)
def test_an_instant_to_be_hit_just_after_the_start_is_no_failure(solve: Solve, scheme: str) -> None:
    row = {"a0": 3.0, "k_t": 9e6, "end": 0.2, "omega": 6.0}
    rows = [row | {"end": 1e-12}, row | {"window_end": 0.2 - 1e-13}]
    if "tolerance" in SCHEMES[scheme].reads:  # so soon after rest the apparent frequency does ask for steps below the smallest
        rows.append(row | {"window_start": 1e-9})
    assert not solve(rows, scheme)["status"].any()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_a_run_of_too_many_fixed_steps_ends_at_once(scheme: str) -> None:
    # the rule on the number of steps holds for traced numbers too
    found = jax.jit(lambda step: kernels.simulate("rubbing_mass", {"k_t": 9e6, "step": step}, scheme=scheme))(1e-12)
    assert found["status"] == Status.RULE_BROKEN
    assert np.isnan(found["wear_power"])


@pytest.mark.long_cases("rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["adapt2", "rk54"])
@pytest.mark.usefixtures("fresh_programs")
def test_no_run_exceeds_the_bound_on_steps(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setattr(progress, "MOST_STEPS", 1000.0)
    columns = {"a0": np.array([3.0, 3.0]), "end": np.array([100.0, 0.001]), "k_t": 1e6, "largest_step": 1e-4}
    found = batch.solve(RUBBING_MASS, scheme, columns, count=2)
    assert found.status.tolist() == [Status.TOO_MANY_STEPS, Status.OK]


def test_numbers_that_overflow_end_a_run_of_chosen_steps(solve: Solve) -> None:
    for scheme in ADAPTIVE:
        found = solve([{"v0": 1e300, "x0": 1e300, "k": 1e10, "mu": 0.0, "k_t": 1.0, "end": 1e3, "step": 1.0, "largest_step": 10.0}], scheme)
        assert found["status"][0] in (Status.OVERFLOW, Status.STEP_TOO_SMALL), scheme


# ---------------------------------------------------------------------------------------------------------------------
# The fixed step: stability and rubbing without friction


def test_a_step_that_is_not_stable_is_refused_where_there_is_no_contact(solve: Solve) -> None:
    rows = [{"mu": 0.0, "k": 4e6, "x0": 1e-3, "end": 0.1, "step": 2e-3}, {"mu": 0.0, "c": 4000.0, "v0": 1.0, "end": 0.1, "step": 1e-3}]
    rows.append({"normal_force": 0.0, "k": 4e6, "x0": 1e-3, "end": 0.1, "step": 2e-3})
    for scheme in ("euler", "devogelaere"):
        assert solve(rows, scheme)["status"].tolist() == [Status.RULE_BROKEN] * 3, scheme


@pytest.mark.slow
def test_the_contact_needs_no_stiffness_where_it_has_no_friction(solve: Solve) -> None:
    row = SMOOTH | {"c": 0.5, "step": 1e-3, "end": 1.0}
    bare = {name: value for name, value in row.items() if name not in ("k_t", "c_t")}
    for scheme in TIME_SCHEMES:
        found = solve([row, bare], scheme)
        assert found["status"].tolist() == [Status.OK, Status.OK], scheme
        assert found["x_end"][0] == found["x_end"][1], scheme
        assert kernels.simulate("rubbing_mass", bare, scheme=scheme)["x_end"] == pytest.approx(found["x_end"][0], rel=1e-9), scheme
    with pytest.raises(ValueError, match="needs the tangential stiffness"):
        kernels.simulate("rubbing_mass", {"v0": 1.0}, scheme="euler")


@pytest.mark.slow
def test_derivatives_are_those_of_the_steps() -> None:
    row = {"a0": 4.0, "mu": 0.1, "end": 0.9, "window_start": 0.2, "omega": 5.0}
    steps = {"k_t": 1e5, "step": 2e-4, "tolerance": 1e-9}
    exact = jax.grad(lambda a0: kernels.simulate("rubbing_mass", row | {"a0": a0})["wear_power"])(4.0)
    for scheme in ("devogelaere", "adapt2"):
        found = jax.grad(lambda a0, s=scheme: kernels.simulate("rubbing_mass", row | steps | {"a0": a0}, scheme=s)["wear_power"])(4.0)
        assert float(found) == pytest.approx(float(exact), rel=2e-2), scheme


@pytest.mark.slow
def test_a_run_of_chosen_steps_ends_later_when_its_end_does() -> None:
    row = {"a0": 4.0, "mu": 0.1, "k_t": 1e5, "window_end": 0.8, "omega": 5.0, "step": 2e-4, "tolerance": 1e-9}
    run = lambda end: kernels.simulate("rubbing_mass", row | {"end": end}, scheme="rk54")  # noqa: E731
    assert float(jax.grad(lambda end: run(end)["x_end"])(0.9)) == pytest.approx(float(run(0.9)["v_end"]), rel=1e-3)
