"""`tribosweep sensitivity` on SALib's test function: the same tables as SALib, whole groups or none, honest intervals."""

from __future__ import annotations

import json
import math
import shutil
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from SALib.analyze import fast as salib_fast
from SALib.analyze import morris as salib_morris
from SALib.analyze import rbd_fast as salib_rbd
from SALib.analyze import sobol as salib_sobol
from SALib.sample import fast_sampler
from SALib.sample import sobol as sobol_sampler
from SALib.test_functions import Ishigami
from scipy.stats import binom, gamma, qmc

from tests.sweep.conftest import FakeKernels, FakeSolution
from tribosweep.kernels.models.status import Status
from tribosweep.sweep import ConfigError, load, open_run
from tribosweep.sweep.analyses.sensitivity.analysis import analyse, of_few_values
from tribosweep.sweep.analyses.sensitivity.indices import rbd_fast
from tribosweep.sweep.analyses.sensitivity.request import SIZES, SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import DERIVATIVES, INDICES, UNCERTAINTY, Sensitivity
from tribosweep.sweep.analyses.sensitivity.uncertainty import chance, describe, order_statistics, propagate
from tribosweep.sweep.api import run
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.sobol import BITS

PI = math.pi
NAMES = ("x0", "v0", "load")
PROBLEM = {"num_vars": 3, "names": list(NAMES), "bounds": [[-PI, PI]] * 3}
EXACT = {"S1": (0.313905, 0.442411, 0.0), "ST": (0.557589, 0.442411, 0.243684)}  # Sobol and Levitan, a = 7, b = 0.1
Captured = pytest.CaptureFixture[str]


class FakeIshigami(FakeKernels):
    """Every float observable is Ishigami's function of x0, v0 and load; rows with x0 above `fails_above` fail; slip-slip where v0 < 0."""

    fails_above = math.inf
    constant = False

    def solve(self, model: Any, scheme: str, columns: Any, absent: Any, count: int, window: Any = None, *_: Any, **__: Any) -> FakeSolution:
        """Stand in for `tribosweep.kernels.batch.solve`."""
        self.calls.append(count)
        values = model.resolve(columns, absent)
        x = np.stack([np.broadcast_to(values[name], count) for name in NAMES], axis=1)
        failed = x[:, 0] > self.fails_above
        y = np.where(failed, np.nan, np.full(count, 0.1) if self.constant else Ishigami.evaluate(x))
        found: dict[str, np.ndarray] = {}
        for quantity in model.observables:
            if quantity.kind == "word":
                found[quantity.name] = np.where(failed, -1, np.where(x[:, 1] < 0.0, 2, 1)).astype(np.int8)
            else:
                found[quantity.name] = np.floor(y) if quantity.kind == "integer" else y
        return FakeSolution(found, np.where(failed, Status.TOO_MANY_EVENTS, Status.OK).astype(np.int8), 0.0, 0.0)


