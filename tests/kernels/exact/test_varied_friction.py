"""A normal force that varies and a surface that moves, event by event: against a run in 30 digits, the time schemes, and differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from tests.kernels.compiling import hastily
from tests.oracle import generate_varied, varied_surface
from tests.oracle.generate import as_text
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import MODELS, RUBBING_MASS
from tribosweep.kernels.models.outputs import NOTHING_ELSE, Asked
from tribosweep.kernels.models.status import Status

Reference = Callable[[str], list[dict[str, Any]]]
ALL = {"normal_amplitude": 0.0, "normal_omega": 1.0, "normal_phase": 0.0, "friction_sides": 1.0, "belt_speed": 0.0,
       "tone_a0": [0.0, 0.0], "tone_omega": [1.0, 1.0], "tone_phase": [0.0, 0.0], "record": 0.0}  # fmt: skip
RECORDS = Records(np.array([generate_varied.RECORD]), generate_varied.INTERVAL)


@pytest.mark.long_cases("rigid", "penalised")
@pytest.mark.slow
@pytest.mark.parametrize("held", [False, True], ids=["rigid", "penalised"])
def test_every_observable_agrees_with_the_high_precision_run(reference: Reference, held: bool) -> None:
    # all kinds of rows in one program
    rows = [row for row in reference("varied.json") if ("k_t" in row["row"]) == held]
    given = [ALL | row["row"] | ({} if "record" in row["row"] else {"record_scale": 0.0}) for row in rows]
    found = kernels.simulate("rubbing_mass", {name: np.array([row[name] for row in given]) for name in given[0]}, records=RECORDS)
    assert not np.any(found["status"])
    for kind in generate_varied.KINDS:
        chosen = np.array([row["kind"] == kind for row in rows])
        for name in generate_varied.NAMES if chosen.any() else ():
            expected = np.array([float(row["result"][name]) for row in rows])[chosen]
            values = np.asarray(found[name])[chosen]
            np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)), err_msg=f"{kind}: {name}")


def test_reference_data_is_what_its_generator_writes(reference: Reference) -> None:
    row = min(reference("varied.json"), key=lambda each: each["events"])
    fresh = varied_surface.run(*generate_varied.of_oracle(row["row"]))
    assert {name: as_text(fresh[name]) for name in generate_varied.NAMES} == row["result"]


# pressed by a force that varies on a moving support, its contact lost in the second row and between two surfaces in the third
MASS = {"m": 1.3, "k": 25.0, "c": 0.4, "mu_s": 0.3, "mu_d": 0.25, "a0": 6.0, "omega": 5.0, "phase": 0.4, "load": 0.3, "x0": 0.01, "v0": 0.1,
        "normal_force": 9.0, "normal_amplitude": 5.0, "normal_omega": 7.0, "normal_phase": 0.6, "belt_speed": 0.15}  # fmt: skip
CASES = [{}, {"normal_amplitude": 14.0}, {"normal_amplitude": 16.0, "friction_sides": 2.0, "a0": 2.0}]
TIMES = {"end": 2.2, "window_start": 0.4, "window_end": 2.0}


HELD = {"k_t": 3e4, "c_t": 250.0}


def solved(
    rows: list[dict[str, Any]], scheme: str = "exact", asked: Asked = NOTHING_ELSE, model: str = "rubbing_mass"
) -> dict[str, np.ndarray]:
    """Observables and status of rows that have the same parameters."""
    records = RECORDS if "record" in rows[0] else None
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    solution = batch.solve(MODELS[model], scheme, columns, {}, len(rows), asked=asked, records=records)
    assert not solution.status.any()
    return dict(solution.observables)


@pytest.mark.long
@pytest.mark.slow
def test_the_first_instant_at_a_stop_and_a_normal_force_that_only_touches_0() -> None:
    base = {"m": 1.0, "k_n": 1e3, "friction_sides": 1.0, "a0": 0.0}
    # at the face: mu_s n = 3 N hold against a load of 1 N, though the mean normal force is 0; in the second row n is too small
    face = base | {"gap": 0.0, "mu_s": 0.3, "mu_d": 0.3, "normal_force": 0.0, "normal_omega": 0.1, "normal_phase": 0.5 * math.pi,
                   "load": 1.0, "v0": 0.0, "end": 1.0}  # fmt: skip
    faces = [face | {"normal_amplitude": n} for n in (10.0, 3.0)]
    # a mass that slides one way, far from the stop, under n (1 + sin(omega t + phase))
    n, omega, v0, end = 9.0, 7.0, 5.0, 2.2
    phases = (0.0, 1.0, -0.5 * math.pi, 2.0, 3.5, 0.5 * math.pi, 1.5 * math.pi)
    slides = base | {"gap": 100.0, "mu_s": 0.1, "mu_d": 0.1, "normal_force": n, "normal_amplitude": n, "normal_omega": omega, "load": 0.0,
                     "v0": v0, "end": end}  # fmt: skip
    sliding = [slides | {"normal_phase": phase, "friction_sides": sides} for sides in (1.0, 2.0) for phase in phases]
    found = solved([*faces, *sliding], model="stop")

    assert found["impacts"].tolist() == [0.0, 1.0, *[0.0] * len(sliding)]
    assert found["peak_force"][0] == 0.0
    assert found["stick_fraction"][0] == 1.0
    assert not found["stick_fraction"][2:].any()
    lost = [n * end + n / omega * (math.cos(phase) - math.cos(omega * end + phase)) for phase in phases]
    np.testing.assert_allclose(found["v_end"][2:], [v0 - 0.1 * each for each in lost] * 2, rtol=1e-12)
    assert set(found["slip_phases"][2:]) == {1.0}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("held", [{}], ids=["rigid"])
def test_derivatives_are_those_of_central_differences(held: dict[str, float]) -> None:
    wanted = ("wear_power", "friction_power", "slip_distance", "stick_fraction", "x_end", "v_end", "max_slip_speed")
    rows = [MASS | {"friction_sides": 1.0} | held | case for case in CASES]
    at = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    moving = [name for name in at if name not in ("friction_sides", "c")]

    def told(size: Any) -> Any:
        found = kernels.simulate("rubbing_mass", at | {name: at[name] * (1.0 + size[i]) for i, name in enumerate(moving)} | TIMES)
        return {name: found[name] for name in wanted}

    rates = hastily(jax.jacfwd(told))(np.zeros(len(moving)))
    h = 1e-6
    steps = h * np.eye(len(moving))
    up, down = ([told(sign * step) for step in steps] for sign in (1.0, -1.0))
    for name in wanted:
        slope = np.stack([np.asarray(a[name] - b[name]) for a, b in zip(up, down, strict=True)], axis=-1) / (2.0 * h)
        np.testing.assert_allclose(np.asarray(rates[name]), slope, rtol=1e-6, atol=1e-6 * np.max(np.abs(slope)), err_msg=name)


@pytest.mark.slow
@pytest.mark.long
def test_a_time_scheme_comes_to_the_same_as_its_steps_become_short() -> None:
    rows = [MASS | {"friction_sides": 1.0} | HELD | TIMES | case for case in CASES]
    expected = solved(rows)
    found = [solved([row | {"step": step} for row in rows], "euler") for step in (4e-5, 1e-5)]
    for name in ("wear_power", "friction_power", "slip_distance", "stick_fraction", "x_end", "v_end", "drift"):
        size = np.max(np.abs(expected[name]))
        coarse, fine = (np.max(np.abs(each[name] - expected[name])) / size for each in found)
        assert fine < 2e-4, name
        assert fine < 0.6 * coarse or fine < 1e-5, name
    np.testing.assert_array_equal(found[1]["regime"], expected["regime"])


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("held", [{}], ids=["rigid"])
def test_blocks_and_statistics_are_those_of_a_trace(held: dict[str, float]) -> None:
    rows = [MASS | {"friction_sides": 1.0} | held | TIMES | case for case in CASES]
    found = solved(rows, asked=Asked(4, statistics=True))
    np.testing.assert_allclose(np.nanmean(found["wear_power_blocks"], axis=1), found["wear_power"], rtol=1e-12)
    for i, row in enumerate(rows):
        path = kernels.trace("rubbing_mass", row, samples=40_000)
        inside = (path.time >= TIMES["window_start"]) & (path.time <= TIMES["window_end"])
        time, x, v, force = (np.asarray(each)[inside] for each in (path.time, path.x, path.v, path.friction_force))
        length = np.ptp(time)
        for name, values in (("x", x), ("friction_force", force)):
            mean = np.trapezoid(values, time) / length
            assert found[f"{name}_mean"][i] == pytest.approx(mean, rel=1e-5, abs=1e-5), name
            assert found[f"{name}_rms"][i] == pytest.approx(math.sqrt(np.trapezoid(values**2, time) / length), rel=1e-5), name
            assert found[f"{name}_max"][i] == pytest.approx(values.max(), rel=1e-5, abs=1e-7), name
        assert found["v_rms"][i] == pytest.approx(math.sqrt(np.trapezoid(v**2, time) / length), rel=1e-5)
        press = row["normal_force"] + row["normal_amplitude"] * np.sin(row["normal_omega"] * time + row["normal_phase"])
        press = np.abs(press) if row["friction_sides"] == 2.0 else np.maximum(press, 0.0)
        assert (np.abs(force) <= row["mu_s"] * press + 1e-6).all()
        # energy: what friction takes from the mass, and what it takes from the support
        log = kernels.event_log("rubbing_mass", row)
        stored = log.kinetic_energy + log.spring_energy
        gained = log.input_work - log.viscous_work - log.friction_work
        np.testing.assert_allclose(stored - stored[0], gained, atol=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_the_events_of_a_contact_that_is_lost_are_named() -> None:
    log = kernels.event_log("rubbing_mass", MASS | TIMES | CASES[1])
    assert {"loss of contact", "contact"} <= set(log["event"])
    gone = np.flatnonzero(log["event"] == "loss of contact")
    level = 9.0 + 14.0 * np.sin(7.0 * log.time[gone] + 0.6)
    np.testing.assert_allclose(level, 0.0, atol=1e-11)
    assert not np.any(log.friction_force[gone])


def test_what_a_carried_mass_cannot_do_is_said() -> None:
    given = {"mu": 0.2, "normal_force": 3.0, "normal_amplitude": 1.0, "k_t": 100.0, "c_t": 0.0}
    assert batch.solve(RUBBING_MASS, "exact", given, {}, 1).status.tolist() == [Status.RULE_BROKEN]
    with pytest.raises(ValueError, match="needs a damper beside the spring"):
        kernels.simulate("rubbing_mass", given)
    with pytest.raises(ValueError, match="leave out belt_speed"):
        kernels.simulate("rubbing_mass", {"belt_speed": 0.1}, window="steady")
    given = {"a0": 1.5, "end": 2.0}
    same, plain = (batch.solve(RUBBING_MASS, "exact", row, {}, 1).observables for row in (given | {"belt_speed": 0.0}, given))
    assert {name: values.tolist() for name, values in same.items()} == {name: values.tolist() for name, values in plain.items()}


@pytest.mark.slow
@pytest.mark.long
def test_forces_of_a_mass_that_its_support_carries_into_a_wall_are_those_of_a_trace() -> None:
    row = {"m": 1.2, "k": 20.0, "c": 0.3, "k_n": 400.0, "c_n": 6.0, "gap": 0.05, "mu_s": 0.6, "mu_d": 0.5, "normal_force": 30.0, "a0": 0.0,
           "belt_speed": 0.2, "v0": 0.2, "end": 2.0, "window_start": 0.1, "window_end": 1.9}  # fmt: skip
    (found,) = ({name: values[0] for name, values in solved([row], model="stop", asked=Asked(statistics=True)).items()},)
    path = kernels.trace("stop", row, samples=40_000)
    inside = (path.time >= row["window_start"]) & (path.time <= row["window_end"])
    time, wall, friction = (np.asarray(each)[inside] for each in (path.time, path.wall_force, path.friction_force))
    assert found["impacts"] == 1.0
    for name, values in (("wall_force", wall), ("friction_force", friction)):
        assert found[f"{name}_mean"] == pytest.approx(np.trapezoid(values, time) / np.ptp(time), rel=1e-4), name
        assert found[f"{name}_rms"] == pytest.approx(math.sqrt(np.trapezoid(values**2, time) / np.ptp(time)), rel=1e-4), name
        assert found[f"{name}_max"] == pytest.approx(values.max(), rel=1e-4), name
    # at the release spring, damper and wall together need mu_s F_n: (k + k_n) y + k gap + (c + c_n) v = 18 N
    release = (18.0 - 20.0 * 0.05 - 6.3 * 0.2) / 420.0 + 0.05
    log = kernels.event_log("stop", row)
    assert log.x[list(log["event"]).index("release")] == pytest.approx(release, rel=1e-12)
    assert found["stick_fraction"] == pytest.approx((release / 0.2 - 0.1) / 1.8, rel=1e-12)
