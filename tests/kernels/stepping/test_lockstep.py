"""Runs that share their steps and their window go in lockstep, and find what they find each at its own pace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.compile import PROGRAMS
from tribosweep.kernels.batch.program_key import LOCKSTEP, QUEUE
from tribosweep.kernels.models import RUBBING_MASS, STOP, Model

pytestmark = pytest.mark.shapes

COUNT = 150
WINDOWS = (
    (1.0, 3.0, 3.0, 1e-3),
    (0.0, 2.5, 3.0, 1.3e-3),
    (0.1234, 2.3456, 3.0, 1e-3),
    (1.0001, 1.0002, 2.0, 1e-3),
    (0.0, 2e-3, 2e-3, 1e-3),
)
WALLS: dict[str, dict[str, float]] = {
    "rubbing_mass": {},
    "stop": {"k_n": 1e4, "c_n": 5.0, "gap": 0.02},
}


def masses(model: Model) -> dict[str, Any]:
    """Masses of every kind: sliding and stuck at first, with and without springs, friction and static excess."""
    rng = np.random.default_rng(3)
    mu_s = rng.uniform(0.0, 0.5, COUNT)
    rows = {
        "a0": rng.uniform(0.5, 15.0, COUNT),
        "mu_s": mu_s,
        "mu_d": mu_s * rng.choice([1.0, 0.8], COUNT),
        "omega": rng.uniform(3.0, 9.0, COUNT),
        "phase": rng.uniform(0.0, 6.0, COUNT),
        "k": rng.choice([0.0, 7.0], COUNT),
        "c": rng.choice([0.0, 0.3], COUNT),
        "v0": rng.choice([0.0, 0.5], COUNT),
        "k_t": 1e5,
    }
    return rows | WALLS[model.name]


CASES = [(RUBBING_MASS, "euler"), (STOP, "devogelaere")]


@pytest.mark.long_cases("stop-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "scheme"),
    [pytest.param(*case, marks=() if place == 0 else pytest.mark.slow, id=f"{case[0].name}-{case[1]}") for place, case in enumerate(CASES)],
)
def test_lockstep_is_each_at_its_own_pace(model: Model, scheme: str) -> None:
    for start, stop, end, step in WINDOWS:
        columns = masses(model) | {"window_start": start, "window_end": stop, "end": end, "step": step}
        together = batch.solve(model, scheme, columns, {}, COUNT)
        alone = batch.solve(model, scheme, columns | {"end": np.full(COUNT, end)}, {}, COUNT)  # a column has an end for each row
        np.testing.assert_array_equal(together.status, alone.status)
        assert (together.status == 0).all()
        for name, values in alone.observables.items():
            np.testing.assert_allclose(together.observables[name], values, rtol=1e-8, atol=1e-11, err_msg=f"{name} {start} {stop}")
    assert {LOCKSTEP, QUEUE} <= {key.engine for key, *_ in PROGRAMS}


@pytest.mark.slow
def test_the_program_without_spring_and_damper_finds_what_the_general_one_finds() -> None:
    columns = masses(RUBBING_MASS) | {"window_start": 1.0, "end": 3.0, "step": 1e-3, "c": 0.0}
    lean = batch.solve(RUBBING_MASS, "euler", columns | {"k": 0.0}, {}, COUNT).observables
    general = batch.solve(RUBBING_MASS, "euler", columns | {"k": 1e-300}, {}, COUNT).observables
    assert {True, False} <= {key.free for key, *_ in PROGRAMS if key.engine == LOCKSTEP}
    for name, values in general.items():
        np.testing.assert_allclose(lean[name], values, rtol=1e-10, atol=1e-13, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_float32_finds_the_same_to_five_digits() -> None:
    # SDND104's masses; rounding errors of 6e-8 a step, 120 000 of them, of either sign
    a0, mu = (each.ravel() for each in np.meshgrid(np.linspace(0.53, 19.7, 16), np.linspace(0.051, 0.97, 8)))
    columns = {"a0": a0, "mu": mu, "k": 3e-5, "k_t": 9e6, "window_start": 4.0, "step": 1e-4}
    fine = batch.solve(RUBBING_MASS, "euler", columns, {}, a0.size).observables
    coarse = batch.solve(RUBBING_MASS, "euler", columns, {}, a0.size, dtype=np.float32).observables
    for name in ("slip_phases", "stops", "regime"):
        np.testing.assert_array_equal(coarse[name], fine[name], err_msg=name)
    for name in ("wear_power", "slip_distance", "stick_fraction", "max_slip_speed", "x_end", "v_end"):
        np.testing.assert_allclose(coarse[name], fine[name], atol=5e-5 * np.abs(fine[name]).max(), err_msg=name)
    # the nearer to the amplitude at which slip begins, the more an error of the force weighs
    slides = 10.0 * mu < a0
    error = np.abs(coarse["wear_power"] / np.where(slides, fine["wear_power"], 1.0) - 1.0)[slides]
    assert (error * (1.0 - 10.0 * mu / a0)[slides]).max() < 2e-6
    assert np.median(error) < 1e-6


@pytest.mark.slow
def test_a_row_in_lockstep_does_not_depend_on_the_others() -> None:
    shared = {"window_start": 1.0, "end": 3.0, "step": 1e-3}
    rows = masses(RUBBING_MASS)
    many = {name: np.resize(value, 4 * COUNT) if np.ndim(value) else value for name, value in rows.items()}
    few = {name: value[5:12][::-1] if np.ndim(value) else value for name, value in rows.items()}
    whole = batch.solve(RUBBING_MASS, "euler", rows | shared, {}, COUNT).observables
    longer = batch.solve(RUBBING_MASS, "euler", many | shared, {}, 4 * COUNT).observables
    part = batch.solve(RUBBING_MASS, "euler", few | shared, {}, 7).observables
    for name, values in whole.items():
        assert longer[name][:COUNT].tobytes() == values.tobytes(), name
        assert part[name].tobytes() == values[5:12][::-1].tobytes(), name


@pytest.mark.slow
def test_shards_in_lockstep_share_one_program() -> None:
    rows = masses(RUBBING_MASS)
    batch.solve(RUBBING_MASS, "euler", rows | {"end": 3.0, "step": 1e-3}, {}, COUNT, room=COUNT)
    compiled = len(PROGRAMS)
    for count, end, step in ((COUNT, 1.0, 2e-3), (31, 3.0, 1e-3)):
        part = {name: value[:count] if np.ndim(value) else value for name, value in rows.items()}
        batch.solve(RUBBING_MASS, "euler", part | {"end": end, "step": step}, {}, count, room=COUNT)
    assert len(PROGRAMS) == compiled
