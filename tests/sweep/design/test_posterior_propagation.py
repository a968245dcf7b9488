"""Draws of a posterior carried on to wear: quantiles against quadrature of the same posterior, and against independent marginals.

A rigid shoe moves by mu alone, so that its wear power is m w(mu) and its power of friction m f(mu). With a precise measurement of the
latter, m and mu are strongly correlated, in opposite senses for the two frictions that explain it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tribosweep import kernels, sweep

SHOE = {"omega": 10.0, "a0": 8.0, "end": 12.0, "window_start": 6.0, "window_end": 12.0}
MU, M = np.linspace(0.36, 0.62, 521), np.linspace(0.8, 1.2, 401)
LEVELS = (0.05, 0.5, 0.95)
DRAWS = 4000


def wear_of(table: pd.DataFrame, directory: Path) -> np.ndarray:
    """The wear powers of draws in a file."""
    table.to_csv("draws.csv", index=False)
    study = {
        "parameters": {"omega": SHOE["omega"], "a0": SHOE["a0"]},
        "time": {"end": 12.0, "window": [6.0, 12.0]},
        "sweep": {"design": "posterior", "file": "draws.csv"},
    }
    return sweep.run(study, directory).to_pandas()["wear_power"].to_numpy()


@pytest.mark.slow
def test_quantiles_of_wear_keep_the_correlation_of_the_draws(tmp_path: Path) -> None:
    found = kernels.simulate("rubbing_mass", {**SHOE, "mu": MU})
    power, wear = (np.asarray(found[name])[:, np.newaxis] * M for name in ("friction_power", "wear_power"))
    density = np.exp(stats.norm.logpdf(M, 1.0, 0.05) + stats.norm.logpdf(0.93, power, 0.014))
    weight = density / density.sum()
    order = np.argsort(wear, axis=None)
    exact = np.interp(LEVELS, np.cumsum(weight.ravel()[order]), wear.ravel()[order])
    rng = np.random.default_rng(4)
    cells = rng.choice(weight.size, DRAWS, p=weight.ravel())
    at_mu, at_m = np.unravel_index(cells, weight.shape)
    draws = pd.DataFrame({"mu": MU[at_mu], "m [kg]": M[at_m]})
    assert np.corrcoef(draws.T)[0, 1] > 0.9
    kept = wear_of(draws, tmp_path / "kept")
    parted = wear_of(draws.assign(mu=rng.permutation(draws["mu"])), tmp_path / "parted")
    for level, truth in zip(LEVELS, exact, strict=True):
        # the standard error of a quantile of a sample: sqrt(p (1 - p) / n) over the density there, from the slope of the quantiles
        slope = np.diff(np.quantile(kept, [level - 0.02, level + 0.02]))[0] / 0.04
        assert abs(np.quantile(kept, level) - truth) < 4.0 * slope * np.sqrt(level * (1.0 - level) / DRAWS) + 1e-3
    assert np.diff(np.quantile(parted, [0.05, 0.95])) > 2.0 * (exact[2] - exact[0])
