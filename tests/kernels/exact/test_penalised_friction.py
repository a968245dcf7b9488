"""Penalised friction event by event, against an independent run in 50 digits, the time schemes, and its rigid limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.compiling import hastily
from tests.kernels.exact.test_rigid_friction import worst_errors
from tests.oracle import penalised_friction
from tests.oracle.generate import as_text
from tribosweep.kernels import simulate
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.exact import event_loop
from tribosweep.kernels.models import REGIMES, RUBBING_MASS
from tribosweep.kernels.models.status import Status

Solve = Callable[..., dict[str, np.ndarray]]
Reference = Callable[[str], list[dict[str, Any]]]
Sdnd104 = Callable[..., dict[str, Any]]

SMOOTH = ("wear_power", "slip_distance", "stick_fraction", "max_slip_speed", "drift", "x_end", "v_end")


@pytest.mark.oracle("penalised")
def test_every_observable_agrees_with_the_high_precision_run(solve: Solve, reference: Reference) -> None:
    rows = reference("penalised.json")
    found = solve([row["row"] for row in rows])
    assert not found["status"].any()
    worst = worst_errors(rows, found)
    assert worst.pop("wear_power") <= 1e-12
    assert max(worst.values()) <= 1e-10, worst


def test_regime_and_number_of_slip_phases_are_those_of_the_high_precision_run(solve: Solve, reference: Reference) -> None:
    rows = reference("penalised.json")
    found = solve([row["row"] for row in rows])
    assert [REGIMES[code] for code in found["regime"]] == [row["result"]["regime"] for row in rows]
    assert found["slip_phases"].tolist() == [row["result"]["slip_phases"] for row in rows]


def test_reference_data_is_what_its_generator_writes(reference: Reference) -> None:
    row = min(reference("penalised.json"), key=lambda each: each["result"]["n_events"] or 1e9)
    fresh = penalised_friction.run(row["params"], row["end"], tuple(row["window"]))
    for name, written in row["result"].items():
        assert (fresh[name] if isinstance(written, int) or name == "regime" else as_text(fresh[name])) == written


@pytest.mark.parametrize(
    ("k_t", "c_t", "powers"),
    [
        (9e6, 6000.0, (15.266885463066, 0.40906922629703, 2.2630128870891e-4)),
        (9e6, 300.0, (15.267684557644, 0.4090705025083, 2.2629755192293e-4)),
        (9e5, None, (15.267155515781, 0.40912794954496, 2.276233044621e-4)),
        (9e5, 0.0, (15.270561717641, 0.40924694609152, 2.3113410644622e-4)),
    ],
)
def test_sdnd104_has_its_wear_power(solve: Solve, sdnd104: Sdnd104, k_t: float, c_t: float | None, powers: tuple[float, ...]) -> None:
    rows = [sdnd104(a0, k=3e-5, k_t=k_t, c_t=c_t) for a0 in (15.0, 1.5, 1.01, 0.99)]
    found = solve(rows)["wear_power"]
    assert found[:3].tolist() == pytest.approx(powers, rel=1e-11)
    assert found[3] == 0.0


@pytest.mark.parametrize(("a0", "order"), [(1.01, 1.0), (1.5, 1.0), (15.0, 0.5)])
def test_the_distance_to_rigid_friction_falls_with_the_stiffness(solve: Solve, sdnd104: Sdnd104, a0: float, order: float) -> None:
    # A contact that sticks stretches by mu F_n / k_t. One that only reverses takes a time of order sqrt(m / k_t) to turn its force round,
    # and the impulse that friction lacks meanwhile delays the transient: order 1/2.
    stiffnesses = [9e6 * 4.0**n for n in range(5)]
    rigid = solve([sdnd104(a0)])["wear_power"][0]
    off = solve([sdnd104(a0, k_t=k_t) for k_t in stiffnesses])["wear_power"] - rigid
    assert np.log(off[:-1] / off[1:]).tolist() == pytest.approx([order * math.log(4.0)] * 4, rel=0.05)


def random_rows(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(31)
    rows = []
    for _ in range(count):
        omega = 10.0 ** rng.uniform(0.0, 1.3)
        row = {
            "a0": 10.0 ** rng.uniform(-0.1, 1.3),
            "omega": omega,
            "mu": rng.uniform(0.02, 0.3),
            "k_t": omega**2 * 10.0 ** rng.uniform(1.0, 4.0),
        }
        row |= {"phase": rng.uniform(-3.0, 3.0), "load": rng.uniform(-0.3, 0.3), "v0": rng.choice([0.0, 0.3]), "x0": rng.uniform(-0.1, 0.1)}
        row |= {"k": rng.choice([0.0, 0.5]) * omega**2, "c": rng.choice([0.0, 0.1]) * omega, "end": 4.0 * 2.0 * math.pi / omega}
        if rng.random() < 0.4:
            row |= {"mu_s": row["mu"] * 1.3, "mu_d": row["mu"]}
        if rng.random() < 0.4:
            row["c_t"] = math.sqrt(row["k_t"]) * rng.uniform(0.0, 1.0)
        rows.append({**row, "window_start": 0.3 * row["end"], "window_end": 0.9 * row["end"]})
    return rows


@pytest.mark.slow
def test_a_tight_time_scheme_tends_to_it(solve: Solve) -> None:
    rows = random_rows(24)
    exact = solve(rows)
    near = solve([row | {"tolerance": 1e-9, "step": 1e-5} for row in rows], "rk54")
    assert not exact["status"].any()
    assert not near["status"].any()
    # what is left is the scheme's: its steps meet a jump of the force, and it slips on to 1e-6 m/s
    # the largest speed of a scheme is that at the ends of its steps, and no measure
    length = np.array([abs(row["a0"]) / row["omega"] ** 2 for row in rows])
    sizes = {"slip_distance": length, "drift": length, "x_end": length, "stick_fraction": np.ones(24)}
    for name, size in sizes.items():
        off = np.abs(exact[name] - near[name]) / size
        assert np.median(off) < 1e-4, (name, np.median(off))
        assert off.max() < 1e-3, (name, off.max(), off.argmax())
    assert exact["regime"].tolist() == near["regime"].tolist()
    assert exact["slip_phases"].tolist() == near["slip_phases"].tolist()


@pytest.mark.slow
def test_without_friction_the_contact_gives_no_force(solve: Solve) -> None:
    base = {"mu": 0.0, "a0": 3.0, "omega": 5.0, "end": 7.0, "window_start": 2.0}
    rows = [base, base | {"k": 7.0, "c": 0.2}, base | {"phase": 1.0, "v0": 0.3}, base | {"load": 3.0, "phase": 0.5 * math.pi}]
    rigid, penalised = solve(rows), solve([row | {"k_t": 1e5} for row in rows])
    for name in SMOOTH:
        assert penalised[name].tolist() == pytest.approx(rigid[name].tolist(), rel=1e-12, abs=1e-13), name
    for name in ("slip_phases", "regime"):  # the velocity of the first row touches 0 once a period: whether it stops there is rounding
        assert penalised[name].tolist()[1:] == rigid[name].tolist()[1:], name


@pytest.mark.parametrize("v0", [0.11, 0.005, -0.11, 1e-7])
def test_a_mass_that_moves_slips_from_the_start(solve: Solve, v0: float) -> None:
    # braked at 1 m/s^2 from the first instant: to rest after v0 seconds and v0^2 / 2
    found = solve([{"mu": 0.1, "a0": 0.0, "k_t": 1e4, "c_t": 10.0, "end": 1.0, "v0": v0}])
    assert found["slip_distance"][0] == pytest.approx(0.5 * v0**2, rel=1e-9)
    assert found["stick_fraction"][0] == pytest.approx(1.0 - abs(v0), rel=1e-12)
    assert found["slip_phases"][0] == 1.0
    assert found["max_slip_speed"][0] == pytest.approx(abs(v0), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk54", "adapt2", "devogelaere"])
def test_time_schemes_start_like_exact(solve: Solve, scheme: str) -> None:
    row = {"mu": 0.1, "a0": 1.5, "omega": 6.0, "k_t": 1e4, "c_t": 10.0, "k": 3.0, "end": 0.5}
    rows = [row | {"v0": v0} for v0 in (0.11, -0.3, 0.01, 0.0)]
    exact, found = solve(rows), solve([each | {"step": 2e-5, "largest_step": 2e-5, "tolerance": 1e-9} for each in rows], scheme)
    for name, allowed in (("slip_distance", 2e-4), ("stick_fraction", 2e-3), ("x_end", 2e-4)):
        np.testing.assert_allclose(found[name], exact[name], rtol=allowed, atol=1e-5, err_msg=name)
    np.testing.assert_array_equal(found["slip_phases"], exact["slip_phases"])


def test_a_stuck_mass_creeps_but_does_not_wear(solve: Solve) -> None:
    found = solve([{"a0": 0.9, "omega": 6.0, "k_t": k_t, "c_t": 0.0, "mu": 0.2, "end": 5.0} for k_t in (1e4, 1e5)])
    for name in ("wear_power", "slip_distance", "slip_phases", "max_slip_speed"):
        assert found[name].tolist() == [0.0, 0.0], name
    assert found["stick_fraction"].tolist() == [1.0, 1.0]
    assert (found["x_end"] != 0.0).all()


def test_numbers_that_are_not_finite_have_a_status_and_disturb_nobody(solve: Solve) -> None:
    good = {"a0": 1.5, "omega": 6.0, "k_t": 1e5, "end": 4.0}
    bad = [{"a0": np.nan}, {"k_t": np.nan}, {"c_t": np.inf}, {"v0": -np.inf}]
    found, alone = solve([row for each in bad for row in (good | each, good)]), solve([good])
    assert found["status"][0::2].tolist() == [int(Status.NOT_FINITE)] * len(bad)
    for name in SMOOTH:
        assert (found[name][1::2] == alone[name][0]).all(), name


BASE = {"m": 1.0, "g": 10.0, "omega": 2.0 * math.pi, "phase": 0.3, "k": 0.5, "c": 0.1, "c_t": 50.0, "load": 0.1, "end": 4.1}
POINTS = np.arange(-3.0, 4.0)


def stencil() -> np.ndarray:
    """Weights of values at POINTS (in steps) in the first derivative at 0."""
    right = np.zeros(len(POINTS))
    right[1] = 1.0
    return np.linalg.solve(np.vander(POINTS, increasing=True).T, right)


def moving() -> dict[str, Any]:
    """Four rows with room on both sides of every bound, as columns."""
    rows = [(15.0, 0.11, 0.1), (1.5, 0.11, 0.1), (3.0, 0.12, 0.1), (6.0, 0.2, 0.15)]
    columns = {name: np.full(len(rows), value) for name, value in BASE.items()} | {"k_t": np.full(len(rows), 4e3)}
    columns |= {name: np.array(values) for name, values in zip(("a0", "mu_s", "mu_d"), zip(*rows, strict=True), strict=True)}
    return columns | {"window_start": np.full(len(rows), 1.05), "window_end": np.full(len(rows), 4.02)}


def differences(solve: Solve, columns: dict[str, Any], name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Derivative of every smooth observable in one parameter, times the scale of that parameter, and the scale."""
    scale = np.maximum(np.abs(columns[name]), 0.01)
    slopes = dict.fromkeys(SMOOTH, 0.0)
    for weight, point in zip(stencil(), POINTS, strict=True):
        moved = columns | {name: columns[name] + 1e-4 * scale * point}
        found = solve([{each: values[i] for each, values in moved.items()} for i in range(len(scale))])
        slopes = {each: slopes[each] + weight / 1e-4 * found[each] for each in SMOOTH}
    return slopes, scale


