"""Bases in files, and `tribosweep modes`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tribosweep.sweep.cli import main
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.structure.basis_files import read_basis, write_basis

ROOT = Path(__file__).parents[3]
TUBE = ROOT / "configs" / "beams" / "tube.toml"
Captured = pytest.CaptureFixture[str]


def assert_same(one: Any, other: Any) -> None:
    """Two bases have the same numbers."""
    for name in ("omega", "mass", "damping", "participation"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert {*one.points} == {*other.points}
    for name, shape in one.points.items():
        assert np.array_equal(shape, other.points[name])
    assert dict(one.position) == dict(other.position)


@pytest.mark.parametrize("ending", [".npz", ".json", ".NPZ", ".Json"])
def test_a_basis_that_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    basis = read_basis(TUBE)
    assert basis.count == 2 * (15 + 4)
    path = tmp_path / f"tube{ending}"
    write_basis(path, basis)
    assert_same(read_basis(path), basis)


def test_a_table_with_a_row_per_mode_and_matrices_are_the_same_basis(tmp_path: Path) -> None:
    stiffness, mass = 1e4 * np.array([[2.0, -1.0], [-1.0, 2.0]]), np.diag([0.5, 0.8])
    shapes = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    np.savez(tmp_path / "matrices.npz", M=mass, K=stiffness, **{"points.a": shapes, "position.a": 0.3, "participation": np.ones((3, 2))})
    basis = read_basis(tmp_path / "matrices.npz")
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness))
    assert basis.omega**2 == pytest.approx(np.sort(squares))
    frame = pd.DataFrame({"frequency": basis.omega / (2.0 * np.pi), "a.x": basis.points["a"][0]})
    for row, axis in enumerate("xyz"):
        frame[f"participation.{axis}"] = basis.participation[row]
    frame.to_parquet(tmp_path / "modes.parquet")
    again = read_basis(tmp_path / "modes.parquet")
    assert again.omega == pytest.approx(basis.omega)
    assert np.array_equal(again.points["a"], basis.points["a"])
    assert np.array_equal(again.participation, basis.participation)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"omega": [1.0, -1.0]}, "frequency 1 is negative: -1 rad/s"),
        ({"omega": [1.0], "frequency": [1.0]}, "give either frequency [Hz] or omega [rad/s], not both"),
        ({}, "give either frequency [Hz] or omega [rad/s]"),
        ({"omega": [1.0], "massa": [1.0]}, "there is no key 'massa'; did you mean 'mass'?"),
        ({"omega": [1.0], "mass": [0.0]}, "modal mass 0 is 0 kg: masses must be positive"),
        ({"omega": [1.0], "points": {"a": [[1.0], [0.0]]}}, "the shapes at point 'a' must have the shape (3, 1), not (2, 1)"),
        ({"omega": [1.0], "points": [1.0]}, "points must be an object"),
        ({"M": [[1.0]]}, "K is missing: matrices need M and K"),
        ({"M": [[1.0]], "K": [[1.0]], "omega": [1.0]}, "give either matrices or modes: leave out omega"),
        ({"M": [[1.0, 0.5], [0.0, 1.0]], "K": [[1.0, 0.0], [0.0, 1.0]]}, "M must be symmetric"),
        ({"omega": "fast"}, "could not convert string to float"),
        ([1.0], "must be an object with the keys of a basis"),
    ],
)
def test_a_file_that_holds_no_basis_is_refused_in_a_sentence(content: Any, says: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "basis.json"
    path.write_text(json.dumps(content))
    assert main(["modes", str(path)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert says in told
    assert "Traceback" not in told


@pytest.mark.parametrize("name", ["broken.npz", "broken.json", "broken.parquet", "broken.toml", "basis.txt", "missing.npz"])
def test_a_file_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name != "missing.npz":
        path.write_bytes(b"\x00\x01 no basis")
    with pytest.raises(ConfigError, match=name):
        read_basis(path)


def test_a_pickled_array_is_not_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", omega=np.array([{}], dtype=object))
    with pytest.raises(ConfigError, match="omega must hold numbers, not object"):
        read_basis(tmp_path / "evil.npz")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("length = 4.0", "length = -4.0", "beam.length: -4.0 is out of bounds: must be > 0"),
        ("length = 4.0", 'length = "4 kg"', "beam.length: "),
        ("length = 4.0", "lenght = 4.0", "did you mean 'length'?"),
        ('"clamped", "pinned"', '"clamped"', "beam.ends: must be two of clamped, pinned, guided and free"),
        ("first = 0.8", "first = 8.0", "the point 'first' at 8 m is not on the beam"),
        ("modes = 15", "modes = 0", "beam.modes: 0 is out of bounds"),
        ('"fourth"]', '"fifth"]', "there is no point 'fifth' to correct"),
        ("[beam]", "[bean]", "bean: there is no such table; did you mean 'beam'?"),
        ("damping = 0.01", "damping = 0.01\nmasses = [[1.0, -2.0]]", "beam.masses[0][1]: -2.0 is out of bounds"),
    ],
)
def test_a_beam_that_is_none_is_refused_with_its_key(old: str, new: str, says: str, tmp_path: Path, capsys: Captured) -> None:
    text = TUBE.read_text()
    assert old in text
    path = tmp_path / "tube.toml"
    path.write_text(text.replace(old, new))
    assert main(["modes", str(path), "--out", str(tmp_path / "tube.npz")]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "tube.npz").exists()


def test_units_are_those_of_studies(tmp_path: Path) -> None:
    path = tmp_path / "tube.toml"
    path.write_text(TUBE.read_text().replace("length = 4.0", 'length = "400 cm"'))
    assert_same(read_basis(path), read_basis(TUBE))


def test_modes_prints_what_a_basis_holds(tmp_path: Path, capsys: Captured) -> None:
    assert main(["modes", str(TUBE), "--out", str(tmp_path / "tube.json")]) == 0
    said = capsys.readouterr()
    basis = read_basis(TUBE)
    lines = said.out.splitlines()
    assert len(lines) == 3 + basis.count
    assert lines[3].split()[1] == f"{basis.omega[0] / (2.0 * np.pi):.5g}"
    assert f"Written: {tmp_path / 'tube.json'}" in said.err
    assert main(["modes", str(tmp_path / "tube.json"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [mode["frequency"] for mode in printed["modes"]] == pytest.approx(basis.omega / (2.0 * np.pi))
    assert printed["position"]["middle"] == 2.0
    assert main(["modes", str(TUBE), "--out", str(tmp_path / "tube.csv")]) == 2


def test_modes_lists_some_of_many_points(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "basis.npz"
    np.savez(path, omega=[1.0], **{f"points.p{number:02}": np.ones((3, 1)) for number in range(21)})  # type: ignore[arg-type]
    assert main(["modes", str(path)]) == 0
    said = capsys.readouterr()
    assert "p19" in said.out
    assert "p20" not in said.out
    assert "20 of 21 points are listed; --json and --out have all." in said.err


def test_modes_and_corrections_of_a_beam_have_their_own_damping(tmp_path: Path) -> None:
    path = tmp_path / "beam.toml"
    path.write_text(
        "[beam]\nlength = 1.0\nbending_stiffness = 2.0\nmass_per_length = 3.0\nmodes = 2\ndamping = 0.02\ncorrection_damping = 0.07\n"
        'points = { middle = 0.4 }\ncorrected = ["middle"]\n'
    )
    assert read_basis(path).damping.tolist() == pytest.approx([0.02] * 4 + [0.07] * 2)  # in two planes each


def test_modes_says_how_many_modes_nothing_holds(tmp_path: Path, capsys: Captured) -> None:
    beam = '[beam]\nlength = 3.7\nbending_stiffness = 812.0\nmass_per_length = 2.3\nmodes = 3\nelements = 20\nends = ["pinned", "free"]\n'
    (tmp_path / "beam.toml").write_text(beam)
    assert main(["modes", str(tmp_path / "beam.toml")]) == 0
    assert "2 modes of 0 Hz: nothing holds the structure against them." in capsys.readouterr().err
