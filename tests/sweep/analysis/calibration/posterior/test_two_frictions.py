"""The shoe of configs/calibrate_power.toml: two frictions explain one power. Their weights, means and evidence follow by quadrature.

The motion of a rigid shoe without a spring depends on mu alone, so that its power is m f(mu) with f computed on a fine grid.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tribosweep import kernels, sweep
from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.posterior.likelihood import NormalErrors
from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.analysis.calibration.posterior.smc import SmcSettings, sample
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.priors import Sampled, from_bounds

CONFIG = Path(__file__).parents[5] / "configs" / "calibrate_power.toml"
BETWEEN = 0.35  # of the two frictions
TEST = {"omega": 10.0, "a0": 8.0, "end": 12.0, "window_start": 6.0, "window_end": 12.0}


def by_quadrature(measured: np.ndarray, sd: float) -> tuple[float, np.ndarray, np.ndarray, float]:
    """The weight of the smaller friction, the means and standard deviations of mu in both modes, and the log evidence."""
    mu, m = np.linspace(0.02, 0.9, 3001), np.linspace(0.7, 1.3, 601)
    power = np.asarray(kernels.simulate("rubbing_mass", {**TEST, "mu": mu})["friction_power"])
    prior = stats.norm(1.0, 0.05)
    log = prior.logpdf(m) - math.log(prior.cdf(1.3) - prior.cdf(0.7)) - math.log(0.88)
    log = log + sum(stats.norm.logpdf(each, power[:, np.newaxis] * m, sd) for each in measured)
    density = np.trapezoid(np.exp(log), m)
    evidence = float(np.trapezoid(density, mu))
    masses, means, spreads = [], [], []
    for side in (mu < BETWEEN, mu >= BETWEEN):
        x, p = mu[side], density[side]
        masses.append(np.trapezoid(p, x))
        means.append(np.trapezoid(p * x, x) / masses[-1])
        spreads.append(math.sqrt(np.trapezoid(p * (x - means[-1]) ** 2, x) / masses[-1]))
    return masses[0] / evidence, np.array(means), np.array(spreads), math.log(evidence)


@pytest.mark.long
@pytest.mark.slow
def test_both_frictions_are_found_with_the_weights_of_quadrature() -> None:
    calibration = load.load(CONFIG)
    system = System(calibration.config, calibration.space, calibration.data)
    numbers = [from_bounds("mu", "1", 0.02, 0.9, False), Sampled("m", "kg", 0.7, 1.3, False, "normal", (("mean", 1.0), ("std", 0.05)))]
    problem = Problem(numbers, NormalErrors(system, False))
    found = sample(problem, SmcSettings(particles=250, chains=6, seed=2))
    weight, means, spreads, log_evidence = by_quadrature(calibration.data.measured, 0.02)
    assert 0.3 < weight < 0.7
    values = [problem.values(each.coordinates) for each in found.chains]
    weights = np.array([np.mean(each[:, 0] < BETWEEN) for each in values])
    assert weights.mean() == pytest.approx(weight, abs=3.5 * weights.std(ddof=1) / math.sqrt(6.0))
    assert weights.std(ddof=1) < 0.08
    assert found.log_evidence == pytest.approx(log_evidence, abs=3.5 * found.log_evidence_std)
    draws = np.concatenate(values)
    for side, mean, spread, sign in zip((draws[:, 0] < BETWEEN, draws[:, 0] >= BETWEEN), means, spreads, (-1.0, 1.0), strict=True):
        assert draws[side, 0].mean() == pytest.approx(mean, abs=0.25 * spread)
        assert draws[side, 0].std() == pytest.approx(spread, rel=0.2)
        assert sign * np.corrcoef(draws[side].T)[0, 1] > 0.8


@pytest.mark.long
@pytest.mark.slow
def test_the_command_writes_draws_that_a_study_takes(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["calibration.starts=1", "calibration.posterior={ particles = 100, chains = 2 }"]
    options = [each for change in few for each in ("--set", change)]
    assert main(["calibrate", str(CONFIG), "--out", "shoe", "--posterior", "smc", "--pairs", "pairs.png", *options]) == 0
    told = capsys.readouterr()
    assert "2 chains of 100 draws, tempered sequential Monte Carlo; ln evidence = " in told.out
    assert "Stages" in told.out
    assert "mu has 2 modes, around 0.2" in told.err or "mu has 2 modes, around 0.19" in told.err
    assert Path("pairs.png").stat().st_size > 10_000
    assert not list(Path("shoe").glob("smc_chain_*"))  # nothing has to go on
    study = sweep.load({"parameters": {"omega": 10.0, "a0": 8.0}, "sweep": {"design": "posterior", "file": "shoe/posterior.parquet"}})
    assert (study.swept, study.design.count) == (["mu", "m"], 200)
