"""The cost and accuracy of a calibration: `python benchmarks/calibration.py`, on the wall and the shoe of configs/calibrate_*.toml.

It fits exact data from starts that are off by a factor of three. It fits 200 noisy replicates as one batch, and counts how often their
intervals contain the truth. It compares with scipy's least_squares by finite differences of a program of values. Compile time is separate.
"""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize

from tribosweep.kernels import simulate
from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.fitting import fit
from tribosweep.sweep.analysis.calibration.optima import optima_of
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import fit_uncertainty

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
REPLICATES, LEVEL, PASSES = 200, 0.95, 5


def synthetic() -> Any:
    """The script that makes the data."""
    spec = importlib.util.spec_from_file_location("synthetic", CONFIGS / "data" / "synthetic.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(CONFIGS / "data" / "synthetic.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wall(made: Any) -> tuple[System, np.ndarray]:
    """The wall with exact data and wide bounds, and the parameters that must be found."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drops.csv"
        made.drops(0.0, 1).to_csv(file, index=False, float_format="%.17g")
        study = tomllib.loads((CONFIGS / "calibrate_wall.toml").read_text())
        study["calibration"]["data"] = str(file)
        for name, low, high in (("k_n", 0.15, 7.0), ("f_crit", 0.15, 7.0), ("f_post", 0.08, 3.5)):
            study["calibration"]["free"][name] = {"from": low, "to": high}
        found = load.load(study)
    truth = np.array([*(made.WALL[name] for name in ("k_n", "f_crit", "f_post")), *made.WALL["post_stiffness"]])
    return System(found.config, found.space, found.data), truth


def shoe(made: Any) -> tuple[System, np.ndarray]:
    """The shoe with exact traces, and the parameters that must be found."""
    with tempfile.TemporaryDirectory() as folder:
        study = tomllib.loads((CONFIGS / "calibrate_friction.toml").read_text())
        for trace, (name, table) in zip(study["calibration"]["traces"], made.shakes(0.0, 1).items(), strict=True):
            trace["file"] = f"{folder}/{name}.csv"
            table.to_csv(trace["file"], index=False, float_format="%.17g")
        found = load.load(study)
    return System(found.config, found.space, found.data), np.array([made.SHOE[name] for name in found.space.names])


def exact_data(name: str, system: System, truth: np.ndarray, factors: np.ndarray) -> None:
    """Fit exact data from distant starts, and print a line."""
    starts = system.space.coordinates(truth * factors)
    begun = time.perf_counter()
    system.at(starts[:1])
    compiling = time.perf_counter() - begun
    fit(system, np.broadcast_to(system.space.coordinates(truth), starts.shape))  # compiles the small program of the solver
    begun, used = time.perf_counter(), time.process_time()
    fits = fit(system, starts)
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    best = optima_of(fits, system)[0]
    error = np.abs(system.space.values(fits.coordinates[best.lanes]) / truth - 1.0).max()
    print(
        f"{name}: compiled in {compiling:.1f} s; {len(starts)} fits in {seconds:.2f} s ({used:.2f} s of CPU), {len(best.lanes)} of them at "
        f"the truth to {error:.1e}; the others: {sorted(set(fits.outcome[[i for i in range(len(starts)) if i not in best.lanes]]))}"
    )


def coverage(name: str, system: System, truth: np.ndarray) -> None:
    """Print how often intervals contain the truth."""
    rng = np.random.default_rng(2026)
    data, space = system.data, system.space
    noisy = data.measured + data.spread * rng.standard_normal((REPLICATES, data.count))
    at = space.coordinates(truth)
    begun = time.perf_counter()
    fits = fit(system, np.tile(at + 0.02, (REPLICATES, 1)), noisy)
    seconds = time.perf_counter() - begun
    held = []
    for lane in range(REPLICATES):
        known = fit_uncertainty(space, fits.coordinates[lane], fits.point.jacobian[lane], float(fits.chi2[lane]), known=True, level=LEVEL)
        held.append((known.low < truth) & (truth < known.high))
    covered = np.array(held)
    each = ", ".join(f"{free} {100.0 * share:.1f}" for free, share in zip(space.names, covered.mean(axis=0), strict=True))
    outcomes = {word: int(np.count_nonzero(fits.outcome == word)) for word in sorted(set(fits.outcome))}
    print(f"{name}: {REPLICATES} replicates in {seconds:.1f} s, {outcomes}: {100.0 * covered.mean():.1f} % covered ({each})")


def against_scipy(system: System, truth: np.ndarray) -> None:
    """Compare with fits by scipy, with finite differences of a program that computes only values."""
    import jax

    space, data = system.space, system.data
    rng = np.random.default_rng(5)
    columns, fixed = dict(system.columns), dict(system.constants)
    table = columns.pop("post_stiffness")

    @jax.jit
    def values(free: Any, columns: Any) -> Any:
        given = {**fixed, **columns, "k_n": free[0], "f_crit": free[1], "f_post": free[2]}
        found = simulate("buckling_wall", {**given, "post_stiffness": jax.numpy.broadcast_to(free[3:], table.shape)})
        return [found[name] for name in data.names]

    ratios, apart = [], []
    for _ in range(PASSES):
        noisy = data.measured + data.spread * rng.standard_normal(data.count)
        start = space.coordinates(truth * 1.1 ** rng.uniform(-1.0, 1.0, len(truth)))

        def residuals(u: np.ndarray, noisy: np.ndarray = noisy) -> np.ndarray:
            found = np.stack([np.asarray(each) for each in values(space.values(u), columns)], axis=1)[data.run, data.observable]
            return (np.where(np.isfinite(found), found, noisy + np.abs(noisy)) - noisy) / data.spread

        residuals(start)
        fit(system, start[np.newaxis], noisy[np.newaxis])
        begun = time.perf_counter()
        mine = fit(system, start[np.newaxis], noisy[np.newaxis])
        between = time.perf_counter()
        other = optimize.least_squares(residuals, start, xtol=1e-10, ftol=1e-10, gtol=1e-10)
        ratios.append((time.perf_counter() - between) / (between - begun))
        apart.append((float(np.abs(mine.coordinates[0] - other.x).max()), 2.0 * other.cost / float(mine.chi2[0]) - 1.0, other.nfev))
    print(f"scipy takes {statistics.median(ratios):.2f} times as long for one fit ({', '.join(f'{each:.2f}' for each in ratios)})")
    print("  apart in logarithms, chi^2 over ours less 1, evaluations:", "; ".join(f"{a:.1e}, {c:.1e}, {n}" for a, c, n in apart))


def main() -> None:
    """Print one line per measurement."""
    made = synthetic()
    system, truth = wall(made)
    corners = 3.0 ** np.array(list(itertools.product((-1.0, 1.0), repeat=len(truth))))
    corners = corners[system.admissible(truth * corners)]
    exact_data("wall", system, truth, corners[:: len(corners) // 12][:12])
    coverage("wall", system, truth)
    against_scipy(system, truth)
    slider, known = shoe(made)
    exact_data("shoe", slider, known, np.array([[a, b, c] for a in (0.5, 2.0) for b in (0.5, 2.0) for c in (0.7, 1.4)]))
    coverage("shoe", slider, known)


if __name__ == "__main__":
    main()
