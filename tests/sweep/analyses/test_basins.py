"""Basins of attraction: against a closed form and an integration of its own, coexisting motions of a sweep, rest beside slip."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.linalg import expm

from tribosweep import sweep
from tribosweep.sweep.analyses.basins.rows import refused
from tribosweep.sweep.cli import main
from tribosweep.sweep.study.load import load

STOP = {"k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "gap": 0.5, "omega": 1.7}
AMPLITUDE = 1.0 / abs(1.0 - 1.7**2 + 0.1j * 1.7)  # of the linear response, over a0
COUNT = 12
Captured = pytest.CaptureFixture[str]


def study(model: str = "stop", axes: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A study of starts."""
    starts = {"x0": {"from": -2.0, "to": 0.4, "count": COUNT}, "v0": {"from": -2.0, "to": 2.5, "count": COUNT}}
    whole: dict[str, Any] = {"study": {"name": "starts", "model": model}, "parameters": STOP, "time": {"end": 150.0}}
    return whole | {"sweep": {"axes": starts | (axes or {"a0": [0.3, 0.7, 1.1]})}} | more


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three loads: only free motion, free motion beside impacts, only impacts."""
    directory = tmp_path_factory.mktemp("basins") / "stops"
    sweep.run(study(), directory)
    return directory


def impacts_late(x: np.ndarray, v: np.ndarray, a0: float, periods: int = 40, steps: int = 1200) -> np.ndarray:
    """Whether masses touch the stop in the last two of many periods, by exact steps of constant stiffness."""
    h = 2.0 * math.pi / STOP["omega"] / steps
    maps = []
    for pressed in (False, True):
        k, c = (STOP["k"] + STOP["k_n"], STOP["c"] + STOP["c_n"]) if pressed else (STOP["k"], STOP["c"])
        system = np.zeros((5, 5))  # of x, v, sin(omega t), cos(omega t), 1
        system[0, 1] = 1.0
        system[1] = [-k, -c, -a0, 0.0, STOP["k_n"] * STOP["gap"] if pressed else 0.0]
        system[2, 3], system[3, 2] = STOP["omega"], -STOP["omega"]
        maps.append(expm(h * system)[:2])
    late = np.zeros(x.shape, bool)
    for step in range(periods * steps):
        angle = STOP["omega"] * h * step
        driven = [each[:, 2] * math.sin(angle) + each[:, 3] * math.cos(angle) + each[:, 4] for each in maps]
        pressed = (x > STOP["gap"]) & (STOP["k_n"] * (x - STOP["gap"]) + STOP["c_n"] * v > 0.0)
        new = [(each[0, 0] * x + each[0, 1] * v + add[0], each[1, 0] * x + each[1, 1] * v + add[1])
               for each, add in zip(maps, driven, strict=True)]  # fmt: skip
        x, v = (np.where(pressed, new[1][i], new[0][i]) for i in (0, 1))
        if step >= (periods - 2) * steps:
            late |= pressed
    return late


@pytest.mark.slow
def test_starts_lead_where_brute_force_leads(stops: Path) -> None:
    found = sweep.open_run(stops).basins()
    motions, starts = found.to_pandas(), found.starts().set_index("point")["attractor"]
    assert motions.groupby("a0").size().to_dict() == {0.3: 1, 0.7: 2, 1.1: 1}
    assert not found.notes
    free = motions[motions["impacts"] == 0].set_index("a0")
    assert list(free.index) == [0.3, 0.7]
    for a0 in free.index:
        response = -a0 / (1.0 - 1.7**2 + 0.1j * 1.7)
        assert free.loc[a0, "section_x"] == pytest.approx(response.imag, abs=1e-11)
        assert free.loc[a0, "section_v"] == pytest.approx(1.7 * response.real, abs=1e-11)
        assert free.loc[a0, "multiplier_1"] == pytest.approx(math.exp(-0.05 * 2.0 * math.pi / 1.7), abs=1e-11)
    assert a0 * AMPLITUDE < STOP["gap"] < 1.1 * AMPLITUDE
    rows = sweep.open_run(stops).to_pandas().set_index("point")
    rows = rows[rows["a0"] == 0.7]
    hits = impacts_late(rows["x0"].to_numpy(), rows["v0"].to_numpy(), 0.7)
    impacting = int(motions[(motions["a0"] == 0.7) & (motions["impacts"] > 0)]["attractor"].iloc[0])
    same = hits == (starts[rows.index].to_numpy() == impacting)
    assert 0.05 < hits.mean() < 0.95
    assert np.count_nonzero(~same) <= 2  # a start may lie on the boundary to rounding


@pytest.mark.slow
@pytest.mark.long
def test_basins_of_two_bodies_are_those_of_one_with_their_relative_motion(stops: Path, tmp_path: Path) -> None:
    """m (x - x_2)'' = f0 sin(omega t) - k (x - x_2) - c (x - x_2)' - (1 + m / m_2) F, whatever shakes the base."""
    pair = STOP | {"m": 1.0, "m_2": 4.0, "k_n": 0.8 * STOP["k_n"], "c_n": 0.8 * STOP["c_n"], "a0": 0.4}
    found = sweep.run(study(axes={"f0": [-0.7]}, parameters=pair), tmp_path / "pair").basins()
    alone = sweep.open_run(stops).basins(at={"a0": 0.7})
    motions, expected = found.to_pandas(), alone.to_pandas()
    for name in ("periods", "starts", "impacts"):
        assert motions[name].tolist() == expected[name].tolist()
    for name in ("section_x", "section_v", "multiplier_1"):
        np.testing.assert_allclose(motions[name], expected[name], atol=1e-9)
    assert found.starts()["attractor"].tolist() == alone.starts()["attractor"].tolist()


