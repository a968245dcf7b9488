"""Sensitivity and calibration from Python: what the commands compute, as frames and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernels import simulate
from sweep import Calibrated, ConfigError, Study, between, calibrate, load, run
from tests.sweep.conftest import FakeKernels


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
    found.plot("scatter", tmp_path / "scatter.png")
    assert (tmp_path / "scatter.png").stat().st_size > 1000
    for wrong in (lambda: found.to_pandas("index"), lambda: found.plot("pie"), lambda: run(study).sensitivity(["wear_powr"])):
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
