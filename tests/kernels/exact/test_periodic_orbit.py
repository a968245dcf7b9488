"""The steady window: against closed forms, long plain runs, and what must not be called periodic."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp

from tests.kernels.compiling import hastily
from tests.oracle.rigid_friction import DIGITS, Oscillator
from tests.oracle.sdnd104 import stick_slip_wear_power
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.exact import orbit_search, poincare
from tribosweep.kernels.models import REGIMES, RUBBING_MASS
from tribosweep.kernels.models.features import DRIVES
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.reference import closed_forms

Row = Mapping[str, float]
Solve = Callable[..., dict[str, np.ndarray]]
ETAS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.53]
BETAS = [0.6, 0.7, 0.8, 0.95, 1.05, 1.5, 2.0, 3.0, 5.0, 10.0]
RUN = ("end", "window_start", "window_end")


def steadily(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """Observables and status of rows over their steady window; every parameter is a column, so that all tests share their programs."""
    names = [quantity.name for quantity in RUBBING_MASS.parameters if quantity.name not in {*RUN, *DRIVES}]
    absent = {name: np.array([name not in row for row in rows]) for name in names}
    columns = {name: np.array([row.get(name, 0.0) for row in rows]) for name in names}
    found = batch.solve(RUBBING_MASS, "exact", columns, absent, count=len(rows), window="steady")
    return {**found.observables, "status": found.status}


@functools.cache
def periods_of(free: bool) -> Any:
    """Rows of a rigid mass -> the periods and the events that the search takes."""
    build = functools.partial(poincare.rigid, free=free)

    def one(p: dict[str, Any]) -> tuple[Any, Any]:
        found = orbit_search.search(build, p)
        return found.periods, found.state.events

    together = jax.jit(jax.vmap(one))

    def run(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
        resolved = [RUBBING_MASS.resolve(row) for row in rows]
        columns = {name: np.array([float(row[name]) for row in resolved]) for name in resolved[0] if name not in ("k_t", "c_t")}
        periods, events = together(columns)
        return np.asarray(periods), np.asarray(events)

    return run


def den_hartog(beta: float, share: float = 0.9) -> tuple[dict[str, float], float]:
    """A mass on a spring at rest, with friction that is this share of the largest without stops, and its steady wear power."""
    m, k, a0, normal_force = 1.7, 4.3, 1.3, 11.0
    omega, friction = beta * math.sqrt(k / m), share * closed_forms.den_hartog_limit(beta) * m * a0
    orbit = closed_forms.DenHartog(m, k, a0, omega, friction, normal_force)
    return {"m": m, "k": k, "a0": a0, "omega": omega, "mu": friction / normal_force, "normal_force": normal_force}, orbit.wear_power


def lasting(row: Row, multiple: float = 1.0, periods: int = 400) -> dict[str, float]:
    """The row as a plain run of many periods, observed over the last `multiple` of them."""
    end = periods * 2.0 * math.pi / row.get("omega", 2.0 * math.pi)
    return {**row, "end": end, "window_start": end * (periods - multiple) / periods}


@pytest.mark.slow
@pytest.mark.parametrize(("beta", "eta", "stops"), [(2.0, 0.5, 0), (0.9, 0.9, 2), (0.22, 0.3, 4), (0.15, 0.5, 4), (0.1, 0.45, 6)])
def test_stops_of_a_period_are_those_of_an_independent_run(beta: float, eta: float, stops: int) -> None:
    row = {"k": 1.0, "g": 1.0, "a0": 1.0, "omega": beta, "mu": eta}
    period = 2.0 * math.pi / beta
    with mp.workdps(DIGITS):
        independent = Oscillator(row, 6.0 * period)
    rests = [stretch for stretch in independent.stretches if stretch.direction == 0 and 4.75 * period < stretch.stop < 5.75 * period]
    found = steadily([row])
    assert (found["period"][0], found["stops"][0], len(rests)) == (1.0, stops, stops)


@pytest.mark.long
@pytest.mark.slow
def test_a_mass_that_never_moves_never_stops() -> None:
    found = steadily([{"a0": 1.0, "mu": 0.2}, {"k": 1.0, "g": 1.0, "a0": 1.0, "omega": 0.3, "mu": 1.1}])
    assert found["stops"].tolist() == [0.0, 0.0]
    assert found["regime"].tolist() == [0, 0]


@pytest.mark.parametrize("beta", [0.97, 0.99, 1.003, 1.02])
@pytest.mark.slow
def test_a_run_that_creeps_near_the_boundary_at_resonance_gets_there(beta: float) -> None:
    limit = closed_forms.den_hartog_limit(beta)
    rows = [{"k": 1.0, "g": 1.0, "a0": 1.0, "omega": beta, "mu": (1.0 + share) * limit} for share in (-1e-6, 1e-6)]
    found = steadily(rows)
    assert not found["status"].any()
    assert [REGIMES[code] for code in found["regime"]] == ["slip-slip", "stick-slip"]
    assert (found["time_reached"] < 500.0 * 2.0 * math.pi / beta).all()
    orbit = closed_forms.DenHartog(1.0, 1.0, 1.0, beta, rows[0]["mu"], 1.0)
    assert found["wear_power"][0] == pytest.approx(orbit.wear_power, rel=1e-7)  # how far a return within 1e-12 is from the motion itself


@pytest.mark.slow
def test_slip_slip_without_spring_has_its_limit_after_few_periods() -> None:
    rows = [{"a0": 1.0 / eta, "mu": 0.1} for eta in ETAS]
    found = steadily(rows)
    limits = [closed_forms.slip_slip_wear_power(1.0, 10.0, 0.1, row["a0"], 2.0 * math.pi) for row in rows]
    np.testing.assert_allclose(found["wear_power"], limits, rtol=1e-14)
    assert set(found["period"]) == {1.0}
    assert {REGIMES[code] for code in found["regime"]} == {"slip-slip"}
    assert set(found["slip_phases"]) == {2.0}
    np.testing.assert_allclose(found["drift"], 0.0, atol=1e-12)
    periods, events = periods_of(True)(rows)
    # at eta = 0.02 the distance to the limit falls by 8 % a period: 1e-10 would take 250 of them
    assert periods.max() <= 10
    assert events.max() <= 40


@pytest.mark.oracle("steady")
def test_stick_slip_without_spring_is_that_of_its_closed_form() -> None:
    rows = [{"a0": a0, "mu": 0.1} for a0 in (1.5, 1.01, 1.25, 1.8)]
    found = steadily(rows)
    exact = [stick_slip_wear_power(1.0, 10.0, 0.1, row["a0"], 2.0 * math.pi) for row in rows]
    np.testing.assert_allclose(found["wear_power"], exact, rtol=1e-12)
    assert {REGIMES[code] for code in found["regime"]} == {"stick-slip"}
    assert set(found["period"]) == {1.0}


@pytest.mark.long_cases("0.9")
@pytest.mark.parametrize("share", [0.9, 0.3, 0.05])
@pytest.mark.slow
def test_slip_slip_on_a_spring_is_den_hartogs_from_rest(share: float) -> None:
    rows, powers = zip(*(den_hartog(beta, share) for beta in BETAS), strict=True)
    found = steadily(rows)
    np.testing.assert_allclose(found["wear_power"], powers, rtol=1e-12)
    assert {REGIMES[code] for code in found["regime"]} == {"slip-slip"}
    assert set(found["period"]) == {1.0}
    periods, _ = periods_of(False)(rows)
    assert periods.max() <= 30
    assert np.median(periods) <= 8


@pytest.mark.slow
def test_poincare_points_of_slip_slip_on_a_spring_are_den_hartogs() -> None:
    rows, points = [], []
    for beta in (0.7, 1.5, 3.0):
        row, _ = den_hartog(beta)
        orbit = closed_forms.DenHartog(row["m"], row["k"], row["a0"], row["omega"], row["mu"] * row["normal_force"], row["normal_force"])
        own, forced = math.sqrt(row["k"] / row["m"]), -row["a0"] / (row["k"] / row["m"] - row["omega"] ** 2)
        # a tenth of a period after it has rested at +x_0, from where it slides back
        turn, t, rest = 0.2 * math.pi, 0.2 * math.pi / row["omega"], orbit.friction / row["k"]
        swing = orbit.amplitude - rest - forced * math.sin(orbit.phase)
        push = -forced * row["omega"] * math.cos(orbit.phase) / own
        x = rest + forced * math.sin(turn + orbit.phase) + swing * math.cos(own * t) + push * math.sin(own * t)
        v = forced * row["omega"] * math.cos(turn + orbit.phase) + own * (push * math.cos(own * t) - swing * math.sin(own * t))
        rows.append({**row, "phase": orbit.phase + turn})
        points.append((x, v))
    found = steadily(rows)
    np.testing.assert_allclose(np.stack([found["poincare_x"][:, 0], found["poincare_v"][:, 0]], axis=1), points, rtol=1e-11)
    assert np.isnan(found["poincare_x"][:, 1:]).all()


@pytest.mark.slow
def test_stick_has_no_wear() -> None:
    found = steadily([{"a0": 0.99, "mu": 0.1}, {"a0": 0.5, "mu": 0.1}, {"mu": 0.1, "v0": 3.0}, {"mu": 0.1}])
    assert not found["wear_power"].any()
    assert {REGIMES[code] for code in found["regime"]} == {"stick"}
    assert set(found["stick_fraction"]) == {1.0}
    assert not found["slip_phases"].any()


@pytest.mark.slow
def test_a_mass_rests_where_it_came_to_rest(solve: Solve) -> None:
    rows = [{"k": 40.0, "c": 0.1, "v0": 3.0, "mu": 0.1}, {"k": 40.0, "a0": 0.5, "x0": 0.3, "mu": 0.1}]
    found = steadily(rows)
    assert {REGIMES[code] for code in found["regime"]} == {"stick"}
    np.testing.assert_allclose(found["x_end"], solve([lasting(row) for row in rows])["x_end"], rtol=1e-12)


RIGID = {
    "damped": {"k": 4.3, "c": 0.1, "a0": 3.0, "mu": 0.1, "x0": 0.3},
    "a soft mass that rests twice": {"k": 400.0, "a0": 4.0, "mu": 0.1},
    "more friction at rest": {"k": 10.0, "c": 0.1, "a0": 3.0, "mu_s": 0.2, "mu_d": 0.1, "phase": 1.0},
    "a load on a spring": {"k": 30.0, "a0": 3.0, "load": 0.4, "mu": 0.1, "omega": 5.0},
    "a load that makes it march": {"a0": 3.0, "load": 0.3, "mu": 0.1, "c": 0.02},
    "every third period": {"k": 100.0, "a0": 3.0, "mu_s": 0.25, "mu_d": 0.05},
}
PENALISED = {
    "slip-slip": {"a0": 15.0, "mu": 0.1, "k_t": 9e5},
    "stick-slip": {"a0": 1.5, "mu": 0.1, "k_t": 9e6},
    "barely slips": {"a0": 1.01, "mu": 0.1, "k_t": 9e6},
    "soft contact": {"a0": 1.5, "mu": 0.1, "k_t": 1e3},
    "on a spring": {"a0": 4.0, "k": 100.0, "c": 1.0, "mu": 0.1, "k_t": 1e3},
    "a ringing contact": {"a0": 4.0, "k": 100.0, "c": 0.5, "mu": 0.1, "k_t": 1e4, "c_t": 0.0},
    "more friction at rest": {"a0": 3.0, "k": 20.0, "c": 0.5, "mu_s": 0.15, "mu_d": 0.1, "k_t": 200.0},
    "stuck": {"a0": 0.5, "mu": 0.1, "k": 10.0, "k_t": 100.0},
    "marching": {"a0": 5.0, "load": 0.2, "c": 0.3, "mu": 0.1, "k_t": 1e4},
}


@pytest.mark.long_cases("penalised")
@pytest.mark.slow
@pytest.mark.parametrize("rows", [pytest.param(RIGID, id="rigid"), pytest.param(PENALISED, id="penalised")])
def test_the_steady_window_is_the_last_period_of_a_long_run(solve: Solve, rows: Mapping[str, Row]) -> None:
    steadies = steadily(list(rows.values()))
    plains = solve([lasting(row, max(1.0, multiple)) for row, multiple in zip(rows.values(), steadies["period"], strict=True)])
    for i, (name, row) in enumerate(rows.items()):
        found, plain = ({key: float(values[i]) for key, values in each.items() if values.ndim == 1} for each in (steadies, plains))
        assert found["status"] == Status.OK, name
        for key in ("wear_power", "friction_power", "stick_fraction", "max_slip_speed", "slip_distance"):
            assert found[key] == pytest.approx(plain[key], rel=2e-12, abs=1e-15), (name, key)
        # the clock of a run of 400 periods is known to 1e-11 s, and so is where in the period it ends
        for key in ("v_end", "drift", *(["x_end"] if row.get("k") else [])):
            assert found[key] == pytest.approx(plain[key], rel=1e-8, abs=1e-11), (name, key)
        assert found["regime"] == plain["regime"], name
        # a phase across the ends of the window counts once
        assert plain["slip_phases"] - found["slip_phases"] in (0.0, 1.0), name


@pytest.mark.slow
def test_the_period_is_the_smallest_number_of_periods_of_the_excitation() -> None:
    three = {"k": (2.0 * math.pi / 3.0) ** 2, "a0": 1.0, "mu": 0.0, "x0": 0.3}  # a free oscillation of three periods, which nothing damps
    sixteen, more = ({**three, "k": (2.0 * math.pi * ratio) ** 2} for ratio in (5.0 / 16.0, 5.0 / 17.0))
    found = steadily([RIGID["every third period"], three, sixteen, more])
    assert found["period"].tolist()[:3] == [3.0, 3.0, 16.0]
    assert found["status"].tolist() == [Status.OK, Status.OK, Status.OK, Status.NOT_PERIODIC]
    np.testing.assert_allclose(found["drift"][:3], 0.0, atol=1e-11)


@pytest.mark.long
@pytest.mark.slow
def test_what_never_returns_is_not_called_periodic() -> None:
    free = {"k": 4.3, "a0": 1.0, "mu": 0.0, "x0": 0.3}  # the forced motion and a free one that nothing damps
    driven_off = {"a0": 1.0, "load": 2.0, "mu": 0.1}
    no_number = {"a0": math.nan, "mu": 0.1}
    fine = {"a0": 15.0, "mu": 0.1}
    ringing = {"a0": 0.5, "mu": 0.1, "k_t": 100.0, "c_t": 0.0}  # stuck, on a contact without damping
    found = steadily([free, driven_off, ringing, no_number, fine])
    assert found["status"].tolist() == [Status.NOT_PERIODIC] * 3 + [Status.NOT_FINITE, Status.OK]
    # results of 64 periods more, but for the row that could not run
    assert np.isnan(found["wear_power"]).tolist() == [False] * 3 + [True, False]
    assert np.isnan(found["period"]).tolist() == [True] * 4 + [False]
    assert np.isfinite(found["poincare_v"]).sum(axis=1).tolist() == [64, 64, 64, 0, 1]


@pytest.mark.slow
def test_forced_motion_without_friction_is_found_where_damping_lets_the_rest_decay() -> None:
    row = {"k": 4.3, "c": 0.1, "a0": 1.0, "mu": 0.0, "x0": 0.3, "omega": 2.0}
    found = steadily([row])
    amplitude = 1.0 / math.hypot(4.3 - 4.0, 0.1 * 2.0)
    assert found["slip_distance"][0] == pytest.approx(4.0 * amplitude, rel=1e-12)
    assert found["max_slip_speed"][0] == pytest.approx(2.0 * amplitude, rel=1e-12)


@pytest.mark.slow
def test_slip_in_one_direction_is_one_phase() -> None:
    found = steadily([{"a0": 1.0, "load": 2.0, "c": 0.3, "mu": 0.1}])
    assert found["drift"][0] == pytest.approx((2.0 - 1.0) / 0.3, rel=1e-12)
    assert found["slip_phases"].tolist() == [1.0]
    assert REGIMES[found["regime"][0]] == "slip-slip"


@pytest.mark.slow
def test_a_row_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(5)
    count = 60
    columns = {
        "a0": rng.uniform(0.5, 20.0, count),
        "mu": rng.uniform(0.0, 0.2, count),
        "k": np.where(rng.random(count) < 0.3, 0.0, 10.0 ** rng.uniform(-4.0, 3.0, count)),
        "c": np.where(rng.random(count) < 0.5, 0.0, rng.uniform(0.0, 1.0, count)),
    }
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    rows = [row | ({"k_t": 1e4} if i % 5 == 0 else {}) for i, row in enumerate(rows)]
    whole = steadily(rows)
    order = rng.permutation(count)[:25]
    part = steadily([rows[i] for i in order])
    for name, values in whole.items():
        np.testing.assert_array_equal(part[name], values[order], err_msg=name)


@pytest.mark.slow
def test_a_fixed_window_has_no_period(solve: Solve) -> None:
    assert solve([{"a0": 15.0, "mu": 0.1}])["period"].tolist() == [0.0]


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_are_those_of_the_limit() -> None:
    wear = lambda a0, mu, omega: kernels.simulate("rubbing_mass", {"a0": a0, "mu": mu, "omega": omega}, window="steady")["wear_power"]  # noqa: E731

    def limit(a0: Any, mu: Any, omega: Any) -> Any:
        return 10.0 * a0 / (math.pi * omega) * jnp.sqrt(4.0 - (math.pi * mu * 10.0 / a0) ** 2)

    point = (15.0, 0.1, 6.0)
    np.testing.assert_allclose(hastily(jax.grad(wear, (0, 1, 2)))(*point), jax.grad(limit, (0, 1, 2))(*point), rtol=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_on_a_spring_are_those_of_den_hartogs_motion() -> None:
    row, power = den_hartog(2.0)

    def wear(k: Any, a0: Any) -> Any:
        return kernels.simulate("rubbing_mass", {**row, "k": k, "a0": a0}, window="steady")["wear_power"]

    def closed(k: Any, a0: Any) -> Any:
        beta = row["omega"] / jnp.sqrt(k / row["m"])
        v, u = 1.0 / (1.0 - beta**2), jnp.sin(math.pi / beta) / (beta * (1.0 + jnp.cos(math.pi / beta)))
        friction = row["mu"] * row["normal_force"] / k
        return 2.0 * row["omega"] / math.pi * row["normal_force"] * jnp.sqrt((row["m"] * a0 / k * v) ** 2 - (friction * u) ** 2)

    point = (row["k"], row["a0"])
    assert closed(*point) == pytest.approx(power, rel=1e-14)
    np.testing.assert_allclose(hastily(jax.grad(wear, (0, 1)))(*point), jax.grad(closed, (0, 1))(*point), rtol=1e-11)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_of_penalised_friction_are_those_of_differences() -> None:
    row = {"a0": 4.0, "k": 100.0, "c": 1.0, "mu": 0.1, "k_t": 1e3}
    names = ("a0", "k", "k_t", "mu")

    def observe(values: Any) -> Any:
        found = kernels.simulate("rubbing_mass", {**row, **dict(zip(names, values, strict=True))}, window="steady")
        return jnp.stack([found["wear_power"], found["x_end"], found["v_end"]])

    observe = jax.jit(observe)
    at = jnp.array([row[name] for name in names])
    along = hastily(lambda at, direction: jax.jvp(observe, (at,), (direction,))[1])
    for column in range(len(names)):
        found = along(at, jnp.eye(len(names))[column])
        h = 1e-4 * at[column]
        steps = [observe(at.at[column].add(n * h)) for n in (-2, -1, 1, 2)]
        slope = (steps[0] - 8.0 * steps[1] + 8.0 * steps[2] - steps[3]) / (12.0 * h)
        np.testing.assert_allclose(found, slope, rtol=1e-7, atol=1e-11)


@pytest.mark.long
@pytest.mark.slow
def test_second_derivatives_are_those_of_the_limit() -> None:
    wear = lambda a0: kernels.simulate("rubbing_mass", {"a0": a0, "mu": 0.1}, window="steady")["wear_power"]  # noqa: E731
    limit = lambda a0: 10.0 * a0 / (2.0 * math.pi**2) * jnp.sqrt(4.0 - (math.pi / a0) ** 2)  # noqa: E731
    assert hastily(jax.jacfwd(jax.grad(wear)))(3.0) == pytest.approx(float(jax.grad(jax.grad(limit))(3.0)), rel=1e-10)


@pytest.mark.slow
def test_small_systems_are_solved_and_their_free_unknowns_are_zero() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 3):
        matrix, right = rng.normal(size=(n, n)), rng.normal(size=n)
        np.testing.assert_allclose(orbit_search.solve(jnp.asarray(matrix), jnp.asarray(right)), np.linalg.solve(matrix, right), rtol=1e-12)
        thin = np.outer(rng.normal(size=n), rng.normal(size=n))
        found = np.asarray(orbit_search.solve(jnp.asarray(thin), jnp.asarray(thin @ right)))
        np.testing.assert_allclose(thin @ found, thin @ right, rtol=1e-12)
        assert np.count_nonzero(found) == 1


@pytest.mark.slow
def test_jurys_conditions_are_those_of_the_eigenvalues() -> None:
    rng = np.random.default_rng(4)
    for n in (1, 2, 3):
        matrices = rng.normal(size=(400, n, n)) * 0.8
        radius = np.abs(np.linalg.eigvals(matrices)).max(axis=1)
        found = np.asarray(jax.vmap(orbit_search.contracts)(jnp.asarray(matrices)))
        assert 40 < found.sum() < 360
        np.testing.assert_array_equal(found, radius < 1.0)
        assert not orbit_search.contracts(jnp.eye(n))


def test_windows_that_cannot_be_are_refused() -> None:
    for window, scheme, given, message in (
        ("stedy", "exact", {}, "window must be 'steady' or None"),
        ("steady", "euler", {"k_t": 9e6}, "needs scheme 'exact', not 'euler'"),
        ("steady", "exact", {"end": 12.0, "window_start": 4.0}, "leave out end, window_start"),
    ):
        with pytest.raises(ValueError, match=message):
            kernels.simulate("rubbing_mass", given, scheme=scheme, window=window)
        with pytest.raises(ValueError, match=message):
            batch.solve(RUBBING_MASS, scheme, given, window=window)
