"""Branches by another code: every row closes, multipliers are those of differences, and no motion is there twice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.oracle import penalised_section
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.collect import branches
from tribosweep.kernels.branches.follow import Steps
from tribosweep.kernels.models import MODELS

pytestmark = [pytest.mark.slow, pytest.mark.long]  # each kind of contacts compiles for a minute

Row = dict[str, Any]
STEPS = Steps(first=0.02, largest=0.1)  # few rows
CLOSES = 1e-8  # of the speed of a branch, as the documents promise
OSCILLATOR: Row = {"m": 1.0, "k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "omega": 1.7, "gap": 0.5}
RUBBING: Row = {"m": 1.0, "k": 1.0, "c": 0.0, "g": 1.0, "a0": 1.0, "load": 0.0}


class Study(NamedTuple):
    """Oscillators of a model, what they share, the parameter along which branches are followed, and what these show at least.

    Attributes:
        compared: least number of rows whose multipliers are compared with differences.
        lies: least part of the rows of a branch that lie on the lines through every second one of them; where curves turn fast it is less.
    """

    model: str
    shared: Row
    rows: Sequence[Row]
    along: str
    bounds: tuple[float, float]
    special: set[str]
    compared: int = 4
    lies: float = 0.9


STUDIES = {
    "stops": Study("stop", OSCILLATOR, [
        {"k_n": 1e3, "c_n": 0.0, "gap": 0.1, "omega": 2.0}, {}, {"k_n": 1e4, "c_n": 2.0},
        {"k_n": 30.0, "c_n": 0.5, "gap": 0.1, "omega": 2.6},
    ], "a0", (0.05, 2.0), {"fold", "flip", "grazing"}),
    "two stops": Study("stop", {**OSCILLATOR, "sides": 2.0}, [
        {"a0": 1.0}, {"a0": 0.6, "k_n": 40.0},
    ], "gap", (0.1, 1.2), {"fold", "grazing"}),
    "friction": Study("rubbing_mass", {**RUBBING, "mu_s": 0.6}, [
        {"omega": 0.8}, {"omega": 1.5}, {"omega": 0.6, "c": 0.1, "load": 0.1},
    ], "mu_d", (0.1, 0.6), {"grazing"}),
    "rubbing stops": Study("stop", {**OSCILLATOR, "k_n": 30.0, "c_n": 0.5, "g": 1.0}, [
        {"a0": 0.4, "mu": 0.05}, {"a0": 0.6, "mu": 0.02},
    ], "omega", (0.8, 2.4), {"grazing"}, compared=6, lies=0.7),
    "penalised friction": Study("rubbing_mass", {**RUBBING, "omega": 0.8, "c": 0.05}, [
        {"k_t": 20.0, "c_t": 0.0}, {"k_t": 5.0, "c_t": 0.1},
    ], "mu", (0.1, 0.8), set(), compared=4, lies=0.7),
}  # fmt: skip


def followed(study: Study) -> list[Branch]:
    """The branches of a study."""
    names = {name for row in study.rows for name in row}
    columns = {name: np.array([(study.shared | row)[name] for row in study.rows]) for name in names}
    rest = {name: value for name, value in (study.shared | columns).items() if name != study.along}
    count = len(study.rows)
    return branches(MODELS[study.model], rest, study.along, study.bounds, places=2, steps=STEPS, periods=4, most=8, rows=count)


def given_rows(study: Study, branch: Branch, rows: np.ndarray, periods: int, moved: np.ndarray | float = 0.0) -> list[Row]:
    """Rows of a branch as the event code takes them, for some periods, from starts `moved` by so much."""
    given = []
    for i in rows:
        row = study.shared | study.rows[branch.row] | {study.along: float(branch.value[i])}
        v, x = branch.y[i, :2] + moved
        own = {"x0": x / row["omega"], "v0": v, "end": periods * 2.0 * math.pi / row["omega"]}
        if branch.y.shape[1] > 2 and branch.y[i, 2]:  # the contact sticks: its force is k_t times this stretch, the damper's included
            own["stretch"] = branch.y[i, 2] / row["omega"] - row["c_t"] * v / row["k_t"]
        given.append(row | own)
    return given


def by_event_code(study: Study, branch: Branch, rows: np.ndarray, periods: int, moved: np.ndarray | float = 0.0) -> np.ndarray:
    """Velocity and displacement times omega (N, 2) [m/s] of rows of a branch some periods later, from starts `moved` by so much."""
    from tests.oracle import event_code

    given = given_rows(study, branch, rows, periods, moved)
    found = event_code.solve(given)
    assert not found["status"].any()
    return np.stack([found["v_end"], found["x_end"] * [row["omega"] for row in given]], axis=1)


def contacts(study: Study, branch: Branch) -> np.ndarray:
    """What the dampers of a stop without friction make of an area of starts after the periods of a motion, Liouville's theorem (N,)."""
    from tests.oracle import event_code

    given = given_rows(study, branch, np.arange(len(branch.value)), branch.periods)
    found = event_code.solve(given)
    exponents = [(row["c"] * row["end"] + row["c_n"] * time) / row["m"] for row, time in zip(given, found["contact_time"], strict=True)]
    return np.exp(-np.array(exponents))


