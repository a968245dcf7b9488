"""Random accelerations: their spectrum, variance and independence, who draws which, and means over draws."""

from __future__ import annotations

import json
import math
import multiprocessing
import subprocess
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import signal, stats
from scipy.integrate import quad

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, load, resume, run
from tribosweep.sweep.analyses.sensitivity import derivatives
from tribosweep.sweep.analysis.regime_map import read_map, theory_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.designs import most_draws
from tribosweep.sweep.excitation.spectrum import Spectrum
from tribosweep.sweep.excitation.stationary import Stationary
from tribosweep.sweep.execution.parquet import read_facts
from tribosweep.sweep.execution.record_bank import bind_records
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.study.shard_size import MOST_BANK

Captured = pytest.CaptureFixture[str]
HILL = Spectrum(np.array([0.5, 2.0, 6.0, 15.0]), np.array([0.01, 0.3, 0.3, 0.02]))
STEEP = Spectrum(np.array([1.0, 3.0, 12.0]), np.array([0.02, 1.0, 0.01]), logarithmic=True)
RANDOM = {"band": [1.0, 8.0], "rms": "0.3 g", "duration": 4.0, "interval": 0.01}


def study(**sweep: Any) -> dict[str, Any]:
    """A study of draws."""
    return {"time": {"end": 4.0}, "excitation": {"random": RANDOM}, "sweep": sweep}


@pytest.mark.parametrize("spectrum", [HILL, STEEP], ids=["linear", "log"])
def test_the_power_of_a_spectrum_is_its_integral(spectrum: Spectrum) -> None:
    def density(f: float) -> float:
        return float(spectrum.density(np.array(f)))

    for end in (0.1, 0.7, 2.0, 3.3, 9.0, 12.0, 20.0):
        nodes = [*spectrum.frequencies.tolist()]
        pieces = np.unique(np.clip([nodes[0], *nodes, end], nodes[0], min(end, nodes[-1]))) if end > nodes[0] else np.empty(0)
        expected = sum(quad(density, a, b, epsabs=1e-13)[0] for a, b in pairwise(pieces))
        assert float(spectrum.power(np.array(end))) == pytest.approx(expected, rel=1e-10, abs=1e-15)
    assert spectrum.variance == pytest.approx(float(spectrum.power(np.array(1e9))), rel=1e-15)


def test_a_straight_line_that_falls_as_one_over_f_has_a_logarithm_for_its_power() -> None:
    spectrum = Spectrum(np.array([1.0, 10.0]), np.array([1.0, 0.1]), logarithmic=True)
    assert spectrum.variance == pytest.approx(math.log(10.0), rel=1e-14)


@pytest.mark.parametrize("spectrum", [HILL, STEEP], ids=["linear", "log"])
def test_the_spectrum_of_the_draws_is_the_one_asked_for(spectrum: Spectrum) -> None:
    made = Stationary(spectrum, 40.96, 0.01, seed=3)
    draws = np.stack([made.draw(n) for n in range(256)])
    frequencies, found = signal.welch(draws[:, :4096], fs=100.0, window="boxcar", nperseg=512, noverlap=0, detrend=False, axis=1)
    # a periodogram sees S through its window: the mean of S weighted by Fejer's kernel, by brute force here
    fine = np.arange(1, 50_000) * 1e-3
    kernel = [np.sum(spectrum.density(fine) * (fejer(fine - f, 5.12) + fejer(fine + f, 5.12))) * 1e-3 for f in frequencies]
    inside = (frequencies > 0.0) & (spectrum.density(frequencies) > 0.0)
    # each estimate is a mean of 256 x 8 values whose standard deviation is their mean (8 neighbours in a draw are nearly independent)
    error = (found.mean(axis=0) / kernel - 1.0)[inside]
    scatter = found.std(axis=0, ddof=1)[inside] / np.array(kernel)[inside] / math.sqrt(256)
    assert np.all(scatter < 0.035)
    score = error / scatter
    assert np.abs(score).max() < 4.5
    assert abs(score.mean()) < 4.5 / math.sqrt(inside.sum())


def fejer(f: np.ndarray, length: float) -> np.ndarray:
    """What a boxcar of that length makes of a line, as a density over frequency (continuous time)."""
    return length * np.sinc(length * f) ** 2


