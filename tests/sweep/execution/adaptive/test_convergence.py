"""Convergence studies: on series whose order and limit are known, on the real physics, and on bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models.schemes import MOST_STEPS, SCHEMES
from tribosweep.kernels.models.status import Status
from tribosweep.sweep import Run, load, open_run, run
from tribosweep.sweep.analyses.convergence.figure import fill
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.refinement import refined_by
from tribosweep.sweep.execution.adaptive.richardson import LimitEstimate, agree, estimate

EULER = {"scheme": "euler"}
PARAMETERS = {"k_t": 9e6}
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def law(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> FakeKernels:
    """Every scheme gives a0 + v0 h^x0 for the wear power, where h is its step, largest step or tolerance; a0 by exact.

    A step below 1e-5 s fails where load > 0; where f0 > 0 the steps that a scheme chooses do not become more.
    """
    solve = fake.solve

    def power(
        model: Any, scheme: str, columns: dict[str, Any], absent: dict[str, np.ndarray], count: int, window: str | None, *_: Any, **__: Any
    ) -> Any:
        solution = solve(model, scheme, columns, absent, count, window)
        values = {name: np.broadcast_to(value, (count,)) for name, value in model.resolve(columns, absent).items()}
        h = values[refined_by(scheme)[0]] if scheme != "exact" else np.zeros(count)
        with np.errstate(divide="ignore"):
            steps = np.where((values["f0"] > 0.0) & (scheme != "euler"), 100.0, values["end"] / h)
        failed = (h < 1e-5) & (values["load"] > 0.0) & (scheme != "exact")
        solution.status[failed] = Status.OVERFLOW
        solution.observables["wear_power"][:] = np.where(failed, np.nan, values["a0"] + values["v0"] * h ** values["x0"])
        solution.observables["accepted_steps"][:] = np.where(failed | ~np.isfinite(steps), np.nan, np.floor(steps))
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", power)
    return fake


def study(axes: dict[str, Any] | None = None, sweep: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """A convergence study by Euler unless told otherwise."""
    asked = {"design": "convergence", **({"axes": axes} if axes else {}), **(sweep or {})}
    return {"study": EULER, "parameters": PARAMETERS, "sweep": asked, **sections}


def rows(finished: Run) -> dict[str, list[Any]]:
    """The table of a study as columns."""
    columns: dict[str, list[Any]] = finished.convergence().to_pydict()
    return columns


def estimated(values: np.ndarray, divisor: np.ndarray) -> LimitEstimate:
    """Estimates from series whose every level is finer than the one before."""
    return estimate(values, divisor, np.ones(values.shape, dtype=bool))


@pytest.mark.parametrize("base", [2.0, 10.0])
def test_order_and_limit_of_a_power_law_are_found(base: float) -> None:
    h = base ** -np.arange(4.0)[:, np.newaxis]
    order = np.array([0.5, 1.0, 2.0, 3.0])
    found = estimated(3.0 - 0.25 * h**order, np.full(4, base))
    np.testing.assert_allclose(found.order, order, rtol=1e-4)
    np.testing.assert_allclose(found.extrapolated, 3.0, rtol=1e-10)
    np.testing.assert_allclose(found.error, 0.25 * h[-1] ** order, rtol=1e-3)


def test_one_odd_difference_does_not_upset_the_order_but_forbids_a_limit() -> None:
    differences = np.array([1.0, 0.5, 0.25, 0.125, 0.01])[:, np.newaxis]
    found = estimated(5.0 + np.vstack([np.zeros((1, 1)), np.cumsum(differences, axis=0)]), np.array([2.0]))
    assert 1.0 < found.order[0] < 2.0
    assert math.isnan(found.extrapolated[0])
    assert found.error[0] == pytest.approx(0.125)


NOTHING_TO_SAY = {
    "a single result": [1.0],
    "two results": [1.0, 1.5],
    "nothing but zeros": [0.0, 0.0, 0.0, 0.0],
    "differences at rounding": [1.0, 1.0 + 4e-16, 1.0, 1.0 + 2e-16],
}


@pytest.mark.parametrize("series", NOTHING_TO_SAY.values(), ids=NOTHING_TO_SAY.keys())
def test_where_differences_say_nothing_there_is_no_order_and_no_limit(series: list[float]) -> None:
    found = estimated(np.array(series)[:, np.newaxis], np.array([2.0]))
    assert found.value[0] == series[-1]
    assert math.isnan(found.order[0])
    assert math.isnan(found.extrapolated[0])
    assert not found.error[0] > 0.5


def test_results_that_turn_back_or_run_away_have_no_limit() -> None:
    n = np.arange(6.0)
    found = estimated(np.stack([7.0 + (-0.5) ** n, 7.0 + 2.0**n, 7.0 + 0.9**n], axis=1), np.full(3, 2.0))
    np.testing.assert_allclose(found.order, [1.0, math.nan, math.nan], rtol=1e-9)
    assert np.isnan(found.extrapolated).all()


def test_series_of_different_lengths_are_judged_by_their_own_ends() -> None:
    values = 2.0 + 0.5 ** np.arange(6.0)[:, np.newaxis] * np.ones(3)
    values[4:, 1], values[:, 2] = np.nan, np.nan
    found = estimated(values, np.full(3, 2.0))
    np.testing.assert_allclose(found.value, [2.0 + 0.5**5, 2.0 + 0.5**3, np.nan])
    np.testing.assert_allclose(found.extrapolated, [2.0, 2.0, np.nan])


def test_agreement_is_relative_and_zeros_agree() -> None:
    before, last = np.array([1.0, 1.0, 0.0, 1e-9, np.nan, -1e9]), np.array([1.0004, 1.0006, 0.0, 0.0, np.nan, -1e9 - 1.0])
    assert agree(before, last, 3).tolist() == [True, False, True, False, False, True]


def test_a_study_finds_the_order_and_the_limit_of_every_point(law: FakeKernels, tmp_path: Path) -> None:
    finished = run(study({"a0": [2.0, 4.0], "x0": [1.0, 2.0]}, {"digits": 6}, parameters={**PARAMETERS, "v0": 1.0}), tmp_path / "a")
    found = rows(finished)
    assert found["verdict"] == ["settled"] * 4
    np.testing.assert_allclose(found["order"], [1.0, 2.0, 1.0, 2.0], rtol=1e-3)
    np.testing.assert_allclose(found["extrapolated"], [2.0, 2.0, 4.0, 4.0], rtol=1e-9)
    np.testing.assert_allclose(found["exact"], [2.0, 2.0, 4.0, 4.0])
    np.testing.assert_allclose(found["error"], found["estimated_error"], rtol=1e-3)
    assert max(found["extrapolated_error"]) < 1e-9
    for halvings, step, power, steps in zip(*(found[name] for name in ("halvings", "step", "wear_power", "accepted_steps")), strict=True):
        assert step == 1e-4 / 2**halvings
        assert steps == math.floor(12.0 / step)
        assert abs(power / round(power) - 1.0) < 1e-6
    assert found["halvings"][1] == 2  # settled at once, but it takes three results to observe an order
    assert len(law.calls) == max(found["halvings"]) + 2  # the levels, and exact


def test_a_level_is_a_shard_of_the_points_that_are_not_settled(law: FakeKernels, tmp_path: Path) -> None:
    finished = run(study({"v0": [0.0, 1.0, 100.0]}, {"digits": 4}, parameters={**PARAMETERS, "a0": 1.0, "x0": 1.0}), tmp_path / "a")
    frame = finished.to_pandas()
    halvings = rows(finished)["halvings"]
    assert halvings[0] == halvings[1] == 2 < halvings[2]
    for level in range(max(halvings) + 1):
        shard = pq.read_table(finished.directory / "points" / f"part-{level:06d}.parquet").to_pydict()
        positions = [position for position in range(3) if halvings[position] >= level]
        assert shard["point"] == [3 * level + position for position in positions]
        assert shard["halving"] == [level] * len(positions)
        assert shard["step"] == [1e-4 / 2**level] * len(positions)
        assert shard["v0"] == [[0.0, 1.0, 100.0][position] for position in positions]
    assert len(frame) == sum(halvings) + 3
    assert sorted(path.name for path in finished.directory.iterdir()) == [
        "_SUCCESS",
        "config.toml",
        "convergence.parquet",
        "manifest.json",
        "points",
    ]


def test_each_scheme_is_refined_by_what_its_accuracy_depends_on(law: FakeKernels, tmp_path: Path) -> None:
    schemes = [name for name in SCHEMES if name != "exact"]
    parameters = {**PARAMETERS, "a0": 1.0, "v0": 1.0, "x0": 1.0}
    time = {"step": 1e-4, "largest_step": 1e-3, "tolerance": 1e-5}
    finished = run(study({"scheme": schemes}, {"halvings": 3, "digits": 12}, parameters=parameters, time=time), tmp_path / "a")
    frame = finished.to_pandas().set_index(["scheme", "halving"])
    for scheme in schemes:
        last = frame.loc[(scheme, 3)]
        reads = SCHEMES[scheme].reads
        assert last["step"] == (1e-4 if "tolerance" in reads else 1e-4 / 8)
        assert last["largest_step"] == (1e-3 / 8 if "largest_step" in reads and "tolerance" not in reads else 1e-3)
        assert last["tolerance"] == (1e-5 / 1000 if "tolerance" in reads else 1e-5)
    found = rows(finished)
    np.testing.assert_allclose(found["order"], 1.0, rtol=1e-6)
    names = [
        "tolerance" if "tolerance" in SCHEMES[s].reads else "largest_step" if "largest_step" in SCHEMES[s].reads else "step"
        for s in schemes
    ]
    for point, name in enumerate(names):
        assert [column for column in ("step", "largest_step", "tolerance") if found[column][point] is not None] == [name]


def test_what_is_left_out_starts_at_its_default_and_is_null_where_it_is_not_refined(law: FakeKernels, tmp_path: Path) -> None:
    config = load(study({"scheme": ["euler", "adapt2", "rk54"]}, {"halvings": 2}, parameters={**PARAMETERS, "omega": 1.0}))
    finished = run(config, tmp_path / "a")
    frame = finished.to_pandas()
    last = frame[frame["halving"] == 2].set_index("scheme")
    assert last["step"].tolist()[:2] == [1e-4 / 4] * 2
    np.testing.assert_allclose(last["largest_step"], [np.nan, np.pi / 40.0, np.nan])
    default = config.model.parameter("tolerance").default
    assert default is not None
    np.testing.assert_allclose(last["tolerance"], [np.nan, np.nan, default / 100.0])
    assert np.isnan(last["step"]["rk54"])
    assert law.calls[:3] == [1, 1, 1]


def test_agreement_says_nothing_as_long_as_a_smaller_bound_or_tolerance_makes_no_more_steps(law: FakeKernels, tmp_path: Path) -> None:
    axes = {"scheme": ["euler", "adapt2", "rk54"], "a0": [0.0, 1.0]}
    finished = run(study(axes, {"halvings": 4}, parameters={**PARAMETERS, "f0": 1.0}), tmp_path / "a")
    found = rows(finished)
    assert found["verdict"] == ["settled", "settled", "settled", "not settled", "settled", "not settled"]  # 0 W that stay 0 need no more
    assert found["halvings"] == [2, 2, 2, 4, 2, 4]
    assert [found["estimated_error"][place] is None for place in (0, 1, 3, 5)] == [False, False, True, True]
    assert law.calls[:9] == [2] * 9


@pytest.mark.slow
def test_a_tolerance_that_changes_no_step_settles_nothing(tmp_path: Path) -> None:
    """Down to a tolerance of 1e-4 the bound of the steps decides: 25 to 28 steps, which agree to 8e-7 and are 2e-5 off the closed form."""
    parameters = {"k": 100.0, "a0": 15.0, "omega": 3.0, "mu": 0.0, "k_t": 100.0}
    sections = {"parameters": parameters, "time": {"end": 1.0, "tolerance": 1e-2, "largest_step": 0.05}, "study": {"scheme": "rk54"}}
    asked = {"design": "convergence", "observable": "x_end", "digits": 5}
    few, many = (rows(run({**sections, "sweep": {**asked, "halvings": most}}, tmp_path / str(most))) for most in (2, 8))
    assert (few["verdict"], few["estimated_error"], few["accepted_steps"]) == (["not settled"], [None], [28])
    assert 1.9e-5 < few["error"][0] < 2.1e-5
    assert (many["verdict"], many["halvings"]) == (["settled"], [5])
    assert many["error"][0] < 0.5e-5


def test_a_point_is_not_refined_beyond_the_rules(law: FakeKernels, tmp_path: Path) -> None:
    parameters = {**PARAMETERS, "a0": 1.0, "v0": 1.0, "x0": 1.0}
    finished = run(study({"end": [1.0, 10.0]}, {"digits": 12}, parameters=parameters, time={"step": 1e-4}), tmp_path / "a")
    found = rows(finished)
    assert found["halvings"] == [12, math.floor(math.log2(MOST_STEPS * 1e-4 / 10.0))]
    assert (found["verdict"], found["status"]) == (["not settled"] * 2, ["ok"] * 2)
    assert law.calls


def test_a_point_that_fails_keeps_its_status_and_is_refined_no_more(law: FakeKernels, tmp_path: Path) -> None:
    axes = {"load": [0.0, 1.0]}
    finished = run(study(axes, {"digits": 9, "halvings": 6}, parameters={**PARAMETERS, "a0": 1.0, "v0": 1.0, "x0": 1.0}), tmp_path / "a")
    found = rows(finished)
    assert found["verdict"] == ["not settled", "failed"]
    assert found["status"] == ["ok", Status.OVERFLOW.sentence]
    assert found["halvings"] == [6, 3]  # 6.25e-6 s is too small
    assert found["step"][1] == 1.25e-5
    assert found["wear_power"][1] == pytest.approx(1.0 + 1.25e-5, rel=1e-12)
    assert finished.statuses == {"ok": 7 + 4, Status.OVERFLOW.sentence: 1}
    assert finished.failed == 1
    assert len(law.calls) == 8


def test_a_point_that_fails_at_once_has_nothing_but_its_status(law: FakeKernels, tmp_path: Path) -> None:
    finished = run(study({"load": [1.0]}, time={"step": 9e-6}), tmp_path / "a")
    found = {name: cells[0] for name, cells in rows(finished).items()}
    assert (found["verdict"], found["halvings"], found["accepted_steps"]) == ("failed", 0, None)
    assert all(found[name] is None for name in ("wear_power", "order", "extrapolated", "estimated_error", "error"))
    assert law.calls == [1, 1]


def test_the_table_compares_with_exact_at_the_same_parameters(law: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tribosweep.kernels.batch import solve as batch

    asked: list[tuple[str, set[str]]] = []
    solve = batch.solve

    def listen(model: Any, scheme: str, columns: dict[str, Any], absent: dict[str, np.ndarray], *rest: Any, **others: Any) -> Any:
        asked.append((scheme, {"k_t", "c_t", "step"} & {*columns, *absent}))
        return solve(model, scheme, columns, absent, *rest, **others)

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", listen)
    finished = run(study({"k_t": [9e5, 9e6], "c_t": ["default", 1.0]}, parameters={"a0": 1.0}), tmp_path / "a")
    assert asked[0] == ("euler", {"k_t", "c_t", "step"})
    assert asked[-1] == ("exact", {"k_t", "c_t"})
    assert rows(finished)["exact"] == [1.0] * 4
    assert len(law.calls) == 4


def test_levels_that_are_there_are_not_computed_again(law: FakeKernels, tmp_path: Path) -> None:
    config = study({"v0": [0.0, 100.0]}, {"digits": 4}, parameters={**PARAMETERS, "a0": 1.0, "x0": 1.0})
    first = run(config, tmp_path / "a")
    whole, table = first.to_arrow(), first.convergence()
    law.calls.clear()
    assert run(config, tmp_path / "a").computed == 0
    assert law.calls == []
    (tmp_path / "a" / "points" / "part-000001.parquet").unlink()
    again = run(config, tmp_path / "a")
    assert (again.computed, law.calls) == (2, [2, 2])  # the level, and exact
    assert again.to_arrow().equals(whole)
    pd.testing.assert_frame_equal(again.convergence().to_pandas(), table.to_pandas())
    (tmp_path / "a" / "convergence.parquet").unlink()
    pd.testing.assert_frame_equal(run(config, tmp_path / "a").convergence().to_pandas(), table.to_pandas())


def test_a_level_of_other_points_is_computed_again_and_one_too_many_goes(law: FakeKernels, tmp_path: Path) -> None:
    config = study({"v0": [0.0, 100.0]}, {"digits": 4}, parameters={**PARAMETERS, "a0": 1.0, "x0": 1.0})
    first = run(config, tmp_path / "a")
    points, whole = tmp_path / "a" / "points", first.to_arrow()
    levels = len(list(points.iterdir()))
    (points / "part-000001.parquet").write_bytes((points / f"part-{levels - 1:06d}.parquet").read_bytes())
    (points / f"part-{levels:06d}.parquet").write_bytes((points / "part-000000.parquet").read_bytes())
    assert run(config, tmp_path / "a").to_arrow().equals(whole)
    assert len(list(points.iterdir())) == levels
    assert json.loads((tmp_path / "a" / "manifest.json").read_text())["shards"] == levels
    assert law.calls


def test_an_interrupted_study_shows_what_it_has_and_goes_on(law: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(
        '[study]\nscheme = "euler"\n[parameters]\nk_t = 9e6\nx0 = 1.0\na0 = 1.0\n'
        '[sweep]\ndesign = "convergence"\ndigits = 4\n[sweep.axes]\nv0 = [0.0, 100.0]\n'
    )
    law.fail_at = 4
    assert main(["run", str(tmp_path / "study.toml"), "--out", "out"]) == 130
    assert main(["show", "out", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert (state["state"], state["points"], state["points_done"], state["rows"]) == ("incomplete", 2, 1, 7)
    assert [row["verdict"] for row in state["convergence"]] == ["settled", "not settled"]
    assert [row["exact"] for row in state["convergence"]] == [None, None]
    assert main(["convergence", "out"]) == 0
    assert "The run is not complete" in capsys.readouterr().err
    (Path("out") / "points" / "part-000000.parquet").unlink()
    assert main(["show", "out"]) == 0
    assert "verdict" not in capsys.readouterr().out
    assert main(["convergence", "out"]) == 2
    assert "no level is written yet" in capsys.readouterr().err
    law.fail_at = -1
    assert main(["run", "out/config.toml", "--out", "out"]) == 0
    assert main(["show", "out"]) == 0
    assert "complete: 2 of 2 points" in capsys.readouterr().out


def test_units_descriptions_and_origin_are_in_the_table(law: FakeKernels, tmp_path: Path) -> None:
    finished = run(study({"a0": [1.0]}, {"observable": "slip_distance"}), tmp_path / "a")
    schema = finished.convergence().schema
    for field in schema:
        assert field.metadata[b"description"], field.name
    assert [schema.field(name).metadata[b"unit"] for name in ("step", "slip_distance", "exact", "order")] == [b"s", b"m", b"m", b"1"]
    assert schema.metadata[b"config_hash"].decode() == finished.config.digest
    assert finished.to_arrow().schema.field("halving").metadata[b"description"]
    assert law.calls


def test_a_study_of_one_point_needs_no_axes(law: FakeKernels, tmp_path: Path) -> None:
    finished = run(study(), tmp_path / "a")
    assert rows(finished)["verdict"] == ["settled"]
    assert len(law.calls) == 4


def test_the_resolved_study_keeps_its_keys_and_its_identity(tmp_path: Path) -> None:
    config = load(study({"a0": [1.0]}, {"digits": 7}))
    assert config.document["sweep"] == {
        "design": "convergence",
        "observable": "wear_power",
        "digits": 7,
        "halvings": 12,
        "axes": {"a0": [1.0]},
    }
    (tmp_path / "study.toml").write_text(config.to_toml())
    again = load(tmp_path / "study.toml", ["study.name=study"])
    assert (again.document, again.digest) == (config.document, config.digest)
    for change in ("sweep.digits=8", "sweep.halvings=3", "sweep.observable=drift"):
        assert load(study({"a0": [1.0]}, {"digits": 7}), [change]).digest != config.digest
    alone = load(study())
    (tmp_path / "alone.toml").write_text(alone.to_toml())
    assert load(tmp_path / "alone.toml", ["study.name=study"]).digest == alone.digest


SCHEME = '[study]\nscheme = "euler"\n[parameters]\nk_t = 9e6\n'
STUDY = '[sweep]\ndesign = "convergence"\n'
REFUSED = {
    "exact has nothing to refine": (STUDY, ["study.scheme: 'exact' has neither step nor tolerance to refine", "choose euler or"]),
    "exact has nothing to refine as one of many": (
        f'[parameters]\nk_t = 9e6\n{STUDY}[sweep.axes]\nscheme = ["euler", "exact"]',
        ["sweep.axes.scheme[1]: 'exact' has neither"],
    ),
    "an unknown scheme is reported once": (f'[study]\nscheme = "eular"\n{STUDY}', ["1 problem\n", "study.scheme: 'eular'"]),
    "the step is no axis where it is refined": (
        f"{SCHEME}{STUDY}[sweep.axes]\nstep = [1e-4, 1e-5]",
        ["sweep.axes.step: is what this study refines", "time.step says where it starts"],
    ),
    "the tolerance is no axis where it is refined": (
        f'{SCHEME}{STUDY}[sweep.axes]\nscheme = ["euler", "rk54"]\ntolerance = [1e-4, 1e-5]',
        ["sweep.axes.tolerance: is what this study refines"],
    ),
    "the largest step is no axis where it is refined": (
        f'{SCHEME}{STUDY}[sweep.axes]\nscheme = ["adapt2"]\nlargest_step = [1e-3]',
        ["sweep.axes.largest_step: is what this study refines"],
    ),
    "no digits are too few": (
        f"{SCHEME}{STUDY}digits = 0",
        ["sweep.digits: 0 is out of bounds: must be >= 1 and <= 12 (significant digits"],
    ),
    "sixteen digits are too many": (f"{SCHEME}{STUDY}digits = 16", ["sweep.digits: 16 is out of bounds"]),
    "half a digit is none": (f"{SCHEME}{STUDY}digits = 2.5", ["sweep.digits: must be a whole number, not 2.5"]),
    "one halving shows no order": (f"{SCHEME}{STUDY}halvings = 1", ["sweep.halvings: 1 is out of bounds: must be >= 2 and <= 30"]),
    "a hundred halvings never end": (f"{SCHEME}{STUDY}halvings = 100", ["sweep.halvings: 100 is out of bounds"]),
    "an unknown observable names the nearest": (
        f'{SCHEME}{STUDY}observable = "wear_powr"',
        ["sweep.observable: 'wear_powr' is no observable; did you mean 'wear_power'?"],
    ),
    "words do not settle": (f'{SCHEME}{STUDY}observable = "regime"', ["sweep.observable: 'regime' holds words"]),
    "counts do not settle": (f'{SCHEME}{STUDY}observable = "slip_phases"', ["sweep.observable: 'slip_phases' is a whole number"]),
    "an observable is a word": (f"{SCHEME}{STUDY}observable = 3", ["sweep.observable: must be text in quotes"]),
    "an unknown key names the nearest": (f"{SCHEME}{STUDY}digit = 3", ["sweep.digit: unknown key; did you mean 'digits'"]),
    "a key in another section is sent home": (f"{SCHEME}[time]\ndigits = 3\n{STUDY}", ["time.digits: belongs in [sweep], as sweep.digits"]),
    "a grid has no digits": ("[sweep]\ndigits = 3\n[sweep.axes]\nmu = [0.1]", ['sweep.digits: belongs to design = "convergence"']),
    "a file holds no convergence study": (
        f'{SCHEME}{STUDY}file = "points.csv"',
        ["sweep.file: design 'convergence' takes its points from"],
    ),
    "a misspelt design names this one": ("[sweep]\ndesign = 'convergance'\n[sweep.axes]\nmu = [0.1]", ["did you mean 'convergence'"]),
    "too many points are refused": (
        f"{SCHEME}{STUDY}[sweep.axes]\nmu = {{ from = 0.1, to = 1.0, count = 1000000 }}",
        ["sweep.axes: 1000000 points: a convergence study has at most 131072"],
    ),
    "rules hold where the study starts": (
        f"{SCHEME}[time]\nstep = 1e-3\n{STUDY}[sweep.axes]\na0 = [1.0, 2.0]",
        ["time.step", "step = 0.001 s is unstable", "broken at 2 of 2 points"],
    ),
    "everything is said at once": (
        f'{SCHEME}{STUDY}observable = "regime"\ndigits = 0\nhalvings = 0\n[sweep.axes]\nstep = [1e-4]\nmuu = [0.1]',
        ["5 problems", "sweep.observable", "sweep.digits", "sweep.halvings", "sweep.axes.step", "sweep.axes.muu"],
    ),
}


@pytest.mark.parametrize(("text", "fragments"), REFUSED.values(), ids=REFUSED.keys())
def test_a_study_that_cannot_be_is_refused_with_its_reason(text: str, fragments: list[str], tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(text)
    assert main(["run", str(tmp_path / "study.toml")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for fragment in fragments:
        assert fragment in said.err
    assert not list(Path.cwd().iterdir())


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A study of two points of known order, 0.5 W and 2 W."""
    path = tmp_path / "known.toml"
    path.write_text(
        '[study]\nscheme = "euler"\n[parameters]\nk_t = 9e6\nv0 = 1.0\nx0 = 1.0\n'
        '[sweep]\ndesign = "convergence"\ndigits = 5\n[sweep.axes]\na0 = [0.5, 2.0]\n'
    )
    return str(path)


