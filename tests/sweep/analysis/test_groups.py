"""Statistics of groups of rows, their maps and their iso-lines, against numpy, scipy and closed forms."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tribosweep import sweep
from tribosweep.sweep import ConfigError
from tribosweep.sweep.analysis.group_map import ENTROPY, MEAN, QUANTILE, ROWS, SHARE, STD, Statistic, read_groups
from tribosweep.sweep.analysis.group_numbers import Groups, deviations_of, frequencies_of, means_of, probabilities_of, quantiles_of
from tribosweep.sweep.analysis.group_statistics import group_statistics
from tribosweep.sweep.analysis.isolines import line_table, with_lines
from tribosweep.sweep.cli import main

SPREAD = 0.2  # of log(f_crit), whose median is 1
DRAWS = 60
SPEEDS, MASSES = np.linspace(0.5, 1.5, 9), np.geomspace(0.5, 2.0, 7)


def test_numbers_of_groups_are_those_of_numpy_and_scipy() -> None:
    rng = np.random.default_rng(3)
    of, values, good = rng.integers(0, 40, 5_000), rng.gamma(2.0, size=5_000), rng.random(5_000) > 0.1
    values[rng.random(5_000) < 0.05] = np.nan
    groups = Groups(of, 41, good)  # the last group is empty
    mean, std, high = (
        means_of(values, groups, 0.9), deviations_of(values, groups, 0.9), quantiles_of(values, groups, 0.8, 0.9),
    )  # fmt: skip
    for number in range(0, 40, 4):
        own = values[(of == number) & good & np.isfinite(values)]
        interval = stats.t.interval(0.9, len(own) - 1, own.mean(), stats.sem(own))
        np.testing.assert_allclose((mean.value[number], mean.lower[number], mean.upper[number]), (own.mean(), *interval), rtol=1e-12)
        np.testing.assert_allclose(std.value[number], own.std(ddof=1), rtol=1e-12)
        assert std.lower[number] < std.value[number] < std.upper[number]
        np.testing.assert_allclose(high.value[number], np.quantile(own, 0.8), rtol=1e-14)
        found = stats.quantile_test(own, p=0.8).confidence_interval(0.9)
        assert high.lower[number] == pytest.approx(found.low)
        assert high.upper[number] == pytest.approx(found.high)
        chance = probabilities_of(values > 2.0, groups, 0.9)
        exact = stats.binomtest(int(np.sum(values[(of == number) & good] > 2.0)), int(np.sum((of == number) & good)))
        ends = exact.proportion_ci(0.9, method="exact")
        np.testing.assert_allclose((chance.lower[number], chance.upper[number]), (ends.low, ends.high), rtol=1e-9)
    assert all(np.isnan(each.value[40]) for each in (mean, std, high, chance))


@pytest.mark.slow
def test_intervals_of_deviations_and_quantiles_cover_their_truth() -> None:
    rng = np.random.default_rng(5)
    groups = Groups(np.repeat(np.arange(4_000), 80), 4_000, np.ones(320_000, dtype=bool))
    values = rng.normal(size=320_000)
    for found, truth in ((deviations_of(values, groups, 0.9), 1.0), (quantiles_of(values, groups, 0.9, 0.9), stats.norm.ppf(0.9))):
        covered = np.mean((found.lower <= truth) & (truth <= found.upper))
        assert 0.86 < covered < 0.96  # ends of order statistics cover a little more, those of the deviation a little less


def test_words_of_groups_are_counted() -> None:
    codes = np.array([0, 0, 1, 2, -1, 1, 1, 0, -1])
    groups = Groups(np.array([0, 0, 0, 0, 0, 1, 1, 1, 2]), 3, np.array([True] * 7 + [False, True]))
    found = frequencies_of(codes, groups, ("stick", "stick-slip", "slip-slip"))
    assert found.hits.tolist() == [[2, 1, 1], [0, 2, 0], [0, 0, 0]]
    assert found.most.tolist() == [0, 1, -1]
    np.testing.assert_allclose(found.entropy, [1.5, 0.0, np.nan])
    np.testing.assert_allclose(found.share(0.95).value, [0.5, 1.0, np.nan])


@pytest.mark.slow
def test_a_million_rows_in_ten_thousand_groups_take_seconds() -> None:
    rng = np.random.default_rng(7)
    groups = Groups(np.repeat(np.arange(10_000), 100), 10_000, np.ones(1_000_000, dtype=bool))
    values, begin = rng.normal(size=1_000_000), time.process_time()
    quantiles_of(values, groups, 0.95, 0.95)
    means_of(values, groups, 0.95)
    probabilities_of(values > 0.0, groups, 0.95)
    assert time.process_time() - begin < 10.0  # half a second on two quiet cores


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Walls on a grid of speeds and masses; f_crit is drawn from a log-normal distribution, the same draws at each place."""
    directory = tmp_path_factory.mktemp("groups")
    force = np.exp(SPREAD * stats.norm.ppf((np.arange(DRAWS) + 0.5) / DRAWS))
    speed, mass = (each.ravel() for each in np.meshgrid(SPEEDS, MASSES))
    rows = {"v0": np.repeat(speed, DRAWS), "m": np.repeat(mass, DRAWS), "f_crit": np.tile(force, len(speed))}
    pd.DataFrame(rows).to_csv(directory / "points.csv", index=False, float_format="%.17g")
    document = {
        "study": {"model": "buckling_wall", "name": "walls"}, "parameters": {"k_post": 1.0, "f_post": 0.3}, "time": {"end": 6.0},
        "sweep": {"design": "table", "file": str(directory / "points.csv")},
    }  # fmt: skip
    sweep.run(document, directory / "run")
    return directory / "run"


