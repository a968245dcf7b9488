"""Bases, supports and loads: what they refuse, and defaults of supports."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

from tribosweep import kernels
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.eigenmodes import eigenvectors
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

SHAPES = np.ones((3, 2))
GOOD: dict[str, Any] = {
    "omega": [1.0, 2.0],
    "mass": [1.0, 1.0],
    "damping": [0.01, 0.01],
    "points": {"middle": SHAPES},
    "participation": SHAPES,
}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"mass": [1.0, -1.0]}, "modal mass 1 is -1 kg: masses must be positive"),
        ({"omega": [1.0, np.nan]}, "frequencies, entry 1, must be finite, not nan"),
        ({"omega": [-1.0, 2.0]}, "frequency 0 is negative: -1 rad/s"),
        ({"omega": np.ones(10_000)}, "the basis has 10,000 modes"),
        ({"damping": [0.01]}, "damping must have 2 ratios, or be a matrix of 2 rows and columns"),
        ({"damping": [-0.01, 0.01]}, "damping ratio 0 is negative"),
        ({"points": {"middle": np.ones((2, 2))}}, r"the shapes at point 'middle' must have the shape \(3, 2\)"),
        ({"omega": "fast"}, "frequencies must be numbers"),
        ({"position": {"midle": 1.0}}, "there is a position but no shape of the point 'midle'"),
    ],
)
def test_a_basis_that_is_none_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Basis(**(GOOD | change))


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"supports": [Support("a", "midle")]}, "no point 'midle'; did you mean 'middle'"),
        ({"supports": [Support("a", "middle"), Support("a", "middle")]}, "two have the name 'a'"),
        ({"loads": [Load("a", "force", point="end")]}, "no point 'end'"),
        ({"loads": [Load("a", "mode", mode=2)]}, "there is no mode 2; modes are counted from 0 to 1"),
        ({"supports": [Support(f"a{number}", "middle") for number in range(65)]}, "at most 64 supports, not 65"),
        ({"loads": [Load(f"a{number}") for number in range(65)]}, "at most 64 loads, not 65"),
        ({"observed": ["top"]}, "no point 'top'"),
        ({"start": np.ones(3)}, "start must have 2 finite numbers"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Structure(Basis(**GOOD), **parts)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Support("a", "b", "hole"), "the obstacle must be one of plane, two planes, ring"),
        (lambda: Support("a", "b", law="coulomb"), "the law must be one of"),
        (lambda: Support("a", "b", axes=((1, 0, 0), (1, 1, 0), (0, 0, 1))), "directions must be orthogonal"),
        (lambda: Load("a", direction=(0.0, 0.0, 0.0)), "not all 0"),
        (lambda: Load("a", "force"), "a force needs a point"),
        (lambda: Load("a", "wind"), "must be of the kind base, force or mode"),
        (lambda: body_basis("xw"), "a body moves along some of x, y and z"),
    ],
)
def test_supports_and_loads_that_are_none_are_refused(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_a_support_has_its_own_parameters_or_those_of_all() -> None:
    model = Structure(body_basis("xy"), [Support("one", "centre"), Support("two", "centre", "ring")], body=True).model
    p = model.resolve({"gap": 1e-3, "gap[two]": 2e-3, "k_n": 1e5, "k_n[one]": 3e5, "mu": 0.2, "mu_s[two]": 0.5, "mu[one]": 0.1})
    assert (p["gap[one]"], p["gap[two]"]) == (1e-3, 2e-3)
    assert (p["k_t[one]"], p["k_t[two]"]) == (3e5, 1e5)
    assert (p["mu_s[one]"], p["mu_d[one]"], p["mu_s[two]"], p["mu_d[two]"]) == (0.1, 0.1, 0.5, 0.2)
    with pytest.raises(KeyError, match=r"no parameter 'gap\[three\]'"):
        model.resolve({"gap[three]": 1.0})


def test_a_row_that_leaves_a_parameter_of_all_supports_out_has_its_default_beside_rows_that_give_it() -> None:
    model = Structure(body_basis("xy"), [Support("one", "centre"), Support("two", "centre", "ring")], body=True).model
    own = {"k_n[one]": 70.0, "mu[one]": 0.3, "mu": 0.1}
    alone, absent = model.resolve(own), np.array([False, True])
    for name in ("mu_s", "mu_d", "k_t", "c_t"):
        beside = model.resolve(own | {name: np.array([0.5, 0.0])}, {name: absent})
        for each in ("mu_s", "mu_d", "k_t", "c_t"):
            for of in (each, f"{each}[one]", f"{each}[two]"):
                assert np.broadcast_to(beside[of], 2)[1] == alone[of], (name, of)
        assert beside[f"{name}[one]"][0] == beside[f"{name}[two]"][0] == 0.5


def test_frequencies_of_a_stiff_structure_keep_their_digits() -> None:
    # two masses joined by a spring 10^12 times as stiff as the one that holds them
    stiff, soft = 1e15, 1e3
    mass, stiffness = np.diag([1.0, 2.0]), np.array([[stiff + soft, -stiff], [-stiff, stiff]])
    basis = Basis.of_matrices(mass, stiffness, np.zeros((2, 2)), {"a": SHAPES}, SHAPES)
    assert basis.omega[0] == pytest.approx(np.sqrt(soft / 3.0), rel=1e-3)


def test_rigid_motions_have_frequency_zero() -> None:
    mass, stiffness = np.diag([1.0, 2.0]), 1e5 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    basis = Basis.of_matrices(mass, stiffness, np.zeros((2, 2)), {"a": SHAPES}, SHAPES)
    assert basis.omega == pytest.approx([0.0, np.sqrt(1.5e5)])
    with pytest.raises(ValueError, match="K must be positive semidefinite"):
        Basis.of_matrices(mass, -stiffness, np.zeros((2, 2)), {"a": SHAPES}, SHAPES)
    with pytest.raises(ValueError, match="M must be positive definite"):
        Basis.of_matrices(-mass, stiffness, np.zeros((2, 2)), {"a": SHAPES}, SHAPES)


def by_matrices(mass: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, rows: np.ndarray, k_t: float) -> float:
    """Critical damping of the lightest of some directions, from matrices."""
    light = [row @ np.linalg.solve(mass, row) for row in rows]
    row = rows[int(np.argmax(light))]
    u = np.linalg.solve(mass, row) / max(light)  # the motion of the shape for 1 of the point
    m, k, c = u @ mass @ u, u @ stiffness @ u, u @ damping @ u
    return max(0.0, 2.0 * np.sqrt(m * (k + k_t)) - c)


def test_a_support_without_c_t_has_critical_damping_of_the_point_that_it_holds() -> None:
    body = Structure(body_basis("xy"), [Support("ring", "centre", "ring")], body=True).model
    given = {"m": np.array([0.5, 2.0]), "k": 3e4, "c": 3.0, "k_n": 5e5, "mu": 0.1}
    of_mass = kernels.MODELS["rubbing_mass"].resolve({"m": given["m"], "k": 3e4, "c": 3.0, "k_t": 5e5})["c_t"]
    assert body.resolve(given)["c_t[ring]"] == pytest.approx(of_mass, rel=1e-14)  # k_t is k_n
    assert body.resolve(given | {"c_t": 7.0})["c_t[ring]"] == 7.0
    assert body.resolve(given | {"c_t[ring]": 0.0, "c_t": 7.0})["c_t[ring]"] == 0.0
    # SDND100 D: the reference code's default, from one mode that moves at 45 degrees to the surface
    along = np.cos(np.pi / 4.0) * np.array([[1.0], [0.0], [0.0]])
    one = Basis(np.array([100.0]), np.ones(1), np.zeros(1), {"mass": along}, np.zeros((3, 1)))
    plane = Support("plane", "mass", axes=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    assert Structure(one, [plane]).model.resolve({"k_t": 4e5})["c_t[plane]"] == pytest.approx(4.0 * np.sqrt(0.5 * 4e5 + 1e4), rel=1e-12)


def test_the_critical_damping_of_a_support_follows_basis_modes_and_factors_of_the_row() -> None:
    draws = np.random.default_rng(5)
    mass, stiffness = (np.diag(draws.uniform(0.5, 2.0, 4)) + 0.1 for _ in range(2))
    stiffness, damping = 1e4 * stiffness, draws.uniform(0.0, 3.0, (4, 4))
    points = {name: draws.uniform(-1.0, 1.0, (3, 4)) for name in "ab"}
    basis = Basis.of_matrices(mass, stiffness, damping, points, np.zeros((3, 4)))
    supports = [Support("ring", "a", "ring"), Support("plane", "b", other="a")]
    structure = Structure(basis, supports)
    rows = {"ring": points["a"], "plane": (points["b"] - points["a"])[1:]}
    for name, row in rows.items():
        factors = {"frequency_factor": 1.3, "damping_factor": 0.7, "k_t": 2e4}
        expected = by_matrices(mass, 1.3**2 * stiffness, 1.3 * 0.7 * damping, row, 2e4)
        assert structure.model.resolve(factors)[f"c_t[{name}]"] == pytest.approx(expected, rel=1e-9)
    ratios = Basis(np.array([50.0, 90.0]), np.array([0.5, 2.0]), np.array([0.01, 0.3]), {"a": points["a"][:, :2]}, np.zeros((3, 2)))
    own = Structure(ratios, [Support("ring", "a", "ring")], own_modes=(1,))
    omega, xi = np.array([50.0, 2.0 * np.pi * 20.0]), np.array([0.01, 0.05])
    matrices = np.diag(ratios.mass), np.diag(ratios.mass * omega**2), np.diag(2.0 * xi * omega * ratios.mass)
    found = own.model.resolve({"k_t": 300.0, "frequency[1]": 20.0, "damping[1]": 0.05})["c_t[ring]"]
    assert found == pytest.approx(by_matrices(*matrices, points["a"][:, :2], 300.0), rel=1e-12)
    both = Structure(basis, supports[:1], bases={"4": basis, "2": basis.first(2)}).model
    each = [Structure(one, supports[:1]).model.resolve({"k_t": 2e4})["c_t[ring]"] for one in (basis, basis.first(2))]
    assert both.resolve({"k_t": 2e4, "basis": np.array([1.0, 0.0])})["c_t[ring]"] == pytest.approx(each[::-1], rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_a_body_pressed_on_a_plane_rubs_as_the_mass_that_rubs_with_and_without_c_t() -> None:
    # a step of load on an elastic, ideally plastic contact; stiff along the normal, so that the normal force is constant
    plane = Support("plane", "centre", axes=((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    loads = [Load("pull", "force", point="centre"), Load("press", "force", (0.0, 1.0, 0.0), "centre")]
    model = Structure(body_basis("xy"), [plane], loads, body=True).model
    common = {"m": 0.1, "c": 0.2, "mu": 0.1, "k_t": 5.0, "end": 1.0}
    for c_t, place in (({}, 6.7262), ({"c_t": 0.0}, 8.8820)):
        one = kernels.simulate("rubbing_mass", common | c_t | {"normal_force": 60.0, "load": 8.0})
        pressed = {"k_n": 6e6, "x0[y]": 1e-5, "constant[pull]": 8.0, "constant[press]": 60.0, "step": 1e-5, "largest_step": 1e-4}
        body = kernels.simulate(model, common | c_t | pressed, scheme="rk54")
        assert float(one["x_end"]) == pytest.approx(place, rel=1e-4)
        assert float(body["x_end[centre]"]) == pytest.approx(float(one["x_end"]), rel=3e-6)


@pytest.mark.parametrize(
    ("place", "words"), [([0.0, 0.0, 1.0], r"one number, its place along the structure \[m\], not \(3,\)"), (np.nan, "finite")]
)
def test_a_point_has_one_position_along_the_structure(place: Any, words: str) -> None:
    shapes, position = {"tip": np.eye(3)[:, :2]}, {"tip": place}
    with pytest.raises(ValueError, match=f"the position of point 'tip' .*{words}"):
        Basis.of_matrices(np.eye(2), np.eye(2), np.zeros((2, 2)), shapes, np.zeros((3, 2)), position)
    with pytest.raises(ValueError, match=f"the position of point 'tip' .*{words}"):
        Basis([1.0, 2.0], [1.0, 1.0], [0.0, 0.0], shapes, np.zeros((3, 2)), position)


@pytest.mark.parametrize("stiff", [1e3, 1e9, 1e15])
def test_a_free_chain_keeps_its_soft_modes_beside_a_stiff_one(stiff: float) -> None:
    masses, springs = [1.0, 2.0, 0.5, 3.0], [100.0, stiff, 50.0]
    stiffness = np.zeros((4, 4))
    for place, each in enumerate(springs):
        stiffness[place : place + 2, place : place + 2] += each * np.array([[1.0, -1.0], [-1.0, 1.0]])
    squares, vectors = eigenvectors(np.diag(masses), stiffness)
    with mpmath.workdps(50):
        exact = mpmath.zeros(4)
        for place, each in enumerate(springs):
            for row, column, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
                exact[place + row, place + column] += sign * mpmath.mpf(each)
        roots = mpmath.diag([1 / mpmath.sqrt(each) for each in masses])
        truth = sorted(map(float, mpmath.eigsy(roots * exact * roots, eigvals_only=True)))
    assert squares[0] == 0.0
    assert squares[1:] == pytest.approx(truth[1:], rel=1e-12)
    assert vectors.T @ np.diag(masses) @ vectors == pytest.approx(np.eye(4), abs=1e-12)
    assert vectors[:, 0] == pytest.approx(np.full(4, 1.0 / np.sqrt(6.5)), rel=1e-9)


def test_modes_of_any_rank_are_those_of_another_library_and_diagonalise_both_matrices() -> None:
    draws = np.random.default_rng(0)
    for count, rank in ((6, 6), (6, 4), (5, 1), (4, 0), (40, 33)):
        root, part = draws.normal(size=(count, count)), draws.normal(size=(count, rank))
        mass, stiffness = root @ root.T + np.eye(count), part @ part.T
        squares, vectors = eigenvectors(mass, stiffness)
        largest = max(1.0, squares[-1])
        assert np.count_nonzero(squares == 0.0) == count - rank
        assert squares == pytest.approx(scipy.linalg.eigh(stiffness, mass, eigvals_only=True), abs=1e-12 * largest)
        assert vectors.T @ mass @ vectors == pytest.approx(np.eye(count), abs=1e-9)
        assert vectors.T @ stiffness @ vectors == pytest.approx(np.diag(squares), abs=1e-9 * largest)


def test_a_stiffness_whose_softest_motion_is_rounding_is_refused() -> None:
    ways = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))[0]
    for soft, refused in ((1e-12, False), (5e-14, True)):
        stiffness = ways @ np.diag([soft, 1.0, 2.0, 3.0, 4.0, 5.0]) @ ways.T
        if refused:
            with pytest.raises(ValueError, match=r"too ill-conditioned for float64: .* merge points that nearly coincide"):
                eigenvectors(np.eye(6), stiffness)
        else:
            assert eigenvectors(np.eye(6), stiffness)[0] == pytest.approx([soft, 1.0, 2.0, 3.0, 4.0, 5.0], rel=2e-3)


def test_a_basis_of_matrices_bends_under_a_steady_base_acceleration_as_its_matrices_do() -> None:
    draws = np.random.default_rng(11)
    mass, stiffness = (part @ part.T + np.eye(4) for part in draws.uniform(-1.0, 1.0, (2, 4, 4)))
    point, ground = draws.uniform(-1.0, 1.0, (2, 3, 4))
    basis = Basis.of_matrices(mass, stiffness, np.zeros((4, 4)), {"a": point}, ground)
    bent = basis.points["a"] @ (basis.participation / basis.omega**2).T  # displacement along each axis for 1 m/s^2 along each axis
    np.testing.assert_allclose(bent, point @ np.linalg.solve(stiffness, mass @ ground.T), rtol=1e-10)
    np.testing.assert_allclose(basis.points["a"] @ basis.projection, point, rtol=1e-10, atol=1e-12)
