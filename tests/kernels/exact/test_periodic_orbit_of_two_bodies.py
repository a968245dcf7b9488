"""The steady window of two bodies that meet: against the integration of both bodies, and closed forms of their centre of mass."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.branches.collect import branches
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.status import Status

pytestmark = pytest.mark.slow  # its program takes half a minute to compile

COUNT = 24
BODIES = ("x_end", "v_end", "x_end_2", "v_end_2")


def pairs_at_random() -> dict[str, np.ndarray]:
    """Bodies on springs, some of them between two stops, that a force and the base shake; the last six have neither spring nor damper."""
    rng = np.random.default_rng(3)
    rows = {
        "m": rng.uniform(0.5, 2.0, COUNT), "m_2": rng.uniform(0.3, 5.0, COUNT), "k": rng.choice([1.0, 3.0, 0.5], COUNT),
        "c": rng.uniform(0.1, 0.3, COUNT), "a0": rng.uniform(-1.0, 1.0, COUNT),
        "f0": rng.uniform(0.5, 2.0, COUNT) * rng.choice([-1.0, 1.0], COUNT), "omega": rng.uniform(0.8, 3.0, COUNT),
        "phase": rng.uniform(-3.0, 3.0, COUNT), "load": rng.uniform(-0.3, 0.3, COUNT), "k_n": rng.uniform(20.0, 300.0, COUNT),
        "c_n": rng.uniform(0.0, 2.0, COUNT), "gap": rng.uniform(0.0, 0.5, COUNT), "sides": rng.integers(1, 3, COUNT).astype(float),
        "x0": rng.uniform(-0.1, 0.1, COUNT), "v0": rng.uniform(-1.0, 1.0, COUNT), "x0_2": rng.uniform(-0.1, 0.1, COUNT),
        "v0_2": rng.uniform(-1.0, 1.0, COUNT),
    }  # fmt: skip
    free = np.arange(COUNT) >= COUNT - 6
    changed = {"k": 0.0, "c": np.where(np.arange(COUNT) % 2, 0.3, 0.0), "sides": 2.0, "c_n": rng.uniform(3.0, 9.0, COUNT)}
    changed["load"] = np.where(changed["c"] > 0.0, rows["load"], 0.0)
    return {name: np.where(free, changed.get(name, value), value) for name, value in rows.items()}


@pytest.fixture(scope="module")
def pairs() -> dict[str, np.ndarray]:
    return pairs_at_random()


@pytest.fixture(scope="module")
def found(pairs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Observables and status of the rows, with multipliers."""
    solution = batch.solve(STOP, "exact", pairs, count=COUNT, window="steady", asked=Asked(multipliers=True))
    return {**solution.observables, "status": solution.status}


def end_of(row: Mapping[str, float], start: np.ndarray, periods: float) -> tuple[np.ndarray, float]:
    """Displacement and velocity of both bodies after some periods, and the largest force of the stop, from contact to contact."""

    def touches(y: np.ndarray, side: float) -> float:
        return float(side * (y[0] - y[2]) - row["gap"])

    def push(y: np.ndarray, side: float) -> float:
        return float(row["k_n"] * touches(y, side) + row["c_n"] * side * (y[1] - y[3]))

    def rates(t: float, y: np.ndarray, side: float) -> list[float]:
        wave, force = math.sin(row["omega"] * t + row["phase"]), side * push(y, side) if side else 0.0
        ratio = row["m_2"] / row["m"]
        first = row["f0"] * wave + row["load"] - row["k"] * y[0] - row["c"] * y[1] - force
        second = -ratio * (row["k"] * y[2] + row["c"] * y[3]) + force
        base = row["a0"] * wave
        return [y[1], first / row["m"] - base, y[3], second / row["m_2"] - base]

    sides = (1.0, -1.0)[: int(row["sides"])]
    enters = [lambda _t, y, _side, of=of: touches(y, of) for of in sides]
    parts = [lambda _t, y, side: push(y, side)]
    for event, direction in [*((each, 1.0) for each in enters), (parts[0], -1.0)]:
        event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
    t, end, y, side, peak = 0.0, periods * 2.0 * math.pi / row["omega"], np.asarray(start, float), 0.0, 0.0
    side = next((of for of in sides if touches(y, of) > 0.0 and push(y, of) > 0.0), 0.0)
    while t < end:
        path = solve_ivp(rates, (t, end), y, args=(side,), events=parts if side else enters, method="DOP853", rtol=1e-13, atol=1e-15,
                         dense_output=bool(side))  # fmt: skip
        if side:
            peak = max([peak, *(push(path.sol(s), side) for s in np.linspace(t, path.t[-1], 2001))])
        t, y = path.t[-1], path.y[:, -1]
        if path.status == 1:
            side = 0.0 if side else next(of for of, times in zip(sides, path.t_events, strict=True) if times.size)
    return y, peak


def rows_of(columns: Mapping[str, np.ndarray], which: np.ndarray) -> list[dict[str, float]]:
    """Some rows of columns."""
    return [{name: float(value[i]) for name, value in columns.items()} for i in which]


def touching(pairs: dict[str, np.ndarray], found: dict[str, np.ndarray], held: bool, count: int) -> np.ndarray:
    """The first rows with impacts, on springs (`held`) or without."""
    return np.flatnonzero((found["status"] == Status.OK) & (found["impacts"] > 0) & ((pairs["k"] > 0.0) == held))[:count]


