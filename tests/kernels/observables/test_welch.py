"""Spectral densities against Parseval's theorem, a line of a sine, and scipy's Welch method."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.signal

from tribosweep.kernels.models.signals import Signals
from tribosweep.kernels.observables import welch

STEP = 0.004


def densities(asked, samples, count=None):
    """The densities of samples (channels, n), given piece by piece as the kernel does it."""
    sums = welch.init(asked, jnp.zeros(()))
    count = samples.shape[1] if count is None else count
    for first in range(0, samples.shape[1] - asked.hop + 1, asked.hop):
        sums = welch.update(sums, asked, jnp.asarray(samples[:, first : first + asked.hop]), float(first), float(count))
    return [np.asarray(each) for each in welch.finish(sums, asked)]


@pytest.mark.slow
def test_the_sum_of_lines_is_the_variance():
    samples = np.random.default_rng(1).normal(3.0, 2.0, (2, 512))
    asked = Signals(STEP, psd=("x", "v"), cross_psd=(("x", "v"),), segment=512, overlap=0.0, taper="boxcar")
    power, cross = densities(asked, samples)
    line = asked.frequencies[1]
    np.testing.assert_allclose(power.sum(axis=1) * line, samples.var(axis=1), rtol=1e-12)
    np.testing.assert_allclose(cross.sum(axis=1).real * line, np.cov(samples, bias=True)[0, 1], rtol=1e-10)
    kept = densities(Signals(STEP, psd=("x", "v"), segment=512, overlap=0.0, taper="boxcar", detrend="none"), samples)[0]
    np.testing.assert_allclose(kept.sum(axis=1) * line, np.mean(samples**2, axis=1), rtol=1e-12)


def test_a_sine_has_one_line_of_half_its_square():
    asked = Signals(STEP, psd=("x",), segment=256, overlap=0.5, taper="boxcar")
    frequency = asked.frequencies[16]
    samples = 0.7 * np.sin(2.0 * np.pi * frequency * STEP * np.arange(2048) + 0.3)
    power, _ = densities(asked, samples[np.newaxis])
    assert power[0, 16] * asked.frequencies[1] == pytest.approx(0.5 * 0.7**2, rel=1e-12)
    assert np.delete(power[0], 16).max() < 1e-20


@pytest.mark.parametrize("taper", ["hann", "hamming", "blackman", "boxcar"])
@pytest.mark.parametrize("overlap", [0.0, 0.5, 0.75])
def test_densities_are_those_of_scipy(taper, overlap):
    samples = np.cumsum(np.random.default_rng(7).normal(size=(2, 1000)), axis=1)
    for detrend in ("constant", "none"):
        asked = Signals(STEP, psd=("x", "v"), cross_psd=(("x", "v"),), segment=128, overlap=overlap, taper=taper, detrend=detrend)
        whole = samples.shape[1] // asked.hop * asked.hop
        power, cross = densities(asked, samples)
        settings = {
            "fs": 1.0 / STEP,
            "window": taper,
            "nperseg": 128,
            "noverlap": 128 - asked.hop,
            "detrend": detrend == "constant" and detrend,
        }
        frequencies, expected = scipy.signal.welch(samples[:, :whole], **settings)
        np.testing.assert_allclose(asked.frequencies, frequencies)
        np.testing.assert_allclose(power, expected, rtol=1e-9, atol=1e-12 * expected.max())
        _, expected = scipy.signal.csd(*samples[:, :whole], **settings)
        np.testing.assert_allclose(cross[0], expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_samples_beyond_the_window_belong_to_no_segment():
    samples = np.random.default_rng(2).normal(size=(1, 1024))
    asked = Signals(STEP, psd=("x",), segment=128)
    some = densities(asked, samples, count=700)[0]
    expected = scipy.signal.welch(samples[:, :700], 1.0 / STEP, nperseg=128)[1]
    np.testing.assert_allclose(some, expected, rtol=1e-9)
    assert np.isnan(densities(asked, samples, count=127)[0]).all()
