"""The steady window of a mass between two elastic walls: an independent event code, equal walls as one stop, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.branches.section_map import SectionMap
from tribosweep.kernels.models import STOP, TWO_WALLS
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.status import Status

# walls that are soft and damped: beside harder ones most of these motions are chaotic
SPRING = {"m": 1.0, "k": 1.0, "c": 0.2, "k_n": 20.0, "c_n": 1.0, "a0": 1.0}
LEFT = {"left_k_n": 40.0, "left_c_n": 0.5}
OMEGA = np.array([1.3, 0.9, 1.7, 2.3, 1.1, 3.4])
GAPS = np.array([[0.4, 0.4], [0.2, 0.5], [0.6, 0.3], [0.0, 0.1], [0.9, 5.0], [0.2, 0.2]])  # at the right, at the left
OF_PERIOD = (
    "impacts", "peak_force", "contact_time", "impulse", "max_compression",
    "left_impacts", "left_peak_force", "left_max_compression",
)  # fmt: skip
PERIODS = 400  # of the long runs, after which a start is forgotten: exp(-0.1 t)


def steadily(columns: dict[str, Any], count: int) -> dict[str, np.ndarray]:
    """Observables and status over the steady window."""
    found = batch.solve(TWO_WALLS, "exact", columns, count=count, window="steady", asked=Asked(multipliers=True))
    return {**found.observables, "status": found.status}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "friction",
    [
        pytest.param({}, marks=pytest.mark.long),
        {"mu": 0.01, "g": 10.0},
        pytest.param({"mu": 0.01, "g": 10.0, "k_t": 400.0, "c_t": 20.0}, marks=pytest.mark.long),
    ],
)
def test_the_steady_window_is_the_last_period_of_a_long_run_of_the_event_code(friction: dict[str, float]) -> None:
    pytest.importorskip("numba")
    from tests.oracle import event_code

    columns = {**SPRING, **LEFT, **friction, "omega": OMEGA, "gap": GAPS[:, 0], "left_gap": GAPS[:, 1]}
    found = steadily(columns, len(OMEGA))
    assert found["status"].tolist() == [Status.OK] * len(OMEGA)
    own = {**SPRING, **LEFT, "mu": 0.0, "normal_force": 0.0} | ({"mu_s": 0.01, "mu_d": 0.01, "normal_force": 10.0} if friction else {})
    own |= {name: friction[name] for name in ("k_t", "c_t") if name in friction}
    rows = []
    for omega, gaps, period in zip(OMEGA, GAPS, found["period"], strict=True):
        end = PERIODS * 2.0 * math.pi / omega
        row = own | {"omega": omega, "gap": gaps[0], "left_gap": gaps[1], "phase": 0.0, "end": end, "window_end": end}
        rows.append(row | {"window_start": end - period * 2.0 * math.pi / omega})
    expected = event_code.solve(rows)
    names = (*OF_PERIOD, *(("slip_distance", "stick_fraction", "max_slip_speed") if friction else ()), "x_end", "v_end")
    assert found["impacts"].max() >= 2
    assert found["left_impacts"].max() >= 1
    for name in names:
        scale = float(np.abs(expected[name]).max())
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-8, atol=1e-9 * scale, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_equal_walls_are_a_stop_on_both_sides() -> None:
    gap = np.full(len(OMEGA), 0.4)
    columns = {**SPRING, "omega": OMEGA, "gap": gap}
    found = steadily({**columns, "left_k_n": SPRING["k_n"], "left_c_n": SPRING["c_n"], "left_gap": gap}, len(OMEGA))
    stop = batch.solve(STOP, "exact", {**columns, "sides": 2.0}, count=len(OMEGA), window="steady", asked=Asked(multipliers=True))
    assert not stop.status.any()
    for name in set(found) & set(stop.observables):
        np.testing.assert_allclose(found[name], stop.observables[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_the_multipliers_are_those_of_differences_of_the_map() -> None:
    gaps = {"gap": np.array([0.2, 0.6]), "left_gap": np.array([0.5, 0.3])}
    section = SectionMap(TWO_WALLS, {**SPRING, **LEFT, **gaps}, ("omega",), ((0.5, 3.0),))
    rows, omega, y = np.arange(2), np.array([[0.9], [1.7]]), np.array([[0.3, 0.1], [-0.2, 0.2]])

    def image(y: np.ndarray) -> np.ndarray:
        return section(rows, omega, y, np.zeros(2), np.ones(2), np.zeros(2)).y

    here = section(rows, omega, y, np.zeros(2), np.ones(2), np.zeros(2))
    assert here.good.all()
    assert (here.observables["impacts"] >= 1).all()
    for i in range(2):
        step = 1e-6 * np.eye(2)[i]
        np.testing.assert_allclose(here.by_point[:, :, i], (image(y + step) - image(y - step)) / 2e-6, rtol=1e-6, atol=1e-7)
    nearest = np.minimum(gaps["gap"] * omega[:, 0] - y[:, 1], gaps["left_gap"] * omega[:, 0] + y[:, 1])
    np.testing.assert_allclose(section.clearance(rows, omega, y), nearest, rtol=1e-14)
