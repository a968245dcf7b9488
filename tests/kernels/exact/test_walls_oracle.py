"""The high-precision reference of stops and walls against closed forms, and against the law evaluated step by step."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp, mpf

from tests.oracle import shock, time_schemes
from tests.oracle.generate_shock import as_text, row_of
from tests.oracle.linear_motion import Motion
from tests.oracle.quadratic_motion import Quadratic
from tests.oracle.shock_events import DIGITS, Oscillator

pytestmark = pytest.mark.long  # of an oracle itself

Params = dict[str, Any]

A: Params = {"m": 1.0, "v0": 2.0, "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "k_post": 0.5}
C: Params = {
    "m": 1.0, "v0": 2.0 * math.sqrt(2.0), "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0,
    "post_set": [2.0, 3.0, 4.0, 5.0], "post_stiffness": [0.2, 0.15, 0.125, 0.1],
}  # fmt: skip
D = C | {"c_n": 10.0, "c_buckled": 5.0, "post_damping": [5.0] * 4}
# comes back to the wall again and again: the plastic set of the included criterion heals
BACK: Params = {
    "m": 1.0, "k": 0.25, "v0": 3.0, "gap": 0.5, "k_n": 4.0, "c_n": 0.4, "f_crit": 2.0, "f_post": 1.0, "plateau": 0.2, "softening": 0.4,
    "post_set": [0.6, 1.1], "post_stiffness": [1.6, 1.2], "c_buckled": 1.5, "post_damping": [1.0, 0.6], "a0": 0.6, "omega": 0.7,
}  # fmt: skip
FILE = Path(__file__).resolve().parents[2] / "data" / "shock.json"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    return found


def close(found: mpf, expected: float, error: float = 1e-15) -> bool:
    return abs(float(found) - expected) <= error * max(1.0, abs(expected))


def test_sdnd105_a_has_its_closed_forms() -> None:
    found = shock.run(A, 12.0)
    with mp.workdps(DIGITS):
        exact = {
            "buckling_time": mp.pi / 6, "max_compression": mpf(4), "plastic_set": mpf(3), "rebound_velocity": -1 / mp.sqrt(2),
            "separation_time": mp.pi / 6 + 2 * mp.sqrt(3) + mp.pi / mp.sqrt(2),
            "return_time": mp.pi / 6 + 2 * mp.sqrt(3) + (mp.pi + 6) / mp.sqrt(2), "peak_force": mpf(1), "impulse": 2 + 1 / mp.sqrt(2),
            "plastic_energy": mpf("1.75"),
        }  # fmt: skip
        for name, value in exact.items():
            assert abs(found[name] - value) < mpf(10) ** -45, name
    assert close(shock.run(A | {"k": 1e-7}, 12.0)["return_time"], 10.451771565, 1e-10)


def test_sdnd105_b_is_a_seen_from_each_mass() -> None:
    b = A | {"m": 0.5, "v0": 4.0, "k_n": 0.5, "k_post": 0.25}
    a, found = shock.run(A, 12.0), shock.run(b, 12.0)
    assert all(close(found[name], 2.0 * float(a[name])) for name in ("max_compression", "plastic_set", "rebound_velocity", "x_end"))
    assert all(close(found[name], float(a[name])) for name in ("buckling_time", "return_time", "peak_force"))


def test_sdnd105_c_has_its_closed_forms_and_published_values() -> None:
    found = shock.run(C, 15.0)
    assert close(found["max_compression"], 6.5, 1e-14)
    assert close(found["plastic_set"], 3.1, 1e-14)
    assert close(found["rebound_velocity"], -math.sqrt(1.7), 1e-14)
    assert close(found["separation_time"], 9.100728812, 1e-9)
    cut = shock.run(C, 9.0)
    assert close(cut["v_end"], -1.302867871, 1e-9)
    assert mp.isnan(cut["separation_time"])
    assert mp.isnan(cut["rebound_velocity"])
    spring = shock.run(C | {"k": 1e-7}, 10.0)
    for name, value in (("max_compression", 6.499995775), ("plastic_set", 3.099997465), ("separation_time", 9.10072036)):
        assert close(spring[name], value, 1e-9)
    assert close(shock.run(C | {"k": 1e-7}, 9.0)["v_end"], -1.302868928, 1e-9)


def test_sdnd105_d_included_stands_against_the_capped_force_from_the_start() -> None:
    found = shock.run(D, 70.0)
    assert found["buckling_time"] == 0
    assert close(found["max_compression"], 5.5)  # 4 J = 1 + 1 + 0.75 + 0.5 (x - 3)
    assert close(found["plastic_set"], 28 / 11)
    # unloading from rest: y'' + 5 y' + k_u y = 0 from 65/22 m, the force is 0 where y'' is
    k_u = 0.5 / (5.5 - 28 / 11)
    slow, fast = (-2.5 + sign * math.sqrt(6.25 - k_u) for sign in (1, -1))
    wait = math.log(fast / slow) / (slow - fast)
    speed = 65 / 22 * slow * fast / (fast - slow) * (math.exp(slow * wait) - math.exp(fast * wait))
    # 1 N takes v0 to 2 m/s; a + v/sqrt(2) grows as exp(t/sqrt(2)) in the softening, from (2, -1) to (sqrt(2.5), -0.5); then 0.5 N
    root, left = math.sqrt(0.5), math.sqrt(2.5)
    turn = D["v0"] - 2.0 + math.log((root * left - 0.5) / (2.0 * root - 1.0)) / root + 2.0 * left
    assert close(found["separation_time"], turn + wait, 1e-13)
    assert close(found["rebound_velocity"], speed, 1e-13)


def test_sdnd105_d_excluded_never_buckles() -> None:
    found = shock.run(D | {"damping_criterion": "excluded"}, 12.0)
    slow, fast = (-5.0 + sign * math.sqrt(24.0) for sign in (1, -1))
    wait = 2.0 * math.log(fast / slow) / (slow - fast)  # x'' = 0
    speed = D["v0"] / (slow - fast) * (slow * math.exp(slow * wait) - fast * math.exp(fast * wait))
    assert mp.isnan(found["buckling_time"])
    assert found["plastic_set"] == 0
    assert close(found["peak_force"], 10.0 * D["v0"])
    assert close(found["separation_time"], wait, 1e-14)
    assert close(found["rebound_velocity"], speed, 1e-13)
    assert close(found["return_time"], wait + 10.0, 1e-14)


@pytest.mark.parametrize("zeta", [0.0, 0.05, 0.6, 1.0, 3.0])
def test_elastic_stop_rebounds_with_the_restitution_of_a_force_that_never_pulls(zeta: float) -> None:
    m, k_n, v0, gap = 2.0, 800.0, 3.0, 0.75
    own = math.sqrt(k_n / m)
    found = shock.run({"m": m, "k_n": k_n, "c_n": 2.0 * zeta * m * own, "v0": v0, "gap": gap}, 1.0)
    if zeta < 1.0:
        root = math.sqrt(1.0 - zeta**2)
        wait = (math.atan2(2.0 * zeta * root, 2.0 * zeta**2 - 1.0) if zeta else math.pi) / (own * root)
        restitution = math.exp(-zeta * own * wait)
    elif zeta == 1.0:
        wait, restitution = 2.0 / own, math.exp(-2.0)
    else:
        slow, fast = (own * (-zeta + sign * math.sqrt(zeta**2 - 1.0)) for sign in (1, -1))
        wait = 2.0 * math.log(fast / slow) / (slow - fast)
        restitution = -(slow * math.exp(slow * wait) - fast * math.exp(fast * wait)) / (slow - fast)
    assert found["impacts"] == 1
    assert close(found["first_contact_time"], gap / v0)
    assert close(found["contact_time"], wait, 1e-13)
    assert close(found["separation_time"], gap / v0 + wait, 1e-13)
    assert close(found["rebound_velocity"], -v0 * restitution, 1e-13)
    assert close(found["impulse"], m * v0 * (1.0 + restitution), 1e-13)
    assert close(found["viscous_energy"], 0.5 * m * v0**2 * (1.0 - restitution**2), 1e-13)
    if zeta == 0.0:
        assert close(found["peak_force"], v0 * math.sqrt(m * k_n))
        assert close(found["return_time"], gap / v0 + math.pi / own)


def test_a_falling_mass_comes_back_to_its_height() -> None:
    m, g, height, k_n = 1.0, 9.81, 0.5, 1e4
    own, speed = math.sqrt(k_n / m), math.sqrt(2.0 * g * height)
    contact = 2.0 * (math.pi - math.atan(speed * own / g)) / own
    period = 2.0 * speed / g + contact
    found = shock.run({"m": m, "load": m * g, "x0": -height, "k_n": k_n}, 3.0 * period)
    assert found["impacts"] == 3
    assert close(found["first_contact_time"], math.sqrt(2.0 * height / g))
    assert close(found["first_contact_velocity"], speed)
    assert close(found["contact_time"], 3.0 * contact, 1e-12)
    assert close(found["peak_force"], m * g + math.sqrt((m * g) ** 2 + m * k_n * speed**2), 1e-14)
    assert close(found["x_end"], -height, 1e-12)
    impacts = found["each_impact"]
    assert all(close(b.time - a.time, period, 1e-13) for a, b in pairwise(impacts))
    assert all(close(each.impulse, 2.0 * m * speed + m * g * contact, 1e-13) for each in impacts)


def test_rubbing_takes_its_part_before_and_after_the_stop() -> None:
    mu_g, v0, gap = 1.5, 2.0, 0.4
    found = shock.run({"m": 1.0, "mu": 0.15, "g": 10.0, "v0": v0, "gap": gap, "k_n": 1e6}, 5.0)
    speed = math.sqrt(v0**2 - 2.0 * mu_g * gap)
    assert close(found["first_contact_velocity"], speed)
    deep = (math.sqrt(mu_g**2 + 1e6 * speed**2) - mu_g) / 1e6
    back = math.sqrt(1e6 * deep**2 - 2.0 * mu_g * deep)
    assert close(found["max_compression"], deep, 1e-14)
    assert close(found["friction_energy"], 0.5 * v0**2, 1e-14)
    assert close(found["x_end"], gap - back**2 / (2.0 * mu_g), 1e-13)
    assert found["v_end"] == 0


def test_two_stops_are_alike() -> None:
    p: Params = {
        "m": 1.3, "k": 20.0, "c": 0.4, "k_n": 5e3, "c_n": 9.0, "gap": 0.05, "sides": 2, "a0": 9.0, "omega": 9.0, "phase": 0.3, "v0": 0.4,
    }  # fmt: skip
    one, other = shock.run(p, 1.2), shock.run(p | {"a0": -9.0, "v0": -0.4}, 1.2)
    assert one["impacts"] == other["impacts"] > 2
    for name in ("x_end", "v_end", "first_contact_velocity", "rebound_velocity"):
        assert close(one[name], -float(other[name]))
    for name in ("peak_force", "contact_time", "impulse", "max_compression", "separation_time", "plastic_energy"):
        assert close(one[name], float(other[name]))


def test_motion_under_a_damping_that_grows_fulfils_its_equation() -> None:
    with mp.workdps(DIGITS):
        m, c, k, beta, anchor, constant, omega = (mpf(v) for v in ("1.2", "0.7", "-3", "40", "0.2", "-1.5", "6"))
        motion = Quadratic((m, c, k), beta, anchor, constant, (mpf(2), omega, mpf("0.4")), (anchor, mpf(3)))
        for t in (mpf(i) / 7 for i in range(12)):
            x, v, a, jerk = motion.jet(t)
            damping, angle = c + beta * (x - anchor), omega * t + mpf("0.4")
            assert abs(m * a + damping * v + k * x - constant - 2 * mp.sin(angle)) < mpf(10) ** -42
            assert abs(m * jerk + damping * a + beta * v * v + k * v - 2 * omega * mp.cos(angle)) < mpf(10) ** -40
        plain = Quadratic((m, c, k), mpf(0), anchor, constant, (mpf(2), omega, mpf("0.4")), (anchor, mpf(3)))
        exact = Motion((m, c, k), constant, (mpf(2), omega, mpf("0.4")), (anchor, mpf(3)))
        assert max(abs(a - b) for a, b in zip(plain.jet(mpf(2)), exact.jet(mpf(2)), strict=True)) < mpf(10) ** -42


@pytest.mark.parametrize("criterion", ["included", "excluded"])
@pytest.mark.parametrize("case", ["D", "mild D", "back"])
def test_small_literal_steps_converge_to_the_phases_at_first_order(case: str, criterion: str) -> None:
    p, end = {
        "D": (D, 7.0),
        "mild D": (D | {"c_n": 0.5, "c_buckled": 0.1, "post_damping": [0.3, 0.05, 0.2, 0.2]}, 14.0),
        "back": (BACK, 12.0),
    }[case]
    p = p | {"damping_criterion": criterion}
    exact = shock.run(p, end)
    steps = (1e-3, 2e-4)
    found = [time_schemes.run("euler", p | {"end": end, "step": step}) for step in steps]
    for name in ("x_end", "v_end", "max_compression", "plastic_set", "peak_force"):
        errors = [abs(each[name] - float(exact[name])) / max(1.0, abs(float(exact[name]))) for each in found]
        assert all(error < 4.0 * step for error, step in zip(errors, steps, strict=True)), (name, errors)
    assert all(each["impacts"] == exact["impacts"] for each in found)


def test_the_plastic_set_heals_where_the_damping_is_included() -> None:
    with mp.workdps(DIGITS):
        segments = Oscillator(BACK, 33.0).segments
    early, late = (next(s.walls[0] for s in segments if s.stop >= t) for t in (25, 32))
    assert late.X == early.X
    assert 0 < late.d < early.d - mpf("0.1")


@pytest.mark.parametrize("scheme", ["euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54"])
def test_every_scheme_evaluates_the_same_wall_and_friction(scheme: str) -> None:
    rubbed = C | {"mu": 0.02, "g": 1.0, "k_t": 400.0, "c_t": 40.0}
    exact = shock.run(rubbed, 12.0)
    found = time_schemes.run(scheme, rubbed | {"end": 12.0, "step": 2e-3, "tolerance": 1e-6})
    for name in ("max_compression", "plastic_set", "x_end", "v_end", "peak_force"):
        assert close(exact[name], found[name], 1e-3), name
    assert close(exact["buckling_time"], found["buckling_time"], 5e-3)


def test_energies_of_every_reference_row_add_up(rows: list[dict[str, Any]]) -> None:
    assert len(rows) > 120
    for row in rows:
        energies = {name: mpf(text) for name, text in row["result"].items() if name.endswith("_energy")}
        total = energies.pop("input_energy")
        size = max(abs(value) for value in energies.values())
        assert abs(mp.fsum(energies.values()) - total) <= 1e-13 * size, row["kind"]
        if row["params"].get("f_crit") is None:
            assert abs(energies["plastic_energy"]) <= 1e-13 * size


def test_the_reference_data_is_what_its_generator_writes(rows: list[dict[str, Any]]) -> None:
    for kind in ("wall with a table", "damping excluded", "damping included"):
        row = next(each for each in rows if each["kind"] == kind)
        assert row_of(kind, row["params"], row["end"]) == row
    assert as_text(mp.nan) == "nan"
