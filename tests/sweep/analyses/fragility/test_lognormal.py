"""Lognormal fits against a general optimiser, closed forms, and the number of times that intervals hold the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from tribosweep.sweep.analyses.fragility.cloud import Cloud, regress
from tribosweep.sweep.analyses.fragility.goodness import misfit
from tribosweep.sweep.analyses.fragility.intervals import by_bootstrap, by_delta, by_profile
from tribosweep.sweep.analyses.fragility.lognormal import Capacities, NoMaximumError, fit, rows_of

THETA, BETA = 1.3, 0.4
REPLICATES = 200
GRID = np.array([0.7, 1.0, 1.3, 2.0])


def drawn(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Whether rows at intensities have the event."""
    return rng.random(len(x)) < stats.norm.cdf(np.log(x / THETA) / BETA)


def least(negative: Any) -> np.ndarray:
    """Where a negative log-likelihood of (ln theta, ln beta) is least, by a general optimiser without derivatives of this package."""
    rough = optimize.minimize(negative, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000})
    return np.asarray(np.exp(rough.x))


@pytest.mark.parametrize("seed", range(5))
def test_rows_with_and_without_the_event_give_the_maximum_of_their_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(0.2, 0.7, 300))
    hit = drawn(rng, x)

    def negative(p: np.ndarray) -> float:
        return -float(np.sum(stats.norm.logcdf(np.where(hit, 1.0, -1.0) * (np.log(x) - p[0]) / np.exp(p[1]))))

    found = fit(rows_of(np.log(x), hit)[0])
    assert found.log_likelihood == pytest.approx(-negative(np.log([found.theta, found.beta])), rel=1e-12)
    assert [found.theta, found.beta] == pytest.approx(least(negative), rel=2e-7)
    a, b = found.intercept, found.slope  # the equations of the maximum: the weighted residuals vanish
    eta = a + b * np.log(x)
    rate = np.where(hit, stats.norm.pdf(eta) / stats.norm.cdf(eta), -stats.norm.pdf(eta) / stats.norm.sf(eta))
    assert abs(rate.sum()) < 1e-8
    assert abs(rate @ np.log(x)) < 1e-8


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_capacities_between_two_intensities_give_the_maximum_of_their_likelihood(unit: float) -> None:
    rng = np.random.default_rng(7)
    grid, capacity = np.log(unit * np.linspace(0.4, 2.0, 9)), np.log(unit) + rng.normal(math.log(THETA), BETA, 60)
    place = np.searchsorted(grid, capacity)
    lower, upper = np.append(-np.inf, grid)[place], np.append(grid, np.inf)[place]

    def negative(p: np.ndarray) -> float:
        chance = stats.norm.cdf(upper, math.log(unit) + p[0], np.exp(p[1])) - stats.norm.cdf(lower, math.log(unit) + p[0], np.exp(p[1]))
        return -float(np.sum(np.log(chance)))

    found = fit(Capacities(lower, upper, np.ones(60)))
    assert [found.theta / unit, found.beta] == pytest.approx(least(negative), rel=2e-7)


def test_fine_steps_give_the_mean_and_the_standard_deviation_of_the_logarithms() -> None:
    capacity = np.random.default_rng(3).normal(math.log(THETA), BETA, 50)
    found = fit(Capacities(capacity - 5e-7, capacity + 5e-7, np.ones(50)))
    assert found.theta == pytest.approx(math.exp(capacity.mean()), rel=1e-9)
    assert found.beta == pytest.approx(capacity.std(), rel=1e-8)
    errors = np.sqrt(np.diag(found.covariance))  # of the slope 1 / beta: slope / sqrt(2 n)
    assert errors[1] == pytest.approx(found.slope / math.sqrt(100.0), rel=1e-4)


