"""Structures of matrices M, C and K: starts, loads and damping are in physical coordinates, against the exponential of the whole system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from tribosweep import kernels
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.structure.basis_files import read_basis, write_basis
from tribosweep.sweep.study.load import load

MASS = np.array([[4.0, 0.5, 0.0], [0.5, 3.0, 0.2], [0.0, 0.2, 1.0]])
STIFFNESS = np.array([[200.0, -100.0, 0.0], [-100.0, 250.0, -60.0], [0.0, -60.0, 60.0]])  # the third carries the chain's free end
DAMPING = np.array([[1.0, 0.3, 0.0], [-0.3, 0.6, 0.1], [0.0, 0.1, 0.4]])  # neither proportional nor symmetric
START, RATE = np.array([0.1, 0.0, -0.03]), np.array([0.0, 0.4, 0.2])
POINTS = {"first": np.outer([1, 0, 0], [1.0, 0.0, 0.0]), "mix": np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 2.0], [0.0, 0.0, 0.0]])}
GROUND = np.array([[1.0, 1.0, 1.0], [0.0] * 3, [0.0] * 3])
PUSH, SHAKE, END = 7.0, 3.0, 0.9


def basis() -> Basis:
    """The modes of the matrices."""
    return Basis.of_matrices(MASS, STIFFNESS, DAMPING, POINTS, GROUND, {"first": 0.0, "mix": 1.0})


def moved(time: float) -> np.ndarray:
    """(6,) coordinates of the matrices and their rates under both constant loads, by the exponential of M u'' + C u' + K u = f."""
    force = PUSH * POINTS["mix"][1] - SHAKE * MASS @ GROUND[0]
    system = np.zeros((7, 7))
    system[:3, 3:6] = np.eye(3)
    system[3:6] = np.linalg.solve(MASS, np.column_stack([-STIFFNESS, -DAMPING, force]))
    return np.asarray((expm(system * time) @ np.array([*START, *RATE, 1.0]))[:6])


def structure(own: Basis, **more: Any) -> Structure:
    """With both loads and a start in the coordinates of the matrices."""
    loads = [Load("push", "force", direction=(0.0, 1.0, 0.0), point="mix"), Load("ground")]
    return Structure(own, (), loads, ["first", "mix"], start=START, start_rate=RATE, **more)


@pytest.mark.slow
def test_a_structure_of_matrices_starts_and_moves_in_their_coordinates() -> None:
    given = {"constant[push]": PUSH, "constant[ground]": SHAKE, "end": END, "step": 1e-3, "tolerance": 1e-11}
    found = kernels.simulate(structure(basis()).model, given, scheme="rk54")
    place = moved(END)
    for point, shape in POINTS.items():
        for row, axis in enumerate("xy"):
            if shape[row].any():
                assert found[f"{axis}_end[{point}]"] == pytest.approx(shape[row] @ place[:3], abs=1e-9)
                assert found[f"{axis}_rate_end[{point}]"] == pytest.approx(shape[row] @ place[3:], abs=1e-8)
    energy = 0.5 * (place[3:] @ MASS @ place[3:] + place[:3] @ STIFFNESS @ place[:3])
    assert found["energy_end"] == pytest.approx(energy, rel=1e-8)


def test_a_start_in_fewer_modes_is_the_part_that_they_have_and_is_the_same_in_every_basis_of_the_matrices() -> None:
    own = basis()
    assert own.projection is not None
    assert structure(own).arguments["start"] == pytest.approx(np.linalg.solve(_vectors(), START))
    both = structure(own, bases={"2": own.first(2), "3": own})
    assert both.arguments["start"] == pytest.approx(np.stack([[*(own.projection @ START)[:2], 0.0], own.projection @ START]))
    with pytest.raises(ValueError, match="start must have 3 finite numbers, one for each coordinate of the matrices"):
        Structure(own.first(2), start=np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="start_rate: the bases have different coordinates"):
        plain = Basis(own.omega, own.mass, own.damping, own.points, own.participation, own.position)
        Structure(own, bases={"one": own, "other": plain}, start_rate=RATE)


def _vectors() -> np.ndarray:
    """u = vectors q, from what the basis says of three points that are the coordinates themselves."""
    eye = {name: np.outer([1, 0, 0], row) for name, row in zip("abc", np.eye(3), strict=True)}
    return np.stack([Basis.of_matrices(MASS, STIFFNESS, DAMPING, eye, GROUND).points[name][0] for name in "abc"])


@pytest.mark.slow
def test_coordinates_that_a_smaller_basis_lacks_take_no_start_and_no_load() -> None:
    eye = np.eye(3)
    modal = Basis(np.array([3.0, 5.0, 8.0]), np.ones(3), np.zeros(3), {"a": eye}, eye)
    model = Structure(
        modal, (), [Load("m", "mode", mode=2)], ["a"], bases={"2": modal.first(2), "3": modal}, start_rate=np.array([0.0, 1.0, 2.0])
    ).model
    given = {"constant[m]": 4.0, "end": 1.0, "step": 1e-3}
    found = [kernels.simulate(model, given | {"basis": row}, scheme="devogelaere") for row in (0, 1)]
    assert float(found[0]["energy_end"]) == pytest.approx(0.5, rel=1e-9)
    assert float(found[0]["load_work"]) == 0.0
    assert float(found[1]["energy_end"]) == pytest.approx(0.5 + 2.0 + float(found[1]["load_work"]), rel=1e-6)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_study_of_matrices_starts_in_their_coordinates_also_from_the_modes_written_of_them(tmp_path: Path, ending: str) -> None:
    np.savez(tmp_path / "row.npz", M=MASS, K=STIFFNESS, C=DAMPING, **{f"points.{name}": shape for name, shape in POINTS.items()})
    write_basis(tmp_path / f"modes.{ending}", read_basis(tmp_path / "row.npz"))
    study: dict[str, Any] = {
        "study": {"model": "structure", "scheme": "rk54"},
        "structure": {"observed": ["first"], "start": START.tolist(), "start_rate": RATE.tolist()},
        "time": {"end": 0.1, "step": 1e-3},
    }
    for name in ("row.npz", f"modes.{ending}"):
        study["structure"]["basis"] = str(tmp_path / name)
        model = load(study).model
        arrays = model.structure.arguments
        assert arrays["points"] @ arrays["start"] == pytest.approx([0.1], rel=1e-12), name
        assert arrays["points"] @ arrays["start_rate"] == pytest.approx([0.0], abs=1e-12), name
    study["structure"]["start"] = [0.1]
    with pytest.raises(ConfigError, match="start must have 3 finite numbers, one for each coordinate of the matrices"):
        load(study)
    assert int(kernels.simulate(model, {"end": 0.1, "step": 1e-3}, scheme="rk54")["status"]) == Status.OK
