"""Normal force that varies in time, on one surface or between two: closed forms, rigid friction as the limit, a second implementation."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from tests.oracle import time_schemes, varied_friction
from tribosweep import kernels
from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.contact.grip import Grip
from tribosweep.kernels.contact.varying_friction import Varied
from tribosweep.kernels.models import MODELS, RUBBING_MASS
from tribosweep.kernels.models.features import VARIED
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import Status

Solve = Callable[..., dict[str, np.ndarray]]
TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)
QUICK = ("euler", "rk32")
ALL = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TIME_SCHEMES]

# a mass that slides in one direction and never stops: m v' = -mu_d F_n(t)
SLIDES = {"m": 2.0, "mu_d": 0.2, "mu_s": 0.25, "v0": 5.0, "k_t": 1e5, "a0": 0.0, "end": 3.0, "step": 1e-3, "largest_step": 0.02}
PRESSINGS: dict[str, dict[str, float]] = {
    "always pressed": {"normal_force": 9.0, "normal_amplitude": 6.0, "normal_omega": 7.0, "normal_phase": 0.4},
    "lost and met again": {"normal_force": 5.0, "normal_amplitude": 12.0, "normal_omega": 7.0, "normal_phase": 1.1},
    "between two surfaces": {"normal_force": 3.0, "normal_amplitude": -9.0, "normal_omega": 5.0, "friction_sides": 2.0},
    "from nothing": {"normal_force": 0.0, "normal_amplitude": 10.0, "normal_omega": 4.0},
}
# largest relative errors of v, wear energy and slip distance; fixed steps see a contact lost within a step at its end
ERRORS = {"euler": 2e-3, "devogelaere": 1e-4, "adapt1": 4e-3, "adapt2": 1e-3, "rk32": 1e-7, "rk54": 1e-7}


def contact_force(row: dict[str, float], t: float) -> float:
    """F_n [N] at a time [s]."""
    n = row["normal_force"] + row["normal_amplitude"] * math.sin(row["normal_omega"] * t + row.get("normal_phase", 0.0))
    return abs(n) if row.get("friction_sides") == 2.0 else max(0.0, n)


def momentum_lost(row: dict[str, float], t: float) -> float:
    """Integral of F_n from 0 to t [N s], between the zeros of n in closed form."""
    n0, n1, omega, phase = (row.get(name, 0.0) for name in ("normal_force", "normal_amplitude", "normal_omega", "normal_phase"))
    zeros = []
    if abs(n0) < abs(n1):
        first = math.asin(-n0 / n1)
        zeros = [(angle + 2.0 * math.pi * turn - phase) / omega for angle in (first, math.pi - first) for turn in range(-2, 20)]
    knots = [0.0, *sorted(zero for zero in zeros if 0.0 < zero < t), t]
    total = 0.0
    for left, right in itertools.pairwise(knots):
        if contact_force(row, 0.5 * (left + right)) > 0.0:
            area = n0 * (right - left) + n1 / omega * (math.cos(omega * left + phase) - math.cos(omega * right + phase))
            total += abs(area)
    return total


@pytest.mark.long_cases("devogelaere", "adapt?", "rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ALL)
def test_a_mass_that_slides_one_way_loses_what_the_normal_force_takes(solve: Solve, scheme: str) -> None:
    rows = [SLIDES | pressing for pressing in PRESSINGS.values()]
    found = solve(rows, scheme)
    assert not found["status"].any()
    for i, row in enumerate(rows):
        speed = lambda t, row=row: row["v0"] - row["mu_d"] / row["m"] * momentum_lost(row, t)  # noqa: E731
        assert speed(row["end"]) > 1.0
        energy = 0.5 * row["m"] * (row["v0"] ** 2 - speed(row["end"]) ** 2) / row["mu_d"]  # friction takes mu_d F_n |v|
        knots = np.linspace(0.0, row["end"], 61)
        way = sum(quad(speed, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(knots))
        error = ERRORS[scheme]
        assert found["v_end"][i] == pytest.approx(speed(row["end"]), rel=error)
        assert found["x_end"][i] == pytest.approx(way, rel=error)
        assert found["wear_energy"][i] == pytest.approx(energy, rel=error)
        assert found["friction_power"][i] == pytest.approx(row["mu_d"] * energy / row["end"], rel=error)
        assert found["max_slip_speed"][i] <= 5.0
    # off its support the mass flies: what it slips is less than its way
    assert found["slip_distance"][0] == pytest.approx(found["x_end"][0], rel=1e-12)
    assert found["slip_distance"][2] == pytest.approx(found["x_end"][2], rel=1e-12)
    assert found["slip_distance"][1] < 0.8 * found["x_end"][1]
    assert found["slip_phases"].tolist() == [1, 4, 1, 2]
    assert not found["stick_fraction"].any()


def test_a_mass_between_two_surfaces_is_never_off_them() -> None:
    # where a step lands on a normal force of 0 there is no friction for an instant, but on one surface alone is contact lost
    numbers = {"mu_s": 0.3, "mu_d": 0.2, "normal_force": 0.0, "k_t": 1e5, "c_t": 10.0, "normal_amplitude": 5.0, "normal_omega": 3.0,
               "normal_phase": 0.0}  # fmt: skip
    zero, speed = jnp.asarray(0.0), jnp.asarray(-2.0)
    for sides in (1.0, 2.0):
        law = Varied.of({name: jnp.asarray(value) for name, value in {**numbers, "friction_sides": sides}.items()})
        began = law.at_start(speed, zero)
        force, after = law.evaluate(Grip(jnp.asarray(-1.0), jnp.asarray(1.0)), jnp.asarray(-1e-3), speed, zero, zero)
        assert float(force) == 0.0
        for grip in (began, after):
            assert bool(grip.is_away) == (sides == 1.0)
            assert bool(grip.slips) == (sides == 2.0)


@pytest.mark.long_cases("adapt1", "adapt2")
@pytest.mark.oracle("normal_amplitude")
@pytest.mark.parametrize("scheme", ALL)
def test_rubbing_is_that_of_an_independent_implementation(solve: Solve, scheme: str) -> None:
    rows = rubbing_rows()
    found = solve(rows, scheme)
    expected = [time_schemes.run(scheme, oracle_row(row)) for row in rows]
    by_error = "tolerance" in SCHEMES[scheme].reads  # differences near rounding decide there
    for name in ("x_end", "v_end", "slip_distance", "wear_power", "friction_power"):
        # steps in which contact is lost or made, or the window begins or ends, are summed otherwise
        slack = 1e-5 if by_error or (name == "slip_distance" and SCHEMES[scheme].fixed_step) else 2e-5 if "power" in name else 1e-8
        np.testing.assert_allclose(found[name], [each[name] for each in expected], rtol=slack, atol=slack * 1e-2, err_msg=name)


def rubbing_rows() -> list[dict[str, Any]]:
    """Random masses that rub on one surface, losing it or not, or between two."""
    rng = np.random.default_rng(11)
    rows = []
    for i in range(24):
        mu_d, n0 = rng.uniform(0.05, 0.15), rng.uniform(3.0, 12.0)
        rows.append(
            {
                "m": rng.uniform(0.5, 2.0), "mu_d": mu_d, "mu_s": mu_d * (1.0 + 0.3 * (i % 3)), "k": rng.choice([0.0, 30.0]),
                "c": rng.choice([0.0, 0.7]), "a0": rng.uniform(0.5, 8.0), "load": rng.choice([0.0, 0.3]), "omega": rng.uniform(3.0, 9.0),
                "phase": rng.uniform(0.0, 6.0), "v0": rng.choice([0.0, 0.4]), "k_t": rng.choice([4e3, 1e5]), "normal_force": n0,
                "normal_amplitude": n0 * rng.choice([-0.5, 0.7, 1.6]), "normal_omega": rng.uniform(3.0, 20.0),
                "normal_phase": rng.uniform(0.0, 6.0), "friction_sides": 1.0 + (i % 4 == 3), "end": 1.0, "window_start": 0.3123,
                "window_end": 0.871, "step": 5e-4, "largest_step": 1e-2, "smallest_step": 1e-9,
            }
        )  # fmt: skip
    return rows


def oracle_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row as `time_schemes.run` takes it."""
    return {"normal" if name == "normal_force" else name: value for name, value in row.items()}