def test_intensities_far_away_do_not_move_a_steep_curve() -> None:
    """At 1e-200 and 1e200 the probabilities are 0 and 1 whatever the parameters are near the others."""
    rng = np.random.default_rng(2)
    x = rng.normal(0.0, 0.1, 400)
    hit = rng.random(400) < stats.norm.cdf(x / 0.05)
    near = fit(rows_of(x, hit)[0])
    far = fit(rows_of(np.append(x, np.log([1e-200, 1e200])), np.append(hit, [False, True]))[0])
    assert (far.theta, far.beta) == pytest.approx((near.theta, near.beta), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "hit", "said", "beta"),
    [
        ([1.0, 2.0, 3.0], [False, False, False], "in no row", 0.0),
        ([1.0, 2.0, 3.0], [True, True, True], "in every row", 0.0),
        ([1.0, 2.0, 3.0, 4.0], [False, False, True, True], "separated between 2 and 3", 0.0),
        ([1.0, 2.0, 2.0, 3.0], [False, False, True, True], "separated at 2", 0.0),
        ([2.0, 2.0, 2.0], [False, True, True], "separated at 2", 0.0),
        ([1.0, 2.0, 3.0, 4.0], [True, True, False, False], "does not become more frequent", math.inf),
        ([1.0, 2.0, 3.0, 4.0], [True, True, False, True], "does not become more frequent", math.inf),
    ],
)
def test_data_without_a_finite_maximum_are_refused(x: list[float], hit: list[bool], said: str, beta: float) -> None:
    with pytest.raises(NoMaximumError, match=said) as caught:
        fit(rows_of(np.log(x), np.array(hit))[0])
    assert caught.value.beta == beta


def test_records_that_all_fail_in_one_step_are_separated() -> None:
    ones = np.ones(3)
    with pytest.raises(NoMaximumError, match="separated between 2 and 3"):
        fit(Capacities(np.log(2.0) * ones, np.log(3.0) * ones, ones))


def test_the_ends_of_a_profile_are_where_a_likelihood_ratio_test_refuses() -> None:
    rng = np.random.default_rng(11)
    x = np.repeat([0.6, 1.0, 1.4, 2.0], 12)
    hit = drawn(rng, x)
    known = rows_of(np.log(x), hit)[0]
    found = fit(known)
    ends = by_profile(known, found, GRID, 0.9)

    def value(theta: float, beta: float) -> float:
        return float(np.sum(stats.norm.logcdf(np.where(hit, 1.0, -1.0) * np.log(x / theta) / beta)))

    for theta in ends.theta:
        best = optimize.minimize_scalar(lambda q, at=theta: -value(at, math.exp(q)), bounds=(-4.0, 4.0), options={"xatol": 1e-9})
        assert 2.0 * (found.log_likelihood + best.fun) == pytest.approx(stats.chi2.ppf(0.9, 1), abs=1e-6)
    for beta in ends.beta:
        best = optimize.minimize_scalar(lambda q, at=beta: -value(math.exp(q), at), bounds=(-3.0, 3.0), options={"xatol": 1e-9})
        assert 2.0 * (found.log_likelihood + best.fun) == pytest.approx(stats.chi2.ppf(0.9, 1), abs=1e-6)
    assert ends.theta[0] < found.theta < ends.theta[1]
    assert ends.beta[0] < found.beta < ends.beta[1]


