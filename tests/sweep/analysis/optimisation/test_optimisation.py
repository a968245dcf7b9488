"""Optimisations of the engine against closed forms and brute force, their files, pictures and output."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

import tribosweep as ts
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.optimisation import print_ranges
from tribosweep.sweep.io.toml import to_toml

Captured = pytest.CaptureFixture[str]
G, LIMIT = 9.81, 0.8
# a mass that slides to rest: slip_distance = v0^2 / (2 mu g), wear_energy = m v0^2 / (2 mu). The smaller mu, the more it polishes, and the
# farther it slides
BRAKE: dict[str, Any] = {
    "study": {"name": "brake"},
    "parameters": {"m": 2.0, "g": G},
    "time": {"end": 9.0},
    "sweep": {"design": "latin_hypercube", "count": 24, "seed": 3, "axes": {"v0": {"from": 1.0, "to": 3.0}}},
}


def brake(**section: Any) -> dict[str, Any]:
    return {
        **BRAKE,
        "optimise": {"maximise": "mean of wear_energy", "starts": 3, "variables": {"mu": {"from": 0.05, "to": 0.9}}, **section},
    }


def speeds() -> np.ndarray:
    """The speeds of the rows, from the design itself."""
    config = ts.load(BRAKE)
    return np.asarray(config.design.points(0, config.design.count).columns["v0"])


def friction(energy: float) -> float:
    """The friction with which a mass of v0^2 = `energy` slides as far as the limit."""
    return energy / (2.0 * G * LIMIT)


@pytest.mark.long_cases("quantile")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("constraint", "energy"),
    [
        pytest.param("quantile 0.9 of slip_distance <= 80 cm", lambda v: np.quantile(v**2, 0.9), marks=pytest.mark.slow),
        ("mean of slip_distance <= 80 cm", lambda v: np.mean(v**2)),
        ("slip_distance <= 80 cm", lambda v: np.max(v**2)),
        ("chance of slip_distance > 80 cm <= 10 %", lambda v: np.sort(v**2)[-3]),  # 2 of 24 may slide farther
    ],
    ids=["quantile", "mean", "every row", "chance"],
)
def test_the_optimum_is_that_of_the_closed_form(constraint: str, energy: Any, tmp_path: Path) -> None:
    found = ts.optimise(brake(constraints=[constraint]), tmp_path)
    mu, v = friction(float(energy(speeds()))), speeds()
    assert found.converged
    assert found.variables["mu"] == pytest.approx(mu, rel=1e-6)
    assert found.value == pytest.approx(np.mean(v**2) / mu, rel=1e-6)  # m = 2
    (row,) = found.constraints().query("optimum == 0").to_dict("records")
    assert row["active"]
    # the value is mean(v^2) 2 g L / energy, so that its derivative by L is the value over L
    assert row["sensitivity"] == pytest.approx(found.value / LIMIT, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["slsqp", "differential_evolution"])
@pytest.mark.parametrize(
    ("constraint", "most"),
    [("chance of slip_distance > 80 cm <= 10 %", 2), ("slip_distance <= 80 cm", 0), ("chance of slip_distance >= 80 cm <= 25 %", 6)],
)
def test_no_more_rows_exceed_a_limit_when_the_optimum_is_run(constraint: str, most: int, method: str, tmp_path: Path) -> None:
    ts.optimise(brake(constraints=[constraint], method=method), tmp_path / "best")
    rows = ts.run(tmp_path / "best" / "optimised.toml", tmp_path / "run").to_pandas()
    assert int((rows["slip_distance"] >= LIMIT).sum()) == most


@pytest.mark.slow
def test_the_study_at_the_optimum_keeps_the_limit_when_it_is_run(tmp_path: Path) -> None:
    found = ts.optimise(brake(constraints=["quantile 0.9 of slip_distance <= 80 cm"]), tmp_path / "best")
    rows = ts.run(tmp_path / "best" / "optimised.toml", tmp_path / "run").to_pandas()
    assert np.quantile(rows["slip_distance"], 0.9) == pytest.approx(LIMIT, rel=1e-6)
    assert rows["wear_energy"].mean() == pytest.approx(found.value, rel=1e-9)
    assert any("other draws may exceed the limit" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.shapes
def test_without_derivatives_the_optimum_is_the_same(tmp_path: Path) -> None:
    constraint = "quantile 0.9 of slip_distance <= 80 cm"
    found = ts.optimise(brake(constraints=[constraint], method="differential_evolution"), tmp_path)
    assert found.kept
    assert found.variables["mu"] == pytest.approx(friction(float(np.quantile(speeds() ** 2, 0.9))), rel=1e-4)
    assert found.result.evaluator.runs <= 24  # one point
    assert "no multipliers" in found.notes[0]


@pytest.mark.slow
@pytest.mark.shapes
def test_a_count_is_minimised_without_derivatives(tmp_path: Path) -> None:
    goal = {"maximise": "mean of wear_energy", "constraints": ["chance of stops >= 1 >= 50 %"]}
    study = {**brake(**goal), "time": {"end": 2.0}}  # a mass stops at v0 / (mu g): half of them within 2 s
    found = ts.optimise(study, tmp_path)
    v = np.sort(speeds())
    assert found.kept
    assert v[11] / (2.0 * G) <= found.variables["mu"] * (1.0 + 1e-6)
    assert found.variables["mu"] == pytest.approx(v[11] / (2.0 * G), rel=1e-3)


@pytest.mark.slow
@pytest.mark.shapes
def test_a_limit_that_nothing_keeps_exits_3_and_names_the_nearest_point(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "brake.toml"
    path.write_text(to_toml(brake(constraints=["slip_distance <= 10 cm"])))
    assert main(["optimise", str(path), "--out", str(tmp_path / "out"), "--json"]) == 3
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert found["variables"]["mu"] == pytest.approx(0.9)
    assert not found["kept"]
    assert "No point keeps all constraints. The nearest one, which is shown, violates worst of slip_distance <= 0.1 m (it is" in told.err


@pytest.mark.slow
def test_the_command_writes_tables_pictures_and_a_study(tmp_path: Path, capsys: Captured) -> None:
    path, out = tmp_path / "brake.toml", tmp_path / "out"
    path.write_text(to_toml(brake(constraints=["quantile 0.9 of slip_distance <= 80 cm"])))
    pictures = [tmp_path / "searches.png", tmp_path / "limits.png"]
    words = ["optimise", str(path), "--out", str(out), "--picture", str(pictures[0]), "--landscape", str(pictures[1])]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "maximise mean of wear_energy:" in told.out
    assert "active" in told.out
    assert {each.name for each in out.iterdir()} == {
        "config.toml", "optimised.toml", "optima.parquet", "constraints.parquet", "history.parquet", "slice.parquet",
    }  # fmt: skip
    assert all(imread(picture).std() > 0.02 for picture in pictures)
    history = pd.read_parquet(out / "history.parquet")
    assert {"evaluation", "search", "mu", "mean of wear_energy", "excess", "kept"} <= set(history.columns)
    first = (out / "optima.parquet").read_bytes()
    assert main([*words[:4], "--set", "optimise.starts=2"]) == 0  # again, without pictures: the slice of before is gone
    assert "slice.parquet" not in {each.name for each in out.iterdir()}
    assert main(words) == 0
    assert (out / "optima.parquet").read_bytes() == first
    capsys.readouterr()
    assert main(["show", str(out)]) == 2
    assert "holds an optimisation, not a run: optima.parquet has the variables" in capsys.readouterr().err
    assert main([*words, "--slice", "mu", "--slice", "muu"]) == 2
    assert "--slice: 'muu' is no variable" in capsys.readouterr().err


def test_an_optimisation_is_not_written_over_a_run(tmp_path: Path) -> None:
    ts.run(BRAKE, tmp_path)
    with pytest.raises(ts.ConfigError, match="is the directory of a run: an optimisation goes to one of its own"):
        ts.optimise(brake(), tmp_path)


@pytest.mark.long
@pytest.mark.slow
def test_a_wall_that_is_hit_is_as_soft_as_its_force_allows(tmp_path: Path) -> None:
    # x = v0 sqrt(m / k_n), F = v0 sqrt(m k_n): with F <= L x = m v0^2 / L, k_n = L^2 / (m v0^2), dx / dL = -m v0^2 / L^2
    study = {
        "study": {"name": "wall", "model": "stop"},
        "parameters": {"m": 2.0, "v0": 3.0, "gap": 0.0, "sides": 1},
        "time": {"end": 2.0},
        "optimise": {
            "minimise": "max_compression", "constraints": ["peak_force <= 0.5 kN"], "starts": 4,
            "variables": {"k_n": {"from": 1e2, "to": 1e6}},
        },
    }  # fmt: skip
    found = ts.optimise(study, tmp_path)
    assert found.variables["k_n"] == pytest.approx(500.0**2 / 18.0, rel=1e-8)
    assert found.value == pytest.approx(18.0 / 500.0, rel=1e-8)
    assert found.constraints()["sensitivity"][0] == pytest.approx(-18.0 / 500.0**2, rel=1e-8)


@pytest.mark.long
@pytest.mark.slow
def test_over_draws_of_a_random_acceleration_the_optimum_is_that_of_a_grid(tmp_path: Path) -> None:
    study = {
        "study": {"name": "shaken"},
        "parameters": {"g": 9.81, "mu": 0.2},
        "time": {"end": 4.0},
        "excitation": {"random": {"band": [1.0, 10.0], "rms": 4.0, "duration": 4.0, "interval": 0.01, "seed": 2}},
        "sweep": {"axes": {"draw": {"from": 0, "to": 9, "spacing": "integer"}}},
        "optimise": {
            "maximise": "mean of wear_power", "constraints": ["quantile 0.8 of max_slip_speed <= 0.5 m/s"], "starts": 4,
            "variables": {"normal_force": {"from": 0.5, "to": 30.0}},
        },
    }  # fmt: skip
    found = ts.optimise(study, tmp_path / "best")
    grid = {key: value for key, value in study.items() if key != "optimise"}
    grid["sweep"] = {"axes": {"normal_force": {"from": 0.5, "to": 30.0, "count": 400}, **study["sweep"]["axes"]}}
    rows = ts.run(grid, tmp_path / "grid").to_pandas().groupby("normal_force")
    kept = rows["max_slip_speed"].quantile(0.8) <= 0.5
    goal = rows["wear_power"].mean()[kept]
    assert found.kept
    assert found.value >= goal.max() * (1.0 - 1e-9)
    assert found.variables["normal_force"] == pytest.approx(goal.idxmax(), abs=2.0 * 29.5 / 399)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "front of 1 point:\n  minimise x_end: 1 m\n"),
        (2, "front of 2 points, from one end to the other:\n  minimise x_end: 1 m to 2 m\n"),
    ],
)
def test_a_front_of_one_point_has_no_ends(count: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    class Objective:
        verb, measure = "minimise", None

        def __str__(self) -> str:
            return "x_end"

    monkeypatch.setattr("tribosweep.sweep.analysis.optimisation.results.value_and_unit", lambda value, _: f"{value} m")
    front = [SimpleNamespace(candidate=SimpleNamespace(functions=SimpleNamespace(measures=[number + 1]))) for number in range(count)]
    result: Any = SimpleNamespace(front=front, optimisation=SimpleNamespace(objectives=[Objective()]))
    print_ranges(result)
    assert capsys.readouterr().out == said