# held by friction against a constant load until F_n has fallen so far that mu_s F_n is less
HELD = {"m": 1.0, "mu_s": 0.3, "mu_d": 0.2, "load": 2.0, "normal_force": 10.0, "normal_amplitude": 6.0, "normal_omega": 2.0,
        "normal_phase": 0.0, "k_t": 1e7, "a0": 0.0, "end": 2.6, "step": 1e-4, "largest_step": 0.01, "smallest_step": 1e-16}  # fmt: skip


@pytest.mark.parametrize("scheme", ALL)
def test_a_hold_ends_where_the_normal_force_has_fallen_to_the_load(solve: Solve, scheme: str) -> None:
    held = HELD if SCHEMES[scheme].fixed_step else HELD | {"k_t": 1e5}  # what holds needs steps of its own
    rows = [held | {"load": load} for load in (2.0, -2.0, 1.1)]
    found = solve(rows, scheme)
    assert not found["status"].any()
    # mu_s (10 + 6 sin 2 t) = 2, then m v' = 2 - mu_d F_n
    release = (math.pi + math.asin((10.0 - 2.0 / 0.3) / 6.0)) / 2.0
    speed = lambda t: 2.0 * (t - release) - 0.2 * (10.0 * (t - release) + 3.0 * (math.cos(2.0 * release) - math.cos(2.0 * t)))  # noqa: E731
    way = quad(speed, release, 2.6)[0]
    error = {"euler": 1e-3, "devogelaere": 1e-3, "adapt1": 5e-3}.get(scheme, 2e-3)
    for i, sign in enumerate((1.0, -1.0)):
        assert found["stick_fraction"][i] == pytest.approx(release / 2.6, abs=error)
        assert found["v_end"][i] == pytest.approx(sign * speed(2.6), rel=error)
        assert found["x_end"][i] == pytest.approx(sign * way, rel=2.0 * error)
        assert found["slip_phases"][i] == 1
    # mu_s F_n is never less than 1.2 N
    assert found["stick_fraction"][2] == pytest.approx(1.0, abs=1e-11)
    assert found["wear_energy"][2] == 0.0
    assert abs(found["x_end"][2]) < 2.0 * 1.1 / held["k_t"]