def test_few_rows_do_not_bound_beta() -> None:
    known = rows_of(np.log([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))[0]
    ends = by_profile(known, fit(known), GRID, 0.95)
    assert ends.beta[1] == math.inf
    assert ends.theta[0] == 0.0


def covered(ends: tuple[float, float], truth: float) -> bool:
    return ends[0] < truth < ends[1]


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 200 replicates 95 % is 190; fewer than 181 or more than 198 have a probability below 0.5 %."""
    rng, count = np.random.default_rng(5), dict.fromkeys(("profile theta", "profile beta", "delta theta", "delta beta", "band"), 0)
    x = np.repeat(np.linspace(0.4, 2.8, 7), 30)
    for _ in range(REPLICATES):
        known, _ = rows_of(np.log(x), drawn(rng, x))
        found = fit(known)
        profile, delta = by_profile(known, found, GRID, 0.95), by_delta(found, GRID, 1.96)
        count["profile theta"] += covered(profile.theta, THETA)
        count["profile beta"] += covered(profile.beta, BETA)
        count["delta theta"] += covered(delta.theta, THETA)
        count["delta beta"] += covered(delta.beta, BETA)
        count["band"] += bool(delta.low[1] < stats.norm.cdf(math.log(1.0 / THETA) / BETA) < delta.high[1])
    assert all(181 <= held <= 198 for held in count.values()), count


def test_intervals_of_a_cloud_hold_the_truth_as_often_as_they_say() -> None:
    rng, held, reach = np.random.default_rng(6), np.zeros(2), float(stats.t.ppf(0.975, 58))
    theta, beta = math.exp(0.2 / 0.9), math.hypot(0.3, 0.1) / 0.9
    for _ in range(REPLICATES):
        u = rng.normal(0.0, 0.5, 60)
        _, found = regress(Cloud(u, 1.0 + 0.9 * u + rng.normal(0.0, 0.3, 60), 1.2, 0.1))
        ends = by_delta(found, GRID, reach)
        held += [covered(ends.theta, theta), covered(ends.beta, beta)]
    assert ((held >= 181) & (held <= 198)).all(), held


@pytest.mark.slow
def test_a_bootstrap_of_draws_holds_the_truth_where_rows_that_share_a_draw_are_not_independent() -> None:
    """25 capacities are each tried at seven intensities; taken as independent rows their intervals would be too short."""
    rng, whole, single = np.random.default_rng(8), 0, 0
    places = np.linspace(0.5, 2.9, 7)
    x, draws = np.tile(places, 25), np.repeat(np.arange(25), 7)
    for seed in range(40):
        capacity = np.exp(rng.normal(math.log(THETA), BETA, 25))
        known, kinds = rows_of(np.log(x), x >= capacity[draws])

        def refit(weight: np.ndarray, known: Capacities = known, kinds: np.ndarray = kinds) -> Any:
            return fit(Capacities(known.lower, known.upper, np.bincount(kinds, weight, len(known.weight))))

        whole += covered(by_bootstrap(refit, draws, GRID, 0.9, 100, seed).theta, THETA)
        single += covered(by_delta(fit(known), GRID, 1.645).theta, THETA)
    assert whole >= 30  # 36 are expected; fewer than 30 have a probability of 0.2 %
    assert single < whole


def test_p_values_of_counts_from_the_curve_itself_are_uniform() -> None:
    rng = np.random.default_rng(12)
    bins = np.repeat(np.arange(8), 60)
    x = np.linspace(0.4, 2.8, 8)[bins]
    found = []
    for _ in range(REPLICATES):
        hit = drawn(rng, x)
        found.append(misfit(fit(rows_of(np.log(x), hit)[0]).chance(x), hit, bins))
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    assert math.isnan(misfit(np.full(4, 0.5), np.array([True, False, True, False]), np.array([0, 0, 1, 1])))


def test_a_cloud_is_the_line_of_least_squares() -> None:
    rng = np.random.default_rng(9)
    u = rng.normal(0.0, 0.4, 40)
    demand = 2.0 + 1.1 * u + rng.normal(0.0, 0.25, 40)
    line, found = regress(Cloud(u, demand, 2.5, 0.3))
    known = stats.linregress(u, demand)
    spread = math.sqrt(np.sum((demand - known.intercept - known.slope * u) ** 2) / 38.0)
    assert (line.slope, line.intercept, line.spread) == pytest.approx((known.slope, known.intercept, spread), rel=1e-12)
    assert found.theta == pytest.approx(math.exp((2.5 - known.intercept) / known.slope), rel=1e-12)
    assert found.beta == pytest.approx(math.hypot(spread, 0.3) / known.slope, rel=1e-12)


def test_a_cloud_that_falls_or_has_no_scatter_is_refused() -> None:
    u = np.linspace(0.0, 1.0, 9)
    for demand, said in ((-u + 0.01 * np.sin(9.0 * u), "more frequent"), (2.0 * u, "no scatter")):
        with pytest.raises(NoMaximumError, match=said):
            regress(Cloud(u, demand, 0.5, 0.0))
    assert regress(Cloud(u, 2.0 * u, 0.5, 0.2))[1].beta == pytest.approx(0.1)
