"""Contact that begins at a gap of exactly 0: a damper acts from t = 0 on a mass that moves in, on no other; against closed forms."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from tribosweep import kernels
from tribosweep.kernels.models.structures import Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import trace

M, K_N, C_N, SPEED, END = 2.0, 2e5, 300.0, 1.3, 2e-3
GIVEN = {"m": M, "k_n": K_N, "c_n": C_N, "gap": 0.0, "end": END}
# relative error of the velocity: Euler and De Vogelaere are of the first order here, as the force depends on the velocity
PACES = {
    "euler": ({"step": 1e-6}, 2e-4),
    "devogelaere": ({"step": 1e-6}, 5e-5),
    "adapt1": ({"step": 1e-6, "largest_step": 1e-6}, 2e-4),
    "adapt2": ({"step": 1e-6, "largest_step": 1e-6}, 5e-8),
    "rk32": ({"step": 1e-7, "largest_step": 1e-6}, 1e-9),
    "rk54": ({"step": 1e-6, "tolerance": 1e-11}, 1e-9),
}
WAYS = {"in": np.array([0.6, 0.8]), "out": np.array([-0.6, 0.8]), "along": np.array([0.0, 1.0])}


def pressed(speed: float) -> np.ndarray:
    """Place and velocity at the end of a mass that moves into a spring and damper at x = 0."""
    return np.asarray(expm(np.array([[0.0, 1.0], [-K_N / M, -C_N / M]]) * END) @ [0.0, speed])


@functools.cache
def body(obstacle: str) -> Structure:
    """A body that is free but for an obstacle without clearance around its start."""
    return Structure(body_basis("xy"), [Support("it", "centre", obstacle)], body=True)


@pytest.mark.slow
@pytest.mark.long_cases(
    "ring-rk54", "plane-rk54", "ring-adapt2", "ring-devogelaere", "plane-adapt2", "*-adapt1", "*-rk32", "two planes-devogelaere"
)
@pytest.mark.parametrize("scheme", PACES)
@pytest.mark.parametrize("obstacle", ["plane", "two planes", "ring"])
def test_an_obstacle_without_clearance_pushes_a_body_from_the_start_where_it_moves_in(obstacle: str, scheme: str) -> None:
    pace, error = PACES[scheme]
    for way, direction in WAYS.items():
        v = SPEED * direction
        found = kernels.simulate(body(obstacle).model, GIVEN | pace | {"v0[x]": v[0], "v0[y]": v[1]}, scheme=scheme)
        if obstacle == "ring":  # it is everywhere: the body meets it on its way
            place, rate = np.outer(pressed(SPEED), direction)
        else:
            side = np.sign(v[0]) if obstacle == "two planes" else 1.0
            meets = side * v[0] > 0.0
            across = side * pressed(abs(v[0])) if meets else np.array([v[0] * END, v[0]])
            place, rate = np.stack([across, [v[1] * END, v[1]]], axis=1)
        assert [found["x_rate_end[centre]"], found["y_rate_end[centre]"]] == pytest.approx(rate, rel=error, abs=1e-12), way
        assert [found["x_end[centre]"], found["y_end[centre]"]] == pytest.approx(place, rel=3.0 * error, abs=1e-12), way
        inwards = SPEED if obstacle == "ring" else abs(v[0]) if obstacle == "two planes" else max(v[0], 0.0)
        assert int(found["impacts[it]"]) == (inwards > 0.0), way


@pytest.mark.slow
@pytest.mark.parametrize("obstacle", ["plane", "two planes", "ring"])
def test_normal_force_and_friction_at_t_0_are_those_of_the_damper(obstacle: str) -> None:
    friction = {"mu": 0.2, "k_t": 1e5, "c_t": 1e3, "step": 1e-6, "end": 1e-5}
    for way, direction in WAYS.items():
        v = SPEED * direction
        given = GIVEN | friction | {"v0[x]": v[0], "v0[y]": v[1]}
        history = trace(body(obstacle).model, given, "euler", 0)
        first = {name: float(history[f"{name}[it]"][0]) for name in ("normal_force", "tangential_force")}
        inwards = SPEED if obstacle == "ring" else abs(v[0]) if obstacle == "two planes" else max(v[0], 0.0)
        assert first["normal_force"] == pytest.approx(C_N * inwards, rel=1e-12), way
        around = 0.0 if obstacle == "ring" else 0.2 * C_N * inwards  # it slips: the damper c_t would hold with more
        assert first["tangential_force"] == pytest.approx(around, rel=1e-12), way


@pytest.mark.slow
@pytest.mark.long_cases("rk54", "adapt2", "devogelaere", "adapt1", "rk32")
@pytest.mark.parametrize("scheme", ["exact", *PACES])
def test_a_stop_without_gap_pushes_from_the_start(scheme: str) -> None:
    pace, error = PACES.get(scheme, ({}, 1e-12))
    v0, sides = np.array([SPEED, -SPEED, SPEED, -SPEED, 0.0, 0.0]), np.array([1.0, 1.0, 2.0, 2.0, 1.0, 2.0])
    found = kernels.simulate("stop", GIVEN | pace | {"mu": 0.0, "v0": v0, "sides": sides}, scheme=scheme)
    meets = (v0 > 0.0) | ((sides == 2.0) & (v0 != 0.0))
    truth = [np.sign(v) * pressed(abs(v))[1] if met else v for v, met in zip(v0, meets, strict=True)]
    assert np.asarray(found["v_end"]) == pytest.approx(truth, rel=error, abs=1e-12)
    assert np.asarray(found["first_contact_velocity"])[meets] == pytest.approx(v0[meets], rel=1e-12)
    assert np.asarray(found["first_contact_time"])[meets] == pytest.approx(0.0, abs=1e-12)
    assert np.asarray(found["peak_force"]) == pytest.approx(np.where(meets, float(found["peak_force"][0]), 0.0), rel=1e-12)


@pytest.mark.long_cases("buckling_wall-included", "two_walls-included")
@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["included", "excluded"])
@pytest.mark.parametrize("model", ["buckling_wall", "two_walls"])
def test_a_wall_that_buckles_at_its_face_is_that_of_continuous_time(model: str, criterion: str) -> None:
    # the wall of SDND105 D, whose damper buckles it at once if the criterion includes it
    wall: dict[str, Any] = {"k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "c_n": 0.2, "k_post": 0.5, "gap": 0.0, "damping_criterion": criterion}
    if model == "two_walls":
        wall |= {f"left_{name}": value for name, value in wall.items()}
    given = wall | {"m": 1.0, "v0": 2.0, "mu": 0.0, "end": 3.0}
    exact = kernels.simulate(model, given)
    found = kernels.simulate(model, given | {"step": 1e-5}, scheme="euler")
    for name in ("x_end", "v_end"):
        assert float(found[name]) == pytest.approx(float(exact[name]), rel=3e-5), name
