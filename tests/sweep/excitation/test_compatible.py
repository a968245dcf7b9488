"""Accelerograms with a given response spectrum: how near they come, how they end, and who draws which."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from tribosweep.sweep import ConfigError, RunError, load, run
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.envelope import Envelope
from tribosweep.sweep.excitation.oscillators import Oscillators
from tribosweep.sweep.excitation.response_spectrum import response_spectrum

GIVEN = {
    "response_spectrum": [[1.0, 2.0], [3.0, 6.0], [8.0, 6.0], [20.0, 3.0]],
    "duration": 8.0,
    "interval": 0.02,
    "envelope": {"rise": 1.0, "strong": 4.0},
}


def study(**random):
    given = {key: value for key, value in (GIVEN | random).items() if value is not None}
    return {"study": {"name": "spectrum"}, "time": {"end": 8.0}, "excitation": {"random": given},
            "sweep": {"axes": {"draw": [0, 3], "mu": [0.1, 0.3]}}}  # fmt: skip


@cache
def short():
    """The excitation of GIVEN; its draws are kept."""
    return load(study()).excitation


def eurocode(frequencies):
    """EN 1998-1:2004, 3.2.2.2, type 1, ground A, ag = 3 m/s^2."""
    t = 1.0 / frequencies
    middle = np.where(t < 0.4, 2.5, np.where(t < 2.0, 2.5 * 0.4 / t, 2.5 * 0.4 * 2.0 / t**2))
    return 3.0 * np.where(t < 0.15, 1.0 + 1.5 * t / 0.15, middle)


def regulatory_guide(frequencies):
    """Regulatory Guide 1.60 (1973), horizontal, 5 % damping, for 0.2 g: it amplifies 36 inches per g at 0.25 Hz, and g elsewhere."""
    low = (2.0 * np.pi * 0.25) ** 2 * 2.05 * 36.0 * 0.0254
    nodes = [0.1, 0.25, 2.5, 9.0, 33.0], 0.2 * np.array([low * 0.16, low, 3.13 * 9.80665, 2.61 * 9.80665, 9.80665])
    return np.exp(np.interp(np.log(frequencies), np.log(nodes[0]), np.log(nodes[1])))


@pytest.mark.long_cases("eurocode", "regulatory_guide")
@pytest.mark.slow
@pytest.mark.parametrize("standard", [eurocode, regulatory_guide])
def test_draws_have_the_spectrum_of_a_standard_from_0_2_to_33_hz(standard):
    nodes = np.geomspace(0.2, 33.0, 400)
    drawn = Compatible(nodes, standard(nodes), 0.05, (0.2, 33.0), 20.0, 0.01, 1, Envelope("jennings", 2.0, 10.0), 0.1)
    fine = np.geomspace(0.2, 33.0, 1777)
    for number in range(3):
        found = response_spectrum(drawn.draw(number), 0.01, 1.0 / fine, 0.05).acceleration
        assert np.abs(found / standard(fine) - 1.0).max() < 0.1015


@pytest.mark.slow
def test_a_draw_keeps_its_tolerance_and_comes_to_rest():
    drawn = short()
    fine = np.geomspace(1.0, 20.0, 977)
    target = np.exp(np.interp(np.log(fine), np.log([1.0, 3.0, 8.0, 20.0]), np.log([2.0, 6.0, 6.0, 3.0])))
    for number in (0, 3):
        record = drawn.draw(number)
        assert record.shape == (401,)
        found = response_spectrum(record, 0.02, 1.0 / fine, 0.05).acceleration
        assert np.abs(found / target - 1.0).max() < 0.1015
        t = np.linspace(0.0, 8.02, 80_201)
        a = np.interp(t, 0.02 * np.arange(402), np.append(record, 0.0))
        speed = np.concatenate([[0.0], np.cumsum(0.5e-4 * (a[1:] + a[:-1]))])
        place = np.sum(0.5e-4 * (speed[1:] + speed[:-1]))
        assert abs(speed[-1]) < 1e-8
        assert abs(place) < 1e-6 * np.abs(speed).max()
        assert np.abs(record[:15]).max() < 0.3 * np.abs(record).max()  # the envelope rises
    assert np.abs(np.corrcoef(drawn.draw(0), drawn.draw(3))[0, 1]) < 0.5


@pytest.mark.long
@pytest.mark.slow
def test_a_draw_is_the_same_in_every_process_and_with_any_number_of_threads():
    code = (
        "import hashlib\nfrom tests.sweep.excitation.test_compatible import short\n"
        "print(hashlib.sha256(short().draw(3).tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"OPENBLAS_NUM_THREADS": threads}, capture_output=True, check=True
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1
    values, bank = short().take(np.array([3.0, 0.0, 3.0]), 2)
    assert values.tolist() == [1.0, 0.0, 1.0]
    assert (bank[1] == short().draw(3)).all()


@pytest.mark.slow
def test_rows_follow_their_draws(tmp_path):
    found = run(study(), out=tmp_path / "run")
    frame = found.to_pandas()
    assert frame.status.eq("ok").all()
    means = found.over("draw").to_pandas()
    means = means[means.observable == "wear_power"]
    assert means["mean"].to_numpy() == pytest.approx(frame.groupby("mu").wear_power.mean().to_numpy())
    again = load(tmp_path / "run" / "config.toml").excitation
    assert (again.draw(3) == short().draw(3)).all()


def test_a_target_over_periods_and_in_g_is_the_same(tmp_path):
    pairs = [[1.0 / f, a / 9.80665] for f, a in reversed(GIVEN["response_spectrum"])]
    other = load(study(response_spectrum=pairs, against="period", unit="g")).excitation
    assert other.frequencies == pytest.approx(short().frequencies)
    assert other.accelerations == pytest.approx(short().accelerations)
    rows = "".join(f"{period},{size}\n" for period, size in pairs)
    (tmp_path / "target.csv").write_text(f"period [s],sa [g]\n{rows}")
    of_file = load(study(response_spectrum=str(tmp_path / "target.csv"), against="period")).excitation
    assert of_file.accelerations == pytest.approx(short().accelerations)


@pytest.mark.long
@pytest.mark.slow
def test_what_cannot_be_reached_is_said(monkeypatch):
    monkeypatch.setattr("tribosweep.sweep.excitation.compatible.CORRECTIONS", 4)
    drawn = Compatible(np.array([0.5, 6.0]), np.array([5.0, 5.0]), 0.05, (0.5, 6.0), 2.0, 0.05, 1, Envelope("jennings", 0.2, 0.2), 0.005)
    with pytest.raises(RunError, match=r"draw 0 comes to .* % of its target, at .* Hz, not to 0.5 %"):
        drawn.draw(0)


def test_derivatives_of_peaks_are_those_of_small_changes():
    record = np.random.default_rng(2).normal(size=120)
    row = Oscillators(np.array([0.4, 3.0, 21.0]), 0.05, 0.01)
    peaks, derivatives = row.peaks(record)
    assert np.abs(peaks) == pytest.approx(response_spectrum(record, 0.01, 1.0 / row.frequencies, 0.05).acceleration, rel=2e-3)
    change = np.random.default_rng(4).normal(size=120) * 1e-6
    assert row.peaks(record + change)[0] - peaks == pytest.approx(derivatives @ change, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("shape", ["jennings", "trapezoid"])
def test_envelopes_rise_stay_and_decay(shape):
    times = np.linspace(0.0, 20.0, 2001)
    factors = Envelope(shape, 2.0, 10.0).factors(times)
    assert factors[0] == 0.0
    assert (factors[200:1201] == 1.0).all()
    assert factors[-1] == pytest.approx(0.05 if shape == "jennings" else 0.0)
    assert factors[100] == pytest.approx(0.25 if shape == "jennings" else 0.5)
    assert factors[1600] == pytest.approx(0.05**0.5 if shape == "jennings" else 0.5)


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"envelope": None}, "envelope", "rise = 2.0"),
        ({"envelope": {"rise": 2.0, "strong": 9.0}}, "envelope", "do not fit into 8 s"),
        ({"envelope": {"rise": 1.0, "strong": 4.0, "shape": "jenings"}}, "envelope.shape", "jennings"),
        ({"envelope": {"rise": 1.0, "strong": 4.0, "fall": 1.0}}, "envelope.fall", "unknown key"),
        ({"envelope": {"rise": 1.0}}, "envelope.strong", "missing"),
        ({"spectrum": [[1.0, 0.1], [2.0, 0.1]]}, "spectrum", "power spectral density"),
        ({"against": "time"}, "against", "period"),
        ({"response_spectrum": [[1.0, 2.0]]}, "response_spectrum", "at least 2"),
        ({"response_spectrum": [[2.0, 2.0], [1.0, 2.0]]}, "response_spectrum[1]", "does not exceed"),
        ({"response_spectrum": [[1.0, 2.0], [2.0, 0.0]]}, "response_spectrum[1]", "> 0"),
        ({"response_spectrum": 3.0}, "response_spectrum", "pairs"),
        ({"match": [0.5, 20.0]}, "match", "within 1 to 20 Hz"),
        ({"match": 3.0}, "match", "two frequencies"),
        ({"tolerance": 0.0}, "tolerance", ">= 0.005"),
        ({"damping": 0.0}, "damping", "> 0"),
        ({"interval": 0.05}, "interval", "fewer than 2.5"),
        ({"duration": None}, "duration", "missing"),
        ({"response_spectrum": None, "band": [1.0, 8.0], "rms": 1.0}, "envelope", "belongs to a response_spectrum"),
    ],
)
def test_wrong_keys_are_named(change, path, words):
    with pytest.raises(ConfigError) as caught:
        load(study(**change))
    assert any(problem.path == f"excitation.random.{path}" and words in problem.message for problem in caught.value.problems), caught.value
