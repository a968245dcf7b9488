"""Records of a study: what is read, what is refused with its row, and which record reaches which row."""

from __future__ import annotations

import pickle
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.excitation.record import Records
from tribosweep.sweep import Config, ConfigError, load, resume, run
from tribosweep.sweep.cli import main
from tribosweep.sweep.excitation.records import Recorded
from tribosweep.sweep.execution.record_bank import bind_records
from tribosweep.sweep.execution.shard import solve_points

Captured = pytest.CaptureFixture[str]
STUDY = '[time]\nend = 2.0\n[excitation]\nrecords = "quake.csv"\n'
TIMES = np.arange(201) * 0.01
SHAKE = np.sin(7.0 * TIMES) * np.exp(-TIMES)


def csv(times: Any = TIMES, values: Any = SHAKE, header: str = "time,acceleration") -> str:
    """A record as text."""
    return "\n".join([header, *(f"{t:.6g},{a:.17g}" for t, a in zip(times, values, strict=True))]) + "\n"


def changed(row: int, time: str | None = None, value: str | None = None) -> str:
    """A sound record but for one row, counted as messages do."""
    lines = csv().splitlines()
    t, a = lines[row].split(",")
    lines[row] = f"{t if time is None else time},{a if value is None else value}"
    return "\n".join(lines) + "\n"


def study(folder: Path, text: str = STUDY, **files: str) -> Path:
    """A study's file beside records."""
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def record_of(folder: Path, content: str, text: str = STUDY) -> Any:
    """The only record of a study."""
    excitation = load(study(folder, text, quake=content)).excitation
    assert isinstance(excitation, Recorded)
    return excitation.records[0]


def test_a_record_is_read_with_its_interval_and_name(tmp_path: Path) -> None:
    record = record_of(tmp_path, "# of a made-up quake\n# evenly sampled\n" + csv())
    assert (record.name, record.path, record.interval, record.duration) == ("quake", tmp_path / "quake.csv", 0.01, 2.0)
    np.testing.assert_array_equal(record.samples, SHAKE)


@pytest.mark.parametrize(
    ("header", "keys", "factor"),
    [
        ("time [s],acceleration [m/s^2]", "", 1.0),
        ("Time (s),Acceleration (g)", "", 9.80665),
        ("time,acceleration[cm/s2]", "", 0.01),
        ("time,acceleration", 'unit = "g"', 9.80665),
        ("time,acceleration (mg)", 'unit = "mg"', 9.80665e-3),
        ("t,NS", 'time = "t"\nacceleration = "NS"\nunit = "Gal"', 0.01),
    ],
)
def test_units_are_those_of_the_header_or_of_the_study(tmp_path: Path, header: str, keys: str, factor: float) -> None:
    record = record_of(tmp_path, csv(header=header), f"{STUDY}{keys}\n")
    np.testing.assert_allclose(record.samples, factor * SHAKE, rtol=1e-14)


def test_times_may_be_in_another_unit_and_rounded(tmp_path: Path) -> None:
    text = "[time]\nend = 1.5\n[excitation]\nrecords = 'quake.csv'\n"
    record = record_of(tmp_path, csv(np.round(np.arange(100) * 50.0 / 3.0, 1), np.ones(100), "time [ms],acceleration"), text)
    assert record.interval == pytest.approx(1.0 / 60.0, rel=1e-4)


def test_files_of_spreadsheets_are_read(tmp_path: Path) -> None:
    (tmp_path / "quake.csv").write_bytes(b"\xef\xbb\xbf" + csv(header="time,acceleration").replace("\n", ",\r\n").encode())
    (tmp_path / "study.toml").write_text(STUDY)
    excitation = load(tmp_path / "study.toml").excitation
    assert isinstance(excitation, Recorded)
    np.testing.assert_array_equal(excitation.records[0].samples, SHAKE)


def test_parquet_is_read_too(tmp_path: Path) -> None:
    pd.DataFrame({"time": TIMES, "acceleration [g]": SHAKE.astype(np.float32), "more": "x"}).to_parquet(tmp_path / "quake.parquet")
    excitation = load(study(tmp_path, STUDY.replace(".csv", ".parquet"))).excitation
    assert isinstance(excitation, Recorded)
    np.testing.assert_allclose(excitation.records[0].samples, 9.80665 * SHAKE, atol=1e-6)


