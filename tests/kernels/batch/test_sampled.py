"""Signals of many rows against samples of single runs, the event log, and scipy."""

import numpy as np
import pytest
import scipy.signal

from tribosweep.kernels.batch.sampled import signals
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.kwu_epri import KwuEpriLaw, kwu_epri
from tribosweep.kernels.models.signals import Signals, channels, density
from tribosweep.kernels.structure_samples import samples
from tribosweep.kernels.time_history import impacts, trace
from tribosweep.sweep.study.load import load

STEP = 0.002
PEAKS, DURATIONS = (0.0, 20.0, 30.0, 40.0), (0.0, 0.009, 0.01, 0.011)
ROWS = {
    "gap": 0.002, "sides": 2.0, "k_n": 1e5, "k": 400.0, "c": 1.0, "mu": 0.0, "omega": 15.0, "end": np.array([6.0, 5.0, 6.0]),
    "window_start": np.array([1.0, 1.5, 1.0]), "window_end": np.array([6.0, 4.5, 6.0]), "a0": np.array([2.0, 1.8, 0.02]),
}  # fmt: skip
ASKED = Signals(
    STEP, 2, psd=("x", "a", "wall_force"), cross_psd=(("x", "v"),), segment=256, rainflow=(("x", (0.0, 1e-3, 4e-3)),),
    crossings=(("x", (-1e-3, 0.0, 2e-3)),), exponent=3.0, peaks=PEAKS, durations=DURATIONS,
)  # fmt: skip


def one_row(columns, row):
    return {name: float(np.broadcast_to(value, 3)[row]) for name, value in columns.items()}


def passes(values, levels):
    return [int(np.sum((values[:-1] < level) & (values[1:] >= level))) for level in levels]


@pytest.fixture(scope="module")
def found():
    model = MODELS["stop"]
    status = solve(model, "exact", ROWS, None, 3).status
    assert not status.any()
    return signals(model, "exact", ASKED, ROWS, None, status)


@pytest.mark.long
@pytest.mark.slow
def test_columns_are_those_announced(found):
    assert list(found) == list(ASKED.columns(MODELS["stop"]))
    for name, (quantity, entries) in ASKED.columns(MODELS["stop"]).items():
        assert found[name].shape == ((3,) if entries is None else (3, len(entries.values)))
        assert quantity.length == (0 if entries is None else len(entries.values))


@pytest.mark.long_cases("2-*")
@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("part", [1, 2])
def test_spectra_are_those_of_samples_of_the_same_run(found, row, part):
    params = one_row(ROWS, row)
    length = (params["window_end"] - params["window_start"]) / 2.0
    times = params["window_start"] + (part - 1) * length + STEP * np.arange(round(length / STEP))
    motion = trace("stop", params, at=times)
    settings = {"fs": 1.0 / STEP, "nperseg": 256}
    for name in ("x", "wall_force"):
        expected = scipy.signal.welch(motion[name], **settings)[1]
        np.testing.assert_allclose(found[f"part{part}_psd_{name}"][row], expected, rtol=1e-6, atol=1e-9 * expected.max() + 1e-30)
    expected = scipy.signal.csd(motion.x, motion.v, **settings)[1]
    cross = found[f"part{part}_cross_psd_re_x_v"][row] + 1j * found[f"part{part}_cross_psd_im_x_v"][row]
    np.testing.assert_allclose(cross, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    # the acceleration against the equation of motion, without friction
    driven = -params["a0"] * np.sin(params["omega"] * times)
    side = np.sign(motion.x)
    a = driven - params["k"] * motion.x - params["c"] * motion.v - side * motion.wall_force
    expected = scipy.signal.welch(a, **settings)[1]
    np.testing.assert_allclose(found[f"part{part}_psd_a"][row], expected, rtol=1e-6, atol=1e-9 * expected.max())


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 1, 2])
def test_impacts_are_those_of_the_event_log(found, row):
    params = one_row(ROWS, row)
    log = impacts("stop", params)
    ends, half = log.time + log.duration, 0.5 * (params["window_end"] - params["window_start"])
    for part in (1, 2):
        start = params["window_start"] + (part - 1) * half
        there = (ends >= start) & (ends < start + half)
        for name, values, edges in (("peaks", log.peak_force, PEAKS), ("durations", log.duration, DURATIONS)):
            expected = np.histogram(values[there], np.append(edges, np.inf))[0]
            np.testing.assert_array_equal(found[f"part{part}_impact_{name}"][row], expected)
    assert (row == 2) == (len(log.time) == 0)


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 1])
def test_crossings_are_those_of_a_dense_trace(found, row):
    params = one_row(ROWS, row)
    half = 0.5 * (params["window_end"] - params["window_start"])
    for part in (1, 2):
        start = params["window_start"] + (part - 1) * half
        dense = trace("stop", params, at=np.linspace(start, start + half - STEP, 40_000)).x
        assert found[f"part{part}_crossings_x"][row].tolist() == passes(dense, (-1e-3, 0.0, 2e-3))


