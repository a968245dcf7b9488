"""SDND106: two masses joined by a spring, one of which rubs, against the closed form and the published values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.two_masses import motion
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.reference.two_masses import AS_PUBLISHED, PUBLISHED, STIFF, TOLERANCE, TWO_MASSES

ENDS = ("0.02", "0.15", "0.339965")
NAMES = ("x_end[rubbing]", "x_rate_end[rubbing]", "x_end[pulled]", "x_rate_end[pulled]")


def test_the_published_values_are_those_of_the_closed_form() -> None:
    exactly = {end: dict(zip(NAMES, map(float, state), strict=True)) for end, state in zip(ENDS, motion([*ENDS]), strict=True)}
    for end, name, value in PUBLISHED:
        assert exactly[f"{end:g}"][name] == pytest.approx(value, abs=3e-5)


@pytest.mark.long
@pytest.mark.slow
def test_stiff_friction_is_that_of_the_closed_form() -> None:
    found = solve(TWO_MASSES, "rk54", {**STIFF, "end": np.array(ENDS, float)}, count=3).observables
    exactly = np.array(motion([*ENDS]), float)
    for name, column, tolerance in zip(NAMES, exactly.T, (2e-5, 1e-4, 2e-5, 3e-4), strict=True):
        assert np.allclose(found[name], column, rtol=0.0, atol=tolerance), name


@pytest.mark.slow
def test_the_scheme_of_the_document_meets_its_values() -> None:
    found = solve(TWO_MASSES, "adapt2", {**AS_PUBLISHED, "end": np.array(ENDS, float)}, count=3).observables
    for end, name, value in PUBLISHED:
        off = abs(found[name][ENDS.index(f"{end:g}")] - value)
        # the last displacement: the document grants 2e-3 m, its code is off by 2.0e-3 m, and the contact's spring counts for 6e-4 m
        assert off < (2e-4 if (end, name) == (0.339965, "x_end[pulled]") else TOLERANCE), name
