"""What a structure's contact dissipates converges with the step where its dampers act from its entry on; against located phases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from tests.oracle.contact_phases import Bodies, Contact
from tribosweep import kernels
from tribosweep.kernels.models.structures import Structure, body_basis
from tribosweep.kernels.models.supports import Support

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


HIT = {"m": 1.0, "k": 0.0, "c": 0.0, "k_n": 1e4, "c_n": 40.0, "k_t": 2e4, "c_t": 60.0, "mu": 0.3, "v0[x]": 1.0, "v0[y]": 2.0, "end": 0.05}


def dissipated_and_slid() -> tuple[float, float]:
    """What friction takes [J] from a body that hits a plane and slips from the first instant to the last, and how far it slides [m].

    Normal to the plane m p'' + c_n p' + k_n p = 0 from p = 0 on. T = mu F_n, so that m v_t = m v_t(0) - mu m (p'(0) - p'), and the anchor
    moves at v_t - e' with e = (T - c_t v_t) / k_t.
    """
    m, k_n, c_n, k_t, c_t, mu, v_n, v_t = (HIT[name] for name in ("m", "k_n", "c_n", "k_t", "c_t", "mu", "v0[x]", "v0[y]"))
    decay = 0.5 * c_n / m
    omega = np.sqrt(k_n / m - decay**2)

    def depth(t: float) -> float:
        return float(v_n / omega * np.exp(-decay * t) * np.sin(omega * t))

    def rate(t: float) -> float:
        return float(v_n * np.exp(-decay * t) * (np.cos(omega * t) - decay / omega * np.sin(omega * t)))

    def force(t: float) -> float:
        return k_n * depth(t) + c_n * rate(t)

    def anchor(t: float) -> float:
        growth = k_n * rate(t) - c_n * force(t) / m
        return v_t - mu * (v_n - rate(t)) - (mu * growth + c_t * mu * force(t) / m) / k_t

    end = brentq(force, 0.5 * np.pi / omega, 1.2 * np.pi / omega)
    assert c_t * v_t > mu * c_n * v_n
    assert min(anchor(t) for t in np.linspace(0.0, end, 200)) > 0.0
    taken = quad(lambda t: mu * force(t) * anchor(t), 0.0, end, epsabs=1e-13)[0]
    return float(taken), (v_t - mu * v_n) * end + mu * depth(end)


@pytest.mark.slow
@pytest.mark.long_cases("devogelaere")
@pytest.mark.parametrize(("scheme", "errors"), [("euler", (5e-4, 1.5e-4)), ("devogelaere", (2.5e-4, 8e-5))])
def test_slip_that_lasts_as_long_as_a_contact_is_of_the_order_of_the_scheme(scheme: str, errors: tuple[float, float]) -> None:
    body, expected = Structure(body_basis("xy"), [Support("it", "centre", "plane")], body=True), dissipated_and_slid()
    lacks = []
    for step in (2e-5, 1e-5, 5e-6):
        gaps = 1e-3 + step * np.array([0.0, 0.125, 0.375, 0.625, 0.875])  # entries all over a step, one just at its end
        found = kernels.simulate(body.model, HIT | {"gap": gaps, "step": step}, scheme=scheme)
        both = np.stack([found["friction_power[it]"] * HIT["end"], found["sliding_distance[it]"]], axis=1)
        lacks.append(np.abs(both / expected - 1.0).max(axis=0))
    assert np.array(lacks) * [[1.0], [2.0], [4.0]] == pytest.approx(np.array([lacks[0]] * 3), rel=0.05)
    assert (lacks[0] < errors).all()
