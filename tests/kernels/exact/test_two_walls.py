"""A mass between two different walls by scheme exact: against 50 digits, against the models with one wall, and its derivatives."""

from __future__ import annotations

import math
import zlib
from typing import Any

import jax
import numpy as np
import pytest

from tests.kernels.compiling import hastily
from tests.oracle import two_walls
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve as solve_all
from tribosweep.kernels.models import BUCKLING_WALL, STOP, TWO_WALLS, Model
from tribosweep.kernels.models.status import Status

Row = dict[str, Any]

# scales of what is compared: a difference counts relative to the value or to this
SCALES = {"peak_force": 1.0, "left_peak_force": 1.0, "impulse": 1.0, "x_end": 0.1, "v_end": 1.0}
NOT_COMPARED = ("margin",)
TABLES = ("post_set", "post_stiffness", "post_damping")
SHAKEN: Row = {"m": 1.2, "k": 20.0, "c": 0.3, "a0": 9.0, "omega": 6.0, "phase": 0.4, "gap": 0.1, "left_gap": 0.06, "end": 3.0}
ELASTIC: Row = {"k_n": 900.0, "c_n": 2.0, "left_k_n": 400.0, "left_c_n": 1.0}
BUCKLES: Row = {"f_crit": 20.0, "f_post": 12.0, "plateau": 0.01, "softening": 0.02, "k_post": 700.0}


def solve(model: Model, rows: list[Row], scheme: str = "exact") -> Any:
    """Rows in one batch; tables padded to one width, what a row lacks absent."""
    names = {name for row in rows for name in row}
    columns, absent = {}, {}
    for name in names:
        if model.parameter(name).kind == "list":
            tables = [list(row.get(name, [])) for row in rows]
            width = max(len(table) for table in tables)
            columns[name] = np.array([table + [math.nan] * (width - len(table)) for table in tables])
        else:
            columns[name] = np.array([row.get(name, 1.0) for row in rows], float)
        absent[name] = np.array([name not in row for row in rows])
    return solve_all(model, scheme, columns, absent, count=len(rows))


def wall(rng: np.random.Generator, law: str) -> Row:
    """Parameters of a random wall."""
    row: Row = {"k_n": rng.uniform(200.0, 1500.0), "c_n": rng.choice([0.0, rng.uniform(0.5, 6.0)]), "gap": rng.uniform(0.02, 0.2)}
    if law == "stop":
        return row
    force = rng.uniform(6.0, 20.0)
    row |= {"f_crit": force, "f_post": force * rng.uniform(0.4, 0.8)}
    row |= {"plateau": rng.choice([0.0, rng.uniform(0.005, 0.03)]), "softening": rng.choice([0.0, rng.uniform(0.005, 0.03)])}
    u1 = force / row["k_n"] + row["plateau"] + row["softening"]
    if law == "buckling":
        return row | {"k_post": rng.uniform(1.2, 2.5) * row["f_post"] / (u1 - row["plateau"])}
    sets = row["plateau"] + np.cumsum(rng.uniform(0.01, 0.05, 3))
    total = u1 + np.cumsum(rng.uniform(0.02, 0.06, 3))
    sets = np.minimum(sets, total - 0.3 * (u1 - row["plateau"]))
    return row | {"post_set": sets.tolist(), "post_stiffness": (row["f_post"] / (total - sets)).tolist()}


def random_row(rng: np.random.Generator, right: str, left: str, friction: str) -> Row:
    """A random mass between a random wall at the right and one at the left."""
    row: Row = {
        "m": rng.uniform(0.5, 2.0), "k": rng.choice([0.0, rng.uniform(5.0, 60.0)]), "c": rng.uniform(0.0, 1.0),
        "a0": rng.uniform(3.0, 10.0), "omega": rng.uniform(3.0, 9.0), "phase": rng.uniform(0.0, 6.0), "v0": rng.uniform(-2.0, 2.0),
        "end": 2.5,
    }  # fmt: skip
    row |= wall(rng, right) | {f"left_{name}": value for name, value in wall(rng, left).items()}
    if friction != "bare":
        row |= {"mu": rng.uniform(0.05, 0.2)}
    if friction == "penalised":
        row |= {"k_t": rng.uniform(500.0, 3000.0), "c_t": rng.uniform(5.0, 30.0)}
    return row


CASES = [
    (3, "stop", "stop", "rigid"),  # 50 digits take a second a row
    pytest.param(8, "stop", "stop", "rigid", marks=pytest.mark.slow),
    pytest.param(8, "table", "stop", "penalised", marks=pytest.mark.slow),
    pytest.param(8, "stop", "buckling", "bare", marks=[pytest.mark.slow, pytest.mark.long]),
    pytest.param(8, "table", "buckling", "rigid", marks=pytest.mark.slow),
]


