"""The sampler against a posterior in closed form."""

import numpy as np
import pytest
from scipy import stats

from tests.sweep.analysis.calibration.posterior.linear_gaussian import line
from tribosweep.sweep.analysis.calibration.posterior import nuts
from tribosweep.sweep.execution import answers
from tribosweep.sweep.io.errors import ConfigError

SETTINGS = nuts.NutsSettings(chains=4, warmup=200, draws=500, seed=3)


@pytest.fixture(scope="module")
def sampled():
    likelihood, problem = line()
    mean, _ = likelihood.posterior()
    centre = problem.coordinates(mean[np.newaxis] + 0.3)
    told = []
    found = nuts.sample(problem, centre, 1e-4 * np.eye(2), SETTINGS, lambda *at: told.append(at))
    return likelihood, problem, found, told


@pytest.mark.long
@pytest.mark.slow
def test_draws_have_the_mean_the_covariance_and_the_quantiles_of_the_closed_form(sampled):
    likelihood, problem, found, _ = sampled
    mean, covariance = likelihood.posterior()
    values = problem.values(found.coordinates.reshape(-1, 2))
    sd = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(values.mean(axis=0) - mean) < 5.0 * sd / np.sqrt(500.0))  # 500 effective draws at least
    assert np.allclose(np.cov(values.T) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.15)
    whole = np.linalg.solve(np.linalg.cholesky(covariance), (values - mean).T)
    for share in (0.05, 0.5, 0.95):
        assert np.all(np.abs((whole < stats.norm.ppf(share)).mean(axis=1) - share) < 5.0 * np.sqrt(share * (1.0 - share) / 500.0))


@pytest.mark.slow
def test_chains_share_calls_and_report_what_they_did(sampled):
    _, problem, found, told = sampled
    assert found.log_density.shape == found.diverging.shape == (4, 500)
    log, _ = problem.log_density(found.coordinates[2])
    assert np.allclose(found.log_density[2], log)
    assert not found.diverging.any()
    assert np.all(np.abs(found.acceptance.mean(axis=1) - 0.8) < 0.15)
    assert told[-1][1] == 4 * 700
    assert found.evaluations / len(told) > 2.0  # points for each call
    assert len(np.unique(found.coordinates[:, 0, 0])) == 4


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws():
    _, problem = line()
    few = nuts.NutsSettings(chains=2, warmup=50, draws=20, seed=5)
    one, other = (nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), few).coordinates for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.slow
def test_sampling_that_was_ended_goes_on_to_the_same_draws(tmp_path):
    few = nuts.NutsSettings(chains=2, warmup=50, draws=20, seed=5)
    expected = nuts.sample(line()[1], np.zeros((1, 2)), 1e-4 * np.eye(2), few)
    likelihood, problem = line()
    calls, density = [], type(likelihood).with_gradient

    def counted(values, most):
        calls.append(len(values))
        if len(calls) > most:
            raise KeyboardInterrupt
        return density(likelihood, values)

    likelihood.with_gradient = lambda values: counted(values, 60)
    with pytest.raises(KeyboardInterrupt):
        nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), few, answers=answers.Answers(tmp_path, answers.OF_NUTS, "it"))
    before = sum(calls[:60])
    calls.clear()
    likelihood.with_gradient = lambda values: counted(values, 10**6)
    found = nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), few, answers=answers.Answers(tmp_path, answers.OF_NUTS, "it"))
    assert np.array_equal(found.coordinates, expected.coordinates)
    assert found.evaluations == expected.evaluations
    assert sum(calls) <= expected.evaluations - before + 2  # what two chains asked for when the first sampling ended


@pytest.mark.slow
def test_an_error_of_the_density_ends_the_chains():
    likelihood, problem = line()
    calls = []

    def failing(values):
        calls.append(len(values))
        if len(calls) > 30:
            raise KeyboardInterrupt
        return type(likelihood).with_gradient(likelihood, values)

    likelihood.with_gradient = failing
    with pytest.raises(KeyboardInterrupt):
        nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), SETTINGS)


def test_no_start_with_a_density_is_an_error():
    likelihood, problem = line()
    likelihood.log = lambda values: np.full(len(values), -np.inf)
    with pytest.raises(ConfigError, match="near the optimum no run has results"):
        nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_densities_and_slopes_that_are_no_numbers_end_in_a_sentence_or_in_draws(wild, capfd):
    few = nuts.NutsSettings(chains=2, warmup=20, draws=10, seed=5)
    for place in (0, 1):
        likelihood, problem = line()
        density = type(likelihood).with_gradient

        def given(values, likelihood=likelihood, density=density, place=place):
            found = density(likelihood, values)
            return (np.full_like(found[0], wild), found[1]) if place == 0 else (found[0], np.full_like(found[1], wild))

        likelihood.with_gradient = given
        try:
            assert nuts.sample(problem, np.zeros((1, 2)), 1e-4 * np.eye(2), few).coordinates.shape == (2, 10, 2)
        except ConfigError as error:
            assert "--posterior: the sampler gave up" in str(error)
    assert "Exception in thread" not in capfd.readouterr().err
