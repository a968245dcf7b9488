"""Measures of strong motion against closed forms, and those of the records and draws of a study."""

import numpy as np
import pytest
from scipy.integrate import quad

from tribosweep.sweep import load
from tribosweep.sweep.excitation.intensity import GRAVITY, intensities, measures, of_study, scaled
from tribosweep.sweep.excitation.response_spectrum import response_spectrum

STEP = 0.1


def linear(samples):
    """The acceleration between samples, as a function of time, and its corners."""
    knots = np.arange(len(samples) + 1) * STEP
    return lambda t: float(np.interp(t, knots, [*samples, 0.0])), knots


def test_measures_are_integrals_of_the_broken_line():
    samples = np.random.default_rng(3).normal(size=12)
    ground, knots = linear(samples)
    found = intensities(samples, STEP)
    corners = {"points": knots[1:-1].tolist(), "limit": 800}
    assert found["pga"] == np.abs(samples).max()
    assert found["cav"] == pytest.approx(quad(lambda t: abs(ground(t)), 0.0, knots[-1], **corners)[0], rel=1e-6)
    square = quad(lambda t: ground(t) ** 2, 0.0, knots[-1], **corners)[0]
    assert found["arias"] == pytest.approx(np.pi / (2.0 * GRAVITY) * square, rel=1e-9)
    t = np.linspace(0.0, knots[-1], 240_001)
    a = np.interp(t, knots, [*samples, 0.0])
    speed = np.cumsum(0.5 * (a[1:] + a[:-1]) * np.diff(t))
    assert found["pgv"] == pytest.approx(np.abs(speed).max(), rel=1e-8)


def test_a_velocity_peaks_between_samples():
    assert intensities([3.0, -1.0, 0.0], 0.1)["pgv"] == pytest.approx(0.5 * 0.075 * 3.0)  # 0 after three quarters of the first step


def test_a_sine_has_the_measures_of_its_formulas():
    t = np.arange(0.0, 10.0 + 1e-9, 1e-3)
    found = intensities(4.0 * np.sin(2.0 * np.pi * t), 1e-3)
    assert found["pga"] == pytest.approx(4.0, rel=1e-5)
    assert found["pgv"] == pytest.approx(4.0 / np.pi, rel=1e-5)
    assert found["cav"] == pytest.approx(10.0 * 4.0 * 2.0 / np.pi, rel=1e-5)
    assert found["arias"] == pytest.approx(np.pi / (2.0 * GRAVITY) * 80.0, rel=1e-5)


def test_the_arias_intensity_is_the_energy_of_the_fourier_transform():
    """Parseval's theorem; the transform of the broken line is that of its samples times sinc squared."""
    samples = np.random.default_rng(5).normal(size=64)
    n = 1 << 12
    padded = np.fft.fft(np.append(0.0, samples), n)  # a line rises to the first sample here, so that only hats are summed
    frequency = np.fft.fftfreq(n)
    energy = sum(np.sum(np.abs(padded) ** 2 * np.sinc(frequency + k) ** 4) for k in range(-20, 21)) / n * STEP
    found = intensities(np.append(0.0, samples), STEP)["arias"]
    assert found == pytest.approx(np.pi / (2.0 * GRAVITY) * energy, rel=1e-6)


def test_scaled_records_have_scaled_measures():
    samples = np.random.default_rng(11).normal(size=(3, 40))
    factor = np.array([0.5, -2.0, 0.0])
    direct = intensities(samples * factor[:, None], STEP, [0.3, 1.0])
    assert set(direct) == set(measures([0.3, 1.0]))
    for name, value in scaled(intensities(samples, STEP, [0.3, 1.0]), factor).items():
        assert value == pytest.approx(direct[name]), name


def test_each_row_of_a_study_has_the_measures_of_its_draw():
    random = {"band": [1.0, 8.0], "rms": 2.0, "duration": 4.0, "interval": 0.01}
    excitation = load({"study": {"model": "stop"}, "time": {"end": 4.0}, "excitation": {"random": random}}).excitation
    rows = np.array([[3.0, 0.0], [np.nan, 3.0]])
    found = of_study(excitation, rows, [0.2], damping=0.02)
    alone = excitation.draw(3)
    assert found["pga"][0, 0] == found["pga"][1, 1] == np.abs(alone).max()
    assert found["sa_0.2s_2%"][0, 0] == pytest.approx(response_spectrum(alone, 0.01, 0.2, 0.02).acceleration[0])
    assert found["pgv"][0, 1] == pytest.approx(intensities(excitation.draw(0), 0.01)["pgv"])
    assert all(np.isnan(value[1, 0]) and np.isfinite(value).sum() == 3 for value in found.values())
    assert all(np.isnan(value).all() for value in of_study(excitation, [np.nan]).values())


def test_each_row_of_a_study_has_the_measures_of_its_record(tmp_path):
    long, short = np.arange(30) % 7 - 3.0, np.array([0.0, 2.0, -1.0])
    for name, samples in (("long", long), ("short", short)):
        rows = "".join(f"{STEP * place:.3f},{value}\n" for place, value in enumerate(samples))
        (tmp_path / f"{name}.csv").write_text(f"time,acceleration\n{rows}")
    files = [str(tmp_path / "long.csv"), str(tmp_path / "short.csv")]
    config = load(
        {"excitation": {"records": files, "extend": "zero"}, "sweep": {"axes": {"record": ["long", "short"]}}, "time": {"end": 2.0}}
    )
    found = of_study(config.excitation, [1, 0, 1])
    assert found["cav"] == pytest.approx([intensities(each, STEP)["cav"] for each in (short, long, short)])
