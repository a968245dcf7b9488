"""What is wrong with a calibration is said at once, with path or row, before anything is computed."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analysis import derivative_blocks
from tribosweep.sweep.analysis.calibration import load as reading
from tribosweep.sweep.analysis.calibration import system as system_module
from tribosweep.sweep.analysis.calibration.analysis import check
from tribosweep.sweep.analysis.calibration.results import CalibrationRequest
from tribosweep.sweep.analysis.calibration.sheet import stated_in
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.cli import main

CONFIGS = Path(__file__).parents[4] / "configs"
STUDY: dict[str, Any] = {
    "study": {"model": "buckling_wall"},
    "parameters": {"plateau": 1.0, "softening": 1.0, "f_crit": 1.0, "f_post": 0.5, "post_set": [2.0, 3.0], "post_stiffness": [0.2, 0.15]},
    "calibration": {
        "data": "drops.csv",
        "free": {"k_n": {"from": 0.1, "to": 10.0, "start": 1.0}, "post_stiffness[1]": {"from": 0.05, "to": 0.4}},
        "compare": {"plastic_set": {"column": "set", "sd": "error"}, "rebound_velocity": {"column": "back", "sd": 0.01, "weight": "times"}},
    },
}
DROPS: dict[str, list[Any]] = {
    "test": ["first", "second", "third"],
    "v0": [1.5, 2.0, 3.0],
    "v0_unit": ["m/s", "m/s", ""],
    "set": [0.5, None, 1.5],
    "error": [0.01, None, 0.02],
    "back": [-1.0, -1.1, -1.2],
    "times": [1.0, 2.0, 1.0],
}
TRACE: dict[str, list[Any]] = {"time": [0.0, 0.5, 1.0], "x": [0.0, 0.1, 0.2]}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The study with another value under a path (None: without it)."""
    study = copy.deepcopy(STUDY)
    *keys, last = path.split("/")
    table: Any = study
    for key in keys:
        table = table.setdefault(key, {})
    if value is None:
        del table[last]
    else:
        table[last] = value
    return study


def said(study: dict[str, Any], drops: dict[str, list[Any]] | None = None) -> str:
    """What is said of a study with data that may be other than DROPS."""
    pd.DataFrame(drops or DROPS).to_csv("drops.csv", index=False)
    pd.DataFrame(TRACE).to_csv("trace.csv", index=False)
    with pytest.raises(ConfigError) as caught:
        reading.load(study)
    return str(caught.value)


def test_headers_of_measurements_may_state_units() -> None:
    named = {"v0": "v0 [mm/s]", "v0_unit": "v0_unit", "set": "set (mm)", "error": "error [cm]", "back": "back [km/h]"}
    drops = {named.get(name, name): cells for name, cells in DROPS.items() if name != "v0_unit"}
    pd.DataFrame(drops).to_csv("drops.csv", index=False)
    found = reading.load(changed("calibration/compare/rebound_velocity", {"column": "back [km/h]", "sd": 0.01, "weight": "times"}))
    assert found.data.settings["v0"] == pytest.approx([1.5e-3, 2e-3, 3e-3])
    assert found.data.measured == pytest.approx([0.5e-3, 1.5e-3, -1.0 / 3.6, -1.1 / 3.6, -1.2 / 3.6])
    assert found.data.sd[:2] == pytest.approx([1e-4, 2e-4])
    assert found.data.sd[2:] == pytest.approx([0.01, 0.01, 0.01])  # a number of the study: in SI units


@pytest.mark.parametrize(
    ("renamed", "words"),
    [
        ({"set": "set [N]"}, "column set: 'N', as the header says, is no unit of plastic_set: write one such as m"),
        ({"set": "set [mm]"}, "column error: its header states no unit, and that of set says mm: state it here too"),
        ({"v0": "v0 [mm/s]"}, "column v0_unit, row 1: 'm/s' disagrees: the header of v0 says mm/s"),
        ({"times": "times [s]"}, "column times: 's', as the header says, is no unit of weight: give plain numbers"),
    ],
)
def test_a_unit_in_a_header_must_fit(renamed: dict[str, str], words: str) -> None:
    assert words in said(STUDY, {renamed.get(name, name): cells for name, cells in DROPS.items()})


