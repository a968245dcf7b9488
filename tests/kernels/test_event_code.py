"""Ten thousand random oscillators of all models against an event code of its own (`tests/oracle/event_code.py`, numba)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle import generate_varied
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import BUCKLING_WALL, MODELS, RUBBING_MASS, STOP, TWO_WALLS, Model
from tribosweep.kernels.models.status import Status

Columns = dict[str, Any]
CRITERIA = ("included", "excluded")
RUBS = ("slip_distance", "stick_fraction", "slip_phases", "stops", "max_slip_speed", "friction_power", "wear_power", "drift")
HITS = (
    "impacts", "contact_time", "impulse", "peak_force", "max_compression", "first_contact_time", "first_contact_velocity",
    "rebound_velocity", "separation_time", "exit_time", "return_time",
)  # fmt: skip
BUCKLES = ("buckling_time", "plastic_set")
EACH = ("buckling_time", "plastic_set", "impacts", "peak_force", "max_compression")
LEFT = tuple(f"{side}_{name}" for side in ("left", "right") for name in EACH)
COUNTED = ("slip_phases", "stops", "impacts", "left_impacts", "right_impacts")
NUDGE = 1e-11


def log(rng: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Numbers between 10^low and 10^high."""
    return np.asarray(10.0 ** rng.uniform(low, high, n))


def some(rng: np.random.Generator, share: float, values: np.ndarray, other: float = 0.0) -> np.ndarray:
    """A share of the values, `other` elsewhere."""
    return np.where(rng.random(values.size) < share, values, other)


def oscillators(rng: np.random.Generator, n: int, friction: str) -> Columns:
    """Masses on springs under a sine and a constant force; friction "none", "rigid" or "penalised"."""
    m, omega = log(rng, -0.5, 0.5, n), log(rng, 0.0, 1.0, n)
    c = {
        "m": m, "omega": omega, "k": some(rng, 0.7, m * log(rng, -1.0, 2.0, n)), "c": some(rng, 0.6, m * log(rng, -2.0, 0.5, n)),
        "a0": log(rng, -0.3, 1.0, n), "phase": rng.uniform(0.0, 2.0 * math.pi, n), "f0": some(rng, 0.3, rng.normal(0.0, 1.0, n)),
        "load": some(rng, 0.3, rng.normal(0.0, 0.5, n)), "x0": some(rng, 0.5, rng.normal(0.0, 0.1, n)),
        "v0": some(rng, 0.6, rng.normal(0.0, 0.5, n)), "end": rng.uniform(3.0, 6.0, n) * 2.0 * math.pi / omega,
    }  # fmt: skip
    c["window_start"] = some(rng, 0.7, rng.uniform(0.0, 0.7, n) * c["end"])
    c["window_end"] = np.where(rng.random(n) < 0.5, c["end"], c["end"] - rng.uniform(0.0, 0.2, n) * c["end"])
    if friction == "none":
        return c | {"mu": 0.0, "normal_force": 0.0}
    eta = log(rng, -1.5, 0.05, n)
    slide = eta * c["a0"] / 10.0
    c |= {"mu_d": slide, "mu_s": slide * some(rng, 0.5, rng.uniform(1.0, 1.5, n), 1.0), "normal_force": 10.0 * m}
    if friction == "penalised":
        c["k_t"] = m * omega**2 * log(rng, 1.0, 4.0, n)
        c["c_t"] = some(rng, 0.7, rng.uniform(0.1, 1.0, n) * 2.0 * np.sqrt(m * c["k_t"]))
    return c


