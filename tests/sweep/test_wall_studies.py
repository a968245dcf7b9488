"""A study of walls on the real physics: one table of points that holds the cases of SDND105 and the odd ones, compiled once."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tribosweep.kernels.models.status import Status
from tribosweep.sweep import run

HEADER = "x0,v0,m_2,v0_2,gap,k_n,plateau,softening,post_set,post_stiffness,k_post,c_n,c_buckled,damping_criterion,end"
C = "1,1,1,2;3;4;5,0.2;0.15;0.125;0.1"  # k_n, plateau, softening and the tables
A = "1,,,,"
ROOT8 = math.sqrt(8.0)
POINTS = {
    "A": f",2,,,,{A},0.5,,,,",
    "B": ",2,1,-2,,0.5,,,,,0.25,,,,",
    "C": f",{ROOT8!r},,,,{C},,,,,",
    "C, cut in contact": f",{ROOT8!r},,,,{C},,,,,9",
    "C, shorter table": f",{ROOT8!r},,,,1,1,1,2;3;4,0.2;0.15;0.125,,,,,",
    "C, too short a table": f",{ROOT8!r},,,,1,1,1,2;3,0.2;0.15,,,,,",
    "D, included": f",{ROOT8!r},,,,{C},,10,5,included,",
    "D, excluded": f",{ROOT8!r},,,,{C},,10,5,excluded,",
    "at rest at the wall": f",0,,,,{A},0.5,,,,",
    "at rest inside the wall": f"1.5,0,,,1,{A},0.5,,,,",
    "inside the wall, beyond its elasticity": f"3,1,,,0.5,{A},0.5,,,,",
    "far away": f"-1e6,1,,,,{A},0.5,,,,",
    "far away and fast": f"-1e6,1e6,,,1e5,{A},0.5,,,,",
    "hardly moving": f",1e-12,,,,{A},0.5,,,,",
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The rows by name."""
    folder: Path = tmp_path_factory.mktemp("walls")
    (folder / "points.csv").write_text("\n".join([HEADER, *POINTS.values(), ""]))
    finished = run({"study": {"model": "buckling_wall"}, "sweep": {"design": "table", "file": str(folder / "points.csv")}}, folder / "run")
    assert finished.failed == 0
    assert finished.remarks == {Status.BEYOND_TABLE.sentence: 1}
    return finished.to_pandas().set_index(pd.Index(POINTS))


@pytest.mark.long
@pytest.mark.slow
def test_sdnd105_from_one_table_of_points(rows: pd.DataFrame) -> None:
    def check(name: str, **expected: float) -> None:
        assert rows.loc[name, list(expected)].to_dict() == pytest.approx(expected, rel=1e-9, nan_ok=True)

    back = math.pi / 6.0 + 2.0 * math.sqrt(3.0) + (math.pi + 6.0) / math.sqrt(2.0)
    check("A", buckling_time=math.pi / 6.0, max_compression=4, plastic_set=3, rebound_velocity=-math.sqrt(0.5), return_time=back)
    check("B", max_compression=8, plastic_set=6, v_end=-math.sqrt(0.5), v_end_2=math.sqrt(0.5), return_time=back)
    check("C", max_compression=6.5, plastic_set=3.1, rebound_velocity=-math.sqrt(1.7), separation_time=9.100728812)
    check("C, cut in contact", v_end=-1.302867871, plastic_set=3.1, rebound_velocity=np.nan, separation_time=np.nan, return_time=np.nan)
    check("D, included", max_compression=5.5, plastic_set=28.0 / 11.0, separation_time=5.566726075590039, buckling_time=0.0)
    check("D, excluded", max_compression=0.27253656117778133, peak_force=10.0 * ROOT8, plastic_set=0.0, buckling_time=np.nan)


@pytest.mark.slow
def test_tables_of_other_lengths_stand_beside_one_another(rows: pd.DataFrame) -> None:
    np.testing.assert_array_equal(rows["post_set"]["C, shorter table"], [2.0, 3.0, 4.0])
    # 6.5 m is before its last node, so that the wall is that of C
    assert rows["rebound_velocity"]["C, shorter table"] == pytest.approx(rows["rebound_velocity"]["C"], rel=1e-12)
    # beyond the last node the force is f_post as before, and the last stiffness stays
    beyond = rows.loc["C, too short a table"]
    assert beyond["status"] == Status.BEYOND_TABLE.sentence
    assert beyond["max_compression"] == pytest.approx(6.5, rel=1e-12)
    assert beyond["plastic_set"] == pytest.approx(6.5 - 0.5 / 0.15, rel=1e-12)


@pytest.mark.slow
def test_odd_starts_have_results(rows: pd.DataFrame) -> None:
    odd = rows.loc["at rest at the wall":]
    assert (odd["status"] == "ok").all()
    assert np.isfinite(odd[["peak_force", "max_compression", "impulse", "x_end", "v_end", "plastic_set"]].to_numpy(float)).all()
    assert odd["regime"].isna().all()
    at_rest = rows.loc["at rest at the wall"]
    assert at_rest[["peak_force", "max_compression", "x_end", "v_end"]].tolist() == [0.0] * 4
    # 0.5 m inside, elastic, it leaves with the energy of the spring
    inside = rows.loc["at rest inside the wall"]
    assert inside["rebound_velocity"] == pytest.approx(-0.5, rel=1e-12)
    assert (inside["impacts"], inside["first_contact_time"], inside["plastic_set"]) == (0, 0.0, 0.0)  # it starts in contact
    far = rows.loc["far away"]
    assert (far["impacts"], far["max_compression"]) == (0, 0.0)
    assert far[["first_contact_time", "first_contact_velocity", "rebound_velocity", "return_time", "buckling_time"]].isna().all()
    assert rows["first_contact_time"]["far away and fast"] == pytest.approx(1.1, rel=1e-12)
    # 0.5 N on its way through 10.9 s is next to nothing
    assert rows["max_compression"]["far away and fast"] == pytest.approx(1e6 * 10.9 - 0.5 * 0.5 * 10.9**2, rel=1e-6)
    assert rows["max_compression"]["hardly moving"] == pytest.approx(1e-12, rel=1e-9)
