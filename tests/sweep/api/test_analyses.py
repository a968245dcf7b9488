"""Sensitivity and calibration from Python: what the commands compute, as frames and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels import simulate
from tribosweep.sweep import Calibrated, ConfigError, Study, between, calibrate, load, run


def test_sensitivity_explains_a_sum_of_two_terms(fake: FakeKernels, tmp_path: Path) -> None:
    study = Study(name="sum", design="saltelli", count=512, a0=between(0.0, 1.0), mu=between(0.0, 0.02), window="steady", k=1.0)
    found = run(study).sensitivity(["wear_power"], chances=["wear_power>1.5"], quantiles=[0.5])
    table = found.to_pandas()
    first = table[table.measure == "S1"].set_index("parameter")["value"]
    # a0 + 100 mu with a0 in [0, 1] and 100 mu in [0, 2]: variances 1/12 and 4/12
    assert first["a0"] == pytest.approx(0.2, abs=0.03)
    assert first["mu"] == pytest.approx(0.8, abs=0.03)
    spread = found.to_pandas("uncertainty").set_index("measure")["value"]
    assert spread["mean"] == pytest.approx(1.5, abs=0.01)
    assert spread["P(> 1.5)"] == pytest.approx(0.5, abs=0.02)
    assert "<Sensitivity of wear_power: " in repr(found)
    assert "<table" in found._repr_html_()
    assert (
        run(study)
        .sensitivity("wear_power", exceeds="wear_power=1.5", quantiles=0.5)
        .to_pandas("uncertainty")
        .equals(found.to_pandas("uncertainty"))
    )
    found.plot(tmp_path / "scatter.png", picture="scatter")
    assert (tmp_path / "scatter.png").stat().st_size > 1000
    for wrong in (lambda: found.to_pandas("index"), lambda: found.plot(picture="pie"), lambda: run(study).sensitivity(["wear_powr"])):
        with pytest.raises(ConfigError) as caught:
            wrong()
        assert "--" not in str(caught.value)


def test_a_design_that_does_not_sample_has_no_sensitivity(fake: FakeKernels) -> None:
    with pytest.raises(ConfigError, match="sobol"):
        run(Study(a0=[1.0, 2.0])).sensitivity()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    """The friction that was put into four wear powers."""
    folder = tmp_path_factory.mktemp("calibration")
    a0 = np.array([5.0, 8.0, 11.0, 14.0])
    power = simulate("rubbing_mass", {"a0": a0, "mu": 0.123, "end": 3.0})["wear_power"]
    pd.DataFrame({"a0": a0, "wear_power": power}).to_csv(folder / "tests.csv", index=False)
    free, compared = {"mu": {"from": 0.05, "to": 0.4}}, {"wear_power": {"column": "wear_power", "relative_sd": 0.01}}
    section = {"data": str(folder / "tests.csv"), "starts": 3, "free": free, "compare": compared}
    return calibrate(Study(name="friction", end=3.0, sections={"calibration": section}), folder / "out", progress=False)


@pytest.mark.slow
def test_calibration_finds_what_was_put_in(fitted: Calibrated, tmp_path: Path) -> None:
    assert fitted.converged
    assert fitted.parameters["mu"] == pytest.approx(0.123, rel=1e-6)
    (row,) = fitted.to_pandas().query("optimum == 0").to_dict("records")
    assert row["low"] < 0.123 < row["high"]
    assert fitted.residuals()["residual"].abs().max() < 1e-4
    assert repr(fitted).startswith("<Calibrated: mu = 0.123 +- ")
    assert "0.123" in fitted._repr_html_()
    assert load(fitted.directory / "fitted.toml").fixed["mu"] == fitted.parameters["mu"]
    assert fitted.fitted.fixed["mu"] == fitted.parameters["mu"]
    fitted.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 1000
    with pytest.raises(ConfigError, match="landscape=True"):
        fitted.plot_landscape()


def test_a_wrong_calibration_is_refused_in_the_words_of_python(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing: a calibration has a table"):
        calibrate(Study(), tmp_path)


def test_a_fragility_is_counted_fitted_and_drawn(fake: FakeKernels, tmp_path: Path) -> None:
    """The wear power of this solver is a0 + 100 mu: it exceeds 1 where a0 > 1 - 100 mu, in the middle of a step of a0."""
    a0, mu = np.arange(0.0125, 1.2, 0.025), np.linspace(0.0005, 0.0065, 7)
    study = Study(name="sum", a0=a0.tolist(), mu=mu.tolist(), window="steady", k=1.0)
    found = run(study).fragility("wear_power > 1 W", "a0", over=["mu"], method="incremental")
    (row,) = found.to_pandas().to_dict("records")
    first = np.log(1.0 - 100.0 * mu)
    assert row["theta"] == pytest.approx(np.exp(first.mean()), rel=0.005)
    assert row["beta"] == pytest.approx(first.std(), rel=0.02)
    assert row["theta_low"] < row["theta"] < row["theta_high"]
    assert found.chance(row["theta"]) == pytest.approx(0.5, abs=1e-12)
    assert found.fitted
    points = found.to_pandas("points")
    counted = [(a + 100.0 * mu > 1.0).sum() for a in a0]
    assert points["events"].tolist() == counted
    assert points.attrs["units"]["intensity"] == "m/s^2"
    assert repr(found).startswith("<Fragility of wear_power > 1 over a0: theta = ")
    assert "<table" in found._repr_html_()
    found.plot(tmp_path / "fragility.png")
    assert (tmp_path / "fragility.png").stat().st_size > 1000
    assert [file.name for file in found.write(tmp_path)] == ["fits.parquet", "points.parquet", "curves.parquet"]
    none = run(study).fragility("wear_power > 100", "a0", over=["mu"])
    assert not none.fitted
    for wrong in (
        lambda: found.to_pandas("fit"),
        lambda: found.chance(1.0, 1),
        lambda: none.chance(1.0),
        lambda: run(study).fragility("wear_power > 1", "a0"),
    ):
        with pytest.raises(ConfigError) as caught:
            wrong()
        assert "--" not in str(caught.value)
