"""Maps: what a run holds is drawn, and what cannot be drawn is said in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from kernels.reference.closed_forms import ETA_STAR
from sweep import ConfigError, run
from sweep.boundaries import friction_ratio, known_boundaries
from sweep.cli import main
from sweep.maps import FAILED, MISSING, read_map
from tests.sweep.conftest import FakeKernels

A0 = {"from": 1.0, "to": 10.0, "count": 6}
MU = {"from": 0.1, "to": 1.0, "count": 5}
GRID = {"sweep": {"axes": {"a0": A0, "mu": MU}}}
Captured = pytest.CaptureFixture[str]


def grid(out: Path, axes: dict[str, Any], **sections: Any) -> Path:
    """Run a grid and return its directory."""
    return run({**sections, "sweep": {"axes": axes}}, out).directory


def test_rows_are_laid_on_the_grid_of_the_two_parameters_that_vary(fake: FakeKernels, tmp_path: Path) -> None:
    drawn = read_map(grid(tmp_path / "a", {"a0": A0, "k": [2.0], "mu": MU}))
    assert (drawn.x.name, drawn.y.name, drawn.fixed, drawn.rows, drawn.points) == ("a0", "mu", {"k": 2.0}, 30, 30)
    np.testing.assert_allclose(drawn.shades, drawn.x_values + 100.0 * drawn.y_values[:, np.newaxis], rtol=1e-15)
    np.testing.assert_array_equal(drawn.regimes, (np.arange(30) % 3).reshape(6, 5).T)
    turned = read_map(tmp_path / "a", x="mu")
    np.testing.assert_array_equal(turned.regimes, drawn.regimes.T)
    assert fake.calls == [30]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_map_is_drawn_beside_its_run_or_where_it_is_wanted(fake: FakeKernels, tmp_path: Path, capsys: Captured, suffix: str) -> None:
    directory, picture = grid(tmp_path / "a", {"a0": A0, "mu": MU}), tmp_path / f"picture{suffix}"
    assert main(["map", str(directory), "--out", str(picture)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert 5_000 < picture.stat().st_size < 500_000
    first = picture.read_bytes()
    assert main(["map", str(directory), "--out", str(picture)]) == 0
    assert picture.read_bytes() == first
    assert main(["map", str(directory)]) == 0
    assert imread(directory / "map.png").shape[:2] == (752, 1200)
    assert fake.calls == [30]


@pytest.mark.parametrize(
    "options", [["--color", "none"], ["--color", "slip_phases"], ["--log"], ["--color", "drift", "--x", "mu", "--log"]]
)
def test_every_way_to_shade_is_drawn(fake: FakeKernels, tmp_path: Path, options: list[str]) -> None:
    directory = grid(tmp_path / "a", {"omega": {"from": 1.0, "to": 100.0, "count": 9, "spacing": "log"}, "mu": MU}, parameters={"k": 1.0})
    assert main(["map", str(directory), *options]) == 0
    assert fake.calls == [45]


def test_the_areas_have_the_colours_of_their_regimes(fake: FakeKernels, tmp_path: Path) -> None:
    directory = grid(tmp_path / "a", {"mu": [0.1, 0.2, 0.3], "a0": [1.0, 2.0, 3.0]})
    assert main(["map", str(directory), "--color", "none"]) == 0
    picture = imread(directory / "map.png")[:, :, :3]
    for color in ("#e4e2dd", "#8dbde0", "#d9853b"):
        wanted = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        assert (np.abs(picture - wanted).max(axis=2) < 0.01).mean() > 0.15
    assert fake.calls == [9]


def test_what_is_missing_of_a_run_is_said(fake: FakeKernels, small_shards: int, tmp_path: Path, capsys: Captured) -> None:
    fake.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        run(GRID, tmp_path / "a")
    assert main(["map", str(tmp_path / "a")]) == 0
    assert f"{2 * small_shards} of 30 points are drawn" in capsys.readouterr().err
    (tmp_path / "a" / "points" / "part-000000.parquet").unlink()
    assert (read_map(tmp_path / "a").regimes == MISSING).sum() == 0
    assert main(["map", str(tmp_path / "a")]) == 0


def test_failed_rows_have_a_place_of_their_own(fake: FakeKernels, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("a0,mu,f0\n1,0.1,0\n1,0.2,nan\n2,0.1,0\n2,0.2,0\n")
    directory = run({"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}, tmp_path / "a").directory
    drawn = read_map(directory)
    assert fake.calls == [4]
    assert (drawn.regimes == FAILED).tolist() == [[False, False], [True, False]]
    assert main(["map", str(directory)]) == 0


REFUSED = {
    "an axis that is no parameter names the nearest": (["--x", "muu"], ["--x: 'muu' is no parameter; did you mean 'mu'?", "a0, mu"]),
    "an axis that does not vary is refused": (["--y", "m"], ["--y: 'm' is the same in every row", "Known: a0, mu"]),
    "one parameter is not two axes": (["--x", "mu", "--y", "mu"], ["--y: 'mu' is on the x axis already"]),
    "a colour that is no observable names the nearest": (["--color", "wearpower"], ["did you mean 'wear_power'?", "none"]),
    "words are no colour": (["--color", "regime"], ["--color: 'regime' holds words"]),
    "a picture of another kind is refused": (["--out", "map.jpg"], ["map.jpg: must end in one of .png, .svg, .pdf"]),
    "a directory that is not there is named": (["--out", "nowhere/map.png"], ["nowhere/map.png: No such file or directory"]),
}


@pytest.mark.parametrize(("options", "fragments"), REFUSED.values(), ids=REFUSED.keys())
def test_a_map_that_cannot_be_drawn_is_refused_with_its_reason(
    options: list[str], fragments: list[str], fake: FakeKernels, tmp_path: Path, capsys: Captured
) -> None:
    directory = grid(tmp_path / "a", {"a0": A0, "mu": MU}, parameters={"m": 1.0})
    assert main(["map", str(directory), *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for fragment in fragments:
        assert fragment in said.err
    assert not (directory / "map.png").exists()
    assert fake.calls == [30]


RUNS = {
    "a run of one dimension has no map": ({"a0": A0}, "a map needs two parameters that vary; this run varies a0"),
    "a run of a single point has no map": ({"a0": [1.0]}, "this run varies nothing"),
    "a run of three dimensions needs its axes named": ({"a0": A0, "mu": MU, "k": [0.0, 1.0]}, "this run varies a0, mu, k: name the two"),
    "a scheme that is swept shares places": ({"a0": A0, "mu": MU, "scheme": ["exact", "exact"]}, "scheme has several values too"),
    "an axis with defaults has no place for them": ({"a0": A0, "mu": [0.2, "default", 0.3]}, "axis mu: some rows hold no finite number"),
}


@pytest.mark.parametrize(("axes", "message"), RUNS.values(), ids=RUNS.keys())
def test_a_run_that_is_no_map_is_refused_with_its_reason(
    axes: dict[str, Any], message: str, fake: FakeKernels, tmp_path: Path, capsys: Captured
) -> None:
    directory = grid(tmp_path / "a", axes)
    assert main(["map", str(directory)]) == 2
    assert message in capsys.readouterr().err
    assert len(fake.calls) == 1


def test_points_that_are_on_no_grid_are_refused(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"a0": [1.0, 2.0, 3.0], "mu": [0.1, 0.2, 0.3]}
    with pytest.raises(ConfigError, match="not on a grid of a0 and mu"):
        read_map(run({"sweep": {"design": "zip", "axes": axes}}, tmp_path / "a").directory)
    assert fake.calls == [3]


def test_a_column_of_nothing_but_nan_is_refused(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = fake.solve

    def nowhere(*arguments: Any) -> Any:
        solution = solve(*arguments)
        solution.observables["drift"][:] = np.nan
        return solution

    monkeypatch.setattr("kernels.batch.solve", nowhere)
    directory = run(GRID, tmp_path / "a").directory
    with pytest.raises(ConfigError, match="drift is NaN in every row"):
        read_map(directory, color="drift")


def test_a_run_without_rows_has_nothing_to_draw(fake: FakeKernels, tmp_path: Path) -> None:
    fake.fail_at = 0
    with pytest.raises(KeyboardInterrupt):
        run(GRID, tmp_path / "a")
    with pytest.raises(ConfigError, match="nothing to draw"):
        read_map(tmp_path / "a")
    with pytest.raises(ConfigError, match="holds no run"):
        read_map(tmp_path / "b")


def test_without_matplotlib_the_command_that_installs_it_is_told(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = grid(tmp_path / "a", {"a0": A0, "mu": MU})
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoMatplotlib(), *sys.meta_path])
    assert main(["map", str(directory)]) == 2
    assert "pip install 'tribosweep[plot]'" in capsys.readouterr().err
    assert fake.calls == [30]


class NoMatplotlib:
    """An import system without matplotlib."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse matplotlib."""
        if name == "matplotlib":
            raise ModuleNotFoundError(name, name=name)


def test_boundaries_are_those_of_sdnd104_where_they_hold(fake: FakeKernels, tmp_path: Path) -> None:
    assert friction_ratio({"mu": 0.1, "g": 10.0, "a0": -2.0}) == 0.5
    drawn = read_map(grid(tmp_path / "a", {"a0": A0, "g": [5.0, 10.0, 20.0]}, parameters={"k": 0.0, "mu": 0.2}))
    known = known_boundaries(drawn, np.array([1.0, 2.0]), np.array([5.0, 10.0, 20.0]))
    assert known is not None
    np.testing.assert_allclose(known[0], [[1.0, 0.5], [2.0, 1.0], [4.0, 2.0]], rtol=1e-15)
    assert list(known[1]) == [1.0, ETA_STAR]
    for number, parameters in enumerate(({"k": 1.0}, {"c": 0.1}, {"f0": 1.0}, {"load": 1.0}, {"mu_s": 2.0}, {"normal_force": 3.0})):
        other = read_map(grid(tmp_path / str(number), {"a0": A0, "mu": MU}, parameters=parameters))
        assert known_boundaries(other, other.x_values, other.y_values) is None
    assert len(fake.calls) == 7