RIGID_LIMIT = [
    {"a0": 15.0, "normal_amplitude": 5.0},
    {"a0": 15.0, "normal_amplitude": 15.0, "normal_omega": 10.0},
    {"a0": 15.0, "normal_amplitude": 15.0, "friction_sides": 2.0},
    {"a0": 1.5, "normal_amplitude": 5.0, "mu_s": 0.13, "mu_d": 0.1, "normal_omega": 2.0 * math.pi, "normal_phase": 0.7},
]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "adapt2", "rk54"])
def test_stiff_contacts_rub_as_rigid_ones_do(solve: Solve, scheme: str) -> None:
    base = {"m": 1.0, "mu_s": 0.1, "mu_d": 0.1, "omega": 2.0 * math.pi, "normal_omega": 2.0 * math.pi, "normal_force": 10.0, "end": 6.0,
            "window_start": 1.0, "window_end": 6.0}  # fmt: skip
    rows = [base | row for row in RIGID_LIMIT]
    found = solve([row | {"k_t": 9e6, "step": 1e-4, "largest_step": 1e-3, "tolerance": 1e-8} for row in rows], scheme)
    assert not found["status"].any()
    expected = [varied_friction.run(row) for row in rows]
    for name in ("wear_power", "friction_power", "slip_distance"):
        np.testing.assert_allclose(found[name], [each[name] for each in expected], rtol=4e-3 if scheme == "adapt1" else 5e-4, err_msg=name)
    np.testing.assert_allclose(found["stick_fraction"], [each["stick_fraction"] for each in expected], atol=2e-3)
    assert found["stops"][3] >= 5
    assert not found["stops"][:3].any()


@pytest.mark.slow
def test_programs_of_a_constant_normal_force_are_those_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"a0": np.array([15.0, 1.5]), "k_t": 1e5, "end": 0.1, "step": 1e-3}
    seen: list[set[str]] = []
    compiled = programs.compiled

    def see(key: Any, devices: int, shapes: Any, lanes: Any) -> Any:
        seen.append(set(shapes))
        return compiled(key, devices, shapes, lanes)

    monkeypatch.setattr(programs, "compiled", see)
    given = columns | {"normal_amplitude": np.array([0.0, 0.0]), "stribeck_speed": np.array([1.0, 1.0]), "belt_speed": 0.0}
    plain = batch.solve(RUBBING_MASS, "euler", columns, {}, 2)
    same = batch.solve(RUBBING_MASS, "euler", given, {"stribeck_speed": np.array([True, True])}, 2)
    assert seen[0] == seen[1]
    assert not seen[0] & {name for names in VARIED.values() for name in names}
    for name, values in plain.observables.items():
        np.testing.assert_array_equal(same.observables[name], values, err_msg=name)


@pytest.mark.parametrize("model", list(MODELS))
@pytest.mark.parametrize("given", [{"stribeck_speed": 0.1}], ids=lambda row: next(iter(row)))
def test_the_exact_engine_refuses_friction_whose_phases_are_not_linear(model: str, given: dict[str, float]) -> None:
    solution = batch.solve(MODELS[model], "exact", {"mu": 0.1, "k_post": 1.0, **given} if model == "buckling_wall" else given, {}, 1)
    assert solution.status.tolist() == [Status.RULE_BROKEN]
    name = next(iter(given))
    with pytest.raises(ValueError, match=name):
        kernels.simulate(model, given)
    for ask in (kernels.trace, kernels.event_log, kernels.moment):
        with pytest.raises(ValueError, match=name):
            ask(model, given)
    rule = next(rule for rule in MODELS[model].rules if rule.parameters == (name,))
    assert "choose a time scheme" in rule.sentence
    assert f"{name} = " in rule.advice(MODELS[model].resolve(given), "exact")


