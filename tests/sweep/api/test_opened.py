"""Runs that are there: opened without computing, listed, and compared with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, Share, Study, compare, linspace, open_run, run, runs
from tribosweep.sweep.analysis.comparison import gap_of_lists

A0 = [1.0, 2.0, 4.0]


def test_an_opened_run_is_the_run(fake: FakeKernels) -> None:
    made = run(Study(name="small", a0=A0))
    calls = len(fake.calls)
    for name in ("small", "runs/small", Path("runs/small")):
        opened = open_run(name)
        assert repr(opened) == repr(made)
        assert (opened.statuses, opened.complete, opened.config.digest) == ({"ok": 3}, True, made.config.digest)
        assert opened.to_pandas().equals(made.to_pandas())
    assert len(fake.calls) == calls
    with pytest.raises(ConfigError, match=r"did you mean 'runs/small'"):
        open_run("runs/smal")


def test_an_incomplete_run_is_opened(fake: FakeKernels, small_shards: int) -> None:
    run(Study(name="part", a0=linspace(1.0, 2.0, 25)), share=Share.parse("1/2"))
    opened = open_run("part")
    assert (opened.complete, opened.rows) == (False, 15)
    run(opened.config, opened.directory)
    assert open_run("part").complete


def test_the_index_has_every_run_below_a_folder(fake: FakeKernels, small_shards: int) -> None:
    run(Study(name="first", a0=A0))
    run(Study("stop", name="second", gap=[0.1, 0.2]), "runs/deep/second")
    run(Study(name="part", a0=linspace(1.0, 2.0, 25)), share=Share.parse("1/2"))
    (Path("runs") / "nothing").mkdir()
    found = runs()
    assert set(found["study"]) == {"first", "second", "part"}
    rows = found.set_index("study")
    assert rows.loc["second", ["model", "design", "state", "points", "failed"]].tolist() == ["stop", "grid", "complete", 2, 0]
    assert rows.loc["part", ["state", "points", "rows"]].tolist() == ["incomplete", 25, 15]
    assert {open_run(each).config.name for each in found["directory"]} == {"first", "second", "part"}
    assert runs("runs/nothing").empty
    assert list(runs("nowhere").columns) == list(found.columns)


def pair(first: dict[str, Any], second: dict[str, Any]) -> Any:
    """Two runs compared."""
    number = len(list(Path().rglob("manifest.json")))
    return compare(run(Study(name=f"one{number}", **first)), run(Study(name=f"other{number}", **second)))


def test_two_runs_are_compared_by_what_both_sweep(fake: FakeKernels) -> None:
    found = pair({"a0": A0, "mu": [0.1, 0.2]}, {"mu": [0.2, 0.1, 0.3], "a0": [4.0, 1.0], "k_t": 9e6, "scheme": "euler"})
    assert found.keys == ("a0", "mu")
    assert found.studies.loc["study.scheme"].tolist() == [None, "euler"]
    assert found.studies.loc["sweep.axes.mu"].tolist() == [[0.1, 0.2], [0.2, 0.1, 0.3]]
    assert len(found.rows) == 4
    np.testing.assert_array_equal(found.rows["wear_power_first"], found.rows["a0"] + 100.0 * found.rows["mu"])
    np.testing.assert_array_equal(found.rows["wear_power_second"], found.rows["wear_power_first"] + 1000.0)
    power = found.observables.loc["wear_power"]
    assert (power["unit"], power["rows"], power["equal"], power["largest"]) == ("W", 4, 0, 1000.0)
    assert power["relative"] == pytest.approx(1000.0 / 1011.0)
    assert found.observables.loc["status", ["rows", "equal"]].tolist() == [4, 4]
    assert repr(found).startswith("<Comparison: 4 rows by a0, mu (2 of the first and 2 of the second run have no partner), ")
    assert "sweep.axes.mu" in found._repr_html_()


def test_rows_are_found_by_values_that_differ_by_rounding_alone(fake: FakeKernels) -> None:
    listed = [0.1, 0.2, 0.3, 0.4, 0.5]  # of the range, the third is 0.30000000000000004
    found = pair({"mu": linspace(0.1, 0.5, 5)}, {"mu": listed})
    assert found.rows["mu"].tolist() == pytest.approx(listed, rel=1e-15)
    assert (found.alone, len(found.rows)) == ((0, 0), 5)
    assert "5 rows by mu, " in repr(found)
    around = pair({"v0": linspace(-0.3, 0.3, 7)}, {"v0": [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]})
    assert len(around.rows) == 7
    tiny = [1e-9, 1.001e-9, 2e-9, 1e6]  # small beside the largest, and not the same
    assert len(pair({"v0": tiny}, {"v0": tiny}).rows) == 4


def test_rows_without_a_partner_and_values_of_one_run_alone_are_counted(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pair({"a0": [1.0, 2.0, 3.0, 4.0]}, {"a0": [2.0, 3.0 * (1.0 + 1e-9), 4.0]})
    assert (found.rows["a0"].tolist(), found.alone) == ([2.0, 4.0], (2, 1))
    assert "2 rows by a0 (2 of the first and 1 of the second run have no partner), " in repr(found)
    assert "have no partner" in found._repr_html_()

    from tribosweep.kernels.batch import solve as batch

    def without(*asked: Any, **more: Any) -> Any:
        solution = fake.solve(*asked, **more)
        solution.observables["wear_power"][:2] = np.nan
        return solution

    whole = run(Study(name="whole", a0=[1.0, 2.0, 4.0]))
    monkeypatch.setattr(batch, "solve", without)
    part = run(Study(name="part", a0=[1.0, 2.0, 4.0]))
    power = compare(whole, part).observables.loc["wear_power"]
    assert power[["rows", "equal", "one_sided", "largest"]].tolist() == [3, 1, 2, 0.0]
    assert power["where"] == {"a0": 1.0}
    assert compare(part, part).observables.loc["wear_power", ["equal", "one_sided"]].tolist() == [3, 0]


def test_an_observable_that_one_run_lacks_is_named(fake: FakeKernels) -> None:
    few = run({"sweep": {"axes": {"a0": A0}}, "output": {"columns": ["wear_power"]}}, "few")
    found = compare(few, run(Study(name="all", a0=A0)))
    assert found.observables.loc["wear_power", ["equal", "one_sided"]].tolist() == [3, 0]
    assert found.observables.loc["slip_phases", ["equal", "one_sided"]].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.5], (False, 0.5, 0.2)),
        ([1.0, np.nan], [1.0, np.nan], (True, 0.0, 0.0)),
        ([1.0, np.nan], [1.0, 2.0], (False, 0.0, 0.0)),
        ([], [], (True, 0.0, 0.0)),
        (None, None, (True, np.nan, np.nan)),
        ([1.0], None, (False, np.nan, np.nan)),
        ([1.0], [1.0, 2.0], (False, np.nan, np.nan)),
    ],
)
def test_lists_are_compared_by_their_entries(one: list[float] | None, other: list[float] | None, expected: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(np.array(gap_of_lists(one, other), float), np.array(expected, float))


def test_words_that_differ_are_counted_and_placed(fake: FakeKernels) -> None:
    fake.words_by_value = True
    found = pair({"a0": A0, "g": 9.0}, {"a0": [1.0, 2.0, 5.0], "g": 10.0})
    assert found.rows["a0"].tolist() == [1.0, 2.0]
    assert found.observables.loc["regime", ["rows", "equal"]].tolist() == [2, 2]
    shifted = pair({"a0": A0}, {"a0": A0, "mu": 0.201})  # a row is floor(1000 (a0 + 100 mu)) modulo 3 words
    expected = [int(1000.0 * (a0 + 10.0)) % 3 == int(np.floor(1000.0 * (a0 + 100.0 * 0.201))) % 3 for a0 in A0]
    regime = shifted.observables.loc["regime"]
    assert regime["equal"] == sum(expected)
    if not all(expected):
        assert regime["where"] == {"a0": A0[expected.index(False)]}


def test_rows_that_are_not_told_apart_are_refused(fake: FakeKernels) -> None:
    grid = run(Study(name="grid", a0=A0, mu=[0.1, 0.2]))
    line = run(Study(name="line", a0=A0))
    with pytest.raises(ConfigError, match="some rows of the first run have the same a0"):
        compare(grid, line)
    with pytest.raises(ConfigError, match="'mo' is not swept by both runs; did you mean 'mu'"):
        compare(grid, grid, on=["mo"])
    single = compare(run(Study(name="a", mu=0.1)), run(Study(name="b", mu=0.2)))
    assert single.observables.loc["wear_power", "largest"] == pytest.approx(10.0)
    assert isinstance(single.rows, pd.DataFrame)