REFUSED = {
    "a gap": (
        csv(np.delete(TIMES, [50, 51]), np.delete(SHAKE, [50, 51])),
        ["quake.csv, row 51", "from 0.49 to 0.52 s the step is 0.03 s, where most are 0.01 s; about 2 samples are missing", "numpy.interp"],
    ),
    "a repeated time": (changed(11, time="0.09"), ["quake.csv, row 11", "time 0.09 s is repeated"]),
    "a decreasing time": (changed(11, time="0.05"), ["quake.csv, row 11", "time 0.05 s comes after 0.09 s", "must increase"]),
    "a time off the others": (changed(11, time="0.105"), ["row 11", "the step is 0.015 s, where most are 0.01 s"]),
    "a slow drift": (
        csv(TIMES * (1.0 + 0.001 * TIMES)),
        ["off an even step", "numpy.interp"],
    ),
    "a record that begins later": (csv(TIMES + 3.0), ["row 1", "the first time is 3 s: a record begins at t = 0", "subtract 3 s"]),
    "NaN": (changed(7, value="nan"), ["column acceleration, row 7: nan: must be a finite number (acceleration, unit m/s^2)"]),
    "NaN in g": (
        changed(7, value="nan").replace("acceleration", "acceleration [g]"),
        ["row 7: nan: must be a finite number (acceleration, unit g)"],
    ),
    "an infinite time": (changed(7, time="inf"), ["column time, row 7: inf: must be a finite number (time, unit s)"]),
    "an empty cell": (changed(7, value=""), ["column acceleration, row 7: is empty"]),
    "a word": (changed(7, value="high"), ["column acceleration, row 7: 'high' is no number"]),
    "an underscore between digits": (changed(7, value="1_0"), ["column acceleration, row 7: '1_0' is no number"]),
    "digits that are not ASCII": (changed(7, value="\N{FULLWIDTH DIGIT ONE}"), ["row 7:", "is no number"]),
    "a decimal comma": (changed(7, value='"0,5"'), ["row 7: '0,5' is no number; numbers have a decimal point"]),
    "a missing column": (
        csv(header="time,acelleration"),
        ["quake.csv: has no column 'acceleration'; did you mean 'acelleration'?", "excitation.acceleration"],
    ),
    "no header": (csv(header="0,0"), ["its first line holds numbers: it must name the columns"]),
    "semicolons": (csv().replace(",", ";"), ["has no column 'time'", "columns are separated by commas"]),
    "a column twice": (csv(header="acceleration (g),acceleration"), ["has no column 'time'"]),
    "two accelerations": (
        "time,acceleration (g),acceleration (m/s^2)\n0,1,2\n1,1,2\n2,1,2\n",
        ["column acceleration: given 2 times"],
    ),
    "a wrong unit": (
        csv(header="time,acceleration [m/s]"),
        ["'m/s', as the header says, is no unit of acceleration: write one such as m/s^2"],
    ),
    "an unknown unit": (csv(header="time [jiffys],acceleration"), ["'jiffys', as the header says, is no unit of time"]),
    "a row": (csv(TIMES[:1], SHAKE[:1]), ["has 1 row: a record has at least 2"]),
    "nothing": (csv([], []), ["has 0 rows: a record has at least 2"]),
    "an empty file": ("", ["cannot read", "it is empty"]),
    "rows of unlike length": (csv() + "3,4,5\n", ["cannot read", "line 203: '3,4,5' has 3 cells, and the header 2"]),
    "a record that is too short": (
        csv(TIMES[:150], SHAKE[:150]),
        [
            "excitation.records: a record must last until the end of the run",
            'extend = "zero"',
            "quake.csv (row 150) ends at 1.49 s, end = 2 s",
        ],
    ),
}


