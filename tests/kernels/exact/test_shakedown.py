"""The steady window of a mass at walls that buckle: an independent event code, shakedown and ratcheting, and where there is no yielding."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import BUCKLING_WALL, STOP, TWO_WALLS, Model
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.observables.impact_pattern import NO_CONTACT, PERMANENT

pytestmark = [pytest.mark.slow, pytest.mark.long]  # shakedowns compile for a minute

WALL = {"k_n": 20.0, "c_n": 1.0, "f_crit": 12.0, "f_post": 8.0, "k_post": 30.0, "plateau": 0.05, "softening": 0.1}
MASS = {"m": 1.0, "k": 1.0, "c": 0.2, "a0": 1.0}
OMEGA = np.array([0.9, 1.3, 0.7, 1.1, 1.5, 1.2])
LOAD = np.array([1.0, 2.0, 4.0, 1.5, 6.0, 2.5])
GAP = np.array([0.4, 0.2, 0.5, 0.9, 0.1, 0.3])
OF_PERIOD = (
    "impacts", "peak_force", "contact_time", "impulse", "max_compression", "rebound_velocity", "x_end", "v_end", "plastic_set",
)  # fmt: skip
FREE = {"mu": 0.0, "normal_force": 0.0}
PERIODS = 400  # of the long runs, after which a start is forgotten: exp(-0.1 t)


def steadily(model: Model, columns: dict[str, Any], asked: Asked | None = None) -> dict[str, np.ndarray]:
    """Observables and status over the steady window."""
    found = batch.solve(model, "exact", columns, count=len(OMEGA), window="steady", asked=asked or Asked())
    return {**found.observables, "status": found.status}


def by_event_code(found: dict[str, np.ndarray], columns: dict[str, Any], friction: dict[str, float]) -> dict[str, np.ndarray]:
    """The last period of long runs of an independent code."""
    from tests.oracle import event_code

    rows = []
    for i, period in enumerate(found["period"]):
        cycle = 2.0 * math.pi / OMEGA[i]
        row = {name: float(np.broadcast_to(value, OMEGA.shape)[i]) for name, value in columns.items()}
        row |= {"phase": 0.0, "end": PERIODS * cycle, "window_end": PERIODS * cycle, **friction}
        rows.append(row | {"window_start": (PERIODS - period) * cycle})
    return event_code.solve(rows)


def set_after(model: Model, columns: dict[str, Any], periods: float) -> np.ndarray:
    """The plastic set of the right wall after a number of periods, of an ordinary run."""
    end = periods * 2.0 * math.pi / columns["omega"]
    return batch.solve(model, "exact", {**columns, "end": end}, count=len(OMEGA)).observables["plastic_set"]


@pytest.fixture(scope="module")
def shaken() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    columns = {**MASS, **WALL, "omega": OMEGA, "a0": LOAD, "gap": GAP}
    return columns, steadily(BUCKLING_WALL, columns, Asked(multipliers=True))


@pytest.mark.long
@pytest.mark.slow
def test_the_steady_window_is_the_last_period_of_a_long_run_of_the_event_code(shaken: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
    pytest.importorskip("numba")
    columns, found = shaken
    assert found["status"].tolist() == [Status.OK] * len(OMEGA)
    assert 0.0 < found["buckled"].mean() < 1.0
    expected = by_event_code(found, columns, FREE)
    for name in OF_PERIOD:
        scale = float(np.nanmax(np.abs(expected[name])))
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-8, atol=1e-9 * scale, err_msg=name)


@pytest.mark.slow
def test_nothing_yields_after_the_shakedown(shaken: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
    columns, found = shaken
    count, last = found["shakedown"], found["plastic_set"]
    assert (found["ratcheting"] == 0.0).all()
    assert ((last == 0.0) | (count > 0.0)).all()
    assert (found["buckled"][count > 0.0] == 1.0).all()
    # a mass may swing in the dent that it has made
    np.testing.assert_array_equal(found["regime"] == NO_CONTACT, found["contact_time"] == 0.0)
    np.testing.assert_allclose(set_after(BUCKLING_WALL, columns, count + 0.01), last, rtol=1e-12)
    grown = np.array([set_after(BUCKLING_WALL, columns, np.full(len(OMEGA), n + 0.01)) for n in range(61)])
    changes = np.diff(grown, axis=0) > 1e-13 * grown[1:]
    last_change = len(changes) - np.argmax(changes[::-1], axis=0)
    np.testing.assert_array_equal(count[last > 0.0], last_change[last > 0.0])  # of ordinary runs
    assert (np.diff(grown, axis=0) >= -1e-12).all()
    assert count.max() > 2.0


@pytest.mark.long
@pytest.mark.slow
def test_a_wall_that_never_yields_is_a_stop() -> None:
    columns = {**MASS, **WALL, "f_crit": 1e4, "k_post": 1e3, "omega": OMEGA, "gap": GAP}
    found = steadily(BUCKLING_WALL, columns)
    stop = steadily(STOP, {name: value for name, value in columns.items() if name in ("m", "k", "c", "a0", "k_n", "c_n", "omega", "gap")})
    assert found["status"].tolist() == stop["status"].tolist()
    assert (found["shakedown"] == 0.0).all()
    for name in set(found) & set(stop):
        np.testing.assert_allclose(found[name], stop[name], rtol=1e-10, atol=1e-12, err_msg=name)


@pytest.mark.slow
def test_a_mass_without_a_spring_presses_its_wall_further_and_further() -> None:
    # a load on the plateau's side: each period presses the wall on, and nothing holds the mass back
    columns = {"m": 1.0, "k": 0.0, "c": 0.5, "load": 2.0, "a0": LOAD, "omega": OMEGA, "gap": GAP, **WALL, "f_crit": 4.0, "f_post": 3.0}
    found = steadily(BUCKLING_WALL, columns)
    ratchets = found["status"] == Status.NOT_PERIODIC
    assert ratchets.any()
    assert np.isnan(found["shakedown"][ratchets]).all()
    periods = found["time_reached"] * OMEGA / (2.0 * math.pi)
    grown = (set_after(BUCKLING_WALL, columns, periods + 64.0) - set_after(BUCKLING_WALL, columns, np.maximum(periods, 0.5))) / 64.0
    np.testing.assert_allclose(found["ratcheting"][ratchets], grown[ratchets], rtol=1e-6, atol=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_two_walls_shake_down_each() -> None:
    pytest.importorskip("numba")
    left = {f"left_{name}": value for name, value in WALL.items()} | {"left_gap": GAP + 0.4, "left_f_crit": 10.0}
    columns = {**MASS, **WALL, **left, "omega": OMEGA, "a0": LOAD, "gap": GAP}
    found = steadily(TWO_WALLS, columns)
    assert found["status"].tolist() == [Status.OK] * len(OMEGA)
    assert 0.0 < (found["left_buckled"] * found["right_buckled"]).mean() < 1.0
    np.testing.assert_array_equal(found["buckled"], np.maximum(found["left_buckled"], found["right_buckled"]))
    expected = by_event_code(found, columns, FREE)
    for name in (*OF_PERIOD, "left_impacts", "left_peak_force", "left_plastic_set"):
        scale = float(np.nanmax(np.abs(expected[name])))
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-8, atol=1e-9 * scale, err_msg=name)


@pytest.mark.slow
def test_two_bodies_press_a_wall_as_one_of_their_reduced_mass() -> None:
    # k and c are in proportion to the masses: x_1 - x_2 moves as one mass m m_2 / (m + m_2) whose spring, damper and load shrink with it
    m, m_2 = 1.6, 8.0 / 3.0
    part = m_2 / (m + m_2)
    pair = {"m": m, "m_2": m_2, "k": 1.0 / part, "c": 0.2 / part, "f0": LOAD / part, "omega": OMEGA, "gap": GAP, **WALL}
    one = {"m": m * part, "k": 1.0, "c": 0.2, "f0": LOAD, "omega": OMEGA, "gap": GAP, **WALL}
    found, expected = steadily(BUCKLING_WALL, pair), steadily(BUCKLING_WALL, one)
    assert found["status"].tolist() == expected["status"].tolist() == [Status.OK] * len(OMEGA)
    assert (found["plastic_set"] > 0.0).any()
    for name in (*(name for name in OF_PERIOD if not name.endswith("_end")), "shakedown", "regime", "poincare_x"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("friction", [{"mu": 0.1, "normal_force": 2.0}, {"mu": 0.1, "normal_force": 2.0, "k_t": 40.0, "c_t": 1.0}])
def test_with_friction_too_it_is_the_last_period_of_a_long_run(friction: dict[str, float]) -> None:
    pytest.importorskip("numba")
    columns = {**MASS, **WALL, "omega": OMEGA, "a0": LOAD, "gap": GAP}
    found = steadily(BUCKLING_WALL, {**columns, **friction})
    assert found["status"].tolist() == [Status.OK] * len(OMEGA)
    assert (found["plastic_set"] > 0.0).any()
    expected = by_event_code(found, columns, friction)
    for name in (*OF_PERIOD, "slip_distance", "stick_fraction", "max_slip_speed"):
        scale = float(np.nanmax(np.abs(expected[name])))
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-8, atol=1e-9 * scale, err_msg=name)


@pytest.mark.slow
def test_multipliers_are_those_of_the_mass_beside_its_wall(shaken: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
    columns, found = shaken
    moduli = np.stack([found["multiplier_1"], found["multiplier_2"]], axis=1)
    decay = np.exp(-MASS["c"] / MASS["m"] * found["period"] * 2.0 * math.pi / columns["omega"])
    swings = found["contact_time"] == 0.0  # in its dent, as a linear oscillator
    assert swings.any()
    np.testing.assert_allclose(moduli[swings], np.sqrt(decay)[swings][:, None] * np.ones(2), rtol=1e-12)
    # by Liouville's theorem volumes shrink by the dampers, that of the wall as long as it is touched; where each cycle presses a wall to
    # its criterion, its set follows the motion
    presses = np.isclose(found["peak_force"], WALL["f_post"], rtol=1e-9)
    assert presses.any()
    assert (presses | swings).sum() < len(OMEGA)
    np.testing.assert_allclose(
        np.prod(moduli, axis=1), np.where(presses, np.nan, decay * np.exp(-WALL["c_n"] / MASS["m"] * found["contact_time"])), rtol=1e-9
    )


@pytest.mark.slow
def test_a_mass_that_bounces_in_its_dent_is_not_in_permanent_contact() -> None:
    columns = {
        "m": 1.0, "k": 0.0, "c": 0.3, "load": 3.0, "v0": 8.0, "gap": 0.1, "k_n": 200.0, "c_n": 6.0, "f_crit": 60.0, "f_post": 50.0,
        "k_post": 200.0, "plateau": 0.05, "softening": 0.1, "omega": np.full(len(OMEGA), 5.0), "a0": np.linspace(3.2, 4.0, len(OMEGA)),
    }  # fmt: skip
    found = steadily(BUCKLING_WALL, columns)
    assert (found["buckled"] == 1.0).all()
    assert ((found["contact_ratio"] > 0.1) & (found["contact_ratio"] < 0.9)).all()
    assert not np.isin(found["regime"], (NO_CONTACT, PERMANENT)).any()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("x0", [0.0, 2.0])  # the second begins beyond the largest force of the wall
def test_derivatives_beside_a_wall_that_has_yielded_are_unknown(x0: float) -> None:
    columns = {**MASS, **WALL, "omega": 0.7, "a0": 4.0, "gap": 0.2}

    def plastic(x: Any) -> Any:
        return kernels.simulate("buckling_wall", {**columns, "x0": x}, window="steady")["plastic_set"]

    value, rate = jax.jvp(plastic, (x0,), (1.0,))
    assert float(value) > 0.0
    assert math.isnan(float(rate))
