"""OpenTURNS gets the rows of a run, and the same distribution as the design draws from: quantiles, copula and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, run

openturns = pytest.importorskip("openturns")

LAWS: dict[str, tuple[dict[str, Any], Any]] = {
    "uniform": ({"from": 2.0, "to": 5.0}, stats.uniform(2.0, 3.0)),
    "log": ({"from": 2.0, "to": 50.0, "spacing": "log"}, stats.loguniform(2.0, 50.0)),
    "normal": ({"distribution": "normal", "mean": 4.0, "std": 0.5}, stats.norm(4.0, 0.5)),
    "both bounds": (
        {"distribution": "truncated_normal", "mean": 4.0, "std": 0.5, "lower": 3.8, "upper": 5.0},
        stats.truncnorm(-0.4, 2.0, 4.0, 0.5),
    ),
    "lower": ({"distribution": "truncated_normal", "mean": 4.0, "std": 0.5, "lower": 4.5}, stats.truncnorm(1.0, np.inf, 4.0, 0.5)),
    "upper": ({"distribution": "truncated_normal", "mean": 4.0, "std": 0.5, "upper": 4.5}, stats.truncnorm(-np.inf, 1.0, 4.0, 0.5)),
    "log_normal": (
        {"distribution": "log_normal", "mean": 4.0, "std": 2.0},
        stats.lognorm(np.sqrt(np.log(1.25)), scale=4.0 / np.sqrt(1.25)),
    ),
    "triangular": ({"distribution": "triangular", "from": 1.0, "mode": 2.0, "to": 5.0}, stats.triang(0.25, 1.0, 4.0)),
}


def sampled(count: int = 8, correlations: Any = None, **axes: Any) -> Any:
    """The run of a sample."""
    sweep = {"design": "sobol", "count": count, "seed": 3, **({"correlations": correlations} if correlations else {}), "axes": axes}
    return run({"study": {"name": "sample"}, "sweep": sweep})


@pytest.mark.parametrize("name", LAWS)
def test_marginals_have_the_quantiles_of_scipy(fake: FakeKernels, name: str) -> None:
    axis, law = LAWS[name]
    found = sampled(a0=axis).to_openturns().distribution
    for chance in (1e-6, 0.03, 0.5, 0.8, 1.0 - 1e-6):
        assert found.getMarginal(0).computeQuantile(chance)[0] == pytest.approx(law.ppf(chance), rel=1e-8)


def test_a_negative_logarithmic_range_keeps_its_sign(fake: FakeKernels) -> None:
    found = sampled(v0={"from": -8.0, "to": -2.0, "spacing": "log"}, a0={"from": 1.0, "to": 2.0}).to_openturns(["v0"]).distribution
    assert found.computeQuantile(0.25)[0] == pytest.approx(-(2.0 ** (1.0 + 2.0 * 0.75)), rel=1e-8)


def test_choices_and_whole_numbers_have_their_probabilities(fake: FakeKernels) -> None:
    choice = {"distribution": "choice", "values": [1.0, 4.0], "weights": [1.0, 3.0]}
    found = sampled(a0=choice, mu=[0.1, 0.2, 0.4]).to_openturns().distribution
    assert found.getMarginal(0).computePDF([4.0]) == pytest.approx(0.75)
    assert [found.getMarginal(1).computePDF([mu]) for mu in (0.1, 0.2, 0.4)] == pytest.approx([1.0 / 3.0] * 3)


def test_the_copula_gives_the_chances_of_the_rows(fake: FakeKernels) -> None:
    axes = {"a0": LAWS["log_normal"][0], "mu": {"from": 0.1, "to": 0.3}, "m": LAWS["triangular"][0]}
    pairs = [["a0", "mu", 0.7], ["mu", "m", -0.4]]
    samples = sampled(4096, pairs, **axes).to_openturns(["mu", "m", "a0"])
    joint = samples.distribution
    assert list(joint.getDescription()) == list(samples.inputs.getDescription()) == ["mu", "m [kg]", "a0 [m/s^2]"]
    rows = np.array(samples.inputs)
    for point in ((0.2, 2.5, 4.0), (0.15, 3.0, 3.0), (0.27, 2.0, 8.0)):
        assert joint.computeCDF(point) == pytest.approx((rows <= point).all(axis=1).mean(), abs=5e-3)
    tau = joint.getCopula().getKendallTau()[0, 2]
    assert tau == pytest.approx(2.0 / np.pi * np.arcsin(0.7), abs=1e-12)
    assert stats.kendalltau(rows[:, 0], rows[:, 2]).statistic == pytest.approx(tau, abs=0.01)


def test_samples_hold_the_rows(fake: FakeKernels) -> None:
    found = sampled(16, a0={"from": 1.0, "to": 2.0}, mu={"from": 0.1, "to": 0.2})
    frame, samples = found.to_pandas(), found.to_openturns(outputs=["wear_power", "regime"])
    assert list(samples.inputs.getDescription()) == ["a0 [m/s^2]", "mu"]
    assert list(samples.outputs.getDescription()) == ["wear_power [W]", "regime [0 = stick, 1 = stick-slip, 2 = slip-slip]"]
    np.testing.assert_array_equal(np.array(samples.inputs), frame[["a0", "mu"]])
    np.testing.assert_array_equal(np.array(samples.outputs)[:, 0], frame["wear_power"])
    codes = frame["regime"].map({"stick": 0, "stick-slip": 1, "slip-slip": 2})
    np.testing.assert_array_equal(np.array(samples.outputs)[:, 1], codes)
    assert (samples.points.tolist(), samples.left_out) == (list(range(16)), 0)
    assert "16 rows of a0 [m/s^2], mu -> wear_power [W]" in repr(samples)


def test_a_table_times_a_factor_is_that_factor(fake: FakeKernels) -> None:
    study = {
        "study": {"name": "wall", "model": "buckling_wall"}, "time": {"end": 1.0}, "parameters": {"v0": 1.0, "post_set": [1.0, 2.0]},
        "sweep": {"design": "sobol", "count": 8, "axes": {"post_stiffness": {"from": 0.5, "to": 1.5, "times": [2.0, 4.0]}}},
    }  # fmt: skip
    from tribosweep.sweep.api.openturns import distribution_of, numbers_in
    from tribosweep.sweep.study.load import load

    config = load(study)
    import pyarrow as pa

    points = config.design.points(0, 8).columns["post_stiffness"]
    table = pa.table({"post_stiffness": pa.array(points.tolist(), pa.list_(pa.float64()))})
    factors = numbers_in(table, config.model.parameter("post_stiffness"), config.design.axes[0])
    np.testing.assert_allclose(factors, points[:, 1] / 4.0)
    found = distribution_of(config, ["post_stiffness"])
    assert (found.computeQuantile(0.25)[0], found.getDescription()[0]) == (0.75, "factor of post_stiffness")


@pytest.mark.filterwarnings("ignore:overflow")
def test_failed_rows_are_left_out_and_counted(fake: FakeKernels) -> None:
    found = run({"study": {"name": "fails"}, "sweep": {"design": "zip", "axes": {"a0": [1.0, 1e308, 2.0], "mu": [0.1, 1e306, 0.2]}}})
    samples = found.to_openturns()
    assert (samples.points.tolist(), samples.left_out, np.array(samples.inputs)[:, 0].tolist()) == ([0, 2], 1, [1.0, 2.0])
    with pytest.raises(ConfigError, match="only a design that draws its points"):
        _ = samples.distribution


def test_wrong_names_are_told(fake: FakeKernels) -> None:
    found = sampled(a0={"from": 1.0, "to": 2.0})
    with pytest.raises(ConfigError, match=r"outputs: the run has no column 'wear_powr' of this kind; did you mean 'wear_power'"):
        found.to_openturns(outputs=["wear_powr"])
    with pytest.raises(ConfigError, match="end is set for all rows and not drawn"):
        _ = (
            run({"time": {"end": 2.0}, "sweep": {"design": "sobol", "count": 4, "axes": {"a0": {"from": 1.0, "to": 2.0}}}})
            .to_openturns(["a0", "end"])
            .distribution
        )
    with pytest.raises(ConfigError, match="varies no number"):
        run({"study": {"name": "one"}}).to_openturns()


def test_draws_of_a_posterior_keep_their_correlation(fake: FakeKernels) -> None:
    rows = np.random.default_rng(1).multivariate_normal([5.0, 0.3], [[1.0, 0.045], [0.045, 0.0025]], 50)
    pd.DataFrame(rows, columns=["a0", "mu"]).to_csv("draws.csv", index=False)
    axes = {"m": {"distribution": "normal", "mean": 2.0, "std": 0.1}, "k": [1.0, 3.0]}
    found = run({"sweep": {"design": "posterior", "file": "draws.csv", "axes": axes}}).to_openturns(["m", "mu", "a0", "k"]).distribution
    assert list(found.getDescription()) == ["m [kg]", "mu", "a0 [m/s^2]", "k [N/m]"]
    drawn = np.asarray(found.getSample(20_000))
    assert np.corrcoef(drawn.T)[1, 2] == pytest.approx(np.corrcoef(rows.T)[0, 1], abs=0.005)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.0, abs=0.03)
    assert drawn[:, 0].std() == pytest.approx(0.1, rel=0.03)
    assert found.getMarginal(3).computePDF([3.0]) == pytest.approx(0.5)
    assert {tuple(row) for row in np.round(drawn[:, [2, 1]], 12)} == {tuple(row) for row in np.round(rows, 12)}
