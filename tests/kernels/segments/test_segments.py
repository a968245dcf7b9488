"""Closed-form segments against the same linear motion in 70 digits."""

from __future__ import annotations

import functools
from typing import Any

import jax
import mpmath
import numpy as np
import pytest

from tests.oracle.linear_motion import Motion as ExactMotion
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor, Motion
from tribosweep.kernels.segments.undamped import Undamped

Case = dict[str, float]
COUNT = 256
NAMES = ("alpha", "omega", "zeta", "w2", "v", "a", "angle", "tau")


def anchored(p: dict[str, Any]) -> Anchor:
    """The start of a segment."""
    return Anchor(p["v"], p["a"], p["angle"], *sincos(p["angle"]))


@functools.cache
def moving(lean: bool) -> Any:
    """Jitted: columns of COUNT cases -> motion."""

    def one(p: dict[str, Any]) -> Motion:
        segment = Undamped.of(p["alpha"], p["omega"]) if lean else Damped(p["alpha"], p["omega"], p["zeta"], p["w2"])
        return segment.motion(anchored(p), p["tau"])

    return jax.jit(jax.vmap(one))


def computed(cases: list[Case], lean: bool) -> np.ndarray:
    """Displacement and velocity to crackle of every case, shape (cases, 6)."""
    assert len(cases) <= COUNT
    padded = [*cases, *[cases[-1]] * (COUNT - len(cases))]
    motion = moving(lean)({name: np.array([case[name] for case in padded]) for name in NAMES})
    return np.stack(motion, axis=1)[: len(cases)]


