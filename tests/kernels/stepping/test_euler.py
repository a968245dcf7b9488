"""Symplectic Euler on the penalised law: the published case, and an independent integration of the law in continuous time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep.kernels.models import REGIMES

Solve = Callable[..., dict[str, np.ndarray]]
Sdnd104 = Callable[..., dict[str, Any]]

PENALISED = {"k": 3e-5, "k_t": 9e6, "step": 1e-4}
AMPLITUDES = (15.0, 1.5, 1.01)


@pytest.fixture(scope="module")
def published(solve: Solve) -> dict[str, np.ndarray]:
    """SDND104 at its four amplitudes, then at half the step."""
    base = {"m": 1.0, "g": 10.0, "mu": 0.1, "omega": 2.0 * np.pi, "end": 12.0, "window_start": 4.0, "window_end": 12.0} | PENALISED
    return solve([base | {"a0": a0, "step": step} for step in (1e-4, 5e-5) for a0 in (*AMPLITUDES, 0.99)], "euler")


def test_sdnd104_has_the_plain_average_values_of_the_scheme(published: dict[str, np.ndarray]) -> None:
    assert published["wear_power"][:3] == pytest.approx([15.2673883, 0.4090693419, 2.2630382e-4], rel=5e-5)


def test_sdnd104_differs_from_the_published_reference_by_no_more_than_the_published_differences(published: dict[str, np.ndarray]) -> None:
    off = np.abs(published["wear_power"][:3] / [15.2671, 0.409062, 2.26164e-4] - 1.0)
    assert (off <= [0.7e-4, 0.4e-4, 7.2e-4]).all(), off


def test_halving_the_step_halves_the_distance_to_continuous_time(published: dict[str, np.ndarray]) -> None:
    # of a0 = 15 and 1.01; the error at 1.5 is mostly that of events between steps
    error = (published["wear_power"].reshape(2, 4)[:, [0, 2]] / [15.2668855, 2.2630129e-4] - 1.0).T
    assert (np.abs(error[:, 1]) < 0.75 * np.abs(error[:, 0])).all(), error
    assert np.abs(error[:, 1]).max() < 5e-5


def test_a_stuck_mass_that_creeps_wears_nothing(published: dict[str, np.ndarray]) -> None:
    for name in ("wear_power", "wear_energy", "friction_power", "slip_distance", "max_slip_speed", "slip_phases"):
        assert published[name][[3, 7]].tolist() == [0.0, 0.0], name
    np.testing.assert_allclose(published["stick_fraction"][[3, 7]], 1.0, atol=1e-10)
    assert 0.0 < np.abs(published["v_end"][3]) < 1e-4  # it does creep


def test_regimes_and_slip_phases_are_those_of_rigid_friction(solve: Solve, sdnd104: Sdnd104, published: dict[str, np.ndarray]) -> None:
    rigid = solve([sdnd104(a0, k=3e-5) for a0 in (*AMPLITUDES, 0.99)])
    assert [REGIMES[code] for code in published["regime"][:4]] == ["slip-slip", "stick-slip", "stick-slip", "stick"]
    assert published["regime"][:4].tolist() == rigid["regime"].tolist()
    assert published["slip_phases"][:4].tolist() == rigid["slip_phases"].tolist()
    assert published["max_slip_speed"][:4] == pytest.approx(rigid["max_slip_speed"], rel=2e-3, abs=0.0)


def continuous(p: dict[str, float]) -> dict[str, float]:
    """The penalised law in continuous time by event location: displacement at the end, slip distance and slip time in the window."""
    normal = p["m"] * p["g"]
    static, dynamic = p["mu_s"] * normal, p["mu_d"] * normal
    outside = lambda t, x, v: -p["m"] * p["a0"] * np.sin(p["omega"] * t) - p["k"] * x - p["c"] * v  # noqa: E731
    t, y, slip = 0.0, np.zeros(2), 0
    stored, anchor = 0.0, 0.0
    distance = slipping = 0.0
    cuts = [p["window_start"], p["window_end"], p["end"]]
    while t < p["end"]:
        cut = next(cut for cut in cuts if cut > t)

        def trial(y: np.ndarray, stored: float = stored, anchor: float = anchor) -> float:
            return float(stored - p["k_t"] * (y[0] - anchor) - p["c_t"] * y[1])

        if slip:
            direction = slip
            rhs = lambda t, y, d=direction: [y[1], (outside(t, *y) - d * dynamic) / p["m"]]  # noqa: E731
            event = lambda _t, y: y[1]  # noqa: E731
            event.direction = -direction
        else:
            rhs = lambda t, y, trial=trial: [y[1], (outside(t, *y) + trial(y)) / p["m"]]  # noqa: E731
            event = lambda _t, y, trial=trial: abs(trial(y)) - static  # noqa: E731
            event.direction = 1.0
        event.terminal = True
        run = solve_ivp(rhs, (t, cut), y, method="DOP853", rtol=1e-11, atol=1e-13, events=event, max_step=0.01)
        inside = p["window_start"] <= t < p["window_end"]
        if slip and inside:
            distance += abs(run.y[0, -1] - y[0])
            slipping += run.t[-1] - t
        t, y = float(run.t[-1]), run.y[:, -1]
        if run.status == 1:
            if slip:  # the spring starts from the force of the slip
                stored, anchor, slip = -slip * dynamic, y[0], 0
                y[1] = 0.0
            else:
                slip = int(np.sign(y[1]))
    return {"x_end": float(y[0]), "slip_distance": distance, "stick_fraction": 1.0 - slipping / (p["window_end"] - p["window_start"])}


@pytest.mark.parametrize(
    "changes",
    [
        {"a0": 1.5, "mu_s": 0.1, "mu_d": 0.1},
        {"a0": 1.7, "mu_s": 0.12, "mu_d": 0.08, "k": 30.0, "c": 0.5},
        {"a0": 6.0, "mu_s": 0.1, "mu_d": 0.07, "k": 5.0},
    ],
)
def test_euler_converges_with_order_one_to_the_law_in_continuous_time(solve: Solve, changes: dict[str, float]) -> None:
    # the window begins and ends between steps
    base = {"m": 1.0, "g": 10.0, "k": 0.0, "c": 0.0, "omega": 2.0 * np.pi, "k_t": 4e3, "c_t": 120.0}
    base |= {"end": 3.0, "window_start": 0.7123456, "window_end": 2.8765432} | changes
    exact = continuous(base)
    steps = np.array([4e-4, 2e-4, 1e-4, 5e-5, 2.5e-5])
    found = solve([base | {"step": step} for step in steps], "euler")
    for name, scale in (("slip_distance", exact["slip_distance"]), ("stick_fraction", 1.0), ("x_end", exact["slip_distance"])):
        error = np.abs(found[name] - exact[name]) / scale
        assert (error < 15.0 * steps).all(), (name, error / steps)


def test_a_run_that_is_no_whole_number_of_steps_ends_at_its_end(solve: Solve) -> None:
    # a free flight: mu = 0 leaves only v0, and the contact never holds it
    found = solve([{"mu": 0.0, "v0": 2.0, "k_t": 1.0, "c_t": 0.0, "step": 0.3, "end": 1.0, "omega": 1.0, "window_start": 0.25}], "euler")
    assert found["x_end"][0] == pytest.approx(2.0, rel=1e-14)
    assert found["slip_distance"][0] == pytest.approx(1.5, rel=1e-14)
    assert found["drift"][0] == pytest.approx(1.5, rel=1e-14)


def test_a_mass_that_slides_to_a_stop_dissipates_its_kinetic_energy(solve: Solve) -> None:
    m, v0, mu = 2.0, 1.5, 0.3
    found = solve([{"m": m, "mu": mu, "v0": v0, "k_t": 1e6, "end": 2.0, "omega": 1.0, "step": 1e-4}], "euler")
    assert mu * found["wear_energy"][0] == pytest.approx(0.5 * m * v0**2, rel=5e-4)
    assert found["x_end"][0] == pytest.approx(v0**2 / (2.0 * mu * 10.0), rel=5e-4)
    assert found["slip_phases"][0] == 1.0


def test_friction_brakes_a_mass_from_the_first_step_on(solve: Solve) -> None:
    v0, mu, step = np.array([1.5, -1.5, 5e-7, -5e-7]), 0.3, 1e-3  # the last two are below the least speed of a slip
    found = solve([{"m": 2.0, "mu": mu, "v0": v, "k_t": 1e4, "c_t": 0.0, "omega": 1.0, "step": step, "end": step} for v in v0], "euler")
    np.testing.assert_allclose(found["v_end"], v0 - np.sign(v0) * mu * 10.0 * step, rtol=1e-12)  # g = 10 m/s^2