def difference(found: Row, expected: Row, name: str) -> float:
    """Relative difference of an observable; infinite where one of the two has none."""
    a, b = float(found[name]), expected[name]
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return abs(a - b) / max(abs(b), SCALES.get(name, 0.05))


@pytest.mark.long_cases("8-stop-stop-rigid", "8-table-*")
@pytest.mark.oracle("two_walls")
@pytest.mark.parametrize(("count", "right", "left", "friction"), CASES, ids=str)
def test_two_walls_are_those_of_50_digits(count: int, right: str, left: str, friction: str) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{right} {left} {friction}".encode()))
    rows = [random_row(rng, right, left, friction) for _ in range(count)]
    solution = solve(TWO_WALLS, rows)
    worst: dict[str, float] = {}
    hits = 0
    for i, row in enumerate(rows):
        assert solution.status[i] in (Status.OK, Status.BEYOND_TABLE)
        found = {name: values[i] for name, values in solution.observables.items()}
        expected = two_walls.measure({name: value for name, value in row.items() if name != "end"}, row["end"])
        assert expected["margin"] > 1e-10, "a row that nearly turns out the other way decides nothing"
        hits += int(expected["impacts"])
        if friction == "bare":
            expected["slip_distance"] = 0.0
        for name in expected:
            if name not in NOT_COMPARED:
                worst[name] = max(worst.get(name, 0.0), difference(found, expected, name))
    print(right, left, friction, hits, max(worst.values()), max(worst, key=lambda name: worst[name]))
    assert hits > 2.5 * count
    assert {name: error for name, error in worst.items() if not error < 1e-9} == {}


@pytest.mark.long
@pytest.mark.slow
def test_two_equal_elastic_walls_are_a_stop_with_two_sides() -> None:
    rng = np.random.default_rng(5)
    rows = [random_row(rng, "stop", "stop", "rigid") for _ in range(40)]
    one = [{name: value for name, value in row.items() if not name.startswith("left_")} for row in rows]
    both = [row | {f"left_{name}": row[name] for name in ("k_n", "c_n", "gap")} for row in one]
    expected = solve(STOP, [row | {"sides": 2.0} for row in one]).observables
    found = solve(TWO_WALLS, both).observables
    for name in set(found) & set(expected):  # relative to the largest of a column: a velocity at the end may be small by cancellation
        largest = np.nanmax(np.abs(expected[name]), initial=0.0)
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-13, atol=1e-13 * largest, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_a_wall_out_of_reach_leaves_a_buckling_wall() -> None:
    rng = np.random.default_rng(6)
    rows = [random_row(rng, "table", "stop", "bare") | {"left_gap": 1e3} for _ in range(40)]
    one = [{name: value for name, value in row.items() if not name.startswith("left_")} for row in rows]
    expected, found = solve(BUCKLING_WALL, one).observables, solve(TWO_WALLS, rows).observables
    assert np.all(found["left_impacts"] == 0.0)
    for name in set(found) & set(expected):  # a velocity at the end may be small against the speeds of the run, about 1 m/s
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-13, atol=1e-13, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_a_derivative_by_the_gap_of_the_left_wall() -> None:
    row = SHAKEN | ELASTIC | {"end": 1.2, "v0": -0.5}
    names, value, step = ("x_end", "v_end", "peak_force", "left_peak_force", "impulse"), row["left_gap"], 1e-5 * row["left_gap"]

    def ends(gap: Any) -> Any:
        found = kernels.simulate("two_walls", row | {"left_gap": gap})
        return [found[name] for name in names]

    _, slopes = hastily(lambda gap, direction: jax.jvp(ends, (gap,), (direction,)))(value, 1.0)
    beside = solve(TWO_WALLS, [row | {"left_gap": value + step}, row | {"left_gap": value - step}]).observables
    for name, slope in zip(names, slopes, strict=True):
        above, below = beside[name]
        finite = (above - below) / (2.0 * step)
        assert abs(float(slope) - finite) <= 1e-6 * max(abs(finite), 1e-3 / value)


