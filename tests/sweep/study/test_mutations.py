"""Two thousand mutated studies: each is refused with a sentence, or runs the very study that its file states."""

from __future__ import annotations

import copy
import csv
import datetime as dt
import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any
from unittest import mock

import pint
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sweep.mutants import FILES, ODD, document, places, tell, write_files
from tribosweep.sweep import load
from tribosweep.sweep.analysis.calibration import load as calibrations
from tribosweep.sweep.cli import main

BASES = (
    """
[study]
name = "base"
scheme = "exact"
[parameters]
m = 2.0
mu = 0.2
k = 3.5
[time]
end = 9.0
window = [1.0, 8.0]
[sweep]
design = "grid"
[sweep.axes]
a0 = [15.0, 1.5]
omega = { from = 1.0, to = 10.0, count = 3, spacing = "log" }
""",
    """
[study]
scheme = "rk54"
[parameters]
k_t = 9000000.0
[time]
tolerance = 1e-6
[output]
shard_points = 4
[sweep]
design = "sobol"
count = 12
seed = 5
[sweep.axes]
mu = { from = 0.1, to = 0.4 }
retries = { from = 1, to = 4, spacing = "integer" }
k = [0.0, 2.0]
""",
    """
[sweep]
design = "saltelli"
count = 4
second_order = true
[sweep.axes]
mu = { distribution = "truncated_normal", mean = 0.3, std = 0.1, lower = 0.1 }
a0 = { distribution = "triangular", from = 2.0, mode = 3.0, to = 9.0 }
k = { distribution = "choice", values = [1.0, 2.0], weights = [3.0, 1.0] }
""",
    """
[[sweep]]
design = "zip"
[sweep.axes]
a0 = [1.0, 2.0]
scheme = ["exact", "exact"]
[[sweep]]
design = "latin_hypercube"
count = 7
[sweep.axes]
a0 = { from = 0.5, to = 20.0 }
mu_d = [0.05, 0.1]
""",
    """
[study]
model = "buckling_wall"
[parameters]
k_post = 0.5
damping_criterion = "excluded"
[[sweep]]
[sweep.axes]
v0 = [1.0, 2.0]
[[sweep]]
design = "sobol"
count = 5
[sweep.axes]
post_set = [[2, 3.5, 4]]
post_stiffness = [[0.2, 0.15, 0.125]]
k_post = ["default"]
damping_criterion = ["included", "excluded"]
""",
    """
[study]
model = "stop"
[parameters]
sides = 2
[sweep]
[sweep.axes]
gap = [0.5, 0.25]
c_n = { from = 0.5, to = 1.5, count = 2 }
""",
    """
[study]
scheme = "rk54"
[parameters]
k = "3.5 kN/m"
omega = "2 Hz"
k_t = 1e6
[time]
end = "900 ms"
blocks = 2
[output]
statistics = true
[sweep]
[sweep.axes]
c = { from = 0.5, to = 50.0, count = 3 }
""",
    """
[parameters]
tone_a0 = [1.0, 0.6]
tone_omega = [5.0, 17.0]
[time]
end = 0.04
[excitation]
records = ["shock.csv", "after.csv"]
extend = "zero"
[sweep]
[sweep.axes]
mu = [0.1, 0.2]
record = ["shock", "after"]
record_scale = { from = 0.5, to = 2.0, count = 3 }
""",
    """
[time]
end = 0.04
[excitation]
records = "after.csv"
unit = "m/s^2"
time = "time"
acceleration = "acceleration"
""",
    """
[time]
end = 3.0
[excitation.random]
spectrum = [[1.0, 0.1], [2.0, 1.0], [8.0, 1.0]]
interpolation = "log"
duration = 3.0
interval = 0.05
taper = [1.0, 0.5]
seed = 3
[sweep]
[sweep.axes]
draw = { from = 0, to = 9, spacing = "integer" }
""",
    """
[time]
end = 2.0
[excitation]
extend = "zero"
[excitation.random]
band = [1.0, 9.0]
rms = "0.3 g"
duration = 1.0
interval = 0.05
taper = 0.25
""",
    """
[time]
end = 1.0
[excitation.random]
spectrum = "psd.csv"
duration = 1.0
interval = 0.02
[sweep]
[sweep.axes]
draw = [0, 5, 2]
""",
    """
[parameters]
k = 0.0
[time]
end = 12.0
window = [4.0, 12.0]
[sweep]
design = "boundary"
observable = "wear_power"
level = 1.5
width = 1e-5
halvings = 3
seeds = [[15.0, 0.9]]
[sweep.axes]
a0 = { from = 0.5, to = 20.0, count = 5 }
mu = { from = 0.01, to = 1.01, count = 4, spacing = "log" }
""",
    """
[parameters]
k_t = 9e4
[time]
end = 3.0
window = [1.0, 3.0]
step = 2e-3
tolerance = 1e-5
[sweep]
design = "convergence"
observable = "wear_power"
digits = 3
halvings = 5
[sweep.axes]
a0 = [15.0, 1.5]
scheme = ["euler", "rk54"]
""",
    """
[[sweep]]
design = "table"
file = "points.csv"
[[sweep]]
design = "halton"
count = 4
[sweep.axes]
a0 = { from = 0.5, to = 20.0 }
""",
    """
[study]
model = "buckling_wall"
[parameters]
post_stiffness = [0.2, 0.15, 0.125]
[sweep]
design = "table"
file = "walls.csv"
""",
    """
[sweep]
design = "sobol"
count = 8
correlations = [["mu", "a0", 0.5], ["a0", "m", -0.25]]
[sweep.axes]
mu = { from = 0.1, to = 0.4 }
a0 = { distribution = "normal", mean = 9.0, std = 0.5 }
m = { distribution = "log_normal", mean = 1.0, std = 0.1 }
""",
    """
[study]
scheme = "rk32"
precision = "float32"
[parameters]
normal_force = 10.0
mu_s = 0.3
mu_d = 0.15
stribeck_speed = 0.05
stribeck_exponent = 1.0
k_t = 1e5
[sweep.axes]
belt_speed = { from = 0.02, to = 0.3, count = 3 }
""",
    """
[study]
scheme = "rk32"
[parameters]
mu = 0.1
normal_force = 10.0
bristle_damping = 30.0
viscous_friction = 0.5
[time]
smallest_step = 1e-12
[sweep.axes]
bristle_stiffness = { from = 1e2, to = 1e5, count = 3, spacing = "log" }
""",
    """
[study]
scheme = "euler"
[parameters]
mu = 0.1
dahl_stiffness = 1000.0
dahl_exponent = 1.0
friction_sides = 2
[sweep.axes]
belt_speed = [0.0, 1.5]
""",
    """
[study]
model = "two_walls"
[parameters]
k = 30.0
gap = 0.04
k_n = 5000.0
left_gap = 0.06
left_k_n = 1500.0
left_f_crit = 25.0
left_plateau = 0.01
left_softening = 0.02
left_f_post = 15.0
left_k_post = 600.0
[sweep]
design = "morris"
count = 3
levels = 4
[sweep.axes]
a0 = { from = 0.5, to = 10.0 }
omega = { from = 3.0, to = 12.0 }
""",
)
CALIBRATIONS = (
    """
[study]
model = "buckling_wall"
[parameters]
plateau = 1.0
softening = 1.0
f_crit = 1.0
f_post = 0.5
post_set = [2.0, 3.0]
post_stiffness = [0.2, 0.15]
[time]
end = 20.0
[calibration]
data = "drops.csv"
starts = 3
seed = 4
confidence = 0.9
noise = "estimated"
[calibration.free]
k_n = { from = 0.1, to = 10.0, start = 1.0, scale = "log", prior = { mean = 1.0, std = 0.5 } }
"post_stiffness[1]" = { from = 0.05, to = 0.4 }
[calibration.compare]
plastic_set = "set"
rebound_velocity = { column = "back", sd = 0.01, weight = "times" }
""",
    """
[parameters]
omega = 30.0
[calibration.free]
k_t = { from = 400.0, to = 10000.0, start = 800.0 }
mu = { from = 0.1, to = 1.0 }
[[calibration.traces]]
file = "trace.csv"
settings = { a0 = 2.0 }
compare = { x = { column = "x", sd = 2e-5 } }
[[calibration.traces]]
file = "trace.csv"
settings = { a0 = 6.0 }
compare = { x = { relative_sd = 0.05, weight = 2.0 } }
""",
    """
[parameters]
normal_force = 500.0
mu = 0.3
[calibration.free]
k_t = { from = 2e6, to = 2e8 }
mu_s = { from = 0.3, to = 1.5 }
[[calibration.loops]]
file = "loop.csv"
steady = true
displacement = "x"
compare = { force = { column = "force", sd = 5.0 } }
[[calibration.loops]]
file = "loop.csv"
compare = { force = { column = "force", sd = 5.0 } }
""",
)
STUDIES = [*(("run", text) for text in BASES), *(("calibrate", text) for text in CALIBRATIONS)]
WORDS = [
    "",
    "grid",
    "sobol",
    "exact",
    "euler",
    "default",
    "mu",
    "steady",
    "log",
    "1e400",
    "-1",
    "[1.0]",
    "é",
    "nan",
    "inf",
    "1e-320",
    "-0.0",
    "0x10",
    "1_0",
    "1979-05-27",
    "07:32:00",
    "true",
    "3.5 N/m",
    "1 g",
    "shock",
    "psd.csv",
    "loop.csv",
    "record",
    "level",
]
PIECES = st.one_of(
    st.sampled_from(list("0123456789.-e")),
    st.sampled_from(list("[]{}=\"',.#\n 0123456789eE+-_")),
    st.sampled_from(WORDS),
    st.sampled_from(ODD),
    st.characters(),
)
VALUES = st.one_of(
    st.integers(-3, 40),
    st.floats(),
    st.booleans(),
    st.sampled_from(WORDS),
    st.sampled_from(ODD),
    st.lists(st.floats(0.1, 3.0), max_size=3),
    st.just({}),
    st.sampled_from([2**53 + 1, 2**63, 10**400, dt.date(1979, 5, 27), [[1.0, 2.0]], ["mu", "a0", 0.5], [{}], [[]]]),
    st.fixed_dictionaries({"from": st.floats(0.1, 1.0), "to": st.floats(1.0, 9.0), "count": st.integers(0, 5)}),
)
# what a resolved study says that its file may leave to the defaults
DEFAULTED = re.compile(
    r"study\.(name|model)|sweep(\[\d+\])?\.(design|seed|levels|harmonics|second_order|observable|digits|halvings|width)|.*\.spacing|"
    r"time\.window.*|excitation\.(sha256.*|random\.seed)"
)
SCALED = re.compile(r"excitation\.random\.spectrum")  # may be converted from another unit
GRAVITY = 9.80665
UNITS = pint.UnitRegistry(cache_folder=None)


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every value of nested tables and lists by its path."""
    if isinstance(value, dict):
        return {leaf: found for key, item in value.items() for leaf, found in leaves(item, f"{path}.{key}" if path else str(key)).items()}
    if isinstance(value, list):
        return {leaf: found for place, item in enumerate(value) for leaf, found in leaves(item, f"{path}[{place}]").items()}
    return {path: value}


def without_words(value: Any) -> Any:
    """The same tables, in which a choice between values of equal weight is their list, as in a resolved study."""
    if isinstance(value, dict) and set(value) == {"distribution", "values"} and value["distribution"] == "choice":
        return value["values"]
    if isinstance(value, list):
        return [without_words(item) for item in value]
    return {key: without_words(item) for key, item in value.items()} if isinstance(value, dict) else value


def same(one: Any, other: Any) -> bool:
    """Equal, 1 and 1.0 as well, true and 1 not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def equal(resolved: Any, stated: Any, leaf: str) -> bool:
    """Whether a resolved value is what the file states; text with a unit is read by pint alone."""
    if isinstance(stated, str) and isinstance(resolved, float):
        found = UNITS.Quantity(stated.replace("%", "percent")).to_base_units()
        return resolved == pytest.approx(float(found.magnitude) * (2.0 * math.pi if "z" in stated and "omega" in leaf else 1.0), rel=1e-14)
    if isinstance(resolved, float) and isinstance(stated, int) and not isinstance(stated, bool):
        stated = float(stated)  # the nearest one, as TOML reads 9007199254740993.0 too
    return same(resolved, stated)


