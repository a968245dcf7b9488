"""Stops and walls that buckle: the exact engine against an independent run in 50 digits, the schemes against it, and what must hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import BUCKLING_WALL, STOP, Model
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.kernels.models.walls import CRITERIA, WALL_REGIMES
from tribosweep.kernels.time_history import event_log

FILE = Path(__file__).resolve().parents[2] / "data" / "shock.json"
NODES = 6  # most in the reference
OBSERVED = (
    "impacts", "peak_force", "contact_time", "impulse", "first_contact_time", "first_contact_velocity", "buckling_time", "plastic_set",
    "max_compression", "rebound_velocity", "separation_time", "x_end", "v_end",
)  # fmt: skip
C = {
    "v0": 2.0 * math.sqrt(2.0), "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0, "post_set": [2.0, 3.0, 4.0, 5.0],
    "post_stiffness": [0.2, 0.15, 0.125, 0.1],
}  # fmt: skip
A = {"v0": 2.0, "f_crit": 1.0, "f_post": 0.5, "k_post": 0.5}
D = C | {"c_n": 10.0, "c_buckled": 5.0, "post_damping": [5.0] * 4}


def solve(model: Model, rows: Sequence[Mapping[str, Any]], scheme: str = "exact") -> dict[str, np.ndarray]:
    """Observables and status of rows; every parameter is a column, so that all tests share their programs."""
    columns, absent = {}, {}
    for quantity in model.parameters:
        values = [row.get(quantity.name) for row in rows]
        absent[quantity.name] = np.array([value is None for value in values])
        if quantity.kind == "list":
            table = np.full((len(rows), NODES), np.nan)
            for each, value in zip(table, values, strict=True):
                each[: len(value or [])] = value or []
            columns[quantity.name] = table
            absent[quantity.name] &= quantity.default is None
        else:
            codes = [CRITERIA.index(value) if isinstance(value, str) else value for value in values]
            columns[quantity.name] = np.array([0.0 if value is None else float(value) for value in codes])
    found = batch.solve(model, scheme, columns, absent, count=len(rows))
    return {**found.observables, "status": found.status}


def references() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    return rows


def model_of(row: Mapping[str, Any]) -> Model:
    return BUCKLING_WALL if "f_crit" in row["params"] else STOP


def bends(row: Mapping[str, Any]) -> bool:
    return row["params"].get("damping_criterion") == "excluded" and "SDND105" not in row["kind"]


def rubs(row: Mapping[str, Any]) -> bool:
    return "rubbing" in row["kind"]


def is_stiff(row: Mapping[str, Any]) -> bool:
    """Whether the contact is so much faster than the excitation that the row has another program."""
    p = {"k": 0.0, "c": 0.0, "k_n": 0.0, "c_n": 0.0, "m": 1.0, **row["params"]}
    rate = max(math.sqrt((p["k"] + p["k_n"]) / p["m"]), (p["c"] + p["c_n"]) / p["m"])
    swings = p.get("a0", 0.0) or p.get("f0", 0.0)
    return bool(rate * (min(2.0 * math.pi / p["omega"], row["end"]) if swings else row["end"]) > 600.0)


def wall_regime(row: Mapping[str, Any]) -> str:
    """How far the independent run pressed its wall."""
    result, p = row["result"], row["params"]
    if result["impacts"] == 0:
        return "no contact"
    if math.isnan(float(result["buckling_time"])):
        return "elastic"
    if result["beyond_table"] and p.get("post_set"):
        return "beyond table"
    return "softened" if float(result["max_compression"]) > p["f_crit"] / p["k_n"] + p.get("plateau", 0.0) else "plateau"


def agree(rows: list[dict[str, Any]], model: Model) -> None:
    """Every observable of every row is that of the independent run."""
    found = solve(model, [row["params"] | {"end": row["end"]} for row in rows])
    for i, row in enumerate(rows):
        expected = row["result"]
        assert found["status"][i] == (Status.BEYOND_TABLE if expected.get("beyond_table") else Status.OK), row["kind"]
        for name in OBSERVED:
            if name in found:
                value = float("nan" if expected[name] is None else expected[name])
                floor = 1e-8 if name == "first_contact_time" else 1e-11  # it may enter with next to no acceleration
                assert float(found[name][i]) == pytest.approx(value, rel=1e-9, abs=floor, nan_ok=True), (row["kind"], name)
        if model is BUCKLING_WALL:
            assert WALL_REGIMES[int(found["wall_regime"][i])] == wall_regime(row), row["kind"]
        if len(row["events"]) >= 25:  # the reference lists no more than the first
            continue
        left = [time for time, event in row["events"] if event == "leave"]
        assert float(found["exit_time"][i]) == pytest.approx(left[-1] if left else math.nan, rel=1e-8, abs=1e-8, nan_ok=True), row["kind"]


@pytest.mark.long_cases("buckling_wall")
@pytest.mark.oracle("stop")
@pytest.mark.parametrize(
    ("model", "stiff", "least"),
    [
        pytest.param(STOP, (False,), 30, id="stop"),
        pytest.param(STOP, (True,), 1, id="stiff stop", marks=pytest.mark.slow),
        pytest.param(BUCKLING_WALL, (False, True), 35, id="buckling_wall", marks=pytest.mark.slow),
    ],
)
def test_stops_and_walls_are_those_of_the_independent_run(model: Model, stiff: tuple[bool, ...], least: int) -> None:
    rows = [row for row in references() if model_of(row) is model and not bends(row) and not rubs(row) and is_stiff(row) in stiff]
    assert len(rows) >= least
    agree(rows, model)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("model", [pytest.param(STOP, id="stop", marks=pytest.mark.long), pytest.param(BUCKLING_WALL, id="buckling_wall")])
def test_what_rubs_and_hits_is_that_of_the_independent_run(model: Model) -> None:
    agree([row for row in references() if model_of(row) is model and rubs(row)], model)


@pytest.mark.slow
def test_damping_that_varies_while_the_wall_yields_is_that_of_the_independent_run() -> None:
    agree([row for row in references() if bends(row) and not rubs(row)], BUCKLING_WALL)


@pytest.mark.slow
def test_two_bodies_are_one_against_half_the_wall() -> None:
    single = A | {"end": 12.0}
    halved = {"k_n": 0.5, "k_post": 0.25, "f_crit": 1.0, "f_post": 0.5, "end": 12.0}
    # B of SDND105, and a body of 3 kg that meets one of 1.5 kg: the reduced mass is 1 kg, the relative velocity 2 m/s
    rows = [single, halved | {"v0": 2.0, "v0_2": -2.0, "m_2": 1.0}, single | {"m": 3.0, "m_2": 1.5, "v0": 1.5, "v0_2": -0.5}]
    found = solve(BUCKLING_WALL, rows)
    np.testing.assert_allclose(found["max_compression"], [4.0, 8.0, 4.0], rtol=1e-14)
    np.testing.assert_allclose(found["plastic_set"], [3.0, 6.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(found["return_time"], math.pi / 6 + 2 * math.sqrt(3) + (math.pi + 6) / math.sqrt(2), rtol=1e-14)
    np.testing.assert_allclose(found["v_end"][:2], -math.sqrt(0.5), rtol=1e-13)
    np.testing.assert_allclose(found["v_end_2"][1], math.sqrt(0.5), rtol=1e-13)
    np.testing.assert_allclose(found["x_end_2"][:2], [0.0, -found["x_end"][1]], rtol=1e-13)
    # the centre of mass goes on as it came: (3 * 1.5 - 1.5 * 0.5) / 4.5 m/s
    centre = (3.0 * 1.5 - 1.5 * 0.5) / 4.5
    momentum = 3.0 * found["v_end"][2] + 1.5 * found["v_end_2"][2]
    assert momentum == pytest.approx(4.5 * centre, rel=1e-14)
    assert 3.0 * found["x_end"][2] + 1.5 * found["x_end_2"][2] == pytest.approx(4.5 * centre * 12.0, rel=1e-13)
    assert found["v_end"][2] - found["v_end_2"][2] == pytest.approx(-math.sqrt(0.5), rel=1e-13)


@pytest.mark.long
@pytest.mark.slow
def test_the_published_cases_by_every_scheme_within_the_documents_tolerance() -> None:
    steps = {
        "euler": {"step": 2e-4},
        "devogelaere": {"step": 1e-3},
        "adapt2": {"step": 2e-4, "largest_step": 1e-3, "smallest_step": 2e-8},
        "rk54": {},
    }
    rows = [A | {"end": 12.0}, C | {"end": 9.0}, C | {"end": 12.0}]
    exact = solve(BUCKLING_WALL, rows)
    for scheme, how in steps.items():
        found = solve(BUCKLING_WALL, [row | how for row in rows], scheme)
        for name in ("buckling_time", "max_compression", "plastic_set", "rebound_velocity", "return_time", "separation_time", "v_end"):
            np.testing.assert_allclose(found[name][0], exact[name][0], rtol=1e-3, err_msg=f"{scheme}, {name}")  # 0.1 % in A
            np.testing.assert_allclose(found[name][1:], exact[name][1:], rtol=1e-4, err_msg=f"{scheme}, {name}")  # 0.01 % in C


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_damped_wall_converges_to_exact_as_the_step_shrinks(criterion: str) -> None:
    row = D | {"damping_criterion": criterion, "end": 8.0}
    exact = solve(BUCKLING_WALL, [row])
    for scheme in ("euler", "devogelaere", "adapt2"):
        errors = []
        for step in (1e-3, 2.5e-4):
            found = solve(BUCKLING_WALL, [row | {"step": step, "largest_step": step, "smallest_step": 1e-9}], scheme)
            errors.append([abs(float(found[name][0] / exact[name][0]) - 1.0) for name in ("max_compression", "v_end", "impulse")])
        coarse, fine = np.array(errors)
        # of order 1: the first step does not know whether the wall is touched, and the viscous force jumps there
        assert fine.max() < 3e-3  # of euler: 9.9 per second of the step
        assert (fine < 0.4 * coarse + 1e-6).all(), (scheme, coarse, fine)


@pytest.mark.slow
def test_zero_velocity_a_start_inside_and_a_start_far_away_have_results() -> None:
    rows = [{"v0": 0.0}, {"x0": 0.3, "k_n": 4.0}, {"x0": -1e6, "v0": 1.0}, {"x0": 0.3, "v0": -5.0, "c_n": 2.0}]
    found = solve(STOP, [row | {"end": 3.0} for row in rows])
    assert found["status"].tolist() == [Status.OK] * 4
    assert found["impacts"].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert found["max_compression"].tolist() == [0.0, 0.3, 0.0, 0.3]
    assert np.isnan(found["first_contact_time"]).tolist() == [False, False, True, False]  # the first rests at the face
    assert found["rebound_velocity"][1] == pytest.approx(-0.6, rel=1e-14)
    assert np.isnan(found["rebound_velocity"][[0, 2, 3]]).all()
    assert found["peak_force"][3] == 0.0  # it flies off at once: the damper would pull


@pytest.mark.long
@pytest.mark.slow
def test_a_falling_mass_bounces_on_the_floor() -> None:
    # a floor at x = 0 below x0 = -1 m, downwards positive: k_n so stiff that it stays 1 ms
    m, g, height, k_n = 2.0, 9.81, 1.0, 2.0 * (math.pi / 1e-3) ** 2
    found = solve(STOP, [{"m": m, "x0": -height, "load": m * g, "k_n": k_n, "end": 4.0, "g": 0.0}])
    speed = math.sqrt(2.0 * g * height)
    first = speed / g
    contact = 2.0 * (math.pi - math.atan(speed * math.sqrt(k_n / m) / g)) / math.sqrt(k_n / m)
    assert found["first_contact_time"][0] == pytest.approx(first, rel=1e-14)
    assert found["first_contact_velocity"][0] == pytest.approx(speed, rel=1e-14)
    bounces = int((4.0 - first) // (2.0 * first + contact)) + 1
    assert found["impacts"][0] == bounces
    assert found["contact_time"][0] == pytest.approx(bounces * contact, rel=1e-9)
    assert found["impulse"][0] == pytest.approx(bounces * m * (2.0 * speed + g * contact), rel=1e-10)


def random_walls(count: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    crit = rng.uniform(0.5, 2.0, count)
    sets = np.cumsum(rng.uniform(0.2, 1.0, (count, 4)), axis=1) + 0.5
    return {
        "v0": rng.uniform(0.0, 5.0, count), "k_n": rng.uniform(0.5, 5.0, count), "f_crit": crit,
        "f_post": crit * rng.uniform(0.2, 1.0, count), "plateau": rng.uniform(0.0, 0.5, count),
        "softening": rng.choice([0.0, 0.4], count), "post_set": sets,
        "post_stiffness": np.array([0.2, 0.16, 0.13, 0.11]) * rng.uniform(0.5, 1.0, (count, 1)),
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1), damping=st.sampled_from([0.0, 0.0, 0.05, 1.0]))
def test_walls_never_pull_keep_their_set_and_stop_the_mass_by_its_energy(seed: int, damping: float) -> None:
    count = 200
    columns = random_walls(count, seed)
    dampers = dict.fromkeys(("c_n", "c_buckled"), np.full(count, damping))
    columns |= dampers | {"post_damping": np.full((count, 4), damping), "damping_criterion": np.ones(count)}
    early = batch.solve(BUCKLING_WALL, "exact", {**columns, "end": np.full(count, 3.0)}, count=count)
    late = batch.solve(BUCKLING_WALL, "exact", {**columns, "end": np.full(count, 400.0)}, count=count)
    fine = np.isin(late.status, RESULTS) & (columns["v0"] > 0.0)
    assert fine.sum() > 0.6 * count
    first, last = ({name: values[fine] for name, values in each.observables.items()} for each in (early, late))
    c = {name: values[fine] for name, values in columns.items()}
    assert (last["plastic_set"] >= first["plastic_set"] - 1e-12).all()
    assert (last["max_compression"] >= first["max_compression"] - 1e-12).all()
    assert (last["impulse"] >= first["impulse"] * (1.0 - 1e-14)).all()
    # what the wall takes without its damper: the elastic triangle, the plateau, the softening, and f_post over the rest
    X, u_elastic = last["max_compression"], c["f_crit"] / c["k_n"]
    u0 = u_elastic + c["plateau"]
    u1 = u0 + c["softening"]
    slope = np.where(c["softening"] > 0.0, (c["f_crit"] - c["f_post"]) / np.where(c["softening"] > 0.0, c["softening"], 1.0), 0.0)
    work = 0.5 * c["k_n"] * np.minimum(X, u_elastic) ** 2
    work += c["f_crit"] * np.clip(X - u_elastic, 0.0, c["plateau"])
    over = np.clip(X - u0, 0.0, c["softening"])
    work += c["f_crit"] * over - 0.5 * slope * over**2 + c["f_post"] * np.maximum(X - u1, 0.0)
    if damping:
        assert (work <= 0.5 * c["v0"] ** 2 * (1.0 + 1e-12)).all()
        return
    np.testing.assert_allclose(work, 0.5 * c["v0"] ** 2, rtol=1e-10)
    assert (last["peak_force"] <= c["f_crit"] * (1.0 + 1e-14)).all()
    # what comes back is the elastic energy at the turning point
    force = np.where(X > u1, c["f_post"], c["f_crit"] - slope * over)
    elastic = np.where(X <= u_elastic, work, 0.5 * force * (X - last["plastic_set"]))
    np.testing.assert_allclose(0.5 * last["rebound_velocity"] ** 2, elastic, rtol=1e-9)


@pytest.mark.slow
def test_the_impacts_of_a_run_add_up_to_its_sums() -> None:
    row = {"v0": 1.0, "gap": 0.3, "k_n": 300.0, "m": 2.0, "sides": 2.0, "c_n": 2.0, "end": 5.0}
    found, each = solve(STOP, [row]), kernels.impacts("stop", row)
    assert len(each["time"]) == found["impacts"][0] > 3
    assert sum(each["impulse"]) == pytest.approx(found["impulse"][0], rel=1e-13)
    assert max(each["peak_force"]) == pytest.approx(found["peak_force"][0], rel=1e-13)
    assert each["time"][0] == pytest.approx(found["first_contact_time"][0], rel=1e-14)
    assert each["approach_velocity"][0] == found["first_contact_velocity"][0] == 1.0
    # a damped half period each: the same duration and the same restitution every time
    np.testing.assert_allclose(
        np.abs(each["approach_velocity"][1:] / each["approach_velocity"][:-1]), abs(each["approach_velocity"][1]), rtol=1e-10
    )


@pytest.mark.slow
def test_the_events_of_sdnd105_c_are_those_of_the_independent_run() -> None:
    log = kernels.event_log("buckling_wall", C | {"end": 12.0})
    (row,) = (row for row in references() if row["kind"] == "SDND105 C k=0")
    # what the reference calls each; the nodes of the table are no events here: nothing happens there
    names = {
        "contact": "impact", "criterion": "buckles", "softening": "next piece", "node 1": "next piece", "YIELD ELASTIC": "end of yielding",
        "force zero": "separation", "leave": "leaves the wall",
    }  # fmt: skip
    expected = [(names[name], time) for time, name in row["events"] if name in names]
    assert log["event"].tolist() == ["start", "window start", *(name for name, _ in expected), "window end", "end"]
    np.testing.assert_allclose(log["time"][2:-2], [time for _, time in expected], rtol=1e-8)
    assert log["plastic_set"][-1] == pytest.approx(3.1, rel=1e-14)


MANY = {"gap": 0.05, "a0": 6.0, "omega": 9.0, "k": 30.0, "c": 0.3, "k_n": 900.0, "c_n": 1.5, "end": 4.0}


@pytest.mark.long_cases("damping that varies", "rubs and hits")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "row"),
    [
        pytest.param("buckling_wall", D | {"end": 8.0, "a0": 0.3, "c": 0.02, "k": 0.1}, id="criterion included", marks=pytest.mark.slow),
        pytest.param(
            "buckling_wall",
            D | {"end": 8.0, "damping_criterion": 1.0, "c_n": 0.2, "c_buckled": 0.5, "post_damping": [0.1, 0.4, 0.2, 0.2]},
            id="damping that varies",
            marks=pytest.mark.slow,
        ),
        pytest.param("stop", MANY | {"sides": 2.0}, id="two-sided stop"),
        pytest.param("stop", MANY | {"mu": 0.1}, id="rubs and hits", marks=pytest.mark.slow),
        pytest.param(
            "rubbing_mass", {"a0": 3.0, "k": 20.0, "c": 0.5, "mu_s": 0.15, "mu_d": 0.1, "k_t": 200.0, "load": 0.3}, id="penalised friction"
        ),
    ],
)
def test_energy_is_balanced_at_every_event(model: str, row: dict[str, Any]) -> None:
    log = kernels.event_log(model, row)
    stored = log["kinetic_energy"] + log["spring_energy"]
    gone = log["viscous_work"] + log["friction_work"] + log["wall_work"]
    scale = np.maximum.accumulate(np.abs(stored) + np.abs(log["input_work"]))
    assert len(stored) > 8
    assert (np.abs(stored - stored[0] - (log["input_work"] - gone)) <= 1e-10 * scale).all()
    # what the wall has taken and does not hold as a spring it has dissipated, and no less at any later event
    lost = log["wall_work"] - log["wall_energy"]
    assert (np.diff(lost) >= -1e-12 * scale[1:]).all()


@pytest.mark.oracle("buckling")
@pytest.mark.parametrize("kind", ["SDND105 C k=1e-07", pytest.param("SDND105 D included k=1e-07", marks=pytest.mark.slow)])
def test_energies_are_those_of_the_independent_run(kind: str) -> None:
    (row,) = [row for row in references() if row["kind"] == kind]
    given = {name: value for name, value in row["params"].items() if not isinstance(value, str)}
    log = kernels.event_log("buckling_wall", given | {"end": row["end"]})
    expected = {name: float(value) for name, value in row["result"].items() if name.endswith("_energy")}
    assert log["spring_energy"][-1] - log["spring_energy"][0] == pytest.approx(expected["spring_energy"], rel=1e-9, abs=1e-14)
    assert log["kinetic_energy"][-1] - log["kinetic_energy"][0] == pytest.approx(expected["kinetic_energy"], rel=1e-12)
    lost = log["wall_work"][-1] - log["wall_energy"][-1]
    assert lost == pytest.approx(expected["plastic_energy"] + expected["viscous_energy"], rel=1e-12)


@pytest.mark.slow
def test_a_mass_that_turns_back_within_the_plateau_is_known_in_closed_form() -> None:
    # m = k_n = f_crit = 1: elastic up to 1 m, then a force of 1 N; what is left is elastic and gives back 1 m/s
    v0 = np.linspace(1.001, 1.73, 500)
    found = solve(BUCKLING_WALL, [C | {"v0": float(v), "k": 0.0, "c": 0.0, "a0": 0.0, "end": 12.0} for v in v0])
    yields = np.sqrt(v0**2 - 1.0)
    np.testing.assert_allclose(found["max_compression"], 1.0 + 0.5 * yields**2, rtol=1e-13)
    np.testing.assert_allclose(found["plastic_set"], 0.5 * yields**2, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(found["rebound_velocity"], -1.0, rtol=1e-13)
    np.testing.assert_allclose(found["separation_time"], np.arcsin(1.0 / v0) + yields + 0.5 * math.pi, rtol=1e-13)
    assert not found["status"].any()


@pytest.mark.slow
def test_a_mass_that_friction_releases_at_the_criterion_goes_on_yielding_by_its_jerk() -> None:
    # at rest on the envelope; when the load has grown to the force of the wall and friction, velocity and acceleration are zero
    omega, a0, force, start = 4.0, 10.0, 5.0, 0.3  # force: f_post + mu * normal_force, with m = 1
    events = event_log(
        "buckling_wall",
        {
            "m": 1.0, "omega": omega, "a0": a0, "phase": math.pi, "mu": 0.3, "normal_force": 10.0, "k_n": 100.0, "f_crit": 4.0,
            "f_post": 2.0, "k_post": 50.0, "x0": start, "end": 1.0,
        },
        most=100,
    )  # fmt: skip
    released = math.asin(force / a0) / omega

    def velocity(t: float) -> float:
        return -a0 / omega * (math.cos(omega * t) - math.cos(omega * released)) - force * (t - released)

    stops = brentq(velocity, released + 0.1, released + 1.2, xtol=1e-15)
    moved = -a0 / omega**2 * (math.sin(omega * stops) - math.sin(omega * released))
    moved += a0 / omega * math.cos(omega * released) * (stops - released) - force * (stops - released) ** 2 / 2.0
    named = {name: np.flatnonzero(events["event"] == name) for name in ("yields again", "end of yielding")}
    assert [events["time"][place].tolist() for place in named.values()] == [[pytest.approx(released)], [pytest.approx(stops)]]
    assert events["x"][named["end of yielding"][0]] == pytest.approx(start + moved, rel=1e-13)
