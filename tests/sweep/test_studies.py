"""The studies in configs/, on the real physics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

from tests.oracle import rigid_friction
from tests.oracle.sdnd104 import stick_slip_wear_power, wear_power
from tribosweep.kernels.batch.compile import PROGRAMS
from tribosweep.kernels.reference.closed_forms import ETA_STAR
from tribosweep.sweep import Run, load, run

PUBLISHED = np.array([15.267099589371614, 0.40906245101570892, 2.2616412127978696e-4])
CONFIGS = Path(__file__).parents[2] / "configs"


STUDIES = sorted(
    path for path in CONFIGS.glob("*.toml") if not path.stem.startswith(("branches_", "calibrate_", "optimise_"))
)  # read by test_load.py


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_study_is_sound_and_named_after_its_file(path: Path) -> None:
    assert load(path).name == path.stem


def test_no_point_of_the_regime_map_falls_on_a_boundary() -> None:
    config = load(CONFIGS / "regime_map.toml")
    points = config.design.points(0, config.design.count)
    eta = 10.0 * points.columns["mu"] / points.columns["a0"]
    assert np.abs(eta - 1.0).min() > 1e-9
    assert np.abs(eta - ETA_STAR).min() > 1e-9


@pytest.fixture(scope="module")
def sdnd104(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The study of README, computed once."""
    return run(CONFIGS / "sdnd104.toml", tmp_path_factory.mktemp("sdnd104") / "run")


def test_sdnd104_gives_the_published_wear_powers(sdnd104: Run) -> None:
    frame = sdnd104.to_pandas()
    assert (frame["status"] == "ok").all()
    exact, euler = frame["wear_power"][:4].to_numpy(), frame["wear_power"][4:].to_numpy()
    np.testing.assert_allclose(exact[:3], PUBLISHED, rtol=1e-11)
    assert (np.abs(euler[:3] / PUBLISHED - 1.0) <= [7e-5, 4e-5, 72e-5]).all()
    assert exact[3] == euler[3] == 0.0
    assert frame["regime"].tolist() == ["slip-slip", "stick-slip", "stick-slip", "stick"] * 2


def test_every_reader_sees_the_same_sdnd104(sdnd104: Run) -> None:
    points = sdnd104.directory / "points"
    frame = sdnd104.to_pandas()
    pd.testing.assert_frame_equal(pd.read_parquet(points), frame)
    assert ds.dataset(points).to_table().equals(sdnd104.to_arrow())
    rows = duckdb.sql(f"select wear_power, regime, k_t from '{points}/*.parquet' where scheme = 'euler' order by point").fetchall()
    assert [row[0] for row in rows] == frame["wear_power"][4:].tolist()
    assert [row[1:] for row in rows] == [("slip-slip", 9e6), ("stick-slip", 9e6), ("stick-slip", 9e6), ("stick", 9e6)]


def test_columns_can_be_chosen(sdnd104: Run) -> None:
    assert sdnd104.to_arrow(["regime", "a0"]).column_names == ["regime", "a0"]


def test_the_dataset_tells_units_and_what_computed_it(sdnd104: Run) -> None:
    schema = sdnd104.to_arrow().schema
    assert (schema.field("wear_power").metadata[b"unit"], schema.field("k_t").metadata[b"unit"]) == (b"W", b"N/m")
    assert schema.metadata[b"dtype"] == b"float64"


def test_a_single_point_of_defaults_runs(tmp_path: Path) -> None:
    finished = run({"parameters": {"a0": 1.5}}, tmp_path / "one")
    assert finished.to_pandas()["regime"].tolist() == ["stick-slip"]


@pytest.mark.slow
@pytest.mark.shapes
def test_shards_of_any_length_share_one_program_and_have_the_same_rows(tmp_path: Path) -> None:
    study = {"sweep": {"design": "sobol", "count": 300, "axes": {"a0": {"from": 0.5, "to": 20.0}, "mu": {"from": 0.02, "to": 0.5}}}}
    before = len(PROGRAMS)
    whole = run({**study, "output": {"shard_points": 256}}, tmp_path / "a")  # the second shard has 44 rows, which fill fewer blocks
    assert len(PROGRAMS) == before + 1
    for points in (40, 100, 300):
        other = run({**study, "output": {"shard_points": points}}, tmp_path / str(points))
        assert other.to_arrow().replace_schema_metadata(None).equals(whole.to_arrow().replace_schema_metadata(None))


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "contact"), [("euler", {"k_t": 1e5}), ("exact", {})])
def test_a_study_in_float32_says_so_and_keeps_its_digits(tmp_path: Path, scheme: str, contact: dict[str, float]) -> None:
    study = {
        "study": {"scheme": scheme},
        "parameters": contact,
        "time": {"end": 2.0, **({"step": 1e-3} if contact else {})},
        "sweep": {"axes": {"a0": [15.0, 1.5]}},
    }
    fine = run(study, out=tmp_path / "fine")
    single = run({**study, "study": {"scheme": scheme, "precision": "float32"}}, out=tmp_path / "single")
    assert single.to_arrow().schema.metadata[b"dtype"] == b"float32"
    power, exact = single.to_pandas()["wear_power"], fine.to_pandas()["wear_power"]
    assert (power != exact).all()
    np.testing.assert_allclose(power, exact, rtol=1e-4)


