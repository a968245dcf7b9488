"""Tables of force and pulses: closed forms, an event code of its own, derivatives, and time schemes against `exact`."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.test_event_code import Columns, compare, oscillators, wall
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.excitation.multi_tone import Driven
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.models.loads import PULSES
from tribosweep.kernels.models.schemes import SCHEMES

CODES = {name: float(code) for code, name in enumerate(PULSES)}


def shaken(rng: np.random.Generator, n: int, friction: str, c: Columns | None = None) -> Columns:
    """Random masses with a table of force, with jumps, and a pulse of any shape."""
    c = oscillators(rng, n, friction) if c is None else c
    force = c["m"] * c["a0"]
    times = np.sort(rng.uniform(0.0, 1.0, (n, 5)), axis=1)
    times[:, 0] = np.where(rng.random(n) < 0.3, 0.0, times[:, 0])
    times[:, 3] = np.where(rng.random(n) < 0.6, times[:, 2], times[:, 3])
    values = rng.normal(0.0, 1.0, (n, 5)) * force[:, None]
    short = rng.random(n) < 0.3
    times[short, 4] = values[short, 4] = math.nan
    shape = rng.integers(0, len(PULSES), n).astype(float)
    height = np.where(shape > 0.0, rng.normal(0.0, 1.0, n), 0.0)
    return c | {
        "table_time": times * c["end"][:, None], "table_force": values, "table_scale": rng.uniform(0.5, 1.5, n), "pulse": shape,
        "pulse_start": np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.0, 0.5, n)) * c["end"],
        "pulse_duration": rng.uniform(0.02, 0.6, n) * c["end"],
        "pulse_f0": 2.0 * force * height, "pulse_a0": c["a0"] * height * rng.normal(0.0, 0.5, n),
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("friction", ["rigid", "penalised"])
def test_random_rows_are_those_of_the_event_code(friction: str) -> None:
    c = shaken(np.random.default_rng(list(friction.encode())), 400, friction)
    worst, differ, turned = compare(RUBBING_MASS, c, True)
    print({key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 12
    assert max(worst.values()) < 1e-8


@pytest.mark.slow
@pytest.mark.long
def test_random_stops_are_those_of_the_event_code() -> None:
    rng = np.random.default_rng(70)
    c = oscillators(rng, 400, "rigid")
    c = shaken(rng, 400, "rigid", c | wall(rng, c, "stop"))
    worst, differ, turned = compare(STOP, c, True)
    print({key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 20


def ends(**params: Any) -> Any:
    """Displacement and wear energy of a mass of 1 kg with mu g = 1 m/s^2 after 1 s."""
    return kernels.simulate("rubbing_mass", {"mu": 0.1, "g": 10.0, "end": 1.0, **params})


@pytest.mark.slow
def test_a_force_that_is_turned_off_has_the_closed_form() -> None:
    # 3 N for 0.2 s give 0.4 m/s and 0.04 m; then friction stops the mass after 0.4 s and 0.08 m
    times = np.array([[0.0, 0.2, 0.2, math.nan], [0.3, 0.3, 0.5, 0.5]])
    forces = np.array([[3.0, 3.0, 0.0, math.nan], [0.0, 1.5, 1.5, 0.0]])
    found = ends(table_time=times, table_force=forces, table_scale=np.array([1.0, 2.0]))
    assert np.allclose(found["x_end"], 0.12, rtol=0.0, atol=1e-14)
    assert np.allclose(found["wear_energy"], 1.2, rtol=0.0, atol=1e-13)
    assert set(found.in_words()["regime"]) == {"stick-slip"}


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_by_height_start_and_duration_are_those_of_the_closed_form() -> None:
    def end(duration: Any, start: Any, height: Any) -> Any:
        return ends(pulse=CODES["rectangle"], pulse_duration=duration, pulse_start=start, pulse_f0=height)["x_end"]

    # x = a d^2 / 2 + (a d)^2 / 2 with a = F - 1
    assert end(0.2, 0.3, 3.0) == pytest.approx(0.12, abs=1e-14)
    assert np.allclose(jax.grad(end, (0, 1, 2))(0.2, 0.3, 3.0), (1.2, 0.0, 0.1), rtol=0.0, atol=1e-13)


def spring(height: float, shape: str, duration: float, start: float, time: float) -> float:
    """Displacement of a mass on a spring (m = 1, k = w^2, w = 3 rad/s) under a pulse, in closed form (Duhamel's integral)."""
    w, s = 3.0, time - start
    step = lambda s: (1.0 - math.cos(w * s)) / w**2 if s > 0.0 else 0.0  # noqa: E731
    ramp = lambda s: (s - math.sin(w * s) / w) / w**2 if s > 0.0 else 0.0  # noqa: E731
    if shape == "rectangle":
        return height * (step(s) - step(s - duration))
    if shape == "ramp":
        return height / duration * (ramp(s) - ramp(s - duration))
    if shape == "triangle":
        return 2.0 * height / duration * (ramp(s) - 2.0 * ramp(s - duration / 2.0) + ramp(s - duration))
    p = math.pi / duration
    sine = lambda s: (math.sin(p * s) - p / w * math.sin(w * s)) / (w**2 - p**2) if s > 0.0 else 0.0  # noqa: E731
    return height * (sine(s) + sine(s - duration))


@pytest.mark.long_cases("rk54", "devogelaere", "adapt2")
@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme",
    [
        "exact",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("devogelaere", "rk54", "adapt2")),
        *(pytest.param(each, marks=[pytest.mark.slow, pytest.mark.long]) for each in ("euler", "adapt1", "rk32")),
    ],
)
def test_pulses_on_a_spring_have_the_closed_form(scheme: str) -> None:
    shapes, duration, start, height, end = PULSES[1:], 0.37, 0.21, 1.7, 1.3
    tolerance = {"exact": 1e-13, "rk54": 2e-7, "rk32": 2e-7, "adapt2": 5e-8, "devogelaere": 2e-4, "adapt1": 2e-4, "euler": 4e-4}[scheme]
    common = {"k": 9.0, "largest_step": 2e-4, "mu": 0.0, "normal_force": 0.0, "end": end, "pulse_duration": duration, "pulse_start": start}
    codes = np.array([CODES[shape] for shape in shapes])
    for load in ({"pulse_f0": height}, {"pulse_a0": -height}):
        found = solve(RUBBING_MASS, scheme, {**common, **load, "pulse": codes, "step": 2e-4}, count=len(shapes)).observables["x_end"]
        expected = [spring(height, shape, duration, start, end) for shape in shapes]
        assert np.allclose(found, expected, rtol=0.0, atol=tolerance)


