"""Friction that falls with the slip speed, static and dynamic friction, and a support that moves: closed forms, rigid friction, oracles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from tests.oracle import time_schemes, varied_friction
from tribosweep import kernels
from tribosweep.kernels.models.schemes import EXACT, SCHEMES

Solve = Callable[..., dict[str, np.ndarray]]
TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)
QUICK = ("euler", "rk32")
ALL = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TIME_SCHEMES]


def exactly_braked(row: dict[str, float], t: float) -> float:
    """Velocity [m/s] of a mass that slides by Stribeck's law with exponent 1 and nothing else on it.

    With u = exp(v / v_s): u' = -F_n / (m v_s) (mu_d u + mu_s - mu_d), which is linear.
    """
    rate = row["normal_force"] / (row["m"] * row["stribeck_speed"])
    more = (row["mu_s"] - row["mu_d"]) / row["mu_d"]
    u = (math.exp(row["v0"] / row["stribeck_speed"]) + more) * math.exp(-rate * row["mu_d"] * t) - more
    return row["stribeck_speed"] * math.log(u)


# a belt that rests is still one: the program is that of all tests here
BRAKED = {"m": 1.5, "normal_force": 8.0, "mu_s": 0.4, "mu_d": 0.15, "stribeck_speed": 0.3, "v0": 1.5, "belt_speed": 0.0, "a0": 0.0,
          "k_t": 1e5, "end": 1.2, "step": 5e-4, "largest_step": 0.01}  # fmt: skip
BRAKED_ERRORS = {"euler": 1e-3, "devogelaere": 2e-4, "adapt1": 3e-2, "adapt2": 1e-4, "rk32": 1e-6, "rk54": 1e-6}


@pytest.mark.long_cases("adapt1", "adapt2", "devogelaere")
@pytest.mark.oracle("stribeck_speed")
@pytest.mark.parametrize("scheme", ALL)
def test_a_braked_mass_slows_down_as_the_closed_form_says(solve: Solve, scheme: str) -> None:
    belt = 0.2  # seen from the belt the motion is the same
    rows = [BRAKED | {"belt_speed": belt, "v0": BRAKED["v0"] + belt}, BRAKED | {"belt_speed": -belt, "v0": -BRAKED["v0"] - belt}]
    found = solve(rows, scheme)
    assert not found["status"].any()
    end = exactly_braked(BRAKED, BRAKED["end"])
    assert 0.1 < end < 0.5
    for i, sign in enumerate((1.0, -1.0)):
        assert sign * found["v_end"][i] - belt == pytest.approx(end, rel=BRAKED_ERRORS[scheme])
        slid = sign * found["x_end"][i] - belt * BRAKED["end"]
        assert found["slip_distance"][i] == pytest.approx(slid, rel=1e-9)
        assert found["wear_energy"][i] == pytest.approx(BRAKED["normal_force"] * slid, rel=1e-9)
        lost = 0.5 * BRAKED["m"] * (BRAKED["v0"] ** 2 - end**2)
        assert found["friction_power"][i] * BRAKED["end"] == pytest.approx(lost, rel=BRAKED_ERRORS[scheme])
        assert found["slip_phases"][i] == 1


@pytest.mark.long_cases("rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk32", "rk54"])
def test_friction_that_rises_with_the_slip_speed_brakes_and_balances_a_load_as_the_closed_forms_say(solve: Solve, scheme: str) -> None:
    """Static friction below the dynamic one, as of PTFE: at a load between both there is one speed, and the motion comes to it."""
    rising = BRAKED | {"mu_s": 0.15, "mu_d": 0.4}
    load = 0.25 * rising["normal_force"]
    steady = -rising["stribeck_speed"] * math.log((0.4 - 0.25) / (0.4 - 0.15))
    rows = [rising | {"end": 0.5, "load": 0.0}, rising | {"end": 9.0, "load": load}, rising | {"v0": 0.0, "end": 9.0, "load": -load}]
    found = solve(rows, scheme)
    assert not found["status"].any()
    ends = [exactly_braked(rising, 0.5), steady, -steady]
    assert 0.3 < ends[0] < 1.0
    assert found["v_end"] == pytest.approx(np.array(ends), rel=BRAKED_ERRORS[scheme])


# the classical oscillator on a belt, which sticks and slips by itself
BELT = {"m": 1.0, "k": 100.0, "c": 0.2, "a0": 0.0, "mu_s": 0.3, "mu_d": 0.15, "normal_force": 10.0, "stribeck_speed": 0.05, "end": 8.0,
        "window_start": 2.0, "window_end": 8.0}  # fmt: skip


@pytest.mark.parametrize("scheme", ALL)
def test_a_mass_on_a_belt_sticks_and_slips_as_rigid_friction_does(solve: Solve, scheme: str) -> None:
    rows = [BELT | {"belt_speed": speed} for speed in (0.03, 0.1, -0.1)]
    found = solve([row | {"k_t": 1e6, "step": 2e-4, "largest_step": 2e-3} for row in rows], scheme)
    assert not found["status"].any()
    expected = [varied_friction.run(row) for row in rows]
    slack = 2e-2 if scheme == "adapt1" else 3e-3
    for name in ("wear_power", "friction_power", "slip_distance"):
        np.testing.assert_allclose(found[name], [each[name] for each in expected], rtol=slack, err_msg=name)
    np.testing.assert_allclose(found["stick_fraction"], [each["stick_fraction"] for each in expected], atol=slack)
    assert (found["stick_fraction"] > 0.2).all()
    assert (found["regime"] == 1).all()


@pytest.mark.oracle("belt_speed")
def test_steady_sliding_on_a_belt_is_left_at_the_rate_of_the_falling_friction(solve: Solve) -> None:
    speed, small = 0.2, 1e-5
    fall = (BELT["mu_s"] - BELT["mu_d"]) * math.exp(-speed / BELT["stribeck_speed"])
    still = BELT["normal_force"] * (BELT["mu_d"] + fall) / BELT["k"]
    slope = BELT["normal_force"] * fall / BELT["stribeck_speed"]
    rows = [
        BELT | {"c": c, "belt_speed": speed, "x0": still + small, "end": 4.0, "window_end": 4.0, "k_t": 1e6, "step": 1e-3,
                "largest_step": 2e-3, "tolerance": 1e-9} for c in (0.0, 2.0 * slope)
    ]  # fmt: skip
    found = solve(rows, "rk32")
    for i, c in enumerate((0.0, 2.0 * slope)):
        delta = 0.5 * (c - slope) / BELT["m"]  # x'' + 2 delta x' + k/m x = 0
        omega = math.sqrt(BELT["k"] / BELT["m"] - delta**2)
        away = small * math.exp(-delta * 4.0) * (math.cos(4.0 * omega) + delta / omega * math.sin(4.0 * omega))
        # steady sliding against the damper of the mass itself: x' = 0 there
        assert found["x_end"][i] - still == pytest.approx(away, rel=5e-3, abs=1e-8)
        assert found["regime"][i] == 2


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "adapt2"])  # the others share the law
def test_rubbing_is_that_of_an_independent_implementation(solve: Solve, scheme: str) -> None:
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(24):
        mu_d = rng.uniform(0.05, 0.15)
        rows.append(
            {
                "m": rng.uniform(0.5, 2.0), "mu_d": mu_d, "mu_s": mu_d * rng.uniform(1.0, 2.0), "k": rng.choice([0.0, 30.0]),
                "c": rng.choice([0.0, 0.7]), "a0": rng.uniform(0.5, 8.0), "omega": rng.uniform(3.0, 9.0), "phase": rng.uniform(0.0, 6.0),
                "v0": rng.choice([0.0, 0.4]), "k_t": rng.choice([4e3, 1e5]), "normal_force": rng.uniform(3.0, 12.0),
                "stribeck_speed": rng.uniform(0.01, 0.5), "stribeck_exponent": rng.choice([0.7, 1.0, 2.0]),
                "belt_speed": rng.choice([-0.1, 0.3]), "end": 1.0, "window_start": 0.3123, "window_end": 0.871, "step": 5e-4,
                "largest_step": 1e-2, "smallest_step": 1e-9,
            }
        )  # fmt: skip
    found = solve(rows, scheme)
    expected = [time_schemes.run(scheme, {"normal" if n == "normal_force" else n: v for n, v in row.items()}) for row in rows]
    by_error = "tolerance" in SCHEMES[scheme].reads  # differences near rounding decide there
    for name in ("x_end", "v_end", "slip_distance", "wear_power", "friction_power"):
        cut = SCHEMES[scheme].fixed_step and name not in ("x_end", "v_end")  # where the window ends within a step
        slack = 2e-4 if name == "friction_power" else 2e-5 if by_error or cut else 1e-8  # the oracle sums mu(w) F_n w otherwise
        np.testing.assert_allclose(found[name], [each[name] for each in expected], rtol=slack, atol=slack * 1e-2, err_msg=name)


@pytest.mark.slow
def test_a_stribeck_speed_of_nothing_is_dynamic_friction(solve: Solve) -> None:
    row = {"v0": 0.3, "a0": 3.0, "mu_s": 0.13, "mu_d": 0.1, "k_t": 1e5, "end": 2.0, "step": 5e-4}  # a start at rest would stick or slip
    plain = solve([row], "euler")
    found = solve([row | {"stribeck_speed": 1e-12, "belt_speed": 1e-300}], "euler")
    for name in ("wear_power", "friction_power", "x_end", "v_end", "stick_fraction", "slip_phases", "stops", "regime"):
        assert found[name][0] == pytest.approx(plain[name][0], rel=1e-9), name


@pytest.mark.long
@pytest.mark.slow
def test_static_and_dynamic_friction_are_the_same_by_every_scheme(solve: Solve) -> None:
    row = {"a0": 3.0, "mu_s": 0.15, "mu_d": 0.1, "omega": 2.0 * math.pi, "end": 6.0, "window_start": 2.0, "window_end": 6.0}
    penalised = row | {"k_t": 9e6, "step": 1e-4, "largest_step": 1e-3}
    rigid, soft = solve([row, penalised], "exact")["wear_power"]
    assert rigid == pytest.approx(varied_friction.run(row)["wear_power"], rel=1e-9)
    assert soft == pytest.approx(rigid, rel=5e-4)
    for scheme in TIME_SCHEMES:
        found = solve([penalised], scheme)["wear_power"][0]
        assert found == pytest.approx(soft, rel=2e-3 if scheme == "adapt1" else 3e-4), scheme


@pytest.mark.slow
def test_derivatives_are_those_of_central_differences() -> None:
    fixed = {"m": 1.2, "k": 20.0, "a0": 2.0, "omega": 5.0, "k_t": 2e4, "end": 1.5, "step": 1e-4, "normal_force": 6.0}
    at = {"stribeck_speed": 0.1, "stribeck_exponent": 1.3, "belt_speed": 0.5, "mu_s": 0.3, "mu_d": 0.2}
    wanted = ("wear_power", "friction_power", "x_end", "v_end")

    def values(varying: dict[str, Any]) -> list[Any]:
        found = kernels.simulate("rubbing_mass", fixed | varying, scheme="euler")
        return [found[name] for name in wanted]

    rates = jax.jacfwd(values)(at)
    h = 1e-3  # so large that events pass many steps: derivatives follow them, the computed motion goes on by steps
    for name, value in at.items():
        up, down = (values(at | {name: value + sign * h}) for sign in (1.0, -1.0))
        slope = [(float(u) - float(d)) / (2.0 * h) for u, d in zip(up, down, strict=True)]
        np.testing.assert_allclose([float(rate[name]) for rate in rates], slope, rtol=0.04, atol=1e-3, err_msg=name)