def test_brackets_without_a_space_are_part_of_a_name() -> None:
    assert stated_in("normal_force_peak[ring]") == ("normal_force_peak[ring]", None)
    assert stated_in("x[centre] [mm]") == ("x[centre]", "mm")
    assert stated_in("force(kN)") == ("force", "kN")
    assert stated_in("[kN]") == ("[kN]", None)


def test_the_filter_of_stderr_is_asked_once_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def make(_system: System, _part: object) -> object:
        order.append("program")
        raise KeyboardInterrupt

    monkeypatch.setattr(system_module, "program_of", make)
    monkeypatch.setattr(derivative_blocks, "compiling", lambda what: order.append(what) or nullcontext())
    pd.DataFrame(DROPS).to_csv("drops.csv", index=False)
    found = reading.load(STUDY)
    with pytest.raises(KeyboardInterrupt):
        System(found.config, found.space, found.data).at(np.array([found.space.starts]))
    assert order == ["program"]


def test_a_calibration_is_read_with_settings_missing_cells_units_and_weights() -> None:
    pd.DataFrame(DROPS).to_csv("drops.csv", index=False)
    found = reading.load(STUDY)
    assert found.space.names == ("k_n", "post_stiffness[1]")
    assert found.data.runs == ("first", "second", "third")
    assert found.data.settings["v0"].tolist() == [1.5, 2.0, 3.0]
    assert found.data.measured.tolist() == [0.5, 1.5, -1.0, -1.1, -1.2]
    assert found.data.run.tolist() == [0, 2, 0, 1, 2]
    assert found.data.spread == pytest.approx([0.01, 0.02, 0.01, 0.01 / np.sqrt(2.0), 0.01])
    assert found.config.design.count == 3
    assert found.space.starts.tolist() == [1.0, 0.15]
    assert found.space.logarithmic.all()
    assert found.config.fixed["post_stiffness"].tolist() == [0.2, 0.15]


def test_a_standard_deviation_may_have_a_unit() -> None:
    pd.DataFrame(DROPS).drop(columns="error").to_csv("drops.csv", index=False)
    found = reading.load(changed("calibration/compare/plastic_set/sd", "5 mm"))
    assert found.data.spread[:2] == pytest.approx([0.005, 0.005])


def test_parquet_and_csv_say_the_same() -> None:
    pd.DataFrame(DROPS).to_parquet("drops.parquet")
    found = reading.load(changed("calibration/data", "drops.parquet"))
    assert found.data.measured.tolist() == [0.5, 1.5, -1.0, -1.1, -1.2]


def test_a_trace_is_a_run_for_each_of_its_samples() -> None:
    pd.DataFrame(DROPS).to_csv("drops.csv", index=False)
    pd.DataFrame(TRACE).to_csv("trace.csv", index=False)
    study = copy.deepcopy(STUDY)
    study["calibration"]["traces"] = [{"file": "trace.csv", "settings": {"v0": 2.5}, "compare": {"x": {"sd": 0.01}}}]
    found = reading.load(study)
    assert found.data.skipped == 1
    assert found.data.settings["end"].tolist() == [12.0, 12.0, 12.0, 0.5, 1.0]
    assert found.data.settings["window_end"].tolist() == [12.0, 12.0, 12.0, 0.5, 1.0]
    assert found.data.settings["v0"].tolist() == [1.5, 2.0, 3.0, 2.5, 2.5]
    assert found.data.tests.tolist() == [0, 1, 2, 3, 3]
    assert found.config.design.count == 4


