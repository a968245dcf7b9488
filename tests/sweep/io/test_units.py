"""Values with units: against numbers worked out by hand from the definitions of the units (BIPM, SI brochure, 9th edition)."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tribosweep import sweep
from tribosweep.kernels.models import MODELS, supports
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.spectra.result import COLUMNS
from tribosweep.sweep.analysis.calibration.sources import is_value
from tribosweep.sweep.io.columns import Wanted, read_columns
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.units import in_unit
from tribosweep.sweep.study import random_excitation, response_spectra, signals


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
        ("1/s", "rad/s", "may be turns or radians: write Hz, rpm or rad/s"),
        ("5/s", "1/s", "a unit does not begin with /: write 5 1/s"),
        ("5/s", "N", "'/s' cannot be converted to N"),
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


PI, INCH, POUND, G = math.pi, 0.0254, 0.45359237, 9.80665  # exact by definition: inch and pound of 1959, g of 1901
# unit of the package -> spelling -> its value; every other spelling of this table is refused for it
SPELLINGS: dict[str, dict[str, float]] = {
    "1": {"%": 0.01, "‰": 1e-3, "ppm": 1e-6, "mm/m": 1e-3, "N/kN": 1e-3},
    "rad": {"rad": 1.0, "mrad": 1e-3, "deg": PI / 180, "°": PI / 180, "arcmin": PI / 10800, "turn": 2 * PI, "rev": 2 * PI, "Hz s": 2 * PI},
    "rad/s": {
        "rad/s": 1.0, "Hz": 2 * PI, "mHz": 0.002 * PI, "kHz": 2000 * PI, "rpm": PI / 30, "rev/s": 2 * PI, "turn/min": PI / 30,
        "deg/s": PI / 180, "rad/ms": 1e3, "rad s^-1": 1.0, "1/s rad": 1.0, "rad Hz/turn": 1.0,
    },
    "rad/s^2": {
        "rad/s^2": 1.0, "Hz/s": 2 * PI, "kHz/s": 2000 * PI, "Hz/min": PI / 30, "rpm/s": PI / 30, "rev/s^2": 2 * PI, "turn/s²": 2 * PI,
        "deg/s**2": PI / 180, "rad/s/s": 1.0,
    },
    "1/s": {"1/s": 1.0, "s^-1": 1.0, "1/min": 1 / 60, "1/ms": 1e3},
    "1/s^2": {"1/s^2": 1.0, "s^-2": 1.0},
    "(rad/s)^2": {"Hz^2": 4 * PI**2, "rad^2/s^2": 1.0},
    "m": {"m": 1.0, "mm": 1e-3, "cm": 0.01, "um": 1e-6, "µm": 1e-6, "nm": 1e-9, "in": INCH, "ft": 12 * INCH, "mil": 1e-3 * INCH},
    "m^2": {"m^2": 1.0, "mm^2": 1e-6, "cm²": 1e-4, "in^2": INCH**2},
    "m^3": {"m^3": 1.0, "mm^3": 1e-9, "L": 1e-3, "in^3": INCH**3},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3, "km/h": 1 / 3.6, "in/s": INCH, "m/min": 1 / 60},
    "m/s^2": {"m/s^2": 1.0, "g": G, "mg": 1e-3 * G, "Gal": 0.01, "mm/s²": 1e-3, "m s^-2": 1.0, "in/s^2": INCH},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0, "day": 86400.0},
    "kg": {"kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3, "lb": POUND, "N s^2/m": 1.0},
    "kg/m": {"kg/m": 1.0, "g/mm": 1.0, "lb/ft": POUND / (12 * INCH)},
    "N": {"N": 1.0, "mN": 1e-3, "kN": 1e3, "MN": 1e6, "kgf": G, "lbf": POUND * G, "kg m/s^2": 1.0, "kg g": G},
    "N/m": {"N/m": 1.0, "kN/m": 1e3, "N/mm": 1e3, "MN/m": 1e6, "kN/mm": 1e6, "lbf/in": POUND * G / INCH, "kg/s^2": 1.0, "J/m^2": 1.0},
    "N s/m": {"N s/m": 1.0, "N*s/m": 1.0, "kN s/m": 1e3, "N·s/mm": 1e3, "kg/s": 1.0},
    "N s": {"N s": 1.0, "kN ms": 1.0, "kg m/s": 1.0},
    "N m^2": {"N m^2": 1.0, "kN mm²": 1e-3},
    "N^2/Hz": {"N^2/Hz": 1.0, "kN^2/Hz": 1e6, "N^2 s/rad": 2 * PI, "N^2/(rad/s)": 2 * PI},
    "J": {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "N m": 1.0, "W s": 1.0, "kW h": 3.6e6},
    "W": {"W": 1.0, "mW": 1e-3, "kW": 1e3, "J/s": 1.0, "N m/s": 1.0},
    "Pa": {"Pa": 1.0, "MPa": 1e6, "bar": 1e5, "psi": POUND * G / INCH**2, "N/mm^2": 1e6},
    "1/Pa": {"1/Pa": 1.0, "1/MPa": 1e-6, "mm^2/N": 1e-6},
    "m^3/s": {"m^3/s": 1.0, "mm^3/h": 1e-9 / 3600},
    "(m/s^2)^2/Hz": {
        "(m/s^2)^2/Hz": 1.0, "g^2/Hz": G * G, "mg^2/Hz": 1e-6 * G * G, "(m/s^2)^2/(rad/s)": 2 * PI, "g^2/(rad/s)": 2 * PI * G * G,
        "g^2 s/rad": 2 * PI * G * G, "(mm/s²)²/Hz": 1e-6,
    },
    "(m/s^2)^2 s": {"m^2/s^3": 1.0, "g^2 s": G * G, "(m/s^2)^2 s": 1.0},
    "nothing": {
        "dB": 1.0, "Np": 1.0, "degC": 1.0, "K": 1.0, "V": 1.0, "A": 1.0, "mol": 1.0, "bit": 1.0, "count": 1.0, "Bq": 1.0, "sr": 1.0,
        "N m/rad": 1.0, "m rad": 1.0, "m Hz": 1.0, "hz": 1.0, "m^4": 1.0,
    },
}  # fmt: skip
SPELLINGS["Hz"] = {name: value / (2 * PI) for name, value in SPELLINGS["rad/s"].items()}


def units_of_the_package() -> set[str]:
    """The units of all parameters and observables, and of what files and sections hold besides."""
    found = {q.unit for model in MODELS.values() for q in (*model.parameters, *model.observables)}
    for module in (random_excitation, response_spectra, signals, supports):
        found |= {each.unit for each in vars(module).values() if isinstance(each, Quantity)}
    return (found | {unit for unit, _ in COLUMNS.values()} | {random_excitation.DENSITY, "N^2/Hz", "kg/m", "N m^2", "Pa"}) - {""}


def test_every_unit_of_the_package_is_in_the_table() -> None:
    assert units_of_the_package() <= set(SPELLINGS)
    assert len({name for spelled in SPELLINGS.values() for name in spelled}) > 120


@pytest.mark.parametrize("unit", sorted(units_of_the_package()))
def test_a_spelling_is_the_value_of_its_definition_or_refused(unit: str) -> None:
    for of, spelled in SPELLINGS.items():
        for name, value in spelled.items():
            if name in SPELLINGS[unit]:
                expected = 3.0 * SPELLINGS[unit][name]
                assert in_unit(f"3 {name}", unit) == pytest.approx(expected, rel=1e-15), name
                if not name.startswith("1/"):
                    assert in_unit(f"3{name}", unit) == pytest.approx(expected, rel=1e-15), name
            else:
                assert of != unit, (name, value)
                with pytest.raises(ValueError, match=re.escape(repr(f"3 {name}"))):
                    in_unit(f"3 {name}", unit)


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("1 1/s^2", "rad/s^2", "may be turns or radians: write Hz/s or rad/s^2"),
        ("1 1/s", "Hz", "may be turns or radians: write Hz, rpm or rad/s"),
        ("1 m^2/s^3", "(m/s^2)^2/Hz", "may be turns or radians: write (m/s^2)^2/Hz"),
        ("50 %", "rad", "is no angle: write rad, deg or turn"),
        ("12 deg", "1", "cannot be converted to a plain number, as it counts turns or angles"),
        ("1 Hz", "1/s", "cannot be converted to 1/s, as it counts turns or angles"),
        ("3 dB", "1", "cannot be converted to a plain number"),
    ],
)
def test_a_refusal_says_what_to_write(text: str, unit: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        in_unit(text, unit)


@pytest.mark.parametrize("key", ["unit", "units"])
def test_the_same_unit_is_read_in_toml_overrides_headers_and_metadata(key: str, tmp_path: Path) -> None:
    """A sweep of 1 Hz/s is one of 2 pi rad/s^2 wherever it is stated."""
    base = {"study": {"model": "stop", "scheme": "rk54"}, "parameters": {"k_n": 1e3, "a0": 1.0, "omega": 1.0}}
    stated = {**base, "parameters": {**base["parameters"], "sweep_rate": "1 Hz/s"}}
    assert sweep.load(stated).document["parameters"]["sweep_rate"] == pytest.approx(2 * PI, rel=1e-15)
    assert sweep.load(base, ["parameters.sweep_rate=1Hz/s"]).document["parameters"]["sweep_rate"] == pytest.approx(2 * PI, rel=1e-15)
    (tmp_path / "p.csv").write_text("sweep_rate [Hz/s],gap [mil]\n1.0,2.0\n")
    fields = [pa.field("sweep_rate", pa.float64(), metadata={key: "Hz/s"}), pa.field("gap", pa.float64(), metadata={key: "mil"})]
    pq.write_table(pa.table([[1.0], [2.0]], schema=pa.schema(fields)), tmp_path / "p.parquet")
    for file in ("p.csv", "p.parquet"):
        columns = sweep.load({**base, "sweep": {"design": "table", "file": str(tmp_path / file)}}).design.points(0, 1).columns
        assert columns["sweep_rate"][0] == pytest.approx(2 * PI, rel=1e-15)
        assert columns["gap"][0] == pytest.approx(5.08e-5, rel=1e-15)


@pytest.mark.parametrize("key", ["unit", "units"])
def test_a_column_of_a_record_has_the_unit_of_its_metadata(key: str, tmp_path: Path) -> None:
    fields = [pa.field("time", pa.float64(), metadata={key: "ms"}), pa.field("acceleration", pa.float64(), metadata={key: "g"})]
    pq.write_table(pa.table([[0.0, 10.0], [0.0, 2.0]], schema=pa.schema(fields)), tmp_path / "r.parquet")
    problems: list[Problem] = []
    wanted = [Wanted("time", "s", "time"), Wanted("acceleration", "m/s^2", "acceleration")]
    found = read_columns(tmp_path / "r.parquet", wanted, "records", problems)
    assert not problems
    assert found is not None
    assert np.array(found) == pytest.approx(np.array([[0.0, 0.01], [0.0, 2.0 * G]]), rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"), [("0.01mm", True), ("3mm", True), ("3 mm", True), ("0.01mn", True), ("2nd_sd", False), ("sd", False), ("3", False)]
)
def test_a_value_without_a_blank_is_no_name_of_a_column(text: str, value: bool) -> None:
    assert is_value(text, "m") == value


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
    code = f"import sys, tribosweep; tribosweep.load({str(path)!r}); assert 'pint' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
