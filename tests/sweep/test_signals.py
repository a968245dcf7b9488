"""The shipped study of signals: random vibration of a linear oscillator against closed forms, and impacts of its stops."""

from pathlib import Path

import numpy as np
import pytest

from tribosweep import sweep

S0 = 3.0**2 / 39.5  # (m/s^2)^2/Hz, of the band
M, K, C, STEP = 1.0, 987.0, 1.885, 0.005
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.shapes,
]  # impacts are counted by two programs: chaos tells programs of other shapes apart


def density_of(frequency):
    """The density of x under the band, whose samples are joined by straight lines (the factor sinc^4)."""
    omega = 2.0 * np.pi * frequency
    inside = (frequency >= 0.5) & (frequency <= 40.0)
    return inside * S0 * np.sinc(frequency * STEP) ** 4 / ((K / M - omega**2) ** 2 + (C / M * omega) ** 2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    return sweep.run("signals", out=folder / "run", overrides=['sweep.axes.gap=["1 m", "5 mm"]'])


def test_the_spectrum_is_that_of_a_linear_oscillator_under_white_noise(run):
    rows = run.to_pandas()
    rows = rows[rows.gap == 1.0]
    spectra = np.array(rows.psd_x.tolist())  # 16 draws of 77 segments, half of which overlap
    frequency = np.arange(spectra.shape[1]) / (1024 * 0.002)
    there = (frequency > 1.5) & (frequency < 38.0) & (abs(frequency - 5.0) > 2.0)  # at the peak the taper smooths
    ratio = spectra.mean(axis=0)[there] / density_of(frequency[there])
    assert abs(ratio.mean() - 1.0) < 0.02
    assert np.abs(ratio - 1.0).max() < 5.0 / np.sqrt(16 * 77 / 2.0)
    fine = np.linspace(0.5, 40.0, 200_001)
    variance = np.trapezoid(density_of(fine), fine)
    areas = spectra.sum(axis=1) * frequency[1]
    assert abs(areas.mean() / variance - 1.0) < 4.0 * areas.std(ddof=1) / areas.mean() / 4.0
    cross = np.array(rows.cross_psd_im_x_v.tolist()).mean(axis=0)
    np.testing.assert_allclose(cross[there], (2.0 * np.pi * frequency * spectra.mean(axis=0))[there], rtol=0.05)


def test_crossings_of_a_gaussian_motion_are_those_of_rice(run):
    rows = run.to_pandas()
    rows = rows[rows.gap == 1.0]
    counts = np.array(rows.crossings_x.tolist())
    fine = np.linspace(0.5, 40.0, 200_001)
    density = density_of(fine)
    variance, speed = np.trapezoid(density, fine), np.trapezoid((2.0 * np.pi * fine) ** 2 * density, fine)
    levels = np.linspace(-0.015, 0.015, 31)
    expected = 40.0 * np.sqrt(speed / variance) / (2.0 * np.pi) * np.exp(-(levels**2) / (2.0 * variance))
    error = counts.std(axis=0, ddof=1) / np.sqrt(len(counts))
    assert np.abs((counts.mean(axis=0) - expected) / np.maximum(error, 0.5)).max() < 3.5
    assert abs(counts.mean(axis=0)[15] / expected[15] - 1.0) < 0.02


def test_impacts_are_as_many_as_the_run_has(run):
    rows = run.to_pandas()
    rows = rows[rows.gap == 0.005]
    for name in ("impact_peaks", "impact_durations"):
        counted = np.array([sum(cell) for cell in rows[name]])
        assert np.abs(counted - rows.impacts.to_numpy()).max() <= 1  # one may straddle an end of the window
    assert rows.impacts.min() > 100


def test_what_the_run_offers(run, tmp_path):
    found = run.signals(["psd_x", "rainflow_x"], at={"gap": 1.0})
    assert found["psd_x"].curves[0].rows == 16
    assert found["psd_x"].entries[1] == pytest.approx(1.0 / 2.048)
    assert found["rainflow_x"].counts
    assert Path(found.plot(tmp_path / "signals.png").save(tmp_path / "again.png")).is_file()
    assert set(found.to_pandas().signal) == {"psd_x", "rainflow_x"}