CASES: list[tuple[str, Any, str]] = [
    ("calibration", None, r"calibration: missing: a calibration has a table"),
    ("calibration/free", None, r"calibration.free: missing"),
    ("calibration/data", None, r"calibration.data: missing"),
    ("calibration/data", "nothing.csv", r"calibration.data: cannot read .*nothing.csv"),
    ("calibration/data", "drops.txt", r"must end in .csv or .parquet"),
    ("calibration/free", {"k_m": {"from": 1, "to": 2}}, r"calibration.free.k_m: unknown parameter; did you mean 'k_"),
    ("calibration/free", {"k_n": 3.0}, r"calibration.free.k_n: must have bounds"),
    ("calibration/free/k_n/start", 20.0, r"calibration.free.k_n.start: the start 20 is outside the bounds .* from 0.1 to 10 \(unit N/m\)"),
    ("parameters/post_stiffness", [0.2, 0.45], r"parameters.post_stiffness\[1\]: the start 0.45 is outside the bounds"),
    ("calibration/free/k_n/from", 20.0, r"calibration.free.k_n: from must be below to"),
    ("calibration/free/k_n/from", -1.0, r"calibration.free.k_n.from: -1.0 is out of bounds: must be >"),
    ("calibration/free/k_n/scale", "lin", r"calibration.free.k_n.scale: 'lin' is none; did you mean 'linear'\? Known: log, linear"),
    ("calibration/free/k_n/sart", 1.0, r"calibration.free.k_n.sart: unknown key; did you mean 'start'"),
    ("calibration/free/k_n/prior", {"mean": 1.0, "std": 0.0}, r"calibration.free.k_n.prior.std: 0.0 is out of bounds: must be > 0"),
    ("calibration/free/k_n/prior", 3.0, r"calibration.free.k_n.prior: must be \{ mean"),
    (
        "calibration/free/k_n/prior",
        {"distribution": "uniform", "from": "20 N/m", "to": "30 N/m"},
        r"k_n.prior: leaves hardly any probability to",
    ),
    ("calibration/free/k_n", {"from": 1, "to": 2, "prior": None}, r"calibration.free.k_n.prior: must have a value, not None: leave it out"),
    ("calibration/free", {"k_m": 3.0}, r"free.k_m: must have bounds, [^\n]*\n  calibration.free.k_m: unknown parameter"),
    (
        "calibration/traces",
        [3, {"file": "trace.csv", "compare": {"x": {"s": 1}}}],
        r"traces\[0\]: must be a [^\n]*\n.*traces\[1\].compare.x.s: ",
    ),
    ("calibration/free/post_stiffness", {"from": 0.1, "to": 1.0}, r'a table is found node by node: "post_stiffness\[0\]"'),
    ("calibration/free/post_stiffness[2]", {"from": 0.1, "to": 1.0}, r"the table post_stiffness of \[parameters\] has 2 nodes"),
    ("calibration/free/k_n[0]", {"from": 0.1, "to": 1.0}, r"k_n is a number and has no nodes"),
    ("calibration/free/damping_criterion", {"from": 0.1, "to": 1.0}, r"no number that varies smoothly"),
    ("calibration/free/end", {"from": 0.1, "to": 1.0}, r"end is a time of the run"),
    ("calibration/free/v0", {"from": 0.1, "to": 5.0}, r"drops.csv, column v0: is free: a setting of the tests is known"),
    ("calibration/compare/plastic_sett", "set", r"calibration.compare.plastic_sett: no observable .* did you mean 'plastic_set'"),
    ("calibration/compare/impacts", "set", r"calibration.compare.impacts: no observable that can be compared"),
    ("calibration/compare/plastic_set/column", "sett", r"compare.plastic_set: \S+.csv has no column 'sett'; did you mean 'set'"),
    ("calibration/compare/plastic_set/sd", 0.0, r"calibration.compare.plastic_set.sd: 0.0 is out of bounds: must be > 0"),
    ("calibration/compare/plastic_set/sd", -1.0, r"calibration.compare.plastic_set.sd: -1.0 is out of bounds"),
    ("calibration/compare/plastic_set/sd", "5 mN", r"calibration.compare.plastic_set.sd: '5 mN': 'mN' cannot be converted to m"),
    ("calibration/compare/plastic_set/sd", None, r"calibration.compare.plastic_set: missing: sd"),
    ("calibration/compare/plastic_set/relative_sd", 0.1, r"give either sd or relative_sd"),
    ("calibration/compare/plastic_set/s", 0.1, r"calibration.compare.plastic_set.s: unknown key"),
    ("calibration/starts", 0, r"calibration.starts: must be a whole number from 1"),
    ("calibration/confidence", 95, r"calibration.confidence: 95 is out of bounds"),
    ("calibration/noise", "loud", r"calibration.noise: 'loud' is none; Known: known, estimated"),
    ("calibration/stats", 3, r"calibration.stats: unknown key; did you mean 'starts'"),
    ("sweep", {"axes": {"v0": [1.0]}}, r"sweep: a calibration has no design"),
    ("study/scheme", "rk54", r"study.scheme: a calibration follows the derivatives of 'exact'"),
    ("study/precision", "float32", r"study.precision: a calibration follows derivatives, which are float64: leave precision out"),
    ("study/model", "wall", r"study.model: 'wall' is not a model"),
    ("parameters/mass", 1.0, r"parameters.mass: unknown parameter"),
    ("parameters/f_post", 2.0, r"must not exceed the force at which the wall buckles"),
    ("parameters", 3.0, r"parameters: must be a table"),
    ("time", 3.0, r"time: must be a table"),
    ("study", [], r"study: must be a table"),
]


