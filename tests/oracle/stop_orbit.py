"""Periodic motions of a mass that hits an elastic stop once in a period, from the closed form of its two stretches.

m x'' + c x' + k x = -m a0 sin(omega t) - F, F = k_n (x - gap) + c_n x' from the entry, where x = gap, until F = 0. Both stretches are
motions of a damped oscillator under a sine. A motion is a root of three equations in the instants of entry and exit and the load a0, for a
given speed of the entry; a branch of motions is followed in this speed, which grows where the load turns back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mpmath import mp, mpf

DIGITS = 30
Pair = tuple[mpf, mpf]


class Orbit(NamedTuple):
    """A motion: speed of the entry [m/s], instants of entry and exit [s], load [m/s^2], and (x, v) at t = 0 of the section [m, m/s]."""

    speed: mpf
    entry: mpf
    exit: mpf
    a0: mpf
    section: Pair


def moved(m: mpf, c: mpf, k: mpf, rest: mpf, a0: mpf, omega: mpf, start: tuple[mpf, mpf, mpf], until: mpf) -> Pair:
    """Displacement and velocity at `until` from (t, x, v) on, of m x'' + c x' + k (x - rest) = -m a0 sin(omega t); underdamped."""
    response = -m * a0 / (k - m * omega**2 + 1j * omega * c)  # of e^(i omega t)

    def forced(t: mpf) -> Pair:
        turned = response * mp.mpc(mp.cos(omega * t), mp.sin(omega * t))
        return turned.imag, (1j * omega * turned).imag

    t, x, v = start
    decay, turn = c / (2 * m), mp.sqrt(k / m - (c / (2 * m)) ** 2)
    x0, v0 = x - rest - forced(t)[0], v - forced(t)[1]
    tau = until - t
    amplitude = x0 - 1j * (v0 + decay * x0) / turn  # real part of amplitude e^((-decay + i turn) tau)
    free = amplitude * mp.exp((-decay + 1j * turn) * tau)
    there = forced(until)
    return free.real + rest + there[0], ((-decay + 1j * turn) * free).real + there[1]


def orbit(p: Mapping[str, float], speed: mpf, guess: tuple[mpf, mpf, mpf]) -> Orbit:
    """The motion of one impact in each period with a speed of entry. `guess`: entry, exit, a0."""
    m, c, k, k_n, c_n, gap, omega = (mpf(p[name]) for name in ("m", "c", "k", "k_n", "c_n", "gap", "omega"))
    period = 2 * mp.pi / omega

    def out(entry: mpf, exit_: mpf, a0: mpf) -> Pair:
        return moved(m, c + c_n, k + k_n, k_n * gap / (k + k_n), a0, omega, (entry, gap, speed), exit_)

    def equations(entry: mpf, exit_: mpf, a0: mpf) -> list[mpf]:
        x, v = out(entry, exit_, a0)
        back = moved(m, c, k, mpf(0), a0, omega, (exit_, x, v), entry + period)
        return [(k_n * (x - gap) + c_n * v) / (k_n * gap + c_n * speed), (back[0] - gap) / gap, (back[1] - speed) / (gap * omega)]

    entry, exit_, a0 = mp.findroot(equations, guess, tol=mpf(10) ** (6 - 2 * mp.dps))
    x, v = out(entry, exit_, a0)
    start = mp.ceil(exit_ / period) * period
    return Orbit(speed, entry, exit_, a0, moved(m, c, k, mpf(0), a0, omega, (exit_, x, v), start))


def grazing(p: Mapping[str, float]) -> mpf:
    """The load [m/s^2] at which the free response reaches the stop."""
    k, m, c, omega = (mpf(p[name]) for name in ("k", "m", "c", "omega"))
    return mpf(p["gap"]) * abs(k / m - omega**2 + 1j * omega * c / m)


def soft(p: Mapping[str, float], speed: mpf) -> Orbit:
    """The motion with a small speed of entry, near the grazing: a parabola that the contact bends back is the guess."""
    m, c, k, k_n, gap, omega = (mpf(p[name]) for name in ("m", "c", "k", "k_n", "gap", "omega"))
    peak = (mp.pi / 2 - mp.arg(-1 / (k - m * omega**2 + 1j * omega * c))) / omega  # where the free response is largest
    own, a = mp.sqrt((k + k_n) / m), omega**2 * gap
    entry = peak - mp.atan(speed * own / a) / own
    return orbit(p, speed, (entry, entry + 2 * mp.atan(speed * own / a) / own, grazing(p)))


def branch(p: Mapping[str, float], speeds: list[mpf]) -> list[Orbit]:
    """The motions with growing speeds of entry, the first of which is small."""
    found = [soft(p, speeds[0])]
    for speed in speeds[1:]:
        last = found[-1]
        found.append(orbit(p, speed, (last.entry, last.exit, last.a0)))
    return found


def folds(p: Mapping[str, float], speeds: list[mpf]) -> list[Orbit]:
    """The motions at which the load turns back as the speed of the entry grows, between those with `speeds`."""
    orbits = branch(p, speeds)
    return [
        _fold(p, orbits[i - 1 : i + 2])
        for i in range(1, len(orbits) - 1)
        if (orbits[i].a0 - orbits[i - 1].a0) * (orbits[i + 1].a0 - orbits[i].a0) < 0
    ]


def _fold(p: Mapping[str, float], near: list[Orbit]) -> Orbit:
    state = near[1].entry, near[1].exit, near[1].a0

    def rate(speed: mpf) -> mpf:
        h = speed * mpf("1e-8")
        return (orbit(p, speed + h, state).a0 - orbit(p, speed - h, state).a0) / (2 * h)

    return orbit(p, mp.findroot(rate, (near[0].speed, near[2].speed), solver="ridder", tol=mpf("1e-24")), state)


def free_period(p: Mapping[str, float], energy: mpf) -> mpf:
    """Period [s] of the free motion without damping that touches the stop, of an energy [J] above k gap^2 / 2."""
    m, k, stop, gap = (mpf(p[name]) for name in ("m", "k", "k_n", "gap"))
    speed, own = mp.sqrt((2 * energy - k * gap**2) / m), mp.sqrt((k + stop) / m)
    out = mp.sqrt(m / k) * (mp.pi + 2 * mp.asin(gap / mp.sqrt(2 * energy / k)))
    return out + 2 / own * mp.atan(speed / (own * k * gap / (k + stop)))