def wall(rng: np.random.Generator, c: Columns, buckles: str, inside: float = 0.2) -> Columns:
    """A wall for the oscillators `c`: an elastic "stop", or one that buckles, of form "stiffness" or "table"."""
    n = c["m"].size
    omega, reach = c["omega"], c["a0"] / c["omega"] ** 2
    k_n = c["m"] * omega**2 * log(rng, 0.5, 3.0, n)
    own: Columns = {"k_n": k_n, "c_n": some(rng, 0.5, rng.uniform(0.0, 0.5, n) * np.sqrt(c["m"] * k_n))}
    own["gap"] = np.where(rng.random(n) < inside, 0.0, rng.uniform(0.0, 0.5, n)) * reach
    if buckles == "stop":
        return own
    force = np.sqrt(c["m"] * k_n) * c["a0"] / omega * log(rng, -1.2, 0.2, n)
    length = force / k_n
    own |= {"f_crit": force, "f_post": force * rng.uniform(0.3, 1.0, n), "plateau": some(rng, 0.5, length * rng.uniform(0.1, 3.0, n))}
    own |= {"softening": some(rng, 0.6, length * rng.uniform(0.2, 3.0, n)), "damping_criterion": (rng.random(n) < 0.5) * 1.0}
    own["c_buckled"] = own["c_n"] * some(rng, 0.5, rng.uniform(0.2, 2.0, n), 1.0)
    if buckles == "stiffness":
        return own | {"k_post": own["f_post"] / (length + own["softening"]) * rng.uniform(1.05, 3.0, n)}
    u1 = length + own["plateau"] + own["softening"]
    sets = own["plateau"][:, None] + np.cumsum(length[:, None] * rng.uniform(0.1, 2.0, (n, 3)), axis=1)
    totals = u1[:, None] + np.cumsum(length[:, None] * rng.uniform(0.2, 2.5, (n, 3)), axis=1)
    totals = np.maximum(totals, sets + 0.05 * length[:, None])
    totals = np.maximum.accumulate(totals, axis=1) + np.arange(3) * 0.01 * length[:, None]
    own |= {"post_set": sets, "post_stiffness": own["f_post"][:, None] / (totals - sets)}
    return own | {"post_damping": own["c_buckled"][:, None] * np.where(rng.random((n, 1)) < 0.5, rng.uniform(0.3, 2.0, (n, 3)), 1.0)}


def of_stop(rng: np.random.Generator, n: int, friction: str) -> Columns:
    """Stops on one or both sides."""
    c = oscillators(rng, n, friction)
    return c | wall(rng, c, "stop") | {"sides": 1.0 + (rng.random(n) < 0.4)}


def of_two(rng: np.random.Generator, n: int, friction: str, right: str, left: str) -> Columns:
    """Masses between two different walls."""
    c = oscillators(rng, n, friction)
    return c | wall(rng, c, right) | {f"left_{name}": value for name, value in wall(rng, c, left).items()}


def of_two_that_buckle(rng: np.random.Generator, n: int, friction: str) -> Columns:
    """Masses between two walls that buckle, whose damping varies: so all rows have one program, where four would compile for minutes."""
    c = of_two(rng, 100 * n, friction, "table", "stiffness")
    vary = [(c[f"{side}softening"] > 0.0) & (c[f"{side}c_buckled"] != c[f"{side}c_n"]) for side in ("", "left_")]
    some = np.flatnonzero(vary[0] & vary[1])[:n]
    excluded = dict.fromkeys(("damping_criterion", "left_damping_criterion"), np.ones(n))
    return {name: values[some] if np.ndim(values) else values for name, values in c.items()} | excluded


def varying(rng: np.random.Generator, c: Columns) -> Columns:
    """The oscillators on a support that moves, under a normal force that varies: on one surface, which some leave, or between two."""
    n = c["m"].size
    c |= {"normal_amplitude": c["normal_force"] * rng.choice([0.4, 0.9, 1.7, -2.5], n), "normal_phase": rng.uniform(-3.0, 3.0, n)}
    c |= {"normal_omega": c["omega"] * some(rng, 0.7, log(rng, -0.5, 0.5, n), 1.0), "friction_sides": 1.0 + (rng.random(n) < 0.4)}
    c["belt_speed"] = rng.choice([-1.0, 1.0], n) * c["a0"] / c["omega"] * log(rng, -1.5, 0.0, n)
    if "c_t" in c:
        c["c_t"] = np.where(c["c_t"] == 0.0, 0.1 * np.sqrt(c["m"] * c["k_t"]), c["c_t"])
    return c


def of_wall(rng: np.random.Generator, n: int, friction: str, form: str) -> Columns:
    """Walls that buckle."""
    c = oscillators(rng, n, friction)
    return c | wall(rng, c, form)


# parameters that may be zero -> share of rows where `degenerate` makes them zero
ZEROS = dict.fromkeys(("x0", "v0", "gap", "left_gap", "c_n", "left_c_n"), 0.5) | dict.fromkeys(
    ("c", "f0", "load", "k", "plateau", "left_plateau", "window_start"), 0.3
)


def degenerate(rng: np.random.Generator, c: Columns) -> Columns:
    """The oscillators with many parameters zero: starts at rest, at the face of a wall, between two walls without clearance."""
    n = c["m"].size
    return c | {name: np.where(rng.random(n) < share, 0.0, c[name]) for name, share in ZEROS.items() if name in c}


