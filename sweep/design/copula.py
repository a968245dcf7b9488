"""Correlated parameters: a Gaussian copula over the coordinates of a plain sampling design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.design.distributions import LEAST, MOST

if TYPE_CHECKING:
    from tribosweep.sweep.design.axis import Axis

Correlation = tuple[str, str, float]


def matrix_of(names: list[str], correlations: tuple[Correlation, ...]) -> np.ndarray:
    """The (d, d) correlation matrix of the normal scores of the parameters `names`."""
    found = np.eye(len(names))
    for first, second, value in correlations:
        i, j = names.index(first), names.index(second)
        found[i, j] = found[j, i] = value
    return found


def correlate(axes: tuple[Axis, ...], correlations: tuple[Correlation, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """Turn independent (n,) coordinates in [0, 1), one array per axis, into coordinates with correlated normal scores.

    Each coordinate becomes its normal score. A Cholesky factor mixes the scores, which then become coordinates again. So every parameter
    keeps its distribution. The rank correlation (Spearman) of two parameters is (6 / pi) asin(r / 2). Sources: R. L. Iman and W. J.
    Conover, Communications in Statistics B 11 (1982), 311-334; R. B. Nelsen, An Introduction to Copulas (2006).
    """
    if not correlations:
        return coordinates
    from scipy.special import ndtr, ndtri

    involved = {name for first, second, _ in correlations for name in (first, second)}
    places = [place for place, axis in enumerate(axes) if axis.name in involved]
    factor = np.linalg.cholesky(matrix_of([axes[place].name for place in places], correlations))
    scores = [ndtri(np.clip(coordinates[place], LEAST, MOST)) for place in places]
    mixed = list(coordinates)
    for row, place in enumerate(places):  # term by term, so that a point does not depend on its block
        score = np.zeros_like(scores[0])
        for column in range(row + 1):
            score = score + factor[row, column] * scores[column]
        mixed[place] = np.minimum(ndtr(score), MOST)
    return mixed
