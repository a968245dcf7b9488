"""Distributions of parameters: quantiles of an independent source, exact moments, probabilities of a list, scaled tables, correlations."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.design.designs import Design
from tribosweep.sweep.design.distributions import Drawn, Scaled, Weighted, log_normal_scale

U = np.array([2.0**-54, 1e-9, 0.01, 0.3, 0.5, 0.8, 0.999, 1.0 - 2.0**-53])


def design(axes: dict[str, Any], kind: str = "sobol", count: int = 4096, **keys: Any) -> Design:
    """A design that draws from the axes."""
    return load({"sweep": {"design": kind, "count": count, "axes": axes, **keys}}).design


def axis(**raw: Any) -> Any:
    """The axis of a0 as a file gives it."""
    return design({"a0": raw}).axes[0]


def test_quantiles_are_those_of_scipy() -> None:
    sigma = math.sqrt(math.log1p(0.25))
    pairs = [
        (axis(distribution="normal", mean=15.0, std=0.5), stats.norm(15.0, 0.5)),
        (axis(distribution="truncated_normal", mean=2.0, std=3.0, lower=0.0, upper=4.0), stats.truncnorm(-2 / 3, 2 / 3, 2.0, 3.0)),
        (axis(distribution="truncated_normal", mean=1.0, std=0.5, lower=3.0), stats.truncnorm(4.0, np.inf, 1.0, 0.5)),
        (axis(distribution="truncated_normal", mean=9.0, std=0.5, upper=7.0), stats.truncnorm(-np.inf, -4.0, 9.0, 0.5)),
        (axis(distribution="log_normal", mean=2.0, std=1.0), stats.lognorm(sigma, scale=2.0 * math.exp(-0.5 * sigma**2))),
        (axis(distribution="triangular", **{"from": 1.0, "mode": 2.0, "to": 5.0}), stats.triang(0.25, 1.0, 4.0)),
    ]
    for made, law in pairs:
        # truncnorm of scipy before 1.17 rounds to 4e-15 beside a bound at 0
        np.testing.assert_allclose(made.at(U), law.ppf(U), rtol=2e-12, atol=4e-15, err_msg=str(made))
        assert np.isfinite(made.at(np.array([0.0, 1.0]))).all()
        assert (np.diff(made.at(U)) > 0.0).all()


def test_a_far_tail_keeps_its_digits() -> None:
    made = axis(distribution="truncated_normal", mean=0.0, std=1.0, lower=8.0)
    with mpmath.workdps(40):
        tail = mpmath.erfc(8 / mpmath.sqrt(2)) / 2
        for u in (0.25, 0.5, 0.9):
            exact = mpmath.findroot(lambda x, u=u: mpmath.erfc(x / mpmath.sqrt(2)) / 2 / tail - (1 - u), 8.1)
            assert float(made.at(np.array([u]))[0]) == pytest.approx(float(exact), rel=1e-13)


def test_samples_have_the_mean_and_the_spread_that_the_file_says() -> None:
    points = design(
        {
            "a0": {"distribution": "normal", "mean": 15.0, "std": 1.5},
            "k": {"distribution": "log_normal", "mean": 10.0, "std": 4.0},
            "c": {"distribution": "triangular", "from": 1.0, "mode": 2.0, "to": 6.0},
        }
    ).points(0, 4096)
    for name, mean, std in (("a0", 15.0, 1.5), ("k", 10.0, 4.0), ("c", 3.0, math.sqrt((1 + 4 + 36 - 2 - 12 - 6) / 18))):
        assert points.columns[name].mean() == pytest.approx(mean, rel=1e-3)
        assert points.columns[name].std() == pytest.approx(std, rel=5e-3)
    median, spread = log_normal_scale(10.0, 4.0)
    assert median * math.exp(spread**2 / 2) == pytest.approx(10.0)


def test_the_words_for_ranges_are_the_ranges() -> None:
    ranges = {"a0": {"from": 1.0, "to": 2.0}, "k": {"from": 1.0, "to": 9.0, "spacing": "log"}}
    ranges |= {"retries": {"from": 2, "to": 5, "spacing": "integer"}, "k_t": [1e6, 2e6]}
    words = {"a0": {"distribution": "uniform", "from": 1.0, "to": 2.0}, "k": {"distribution": "log_uniform", "from": 1.0, "to": 9.0}}
    words |= {
        "retries": {"distribution": "integer", "from": 2, "to": 5},
        "k_t": {"distribution": "choice", "values": [1e6, 2e6]},
    }
    documents = [load({"sweep": {"design": "sobol", "count": 8, "axes": axes}}).digest for axes in (ranges, words)]
    assert documents[0] == documents[1]


def test_a_weighted_choice_is_drawn_as_often_as_it_says() -> None:
    made = design({"k_t": {"distribution": "choice", "values": [9e6, 8e6, 7e6], "weights": [1, 0, 3]}})
    assert isinstance(made.axes[0], Weighted)
    values, counts = np.unique(made.points(0, 4096).columns["k_t"], return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([7e6, 9e6], [3072, 1024])
    assert made.axes[0].at(np.array([1.0])).tolist() == [7e6]
    trailing = design({"k_t": {"distribution": "choice", "values": [9e6, 8e6], "weights": [1, 0]}})
    assert trailing.axes[0].at(np.array([1.0])).tolist() == [9e6]


def test_a_table_can_be_multiplied_by_a_number_that_is_drawn() -> None:
    raw = {"distribution": "normal", "mean": 1.0, "std": 0.02, "times": [0.2, 0.15]}
    study = {"study": {"model": "buckling_wall"}, "parameters": {"post_set": [2.0, 3.0]}}
    config = load({**study, "sweep": {"design": "halton", "count": 50, "axes": {"post_stiffness": raw, "v0": {"from": 1.0, "to": 2.0}}}})
    made = config.design.axes[0]
    assert isinstance(made, Scaled)
    table = config.design.points(0, 50).columns["post_stiffness"]
    assert table.shape == (50, 2)
    np.testing.assert_allclose(table[:, 0] / table[:, 1], 0.2 / 0.15)
    assert np.std(table[:, 0]) == pytest.approx(0.2 * 0.02, rel=0.1)
    assert load(config.document).digest == config.digest


def test_every_axis_survives_the_document() -> None:
    axes = {
        "a0": {"distribution": "normal", "mean": 15.0, "std": 1.0},
        "mu": {"distribution": "truncated_normal", "mean": 0.3, "std": 0.1, "lower": 0.01},
        "k": {"distribution": "log_normal", "mean": 3.0, "std": 1.0},
        "c": {"distribution": "triangular", "from": 0.0, "mode": 1.0, "to": 2.0},
        "k_t": {"distribution": "choice", "values": [9e6, 8e6], "weights": [1.0, 2.0]},
    }
    config = load({"sweep": {"design": "sobol", "count": 16, "seed": 3, "axes": axes, "correlations": [["a0", "mu", 0.5]]}})
    again = load(config.document)
    assert again.digest == config.digest
    first, second = config.design.points(3, 11), again.design.points(3, 11)
    assert first.digest() == second.digest()
    assert isinstance(config.design.axes[0], Drawn)


@pytest.mark.parametrize("kind", ["sobol", "halton", "latin_hypercube", "draws"])
def test_correlated_parameters_keep_their_distributions_and_have_the_rank_correlation_that_theory_gives(kind: str) -> None:
    axes = {"a0": {"distribution": "normal", "mean": 15.0, "std": 1.0}, "k": {"from": 1.0, "to": 2.0}, "c": {"from": 0.0, "to": 1.0}}
    made = design(axes, kind, 8192, correlations=[["a0", "c", 0.6], ["k", "a0", -0.3]])
    points = made.points(0, 8192).columns
    for first, second, r in (("a0", "c", 0.6), ("a0", "k", -0.3), ("k", "c", 0.0)):
        expected = 6.0 / math.pi * math.asin(r / 2.0)
        assert stats.spearmanr(points[first], points[second]).statistic == pytest.approx(expected, abs=0.02)
    assert stats.kstest(points["c"], "uniform").pvalue > 0.05
    assert stats.kstest(points["k"] - 1.0, "uniform").pvalue > 0.05
    block = made.points(77, 300).columns
    for name, values in points.items():  # whatever block a point is computed in
        np.testing.assert_array_equal(block[name], values[77:300])


def test_correlated_draws_are_the_same_at_every_place_and_survive_the_document() -> None:
    drawn = {"mu": {"from": 0.1, "to": 0.9}, "m": {"from": 1.0, "to": 2.0}}
    crossed = {"a0": {"from": 1.0, "to": 2.0, "count": 3}, "v0": {"from": 0.5, "to": 1.0, "count": 2}}
    more = {"count": 2048, "seed": 3, "correlations": [["mu", "m", -0.7]], "axes": {**crossed, **drawn}}
    for design_ in ({"design": "draws"}, {"design": "boundary", "event": "wear_power > 1", "chance": 0.1}):
        config = load({"sweep": {**design_, **more}})
        assert config.document["sweep"]["correlations"] == [["mu", "m", -0.7]]
        assert load(config.document).digest == config.digest
        points = config.design.points(0, 6 * 2048).columns
        mu, m = (points[name].reshape(6, 2048) for name in ("mu", "m"))
        assert (mu == mu[0]).all()
        assert (m == m[0]).all()
        assert stats.spearmanr(mu[0], m[0]).statistic == pytest.approx(6.0 / math.pi * math.asin(-0.35), abs=0.04)
        assert stats.kstest(m[0] - 1.0, "uniform").pvalue > 0.05


SOBOL = "[sweep]\ndesign = 'sobol'\ncount = 8\n"
SWEEP = SOBOL + "[sweep.axes]\n"
WALL = "[study]\nmodel = 'buckling_wall'\n" + SWEEP
BAD = {
    "a distribution has a name": (
        "mu = { distribution = 'norml', mean = 1, std = 1 }",
        ["mu.distribution: 'norml' is no distribution", "did you mean 'normal'?"],
    ),
    "a distribution has its numbers": (
        "mu = { distribution = 'normal', mean = 1 }",
        ["mu.std: missing: distribution 'normal' needs mean, std"],
    ),
    "a distribution has no other numbers": (
        "mu = { distribution = 'normal', mean = 10, std = 0.1, sdt = 2 }",
        ["mu.sdt: unknown key of distribution 'normal'", "did you mean 'std'?"],
    ),
    "a spread is positive": ("a0 = { distribution = 'normal', mean = 10, std = 0 }", ["a0.std: 0 is out of bounds: must be > 0"]),
    "a mean is a number": ("a0 = { distribution = 'normal', mean = 'x', std = 1 }", ["a0.mean: must be a number, not 'x'"]),
    "values stay in bounds": (
        "mu = { distribution = 'normal', mean = 0.1, std = 0.05 }",
        ["mu: goes out of bounds in one draw of 44: must be >= 0", "truncated_normal", "lower = 0"],
    ),
    "a range goes up": (
        "a0 = { distribution = 'uniform', from = 2, to = 2 }",
        ["a0: from must be below to", "a constant goes to [parameters]"],
    ),
    "a logarithm is of positive numbers": (
        "x0 = { distribution = 'log_uniform', from = -1, to = 2 }",
        ["x0: a logarithm cannot touch or cross 0"],
    ),
    "a mode is inside": (
        "a0 = { distribution = 'triangular', from = 1, mode = 4, to = 3 }",
        ["a0.mode: 4 must lie between from = 1 and to = 3"],
    ),
    "bounds are in order": (
        "a0 = { distribution = 'truncated_normal', mean = 1, std = 1, lower = 3, upper = 2 }",
        ["a0: lower must be below upper"],
    ),
    "bounds are not absurdly far away": (
        "a0 = { distribution = 'truncated_normal', mean = 1, std = 0.01, lower = 3 }",
        ["a0: the bounds lie more than 30 standard deviations"],
    ),
    "a log-normal mean is positive": (
        "a0 = { distribution = 'log_normal', mean = -1, std = 1 }",
        ["a0.mean: -1: the values of a log-normal"],
    ),
    "a far tail counts too": (
        "mu = { distribution = 'normal', mean = 0.1, std = 0.02 }",
        ["mu: goes out of bounds in fewer than one draw of 10,000: must be >= 0"],
    ),
    "whole numbers are whole": (
        "retries = { distribution = 'integer', from = 1, to = 2.5 }",
        ["retries: whole numbers go from one whole number to another"],
    ),
    "a choice has values": ("mu = { distribution = 'choice', values = [] }", ["mu.values: must be a list of one value or more"]),
    "weights are as many as values": (
        "mu = { distribution = 'choice', values = [1, 2], weights = [1] }",
        ["mu.weights: must be a list of 2 numbers"],
    ),
    "weights are not negative": (
        "mu = { distribution = 'choice', values = [1, 2], weights = [1, -1] }",
        ["mu.weights[1]: -1 is out of bounds: must be >= 0"],
    ),
    "weights are not all zero": (
        "mu = { distribution = 'choice', values = [1, 2], weights = [0, 0] }",
        ["mu.weights: their sum must be positive"],
    ),
    "a range that is spaced has no distribution": (
        "mu = { distribution = 'uniform', from = 1, to = 2, spacing = 'log' }",
        ["mu.spacing: unknown key of distribution 'uniform'"],
    ),
}
DESIGNS = {
    "a grid draws nothing": (
        "[sweep.axes]\nmu = { distribution = 'uniform', from = 0.1, to = 0.2 }",
        ["mu: only a design that draws takes a distribution", '"draws", "subset_simulation", or "boundary" with an event'],
    ),
    "an observable has a boundary without draws": (
        "[sweep]\ndesign = 'boundary'\ncorrelations = [['a0', 'v0', 0.5]]\n[sweep.axes]\na0 = [1, 2]\nv0 = [1, 2]",
        ["sweep.correlations: belongs to a boundary with an event"],
    ),
    "Sobol indices are of independent parameters": (
        "[sweep]\ndesign = 'saltelli'\ncount = 8\ncorrelations = [['mu', 'a0', 0]]\n[sweep.axes]\nmu = [1, 2]\na0 = { from = 1, to = 2 }",
        [
            "sweep.correlations: design 'saltelli' takes no correlations",
            '"draws", "subset_simulation" and a "boundary" with an event take them',
            "independent parameters",
        ],
    ),
    "correlations are of axes": (
        SOBOL + "correlations = [['mu', 'omga', 0.5], ['mu', 'k', 0.1], ['mu', 'omega', 1.0], 3, ['mu', 'mu', 0.1]]\n"
        "[sweep.axes]\nmu = { from = 0.1, to = 0.2 }\nomega = { from = 1.0, to = 2.0 }\nk = [1.0, 2.0]",
        [
            "correlations[0]: 'omga' is no axis",
            "did you mean 'omega'?",
            "correlations[1]: 'k' is no axis with a range",
            "correlations[2]: 1.0 is no correlation: must be > -1 and < 1",
            "correlations[3]: must be two parameters",
            "correlations[4]: a pair of different",
        ],
    ),
    "correlations do not contradict each other": (
        SOBOL + "correlations = [['mu', 'a0', 0.9], ['mu', 'k', 0.9], ['a0', 'k', -0.9]]\n[sweep.axes]\n"
        "mu = { from = 0.1, to = 0.2 }\na0 = { from = 1.0, to = 2.0 }\nk = { from = 1.0, to = 2.0 }",
        ["sweep.correlations: contradict each other: their matrix is not positive definite"],
    ),
    "levels of a Morris design have ends": (
        "[sweep]\ndesign = 'morris'\ncount = 8\nlevels = 5\n[sweep.axes]\na0 = { distribution = 'normal', mean = 10, std = 1 }",
        [
            "sweep.levels: 5: must be an even number",
            "a0: the levels of a Morris design need a least and a largest value, which 'normal' has not",
        ],
    ),
    "a curve has points enough": (
        "[sweep]\ndesign = 'fast'\ncount = 64\n[sweep.axes]\na0 = { from = 1.0, to = 2.0 }",
        ["sweep.count: 64 points of a curve are too few for 4 harmonics: must be > 4 harmonics^2 = 64", "needs two axes or more"],
    ),
    "groups are counted": (
        "[sweep]\ndesign = 'saltelli'\nlevels = 4\n[sweep.axes]\na0 = { from = 1.0, to = 2.0 }",
        ["sweep.count: missing: design 'saltelli' needs the number of its groups", 'sweep.levels: belongs to design = "morris"'],
    ),
    "a table is a table": (
        WALL + "post_set = { distribution = 'uniform', from = 1, to = 2 }\npost_stiffness = { from = 0.0, to = 1.0, times = [1.0, -2.0] }",
        [
            "post_set: a table is drawn from a list of tables, or is a table times a factor",
            "post_stiffness.times[1]: node 1: -2.0 is out of bounds",
            "post_stiffness.from: 0.0 is out of bounds: must be > 0 (what the table is multiplied by",
        ],
    ),
    "whole numbers are drawn as such": (
        WALL.replace("buckling_wall", "stop") + "sides = { distribution = 'normal', mean = 4, std = 1 }",
        ["sides.distribution: 'normal' does not give whole numbers"],
    ),
    "a word has no distribution": (
        WALL + "damping_criterion = { distribution = 'uniform', from = 1, to = 2 }",
        ["damping_criterion: a word is drawn from a list of words"],
    ),
}


@pytest.mark.parametrize(
    ("text", "fragments"), [*((SWEEP + text, said) for text, said in BAD.values()), *DESIGNS.values()], ids=[*BAD, *DESIGNS]
)
def test_distributions_and_designs_that_make_no_sense_are_refused(
    text: str, fragments: list[str], fake: FakeKernels, tmp_path: Any
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(path)
    for fragment in fragments:
        assert fragment in str(error.value)
