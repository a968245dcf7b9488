"""Links beside k and c of the time schemes, against an independent integration."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from tests.oracle.links import integrate
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.contact.hardening import Hardening
from tribosweep.kernels.contact.link_law import PiecewiseLinear, Travel
from tribosweep.kernels.contact.maxwell import Maxwell
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.reference.links import CASES

END = 2.0


def rows_of(count: int, seed: int) -> list[dict[str, Any]]:
    """Random oscillators without friction; their tables differ in length."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        springs, dampers, branches = rng.integers([2, 2, 1], [7, 7, 4])
        stretch = np.cumsum(rng.uniform(0.02, 0.1, rng.integers(2, 6)))
        slopes = np.sort(rng.uniform(0.0, 60.0, len(stretch)))[::-1]
        rows.append(
            {
                "m": rng.uniform(0.5, 2.0),
                "k": rng.uniform(0.0, 50.0),
                "c": rng.uniform(0.0, 0.5),
                "x0": rng.uniform(-0.2, 0.2),
                "a0": rng.uniform(1.0, 5.0),
                "omega": rng.uniform(3.0, 12.0),
                "spring_displacement": np.cumsum(rng.uniform(0.05, 0.2, springs)) - 0.3,
                "spring_force": np.cumsum(rng.uniform(0.0, 20.0, springs)) - 20.0,
                "damper_velocity": np.cumsum(rng.uniform(0.1, 0.5, dampers)) - 0.6,
                "damper_force": np.cumsum(rng.uniform(0.0, 1.0, dampers)) - 1.0,
                "maxwell_stiffness": rng.uniform(5.0, 40.0, branches),
                "hardening_displacement": np.r_[0.0, stretch],
                "hardening_force": np.r_[0.0, np.cumsum(slopes * np.diff(stretch, prepend=0.0))],
                "maxwell_damping": 10.0 ** rng.uniform(-1.0, 1.0, branches),
            }
        )
    return rows


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows as columns, tables padded with NaN."""
    found: dict[str, Any] = {}
    for name in rows[0]:
        values = [np.atleast_1d(row[name]) for row in rows]
        width = max(map(len, values))
        padded = np.array([np.pad(value, (0, width - len(value)), constant_values=np.nan) for value in values])
        found[name] = padded if np.ndim(rows[0][name]) else padded[:, 0]
    return found


def run(model: str, scheme: str, rows: list[dict[str, Any]], **times: float) -> dict[str, np.ndarray]:
    """Observables of rows, none of which fails."""
    found = solve(MODELS[model], scheme, {**columns(rows), **times}, count=len(rows))
    assert (found.status == Status.OK).all()
    return found.observables


def agree(found: dict[str, np.ndarray], rows: list[dict[str, Any]], allowed: float) -> None:
    """Every row is that of the independent integration."""
    for n, row in enumerate(rows):
        for name, value in integrate(row, END).items():
            scale = {"x_end": 0.1, "v_end": 1.0, "link_force_end": 10.0, "link_dissipation": 10.0, "link_plastic_way": 0.5}[name]
            assert found[name][n] == pytest.approx(value, abs=allowed * scale), (n, name)


@pytest.mark.long_cases("8")
@pytest.mark.oracle("spring_force", "damper_force")
@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_rk54_is_an_independent_integration(count: int) -> None:
    rows = rows_of(count, 3)
    found = run("rubbing_mass", "rk54", rows, mu=0.0, end=END, tolerance=1e-9)
    agree(found, rows, 1e-6)
    assert (found["link_peak_force"] >= np.abs(found["link_force_end"])).all()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "step", "allowed"), [("euler", 2e-4, 1e-2), ("adapt2", 1e-3, 5e-3)])
def test_every_scheme_tends_to_it_and_walls_stand_beside_links(scheme: str, step: float, allowed: float) -> None:
    rows = [row | {"k_n": 2000.0, "gap": 0.05} for row in rows_of(4, 5)]
    agree(run("stop", scheme, rows, end=END, step=step, largest_step=step), rows, allowed)


@pytest.mark.slow
def test_a_linear_table_is_a_linear_spring_and_damper() -> None:
    straight = {
        "spring_displacement": [-1.0, 0.3],
        "spring_force": [-40.0, 12.0],
        "damper_velocity": [-1.0, 2.0],
        "damper_force": [-0.5, 1.0],
    }
    others = {"mu": 0.1, "k_t": 1e4, "a0": 4.0, "omega": 5.0, "end": END, "window_start": 0.5, "window_end": 1.7, "step": 1e-3}
    linked = kernels.simulate("rubbing_mass", others | straight, "euler")
    plain = kernels.simulate("rubbing_mass", others | {"k": 40.0, "c": 0.5, "c_t": 200.0}, "euler")
    given = kernels.simulate("rubbing_mass", others | straight | {"c_t": 200.0}, "euler")
    assert float(given.wear_power) == pytest.approx(float(plain.wear_power), rel=1e-9)
    assert float(given.x_end) == pytest.approx(float(plain.x_end), rel=1e-9)
    assert float(linked.wear_power) == pytest.approx(float(plain.wear_power), rel=1e-2)  # c_t is critical damping by default


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_through_the_steps_are_differences() -> None:
    row = rows_of(1, 7)[0] | {"mu": 0.0, "end": 1.0, "step": 1e-3}

    def last(factor: Any) -> Any:
        return kernels.simulate("rubbing_mass", {**row, "spring_force": factor * row["spring_force"]}, "euler").x_end

    found = jax.grad(last)(1.0)
    assert float(found) == pytest.approx(float(last(1.0 + 1e-6) - last(1.0 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_dashpots_of_a_power_law_are_an_independent_integration() -> None:
    rows = [row | {"maxwell_exponent": exponent} for row, exponent in zip(rows_of(4, 11), (0.3, 0.5, 0.8, 1.0), strict=True)]
    agree(run("rubbing_mass", "rk54", rows, mu=0.0, end=END, tolerance=1e-10, largest_step=0.01), rows, 1e-5)


@pytest.mark.oracle("maxwell_stiffness")
@pytest.mark.parametrize("ratio", [0.03, 1.0, 200.0])
def test_maxwell_branches_have_their_storage_and_loss_moduli(ratio: float) -> None:
    stiffness, omega, count = np.array([30.0, 7.0]), 5.0, 400
    damping = stiffness * ratio / omega * np.array([1.0, 3.0])
    law = Maxwell(jnp.asarray(stiffness), jnp.asarray(damping), None)
    z = omega * damping / stiffness
    storage, loss = np.sum(stiffness * z**2 / (1.0 + z**2)), np.sum(stiffness * z / (1.0 + z**2))
    times = np.linspace(0.0, 2.0 * np.pi / omega, count + 1)
    x, v = np.sin(omega * times), omega * np.cos(omega * times)
    steady = stiffness * z / (1.0 + z**2)  # forces at t = 0 of the steady motion

    def step(state: Any, n: Any) -> tuple[Any, Any]:
        travel = Travel(x_[n], Path.of(times[1], v_[n], v_[n + 1], x_[n + 1] - x_[n]))
        after = law.along(state, travel)
        return after, (law.force(after, x_[n], v_[n]), law.dissipated(state, travel, after))

    x_, v_ = jnp.asarray(x), jnp.asarray(v)
    last, (forces, energies) = jax.lax.scan(step, jnp.asarray(steady), jnp.arange(count))
    expected = storage * x[1:] + loss * np.cos(omega * times[1:])
    assert np.asarray(forces) == pytest.approx(expected, abs=1e-7 * (storage + loss))
    assert np.asarray(last) == pytest.approx(steady, abs=1e-7 * (storage + loss))
    assert float(energies.sum()) == pytest.approx(np.pi * loss, rel=1e-6)


@pytest.mark.slow
def test_a_dashpot_of_exponent_1_is_a_linear_one_and_relaxation_has_its_closed_form() -> None:
    stiffness, damping = jnp.array([30.0]), jnp.array([2.0])
    linear, power = Maxwell(stiffness, damping, None), Maxwell(stiffness, damping, jnp.float64(1.0))
    rest = Travel(jnp.float64(0.0), Path.of(jnp.float64(0.2), jnp.float64(0.0), jnp.float64(0.0), jnp.float64(0.0)))
    force = jnp.array([-5.0])
    assert float(power.along(force, rest)[0]) == pytest.approx(-5.0 * np.exp(-3.0), rel=1e-6)
    assert float(linear.along(force, rest)[0]) == pytest.approx(-5.0 * np.exp(-3.0), rel=1e-14)
    square = Maxwell(stiffness, damping, jnp.float64(2.0))  # 1 / |f| grows by K t / C^2
    assert float(square.along(force, rest)[0]) == pytest.approx(-1.0 / (1.0 / 5.0 + 30.0 * 0.2 / 4.0), rel=1e-14)
    assert float(linear.dissipated(force, rest, linear.along(force, rest))) == pytest.approx((1.0 - np.exp(-6.0)) * 25.0 / 60.0, rel=1e-14)


@pytest.mark.parametrize("z", [1e-4, 0.09, 0.2, 3.0, 500.0, 5e3])
def test_the_work_of_a_linear_dashpot_is_that_of_its_differential_equation_however_fast_it_relaxes(z: float) -> None:
    h, stiffness = 1e-2, 1e6
    law, path = Maxwell(jnp.array([stiffness]), jnp.array([stiffness * h / z]), None), Path.of(h, 1.0, 0.6, 0.0085)
    for first in (0.0, 300.0):
        begin = jnp.array([first])
        after = law.along(begin, Travel(jnp.float64(0.0), path))
        found = float(law.dissipated(begin, Travel(jnp.float64(0.0), path), after))
        # the force in the dashpot turns into heat at the rate f^2 / C; by 50 digits
        mp.mp.dps = 50
        a, b, c = (mp.mpf(float(each)) for each in (path.pace(0.0), -4.0 * path.early - 2.0 * path.late, 3.0 * (path.early + path.late)))
        rate, k = mp.mpf(z), mp.mpf(stiffness)
        lag = [k * (a / rate - b / rate**2 + 2 * c / rate**3), k * (b / rate - 2 * c / rate**2), k * c / rate]  # of the particular solution

        def force(u: Any, first: float = first, lag: Any = lag, rate: Any = rate) -> Any:
            return lag[0] + lag[1] * u + lag[2] * u * u + (first - lag[0]) * mp.exp(-rate * u)

        ends = [mp.mpf(0), *(each for each in (1 / rate, 5 / rate, 30 / rate) if each < 1), mp.mpf(1)]
        heat = mp.quad(lambda u, force=force: force(u) ** 2, ends) * rate / k
        assert found == pytest.approx(float(heat), rel=1e-9 if z > 0.1 else 5e-3)


@pytest.mark.oracle("hardening_force")
def test_cycles_of_an_elasto_plastic_link_are_their_closed_form() -> None:
    stiffness, hard, limit, amplitude = 400.0, 100.0, 200.0, 1.5
    law = Hardening(PiecewiseLinear.of(jnp.array([0.0, 0.5, 1.0, jnp.nan]), jnp.array([0.0, limit, limit + 0.5 * hard, jnp.nan])))
    modulus = hard * stiffness / (stiffness - hard)  # force over plastic displacement
    state, x = law.at_start(jnp.float64(0.0)), 0.0
    force, way, energy = limit, 0.0, 0.0
    for cycle in range(12):
        target = amplitude * (-1.0) ** cycle
        moved = target - x
        # the second half of the first way and of every later one: the force goes from -force to the new one
        slid = (
            (stiffness * amplitude - limit) / (stiffness + modulus)
            if cycle == 0
            else (stiffness * 2.0 * amplitude - 2.0 * force) / (stiffness + modulus)
        )
        slid = max(slid, 0.0)
        energy += slid * (force + 0.5 * modulus * slid)
        force, way = force + modulus * slid, way + slid
        for part in range(3):  # in unequal parts: a way gives the same however it is divided
            piece = moved * (0.2, 0.5, 0.3)[part]
            travel = Travel(
                jnp.float64(x), Path.of(jnp.float64(0.1), jnp.float64(piece / 0.1), jnp.float64(piece / 0.1), jnp.float64(piece))
            )
            after = law.along(state, travel)
            energy -= float(law.dissipated(state, travel, after))
            state, x = after, x + piece
        assert float(state.way) == pytest.approx(way, rel=1e-12)
        assert float(state.limit) == pytest.approx(force, rel=1e-12)
        if slid > 0.0:
            assert float(law.force(state, jnp.float64(x), jnp.float64(0.0))) == pytest.approx(np.sign(target) * force, rel=1e-12)
        assert energy == pytest.approx(0.0, abs=1e-9)


def test_a_step_in_which_the_mass_turns_back_yields_up_to_its_turn() -> None:
    law = Hardening(PiecewiseLinear.of(jnp.array([0.0, 0.1, 1.0]), jnp.array([0.0, 40.0, 40.0])))
    there_and_back = Travel(jnp.float64(0.0), Path.of(jnp.float64(1.0), jnp.float64(1.0), jnp.float64(-1.0), jnp.float64(0.0)))
    state = law.along(law.at_start(jnp.float64(0.0)), there_and_back)
    assert float(state.way) == pytest.approx(0.15 + 0.05, rel=1e-12)  # it turns at x = 1/4, and yields again on the way back
    assert float(state.set) == pytest.approx(0.1, rel=1e-12)
    assert float(law.at_start(jnp.float64(-0.3)).set) == pytest.approx(-0.2, rel=1e-12)


@pytest.mark.slow
def test_rows_without_a_link_have_none() -> None:
    row = rows_of(1, 3)[0] | {"mu": 0.0}
    none = {name: value for name, value in row.items() if not name.startswith(("maxwell", "hardening"))}
    none |= {name: np.zeros_like(row[name]) for name in ("spring_force", "damper_force")}
    alone = kernels.simulate("rubbing_mass", none | {"end": END}, "rk54")
    assert [float(alone[name]) for name in ("link_peak_force", "link_force_end", "link_dissipation")] == [0.0, 0.0, 0.0]
    assert "link_dissipation" not in kernels.simulate("rubbing_mass", {"a0": 2.0, "end": 0.1})


SPRING = {"spring_displacement": [-1.0, 0.0, 1.0], "spring_force": [-2.0, 0.0, 1.0], "mu": 0.0}


@pytest.mark.parametrize(
    ("model", "scheme", "params", "said"),
    [
        ("rubbing_mass", "exact", SPRING, "scheme 'exact' has no "),
        ("stop", "euler", SPRING | {"m_2": 1.0}, "two bodies move as one only with the same linear spring each: leave out m_2"),
        ("rubbing_mass", "euler", SPRING | {"spring_force": [1.0, 2.0]}, "spring_displacement has 3, spring_force has 2"),
        ("rubbing_mass", "euler", {"mu": 0.0, "damper_force": [1.0]}, "must have the same number of entries, 2 at least"),
        ("rubbing_mass", "euler", SPRING | {"spring_displacement": [-1.0, 1.0, 0.0]}, "the nodes of spring_displacement must ascend"),
        ("rubbing_mass", "euler", SPRING | {"step": 2.0}, "it must be less than 1.414 s for links of up to 2 N/m and 0 N s/m"),
        ("rubbing_mass", "rk54", {"mu": 0.0, "maxwell_stiffness": [1.0, 2.0], "maxwell_damping": [1.0]}, "maxwell_damping has 1"),
        ("rubbing_mass", "rk54", {"mu": 0.0, "hardening_displacement": [0.0, 1.0], "hardening_force": [0.0, 1.0]}, "entries, 3 at least"),
        (
            "rubbing_mass",
            "rk54",
            {"mu": 0.0, "hardening_displacement": [0.0, 1.0, 2.0], "hardening_force": [0.0, 1.0, 3.0]},
            "must begin at 0, 0 with its greatest slope and never fall",
        ),
    ],
)
def test_what_is_not_possible_is_said_in_one_line(model: str, scheme: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        kernels.simulate(model, params, scheme)


def test_float32_has_no_links() -> None:
    with pytest.raises(ValueError, match="float32 has no links beside k and c, whose energies need more digits"):
        solve(MODELS["rubbing_mass"], "euler", {**columns([rows_of(1, 3)[0]]), "mu": 0.0}, count=1, dtype=np.float32)


def test_published_springs_and_dampers_ascend() -> None:
    assert {case.scheme for case in CASES} >= {"euler", "devogelaere", "rk54"}
    assert all(np.all(np.diff(case.config["spring_displacement"]) > 0.0) for case in CASES if "spring_displacement" in case.config)
