"""Bodies and modes with supports: limits, an independent integration, symmetries, balances, batches, derivatives, refusals."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

from tests.oracle.contact_code import ring
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import structure_stability
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

RING = {"m": 0.5, "k": 3e4, "c": 3.0, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0}
SHAKEN = {"amplitude[x]": 400.0, "omega[x]": 50.0 * np.pi, "amplitude[y]": 350.0, "omega[y]": 62.0 * np.pi}
END, START = 0.3, 0.1
SLOW = pytest.mark.slow


@functools.cache
def rod(obstacle: str = "ring", axes: str = "xy", law: str = "return mapping", angle: float = 0.0) -> Structure:
    """A body with one support, shaken along x and y, which are turned by an angle."""
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    directions = {"x": (cos, sin, 0.0), "y": (-sin, cos, 0.0)}
    loads = [Load(axis, direction=directions[axis]) for axis in axes]
    return Structure(body_basis(axes), [Support("ring", "centre", obstacle, law=law)], loads, body=True)


def found(structure: Structure, scheme: str, **given: Any) -> dict[str, Any]:
    """Observables as numbers; the run succeeds."""
    results = kernels.simulate(structure.model, given, scheme=scheme)
    assert np.all(np.asarray(results["status"]) == Status.OK)
    return {name: np.asarray(value) for name, value in results.items()}


@pytest.mark.long_cases("adapt1", "devogelaere")
@pytest.mark.oracle("plane")
@pytest.mark.parametrize(
    "scheme", ["euler", pytest.param("devogelaere", marks=SLOW), pytest.param("adapt1", marks=SLOW), pytest.param("adapt2", marks=SLOW)]
)
def test_one_body_at_one_plane_is_the_stop(scheme: str) -> None:
    given = {"m": 0.5, "k": 3e4, "c": 3.0, "gap": 1e-4, "k_n": 5e5, "c_n": 30.0, "end": 0.5, "window_start": 0.1, "step": 2e-5}
    stop = kernels.simulate("stop", given | {"a0": 30.0, "omega": 150.0, "mu": 0.0}, scheme=scheme)
    ours = found(rod("plane", "x"), scheme, **given, **{"amplitude[x]": 30.0, "omega[x]": 150.0, "largest_step": np.pi / 1500.0})
    names = {
        "impacts": "impacts",
        "impulse": "impulse",
        "contact_ratio": "contact_ratio",
        "impact_rate": "impact_rate",
        "peak_force": "normal_force_peak",
        "max_compression": "max_penetration",
    }
    assert stop["impacts"] > 10
    for name, other in names.items():
        assert ours[f"{other}[ring]"] == pytest.approx(float(stop[name]), rel=1e-12), name
    assert ours["x_end[centre]"] == pytest.approx(float(stop["x_end"]), rel=1e-11)
    assert ours["accepted_steps"] == stop["accepted_steps"]


@functools.cache
def brute_force(step: float) -> np.ndarray:
    """Work rate, impulse, impacts, contact ratio and last place of the ring by the independent code."""
    return np.asarray(ring(*RING.values(), 400.0, 50.0 * np.pi, 350.0, 62.0 * np.pi, 0.0, 0.0, 0.0, 0.0, END, START, step))


@pytest.mark.long_cases("rk54-given5-0.003", "adapt?-*", "rk32-*")
@pytest.mark.oracle("ring", "return mapping")
@pytest.mark.parametrize(
    ("scheme", "given", "of_work"),
    [
        ("euler", {"step": 1e-6}, 3e-3),
        pytest.param("devogelaere", {"step": 1e-6}, 3e-3, marks=SLOW),
        pytest.param("adapt1", {"step": 1e-6, "largest_step": 2e-6}, 8e-3, marks=SLOW),
        pytest.param("adapt2", {"step": 1e-6, "largest_step": 2e-6}, 3e-3, marks=SLOW),
        pytest.param("rk32", {"step": 1e-5, "tolerance": 1e-8}, 1e-3, marks=SLOW),
        pytest.param("rk54", {"step": 1e-5, "largest_step": 2e-6, "tolerance": 1e-8}, 3e-3, marks=SLOW),
    ],
)
def test_a_mass_that_rubs_in_a_ring_moves_as_the_independent_code_says(scheme: str, given: dict[str, float], of_work: float) -> None:
    work, impulse, impacts, ratio, *place = brute_force(2e-7)
    ours = found(rod(), scheme, **RING, **SHAKEN, end=END, window_start=START, **given)
    assert ours["wear_power[ring]"] == pytest.approx(work, rel=of_work)
    assert ours["impulse[ring]"] == pytest.approx(impulse, rel=1e-4)
    assert ours["impacts[ring]"] == impacts > 20
    assert ours["contact_ratio[ring]"] == pytest.approx(ratio, rel=2e-3)
    assert [ours["x_end[centre]"], ours["y_end[centre]"]] == pytest.approx(place, abs=0.03 * RING["gap"])
    assert ours["energy_error"] < 1e-3


def test_the_independent_code_has_converged() -> None:
    coarse, fine = brute_force(4e-7), brute_force(2e-7)
    assert coarse[:2] == pytest.approx(fine[:2], rel=5e-4)


@pytest.mark.long_cases("adapt1")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere", "adapt1", "rk54"])
def test_without_friction_a_ring_keeps_angular_momentum(scheme: str) -> None:
    start = {"x0[x]": 5e-4, "x0[y]": -2e-4, "v0[x]": 0.3, "v0[y]": 0.4}
    given = {"m": 0.5, "k": 3e4, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "step": 1e-5, "end": 0.1, "tolerance": 1e-9}
    ours = found(rod(), scheme, **given, **start)
    assert ours["impacts[ring]"] > 5
    momentum = ours["x_end[centre]"] * ours["y_rate_end[centre]"] - ours["y_end[centre]"] * ours["x_rate_end[centre]"]
    exact = scheme in ("euler", "adapt1")  # forces through the centre change the speed along the way from it alone
    assert momentum == pytest.approx(5e-4 * 0.4 + 2e-4 * 0.3, rel=1e-12 if exact else 2e-4)


@pytest.mark.long_cases(
    "two planes-rk54-0.02",
    "ring-rk54-0.02",
    "plane-*",
    "two planes-devogelaere-*",
    "two planes-euler-*",
    "ring-euler-*",
    "ring-devogelaere-*",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "agrees"), [("euler", 1e-10), pytest.param("devogelaere", 1e-10, marks=SLOW), pytest.param("rk54", 2e-2, marks=SLOW)]
)
@pytest.mark.parametrize("obstacle", ["plane", "two planes", "ring"])
def test_a_turned_problem_has_the_same_results(scheme: str, agrees: float, obstacle: str) -> None:
    # by rk54 rounding decides which steps are taken, and impacts make such differences grow
    angle = 0.7
    common = RING | {"end": 0.08, "step": 1e-5, "mu_s": 0.4, "mu_d": 0.3, "centre_1": 1e-4, "tolerance": 1e-8}
    common.pop("mu")
    straight = found(rod(obstacle), scheme, **common, **SHAKEN)
    turned = found(rod(obstacle, angle=angle), scheme, **common, **SHAKEN, angle=angle)
    for name in straight:
        if "[ring]" in name:
            assert turned[name] == pytest.approx(
                float(straight[name]), rel=agrees, abs=1e-9 * float(straight["normal_force_peak[ring]"])
            ), name
    assert straight["wear_power[ring]"] > 0.1


def test_the_energies_balance_to_the_order_of_the_scheme() -> None:
    errors = [float(found(rod(), "euler", **RING, **SHAKEN, end=0.1, step=step)["energy_error"]) for step in (4e-6, 1e-6)]
    assert errors[1] < 0.5 * errors[0] < 1e-4


@pytest.mark.long
@SLOW
def test_a_batch_is_each_by_itself_and_float32_has_its_digits() -> None:
    columns = {**RING, **SHAKEN, "end": 0.05, "step": 1e-5}
    gaps, angles = np.array([8e-4, 1e-3, 1.2e-3, -1.0]), np.array([0.0, 0.3, 0.0, 0.0])
    varied = {"gap[ring]": gaps, "angle[ring]": angles, "mu[ring]": np.array([0.1, 0.2, 0.3, -0.3])}
    batch = solve(rod("plane").model, "euler", columns | varied, count=4)
    assert batch.status.tolist() == [Status.OK] * 3 + [Status.OUT_OF_BOUNDS]
    for row in range(3):
        one = found(rod("plane"), "euler", **columns, **{name: values[row] for name, values in varied.items()})
        for name in ("wear_power[ring]", "impulse[ring]", "x_rms[centre]", "contact_regime[ring]"):
            assert batch.observables[name][row] == pytest.approx(float(one[name]), rel=1e-9), name
    single = solve(rod("plane").model, "euler", columns | varied, count=4, dtype=np.float32)
    assert single.observables["wear_power[ring]"][:3] == pytest.approx(batch.observables["wear_power[ring]"][:3], rel=2e-3)
    assert np.isnan(single.observables["wear_power[ring]"][3])


@SLOW
def test_derivatives_are_differences() -> None:
    def work(mu: Any, gap: Any) -> Any:
        given = {**RING, **SHAKEN, "end": 0.02, "step": 1e-6, "mu": mu, "gap": gap, "c_t": 0.0}
        return kernels.simulate(rod().model, given, scheme="euler")["impulse[ring]"]

    found_there = jax.grad(work, argnums=(0, 1))(0.3, 1e-3)
    for place, size in ((0, 1e-2), (1, 1e-5)):  # events pass many steps: derivatives follow them, the computed motion goes on by steps
        above, below = ([0.3, 1e-3] for _ in "ab")
        above[place] += size
        below[place] -= size
        assert float(found_there[place]) == pytest.approx(float((work(*above) - work(*below)) / (2.0 * size)), rel=1e-2)


def chain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, stiffness and damping of three bodies in a row between two walls."""
    mass = np.diag([0.4, 0.5, 0.6])
    stiffness = 2e4 * np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    return mass, stiffness, 1e-4 * stiffness + np.diag([0.5, 0.0, 0.0])