@pytest.mark.parametrize(("content", "fragments"), REFUSED.values(), ids=REFUSED)
def test_a_record_is_refused_with_its_row(tmp_path: Path, capsys: Captured, content: str, fragments: list[str]) -> None:
    config = study(tmp_path, quake=content)
    assert main(["run", str(config), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    for fragment in fragments:
        assert fragment in said
    assert "Traceback" not in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["quake.csv", "study.toml"]


def test_of_many_bad_cells_some_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(study(tmp_path, quake=csv(values=np.full(201, np.nan))))
    assert len(caught.value.problems) == 6
    assert "and 196 more" in str(caught.value)


KEYS = {
    "no records": ("[excitation]\n", ["excitation.records: missing", "[excitation.random]"]),
    "a number": ("[excitation]\nrecords = 3\n", ["excitation.records: must be a file or a list of files", "not 3"]),
    "an empty list": ("[excitation]\nrecords = []\n", ["excitation.records: must be a file or a list of files"]),
    "an unknown key": ("[excitation]\nrecods = 'quake.csv'\n", ["excitation.recods: unknown key; did you mean 'records' ("]),
    "a key elsewhere": ("[study]\nrecords = 'quake.csv'\n", ["study.records: belongs in [excitation], as excitation.records"]),
    "a missing file": ("[excitation]\nrecords = 'quack.csv'\n", ["excitation.records: cannot read", "quack.csv"]),
    "a directory": ("[excitation]\nrecords = 'folder.csv'\n", ["folder.csv: is a directory: only regular files are read"]),
    "another ending": ("[excitation]\nrecords = 'quake.txt'\n", ["must end in .csv or .parquet"]),
    "another extension": (f"{STUDY}extend = 'last'\n", ["excitation.extend: must be \"zero\" or left out, not 'last'"]),
    "two units": (f"{STUDY}unit = 'm/s'\n", ["'m/s', as excitation.unit says, is no unit of acceleration"]),
    "two of one name": (
        "[excitation]\nrecords = ['quake.csv', 'folder.csv/quake.csv']\n",
        ["excitation.records[1]: folder.csv/quake.csv: 'quake' is the name of quake.csv already"],
    ),
    "unlike sampling": (
        "[excitation]\nrecords = ['quake.csv', 'slow.csv']\n[parameters]\nrecord = 'slow'\n",
        ["slow.csv is sampled every 0.02 s, quake.csv every 0.01 s: the records of a study have one interval"],
    ),
    "no choice": ("[time]\nend = 1\n[excitation]\nrecords = ['quake.csv', 'two.csv']\n", ['sweep record = ["quake", "two"] in']),
    "another choice": (
        f"{STUDY}[parameters]\nrecord = 'quack'\n",
        ["parameters.record: 'quack' is not a word of it; did you mean 'quake'?"],
    ),
    "a number for a name": (f"{STUDY}[sweep.axes]\nrecord = [0]\n", ["sweep.axes.record[0]: 0 is not a word of it", "quake"]),
    "a record of nothing": ("[parameters]\nrecord = 'quake'\n", ["parameters.record: "]),
    "a draw of nothing": ("[sweep.axes]\ndraw = [1]\n", ["sweep.axes.draw: a draw needs [excitation.random]"]),
    "a steady window": (
        "[time]\nwindow = 'steady'\n[excitation]\nrecords = 'quake.csv'\n",
        ['excitation.records: time.window = "steady" is of motion that repeats with one sine'],
    ),
    "another file than before": (
        f"{STUDY}sha256 = ['00']\n",
        ["excitation.sha256: the files are not those that the study was resolved with"],
    ),
    "a swept end beyond the record": (f"{STUDY}[sweep.axes]\nrecord_scale = [1, 2]\n".replace("2.0", "2.5"), ["(broken at 2 of 2 points)"]),
}


@pytest.mark.parametrize(("text", "fragments"), KEYS.values(), ids=KEYS)
def test_wrong_keys_are_refused(tmp_path: Path, capsys: Captured, text: str, fragments: list[str]) -> None:
    (tmp_path / "folder.csv").mkdir()
    config = study(tmp_path, text, quake=csv(), two=csv(), slow=csv(2.0 * TIMES))
    assert main(["run", str(config), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    for fragment in fragments:
        assert fragment in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def two(folder: Path, **more: Any) -> Config:
    """A study of two records, the second shorter."""
    study(folder, "", quake=csv(), late=csv(TIMES[:101], 2.0 * SHAKE[:101]))
    return load(
        {
            "time": {"end": 2.0},
            "excitation": {"records": [str(folder / "quake.csv"), str(folder / "late.csv")], "extend": "zero"},
            "sweep": {"axes": {"record": ["late", "quake"], "record_scale": [1.0, -0.5]}},
            **more,
        }
    )


def test_a_study_with_records_reads_back_as_itself_wherever_it_is(tmp_path: Path) -> None:
    config = two(tmp_path)
    text = config.to_toml()
    assert f'records = ["{tmp_path}/quake.csv", "{tmp_path}/late.csv"]' in text
    again = load(tomllib.loads(text))
    assert (again.digest, again.to_toml()) == (config.digest, text)
    assert pickle.loads(pickle.dumps(config)).digest == config.digest
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert two(elsewhere).digest == config.digest


def test_a_study_is_another_one_when_its_records_are(tmp_path: Path, fake: FakeKernels) -> None:
    config = two(tmp_path)
    run(config, tmp_path / "out")
    document = {key: value for key, value in config.document["excitation"].items() if key != "sha256"}
    (tmp_path / "quake.csv").write_text(csv(values=1.001 * SHAKE))
    changed = load({**config.document, "excitation": document})
    assert changed.digest != config.digest
    with pytest.raises(ConfigError, match=r"excitation\.sha256"):
        run(changed, tmp_path / "out")
    with pytest.raises(ConfigError, match="not those that the study was resolved with"):
        resume(tmp_path / "out")
    assert fake.calls == [4]


def test_rows_take_the_records_they_name_and_short_ones_end_in_zeros(tmp_path: Path) -> None:
    config = two(tmp_path)
    points = config.design.points(0, 4)
    fixed, _, records = bind_records(config, points)
    assert records is not None
    assert (records.samples.shape, records.interval) == ((2, 201), 0.01)
    np.testing.assert_array_equal(records.samples, [SHAKE, np.where(TIMES <= 1.0, 2.0 * SHAKE, 0.0)])
    assert points.columns["record"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert fixed == {"end": 2.0}


def test_the_only_record_is_that_of_every_row(tmp_path: Path) -> None:
    config = load(study(tmp_path, f"{STUDY}[sweep.axes]\nmu = [0.1, 0.2]\n", quake=csv()))
    fixed, points, records = bind_records(config, config.design.points(0, 2))
    assert (fixed["record"], list(points.columns)) == (0.0, ["mu"])
    assert isinstance(records, Records)
    assert '# default: record = "quake"' in config.to_toml()


def test_names_are_columns_also_of_a_table_of_points(tmp_path: Path, fake: FakeKernels) -> None:
    study(tmp_path, "", quake=csv(), two=csv(), points="record,record_scale\nquake,1\ntwo,2\ntwo,3\n")
    raw = {"records": [str(tmp_path / f"{name}.csv") for name in ("quake", "two")]}
    design = {"design": "table", "file": str(tmp_path / "points.csv")}
    done = run({"time": {"end": 2.0}, "excitation": raw, "sweep": design}, tmp_path / "out")
    assert done.to_arrow(["record"]).column("record").to_pylist() == ["quake", "two", "two"]
    assert main(["map", str(tmp_path / "out"), "--out", str(tmp_path / "map.png")]) == 2  # one parameter with numbers is no map
    assert fake.calls == [3]


@pytest.mark.slow
def test_a_mass_without_friction_moves_as_its_record_integrated_twice(tmp_path: Path) -> None:
    config = two(tmp_path, parameters={"mu": 0.0}, study={"scheme": "euler"})
    solution = solve_points(config, config.design.points(0, 4))
    assert not solution.status.any()
    step = 0.01
    scales = {"late": [1.0, -0.5], "quake": [1.0, -0.5]}
    samples = {"quake": SHAKE, "late": np.where(TIMES <= 1.0, 2.0 * SHAKE, 0.0)}
    row = 0
    for name, factors in scales.items():
        a = samples[name]
        speed = np.concatenate([[0.0], np.cumsum(0.5 * step * (a[1:] + a[:-1]))])
        way = np.sum(step * speed[:-1] + step**2 * (a[:-1] / 3.0 + a[1:] / 6.0))
        for factor in factors:
            np.testing.assert_allclose(solution.observables["v_end"][row], -factor * speed[-1], rtol=1e-3)
            np.testing.assert_allclose(solution.observables["x_end"][row], -factor * way, rtol=1e-3)
            row += 1


def test_the_folder_of_a_run_may_move(tmp_path: Path, fake: FakeKernels) -> None:
    run(two(tmp_path), tmp_path / "out")
    shutil.move(tmp_path / "out", tmp_path / "moved")
    assert resume(tmp_path / "moved").complete
    assert fake.calls == [4]
