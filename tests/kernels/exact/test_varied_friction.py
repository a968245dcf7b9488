"""A normal force that varies and a surface that moves, event by event: against a run in 30 digits, the time schemes, and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernels
from kernels.batch import solve as batch
from kernels.excitation.record import Records
from kernels.models import MODELS, RUBBING_MASS
from kernels.models.status import Status
from tests.oracle import generate_varied, varied_surface
from tests.oracle.generate import as_text

Reference = Callable[[str], list[dict[str, Any]]]
ALL = {"normal_amplitude": 0.0, "normal_omega": 1.0, "normal_phase": 0.0, "friction_sides": 1.0, "belt_speed": 0.0,
       "tone_a0": [0.0, 0.0], "tone_omega": [1.0, 1.0], "tone_phase": [0.0, 0.0], "record": 0.0}  # fmt: skip
RECORDS = Records(np.array([generate_varied.RECORD]), generate_varied.INTERVAL)


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


def test_the_events_of_a_contact_that_is_lost_are_named() -> None:
    log = kernels.event_log("rubbing_mass", MASS | TIMES | CASES[1])
    assert {"loss of contact", "contact"} <= set(log["event"])
    gone = np.flatnonzero(log["event"] == "loss of contact")
    level = 9.0 + 14.0 * np.sin(7.0 * log.time[gone] + 0.6)
    np.testing.assert_allclose(level, 0.0, atol=1e-11)
    assert not np.any(log.friction_force[gone])


def test_what_a_carried_mass_cannot_do_is_said() -> None:
    given = {"mu": 0.2, "belt_speed": 0.1, "k_n": 100.0}
    assert batch.solve(MODELS["stop"], "exact", given, {}, 1).status.tolist() == [Status.RULE_BROKEN]
    with pytest.raises(ValueError, match="give k_t"):
        kernels.simulate("stop", given)
    with pytest.raises(ValueError, match="leave out belt_speed"):
        kernels.simulate("rubbing_mass", {"belt_speed": 0.1}, window="steady")
    given = {"a0": 1.5, "end": 2.0}
    same, plain = (batch.solve(RUBBING_MASS, "exact", row, {}, 1).observables for row in (given | {"belt_speed": 0.0}, given))
    assert {name: values.tolist() for name, values in same.items()} == {name: values.tolist() for name, values in plain.items()}
