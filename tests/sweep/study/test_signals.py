"""[output.signals]: what it reads, what it refuses, and that it reads again what it wrote."""

import json
import tomllib
from pathlib import Path

import pytest

from tribosweep.sweep.execution import parquet
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.study.load import load

BASE = {"study": {"model": "stop"}, "parameters": {"gap": 0.002, "k_n": 1e5, "a0": 3.0}, "time": {"end": 4.0}}
GIVEN = {
    "interval": "2 ms",
    "parts": 2,
    "psd": ["x", "wall_force"],
    "cross_psd": [["x", "v"]],
    "segment": 512,
    "overlap": 0.75,
    "taper": "blackman",
    "rainflow": {"x": [0.0, "1 mm", 2e-3], "v": {"from": 0.01, "to": 1.0, "count": 3, "spacing": "log"}},
    "woehler_exponent": 5,
    "crossings": {"x": {"from": "-1 mm", "to": "1 mm", "count": 3}},
    "impact_peaks": [0.0, "1 kN"],
    "impact_durations": ["0 ms", "10 ms"],
}


def read(signals, **sections):
    return load({**BASE, "output": {"signals": signals}, **sections})


def problems(signals, **sections):
    with pytest.raises(ConfigError) as error:
        read(signals, **sections)
    return {problem.path: problem.message for problem in error.value.problems}


def test_a_section_is_read_in_si_units():
    found = read(GIVEN).signals
    assert (found.interval, found.parts, found.psd, found.cross_psd) == (0.002, 2, ("x", "wall_force"), (("x", "v"),))
    assert (found.segment, found.overlap, found.taper, found.detrend) == (512, 0.75, "blackman", "constant")
    assert found.rainflow[0] == ("x", (0.0, 1e-3, 2e-3))
    assert found.rainflow[1][1] == pytest.approx((0.01, 0.1, 1.0))
    assert found.crossings == (("x", (-1e-3, 0.0, 1e-3)),)
    assert (found.exponent, found.rate, found.peaks, found.durations) == (5.0, 1.0, (0.0, 1000.0), (0.0, 0.01))
    assert load(BASE).signals is None


def test_the_canonical_study_is_read_as_the_same():
    config = read(GIVEN)
    again = load(tomllib.loads(config.to_toml()))
    assert again.signals == config.signals
    assert again.digest == config.digest != load(BASE).digest


def test_a_segment_fits_into_each_part_of_the_window():
    asked = {"interval": "5 ms", "psd": ["x"], "segment": 512}
    assert read(asked, time={"end": 2.56}).signals.segment == 512
    said = problems(asked, time={"end": 2.558})["output.signals.segment"]
    assert "512 samples of 0.005 s are 2.56 s, longer than the window, 2.558 s" in said
    assert "at most 508" in said
    assert read({**asked, "segment": 508}, time={"end": 2.558}).signals.segment == 508
    assert (
        "a part of the window (1 of 2), 1.5 s"
        in problems({**asked, "parts": 2}, time={"end": 4.0, "window": [1.0, 4.0]})["output.signals.segment"]
    )
    assert problems({**asked, "interval": 1.0})["output.signals.segment"].endswith("no spectrum; give a shorter interval")
    assert read({"interval": "5 ms", "crossings": {"x": [0.0]}}, time={"end": 1.0}).signals.segment == 1024, "no spectrum is asked for"
    assert read(asked, sweep={"axes": {"end": [1.0, 4.0]}}).signals.segment == 512, "rows differ in length"


def test_columns_have_units_and_what_their_entries_belong_to():
    config = read(GIVEN)
    schema = parquet.schema(config, {})
    facts = {key.decode(): value.decode() for key, value in schema.field("part2_psd_x").metadata.items()}
    assert (facts["unit"], facts["entries"], facts["entries_unit"]) == ("m^2/Hz", "frequency", "Hz")
    frequencies = json.loads(facts["entries_values"])
    assert len(frequencies) == 257
    assert frequencies[-1] == pytest.approx(250.0)
    facts = schema.field("part1_impact_peaks").metadata
    assert (json.loads(facts[b"entries_values"]), facts[b"entries_unit"]) == ([0.0, 1000.0], b"N")
    assert schema.field("part1_equivalent_range_x").metadata[b"unit"] == b"m"
    assert b"entries" not in schema.field("impulse").metadata


