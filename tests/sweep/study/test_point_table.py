"""Tables of points whose headers state units."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tribosweep import sweep

TABLE = '[study]\nmodel = "{model}"\n{more}[sweep]\ndesign = "table"\nfile = "{file}"\n'
WALL = "[parameters]\nk_n = 1e3\n"  # f_crit = 1 N: it buckles at 1 mm


def columns_of(file: str, model: str = "stop", more: str = "") -> dict[str, np.ndarray]:
    """The columns of the points of a table."""
    Path("study.toml").write_text(TABLE.format(model=model, more=more, file=file))
    study = sweep.load("study.toml")
    return study.design.points(0, study.design.count).columns


def test_headers_of_csv_state_units() -> None:
    Path("points.csv").write_text(
        "a0 [g], omega (Hz),gap [mm],post_set [mm],post_stiffness [N/mm],mu,m [g],phase [deg]\n1.0,0.5,3.0,2;3,1;2,0.25,500,180\n"
    )
    found = columns_of("points.csv", "buckling_wall", WALL)
    assert found["a0"][0] == pytest.approx(9.80665, rel=1e-15)
    assert found["omega"][0] == pytest.approx(math.pi, rel=1e-15)
    assert found["gap"][0] == pytest.approx(3e-3, rel=1e-15)
    assert found["post_set"][0] == pytest.approx([2e-3, 3e-3], rel=1e-15)
    assert found["post_stiffness"][0] == pytest.approx([1e3, 2e3], rel=1e-15)
    assert (found["mu"][0], found["m"][0]) == (0.25, 0.5)
    assert found["phase"][0] == pytest.approx(math.pi, rel=1e-15)


def test_headers_of_parquet_state_units() -> None:
    tables = {"post_set [mm]": [[2.0], [3.0, 4.0]], "post_stiffness": [[1e3], [1e3, 1e3]]}
    pq.write_table(pa.table({"v0 [mm/s]": [1500.0, -2.0], **tables}), "p.parquet")
    found = columns_of("p.parquet", "buckling_wall", WALL)
    assert found["v0"] == pytest.approx([1.5, -2e-3], rel=1e-15)
    assert found["post_set"][1] == pytest.approx([3e-3, 4e-3], rel=1e-15)


def test_a_unit_that_is_the_parameters_own_changes_no_bit() -> None:
    values = ["0.1", "0.3", "1e-300", "7.000000000000001"]
    Path("with.csv").write_text("\n".join(["a0 [m/s^2]", *values]))
    Path("without.csv").write_text("\n".join(["a0", *values]))
    assert columns_of("with.csv")["a0"].tobytes() == columns_of("without.csv")["a0"].tobytes()


def test_brackets_of_a_support_are_no_unit() -> None:
    body = '[structure]\ndirections = "x"\n[supports.stop]\ngap = 1.0\n'
    Path("points.csv").write_text("gap[stop] [mm],k_n[stop]\n2.0,5.0\n")
    found = columns_of("points.csv", "body", body.replace("[structure]", 'scheme = "euler"\n[structure]'))
    assert found["gap[stop]"][0] == pytest.approx(2e-3, rel=1e-15)
    assert found["k_n[stop]"][0] == 5.0
    Path("points.csv").write_text("gap[stpo]\n2.0\n")
    with pytest.raises(sweep.ConfigError, match=r"column gap\[stpo\]: unknown parameter; did you mean 'gap\[stop\]'"):
        columns_of("points.csv", "body", body.replace("[structure]", 'scheme = "euler"\n[structure]'))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n\n\n"], ids=["no end", "one end", "blank lines at the end"])
@pytest.mark.parametrize(
    ("rows", "values"),
    [
        (["1", "", "3"], [1.0, math.nan, 3.0]),
        (["", "1", "", "", "3"], [math.nan, 1.0, math.nan, math.nan, 3.0]),
        (["1", '""'], [1.0, math.nan]),  # as pandas writes it
        (["1", " ", "3", " "], [1.0, math.nan, 3.0, math.nan]),
        (["1", '""', "", "default", "3"], [1.0, math.nan, math.nan, math.nan, 3.0]),
    ],
)
def test_every_line_of_a_file_of_one_column_is_a_point(rows: list[str], values: list[float], after: str, end: str) -> None:
    Path("points.csv").write_bytes(("\n".join(["# x", "", "a0", *rows]) + after).replace("\n", end).encode())
    assert columns_of("points.csv")["a0"] == pytest.approx(values, nan_ok=True)


def test_blank_lines_around_a_table_of_two_columns_are_none_of_its_rows() -> None:
    Path("points.csv").write_text("\n# x\n\na0,mu\n1,0.2\n,\n3,\n\n\n")
    found = columns_of("points.csv")
    assert found["a0"] == pytest.approx([1.0, math.nan, 3.0], nan_ok=True)
    assert found["mu"] == pytest.approx([0.2, math.nan, math.nan], nan_ok=True)
