"""Sensitivity indices: Sobol's from Saltelli's groups, Morris's elementary effects, FAST and RBD-FAST.

Sobol's indices use the estimators and the bootstrap samples of `SALib.analyze.sobol` but are computed here, because SALib would copy every
column a hundred times. Tests compare them with SALib's to rounding. The other indices are SALib's.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tribosweep.sweep.analyses.sensitivity.estimates import Estimate, around, factor_of, means, resampled
from tribosweep.sweep.io.errors import ConfigError, Problem

LEAST_SECOND = 64  # fewest groups: with fewer, a second-order interval is wider than the range of the index
RBD_HARMONICS = 10
LEAST_RBD = 4 * RBD_HARMONICS + 4  # rows: a bootstrap sample has half of them, and its spectrum more lines than there are harmonics
RBD_ROWS = 10_000_000  # most rows that RBD-FAST sorts in all its resamples


def sobol(names: Sequence[str], values: np.ndarray, second_order: bool, resamples: int, level: float, seed: int) -> list[Estimate]:
    """Compute first-order and total indices and, from at least LEAST_SECOND groups, second-order indices.

    Args:
        names: names of the d parameters.
        values: (n, d + 2) or, with `second_order`, (n, 2 d + 2) values of an observable in n groups, ordered as `Saltelli` says.
        second_order: whether the groups have the rows for second-order indices.
        resamples, level, seed: bootstrap; half an interval is the multiple of the bootstrap standard deviation that belongs to `level`.

    Returns:
        S1 and ST of every parameter, then S2 of every pair. Estimators of S1 and ST: Saltelli et al., Computer Physics Communications 181
        (2010), table 2 (b) and (f). Estimator of S2: Saltelli, Computer Physics Communications 145 (2002).
    """
    d = len(names)
    values = (values - values.mean()) / values.std()
    a, b = values[:, 0], values[:, -1]
    crossed = [values[:, 1 + j] for j in range(d)]
    pairs = [(j, k) for j in range(d) for k in range(j + 1, d)] if second_order and len(values) >= LEAST_SECOND else []
    columns = [a + b, a * a + b * b, a * b, *(b * (ab - a) for ab in crossed), *(0.5 * (a - ab) ** 2 for ab in crossed)]
    columns += [values[:, 1 + d + j] * crossed[k] for j, k in pairs]
    plain, again = means(columns, resampled(len(values), resamples, seed))

    def indices(moments: np.ndarray) -> np.ndarray:
        variance = 0.5 * moments[..., 1] - (0.5 * moments[..., 0]) ** 2
        found = moments[..., 3:] / variance[..., np.newaxis]
        for place, (j, k) in enumerate(pairs):
            found[..., 2 * d + place] -= moments[..., 2] / variance + found[..., j] + found[..., k]
        return np.asarray(found)

    halves = factor_of(level) * indices(again).std(axis=0, ddof=1)
    found = list(zip(indices(plain), halves, strict=True))
    first = [around("S1", *found[j], name) for j, name in enumerate(names)]
    total = [around("ST", *found[d + j], name) for j, name in enumerate(names)]
    return [*first, *total, *(around("S2", *found[2 * d + i], names[j], names[k]) for i, (j, k) in enumerate(pairs))]


def morris(
    names: Sequence[str], coordinates: np.ndarray, values: np.ndarray, levels: int, resamples: int, level: float, seed: int
) -> list[Estimate]:
    """Compute mu*, mu and sigma of the elementary effects by SALib, in the observable's unit per whole range of a parameter.

    Args:
        names: names of the d parameters.
        coordinates: (n (d + 1), d) in the unit cube. values: (n (d + 1),) of an observable along n trajectories.
        levels: number of levels of the design. resamples, level, seed: bootstrap samples and level of the intervals.
    """
    analyze = salib("morris").analyze
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    found = analyze(problem, coordinates, values, num_resamples=resamples, conf_level=level, num_levels=levels, seed=seed)
    star = [around("mu_star", found["mu_star"][j], found["mu_star_conf"][j], name) for j, name in enumerate(names)]
    mean = [Estimate("mu", float(found["mu"][j]), parameter=name) for j, name in enumerate(names)]
    return [*star, *mean, *(Estimate("sigma", float(found["sigma"][j]), parameter=name) for j, name in enumerate(names))]


def fast(names: Sequence[str], values: np.ndarray, harmonics: int) -> list[Estimate]:
    """Compute first-order and total indices of extended FAST by SALib; NaN for a parameter whose curve has a NaN.

    They have no interval: the one of SALib, from pieces of a curve, is known to be unreliable (SALib issue 649), as SALib itself states.

    Args:
        names: names of the d parameters. values: (d, n) of an observable along their curves. harmonics: number that the design sets.
    """
    compute = salib("fast").compute_orders
    count = values.shape[1]
    frequency = math.floor((count - 1) / (2 * harmonics))
    found = [compute(curve, count, harmonics, frequency) if np.isfinite(curve).all() else (math.nan, math.nan) for curve in values]
    return [
        Estimate(measure, float(found[j][place]), parameter=name)
        for place, measure in enumerate(("S1", "ST"))
        for j, name in enumerate(names)
    ]


def rbd_fast(names: Sequence[str], coordinates: np.ndarray, values: np.ndarray, resamples: int, level: float, seed: int) -> list[Estimate]:
    """Compute first-order indices of RBD-FAST from any sample by SALib, with ten harmonics and bias correction.

    SALib's bootstrap samples have half as many rows, so its intervals are somewhat wide. Their number is at most RBD_ROWS / n. The
    interval is NaN if a bootstrap sample is constant, as where one row alone differs.

    Args:
        names: names of the d parameters. coordinates: (n, d) in the unit cube. values: (n,) of an observable.
        resamples, level, seed: bootstrap samples and level of the intervals.
    """
    analyze = salib("rbd_fast").analyze
    problem = {"num_vars": len(names), "names": list(names)}
    fewer = max(10, min(resamples, RBD_ROWS // len(values)))
    with np.errstate(invalid="ignore"):  # a bootstrap sample may be constant; then there is no interval
        found = analyze(problem, coordinates, values, M=RBD_HARMONICS, num_resamples=fewer, conf_level=level, seed=seed)
    return [around("S1", found["S1"][j], found["S1_conf"][j], name) for j, name in enumerate(names)]


def salib(method: str) -> Any:
    """Import a module of SALib.analyze; ConfigError if SALib is not installed."""
    try:
        __import__(f"SALib.analyze.{method}")
    except ModuleNotFoundError as error:
        message = "these indices need SALib, which is not installed: pip install 'tribosweep[sensitivity]'"
        raise ConfigError("tribosweep sensitivity", [Problem("", message)]) from error
    return sys.modules[f"SALib.analyze.{method}"]
