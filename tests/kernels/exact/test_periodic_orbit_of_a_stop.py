"""The steady window of a mass that hits a stop: against an independent integration, closed forms, and what must not be called periodic."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

from tests.oracle import impacts_on_section, shock
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.exact import orbit_search, periodic_orbit, poincare
from tribosweep.kernels.exact.oscillator import Kind
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.walls import STOP_REGIMES
from tribosweep.kernels.observables import impact_pattern
from tribosweep.kernels.reference import bouncing_ball
from tribosweep.kernels.reference.closed_forms import damped_impact

pytestmark = pytest.mark.slow  # its programs take half a minute to compile

Row = Mapping[str, float]
NAMES = ("m", "k", "c", "x0", "v0", "a0", "omega", "phase", "f0", "load", "k_n", "c_n", "gap", "sides")
WORDS = by_name(STOP.observables)["regime"].words
SPRING = {"k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "a0": 1.0}  # on a spring, at rest against a stiff stop


def steadily(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """Observables and status of rows over their steady window; every parameter is a column, so that all tests share their program."""
    columns = {name: np.array([row.get(name, STOP.parameter(name).default) for row in rows], float) for name in NAMES}
    found = batch.solve(STOP, "exact", columns, count=len(rows), window="steady", room=256)
    return {**found.observables, "status": found.status}


def regimes(found: Mapping[str, np.ndarray]) -> list[str]:
    """The regimes in words."""
    return [WORDS[code] for code in found["regime"]]


def points(found: Mapping[str, np.ndarray], row: int) -> np.ndarray:
    """(x, v) of a row at its sections, (period, 2)."""
    pairs = np.stack([found["poincare_x"][row], found["poincare_v"][row]], axis=1)
    return pairs[np.isfinite(pairs[:, 0])]


PERIODIC = {
    "period 1": {**SPRING, "omega": 1.5},
    "period 1, one impact": {**SPRING, "omega": 2.0, "phase": 1.0},
    "period 2, one impact": {**SPRING, "omega": 3.5},
    "period 2, three impacts": {**SPRING, "omega": 1.1612903225806452},
    "period 3": {**SPRING, "omega": 5.5},
    "period 4": {**SPRING, "omega": 3.096774193548387},
    "period 5": {**SPRING, "omega": 4.548387096774194},
    "two stops": {**SPRING, "omega": 1.3, "sides": 2.0, "gap": 0.4, "phase": 0.5},
    "pressed on the stop": {**SPRING, "omega": 2.0, "gap": -0.3, "phase": 4.0},
    "a stop that hardly damps": {**SPRING, "omega": 2.2, "c_n": 0.0, "load": 0.2},
}


@pytest.mark.long
def test_points_of_periodic_motions_are_those_of_an_independent_integration_and_attract() -> None:
    found = steadily(list(PERIODIC.values()))
    assert found["status"].tolist() == [Status.OK] * len(PERIODIC)
    assert {1.0, 2.0, 3.0, 4.0, 5.0} <= set(found["period"])
    for i, (name, row) in enumerate(PERIODIC.items()):
        count, here = int(found["period"][i]), points(found, i)
        assert len(here) == count, name
        there = np.array(impacts_on_section.periods(row, here[0], count), float)
        scale = np.abs(there).max()
        np.testing.assert_allclose(here, there[:-1], atol=1e-11 * scale, err_msg=name)
        np.testing.assert_allclose(there[-1], here[0], atol=1e-11 * scale, err_msg=name)
        assert (found["x_end"][i], found["v_end"][i]) == pytest.approx(tuple(here[0]), abs=1e-11 * scale), name
        assert all(np.abs(here[0] - other).max() > 1e-3 * scale for other in here[1:]), name
        assert max(map(abs, impacts_on_section.multipliers(row, here[0], count))) < 1.0, name


def test_what_is_measured_is_that_of_the_window() -> None:
    names = ["period 1", "period 2, three impacts", "period 3", "two stops"]
    rows = [PERIODIC[name] for name in names]
    found = steadily(rows)
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        here = points(found, i)
        begin = here[np.argmin(np.abs(here[:, 0])) if "sides" in row else np.argmin(here[:, 0])]  # out of contact
        with mp.workdps(30):
            end = 2 * mp.pi * int(found["period"][i]) / mpf(row["omega"])
        there = shock.run({**row, "mu": 0.0, "x0": begin[0], "v0": begin[1]}, end)
        for key in ("impacts", "peak_force", "contact_time", "impulse", "max_compression"):
            assert found[key][i] == pytest.approx(float(there[key]), rel=1e-9), (name, key)
    assert regimes(found) == ["periodic impacts"] * 4
    for key in ("first_contact_time", "separation_time", "exit_time", "return_time"):
        assert np.isnan(found[key]).all(), key


@pytest.mark.long
def test_a_stop_that_is_not_met_changes_nothing() -> None:
    row = {"k": 4.3, "c": 0.1, "a0": 1.0, "x0": 0.3, "omega": 2.0, "phase": 0.4, "k_n": 1e4, "gap": 30.0}
    found = steadily([row, {**row, "gap": -30.0, "k_n": 1e6, "c_n": 300.0}, {**row, "gap": -30.0, "load": 4.3 * 50.0}])
    # x = Im(X e^(i (omega t + phase)))
    response = -1.0 / (4.3 - 4.0 + 0.2j) * np.exp(0.4j)
    assert found["poincare_x"][0, 0] == pytest.approx(response.imag, rel=1e-12)
    assert found["poincare_v"][0, 0] == pytest.approx((2.0j * response).imag, rel=1e-12)
    assert regimes(found) == ["no contact", "permanent contact", "permanent contact"]
    assert found["impacts"].tolist() == [0.0, 0.0, 0.0]
    assert found["peak_force"][0] == 0.0


class Ball:
    """A ball of restitution e on a rigid table, in units of 10 N and 1 s (`reference.bouncing_ball`): period 1, one impact.

    Heights above the table z: z'' = g (gamma sin(theta) - 1), theta = omega t. It leaves the table with u = e g T/(1 + e) at the angle
    cos(theta) = pi (1 - e)/((1 + e) gamma).
    """

    def __init__(self, e: float) -> None:
        self.e, self.g, self.omega = e, 10.0, 2.0 * math.pi
        self.born, self.doubles = bouncing_ball.period_one_begins(e), bouncing_ball.period_one_doubles(e)
        low, high = 0.0, 0.9
        while high - low > 1e-15:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if damped_impact(1.0, 1.0, 2.0 * middle)[1] > e else (low, middle)
        self.zeta = low

    def flight(self, gamma: float, t: float) -> tuple[float, float]:
        """Height above the table and its rate at a time after the impact."""
        theta, u, a = math.acos(self.born / gamma), self.e * self.g / (1.0 + self.e), gamma * self.g
        turned = theta + self.omega * t
        rate = u - self.g * t + a / self.omega * (math.cos(theta) - math.cos(turned))
        height = u * t - self.g * t * t / 2.0 + a / self.omega * (t * math.cos(theta) - (math.sin(turned) - math.sin(theta)) / self.omega)
        return height, rate

    def at_section(self, gamma: float) -> tuple[float, float]:
        """Height and rate where theta is a multiple of 2 pi."""
        return self.flight(gamma, 1.0 - math.acos(self.born / gamma) / self.omega)

    def row(self, gamma: float, stiffness: float, start: float) -> dict[str, float]:
        """The same on a stop of this stiffness over m omega^2 (x downwards), started near the motion at `start`."""
        k_n = stiffness * self.omega**2
        x0, v0 = self.at_section(start)
        table = {"a0": gamma * self.g, "omega": self.omega, "k_n": k_n, "c_n": 2.0 * self.zeta * math.sqrt(k_n)}
        return {**table, "load": self.g, "x0": -x0, "v0": -v0}

    def find_doubling(self, stiffness: float) -> tuple[float, dict[str, float], np.ndarray]:
        """Where period 1 ends [gamma], to 1e-9, and the last row of period 1 with its point."""
        low, high = 0.98 * self.doubles, 1.01 * self.doubles
        while high - low > 1e-9:
            gammas = np.linspace(low, high, 128)
            rows = [self.row(gamma, stiffness, low) for gamma in gammas]
            found = steadily(rows)
            ones = np.flatnonzero(found["period"] == 1.0)
            assert ones.tolist() == list(range(len(ones)))
            low, high = gammas[ones[-1]], gammas[ones[-1] + 1]
            last = rows[ones[-1]], points(found, int(ones[-1]))[0]
        return (low + high) / 2.0, *last


def test_the_closed_form_of_the_bouncing_ball_is_a_motion_of_period_1() -> None:
    ball = Ball(0.5)
    height, rate = ball.flight(1.3, 1.0)
    assert height == pytest.approx(0.0, abs=1e-14)
    assert -ball.e * rate == pytest.approx(ball.e * ball.g / (1.0 + ball.e), rel=1e-14)


@pytest.mark.long
def test_points_of_a_ball_on_a_hard_table_approach_the_closed_form_of_a_rigid_one() -> None:
    ball, gammas, errors = Ball(0.5), (1.1, 1.2, 1.3, 1.4, 1.5), []
    for stiffness in (1e6, 1e8, 1e10):
        found = steadily([ball.row(gamma, stiffness, gamma) for gamma in gammas])
        assert found["period"].tolist() == [1.0] * 5
        assert found["impacts"].tolist() == [1.0] * 5
        exact = np.array([ball.at_section(gamma) for gamma in gammas])
        errors.append(np.abs(-np.stack([found["poincare_x"][:, 0], found["poincare_v"][:, 0]], axis=1) - exact).max())
    # as the time in contact does, 1/(2 sqrt(stiffness)) of a period
    assert errors[0] < 3e-3
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 10.0, rtol=0.05)


@pytest.mark.long
def test_the_period_of_a_bouncing_ball_doubles_where_theory_says() -> None:
    ball = Ball(0.5)
    (soft, _, _), (hard, row, point) = ball.find_doubling(1e8), ball.find_doubling(1e10)
    # of an independent integration at that stiffness, one multiplier is -1 there
    assert min(impacts_on_section.multipliers(row, point, 1), key=lambda value: value.real) == pytest.approx(-1.0, abs=1e-6)
    # the error falls with the time in contact, as 1/sqrt(stiffness): what is left of it is quadratic in that
    assert abs(hard - ball.doubles) < 2e-4
    assert (10.0 * hard - soft) / 9.0 == pytest.approx(ball.doubles, abs=2e-7)


@pytest.mark.long
def test_a_ball_that_comes_to_rest_chatters_and_another_start_finds_another_motion() -> None:
    ball = Ball(0.5)
    rows = [{**ball.row(1.2, 1e8, 1.2), "x0": 0.0, "v0": 0.0}, ball.row(1.2, 1e8, 1.2), {**ball.row(0.8, 1e8, 1.2)}]
    found = steadily(rows)
    assert regimes(found) == ["chatter", "periodic impacts", "permanent contact"]
    assert found["period"].tolist() == [1.0, 1.0, 1.0]
    assert found["impacts"][0] > 5.0


def test_a_graze_is_a_slow_impact() -> None:
    response = -1.0 / (1.0 - 1.3**2 + 0.2j * 1.3)  # x = Im(X e^(i omega t)), from which it starts: another motion is near
    amplitude = abs(response)
    row = {"k": 1.0, "c": 0.2, "a0": 1.0, "omega": 1.3, "k_n": 10.0, "c_n": 0.1, "x0": response.imag, "v0": 1.3 * response.real}
    # where it comes to the wall at a distance d from its crest it is sqrt(2 d / amplitude) omega amplitude fast
    depths = [-1e-9, 1e-9, 1e-6, 1e-5, 1e-3]
    found = steadily([{**row, "gap": amplitude * (1.0 - depth)} for depth in depths])
    assert regimes(found) == ["no contact", "grazing", "grazing", "periodic impacts", "periodic impacts"]
    speeds = [math.sqrt(2.0 * depth) * 1.3 * amplitude for depth in depths[1:]]
    np.testing.assert_allclose(found["first_contact_velocity"][1:4], speeds[:3], rtol=5e-2)
    assert speeds[1] < impact_pattern.GRAZING / 1.3 < speeds[2]


def test_what_has_no_period_is_not_called_periodic_and_has_its_points() -> None:
    chaos = {**SPRING, "omega": 2.7}
    undamped = {"k": 1.0, "a0": 1.0, "omega": 2.2, "k_n": 50.0, "x0": -0.7}
    fine = PERIODIC["period 1"]
    no_number = {**fine, "a0": math.nan}
    found = steadily([chaos, undamped, fine, no_number])
    assert found["status"].tolist() == [Status.NOT_PERIODIC, Status.NOT_PERIODIC, Status.OK, Status.NOT_FINITE]
    assert regimes(found)[:3] == ["aperiodic", "aperiodic", "periodic impacts"]
    assert np.isnan(found["period"]).tolist() == [True, True, False, True]
    assert [len(points(found, i)) for i in range(4)] == [64, 64, 1, 0]
    assert found["impacts"][0] > 20.0
    # one period after the other is that of an independent integration
    here = points(found, 0)
    for i in (0, 20, 40, 60):
        there = np.array(impacts_on_section.periods(chaos, here[i], 1)[1], float)
        np.testing.assert_allclose(there, here[i + 1], atol=1e-12)
    # and its motion is not near one of period up to 16: it does not come back
    assert all(np.abs(here[q:] - here[:-q]).max() > 0.1 for q in range(1, 17))


@pytest.mark.long
def test_near_a_doubling_no_period_is_called_its_double() -> None:
    # beside it the motion is slow to settle, and the points of period 2 lie close: as the square root of the distance
    ball, steps = Ball(0.5), np.array([1e-2, 5e-3, 3e-3, 1e-5, 1e-8])
    doubling, _, _ = ball.find_doubling(1e8)
    found = steadily([ball.row(doubling + sign * step, 1e8, doubling - step) for sign in (-1.0, 1.0) for step in steps])
    assert found["period"][:8].tolist() == [1.0] * 5 + [2.0] * 3
    apart = np.abs(np.diff(found["poincare_v"][5:8, :2], axis=1))[:, 0]
    np.testing.assert_allclose(apart[1:] / apart[:-1], np.sqrt(steps[1:3] / steps[:2]), rtol=0.03)
    # nearer than that it may take more periods to get there than are given, but no other period is claimed
    claimed = found["period"][8:]
    assert ((claimed == 2.0) | ((found["status"][8:] == Status.NOT_PERIODIC) & np.isnan(claimed))).all()


def test_the_words_of_the_stop_are_in_the_order_of_their_codes() -> None:
    codes = (
        impact_pattern.NO_CONTACT,
        impact_pattern.PERMANENT,
        impact_pattern.GRAZES,
        impact_pattern.IMPACTS,
        impact_pattern.CHATTERS,
        impact_pattern.APERIODIC,
    )
    assert tuple(WORDS[code] for code in codes) == STOP_REGIMES


@pytest.mark.long
def test_derivatives_are_those_of_differences_in_every_parameter_at_once() -> None:
    """The last row is of two bodies, which the program of a stop is for as well."""
    names = ("m", "m_2", "k", "c", "a0", "omega", "phase", "f0", "load", "k_n", "c_n", "gap")
    wanted = (
        "x_end",
        "v_end",
        "x_end_2",
        "v_end_2",
        "peak_force",
        "contact_time",
        "impulse",
        "max_compression",
        "rebound_velocity",
        "poincare_x",
        "poincare_v",
    )
    build = functools.partial(poincare.contacts, kind=Kind(None, (WallLaw("stop"),)))

    def observe(p: dict[str, Any]) -> tuple[Any, Any]:
        found, _ = periodic_orbit.simulate(p, build)
        return jnp.concatenate([jnp.atleast_1d(found[name])[:2] for name in wanted]), found["period"]

    both = jax.jit(lambda p, along: jax.jvp(observe, (p,), (along,)))
    random = np.random.default_rng(7)
    pair = {**SPRING, "omega": 1.5, "f0": -1.0, "m_2": 2.0, "a0": 0.4, "load": 0.1, "v0": 0.2, "v0_2": -0.3}
    rows = {**PERIODIC, "two bodies": pair}
    for name, period in (("period 1", 1.0), ("period 2, three impacts", 2.0), ("two stops", 1.0), ("two bodies", 1.0)):
        at = {key: jnp.asarray(float(value)) for key, value in STOP.resolve(rows[name]).items() if key not in ("mu", "g")}
        along = {key: jnp.asarray(random.uniform(0.3, 1.0) if key in names else 0.0) for key in at}
        (_, found), (rates, _) = both(at, along)
        assert found == period
        h = 1e-5
        steps = [both({key: at[key] + n * h * along[key] for key in at}, along)[0][0] for n in (-2, -1, 1, 2)]
        slope = (steps[0] - 8.0 * steps[1] + 8.0 * steps[2] - steps[3]) / (12.0 * h)
        shown = np.isfinite(np.asarray(steps[0]))  # a motion of period 1 has no second point
        np.testing.assert_allclose(np.asarray(rates)[shown], np.asarray(slope)[shown], rtol=2e-6, atol=1e-7, err_msg=name)


@pytest.mark.long
def test_with_rigid_friction_points_are_those_of_an_independent_integration() -> None:
    rows = [
        {**SPRING, "omega": 1.5, "mu": 0.01},
        {**SPRING, "omega": 3.4, "mu": 0.005, "phase": 0.5},
        {**SPRING, "omega": 0.7, "gap": 0.3, "mu_s": 0.06, "mu_d": 0.04},
        {**SPRING, "omega": 1.3, "gap": 0.4, "mu": 0.02, "sides": 2.0},
        {**SPRING, "omega": 1.5, "mu": 0.2},
    ]
    columns = {name: np.array([row.get(name, STOP.parameter(name).default) for row in rows], float) for name in NAMES}
    columns |= {name: np.array([row.get(name, row.get("mu", 0.0)) for row in rows]) for name in ("mu_s", "mu_d")}
    solution = batch.solve(STOP, "exact", columns, count=len(rows), window="steady")
    found = solution.observables
    assert solution.status.tolist() == [Status.OK] * 5
    for i, row in enumerate(rows[:-1]):
        here = points(found, i)
        begin = here[np.argmax(np.abs(here[:, 1]))]  # it slips, so that its direction is that of its speed
        assert abs(begin[1]) > 1e-3
        with mp.workdps(30):
            end = 2 * mp.pi * int(found["period"][i]) / mpf(row["omega"])
        there = shock.run({"g": 10.0, "mu": 0.0, **row, "x0": begin[0], "v0": begin[1]}, end)
        scale = np.abs(here).max()
        assert (float(there["x_end"]), float(there["v_end"])) == pytest.approx(tuple(begin), abs=1e-10 * scale), i
        assert found["wear_energy"][i] == pytest.approx(float(there["friction_energy"]) / row.get("mu_d", row.get("mu")), rel=1e-9), i
    assert WORDS[found["regime"][4]] in ("no contact", "permanent contact")
    assert found["stick_fraction"][4] == 1.0
    assert found["stick_fraction"][2] > 0.0


@pytest.mark.long
def test_with_penalised_friction_the_steady_window_is_the_last_period_of_a_long_run() -> None:
    rubs = {**SPRING, "gap": 0.3, "mu": 0.03, "k_t": 200.0}
    rows = [
        {**rubs, "omega": 1.5},
        {**rubs, "omega": 2.0, "phase": 1.0},
        {**rubs, "omega": 1.3, "sides": 2.0},
        {**rubs, "omega": 1.5, "mu": 0.08},
    ]
    columns = {name: np.array([row.get(name, STOP.parameter(name).default) for row in rows]) for name in (*NAMES, "mu", "k_t")}
    found = batch.solve(STOP, "exact", columns, count=len(rows), window="steady")
    assert found.status.tolist() == [Status.OK] * 4
    assert found.observables["period"].tolist() == [1.0, 1.0, 2.0, 1.0]
    period = 2.0 * math.pi / columns["omega"]
    ends = {"end": 600.0 * period, "window_end": 600.0 * period, "window_start": (600.0 - found.observables["period"]) * period}
    long = batch.solve(STOP, "exact", {**columns, **ends}, count=len(rows))
    for name in ("wear_power", "stick_fraction", "slip_distance", "max_slip_speed"):
        np.testing.assert_allclose(found.observables[name], long.observables[name], rtol=1e-11, err_msg=name)


@pytest.mark.long
def test_where_the_search_gives_up_early_two_runs_that_start_close_together_part_and_elsewhere_they_meet() -> None:
    rng = np.random.default_rng(5)
    count, apart, periods = 256, 1e-8, 150.0
    rows = [
        {
            "k": 1.0,
            "c": 0.1,
            "k_n": 1e3,
            "c_n": 1.0,
            "gap": 0.1,
            "a0": 0.0,
            "f0": float(rng.uniform(0.2, 2.0)),
            "omega": float(rng.uniform(0.6, 2.5)),
        }
        for _ in range(count)
    ]
    found = steadily(rows)
    omega = np.array([row["omega"] for row in rows])
    took = found["time_reached"] * omega / (2.0 * math.pi)
    early = (found["status"] == Status.NOT_PERIODIC) & (took < orbit_search.MOST_PERIODS - 0.5)
    assert 10 < early.sum() < 60
    assert took[early].min() >= orbit_search.CHAOTIC - 0.5
    ends = {"end": periods * 2.0 * math.pi / omega, "window_start": np.zeros(count), "window_end": periods * 2.0 * math.pi / omega}
    columns = {name: np.array([row.get(name, STOP.parameter(name).default) for row in rows], float) for name in NAMES}
    one, other = (batch.solve(STOP, "exact", columns | ends | {"v0": np.full(count, v0)}, count=count).observables for v0 in (0.0, apart))
    gone = np.hypot(one["x_end"] - other["x_end"], (one["v_end"] - other["v_end"]) / omega)
    assert (gone[early] > 1e5 * apart).all()
    assert (gone[found["status"] == Status.OK] < apart).mean() > 0.9