def test_draws_are_gaussian_stationary_and_independent() -> None:
    made = Stationary(HILL, 20.0, 0.01, seed=11)
    draws = np.stack([made.draw(n) for n in range(2000)])
    count = len(draws)
    for place in (0, 1, 777, 2000):  # over the draws at one instant
        assert stats.kstest(draws[:, place] / math.sqrt(HILL.variance), "norm").pvalue > 1e-4
        assert abs(draws[:, place].var() / HILL.variance - 1.0) < 4.5 * math.sqrt(2.0 / count)
    # the covariance at a lag is the cosine transform of the spectrum, wherever in the draw, and none between its ends
    fine = np.linspace(0.0, 20.0, 40_001)
    for lag in (3, 40, 200):
        expected = np.trapezoid(HILL.density(fine) * np.cos(2.0 * np.pi * fine * lag * 0.01), fine)
        for place in (0, 1500):
            products = draws[:, place] * draws[:, place + lag]
            assert abs(products.mean() - expected) < 4.5 * products.std() / math.sqrt(count)
    ends = draws[:, 0] * draws[:, -1]
    assert abs(ends.mean()) < 4.5 * ends.std() / math.sqrt(count)
    neighbours = draws[:-1, 500] * draws[1:, 500]
    assert abs(neighbours.mean()) < 4.5 * neighbours.std() / math.sqrt(count)
    other = np.stack([Stationary(HILL, 20.0, 0.01, seed=12).draw(n) for n in range(500)])
    between = draws[:500, 500] * other[:, 500]
    assert abs(between.mean()) < 4.5 * between.std() / math.sqrt(500)


def test_ramps_let_a_draw_grow_and_die_away() -> None:
    plain, ramped = (Stationary(HILL, 20.0, 0.01, 5, ramps).draw(4) for ramps in ((0.0, 0.0), (2.0, 4.0)))
    assert ramped[0] == ramped[-1] == 0.0
    np.testing.assert_array_equal(ramped[200:1601], plain[200:1601])
    assert ramped[100] == pytest.approx(0.5 * plain[100], rel=1e-12)
    assert ramped[1800] == pytest.approx(0.5 * plain[1800], rel=1e-12)


def test_a_draw_is_the_same_in_every_process_and_shard() -> None:
    made = Stationary(HILL, 20.0, 0.01, 5)
    code = (
        "import numpy as np; from tribosweep.sweep.excitation.spectrum import Spectrum;"
        "from tribosweep.sweep.excitation.stationary import Stationary;"
        "s = Spectrum(np.array([0.5, 2.0, 6.0, 15.0]), np.array([0.01, 0.3, 0.3, 0.02]));"
        "print(Stationary(s, 20.0, 0.01, 5).draw(123456789).tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert done.stdout.strip() == made.draw(123456789).tobytes().hex()
    config = load(
        {**study(axes={"a0": [0.0, 1.0, 2.0], "draw": {"from": 0, "to": 6, "spacing": "integer"}}), "output": {"shard_points": 5}}
    )
    assert isinstance(config.excitation, Stationary)
    for start in range(0, 21, 5):
        _, points, records = bind_records(config, config.design.points(start, min(start + 5, 21)))
        assert records is not None
        assert records.samples.shape == (config.most_draws, 401)
        for number, place in zip(range(start, start + points.count), points.columns["record"].astype(int), strict=True):
            np.testing.assert_array_equal(records.samples[place], config.excitation.draw(number % 7))


def test_a_shard_holds_no_more_draws_than_its_points_can_have() -> None:
    draws = {"from": 0, "to": 999, "spacing": "integer"}
    slow, fast = ({"axes": axes} for axes in ({"draw": draws, "mu": [0.1, 0.2, 0.3, 0.4]}, {"mu": [0.1, 0.2], "draw": draws}))
    for sweep, points, expected in ((slow, 10, 4), (slow, 1, 1), (fast, 10, 10), (fast, 5000, 1000)):
        config = load({**study(**sweep), "output": {"shard_points": points}})
        assert config.most_draws == expected
        there = [len(np.unique(config.design.points(at, at + points).columns["draw"])) for at in range(0, 2000, points)]
        assert max(there) <= expected
    mixed = load({**study(axes={}), "sweep": [{"design": "zip", "axes": {"draw": [4, 5, 6]}}, {"axes": {"mu": [0.1]}}]})
    assert most_draws(mixed.design, 100) == 4


def test_shards_are_as_large_as_their_draws_allow() -> None:
    sweep = {"axes": {"mu": [0.1, 0.2], "draw": {"from": 0, "to": 99_999, "spacing": "integer"}}}
    long = {**RANDOM, "duration": 60.0, "interval": 0.005}
    config = load({**study(**sweep), "excitation": {"random": long}})
    assert config.most_draws * 12_001 * 8 <= 2**28
    assert config.shard_points == 2048
    few = {"axes": {"mu": [0.1, 0.2], "draw": [0, 1]}}
    assert load({**study(**few), "excitation": {"random": long}}).shard_points == 2048  # so that more draws extend it
    with pytest.raises(ConfigError, match=r"output\.shard_points: 50000 points with up to 50,000 draws of 12,001 samples are more than"):
        load({**study(**sweep), "excitation": {"random": long}, "output": {"shard_points": 50_000}})
    assert 50_000 * 12_001 * 8 > MOST_BANK


def test_a_study_of_draws_reads_back_as_itself(tmp_path: Path) -> None:
    (tmp_path / "psd.csv").write_text("frequency [Hz],psd [g2/Hz]\n1,0.001\n10,0.002\n")
    random = {"spectrum": "psd.csv", "interpolation": "log", "duration": "1 min", "interval": "5 ms", "taper": "2 s", "seed": 4}
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in random.items())
    (tmp_path / "study.toml").write_text(f"[excitation.random]\n{text}\n[sweep.axes]\ndraw = [0, 7]\n")
    config = load(tmp_path / "study.toml")
    assert config.document["excitation"] == {
        "random": {
            "spectrum": [[1.0, pytest.approx(0.09617038, rel=1e-6)], [10.0, pytest.approx(0.1923407, rel=1e-6)]],
            "interpolation": "log",
            "duration": 60.0,
            "interval": 0.005,
            "seed": 4,
            "taper": [2.0, 2.0],
        }
    }
    again = load(tomllib.loads(config.to_toml()))
    assert (again.digest, again.to_toml()) == (config.digest, config.to_toml())
    assert load(tmp_path / "study.toml", ["excitation.random.seed=5"]).digest != config.digest
    other = load({**study(axes={"draw": [1]}), "excitation": {"random": {**RANDOM, "rms": 0.3 * 9.80665}}})
    assert other.digest == load(study(axes={"draw": [1]})).digest


