"""Reference for a mass on a surface that moves or whose normal force varies, rigid or penalised: Taylor series in 30 digits.

    m x'' + c x' + k x = load + sum of A sin(w t + phase) + record(t) + T,   w = x' - belt
    F_n = max(0, n) on one surface, |n| between two,   n = n0 + n1 sin(wn t + phase_n)

Steps, events and their search are those of `driven_friction`. While n does not change its sign, F_n is a series too. A penalised contact
whose limit falls below its force slips against that force; if the mass creeps the other way it holds again at once, its spring at mu_d F_n.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mpmath import mp, mpf

from tests.oracle.driven_friction import DIGITS, PIECES, SCALE, TERMS, Drive, Series, first_negative, rate, value


@dataclass
class Surface:
    """What presses the mass (n0, n1 [N], wn [rad/s], phase, 1 or 2 sides) and how fast the surface moves [m/s]."""

    normal: tuple[float, float, float, float] = (1.0, 0.0, 1.0, 0.0)
    sides: int = 1
    belt: float = 0.0

    def series(self, t: mpf) -> Series:
        """Taylor series of n about a time."""
        n0, n1, wn, phase = map(mpf, self.normal)
        return [a + b for a, b in zip([n0, *[mpf(0)] * (TERMS - 1)], Drive(0.0, [(n1, wn, phase)]).series(t, 0), strict=True)]


@dataclass
class Seen:
    """Sums over the window."""

    energy: mpf = field(default_factory=mpf)
    distance: mpf = field(default_factory=mpf)
    stuck: mpf = field(default_factory=mpf)
    drift: mpf = field(default_factory=mpf)
    fastest: mpf = field(default_factory=mpf)


@dataclass
class State:
    """A mass just after an event: `side` of slip, 0 where it holds; `pressed` on a surface, +1 or -1, 0 off it; force of the spring."""

    t: mpf
    x: mpf
    v: mpf
    side: int
    pressed: int
    spring: mpf
    events: int = 0


def run(p: dict[str, float], drive: Drive, surface: Surface, end: float, window: tuple[float, float]) -> dict[str, Any]:
    """One run from 0 to `end`: m, c, k, x0, v0, mu_s, mu_d in `p`, with k_t and c_t where it is penalised. Observables by name, as mpf."""
    with mp.workdps(DIGITS):
        return _run({name: mpf(number) for name, number in p.items()}, drive, surface, mpf(end), (mpf(window[0]), mpf(window[1])))


def _run(p: dict[str, mpf], drive: Drive, surface: Surface, end: mpf, window: tuple[mpf, mpf]) -> dict[str, Any]:
    m, c, k, mu_s, mu_d, belt = *(p[name] for name in ("m", "c", "k", "mu_s", "mu_d")), mpf(surface.belt)
    penalised, k_t, c_t = "k_t" in p, p.get("k_t", mpf(0)), p.get("c_t", mpf(0))
    n = surface.series(mpf(0))
    sign = int(mp.sign(n[0])) or int(mp.sign(n[1])) or 1
    s = State(mpf(0), p["x0"], p["v0"], 0, sign if surface.sides == 2 else max(sign, 0), mpf(0))
    sample, seen = 0, Seen()

    def pull(force: mpf, x: mpf) -> mpf:
        return force - k * x - c * belt

    w = s.v - belt
    if s.pressed:
        s.side = int(mp.sign(w))
        here = pull(drive.series(s.t, 0)[0], s.x)
        if w == 0 and not penalised and abs(here) > mu_s * abs(n[0]):
            s.side = int(mp.sign(here))
    while s.t < end:
        force, n = drive.series(s.t, sample), surface.series(s.t)
        press = [s.pressed * each for each in n]
        holds = s.side == 0 and s.pressed != 0
        own = (k_t, c_t) if holds else (mpf(0), mpf(0))
        rates = [mp.sqrt((k + own[0]) / m), (c + own[1]) / m, *(mpf(each) for _, each, _ in drive.sines), mpf(surface.normal[2])]
        following = (sample + 1) * mpf(drive.interval) if len(drive.record) else end
        if len(drive.record):
            rates.append(1 / mpf(drive.interval))
        stop = min(s.t + SCALE / max(rates), following, *(bound for bound in (*window, end) if bound > s.t))
        h = stop - s.t
        if holds and not penalised:
            motion = [mpf(0), belt, *[mpf(0)] * TERMS]
        else:
            # against the surface, so that a spring of the contact is loaded by `against`
            motion = [mpf(0), s.v]
            for i in range(TERMS):
                slides = -s.side * mu_d * press[i] if s.side else (s.spring if holds and i == 0 else mpf(0))
                against = motion[i] - (belt if i == 1 else 0)
                creep = (i + 1) * motion[i + 1] - (belt if i == 0 else 0)
                total = force[i] + slides - k * (motion[i] + (s.x if i == 0 else 0)) - c * (i + 1) * motion[i + 1]
                motion.append((total - own[0] * against - own[1] * creep) / (m * (i + 2) * (i + 1)))
        speed = rate(motion)
        slip = [speed[0] - belt, *speed[1:]]
        if s.side:
            guards = [[s.side * each for each in slip]]
        elif holds:
            if penalised:
                against = [motion[0], motion[1] - belt, *motion[2:]]
                held = [(s.spring if i == 0 else 0) - k_t * against[i] - c_t * slip[i] for i in range(TERMS)]
            else:
                way = [s.x, belt, *[mpf(0)] * TERMS]
                held = [k * way[i] - force[i] + (c * belt if i == 0 else 0) for i in range(TERMS)]
            guards = [[mu_s * a - b for a, b in zip(press, held, strict=False)], [mu_s * a + b for a, b in zip(press, held, strict=False)]]
        else:
            guards = []
        ends = [press if s.pressed else [-each for each in n]] if surface.normal[1] else []
        found = first_negative([*ends, *guards], h)
        tau = h if found is None else found[0]
        _measure(seen, s, (window, s.t + tau), press, motion, slip, speed, tau)
        if holds and penalised:
            s.spring -= k_t * (value(motion, tau) - belt * tau)
        s.x, s.v, s.t = s.x + value(motion, tau), value(speed, tau), stop if found is None else s.t + tau
        if found is not None:
            s.events += 1
            here, limit = pull(value(force, tau), s.x), abs(value(n, tau))
            _event(s, found[1] - len(ends), holds, here, limit, (mu_s, mu_d, c_t), penalised, surface)
        elif len(drive.record) and stop == following:
            sample += 1
        assert s.events < 10_000, "events without end"
    length = window[1] - window[0]
    return {
        "wear_power": seen.energy / length, "wear_energy": seen.energy, "friction_power": mu_d * seen.energy / length,
        "slip_distance": seen.distance, "stick_fraction": seen.stuck / length, "drift": seen.drift, "max_slip_speed": seen.fastest,
        "x_end": s.x, "v_end": s.v, "events": s.events,
    }  # fmt: skip


def _event(s: State, which: int, holds: bool, pull: mpf, normal: mpf, law: tuple[mpf, mpf, mpf], penalised: bool, surface: Surface) -> None:
    """The state after an event: -1 where n is 0, else the guard of slip or of the hold."""
    mu_s, mu_d, c_t = law
    belt = mpf(surface.belt)
    w = s.v - belt
    if which < 0:
        if surface.sides == 2:
            s.pressed = -s.pressed
        elif s.pressed:
            s.pressed, s.side, s.spring = 0, 0, mpf(0)
        else:
            s.pressed, s.spring = 1, mpf(0)
            s.side = int(mp.sign(w))
    elif holds:
        away = -1 if which == 0 else 1
        if not penalised:
            s.side = away
        elif not surface.normal[1]:
            s.side = int(mp.sign(w)) or away
        elif away * w >= 0:
            s.side = away
        elif 0 < c_t * abs(w) < mpf(10) ** -18 * mu_s * normal:  # it has gripped again and again, ever sooner: the limit of that
            s.v, s.side = belt, away
        elif c_t * abs(w) > (mu_s + mu_d) * normal:
            s.side = int(mp.sign(w))
        else:
            s.spring = -mu_d * normal * away
    else:
        s.v = belt
        if penalised:
            s.spring, s.side = -s.side * mu_d * normal, 0
        else:
            s.side = 0 if abs(pull) <= mu_s * normal else int(mp.sign(pull))


def _measure(
    seen: Seen, s: State, until: tuple[tuple[mpf, mpf], mpf], press: Series, motion: Series, slip: Series, speed: Series, tau: mpf
) -> None:
    """Add a step, which lies in the window or outside, to what is measured."""
    (low, high), end = until
    if s.t < low or end > high:
        return
    seen.drift += value(motion, tau)
    if s.side == 0:
        seen.stuck += tau if s.pressed else 0
        return
    product = [sum(press[i] * slip[j - i] for i in range(j + 1)) for j in range(TERMS)]
    seen.energy += abs(sum(each * tau ** (i + 1) / (i + 1) for i, each in enumerate(product)))
    seen.distance += abs(value(motion, tau) - (motion[1] - slip[0]) * tau)
    slope, best = [s.side * each for each in rate(speed)], [mpf(0), tau]
    for piece in range(PIECES):
        a, b = tau * piece / PIECES, tau * (piece + 1) / PIECES
        if value(slope, a) > 0 > value(slope, b):
            while b - a > mpf(10) ** (-DIGITS + 12) * tau:
                middle = (a + b) / 2
                a, b = (a, middle) if value(slope, middle) < 0 else (middle, b)
            best.append(a)
    seen.fastest = max([seen.fastest, *(abs(value(slip, at)) for at in best)])
