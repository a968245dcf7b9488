"""Rigid friction in float32: what it may differ by from the 70 digits of the oracle and from the engine in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.exact.test_rigid_friction import worst_errors
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.program_key import STIFFEST, ProgramKey
from tribosweep.kernels.batch.programs import program
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import REGIMES, RUBBING_MASS, STOP
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.elementary import single_sincos, single_swing

Solve = Callable[..., dict[str, np.ndarray]]
Reference = Callable[[str], list[dict[str, Any]]]
COUNTS = ("slip_phases", "stops", "regime")
KEYS = tuple(ProgramKey("exact", free=free, precision="float32") for free in (True, False))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "wear", "rest"), [("rigid_k0.json", 3e-6, 1e-5), ("rigid_oscillator.json", 5e-6, 1e-5)])
def test_seven_digits_agree_with_seventy(solve: Solve, reference: Reference, file: str, wear: float, rest: float) -> None:
    rows = [row for row in reference(file) if is_soft(row["row"])]
    found = solve([row["row"] for row in rows], dtype=np.float32)
    assert len(rows) > 30
    assert not found["status"].any()
    worst = worst_errors(rows, found)
    assert worst.pop("wear_power") <= wear, worst
    assert max(worst.values()) <= rest, worst
    np.testing.assert_array_equal(found["slip_phases"], [row["result"]["slip_phases"] for row in rows])
    assert [REGIMES[code] for code in found["regime"]] == [row["result"]["regime"] for row in rows]


def is_soft(row: dict[str, Any]) -> bool:
    """Whether float32 runs in float32."""
    m, omega = row.get("m", 1.0), row.get("omega", 2.0 * math.pi)
    return bool(row.get("k", 0.0) <= STIFFEST**2 * m * omega**2 and row.get("c", 0.0) <= STIFFEST * m * omega)


def oscillators(count: int, seed: int, springs: bool, periods: float = 0.0) -> list[dict[str, float]]:
    """Masses of a milligram to a tonne, 0.1 Hz to 100 kHz, half of them so shaken that they hardly slip."""
    rng = np.random.default_rng(seed)
    u = rng.uniform
    rows = []
    for _ in range(count):
        m, omega, mu = 10.0 ** rng.choice([-6, 0, 3]), 2.0 * math.pi * 10.0 ** u(-1, 5), u(0.01, 1.0)
        a0 = 10.0 * mu / (u(0.01, 1.2) if u() < 0.5 else 1.0 - 10.0 ** u(-8, -1))
        turn, speed, beta = 2.0 * math.pi / omega, a0 / omega, 10.0 ** u(-2.0, math.log10(STIFFEST))
        end = turn * (periods or u(5, 20))
        start = end * (0.9 if periods else u(0, 0.6))
        row = {"m": m, "omega": omega, "a0": a0, "phase": u(0, 7), "mu_s": mu * (1.0 if u() < 0.5 else u(1.0, 1.3)), "mu_d": mu}
        row |= {"v0": u(-3, 3) * speed if u() < 0.5 else 0.0, "load": u(-0.5, 0.5) * m * mu * 10.0 if u() < 0.5 else 0.0}
        row |= {"end": end, "window_start": start, "window_end": end if periods else start + (end - start) * u(0.3, 1.0)}
        if springs:
            row |= {"k": m * (omega * beta) ** 2 if u() < 0.8 else 0.0, "c": m * omega * 10.0 ** u(-3, math.log10(STIFFEST)) * (u() < 0.6)}
            row |= {"x0": u(-2, 2) * speed / omega if u() < 0.5 else 0.0}
        rows.append(row)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("springs", "periods", "count", "typical", "worst"),
    [
        pytest.param(False, 0.0, 2048, 4e-7, 2e-5, id="free"),
        pytest.param(True, 0.0, 2048, 2e-6, 1e-4, id="springs", marks=pytest.mark.slow),
        pytest.param(False, 1000.0, 192, 1e-6, 2e-5, id="free-long"),
        pytest.param(True, 1000.0, 192, 5e-6, 5e-4, id="springs-long", marks=pytest.mark.slow),
    ],
)
def test_float32_finds_what_float64_finds(solve: Solve, springs: bool, periods: float, count: int, typical: float, worst: float) -> None:
    # speeds relative to the largest, times to the period, wear powers to the normal force times that speed
    rows = oscillators(count, 7 + springs, springs, periods)
    fine, single = solve(rows), solve(rows, dtype=np.float32)
    np.testing.assert_array_equal(fine["status"], single["status"])
    assert not fine["status"].any()
    of = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    amplitude = of["a0"] / of["omega"]
    speed = np.maximum(np.maximum(amplitude, np.abs(of["v0"])), fine["max_slip_speed"])
    window = of["window_end"] - of["window_start"]
    errors = {
        "wear_power": np.abs(single["wear_power"] - fine["wear_power"]) / (10.0 * of["m"] * speed),
        "v_end": np.abs(single["v_end"] - fine["v_end"]) / speed,
        "max_slip_speed": np.abs(single["max_slip_speed"] - fine["max_slip_speed"]) / speed,
        "stick_fraction": np.abs(single["stick_fraction"] - fine["stick_fraction"]) * window / np.maximum(1.0, window * of["omega"] / 6.3),
    }
    errors["stick_fraction"] *= of["omega"] / (2.0 * math.pi)
    for name, error in errors.items():
        assert np.quantile(error, 0.98) < typical, (name, np.quantile(error, 0.98))
        assert error.max() < worst, (name, error.max(), rows[int(np.argmax(error))])
    for name in COUNTS:
        np.testing.assert_array_equal(single[name], fine[name], err_msg=name)


@pytest.mark.slow
def test_a_slip_keeps_its_digits_however_short_it_is(solve: Solve) -> None:
    # next to the amplitude at which slip begins, wear goes as (1 - eta)^2
    less = 10.0 ** np.linspace(-9.0, -0.3, 640)
    rows = [{"mu": 0.1, "a0": 1.0 / (1.0 - each), "phase": 5.0 * index % 6.0, "window_start": 4.0} for index, each in enumerate(less)]
    fine, single = solve(rows)["wear_power"], solve(rows, dtype=np.float32)["wear_power"]
    assert (fine > 0.0).all()
    assert np.abs(single / fine - 1.0).max() < 3e-6
    stuck = solve([{"mu": 0.1, "a0": 1.0 - each} for each in less], dtype=np.float32)
    assert not stuck["wear_power"].any()
    assert (stuck["stick_fraction"] == 1.0).all()


@pytest.mark.slow
def test_sliding_for_long_and_not_at_all(solve: Solve) -> None:
    rows: list[dict[str, float]] = [
        {"mu": 0.0, "a0": 3.0, "phase": 1.0, "end": 11.7},  # whose last slip would end with the run, but for rounding
        {"mu": 0.0, "a0": 3.0},
        {"mu": 1e-5, "a0": 3.0, "v0": 40.0, "end": 2000.0},
        {"mu": 0.1, "v0": 30.0, "end": 100.0},
        {"mu": 1e-7, "a0": 1.0, "v0": 1e4, "end": 1e5},
        {"mu": 1e-9, "v0": 1.0, "end": 1e5},
        {"mu": 0.1, "load": 3.0, "end": 500.0},
        {"mu": 0.1, "a0": 1.0, "load": -3.0, "end": 500.0},
        {"mu": 0.1, "x0": 4.0},
        {"mu": 0.0, "x0": 4.0, "k": 3.0},
        {"mu": 0.1, "x0": 1.0, "k": 1.2, "mu_s": 0.1},
        {"mu": 1e-6, "a0": 3.0, "k": 4.0 * math.pi**2, "end": 50.0},
    ]
    fine, single = solve(rows), solve(rows, dtype=np.float32)
    for name in ("status", *COUNTS):
        np.testing.assert_array_equal(single[name], fine[name], err_msg=name)
    for name in ("wear_power", "slip_distance", "stick_fraction", "max_slip_speed", "x_end"):
        np.testing.assert_allclose(single[name], fine[name], rtol=1e-5, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(single["v_end"], fine["v_end"], rtol=1e-4, atol=1e-5 * fine["max_slip_speed"].max())


@pytest.mark.slow
def test_a_row_in_float32_does_not_depend_on_the_others(solve: Solve) -> None:
    rows = oscillators(64, 5, springs=True) + oscillators(64, 6, springs=False)
    order = np.random.default_rng(2).permutation(len(rows))
    found, shuffled = solve(rows, dtype=np.float32), solve([rows[place] for place in order], dtype=np.float32)
    for name, values in found.items():
        assert values[order].tobytes() == shuffled[name].tobytes(), name


@pytest.mark.slow
def test_what_cannot_be_seven_digits_is_computed_in_sixteen(solve: Solve) -> None:
    rows = [{"a0": 15.0, "k": 4.0 * math.pi**2 * 9.5}, {"a0": 15.0, "c": 20.0}]
    fine, single = solve(rows), solve(rows, dtype=np.float32)
    for name, values in fine.items():
        assert single[name].tobytes() == values.tobytes(), name
    bad = solve([{"a0": math.nan}, {"a0": 3.0}, {"mu": -1.0}], dtype=np.float32)
    assert bad["status"].tolist() == solve([{"a0": math.nan}, {"a0": 3.0}, {"mu": -1.0}])["status"].tolist()


@pytest.mark.long_cases("asked0", "asked2", "record", "blocks")
@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"k_t": 1e5},
        "steady",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ({"tone_a0": np.array([1.0]), "tone_omega": np.array([3.0])}, "record", "wall", "blocks")
        ),
    ],
)
def test_what_has_no_float32_is_computed_in_float64(asked: Any) -> None:
    columns = {"a0": np.array([1.0, 2.0]), **(asked if isinstance(asked, dict) else {})}
    model = STOP if asked == "wall" else RUBBING_MASS
    columns |= {"k_n": 1e4} if asked == "wall" else {}
    columns |= {"record": 0.0} if asked == "record" else {}
    more: dict[str, Any] = {"window": "steady"} if asked == "steady" else {"asked": Asked(4, False)} if asked == "blocks" else {}
    more |= {"records": Records(np.sin(0.3 * np.arange(1200.0)), 0.01)} if asked == "record" else {}
    single, fine = (batch.solve(model, "exact", columns, {}, 2, dtype=dtype, **more) for dtype in (np.float32, np.float64))
    assert single.status.tolist() == [Status.OK] * 2
    for name, values in fine.observables.items():
        assert single.observables[name].tobytes() == values.tobytes(), name


def equations(jaxpr: Any, loops: int = 0) -> Iterator[tuple[int, Any]]:
    """Every equation of a program, and how many loops it is in."""
    for each in jaxpr.eqns:
        yield loops, each
        for value in each.params.values():
            for inner in value if isinstance(value, tuple | list) else [value]:
                body = getattr(inner, "jaxpr", inner)
                if hasattr(body, "eqns"):
                    yield from equations(body, loops + (each.primitive.name == "while"))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_nothing_within_a_slip_is_float64(key: ProgramKey) -> None:
    resolved = RUBBING_MASS.resolve({"a0": 1.0})
    rows = {
        name: jax.ShapeDtypeStruct((8,), np.float64)
        for name, value in resolved.items()
        if name not in {*RUBBING_MASS.penalty, *RUBBING_MASS.tables}
    }
    made = jax.make_jaxpr(jax.vmap(program(key)))(rows).jaxpr
    searches = [each for loops, each in equations(made) if loops > 1]
    assert len(searches) > 100
    assert not [each for each in searches if any(value.aval.dtype == np.float64 for value in each.outvars)]


@pytest.mark.slow
def test_single_sines_keep_their_digits() -> None:
    rng = np.random.default_rng(1)
    angles = np.concatenate([rng.uniform(-700.0, 700.0, 4000), np.arange(-50, 50) * 0.5 * math.pi + 1e-6])
    sine, cosine = (np.asarray(value, dtype=float) for value in single_sincos(jnp.asarray(angles)))
    np.testing.assert_allclose(sine, np.sin(angles), rtol=2e-7)
    np.testing.assert_allclose(cosine, np.cos(angles), rtol=2e-7)
    turns = np.concatenate([rng.uniform(-70.0, 70.0, 4000), 10.0 ** rng.uniform(-8.0, 0.3, 4000)]).astype(np.float32)
    sine, versine, lag, bow = (np.asarray(value, dtype=float) for value in single_swing(jnp.asarray(turns)))
    exact = turns.astype(np.longdouble)
    np.testing.assert_allclose(sine, np.sin(exact), rtol=3e-7, atol=2e-7)
    np.testing.assert_allclose(versine, 2.0 * np.sin(0.5 * exact) ** 2, rtol=4e-7, atol=2e-7)
    large = np.abs(turns) > 0.1
    np.testing.assert_allclose(lag[large], (exact - np.sin(exact))[large], rtol=3e-7)
    np.testing.assert_allclose(bow[large], (0.5 * exact**2 - 2.0 * np.sin(0.5 * exact) ** 2)[large], rtol=6e-7)
    np.testing.assert_allclose(lag[~large], (exact**3 * (1.0 / 6.0 - exact**2 / 120.0))[~large], rtol=4e-7)
    np.testing.assert_allclose(bow[~large], (exact**4 * (1.0 / 24.0 - exact**2 / 720.0))[~large], rtol=4e-7)