def as_resolved(stated: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a file states, in the form of a resolved study: paths absolute, a band as a spectrum, both ramps."""
    found = copy.deepcopy(without_words(stated))
    if isinstance(found.get("sweep"), list) and len(found["sweep"]) == 1:
        found["sweep"] = found["sweep"][0]
    for part in found["sweep"] if isinstance(found.get("sweep"), list) else [found.get("sweep", {})]:
        if "file" in part:
            part["file"] = str((folder / part["file"]).resolve())
    if "statistics" in found.get("output", {}) and not found["output"]["statistics"]:
        del found["output"]["statistics"]
    excitation = found.get("excitation", {})
    if "records" in excitation:
        given = excitation["records"]
        excitation["records"] = [str((folder / file).resolve()) for file in given] if isinstance(given, list) else str(folder / given)
    if "random" in excitation:
        random_as_resolved(excitation["random"], folder)
    return found


def random_as_resolved(random: dict[str, Any], folder: Path) -> None:
    """The same of [excitation.random]; densities in the file are in g^2/Hz."""
    if "band" in random:
        band, rms = random.pop("band"), random.pop("rms")
        size = float(rms.removesuffix("g")) * GRAVITY if isinstance(rms, str) else rms
        random["spectrum"] = [[end, size**2 / (band[1] - band[0])] for end in band]
    elif random["spectrum"] == "psd.csv":
        rows = csv.reader((folder / "psd.csv").read_text(encoding="utf-8").splitlines()[1:])
        random["spectrum"] = [[float(f), GRAVITY**2 * float(s)] for f, s in rows]
    if random.get("interpolation") == "linear":
        del random["interpolation"]
    taper = random.pop("taper", 0.0)
    ends = [taper[0], taper[-1]] if isinstance(taper, list) else [taper, taper]
    if any(ends):
        random["taper"] = ends


def check(command: str, text: str, folder: Path) -> None:
    """Check that a study is refused with sentences, or is the study that an independent reading of the file finds."""
    path = folder / "study.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with mock.patch(
        "tribosweep.sweep.analysis.calibration.analysis.carry_out", side_effect=typer.Exit
    ):  # the data are read, and nothing is fitted
        status, out, told = tell([command, str(path), *(["--dry-run", "--json"] if command == "run" else [])])
    assert status in (0, 2), told
    assert {entry.name for entry in folder.iterdir()} == {*FILES, path.name}
    assert not list(Path.cwd().iterdir())
    if status == 2:
        assert told.startswith(f"{path}: ")
    elif command == "run":
        check_resolved(tomllib.loads(text + "\n"), json.loads(out)["config"], path)
    else:
        check_calibration(tomllib.loads(text + "\n"), calibrations.load(path), folder)


def check_resolved(given: dict[str, Any], config: dict[str, Any], path: Path) -> None:
    """Check that a resolved study states what the file does, nothing more and nothing less, and that it reads as itself."""
    stated = leaves(as_resolved(given, path.parent))
    resolved = leaves(config)
    for leaf, value in stated.items():
        if leaf.startswith("time.window"):  # in the order of the file: below
            continue
        if value == "default":
            assert leaf in resolved
            continue
        assert leaf in resolved, (leaf, given)
        if not leaf.endswith(".spacing"):
            assert close(resolved[leaf], value) if SCALED.match(leaf) else equal(resolved[leaf], value, leaf), (leaf, given)
    for leaf, value in resolved.items():
        assert DEFAULTED.fullmatch(leaf) or stated.get(leaf) == "default" or leaf in stated, (leaf, value, given)
    window = given.get("time", {}).get("window")
    if window is not None:
        found = config["time"]["window"]
        assert found == window if window == "steady" else all(map(equal, found, window, ["", ""]))
    for leaf, value in stated.items():
        if leaf.endswith(".spacing"):
            assert resolved[leaf] == value
    status, out, _ = tell(["run", str(path), "--dry-run"])
    assert (status, tomllib.loads(out)) == (0, config)
    assert load(config).document == config


def close(resolved: Any, stated: Any) -> bool:
    """Equal to rounding: of numbers in another unit."""
    return resolved == pytest.approx(stated, rel=1e-14) if isinstance(stated, float | int) else same(resolved, stated)


def cells(file: Path, column: str) -> list[float]:
    """The numbers of a column; NaN for an empty cell."""
    with file.open(encoding="utf-8") as opened:
        return [float(row[column] or math.nan) for row in csv.DictReader(opened)]


def check_calibration(stated: dict[str, Any], found: calibrations.Calibration, folder: Path) -> None:
    """Check that a calibration finds what the file states from the numbers that its files hold."""
    section, parameters = stated["calibration"], stated.get("parameters", {})
    given = (section.get("starts", 16), section.get("seed", 1), section.get("confidence", 0.95), section.get("noise", "known") == "known")
    assert (found.starts, found.seed, found.confidence, found.known) == given
    assert list(section["free"]) == [free.name for free in found.space.frees]
    for free in found.space.frees:
        asked = section["free"][free.name]
        assert equal(free.lower, asked["from"], "")
        assert equal(free.upper, asked["to"], "")
        assert free.logarithmic == (asked.get("scale", "log" if free.quantity.unit.startswith("N") else "linear") == "log")
        if "start" in asked:
            assert equal(free.start, asked["start"], "")
        assert ("prior" in asked) == (free.prior is not None)
        if free.prior is not None:
            assert equal(dict(free.prior.numbers)["mean"], asked["prior"]["mean"], "")
            assert equal(dict(free.prior.numbers)["std"], asked["prior"]["std"], "")
    expected = []
    sources = [*([section] if "data" in section else []), *section.get("traces", []), *section.get("loops", [])]
    for source in sources:
        file = folder / source.get("data", source.get("file"))
        times = cells(file, "time") if source in section.get("traces", []) else None
        for name, asked in source["compare"].items():
            expected += numbers(file, name, {"column": asked} if isinstance(asked, str) else asked, times)
    data = found.data
    measured = [(data.names[o], *each) for o, *each in zip(data.observable, data.measured, data.sd, data.weight, strict=True)]
    for (name, *those), (stated_name, *these) in zip(sorted(measured), sorted(expected), strict=True):
        assert name == stated_name
        assert those == pytest.approx(these, rel=1e-14)
    free_names = {free.quantity.name for free in found.space.frees}
    resolved = found.config.document.get("parameters", {})
    for name, value in parameters.items():
        if name not in free_names and name in resolved:
            assert all(equal(*each, name) for each in zip(leaves(resolved[name]).values(), leaves(value).values(), strict=True))
        else:
            assert name in free_names or name in data.settings


def numbers(file: Path, name: str, asked: dict[str, Any], times: list[float] | None) -> list[tuple[Any, ...]]:
    """(observable, number, standard deviation, weight) of the rows of one column that was measured."""
    column = asked.get("column", name)
    measured = cells(file, column)
    sd = asked.get("sd", None if "relative_sd" in asked else f"{column}_sd")
    spread = cells(file, sd) if isinstance(sd, str) else [sd if sd is not None else asked["relative_sd"] * abs(each) for each in measured]
    weight = asked.get("weight", 1.0)
    weights = cells(file, weight) if isinstance(weight, str) else [weight] * len(measured)
    rows = zip([name] * len(measured), measured, spread, weights, strict=True)
    return [row for place, row in enumerate(rows) if math.isfinite(row[1]) and (times is None or times[place] > 0.0)]


@st.composite
def mutated_text(draw: st.DrawFn) -> tuple[str, str]:
    """A command, and a study with pieces of its text replaced, doubled, dropped or put in."""
    command, text = draw(st.sampled_from(STUDIES))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 6))
        text = text[:at] + draw(PIECES) + text[at + length * draw(st.integers(0, 1)) :]
    return command, text


@st.composite
def mutated_tables(draw: st.DrawFn) -> tuple[str, str]:
    """A command, and a study with keys renamed, dropped, moved or given other values."""
    command, text = draw(st.sampled_from(STUDIES))
    tables = tomllib.loads(text)
    for _ in range(draw(st.integers(1, 2))):
        container, key = draw(st.sampled_from(places(tables) or [(tables, "study")]))
        action = draw(st.sampled_from(["value", "value", "rename", "drop", "move"]))
        if isinstance(container, list) or action == "value":
            container[key] = copy.deepcopy(draw(VALUES))
        elif key in container and action == "rename":
            container[str(key) + draw(st.sampled_from(["s", "_", "x", "0", *ODD]))] = container.pop(key)
        elif key in container and action == "drop":
            del container[key]
        elif key in container:
            tables[str(key)] = container.pop(key)
    return command, document(tables)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the studies name."""
    made = tmp_path_factory.mktemp("studies")
    write_files(made)
    return made


@pytest.mark.parametrize(("command", "text"), STUDIES)
def test_the_studies_that_are_mutated_are_sound(command: str, text: str, folder: Path) -> None:
    check(command, text, folder)
    if command == "run":
        assert main(["run", str(folder / "study.toml"), "--dry-run"]) == 0
    else:
        calibrations.load(folder / "study.toml")


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated_text())
def test_a_study_with_a_mutated_text_is_refused_or_run_as_it_stands(folder: Path, study: tuple[str, str]) -> None:
    check(*study, folder)


@pytest.mark.long
@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated_tables())
def test_a_study_with_mutated_keys_is_refused_or_run_as_it_stands(folder: Path, study: tuple[str, str]) -> None:
    check(*study, folder)