@pytest.mark.parametrize(("path", "value", "pattern"), CASES)
def test_a_study_that_is_wrong_is_refused_with_its_key(path: str, value: Any, pattern: str) -> None:
    assert re.search(pattern, said(changed(path, value)))


DATA_CASES: list[tuple[str, list[Any], str]] = [
    ("error", [0.01, None, 0.0], r"column error, row 3: 0.0: the standard deviation of a number that was measured must be finite and > 0"),
    ("error", [-0.01, None, 0.1], r"column error, row 1: -0.01: the standard deviation"),
    ("error", [None, 0.1, 0.1], r"column error, row 1: empty: the standard deviation"),
    ("times", [1.0, 0.0, 1.0], r"column times, row 2: 0.0: the weight"),
    ("v0", [1.0, "fast", 1.0], r"column v0, row 2: 'fast' is not a number .* unit m/s"),
    ("v0", [1.0, np.inf, 1.0], r"column v0, row 2: inf is not a finite number"),
    ("v0_unit", ["m/s", "km/h", "m/s"], r"column v0_unit, row 2: 'km/h' disagrees: v0 must be in m/s"),
    ("set_unit", ["m", "m", "mm"], r"column set_unit, row 3: 'mm' disagrees: set must be in m"),
    ("set", [0.5, None, "wide"], r"column set, row 3: 'wide' is not a number"),
    ("set", [0.5, None, np.inf], r"column set, row 3: inf is not a finite number"),
    ("set", [0.5, None, "nan"], r"column set, row 3: nan is not a finite number .*; a cell is empty where nothing was measured"),
    ("set", [0.5, None, "nan(1)"], r"column set, row 3: 'nan\(1\)' is not a number"),
    ("set", [0.5, None, "default"], r"column set, row 3: 'default' is not a number"),
    ("m", [1.0, -1.0, 1.0], r"column m, row 2: -1.0 is out of bounds: must be > 0 \(mass, unit kg\)"),
    (
        "f_crit",
        [1.0, 0.1, 1.0],
        r"the force after buckling must not exceed .* second: f_post = 0.5 N, f_crit = 0.1 N \(broken at 1 of 3 tests\)",
    ),
    ("f_crit2", [1.0, 0.1, 1.0], r"column f_crit2: neither a parameter of the model nor compared .* did you mean 'f_crit'"),
    ("k_n", [1.0, 1.0, 1.0], r"column k_n: is free: a setting of the tests is known"),
]


@pytest.mark.parametrize(("column", "cells", "pattern"), DATA_CASES)
def test_data_that_are_wrong_are_refused_with_their_row(column: str, cells: list[Any], pattern: str) -> None:
    assert re.search(pattern, said(copy.deepcopy(STUDY), {**DROPS, column: cells}))


