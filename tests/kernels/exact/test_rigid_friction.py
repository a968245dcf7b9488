"""The exact engine against event-by-event integration in 70 digits (tests/oracle) and the published table of SDND104."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.oracle import generate, rigid_friction
from tribosweep.kernels.exact import rigid_loop
from tribosweep.kernels.models import REGIMES

Solve = Callable[..., dict[str, np.ndarray]]
Reference = Callable[[str], list[dict[str, Any]]]
Sdnd104 = Callable[..., dict[str, Any]]

# scale of an observable's error, as observables of the same run
SIZES = {
    "wear_power": ("wear_power",),
    "wear_energy": ("wear_energy",),
    "slip_distance": ("slip_distance",),
    "max_slip_speed": ("max_slip_speed",),
    "drift": ("slip_distance", "x_end"),
    "x_end": ("slip_distance", "x_end"),
    "v_end": ("max_slip_speed", "v_end"),
    "stick_fraction": (),
}


def worst_errors(rows: list[dict[str, Any]], found: dict[str, np.ndarray]) -> dict[str, float]:
    """Largest error of every float observable, relative to the sizes met in that run."""
    exact = {name: np.array([float(row["result"][name]) for row in rows]) for name in SIZES}
    worst = {}
    for name, sizes in SIZES.items():
        scale = sum((np.abs(exact[size]) for size in sizes), np.zeros(len(rows))) if sizes else np.ones(len(rows))
        error = np.abs(found[name] - exact[name])
        relative = np.divide(error, scale, out=np.where(error > 0.0, np.inf, 0.0), where=scale > 0.0)
        worst[name] = float(relative.max())
    return worst


@pytest.mark.oracle("exact", "rigid")
@pytest.mark.parametrize(
    ("file", "wear", "rest"), [("rigid_k0.json", 1e-10, 1e-10), ("rigid_oscillator.json", 1e-9, 1e-9), ("named.json", 1e-11, 1e-11)]
)
def test_every_observable_agrees_with_the_high_precision_run(
    solve: Solve, reference: Reference, file: str, wear: float, rest: float
) -> None:
    rows = reference(file)
    found = solve([row["row"] for row in rows])
    assert not found["status"].any()
    worst = worst_errors(rows, found)
    assert worst.pop("wear_power") <= wear
    assert max(worst.values()) <= rest, worst


@pytest.mark.parametrize("file", ["rigid_k0.json", "rigid_oscillator.json", "named.json"])
def test_regime_and_number_of_slip_phases_are_those_of_the_high_precision_run(solve: Solve, reference: Reference, file: str) -> None:
    rows = reference(file)
    found = solve([row["row"] for row in rows])
    assert [REGIMES[code] for code in found["regime"]] == [row["result"]["regime"] for row in rows]
    assert found["slip_phases"].tolist() == [row["result"]["slip_phases"] for row in rows]


@pytest.mark.parametrize(("file", "index"), [("named.json", 2), ("rigid_k0.json", 150), ("rigid_oscillator.json", 47)])
def test_reference_data_is_what_its_generator_writes(reference: Reference, file: str, index: int) -> None:
    row = reference(file)[index]
    fresh = rigid_friction.run(row["params"], row["end"], tuple(row["window"]))
    for name, written in row["result"].items():
        assert (fresh[name] if isinstance(written, int) else generate.as_text(fresh[name]) if name != "regime" else fresh[name]) == written


@pytest.mark.parametrize(
    ("a0", "window_end", "published"),
    [
        (15.0, 12.0, 15.267099589371614),
        (1.5, 12.0, 0.40906245101570892),
        (1.01, 12.0, 2.2616412127978696e-4),
        (15.0, 11.99, 15.257521793943562),
        (1.5, 11.99, 0.40910313286351075),
        (1.01, 11.99, 2.2644718025510585e-4),
    ],
)
def test_sdnd104_without_spring_has_the_exact_wear_power(
    solve: Solve, sdnd104: Sdnd104, a0: float, window_end: float, published: float
) -> None:
    power = solve([sdnd104(a0, window_end=window_end)])["wear_power"][0]
    assert power == pytest.approx(published, rel=1e-11, abs=0.0)


@pytest.mark.parametrize(("a0", "published"), [(15.0, 15.266764915), (1.5, 0.40906275889), (1.01, 2.26164125886e-4)])
def test_sdnd104_with_the_spring_of_the_original_tool_has_its_independent_wear_power(
    solve: Solve, sdnd104: Sdnd104, a0: float, published: float
) -> None:
    power = solve([sdnd104(a0, k=3e-5)])["wear_power"][0]
    assert power == pytest.approx(published, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("k", [0.0, 3e-5])
def test_below_the_friction_limit_nothing_moves_at_all(solve: Solve, sdnd104: Sdnd104, k: float) -> None:
    found = solve([sdnd104(0.99, k=k), sdnd104(1.0, k=k)])
    for name in (
        "wear_power",
        "wear_energy",
        "friction_power",
        "slip_distance",
        "max_slip_speed",
        "drift",
        "x_end",
        "v_end",
        "slip_phases",
    ):
        assert found[name].tolist() == [0.0, 0.0], name
    assert found["stick_fraction"].tolist() == [1.0, 1.0]
    assert [REGIMES[code] for code in found["regime"]] == ["stick", "stick"]


def test_a_slip_slip_run_tends_to_its_closed_form(solve: Solve, sdnd104: Sdnd104) -> None:
    power = solve([sdnd104(15.0, end=2000.0, window_start=1990.0, window_end=2000.0)])["wear_power"][0]
    assert power == pytest.approx(15.114614488611316, rel=1e-10)


def test_without_friction_the_mass_follows_its_support_from_the_first_instant(solve: Solve) -> None:
    # x'' = -a0 sin(omega t) from rest: v = (a0/omega)(cos(omega t) - 1), never positive
    a0, omega = 3.0, 2.0 * np.pi
    found = solve([{"mu": 0.0, "a0": a0, "omega": omega, "end": 2.0}])
    assert found["x_end"][0] == pytest.approx(-a0 / omega * 2.0, rel=1e-13)
    assert found["slip_distance"][0] == pytest.approx(a0 / omega * 2.0, rel=1e-13)
    assert found["max_slip_speed"][0] == pytest.approx(2.0 * a0 / omega, rel=1e-13)


def test_static_friction_above_dynamic_delays_the_slip_and_not_its_force(solve: Solve) -> None:
    # a constant load above mu_s F_n sets a mass in motion at mu_d F_n; below it, nothing moves
    base = {"m": 2.0, "g": 10.0, "mu_s": 0.3, "mu_d": 0.1, "a0": 0.0, "omega": 1.0, "end": 3.0}
    found = solve([base | {"load": 6.1}, base | {"load": 5.9}])
    assert found["x_end"].tolist() == pytest.approx([0.5 * (6.1 - 2.0) / 2.0 * 9.0, 0.0], rel=1e-14, abs=0.0)


def test_a_mass_is_released_at_static_friction_and_accelerates_by_what_that_exceeds_the_dynamic() -> None:
    p = {"m": 2.0, "k": 3.0, "c": 0.4, "a0": 1.5, "omega": 3.0, "mu_s": 0.12, "mu_d": 0.08, "normal_force": 20.0, "end": 5.0}
    p |= {"window_end": 5.0} | dict.fromkeys(("f0", "phase", "load", "x0", "v0", "window_start"), 0.0)

    def released(p: dict[str, jax.Array]) -> rigid_loop.RigidState:
        machine = rigid_loop.machine(p, free=False)
        return machine.rest(machine.rest(machine.start))  # the stage before the window has no length

    found = jax.jit(released)({name: jnp.asarray(value) for name, value in p.items()})
    assert float(found.t) == pytest.approx(math.asin(0.12 * 20.0 / (2.0 * 1.5)) / 3.0, rel=1e-12)
    assert float(found.direction) == -1.0
    assert float(found.anchor.a) == pytest.approx(-(0.12 - 0.08) * 20.0 / 2.0, rel=1e-10)
