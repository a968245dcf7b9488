"""Impacts, contact times, forces and returns in a window: both engines against closed forms, each other, and a count of a trace."""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.contact.wall import Wall, new_crush
from tribosweep.kernels.models import BUCKLING_WALL, STOP
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.observables.impacts import Shock, Visit, merged, visited
from tribosweep.kernels.stepping import observe_wall
from tribosweep.kernels.stepping.scheme import Body, Memory, StepState

WINDOW = {"end": 4.0, "window_start": 1.13, "window_end": 3.71}
STOPS = {"m": 1.0, "k": 30.0, "c": 0.4, "a0": 4.0, "omega": 6.0, "mu": 0.0, "normal_force": 0.0, "k_n": 800.0, "c_n": 2.0, "gap": 0.02,
         "x0": np.array([0.0, 0.05, -0.03, 0.01])} | WINDOW  # fmt: skip


def run(scheme, p, model=STOP, count=4, **options):
    """The observables of rows, none of which fails."""
    found = solve(model, scheme, p, count=count, **options)
    assert np.isin(found.status, (Status.OK, Status.BEYOND_TABLE)).all()
    return found.observables


@pytest.mark.long
@pytest.mark.slow
def test_exact_is_a_count_of_a_trace():
    found = run("exact", STOPS)
    for row, x0 in enumerate(STOPS["x0"]):
        p = STOPS | {"x0": float(x0)}
        trace = kernels.trace("stop", p, samples=40001)
        time, force = trace["time"], trace["wall_force"]
        middle = 0.5 * (time[1:] + time[:-1])
        pushes = (0.5 * (force[1:] + force[:-1]) > 0.0) & (middle > p["window_start"]) & (middle < p["window_end"])
        length = p["window_end"] - p["window_start"]
        assert found["contact_ratio"][row] == pytest.approx(np.diff(time)[pushes].sum() / length, abs=3e-4)
        hits = kernels.impacts("stop", p)["time"]
        entered = np.count_nonzero((hits > p["window_start"]) & (hits <= p["window_end"]))
        assert found["impact_rate"][row] * length == pytest.approx(entered, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "step", "allowed"), [("euler", 1e-4, 2e-4), ("rk54", 1e-8, 2e-4)])
def test_time_schemes_agree_with_exact(scheme, step, allowed):
    exact = run("exact", STOPS)
    found = run(scheme, STOPS | {"tolerance" if scheme == "rk54" else "step": step, "largest_step": 1e-3})
    assert found["contact_ratio"] == pytest.approx(exact["contact_ratio"], abs=allowed)
    assert found["impact_rate"] == pytest.approx(exact["impact_rate"], rel=1e-12)


@pytest.mark.slow
def test_steps_of_their_own_and_float32_count_the_same():
    together = run("euler", STOPS | {"step": 1e-4})
    apart = run("euler", STOPS | {"step": np.full(4, 1e-4)})
    single = run("euler", STOPS | {"step": 1e-4}, dtype=np.float32)
    for found, allowed in ((apart, 1e-9), (single, 1e-4)):
        assert found["contact_ratio"] == pytest.approx(together["contact_ratio"], rel=allowed)
        assert found["impact_rate"] == pytest.approx(together["impact_rate"], rel=1e-6)


@pytest.mark.slow
def test_the_whole_run_is_what_is_counted_without_a_window():
    p = {name: value for name, value in STOPS.items() if name not in ("window_start", "window_end")}
    for scheme in ("exact", "euler"):
        found = run(scheme, p)
        assert found["contact_ratio"] == pytest.approx(found["contact_time"] / 4.0, rel=1e-9)
        assert found["impact_rate"] == pytest.approx(found["impacts"] / 4.0, rel=1e-12)  # one row starts inside the wall


@pytest.mark.slow
def test_a_buckling_wall_has_them():
    wall = {"m": 1.0, "v0": np.array([0.5, 1.0, 1.5, 2.0]), "k": 0.5, "k_n": 100.0, "f_crit": 3.0, "f_post": 1.0, "k_post": 60.0,
            "normal_force": 0.0, "end": 2.0, "window_start": 0.01}  # fmt: skip
    exact, found = run("exact", wall, BUCKLING_WALL), run("euler", wall | {"step": 1e-4}, BUCKLING_WALL)
    assert (exact["contact_ratio"] > 0.0).all()
    assert found["contact_ratio"] == pytest.approx(exact["contact_ratio"], rel=2e-3)
    assert found["impact_rate"] == pytest.approx(exact["impact_rate"])