@pytest.mark.parametrize(
    ("signals", "path", "words"),
    [
        ({"psd": ["x"]}, "output.signals.interval", "is missing"),
        ({"interval": 0.0, "psd": ["x"]}, "output.signals.interval", "must be > 0"),
        ({"interval": "2 m", "psd": ["x"]}, "output.signals.interval", "s"),
        ({"interval": 1e-3}, "output.signals", "asks for nothing"),
        ({"interval": 1e-3, "psd": ["xx"]}, "output.signals.psd[0]", "no channel"),
        ({"interval": 1e-3, "psd": ["wall_forces"]}, "output.signals.psd[0]", "wall_force"),
        ({"interval": 1e-3, "psd": ["x", "x"]}, "output.signals.psd[1]", "twice"),
        ({"interval": 1e-3, "psd": "x"}, "output.signals.psd", "list of names"),
        ({"interval": 1e-3, "cross_psd": [["x", "x"]]}, "output.signals.cross_psd[0]", "two different"),
        ({"interval": 1e-3, "cross_psd": [["x"]]}, "output.signals.cross_psd[0]", "a pair"),
        ({"interval": 1e-3, "psd": ["x"], "segment": 130}, "output.signals.segment", "multiple of 4"),
        ({"interval": 1e-3, "psd": ["x"], "overlap": 0.6}, "output.signals.overlap", "0, 0.5, 0.75"),
        ({"interval": 1e-3, "psd": ["x"], "taper": "hanning"}, "output.signals.taper", "hann"),
        ({"interval": 1e-3, "psd": ["x"], "parts": 0}, "output.signals.parts", ">= 1"),
        ({"interval": 1e-3, "psd": ["x"], "woehler_exponent": 3}, "output.signals.woehler_exponent", "rainflow"),
        ({"interval": 1e-3, "rainflow": {"x": [1.0, 0.5]}}, "output.signals.rainflow.x", "ascend"),
        ({"interval": 1e-3, "rainflow": {"x": [-1.0]}}, "output.signals.rainflow.x[0]", ">= 0"),
        ({"interval": 1e-3, "crossings": {"x": {"from": 0, "to": 1}}}, "output.signals.crossings.x.count", "missing"),
        ({"interval": 1e-3, "crossings": {"y": [0.0]}}, "output.signals.crossings.y", "no channel"),
        ({"interval": 1e-3, "impact_peaks": ["5 mm"]}, "output.signals.impact_peaks[0]", "N"),
        ({"interval": 1e-3, "psds": ["x"]}, "output.signals.psds", "psd"),
    ],
)  # fmt: skip
def test_a_wrong_section_is_refused(signals, path, words):
    found = problems(signals)
    assert path in found
    assert words in found[path]


def test_studies_that_have_no_signals():
    asks = {"interval": 1e-3, "psd": ["x"]}
    assert "steady" in problems(asks, time={"window": "steady"})["output.signals"]
    assert "float64" in problems(asks, study={"model": "rubbing_mass", "precision": "float32"}, parameters={})["output.signals"]
    with pytest.raises(ConfigError, match="designs whose points are known"):
        load("regime_boundary", ["output.signals.interval=0.001", 'output.signals.psd=["x"]'])
    study = {"study": {"model": "rubbing_mass"}, "parameters": {}}
    impacts = {"interval": 1e-3, "impact_peaks": [0.0]}
    assert "neither walls nor supports" in problems(impacts, **study)["output.signals.impact_peaks"]


WEARS = {"wear_coefficient": 1e-15, "impact_coefficient": 0.5, "sliding_coefficient": 0.4, "service_time": "40 year", "force_max": "1 kN",
         "speed_max": "50 mm/s"}  # fmt: skip


def rod_in_ring(wears):
    study = tomllib.loads((Path(__file__).parents[3] / "configs" / "rod_in_ring.toml").read_text())
    return {**study, "output": {"signals": {"interval": 1e-3, "kwu_epri": wears}}}


def test_wear_at_supports_is_read_in_si_units():
    config = load(rod_in_ring(WEARS))
    law = config.signals.kwu_epri
    assert (law.force_max, law.speed_max, law.hardening, law.reference_force) == (1000.0, 0.05, 5.0, 10.0)
    assert law.service_time == pytest.approx(40 * 365.25 * 86400.0)
    assert config.signals.worn == ("ring",)
    assert load(tomllib.loads(config.to_toml())).signals == config.signals
    assert parquet.schema(config, {}).field("wear_volume_kwu_epri[ring]").metadata[b"unit"] == b"m^3"


@pytest.mark.parametrize(
    ("wears", "path", "words"),
    [
        (
            {name: value for name, value in WEARS.items() if name != "force_max"},
            ".force_max",
            "is missing: the upper end of the classes of",
        ),
        ({**WEARS, "hardening": -1.0}, ".hardening", ">= 0"),
        ({**WEARS, "speed_max": "1 N"}, ".speed_max", "m/s"),
        ({**WEARS, "speed": 1.0}, ".speed", "speed_max"),
        (3.0, "", "must be a table with wear_coefficient"),
    ],
)
def test_wrong_wear_is_refused(wears, path, words):
    with pytest.raises(ConfigError) as error:
        load(rod_in_ring(wears))
    assert words in {problem.path: problem.message for problem in error.value.problems}[f"output.signals.kwu_epri{path}"]


def test_wear_at_supports_needs_supports():
    assert "tribosweep.kwu_epri takes any course" in problems({"interval": 1e-3, "kwu_epri": WEARS})["output.signals.kwu_epri"]
