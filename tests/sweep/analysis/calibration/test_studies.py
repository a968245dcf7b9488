"""Calibrations of the wall that buckles and of the shoe: exact data give the parameters back from far away."""

from __future__ import annotations

import importlib.util
import itertools
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, fit
from tribosweep.sweep.analysis.calibration.optima import optima_of
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import fit_uncertainty

pytestmark = [pytest.mark.long, pytest.mark.slow]
CONFIGS = Path(__file__).parents[4] / "configs"
FACTOR = 3.0


def synthetic() -> Any:
    """The script that makes the data of the studies."""
    spec = importlib.util.spec_from_file_location("synthetic", CONFIGS / "data" / "synthetic.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wall(folder: Path) -> tuple[System, np.ndarray]:
    """The wall of configs/calibrate_wall.toml with exact data, and what must be found."""
    made = synthetic()
    made.drops(0.0, 1).to_csv(folder / "drops.csv", index=False, float_format="%.17g")
    bounds = [f'calibration.free.{name}={{ from = {low}, to = {high}, scale = "log" }}' for name, low, high in
              (("k_n", 0.15, 7.0), ("f_crit", 0.15, 7.0), ("f_post", 0.08, 3.5))]  # fmt: skip
    found = load.load(CONFIGS / "calibrate_wall.toml", [f"calibration.data={folder}/drops.csv", *bounds])
    truth = np.array([*(made.WALL[name] for name in ("k_n", "f_crit", "f_post")), *made.WALL["post_stiffness"]])
    return System(found.config, found.space, found.data), truth


def test_a_wall_is_found_from_starts_that_are_off_by_a_factor_of_three_as_scipy_finds_it(tmp_path: Path) -> None:
    system, truth = wall(tmp_path)
    space = system.space
    corners = truth * FACTOR ** np.array(list(itertools.product((-1.0, 1.0), repeat=len(truth))))
    corners = corners[system.admissible(corners)]
    starts = space.coordinates(corners[:: max(1, len(corners) // 12)][:12])
    fits = fit(system, starts)
    best = optima_of(fits, system)[0]
    assert len(best.lanes) >= len(starts) // 2
    assert space.values(best.coordinates) == pytest.approx(truth, rel=1e-6)
    assert space.values(fits.coordinates[best.lanes]) == pytest.approx(np.tile(truth, (len(best.lanes), 1)), rel=1e-6)
    known = fit_uncertainty(space, best.coordinates, fits.point.jacobian[best.lanes[0]], best.chi2, known=True, level=0.95)
    assert known.identifiable.all()
    # with noise, and differences in place of derivatives
    rng = np.random.default_rng(4)
    noisy = system.data.measured + system.data.spread * rng.standard_normal(system.data.count)
    near = space.coordinates(truth * np.array([1.05, 1.02, 0.95, 1.1, 0.95, 1.05, 0.95]))
    mine = fit(system, near[np.newaxis], noisy[np.newaxis])
    assert mine.outcome.tolist() == [CONVERGED]
    other = optimize.least_squares(
        lambda u: system.at(u[np.newaxis], noisy[np.newaxis]).residuals[0], near, xtol=1e-12, ftol=1e-12, gtol=1e-12
    )
    assert 0.5 * mine.chi2[0] == pytest.approx(other.cost, rel=1e-6)
    assert mine.coordinates[0] == pytest.approx(other.x, abs=1e-3 * known.sd.min())


def test_stiffness_and_damping_of_a_shoe_are_found_from_its_displacement(tmp_path: Path) -> None:
    made = synthetic()
    for name, trace in made.shakes(0.0, 1).items():
        trace.iloc[::4].to_csv(tmp_path / f"{name}.csv", index=False, float_format="%.17g")
    study = tomllib.loads((CONFIGS / "calibrate_friction.toml").read_text())
    for trace, name in zip(study["calibration"]["traces"], made.SHAKES, strict=True):
        trace["file"] = str(tmp_path / f"{name}.csv")
    found = load.load(study)
    system, space = System(found.config, found.space, found.data), found.space
    truth = np.array([made.SHOE[name] for name in space.names])
    factors = np.array([[2.0, 0.5, 1.5], [0.5, 2.0, 0.7], [3.0, 1.5, 1.2], [0.4, 0.5, 1.0], [1.5, 3.0, 0.8], [0.8, 0.4, 1.4]])
    fits = fit(system, space.coordinates(truth * factors))
    best = optima_of(fits, system)[0]
    assert len(best.lanes) >= 3
    assert space.values(best.coordinates) == pytest.approx(truth, rel=1e-6)