PAIRS = [[1.0, 0.1], [2.0, 0.1]]
WRONG = {
    "no spectrum": ({"spectrum": None}, ["excitation.random.spectrum: missing", "band = [1.0, 20.0]"]),
    "both": ({"spectrum": PAIRS, "band": [1.0, 2.0]}, ["is given as a spectrum and as a band"]),
    "a band without a size": ({"spectrum": None, "band": [1.0, 2.0]}, ["excitation.random.rms: missing: a number in m/s^2"]),
    "a size without a band": ({"rms": 1.0}, ["excitation.random.rms: belongs to a band"]),
    "a falling band": (
        {"spectrum": None, "band": [3.0, 2.0], "rms": 1.0},
        ["must go up from one frequency to another, not from 3 to 2 Hz"],
    ),
    "a band of rates": ({"spectrum": None, "band": ["3 1/s", 9], "rms": 1}, ["band[0]: '3 1/s' may be turns or radians: write Hz"]),
    "a list": ({"spectrum": [1.0, 2.0]}, ["must be pairs [frequency, density]"]),
    "one pair": ({"spectrum": [[1.0, 2.0]]}, ["has 1 frequencies: must have at least 2"]),
    "a negative density": ({"spectrum": [[1.0, 2.0], [2.0, -1.0]]}, ["spectrum[1]: -1.0 is out of bounds: must be >= 0"]),
    "descending pairs": ({"spectrum": [[2.0, 2.0], [1.0, 1.0]]}, ["spectrum[1]: frequency 1 Hz does not exceed the one before, 2 Hz"]),
    "a unit of another thing": ({"unit": "g/Hz"}, ["spectrum[0]: '0.1 g/Hz': 'g/Hz' cannot be converted to (m/s^2)^2/Hz"]),
    "zero in the logarithm": ({"spectrum": [[0.0, 1.0], [1.0, 1.0]], "interpolation": "log"}, ['interpolation = "log" needs numbers > 0']),
    "nothing": ({"spectrum": [[0.0, 0.0], [1.0, 0.0]]}, ["is 0 everywhere"]),
    "another interpolation": ({"interpolation": "lag"}, ["'lag' is none; did you mean 'log'?"]),
    "a missing file": ({"spectrum": "psd.csv"}, ["excitation.random.spectrum: cannot read", "psd.csv"]),
    "no duration": ({"duration": None}, ["excitation.random.duration: missing: a number in s"]),
    "a wrong unit": ({"interval": "5 m"}, ["interval: '5 m': 'm' cannot be converted to s"]),
    "samples too far apart": ({"interval": 0.25}, ["samples 0.25 s apart know no frequency from 2 Hz on, and the spectrum goes to 2 Hz"]),
    "few samples": ({"interval": 3.0}, ["4 s at an interval of 3 s are 2.333 samples: must be >= 3"]),
    "a negative seed": ({"seed": -1}, ["excitation.random.seed: -1 is out of bounds: must be >= 0"]),
    "ramps": ({"taper": [1, 2, 3]}, ["must be one time or two"]),
    "long ramps": ({"taper": 3.0}, ["ramps of 3 and 3 s do not fit into 4 s"]),
    "an unknown key": ({"sed": 3}, ["excitation.random.sed: unknown key; did you mean 'seed' ("]),
    "a short draw": ({"duration": 3.0}, ["excitation.random.duration: a record must last until the end", "a draw ends at 3 s, end = 4 s"]),
}


