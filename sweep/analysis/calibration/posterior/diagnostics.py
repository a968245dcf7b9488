"""Convergence of chains by ArviZ: rank-normalised R-hat, bulk and tail effective sample sizes.

Source: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner, Bayesian Analysis 16 (2021), 667-718.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.sweep.analysis.calibration.posterior.draws import Draws
from tribosweep.sweep.io.errors import ConfigError, Problem

MOST_RHAT = 1.01
LEAST_EFFECTIVE = 100  # of a chain
TAILS = (0.05, 0.95)  # quantiles whose effective sample sizes are those of the tails: Vehtari et al., and the default of ArviZ before 1


@dataclass(frozen=True, slots=True)
class Convergence:
    """Diagnostics of (p,) sampled numbers.

    Attributes:
        rhat: rank-normalised R-hat; 1 where chains agree. bulk, tail: effective sample sizes. mcse: Monte Carlo error of the mean.
    """

    rhat: np.ndarray
    bulk: np.ndarray
    tail: np.ndarray
    mcse: np.ndarray


def arviz() -> Any:
    """The module ArviZ.

    Raises:
        ConfigError: it is missing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # it announces its next version
            import arviz as found
    except ModuleNotFoundError as error:
        if error.name != "arviz":
            raise
        message = "diagnostics of draws need arviz, which is not installed: pip install 'tribosweep[posterior]'"
        raise ConfigError("tribosweep calibrate", [Problem("--posterior", message)]) from None
    return found


def inference_data(draws: Draws) -> Any:
    """Draws in ArviZ's form: group posterior, a variable for each sampled number, with its unit.

    The form is xarray's DataTree since ArviZ 1, and InferenceData before.
    """
    az = arviz()
    by_chain = draws.by_chain()
    groups = {"posterior": {name: by_chain[:, :, place] for place, name in enumerate(draws.names)}}
    found = az.from_dict(**groups) if az.__version__.startswith("0.") else az.from_dict(groups)
    for name, unit in zip(draws.names, draws.units, strict=True):
        found.posterior[name].attrs["units"] = unit
    return found


def summary(by_chain: np.ndarray) -> Convergence:
    """Diagnostics of draws (chains, draws, p)."""
    az = arviz()
    each = [np.ascontiguousarray(by_chain[:, :, place]) for place in range(by_chain.shape[2])]
    return Convergence(
        np.array([float(az.rhat(one, method="rank")) if len(one) > 1 else np.nan for one in each]),
        np.array([float(az.ess(one, method="bulk")) for one in each]),
        np.array([float(az.ess(one, method="tail", prob=TAILS)) for one in each]),
        np.array([float(one.std(ddof=1) / np.sqrt(az.ess(one, method="mean"))) for one in each]),
    )
