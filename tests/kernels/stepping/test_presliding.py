"""LuGre and Dahl friction of the time schemes, against an independent integration, closed forms and what is known of the laws."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.presliding import integrate
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.contact.dahl import Dahl
from tribosweep.kernels.contact.lugre import LuGre
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.status import Status

BASE = {"m": 1.0, "k": 20.0, "c": 0.1, "a0": 2.5, "omega": 2.0 * np.pi, "mu_s": 0.1, "mu_d": 0.1, "normal_force": 10.0}
BRISTLES = {"bristle_stiffness": 2000.0, "bristle_damping": 20.0, "viscous_friction": 0.2}
LAWS = {
    "LuGre": BASE | BRISTLES,
    "LuGre, Stribeck": BASE | BRISTLES | {"mu_s": 0.15, "stribeck_speed": 0.05, "stribeck_exponent": 2.0},
    "Dahl": BASE | {"dahl_stiffness": 2000.0},
    "Dahl, exponent 1.5": BASE | {"dahl_stiffness": 2000.0, "dahl_exponent": 1.5},
}
END = 2.0


def run(scheme, p, **options):
    """Observables of one row or a few, none of which fails."""
    count = max((np.size(value) for value in p.values()), default=1)
    found = solve(RUBBING_MASS, scheme, p, count=count, **options)
    assert (found.status == Status.OK).all()
    return found.observables


def law(kind, p, **others):
    """A law of resolved parameters."""
    resolved = RUBBING_MASS.resolve(p | others)
    return kind.of({name: np.asarray(value, float) for name, value in resolved.items()})


def path(law, memory, moves, speed):
    """Forces on the mass [N] and memories along displacements [m] at one speed [m/s]."""
    forces = []
    for moved in moves:
        memory = memory._replace(speed=np.sign(moved) * speed)
        force, memory = law.evaluate(memory, moved, np.sign(moved) * speed, np.float64(0.0), elapsed=abs(moved) / speed)
        forces.append(float(force))
    return np.array(forces), memory


@pytest.mark.long_cases("Dahl, exponent*", "LuGre, Stribeck")
@pytest.mark.oracle("bristle_stiffness", "dahl_stiffness")
@pytest.mark.parametrize("name", ["LuGre", pytest.param("LuGre, Stribeck", marks=pytest.mark.slow), "Dahl",
                                  pytest.param("Dahl, exponent 1.5", marks=pytest.mark.slow)])  # fmt: skip
def test_rk54_is_an_independent_integration(name):
    p = LAWS[name]
    expected = integrate(p, END)
    found = run("rk54", p | {"end": END, "tolerance": 1e-10})
    assert found["x_end"][0] == pytest.approx(expected["x"], rel=1e-6)
    assert found["v_end"][0] == pytest.approx(expected["v"], rel=1e-6)
    assert found["friction_power"][0] * END == pytest.approx(expected["dissipated"], rel=1e-6)
    assert found["slip_distance"][0] == pytest.approx(expected["slip"], rel=1e-5)  # turns of w and of f in one step are not told apart
    assert found["wear_energy"][0] == pytest.approx(p["normal_force"] * found["slip_distance"][0], rel=1e-12)


@pytest.mark.long_cases("devogelaere-*", "adapt*", "rk32-*")
@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "step", "allowed"), [("euler", 2e-4, 2e-3), ("adapt1", 2e-4, 2e-3), ("adapt2", 2e-4, 5e-6),
                                                        ("devogelaere", 2e-4, 1e-3), ("rk32", 1e-8, 1e-6)])  # fmt: skip
def test_every_scheme_tends_to_it(scheme, step, allowed):
    p = LAWS["LuGre"]
    expected = integrate(p, END)
    steps = {"tolerance": step} if scheme == "rk32" else {"step": step, "largest_step": step}
    found = run(scheme, p | {"end": END} | steps)
    for observable, value in (("x_end", expected["x"]), ("v_end", expected["v"]), ("slip_distance", expected["slip"])):
        assert found[observable][0] == pytest.approx(value, rel=allowed)


@pytest.mark.long
@pytest.mark.slow
def test_steady_slip_has_the_stribeck_curve():
    lugre = law(LuGre, LAWS["LuGre, Stribeck"])
    for speed in (0.005, 0.05, 0.5):
        forces, _ = path(lugre, lugre.at_start(np.float64(0.0)), [2e-3] * 60, speed)
        g = 1.0 + 0.5 * np.exp(-((speed / 0.05) ** 2))
        assert forces[-1] == pytest.approx(-(g + 0.2 * speed), rel=1e-9)


@pytest.mark.parametrize(("kind", "name", "stiffness"), [(LuGre, "LuGre", 2000.0), (Dahl, "Dahl", 2000.0)])
def test_small_displacements_are_elastic(kind, name, stiffness):
    friction = law(kind, LAWS[name], bristle_damping=0.0, viscous_friction=0.0) if kind is LuGre else law(kind, LAWS[name])
    forces, _ = path(friction, friction.at_start(np.float64(0.0)), [1e-9], 1e-3)
    assert forces[0] == pytest.approx(-stiffness * 1e-9, rel=2e-6)


def test_dahl_has_its_closed_form():
    friction, moves = law(Dahl, LAWS["Dahl"]), np.array([3e-4, 5e-4, -2e-4, -9e-4, 4e-4])
    forces, _ = path(friction, friction.at_start(np.float64(0.0)), moves, 0.01)
    f = 0.0
    for moved, force in zip(moves, forces, strict=True):
        s = np.sign(moved)
        f = s * (1.0 - (1.0 - s * f) * np.exp(-2000.0 * abs(moved)))
        assert force == pytest.approx(-f, rel=1e-9)


def test_a_reversal_within_a_step_is_seen():
    """A parabola of velocity that turns: one step is as good as its two parts."""
    friction, memory = law(Dahl, LAWS["Dahl"]), law(Dahl, LAWS["Dahl"]).at_start(np.float64(0.0))._replace(speed=np.float64(0.01))
    moved = 0.1 * (0.01 - 0.02 * 0.5)  # from 0.01 to -0.01 m/s in 0.1 s: forth and back by 0.25 mm
    force, _ = friction.evaluate(memory, np.float64(moved), np.float64(-0.01), np.float64(0.0), elapsed=np.float64(0.1))
    forces, _ = path(friction, friction.at_start(np.float64(0.0)), [2.5e-4, -2.5e-4], 0.01)
    assert float(force) == pytest.approx(forces[-1], rel=1e-9)


@pytest.mark.slow
def test_wear_tends_to_that_of_rigid_friction():
    """SDND104: the stiffer the bristles, the closer."""
    amplitudes, published = np.array([15.0, 1.5]), np.array([15.267099589371614, 0.40906245101570892])
    p = {"m": 1.0, "mu": 0.1, "normal_force": 10.0, "omega": 2.0 * np.pi, "a0": amplitudes, "end": 12.0, "window_start": 4.0}
    powers = []
    for stiffness in (1e4, 1e5, 1e6):
        found = run("rk54", p | {"bristle_stiffness": stiffness, "bristle_damping": 2.0 * stiffness**0.5, "tolerance": 1e-8})
        powers.append(found["wear_power"])
    errors = [np.abs(power / published - 1.0) for power in powers]  # fall with the root of the stiffness
    assert (errors[1] < 0.4 * errors[0]).all()
    assert (errors[2] < 0.4 * errors[1]).all()
    assert (errors[2] < 5e-3).all()
    assert powers[2] + (powers[2] - powers[1]) / (10.0**0.5 - 1.0) == pytest.approx(published, rel=3e-3)
    rigid = run("exact", p)
    assert found["stick_fraction"] == pytest.approx(rigid["stick_fraction"], abs=3e-3)
    for observable in ("slip_phases", "stops", "regime"):
        assert (found[observable] == rigid[observable]).all()


@pytest.mark.long
@pytest.mark.slow
def test_friction_dissipates_and_is_symmetric():
    for name, p in LAWS.items():
        found = run("euler", p | {"end": END, "step": 1e-3, "a0": np.array([0.3, 0.3, 2.5, 2.5]), "phase": np.array([0.0, np.pi] * 2)})
        assert (found["friction_power"] > 0.0).all(), name
        assert found["x_end"][::2] == pytest.approx(-found["x_end"][1::2], rel=1e-9)
        assert found["slip_distance"][::2] == pytest.approx(found["slip_distance"][1::2], rel=1e-9)


@pytest.mark.slow
def test_float32_has_seven_digits_of_the_step():
    p = LAWS["LuGre"] | {"end": END, "step": 1e-3}
    double, single = run("euler", p), run("euler", p, dtype=np.float32)
    for observable in ("x_end", "wear_power", "friction_power"):
        assert single[observable][0] == pytest.approx(double[observable][0], rel=1e-4)


def test_rules():
    """What these laws do not go with is refused row by row."""
    wrong = {
        "exact": {},
        "euler": {"normal_amplitude": 1.0},
        "rk54": {"dahl_stiffness": 100.0},
    }
    for scheme, others in wrong.items():
        assert solve(RUBBING_MASS, scheme, LAWS["LuGre"] | others).status[0] == Status.RULE_BROKEN
    assert solve(RUBBING_MASS, "euler", LAWS["LuGre"] | {"step": 0.1}).status[0] == Status.RULE_BROKEN  # not stable
    with pytest.raises(ValueError, match="bristle_stiffness"):
        kernels.simulate("rubbing_mass", LAWS["LuGre"])
    with pytest.raises(ValueError, match=r"must be less than .* s for bristle_stiffness = .* N/m and bristle_damping = "):
        kernels.simulate("rubbing_mass", LAWS["LuGre"] | {"step": 0.1}, "euler")
