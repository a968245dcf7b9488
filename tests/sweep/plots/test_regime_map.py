"""Maps: what a run holds is drawn, and what cannot be drawn is said in a sentence."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.reference.closed_forms import ETA_STAR, den_hartog_limit
from tribosweep.sweep import ConfigError, run
from tribosweep.sweep.analysis.map_areas import FAILED, MISSING
from tribosweep.sweep.analysis.map_places import nearest_rows
from tribosweep.sweep.analysis.palette import RAMPS, mixed, ramps_of
from tribosweep.sweep.analysis.regime_map import read_map, rounding_of, theory_of
from tribosweep.sweep.analysis.theory import friction_ratio, no_stops
from tribosweep.sweep.cli import main
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.plots.regime_map import fill, title

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


@pytest.mark.slow
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
    "options",
    [
        *(pytest.param(options, marks=pytest.mark.slow) for options in (["--color", "none"], ["--color", "slip_phases"], ["--log"])),
        ["--color", "drift", "--x", "mu", "--log"],
    ],
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


@pytest.mark.slow
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
    "a colour that is no observable names the nearest": (["--color", "wearpower"], ["did you mean 'wear_power'?"]),
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
    "a parameter that some rows leave at its default varies": (
        {"a0": A0, "mu": MU, "c": [1.0, "default"]},
        "this run varies a0, mu, c: name the two",
    ),
    "a run of one dimension has no map": ({"a0": A0}, "a map needs two parameters that vary; this run varies a0"),
    "a run of a single point has no map": ({"a0": [1.0]}, "this run varies nothing"),
    "a run of three dimensions needs its axes named": ({"a0": A0, "mu": MU, "k": [0.0, 1.0]}, "this run varies a0, mu, k: name the two"),
    "a scheme that is swept must be held": (
        {"a0": A0, "mu": MU, "scheme": ["exact", "euler"], "k_t": [9e6]},
        "--at: scheme has several values too (euler, exact): hold it at one, as in --at scheme=VALUE",
    ),
    "so must words": (
        {"a0": A0, "mu": MU, "scheme": ["exact", "euler"], "k_t": [9e6], "k": [0.0, 1.0]},
        "this run varies a0, mu, k: name the two that are the axes, and hold others with --at NAME=VALUE",
    ),
    "an axis with defaults has no place for them": ({"a0": A0, "mu": [0.2, "default", 0.3]}, "axis mu: some rows hold no finite number"),
}


@pytest.mark.parametrize(("axes", "message"), RUNS.values(), ids=RUNS.keys())
def test_a_run_that_is_no_map_is_refused_with_its_reason(
    axes: dict[str, Any], message: str, fake: FakeKernels, tmp_path: Path, capsys: Captured
) -> None:
    directory = grid(tmp_path / "a", axes)
    assert main(["map", str(directory)]) == 2
    assert message in capsys.readouterr().err
    assert len(fake.calls) == (2 if "scheme" in axes else 1)


@pytest.mark.slow
def test_points_that_are_on_no_grid_are_areas_of_the_nearest_row(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"a0": {"from": 1.0, "to": 10.0}, "mu": {"from": 0.01, "to": 1.0, "spacing": "log"}}
    directory = run({"sweep": {"design": "sobol", "count": 32, "seed": 3, "axes": axes}}, tmp_path / "a").directory
    drawn = read_map(directory)
    assert (drawn.gridded, drawn.logarithmic, drawn.loose, drawn.regimes.shape) == (False, (False, True), (), (32,))
    np.testing.assert_allclose(drawn.shades, drawn.x_values + 100.0 * drawn.y_values, rtol=1e-15)
    x, y = np.linspace(1.5, 9.5, 40), np.geomspace(0.012, 0.9, 30)
    rows = nearest_rows(drawn, x, y)
    assert rows.shape == (30, 40)
    # by brute force, with the second axis by its logarithm
    reach = (np.ptp(drawn.x_values), np.ptp(np.log(drawn.y_values)))
    away = [
        (((x[np.newaxis, :] - a) / reach[0]) ** 2 + ((np.log(y)[:, np.newaxis] - np.log(b)) / reach[1]) ** 2)
        for a, b in zip(drawn.x_values, drawn.y_values, strict=True)
    ]
    np.testing.assert_array_equal(rows, np.argmin(away, axis=0))
    assert main(["map", str(directory)]) == 0
    assert main(["map", str(directory), "--color", "none", "--out", str(tmp_path / "a.svg")]) == 0
    assert fake.calls == [32]


def test_where_more_varies_points_are_drawn_and_no_areas(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"a0": {"from": 1.0, "to": 10.0}, "mu": {"from": 0.01, "to": 1.0}, "k": {"from": 0.0, "to": 9.0}}
    directory = run({"sweep": {"design": "sobol", "count": 32, "axes": axes}}, tmp_path / "a").directory
    drawn = read_map(directory, "a0", "k")
    assert (drawn.loose, title(drawn)) == (("mu",), "study: 32 points; mu varies too")
    assert theory_of(drawn, np.linspace(1.0, 10.0, 9), np.linspace(0.1, 9.0, 9)) == []  # there is no one eta
    assert main(["map", str(directory), "--x", "a0", "--y", "k"]) == 0
    assert fake.calls == [32]


def test_a_slice_is_held_at_the_nearest_value(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    axes = {"a0": A0, "mu": MU, "k": [0.0, 1.0, 4.0], "scheme": ["exact", "euler"], "k_t": [9e6]}
    directory = grid(tmp_path / "a", axes)
    drawn = read_map(directory, at=["k=3.5", "scheme=euler"])
    assert (drawn.held, drawn.gridded, drawn.rows, drawn.x.name) == ({"k": 4.0, "scheme": "euler"}, True, 30, "a0")
    np.testing.assert_allclose(drawn.shades, 1000.0 + drawn.x_values + 100.0 * drawn.y_values[:, np.newaxis], rtol=1e-15)
    assert main(["map", str(directory), "--at", "k=3.5", "--at", "scheme=exact"]) == 0
    assert "A slice at k = 4, scheme = exact: 30 points." in capsys.readouterr().err
    nearest = {"k=30": 4.0, "k=-7": 0.0, "k=1.1": 1.0, "k=0.9 N/m": 1.0, "k=0.004 kN/m": 4.0, "k=3.9N/m": 4.0}
    assert [read_map(directory, at=[wish, "scheme=euler"]).held["k"] for wish in nearest] == list(nearest.values())
    for wish, message in {
        "k=soft": "k: 'soft' must be a finite number, or one with a unit; the run has 0, 1, 4",
        "k=nan": "the run has 0, 1, 4",
        "k=3 mm": "'mm' cannot be converted to N/m; the run has 0, 1, 4",
        "kk=1": "'kk' is nothing that this run varies; did you mean 'k'?",
        "scheme=eular": "no row has scheme = 'eular'; did you mean 'euler'?",
        "k": "'k': give a parameter and its value, as in --at mu=0.2",
    }.items():
        with pytest.raises(ConfigError, match="--at") as refused:
            read_map(directory, at=["k=1", wish] if wish.startswith("s") else [wish])
        assert message in str(refused.value)
    with pytest.raises(ConfigError, match="'k' is held already, at 1"):
        read_map(directory, at=["k=1", "k=4"])
    assert len(fake.calls) == 2


def measured(directory: Path) -> Path:
    """Write the boundaries of a run as a design that looks for them does."""
    lines = {"stick | stick-slip": [(2.0, 0.2), (4.0, 0.4)], "wear_power = 9 W": [(3.0, 0.3), (5.0, 0.4), (4.0, 0.6)]}
    rows = [(curve, *place, name) for curve, (name, places) in enumerate(lines.items()) for place in places]
    curve, x, y, between = (list(column) for column in zip(*rows, strict=True))
    closed = [name != "stick | stick-slip" for name in between]
    columns = {"curve": pa.array(curve, pa.int64()), "a0": x, "mu": y, "between": pa.array(between).dictionary_encode(), "closed": closed}
    file = directory / "boundaries" / "boundaries.parquet"
    file.parent.mkdir()
    file.write_bytes(sealed_parquet.to_bytes(pa.table({**columns, "width": np.zeros(len(rows))})))
    return file


def test_boundaries_that_the_run_has_found_are_drawn_beside_those_of_theory(fake: FakeKernels, tmp_path: Path) -> None:
    directory = grid(tmp_path / "a", {"a0": A0, "mu": MU})
    file = measured(directory)
    drawn = read_map(directory)
    assert [boundary.plain for boundary in drawn.measured] == ["stick | stick-slip", "wear_power = 9 W"]
    assert [boundary.theory for boundary in drawn.measured] == [False, False]
    np.testing.assert_array_equal(drawn.measured[0].pieces[0], [(2.0, 0.2), (4.0, 0.4)])
    np.testing.assert_array_equal(drawn.measured[1].pieces[0][-1], (3.0, 0.3))  # closed
    np.testing.assert_array_equal(read_map(directory, x="mu").measured[0].pieces[0], [(0.2, 2.0), (0.4, 4.0)])
    assert main(["map", str(directory)]) == 0
    figure = Figure(layout="constrained")
    fill(figure, drawn, logarithmic=False)
    axes = figure.axes[0]
    assert "wear_power = 9 W" in {text.get_text() for text in axes.texts}
    legend = axes.get_legend()
    assert legend is not None
    assert {"found by the run", "theory"} <= {text.get_text() for text in legend.get_texts()}
    file.write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match="it is cut short"):
        read_map(directory)
    assert fake.calls == [30]


def test_a_column_of_nothing_but_nan_is_refused(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = fake.solve

    def nowhere(*arguments: Any, **asked: Any) -> Any:
        solution = solve(*arguments, **asked)
        solution.observables["drift"][:] = np.nan
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", nowhere)
    directory = run(GRID, tmp_path / "a").directory
    with pytest.raises(ConfigError, match="drift has no value in any row"):
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


@pytest.mark.parametrize(
    "command", ["map", "show", "correlation", "sensitivity", "signals", "bifurcation", "trace", "spectrum", "optimise"]
)
def test_without_matplotlib_a_picture_is_refused_before_anything_is_read(
    command: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoMatplotlib(), *sys.meta_path])
    option = {"optimise": "--picture", "show": "--over=draw --out"}.get(command, "--out").split()
    target = tmp_path / "none.toml" if command in ("trace", "spectrum", "optimise") else tmp_path  # neither is a study or a run
    assert main([command, str(target), *option, str(tmp_path / "a.png")]) == 2
    assert "pip install 'tribosweep[plot]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "option"),
    [("calibrate calibrate_wall", "--picture"), ("calibrate calibrate_wall", "--landscape"), ("optimise optimise_support", "--landscape"),
     ("branches branches_stop", "--picture")],
)  # fmt: skip
def test_the_ending_of_a_picture_is_checked_before_the_work_and_its_option_is_named(words: str, option: str, capsys: Captured) -> None:
    assert main([*words.split(), option, "a.gif"]) == 2
    assert capsys.readouterr().err == f"{option}: 1 problem\n  a.gif: must end in one of .png, .svg, .pdf\n"
    assert not Path("runs").exists()


class NoMatplotlib:
    """An import system without matplotlib."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse matplotlib."""
        if name == "matplotlib":
            raise ModuleNotFoundError(name, name=name)