def test_what_is_wrong_with_a_friction_law_is_refused() -> None:
    def status(**given: float) -> Status:
        return Status(int(batch.solve(RUBBING_MASS, "euler", {"k_t": 1e5, "end": 0.1, **given}, {}, 1).status[0]))

    assert status(mu_s=0.1, mu_d=0.2) == Status.RULE_BROKEN
    assert status(mu_d=-0.1) == Status.OUT_OF_BOUNDS
    assert status(stribeck_speed=0.0) == Status.OUT_OF_BOUNDS
    assert status(stribeck_exponent=0.0, stribeck_speed=1.0) == Status.OUT_OF_BOUNDS
    assert status(friction_sides=3.0, normal_amplitude=1.0) == Status.OUT_OF_BOUNDS
    assert status(friction_sides=1.5, normal_amplitude=1.0) == Status.OUT_OF_BOUNDS
    assert status(normal_omega=0.0, normal_amplitude=1.0) == Status.OUT_OF_BOUNDS
    assert status(normal_amplitude=math.nan) == Status.NOT_FINITE
    # a mean of 0 is pressed none the less, and needs a stiffness
    rigid = batch.solve(RUBBING_MASS, "euler", {"normal_force": 0.0, "normal_amplitude": 1.0, "end": 0.1}, {}, 1)
    assert rigid.status.tolist() == [Status.RULE_BROKEN]
    with pytest.raises(ValueError, match="k_t"):
        kernels.simulate("rubbing_mass", {"normal_force": 0.0, "normal_amplitude": 1.0}, scheme="euler")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk32"])
def test_derivatives_are_those_of_the_exact_engine(scheme: str) -> None:
    fixed = {"m": 1.2, "k": 20.0, "a0": 6.0, "omega": 5.0, "k_t": 2e4, "end": 1.5, "mu_s": 0.12, "mu_d": 0.1}
    at = {"normal_force": 6.0, "normal_amplitude": 9.0, "normal_omega": 6.0, "normal_phase": 0.3}
    wanted = ("wear_power", "friction_power", "x_end", "v_end")

    def values(varying: dict[str, Any], scheme: str, **more: float) -> list[Any]:
        found = kernels.simulate("rubbing_mass", fixed | varying | more, scheme=scheme)
        return [found[name] for name in wanted]

    rates = jax.jacfwd(functools.partial(values, scheme=scheme, step=2e-5, largest_step=2e-5, tolerance=1e30))(at)
    h = 1e-5
    ends = np.array([*at.values()]) + h * np.concatenate([np.eye(len(at)), -np.eye(len(at))])
    up, down = np.split(np.array(values(dict(zip(at, ends.T, strict=True)), "exact")), 2, axis=1)
    slope = (up - down) / (2.0 * h)
    found = np.array([[float(rate[name]) for name in at] for rate in rates])
    # where the step sees contact lost or made, and slip begin or end, the derivative is right to first order in it
    assert (np.abs(found - slope) < 0.05 * np.abs(slope).max(axis=1, keepdims=True)).all()


@pytest.mark.long
@pytest.mark.slow
def test_float32_keeps_its_digits() -> None:
    pressing = {"normal_amplitude": np.array([5.0, 15.0, 6.0]), "friction_sides": np.array([1.0, 1.0, 2.0])}
    columns = {
        "a0": np.array([15.0, 15.0, 3.0]), **pressing, "normal_omega": 9.0, "k_t": 1e5, "end": 4.0, "step": 5e-4, "window_start": 1.0,
    }  # fmt: skip
    found, single = (batch.solve(RUBBING_MASS, "euler", columns, {}, 3, dtype=kind) for kind in (np.float64, np.float32))
    assert not single.status.any()
    for name in ("wear_power", "friction_power", "slip_distance"):
        np.testing.assert_allclose(single.observables[name], found.observables[name], rtol=2e-3, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_a_mass_that_hits_a_stop_rubs_on_what_presses_it() -> None:
    row = {"mu_s": 0.2, "mu_d": 0.15, "normal_force": 8.0, "normal_amplitude": 12.0, "normal_omega": 9.0, "k": 5.0, "a0": 6.0, "omega": 5.0,
           "k_t": 1e5, "end": 3.0, "window_end": 3.0, "step": 2e-4}  # fmt: skip
    stop = {"k_n": 4e3, "c_n": 2.0, "gap": 0.05, "sides": 2.0}
    found = batch.solve(MODELS["stop"], "euler", row | stop, {}, 1).observables
    expected = time_schemes.run("euler", oracle_row(row) | stop)
    for name in ("x_end", "v_end", "impacts", "peak_force"):
        assert found[name][0] == pytest.approx(expected[name], rel=1e-8), name
    assert found["impacts"][0] > 3
    assert found["wear_power"][0] == pytest.approx(expected["wear_power"], rel=1e-6)
