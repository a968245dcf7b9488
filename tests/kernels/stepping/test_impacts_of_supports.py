"""Supports of structures count impacts as walls do: neither rounding nor the error of coarse steps makes one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import impacts

END = 10.0 * math.pi
PACES = {"euler": {"step": 1e-2}, "devogelaere": {"step": 1e-2}, "rk54": {"tolerance": 1e-4}, "adapt2": {}}
WEIGHT = {"m": 1.0, "c_n": 0.0, "gap": 0.0, "amplitude[pull]": -1.0, "omega[pull]": 1e-9, "phase[pull]": 0.5 * math.pi, "end": END}
TURNS = {"k": 1.0, "gap": 1.0, "x0[x]": -1.0, "k_n": 100.0, "amplitude[pull]": 0.0}  # x = -cos t turns at the face


@pytest.mark.slow
@pytest.mark.long_cases("devogelaere", "rk54", "adapt2")
@pytest.mark.parametrize("scheme", PACES)
def test_a_weight_hits_a_support_once_and_a_point_that_turns_at_its_face_hits_it_never(scheme: str) -> None:
    body = Structure(body_basis("x"), [Support("pad", "centre", "plane")], loads=[Load("pull")], body=True)
    for k_n in (50.0, 131.8, 500.0):
        given = WEIGHT | {"k_n": k_n} | PACES[scheme]
        found = kernels.simulate(body.model, given, scheme=scheme)
        assert float(found["max_penetration[pad]"]) == pytest.approx(2.0 / k_n, rel=5e-3)
        assert float(found["impacts[pad]"]) == 1.0
        assert len(impacts(body.model, given, scheme=scheme)["time"]) == 1
    given = WEIGHT | TURNS | PACES[scheme]
    assert float(kernels.simulate(body.model, given, scheme=scheme)["impacts[pad]"]) == 0.0
    assert len(impacts(body.model, given, scheme=scheme)["time"]) == 0
    # with a little more way it enters in each of five periods
    given |= {"x0[x]": -1.02}
    assert float(kernels.simulate(body.model, given, scheme=scheme)["impacts[pad]"]) == 5.0
    listed = impacts(body.model, given, scheme=scheme)
    # x = -1.02 cos t until the face; within, about 100/101, with 101 (rad/s)^2
    outside, inside, middle = math.pi - math.acos(1.0 / 1.02), math.sqrt(101.0), 1.0 / 101.0
    within = 2.0 * math.atan2(math.sqrt(1.02**2 - 1.0) / inside, middle) / inside
    late = 0.06 if scheme == "adapt2" else 0.02  # s; its own steps lose 0.01 s a period
    assert listed["time"] == pytest.approx(outside + (2.0 * outside + within) * np.arange(5), abs=late)
    assert listed["duration"] == pytest.approx([within] * 5, rel=0.05)


@pytest.mark.slow
def test_a_start_inside_a_support_is_an_impact_only_if_the_point_moves_inwards() -> None:
    body = Structure(body_basis("x"), [Support("pad", "centre", "plane")], loads=[Load("pull")], body=True)
    for rate, counted in ((0.5, 1.0), (0.0, 0.0), (-0.5, 0.0)):
        given = WEIGHT | {"k_n": 100.0, "x0[x]": 0.01, "v0[x]": rate, "amplitude[pull]": 0.0, "end": 1.0, "step": 1e-2}
        assert float(kernels.simulate(body.model, given, scheme="euler")["impacts[pad]"]) == counted
        assert len(impacts(body.model, given, scheme="euler")["time"]) == counted