def test_names_of_types_without_words_are_refused_and_dates_are_names() -> None:
    study = changed("calibration/data", "drops.parquet")
    drops = pa.table({name: pa.array(cells) for name, cells in DROPS.items() if name != "test"})
    far = pa.array([10**8] * 3, pa.int32()).cast(pa.date32())  # later than the dates of Python
    pq.write_table(drops.append_column("test", far), "drops.parquet")
    assert len(reading.load(study).data.runs) == 3
    pq.write_table(drops.append_column("test", pa.array([[1.0]] * 3)), "drops.parquet")
    with pytest.raises(ConfigError, match="column test: must hold words, not list"):
        reading.load(study)
    broken = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(np.arange(4, dtype=np.int32)), pa.py_buffer(b"\xff\xff\xff")])
    pq.write_table(drops.append_column("test", broken), "drops.parquet")
    with pytest.raises(ConfigError, match=r"cannot read .*drops.parquet: .*UTF8"):
        reading.load(study)


def test_a_sample_at_the_start_of_a_trace_needs_no_standard_deviation() -> None:
    pd.DataFrame(DROPS).to_csv("drops.csv", index=False)
    pd.DataFrame(TRACE).to_csv("trace.csv", index=False)
    study = copy.deepcopy(STUDY)
    study["calibration"]["traces"] = [{"file": "trace.csv", "settings": {"v0": 2.5}, "compare": {"x": {"relative_sd": 0.1}}}]
    assert reading.load(study).data.sd[-2:].tolist() == pytest.approx([0.01, 0.02])


def test_fewer_numbers_than_free_parameters_are_refused_unless_priors_make_up_for_them() -> None:
    few: dict[str, list[Any]] = {"v0": [2.0], "set": [0.5], "error": [0.1], "back": [None], "times": [None]}
    assert "calibration.free: 1 numbers were measured, too few for 2 free parameters" in said(copy.deepcopy(STUDY), few)
    pd.DataFrame(few).to_csv("drops.csv", index=False)
    study = changed("calibration/free/k_n/prior", {"mean": 1.0, "std": 0.5})
    assert reading.load(study).data.count == 1
    empty = {**few, "set": [None]}
    assert "nothing was measured: every cell is empty" in said(copy.deepcopy(STUDY), empty)


def test_every_problem_is_said_at_once_and_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({**DROPS, "error": [0.0, None, 0.0]}).to_csv("drops.csv", index=False)
    Path("wall.toml").write_text(
        '[study]\nmodel = "buckling_wall"\n[calibration]\ndata = "drops.csv"\nstarts = -1\n[calibration.free]\nk_q = { from = 1, to = 2 }\n'
        '[calibration.compare]\nplastic_set = { column = "set", sd = "error" }\nrebound = "back"\n'
    )
    assert main(["calibrate", "wall.toml"]) == 2
    words = capsys.readouterr().err
    for each in ("calibration.starts", "calibration.free.k_q", "column error, row 1", "column error, row 3", "calibration.compare.rebound"):
        assert each in words
    assert not Path("runs").exists()
    assert main(["calibrate", "none.toml"]) == 2
    assert main(["run", "wall.toml"]) == 2
    assert "this study is a calibration: tribosweep calibrate carries it out" in capsys.readouterr().err


TRACES: list[tuple[dict[str, Any], str]] = [
    (
        {"file": "trace.csv", "compare": {"x_end": {"sd": 1.0}}},
        r"calibration.traces\[0\].compare.x_end: no observable .* Known: x, v, fric",
    ),
    (
        {"file": "trace.csv", "compare": {"x": {"sd": 1.0}}, "settings": {"end": 3.0}},
        r"traces\[0\].settings.end: a trace or a loop has times",
    ),
    ({"file": "trace.csv", "compare": {"x": {"sd": 1.0}}, "settings": {"k_n": 3.0}}, r"traces\[0\].settings.k_n: is free"),
    ({"file": "trace.csv", "compare": {"x": {"sd": 1.0}}, "settings": {"v": 3.0}}, r"traces\[0\].settings.v: unknown parameter"),
    ({"file": "trace.csv", "compare": {"x": {"sd": 1.0}}, "setting": {}}, r"traces\[0\].setting: unknown key; did you mean 'settings'"),
    (
        {"file": "drops.csv", "compare": {"x": {"column": "set", "sd": 1.0}}},
        r"^  calibration.traces\[0\].file: drops.csv: has no column 'time' \[s\]; .*traces\[0\].time = \"...\" says what it is called$",
    ),
    ({"file": "trace.csv", "time": "t", "compare": {"x": {"sd": 1.0}}}, r"has no column 't' \[s\]; Known: time, x;"),
    ({"file": "trace.csv", "time": 3, "compare": {"x": {"sd": 1.0}}}, r"traces\[0\].time: must be the name of a column, not 3"),
    ({"compare": {"x": {"sd": 1.0}}}, r"traces\[0\]: must be a table with file and compare"),
]


