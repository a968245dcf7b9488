"""Values with units: against numbers worked out by hand from the definitions of the units (BIPM, SI brochure, 9th edition)."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

import sweep
from sweep.io.errors import ConfigError
from sweep.io.units import in_unit


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1 Hz", "rad/s", 2.0 * math.pi),
        ("1 kHz", "rad/s", 2000.0 * math.pi),
        ("60 rpm", "rad/s", 2.0 * math.pi),
        ("6.28 rad/s", "rad/s", 6.28),
        ("9e5 N/m", "N/m", 9e5),
        ("0.9 MN/m", "N/m", 9e5),
        ("2 N*s/m", "N s/m", 2.0),
        ("2 N s/m", "N s/m", 2.0),
        ("0.3 g", "m/s^2", 0.3 * 9.80665),
        ("1 cm/s^2", "m/s^2", 0.01),
        ("500 g", "kg", 0.5),
        ("1 kgf", "N", 9.80665),
        ("20 %", "1", 0.2),
        ("180 deg", "rad", math.pi),
        ("-1.5mm", "m", -0.0015),
        ("+.5 ms", "s", 0.0005),
    ],
)
def test_a_value_with_a_unit_is_that_in_si(text: str, unit: str, value: float) -> None:
    assert in_unit(text, unit) == pytest.approx(value, rel=4e-16)


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("3 N", "m", "cannot be converted to m"),
        ("3 g", "1", "cannot be converted to a plain number"),
        ("2 1/s", "rad/s", "Hz, rpm or rad/s"),
        ("3 newtonmeters", "N", "no known unit"),
        ("5 hz", "rad/s", "'hz' is no known unit; did you mean Hz?"),
        ("5 khz", "Hz", "'khz' is no known unit; did you mean kHz?"),
        ("3 N^", "N", "cannot be read as a unit"),
        ("3 (N", "N", "cannot be read as a unit"),
        ("3 N 5", "N", "cannot be read as a unit"),
        ("12", "s", "no number with a unit"),
        ("0.3", "1", "no number with a unit"),
        ("", "s", "no number with a unit"),
        ("1.2.3 s", "s", "no number with a unit"),
        ("1_0 s", "s", "'_0 s' is no known unit"),
        ("\N{ARABIC-INDIC DIGIT THREE} s", "s", "no number with a unit"),
    ],
)
def test_what_is_no_value_of_that_unit_is_refused(text: str, unit: str, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("^", "\\^")):
        in_unit(text, unit)


STUDY = """
[parameters]
normal_force = "1 kgf"
omega = "1 Hz"
[time]
end = "12000 ms"
window = ["5 s", 12.0]
[sweep]
design = "sobol"
count = 4
seed = 1
[sweep.axes]
a0 = { from = "0.3 g", to = 6.0 }
k_t = { distribution = "normal", mean = "9e5 N/m", std = "0.1 MN/m" }
"""


def test_a_study_may_write_units_and_is_kept_in_si(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    document = sweep.load(path, ['parameters.x0="3 mm"', "parameters.v0=1 cm/s"]).document
    parameters = {"x0": 0.003, "v0": 0.01, "normal_force": 9.80665, "omega": 2.0 * math.pi}
    assert document["parameters"] == pytest.approx(parameters, rel=4e-16)
    assert document["time"] == {"end": 12.0, "window": [5.0, 12.0]}
    axes = document["sweep"]["axes"]
    assert axes["a0"] == {"from": 0.3 * 9.80665, "to": 6.0, "spacing": "linear"}
    assert axes["k_t"] == {"distribution": "normal", "mean": 9e5, "std": 1e5}


def test_a_wrong_unit_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('"0.3 g"', '"0.3 N"').replace('"1 kgf"', '"-1 kgf"'), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        sweep.load(path)
    force, amplitude = caught.value.problems
    assert (force.path, amplitude.path) == ("parameters.normal_force", "sweep.axes.a0.from")
    assert "out of bounds: must be >= 0" in force.message
    assert "'N' cannot be converted to m/s^2" in amplitude.message


def test_a_study_without_units_does_not_load_them(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[parameters]\nomega = 6.28\n", encoding="utf-8")
    code = f"import sys, sweep; sweep.load({str(path)!r}); assert 'pint' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
