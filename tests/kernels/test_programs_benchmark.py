"""The benchmark of programs: how far results lie apart, and a working tree compared with itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.programs import apart, main

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_results_lie_apart_by_their_largest_difference_over_the_largest_value() -> None:
    one = {"work": np.array([1.0, -4.0, np.nan]), "force": np.zeros(3), "impacts": np.array([1, 2, 3]), "status": np.zeros(3, np.int8)}
    other = one | {"work": np.array([1.0, -4.4, np.nan])}
    off, where, differ = apart(one, other)
    assert (round(off, 12), where, differ) == (0.1, "work", 0)
    assert apart(one, one | {"impacts": np.array([1, 2, 4])}) == (0.0, "", 1)
    assert apart(one, one | {"work": np.array([np.nan, -4.0, 0.0])})[2] == 2  # which numbers are missing
    assert apart(one, one | {"force": np.full(3, 1e-16)}) == (1e-10, "force", 0)  # rounding
    chaotic = {"status": np.array([0, 8, 0], np.int8)}
    assert apart(one | chaotic, other | chaotic) == (0.0, "", 0)
    assert apart(one, one | chaotic)[2] == 1


@pytest.mark.parametrize("name", CASES)
def test_row_i_is_the_same_for_any_number_of_rows(name: str) -> None:
    case = CASES[name]
    whole, part = case.columns(20), case.columns(5, first=10)
    for each in (*case.ranges, *["record"] * bool(case.records)):
        np.testing.assert_array_equal(whole[each][10:15], part[each])
        assert len(set(whole[each])) == (20 if each in case.ranges else case.records)


@pytest.mark.slow
def test_a_working_tree_is_as_fast_as_itself_and_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--against", str(ROOT), "--only", "rigid, k = c = 0", "--passes", "3"])
    name, rate, faster, by_processor, *_, off, differ = [
        cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].strip("|").split("|")
    ]
    assert (name, off, differ) == ("rigid, k = c = 0", "0", "0")
    assert float(rate.replace(",", "")) > 0.0
    assert all(0.2 < float(ratio) < 5.0 for ratio in (faster, by_processor))


def test_a_case_that_nobody_knows_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "rigd*"])
    assert "stop, steady" in capsys.readouterr().err
