"""Traces: motion and forces in time are those of an independent run, at equal steps and around every event."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from tests.oracle.shock_events import DIGITS, Oscillator
from tribosweep import kernels

RUBS = {"a0": 3.0, "k": 20.0, "c": 0.5, "mu_s": 0.15, "mu_d": 0.1, "load": 0.3, "g": 10.0, "m": 1.3, "end": 2.0}
HITS = {"gap": 0.05, "a0": 6.0, "omega": 9.0, "k": 30.0, "c": 0.3, "k_n": 900.0, "c_n": 1.5, "sides": 2.0, "end": 1.5}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "rubs": ("rubbing_mass", RUBS),
    "rubs on a spring": ("rubbing_mass", RUBS | {"k_t": 200.0, "c_t": 8.0}),
    "hits two stops": ("stop", HITS),
    "crushes a wall": (
        "buckling_wall",
        {"v0": 2.0 * 2.0**0.5, "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0, "end": 10.0}
        | {"post_set": (2.0, 3.0, 4.0, 5.0), "post_stiffness": (0.2, 0.15, 0.125, 0.1)},
    ),
}


@pytest.mark.long_cases("rubs on a spring")
@pytest.mark.parametrize(
    ("model", "given"),
    [pytest.param(*case, id=name, marks=pytest.mark.oracle if name == "rubs" else pytest.mark.slow) for name, case in CASES.items()],
)
def test_a_trace_is_that_of_the_independent_run(model: str, given: dict[str, Any]) -> None:
    trace = kernels.trace(model, given, samples=40)
    assert (np.diff(trace["time"]) >= 0.0).all()
    with mpmath.workdps(DIGITS):
        other = Oscillator({"omega": 2.0 * np.pi, "mu": 0.0} | {n: v for n, v in given.items() if n != "end"}, given["end"])
        events = np.array([float(s.stop) for s in other.segments])
        # away from events, where a force may jump
        inner = [i for i, t in enumerate(trace["time"]) if np.abs(events - t).min() > 1e-9][::3]
        jets = [next(s for s in other.segments if trace["time"][i] <= s.stop).jet(mpmath.mpf(trace["time"][i])) for i in inner]
        m, c, k = other.mck
        # what is left of the balance of forces is the contact
        left = [m * j[2] + c * j[1] + k * j[0] - other.drive(mpmath.mpf(trace["time"][i])) for i, j in zip(inner, jets, strict=True)]
    side = np.where(trace["x"] > 0.0, 1.0, -1.0)
    contact = (trace["friction_force"] - side * trace["wall_force"])[inner]
    for found, expected in ((trace["x"][inner], [j[0] for j in jets]), (trace["v"][inner], [j[1] for j in jets]), (contact, left)):
        scale = max(abs(float(value)) for value in expected)
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.slow
def test_a_trace_may_start_late_and_holds_both_sides_of_every_event() -> None:
    events = kernels.event_log("rubbing_mass", RUBS)
    trace = kernels.trace("rubbing_mass", RUBS, start=1.0, samples=11)
    assert trace["time"][0] == 1.0
    assert trace["time"][-1] == 2.0
    for time, force in zip(events["time"], events["friction_force"], strict=True):
        if 1.0 < time < 2.0:
            at = np.flatnonzero(trace["time"] == time)
            assert len(at) >= 2
            assert trace["friction_force"][at[-1]] == force


@pytest.mark.slow
def test_short_stretches_are_resolved() -> None:
    trace = kernels.trace("stop", HITS, samples=20)
    pressed = trace["wall_force"] > 0.0
    entries = np.count_nonzero(np.diff(pressed.astype(int)) == 1)
    assert np.count_nonzero(pressed) >= 7 * entries > 0


@pytest.mark.slow
def test_a_trace_at_given_times_is_the_motion_there() -> None:
    params = {"a0": 3.0, "mu": 0.1, "omega": 2.0 * np.pi, "end": 2.0}  # slips from asin(1/3)/omega on: v in closed form
    start = np.arcsin(1.0 / 3.0) / (2.0 * np.pi)
    times = np.array([0.4, 0.01, start + 0.05, 0.2, 0.2])
    found = kernels.trace("rubbing_mass", params, at=times)
    np.testing.assert_array_equal(found["time"], times)
    slips = times > start
    speed = np.where(slips, 3.0 / (2.0 * np.pi) * (np.cos(2.0 * np.pi * times) - np.cos(2.0 * np.pi * start)) + (times - start), 0.0)
    np.testing.assert_allclose(found["v"], speed, rtol=1e-12, atol=1e-15)
    for time, x in zip(times[:3], found["x"][:3], strict=True):
        assert float(kernels.simulate("rubbing_mass", params | {"end": time})["x_end"]) == pytest.approx(x, rel=1e-12, abs=1e-16)
    assert kernels.trace("rubbing_mass", params, at=[])["x"].shape == (0,)


@pytest.mark.parametrize(
    ("at", "said"), [([0.1, 2.5], "entry 1 is 2.5 s"), ([-0.1], ">= 0 and <= 2 s"), ([np.nan], "nan"), ([[0.1]], "2 dimensions")]
)
def test_a_trace_at_times_outside_the_run_is_refused(at: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kernels.trace("rubbing_mass", {"a0": 3.0, "end": 2.0}, at=at)
