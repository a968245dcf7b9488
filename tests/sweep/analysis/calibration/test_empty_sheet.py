"""Files of measurements without rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tribosweep.sweep.analysis.calibration.sheet import read_sheet
from tribosweep.sweep.io.errors import Problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty: its first line names its columns"),
        ("# a remark\n", "it is empty: its first line names its columns"),
        ("a0,x_max\n", "has no rows: nothing was measured"),
    ],
)
def test_a_file_without_rows_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tests.csv").write_text(text)
    problems: list[Problem] = []
    assert read_sheet(tmp_path / "tests.csv", "calibration.data", problems) is None
    assert [said in problem.message for problem in problems] == [True]
