"""Draws from a file as a design: whole rows, crossed with further axes, and what a file may not hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tribosweep import sweep
from tribosweep.sweep.io.errors import ConfigError

ROWS = 60


def study(**keys: Any) -> dict[str, Any]:
    """A study of draws of mu and a0."""
    return {"parameters": {"omega": 10.0}, "time": {"end": 1.0}, "sweep": {"design": "posterior", "file": "draws.csv", **keys}}


@pytest.fixture(autouse=True)
def draws() -> np.ndarray:
    """(ROWS, 2) correlated draws, which are in draws.csv with columns about the draws."""
    normal = np.random.default_rng(3).multivariate_normal([0.0, 0.0], [[1.0, -0.9], [-0.9, 1.0]], ROWS)
    found = np.stack([0.2 * np.exp(0.1 * normal[:, 0]), 5.0 + normal[:, 1]], axis=1)
    lines = [f"{mu!r},{1e3 * a0!r},{row // 30},{row % 30},{-row}.5" for row, (mu, a0) in enumerate(found.tolist())]
    Path("draws.csv").write_text("\n".join(["mu,a0 [mm/s^2],chain,draw,log_density", *lines]) + "\n")
    return found


def pairs(points: Any) -> set[tuple[float, float]]:
    """The pairs of mu and a0, rounded."""
    return {(round(mu, 12), round(a0, 9)) for mu, a0 in zip(points.columns["mu"], points.columns["a0"], strict=True)}


def test_whole_rows_are_taken_each_once(draws: np.ndarray) -> None:
    config = sweep.load(study())
    points = config.design.points(0, config.design.count)
    assert config.design.count == ROWS
    assert pairs(points) == {(round(mu, 12), round(a0, 9)) for mu, a0 in draws}
    assert not np.allclose(points.columns["mu"], draws[:, 0])  # in a random order, so that few draws come from all chains


def test_any_block_is_computed_from_its_range_and_a_longer_design_begins_alike() -> None:
    axes = {"omega": [8.0, 9.0, 10.0], "c": {"distribution": "normal", "mean": 5.0, "std": 0.5}}
    short, long = (sweep.load(study(count=count, axes=axes)).design for count in (20, 50))
    whole = short.points(0, 60)
    parts = [short.points(start, min(start + 7, 60)) for start in range(0, 60, 7)]
    for name in whole.columns:
        assert np.concatenate([part.columns[name] for part in parts]).tobytes() == whole.columns[name].tobytes()
    assert long.points(0, 60).digest() == whole.digest()


def test_each_draw_runs_at_every_combination_of_crossed_axes_with_random_values_of_its_own() -> None:
    axes = {"omega": [8.0, 9.0], "m": {"from": 1.0, "to": 3.0, "count": 3}, "c": {"from": 1.0, "to": 2.0}}
    design = sweep.load(study(axes=axes)).design
    points = design.points(0, design.count).columns
    assert [axis.name for axis in design.axes] == ["omega", "m", "mu", "a0", "c"]
    assert design.count == 6 * ROWS
    by_draw = {name: values.reshape(ROWS, 6) for name, values in points.items()}
    assert (np.ptp(by_draw["mu"], axis=1) == 0.0).all()
    assert (np.ptp(by_draw["c"], axis=1) == 0.0).all()
    assert (by_draw["omega"] == [8.0, 8.0, 8.0, 9.0, 9.0, 9.0]).all()
    assert (by_draw["m"] == [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]).all()
    assert len(np.unique(by_draw["c"][:, 0])) == ROWS
    assert by_draw["c"].mean() == pytest.approx(1.5, abs=0.02)
    assert abs(stats.spearmanr(by_draw["c"][:, 0], by_draw["mu"][:, 0])[0]) < 3.0 / np.sqrt(ROWS)


def test_more_draws_than_rows_take_every_row_as_often_when_another_axis_differs(draws: np.ndarray) -> None:
    design = sweep.load(study(count=3 * ROWS, axes={"c": {"distribution": "uniform", "from": 1.0, "to": 2.0}})).design
    counts = np.unique(np.round(design.points(0, design.count).columns["mu"], 12), return_counts=True)[1]
    assert counts.tolist() == [3] * len(draws)
    with pytest.raises(ConfigError, match=r"sweep\.count: 180 draws of 60 would repeat points: must be <= 60 \(rows of draws\.csv\)"):
        sweep.load(study(count=3 * ROWS))


def test_units_are_those_of_the_metadata_of_parquet(draws: np.ndarray) -> None:
    fields = [pa.field("mu", pa.float64(), metadata={"unit": "1"}), pa.field("a0", pa.float64(), metadata={"unit": "mm/s^2"})]
    pq.write_table(pa.table([draws[:, 0], 1e3 * draws[:, 1]], schema=pa.schema(fields)), "draws.parquet")
    config = sweep.load(study(file="draws.parquet"))
    assert pairs(config.design.points(0, ROWS)) == pairs(sweep.load(study()).design.points(0, ROWS))
    wrong = [fields[0], pa.field("a0", pa.float64(), metadata={"unit": "kg"})]
    pq.write_table(pa.table([draws[:, 0], draws[:, 1]], schema=pa.schema(wrong)), "draws.parquet")
    with pytest.raises(ConfigError, match=r"'kg', as the metadata says, is no unit of a0: write one such as m/s\^2"):
        sweep.load(study(file="draws.parquet"))


def test_nodes_of_a_table_are_joined() -> None:
    header = "k_n,post_stiffness[1],post_stiffness[0] [N/mm],post_set [mm]"
    Path("wall.csv").write_text(f"{header}\n1e3,2e7,1e4,60;70\n2e3,4e7,3e4,60;80\n")
    document = {"study": {"model": "buckling_wall"}, "parameters": {"v0": 1.0}, "time": {"end": 1.0}}
    sweep_keys = {"design": "posterior", "file": "wall.csv"}
    design = sweep.load({**document, "sweep": sweep_keys}).design
    columns = design.points(0, 2).columns
    order = np.argsort(columns["k_n"])
    assert columns["post_stiffness"][order] == pytest.approx(np.array([[1e7, 2e7], [3e7, 4e7]]))
    assert columns["post_set"][order] == pytest.approx(np.array([[0.06, 0.07], [0.06, 0.08]]))
    with pytest.raises(ConfigError, match=r"column post_stiffness\[0\]: missing: the nodes of a table start at 0"):
        sweep.load({**document, "sweep": {**sweep_keys, "columns": ["k_n", "post_set", "post_stiffness[1]"]}})


def test_columns_chooses_parameters() -> None:
    config = sweep.load(study(columns=["mu"], axes={"a0": [1.0, 2.0]}))
    assert config.swept == ["a0", "mu"]
    assert sweep.load(config.document).digest == config.digest


def test_a_study_is_identified_by_what_its_file_holds(tmp_path: Path) -> None:
    config = sweep.load(study(count=10))
    assert config.document["sweep"] == {"design": "posterior", "file": str(Path("draws.csv").resolve()), "count": 10, "seed": 1}
    assert sweep.load(config.document).digest == config.digest
    (tmp_path / "copy.csv").write_text(Path("draws.csv").read_text())
    assert sweep.load(study(count=10, file=str(tmp_path / "copy.csv"))).digest == config.digest
    assert sweep.load(study(count=10, seed=2)).digest != config.digest
    Path("draws.csv").write_text(Path("draws.csv").read_text().replace("-5.5", "-5.25"))
    assert sweep.load(study(count=10)).digest != config.digest


def test_it_follows_other_designs_and_precedes_them() -> None:
    parts = [{"axes": {"mu": [0.1, 0.3]}}, {"design": "posterior", "file": "draws.csv", "count": 5}]
    config = sweep.load({"parameters": {"omega": 10.0, "a0": 4.0}, "time": {"end": 1.0}, "sweep": parts})
    columns = config.design.points(0, 7).columns
    assert columns["a0"][:2].tolist() == [4.0, 4.0]
    assert len({*columns["a0"].tolist()}) == 6


@pytest.mark.parametrize(
    ("keys", "table", "message"),
    [
        ({"file": None}, "", r'sweep\.file: missing: design "posterior" needs the CSV or Parquet file of its draws'),
        ({}, "mu,sigma\n0.1,2\n", r"column sigma: unknown parameter.*sweep\.columns chooses the columns that are read"),
        ({}, "mu\n0.1\n\nnan\n", r"column mu, row 2: a draw must have a finite number"),
        ({}, "mu\n0.1\n-0.2\n", r"column mu, row 2: -0\.2 is out of bounds: must be >= 0"),
        ({}, "chain,draw\n0,1\n", r"bad\.csv has no column of a parameter"),
        ({"columns": ["nu"]}, "mu,a0\n0.1,1\n", r"sweep\.columns: 'nu' is no column of the file; did you mean 'mu'"),
        ({"axes": {"mu": [0.1]}}, "mu,a0\n0.1,1\n", r"sweep\.axes\.mu: given twice: bad\.csv has a column of it"),
        ({"count": 0}, "mu\n0.1\n", r"sweep\.count: 0 is out of bounds: must be >= 1"),
        ({"seed": -1}, "mu\n0.1\n", r"sweep\.seed: -1 is out of bounds"),
        ({"correlations": [["mu", "a0", 0.5]]}, "mu\n0.1\n", r"sweep\.correlations: belongs to design = "),
        ({"design": "sobol", "count": 4, "axes": {"mu": [0.1]}}, "mu\n0.1\n", r'a file needs design = "table" or "posterior"'),
        ({}, "mu\n", r"has no rows: 0 points"),
    ],
)
def test_messages(keys: dict[str, Any], table: str, message: str) -> None:
    Path("bad.csv").write_text(table)
    asked = {key: value for key, value in study(**{"file": "bad.csv", **keys})["sweep"].items() if value is not None}
    with pytest.raises(ConfigError) as caught:
        sweep.load({**study(), "sweep": asked})
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


def test_coordinates_are_ranks() -> None:
    config = sweep.load(study(axes={"omega": [8.0, 9.0]}))
    cube = np.stack(config.design.coordinates(0, config.design.count), axis=1)
    points = config.design.points(0, config.design.count).columns
    for place, name in enumerate(["omega", "mu", "a0"]):
        assert stats.spearmanr(cube[:, place], points[name])[0] == pytest.approx(1.0)
    assert ((cube > 0.0) & (cube < 1.0)).all()


def test_the_noise_of_a_calibration_is_no_parameter_of_the_study(draws: np.ndarray) -> None:
    fields = [pa.field("mu", pa.float64()), pa.field("noise", pa.float64(), metadata={"role": "noise"})]
    pq.write_table(pa.table([draws[:, 0], draws[:, 1]], schema=pa.schema(fields)), "draws.parquet")
    assert sweep.load(study(file="draws.parquet")).swept == ["mu"]
    Path("broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r"sweep\.file: cannot read \S*broken\.parquet"):
        sweep.load(study(file="broken.parquet"))
    with pytest.raises(ConfigError, match=r"sweep\.file: cannot read \S*none\.parquet: No such file"):
        sweep.load(study(file="none.parquet"))
