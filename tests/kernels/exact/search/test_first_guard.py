"""The first crossing is never missed: brute-force sampling of guards on thousands of segments of every kind, grazing ones among them."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tests.oracle.linear_motion import Motion as ExactMotion
from tribosweep.kernels.contact.law import Guard
from tribosweep.kernels.exact.search.first_guard import first_crossing
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor

pytestmark = pytest.mark.slow  # a search compiles for seconds

Columns = dict[str, np.ndarray]
COUNT, SAMPLES = 512, 1500


def guard_of(p: dict[str, Any], n: int) -> Guard:
    return Guard(p[f"value{n}"], p[f"on_d{n}"], p[f"on_v{n}"], p[f"on_a{n}"])


@functools.cache
def search(stiff: bool) -> Any:
    """Jitted: COUNT segments with two guards -> crossing, the guards there and their least values at SAMPLES instants before."""

    def one(p: dict[str, Any]) -> dict[str, jax.Array]:
        segment = Damped(p["alpha"], p["omega"], p["zeta"], p["w2"], p["ramp"])
        anchor = Anchor(p["v"], p["a"], p["angle"], *sincos(p["angle"]))
        guards = guard_of(p, 0), guard_of(p, 1)
        found = first_crossing(segment, anchor, guards, p["limit"], stiff)

        def values(tau: jax.Array) -> jax.Array:
            m = segment.motion(anchor, tau)
            return jnp.stack([g.value + g.on_d * m.d + g.on_v * (m.v - anchor.v) + g.on_a * (m.a - anchor.a) for g in guards])

        even = (jnp.arange(SAMPLES) + 0.5) / SAMPLES
        least = jnp.inf
        for fraction in (even, even**4, 1.0 - even**4):
            least = jnp.minimum(least, jax.lax.map(lambda part: values(part * found.tau), fraction).min(axis=0))
        return {"tau": found.tau, "happens": found.happens, "which": found.which, "least": least, "there": values(found.tau)}

    return jax.jit(jax.vmap(one))


def run(p: Columns, stiff: bool = True) -> Columns:
    """Search every segment; columns of COUNT or fewer. Without a ramp it is 0."""
    given = len(p["v"])
    padded = {name: np.resize(value, COUNT) for name, value in ({"ramp": np.zeros(given)} | p).items()}
    return {name: np.asarray(value)[:given] for name, value in search(stiff)(padded).items()}


def sizes(p: Columns, tau: np.ndarray) -> np.ndarray:
    """Error of each computed guard, shape (cases, 2), from the sizes of its parts and the angles turned."""
    rate = p["omega"] + np.sqrt(np.abs(p["w2"])) + 2.0 * np.abs(p["zeta"])
    grown = np.exp(np.minimum(700.0, tau * (np.sqrt(np.maximum(-p["w2"], 0.0)) + 2.0 * np.maximum(-p["zeta"], 0.0))))
    reach = np.minimum(tau, 1.0 / np.maximum(p["zeta"], 1e-300))
    v = (np.abs(p["v"]) + np.abs(p["a"]) * reach + np.abs(p["alpha"]) * (reach + 1.0 / p["omega"])) * grown
    ramped = np.abs(p.get("ramp", 0.0)) * reach
    v = v + ramped * tau * grown
    a = np.abs(p["a"]) + np.abs(p["alpha"]) + ramped + 2.0 * np.abs(p["zeta"]) * v + np.abs(p["w2"]) * v * np.minimum(tau, 1e300)
    parts = [
        np.abs(p[f"value{n}"]) + np.abs(p[f"on_d{n}"]) * v * tau + np.abs(p[f"on_v{n}"]) * v + np.abs(p[f"on_a{n}"]) * a for n in (0, 1)
    ]
    return 2e-15 * np.stack(parts, axis=1) * (1.0 + rate * tau)[:, None]


def check(p: Columns, stiff: bool = True) -> Columns:
    """What holds for every crossing."""
    found = run(p, stiff)
    error = sizes(p, found["tau"])
    assert (found["least"] >= -10.0 * error).all(), np.flatnonzero((found["least"] < -10.0 * error).any(axis=1))
    which = found["which"].astype(int)
    there = np.take_along_axis(np.abs(found["there"]) / error, which[:, None], axis=1)[:, 0]
    assert (there[found["happens"]] <= 10.0).all(), np.flatnonzero(there * found["happens"] > 10.0)
    assert (found["tau"] <= p["limit"]).all()
    assert (found["tau"][~found["happens"]] == p["limit"][~found["happens"]]).all()
    return found


def draw(seed: int, natural: tuple[float, float], damping: tuple[float, float], signs: tuple[float, float] = (1.0, 1.0)) -> Columns:
    """Segments and two guards on each; `natural` and `damping` are decades relative to omega, `signs` those of w2 and zeta."""
    rng = np.random.default_rng(seed)
    omega = 10.0 ** rng.uniform(-1.0, 2.0, COUNT)
    alpha, angle = rng.normal(size=COUNT), rng.uniform(0.0, 7.0, COUNT)
    zeta = signs[1] * np.where(rng.random(COUNT) < 0.2, 0.0, omega * 10.0 ** rng.uniform(*damping, COUNT))
    w2 = signs[0] * (omega * 10.0 ** rng.uniform(*natural, COUNT)) ** 2
    rate = np.sqrt(np.abs(w2)) + omega
    v, a = np.abs(alpha) / omega * rng.normal(size=COUNT), alpha * rng.normal(size=COUNT)
    p = {"alpha": alpha, "omega": omega, "zeta": zeta, "w2": w2, "v": v, "a": a, "angle": angle}
    for n in (0, 1):
        kind = rng.integers(0, 4, COUNT)
        sign = rng.choice([-1.0, 1.0], COUNT)
        p[f"on_d{n}"] = sign * np.where((kind == 0) | (kind == 3), rate**2, 0.0)
        p[f"on_v{n}"] = sign * np.where((kind == 1) | (kind == 3), rate * 10.0 ** rng.uniform(-1.0, 1.0, COUNT), 0.0)
        p[f"on_a{n}"] = sign * np.where(kind == 2, 1.0, 0.0)
        slope = p[f"on_d{n}"] * v + p[f"on_v{n}"] * a
        value = np.abs(alpha) * 10.0 ** rng.uniform(-4.0, 1.0, COUNT)
        # some guards leave zero, as those of a phase that has just begun
        p[f"value{n}"] = np.where((kind < 2) & (slope > 0.0) & (rng.random(COUNT) < 0.3), 0.0, value)
    p["limit"] = 10.0 ** rng.uniform(-1.0, 1.2, COUNT) * 2.0 * np.pi / omega
    return p


FAMILIES: dict[str, tuple[Any, ...]] = {
    "any": ((-1.0, 1.0), (-3.0, 0.0)),
    "hardly any spring": ((-8.0, -2.0), (-8.0, -2.0)),
    "fast natural motion": ((0.5, 1.5), (-4.0, -1.0)),
    "stiff contact": ((2.0, 3.5), (1.0, 4.0)),
    "ringing contact": ((1.0, 2.0), (-9.0, -1.0)),
    "overdamped": ((-1.0, 1.0), (0.0, 2.0)),
    "resonance": ((0.0, 0.0), (-9.0, -3.0)),
    "nearly resonance": ((-0.01, 0.01), (-9.0, -3.0)),
    "softening": ((-1.0, -0.3), (-3.0, 0.0), (-1.0, 1.0)),
    "negative damping": ((-1.0, 0.5), (-4.0, -2.0), (1.0, -1.0)),
}


@pytest.mark.long_cases("hardly any spring", "overdamped", "any")
@pytest.mark.parametrize("family", ["any", "hardly any spring", "overdamped", "resonance", "softening", "negative damping"])
def test_nor_without_long_stretches_and_under_a_load_that_grows(family: str) -> None:
    p = draw(100 + list(FAMILIES).index(family), *FAMILIES[family])
    rng = np.random.default_rng(7)
    p["ramp"] = np.where(rng.random(COUNT) < 0.2, 0.0, rng.normal(size=COUNT) * np.abs(p["alpha"]) * p["omega"])
    for stiff in (False, True):
        found = check(p, stiff)
        assert 0.1 < found["happens"].mean() <= 1.0


@pytest.mark.long_cases("stiff contact")
@pytest.mark.parametrize("family", FAMILIES)
def test_no_guard_is_negative_before_the_first_crossing(family: str) -> None:
    found = check(draw(list(FAMILIES).index(family), *FAMILIES[family]))
    assert 0.1 < found["happens"].mean() <= 1.0


def grazing(seed: int, count: int = 200) -> tuple[Columns, np.ndarray, np.ndarray]:
    """Segments whose displacement has a local minimum over a given tiny value; its time, and the value over the size of the motion."""
    rng = np.random.default_rng(seed)
    rows, times, depths = [], [], []
    while len(rows) < count:
        omega, angle = 10.0 ** rng.uniform(-0.5, 1.0), rng.uniform(-1.4, 1.4)
        zeta, w2 = omega * 10.0 ** rng.uniform(-3.0, -0.7), (omega * 10.0 ** rng.uniform(-1.0, 0.7)) ** 2
        back = rng.uniform(0.05, 0.9) * np.pi / max(omega, np.sqrt(w2))
        depth = float(rng.choice([-1e-9, 1e-9, -1e-7, 1e-7, -1e-11, 1e-11])) / omega**2
        with mpmath.workdps(40):
            o, z, w, start, t = (mpmath.mpf(float(value)) for value in (omega, zeta, w2, angle, -back))
            # at the minimum: x = 0, v = 0, a = 1; then back in time
            drive = (mpmath.mpf(1), o, start)
            motion = ExactMotion((mpmath.mpf(1), 2 * z, w), 1 - mpmath.sin(start), drive, (mpmath.mpf(0), mpmath.mpf(0)))
            x, v, a, _ = (float(value) for value in motion.jet(t))
            least = min(float(motion.jet(t * (k + 1) / 40)[0]) for k in range(40))
        if least <= 1e-5 / omega**2:
            continue
        rows.append([1.0, omega, zeta, w2, v, a, angle - omega * back, 1.2 * back, x + depth, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        times.append(back)
        depths.append(depth * omega**2)
    names = (
        "alpha",
        "omega",
        "zeta",
        "w2",
        "v",
        "a",
        "angle",
        "limit",
        *(f"{part}{n}" for n in (0, 1) for part in ("value", "on_d", "on_v", "on_a")),
    )
    return dict(zip(names, np.array(rows).T, strict=True)), np.array(times), np.array(depths)


def test_a_guard_that_dips_below_zero_by_a_hair_crosses_there_and_one_that_stays_above_does_not() -> None:
    p, times, depths = grazing(5)
    found = check(p)
    dips = depths < 0.0
    assert found["happens"][dips].all()
    assert (found["tau"][dips] < times[dips]).all()
    assert not (found["happens"] & ~dips).any()


def one_case(**changes: float) -> Columns:
    base = {"alpha": 0.0, "omega": 1.0, "zeta": 0.0, "w2": 0.0, "v": 0.0, "a": 0.0, "angle": 0.0, "limit": 10.0}
    base |= {f"{part}{n}": float(part == "value") for n in (0, 1) for part in ("value", "on_d", "on_v", "on_a")}
    return {name: np.array([float(value)]) for name, value in (base | changes).items()}


def test_of_two_guards_that_cross_together_the_first_counts() -> None:
    for slope, first in ((-1.0, 0), (-2.0, 1)):
        found = run(one_case(v=1.0, on_d0=-1.0, on_d1=slope))
        assert found["happens"][0]
        assert found["which"][0] == first
        assert found["tau"][0] == pytest.approx(1.0 / -slope, rel=1e-15)


def test_a_guard_that_leaves_zero_does_not_cross_there_and_one_that_enters_does() -> None:
    leaving, entering = (run(one_case(v=sign, value0=0.0, on_d0=1.0)) for sign in (1.0, -1.0))
    assert not leaving["happens"][0]
    assert leaving["tau"][0] == 10.0
    assert entering["happens"][0]
    assert entering["tau"][0] == pytest.approx(0.0, abs=1e-15)
    # where the slope is 0 as well the curvature decides
    for a in (1.0, -1.0):
        found = run(one_case(a=a, value0=0.0, on_d0=1.0))
        assert found["happens"][0] == (a < 0.0)
        assert found["tau"][0] == pytest.approx(0.0 if a < 0.0 else 10.0, abs=1e-12)


def test_a_guard_that_is_negative_at_the_start_crosses_at_once_even_if_it_rises() -> None:
    # a mass that is released against a wall that yields, and is slowed down, so that the force does not grow
    for slope in (1.0, 0.0, -1.0):
        found = run(one_case(v=1.0, value1=-0.1, on_d1=slope, on_v1=1.0, w2=0.5))
        assert found["happens"][0]
        assert found["which"][0] == 1
        assert found["tau"][0] == 0.0


def test_rounding_below_zero_at_the_start_is_no_crossing_where_only_the_jerk_moves_the_mass() -> None:
    # a mass that friction releases: neither velocity nor acceleration, and a guard that the last event left at zero
    case = one_case(v=0.0, a=-3e-19, alpha=3.0, omega=4.0, angle=np.pi, value1=-2e-17, on_d1=-3500.0, limit=0.1)  # d = -2 t^3 + ...
    found = run(case)
    assert not found["happens"][0]
    assert found["tau"][0] == 0.1


def test_a_guard_that_falls_within_less_than_the_shortest_stretch_crosses() -> None:
    # a mass that leaves one wall and meets the other, without clearance: the guard of the first is below zero by rounding
    for value in (1e-17, 1e-25, 1e-40):
        case = one_case(v=0.02, a=0.5, value0=-1e-15, on_d0=6000.0, value1=value, on_d1=-78.0, w2=300.0)
        found = run(case)
        assert found["happens"][0]
        assert found["which"][0] == 1
        assert found["tau"][0] == pytest.approx(value / 1.56, abs=1e-15)


def test_a_limit_that_is_not_positive_finds_nothing() -> None:
    for limit in (0.0, -1.0):
        found = run(one_case(v=-1.0, value0=0.0, on_d0=1.0, limit=limit))
        assert not found["happens"][0]
