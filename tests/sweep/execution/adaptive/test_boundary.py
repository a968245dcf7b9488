"""Studies of boundaries: on fields whose boundaries are known, and on the real physics against closed forms."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.oracle.sdnd104 import stick_slip_wear_power
from tests.sweep.conftest import FakeKernels, install_small_pieces
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.reference.closed_forms import ETA_STAR, den_hartog_limit, slip_slip_wear_power
from tribosweep.sweep import Run, load, resume, run
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.adaptive import boundary_tracing
from tribosweep.sweep.execution.adaptive.bisection import Brackets
from tribosweep.sweep.execution.adaptive.boundary_table import read_boundaries
from tribosweep.sweep.execution.adaptive.boundary_tracing import empty_history
from tribosweep.sweep.execution.shard import compute_piece_of

Captured = pytest.CaptureFixture[str]
Field = Callable[[np.ndarray, np.ndarray], np.ndarray]
Solve = Callable[..., Any]
FAILED = -2


@pytest.fixture
def fields(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> dict[str, Field]:
    """Observables as functions of x0 and v0, by name: codes of words, numbers; where `failed` says so, rows fail."""
    given: dict[str, Field] = {}
    solve: Solve = fake.solve

    def compute(
        model: Any, scheme: str, columns: dict[str, Any], absent: dict[str, np.ndarray], count: int, window: Any, *_: Any, **__: Any
    ) -> Any:
        solution = solve(model, scheme, columns, absent, count, window)
        values = model.resolve(columns, absent)
        x, y = (np.broadcast_to(values[name], (count,)) for name in ("x0", "v0"))
        failed = given["failed"](x, y) if "failed" in given else np.zeros(count, dtype=bool)
        solution.status[failed] = Status.OVERFLOW
        for name, field in given.items():
            if name != "failed":
                word = solution.observables[name].dtype == np.int8
                solution.observables[name] = np.where(failed, -1 if word else np.nan, field(x, y)).astype(np.int8 if word else np.float64)
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", compute)
    return given


def study(asked: dict[str, Any] | None = None, x: dict[str, Any] | None = None, y: dict[str, Any] | None = None) -> dict[str, Any]:
    """A study over x0 and v0, each from -1 to 1 in four cells unless told otherwise."""
    axis = {"from": -1.0, "to": 1.0, "count": 5}
    return {"sweep": {"design": "boundary", **(asked or {}), "axes": {"x0": {**axis, **(x or {})}, "v0": {**axis, **(y or {})}}}}


def curves(finished: Run) -> list[tuple[str, bool, np.ndarray]]:
    """Of every curve what is on its sides, whether it is closed, and its (n, 2) places."""
    table = finished.boundaries()
    frame = table.to_pandas()
    first, second = table.column_names[1:3]
    found = []
    for _, rows in frame.groupby("curve"):
        found.append((str(rows["between"].iloc[0]), bool(rows["closed"].iloc[0]), rows[[first, second]].to_numpy()))
    return found


def test_a_circle_is_one_closed_curve_within_the_width_asked(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(x**2 + y**2 < 0.7**2, 2, 0)
    finished = run(study({"halvings": 5, "width": 1e-8}), tmp_path / "a")
    ((between, closed, places),) = curves(finished)
    assert (between, closed) == ("stick | slip-slip", True)
    assert np.abs(np.hypot(*places.T) - 0.7).max() < 1e-8
    steps = np.hypot(*(np.roll(places, -1, axis=0) - places).T)
    assert steps.max() < math.sqrt(2.0) * 2.0 / (4 << 5)  # neighbours lie on the sides of one cell
    assert finished.boundaries()["width"].to_numpy().max() <= 1e-8
    assert sum(finished.statuses.values()) < 0.6 * 129**2


def test_cells_are_divided_where_the_curve_leaves_through_a_side_whose_ends_agree(fields: dict[str, Field], tmp_path: Path) -> None:
    # a tongue that crosses a side of a coarse cell twice, between its ends
    fields["regime"] = lambda x, y: np.where(np.abs(y - 0.25) < 0.15 * (0.9 - x), 1, 0)
    finished = run(study({"halvings": 6}, y={"count": 5}), tmp_path / "a")
    ((between, closed, places),) = curves(finished)
    assert (between, closed) == ("stick | stick-slip", False)
    assert np.abs(np.abs(places[:, 1] - 0.25) - 0.15 * (0.9 - places[:, 0])).max() < 1e-5
    assert places[:, 0].max() > 0.9 - 0.2
    assert places[[0, -1], 0].tolist() == [-1.0, -1.0]


def test_three_regimes_meet_in_curves_that_end_there(fields: dict[str, Field], tmp_path: Path) -> None:
    angle = lambda x, y: np.arctan2(y - 0.07, x + 0.03)  # noqa: E731
    fields["regime"] = lambda x, y: np.digitize(angle(x, y), [-1.8, 0.4]) % 3
    finished = run(study({"halvings": 6}), tmp_path / "a")
    found = {between: places for between, _, places in curves(finished)}
    assert sorted(found) == ["stick | slip-slip", "stick | stick-slip", "stick-slip | slip-slip"]
    for places in found.values():
        distance = np.hypot(places[:, 0] + 0.03, places[:, 1] - 0.07)
        assert distance.min() < 2.0 * math.sqrt(2.0) * 2.0 / (4 << 6)
    np.testing.assert_allclose(angle(*found["stick | stick-slip"].T), -1.8, atol=1e-4)


def test_where_boundaries_cross_the_middle_of_the_cell_decides_how_they_are_joined(fields: dict[str, Field], tmp_path: Path) -> None:
    # a saddle in the middle of a cell: x y = +-1e-4 about 1/6
    for sign in (1.0, -1.0):
        fields["regime"] = lambda x, y, sign=sign: np.where((x - 1 / 6) * (y - 1 / 6) > sign * 1e-4, 1, 0)
        finished = run(study({"halvings": 1}, x={"count": 4}, y={"count": 4}), tmp_path / f"{sign}")
        found = curves(finished)
        assert len(found) == 2
        for _, closed, places in found:
            assert not closed
            side = np.sign(places - 1 / 6)
            assert len({tuple(each) for each in side.tolist()}) == 1  # no curve goes through the saddle


def test_an_island_smaller_than_a_cell_is_found_where_a_seed_lies_on_it(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x - 0.27, y - 0.23) < 0.09, 1, 0)
    assert curves(run(study({"halvings": 6}), tmp_path / "a")) == []
    finished = run(study({"halvings": 6, "seeds": [[0.3, 0.2]]}), tmp_path / "b")
    ((_, closed, places),) = curves(finished)
    assert closed
    assert np.abs(np.hypot(*(places - [0.27, 0.23]).T) - 0.09).max() < 1e-6
    assert len(places) > 20


def test_rows_that_fail_bound_no_regime_and_are_counted(fields: dict[str, Field], tmp_path: Path, capsys: Captured) -> None:
    fields["regime"] = lambda x, _: np.where(x > 0.15, 1, 0)
    fields["failed"] = lambda x, y: np.hypot(x, y) < 0.4
    finished = run(study({"halvings": 4}), tmp_path / "a")
    found = curves(finished)
    assert [between for between, _, _ in found] == ["stick | stick-slip"] * 2
    for _, _, places in found:
        np.testing.assert_allclose(places[:, 0], 0.15, rtol=1e-5)
        assert np.hypot(*places.T).min() >= 0.4
    assert main(["show", str(tmp_path / "a")]) == 0
    sides = int(finished.boundaries().schema.metadata[b"failed_sides"])
    assert f"{sides} sides of cells lead to such a row" in capsys.readouterr().err
    assert finished.failed > 0 < sides


def test_whole_numbers_have_boundaries_and_levels(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["slip_phases"] = lambda x, _: np.floor(4.0 * (x + 1.01))
    found = curves(run(study({"observable": "slip_phases", "halvings": 3}), tmp_path / "a"))
    assert [between for between, _, _ in found] == [f"slip_phases {n} | {n + 1}" for n in range(8)]
    np.testing.assert_allclose([places[0, 0] for _, _, places in found], np.arange(1, 9) / 4.0 - 1.01, atol=1e-6)
    ((between, _, places),) = curves(run(study({"observable": "slip_phases", "level": 4, "halvings": 3}), tmp_path / "b"))
    assert between == "slip_phases = 4"
    np.testing.assert_allclose(places[:, 0], 0.24, atol=1e-6)  # above 4 from 5 on


def test_a_level_of_a_smooth_observable_takes_a_few_looks_where_bisection_takes_many(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["wear_power"] = lambda x, y: np.exp(x) + y**2
    fields["regime"] = lambda x, y: np.where(np.exp(x) + y**2 > 1.3, 1, 0)
    asked = {"halvings": 4, "width": 1e-10}
    smooth = run(study({**asked, "observable": "wear_power", "level": 1.3}), tmp_path / "a")
    words = run(study(asked), tmp_path / "b")
    for finished in (smooth, words):
        for _, _, places in curves(finished):
            np.testing.assert_allclose(np.exp(places[:, 0]) + places[:, 1] ** 2, 1.3, rtol=1e-9)
    assert [between for between, _, _ in curves(smooth)] == ["wear_power = 1.3 W"]
    assert smooth.boundaries().num_rows == words.boundaries().num_rows
    levels = [finished.to_pandas()["level"].max() for finished in (smooth, words)]
    assert levels[0] < levels[1] - 10
    assert sum(smooth.statuses.values()) < 0.6 * sum(words.statuses.values())


@pytest.mark.parametrize("ends", [(0.6, 5e298), (5e298, 0.6), (-1e-300, -1e300), (5e-324, 1.7e308), (1.6e308, 1.7e308)])
@pytest.mark.parametrize("height", [math.nan, 1.0])
def test_a_bracket_between_ends_of_any_size_takes_few_steps(ends: tuple[float, float], height: float) -> None:
    low, high = (np.array([end]) for end in ends)
    sought = math.copysign(1.65e308 if abs(ends[0]) > 1e308 else 2.0 * min(map(abs, ends)), ends[0])
    goal = 0.01 * np.minimum(np.abs(low), np.abs(high))
    whole, zero = np.array([0]), np.zeros(1)
    first = abs(sought) > abs(ends[0])
    found = Brackets(
        whole, zero, low, high, whole + int(not first), whole + int(first), zero - height, zero + height, low, high - low, zero, goal
    )
    for _ in range(120):
        if not found.wide().any():
            break
        trials = found.trials()
        assert ((trials - found.low) * np.sign(found.high - found.low) > 0.0).all()
        beyond = np.abs(trials) > abs(sought)
        found = found.narrowed(trials, beyond.astype(int), np.where(beyond == first, height, -height))
    assert not found.wide().any()
    assert min(found.low[0], found.high[0]) <= sought <= max(found.low[0], found.high[0])


def test_a_bracket_never_takes_more_than_a_step_beyond_bisection() -> None:
    power = np.array([1.0, 3.0, 9.0, 0.2, 1.0])
    shift = np.array([0.3, 0.9, 0.5, 0.01, 1e-7])
    height = lambda x: np.sign(x - shift) * np.abs(x - shift) ** power  # noqa: E731
    n, zero, one = np.arange(5), np.zeros(5), np.ones(5)
    found = Brackets(n, zero, zero, one, n * 0, n * 0 + 1, height(zero), height(one), zero, one, zero, np.full(5, 1e-9))
    steps = 0
    while found.wide().any():
        places = found.trials()
        assert ((places > found.low) & (places < found.high))[found.wide()].all()
        found = found.narrowed(places, (height(places) > 0.0).astype(np.int64), height(places))
        steps += 1
    assert steps <= math.ceil(math.log2(1e9)) + 1
    assert (np.abs(0.5 * (found.low + found.high) - shift) <= 1e-9).all()


def test_a_third_class_between_two_makes_two_brackets_of_one(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, _: np.digitize(x, [0.11, 0.19])
    finished = run(study({"halvings": 0, "width": 1e-6}), tmp_path / "a")
    found = {between: places for between, _, places in curves(finished)}
    assert sorted(found) == ["stick | stick-slip", "stick-slip | slip-slip"]
    np.testing.assert_allclose(found["stick | stick-slip"][:, 0], 0.11, atol=1e-6)
    np.testing.assert_allclose(found["stick-slip | slip-slip"][:, 0], 0.19, atol=1e-6)


def test_what_did_not_happen_is_a_class_of_its_own(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["rebound_velocity"] = lambda x, y: np.where(x > 0.3, np.nan, y)
    config = {**study({"observable": "rebound_velocity", "level": 0.1}), "study": {"model": "stop"}}
    found = {between: places for between, _, places in curves(run(config, tmp_path / "a"))}
    assert sorted(found) == ["none | rebound_velocity", "rebound_velocity = 0.1 m/s"]
    np.testing.assert_allclose(found["none | rebound_velocity"][:, 0], 0.3, rtol=1e-5)
    np.testing.assert_allclose(found["rebound_velocity = 0.1 m/s"][:, 1], 0.1, rtol=1e-5)


def test_logarithmic_and_descending_axes_have_their_boundaries_where_they_are(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(x * y < -3.0, 1, 0)
    asked = study({"halvings": 4}, x={"from": 0.1, "to": 100.0, "spacing": "log"}, y={"from": -0.1, "to": -30.0})
    ((_, closed, places),) = curves(run(asked, tmp_path / "a"))
    assert not closed
    np.testing.assert_allclose(places.prod(axis=1), -3.0, rtol=1e-6)


def is_same(one: Run, other: Run) -> bool:
    """Whether two runs have the same points and curves, to the last bit."""
    shards = [sorted((each.directory / "points").iterdir()) for each in (one, other)]
    alike = [a.name == b.name and pd.read_parquet(a).equals(pd.read_parquet(b)) for a, b in zip(*shards, strict=True)]
    return all(alike) and one.boundaries().equals(other.boundaries())


@pytest.mark.long_cases("7")
@pytest.mark.slow
@pytest.mark.parametrize("rows", [50, pytest.param(7, marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_anywhere_goes_on_to_the_same_rows_and_curves(
    rows: int, fields: dict[str, Field], fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x, y) < 0.7, 2, 0)
    config = {**study({"halvings": 3, "width": 1e-3}), "output": {"shard_points": 50}}
    whole = run(config, tmp_path / "whole")
    assert len(fake.calls) > 10
    fake.calls.clear()
    install_small_pieces(monkeypatch, rows)  # a shard is computed as one, or in pieces
    assert is_same(run(config, tmp_path / "pieces"), whole)
    calls = len(fake.calls)
    for stop in range(0, calls, 9):
        fake.calls.clear()
        fake.fail_at = stop
        out = tmp_path / f"{stop}"
        with pytest.raises(KeyboardInterrupt):
            run(config, out)
        assert not (out / "boundaries").exists()
        assert main(["show", str(out)]) == (0 if (out / "manifest.json").exists() else 2)
        fake.fail_at = -1
        assert is_same(run(config, out), whole)
    capsys.readouterr()


def test_what_is_there_is_not_computed_again(fields: dict[str, Field], fake: FakeKernels, tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x, y) < 0.7, 2, 0)
    whole = run({**study({"halvings": 3}), "output": {"shard_points": 50}}, tmp_path / "a")
    copy = whole.boundaries()
    fake.calls.clear()
    assert resume(tmp_path / "a").computed == 0
    (tmp_path / "a" / "boundaries" / "boundaries.parquet").unlink()
    assert resume(tmp_path / "a").boundaries().equals(copy)
    assert fake.calls == []
    second = tmp_path / "a" / "points" / "part-000002.parquet"
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)
    (tmp_path / "a" / "points" / "part-000099.parquet").write_bytes(second.read_bytes())
    again = resume(tmp_path / "a", tell=lambda _: None)
    assert again.boundaries().equals(copy)
    assert len(fake.calls) == 1
    assert not (tmp_path / "a" / "points" / "part-000099.parquet").exists()


def test_another_executor_computes_the_same(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x, y) < 0.7, 2, 0)
    config = {**study({"halvings": 3, "width": 1e-3}), "output": {"shard_points": 20}}
    with ThreadPoolExecutor(3) as pool:
        assert is_same(run(config, tmp_path / "a"), run(config, tmp_path / "b", executor=pool, workers=3))


def test_a_study_of_boundaries_has_no_parts_and_is_not_extended(fields: dict[str, Field], tmp_path: Path, capsys: Captured) -> None:
    fields["regime"] = lambda x, _: np.where(x > 0.0, 2, 0)
    path = tmp_path / "study.toml"
    path.write_text(load(study()).to_toml())
    assert main(["run", str(path), "--shard", "1/2"]) == 2
    assert "a study of boundaries goes level by level" in capsys.readouterr().err
    assert main(["run", str(path), "--out", "a"]) == 0
    assert main(["run", str(path), "--out", "a", "--extend", "--set", "sweep.axes.x0.count=9"]) == 2
    assert "holds another study" in capsys.readouterr().err


def test_the_table_says_what_it_holds(fields: dict[str, Field], tmp_path: Path) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x, y) < 0.7, 2, 0)
    finished = run(study(), tmp_path / "a")
    table = finished.boundaries()
    assert {field.name: str(field.type) for field in table.schema} == {
        "curve": "int64",
        "x0": "double",
        "v0": "double",
        "between": "dictionary<values=string, indices=int32, ordered=0>",
        "width": "double",
        "closed": "bool",
    }
    assert all(field.metadata[b"description"] for field in table.schema)
    assert [table.field(name).metadata[b"unit"] for name in ("x0", "v0", "width")] == [b"m", b"m/s", b"1"]
    assert table.schema.metadata[b"config_hash"].decode() == finished.config.digest
    assert read_boundaries(tmp_path / "a").equals(table)
    frame = finished.to_pandas()
    assert frame["point"].tolist() == list(range(len(frame)))
    assert (np.diff(frame["level"]) >= 0).all()
    assert len(frame[["x0", "v0"]].drop_duplicates()) == len(frame)
    grid = run({"sweep": {**study()["sweep"], "design": "grid"}}, tmp_path / "grid")
    with pytest.raises(FileNotFoundError):
        grid.boundaries()


def test_the_command_says_how_many_points_it_took(fields: dict[str, Field], tmp_path: Path, capsys: Captured) -> None:
    fields["regime"] = lambda x, y: np.where(np.hypot(x, y) < 0.7, 2, 0)
    path = tmp_path / "study.toml"
    path.write_text(load(study({"halvings": 4, "seeds": [[0.0, 0.5]]})).to_toml())
    assert main(["run", str(path), "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "seeds = [[0.0, 0.5]]" in said.out
    assert "25 points and 1 seed to begin with" in said.err
    assert "4,225 points" in said.err
    assert main(["run", str(path), "--out", "a"]) == 0
    said = capsys.readouterr()
    assert "stick | slip-slip" in said.out
    assert "1 curve, every place within a relative" in said.err
    assert "sweep.seeds" in said.err
    assert main(["run", str(path), "--out", "a", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["boundaries"]
    assert found["cells_grid_points"] == 4225
    assert [each["between"] for each in found["curves"]] == ["stick | slip-slip"]
    assert main(["show", "a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["boundaries"] == found


def test_a_study_travels_to_other_processes(fields: dict[str, Field]) -> None:
    config = load(study({"observable": "wear_power", "level": 1, "seeds": [[0, 0.5]]}))
    fields["wear_power"] = lambda x, y: x + y
    history = empty_history(config)
    sent, points = pickle.loads(pickle.dumps((config, history.next_points())))
    assert sent.design == config.design
    assert points.digest() == history.next_points().digest()
    one, other = (compute_piece_of(each, 0, points, 0) for each in (config, sent))
    assert one.facts["points_hash"] == other.facts["points_hash"]


def test_the_resolved_study_is_the_same_study(tmp_path: Path) -> None:
    config = load(study({"observable": "wear_power", "level": 1, "seeds": [[0, 0.5]]}))
    assert config.document["sweep"]["level"] == 1.0
    (tmp_path / "study.toml").write_text(config.to_toml())
    again = load(tmp_path / "study.toml")
    assert (again.document, again.digest) == (config.document, config.digest)
    changes = ("sweep.level=2", "sweep.width=1e-3", "sweep.halvings=2", "sweep.seeds=[[0.0, 0.25]]")
    assert len({config.digest, *(load(config.document, [change]).digest for change in changes)}) == 5


def test_boundaries_that_fill_the_plane_are_given_up(fields: dict[str, Field], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields["regime"] = lambda x, y: (np.abs(np.sin(1e5 * x + 3e4 * y)) * 2.99).astype(int)
    monkeypatch.setattr(boundary_tracing, "MOST_POINTS", 2000)
    path = tmp_path / "study.toml"
    path.write_text(load(study({"halvings": 8})).to_toml())
    assert main(["run", str(path), "--out", "a"]) == 2
    assert not Path("a/_SUCCESS").exists()


CONFIGS = Path(__file__).parents[4] / "configs"


@pytest.mark.slow
def test_the_regimes_of_a_rubbing_mass_are_where_theory_puts_them(tmp_path: Path) -> None:
    finished = run(CONFIGS / "regime_boundary.toml", tmp_path / "a")
    assert set(finished.statuses) == {"ok"}
    found = curves(finished)
    assert [between for between, _, _ in found] == ["stick-slip | slip-slip", "stick | stick-slip"]
    for (_, closed, places), eta in zip(found, (ETA_STAR, 1.0), strict=True):
        assert not closed
        np.testing.assert_allclose(places[:, 1] * 10.0 / places[:, 0], eta, rtol=1e-6)
        ends = places[[0, -1]]
        assert all(np.isin(end, [0.5, 20.0, 0.01, 1.01]).any() for end in ends)  # from side to side of the map
        assert np.hypot(*(np.diff(places, axis=0) / [19.5, 1.0]).T).max() < math.sqrt(2.0) / 1024  # without a gap
    assert sum(finished.statuses.values()) < 0.01 * finished.config.design.sharp_count  # type: ignore[union-attr]


@pytest.mark.slow
def test_the_line_of_a_given_wear_power_is_that_of_the_closed_forms(tmp_path: Path) -> None:
    config = {
        "time": {"window": "steady"},
        "sweep": {
            "design": "boundary",
            "observable": "wear_power",
            "level": 1.0,
            "halvings": 3,
            "width": 1e-10,
            "axes": {"a0": {"from": 1.0, "to": 10.0, "count": 5}, "mu": {"from": 0.02, "to": 0.3, "count": 5}},
        },
    }
    finished = run(config, tmp_path / "a")
    ((between, closed, places),) = curves(finished)
    assert (between, closed) == ("wear_power = 1 W", False)
    eta = places[:, 1] * 10.0 / places[:, 0]
    assert (eta < ETA_STAR).any() and (eta > ETA_STAR).any()
    power = [
        (slip_slip_wear_power if ratio < ETA_STAR else stick_slip_wear_power)(1.0, 10.0, mu, a0, 2.0 * math.pi)
        for (a0, mu), ratio in zip(places, eta, strict=True)
    ]
    np.testing.assert_allclose(power, 1.0, rtol=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_den_hartogs_boundary_is_found_through_resonance(tmp_path: Path) -> None:
    finished = run(CONFIGS / "den_hartog.toml", tmp_path / "a")
    assert set(finished.statuses) == {"ok"}
    ((between, _, places),) = curves(finished)
    assert between == "stick-slip | slip-slip"
    assert (places[:, 0].min(), places[:, 0].max()) == (0.6, 10.0)
    np.testing.assert_allclose(places[:, 1], [den_hartog_limit(beta) for beta in places[:, 0]], rtol=1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_walls_are_elastic_buckled_softened_or_beyond_their_table_as_their_energy_says(tmp_path: Path) -> None:
    finished = run(CONFIGS / "shock_map.toml", tmp_path / "a")
    assert finished.failed == 0
    found = {between: places for between, _, places in curves(finished)}
    assert list(found) == ["elastic | plateau", "plateau | softened", "softened | beyond table"]
    k_n, plateau, softening, f_post, last = 1.0, 1.0, 1.0, 0.5, 5.0 + 0.5 / 0.1

    def energy(between: str, f_crit: np.ndarray) -> np.ndarray:
        """What the wall takes up to there [J]."""
        elastic = 0.5 * f_crit**2 / k_n
        end = elastic + f_crit * plateau
        beyond = end + 0.5 * (f_crit + f_post) * softening + f_post * (last - (f_crit / k_n + plateau + softening))
        return {"elastic | plateau": elastic, "plateau | softened": end, "softened | beyond table": beyond}[between]

    for between, places in found.items():
        np.testing.assert_allclose(places[:, 0], np.sqrt(2.0 * energy(between, places[:, 1])), rtol=1e-6)

    # on the same programs: where a set remains the wall has yielded, and its largest force is that of impact or of buckling
    ((_, _, places),) = curves(run(CONFIGS / "shock_map.toml", tmp_path / "b", ["sweep.observable=plastic_set", "sweep.level=0.0"]))
    np.testing.assert_allclose(places[:, 0], places[:, 1] / math.sqrt(k_n), rtol=1e-6)
    ((between, _, places),) = curves(run(CONFIGS / "shock_map.toml", tmp_path / "c", ["sweep.observable=peak_force", "sweep.level=1.2"]))
    assert between == "peak_force = 1.2 N"
    np.testing.assert_allclose(np.minimum(places[:, 0] * math.sqrt(k_n), places[:, 1]), 1.2, rtol=1e-6)
