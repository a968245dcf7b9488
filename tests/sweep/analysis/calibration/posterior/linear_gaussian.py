"""A problem whose posterior is known in closed form: a straight line through noisy numbers with normal priors."""

import numpy as np

from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.design.priors import Sampled

MEANS, SPREADS = np.array([1.0, -2.0]), np.array([2.0, 3.0])


class Line:
    """Numbers y = a + b x + noise of a known standard deviation."""

    def __init__(self, x, y, sd):
        self.x, self.y, self.sd = x, y, sd
        self.design = np.column_stack([np.ones_like(x), x])

    def log(self, values):
        residuals = self.residuals(values)
        return -0.5 * np.sum(residuals**2, axis=1) - len(self.y) * np.log(self.sd * np.sqrt(2.0 * np.pi))

    def with_gradient(self, values):
        slopes = -np.sum(self.residuals(values)[:, :, np.newaxis] * self.design, axis=1) / self.sd
        return self.log(values), slopes

    def residuals(self, values):
        # row by row: a product of matrices would depend on how many rows there are
        return (np.sum(values[:, np.newaxis, :] * self.design, axis=2) - self.y) / self.sd

    def posterior(self):
        """Mean and covariance, by the normal equations."""
        precision = self.design.T @ self.design / self.sd**2 + np.diag(SPREADS**-2.0)
        covariance = np.linalg.inv(precision)
        return covariance @ (self.design.T @ self.y / self.sd**2 + MEANS / SPREADS**2), covariance


def line(seed=1, count=20, sd=0.5):
    """The likelihood and its problem; the bounds are 20 standard deviations of the priors away."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 3.0, count)
    likelihood = Line(x, 0.5 + 1.5 * x + sd * rng.standard_normal(count), sd)
    numbers = [
        Sampled(name, "N", mean - 20.0 * std, mean + 20.0 * std, False, "normal", (("mean", mean), ("std", std)))
        for name, mean, std in zip(("a", "b"), MEANS.tolist(), SPREADS.tolist(), strict=True)
    ]
    return likelihood, Problem(numbers, likelihood)