@pytest.mark.parametrize(("keys", "fragments"), WRONG.values(), ids=WRONG)
def test_a_wrong_spectrum_is_refused(keys: dict[str, Any], fragments: list[str]) -> None:
    random = {"spectrum": PAIRS, "duration": 4.0, "interval": 0.01, **keys}
    with pytest.raises(ConfigError) as caught:
        load({"time": {"end": 4.0}, "excitation": {"random": {key: value for key, value in random.items() if value is not None}}})
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_draws_and_records_do_not_mix() -> None:
    for more, said in (
        ({"excitation": {"random": RANDOM, "records": "a.csv"}}, "excitation.records: is of records: leave out this or"),
        ({"excitation": {"random": RANDOM}, "parameters": {"record": 1}}, "parameters.record: the records of this study are random draws"),
        ({"excitation": {"random": RANDOM}, "parameters": {"draw": 1.5}}, "parameters.draw: 1.5 is out of bounds: must be a whole number"),
    ):
        with pytest.raises(ConfigError) as caught:
            load({"time": {"end": 4.0}, **more})
        assert said in str(caught.value)


@pytest.mark.slow
def test_derivatives_along_draws_are_those_of_differences(tmp_path: Path) -> None:
    """Each block of rows has a bank of its own draws; values are those of the run."""
    axes = {"mu": {"from": 0.05, "to": 0.2}, "draw": {"from": 0, "to": 99, "spacing": "integer"}}
    raw = {**study(design="sobol", count=40, axes=axes), "study": {"name": "some", "scheme": "euler"}}
    raw |= {"time": {"end": 1.0, "step": 1e-3}, "parameters": {"k": 50.0, "c": 1.0, "k_t": 1e4, "c_t": 50.0}}
    config = load(raw)
    points, smooth = config.design.points(0, 40), derivatives.smooth_axes(config, config.design.axes)
    assert len(np.unique(points.columns["draw"])) > derivatives.WIDTH
    mu = points.columns["mu"]
    found, ahead, behind = (
        derivatives.differentiate(config, smooth, points, {"mu": mu + shift}, ["max_slip_speed"]) for shift in (0.0, 1e-8, -1e-8)
    )
    slopes = (ahead["max_slip_speed"] - behind["max_slip_speed"]) / 2e-8
    np.testing.assert_allclose(found["max_slip_speed", "mu"], slopes, rtol=0.0, atol=1e-6 * np.abs(slopes).max())
    rows = run(config, tmp_path / "run").to_pandas().sort_values("point")
    np.testing.assert_allclose(found["max_slip_speed"], rows["max_slip_speed"], rtol=1e-9)


AXES = {"a0": [1.0, 2.0], "draw": {"from": 0, "to": 4, "spacing": "integer"}, "mu": [0.1, 0.3]}


