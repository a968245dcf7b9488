"""Rank correlations: against scipy's, the closed form of normal pairs, and samples that are drawn row by row."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr

from tests.sweep.conftest import FakeKernels
from tribosweep import sweep
from tribosweep.sweep.analyses.correlation import correlate
from tribosweep.sweep.analyses.correlation.correlate import groups_of, parts_of, with_intervals
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.designs import Concatenation
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.study.load import load

Captured = pytest.CaptureFixture[str]
STUDY = """
[study]
name = "ranks"
[sweep]
design = "latin_hypercube"
count = 200
[sweep.axes]
a0 = { from = 1.0, to = 9.0 }
mu = { from = 0.001, to = 0.002 }
k = { from = 1.0, to = 2.0 }
"""


def test_coefficients_are_scipys_of_the_rows_that_have_both_values() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(4, 60))
    values[1] = np.round(values[1] + values[0])  # ties
    values[2, ::3] = np.nan
    values[3, 5:20] = np.nan
    found, _, _, rows = with_intervals(values, np.arange(60), 0.9, 20, 1)
    for i in range(4):
        for j in range(4):
            both = np.isfinite(values[i]) & np.isfinite(values[j])
            assert rows[i, j] == both.sum()
            assert found[i, j] == pytest.approx(spearmanr(values[i, both], values[j, both]).statistic, abs=1e-14)


def test_a_sample_has_the_coefficients_of_its_rows_one_by_one() -> None:
    random = np.random.default_rng(2)
    values = np.round(random.normal(size=(3, 40)), 1)
    (part,) = parts_of(values)
    for _ in range(5):
        drawn = random.integers(40, size=40)
        expected = spearmanr(values[:, drawn], axis=1).statistic
        np.testing.assert_allclose(part.coefficients(np.bincount(drawn, minlength=40).astype(float)), expected, atol=1e-14)


def test_intervals_hold_the_coefficient_of_normal_pairs_as_often_as_stated() -> None:
    """Of a pair with linear correlation r it is 6 / pi asin(r / 2) (Pearson, 1907)."""
    random, r, sets = np.random.default_rng(3), 0.6, 300
    true = 6.0 / math.pi * math.asin(0.5 * r)
    held = 0
    for number in range(sets):
        x, e = random.normal(size=(2, 60))
        _, low, high, _ = with_intervals(np.stack([x, r * x + math.sqrt(1.0 - r * r) * e]), np.arange(60), 0.9, 100, number)
        held += low[0, 1] <= true <= high[0, 1]
    assert 0.84 < held / sets < 0.95  # the scatter of a share of 300 is 0.017


def test_samples_of_fewer_rows_than_there_are_have_intervals_as_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval of a coefficient of many rows is that of the normal distribution, 2 z / sqrt(n) where nothing depends."""
    values = np.random.default_rng(4).normal(size=(2, 6_000))
    monkeypatch.setattr(correlate, "MOST_DRAWN", 1_000)
    found, low, high, _ = with_intervals(values, np.arange(6_000), 0.9, 800, 1)
    assert high[0, 1] - low[0, 1] == pytest.approx(2.0 * 1.645 / math.sqrt(6_000), rel=0.1)  # 800 samples tell it to 3 %
    assert low[0, 1] < found[0, 1] < high[0, 1]


def test_rows_that_share_a_draw_are_drawn_together() -> None:
    """Each row four times over tells no more than once: intervals of single rows would be half as wide."""
    x, y = np.random.default_rng(4).normal(size=(2, 50))
    once = with_intervals(np.stack([x, y]), np.arange(50), 0.9, 2000, 1)
    four = with_intervals(np.tile([x, y], 4), np.tile(np.arange(50), 4), 0.9, 2000, 1)
    alone = with_intervals(np.tile([x, y], 4), np.arange(200), 0.9, 2000, 1)
    np.testing.assert_allclose(four[1], once[1], atol=1e-12)
    assert (alone[2] - alone[1])[0, 1] == pytest.approx(0.5 * (once[2] - once[1])[0, 1], rel=0.15)