@pytest.mark.slow
def test_a_study_of_the_steady_motion_runs(tmp_path: Path) -> None:
    study = {"parameters": {"mu": 0.1}, "time": {"window": "steady"}, "sweep": {"axes": {"a0": [15.0, 1.5, 0.99]}}}
    frame = run(study, tmp_path / "steady").to_pandas()
    np.testing.assert_allclose(frame["wear_power"], [15.114614488611316, 0.4090624510157089, 0.0], rtol=1e-13)
    assert frame["period"].tolist() == [1, 1, 1]
    assert frame["regime"].tolist() == ["slip-slip", "stick-slip", "stick"]


def test_rows_that_hold_no_number_get_a_status_and_spoil_no_other(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("a0,mu,k\n15.0,0.1,0\nnan,0.1,0\ninf,0.2,0\n,0.3,-inf\n15.0,0.1,0\n")
    finished = run({"time": {"window": [4.0, 12.0]}, "sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}, tmp_path / "out")
    frame = finished.to_pandas()
    bad = "a parameter is not a finite number"
    assert frame["status"].tolist() == ["ok", bad, bad, bad, "ok"]
    np.testing.assert_allclose(frame["wear_power"][[0, 4]], PUBLISHED[0], rtol=1e-11)
    assert frame["wear_power"][1:4].isna().all()


# VmHWM is this program's own peak; ru_maxrss would start from that of the process that started it
MEASURED = """
import re, sys
from pathlib import Path
from tribosweep.sweep.cli import main
status = main(["run", sys.argv[1], "--out", sys.argv[2]])
print(status, int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.long
@pytest.mark.slow
def test_the_regime_map_is_that_of_theory_and_fits_in_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MEASURED, str(CONFIGS / "regime_map.toml"), str(tmp_path / "map")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=CONFIGS.parent)
    status, megabytes = (int(word) for word in done.stdout.split()[-2:])
    assert status == 0
    assert megabytes < 1500
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.parquet")) < 120e6

    frame = run(CONFIGS / "regime_map.toml", tmp_path / "map").to_pandas()
    assert len(frame) == 1_000_000
    assert (frame["status"] == "ok").all()
    eta = 10.0 * frame["mu"].to_numpy() / frame["a0"].to_numpy()
    expected = np.select([eta >= 1.0, eta > ETA_STAR], ["stick", "stick-slip"], "slip-slip")
    clear = (np.abs(eta - 1.0) > 1e-9) & (np.abs(eta / ETA_STAR - 1.0) > 1e-9)
    np.testing.assert_array_equal(frame["regime"].to_numpy(str)[clear], expected[clear])
    np.testing.assert_array_equal(frame["wear_power"] == 0.0, expected == "stick")
    established = (expected == "stick-slip").nonzero()[0][::997]
    closed = [stick_slip_wear_power(1.0, 10.0, mu, a0, 2.0 * np.pi) for a0, mu in frame.loc[established, ["a0", "mu"]].to_numpy()]
    # the window is eight whole periods, so that it does not matter where it begins
    np.testing.assert_allclose(frame["wear_power"][established], closed, rtol=1e-9)

    moving = np.random.default_rng(1).permutation((expected != "stick").nonzero()[0])
    for row in moving[:2000]:
        a0, mu = float(frame["a0"][row]), float(frame["mu"][row])
        transient = wear_power(a0, mu, 10.0, 1.0, 2.0 * np.pi, (4.0, 12.0))
        assert frame["wear_power"][row] == pytest.approx(transient, rel=1e-8), (a0, mu)
    for row in moving[:24]:
        a0, mu = float(frame["a0"][row]), float(frame["mu"][row])
        exact = rigid_friction.run({"a0": a0, "mu": mu, "omega": 2.0 * np.pi}, 12.0, (4.0, 12.0))
        assert frame["wear_power"][row] == pytest.approx(float(exact["wear_power"]), rel=1e-10), (a0, mu)
        assert frame["regime"][row] == exact["regime"]