@pytest.mark.long
@pytest.mark.slow
def test_log_impacts_trace_and_moment_tell_of_both_walls() -> None:
    row = SHAKEN | ELASTIC | BUCKLES
    # one call for an elastic wall and one that buckles
    both = kernels.simulate("two_walls", row | {"f_crit": np.array([np.inf, row["f_crit"]])})
    rows = solve(TWO_WALLS, [SHAKEN | ELASTIC, row]).observables
    for name in ("x_end", "peak_force", "plastic_set", "left_max_compression"):
        np.testing.assert_allclose(both[name], rows[name], rtol=1e-12, err_msg=name)
    found = {name: values[1] for name, values in both.items()}
    log, hits, trace = kernels.event_log("two_walls", row), kernels.impacts("two_walls", row), kernels.trace("two_walls", row)
    names = list(log["event"])
    assert names.count("impact") + names.count("left impact") == int(found["impacts"]) == len(hits["time"])
    assert names.count("left impact") == int(found["left_impacts"]) > 0
    assert max(hits["peak_force"]) == pytest.approx(float(found["peak_force"]), rel=1e-12)
    assert math.fsum(hits["impulse"]) == pytest.approx(float(found["impulse"]), rel=1e-12)
    assert trace["wall_force"].max() == pytest.approx(float(found["peak_force"]), rel=1e-2)
    assert np.all(trace["wall_force"] > -1e-9)
    energies = log["kinetic_energy"] + log["spring_energy"]
    works = log["input_work"] - log["viscous_work"] - log["friction_work"] - log["wall_work"]
    np.testing.assert_allclose(energies - energies[0], works, atol=1e-10)
    now = kernels.moment("two_walls", row | {"end": 1.0})
    at = np.searchsorted(trace["time"], 1.0)
    x = np.interp(1.0, trace["time"][at - 1 : at + 1], trace["x"][at - 1 : at + 1])
    assert float(now["x"]) == pytest.approx(x, abs=1e-3)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"left_f_crit": 2.0, "left_f_post": 3.0, "left_k_post": 90.0}, "left_f_post <= left_f_crit"),
        ({"left_f_crit": 2.0, "left_f_post": 1.0}, "left_k_post"),
        ({"left_f_crit": 2.0, "left_f_post": 1.0, "left_k_post": 1e-3}, "left_plateau"),
        ({"f_crit": 2.0, "f_post": 3.0, "k_post": 90.0}, "f_post <= f_crit"),
    ],
)
def test_rules_name_the_wall_that_breaks_them(row: Row, says: str) -> None:
    resolved = TWO_WALLS.resolve(ELASTIC | row)
    with np.errstate(all="ignore"):
        broken = [rule for rule in TWO_WALLS.rules if np.any(rule.broken(resolved, "exact"))]
    assert any(says in rule.sentence or says in rule.parameters or says in rule.advice(resolved, "exact") for rule in broken)
    assert solve(TWO_WALLS, [ELASTIC | row]).status.tolist() == [Status.RULE_BROKEN]


def test_an_elastic_wall_needs_no_parameters_of_buckling() -> None:
    resolved = TWO_WALLS.resolve(ELASTIC)
    with np.errstate(all="ignore"):
        assert not any(np.any(rule.broken(resolved, "exact")) for rule in TWO_WALLS.rules)
    assert math.isinf(resolved["f_crit"])
    assert math.isinf(resolved["left_f_crit"])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "coarse", "fine", "rate", "error"),
    [("euler", {"step": 8e-5}, {"step": 2e-5}, 0.5, 2e-3), ("rk54", {"tolerance": 1e-8}, {"tolerance": 1e-10}, 0.3, 1e-3)],
)
def test_time_schemes_converge_to_the_exact_motion_between_two_walls(
    scheme: str, coarse: Row, fine: Row, rate: float, error: float
) -> None:
    rows = [SHAKEN | ELASTIC | BUCKLES, SHAKEN | ELASTIC, SHAKEN | ELASTIC | {f"left_{name}": value for name, value in BUCKLES.items()}]
    exact = solve(TWO_WALLS, rows)
    found = solve(TWO_WALLS, [row | {"k_t": 1.0, "c_t": 0.0} | size for size in (coarse, fine) for row in rows], scheme=scheme)
    assert [*found.status] == [*exact.status, *exact.status] == [Status.OK] * 6
    for name in ("impacts", "left_impacts", "right_wall_regime", "left_wall_regime"):
        np.testing.assert_array_equal(found.observables[name], np.tile(exact.observables[name], 2), err_msg=name)
    errors = []
    for name in ("x_end", "v_end", "peak_force", "left_peak_force", "impulse", "contact_time", "left_plastic_set", "right_plastic_set"):
        expected = exact.observables[name]
        off = np.abs(found.observables[name].reshape(2, -1) - expected) / np.maximum(np.abs(expected), 0.1)
        errors.append(off.max(axis=1))
    coarsely, finely = np.max(errors, axis=0)
    print(scheme, coarsely, finely)
    assert finely < min(error, rate * coarsely)
