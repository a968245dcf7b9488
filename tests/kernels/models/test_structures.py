"""Bases, supports and loads: what they refuse, and defaults of supports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernels.models.basis import Basis
from kernels.models.structures import Load, Structure, body_basis
from kernels.models.supports import Support

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