@pytest.mark.long
@pytest.mark.slow
def test_reverse_derivatives_of_the_wear_power_are_its_differences_and_a_bad_row_disturbs_none(solve: Solve) -> None:
    columns = moving()

    def power(p: dict[str, Any]) -> tuple[Any, Any]:
        found = simulate("rubbing_mass", p)
        return jnp.where(found["status"] == 0, found["wear_power"], 0.0).sum(), found["status"]

    with_bad = {name: jnp.append(values, values[0]) for name, values in columns.items()}
    with_bad["a0"] = with_bad["a0"].at[-1].set(jnp.nan)
    chosen = ("a0", "mu_s", "mu_d", "k_t", "c_t", "omega")
    varying = {name: with_bad[name] for name in chosen}
    slopes, status = jax.jit(jax.grad(lambda each: power(with_bad | each), has_aux=True))(varying)
    assert status.tolist() == [0, 0, 0, 0, int(Status.NOT_FINITE)]
    for name in chosen:
        expected, scale = differences(solve, columns, name)
        np.testing.assert_allclose(np.asarray(slopes[name])[:4] * scale, expected["wear_power"], rtol=2e-6, atol=1e-7, err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_every_derivative_of_every_observable_is_its_difference(solve: Solve) -> None:
    columns = moving()

    def smooth(p: dict[str, Any]) -> dict[str, Any]:
        found = simulate("rubbing_mass", p)
        return {name: found[name] for name in SMOOTH}

    # one parameter after the other: that program compiles in half the time of one for all
    along = hastily(lambda p, direction: jax.jvp(smooth, (p,), (direction,))[1])
    p = {name: jnp.array(values) for name, values in columns.items()}
    still = {name: jnp.zeros_like(values) for name, values in p.items()}
    for name in columns:
        forward = along(p, still | {name: jnp.ones_like(p[name])})
        expected, scale = differences(solve, columns, name)
        for each in SMOOTH:
            exact = np.asarray(forward[each]) * scale
            size = 1.0 if each == "stick_fraction" else np.abs(columns["a0"]).max()
            np.testing.assert_allclose(exact, expected[each], rtol=2e-6, atol=2e-8 * size, err_msg=f"{each} in {name}")


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_programs")
def test_more_events_than_the_bound_have_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "MOST_EVENTS", 40)
    columns = {"a0": np.array([0.5, 15.0]), "k_t": np.array([1e6, 1e6]), "end": np.array([100.0, 100.0])}
    found = batch.solve(RUBBING_MASS, "exact", columns, count=2)
    assert found.status.tolist() == [Status.OK, Status.TOO_MANY_EVENTS]
    assert np.isnan(found.observables["wear_power"][1])


@pytest.mark.slow
def test_a_row_does_not_depend_on_its_neighbours(solve: Solve) -> None:
    rows = [*random_rows(30), {"a0": 1.5}, {"a0": 1.5, "k": 3.0}, {"a0": 1.5, "c": 0.2, "k_t": 1e5}]
    together, order = solve(rows), np.random.default_rng(5).permutation(len(rows))
    shuffled = solve([rows[i] for i in order])
    for name, values in together.items():
        assert values[order].tobytes() == shuffled[name].tobytes(), name
        for i in (0, 17, 30, 31, 32):
            assert values[i : i + 1].tobytes() == solve([rows[i]])[name].tobytes(), name
