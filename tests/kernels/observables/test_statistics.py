"""Block means and statistics of the window: against quadrature in 30 digits, against closed forms, and the schemes against both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from tests.kernels.compiling import hastily
from tests.oracle import penalised_friction, rigid_friction
from tests.oracle import statistics as oracle
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.observables import block_means

BLOCKS = 8
ALL = Asked(BLOCKS, statistics=True)
TIMES = {"end": 7.0, "window_start": 3.1, "window_end": 6.7}
BASE = {"m": 1.0, "g": 10.0, "mu": 0.1, "omega": 2.0 * math.pi}
PUBLISHED = {15.0: 15.267099589371614, 1.5: 0.40906245101570892, 1.01: 2.2616412127978696e-4}
RIGID = [
    BASE | {"a0": 15.0},
    BASE | {"a0": 3.0, "k": 50.0, "c": 0.3, "load": 0.2, "phase": 0.4},
    BASE | {"a0": 2.5, "k": 7.0, "c": 30.0, "x0": 0.3, "v0": 0.2},
]
PENALISED = [
    BASE | {"a0": 15.0, "k_t": 9e4, "c_t": 600.0, "k": 3e-5},
    BASE | {"a0": 0.6, "k_t": 9e2, "c_t": 0.0},  # a stuck mass that rings
    BASE | {"a0": 3.0, "k_t": 2e3, "c_t": 0.5, "k": 50.0, "c": 0.3, "load": 0.2},
]
NAMES = ("m", "g", "k", "c", "x0", "v0", "mu", "omega", "a0", "phase", "load")


def run(rows: Sequence[Mapping[str, float]], scheme: str = "exact", asked: Asked = ALL, **times: float) -> dict[str, np.ndarray]:
    """Rows as columns of one program."""
    names = [*NAMES, *(name for name in ("k_t", "c_t") if name in rows[0])]
    columns: dict[str, Any] = {name: np.array([row.get(name, 0.0) for row in rows]) for name in names}
    found = batch.solve(RUBBING_MASS, scheme, {**columns, **TIMES, **times}, count=len(rows), asked=asked)
    assert not found.status.any()
    return found.observables


def hold_against_oracle(rows: Sequence[Mapping[str, float]], module: ModuleType, tolerance: float) -> None:
    """Everything that is told of the rows, relative to the largest value that the quantity has."""
    found = run(rows)
    for i, row in enumerate(rows):
        with mp.workdps(module.DIGITS):
            one = module.Oscillator(row, TIMES["end"])
        expected = {name: float(value) for name, value in oracle.statistics(one, TIMES["window_start"], TIMES["window_end"]).items()}
        for name, value in expected.items():
            if name not in found:
                assert name.startswith("v_")
                continue
            quantity = name.rsplit("_", 1)[0]
            scale = max(abs(expected[f"{quantity}_min"]), abs(expected[f"{quantity}_max"]))
            assert found[name][i] == pytest.approx(value, abs=tolerance * scale), (i, name)
        powers = [float(each) for each in oracle.blocks(one, TIMES["window_start"], TIMES["window_end"], BLOCKS)]
        assert found["wear_power_blocks"][i, :BLOCKS] == pytest.approx(powers, abs=tolerance * max(powers))
        assert np.isnan(found["wear_power_blocks"][i, BLOCKS:]).all()


@pytest.mark.long
@pytest.mark.slow
def test_rigid_friction_agrees_with_quadrature_in_30_digits() -> None:
    hold_against_oracle(RIGID, rigid_friction, 1e-13)


@pytest.mark.slow
def test_the_published_wear_powers_are_means_of_eight_blocks_of_one_second() -> None:
    rows = [BASE | {"a0": a0} for a0 in (*PUBLISHED, 0.99)]
    found = run(rows, end=12.0, window_start=4.0, window_end=12.0)
    powers = found["wear_power_blocks"][:, :BLOCKS]
    assert powers.mean(axis=1)[:3] == pytest.approx(list(PUBLISHED.values()), rel=1e-13)
    assert powers.mean(axis=1) == pytest.approx(found["wear_power"], rel=1e-14, abs=0.0)
    assert found["wear_power_scatter"] == pytest.approx(np.std(powers, axis=1, ddof=1), rel=1e-12, abs=1e-15)
    assert found["wear_power_error"] == pytest.approx(found["wear_power_scatter"] / math.sqrt(BLOCKS), rel=1e-15)
    assert (np.diff(powers[0]) < 0.0).all()  # 15 m/s^2 is still in its transient, and comes down to its limit
    assert powers[0, -1] == pytest.approx(15.114614488611316, rel=1e-3)
    assert np.ptp(powers[1]) < 1e-14  # from stop to stop every half period is like the one before
    assert not powers[3].any()
    assert found["friction_force_max"][3] == pytest.approx(0.99, rel=1e-14)  # what holds a mass that never slips
    assert found["friction_force_rms"][3] == pytest.approx(0.99 / math.sqrt(2.0), rel=1e-14)


@pytest.mark.slow
def test_euler_comes_near_to_rigid_friction() -> None:
    tolerance = 3e-3
    rows = [BASE | {"a0": 15.0, "k_t": 9e5, "c_t": 1900.0}, BASE | {"a0": 1.5, "k_t": 9e5, "c_t": 1900.0}]
    found, exact = run(rows, "euler", step=5e-4), run([BASE | {"a0": 15.0}, BASE | {"a0": 1.5}])
    for name in ("x_mean", "x_rms", "x_std", "x_min", "x_max", "v_rms", "friction_force_rms", "friction_force_min", "friction_force_max"):
        scale = np.maximum(abs(exact["x_min"]), abs(exact["x_max"])) if name.startswith("x_") else 1.0
        assert (abs(found[name] - exact[name]) < 3.0 * tolerance * scale).all(), name
    powers = found["wear_power_blocks"][:, :BLOCKS]
    assert powers == pytest.approx(exact["wear_power_blocks"][:, :BLOCKS], rel=tolerance)
    assert powers.mean(axis=1) == pytest.approx(found["wear_power"], rel=1e-12)


@pytest.mark.slow
def test_blocks_whose_ends_lie_within_steps_divide_them() -> None:
    rows = [BASE | {"a0": 15.0, "k_t": 9e3, "c_t": 100.0}]
    found = run(rows, "euler", step=7e-3)  # no end of a block is a multiple of it
    parts = [
        run(rows, "euler", Asked(), step=7e-3, window_start=low, window_end=high)["wear_power"][0]
        for low, high in ((3.1, 3.55), (3.55, 4.0), (6.25, 6.7))
    ]
    assert found["wear_power_blocks"][0, [0, 1, 7]] == pytest.approx(parts, rel=1e-9)


def test_a_number_of_blocks_that_cannot_be_is_refused() -> None:
    for blocks in (1, -1, 65):
        with pytest.raises(ValueError, match="2 to 64"):
            kernels.simulate("rubbing_mass", {"a0": 2.0}, blocks=blocks)
    with pytest.raises(ValueError, match="'blocks' needs a window"):
        kernels.simulate("rubbing_mass", {"a0": 2.0}, window="steady", blocks=4)


@pytest.mark.long
@pytest.mark.slow
def test_penalised_friction_agrees_with_quadrature_in_30_digits() -> None:
    hold_against_oracle(PENALISED, penalised_friction, 1e-13)


@pytest.mark.long
@pytest.mark.slow
def test_a_mass_that_bounces_presses_the_wall_by_half_sines() -> None:
    # k = c = 0 and a constant load towards a wall that keeps energy: flights of one length, and half sines on the wall
    k_n, load, v0 = 1e4, 3.0, -2.0
    p = {"load": load, "v0": v0, "k_n": k_n, "m": 1.0, "end": 20.0}
    static, w = load / k_n, math.sqrt(k_n)
    flight = -2.0 * v0 / load
    swing = math.hypot(static, v0 / w)
    pressed = 2.0 * (math.pi - math.atan2(-v0 / w, static)) / w  # until it leaves again
    period = flight + pressed
    p |= {"window_start": 3.0 * period, "window_end": 7.0 * period}
    found = kernels.simulate("stop", p, blocks=4, statistics=True)
    assert float(found["wall_force_max"]) == pytest.approx(k_n * (static + swing), rel=1e-12)
    assert float(found["wall_force_min"]) == 0.0
    assert float(found["wall_force_mean"]) == pytest.approx(load, rel=1e-12)  # it carries the load in the mean
    assert float(found["x_min"]) == pytest.approx(-(v0**2) / (2.0 * load), rel=1e-12)
    assert float(found["x_max"]) == pytest.approx(static + swing, rel=1e-12)
    assert not np.asarray(found["wear_power_blocks"])[:4].any()
    assert float(found["friction_force_rms"]) == 0.0
    # energy in the mean: the sum of kinetic, elastic and potential energy never changes
    squares = (float(found["wall_force_rms"]) / k_n) ** 2
    total = 0.5 * v0**2
    assert 0.5 * float(found["v_rms"]) ** 2 + 0.5 * k_n * squares - load * float(found["x_mean"]) == pytest.approx(total, rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_statistics_of_a_wall_with_friction_are_those_of_its_trace() -> None:
    p = {
        "a0": 4.0,
        "mu": 0.05,
        "k": 30.0,
        "c": 0.2,
        "k_n": 2e3,
        "c_n": 5.0,
        "gap": 0.02,
        "k_t": 1e5,
        "c_t": 300.0,
        "end": 4.0,
        "sides": 2.0,
    }
    found = kernels.simulate("stop", p, blocks=5, statistics=True)
    dense = kernels.trace("stop", p, samples=400_001)
    for name in ("x", "friction_force", "wall_force"):
        values = dense[name]
        mean, square = (np.trapezoid(values**n, dense["time"]) / p["end"] for n in (1, 2))
        expected = {"mean": mean, "rms": math.sqrt(square), "std": math.sqrt(square - mean**2), "min": values.min(), "max": values.max()}
        for ending, value in expected.items():
            assert float(found[f"{name}_{ending}"]) == pytest.approx(value, abs=2e-6 * abs(values).max()), (name, ending)  # by trapezoids
    assert np.asarray(found["wear_power_blocks"])[:5].mean() == pytest.approx(float(found["wear_power"]), rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_blocks_and_statistics_have_the_derivatives_of_the_motion() -> None:
    at = BASE | TIMES | {"k": 50.0, "c": 0.3, "phase": 0.4}

    def told(a0: float) -> dict[str, jax.Array]:
        found = kernels.simulate("rubbing_mass", at | {"a0": a0}, blocks=BLOCKS, statistics=True)
        wanted = ("x_mean", "x_std", "x_max", "x_min", "v_rms", "friction_force_rms", "friction_force_max", "wear_power_scatter")
        return {name: found[name] for name in wanted} | {"third": found["wear_power_blocks"][2]}

    slopes = hastily(jax.jacfwd(told))(3.0)
    h = 1e-5
    low, high = told(3.0 - h), told(3.0 + h)
    for name, slope in slopes.items():
        expected = float(high[name] - low[name]) / (2.0 * h)
        assert float(slope) == pytest.approx(expected, rel=2e-6, abs=1e-8), name


@pytest.mark.long
@pytest.mark.slow
def test_a_mass_between_two_stops_has_derivatives_where_their_clearance_closes() -> None:
    stiffness, start, end, crossings = 9.0, 0.2, 4.0, 4
    omega = math.sqrt(stiffness)
    assert 0.5 + crossings - 1 < omega * end / math.pi < crossings

    def closed_form(gap: complex) -> np.ndarray:
        """RMS of velocity and force, and the way, of a mass that leaves a stop at rest and crosses the clearance some times."""
        swing = start - gap
        flight = 2.0 * gap / (swing * omega)
        pressed = end - crossings * flight
        sine = 0.5 * pressed - np.sin(2.0 * omega * pressed) / (4.0 * omega)
        way = swing * (2.0 * crossings - 1.0 + np.cos(omega * pressed)) + 2.0 * crossings * gap
        squares = [(crossings * flight + sine) * (swing * omega) ** 2 / end, (pressed - sine) * (swing * stiffness) ** 2 / end]
        return np.array([*np.sqrt(squares), way])

    def engine(gap: Any) -> Any:
        row = {"m": 1.0, "k_n": stiffness, "a0": 0.0, "x0": start, "gap": gap, "sides": 2.0, "mu": 0.0, "normal_force": 1.0, "end": end}
        found = kernels.simulate("stop", row, statistics=True)
        return jax.numpy.stack([found[name] for name in ("v_rms", "wall_force_rms", "slip_distance")])

    values, rates = hastily(lambda gap: (engine(gap), jax.jacfwd(engine)(gap)))(0.0)
    np.testing.assert_allclose(values, closed_form(0.0).real, rtol=1e-12)
    np.testing.assert_allclose(rates, closed_form(1e-30j).imag / 1e-30, rtol=1e-11)


@pytest.mark.long
@pytest.mark.slow
def test_blocks_add_up_where_friction_varies() -> None:
    times = {"end": 3.0, "step": 5e-4, "window_start": 0.3, "window_end": 3.0}
    mass = {"a0": np.array([15.0, 1.5]), "k_t": 1e5, "mu_s": 0.15, "mu_d": 0.1, "stribeck_speed": 0.2}
    pressed = {"normal_amplitude": 12.0, "normal_omega": 9.0, "belt_speed": 0.3}
    found = batch.solve(RUBBING_MASS, "rk32", mass | pressed | times, count=2, asked=Asked(5, statistics=True)).observables
    np.testing.assert_allclose(np.nanmean(found["wear_power_blocks"], axis=1), found["wear_power"], rtol=1e-13)
    assert (found["friction_force_max"] > 1.5).all()  # F_n of 10 N alone would have 1.5 N
    assert (found["friction_force_max"] <= 0.15 * 22.0 * (1.0 + 1e-12)).all()


@pytest.mark.long
@pytest.mark.slow
def test_statistics_of_a_mass_that_a_record_shakes() -> None:
    t = np.arange(0.0, 3.01, 0.01)
    record = Records((2.0 * np.sin(7.0 * t) + np.sin(23.0 * t))[None], 0.01)
    row = {"record": 0.0, "record_scale": np.array([1.0, 3.0]), "end": 3.0, "mu": 0.1}
    rigid, stiff, steps = (
        batch.solve(RUBBING_MASS, scheme, row | given, count=2, asked=Asked(4, statistics=True), records=record).observables
        for scheme, given in (("exact", {}), ("exact", {"k_t": 1e7}), ("euler", {"k_t": 1e7, "step": 1e-4}))
    )
    for name in ("wear_power", "wear_power_scatter", "x_mean", "x_rms", "x_std", "v_rms", "friction_force_rms"):
        np.testing.assert_allclose(stiff[name], rigid[name], rtol=2e-3, err_msg=name)
        np.testing.assert_allclose(steps[name], stiff[name], rtol=1e-3, err_msg=name)
    # by trapezoids over what the engine says at many instants
    moments = kernels.trace("rubbing_mass", {"record": 0.0, "end": 3.0, "mu": 0.1}, samples=20_000, records=record)
    time, x = moments["time"], moments["x"]
    mean = np.trapezoid(x, time) / 3.0
    np.testing.assert_allclose([rigid["x_mean"][0], rigid["x_rms"][0]], [mean, math.sqrt(np.trapezoid(x**2, time) / 3.0)], rtol=1e-6)


def test_the_error_of_a_mean_of_blocks_is_their_deviation_over_the_root_of_their_number() -> None:
    energies = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    found = block_means.finish(jnp.asarray(energies), {"window_start": 2.0, "window_end": 12.0})
    powers = energies / 2.0
    np.testing.assert_allclose(found["wear_power_blocks"][:5], powers, rtol=1e-15)
    assert float(found["wear_power_scatter"]) == pytest.approx(np.std(powers, ddof=1), rel=1e-14)
    assert float(found["wear_power_error"]) == pytest.approx(stats.sem(powers), rel=1e-14)
