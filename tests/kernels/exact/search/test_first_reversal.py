"""The first reversal is never missed: brute-force sampling of the velocity on thousands of segments, grazing ones among them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tests.oracle.linear_motion import Motion as ExactMotion
from tribosweep.kernels.exact.search.first_reversal import first_reversal
from tribosweep.kernels.exact.search.reversal import Guess
from tribosweep.kernels.exact.search.roots import root_step
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor
from tribosweep.kernels.segments.undamped import Undamped

pytestmark = pytest.mark.slow  # a search compiles for seconds

Columns = dict[str, np.ndarray]
COUNT, SAMPLES = 1024, 800


@functools.cache
def search(lean: bool) -> Any:
    """Jitted: COUNT segments -> reversal, v at tau and at the peak, and the least v at SAMPLES instants before tau."""

    def one(p: dict[str, Any]) -> dict[str, jax.Array]:
        segment = Undamped.of(p["alpha"], p["omega"]) if lean else Damped(p["alpha"], p["omega"], p["zeta"], p["w2"])
        anchor = Anchor(p["v"], p["a"], p["angle"], *sincos(p["angle"]))
        guess = wrap(p["angle"] + p["omega"] * p["guess"])
        found = first_reversal(segment, anchor, p["limit"], Guess(guess, guess))
        root = found.tau + root_step(segment.motion(anchor, found.tau), segment.rate)
        stops = found.stops & (root <= p["limit"])
        tau = jnp.where(stops, root, jnp.where(found.stops, p["limit"], found.tau))
        found = found._replace(tau=tau, stops=stops, peak=jnp.minimum(found.peak, tau))
        # dense everywhere, and denser towards both ends, where a slip is young or a crossing may hide
        even = (jnp.arange(SAMPLES) + 0.5) / SAMPLES
        low, top = jnp.inf, 0.0
        for fraction in (even, even**4, 1.0 - even**4):
            speeds = jax.lax.map(lambda part: segment.motion(anchor, part * found.tau).v, fraction)
            low, top = jnp.minimum(low, speeds.min()), jnp.maximum(top, speeds.max())
        at_tau, at_peak = segment.motion(anchor, found.tau).v, segment.motion(anchor, found.peak).v
        return {"tau": found.tau, "stops": found.stops, "peak": found.peak, "least": low, "most": top, "v_tau": at_tau, "v_peak": at_peak}

    return jax.jit(jax.vmap(one))


def run(p: Columns, lean: bool) -> Columns:
    """Search every segment; columns of COUNT or fewer."""
    given = len(p["v"])
    padded = {name: np.resize(value, COUNT) for name, value in p.items()}
    return {name: np.asarray(value)[:given] for name, value in search(lean)(padded).items()}


def rounding(p: Columns, found: Columns) -> np.ndarray:
    """Error of a computed velocity, from the sizes of its parts and the angle turned."""
    rate = p["omega"] + np.sqrt(p["w2"]) + 2.0 * p["zeta"]
    reach = np.minimum(found["tau"], 1.0 / np.maximum(p["zeta"] + 1e-300, 1e-300))
    return 1e-15 * (np.abs(p["v"]) + np.abs(p["a"]) * reach + np.abs(p["alpha"]) * (reach + 1.0 / p["omega"])) * (1.0 + rate * found["tau"])


def check(p: Columns, lean: bool) -> Columns:
    """What holds for every reversal."""
    found = run(p, lean)
    error = rounding(p, found)
    assert (found["least"] >= -10.0 * error).all(), np.flatnonzero(found["least"] < -10.0 * error)
    assert (np.abs(found["v_tau"])[found["stops"]] <= 10.0 * error[found["stops"]]).all()
    assert (found["tau"] <= p["limit"]).all()
    assert (found["tau"][~found["stops"]] == p["limit"][~found["stops"]]).all()
    assert ((found["peak"] >= 0.0) & (found["peak"] <= found["tau"])).all()
    # the largest speed is at the peak or at an end; the peak misses the exact one by the square of a small time
    largest = np.max([found["v_peak"], found["v_tau"], p["v"]], axis=0)
    assert (found["most"] <= largest * (1.0 + 1e-8) + 10.0 * error).all(), np.flatnonzero(found["most"] > largest * (1.0 + 1e-8))
    return found


def draw(seed: int, lean: bool, natural: tuple[float, float], damping: tuple[float, float]) -> Columns:
    """Segments seen along their slip: v > 0, or just released; `natural` and `damping` are decades relative to omega."""
    rng = np.random.default_rng(seed)
    omega = 10.0 ** rng.uniform(-1.0, 2.0, COUNT)
    alpha, angle = rng.normal(size=COUNT), rng.uniform(0.0, 7.0, COUNT)
    zeta, w2 = omega * 10.0 ** rng.uniform(*damping, COUNT), (omega * 10.0 ** rng.uniform(*natural, COUNT)) ** 2
    zeta, w2 = (np.zeros(COUNT), np.zeros(COUNT)) if lean else (np.where(rng.random(COUNT) < 0.2, 0.0, zeta), w2)
    v = np.abs(alpha) / omega * 10.0 ** rng.uniform(-6.0, 1.0, COUNT)
    a = alpha * np.sin(angle) - np.abs(alpha) * rng.uniform(-0.2, 1.2, COUNT) ** 3
    at_rest = rng.random(COUNT) < 0.2
    v, a = np.where(at_rest, 0.0, v), np.where(at_rest, np.abs(a), a)
    limit = 10.0 ** rng.uniform(-1.0, 1.5, COUNT) * 2.0 * np.pi / omega
    guess = rng.uniform(0.0, 1.0, COUNT) * limit
    return {"alpha": alpha, "omega": omega, "zeta": zeta, "w2": w2, "v": v, "a": a, "angle": angle, "limit": limit, "guess": guess}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_free_mass_never_moves_backwards_before_its_first_reversal(seed: int) -> None:
    found = check(draw(seed, True, (0.0, 0.0), (0.0, 0.0)), lean=True)
    assert 0.2 < found["stops"].mean() < 1.0


@pytest.mark.parametrize(
    ("natural", "damping"),
    [
        ((-1.0, 1.0), (-3.0, 0.0)),
        ((0.5, 1.5), (-4.0, -1.0)),
        ((-8.0, -2.0), (-8.0, -2.0)),
        ((-1.0, 2.0), (0.0, 2.0)),
        ((0.0, 0.0), (-9.0, -3.0)),
    ],
    ids=["any", "fast natural motion", "hardly any spring", "overdamped", "resonance"],
)
def test_an_oscillator_never_moves_backwards_before_its_first_reversal(natural: tuple[float, float], damping: tuple[float, float]) -> None:
    found = check(draw(4, False, natural, damping), lean=False)
    assert 0.1 < found["stops"].mean() <= 1.0


def grazing(seed: int, lean: bool, count: int = 200) -> tuple[Columns, np.ndarray, np.ndarray]:
    """Segments whose v has a local minimum of a given tiny value; its time and its value in units of alpha / omega."""
    rng = np.random.default_rng(seed)
    rows, times, depths = [], [], []
    while len(rows) < count:
        omega, alpha, angle = 10.0 ** rng.uniform(-0.5, 1.0), 1.0, rng.uniform(-1.4, 1.4)
        zeta, w2 = (0.0, 0.0) if lean else (omega * 10.0 ** rng.uniform(-3.0, -0.7), (omega * 10.0 ** rng.uniform(-1.0, 0.7)) ** 2)
        back = rng.uniform(0.05, 0.9) * np.pi / max(omega, np.sqrt(w2))
        depth = float(rng.choice([-1e-9, 1e-9, -1e-7, 1e-7, -1e-11, 1e-11])) / omega
        with mpmath.workdps(40):
            o, z, w, start, t = (mpmath.mpf(float(value)) for value in (omega, zeta, w2, angle, -back))
            # at the minimum: v = depth, a = 0 and the excitation rises; then back in time
            drive = (mpmath.mpf(alpha), o, start)
            motion = ExactMotion(
                (mpmath.mpf(1), 2 * z, w), -mpmath.sin(start) + 2 * z * mpmath.mpf(depth), drive, (mpmath.mpf(0), mpmath.mpf(depth))
            )
            _, v, a, _ = (float(value) for value in motion.jet(t))
            speeds = [float(motion.jet(t * (k + 1) / 40)[1]) for k in range(40)]
            jerk = float(motion.jet(mpmath.mpf(0))[3])
        if min(speeds) <= 1e-4 / omega or jerk <= 1e-2 * omega:
            continue
        rows.append([alpha, omega, zeta, w2, v, a, angle - omega * back, 1.2 * back, 0.0])
        times.append(back)
        depths.append(depth * omega)
    names = ("alpha", "omega", "zeta", "w2", "v", "a", "angle", "limit", "guess")
    return dict(zip(names, np.array(rows).T, strict=True)), np.array(times), np.array(depths)


@pytest.mark.parametrize("lean", [True, False])
def test_a_velocity_that_dips_below_zero_by_a_hair_stops_there_and_one_that_stays_above_goes_on(lean: bool) -> None:
    p, times, depths = grazing(5, lean)
    found = check(p, lean)
    dips = depths < 0.0
    assert found["stops"][dips].all()
    assert (found["tau"][dips] < times[dips]).all()
    assert not (found["stops"] & ~dips & (found["tau"] < times * (1.0 + 1e-9))).any()


@pytest.mark.parametrize("lean", [True, False])
def test_a_slip_of_thousands_of_periods_ends_at_its_first_reversal(lean: bool) -> None:
    # friction hardly above the load: v falls by little each period, and the first dip through zero is the one that counts
    drift = np.array([-1e-3, -1e-4, -3e-4, -1e-3])
    omega, alpha, v = np.array([1.0, 6.0, 2.0, 30.0]), np.ones(4), np.array([3.0, 0.5, 2.0, 0.1])
    angle = np.array([0.3, 2.0, 4.0, 5.9])
    a = drift + alpha * np.sin(angle)
    p = {"alpha": alpha, "omega": omega, "zeta": np.zeros(4), "w2": np.zeros(4), "v": v, "a": a, "angle": angle}
    found = run(p | {"limit": np.full(4, 1e5), "guess": np.zeros(4)}, lean)
    assert found["stops"].all()
    for i in range(4):
        t = np.arange(0.0, found["tau"][i] * (1.0 - 1e-9), 2.0 * np.pi / omega[i] / 100.0)
        speed = v[i] + drift[i] * t + (np.cos(angle[i]) - np.cos(omega[i] * t + angle[i])) / omega[i]
        assert speed.min() > 0.0
        last = v[i] + drift[i] * found["tau"][i] + (np.cos(angle[i]) - np.cos(omega[i] * found["tau"][i] + angle[i])) / omega[i]
        assert abs(last) < 1e-10


def constant(direction: float) -> Callable[[], Columns]:
    """Free flight under a constant acceleration."""
    return lambda: {
        name: np.array([value])
        for name, value in {
            "alpha": 0.0, "omega": 1.0, "zeta": 0.0, "w2": 0.0, "v": 2.0, "a": direction * 0.5, "angle": 1.0, "limit": 10.0, "guess": 0.0,
        }.items()
    }  # fmt: skip


@pytest.mark.parametrize("lean", [True, False])
def test_without_excitation_a_mass_stops_after_v_over_a_or_never(lean: bool) -> None:
    falling, rising = run(constant(-1.0)(), lean), run(constant(1.0)(), lean)
    assert falling["stops"][0]
    assert falling["tau"][0] == pytest.approx(4.0, rel=1e-15)
    assert not rising["stops"][0]
    assert rising["tau"][0] == 10.0
