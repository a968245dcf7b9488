"""Swept bases, positions of supports and single modes: a row is the structure that has them as they are."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.beam import Beam
from tribosweep.kernels.models.model import Rule
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

POINTS = {f"p{i}": 0.3 * i for i in range(1, 10)}
GIVEN = {
    "gap": 1e-4, "k_n": 1e6, "c_n": 50.0, "mu": 0.3, "c_t": 20.0, "amplitude[x]": 12.0, "omega[x]": 40.0,
    "amplitude[y]": 20.0, "omega[y]": 67.0, "end": 0.1, "step": 2e-5,
}  # fmt: skip
SHOWN = ("wear_power[a]", "impulse[a]", "wear_power[b]", "normal_force_peak[b]", "x_end[p5]", "y_rate_end[p5]", "energy_end", "impacts[b]")


@functools.cache
def basis(modes: int = 3, corrected: bool = False) -> Basis:
    """The modes of a tube."""
    return Beam(3.0, 1e3, 0.9, elements=30).basis(modes, POINTS, 0.02, ["p3"] if corrected else ())


def tube(first: Basis, point: str = "p3", **more: object) -> Structure:
    """A tube with two rings."""
    supports = [Support("a", point, "ring"), Support("b", "p7", "ring")]
    loads = [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))]
    return Structure(first, supports, loads, ["p5"], **more)  # type: ignore[arg-type]


def single(structure: Structure, **given: float) -> dict[str, float]:
    """Observables of one run."""
    found = kernels.simulate(structure.model, GIVEN | given, scheme="euler")
    assert found["status"] == 0
    return {name: float(found[name]) for name in SHOWN}


def close(columns: dict[str, np.ndarray], row: int, found: dict[str, float], within: float = 1e-9) -> None:
    """A row of a batch is that run."""
    for name, value in found.items():
        assert columns[name][row] == pytest.approx(value, rel=within, abs=1e-15), name


@pytest.mark.slow
def test_a_row_has_the_basis_that_it_names() -> None:
    bases = {"two": basis(2), "three": basis(3), "corrected": basis(3, corrected=True)}
    found = solve(tube(basis(2), bases=bases).model, "euler", GIVEN | {"basis": np.array([2.0, 0.0, 1.0])}, count=3)
    for row, name in enumerate(("corrected", "two", "three")):
        close(found.observables, row, single(tube(bases[name])))


@pytest.mark.long
@pytest.mark.slow
def test_a_position_at_a_point_is_that_point_and_one_between_follows_the_spline() -> None:
    columns = solve(tube(basis()).model, "euler", GIVEN | {"position[a]": np.array([0.6, 0.9, 1.2, 0.99])}, count=4).observables
    for row, point in enumerate(("p2", "p3", "p4")):
        close(columns, row, single(tube(basis(), point)))
    # the beam itself has a point there: a cubic spline through points 0.3 m apart is off by h^4 k^4 / 384 = 2e-3 of mode 3
    exact = Beam(3.0, 1e3, 0.9, elements=30).basis(3, POINTS | {"between": 0.99}, 0.02)
    off = np.abs(basis().shape_at(0.99) - exact.at("between")).max()
    assert 1e-7 < off < 3e-3
    close(columns, 3, single(tube(exact, "between")), 0.05)


@pytest.mark.slow
def test_frequency_and_damping_of_a_mode_are_those_of_the_basis_with_them() -> None:
    plain = basis()
    omega, damping = plain.omega.copy(), plain.damping.copy()
    omega[2], damping[0] = 2.0 * np.pi * 30.0, 0.05
    other = Basis(omega, plain.mass, damping, plain.points, plain.participation, plain.position)
    found = single(tube(plain, own_modes=(0, 2)), **{"frequency[2]": 30.0, "damping[0]": 0.05})
    for name, value in single(tube(other)).items():
        assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-15), name


def stable(structure: Structure) -> Rule:
    """The rule of a step that is stable."""
    return next(rule for rule in structure.model.rules if rule.sentence == "a fixed step must be stable with every support touched")


def test_the_bound_of_a_step_knows_basis_position_and_modes() -> None:
    structure = tube(basis(2), bases={"two": basis(2), "corrected": basis(3, corrected=True)})
    p = structure.model.resolve(GIVEN | {"basis": np.array([0.0, 1.0]), "position[a]": np.array([0.9, 2.4])})
    rule = stable(structure)
    bounds = np.asarray(rule.margin(p, "euler"))
    assert bounds[1] < 0.7 * bounds[0]
    between = float(np.sqrt(bounds[0] * bounds[1]))
    assert np.asarray(rule.broken(p | {"step": np.full(2, between)}, "euler")).tolist() == [False, True]
    alone = tube(basis(2)).model.resolve(GIVEN)
    assert bounds[0] == pytest.approx(float(rule.margin(p, "euler")[0]))
    assert bounds[0] == pytest.approx(float(stable(tube(basis(2))).margin(alone, "euler")), rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_by_position_and_frequency_are_those_of_the_steps() -> None:
    structure = tube(basis(), own_modes=(0,))
    given = GIVEN | {"end": 0.03}

    def force(values: jax.Array) -> jax.Array:
        moved = given | {"position[a]": values[0], "frequency[0]": values[1]}
        return kernels.simulate(structure.model, moved, scheme="euler")["impulse[a]"]

    at, step = np.array([1.0, 9.0]), np.array([1e-6, 1e-5])
    slopes = np.asarray(jax.jacfwd(force)(jax.numpy.asarray(at)))
    for number in range(2):
        nudge = step * (np.arange(2) == number)
        difference = (float(force(at + nudge)) - float(force(at - nudge))) / (2.0 * step[number])
        assert slopes[number] == pytest.approx(difference, rel=1e-4)


@pytest.mark.long
@pytest.mark.slow
def test_lists_have_the_supports_in_the_order_in_which_they_were_given() -> None:
    supports = [Support("far", "p7", "plane"), Support("near", "p3", "ring"), Support("last", "p5", "plane")]
    loads = [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))]
    named, lists = (Structure(basis(), supports, loads, lists=each) for each in (False, True))
    assert lists.order == ("far", "near", "last")
    one = solve(named.model, "euler", GIVEN).observables
    both = solve(lists.model, "euler", GIVEN).observables
    several = kernels.simulate(lists.model, GIVEN, scheme="euler")
    for name in ("wear_power", "impulse", "impacts", "orbit_2_max"):
        expected = [one[f"{name}[{support}]"][0] for support in lists.order]
        np.testing.assert_array_equal(both[name][0, :3], expected)
        np.testing.assert_allclose(several[name][:3], expected, rtol=1e-9)
        assert np.isnan(both[name][0, 3:]).all()
    assert "contact_regime[far]" in both


def test_bases_that_do_not_fit_together_are_refused() -> None:
    other = Beam(3.0, 1e3, 0.9, elements=30).basis(2, {"p1": 0.3, "p3": 0.9})
    with pytest.raises(ValueError, match="'other' has no point 'p2', which 'this' has"):
        tube(basis(), bases={"this": basis(), "other": other})
    with pytest.raises(ValueError, match="a body has none"):
        Structure(body_basis("xy"), body=True, own_modes=(0,))
    with pytest.raises(ValueError, match="modes are counted from 0 to 5"):
        tube(basis(), own_modes=(6,))
