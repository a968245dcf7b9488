"""Structures with supports in limits that are known without them: closed forms, invariants, orders of the schemes, float32."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

RING = {"m": 0.5, "k": 3e4, "c": 3.0, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0}
SHAKEN = {"amplitude[x]": 400.0, "omega[x]": 50.0 * np.pi, "amplitude[y]": 350.0, "omega[y]": 62.0 * np.pi}
SCHEMES = ("euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54")
SLOW = pytest.mark.slow


def of(quick: str, schemes: tuple[str, ...] = SCHEMES) -> list[Any]:
    """Schemes, of which one runs in the quick suite."""
    return [scheme if scheme == quick else pytest.param(scheme, marks=SLOW) for scheme in schemes]


@functools.cache
def body(obstacle: str = "ring", axes: str = "xy", angle: float = 0.0) -> Structure:
    """A body with one support, shaken along x and y, which are turned by an angle."""
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    loads = [Load("x", direction=(cos, sin, 0.0)), Load("y", direction=(-sin, cos, 0.0))]
    return Structure(body_basis(axes), [Support("ring", "centre", obstacle)], loads, body=True)


def at_steps(structure: Structure, scheme: str, step: Any, **given: Any) -> dict[str, np.ndarray]:
    """Observables at steps that never change: where a scheme chooses its steps, the largest one is that long and its tolerance wide."""
    pace = {"step": step}
    if scheme not in ("euler", "devogelaere"):
        pace["largest_step"] = step
    if scheme.startswith("rk"):
        pace["tolerance"] = 1e3
    results = kernels.simulate(structure.model, given | pace, scheme=scheme)
    assert np.all(np.asarray(results["status"]) == Status.OK)
    return {name: np.asarray(value) for name, value in results.items()}


PRESSED = {"m": 1.0, "k": 100.0, "c": 1.0, "k_n": 1e6, "c_n": 200.0, "mu": 0.3, "k_t": 1e6, "c_t": 2000.0, "end": 0.06,
           "constant[x]": -10.0, "x0[x]": 1.5e-5, "v0[y]": 0.5}  # fmt: skip


@functools.cache
def truly_slid() -> np.ndarray:
    """x, v, y, v of a mass that slides along y while its normal force along x vibrates, the work, and that of friction on the anchor.

    Without the penalty: to 1e-13. The elongation is (mu F_n - c_t v) / k_t.
    """

    def rates(_: float, s: np.ndarray) -> list[float]:
        normal = 1e6 * s[0] + 200.0 * s[1]
        a, b = 10.0 - 100.0 * s[0] - s[1] - normal, -100.0 * s[2] - s[3] - 0.3 * normal
        longer = (0.3 * (1e6 * s[1] + 200.0 * a) - 2000.0 * b) / 1e6
        return [s[1], a, s[3], b, normal * s[3], 0.3 * normal * (s[3] - longer)]

    found = solve_ivp(rates, (0.0, 0.06), [1.5e-5, 0.0, 0.0, 0.5, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-18).y[:, -1]
    assert found[3] > 0.2  # it never stops
    return np.asarray(found)


# the speed of De Vogelaere's forces is that of a quarter of a step before, and sums over its steps are trapezoids
ORDERS = {
    "euler": (1.0, 1.0, 1.0), "adapt1": (1.0, 1.0, 1.0), "devogelaere": (1.0, 1.0, 2.0),
    "adapt2": (2.0, 2.0, 2.0), "rk32": (3.0, 3.0, 3.0), "rk54": (5.0, 5.0, 5.0),
}  # fmt: skip
AT_BEST = {"euler": 4e-5, "adapt1": 4e-5, "devogelaere": 4e-5, "adapt2": 1e-8, "rk32": 1e-7, "rk54": 1e-7}


@pytest.mark.slow
@pytest.mark.long_cases("rk54", "devogelaere", "adapt?", "rk32")
@pytest.mark.parametrize("scheme", of("euler"))
def test_while_a_mass_slides_work_motion_and_energies_converge_at_the_order_of_the_scheme(scheme: str) -> None:
    truth, steps = truly_slid(), np.array([4e-5, 2e-5, 1e-5])
    found = at_steps(body("plane"), scheme, steps, **PRESSED)
    assert found["accepted_steps"] == pytest.approx(0.06 / steps, abs=2)
    work = np.abs(found["wear_power[ring]"] * 0.06 / truth[4] - 1.0)
    place = np.abs(found["y_end[centre]"] / truth[2] - 1.0)
    for errors, order in zip((work, place, found["energy_error"]), ORDERS[scheme], strict=True):
        if order == 5.0:
            assert errors.max() < 1e-12
        else:
            assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([order, order], abs=0.15)
    assert work[-1] < AT_BEST[scheme]
    assert found["friction_power[ring]"][-1] == pytest.approx(truth[5] / 0.06, rel=2e-4)


@pytest.mark.long_cases("adapt?", "rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", of("adapt2", ("adapt1", "devogelaere", "adapt2", "rk32")))
def test_without_friction_the_angular_momentum_in_a_ring_is_kept_at_the_order_of_the_scheme(scheme: str) -> None:
    start = {"x0[x]": 5e-4, "x0[y]": -2e-4, "v0[x]": 0.3, "v0[y]": 0.4}
    given = {"m": 0.5, "k": 3e4, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "end": 0.1}
    steps = np.array([4e-5, 2e-5, 1e-5])
    found = at_steps(body(), scheme, steps, **given, **start)
    assert (found["impacts[ring]"] > 10).all()
    place, rate = ([found[f"{axis}_{what}[centre]"] for axis in "xy"] for what in ("end", "rate_end"))
    errors = np.abs((place[0] * rate[1] - place[1] * rate[0]) / (5e-4 * 0.4 + 2e-4 * 0.3) - 1.0)
    if scheme in ("euler", "adapt1"):
        assert errors.max() < 1e-13
    elif scheme == "adapt2":  # its velocity has the acceleration before the step
        assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.1)
    elif scheme == "rk32":  # as far as impacts leave the order of smooth motion
        assert (errors < [4e-5, 6e-6, 1.2e-6]).all()
    else:
        assert (errors < 4e-9 * (steps / 4e-5) ** 4 + 1e-11).all()


@pytest.mark.long_cases("devogelaere-plane", "adapt2-two planes")
@SLOW
@pytest.mark.parametrize(("scheme", "obstacle"), [("devogelaere", "plane"), ("adapt2", "two planes"), ("rk54", "ring")])
def test_before_impacts_make_rounding_grow_a_turned_problem_is_the_same_to_twelve_digits(scheme: str, obstacle: str) -> None:
    angle = 0.7
    cos, sin = np.cos(angle), np.sin(angle)
    given = RING | SHAKEN | {"end": 0.02, "centre_1": 1e-4}
    names = ("wear_power", "friction_power", "impulse", "normal_force_peak", "max_penetration", "tangential_force_rms", "displacement_rms")
    (x, y), (v, w) = (9e-4, 2e-4), (0.3, 0.25)
    straight = at_steps(body(obstacle), scheme, 1e-5, **given, **{"x0[x]": x, "x0[y]": y, "v0[x]": v, "v0[y]": w}, angle=0.0)
    start = {"x0[x]": cos * x - sin * y, "x0[y]": sin * x + cos * y, "v0[x]": cos * v - sin * w, "v0[y]": sin * v + cos * w}
    turned = at_steps(body(obstacle, angle=angle), scheme, 1e-5, **given, **start, angle=angle)
    assert straight["wear_power[ring]"] > 0.1
    for name in names:
        assert turned[f"{name}[ring]"] == pytest.approx(float(straight[f"{name}[ring]"]), rel=1e-12), name


@functools.cache
def against_partner(mass: float) -> Structure:
    """A body in a ring that belongs to a second body, which is free; the ring is the ground's for the mass 0."""
    plane = np.eye(3)[:, :2]
    points = {"body": np.hstack([plane, 0.0 * plane]), "partner": np.hstack([0.0 * plane, plane])}
    omega, masses = np.sqrt(3e4 / 0.5) * np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.5, 0.5, mass or 1.0, mass or 1.0])
    basis = Basis(omega, masses, np.array([0.01, 0.01, 0.0, 0.0]), points, points["body"])
    support = Support("ring", "body", "ring", other="partner" if mass else None)
    return Structure(basis, [support], [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))], observed=["body"])


