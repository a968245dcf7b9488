"""Spectra of files and studies, from the command and from Python."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest

import tribosweep
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.cli import main
from tribosweep.sweep.excitation.response_spectrum import response_spectrum


@pytest.fixture
def sine(tmp_path):
    """A file with 20 s of a sine of 2 Hz, in g, and its samples in m/s^2."""
    t = 0.005 * np.arange(4001)
    pd.DataFrame({"t": t, "NS [g]": 0.1 * np.sin(4.0 * np.pi * t)}).to_csv(tmp_path / "sine.csv", index=False)
    return tmp_path / "sine.csv", 0.980665 * np.sin(4.0 * np.pi * t)


def test_a_file_in_g_resonates_as_its_closed_form_says(sine):
    path, samples = sine
    found = tribosweep.spectra(path, [0.2, 2.0, 33.0], damping=0.1, time="t", acceleration="NS")
    assert found.names == ("sine",)
    assert found.spectrum.pseudo_acceleration[0, 1] == pytest.approx(0.980665 / 0.2, rel=3e-3)  # 1 / (2 damping) at resonance
    assert found.measures["pga"][0] == pytest.approx(np.abs(samples).max())
    rows = found.to_pandas()
    assert rows.frequency.tolist() == pytest.approx([0.2, 2.0, 33.0])
    assert rows.PSv.to_numpy() == pytest.approx(rows.PSa.to_numpy() * rows.period.to_numpy() / (2.0 * np.pi))


def test_the_command_writes_what_python_computes(tmp_path, capsys):
    out = tmp_path / "new" / "spectra.parquet"
    assert main(["spectrum", "random_support", "--draws", "6", "--count", "4", "--damping", "0.02", "--out", str(out)]) == 0
    table = pd.read_parquet(out)
    frequencies = np.geomspace(0.2, 33.0, 4)
    excitation = load("random_support").excitation
    one = response_spectrum(excitation.draw(5), excitation.interval, 1.0 / frequencies, 0.02)
    assert table[table.record == "draw 5"].Sa.tolist() == one.acceleration.tolist()
    capsys.readouterr()
    assert main(["spectrum", "random_support", "--draws", "6", "--count", "4", "--damping", "0.02", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["records"][5]["Sa"] == one.acceleration.tolist()
    assert main(["spectrum", "random_support", "--draws", "6", "--count", "4", "--damping", "0.02"]) == 0
    shown = capsys.readouterr().out
    assert "draw 5" in shown
    assert f"{float(np.quantile(table[table.frequency == table.frequency.max()].Sa, 0.84)):.4g}" in shown
    picture = tmp_path / "spectra.svg"
    assert main(["spectrum", "quake", "--count", "9", "--out", str(picture)]) == 0
    assert all(word in picture.read_text().replace("\u00a0", " ") for word in ("main_shock", "aftershock", "5 % of critical damping"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sdnd104"], "excitation: missing"),
        (["quake", "random_support"], "one study"),
        (["nosuch.csv"], "No such file"),
        (["quake", "--damping", "1"], "--damping: 1 is out of bounds: must be >= 0 and < 1"),
        (["quake", "--from", "0"], "--from: 0 is out of bounds: must be > 0"),
        (["quake", "--from", "9", "--to", "3"], "--from: 9 Hz is above --to, 3 Hz"),
        (["quake", "--period", "0"], "--period: 0 is out of bounds: must be > 0"),
        (["quake", "--out", "a.txt"], ".parquet"),
        (["random_support", "--draws", "0"], "must be >= 1"),
    ],
)
def test_what_has_no_spectrum_is_named(words, message, capsys):
    assert main(["spectrum", *words]) == 2
    assert message in capsys.readouterr().err


def test_frequencies_are_checked_in_python():
    with pytest.raises(ConfigError, match="frequencies: -2 is out of bounds: must be > 0"):
        tribosweep.spectra("quake", [1.0, -2.0])


def test_python_and_the_command_have_one_request_and_one_result(sine):
    path, _ = sine
    asked, of_run = (inspect.signature(each).parameters for each in (tribosweep.spectra, tribosweep.Run.spectra))
    assert {name: each.default for name, each in asked.items() if name != "source"} == {
        name: each.default for name, each in of_run.items() if name != "self"
    }
    found = tribosweep.spectra([path], np.array([1.0, 2.0]), time="t", acceleration="NS", periods=0.5)
    assert repr(found) == "<Spectra of 1 record at 2 frequencies>"
    assert found.to_pandas().attrs["units"]["Sa"] == "m/s^2"
    measures = found.to_pandas("measures")
    assert measures.attrs["units"] == {"pga": "m/s^2", "pgv": "m/s", "arias": "m/s", "cav": "m/s", "sa_0.5s": "m/s^2"}
    assert measures.attrs["descriptions"]["pga"] == "peak ground acceleration: largest absolute acceleration of the base"
    assert all(measures.attrs["descriptions"].values())
    assert measures["sa_0.5s"].tolist() == pytest.approx([found.spectrum.acceleration[0, 1]])
    assert "<table" in found._repr_html_()


def test_a_run_has_the_spectra_of_its_study(tmp_path):
    excitation = {"random": {"band": [1.0, 9.0], "rms": 1.0, "duration": 2.0, "interval": 0.01}}
    study = {"excitation": excitation, "time": {"end": 2.0}, "sweep": {"axes": {"mu": [0.1]}}}
    (tmp_path / "run.toml").write_text(load(study).to_toml())
    config = load(tmp_path / "run.toml")
    made = tribosweep.Run(tmp_path / "run.toml", config, True, {}, {}, 0)
    frame = made.spectra(2.0, draws=2).to_pandas()
    pd.testing.assert_frame_equal(frame, tribosweep.spectra(tmp_path / "run.toml", 2.0, draws=2).to_pandas())
    assert frame.record.tolist() == ["draw 0", "draw 1"]
