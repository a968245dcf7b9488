"""How often 90 % intervals contain the true parameters: those of draws by NUTS, and those of the fit.

    python benchmarks/posterior_coverage.py calibrate_loop 100
    python benchmarks/posterior_coverage.py calibrate_wall 100

Each replicate is what the study would have measured if its fitted values were the truth: the computed numbers with new noise of the
stated standard deviations. Priors are those of the study.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from scipy import stats

from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, fit
from tribosweep.sweep.analysis.calibration.optima import starts_of
from tribosweep.sweep.analysis.calibration.posterior import diagnostics, nuts
from tribosweep.sweep.analysis.calibration.posterior.analysis import laplace, numbers_of
from tribosweep.sweep.analysis.calibration.posterior.likelihood import NormalErrors
from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import fit_uncertainty

LEVEL = 0.9
SETTINGS = nuts.NutsSettings(chains=2, warmup=60, draws=150)


def main(study: str, replicates: int) -> None:
    """Print coverages after each replicate, and at the end as JSON."""
    found = load.load(study)
    system, space, data = System(found.config, found.space, found.data), found.space, found.data
    first = fit(system, starts_of(system, found.starts, found.seed))
    truth = first.coordinates[int(np.argmin(first.chi2))]
    computed = system.at(truth[np.newaxis]).predicted[0]
    rng = np.random.default_rng(1)
    measured = np.where(np.isfinite(computed), computed, 0.0) + data.spread * rng.standard_normal((replicates, data.count))
    fits = fit(system, np.tile(truth, (replicates, 1)), measured)
    n = len(space.names)
    inside = {"draws": np.zeros((0, n), bool), "fit": np.zeros((0, n), bool)}
    worst_rhat, least_ess, divergences, widths, begun = 0.0, np.inf, 0, [], time.monotonic()
    for number in np.flatnonzero(fits.outcome == CONVERGED).tolist():
        problem = Problem(numbers_of(found), NormalErrors(system, not found.known, measured[number]))
        known = fit_uncertainty(space, fits.coordinates[number], fits.point.jacobian[number], float(fits.chi2[number]), found.known, LEVEL)
        centre, covariance = laplace(problem, space.values(fits.coordinates[number]), fits.point.jacobian[number], space)
        drawn = nuts.sample(problem, centre[np.newaxis], covariance, SETTINGS)
        values = problem.values(drawn.coordinates)
        low, high = np.quantile(values.reshape(-1, n), [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=0)
        true = space.values(truth)
        inside["draws"] = np.vstack([inside["draws"], (low <= true) & (true <= high)])
        inside["fit"] = np.vstack([inside["fit"], (known.low <= true) & (true <= known.high)])
        table = diagnostics.summary(drawn.coordinates)
        worst_rhat, least_ess = max(worst_rhat, table.rhat.max()), min(least_ess, table.bulk.min(), table.tail.min())
        divergences += int(drawn.diverging.sum())
        widths.append((high - low) / (known.high - known.low))
        line = ", ".join(f"{name} {each.mean():.3f}" for name, each in inside.items())
        print(f"{len(inside['fit'])} of {replicates}: {line}; {time.monotonic() - begun:.0f} s", flush=True)
    done = len(inside["fit"])
    for name, each in inside.items():
        print(name, json.dumps(dict(zip(space.names, each.mean(axis=0).round(3).tolist(), strict=True))))
    ends = stats.binom.ppf([0.025, 0.975], done, LEVEL) / done
    print(
        f"expected between {ends[0]:.2f} and {ends[1]:.2f} (95 %); widths of draws over those of the fit {np.mean(widths, axis=0).round(3)}"
    )
    print(f"worst R-hat {worst_rhat:.3f}, least effective sample size {least_ess:.0f} of {SETTINGS.chains * SETTINGS.draws}, "
          f"{divergences} divergences, {replicates - done} fits did not converge")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
