"""Fragility of walls that a mass hits, against its closed form.

Without damping and excitation the wall buckles where the energy m v0^2 / 2 exceeds f_crit^2 / (2 k_n), so where v0 > f_crit / sqrt(m k_n).
With lognormal f_crit and k_n the fragility over v0 is lognormal; theta and beta follow from their medians and logarithmic deviations. The
largest force of a wall that does not buckle is v0 sqrt(m k_n).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest

from tribosweep import sweep
from tribosweep.sweep import ConfigError
from tribosweep.sweep.analyses.fragility import ANALYSIS
from tribosweep.sweep.analyses.fragility.curves import analyse
from tribosweep.sweep.analyses.fragility.result import Fragility

pytestmark = pytest.mark.slow  # its programs take half a minute to compile

OF_FORCE, OF_STIFFNESS = math.sqrt(math.log(1.0 + 0.3**2)), math.sqrt(math.log(1.0 + 0.2**2))  # deviations of the logarithms
MEDIAN_FORCE, MEDIAN_STIFFNESS = math.exp(-0.5 * OF_FORCE**2), math.exp(-0.5 * OF_STIFFNESS**2)
THETA, BETA = MEDIAN_FORCE / math.sqrt(MEDIAN_STIFFNESS), math.hypot(OF_FORCE, 0.5 * OF_STIFFNESS)
K_N = {"distribution": "log_normal", "mean": 1.0, "std": 0.2}
F_CRIT = {"distribution": "log_normal", "mean": 1.0, "std": 0.3}
V0 = {"distribution": "log_uniform", "from": 0.4, "to": 2.5}


def document(sections: dict[str, Any], **parameters: float) -> dict[str, Any]:
    """A study of walls."""
    known = {"k_post": 1.0, "f_post": 0.05, **parameters}
    return {"study": {"model": "buckling_wall", "name": "walls"}, "parameters": known, "time": {"end": 4.0}, "sweep": sections}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 random walls at random speeds."""
    directory = tmp_path_factory.mktemp("fragility") / "sample"
    axes = {"v0": V0, "k_n": K_N, "f_crit": F_CRIT}
    sweep.run(document({"design": "latin_hypercube", "count": 2000, "seed": 2, "axes": axes}), directory)
    return directory


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine walls, each at sixteen speeds and with two stiffnesses."""
    directory = tmp_path_factory.mktemp("fragility") / "grid"
    forces = [0.55, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.8]
    sweep.run(document({"axes": {"v0": {"from": 0.25, "to": 4.0, "count": 16}, "f_crit": forces, "k_n": [1.0, 2.25]}}), directory)
    return directory


def ask(path: Path, event: str = "buckled=1", intensity: str = "v0", **more: Any) -> Fragility:
    """Analyse a run."""
    return analyse(path, ANALYSIS.read({"event": event, "intensity": intensity, **more}))


@pytest.mark.long_cases("profile")
@pytest.mark.parametrize("interval", ["profile", "delta", "bootstrap"])
def test_walls_have_the_lognormal_fragility_of_the_energy(sample: Path, interval: str) -> None:
    (curve,) = ask(sample, interval=interval, resamples=200, confidence=0.99).curves
    rows = pq.ParquetDataset(sample / "points").read().to_pandas()
    hit = rows["v0"] * np.sqrt(rows["k_n"]) > rows["f_crit"]
    assert (curve.rows, curve.events, curve.groups) == (2000, int(hit.sum()), 2000)
    assert curve.fit is not None
    assert curve.intervals is not None
    assert curve.intervals.theta[0] < THETA < curve.intervals.theta[1]
    assert curve.intervals.beta[0] < BETA < curve.intervals.beta[1]
    assert curve.intervals.theta[1] - curve.intervals.theta[0] < 0.1
    assert curve.fit.theta == pytest.approx(THETA, rel=0.04)
    assert (curve.intervals.low <= curve.fit.chance(curve.grid)).all()
    assert (curve.intervals.high >= curve.fit.chance(curve.grid)).all()


def test_counted_points_have_the_interval_of_clopper_and_pearson(sample: Path) -> None:
    (curve,) = ask(sample).curves
    points = curve.points
    assert points.rows.sum() == 2000
    assert points.events.sum() == curve.events
    rows = pq.ParquetDataset(sample / "points").read(["v0", "buckled"]).to_pandas()
    for place in range(len(points.rows)):
        inside = rows[(rows["v0"] >= points.start[place]) & (rows["v0"] <= points.stop[place])]
        assert (len(inside), int(inside["buckled"].sum())) == (points.rows[place], points.events[place])
        known = binomtest(int(points.events[place]), int(points.rows[place])).proportion_ci(0.95)
        assert (points.low[place], points.high[place]) == pytest.approx((known.low, known.high), abs=1e-9)
        assert points.start[place] <= points.intensity[place] <= points.stop[place]


def test_the_cloud_of_elastic_peak_forces_has_its_closed_form(tmp_path: Path) -> None:
    axes = {"v0": V0, "k_n": K_N, "f_crit": {"from": 50.0, "to": 60.0}}  # the same program as that of `sample`
    sweep.run(document({"design": "latin_hypercube", "count": 2000, "axes": axes}), tmp_path / "run")
    (curve,) = ask(tmp_path / "run", "peak_force > 1.5e-3 kN", method="cloud").curves
    assert curve.interval == "delta"
    assert curve.fit is not None
    assert curve.intervals is not None
    assert curve.line is not None
    assert curve.line.slope == pytest.approx(1.0, abs=0.02)
    assert curve.intervals.theta[0] < 1.5 / math.sqrt(MEDIAN_STIFFNESS) < curve.intervals.theta[1]
    assert curve.intervals.beta[0] < 0.5 * OF_STIFFNESS < curve.intervals.beta[1]
    (wider,) = ask(tmp_path / "run", "peak_force > 1.5 N", method="cloud", capacity_beta=0.3).curves
    assert wider.fit is not None
    assert wider.fit.beta == pytest.approx(math.hypot(curve.line.spread, 0.3) / curve.line.slope, rel=1e-12)
    assert wider.fit.theta == pytest.approx(curve.fit.theta, rel=1e-12)


@pytest.mark.slow
def test_each_wall_that_is_hit_harder_and_harder_buckles_between_two_speeds(grid: Path) -> None:
    found = ask(grid, over=("f_crit",), by="k_n", method="incremental")
    assert [curve.label for curve in found.curves] == [{"k_n": 1.0}, {"k_n": 2.25}]
    logs = np.log([0.55, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.8])
    for curve, k_n in zip(found.curves, (1.0, 2.25), strict=True):
        assert curve.fit is not None
        assert (curve.interval, curve.groups, curve.rows) == ("profile", 9, 144)
        assert curve.fit.theta == pytest.approx(math.exp(logs.mean()) / math.sqrt(k_n), rel=0.05)  # steps of 0.25 m/s
        assert curve.fit.beta == pytest.approx(logs.std(), rel=0.15)
    assert not found.notes


def test_rows_that_share_a_wall_are_drawn_together(grid: Path) -> None:
    found = ask(grid, over=("f_crit",), at=("k_n=1.0",))
    (curve,) = found.curves
    assert curve.interval == "bootstrap"
    assert found.rows.held == {"k_n": 1.0}
    assert curve.points.intensity == pytest.approx(np.linspace(0.25, 4.0, 16))
    assert (curve.points.rows == 9).all()
    assert any("says little" in note for note in found.notes)
    alone = ask(grid, over=("f_crit",), at=("k_n=1.0",), interval="profile")
    assert any("taken as independent" in note for note in alone.notes)


def test_an_observable_is_an_intensity_too_and_rows_without_one_are_counted(sample: Path) -> None:
    found = ask(sample, intensity="first_contact_velocity")
    assert found.curves[0].fit is not None
    assert found.curves[0].fit.theta == pytest.approx(THETA, rel=0.04)
    late = ask(sample, "wall_regime=elastic", intensity="buckling_time")
    (curve,) = late.curves
    assert curve.void == 2000 - curve.rows > 0
    assert curve.fit is None
    assert "in no row" in curve.reason
    assert any("left out" in note for note in late.notes)


def test_a_curve_that_does_not_fit_is_told(sample: Path) -> None:
    """Whatever the speed, the force of a wall never exceeds the one at which it buckles: its probability stays below one."""
    found = ask(sample, "peak_force > 1.1 N", method="cloud")
    assert found.curves[0].misfit < 1e-6
    assert any("read the counted probabilities" in note for note in found.notes)
    right = ask(sample)
    assert right.curves[0].misfit > 1e-3
    assert not right.notes


def test_separated_walls_have_points_and_a_reason_and_no_curve(grid: Path) -> None:
    found = ask(grid, at=("f_crit=1.1", "k_n=1.0"))
    assert not found.fitted
    assert found.notes == [f"no lognormal curve: {found.curves[0].reason}."]
    assert "separated between 1 and 1.25" in found.notes[0]
    (row,) = found.to_arrow("fits").to_pylist()
    assert (row["theta"], row["beta"], row["events"]) == (None, None, 12)
    assert found.to_arrow("curves").num_rows == 0
    json.dumps(found.facts(), allow_nan=False)


def test_the_tables_are_beside_the_points_with_units(grid: Path) -> None:
    found = ask(grid, over=("f_crit",), by="k_n", resamples=20)
    files = found.write(grid)
    assert [file.name for file in files] == ["fits.parquet", "points.parquet", "curves.parquet"]
    fits = pq.read_table(files[0])
    assert fits.schema.field("theta").metadata[b"unit"] == b"m/s"
    assert fits.column("by").to_pylist() == ["k_n = 1", "k_n = 2.25"]
    assert json.loads(fits.schema.metadata[b"request"])["event"] == "buckled = 1"
    curves = pq.read_table(files[2]).to_pandas()
    assert curves.groupby("curve").size().tolist() == [101, 101]
    assert sweep.open_run(grid).complete  # another folder does not disturb the run


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"intensity": "mu"}, "is the same in every row"),
        ({"intensity": "v_0"}, "did you mean 'v0'"),
        ({"intensity": "wall_regime"}, "is no number"),
        ({"event": "peak_force > 3 m"}, "cannot be converted to N"),
        ({"event": "peak_force > much"}, "finite number"),
        ({"over": ("v0",)}, "is the intensity"),
        ({"over": ("draw",)}, "is nothing that this run varies"),
        ({"by": "draw"}, "is nothing that this run varies"),
        ({"method": "incremental"}, "needs records or draws"),
        ({"method": "cloud"}, "above a limit > 0"),
        ({"method": "clouds"}, "did you mean 'cloud'"),
        ({"method": "cloud", "interval": "profile", "event": "peak_force>1"}, "no profile"),
        ({"interval": "wald"}, "'wald' is none"),
        ({"confidence": 1.0}, "> 0 and < 1"),
        ({"resamples": 1}, ">= 2"),
        ({"capacity_beta": 0.1}, "needs --method cloud"),
        ({"capacity_beta": -0.1, "method": "cloud"}, ">= 0"),
    ],
)
def test_a_question_that_has_no_answer_is_refused(sample: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(sample, **{"event": "buckled=1", "intensity": "v0", **more})
    assert said in str(caught.value)


def test_a_parameter_of_a_grid_must_have_a_place(grid: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(grid)
    assert "give each a curve with --by k_n" in str(caught.value)
    assert "say that they are random with --over f_crit" in str(caught.value)


def test_an_unknown_intensity_is_the_only_problem_and_measures_are_named_first(grid: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(grid, intensity="sa")
    (problem,) = caught.value.problems
    assert "Known: pga, pgv" in problem.message


@pytest.mark.long
@pytest.mark.slow
def test_a_hundred_thousand_walls_agree_with_the_closed_form(tmp_path: Path) -> None:
    """The rows of a Monte Carlo sample: they buckle where the energy says, and theta and beta are within their intervals."""
    rng = np.random.default_rng(4)
    count = 100_000
    points = {
        "v0": np.exp(rng.uniform(math.log(0.4), math.log(2.5), count)),
        "k_n": MEDIAN_STIFFNESS * np.exp(rng.normal(0.0, OF_STIFFNESS, count)),
        "f_crit": MEDIAN_FORCE * np.exp(rng.normal(0.0, OF_FORCE, count)),
    }
    pq.write_table(pa.table(points), tmp_path / "walls.parquet")
    study = document({"design": "table", "file": str(tmp_path / "walls.parquet")})
    sweep.run(study, tmp_path / "run")
    (curve,) = ask(tmp_path / "run").curves
    assert curve.rows == count
    assert curve.events == np.count_nonzero(points["v0"] * np.sqrt(points["k_n"]) > points["f_crit"])
    assert curve.fit is not None
    assert curve.intervals is not None
    assert curve.intervals.theta[0] < THETA < curve.intervals.theta[1]
    assert curve.intervals.beta[0] < BETA < curve.intervals.beta[1]
    assert curve.fit.theta == pytest.approx(THETA, rel=0.005)
    assert curve.fit.beta == pytest.approx(BETA, rel=0.015)