def test_means_over_draws_are_those_of_pandas(fake: FakeKernels, small_shards: int, tmp_path: Path) -> None:
    done = run(study(axes=AXES), tmp_path / "out")
    rng = np.random.default_rng(1)
    for shard in sorted((tmp_path / "out" / "points").glob("*.parquet")):  # numbers that scatter, in place of those of the stand-in
        rows = pq.read_table(shard)
        place = rows.column_names.index("wear_power")
        metadata = rows.schema.metadata | pq.read_metadata(shard).metadata
        metadata = {key: value for key, value in metadata.items() if key not in (b"ARROW:schema", sealed_parquet.KEY)}
        others = rows.set_column(place, rows.schema.field(place), [1e6 + rng.standard_normal(rows.num_rows)])
        shard.write_bytes(sealed_parquet.to_bytes(others.replace_schema_metadata(metadata)))
    found = done.over("draw", ["wear_power"], confidence=0.9).to_pandas()
    frame = done.to_pandas()
    expected = frame.groupby(["a0", "mu"], sort=False)["wear_power"].agg(["mean", "std", "sem", "count"]).reset_index()
    pd.testing.assert_series_equal(found["mean"], expected["mean"], rtol=1e-14)
    np.testing.assert_allclose(found["std"], expected["std"], rtol=1e-9)
    np.testing.assert_allclose(found["std_error"], expected["sem"], rtol=1e-9)
    assert found["rows"].tolist() == [5, 5, 5, 5]
    assert found[["a0", "mu"]].to_numpy().tolist() == [[1.0, 0.1], [1.0, 0.3], [2.0, 0.1], [2.0, 0.3]]
    interval = stats.t.interval(0.9, 4, loc=expected["mean"], scale=expected["sem"])
    np.testing.assert_allclose(found[["lower", "upper"]].to_numpy().T, interval, rtol=1e-12)
    assert done.over("mu", ["wear_power"])["rows"].to_pylist() == [2] * 10
    assert fake.calls == [10, 10]