@SLOW
@pytest.mark.parametrize("scheme", ["euler"])
def test_a_ring_on_a_very_heavy_partner_is_a_ring_on_the_ground(scheme: str) -> None:
    given = {name: value for name, value in (RING | SHAKEN).items() if name not in ("m", "k", "c")} | {"end": 0.04}
    ground, heavy, heavier = (at_steps(against_partner(mass), scheme, 1e-5, **given) for mass in (0.0, 1e6, 1e9))
    assert ground["impacts[ring]"] > 4
    for name in ("wear_power[ring]", "impulse[ring]", "x_end[body]"):
        errors = [abs(float(found[name] / ground[name]) - 1.0) for found in (heavy, heavier)]
        assert errors[0] < 5e-4, name
        assert errors[1] < 2e-3 * errors[0] + 1e-12, name  # as one over the mass of the partner


@SLOW
@pytest.mark.parametrize("scheme", ["euler"])
def test_along_one_line_a_ring_is_two_planes(scheme: str) -> None:
    given = RING | SHAKEN | {"end": 0.05, "amplitude[y]": 0.0}
    ring, planes = (at_steps(body(obstacle), scheme, 1e-5, **given) for obstacle in ("ring", "two planes"))
    assert ring["impacts[ring]"] > 4
    for name in ("impulse[ring]", "normal_force_peak[ring]", "impact_power[ring]", "x_end[centre]"):
        assert ring[name] == pytest.approx(float(planes[name]), rel=1e-13), name
    assert ring["wear_power[ring]"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", of("euler", ("euler", "devogelaere")))
def test_a_mass_that_slides_on_a_plane_stops_on_a_straight_line_where_rigid_friction_stops_it(scheme: str) -> None:
    # 1 kg pressed by 10 N on a plane, along (3, 4) / 5 at 0.2 m/s: the way is v^2 / (2 mu g), less a part that the spring k_t yields
    stiffness = np.array([1e4, 1e5, 1e6])
    given = {"m": 1.0, "k_n": 1e6, "c_n": 500.0, "mu": 0.3, "k_t": stiffness, "c_t": np.sqrt(stiffness), "end": 0.12}
    start = {"constant[x]": -10.0, "x0[x]": 1e-5, "v0[y]": 0.12, "v0[z]": 0.16}
    found = at_steps(body("plane", "xyz"), scheme, 1e-5, **given, **start)
    way = 0.2**2 / (2.0 * 3.0)
    place = np.hypot(found["y_end[centre]"], found["z_end[centre]"])
    assert found["z_end[centre]"] / found["y_end[centre]"] == pytest.approx(4.0 / 3.0, rel=1e-12)
    held = 1.5 / stiffness / way  # half of the elongation mu N / k_t
    assert 1.0 - place / way == pytest.approx(held, rel=0.1, abs=2e-4)
    assert found["wear_power[ring]"] * 0.12 == pytest.approx(10.0 * way * (1.0 - held), abs=3e-4 * 10.0 * way)


@pytest.mark.long_cases("rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", of("euler", ("euler", "rk54")))
def test_a_mass_on_a_helix_in_a_ring_slows_as_its_own_centrifugal_force_says(scheme: str) -> None:
    # F_n = m v_t^2 / R and friction against the velocity: the angle a of the helix stays, v = v0 / (1 + mu v0 cos^2 a t / R)
    radius, speed, angle, mu, end = 0.1, 2.0, 0.6, 0.2, 0.1
    around, along = speed * np.cos(angle), speed * np.sin(angle)
    stiffness = np.array([1e6, 1e7])
    slower = 1.0 + mu * speed * np.cos(angle) ** 2 * end / radius
    way = np.log(slower) * radius / (mu * np.cos(angle) ** 2)
    given = {"m": 1.0, "k_n": stiffness, "c_n": 0.4 * np.sqrt(stiffness), "mu": mu, "k_t": 1e6, "c_t": 2000.0, "end": end, "gap": radius}
    start = {"x0[x]": radius + around**2 / radius / stiffness, "v0[y]": around, "v0[z]": along}
    found = at_steps(body("ring", "xyz"), scheme, 1e-5, **given, **start)
    depth = around**2 / radius**2 / stiffness  # the penetration over the radius, of which all errors are multiples
    allowed = 2e-6 + 0.5 * depth
    turned = np.unwrap([way * np.cos(angle) / radius, *np.arctan2(found["y_end[centre]"], found["x_end[centre]"])])[1:]
    steps = 1e-4 if scheme in ("euler", "adapt1") else 0.0
    assert np.abs(found["z_end[centre]"] / (way * np.sin(angle)) - 1.0) == pytest.approx(0.0 * depth, abs=allowed.max() + steps)
    assert turned == pytest.approx(way * np.cos(angle) / radius, abs=1e-3)
    assert np.all(np.abs(found["z_rate_end[centre]"] / along * slower - 1.0) < allowed + steps)
    assert np.all(np.abs(found["wear_power[ring]"] * end * mu / (0.5 * speed**2 * (1.0 - slower**-2)) - 1.0) < allowed + steps)


@pytest.mark.long
@SLOW
@pytest.mark.parametrize("scheme", ["adapt1", "devogelaere"])
def test_a_few_impacts_in_float32_are_those_in_float64(scheme: str) -> None:
    pace: dict[str, Any] = {"step": 1e-5}
    if scheme not in ("euler", "devogelaere"):
        pace["largest_step"] = 1e-5
    if scheme.startswith("rk"):
        pace["tolerance"] = 1e-4
    columns = {**RING, **SHAKEN, "end": np.array([0.02, 0.04]), **pace}
    wide, narrow = (solve(body().model, scheme, columns, count=2, dtype=dtype) for dtype in (np.float64, np.float32))
    assert wide.status.tolist() == narrow.status.tolist() == [Status.OK] * 2
    for name, agrees in (("impulse[ring]", 1e-4), ("wear_power[ring]", 5e-3), ("energy_end", 1e-3)):
        assert narrow.observables[name] == pytest.approx(wide.observables[name], rel=agrees), name
