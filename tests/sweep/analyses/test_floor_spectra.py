"""Response spectra of the response of a point (floor spectra) against the equation of motion and closed forms."""

from pathlib import Path

import numpy as np
import pytest

from tribosweep.kernels.time_history import total_acceleration, trace
from tribosweep.sweep.analyses.spectra.read import read_spectra
from tribosweep.sweep.analyses.spectra.request import SpectraRequest
from tribosweep.sweep.io.errors import ConfigError

PARAMS = {"m": 2.0, "k": 800.0, "c": 6.0, "gap": 0.02, "k_n": 1e5, "mu": 0.0, "a0": 4.0, "omega": 15.0, "f0": 1.0, "load": 3.0, "end": 6.0}


@pytest.mark.slow
def test_the_total_acceleration_is_that_of_the_mass_and_its_base():
    times, h = np.linspace(0.5, 5.5, 301), 1e-5
    motion = [trace("stop", PARAMS, at=times + shift).v for shift in (h, -h)]
    expected = (motion[0] - motion[1]) / (2.0 * h) + PARAMS["a0"] * np.sin(PARAMS["omega"] * times)
    found = total_acceleration("stop", PARAMS, times)
    assert np.median(np.abs(found - expected)) < 1e-6
    assert np.quantile(np.abs(found - expected), 0.97) < 1e-5  # a difference over the face of the stop is none
    assert trace("stop", PARAMS).wall_force.max() > 0.0


@pytest.mark.slow
def test_a_floor_spectrum_has_the_peak_of_its_floor_and_its_resonance(tmp_path):
    w0, damping, floor = 20.0, 0.05, 15.0
    text = "\n".join(
        ["[study]", 'name = "floor"', 'model = "stop"', "[parameters]", "m = 1.0", f"k = {w0**2}", f"c = {2 * damping * w0}", "gap = 10.0",
         "k_n = 1e5", "mu = 0.0", "a0 = 2.0", f"omega = {floor}", "[time]", "end = 30.0", "[sweep.axes]", "phase = [0.0, 1.0]"]
    )  # fmt: skip
    study = tmp_path / "floor.toml"
    study.write_text(text)
    found = read_spectra([study], SpectraRequest(frequencies=[floor / (2.0 * np.pi), 30.0], damping=0.02, points=[1]))
    assert found.names == ("point 1",)
    r = floor / w0
    steady = 2.0 * np.sqrt((1.0 + (2.0 * damping * r) ** 2) / ((1.0 - r**2) ** 2 + (2.0 * damping * r) ** 2))
    (resonant, stiff) = found.spectrum.acceleration[0]
    assert resonant == pytest.approx(steady * np.sqrt(1.0 + 0.04**2) / 0.04, rel=0.02)  # an oscillator of 2 % at resonance
    assert stiff == pytest.approx(found.measures["pga"][0], rel=0.03)
    with pytest.raises(ConfigError, match="point"):
        read_spectra([study], SpectraRequest(frequencies=1.0, points=9))
    with pytest.raises(ConfigError, match="lower --to"):
        read_spectra([study], SpectraRequest(frequencies=1e6, points=0))


def test_structures_and_files_have_none(tmp_path):
    with pytest.raises(ConfigError, match="relative to the ground"):
        read_spectra([Path("tube_in_supports")], SpectraRequest(points=0))
    with pytest.raises(ConfigError, match="one study"):
        read_spectra([tmp_path / "a.csv"], SpectraRequest(points=0))