@pytest.fixture
def ishigami(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> FakeIshigami:
    """Stands in for the physics."""
    stand_in = FakeIshigami()

    monkeypatch.setattr(sys.modules["tribosweep.kernels.batch.solve"], "solve", stand_in.solve)
    return stand_in


def document(design: str, count: int, **keys: Any) -> dict[str, Any]:
    """A study of Ishigami's function."""
    axes = {name: {"from": -PI, "to": PI} for name in NAMES}
    return {"study": {"name": "ishigami"}, "sweep": {"design": design, "count": count, "seed": 3, "axes": axes, **keys}}


def study(design: str, count: int, request: SensitivityRequest | None = None, **keys: Any) -> Sensitivity:
    """Run and analyse it."""
    config = load(document(design, count, **keys))
    run(config, "run")
    return analyse(Path("run"), config, request or SensitivityRequest())


def table(found: Sensitivity, which: str = INDICES) -> dict[tuple[str, ...], tuple[float, float]]:
    """(measure, parameter, other) -> value and half an interval."""
    return {
        tuple(word for word in (e.measure, e.parameter, e.other) if word): (e.value, e.half_width)
        for e in (line.estimate for line in found.lines[which])
    }


def salib_saltelli(count: int, second_order: bool, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """SALib's sample, from the base sequence in 53 bits."""
    fine = types.SimpleNamespace(
        Sobol=lambda d, scramble, seed: qmc.Sobol(d, scramble=scramble, bits=BITS, rng=np.random.default_rng(seed))
    )
    monkeypatch.setattr(sobol_sampler, "qmc", fine)
    return sobol_sampler.sample(PROBLEM, count, calc_second_order=second_order, seed=3)


@pytest.mark.parametrize("second_order", [False, True])
def test_sobol_indices_and_intervals_are_those_of_salib(
    second_order: bool, ishigami: FakeIshigami, small_shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = table(study("saltelli", 128, second_order=second_order))
    y = Ishigami.evaluate(salib_saltelli(128, second_order, monkeypatch))
    theirs = salib_sobol.analyze(PROBLEM, y, calc_second_order=second_order, seed=1)
    for measure in ("S1", "ST"):
        for j, name in enumerate(NAMES):
            assert found[measure, name] == pytest.approx((theirs[measure][j], theirs[f"{measure}_conf"][j]), rel=1e-10, abs=1e-13)
    for j, k in ((0, 1), (0, 2), (1, 2)) if second_order else ():
        assert found["S2", NAMES[j], NAMES[k]] == pytest.approx((theirs["S2"][j, k], theirs["S2_conf"][j, k]), rel=1e-10, abs=1e-13)
    assert len(found) == (9 if second_order else 6)


def test_elementary_effects_are_those_of_salib(ishigami: FakeIshigami, small_shards: int) -> None:
    made = study("morris", 60)
    found = table(made)
    x = np.stack(
        [values for _, values in sorted(made.sample.config.design.points(0, 240).columns.items(), key=lambda i: NAMES.index(i[0]))], 1
    )
    theirs = salib_morris.analyze(PROBLEM, x, Ishigami.evaluate(x), num_levels=4, seed=1)
    for j, name in enumerate(NAMES):
        assert found["mu_star", name] == pytest.approx((theirs["mu_star"][j], theirs["mu_star_conf"][j]), rel=1e-12)
        assert found["mu", name][0] == pytest.approx(theirs["mu"][j], rel=1e-12)
        assert found["sigma", name][0] == pytest.approx(theirs["sigma"][j], rel=1e-12)
    assert made.lines[UNCERTAINTY] == []


def test_fast_indices_are_those_of_salib(ishigami: FakeIshigami) -> None:
    found = table(study("fast", 501))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = salib_fast.analyze(PROBLEM, Ishigami.evaluate(fast_sampler.sample(PROBLEM, 501, seed=3)))
    for measure in ("S1", "ST"):
        for j, name in enumerate(NAMES):
            assert found[measure, name][0] == pytest.approx(theirs[measure][j], rel=1e-12)
            assert math.isnan(found[measure, name][1])


@pytest.mark.parametrize("kind", ["latin_hypercube", "halton", "sobol"])
def test_rbd_fast_indices_are_those_of_salib(kind: str, ishigami: FakeIshigami) -> None:
    made = study(kind, 512)
    points = made.sample.config.design.points(0, 512).columns
    x = np.stack([points[name] for name in NAMES], axis=1)
    theirs = salib_rbd.analyze(PROBLEM, x, Ishigami.evaluate(x), seed=1)
    for j, name in enumerate(NAMES):
        assert table(made)["S1", name] == pytest.approx((theirs["S1"][j], theirs["S1_conf"][j]), rel=1e-10)
        assert theirs["S1"][j] == pytest.approx(EXACT["S1"][j], abs=0.1)


def test_intervals_hold_the_exact_indices_and_shrink_with_the_root_of_the_sample(ishigami: FakeIshigami) -> None:
    halves = {}
    for count in (1024, 16384):
        found = table(study("saltelli", count))
        (Path("run") / "_SUCCESS").unlink()

        shutil.rmtree("run")
        for measure, exact in EXACT.items():
            for name, index in zip(NAMES, exact, strict=True):
                value, half = found[measure, name]
                assert abs(value - index) <= half, (count, measure, name)
                halves[count, measure, name] = half
    ratios = [halves[1024, *key] / halves[16384, *key] for key in ((m, n) for m in EXACT for n in NAMES)]
    assert np.mean(ratios) == pytest.approx(4.0, rel=0.1)


def test_groups_with_a_failed_row_are_dropped_whole_and_the_others_stay_in_place(
    ishigami: FakeIshigami, small_shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ishigami.fails_above = 2.5
    made = study("saltelli", 128, second_order=True)
    x = salib_saltelli(128, True, monkeypatch).reshape(128, 8, 3)
    good = (x[:, :, 0] <= 2.5).all(axis=1)
    assert 0 < good.sum() < 128
    theirs = salib_sobol.analyze(PROBLEM, Ishigami.evaluate(x[good].reshape(-1, 3)), seed=1)
    found = table(made)
    for j, name in enumerate(NAMES):
        assert found["ST", name] == pytest.approx((theirs["ST"][j], theirs["ST_conf"][j]), rel=1e-10)
    assert made.kept["wear_power"].failed == 128 - good.sum()
    assert f"{128 - good.sum()} of 128 Saltelli groups failed and are dropped whole, of 8 rows each" in made.notes[0]


def test_trajectories_and_curves_with_a_failed_row_are_dropped_whole(ishigami: FakeIshigami) -> None:
    ishigami.fails_above = 3.0
    made = study("morris", 60)
    left = made.kept["wear_power"].groups
    assert 0 < len(left) < 60
    points = made.sample.config.design.points(0, 240).columns
    x = np.stack([points[name] for name in NAMES], axis=1).reshape(60, 4, 3)[left].reshape(-1, 3)
    theirs = salib_morris.analyze(PROBLEM, x, Ishigami.evaluate(x), num_levels=4, seed=1)
    assert table(made)["mu_star", "v0"] == pytest.approx((theirs["mu_star"][1], theirs["mu_star_conf"][1]), rel=1e-12)


def test_a_regime_keeps_the_groups_that_are_in_it_throughout(ishigami: FakeIshigami) -> None:
    made = study("saltelli", 256, SensitivityRequest(regime="slip-slip"))
    kept = made.kept["wear_power"]
    regimes = made.sample.regimes.reshape(256, 5)
    assert kept.groups.tolist() == np.flatnonzero((regimes == 2).all(axis=1)).tolist()
    assert kept.elsewhere == 256 - len(kept.groups)
    assert any("are not slip-slip throughout and are dropped whole, of 5 rows each" in note for note in made.notes)
    assert any("no longer independent" in note for note in made.notes)
    inside = regimes[:, [0, -1]] == 2  # rows of A and of B stand for themselves
    mean = made.lines[UNCERTAINTY][0]
    assert (mean.estimate.measure, mean.groups) == ("mean", np.count_nonzero(inside))
    assert mean.estimate.value == pytest.approx(made.sample.grouped("wear_power")[:, [0, -1]][inside].mean(), rel=1e-13)
    with pytest.raises(ConfigError, match="'slipslip' is no regime; did you mean 'slip-slip'"):
        analyse(Path("run"), made.sample.config, SensitivityRequest(regime="slipslip"))


def test_rows_that_are_not_computed_yet_drop_their_groups(ishigami: FakeIshigami, small_shards: int) -> None:
    made = study("saltelli", 64)
    (Path("run") / "points" / "part-000001.parquet").unlink()  # rows 10 to 19: groups 2 and 3
    again = analyse(Path("run"), made.sample.config, SensitivityRequest())
    assert again.kept["wear_power"].groups.tolist() == [0, 1, *range(4, 64)]
    assert "2 of 64 Saltelli groups are not computed yet" in again.notes[0]


@pytest.mark.parametrize("shard_points", [7, 64, 1000])
def test_the_tables_do_not_depend_on_the_shards(shard_points: int, ishigami: FakeIshigami) -> None:
    request = SensitivityRequest(chances=("wear_power > 2",), sizes=True)
    first = study("saltelli", 64, request)
    config = load({**document("saltelli", 64), "output": {"shard_points": shard_points}})
    run(config, "other")
    assert analyse(Path("other"), config, request).lines == first.lines


def test_sizes_end_with_the_whole_sample(ishigami: FakeIshigami) -> None:
    made = study("saltelli", 256, SensitivityRequest(sizes=True))
    sizes = sorted({line.groups for line in made.lines[SIZES] if line.estimate.measure == "ST"})
    assert sizes == [8, 16, 32, 64, 128, 256]
    assert [line for line in made.lines[SIZES] if line.estimate.measure == "ST" and line.groups == 256] == [
        line for line in made.lines[INDICES] if line.estimate.measure == "ST"
    ]


def test_order_statistics_enclose_a_quantile_as_often_as_they_say() -> None:
    for count, p in ((100, 0.5), (1000, 0.95), (37, 0.1), (5000, 0.01)):
        first, last = order_statistics(count, p, 0.95)
        inside = binom.cdf(last - 1, count, p) - binom.cdf(first - 1, count, p)
        tighter = binom.cdf(last - 2, count, p) - binom.cdf(first - 1, count, p)
        assert inside >= 0.95
        assert tighter < 0.975
    assert order_statistics(10, 0.99, 0.95)[1] == 11  # no value lies beyond it surely enough


def test_intervals_of_random_samples_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    truth = {"mean": 4.0, "std": 2.0, "quantile 0.9": gamma.ppf(0.9, 4.0), "P(> 6)": gamma.sf(6.0, 4.0)}
    hits = dict.fromkeys(truth, 0)
    for _ in range(400):
        for each in [*describe(drawn := rng.gamma(4.0, size=400), [0.9], 0.9), chance([drawn > 6.0], "P(> 6)", 0.9)]:
            hits[each.measure] += each.low <= truth[each.measure] <= each.high
    for measure, count in hits.items():
        assert count / 400 == pytest.approx(0.91, abs=0.05), measure


def test_replicates_tell_their_own_error(ishigami: FakeIshigami) -> None:
    axes = document("sobol", 1)["sweep"]["axes"]
    parts = [{"design": "sobol", "count": 512, "seed": seed, "axes": axes} for seed in range(8)]
    config = load({"study": {"name": "replicates"}, "sweep": parts})
    run(config, "run")
    made = analyse(Path("run"), config, SensitivityRequest())
    mean = next(line for line in made.lines[UNCERTAINTY] if line.estimate.measure == "mean")
    assert (mean.method, mean.groups) == ("replicates", 4096)
    assert mean.estimate.low <= 3.5 <= mean.estimate.high
    independent = propagate([made.sample.values["wear_power"]], [], 0.95)[0]
    assert mean.estimate.half_width < 0.3 * independent.half_width  # what one scramble cannot know
    parts[1] = {**parts[1], "count": 256}
    with pytest.raises(ConfigError, match="differ in their seed alone"):
        analyse(Path("run"), load({"sweep": parts}), SensitivityRequest())


def test_one_sample_is_told_the_error_of_independent_points(ishigami: FakeIshigami) -> None:
    made = study("sobol", 4096, SensitivityRequest(chances=("wear_power > 5",), quantiles=(0.5,)))
    found = {line.estimate.measure: line.estimate for line in made.lines[UNCERTAINTY]}
    variance = 49 / 8 + 0.1 * PI**4 / 5 + 0.01 * PI**8 / 18 + 0.5
    assert found["mean"].value == pytest.approx(3.5, abs=0.01)
    assert found["mean"].half_width == pytest.approx(1.96 * math.sqrt(variance / 4096), rel=0.01)
    assert found["std"].value == pytest.approx(math.sqrt(variance), rel=0.01)
    assert set(found) == {"mean", "std", "quantile 0.5", "P(> 5)"}


def test_the_command_runs_a_study_and_says_what_it_finds(ishigami: FakeIshigami, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document("saltelli", 100, second_order=True)).to_toml())
    assert main(["sensitivity", str(path), "--exceeds", "wear_power=10", "--out", "bars.png"]) == 0
    said = capsys.readouterr()
    assert "wear_power: Sobol indices from 100 Saltelli groups" in said.out
    assert "second order" in said.out
    assert "wear_power > 10" in said.out
    assert "Note: 100 groups of a Sobol sequence are no power of two" in said.err
    assert Path("bars.png").stat().st_size > 10_000
    assert len(ishigami.calls) == 1
    assert main(["sensitivity", "runs/ishigami", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(ishigami.calls) == 1  # nothing is computed twice
    assert told["groups"]["wear_power"] == {"used": 100, "total": 100, "missing": 0, "failed": 0, "void": 0, "elsewhere": 0}
    assert [line["measure"] for line in told["indices"][:3]] == ["S1", "S1", "S1"]
    written = pq.ParquetFile("runs/ishigami/sensitivity/indices.parquet").read()
    assert written.to_pylist() == told["indices"]
    assert json.loads(written.schema.metadata[b"request"])["confidence"] == 0.95
    assert main(["run", str(path)]) == 0  # the tables are no part of the run
    assert "already complete" in capsys.readouterr().err


def test_tables_of_sizes_are_written_with_their_picture_or_alone_and_removed_if_nobody_asks(
    ishigami: FakeIshigami, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document("halton", 256)).to_toml())
    file, found = Path("runs/ishigami/sensitivity/sizes.parquet"), []
    for options in (["--sizes", "--out", "first.csv"], [], ["--picture", "sizes", "--out", "sizes.png"]):
        assert main(["sensitivity", str(path), *options]) == 0
        found.append(pq.read_table(file).to_pylist() if file.exists() else None)
    assert found[0] == found[2]
    assert found[1] is None
    assert Path("first.csv").read_text().startswith("observable,method,groups,measure,parameter,other,value,low,high\nwear_power,RBD-FAST,")
    assert "Written: first.csv" in capsys.readouterr().err


def test_failed_rows_are_told_by_the_exit_status(ishigami: FakeIshigami, tmp_path: Path, capsys: Captured) -> None:
    ishigami.fails_above = 2.5
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document("saltelli", 128)).to_toml())
    assert main(["sensitivity", str(path), "--json"]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out)["groups"]["wear_power"]["failed"] > 0
    assert "failed and are dropped whole, of 5 rows each" in said.err


@pytest.mark.parametrize(("design", "count"), [("saltelli", 128), ("morris", 20), ("halton", 300)])
@pytest.mark.parametrize("picture", ["bars", "plane", "scatter", "sizes"])
def test_every_picture_is_drawn_or_refused_with_a_sentence(
    design: str, count: int, picture: str, ishigami: FakeIshigami, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document(design, count)).to_toml())
    expected = 2 if picture == "plane" and design != "morris" else 0
    assert main(["sensitivity", str(path), "--picture", picture, "--out", "it.png"]) == expected
    assert Path("it.png").exists() == (expected == 0)
    if expected:
        assert "plane shows elementary effects" in capsys.readouterr().err


def test_a_constant_observable_has_no_indices(ishigami: FakeIshigami, tmp_path: Path, capsys: Captured) -> None:
    ishigami.constant = True
    for design, count in (("saltelli", 64), ("morris", 10), ("fast", 65), ("halton", 100)):
        path = tmp_path / f"{design}.toml"
        raw = document(design, count)
        raw["study"]["name"] = design
        path.write_text(load(raw).to_toml())
        assert main(["sensitivity", str(path)]) == 0
        assert "wear_power is 0.1 at all points: it is constant, and its indices are undefined" in capsys.readouterr().err
        assert not (Path("runs") / design / "sensitivity" / "indices.parquet").exists()
    assert main(["sensitivity", "runs/halton", "--out", "it.png"]) == 2
    assert "there is nothing for bars: wear_power is 0.1 at all points" in capsys.readouterr().err


def test_all_rows_failed(ishigami: FakeIshigami, tmp_path: Path, capsys: Captured) -> None:
    ishigami.fails_above = -10.0
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document("saltelli", 64)).to_toml())
    assert main(["sensitivity", str(path)]) == 2
    assert "all 320 rows failed: there is nothing to analyse" in capsys.readouterr().err