def test_rows_whose_parameters_repeat_belong_together() -> None:
    def study(design: dict[str, Any]) -> Any:
        return load({"study": {"name": "a"}, "sweep": design}).design

    between = {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}
    drawn = {"mu": {"distribution": "uniform", "from": 0.1, "to": 0.2}, "a0": {"from": 1.0, "to": 4.0, "count": 3}}
    saltelli = study({"design": "saltelli", "count": 4, "axes": between})
    assert groups_of(saltelli, np.arange(16)).tolist() == np.repeat(np.arange(4), 4).tolist()
    draws = study({"design": "draws", "count": 5, "axes": drawn})
    assert groups_of(draws, np.arange(15)).tolist() == np.tile(np.arange(5), 3).tolist()
    sobol = study({"design": "sobol", "count": 4, "axes": between})
    both = Concatenation((sobol, saltelli, saltelli))
    assert groups_of(both, np.arange(36)).tolist() == [*range(4), *np.repeat(np.arange(4, 12), 4).tolist()]
    assert groups_of(both, np.array([0, 3, 4, 35])).tolist() == [0, 1, 2, 3]


def test_one_group_of_rows_has_no_interval() -> None:
    found, low, high, _ = with_intervals(np.random.default_rng(1).normal(size=(2, 9)), np.zeros(9, int), 0.9, 20, 1)
    assert np.isfinite(found).all()
    assert np.isnan([low, high]).all()


def test_too_much_memory_is_refused() -> None:
    with pytest.raises(ConfigError, match="take too much memory"):
        with_intervals(np.zeros((60, 4)), np.arange(4), 0.9, 100_000, 1)


def test_what_is_the_same_in_all_rows_has_no_coefficient() -> None:
    found, low, _, _ = with_intervals(np.stack([np.arange(9.0), np.ones(9)]), np.arange(9), 0.9, 20, 1)
    assert np.isnan([found[0, 1], low[0, 1]]).all()
    assert found[0, 0] == 1.0
    for none in (np.empty((2, 0)), np.full((2, 3), np.nan)):
        found, low, _, rows = with_intervals(none, np.arange(none.shape[1]), 0.9, 20, 1)
        assert np.isnan([found, low]).all()
        assert not rows.any()


@pytest.fixture
def ranks(fake: FakeKernels) -> Path:
    """A run whose observables are a0 + 100 mu."""
    Path("ranks.toml").write_text(STUDY)
    assert main(["run", "ranks.toml"]) == 0
    assert sum(fake.calls) == 200
    return Path("runs/ranks")


def test_the_command_the_call_and_the_report_say_the_same(ranks: Path, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["correlation", str(ranks), "--out", "ranks.png", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    run = sweep.open_run(ranks)
    rows = run.to_pandas()
    expected = spearmanr(rows["a0"], rows["wear_power"]).statistic
    assert expected > 0.99
    assert [told["pairs"][0][name] for name in ("first", "second", "rows")] == ["a0", "wear_power", 200]
    assert told["pairs"][0]["correlation"] == pytest.approx(expected, abs=1e-14)
    assert told["parameters"] == ["a0", "mu", "k"]
    assert pq.read_table(ranks / "correlation" / "pairs.parquet").to_pylist() == told["pairs"]
    found = run.correlation()
    assert found.of("a0", "wear_power")[0] == told["pairs"][0]["correlation"]
    assert [tuple(row.values()) for row in told["pairs"]] == [tuple(row) for row in found.to_pandas().itertuples(index=False)]
    assert Path("ranks.png").read_bytes().startswith(b"\x89PNG")
    assert main(["report", str(ranks)]) == 0
    page = (ranks / "report.html").read_text()
    assert '"correlation":{"pairs":[{"first":"a0"' in page
    assert 'id="correlation-chart"' in page
    assert "wear_power correlates most strongly with a0" in page


def test_wrong_words_are_told_all_at_once(ranks: Path) -> None:
    run = sweep.open_run(ranks)
    with pytest.raises(ConfigError, match="is no observable of this run; did you mean 'wear_power'") as found:
        run.correlation(observables=["wear_powr", "regime"])
    assert "holds words" in str(found.value)
    with pytest.raises(ConfigError) as found:
        run.correlation(confidence=1.0, resamples=3)
    assert [str(each) for each in found.value.problems] == [
        "confidence: 1 is out of bounds: must be > 0 and < 1",
        "resamples: 3 is out of bounds: must be from 20 to 100000",
    ]
    with pytest.raises(ConfigError, match="is nothing that this run varies"):
        run.correlation(at={"m": 1.0})
