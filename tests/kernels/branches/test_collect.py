"""Branches of periodic motions against closed forms, and against steady motions of single runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp

from tests.oracle import harmonic_balance, impacts_on_section, stop_orbit
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.collect import branches
from tribosweep.kernels.branches.curve_steps import STEPS
from tribosweep.kernels.branches.curves import curves
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.reference import bouncing_ball
from tribosweep.kernels.reference.closed_forms import damped_impact, den_hartog_limit

pytestmark = pytest.mark.slow  # its programs take half a minute to compile

SPRING = {"m": 1.0, "k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2}


def special(branch: Branch, kind: str) -> np.ndarray:
    """Values of the parameter at the special points of a kind."""
    return branch.value[[each == kind for each in branch.kinds]]


@pytest.mark.long
def test_rests_begin_at_den_hartogs_limit() -> None:
    betas = np.array([0.6, 0.8, 1.5, 2.0, 3.0])
    found = branches(RUBBING_MASS, {"m": 1.0, "k": 1.0, "g": 1.0, "a0": 1.0, "omega": betas}, "mu", (0.3, 0.95), places=1)
    assert [branch.row for branch in found] == [0, 1, 2, 3, 4]
    for branch in found:
        assert branch.ends == ("bound", "bound")
        assert branch.stable.all()
        limit = den_hartog_limit(betas[branch.row])
        np.testing.assert_allclose(special(branch, "grazing"), limit, atol=1e-10)
        stops = branch.points.signature[:, -1]
        assert (stops[branch.value < limit - 1e-9] == 0).all()
        assert (stops[branch.value > limit + 1e-9] == 2).all()


@pytest.mark.long
def test_a_ball_doubles_its_period_where_theory_says_in_the_limit_of_a_rigid_table() -> None:
    stiffness = np.array([4e7, 4e9])
    damping = 32290.0 * np.sqrt(stiffness / 4e9)  # restitution 0.5
    ball: dict[str, np.ndarray | float] = {
        "m": 1.0,
        "load": 10.0,
        "k_n": stiffness,
        "c_n": damping,
        "omega": 2.0 * math.pi,
        "x0": -0.65,
        "v0": 6.05,
    }
    found = branches(STOP, ball, "a0", (12.0, 16.0), places=1, most=2)
    first = [branch for branch in found if branch.origin == "steady motion"]
    assert [(branch.row, branch.periods) for branch in first] == [(0, 1), (1, 1)]
    limit = 10.0 * bouncing_ball.period_one_doubles(0.5)
    errors = [float(special(branch, "flip")[0]) / limit - 1.0 for branch in first]
    assert abs(errors[1]) < 5e-5
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)  # as the time of a contact, to first order
    for branch in first:
        here = branch.kinds.index("flip")
        np.testing.assert_allclose(branch.multipliers[here], [-1.0, -0.25], atol=1e-2 if branch.row == 0 else 1e-3)
        assert abs(branch.multipliers[here, 0] + 1.0) < 1e-8
        row = {name: value if np.ndim(value) == 0 else value[branch.row] for name, value in ball.items()}
        x, v = branch.y[here, 1] / (2.0 * math.pi), branch.y[here, 0]
        assert min(impacts_on_section.multipliers({**row, "a0": branch.value[here]}, (x, v), 1), key=np.real) == pytest.approx(
            -1.0, abs=1e-6
        )
        assert branch.stable[branch.value < branch.value[here] - 1e-6].all()
        assert not branch.stable[branch.value > branch.value[here] + 1e-6].any()
    doubled = [branch for branch in found if branch.origin == "flip"]
    assert [(branch.row, branch.periods, branch.ends) for branch in doubled] == [(0, 2, ("start", "bound")), (1, 2, ("start", "bound"))]
    assert all((branch.value >= special(first[branch.row], "flip")[0] - 1e-6).all() for branch in doubled)
    flips_of_all_restitutions(ball, first)


def flips_of_all_restitutions(ball: dict[str, np.ndarray | float], first: list[Branch]) -> None:
    """The curves of flips over load and damper of the table are those of theory at each restitution."""
    bounds, steps = ((12.0, 16.0), (1500.0, 40000.0)), replace(STEPS, largest=0.2)
    errors = []
    for curve in curves(STOP, ball, ("a0", "c_n"), bounds, (False, True), first, steps):
        assert (curve.kind, curve.ends) == ("flip", ("bound", "bound"))
        k_n = float(np.asarray(ball["k_n"])[curve.row])
        e = np.array([damped_impact(1.0, k_n, c_n)[1] for c_n in curve.value[:, 1]])
        assert e.min() < 0.5 < 0.65 < e.max()
        expected = 10.0 * np.array([bouncing_ball.period_one_doubles(each) for each in e])
        errors.append(np.abs(curve.value[:, 0] / expected - 1.0).max())
        np.testing.assert_allclose(np.abs(curve.multipliers + 1.0).min(axis=1), 0.0, atol=1e-8)
        for i in (1, len(e) - 2):  # by differences of runs of an independent code
            a0, c_n = curve.value[i]
            p = {name: value if np.ndim(value) == 0 else value[curve.row] for name, value in ball.items()}
            there = impacts_on_section.multipliers({**p, "a0": a0, "c_n": c_n}, (curve.x[i], curve.y[i, 0]), 1)
            assert min(there, key=np.real) == pytest.approx(-1.0, abs=1e-6)
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)


STIFFNESS = np.array([1e2, 1e4, 1e8])  # N/m
STOPS = {**SPRING, "k_n": STIFFNESS, "c_n": 0.02 * np.sqrt(STIFFNESS), "omega": 1.7, "gap": 0.5}


@pytest.fixture(scope="module")
def stops() -> list[Branch]:
    """Branches of ever stiffer stops along the load."""
    return branches(STOP, STOPS, "a0", (0.2, 3.0), places=4, most=6)


def of_row(row: int) -> dict[str, float]:
    return {name: float(np.broadcast_to(value, 3)[row]) for name, value in STOPS.items()}


@pytest.mark.long
@pytest.mark.long_cases("1")
@pytest.mark.parametrize("row", [0, 1])
def test_a_stop_folds_the_branch_where_the_closed_form_of_two_stretches_does(stops: list[Branch], row: int) -> None:
    first = next(branch for branch in stops if branch.row == row)
    p = of_row(row)
    with mp.workdps(stop_orbit.DIGITS):
        exact = stop_orbit.folds(p, [mp.mpf("0.3") / STIFFNESS[row] * mp.mpf("1.5") ** i for i in range(26 if row == 0 else 38)])
    found = [i for i, kind in enumerate(first.kinds) if kind == "fold"]
    assert len(found) == len(exact) == 2
    for i, orbit in zip(found, exact, strict=True):
        assert first.value[i] == pytest.approx(float(orbit.a0), abs=1e-9)
        state = first.x[i], first.y[i, 0]
        np.testing.assert_allclose(state, np.array(orbit.section, float), atol=1e-8)
        assert first.points.observables["slowest_impact"][i] == pytest.approx(float(orbit.speed), abs=1e-8)


@pytest.mark.long
def test_harmonic_balance_of_a_stop_folds_where_the_branch_does_the_nearer_the_more_harmonics_it_has(stops: list[Branch]) -> None:
    first = next(branch for branch in stops if branch.row == 0)
    for i in (i for i, kind in enumerate(first.kinds) if kind == "fold"):
        p = {**of_row(0), "a0": float(first.value[i])}
        counts = np.array([8, 16, 32])
        folds = [harmonic_balance.stop_fold(p, int(count), (first.x[i], first.y[i, 0])) for count in counts]
        errors = np.abs(np.array(folds) - first.value[i])
        assert errors[-1] < 1e-4
        assert np.polyfit(np.log(counts), np.log(errors), 1)[0] < -2.0  # the damper's force jumps at the entry


@pytest.mark.long
def test_harmonic_balance_of_penalised_friction_comes_to_the_branch_with_the_fourth_power_of_its_harmonics() -> None:
    row = {"m": 1.0, "k": 1.0, "c": 0.05, "a0": 1.0, "omega": 0.8, "k_t": 20.0}
    (branch,) = branches(RUBBING_MASS, {**row, "c_t": 0.0, "g": 1.0}, "mu", (0.1, 0.8), places=1, most=2)
    order = np.argsort(branch.value)[::12]  # from slip without rests to slip with rests and turns between them
    seen = branch.points.observables
    engine = np.stack([np.maximum(seen["x_max"], -seen["x_min"]), seen["wear_power"]], axis=1)[order]
    errors = []
    counts = np.array([4, 8, 16])
    for count in counts:
        found = harmonic_balance.friction_branch({**row, "normal_force": 1.0}, int(count), branch.value[order])
        errors.append(np.abs(np.array(found) - engine).max(axis=0))
    for each, most in zip(np.transpose(errors), (2e-4, 1e-4), strict=True):
        assert each[-1] < most
        assert -4.5 < np.polyfit(np.log(counts), np.log(each), 1)[0] < -3.3


@pytest.mark.long
def test_the_multiplier_behind_a_grazing_is_nordmarks_as_far_as_a_stiff_stop_permits(stops: list[Branch]) -> None:
    first = next(branch for branch in stops if branch.row == 2)
    assert list(first.passages.values()) == ["turns back"]  # its fold is nearer than any step
    here = first.kinds.index("grazing")
    assert first.value[here] == pytest.approx(float(stop_orbit.grazing(of_row(2))), abs=1e-10)
    speed, multiplier = first.points.observables["slowest_impact"], np.abs(first.multipliers[:, 0])
    a, own = 1.7**2 * 0.5, math.sqrt(STIFFNESS[2])  # acceleration at the touch [m/s^2], frequency of the contact [rad/s]
    virtual = speed**2 / (2.0 * a)  # m, how far the motion would go beyond the gap if there were no stop
    behind = np.arange(len(speed)) > here

    def exponent(low: float, high: float) -> float:
        """Of the largest multiplier as a power of the virtual penetration, between two speeds in units of a / own."""
        chosen = behind & (speed > low * a / own) & (speed < high * a / own)
        assert chosen.sum() >= 4
        return float(np.polyfit(np.log(virtual[chosen]), np.log(multiplier[chosen]), 1)[0])

    assert exponent(15.0, 200.0) == pytest.approx(-0.5, abs=0.01)  # the contact is short against the touch: an impact
    assert exponent(0.1, 0.25) == pytest.approx(0.5, abs=0.05)  # it lasts as long as the touch: the root is rounded off
    assert 0.5 < own / a * speed[behind][np.argmax(multiplier[behind])] < 2.0


@pytest.mark.long
def test_a_stop_is_grazed_where_the_linear_response_reaches_it_and_sweeps_find_no_other_motion(stops: list[Branch]) -> None:
    omega = 1.7
    row = of_row(0)
    found = [branch for branch in stops if branch.row == 0]
    first = found[0]
    touches = 0.5 * abs(1.0 - omega**2 + 0.1j * omega)
    assert special(first, "grazing")[0] == pytest.approx(touches, abs=1e-10)
    linear = np.exp((-0.05 + 1j * math.sqrt(1.0 - 0.05**2)) * 2.0 * math.pi / omega)
    free = first.points.signature[:, 0] == 0
    assert first.value[free].max() == pytest.approx(touches, abs=1e-10)
    np.testing.assert_allclose(np.abs(first.multipliers[free]), abs(linear), atol=1e-12)
    for branch in found:
        for kind, multiplier, most in (("fold", 1.0, 1e-5), ("flip", -1.0, 1e-8)):
            here = [i for i, each in enumerate(branch.kinds) if each == kind]
            assert np.abs(branch.multipliers[here] - multiplier).min(axis=1, initial=np.inf).max(initial=0.0) < most, kind
    # runs from several starts to their steady motion, up to period 4
    amplitudes = np.repeat(np.linspace(0.25, 2.9, 40), 5)
    starts = np.tile([-0.6, -0.2, 0.0, 0.2, 0.5], 40)
    runs = solve(STOP, "exact", {**row, "a0": amplitudes, "x0": starts, "v0": 0.7 * starts}, count=200, window="steady")
    periods = runs.observables["period"]
    stable_periods = {branch.periods for branch in found}
    for i in np.flatnonzero((runs.status == 0) & (periods >= 1) & (periods <= max(stable_periods))):
        count = int(periods[i])
        seen = np.stack([runs.observables["poincare_v"][i, :count], omega * runs.observables["poincare_x"][i, :count]], axis=1)
        assert min(distance(branch, amplitudes[i], seen) for branch in found if branch.periods == count) < 5e-3, (amplitudes[i], count)


def distance(branch: Branch, value: float, seen: np.ndarray) -> float:
    """The least distance of section points (q, 2) from a branch at a value of its parameter."""
    at = branch.value
    nearest = np.inf
    for i in np.flatnonzero((at[:-1] - value) * (at[1:] - value) <= 0.0):
        part = 0.0 if at[i] == at[i + 1] else (value - at[i]) / (at[i + 1] - at[i])
        between = branch.y[i, :2] + part * (branch.y[i + 1, :2] - branch.y[i, :2])
        nearest = min(nearest, float(np.abs(seen - between).max(axis=1).min()))
    return nearest