SUMS, LARGEST = ("impacts", "contact_time", "impulse"), ("peak_force", "max_compression")
LAST = ("separation_time", "rebound_velocity", "exit_time", "return_time")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["exact", "euler"])
def test_windows_add_up_to_the_run(scheme):
    bounds = [0.0, 0.3, 0.34, 1.13, 2.5, 4.0]
    whole = {name: value for name, value in STOPS.items() if not name.startswith("window")} | {"x0": 0.05, "step": 1e-4}
    parts = run(scheme, whole | {"window_start": np.array([0.0, *bounds[:-1]]), "window_end": np.array([4.0, *bounds[1:]])}, count=6)
    assert parts["impacts"][0] > 4.0
    for name in SUMS:
        assert parts[name][1:].sum() == pytest.approx(parts[name][0], rel=1e-11), name
    for name in LARGEST:
        assert parts[name][1:].max() == pytest.approx(parts[name][0], rel=1e-13), name
    for name in LAST:
        events = parts[name][1:][~np.isnan(parts[name][1:])]
        assert events[-1] == pytest.approx(parts[name][0], rel=1e-13), name
    np.testing.assert_allclose(parts["contact_ratio"], parts["contact_time"] / np.array([4.0, *np.diff(bounds)]))
    for name in ("first_contact_time", "first_contact_velocity"):
        assert (parts[name] == parts[name][0]).all(), name


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "allowed"), [("exact", 1e-12), ("euler", 2e-4), ("rk54", 2e-3)])
def test_starts_and_returns_have_their_closed_form(scheme, allowed):
    gap, own, end = 0.1, math.sqrt(1000.0), 1.0  # free flight beside a stop: half a sine inside it
    x0 = np.array([0.0, 0.15, 0.15, 0.15, 0.1, 0.1])
    v0 = np.array([2.0, 1.0, -1.0, 0.0, 0.0, 1.0])
    p = {"k_n": own**2, "gap": gap, "x0": x0, "v0": v0, "end": end, "step": 1e-5, "normal_force": 0.0}
    found = run(scheme, p | ({"largest_step": 1e-4} if scheme == "rk54" else {}), count=6)
    assert found["impacts"].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]  # at rest, or on its way out, a mass does not come in
    enters, speed = np.array([gap / 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.hypot(np.maximum(x0 - gap, 0.0) * own, v0)
    leaves = enters + (math.pi - np.arctan2(np.maximum(x0 - gap, 0.0) * own, v0)) / own
    assert found["first_contact_time"] == pytest.approx(enters, abs=1e-9)
    assert found["first_contact_velocity"] == pytest.approx(v0, abs=1e-4)
    touched = speed > 0.0
    assert found["exit_time"][touched] == pytest.approx(leaves[touched], abs=allowed)
    assert found["return_time"][touched] == pytest.approx((leaves + gap / np.where(touched, speed, 1.0))[touched], abs=2.0 * allowed)
    assert np.isnan(found["exit_time"][4]) and np.isnan(found["return_time"][4])


@pytest.mark.slow
def test_the_wall_that_reaches_to_zero_is_left_where_the_mass_returns():
    found = run("exact", {"k_n": 100.0, "gap": np.array([0.0, -0.05]), "v0": 1.0, "end": 1.0, "normal_force": 0.0}, count=2)
    np.testing.assert_array_equal(found["return_time"], found["exit_time"])


STIFF = np.linspace(50.0, 500.0, 12)
OSCILLATOR = {"m": 1.0, "k": 1.0, "x0": -1.0, "k_n": 100.0, "normal_force": 0.0, "end": 10.0 * math.pi}


COARSE = {"euler": {"step": 1e-2}, "devogelaere": {"step": 1e-2}, "rk32": {"tolerance": 1e-4}, "rk54": {"tolerance": 1e-3}}


@pytest.mark.slow
@pytest.mark.long_cases("*-2", "rk*", "adapt1*", "devogelaere*")
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("scheme", ["exact", "euler", "devogelaere", "rk32", "rk54", "adapt1", "adapt2"])
def test_a_weight_laid_on_a_spring_hits_it_once_though_it_comes_back_to_the_face(scheme, sides):
    # and a mass that turns just at a face hits it never; adapt1, whose displacement is off by 2 %, presses it
    rows = {"k_n": [*STIFF, 100.0], "gap": [0.0] * 12 + [1.0], "load": [1.0] * 12 + [0.0], "x0": [0.0] * 12 + [-1.0]}
    p = {name: np.array(values) for name, values in rows.items()} | {"k": np.array([0.0] * 12 + [1.0])}
    p |= {"sides": sides, "end": 10.0 * math.pi, "normal_force": 0.0}
    for pace in ({}, COARSE.get(scheme)):
        if pace is None:
            continue
        found = run(scheme, p | pace, count=13)
        assert found["impacts"][:12].tolist() == [1.0] * 12
        assert (found["first_contact_time"][:12] == 0.0).all()
        assert scheme == "adapt1" or found["impacts"][12] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1.0, 0.3, 0.0])
