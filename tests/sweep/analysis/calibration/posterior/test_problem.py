"""Priors and densities against scipy and quadrature, likelihoods against the residuals of the fit, files of draws."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import integrate, stats

from tests.sweep.analysis.calibration.posterior.linear_gaussian import line
from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.posterior import draws
from tribosweep.sweep.analysis.calibration.posterior.analysis import notes_on_prior
from tribosweep.sweep.analysis.calibration.posterior.likelihood import NormalErrors
from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.design.priors import Sampled, from_bounds
from tribosweep.sweep.io.errors import ConfigError

LAWS = [
    ("uniform", {"from": 0.5, "to": 3.0}, stats.uniform(0.5, 2.5)),
    ("log_uniform", {"from": 0.5, "to": 3.0}, stats.loguniform(0.5, 3.0)),
    ("normal", {"mean": 1.0, "std": 0.7}, stats.norm(1.0, 0.7)),
    ("truncated_normal", {"mean": 1.0, "std": 0.7, "lower": 0.4}, stats.truncnorm(-0.6 / 0.7, np.inf, 1.0, 0.7)),
    ("log_normal", {"mean": 1.0, "std": 0.5}, stats.lognorm(np.sqrt(np.log(1.25)), scale=1.0 / np.sqrt(1.25))),
    ("triangular", {"from": 0.3, "mode": 1.0, "to": 2.5}, stats.triang(0.7 / 2.2, 0.3, 2.2)),
]


@pytest.mark.parametrize(("law", "numbers", "known"), LAWS, ids=[law for law, *_ in LAWS])
@pytest.mark.parametrize("logarithmic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_priors_are_those_of_scipy_truncated_to_the_bounds(law, numbers, known, logarithmic):
    lower, upper = 0.6, 2.2
    one = Sampled("k", "N/m", lower, upper, logarithmic, law, tuple(numbers.items()))
    mass = known.cdf(upper) - known.cdf(lower)
    v = np.linspace(lower, upper, 7)[1:-1]
    log, slopes = one.log_density(v)
    assert np.allclose(slopes, (one.log_density(v + 1e-6)[0] - one.log_density(v - 1e-6)[0]) / 2e-6, rtol=1e-6, atol=1e-6)
    assert np.allclose(log, known.logpdf(v) - np.log(mass), rtol=0, atol=1e-12)
    fractions = np.linspace(0.01, 0.99, 9)
    assert np.allclose(one.quantile(fractions), known.ppf(known.cdf(lower) + fractions * mass), rtol=1e-12)
    problem = Problem([one], None)
    total, _ = integrate.quad(lambda y: np.exp(problem.log_prior(np.array([[y]]))[0]), -30.0, 30.0, epsabs=1e-10, limit=200)
    assert total == pytest.approx(1.0, abs=1e-8)


def test_a_prior_that_ends_between_the_bounds_moves_them():
    one = Sampled("k", "N/m", 0.1, 9.0, True, "truncated_normal", (("mean", 1.0), ("std", 0.5), ("lower", 0.4)))
    problem = Problem([one], None)
    assert problem.values(np.array([[-40.0], [40.0]]))[:, 0] == pytest.approx([0.4, 9.0])
    drawn = problem.values(problem.prior_sample(1, 20_000))[:, 0]
    assert stats.kstest(drawn, stats.truncnorm(-1.2, 16.0, 1.0, 0.5).cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("law", "numbers", "centre", "spread", "said"),
    [
        ("uniform", {"from": 6.0, "to": 8.0}, 6.001, 0.0007, "k presses against an end of its prior, 6 N/m"),
        ("uniform", {"from": 0.2, "to": 100.0}, 0.6, 0.02, ""),  # near an end, yet far from it in its own spread
        ("normal", {"mean": 7.0, "std": 0.1}, 4.0, 0.01, "The data contradict the prior of k: draws lie around 4 N/m, far out in normal"),
        ("normal", {"mean": 7.0, "std": 0.1}, 4.0, 0.4, "The data contradict the prior of k"),  # as wide as the prior, elsewhere
        ("normal", {"mean": 7.0, "std": 1.0}, 5.5, 0.01, ""),
        ("log_normal", {"mean": 7.0, "std": 1.0}, 3.0, 0.01, "The data contradict the prior of k"),
        ("normal", {"mean": 7.0, "std": 1.0}, 7.0, 1.0, "The data say hardly anything of k"),
    ],
)
def test_draws_that_contradict_their_prior_are_told(law, numbers, centre, spread, said):
    prior = Sampled("k", "N/m", 0.1, 200.0, False, law, tuple(numbers.items()), given=True)
    low, high = prior.support
    drawn = np.clip(stats.norm(centre, spread).ppf((np.arange(400) + 0.5) / 400), low, high)
    notes = notes_on_prior(prior, drawn, (drawn - low) / (high - low))
    assert len(notes) == bool(said)
    assert "".join(notes).startswith(said)


def test_density_and_gradient_are_those_of_the_closed_form():
    likelihood, problem = line()
    mean, covariance = likelihood.posterior()
    x = problem.coordinates(mean + np.random.default_rng(2).normal(size=(5, 2)))
    log, slopes = problem.log_density(x)
    of_values = problem.log_density_of_values(x, log)
    known = stats.multivariate_normal(mean, covariance).logpdf(problem.values(x))
    assert np.ptp(of_values - known) < 1e-9
    for place, step in enumerate(1e-6 * np.eye(2)):
        ends = [sum((problem.log_prior(each), problem.log_likelihood(each))) for each in (x - step, x + step)]
        assert np.allclose(slopes[:, place], (ends[1] - ends[0]) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("inferred", [False, True])
def test_likelihood_of_a_loop_is_that_of_the_residuals_of_its_fit(inferred):
    found = load.load("calibrate_loop")
    system = System(found.config, found.space, found.data)
    numbers = [from_bounds(free.name, free.unit, free.lower, free.upper, free.logarithmic) for free in found.space.frees]
    if inferred:
        numbers.append(from_bounds("noise_scale", "1", 0.1, 10.0, True, role="noise"))
    problem = Problem(numbers, NormalErrors(system, inferred))
    x = problem.prior_sample(3, 4)
    values = problem.values(x)
    scale = values[:, 2:3] if inferred else 1.0
    predicted = system.at(found.space.coordinates(values[:, :2])).predicted
    known = stats.norm(found.data.measured, scale * found.data.spread).logpdf(predicted).sum(axis=1)
    assert np.allclose(problem.log_likelihood(x), known, rtol=1e-12)
    log, slopes = problem.log_density(x)
    assert np.allclose(log, known + problem.log_prior(x), rtol=1e-12)
    for place, step in enumerate(1e-5 * np.eye(len(numbers))):
        ends = [problem.log_prior(each) + problem.log_likelihood(each) for each in (x - step, x + step)]
        assert np.allclose(slopes[:, place], (ends[1] - ends[0]) / 2e-5, rtol=1e-4, atol=1e-2)


def test_draws_are_read_as_they_were_written(tmp_path):
    rng = np.random.default_rng(1)
    names, units, roles = ("mu", "post_stiffness[0]", "noise_scale"), ("", "N/m", "1"), ("parameter", "parameter", "noise")
    chain, draw = np.repeat([0, 1], 3), np.tile(np.arange(3), 2)
    made = draws.Draws(names, units, roles, rng.random((6, 3)), chain, draw, rng.random(6), {"method": "nuts"}, "abc")
    (tmp_path / draws.POSTERIOR).write_bytes(draws.to_bytes(made))
    for place in (tmp_path, tmp_path / draws.POSTERIOR):
        read = draws.read(place)
        assert (read.names, read.units, read.roles, read.facts, read.config_hash) == (names, units, roles, made.facts, "abc")
        assert np.array_equal(read.values, made.values)
        assert np.array_equal(read.log_density, made.log_density)
    assert read.parameters == (0, 1)
    assert read.by_chain().shape == (2, 3, 3)
    assert pq.read_schema(tmp_path / draws.POSTERIOR).field("post_stiffness[0]").metadata[b"unit"] == b"N/m"


def test_files_without_draws_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="there is no such file: tribosweep calibrate"):
        draws.read(tmp_path)
    (tmp_path / draws.POSTERIOR).write_bytes(b"PAR1 nothing")
    with pytest.raises(ConfigError, match="cut short, or no Parquet file"):
        draws.read(tmp_path)
