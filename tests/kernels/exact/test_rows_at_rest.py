"""Rows in which nothing happens any more, or whose free motion decays at once, need no events: their length does not matter."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest
from mpmath import exp, mp, mpf, sin, sqrt, workdps
from scipy.optimize import brentq

from tribosweep import kernels
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.results import Results

A0, OMEGA, LIMIT, END = mpf(15), mpf(5), mpf(1), mpf(2)  # of a mass of 1 kg, whose friction is 1 N
PUSHED = 1e3  # x0 [m]: beside it a contact rests that swings by 1e-13 m


@workdps(40)
def dragged(c: float, k: float, x0: float) -> tuple[float, float, float]:
    """x and v at the end and the distance slipped, in closed form between the roots of v in 40 digits; damping so strong is no inertia."""
    zeta, w2, angle = mpf(c) / 2, mpf(k), mp.mpc(0, OMEGA)
    fast = zeta + sqrt(zeta * zeta - w2)
    slow, answer = w2 / fast, -A0 * angle / (w2 + angle * (angle + 2 * zeta))

    def force(t: mpf, x: mpf) -> mpf:
        return -A0 * sin(OMEGA * t) - k * x

    def zero(of: object, low: mpf, high: mpf) -> mpf:
        return mp.findroot(of, (low, high), solver="illinois", tol=mpf(10) ** -50)

    t, x, v, slid, step = mpf(0), mpf(x0), mpf(0), mpf(0), 2 * mp.pi / OMEGA / 200
    way = mp.sign(force(t, x)) if abs(force(t, x)) > LIMIT else 0
    while t < END:
        if not way:
            later = next((t + n * step for n in range(1, 400) if abs(force(t + n * step, x)) > LIMIT), END)
            if later >= END:
                break
            way = mp.sign(force(later, x))
            t, v = zero(lambda s, way=way, x=x: way * force(s, x) - LIMIT, later - step, later), mpf(0)
        speed, push = v - (answer * exp(angle * t)).imag, force(t, x) - c * v - way * LIMIT - (answer * angle * exp(angle * t)).imag
        brief = -(push + slow * speed) / (fast - slow)

        def velocity(s: mpf, t: mpf = t, speed: mpf = speed, brief: mpf = brief) -> mpf:
            return (answer * exp(angle * s)).imag + (speed - brief) * exp(-slow * (s - t)) + brief * exp(-fast * (s - t))

        times = [min(t + n * step, END) for n in range(1, 400)]
        end = next((i for i, s in enumerate(times) if way * velocity(s) < 0), None)
        stop = END if end is None else zero(velocity, times[end] - step, times[end])
        lasts = stop - t
        moved = (answer / angle * (exp(angle * stop) - exp(angle * t))).imag + brief * (1 - exp(-fast * lasts)) / fast
        moved += (speed - brief) * (lasts if slow == 0 else (1 - exp(-slow * lasts)) / slow)
        x, t, v, slid = x + moved, stop, velocity(stop), slid + abs(moved)
        needed = force(t, x)
        way = 0 if end is None or abs(needed) <= LIMIT else mp.sign(needed)
    return float(x), float(v), float(slid)


@pytest.mark.slow
def test_a_mass_that_damping_holds_back_moves_as_in_forty_digits() -> None:
    rows = [(c, k, x0) for c in (1e4, 1e10, 1e14) for k, x0 in ((0.0, 0.0), (100.0, 1.0), (100.0, 0.01))]
    c, k, x0 = (np.array(column) for column in zip(*rows, strict=True))
    found = kernels.simulate(
        "rubbing_mass", {"c": c, "k": k, "x0": x0, "a0": 15.0, "omega": 5.0, "mu": 0.1, "end": 2.0, "window_start": 0.0}
    )
    assert (found.status == Status.OK).all()
    for place, row in enumerate(rows):
        x, v, slid = dragged(*row)
        assert float(found.x_end[place]) == pytest.approx(x, rel=1e-14)
        assert float(found.v_end[place]) == pytest.approx(v, rel=1e-12)
        assert float(found.slip_distance[place]) == pytest.approx(slid, rel=1e-12)


@pytest.mark.slow
@pytest.mark.long
def test_a_strongly_damped_row_changes_nothing_of_its_neighbours_nor_their_program_of_it() -> None:
    row = {"a0": 15.0, "omega": 5.0, "mu": 0.1, "k": 100.0, "end": 2.0}
    mild, strong = np.array([1.0, 2.0]), np.array([1e10])
    mixed = kernels.simulate("rubbing_mass", row | {"c": np.array([1.0, 1e10, 2.0])})
    for part, places in ((mild, [0, 2]), (strong, [1])):
        alone = kernels.simulate("rubbing_mass", row | {"c": part})
        assert all(np.array_equal(mixed[name][np.array(places)], alone[name], equal_nan=True) for name in alone)
    run = {"window_start": 100 * 2 * math.pi / 5.0, "end": 101 * 2 * math.pi / 5.0, "c": 1e10}
    steady = kernels.simulate("rubbing_mass", {name: value for name, value in row.items() if name != "end"} | {"c": 1e10}, window="steady")
    assert int(steady.status) == Status.OK
    assert float(steady.wear_power) == pytest.approx(float(kernels.simulate("rubbing_mass", row | run).wear_power), rel=1e-12)


@pytest.mark.slow
def test_a_ball_that_has_come_to_rest_needs_no_events() -> None:
    k, c, g = 1e10, 3e4, 9.81
    ball = {"load": g, "k_n": k, "c_n": c, "k": 0.0, "mu": 0.0, "a0": 0.0, "window_start": 0.0}
    found = kernels.simulate("stop", ball | {"gap": np.array([0.0, 1.0, 0.0]), "end": np.array([20.0, 20.0, 1e6])})
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.x_end - np.array([0.0, 1.0, 0.0]), g / k, rtol=1e-6)  # beside 1 m, eps is 2e-7 of it
    assert (found.v_end == 0.0).all()
    # laid on the face: the force is largest where its rate vanishes for the first time
    zeta, turns = c / 2, math.sqrt(k - c * c / 4)
    late = (math.pi - math.atan(c * turns / (k - c * zeta))) / turns
    wave = math.exp(-zeta * late) * np.array([math.sin(turns * late) / turns, math.cos(turns * late)])
    peak = g + wave @ np.array([c * g - zeta * g, -g])
    np.testing.assert_allclose(found.peak_force[::2], peak, rtol=1e-12)
    assert found.impacts.tolist() == [1, 23, 1]  # the second bounces 22 times, each time from the height that the last contact leaves


@pytest.mark.slow
@pytest.mark.long
def test_a_mass_at_rest_still_answers_a_push() -> None:
    still = {"k": 100.0, "c": 0.0, "mu": 0.0, "gap": 1.0, "k_n": 1e3, "a0": 0.0, "end": 1.0}
    by_v0 = jax.grad(lambda v0: kernels.simulate("stop", still | {"v0": v0}).x_end)(0.0)
    assert float(by_v0) == pytest.approx(math.sin(10.0) / 10.0, rel=1e-14)


def released(k_t: float) -> float:
    """Place at 2 s beyond `PUSHED` [m], in closed form: a load holds a contact where its swing turns, until the limit has fallen."""
    zeta, own = 1.0, math.sqrt(99.0)  # of the row itself, on which the instant and the size of the second load depend
    turn = math.pi / own
    second = 1.0 + math.exp(-zeta * turn)

    def held(load: float, x: float, v: float, t: float) -> tuple[float, float]:
        wave = math.sqrt(k_t - zeta * zeta)
        out, up = x - load / k_t, (v + zeta * (x - load / k_t)) / wave
        sine, cosine, decay = math.sin(wave * t), math.cos(wave * t), math.exp(-zeta * t)
        place = decay * (out * cosine + up * sine)
        return load / k_t + place, decay * wave * (up * cosine - out * sine) - zeta * place

    x, v = held(1.0, 0.0, 0.0, turn)

    def left(t: float) -> float:
        at, rate = held(second, x, v, t - turn)
        return 0.2 * (10.0 + 5.0 * math.sin(4.0 * t)) - k_t * at - 2.0 * zeta * rate

    late = brentq(left, 0.8, 0.9, xtol=1e-15)
    (x, v), rest = held(second, x, v, late - turn), 2.0 - late
    swing = (math.sin(8.0) - math.sin(4.0 * late)) / 16.0 - math.cos(4.0 * late) * rest / 4.0
    return x + v * rest + 0.5 * (second - 1.0) * rest * rest + 0.5 * swing


@pytest.mark.slow
@pytest.mark.long
def test_a_mass_at_rest_follows_the_derivative_of_the_limit_that_releases_it() -> None:
    turn = math.pi / math.sqrt(99.0)
    table = {"table_time": np.array([0.0, turn, turn, 2.0]), "table_force": np.array([1.0, 1.0, *[1.0 + math.exp(-turn)] * 2])}
    row = table | {"x0": PUSHED, "mu_s": 0.2, "mu_d": 0.1, "c_t": 2.0, "normal_force": 10.0, "normal_amplitude": 5.0, "normal_omega": 4.0,
                   "end": 2.0}  # fmt: skip
    x, by_stiffness = jax.jvp(lambda k_t: kernels.simulate("rubbing_mass", row | {"k_t": k_t}).x_end, (100.0,), (1.0,))
    assert float(x) - PUSHED == pytest.approx(released(100.0), abs=1e-12)
    for side in (1e-4, -1e-4):
        change = (released(100.0 + side) - released(100.0)) / side
        assert float(by_stiffness) == pytest.approx(change, rel=2e-5)  # 1.85 times that without what guards keep


def test_a_row_with_too_many_events_says_when_they_ended_its_run() -> None:
    cut = Results({"status": np.array([0, Status.TOO_MANY_EVENTS]), "time_reached": np.array([20.0, 13.90689])})
    with pytest.raises(ValueError, match=r"^1 of 2 rows failed: row 1: more than 1,000,000 events .* ended at t = 13\.91 s: shorten end"):
        cut.raise_failed()