@pytest.mark.slow
def test_a_table_has_quantiles_words_and_chances(walls: Path) -> None:
    table = group_statistics(walls, "f_crit", ["peak_force", "wall_regime"], quantiles=[0.95], chances=["buckled=1"])
    rows = pq.ParquetDataset(walls / "points").read().to_pandas()
    own = rows.groupby(["v0", "m"])
    found = table.to_pandas().set_index(["v0", "m", "observable"])
    for place, group in own:
        high = found.loc[(*place, "peak_force")]
        assert high["quantile 0.95"] == pytest.approx(np.quantile(group["peak_force"], 0.95), rel=1e-14)
        assert high["quantile 0.95, lower"] <= high["quantile 0.95"] <= high["quantile 0.95, upper"]
        words = group["wall_regime"].astype(str).value_counts()
        most = found.loc[(*place, "wall_regime")]
        assert most["mean"] == words.max() / DRAWS
        assert words[most["word"]] == words.max()
        assert found.loc[(*place, "entropy of wall_regime")]["mean"] == pytest.approx(stats.entropy(words[words > 0], base=2), abs=1e-15)
        chance = found.loc[(*place, "buckled = 1")]["mean"]
        assert chance == pytest.approx(np.mean(group["v0"] * np.sqrt(group["m"]) >= group["f_crit"]))


@pytest.mark.slow
def test_a_quantile_beside_a_chance_is_that_of_the_main_observable(walls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["show", str(walls), "--over", "f_crit", "--quantile", "0.95", "--chance", "buckled=1"]
    assert main([*asked, "--json"]) == 0
    assert {row["observable"] for row in json.loads(capsys.readouterr().out)} == {"peak_force", "buckled = 1"}
    assert main(asked) == 0
    assert "peak_force" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MEAN, STD, QUANTILE, SHARE, ENTROPY, ROWS])
def test_a_map_of_a_statistic_has_the_numbers_of_the_rows(walls: Path, kind: str) -> None:
    of_numbers = kind in (MEAN, STD, QUANTILE)
    drawn = read_groups(walls, Statistic(kind, probability=0.9), ["f_crit"], "v0", "m", color="peak_force" if of_numbers else None)
    rows = pq.ParquetDataset(walls / "points").read().to_pandas()
    assert drawn.gridded
    assert drawn.shades is not None
    for (i, mass), (j, speed) in ((a, b) for a in enumerate(drawn.y_values) for b in enumerate(drawn.x_values)):
        group = rows[(rows["v0"] == speed) & (rows["m"] == mass)]
        words = group["wall_regime"].astype(str).value_counts()
        truth = {
            MEAN: group["peak_force"].mean(), STD: group["peak_force"].std(), QUANTILE: np.quantile(group["peak_force"], 0.9),
            SHARE: words.max() / DRAWS, ENTROPY: stats.entropy(words[words > 0], base=2), ROWS: DRAWS,
        }[kind]  # fmt: skip
        assert drawn.shades[i, j] == pytest.approx(truth, rel=1e-12, abs=1e-14)
        assert words[drawn.words[drawn.regimes[i, j]]] == words.max()


