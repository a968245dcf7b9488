"""Bases of beams against closed forms."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from tribosweep.kernels.models.basis import spline
from tribosweep.kernels.models.beam import Beam

LENGTH, STIFFNESS, MASS = 2.0, 1.2e3, 0.7
UNIT = np.sqrt(STIFFNESS / MASS) / LENGTH**2


@pytest.mark.parametrize(
    ("ends", "roots"),
    [
        (("pinned", "pinned"), np.pi * np.arange(1, 6)),
        (("clamped", "free"), [1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349]),
        (("clamped", "clamped"), [4.7300407449, 7.8532046241, 10.9956078380]),
        (("free", "free"), [0.0, 0.0, 4.7300407449, 7.8532046241]),
        (("clamped", "pinned"), [3.9266023120, 7.0685827456]),
        (("guided", "pinned"), np.pi * (np.arange(3) + 0.5)),
    ],
)
def test_frequencies_are_those_of_the_closed_form(ends: tuple[str, str], roots: list[float]) -> None:
    basis = Beam(LENGTH, STIFFNESS, MASS, ends).basis(len(roots), {"middle": 1.0})
    expected = np.repeat(np.square(roots) * UNIT, 2)
    assert basis.omega == pytest.approx(expected, rel=1e-6, abs=1e-3)
    assert basis.count == 2 * len(roots)


def test_shapes_and_participation_of_a_pinned_beam() -> None:
    basis = Beam(LENGTH, STIFFNESS, MASS).basis(4, {"a": 0.37, "end": LENGTH})
    scale = np.sqrt(2.0 / (MASS * LENGTH))
    n = np.arange(1, 5)
    assert np.abs(basis.points["a"][0, ::2]) == pytest.approx(np.abs(scale * np.sin(n * np.pi * 0.37 / LENGTH)), rel=1e-6)
    assert np.abs(basis.points["a"][1, 1::2]) == pytest.approx(np.abs(scale * np.sin(n * np.pi * 0.37 / LENGTH)), rel=1e-6)
    assert basis.points["a"][0, 1::2] == pytest.approx(0.0)
    assert basis.points["a"][2] == pytest.approx(0.0)
    assert basis.points["end"] == pytest.approx(0.0, abs=1e-12)
    # integral of the mass times the shape: scale m 2 L / (n pi) for odd n
    expected = scale * MASS * LENGTH * (1.0 - np.cos(n * np.pi)) / (n * np.pi)
    assert np.abs(basis.participation[0, ::2]) == pytest.approx(np.abs(expected), rel=1e-4, abs=1e-9)


def test_masses_and_springs_at_points() -> None:
    # a heavy mass in the middle of a light beam: the stiffness of the middle is 48 E I / L^3
    light = Beam(LENGTH, STIFFNESS, 1e-6, masses=[(1.0, 3.0)], springs=[(1.0, 500.0)])
    expected = np.sqrt((48.0 * STIFFNESS / LENGTH**3 + 500.0) / 3.0)
    assert light.basis(1, {}).omega[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("ends", [("pinned", "pinned"), ("free", "free")])
def test_with_static_correction_the_deflection_under_a_force_is_that_of_the_beam(ends: tuple[str, str]) -> None:
    beam = Beam(LENGTH, STIFFNESS, MASS, ends)
    few = beam.basis(4, {"a": 0.6, "b": 1.5}, corrected=["a", "b"])
    many = beam.basis(100, {"a": 0.6, "b": 1.5})
    plain = beam.basis(4, {"a": 0.6, "b": 1.5})

    def flexibility(basis, one, other):
        moves = basis.omega > 1e-3
        return np.sum(basis.points[one][0, moves] * basis.points[other][0, moves] / basis.omega[moves] ** 2)

    for one in "ab":
        for other in "ab":
            assert flexibility(few, one, other) == pytest.approx(flexibility(many, one, other), rel=1e-5)
    assert flexibility(plain, "a", "a") < 0.999 * flexibility(many, "a", "a")
    if ends == ("pinned", "pinned"):  # F a^2 b^2 / (3 E I L)
        assert flexibility(few, "a", "a") == pytest.approx(0.6**2 * 1.4**2 / (3.0 * STIFFNESS * LENGTH), rel=1e-9)
    assert few.omega[:8] == pytest.approx(plain.omega)
    assert few.omega[8:].min() > plain.omega.max()
    assert few.damping[8:] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"length": -1.0}, "length of a beam must be a positive number, not -1"),
        ({"ends": ("pinned", "glued")}, "the ends of a beam are free, pinned, clamped, guided, not 'glued'"),
        ({"masses": [(3.0, 1.0)]}, "the mass at 3 m is not on the beam, which is from 0 to 2 m"),
        ({"springs": [(1.0, -1.0)]}, "the spring at 1 m is -1: it must not be negative"),
        ({"elements": 10_000}, "a beam has 2 to 1000 elements"),
    ],
)
def test_a_beam_that_is_none_is_refused(change: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Beam(**({"length": LENGTH, "bending_stiffness": STIFFNESS, "mass_per_length": MASS} | change))


def test_a_basis_that_a_beam_cannot_have_is_refused() -> None:
    beam = Beam(LENGTH, STIFFNESS, MASS)
    with pytest.raises(ValueError, match=r"the point 'a' at 2\.5 m is not on the beam"):
        beam.basis(3, {"a": 2.5})
    with pytest.raises(ValueError, match="400 modes of 400 degrees of freedom"):
        beam.basis(400, {})
    with pytest.raises(ValueError, match="3 modes, but 2 damping ratios"):
        beam.basis(3, {}, damping=[0.1, 0.2])
    with pytest.raises(ValueError, match="the point 'end' is held by an end"):
        beam.basis(3, {"end": LENGTH}, corrected=["end"])
    with pytest.raises(ValueError, match="there is no point 'b' to correct"):
        beam.basis(3, {"a": 1.0}, corrected=["b"])


@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_shapes_between_points_are_those_of_the_spline_of_another_library(count: int) -> None:
    places = np.cumsum(np.random.default_rng(count).uniform(0.2, 1.0, count))
    values = np.random.default_rng(1).normal(size=(count, 3, 5))
    other = CubicSpline(places, values)
    at = np.linspace(places[0], places[-1], 41)
    piece = np.clip(np.searchsorted(places, at, side="right") - 1, 0, count - 2)
    powers = (at - places[piece])[:, None] ** np.arange(3, -1, -1)
    ours = np.einsum("tk,tkij->tij", powers, spline(places, values)[piece])
    assert ours == pytest.approx(other(at), abs=1e-12)


def lowest(beam: Beam, near: np.ndarray) -> np.ndarray:
    """Circular frequencies of a beam near some, by transfer matrices in 40 digits: of displacement, slope, moment and shear force."""
    with mpmath.workdps(40):
        places = sorted({0.0, beam.length, *(place for place, _ in (*beam.springs, *beam.masses))})
        held = {"free": (2, 3), "pinned": (0, 2), "clamped": (0, 1), "guided": (1, 3)}  # what is 0 at an end

        def residual(omega: mpmath.mpf) -> mpmath.mpf:
            square = omega * omega
            whole = mpmath.eye(4)
            for low, high in pairwise([*places, None]):
                jump = sum(value * square for place, value in beam.masses if place == low)
                jump -= sum(mpmath.mpf(value) for place, value in beam.springs if place == low)
                point = mpmath.eye(4)
                point[3, 0] = jump
                whole = point * whole
                if high is not None:
                    rates = mpmath.zeros(4)
                    rates[0, 1], rates[1, 2], rates[2, 3] = 1, 1 / mpmath.mpf(beam.bending_stiffness), 1
                    rates[3, 0] = beam.mass_per_length * square
                    whole = mpmath.expm(rates * (mpmath.mpf(high) - mpmath.mpf(low))) * whole
            begin = [row for row in range(4) if row not in held[beam.ends[0]]]
            return mpmath.det(mpmath.matrix([[whole[row, column] for column in begin] for row in held[beam.ends[1]]]))

        return np.array(
            [float(mpmath.findroot(residual, (w * (1 - 1e-6), w * (1 + 1e-6)), solver="secant")) for w in map(mpmath.mpf, near)]
        )


@pytest.mark.long_cases("300-0.001", "300-0.1", "10-0.0001", "10-0.001", "100-*", "1000*")
@pytest.mark.slow
@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("elements", [10, 100, 300, 1000])
def test_any_number_of_elements_and_any_distance_of_points_give_the_frequencies_of_transfer_matrices(elements: int, apart: float) -> None:
    for ends, rigid, springs, masses in (
        (("pinned", "free"), 1, [], []),
        (("free", "free"), 2, [], []),
        (("guided", "free"), 1, [], []),
        (("free", "free"), 0, [(1.0, 50.0), (1.0 + apart, 70.0)], [(2.2, 1.3)]),
        (("clamped", "free"), 0, [(3.1, 4e3)], [(1.0 + apart, 0.6)]),
    ):
        beam = Beam(3.7, 812.0, 2.3, ends, springs, masses, elements)
        basis = beam.basis(6, {"a": 1.0, "b": 1.0 + apart})
        assert (basis.omega[::2] == 0.0).tolist() == [True] * rigid + [False] * (6 - rigid)
        omega = basis.omega[2 * rigid :: 2]
        exact = lowest(beam, omega)
        # theory: (w / w_exact - 1) = (wave number times element length)^4 / 1440 of equal elements
        bound = 2.0 * (np.sqrt(exact * np.sqrt(2.3 / 812.0)) * 3.7 / elements) ** 4 / 1440.0
        # rounding: eps times the largest frequency, that of an element, over the frequency
        rounding = 4e-16 * 40.0 * np.sqrt(812.0 / 2.3) / min(3.7 / elements, max(apart, 2e-4 * 3.7)) ** 2 / exact
        assert (np.abs(omega / exact - 1.0) < bound + 1e-10 + rounding).all(), ends


def test_a_beam_of_1_001_m_between_points_has_its_one_rigid_motion() -> None:
    basis = Beam(3.7, 812.0, 2.3, ("pinned", "free")).basis(4, {"a": 1.0, "b": 1.001})
    roots = np.array([3.92660231204792, 7.06858274562873, 10.2101761228130])  # tan = tanh
    assert basis.omega[::2] == pytest.approx([0.0, *(roots**2 * np.sqrt(812.0 / 2.3) / 3.7**2)], rel=1e-7)
    assert basis.omega[2] / (2.0 * np.pi) == pytest.approx(3.368, rel=1e-3)


@pytest.mark.parametrize("modes", [1, 2, 3])
def test_a_correction_of_a_free_beam_has_no_part_of_its_rigid_motions(modes: int) -> None:
    basis = Beam(LENGTH, STIFFNESS, MASS, ("free", "free")).basis(modes, {"a": 0.6, "b": 1.5}, corrected=["a", "b"])
    first = 4.7300407449**2 * UNIT
    assert basis.omega[::2][modes:].min() > 0.99 * first
    assert basis.omega[::2][:modes] == pytest.approx([0.0, 0.0, first][:modes], rel=1e-6)


def test_corrections_that_are_one_motion_are_refused() -> None:
    with pytest.raises(ValueError, match="the static corrections are not independent"):
        Beam(LENGTH, STIFFNESS, MASS).basis(4, {"a": 0.6, "b": 0.6 + 1e-9}, corrected=["a", "b"])