@pytest.mark.slow
def test_the_command_writes_tables_and_a_picture(stops: Path, tmp_path: Path, capsys: Captured) -> None:
    picture = tmp_path / "basins.png"
    assert main(["basins", str(stops), "--at", "a0=0.7", "--out", str(picture), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["periods"] for row in told["attractors"]] == [1, 1]
    assert sum(row["share"] for row in told["attractors"]) == pytest.approx(1.0)
    table = pq.read_table(stops / "basins" / "starts.parquet")
    assert table.num_rows == COUNT**2
    assert np.bincount(table.column("attractor")).tolist() == [row["starts"] for row in told["attractors"]]
    pixels = np.asarray(Image.open(picture).convert("RGB"), dtype=int)
    for color in ([23, 86, 140], [194, 96, 26]):
        assert (np.abs(pixels - color).sum(axis=2) < 10).mean() > 0.05
    assert main(["basins", str(stops)]) == 0
    assert "Several motions coexist at 1 of 3 values of a0." in capsys.readouterr().out
    assert main(["basins", str(stops), "--at", "x0=0", "--at", "v0=0"]) == 2
    assert "neither x0 nor v0 varies" in capsys.readouterr().err
    assert main(["basins", str(stops), "--tolerance", "0.5"]) == 2
    assert "--tolerance: 0.5 is out of bounds: must be from 1e-9 to 0.1" in capsys.readouterr().err
    assert main(["basins", str(stops), "--out", str(picture)]) == 2
    assert "hold them with --at" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.slow
def test_a_mass_that_rests_is_told_from_one_that_slips(tmp_path: Path) -> None:
    """Friction of rest 0.9 N holds a load of 0.85 N; friction of slip 0.02 N does not stop what moves."""
    mass = {"k": 1.0, "c": 0.1, "g": 1.0, "mu_s": 0.9, "mu_d": 0.02, "a0": 0.85, "omega": 1.7}
    axes = {"x0": [0.0, 0.01, -0.02], "v0": [0.0, 0.76]}
    whole = {"study": {"name": "rest", "model": "rubbing_mass"}, "parameters": mass, "time": {"end": 300.0}, "sweep": {"axes": axes}}
    run = sweep.run(whole, tmp_path / "rest")
    found = run.basins()
    motions = found.to_pandas()
    assert sorted(motions["regime"]) == ["slip-slip", "stick"]
    rows = run.to_pandas().merge(found.starts(), on="point")
    words = motions.set_index("attractor")["regime"]
    assert [words[int(each)] for each in rows["attractor"]] == ["stick" if v == 0.0 else "slip-slip" for v in rows["v0"]]


@pytest.mark.parametrize(
    ("changed", "path", "words"),
    [
        ({"time": {"window": "steady"}}, "time.window", "of starts that settle by themselves"),
        ({"study": {"name": "starts", "model": "stop", "scheme": "rk54"}}, "study.scheme", "of the scheme 'exact'"),
        (
            {"study": {"name": "starts", "model": "buckling_wall"}, "parameters": {"k_post": 1.0}},
            "study.model",
            "of walls that do not buckle",
        ),
        (
            {"study": {"name": "starts", "model": "two_walls"}, "parameters": {"f_crit": 1.0, "f_post": 0.5, "k_post": 1.0}},
            "parameters.f_crit",
            "do not buckle",
        ),
        ({"output": {"columns": ["impacts"]}}, "output.columns", "x_end and v_end"),
        ({"parameters": {**STOP, "tone_a0": [1.0], "tone_omega": [2.0]}}, "parameters.tone_a0", "under one sine"),
    ],
)
def test_studies_without_basins_are_told_why(changed: dict[str, Any], path: str, words: str) -> None:
    found = refused(load(study(axes={"x0": [0.0], "v0": [0.1, 0.2]}) | changed))
    assert any(problem.path == path and words in problem.message for problem in found), found
    assert not refused(load(study()))