@pytest.mark.long_cases("rk32", "adapt1", "adapt2")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["adapt2", "euler", "adapt1", "rk32"])
def test_a_force_that_jumps_gives_its_momentum(scheme: str) -> None:
    # 1 N from 0.3 s on, or from 0.3 to 0.53 s, on a free mass of 2 kg; steps of 7 ms, and chosen ones
    times = np.array([[0.3, 0.3, math.nan, math.nan], [0.3, 0.3, 0.53, 0.53]])
    forces = np.array([[0.0, 1.0, math.nan, math.nan], [0.0, 1.0, 1.0, 0.0]])
    row = {"m": 2.0, "mu": 0.0, "normal_force": 0.0, "end": 1.0, "table_time": times, "table_force": forces, "table_scale": 1.0}
    found = solve(RUBBING_MASS, scheme, row | {"step": 7e-3, "largest_step": 7e-3}, count=2).observables
    of_speed = 1e-13 if "largest_step" in SCHEMES[scheme].reads else 7e-3 / 2.0  # at fixed steps the force comes up to a step late
    of_way = {"euler": 4e-3, "adapt1": 2e-3}.get(scheme, 1e-13)
    assert np.allclose(found["v_end"], [0.35, 0.115], rtol=0.0, atol=of_speed)
    assert np.allclose(found["x_end"], [0.1225, 0.115 * 0.585], rtol=0.0, atol=of_way)