def test_failed_rows_are_counted_and_left_out(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points.csv").write_text("draw,a0,mu\n0,1,0.1\n1,1,0.1\n2,nan,0.1\n0,2,0.1\n1,2,0.1\n2,2,0.1\n")
    raw = {**study(design="table", file=str(tmp_path / "points.csv")), "study": {"name": "some"}}
    found = run(raw, tmp_path / "out").over("draw").to_pandas()
    power = found[found["observable"] == "wear_power"]
    assert power["failed"].tolist() == [0, 1, 0]
    assert power["rows"].tolist() == [2, 0, 3]
    assert power["mean"].isna().tolist() == [False, True, False]
    assert main(["show", str(tmp_path / "out"), "--over", "draw"]) == 0
    said = capsys.readouterr()
    assert "wear_power [W]: means over draw" in said.out
    assert "1 of 6 rows failed and are left out." in said.err


def test_means_are_shown_written_and_drawn(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    run(study(axes=AXES), tmp_path / "out")
    for suffix in (".csv", ".parquet", ".png"):
        assert main(["show", str(tmp_path / "out"), "--over", "draw", "--out", str(tmp_path / f"means{suffix}")]) == 0
        assert capsys.readouterr().out == f"{tmp_path}/means{suffix}\n"
    text, binary = pd.read_csv(tmp_path / "means.csv"), pd.read_parquet(tmp_path / "means.parquet")
    pd.testing.assert_frame_equal(text, binary, check_dtype=False)
    assert text["observable"].nunique() > 5
    assert (tmp_path / "means.png").stat().st_size > 5_000
    assert main(["show", str(tmp_path / "out"), "--over", "draw", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["observable"] == "wear_power"
    assert main(["show", str(tmp_path / "out"), "--quantile", "0.95"]) == 0, "without --over: over what is random"
    told = capsys.readouterr().out
    assert "means over draw" in told
    assert "quantile 0.95, upper" in told
    (tmp_path / "draws.csv").write_text("mu,k\n0.1,1\n0.2,2\n0.3,3\n")
    drawn = {"design": "posterior", "file": str(tmp_path / "draws.csv")}
    run({"study": {"name": "drawn"}, "sweep": drawn}, tmp_path / "drawn")
    assert main(["show", str(tmp_path / "drawn"), "--quantile", "0.5"]) == 0, "all that a design draws"
    assert "means over mu, k" in capsys.readouterr().out
    assert main(["show", str(tmp_path / "drawn"), "--over", "draw"]) == 2
    assert "'draw' is nothing that this run sweeps; its design draws mu, k" in capsys.readouterr().err
    run({"study": {"name": "still"}, "sweep": {"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2]}}}, tmp_path / "still")
    assert main(["show", str(tmp_path / "still"), "--quantile", "0.95"]) == 2
    assert "--over: missing: this run has neither draws nor records" in capsys.readouterr().err
    fields = pq.read_schema(tmp_path / "means.parquet")
    assert fields.field("a0").metadata[b"unit"] == b"m/s^2"
    for words, said in (
        (["--over", "drw"], "'drw' is nothing that this run sweeps; did you mean 'draw'?"),
        (["--over", "draw", "--confidence", "1"], "--confidence: 1 is out of bounds"),
        (["--over", "draw", "--out", "means.txt"], "must end in one of .csv, .parquet, .png"),
    ):
        assert main(["show", str(tmp_path / "out"), *words]) == 2
        assert said in capsys.readouterr().err


def test_theory_of_a_sine_is_not_drawn_where_records_shake(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"a0": {"from": 1.0, "to": 10.0, "count": 5}, "mu": {"from": 0.1, "to": 0.9, "count": 5}}
    lines = []
    for place, more in enumerate(({}, {"excitation": {"random": RANDOM}}, {"parameters": {"tone_a0": [1.0], "tone_omega": [3.0]}})):
        drawn = read_map(run({**more, "time": {"end": 4.0}, "sweep": {"axes": axes}}, tmp_path / str(place)).directory)
        lines.append(len(theory_of(drawn, drawn.x_values, drawn.y_values)))
    assert lines == [2, 0, 0]


def test_a_run_of_draws_is_resumed_and_extended(fake: FakeKernels, small_shards: int, tmp_path: Path) -> None:
    axes = {"draw": {"from": 0, "to": 3, "spacing": "integer"}, "mu": [0.1, 0.2, 0.3, 0.4, 0.5]}
    run(study(axes=axes), tmp_path / "out")
    (tmp_path / "out" / "points" / "part-000001.parquet").unlink()
    assert resume(tmp_path / "out").complete
    more = run(study(axes={**axes, "draw": {"from": 0, "to": 5, "spacing": "integer"}}), tmp_path / "out", extend=True)
    assert more.to_arrow(["draw"]).column("draw").to_pylist() == [n for n in range(6) for _ in range(5)]
    assert fake.calls == [10, 10, 10, 10]


@pytest.mark.long
@pytest.mark.slow
def test_the_mean_wear_power_over_draws_is_the_same_by_exact_and_by_rk54(tmp_path: Path) -> None:
    axes = {"record_scale": [0.5, 1.0, 2.0], "draw": {"from": 0, "to": 63, "spacing": "integer"}}
    by_rk54 = {"tolerance": [1e-6, 1e-9], **axes, "scheme": ["rk54"]}
    config = {
        "parameters": {"k_t": 1e5, "mu": 0.15},
        "time": {"end": 20.0, "window": [2.0, 20.0]},
        "excitation": {"random": {"band": [1.0, 8.0], "rms": "0.3 g", "duration": 20.0, "interval": 0.01, "taper": [1.0, 0.0]}},
        "sweep": [{"axes": {**axes, "scheme": ["exact"]}}, {"axes": by_rk54}],
    }
    done = run(config, tmp_path / "out")
    assert done.failed == 0
    exact, coarse, fine = done.to_arrow(["wear_power"]).column("wear_power").to_numpy().reshape(3, 3, 64)
    assert (exact.std(axis=1) > 0.05 * exact.mean(axis=1)).all()
    for powers, tolerance in ((coarse, 4e-4), (fine, 4e-5)):
        np.testing.assert_allclose(powers, exact, rtol=tolerance)  # draw by draw
        np.testing.assert_allclose(powers.mean(axis=1), exact.mean(axis=1), rtol=0.5 * tolerance)
    means = done.over("draw", ["wear_power"]).to_pandas()
    np.testing.assert_allclose(means["mean"].to_numpy().reshape(3, 3), [p.mean(axis=1) for p in (exact, coarse, fine)], rtol=1e-13)


@pytest.mark.slow
def test_rows_of_draws_are_the_same_bits_in_any_shard_and_process(tmp_path: Path) -> None:
    axes = {"a0": [0.5, 1.0], "mu": [0.05, 0.1], "draw": {"from": 0, "to": 9, "spacing": "integer"}}
    raw = {**study(axes=axes), "study": {"scheme": "euler"}, "parameters": {"k_t": 1e5}, "time": {"end": 4.0, "step": 1e-3}}
    whole = run(raw, tmp_path / "whole").to_arrow()
    assert len(set(whole.column("wear_power").to_pylist())) == 40
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        parts = run({**raw, "output": {"shard_points": 7}}, tmp_path / "parts", executor=pool)
    assert parts.to_arrow().equals(whole)
    facts = [read_facts(sealed_parquet.read_metadata(shard)) for shard in sorted((tmp_path / "parts" / "points").glob("*.parquet"))]
    compiled = [each["seconds"]["compiling"] > 0.0 for each in facts if each is not None]
    assert (len(compiled), sum(compiled)) == (6, 1)  # whichever draws a shard has, its program is that of the others