def exact(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Displacement, velocity, acceleration and jerk, and their sizes: the sums of the parts that v, a and alpha contribute."""
    with mpmath.workdps(70):
        alpha, omega, zeta, w2, v, a, angle, tau = (mpmath.mpf(case[name]) for name in NAMES)
        sine = mpmath.sin(angle)

        def part(v: mpmath.mpf, a: mpmath.mpf, alpha: mpmath.mpf) -> np.ndarray:
            motion = ExactMotion((mpmath.mpf(1), 2 * zeta, w2), a + 2 * zeta * v - alpha * sine, (alpha, omega, angle), (mpmath.mpf(0), v))
            return np.array(motion.jet(tau))

        zero = mpmath.mpf(0)
        parts = [part(v, zero, zero), part(zero, a, zero), part(zero, zero, alpha)]
        return sum(parts).astype(float), sum(np.abs(each) for each in parts).astype(float)


def worst(cases: list[Case], lean: bool) -> np.ndarray:
    """Largest error of displacement and velocity relative to their sizes, in units of 1 + the angles turned."""
    found = computed(cases, lean)
    errors = []
    for row, case in zip(found, cases, strict=True):
        true, size = exact(case)
        turned = 1.0 + case["tau"] * (case["omega"] + np.sqrt(abs(case["w2"])))
        floor = case["tau"] * (abs(case["v"]) + abs(case["a"]) * case["tau"]) * np.array([1.0, 0.0])
        errors.append(np.abs(row[:2] - true[:2]) / (size[:2] + 1e-3 * floor + 1e-300) / turned)
    return np.max(errors, axis=0)


def draw(seed: int, count: int, **changes: Any) -> list[Case]:
    """Random constants, anchors and times; `changes` are functions of (rng, case) that overwrite."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        omega = 10.0 ** rng.uniform(-1.0, 2.0)
        case = {
            "alpha": rng.normal(), "omega": omega, "zeta": omega * 10.0 ** rng.uniform(-4.0, 0.5),
            "w2": omega**2 * 10.0 ** rng.uniform(-3.0, 3.0),
            "v": rng.normal() / omega, "a": rng.normal(), "angle": rng.uniform(-10.0, 10.0), "tau": 10.0 ** rng.uniform(-2.0, 1.5) / omega,
        }  # fmt: skip
        for name, change in changes.items():
            case[name] = float(change(rng, case))
        cases.append(case)
    return cases


def none(_rng: Any, _case: Case) -> float:
    return 0.0


REGIONS: dict[str, dict[str, Any]] = {
    "any": {},
    "no spring, no damper": {"zeta": none, "w2": none},
    "no damper": {"zeta": none},
    "no spring": {"w2": none},
    "nearly no spring": {"w2": lambda r, c: c["omega"] ** 2 * 10.0 ** r.uniform(-16.0, -4.0)},
    "nearly no spring and damper": {
        "zeta": lambda r, c: c["omega"] * 10.0 ** r.uniform(-16.0, -4.0),
        "w2": lambda r, c: c["omega"] ** 2 * 10.0 ** r.uniform(-16.0, -4.0),
    },
    "resonance": {"zeta": none, "w2": lambda _r, c: c["omega"] ** 2},
    "near resonance": {
        "zeta": lambda r, c: c["omega"] * 10.0 ** r.uniform(-14.0, -2.0),
        "w2": lambda r, c: c["omega"] ** 2 * (1.0 + r.choice([-1.0, 1.0]) * 10.0 ** r.uniform(-15.0, -1.0)),
    },
    "critical": {"w2": lambda _r, c: c["zeta"] ** 2},
    "near critical": {"w2": lambda r, c: c["zeta"] ** 2 * (1.0 + r.choice([-1.0, 1.0]) * 10.0 ** r.uniform(-15.0, -1.0))},
    "overdamped": {"zeta": lambda r, c: np.sqrt(c["w2"]) * 10.0 ** r.uniform(0.0, 2.0)},
    "stiff and overdamped": {
        "w2": lambda r, c: c["omega"] ** 2 * 10.0 ** r.uniform(4.0, 8.0),
        "zeta": lambda r, c: np.sqrt(c["w2"]) * 10.0 ** r.uniform(0.0, 2.0),
    },
    "softening": {
        "w2": lambda r, c: -(c["omega"] ** 2) * 10.0 ** r.uniform(-3.0, 1.0),
        "tau": lambda r, c: 10.0 ** r.uniform(-2.0, 0.5) / c["omega"],
    },
    "softening without damper": {
        "zeta": none,
        "w2": lambda r, c: -(c["omega"] ** 2) * 10.0 ** r.uniform(-16.0, 1.0),
        "tau": lambda r, c: 10.0 ** r.uniform(-2.0, 0.5) / c["omega"],
    },
    "softening and overdamped": {
        "w2": lambda r, c: -(c["zeta"] ** 2) * 10.0 ** r.uniform(-6.0, 0.0),
        "zeta": lambda r, c: c["omega"] * 10.0 ** r.uniform(0.0, 2.0),
        "tau": lambda r, c: 10.0 ** r.uniform(-2.0, 0.5) / c["zeta"],
    },
    "tiny times": {"tau": lambda r, c: 10.0 ** r.uniform(-12.0, -2.0) / (c["omega"] + np.sqrt(c["w2"]) + c["zeta"])},
    "long times": {"tau": lambda r, c: 10.0 ** r.uniform(1.5, 4.0) / c["omega"]},
}


@pytest.mark.parametrize("region", list(REGIONS))
def test_the_general_segment_is_the_solution_of_its_equation(region: str) -> None:
    cases = draw(list(REGIONS).index(region), 120, **REGIONS[region])
    errors = worst(cases, lean=False)
    assert errors.max() < 1e-12, errors


@pytest.mark.parametrize("region", ["no spring, no damper"])
@pytest.mark.parametrize("time", ["any", "tiny times", "long times"])
def test_the_lean_segment_is_the_solution_of_its_equation(region: str, time: str) -> None:
    cases = draw(40, 120, **(REGIONS[region] | REGIONS[time]))
    errors = worst(cases, lean=True)
    assert errors.max() < 1e-12, errors


@functools.cache
def ramped() -> Any:
    """Jitted: columns of COUNT cases -> displacement, velocity, acceleration and jerk with a ramp, and the integral of d without."""

    def one(p: dict[str, Any]) -> Any:
        segment = Damped(p["alpha"], p["omega"], p["zeta"], p["w2"])
        return segment._replace(ramp=p["ramp"]).motion(anchored(p), p["tau"])[:4], segment.area(anchored(p), p["tau"])

    return jax.jit(jax.vmap(one))


@pytest.mark.parametrize(
    "region", [pytest.param(each, marks=pytest.mark.slow if each in ("long times", "stiff and overdamped") else ()) for each in REGIONS]
)
def test_ramps_and_areas_are_those_of_the_exact_motion(region: str) -> None:
    cases = draw(100 + list(REGIONS).index(region), 3, **REGIONS[region])
    rng = np.random.default_rng(1)
    for case in cases:
        case["ramp"] = rng.normal() * case["omega"]
        case["tau"] = min(case["tau"], 20.0 / case["omega"])
    padded = [*cases, *[cases[-1]] * (COUNT - len(cases))]
    motions, areas = ramped()({name: np.array([case[name] for case in padded]) for name in (*NAMES, "ramp")})
    for i, case in enumerate(cases):
        with mpmath.workdps(30):
            alpha, omega, zeta, w2, v, a, angle, tau = (mpmath.mpf(case[name]) for name in NAMES)
            ramp, damping = mpmath.mpf(case["ramp"]), (mpmath.mpf(1), 2 * zeta, w2)
            # the velocity of a ramped motion obeys the same equation, with the rates of the forces
            rates = (alpha * omega, omega, angle + mpmath.pi / 2)
            with_ramp = ExactMotion(damping, ramp, rates, (v, a))
            without = ExactMotion(damping, mpmath.mpf(0), rates, (v, a))
            rate = omega + mpmath.sqrt(abs(w2)) + 2 * abs(zeta)
            knots = mpmath.linspace(0, tau, 2 + int(min(rate * tau, 60)))
            d = mpmath.quad(lambda t, motion=with_ramp: motion.jet(t)[0], knots)
            area = mpmath.quad(lambda t, motion=without, end=tau: motion.jet(t)[0] * (end - t), knots)
            speed, acceleration, jerk, _ = with_ramp.jet(tau)
            size = max(abs(v), abs(speed), abs(a) * tau, abs(alpha) * tau, abs(ramp) * tau**2)
            growth = mpmath.exp(mpmath.sqrt(max(-w2, 0)) * tau)
        scale = float(size * growth) * (1.0 + float(tau * omega))
        found = [float(each[i]) for each in motions]
        assert found[0] == pytest.approx(float(d), rel=1e-12, abs=1e-13 * scale * case["tau"]), case
        assert found[1] == pytest.approx(float(speed), rel=1e-12, abs=1e-13 * scale), case
        assert found[2] == pytest.approx(float(acceleration), rel=1e-11, abs=1e-12 * scale * float(rate)), case
        assert found[3] == pytest.approx(float(jerk), rel=1e-11, abs=1e-12 * scale * float(rate) ** 2), case
        assert float(areas[i]) == pytest.approx(float(area), rel=1e-12, abs=1e-13 * scale * case["tau"] ** 2), case


@pytest.mark.parametrize("lean", [True, False])
def test_acceleration_and_its_rates_are_the_derivatives_of_the_velocity(lean: bool) -> None:
    region = REGIONS["no spring, no damper"] if lean else {}
    cases = draw(7, 60, **region)
    for row, case in zip(computed(cases, lean), cases, strict=True):
        _, _, a, jerk = exact(case)[0]
        rate = case["omega"] + np.sqrt(case["w2"]) + 2.0 * case["zeta"]
        speed = abs(case["v"]) * rate + abs(case["a"]) + abs(case["alpha"]) * (1.0 + rate * case["tau"])
        assert row[2] == pytest.approx(a, abs=1e-12 * speed)
        assert row[3] == pytest.approx(jerk, abs=1e-12 * speed * rate)
        # x'' + 2 zeta x' + w2 x = b + alpha sin, differentiated twice and three times
        phase = case["omega"] * case["tau"] + case["angle"]
        snap = -case["alpha"] * case["omega"] ** 2 * np.sin(phase) - 2.0 * case["zeta"] * jerk - case["w2"] * a
        crackle = -case["alpha"] * case["omega"] ** 3 * np.cos(phase) - 2.0 * case["zeta"] * snap - case["w2"] * jerk
        assert row[4] == pytest.approx(snap, abs=1e-11 * speed * rate**2)
        assert row[5] == pytest.approx(crackle, abs=1e-11 * speed * rate**3)


def test_both_segments_stand_still_at_their_anchor() -> None:
    for lean in (True, False):
        region = REGIONS["no spring, no damper"] if lean else {}
        cases = draw(9, 50, tau=none, **region)
        found = computed(cases, lean)
        assert (found[:, 0] == 0.0).all()
        assert found[:, 1].tolist() == [case["v"] for case in cases]
        assert found[:, 2].tolist() == [case["a"] for case in cases]