@pytest.mark.long
@pytest.mark.slow
def test_a_half_sine_does_nothing_before_it_begins() -> None:
    # a mass at rest that touches a stop is pushed against it once, whenever that is; its sine would push or pull it at t = 0 already
    stop = {"k_n": 1e3, "gap": 0.0, "mu": 0.0, "normal_force": 0.0, "end": 1.0, "pulse": CODES["half-sine"], "pulse_duration": 0.2}
    found = kernels.simulate("stop", stop | {"pulse_start": np.array([0.0, 0.1, 0.3, 0.5, 0.7]), "pulse_f0": 1.0})
    assert found["impacts"].tolist() == [1.0] * 5
    assert np.ptp(np.asarray(found["v_end"])) < 1e-13


def test_the_force_of_an_event_loop_has_its_half_sine_once() -> None:
    row = {"m": 1.0, "f0": 0.0, "a0": 0.0, "omega": 1.0, "phase": 0.0, "load": 0.5, "pulse": CODES["half-sine"], "pulse_start": 0.3,
           "pulse_duration": 0.2, "pulse_f0": 2.0, "pulse_a0": 0.0}  # fmt: skip
    force = Driven.of({name: jnp.asarray(value) for name, value in row.items()}, by_events=True)
    times = np.array([0.0, 0.299, 0.35, 0.4, 0.501])
    found = jax.jit(jax.vmap(force.at))(times)
    assert np.allclose(found, [0.5, 0.5, 0.5 + math.sqrt(2.0), 2.5, 0.5], rtol=0.0, atol=1e-14)
    assert float(force.largest) == 2.5


@pytest.mark.slow
def test_a_table_goes_beside_a_record_a_tone_and_a_sine() -> None:
    # everything is linear without friction: each alone, added up, is all together
    times, forces = np.array([0.1, 0.5, 0.5, 0.9]), np.array([0.0, 2.0, -1.0, 0.5])
    records = kernels.Records(np.sin(0.1 * np.arange(101)), 0.01)
    one = np.arange(6)  # the row with this part alone; all of them are in the last row

    def part(number: int, size: float) -> np.ndarray:
        return size * ((one == number) | (one == 5))

    found = kernels.simulate("rubbing_mass", {
        "k": 20.0, "c": 0.5, "mu": 0.0, "normal_force": 0.0, "end": 1.0, "table_time": times, "table_force": forces,
        "table_scale": part(0, 1.0), "record": 0, "record_scale": part(1, 2.0), "a0": part(2, 0.7), "tone_a0": part(3, 1.5)[:, None],
        "tone_omega": np.array([11.0]), "pulse": CODES["half-sine"], "pulse_duration": 0.4, "pulse_f0": part(4, 3.0),
    }, records=records)  # fmt: skip
    ends = np.asarray(found["x_end"])
    assert np.all(np.abs(ends[:5]) > 1e-4)
    assert ends[:5].sum() == pytest.approx(ends[5], abs=1e-13)


@pytest.mark.slow
def test_adaptive_steps_end_where_a_force_jumps() -> None:
    # with a step that lands on the jump the scheme keeps its order: few steps, and hardly any refused
    params = {"pulse": CODES["rectangle"], "pulse_duration": 0.25, "pulse_start": 0.4, "pulse_f0": 3.0, "k": 9.0, "mu": 0.0}
    found = kernels.simulate("rubbing_mass", {**params, "normal_force": 0.0, "end": 1.0, "tolerance": 1e-9}, "rk54")
    assert float(found["x_end"]) == pytest.approx(spring(3.0, "rectangle", 0.25, 0.4, 1.0), abs=1e-8)
    assert int(found["rejected_steps"]) <= 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"table_time": np.array([0.0, 1.0]), "table_force": np.array([1.0])},
            "must be of one length; table_time has 2, table_force has 1",
        ),
        ({"table_time": np.array([0.0, 1.0, 0.5]), "table_force": np.ones(3)}, "must ascend"),
        ({"pulse": CODES["triangle"], "pulse_f0": 1.0}, "a pulse needs a duration, unless it is a rectangle: give pulse_duration"),
        ({"pulse_f0": 1.0}, "a pulse needs a shape: pulse = one of rectangle, triangle, half-sine, ramp"),
    ],
)
def test_what_is_wrong_is_said(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ends(**params)