def test_an_effect_in_two_steps_is_told_to_be_too_small_by_rbd_fast() -> None:
    """A square wave has 8 / pi^2 sum 1 / k^2 of its variance in the odd harmonics up to 10: 95.96 %."""
    steps = np.random.default_rng(1).random((4000, 2))
    steps[:, 0] = np.where(steps[:, 0] < 0.5, 0.25, 0.75)
    (first, _) = rbd_fast(["v0", "k"], steps, steps[:, 0], 20, 0.95, 1)
    assert first.value == pytest.approx(8.0 / np.pi**2 * sum(k**-2.0 for k in (1, 3, 5, 7, 9)), abs=0.005)

    class Two:
        names = ("v0", "k")

        def coordinates(self) -> Any:
            return steps

    assert of_few_values(Two()) == ["v0"]  # type: ignore[arg-type]


def test_rbd_fast_has_no_interval_where_one_row_alone_differs() -> None:
    (found,) = rbd_fast(["k"], np.random.default_rng(1).random((60, 1)), np.arange(60) == 3, 20, 0.95, 1)
    assert math.isfinite(found.value)
    assert math.isnan(found.half_width)


def test_too_few_groups_for_second_order(ishigami: FakeIshigami) -> None:
    made = study("saltelli", 32, second_order=True)
    assert made.notes == ["32 groups are too few for second-order indices, which need 64 at least: they are left out."]
    assert {line.estimate.measure for line in made.lines[INDICES]} == {"S1", "ST"}
    run(load(document("saltelli", 1)), "one")
    one = analyse(Path("one"), load(document("saltelli", 1)), SensitivityRequest())
    assert one.notes == ["1 is too small a number of Saltelli groups for indices: at least 2 are needed."]
    run(load(document("halton", 40)), "forty")
    assert analyse(Path("forty"), load(document("halton", 40)), SensitivityRequest()).notes == [
        "40 points are too few for RBD-FAST: at least 44 are needed."
    ]