def test_a_mass_that_just_reaches_a_face_has_no_impact_and_one_that_goes_deeper_has_all(gap):
    # x = middle - cos t turns at x = gap in every period; with the middle at gap - 1 + deeper it enters five times
    deeper = np.array([-1e-9, 0.0, 1e-9, 1e-6])
    middle = gap - 1.0 + deeper
    found = run("exact", OSCILLATOR | {"gap": gap, "load": middle, "x0": middle - 1.0}, count=4)
    assert found["impacts"].tolist() == [0.0, 0.0, 5.0, 5.0]
    assert np.isnan(found["first_contact_time"]).tolist() == [True, True, False, False]
    assert np.isnan(found["exit_time"]).tolist() == [True, True, False, False]
    enters = math.pi - np.arccos(1.0 - deeper[2:])
    assert found["first_contact_time"][2:] == pytest.approx(enters, abs=1e-7)


@pytest.mark.slow
def test_the_list_of_impacts_is_what_a_run_counts_wherever_it_starts():
    x0, v0 = np.repeat([-0.1, 0.0, 0.05, 0.08], 3), np.tile([-0.5, 0.0, 0.5], 4)
    p = {"k": 20.0, "gap": 0.05, "k_n": 300.0, "a0": 3.0, "omega": 5.0, "end": 3.0, "normal_force": 0.0}
    for sides in (1, 2):
        counted = run("exact", p | {"sides": sides, "x0": x0, "v0": v0}, count=12)["impacts"]
        hits = [kernels.impacts("stop", p | {"sides": sides, "x0": float(x), "v0": float(v)}) for x, v in zip(x0, v0, strict=True)]
        assert [len(each["time"]) for each in hits] == counted.tolist()
    between = {"k": 20.0, "gap": 0.05, "left_gap": 0.02, "k_n": 300.0, "left_k_n": 100.0, "a0": 3.0, "omega": 5.0, "end": 3.0}
    found = kernels.simulate("two_walls", between | {"normal_force": 0.0})
    assert len(kernels.impacts("two_walls", between | {"normal_force": 0.0})["time"]) == float(found["impacts"]) > 3.0
    # an impact before the window is in the list, with all of its impulse
    early = kernels.impacts("stop", {"v0": 1.0, "gap": 0.1, "k_n": 100.0, "end": 1.0, "window_start": 0.9, "normal_force": 0.0})
    assert early["impulse"] == pytest.approx([2.0], rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_the_list_of_impacts_is_what_a_run_counts_in_583_drawn_rows():
    rng, count = np.random.default_rng(22), 583
    gap = rng.uniform(0.0, 0.1, count)
    starts = [
        gap + rng.uniform(0.0, 0.05, count),
        gap,
        gap * rng.uniform(0.0, 1.0, count),
        -gap * rng.uniform(0.0, 1.0, count),
        gap + 1e-18,
    ]

    def some(share, value, others):
        return np.where(rng.random(count) < share, value, others)

    p = {"gap": gap, "x0": np.choose(rng.integers(0, 5, count), starts), "v0": some(0.3, 0.0, rng.uniform(-1.0, 1.0, count)),
         "k": some(0.5, 20.0, 0.0), "k_n": 10.0 ** rng.uniform(2.0, 4.0, count), "c_n": some(0.5, 0.0, rng.uniform(0.0, 5.0, count)),
         "a0": some(0.5, 0.0, 3.0), "load": some(0.3, 1.0, 0.0), "sides": some(0.5, 1.0, 2.0), "omega": 5.0, "end": 3.0,
         "normal_force": 0.0}  # fmt: skip
    counted = run("exact", p, count=count)["impacts"]
    for row in range(count):
        one = {name: float(value[row]) if np.ndim(value) else value for name, value in p.items()}
        assert len(kernels.impacts("stop", one)["time"]) == counted[row], one


@pytest.mark.parametrize("swapped", [False, True])
def test_two_walls_have_the_first_contact_and_the_last_separation_of_either(swapped):
    one = Shock(*np.arange(15.0))._replace(first_time=1.0, first_velocity=2.0, separation=5.0, rebound=-1.0, left=6.0, returned=np.nan)
    other = one._replace(first_time=3.0, first_velocity=-2.0, separation=4.0, rebound=1.0, left=7.0, returned=8.0, peak=99.0)
    found = merged(*((other, one) if swapped else (one, other)))
    whole = [float(each) for each in (found.first_time, found.first_velocity, found.separation, found.rebound, found.left, found.returned)]
    assert whole == [1.0, 2.0, 5.0, -1.0, 7.0, 8.0]
    assert (float(found.impacts), float(found.impulse), float(found.peak)) == (2.0 * one.impacts, 2.0 * one.impulse, 99.0)


def test_a_tolerance_decides_how_far_out_an_impact_ends_and_not_how_deep_one_begins():
    visit, unsure = Visit(jnp.full(1, -1e-6)), 1e-3
    for depths, held in (((-1e-2, 5e-4), True), ((5e-4, -9e-4), True), ((-9e-4, -1.1e-3), False), ((-1.1e-3, 1e-9), True)):
        ends = tuple(jnp.full(1, depth) for depth in depths)
        visit = visited(visit, ends, ends, 0.1, straight=False, unsure=unsure)
        assert bool(visit.held[0]) == held, depths


def test_what_is_too_brief_for_the_steps_of_a_scheme_neither_ends_an_impact_nor_is_one():
    h, pull = 0.1, 2.0  # steps of a point that falls towards its support: depth over time
    times = h * np.arange(12)

    def impacts(depth, rate, straight=True):
        visit, count = Visit(jnp.full(1, -1e-6)), 0
        for t0, t1 in itertools.pairwise(times):
            depths, rates = (tuple(jnp.asarray([of(t)]) for t in (t0, t1)) for of in (depth, rate))
            was, visit = visit, visited(visit, depths, rates, h, straight)
            count += int((visit.held & ~was.held)[0])
        return count

    for lasts, expected in ((3.5 * h, 1), (4.5 * h, 2)):  # out for so long, between two rests inside
        out = 0.5 * pull * lasts

        def depth(t, lasts=lasts, out=out):
            u = t - 3.0 * h
            return np.where((u > 0.0) & (u < lasts), -out * u + 0.5 * pull * u * u, 0.3)

        def rate(t, lasts=lasts, out=out):
            u = t - 3.0 * h
            return np.where((u > 0.0) & (u < lasts), -out + pull * u, 0.0)

        assert impacts(depth, rate) == expected
        assert impacts(depth, rate, straight=False) == 2


def test_a_mass_between_two_faces_without_clearance_hits_each_as_it_passes_and_none_as_it_rests():
    # closed forms, two rows: one swings through both faces, five half periods; a weight laid on a spring comes back to its face twice, and
    # a micrometre beyond, into the other one: by steps of straight lines that is nothing
    zero, omega, h, steps = np.zeros(2), 2.0 * math.pi, 1.0 / 16.0, 40
    wall = Wall(zero + 1.0, zero, zero + 1.0, zero + omega**2, zero, None, zero)
    body = Body(zero + 1.0, zero, zero, None, (wall,), zero + 1.0, True)
    turn = omega * h * np.arange(steps + 1.0)
    x = np.stack([0.3 * np.sin(turn), 0.02 * (1.0 - np.cos(turn)) - 1e-6], axis=1)
    v = omega * np.stack([0.3 * np.cos(turn), 0.02 * np.sin(turn)], axis=1)
    a = omega**2 * np.stack([-0.3 * np.sin(turn), 0.02 * np.cos(turn)], axis=1)

    def state(n, crush):
        return StepState(x[n], v[n], a[n], Memory(None, (wall.evaluate(crush, x[n], v[n])[1],)), ())

    @jax.jit
    def run():
        begin = state(0, new_crush(zero))
        whole = observe_wall.WindowPart(0.0, 1.0)

        def step(n, run):
            before, shocks = run
            after = state(n + 1, before.memory.walls[0])
            return after, observe_wall.update(shocks, (wall,), before, after, n * h, jnp.asarray(h), whole)

        return jax.lax.fori_loop(0, steps, step, (begin, observe_wall.init(body, begin, zero, straight=True)))[1]

    x, v, a = (jnp.asarray(each) for each in (x, v, a))
    (found,) = run()
    assert found.impacts.tolist() == [5.0, 1.0]
    assert found.first_time.tolist() == pytest.approx([0.0, 0.0], abs=2e-4)
    assert found.impulse.tolist() == pytest.approx([5.0 * 2.0 * 0.3 * omega, 0.02 * omega**2 * h * steps], rel=2e-2)