GROUPS: dict[str, tuple[Model, int, Any, tuple[Any, ...]]] = {
    "rigid friction": (RUBBING_MASS, 1500, oscillators, ("rigid",)),
    "penalised friction": (RUBBING_MASS, 1500, oscillators, ("penalised",)),
    "stop": (STOP, 1500, of_stop, ("none",)),
    "stop, rigid friction": (STOP, 500, of_stop, ("rigid",)),
    "stop, penalised friction": (STOP, 500, of_stop, ("penalised",)),
    "two stops": (TWO_WALLS, 1000, of_two, ("none", "stop", "stop")),
    "two buckling walls, rigid friction": (TWO_WALLS, 500, of_two_that_buckle, ("rigid",)),
    "a buckling wall and a stop": (TWO_WALLS, 500, of_two, ("none", "stiffness", "stop")),
    "buckling wall, stiffness": (BUCKLING_WALL, 1000, of_wall, ("none", "stiffness")),
    "buckling wall, table": (BUCKLING_WALL, 1000, of_wall, ("none", "table")),
    "buckling wall, rigid friction": (BUCKLING_WALL, 300, of_wall, ("rigid", "table")),
    "buckling wall, penalised friction": (BUCKLING_WALL, 300, of_wall, ("penalised", "stiffness")),
}
ALWAYS = ("penalised friction", "stop, penalised friction", "a buckling wall and a stop")


def compare(model: Model, c: Columns, friction: bool, within: float = 1e-8) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    """Largest relative differences by observable, rows that differ, and rows whose results a change of 1e-11 of their start turns over.

    `within` is the difference that is allowed, relative to the value, or to a typical value of the observable where that is larger. A row
    may differ by as much as the change of m, x0 and v0 by 1e-11 makes: that is more than rounding does.
    """
    numba = pytest.importorskip("numba")
    assert numba
    from tests.oracle import event_code

    n = c["m"].size
    found = solve(model, "exact", c, count=n)
    assert np.isin(found.status, (Status.OK, Status.BEYOND_TABLE)).all()
    rows = [as_row(c, i) for i in range(n)]
    expected, other = event_code.solve(rows), event_code.solve(rows, NUDGE)
    assert not expected["status"].any()
    worst, differs, turned = {}, np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    names = ("x_end", "v_end", *(RUBS if friction else ()), *(HITS if model is not RUBBING_MASS else ()))
    names += (*(BUCKLES if "f_crit" in c else ()), *(LEFT if model is TWO_WALLS else ()))
    wrong: dict[str, np.ndarray] = {}
    for name in names:
        if name not in found.observables or (
            name.endswith("_buckling_time") and name.removeprefix("right_").replace("buckling_time", "f_crit") not in c
        ):
            continue
        ours, theirs, nudged = found.observables[name], expected[name], other[name]
        typical = 1.0 if name in COUNTED else float(np.nanmedian(np.abs(theirs[theirs != 0.0]))) if np.any(theirs != 0.0) else 1.0
        size = np.fmax(np.abs(theirs), typical)
        moved = np.abs(nudged - theirs) / size
        turned |= (np.isnan(nudged) != np.isnan(theirs)) | (moved > 1e-6)
        off = np.abs(ours - theirs) / size
        bad = (np.isnan(ours) != np.isnan(theirs)) | (off > within + 10.0 * np.nan_to_num(moved))
        wrong[name] = bad
        differs |= bad
        worst[name] = float(np.nanmax(np.where(bad, 0.0, off), initial=0.0))
    differs &= ~turned
    for name, bad in wrong.items():
        if np.any(bad & differs):
            i = np.flatnonzero(bad & differs)[:5]
            print(name, "differs in rows", i, found.observables[name][i], expected[name][i])
    return worst, np.flatnonzero(differs), np.flatnonzero(turned)


def as_row(c: Columns, i: int) -> dict[str, Any]:
    """One row of the columns as the event code takes it."""
    row: dict[str, Any] = {}
    for name, values in c.items():
        each = values[i] if np.ndim(values) else values
        row[name] = CRITERIA[int(each)] if name.endswith("criterion") else [float(v) for v in each] if np.ndim(each) else float(each)
    return row