def orbit(study: Study, branch: Branch) -> np.ndarray:
    """The section points of a branch at each of its periods, and after the last one, over its speed (periods + 1, N, 2)."""
    rows = np.arange(len(branch.value))
    later = [by_event_code(study, branch, rows, periods) for periods in range(1, branch.periods + 1)]
    return np.stack([branch.y[:, :2], *later]) / branch.points.speed[:, None]


def between(study: Study, branch: Branch, other: np.ndarray, other_branch: Branch) -> np.ndarray:
    """Which rows of a branch lie between two rows of another one, at any of its periods (N,)."""
    width = study.bounds[1] - study.bounds[0]
    scale = branch.points.speed.max()
    here = np.column_stack([branch.y[:, :2] / scale, branch.value / width])
    near = np.zeros(len(here), dtype=bool)
    for points in other[:-1]:
        line = np.column_stack([points * other_branch.points.speed[:, None] / scale, other_branch.value / width])
        a, chord = line[:-1], np.diff(line, axis=0)
        length = np.linalg.norm(chord, axis=1)
        part = np.clip(np.sum((here[:, None] - a) * chord, axis=2) / np.maximum(length**2, 1e-300), 0.0, 1.0)
        off = np.linalg.norm(here[:, None] - a - part[:, :, None] * chord, axis=2)
        near |= (off < 0.02 * length + 1e-7).any(axis=1)
    return near


