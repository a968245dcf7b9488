"""The posterior of a calibration from its study to its files: priors, notes, tables, the command and Python."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from scipy import stats

from tribosweep import sweep
from tribosweep.sweep.analysis.calibration import load
from tribosweep.sweep.analysis.calibration.posterior import analysis as posterior
from tribosweep.sweep.analysis.calibration.posterior import diagnostics, draws
from tribosweep.sweep.cli import calibration, main
from tribosweep.sweep.cli.shared import BAD_CONFIG, TERMINATED, Terminated
from tribosweep.sweep.execution.answers import OF_NUTS, Answers
from tribosweep.sweep.io.errors import ConfigError

FEW = ["calibration.starts=2", "calibration.posterior.draws=250", "calibration.posterior.warmup=100", "calibration.posterior.chains=2"]
# those of ArviZ 0.23.4
REFERENCE = {
    "rhat": [1.6620212707998707, 1.0047690889685048],
    "bulk": [6.464246674872364, 2063.1176101978403],
    "tail": [13.45360523372258, 1872.8861019070619],
    "mcse": [0.8518966455835539, 0.02212663329490512],
}


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    return sweep.calibrate("calibrate_loop", tmp_path_factory.mktemp("loop"), FEW, posterior="nuts")


@pytest.mark.slow
def test_the_posterior_of_a_loop_is_the_normal_density_of_its_fit(loop):
    # 240 numbers that depend almost linearly on two parameters within the posterior, and priors that are flat there
    table, fit = loop.posterior_summary(), loop.to_pandas().query("optimum == 0")
    assert (table["rhat"] < 1.05).all()
    assert (table["ess_bulk"] > 150).all()
    assert np.all(np.abs(table["mean"].to_numpy() - fit["value"].to_numpy()) < 0.35 * fit["std"].to_numpy())
    assert np.allclose(table["std"], fit["std"], rtol=0.15)
    assert np.allclose(table["high"] - table["low"], fit["high"] - fit["low"], rtol=0.2)
    correlation = np.corrcoef(loop.posterior()[["k_t", "mu"]].to_numpy().T)[0, 1]
    assert correlation == pytest.approx(loop.result.known[0].correlation[0, 1], abs=0.12)
    assert loop.draws.facts["divergences"] == 0


@pytest.mark.slow
def test_files_have_the_draws_with_units_and_facts(loop):
    read = draws.read(loop.directory)
    assert (read.names, read.units) == (("k_t", "mu"), ("N/m", "1"))
    assert read.values.shape == (500, 2)
    assert [row["prior"] for row in read.facts["summary"]] == [
        "log_uniform between 2e+06 and 2e+08 N/m, from its bounds", "uniform between 0.1 and 1.5, from its bounds"]  # fmt: skip
    ln_likelihood = -0.5 * np.sum(loop.result.system.at(loop.result.space.coordinates(read.values[:3])).residuals ** 2, axis=1)
    of_prior = -np.log(read.values[:3, 0])
    assert np.ptp(read.log_density[:3] - ln_likelihood - of_prior) < 1e-8
    drawn = loop.to_arviz().posterior
    assert drawn["k_t"].dims == ("chain", "draw")
    np.testing.assert_array_equal(drawn["k_t"].to_numpy(), read.by_chain()[:, :, 0])
    assert (drawn["k_t"].attrs["units"], drawn["mu"].attrs["units"]) == ("N/m", "1")


def test_every_release_of_arviz_gives_the_same_diagnostics():
    noise = np.random.default_rng(1).normal(size=(4, 500, 2))
    found = diagnostics.summary(np.cumsum(noise, axis=1) * [0.1, 0.0] + noise[:, ::-1])
    for name, values in REFERENCE.items():
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-10, err_msg=name)


@pytest.mark.slow
def test_a_new_fit_keeps_draws_of_the_same_calibration_and_removes_others(loop):
    sweep.calibrate("calibrate_loop", loop.directory, FEW)
    assert (loop.directory / draws.POSTERIOR).exists()
    sweep.calibrate("calibrate_loop", loop.directory, [*FEW, "calibration.free.mu.to=1.4"])
    assert not (loop.directory / draws.POSTERIOR).exists()


@pytest.mark.long
@pytest.mark.slow
def test_a_narrow_prior_and_unknown_noise(tmp_path):
    # the prior of mu is narrower than what the data tell, and about a normal density: products of the two are known
    changes = [*FEW, "calibration.noise=estimated", "calibration.free.mu.prior={mean=0.6, std=0.0005}"]
    found = sweep.calibrate("calibrate_loop", tmp_path, changes, posterior="nuts")
    table = found.posterior_summary().set_index("parameter")
    alone = sweep.calibrate("calibrate_loop", tmp_path, [*FEW, "calibration.noise=estimated"]).to_pandas().query("optimum == 0")
    value, sd = alone.set_index("parameter").loc["mu", ["value", "std"]]
    precision = sd**-2 + 0.0005**-2
    assert table.loc["mu", "mean"] == pytest.approx((value / sd**2 + 0.6 / 0.0005**2) / precision, abs=0.3 * precision**-0.5)
    assert table.loc["mu", "std"] == pytest.approx(precision**-0.5, rel=0.2)
    # of m residuals with n linear parameters, 1 / factor^2 has a gamma distribution
    chi2 = found.result.optima[0].chi2
    factor = np.sqrt(chi2 / stats.gamma.ppf([0.95, 0.05], 0.5 * 239, scale=2.0))
    drawn = found.posterior()["noise_scale"]
    assert np.allclose(np.quantile(drawn, [0.05, 0.95]), factor, rtol=0.02)
    assert table.loc["noise_scale", "role"] == "noise"


WRONG = [
    ("free.mu.prior", {"distribution": "norml", "mean": 1.0, "std": 0.1}, r"prior.distribution: 'norml' is no distribution of a prior"),
    ("free.mu.prior", {"distribution": "integer", "from": 1, "to": 3}, r"prior.distribution: 'integer' is no distribution of a prior"),
    ("free.mu.prior", {"distribution": "triangular", "from": 0.2, "to": 0.4}, r"prior.mode: missing: distribution 'triangular' needs"),
    ("free.mu.prior", {"mean": 40.0, "std": 0.1}, r"free.mu.prior: leaves hardly any probability to the bounds from = 0.1, to = 1.5"),
    ("posterior", {"draw": 10}, r"calibration.posterior.draw: unknown key; did you mean 'draws'"),
    ("posterior", {"draws": 3}, r"calibration.posterior.draws: must be a whole number from 10 to 1000000"),
    ("posterior", {"acceptance": 1.0}, r"calibration.posterior.acceptance: 1.0 is out of bounds"),
    ("posterior", 3, r"calibration.posterior: must be a table"),
    ("posterior", {"noise": {"mean": -1.0, "std": 1.0}}, r"calibration.posterior.noise.mean: -1"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "said"), WRONG)
def test_wrong_priors_and_settings_are_told(path, value, said):
    document = dict(load.load("calibrate_loop").config.document)
    section = json.loads(json.dumps(load.load("calibrate_loop").section))
    place = section
    *heads, last = path.split(".")
    for head in heads:
        place = place[head]
    place[last] = value
    document.pop("sweep", None)
    with pytest.raises(ConfigError, match=said):
        load.load({**document, "calibration": section})


def test_an_unknown_sampler_is_told():
    with pytest.raises(ConfigError, match="'nut' is no sampler; did you mean 'nuts'"):
        sweep.calibrate("calibrate_loop", overrides=["calibration.starts=1"], posterior="nut")
    assert set(posterior.METHODS) == {"nuts", "smc"}


@pytest.mark.parametrize(
    ("method", "stages", "said"),
    [("nuts", 0, "begins anew"), ("nuts", 3, "goes on with the densities"), ("smc", 0, "begins anew"), ("smc", 3, "goes on after")],
)
def test_sampling_that_is_ended_says_whether_it_goes_on(method, stages, said, tmp_path, monkeypatch, capsys):
    def end(*_):
        raise Terminated

    monkeypatch.setattr(posterior, "sample", end)
    monkeypatch.setattr(posterior, "stage_files", lambda *_: SimpleNamespace(stages_there=lambda: stages))
    known = Answers(tmp_path, OF_NUTS)
    known.new = {b"key": b""} if stages else {}
    monkeypatch.setattr(posterior, "answers_for", lambda *_: known)
    with pytest.raises(typer.Exit) as ended:
        calibration.sampled(None, calibration.Method(method), tmp_path)
    assert ended.value.exit_code == TERMINATED
    assert f"Interrupted. The same command {said}" in capsys.readouterr().err


@pytest.mark.parametrize(("package", "method"), [("nutpie", "nuts"), ("arviz", "smc")])
def test_a_missing_package_is_told_before_the_fits(package, method, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("tribosweep.sweep.analysis.calibration.analysis.carry_out", lambda *_: pytest.fail("fits were made"))
    assert main(["calibrate", "calibrate_loop", "--out", str(tmp_path / "out"), "--posterior", method]) == BAD_CONFIG
    assert f"{package}, which is not installed: pip install 'tribosweep[posterior]'" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=f"{package}, which is not installed"):
        sweep.calibrate("calibrate_loop", tmp_path / "out", posterior=method)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command_prints_the_summary_and_draws_pictures(loop, tmp_path, capsys):
    settings = [part for each in FEW for part in ("--set", each)]
    pictures = ["--traces", str(tmp_path / "t.png"), "--pairs", str(tmp_path / "p.svg")]
    assert main(["calibrate", "calibrate_loop", "--out", str(tmp_path / "out"), "--posterior", "nuts", *settings, *pictures]) == 0
    told = capsys.readouterr()
    assert "posterior: 2 chains of 250 draws, no-U-turn sampler; 0 divergences" in told.out
    assert "log_uniform between 2e+06 and 2e+08 N/m, from its bounds" in told.out
    assert f"Written: {tmp_path / 't.png'}" in told.err
    assert "lines around 50 % and 90 %" in (tmp_path / "p.svg").read_text()
    assert np.array_equal(draws.read(tmp_path / "out").values, loop.draws.values)  # the same seed, from the command and from Python


def test_pictures_of_draws_need_draws(tmp_path, capsys):
    assert main(["calibrate", "calibrate_loop", "--traces", str(tmp_path / "t.png")]) == BAD_CONFIG
    assert "--traces: shows draws of a posterior: add --posterior nuts" in capsys.readouterr().err
