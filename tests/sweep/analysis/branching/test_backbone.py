"""The backbone of a study of branches: its table, its place in the picture and in the report."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.oracle import stop_orbit
from tribosweep import sweep
from tribosweep.sweep.analysis.branching import results
from tribosweep.sweep.analysis.branching.load import load
from tribosweep.sweep.api.branching import Branched
from tribosweep.sweep.plots import branches as pictures
from tribosweep.sweep.report.branches import read_branches

STOP = {"m": 1.0, "k": 1.0, "c": 0.05, "gap": 0.5, "a0": 0.1}
STIFFNESS = (5.0, 20.0)
STUDY: dict[str, Any] = {
    "study": {"name": "response", "model": "stop"},
    "parameters": STOP,
    "branches": {"along": {"omega": {"from": 0.7, "to": 1.4}}, "backbone": True},
    "sweep": {"axes": {"k_n": list(STIFFNESS)}},
}


def response(row: int, top: float) -> Any:
    """A branch that reaches a displacement, as the search would find it, of a point of the study."""
    omega, n = np.linspace(0.7, 1.4, 20), 20
    x_max = top * np.sin(np.linspace(0.2, 2.9, n))
    seen = {"x_max": x_max, "x_min": -0.9 * x_max}
    return SimpleNamespace(
        row=row, periods=1, origin="steady motion", parent=-1, ends=("bound", "bound"), value=omega, kinds=[""] * n, passages={},
        y=np.zeros((n, 2)), x=np.zeros(n), multipliers=np.full((n, 2), 0.5 + 0j), stable=np.ones(n, bool),
        points=SimpleNamespace(observables=seen),
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> results.Branches:
    branching, directory = load(STUDY), tmp_path_factory.mktemp("backbone") / "out"
    results.begin(branching, directory)
    points = branching.config.design.points(0, 2)
    table = results.block_table(branching, points, [response(0, 1.2), response(1, 0.9)])
    results.write_block(directory, 0, {results.FOLDER: table})
    return results.finish(branching, directory)


def test_free_motions_reach_as_high_as_the_branches_and_have_the_period_of_their_closed_form(found: results.Branches) -> None:
    assert found.backbone is not None
    assert (found.directory / "backbone.parquet").is_file()
    frame = found.backbone.to_pandas()
    assert set(frame["k_n"]) == set(STIFFNESS)
    for number, motions in frame.groupby("point"):
        k_n = STIFFNESS[int(number)]
        top = (1.2, 0.9)[int(number)] * np.sin(np.linspace(0.2, 2.9, 20)).max()
        energy = 0.5 * top**2 + 0.5 * k_n * (top - 0.5) ** 2
        touching = motions[motions["x_max"] > 0.5]
        with mp.workdps(20):
            exact = [float(2 * mp.pi / stop_orbit.free_period({**STOP, "k_n": k_n}, mpf(each))) for each in touching["energy"]]
        np.testing.assert_allclose(touching["omega"], exact, rtol=1e-12)
        apart = motions[motions["x_max"] <= 0.5]
        np.testing.assert_allclose(apart["omega"], 1.0, rtol=1e-14)
        assert apart["x_max"].max() == pytest.approx(0.5, abs=1e-14)  # the first touch is one of them
        assert (motions["omega"] <= 1.4).all()
        assert motions["energy"].max() <= 1.1 * energy * (1.0 + 1e-12)
        assert motions["omega"].max() == pytest.approx(1.4, abs=0.01) or motions["energy"].max() > 1.09 * energy
        np.testing.assert_allclose(motions["v_max"], np.sqrt(2.0 * motions["energy"]), rtol=1e-14)
        np.testing.assert_allclose(motions["peak_force"], k_n * motions["max_compression"], rtol=1e-14)
    assert found.backbone.schema.field("energy").metadata[b"unit"] == b"J"
    again = results.read(found.directory)
    assert again.backbone is not None
    assert again.backbone.equals(found.backbone)
    assert len(Branched(found, found.directory).backbone()) == len(frame)


def test_the_picture_and_the_report_draw_it_where_it_has_the_observable(found: results.Branches, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    for name, there in (("x_max", 2), ("peak_force", 2), ("wear_power", 0)):
        figure = Figure()
        pictures.fill(figure, found, name)
        (axes,) = figure.axes
        lines = [line for line in axes.get_lines() if line.get_label() == "backbone"]
        assert len(lines) == there
        legend = axes.get_legend()
        assert legend is not None
        assert ("backbone" in [text.get_text() for text in legend.get_texts()]) == (there > 0)
    assert found.backbone is not None
    bones = read_branches(found.directory).facts["backbone"]
    frame = found.backbone.to_pandas()
    assert [bone["point"] for bone in bones] == [0, 1]
    for bone in bones:
        motions = frame[frame["point"] == bone["point"]]
        np.testing.assert_allclose(bone["x"], motions["omega"], rtol=1e-7)
        np.testing.assert_allclose(bone["y"]["x_max"], motions["x_max"], rtol=1e-7)


def test_a_mass_without_stops_has_one_frequency() -> None:
    branching = load({"parameters": {"m": 1.0, "k": 1.0, "mu": 0.1, "a0": 1.0}, "branches": STUDY["branches"]})
    points = branching.config.design.points(0, 1)
    table = results.backbone_table(branching, results.block_table(branching, points, [response(0, 2.0)]), "")
    np.testing.assert_allclose(table["omega"].to_numpy(), 1.0, rtol=1e-14)
    assert max(table["x_max"].to_pylist()) == pytest.approx(2.0 * math.sqrt(1.1), rel=1e-2)
    assert "peak_force" not in table.column_names


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"branches": {**STUDY["branches"], "backbone": 1}}, "branches.backbone: must be true or false, not 1"),
        (
            {"branches": {"along": {"a0": {"from": 0.1, "to": 1.0}}, "backbone": True}, "parameters": {**STOP, "omega": 1.0}},
            "branches.backbone: is a curve over the frequency, and these branches are along a0: leave backbone out",
        ),
        ({"parameters": {**STOP, "m_2": 2.0}}, "branches.backbone: is of one mass, and m_2 is a second one: leave backbone out"),
    ],
)
def test_what_has_no_backbone_is_said(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sweep.ConfigError) as error:
        load({**STUDY, **changed})
    assert said in str(error.value)


def test_without_one_there_is_no_file(found: results.Branches, tmp_path: Path) -> None:
    branching = load({**STUDY, "branches": {"along": STUDY["branches"]["along"]}})
    results.begin(branching, tmp_path / "out")
    points = branching.config.design.points(0, 2)
    results.write_block(tmp_path / "out", 0, {results.FOLDER: results.block_table(branching, points, [response(0, 1.2)])})
    finished = results.finish(branching, tmp_path / "out")
    assert finished.backbone is None
    assert not (tmp_path / "out" / "backbone.parquet").exists()
    assert read_branches(tmp_path / "out").facts["backbone"] == []
    with pytest.raises(ValueError, match=r"branches\.backbone = true"):
        Branched(finished, tmp_path / "out").backbone()