@pytest.mark.slow
def test_the_line_of_a_chance_is_that_of_the_energy_and_lies_in_its_band(walls: Path, tmp_path: Path) -> None:
    """P(buckled) = P(f_crit <= v0 sqrt(m k_n)) = Phi(log(v0 sqrt(m)) / SPREAD), whose line for p is v0 sqrt(m) = exp(SPREAD Phi^-1(p))."""
    level = 0.3
    drawn = with_lines(read_groups(walls, Statistic("chance", "buckled=1"), ["f_crit"], "v0", "m"), [level])
    table = line_table(drawn).to_pandas()
    line, lower, upper = (table[table["of"] == of] for of in ("value", "lower", "upper"))
    assert len(line) > 8
    energy = np.exp(SPREAD * stats.norm.ppf(level))
    np.testing.assert_allclose(line["v0"] * np.sqrt(line["m"]), energy, rtol=0.05)  # cells of 0.125 in v0 and 26 % in m
    assert (upper["v0"] * np.sqrt(upper["m"])).max() < energy < (lower["v0"] * np.sqrt(lower["m"])).min()
    written = tmp_path / "lines.parquet"
    arguments = ["map", str(walls), "--x", "v0", "--y", "m", "--over", "f_crit", "--chance", "buckled=1", "--line", str(level)]
    assert main([*arguments, "--table", str(written), "--out", str(tmp_path / "map.png")]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(written), table)
    of_run = sweep.open_run(walls).lines(level, "v0", "m", over="f_crit", chance="buckled=1")
    pd.testing.assert_frame_equal(of_run.to_pandas(), table)
    sweep.open_run(walls).map("v0", "m", over="f_crit", quantile=0.95, color="peak_force", lines=1.0, out=tmp_path / "python.png")


@pytest.mark.slow
def test_bins_take_rows_of_any_design_together(walls: Path, tmp_path: Path) -> None:
    drawn = read_groups(walls, Statistic(ROWS), x="v0", y="f_crit", bins=4)
    assert drawn.gridded
    assert drawn.shades is not None
    rows = pq.ParquetDataset(walls / "points").read().to_pandas()
    counted = np.histogram2d(rows["f_crit"], rows["v0"], bins=4)[0]
    np.testing.assert_array_equal(np.nan_to_num(drawn.shades), counted)
    assert main(["map", str(walls), "--x", "v0", "--y", "f_crit", "--bins", "4", "--mean", "--out", str(tmp_path / "map.png")]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--over", "f_crit", "--quantile", "1.5"], "--quantile: 1.5 is out of bounds"),
        (["--over", "f_crit", "--mean", "--std"], "one statistic"),
        (["--over", "f_crt"], "did you mean 'f_crit'"),
        (["--over", "f_crit", "--share", "--color", "peak_force"], "share shades"),
        (["--over", "f_crit", "--color", "none"], "a mean needs an observable"),
        (["--bins", "1", "--x", "v0", "--y", "m"], "--bins: 1 is out of bounds"),
        (["--over", "f_crit", "--table", "lines.csv"], "needs --line"),
        (["--over", "f_crit", "--line", "1.0", "--table", "lines.txt"], ".csv or .parquet"),
        (["--over", "f_crit", "--chance", "buckled=1", "--line", "5"], "--line: 5 is no probability: must be from 0 to 1, 0.05 for 5 %"),
        (["--over", "f_crit", "--confidence", "1"], "--confidence: 1 is out of bounds"),
    ],
)
@pytest.mark.slow
def test_what_means_nothing_is_refused(walls: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["map", str(walls), *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_wrong_observable_of_a_plot_is_named_as_such(walls: Path) -> None:
    with pytest.raises(ConfigError, match="observable: 'wear' is no observable") as told:
        sweep.open_run(walls).plot("wear", "v0")
    assert "color" not in str(told.value)
    with pytest.raises(ConfigError, match="'median' is no statistic"):
        sweep.open_run(walls).map("v0", "m", over="f_crit", statistic="median")