@pytest.mark.long
def test_bodies_on_springs_are_after_their_period_where_they_were(pairs: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    which = touching(pairs, found, held=True, count=8)
    assert len(which) == 8
    assert {1, 2} <= set(found["period"][which].tolist())
    for i, row in zip(which, rows_of(pairs, which), strict=True):
        start = np.array([found[name][i] for name in BODIES])
        end, peak = end_of(row, start, found["period"][i])
        np.testing.assert_allclose(end, start, atol=1e-10, err_msg=str(i))
        assert peak == pytest.approx(found["peak_force"][i], rel=1e-6), i
        assert start[0] - start[2] == pytest.approx(found["poincare_x"][i, 0], abs=1e-12)
        assert start[1] - start[3] == pytest.approx(found["poincare_v"][i, 0], abs=1e-12)


def test_bodies_that_nothing_holds_drift_together(pairs: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """By convention the window begins with the centre where it was, without damper as fast as it was."""
    which = touching(pairs, found, held=False, count=6)
    assert {True, False} == {bool(c > 0.0) for c in pairs["c"][which]}
    for i, row in zip(which, rows_of(pairs, which), strict=True):
        m, m_2, q = row["m"], row["m_2"], found["period"][i]
        mass = m + m_2
        x, v = (m * row["x0"] + m_2 * row["x0_2"]) / mass, (m * row["v0"] + m_2 * row["v0_2"]) / mass
        rate = row["c"] / m
        if rate > 0.0:  # a velocity of its own for every force: V' + rate V = f / mass
            wave = (row["f0"] - mass * row["a0"]) / mass / (rate + 1j * row["omega"]) * np.exp(1j * row["phase"])
            v = wave.imag + row["load"] / mass / rate
        far, fast = found["poincare_x"][i, 0], found["poincare_v"][i, 0]
        start = [x + m_2 / mass * far, v + m_2 / mass * fast, x - m / mass * far, v - m / mass * fast]
        end, _ = end_of(row, np.array(start), q)
        np.testing.assert_allclose([found[name][i] for name in BODIES], end, atol=1e-10, err_msg=str(i))
        assert end[0] - end[2] == pytest.approx(far, abs=1e-10)


def test_multipliers_are_those_of_differences_of_the_relative_motion(pairs: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """Body 1 is moved, body 2 is not: the centre of mass moves along, and does not matter."""
    which, h = touching(pairs, found, held=True, count=4), 1e-5
    for i, row in zip(which, rows_of(pairs, which), strict=True):
        start, columns = np.array([found[name][i] for name in BODIES]), []
        for place in (0, 1):
            step = h * np.eye(4)[place]
            there = [end_of(row, start + sign * step, found["period"][i])[0] for sign in (1.0, -1.0)]
            columns.append((there[0][:2] - there[0][2:] - there[1][:2] + there[1][2:]) / (2.0 * h))
        sizes = sorted(np.abs(np.linalg.eigvals(np.array(columns).T)), reverse=True)
        assert [found["multiplier_1"][i], found["multiplier_2"][i]] == pytest.approx(sizes, abs=1e-6), i


# Body 1 and its relative motion: m (x - x_2)'' = f0 sin + load - k (x - x_2) - c (x - x_2)' - (1 + m / m_2) F, whatever shakes the base
PAIR = {"m": 1.0, "m_2": 4.0, "k": 1.0, "c": 0.1, "k_n": 80.0, "c_n": 0.16, "gap": 0.5, "mu": 0.0}
ALONE = {name: value for name, value in PAIR.items() if name != "m_2"} | {"k_n": 100.0, "c_n": 0.2}


def test_traces_of_two_bodies_are_those_of_one_with_their_relative_motion() -> None:
    drives = {"f0": 1.1, "omega": 1.7, "phase": 0.3, "load": 0.1, "end": 40.0}
    pair = kernels.trace("stop", PAIR | drives | {"a0": 3.0, "x0": 0.3, "x0_2": 0.2, "v0": 0.7, "v0_2": 0.4}, samples=400)
    alone = kernels.trace("stop", ALONE | drives | {"a0": 0.0, "x0": 0.1, "v0": 0.3}, samples=400)
    assert np.count_nonzero(np.diff(alone.wall_force > 0.0)) > 10
    np.testing.assert_allclose(pair.x, alone.x, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(pair.v, alone.v, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(1.25 * pair.wall_force, alone.wall_force, rtol=0.0, atol=1e-9)


@pytest.mark.long
def test_branches_of_two_bodies_are_those_of_one_with_their_relative_motion() -> None:
    drives = {"omega": 1.7, "x0": 0.0, "v0": 0.0}
    pair, alone = (
        branches(STOP, row | drives | {"a0": base}, "f0", (0.4, 2.0), places=2, periods=1) for row, base in ((PAIR, 2.0), (ALONE, 0.0))
    )
    assert len(pair) == len(alone) > 0
    special = set()
    for one, other in zip(pair, alone, strict=True):
        assert one.ends == other.ends
        assert one.kinds == other.kinds
        special |= set(one.kinds)
        at, to = (np.array([bool(kind) for kind in each.kinds]) for each in (one, other))
        np.testing.assert_allclose(one.value[at], other.value[to], rtol=1e-8)
        np.testing.assert_allclose(one.y[at], other.y[to], atol=1e-7)
    assert {"fold", "grazing"} <= special
