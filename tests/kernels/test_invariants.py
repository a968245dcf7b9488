"""What cannot depend on the numbers: symmetry, units, energy, whole periods."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Solve = Callable[..., dict[str, np.ndarray]]

quick = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


def number(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@st.composite
def oscillators(draw: Any) -> dict[str, Any]:
    """A rubbing mass of moderate numbers, with or without spring and damper; not started at rest, where ties of rounding decide."""
    end = draw(number(2.0, 6.0))
    mu_d = draw(number(0.01, 0.3))
    return {
        "m": draw(number(0.5, 4.0)), "g": 10.0, "k": draw(st.sampled_from([0.0, 3.0, 40.0])), "c": draw(st.sampled_from([0.0, 0.4])),
        "mu_s": mu_d * draw(st.sampled_from([1.0, 1.5])), "mu_d": mu_d, "a0": draw(number(-9.0, 9.0)), "f0": draw(number(-3.0, 3.0)),
        "load": draw(number(-1.0, 1.0)), "omega": draw(number(2.0, 9.0)), "phase": draw(number(-3.0, 3.0)), "x0": draw(number(-0.3, 0.3)),
        "v0": draw(number(0.05, 1.0)), "end": end, "window_start": 0.3 * end, "window_end": 0.9 * end,
    }  # fmt: skip


@pytest.mark.slow
@quick
@given(row=oscillators())
def test_the_mirrored_run_is_the_mirror_of_the_run(solve: Solve, row: dict[str, Any]) -> None:
    mirrored = row | {name: -row[name] for name in ("a0", "f0", "load", "x0", "v0")}
    found = solve([row, mirrored])
    for name in ("wear_power", "slip_distance", "stick_fraction", "slip_phases", "regime", "max_slip_speed"):
        assert found[name][1] == pytest.approx(found[name][0], rel=1e-9, abs=1e-11), name
    for name in ("drift", "x_end", "v_end"):
        assert found[name][1] == pytest.approx(-found[name][0], rel=1e-9, abs=1e-10), name


@pytest.mark.slow
@quick
@given(row=oscillators(), factor=st.sampled_from([0.125, 3.0, 1e3]))
def test_scaling_every_force_and_the_mass_scales_the_wear_and_not_the_motion(solve: Solve, row: dict[str, Any], factor: float) -> None:
    heavy = row | {name: factor * row[name] for name in ("m", "k", "c", "f0", "load")}
    found = solve([row, heavy])
    assert found["wear_power"][1] == pytest.approx(factor * found["wear_power"][0], rel=1e-9, abs=1e-10 * factor)
    for name in ("slip_distance", "stick_fraction", "slip_phases", "x_end", "v_end"):
        assert found[name][1] == pytest.approx(found[name][0], rel=1e-9, abs=1e-10), name


@quick
@given(row=oscillators(), factor=st.sampled_from([0.25, 3.0]))
def test_a_slower_clock_slows_the_motion_and_leaves_its_path(solve: Solve, row: dict[str, Any], factor: float) -> None:
    # t -> factor t: velocities over factor, accelerations and forces over its square
    powers = {
        "end": 1,
        "window_start": 1,
        "window_end": 1,
        "omega": -1,
        "v0": -1,
        "c": -1,
        "k": -2,
        "a0": -2,
        "f0": -2,
        "load": -2,
        "g": -2,
    }
    found = solve([row, row | {name: row[name] * factor**power for name, power in powers.items()}])
    for name, power in {"slip_distance": 0, "stick_fraction": 0, "x_end": 0, "v_end": -1, "max_slip_speed": -1, "wear_power": -3}.items():
        assert found[name][1] * factor**-power == pytest.approx(found[name][0], rel=1e-9, abs=1e-10), name


@quick
@given(row=oscillators(), turns=st.integers(-3, 3))
def test_whole_turns_of_the_phase_change_nothing(solve: Solve, row: dict[str, Any], turns: int) -> None:
    found = solve([row, row | {"phase": row["phase"] + 2.0 * math.pi * turns}])
    for name in ("wear_power", "stick_fraction", "slip_phases", "x_end", "v_end", "max_slip_speed"):
        assert found[name][1] == pytest.approx(found[name][0], rel=1e-8, abs=1e-10), name


@quick
@given(row=oscillators())
def test_without_excitation_the_lost_energy_is_the_work_of_friction(solve: Solve, row: dict[str, Any]) -> None:
    quiet = row | {"a0": 0.0, "f0": 0.0, "c": 0.0, "window_start": 0.0, "window_end": row["end"]}
    found = solve([quiet])

    def energy(x: float, v: float) -> float:
        return 0.5 * row["m"] * v**2 + 0.5 * row["k"] * x**2 - row["load"] * x

    lost = energy(row["x0"], row["v0"]) - energy(found["x_end"][0], found["v_end"][0])
    assert lost == pytest.approx(found["friction_power"][0] * row["end"], rel=1e-10, abs=1e-11)


@quick
@given(row=oscillators())
def test_observables_of_one_run_agree_with_each_other(solve: Solve, row: dict[str, Any]) -> None:
    found = {name: float(values[0]) for name, values in solve([row]).items()}
    length, normal = row["window_end"] - row["window_start"], row["m"] * row["g"]
    assert found["wear_energy"] == pytest.approx(normal * found["slip_distance"], rel=1e-14)
    assert found["wear_power"] == pytest.approx(found["wear_energy"] / length, rel=1e-14)
    assert found["friction_power"] == pytest.approx(row["mu_d"] * found["wear_power"], rel=1e-14)
    assert 0.0 <= found["stick_fraction"] <= 1.0 + 1e-14
    assert abs(found["drift"]) <= found["slip_distance"] * (1.0 + 1e-12)
    assert found["slip_distance"] <= found["max_slip_speed"] * length * (1.0 - found["stick_fraction"]) + 1e-12
    assert (found["slip_phases"] == 0) == (found["slip_distance"] == 0.0) == (found["regime"] == 0)
    if found["regime"] == 2 and row["v0"]:
        assert found["stick_fraction"] == 0.0


def test_a_window_cut_in_two_has_the_slip_of_both_parts(solve: Solve) -> None:
    base = {"a0": 1.5, "omega": 2.0 * math.pi, "end": 6.0}
    for k in (0.0, 5.0):
        whole, first, second = (
            solve([base | {"k": k, "window_start": start, "window_end": stop}]) for start, stop in ((1.1, 5.3), (1.1, 2.7), (2.7, 5.3))
        )
        for name in ("slip_distance", "wear_energy", "drift"):
            assert first[name][0] + second[name][0] == pytest.approx(whole[name][0], rel=1e-12, abs=1e-14)
        assert whole["x_end"][0] == pytest.approx(first["x_end"][0], abs=1e-14)


def test_more_friction_never_wears_more_and_regimes_come_in_order(solve: Solve) -> None:
    mu = np.linspace(0.0, 0.2, 64)
    found = solve([{"a0": 1.5, "omega": 2.0 * math.pi, "mu": each, "end": 40.0, "window_start": 20.0} for each in mu])
    assert (np.diff(found["wear_power"]) <= 1e-12).all()
    assert (np.diff(found["regime"].astype(int)) <= 0).all()
    eta = 10.0 * mu / 1.5
    analytic = np.where(eta >= 1.0, 0, np.where(eta > 2.0 / math.sqrt(math.pi**2 + 4.0), 1, 2))
    assert found["regime"].tolist() == analytic.tolist()


@pytest.mark.parametrize("distance", [1e-7, 1e-9])
def test_regime_boundaries_of_a_free_mass_lie_where_theory_puts_them(solve: Solve, distance: float) -> None:
    star = 2.0 / math.sqrt(math.pi**2 + 4.0)
    etas = [boundary * (1.0 + side * distance) for boundary in (1.0, star) for side in (1.0, -1.0)]
    found = solve([{"a0": 1.0 / eta, "mu": 0.1, "omega": 2.0 * math.pi, "end": 400.0, "window_start": 390.0} for eta in etas])
    assert found["regime"].tolist() == [0, 1, 1, 2]


def test_a_friction_limit_a_hair_below_the_excitation_slips_once_in_each_half_period(solve: Solve) -> None:
    etas = [1.0 - 10.0**-digits for digits in range(1, 14)] + [1.0 - 1e-15, math.nextafter(1.0, 0.0)]
    rows = [{"a0": 1.0, "mu": 0.1 * eta, "omega": 2.0 * math.pi, "end": 12.0, "k": k} for eta in etas for k in (0.0, 1e-3)]
    found = solve(rows)
    assert not found["status"].any()
    assert (found["slip_phases"][:-4] == 24.0).all(), found["slip_phases"]
    assert (found["slip_phases"][-4:] == 0.0).all()  # below the slack of the definition of a slip, 1e-14: rounding does not decide
