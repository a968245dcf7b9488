"""Response spectra against closed forms and against an integration of their own."""

import numpy as np
import pytest

from tribosweep.sweep.excitation.response_spectrum import response_spectrum

FINE = 1e-6  # how much too small a peak may be found


def newmark(ground, step, period, damping, parts):
    """Peaks by Newmark's average acceleration with `parts` steps in each step of a record, and one period after it."""
    omega = 2.0 * np.pi / period
    h = step / parts
    knots = np.append(ground, 0.0)
    inside = np.interp(np.arange((len(knots) - 1) * parts + 1) * h, np.arange(len(knots)) * step, knots)
    load = -np.concatenate([inside, np.zeros(int(period / h))])
    u, v, a = 0.0, 0.0, load[0]
    peaks = np.zeros(3)
    for force in load[1:]:
        ahead, fast = u + h * v + 0.25 * h * h * a, v + 0.5 * h * a
        new = (force - 2.0 * damping * omega * fast - omega**2 * ahead) / (1.0 + damping * omega * h + 0.25 * (omega * h) ** 2)
        u, v, a = ahead + 0.25 * h * h * new, fast + 0.5 * h * new, new
        peaks = np.maximum(peaks, np.abs([u, v, omega**2 * u + 2.0 * damping * omega * v]))
    return peaks


@pytest.mark.parametrize(("period", "step"), [(0.03, 0.01), (0.4, 0.01), (2.5, 0.01), (0.02, 0.05), (0.05, 0.05)])
@pytest.mark.parametrize("damping", [0.0, 0.05, 0.6])
def test_peaks_are_those_of_newmark_with_a_tiny_step(period, step, damping):
    ground = np.random.default_rng(7).normal(size=25)
    found = response_spectrum(ground, step, period, damping)
    peaks = newmark(ground, step, period, damping, round(step / (period / 600.0)) + 40)
    got = np.array([found.displacement[0], found.velocity[0], found.acceleration[0]])
    assert got == pytest.approx(peaks, rel=2.5e-3)


def finely(ground, step, period, damping, parts):
    """Peaks at `parts` instants of each step and during one period after the record, by the state-transition matrix of a linear load."""
    from scipy.linalg import expm

    omega, h = 2.0 * np.pi / period, step / parts
    knots = np.append(ground, 0.0)
    load = np.interp(np.arange((len(knots) - 1) * parts + 1), parts * np.arange(len(knots)), knots)
    load = -np.append(load, np.zeros(int(period / h) + 1))
    # state: u, u', force, its rise per instant
    matrix = np.array([[0, 1, 0, 0], [-(omega**2), -2 * damping * omega, 1, 0], [0, 0, 0, 1 / h], [0, 0, 0, 0]], float)
    step_of = expm(h * matrix)
    state, peaks = np.zeros(2), np.zeros(3)
    for force, rise in zip(load, np.diff(load, append=0.0), strict=True):
        u, v = state
        peaks = np.maximum(peaks, np.abs([u, v, omega**2 * u + 2.0 * damping * omega * v]))
        state = (step_of @ [u, v, force, rise])[:2]
    return peaks


@pytest.mark.parametrize(("period", "step"), [(0.03, 0.01), (0.1, 0.01), (0.05, 0.05)])
@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_peaks_inside_steps_are_found(period, step, damping):
    ground = np.random.default_rng(5).normal(size=12)
    found = response_spectrum(ground, step, period, damping)
    parts = 1500  # peaks are found to (2 pi step / (parts period))^2 / 8
    got = np.array([found.displacement[0], found.velocity[0], found.acceleration[0]])
    assert got == pytest.approx(finely(ground, step, period, damping, parts), rel=3e-6)


def test_a_soft_oscillator_has_its_largest_speed_where_the_ground_stands_still():
    """Of a period that is long beside the record, u' is minus the speed of the ground, largest at 0.625 of the first step."""
    found = response_spectrum([1.0, -0.6], 0.01, [1e6], damping=0.0)
    assert found.velocity[0] == pytest.approx(0.003125, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.3, 0.8, 1.7, 4.0])