def test_the_table_is_printed_with_units(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[3].split()[0] == "0.5"
    assert max(map(len, lines)) <= 100
    heading = " ".join(lines[:2]).split()
    assert {"a0", "m/s^2", "step", "s", "wear_power", "W", "order", "extrapolated", "exact", "error", "verdict"} <= set(heading)
    assert "scheme" not in heading
    assert [line.split()[-1] for line in lines[3:]] == ["settled", "settled"]
    assert "1.00" in lines[3].split()
    assert "tribosweep convergence runs/known" in said.err
    assert main(["show", "runs/known"]) == 0
    assert lines[3] in capsys.readouterr().out.splitlines()
    assert law.calls


def test_json_holds_the_table_without_nan(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--json", "--set", "sweep.axes.v0=[0.0]", "--set", "parameters={k_t = 9e6}"]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert [row["verdict"] for row in printed["convergence"]] == ["settled", "settled"]
    assert (printed["convergence"][0]["order"], printed["convergence"][0]["exact"]) == (None, 0.5)
    assert (printed["points"], printed["failed"]) == (2, 0)
    assert law.calls


def test_points_that_do_not_settle_are_status_3(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--set", "sweep.digits=9", "--set", "sweep.halvings=3"]) == 3
    said = capsys.readouterr()
    assert "not settled" in said.out
    assert "2 of 2 points are not settled to 9 digits after as many refinements as `halvings`" in said.err
    assert law.calls


def test_points_that_fail_are_status_3(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--set", "parameters.load=1.0", "--set", "sweep.digits=9"]) == 3
    said = capsys.readouterr()
    assert "2 of 2 points failed; their column `status` says why" in said.err
    assert "not settled" not in said.err
    assert Status.OVERFLOW.sentence in " ".join(said.out.split())
    assert law.calls


def test_many_points_are_counted(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--set", "sweep.axes.a0={ from = 1.0, to = 2.0, count = 30 }"]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["settled", "30"]
    assert law.calls


def test_a_dry_run_says_how_many_rows_there_are_at_most(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--dry-run"]) == 0
    assert "2 points, at most 13 rows each (26 in all), in 13 shards" in capsys.readouterr().err
    assert main(["run", file, "--dry-run", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["points"], printed["rows"], printed["shards"]) == (2, 26, 13)
    assert law.calls == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_drawn_and_the_same_again(law: FakeKernels, file: str, tmp_path: Path, capsys: Captured, suffix: str) -> None:
    picture = tmp_path / f"picture{suffix}"
    assert main(["run", file, "--set", 'sweep.axes.scheme=["euler", "adapt2", "rk54"]', "--set", "sweep.digits=4"]) == 0
    capsys.readouterr()
    assert main(["convergence", "runs/known", "--out", str(picture)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    first = picture.read_bytes()
    assert 5_000 < len(first) < 500_000
    assert main(["convergence", "runs/known", "--out", str(picture)]) == 0
    assert picture.read_bytes() == first
    assert law.calls


def test_a_picture_names_its_points_and_says_what_it_leaves_out(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--set", "sweep.axes.a0=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "--set", "sweep.axes.x0=[1.0]",
                 "--set", "sweep.axes.v0=[0.0, 1.0]", "--set", "parameters={k_t = 9e6}"]) == 0  # fmt: skip
    assert main(["convergence", "runs/known", "--out", "picture.svg"]) == 0
    told = capsys.readouterr().err
    assert "10 of 20 points have no difference above 0 to draw" in told
    assert "8 of 10 curves are drawn" in told
    text = Path("picture.svg").read_text()
    assert "relative difference of the wear power" in text
    assert "[s]" in text
    assert law.calls


def test_the_differences_are_also_a_table(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file, "--set", 'sweep.axes.scheme=["euler", "rk54"]', "--set", "sweep.digits=4"]) == 0
    found = open_run("known").convergence_curves()
    frame = found.to_pandas()
    assert list(frame.columns) == ["point", "curve", "refined", "unit", "value", "from_exact", "from_limit"]
    assert frame.groupby("point")["curve"].first().to_dict() == {
        0: "a0 = 0.5 m/s^2, scheme = euler", 1: "a0 = 0.5 m/s^2, scheme = rk54",
        2: "a0 = 2 m/s^2, scheme = euler", 3: "a0 = 2 m/s^2, scheme = rk54",
    }  # fmt: skip
    assert frame.groupby("refined")["unit"].first().to_dict() == {"step": "s", "tolerance": "1"}
    euler = frame[frame["point"] == 2]  # 2 W + 1 W/s h
    np.testing.assert_allclose(euler["from_exact"], euler["value"] / 2.0, rtol=1e-9)
    np.testing.assert_allclose(euler["value"], euler["value"].iloc[0] / 2.0 ** np.arange(len(euler)))
    assert frame.attrs["units"] == {"from_exact": "1", "from_limit": "1"}
    assert repr(found) == "<ConvergenceCurves of known: 4 points, wear_power>"
    capsys.readouterr()
    assert main(["convergence", "runs/known", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["curves"]
    assert [row["from_exact"] for row in printed] == frame["from_exact"].tolist()
    assert not Path("runs/known/convergence.png").exists()
    figure = Figure(layout="constrained")
    fill(figure, found, [("step", "largest_step"), ("tolerance",)])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:2] == ["$a_0$ = 0.5 m/s$^{2}$, euler", "$a_0$ = 2 m/s$^{2}$, euler"]
    assert law.calls


def test_a_picture_of_nothing_is_refused(law: FakeKernels, file: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["run", file, "--set", "parameters.v0=0.0", "--out", "flat"]) == 0
    assert main(["convergence", "flat"]) == 2
    assert "no point has two results that differ" in capsys.readouterr().err
    run({}, "grid")
    assert main(["convergence", "grid"]) == 2
    assert "is no convergence study" in capsys.readouterr().err
    assert main(["convergence", str(tmp_path / "nowhere")]) == 2
    assert main(["convergence", "flat", "--out", "picture.jpg"]) == 2
    assert law.calls


def test_a_convergence_study_has_no_map(law: FakeKernels, file: str, capsys: Captured) -> None:
    assert main(["run", file]) == 0
    assert main(["map", "runs/known"]) == 2
    assert "a convergence study has no map; its picture: tribosweep convergence runs/known" in capsys.readouterr().err
    assert law.calls


def test_progress_counts_the_points_that_are_refined_no_more(law: FakeKernels, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    config = study({"v0": [0.0, 100.0]}, {"digits": 4}, parameters={**PARAMETERS, "a0": 1.0, "x0": 1.0})
    run(config, tmp_path / "a", progress=lambda done, total: told.append((done, total)))
    assert told[:4] == [(0, 2), (0, 2), (0, 2), (1, 2)]
    assert told[-1] == (2, 2)
    assert law.calls


@pytest.mark.slow
def test_euler_converges_with_order_one_to_exact(tmp_path: Path) -> None:
    parameters = {"k": 3e-5, "k_t": 9e5, "a0": 5.0}
    time = {"end": 3.0, "window": [1.0, 3.0], "step": 4e-4}
    finished = run(study(None, {"digits": 4, "halvings": 6}, parameters=parameters, time=time), tmp_path / "a")
    found = {name: cells[0] for name, cells in rows(finished).items()}
    assert found["verdict"] == "settled"
    assert found["order"] == pytest.approx(1.0, abs=0.15)
    assert found["estimated_error"] < 5e-5
    assert found["error"] == pytest.approx(found["estimated_error"], rel=0.2)
    assert found["extrapolated_error"] < 0.2 * found["error"]