@pytest.mark.parametrize(("trace", "pattern"), TRACES)
def test_traces_that_are_wrong_are_refused(trace: dict[str, Any], pattern: str) -> None:
    study = copy.deepcopy(STUDY)
    study["calibration"]["traces"] = [trace]
    assert re.search(pattern, found := said(study), re.MULTILINE)
    assert not re.search(r"(calibration\.\S+)\b.*: \1\b", found)  # a path is said once


def test_the_time_of_a_trace_may_have_another_name() -> None:
    pd.DataFrame(DROPS).to_csv("drops.csv", index=False)
    pd.DataFrame(TRACE).rename(columns={"time": "t [ms]"}).assign(**{"t [ms]": [0.0, 500.0, 1000.0]}).to_csv("trace.csv", index=False)
    study = copy.deepcopy(STUDY)
    study["calibration"]["traces"] = [{"file": "trace.csv", "time": "t", "settings": {"v0": 2.5}, "compare": {"x": {"sd": 0.1}}}]
    assert reading.load(study).data.times[-2:].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("name", ["calibrate_wall", "calibrate_friction", "calibrate_loop"])
def test_the_calibrations_of_the_project_are_sound(name: str) -> None:
    found = reading.load(CONFIGS / f"{name}.toml")
    assert found.data.count > len(found.space.names)
    with pytest.raises(ConfigError, match="this study is a calibration"):
        load(CONFIGS / f"{name}.toml")
    for request in (
        CalibrationRequest(profiles=("k",)),
        CalibrationRequest(slice=("k_t",)),
        CalibrationRequest(slice=(found.space.names[0],) * 2),
    ):
        with pytest.raises(ConfigError, match=r"--profile|--slice"):
            check(request, found)


@pytest.mark.slow
def test_reading_a_calibration_starts_neither_jax_nor_optimistix() -> None:
    code = (
        "import sys; import tribosweep.sweep.analysis.calibration.analysis, tribosweep.sweep.cli.calibration; "
        "import tribosweep.sweep.plots.calibration; "
        f"from tribosweep.sweep.analysis.calibration.load import load; load('{CONFIGS}/calibrate_wall.toml'); "
        "assert not {'jax', 'optimistix', 'matplotlib'} & set(sys.modules), [m for m in sys.modules if m in ('jax', 'optimistix')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=CONFIGS.parent, timeout=60)


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from tribosweep.sweep.analysis.calibration import fitting

    monkeypatch.setitem(sys.modules, "optimistix", None)
    solver: Callable[[], Any] = fitting.solver.__wrapped__
    with pytest.raises(ConfigError, match=r"pip install 'tribosweep\[calibration\]'"):
        solver()


def test_thousands_of_wrong_entries_are_counted_before_each_is_looked_at() -> None:
    sections: list[dict[str, Any]] = [
        {"calibration": {"free": STUDY["calibration"]["free"], "compare": {f"a{n}": 1 for n in range(100_000)}}},
        {"calibration": {"free": {f"a{n}": 1 for n in range(100_000)}, "compare": {}}},
        {"calibration": {"free": STUDY["calibration"]["free"], "traces": [5] * 100_000}},
    ]
    words = (
        "calibration.compare: names 100,000 entries: at most 10,000 are read",
        "calibration.free: names 100,000 parameters: at most 100",
        "calibration.traces: has 100,000 entries: at most 10,000 are read",
    )
    for section, word in zip(sections, words, strict=True):
        begun = time.process_time()
        with pytest.raises(ConfigError, match=word):
            reading.load(section)
        assert time.process_time() - begun < 1.0