def test_a_half_sine_pulse_has_the_maxima_of_its_shock_spectrum(ratio):
    """Of an undamped oscillator (Harris, Shock and Vibration Handbook): ratio is the length of the pulse over the period."""
    length, steps = 0.1, 400
    pulse = 3.0 * np.sin(np.pi * np.arange(steps + 1) / steps)
    x = 2.0 * ratio  # omega over the frequency of the sine
    residual = 2.0 * x * np.cos(0.5 * np.pi * x) / (1.0 - x * x)
    turns = np.arange(1, 40)
    times = 2.0 * np.pi * turns / (1.0 + x)  # where sin(s) x - sin(x s) is extreme, s = pi t / length
    times = times[times <= np.pi]
    primary = [x / (x * x - 1.0) * (x * np.sin(s) - np.sin(x * s)) for s in times] or [0.0]
    expected = 3.0 * max(np.abs(residual), np.max(np.abs(primary)))
    found = response_spectrum(pulse, length / steps, length / ratio, damping=0.0)
    assert found.pseudo_acceleration[0] == pytest.approx(expected, rel=FINE + 1e-4)
    assert found.acceleration == pytest.approx(found.pseudo_acceleration)  # no damper


@pytest.mark.parametrize("damping", [0.0, 0.02, 0.2])
def test_a_step_of_acceleration_overshoots_as_its_closed_form_says(damping):
    period = 0.5
    overshoot = 1.0 + np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))
    found = response_spectrum(np.full(51, 2.0), 0.01, period, damping)  # ends after one period
    assert found.displacement[0] == pytest.approx(2.0 * overshoot * (period / (2.0 * np.pi)) ** 2, rel=FINE)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_a_long_harmonic_ends_in_the_steady_amplitude(ratio):
    period, damping = 0.4, 0.3
    omega = 2.0 * np.pi / period
    t = np.arange(0.0, 20.0, 0.001)
    slow = 1.0 - np.exp(-t)  # without a shock at the start
    found = response_spectrum(slow * np.cos(ratio * omega * t) * np.minimum(1.0, (t[-1] - t) / 2.0), 0.001, period, damping)
    amplitude = 1.0 / np.sqrt((1.0 - ratio**2) ** 2 + (2.0 * damping * ratio) ** 2)
    assert found.pseudo_acceleration[0] == pytest.approx(amplitude, rel=2e-3)
    assert found.velocity[0] == pytest.approx(ratio * amplitude / omega, rel=2e-3)
    assert found.acceleration[0] == pytest.approx(np.hypot(1.0, 2.0 * damping * ratio) * amplitude, rel=2e-3)


def test_stiff_oscillators_follow_the_base_and_soft_ones_stay_where_they_are():
    t = np.arange(0.0, 3.0, 0.01)
    ground = np.sin(2.0 * np.pi * t) * np.sin(np.pi * t / 3.0) ** 2
    found = response_spectrum([ground, 2.0 * ground], 0.01, [1e-3, 1e3])
    assert found.acceleration[0, 0] == pytest.approx(np.abs(ground).max(), rel=1e-3)
    speed = np.cumsum(0.01 * ground)
    assert found.displacement[0, 1] == pytest.approx(np.abs(np.cumsum(0.01 * speed)).max(), rel=0.03)
    assert found.acceleration[1] == pytest.approx(2.0 * found.acceleration[0])
    assert found.frequencies == pytest.approx([1e3, 1e-3])


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([], 0.01, 1.0), "record"),
        (([1.0, np.nan], 0.01, 1.0), "finite"),
        (([1.0], 0.0, 1.0), "step"),
        (([1.0], 0.01, [1.0, 0.0]), "periods"),
        (([1.0], 0.01, 1.0, 1.0), "damping"),
    ],
)
def test_bad_numbers_are_named(arguments, word):
    with pytest.raises(ValueError, match=word):
        response_spectrum(*arguments)