def middles(branch: Branch) -> np.ndarray:
    """Up to three rows of a branch, each in the middle between special points."""
    marks = [-1, *(i for i, kind in enumerate(branch.kinds) if kind), len(branch.kinds)]
    spans = sorted(itertools.pairwise(marks), key=lambda each: each[0] - each[1])[:3]
    return np.array([(low + high) // 2 for low, high in spans if high - low > 6], dtype=int)


@pytest.fixture(scope="module", params=STUDIES)
def case(request: pytest.FixtureRequest) -> tuple[Study, list[Branch], list[np.ndarray]]:
    """A study, its branches, and their orbits by the event code."""
    pytest.importorskip("numba")
    study = STUDIES[request.param]
    found = followed(study)
    return study, found, [orbit(study, branch) for branch in found]


def test_every_row_closes(case: tuple[Study, list[Branch], list[np.ndarray]]) -> None:
    study, found, orbits = case
    assert {branch.row for branch in found} == set(range(len(study.rows)))
    assert study.special <= {kind for branch in found for kind in branch.kinds}
    for branch, points in zip(found, orbits, strict=True):
        off = np.abs(points[-1] - points[0]).max(axis=1)
        print(study.along, branch.row, branch.periods, len(off), branch.ends, [kind for kind in branch.kinds if kind], f"{off.max():.1e}")
        assert off.max() < CLOSES, (branch.row, branch.periods, np.flatnonzero(off >= CLOSES))


def test_no_motion_is_on_two_branches_and_none_is_one_of_fewer_periods(case: tuple[Study, list[Branch], list[np.ndarray]]) -> None:
    study, found, orbits = case
    for branch, points in zip(found, orbits, strict=True):
        for periods in (each for each in range(1, branch.periods) if branch.periods % each == 0):
            assert (np.abs(points[periods] - points[0]).max(axis=1) < 1e-4).mean() < 0.1, (branch.row, branch.periods)
    for (i, branch), (j, other) in itertools.permutations(enumerate(found), 2):
        if (branch.row, branch.periods) == (other.row, other.periods):
            assert between(study, branch, orbits[j], other).mean() < 0.1, (branch.row, branch.periods, i, j)
    thinned = found[0]  # what such a comparison would find
    half = np.arange(0, len(thinned.value), 2)
    part = replace(thinned, value=thinned.value[half], points=thinned.points.take(half), y=thinned.y[half])
    assert between(study, thinned, orbits[0][:, half], part).mean() > study.lies


def test_special_points_count_once(case: tuple[Study, list[Branch], list[np.ndarray]]) -> None:
    """The branch of period 4 between two flips of that of period 2 is there once, too, and so are its special points."""
    study, found, orbits = case
    special = [
        (branch.row, kind, branch.value[i], points[:-1, i] * branch.points.speed[i])
        for branch, points in zip(found, orbits, strict=True)
        for i, kind in enumerate(branch.kinds)
        if kind in ("fold", "flip", "branch point")
    ]
    for (row, kind, value, points), (of, other, there, others) in itertools.combinations(special, 2):
        if (row, kind) == (of, other) and abs(value - there) < 1e-9:
            assert np.abs(points[0] - others).max(axis=1).min() > 1e-5, (row, kind, value)
    if study is STUDIES["stops"]:
        first, doubled, *fours = [branch for branch in found if branch.row == 3]
        assert (first.periods, doubled.periods, [branch.periods for branch in fours]) == (1, 2, [4, 4])
        assert [branch.ends for branch in fours] == [("start", "merges"), ("start", "bound")]
        flips = doubled.value[[kind == "flip" for kind in doubled.kinds]]
        np.testing.assert_allclose(sorted([*fours[0].value[[0, -1]], fours[1].value[0]]), sorted(flips), atol=1e-4)


def test_multipliers_are_those_of_differences(case: tuple[Study, list[Branch], list[np.ndarray]]) -> None:
    study, found, _ = case
    count = 0
    for branch in found:
        if study.model == "stop" and "g" not in study.shared:
            plain = np.array([not kind for kind in branch.kinds])  # beside a grazing the time of contact is a root
            areas = np.prod(branch.multipliers, axis=1)[plain]
            np.testing.assert_allclose(areas, contacts(study, branch)[plain], atol=1e-7)
        rows = middles(branch)
        rows = rows[np.abs(branch.y[rows, 0]) > 1e-6 * branch.points.speed[rows]]  # at rest there are two of them, one to each side
        if branch.y.shape[1] > 2:  # a section with the stretch of a spring, which the event code does not return
            for row, given in zip(rows, given_rows(study, branch, rows, branch.periods), strict=True):
                own = {"mu_s": given["mu"], "mu_d": given["mu"], **given}
                values = penalised_section.motion(own, given["x0"], given["v0"], branch.periods).multipliers
                ours = branch.multipliers[row]
                np.testing.assert_allclose(np.sort_complex(ours), np.sort_complex(values), atol=1e-8, err_msg=f"{branch.row} {row}")
                count += 1
            continue
        if not rows.size:
            continue
        h = 2e-7 * branch.points.speed.max()  # near a grazing larger steps come to other motions
        central = []
        for size in (h, 2.0 * h):
            ways = [[by_event_code(study, branch, rows, branch.periods, way * axis * size) for way in (1.0, -1.0)] for axis in np.eye(2)]
            central.append(np.stack([(ahead - back) / (2.0 * size) for ahead, back in ways], axis=2))
        jacobians = (4.0 * central[0] - central[1]) / 3.0
        for jacobian, row in zip(jacobians, rows, strict=True):
            values = np.linalg.eigvals(jacobian).astype(complex)
            ours = branch.multipliers[row]
            scale = 1.0 + np.abs(branch.points.jacobian[row]).max()
            np.testing.assert_allclose(np.sort_complex(ours), np.sort_complex(values), atol=1e-5 * scale, err_msg=f"{branch.row} {row}")
            count += 1
    print(study.model, study.along, f"{count} compared")
    assert count >= study.compared