@pytest.mark.parametrize("count", [41, 43, 44, 45])
def test_rbd_fast_has_an_interval_of_the_fewest_points_that_it_takes(count: int, ishigami: FakeIshigami) -> None:
    """Bootstrap samples of 20 points divide by zero, and those of 21 have no harmonics but the ten: their index is always 1."""
    made = study("latin_hypercube", count)
    if count < 44:
        assert made.notes == [f"{count} points are too few for RBD-FAST: at least 44 are needed."]
    else:
        assert made.notes == []
        assert all(math.isfinite(line.estimate.value) and line.estimate.half_width > 0.0 for line in made.lines[INDICES])


BAD = {
    "an observable that is none": (
        ["--observable", "wear_pwer"],
        "'wear_pwer' is no observable that is a number; did you mean 'wear_power' (mean wear power in the window)?",
    ),
    "a word is no number": (["--observable", "regime"], "'regime' is no observable that is a number"),
    "a threshold": (["--exceeds", "wear_power"], "'wear_power' must be an observable, one of"),
    "a threshold that is finite": (["--exceeds", "wear_power=nan"], "'wear_power > nan': 'nan' must be a finite number"),
    "a probability": (["--quantile", "1.5"], "--quantile: 1.5 is out of bounds: must be > 0 and < 1"),
    "a level": (["--confidence", "95"], "--confidence: 95 is out of bounds: must be > 0 and < 1"),
    "resamples": (["--resamples", "1"], "--resamples: 1 is out of bounds: must be from 2 to 100000"),
    "a seed": (["--seed", "0"], "--seed: 0 is out of bounds: must be >= 1"),
    "points of derivatives": (["--derivatives", "-1"], "--derivatives: -1 is out of bounds: must be >= 0"),
    "a picture needs a file": (["--picture", "bars"], "--picture: 1 problem\n  needs --out"),
    "a table is no picture": (["--picture", "bars", "--out", "a.csv"], "--picture: 1 problem\n  needs --out, the picture to write: .png"),
    "the plane is of effects": (["--picture", "plane", "--out", "a.png"], "it needs design morris, not saltelli"),
    "sizes need points": (["--picture", "sizes", "--set", "sweep.count=4", "--out", "a.png"], "sizes needs a count of 8 at least"),
    "sizes need indices of parts": (
        ["--picture", "sizes", "--set", "sweep.design='fast'", "--set", "sweep.count=65", "--out", "a.png"],
        "of whole curves",
    ),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_options_are_refused_before_anything_is_computed(
    options: list[str], message: str, ishigami: FakeIshigami, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "ishigami.toml"
    path.write_text(load(document("saltelli", 64)).to_toml())
    assert main(["sensitivity", str(path), *options]) == 2
    assert message in capsys.readouterr().err
    assert ishigami.calls == []
    assert not Path("runs").exists()


def test_nothing_is_written_if_the_picture_cannot_be(ishigami: FakeIshigami, capsys: Captured) -> None:
    run(load(document("halton", 64)), "there")
    Path("file").write_text("")
    assert main(["sensitivity", "there", "--out", "file/a.png"]) == 2
    assert main(["sensitivity", "there", "--out", "file/a.csv"]) == 2
    assert not Path("there/sensitivity").exists()
    assert len(ishigami.calls) == 1
    with pytest.raises(ConfigError, match="sizes shows estimates by sample size, which were not asked for: add sizes"):
        open_run("there").sensitivity().plot(picture="sizes")
    with pytest.raises(ConfigError, match="plane shows elementary effects: it needs design morris, not halton"):
        open_run("there").sensitivity().plot(picture="plane")
    shutil.rmtree("there/points")
    Path("there/manifest.json").write_text("{")
    capsys.readouterr()
    assert main(["sensitivity", "there"]) == 2
    assert "manifest.json: 1 problem\n  holds no run of tribosweep, or is damaged" in capsys.readouterr().err


def test_what_samples_nothing_is_refused(ishigami: FakeIshigami, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "grid.toml"
    path.write_text("[sweep.axes]\nx0 = [1.0, 2.0]\n")
    assert main(["sensitivity", str(path)]) == 2
    assert (
        "design 'grid' draws no parameters; those that do: sobol, latin_hypercube, halton, saltelli, morris, fast, posterior"
        in capsys.readouterr().err
    )
    assert not Path("runs").exists()
    assert main(["sensitivity", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err
    run(load(document("halton", 64)), "there")
    assert main(["sensitivity", "there", "--set", "sweep.seed=4"]) == 2
    assert "changes a study, and there is the directory of a run" in capsys.readouterr().err


def test_derivatives_are_left_out_where_they_bound_nothing(ishigami: FakeIshigami) -> None:
    assert study("halton", 64).lines[DERIVATIVES] == []


def test_without_salib_its_methods_say_how_to_get_it(ishigami: FakeIshigami, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "SALib.analyze.morris", None)
    with pytest.raises(ConfigError, match=r"pip install 'tribosweep\[sensitivity\]'"):
        study("morris", 10)