def lines(directory: Path, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Name -> the vertices of the boundaries that theory gives for a run."""
    drawn = read_map(directory)
    return {boundary.plain: np.concatenate(boundary.pieces) for boundary in theory_of(drawn, x, y)}


def test_boundaries_are_those_of_sdnd104_where_they_hold(fake: FakeKernels, tmp_path: Path) -> None:
    assert friction_ratio({"mu": 0.1, "g": 10.0, "a0": -2.0}) == 0.5
    x, y = np.linspace(1.0, 10.0, 200), np.linspace(5.0, 20.0, 200)
    known = lines(grid(tmp_path / "a", {"a0": A0, "g": [5.0, 10.0, 20.0]}, parameters={"k": 0.0, "mu": 0.2}), x, y)
    assert list(known) == ["η = 1", "η* = 0.5370"]
    for line, level in zip(known.values(), (1.0, ETA_STAR), strict=True):
        np.testing.assert_allclose(0.2 * line[:, 1] / line[:, 0], level, rtol=5e-4)
    for number, parameters in enumerate(({"c": 0.1}, {"f0": 1.0}, {"load": 1.0}, {"mu_s": 2.0}, {"normal_force": 3.0})):
        assert lines(grid(tmp_path / str(number), {"a0": A0, "mu": MU}, parameters=parameters), x, y) == {}
    assert len(fake.calls) == 6


def test_with_a_spring_the_boundary_of_no_stops_is_den_hartogs(fake: FakeKernels, tmp_path: Path) -> None:
    x, y = np.geomspace(2.0, 100.0, 400), np.linspace(0.01, 2.0, 400)
    sections = {"parameters": {"k": 25.0, "a0": 8.0, "m": 1.0, "g": 10.0}, "time": {"window": "steady"}}
    known = lines(grid(tmp_path / "a", {"omega": {"from": 2.0, "to": 100.0, "count": 5}, "mu": MU}, **sections), x, y)
    assert list(known) == ["η = 1", "η*(β)"]
    beta, eta = known["η*(β)"][:, 0] / 5.0, known["η*(β)"][:, 1] * 10.0 / 8.0
    assert beta.min() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_allclose(eta, [den_hartog_limit(float(b)) for b in beta], rtol=2e-3)
    # no node lies on resonance by chance, and none need
    assert no_stops({"mu": 0.1, "g": 10.0, "a0": 1.0, "k": 4.0, "m": 1.0, "omega": 2.0}) == pytest.approx(4.0 / np.pi, rel=1e-12)
    assert np.isnan(no_stops({"mu": 0.1, "g": 10.0, "a0": 1.0, "k": 4.0, "m": 1.0, "omega": 1.0}))
    for b in (0.6, 0.999, 1.001, 2.0, 50.0):
        ratio = no_stops({"mu": 0.1, "g": 10.0, "a0": 1.0, "k": 1.0, "m": 1.0, "omega": b})
        assert ratio == pytest.approx(1.0 / den_hartog_limit(b), rel=1e-9)
    # over a fixed window the rows only tend to it
    fixed = lines(
        grid(tmp_path / "b", {"omega": {"from": 2.0, "to": 100.0, "count": 5}, "mu": MU}, parameters=sections["parameters"]), x, y
    )
    assert list(fixed) == ["η = 1", "η*(β), steady"]
    assert len(fake.calls) == 2


def test_walls_give_way_where_the_energy_of_the_impact_is_what_they_take(fake: FakeKernels, tmp_path: Path) -> None:
    table = {"plateau": 1.0, "softening": 1.0, "post_set": [2.0, 3.0, 4.0, 5.0], "post_stiffness": [0.2, 0.15, 0.125, 0.1]}
    sections: dict[str, Any] = {"study": {"model": "buckling_wall"}, "parameters": table}
    axes = {"v0": {"from": 0.5, "to": 5.0, "count": 6}, "f_crit": {"from": 0.6, "to": 2.0, "count": 5}}
    x, y = np.linspace(0.5, 5.0, 300), np.linspace(0.6, 2.0, 300)
    known = lines(grid(tmp_path / "a", axes, **sections), x, y)
    assert list(known) == ["elastic limit", "end of the plateau", "end of the softening", "end of the table"]
    np.testing.assert_allclose(known["elastic limit"][:, 0], known["elastic limit"][:, 1], rtol=1e-4)  # v0 = f_crit / sqrt(k_n m)
    # SDND105 C, f_crit = 1 N: 0.5 elastic + 1 plateau + 0.75 softening; to the last node, U = 10 m, 0.5 N over 7 m more
    for name, energy in {"end of the plateau": 1.5, "end of the softening": 2.25, "end of the table": 5.75}.items():
        line = known[name][np.argsort(known[name][:, 1])]
        assert np.interp(1.0, line[:, 1], line[:, 0]) == pytest.approx(np.sqrt(2.0 * energy), rel=1e-4)
    assert lines(grid(tmp_path / "b", axes, **(sections | {"parameters": table | {"c_n": 1.0}})), x, y) == {}
    assert len(fake.calls) == 2


def test_every_word_has_colours_of_its_own(fake: FakeKernels) -> None:
    words = ["elastic rebound", "buckled in plateau", "softened", "beyond the table", "stick", "slip-slip", "no friction"]
    ramps = ramps_of(words)
    assert list(ramps) == words
    assert ramps["stick"] == RAMPS["stick"]
    middles = np.array([[int(mixed(*ramp, 0.6)[place : place + 2], 16) for place in (1, 3, 5)] for ramp in list(ramps.values())[:4]])
    apart = np.abs(middles[:, np.newaxis] - middles).sum(axis=2) + 1000 * np.eye(4)
    assert apart.min() > 30
    assert fake.calls == []


def test_whole_numbers_may_be_the_areas(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    directory = grid(tmp_path / "a", {"a0": [1.0, 2.0, 3.0], "mu": [0.01, 0.02]})
    drawn = read_map(directory, areas="slip_phases")  # a0 + 100 mu
    assert (drawn.areas, drawn.words) == ("slip_phases", ("2 slip phases", "3 slip phases", "4 slip phases", "5 slip phases", "none"))
    assert drawn.regimes.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert main(["map", str(directory), "--areas", "slip_phases"]) == 0
    assert main(["map", str(directory), "--areas", "slip_phase"]) == 2
    assert "--areas: 'slip_phase' is no observable; did you mean 'slip_phases'?" in capsys.readouterr().err
    assert main(["map", str(directory), "--areas", "drift"]) == 2
    assert "--areas: 'drift' holds numbers that are not whole" in capsys.readouterr().err
    many = grid(tmp_path / "b", {"a0": A0, "mu": MU})
    assert main(["map", str(many), "--areas", "slip_phases"]) == 2
    assert "different values, more than 12 colours tell apart: --color slip_phases shades by it" in capsys.readouterr().err
    assert len(fake.calls) == 2


def lines_of(figure: Figure, width: float) -> list[np.ndarray]:
    """The pieces of the lines of a width on a map."""
    collections = [each for each in figure.axes[0].collections if np.allclose(each.get_linewidths(), width)]
    return [np.asarray(piece) for each in collections for path in each.get_paths() for piece in path.to_polygons(closed_only=False)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_line_follows_rounding_errors_of_a_plateau(fake: FakeKernels, tmp_path: Path, dtype: str) -> None:
    drawn = read_map(grid(tmp_path / "a", {"a0": A0, "mu": MU}))
    noise = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], drawn.regimes.shape) * 10.0 * np.finfo(dtype).eps
    rises = np.where(drawn.x_values < 6.0, drawn.x_values / 6.0, 1.0) + noise
    flat = replace(drawn, shades=rises, rounding=rounding_of({"provenance": {"dtype": dtype}}))
    figure = Figure(layout="constrained")
    fill(figure, flat, logarithmic=False)
    levels = [piece for piece in lines_of(figure, 0.7) if len(piece) > 1]
    assert len(levels) > 2
    assert max(piece[:, 0].max() for piece in levels) < 6.0
    assert fake.calls == [30]


def test_lines_between_areas_run_along_the_sides_of_cells(fake: FakeKernels, tmp_path: Path) -> None:
    drawn = read_map(grid(tmp_path / "a", {"omega": [1.0, 2.0, 4.0, 8.0], "f0": [1.0, 2.0, 3.0]}, parameters={"load": 3.0}), color="none")
    island = replace(drawn, regimes=np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]], np.int8))
    figure = Figure(layout="constrained")
    fill(figure, island, logarithmic=False)
    found = {tuple(map(tuple, np.round(piece, 9))) for piece in lines_of(figure, 1.2)}
    left, right = round(2.0**0.5, 9), round(32.0**0.5, 9)  # the axis is logarithmic
    assert found == {((x, 1.5), (x, 2.5)) for x in (left, right)} | {((left, y), (right, y)) for y in (1.5, 2.5)}
    assert fake.calls == [12]


BOUNDARY: dict[str, Any] = {"design": "boundary", "halvings": 1, "width": 1e-2, "axes": {"a0": A0, "mu": MU}}


@pytest.mark.parametrize(
    ("sought", "areas"),
    [
        ({"observable": "regime"}, ("stick", "stick-slip", "slip-slip", "no friction")),
        ({"observable": "wear_power", "level": 50.0}, ("up to 50 W", "above 50 W", "none")),
    ],
)
def test_the_map_of_a_boundary_study_is_divided_by_what_it_looks_for_and_not_shaded(
    sought: dict[str, Any], areas: tuple[str, ...], fake: FakeKernels, tmp_path: Path
) -> None:
    fake.words_by_value = True
    directory = run({"sweep": {**BOUNDARY, **sought}}, tmp_path / "a").directory
    drawn = read_map(directory)
    assert (drawn.shade, drawn.words) == (None, areas)
    if "level" in sought:
        np.testing.assert_array_equal(drawn.regimes, drawn.x_values + 100.0 * drawn.y_values > 50.0)
    shaded = read_map(directory, color="wear_power", areas="regime")
    assert shaded.shade is not None
    assert (shaded.shade.name, shaded.words[0]) == ("wear_power", "stick")
    assert main(["map", str(directory)]) == 0
    assert fake.calls[0] == 30