@pytest.mark.long_cases("stop, penalised friction", "a buckling wall and a stop")
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name not in ALWAYS)) for name in GROUPS])
def test_random_oscillators_are_those_of_the_event_code(name: str) -> None:
    model, n, draw, arguments = GROUPS[name]
    c = draw(np.random.default_rng(list(name.encode())), n, *arguments)
    worst, differ, turned = compare(model, c, arguments[0] != "none")
    print(name, {key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 0.03 * n
    c = degenerate(np.random.default_rng(1), draw(np.random.default_rng([1, *name.encode()]), n, *arguments))
    worst, differ, turned = compare(model, c, arguments[0] != "none")
    print(name, {key: f"{value:.1e}" for key, value in worst.items()}, "degenerate rows differ:", differ, "turned over:", turned.size)
    assert (
        differ.size <= 0.004 * n
    )  # without a spring friction may bring a mass back to where it started, a wall's face: rounding decides whether it touches
    assert turned.size <= 0.05 * n


VARYING: dict[str, tuple[Model, Any, tuple[Any, ...]]] = {
    "stop, rigid": (STOP, of_stop, ("rigid",)),
    "stop, penalised": (STOP, of_stop, ("penalised",)),
    "two buckling walls, rigid": (TWO_WALLS, of_two_that_buckle, ("rigid",)),
    "buckling wall, penalised": (BUCKLING_WALL, of_wall, ("penalised", "stiffness")),
}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "stop, rigid" else pytest.param(name, marks=pytest.mark.long) for name in VARYING])
def test_masses_at_walls_rub_under_a_normal_force_that_varies_and_are_carried_to_them(name: str) -> None:
    model, draw, arguments = VARYING[name]
    rng = np.random.default_rng([28, *name.encode()])
    c = varying(rng, draw(rng, 60, *arguments))
    worst, differ, turned = compare(model, c, True, within=1e-9)
    print(name, {key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 2


@pytest.mark.slow
def test_friction_that_varies_is_that_of_the_run_in_30_digits(reference: Callable[[str], list[dict[str, Any]]]) -> None:
    pytest.importorskip("numba")
    from tests.oracle import event_code

    expected = reference("varied.json")
    instants = [*(generate_varied.INTERVAL * np.arange(len(generate_varied.RECORD) + 1))]
    rows = []
    for each in expected:
        row = dict(each["row"])
        if row.pop("record", None) is not None:
            scale = -row["m"] * row.pop("record_scale")
            row |= {"table_time": instants, "table_force": [scale * a for a in (*generate_varied.RECORD, 0.0)]}
        rows.append(row)
    found = event_code.solve(rows)
    assert not found["status"].any()
    for name in set(generate_varied.NAMES) - {"wear_energy"}:
        values = np.array([float(each["result"][name]) for each in expected])
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-10 * np.max(np.abs(values)), err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_penalised_rows_that_start_moving_are_those_of_the_event_code() -> None:
    rng = np.random.default_rng(500)
    c = oscillators(rng, 500, "penalised")
    c |= {"v0": rng.normal(0.0, 1.0, 500), "window_start": 0.0, "end": rng.uniform(0.05, 1.0, 500) * 2.0 * math.pi / c["omega"]}
    c["window_end"] = c["end"]
    worst, differ, turned = compare(RUBBING_MASS, c, True)
    print({key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 15


@pytest.mark.slow
def test_stops_that_start_inside_are_those_of_the_event_code() -> None:
    rng = np.random.default_rng(600)
    c = oscillators(rng, 600, "none")
    c |= wall(rng, c, "stop") | {"window_start": np.where(rng.random(600) < 0.7, 0.0, c["window_start"])}
    reach = c["a0"] / c["omega"] ** 2
    c["gap"] = np.where(rng.random(600) < 0.2, -1.0, 1.0) * c["gap"]
    c["x0"] = c["gap"] + reach * some(rng, 0.9, log(rng, -3.0, 0.0, 600))
    c["v0"] = some(rng, 0.7, rng.normal(0.0, 0.5, 600))
    c["sides"] = 1.0 + ((rng.random(600) < 0.3) & (c["gap"] >= 0.0))
    worst, differ, turned = compare(STOP, c, False)
    print({key: f"{value:.1e}" for key, value in worst.items()}, "differ:", differ, "turned over:", turned.size)
    assert differ.size == 0
    assert turned.size <= 18


def test_every_model_has_random_rows() -> None:
    assert {model.name for model, *_ in GROUPS.values()} == set(MODELS)
    assert sum(n for _, n, *_ in GROUPS.values()) >= 10_000
