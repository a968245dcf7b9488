"""What a structure's contact dissipates converges with the step where its dampers act from its entry on; against located phases."""

from __future__ import annotations

import numpy as np
import pytest

import kernels
from kernels.models.structures import Structure, body_basis
from kernels.models.supports import Support
from tests.oracle.contact_phases import Bodies, Contact

K, C, MU, END = 1e5, 100.0, 0.2, 0.02
GIVEN = {"m": 1.0, "k_n": K, "c_n": C, "k_t": K, "c_t": C, "mu": MU, "gap": 0.0, "end": END, "v0[x]": 0.2, "v0[y]": 0.5, "x0[x]": -1e-4}
ERRORS = {"euler": ("step", {1e-5: 1e-3, 1e-6: 1e-4}), "rk54": ("tolerance", {1e-4: 5e-4, 1e-6: 5e-6, 1e-8: 5e-8, 1e-10: 5e-10})}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ERRORS)
def test_power_of_a_contact_with_dampers_converges(scheme: str) -> None:
    bodies = Bodies([1.0, 1.0], [Contact((1.0, 0.0), (0.0, 1.0), 0.0, K, C, MU, MU, K, C)], lambda _: np.zeros(2))
    exact = bodies.run([-1e-4, 0.0], [0.2, 0.5], END)
    body = Structure(body_basis("xy"), [Support("it", "centre", "plane")], body=True)
    pace, errors = ERRORS[scheme]
    limits = {"largest_step": 1.0, "smallest_step": 1e-14} if pace == "tolerance" else {}
    for value, error in errors.items():
        found = kernels.simulate(body.model, GIVEN | limits | {pace: value}, scheme=scheme)
        assert float(found["friction_power[it]"]) == pytest.approx(exact["friction"][0] / END, rel=error)
        assert float(found["wear_power[it]"]) == pytest.approx(exact["wear"][0] / END, rel=error)
        assert float(found["impulse[it]"]) == pytest.approx(exact["impulse"][0], rel=error)