def test_rows_without_results_have_no_signals():
    found = signals(MODELS["stop"], "exact", ASKED, ROWS, None, np.full(3, 2, np.int8))
    assert all(np.isnan(values).all() for values in found.values())


@pytest.mark.long
@pytest.mark.slow
def test_time_schemes_give_the_signals_of_the_exact_engine():
    model = MODELS["rubbing_mass"]
    rows = {"mu": 0.0, "k": 400.0, "c": 0.8, "a0": np.array([1.0, 2.0]), "omega": 7.0, "end": 5.0, "step": 1e-3}
    asked = Signals(0.005, psd=("x",), segment=128, crossings=(("x", (0.0,)),))
    whole = {}
    for scheme in ("exact", "devogelaere"):
        solved = solve(model, scheme, {**rows, "k_t": 1e9} if scheme != "exact" else rows, None, 2)
        whole[scheme] = signals(model, scheme, asked, {**rows, "k_t": 1e9} if scheme != "exact" else rows, None, solved.status)
    one, other = whole["exact"], whole["devogelaere"]
    np.testing.assert_allclose(other["psd_x"], one["psd_x"], rtol=2e-3, atol=1e-7 * one["psd_x"].max())
    np.testing.assert_array_equal(other["crossings_x"], one["crossings_x"])


def test_units_of_densities():
    assert [density("m", "m"), density("m/s", "m/s"), density("m/s^2", "m/s^2"), density("N", "N")] == [
        "m^2/Hz", "(m/s)^2/Hz", "(m/s^2)^2/Hz", "N^2/Hz",
    ]  # fmt: skip
    assert list(channels(MODELS["rubbing_mass"])) == ["x", "v", "a", "friction_force"]


@pytest.mark.long
@pytest.mark.slow
def test_signals_of_a_structure_are_those_of_its_samples():
    config = load("rod_in_ring")
    model, params = config.model, {**config.fixed, "end": 1.0, "window_start": 0.2, "window_end": 1.0}
    params |= {name: float(values[0]) for name, values in config.design.points(0, 1).columns.items()}
    names, edges = ("x[centre]", "normal_force[ring]"), (0.0, 1.0, 5.0)
    asked = Signals(0.001, psd=names, segment=128, peaks=edges, durations=(0.0,))
    rows = {**params, "end": np.array([1.0, 1.0])}
    solved = solve(model, config.scheme, rows, None, 2)
    found = signals(model, config.scheme, asked, rows, None, solved.status)
    one = samples(model, params, 0.2 + 0.001 * np.arange(800), config.scheme)
    for name in names:
        expected = scipy.signal.welch(np.asarray(one[name]), 1000.0, nperseg=128)[1]
        np.testing.assert_allclose(found[f"psd_{name}"][1], expected, rtol=1e-9, atol=1e-12 * expected.max())
    assert abs(found["impact_peaks[ring]"][0].sum() - solved.observables["impacts[ring]"][0]) <= 1.0
    assert found["impact_durations[ring]"][0].sum() == found["impact_peaks[ring]"][0].sum() > 5.0


@pytest.mark.long
@pytest.mark.slow
def test_wear_by_kwu_epri_is_that_of_the_course_of_a_row():
    config = load("rod_in_ring")
    params = {**config.fixed, "end": 1.0, "window_start": 0.2, "window_end": 1.0, "mu[ring]": 0.2}
    rows = {**params, "gap[ring]": np.array([3e-4, 6e-4, 1.0])}  # the last one is never reached
    law = KwuEpriLaw(2e-15, 0.5, 0.4, 1e7, force_max=300.0, speed_max=0.4)
    interval = 0.000997  # no whole number of steps: at the end of a step that begins a contact, rounding would decide on it
    asked = Signals(interval, 2, kwu_epri=law, worn=("ring",), segment=128)
    solved = solve(config.model, config.scheme, rows, None, 3)
    found = signals(config.model, config.scheme, asked, rows, None, solved.status)
    for row, gap in enumerate(rows["gap[ring]"][:2]):
        for part in range(2):
            times = 0.2 + 0.4 * part + interval * np.arange(int(0.4 / interval))
            one = samples(config.model, {**params, "gap[ring]": gap}, times, config.scheme)
            expected = kwu_epri(times, one["normal_force[ring]"], one["sliding_speed[ring]"], **law._asdict())
            got = [found[f"part{part + 1}_{name}[ring]"][row] for name in ("wear_volume_kwu_epri", "kwu_epri_impacts", "kwu_epri_sliding")]
            np.testing.assert_allclose(got, [expected.volume, expected.impacts, expected.sliding], rtol=1e-9)
            assert expected.volume > 0.0
            assert np.count_nonzero(expected.shares) > 5
    assert [found[f"part2_{name}[ring]"][2] for name in ("wear_volume_kwu_epri", "kwu_epri_impacts")] == [0.0, 0.0]
    assert list(found) == list(asked.columns(config.model))