def of_chain() -> Structure:
    """The three bodies as modes with full damping; the last two may meet, and the first a stop."""
    mass, stiffness, damping = chain()
    points = {name: np.outer([1.0, 0.0, 0.0], row) for name, row in zip("abc", np.eye(3), strict=True)}
    basis = Basis.of_matrices(mass, stiffness, damping, points, np.outer([1.0, 0.0, 0.0], np.ones(3)))
    supports = [Support("stop", "a"), Support("meeting", "b", other="c")]
    return Structure(basis, supports, [Load("shake"), Load("push", "force", point="b")], observed="abc")


@pytest.mark.slow
def test_modes_with_full_damping_are_the_bodies_in_a_row() -> None:
    given = {"gap[stop]": 2e-4, "gap[meeting]": 1e-4, "k_n": 3e5, "c_n": 5.0, "end": 0.2, "step": 1e-5}
    loads = {"amplitude[shake]": 40.0, "omega[shake]": 180.0, "constant[push]": 3.0}
    ours = found(of_chain(), "euler", **given, **loads)

    mass, stiffness, damping = chain()
    x, v, a, impacts = np.zeros(3), np.zeros(3), np.zeros(3), 0
    inside = False
    for number in range(20_001):  # the scheme in bodies instead of modes
        force = 40.0 * np.sin(180.0 * 1e-5 * number) * -np.diag(mass) + [0.0, 3.0, 0.0] - stiffness @ x - damping @ v
        for way, gap in (([1.0, 0.0, 0.0], 2e-4), ([0.0, 1.0, -1.0], 1e-4)):
            depth, rate = np.dot(way, x) - gap, np.dot(way, v)
            force -= np.array(way) * (max(0.0, 3e5 * depth + 5.0 * rate) if depth > 0.0 else 0.0)
        impacts += not inside and x[0] > 2e-4
        inside = x[0] > 2e-4
        if number == 20_000:
            break
        a = force / np.diag(mass)
        v = v + 1e-5 * a
        x = x + 1e-5 * v
    assert impacts == ours["impacts[stop]"] > 3
    assert [ours[f"x_end[{name}]"] for name in "abc"] == pytest.approx(x, rel=1e-9)
    assert ours["impacts[meeting]"] > 3
    assert ours["energy_error"] < 1e-2


@pytest.mark.slow
def test_records_with_channels_act_as_the_sines_that_they_sample() -> None:
    loads = [Load(axis, direction=way, channel=number) for number, (axis, way) in enumerate({"x": (1, 0, 0), "y": (0, 1, 0)}.items())]
    structure = Structure(body_basis("xy"), [Support("ring", "centre", "ring")], loads, body=True)
    times = np.arange(0.0, 0.0603, 2e-5)
    samples = np.stack([400.0 * np.sin(50.0 * np.pi * times), 350.0 * np.sin(62.0 * np.pi * times)])
    given = {**RING, "end": 0.06, "step": 1e-5}
    results = kernels.simulate(structure.model, given | {"record": 0.0}, scheme="euler", records=Records(samples[None], 2e-5))
    sines = found(structure, "euler", **given, **SHAKEN)
    for name in ("impulse[ring]", "wear_power[ring]", "x_rms[centre]"):
        assert float(results[name]) == pytest.approx(float(sines[name]), rel=1e-4)
    with pytest.raises(ValueError, match="without channels"):
        solve(kernels.MODELS["stop"], "euler", {"k_n": 1e5, "record": 0.0, "mu": 0.0}, records=Records(samples[None], 2e-5))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_a_step_is_refused_above_the_bound_at_which_a_touched_structure_is_unstable(scheme: str) -> None:
    structure = rod("plane", "x")
    given = {"m": 0.5, "k": 3e4, "gap": -1e-2, "k_n": 5e5, "end": 1.0, "x0[x]": 1e-3}
    bound = float(structure_stability.largest_step(structure, structure.model.resolve(given), scheme))
    assert bound == pytest.approx((2.0 if scheme == "euler" else 8.0**0.5) / np.sqrt(5.3e5 / 0.5), rel=1e-12)
    assert found(structure, scheme, **given, step=0.999 * bound)["x_max[centre]"] < 1.0
    with pytest.raises(ValueError, match=r"unstable.*must be less than"):
        kernels.simulate(structure.model, given | {"step": 1.001 * bound}, scheme=scheme)


@pytest.mark.long
@pytest.mark.slow
def test_the_stored_force_is_another_law_that_agrees_where_the_normal_force_is_constant() -> None:
    # pressed on a plane by a constant load along x, and shaken along y
    given = {"m": 1.0, "k_n": 1e6, "c_n": 2000.0, "mu": 0.3, "k_t": 1e6, "c_t": 0.0, "end": 0.5, "step": 2e-6, "window_start": 0.1}
    loads = {"constant[x]": -10.0, "x0[x]": 1e-5, "amplitude[y]": 9.0, "omega[y]": 20.0}
    one, other = (found(rod("plane", law=law), "euler", **given, **loads)["wear_power[ring]"] for law in ("return mapping", "stored force"))
    assert one == pytest.approx(float(other), rel=1e-3)
    assert one > 0.1
    bounced = [
        float(found(rod(law=law), "rk32", **RING, **SHAKEN, end=END, window_start=START)["wear_power[ring]"])
        for law in ("return mapping", "stored force")
    ]
    assert abs(bounced[1] / bounced[0] - 1.0) > 1e-3
