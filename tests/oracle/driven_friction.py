"""Reference for a rubbing mass under any sum of sines and a record, rigid or penalised: Taylor series in 30 digits.

    m x'' + c x' + k x = load + sum of A sin(w t + phase) + record(t) + friction

Independent of the closed forms of the engine: over a step short against every rate the motion is its Taylor series, from the recurrence
that the equation gives; events are found by looking at every step in pieces, and refined by bisection. Steps end at samples of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpmath import mp, mpf

DIGITS = 30
TERMS = 28
PIECES = 12  # looks a step
SCALE = mpf("0.4")  # of a step, in the shortest time scale

Series = list[mpf]


def value(series: Series, tau: mpf) -> mpf:
    """A polynomial at a time."""
    total = mpf(0)
    for coefficient in reversed(series):
        total = total * tau + coefficient
    return total


def rate(series: Series) -> Series:
    """Its derivative."""
    return [n * c for n, c in enumerate(series)][1:]


def first_negative(functions: Sequence[Series], h: mpf) -> tuple[mpf, int] | None:
    """The first time in (0, h] at which one of several polynomials, not negative at 0, is negative; and which."""
    found = []
    for which, series in enumerate(functions):
        before = mpf(0)
        for piece in range(1, PIECES + 1):
            now = h * piece / PIECES
            if value(series, now) < 0:
                low, high = before, now
                while high - low > mpf(10) ** (-DIGITS + 8) * h:
                    middle = (low + high) / 2
                    low, high = (low, middle) if value(series, middle) < 0 else (middle, high)
                found.append((high, which))
                break
            before = now
    return min(found) if found else None


@dataclass
class Drive:
    """The external force: a constant, sines (A [N], w [rad/s], phase [rad]), forces of a record [N] every `interval` [s], zeros behind."""

    load: float = 0.0
    sines: Sequence[tuple[float, float, float]] = ()
    record: Sequence[float] = ()
    interval: float = 1.0

    def series(self, t: mpf, sample: int) -> Series:
        """Taylor series about a time between a sample and the next."""
        terms = [mpf(0)] * TERMS
        terms[0] = mpf(self.load)
        for amplitude, omega, phase in self.sines:
            angle, factor = mpf(omega) * t + mpf(phase), mpf(amplitude)
            four = (mp.sin(angle), mp.cos(angle), -mp.sin(angle), -mp.cos(angle))
            for n in range(TERMS):
                terms[n] += factor * four[n % 4]
                factor *= mpf(omega) / (n + 1)
        if len(self.record):
            ends = [mpf(float(self.record[n])) if n < len(self.record) else mpf(0) for n in (sample, sample + 1)]
            slope = (ends[1] - ends[0]) / mpf(self.interval)
            terms[0] += ends[0] + slope * (t - sample * mpf(self.interval))
            terms[1] += slope
        return terms


@dataclass
class Measures:
    """What is measured in the window."""

    distance: mpf = field(default_factory=mpf)
    stuck: mpf = field(default_factory=mpf)
    drift: mpf = field(default_factory=mpf)
    fastest: mpf = field(default_factory=mpf)


def run(p: dict[str, float], drive: Drive, end: float, window: tuple[float, float]) -> dict[str, Any]:
    """One run from 0 to `end`.

    Args:
        p: m, c, k, x0, v0, hold and slide (largest friction at rest and in slip [N]), normal_force; k_t and c_t where it is penalised.
        drive: the external force.

    Returns:
        The observables by name, as mpf, and how many events there were.
    """
    with mp.workdps(DIGITS):
        return _run({name: mpf(number) for name, number in p.items()}, drive, mpf(end), (mpf(window[0]), mpf(window[1])))


def _run(p: dict[str, mpf], drive: Drive, end: mpf, window: tuple[mpf, mpf]) -> dict[str, Any]:
    m, c, k, hold, slide = (p[name] for name in ("m", "c", "k", "hold", "slide"))
    penalised = "k_t" in p
    k_t, c_t = p.get("k_t", mpf(0)), p.get("c_t", mpf(0))
    t, x, v, sample, events = mpf(0), p["x0"], p["v0"], 0, 0
    spring, seen = mpf(0), Measures()  # the force of the contact's spring where it was last looked at

    def needed(force: Series, at: mpf, moved: mpf) -> mpf:
        return value(force, at) - k * moved

    force = drive.series(t, 0)
    side = int(mp.sign(v))
    if v == 0 and not penalised and abs(needed(force, mpf(0), x)) > hold:
        side = int(mp.sign(needed(force, mpf(0), x)))
    while t < end:
        force = drive.series(t, sample)
        stiffness = k + (k_t if side == 0 else 0)
        damping = c + (c_t if side == 0 else 0)
        fastest = max([mp.sqrt(stiffness / m), damping / m, *(mpf(w) for _, w, _ in drive.sines), 1 / mpf(drive.interval)])
        following = (sample + 1) * mpf(drive.interval) if len(drive.record) else end
        stop = min(t + SCALE / fastest, following, *(bound for bound in (*window, end) if bound > t))
        h = stop - t
        push = [*force]
        push[0] += spring if side == 0 else -side * slide
        motion = [mpf(0), v]  # displacement since t
        if side == 0 and not penalised:
            motion = [mpf(0)] * (TERMS + 2)
        for n in range(TERMS if len(motion) == 2 else 0):
            spread = push[n] - (k * x if n == 0 else 0)
            motion.append((spread - damping * (n + 1) * motion[n + 1] - stiffness * motion[n]) / (m * (n + 2) * (n + 1)))
        speed = rate(motion)
        if side != 0:
            guards = [[side * each for each in speed]]
        elif penalised:
            pull = [spring - k_t * motion[0] - c_t * speed[0], *(-k_t * a - c_t * b for a, b in zip(motion[1:-1], speed[1:], strict=True))]
            guards = [[hold - pull[0], *(-each for each in pull[1:])], [hold + pull[0], *pull[1:]]]
        else:
            rest = [force[0] - k * x, *force[1:]]
            guards = [[hold + rest[0], *rest[1:]], [hold - rest[0], *(-each for each in rest[1:])]]
        found = first_negative(guards, h)
        tau = h if found is None else found[0]
        _measure(seen, (t, t + tau), window, side, motion, speed, tau)
        moved, after = value(motion, tau), value(speed, tau)
        if side == 0:
            spring = spring - k_t * moved
        x, v, t = x + moved, after, stop if found is None else t + tau
        if found is not None:
            events += 1
            if side == 0:
                pushed = 1 if found[1] == 1 else -1  # the guard says which way
                side = int(mp.sign(v)) if penalised and v != 0 else pushed
            else:
                v = mpf(0)
                if penalised:
                    side, spring = 0, -side * slide
                else:
                    here = needed(force, tau, x)
                    side = 0 if abs(here) <= hold else int(mp.sign(here))
        elif len(drive.record) and stop == following:
            sample += 1
    length = window[1] - window[0]
    energy = p["normal_force"] * seen.distance
    return {
        "wear_power": energy / length, "wear_energy": energy, "slip_distance": seen.distance, "stick_fraction": seen.stuck / length,
        "drift": seen.drift, "max_slip_speed": seen.fastest, "x_end": x, "v_end": v, "events": events,
    }  # fmt: skip


def _measure(seen: Measures, span: tuple[mpf, mpf], window: tuple[mpf, mpf], side: int, motion: Series, speed: Series, tau: mpf) -> None:
    """Add a step to what is measured; steps lie in the window or outside."""
    if span[0] < window[0] or span[0] >= window[1]:
        return
    moved = value(motion, tau)
    seen.drift += moved
    if side == 0:
        seen.stuck += tau
        return
    seen.distance += abs(moved)
    slope = rate(speed)
    falls: Callable[[mpf], mpf] = lambda at: value(slope, at) * side  # noqa: E731
    best = [mpf(0), tau]
    for piece in range(PIECES):
        low, high = tau * piece / PIECES, tau * (piece + 1) / PIECES
        if falls(low) > 0 > falls(high):
            while high - low > mpf(10) ** (-DIGITS + 10) * tau:
                middle = (low + high) / 2
                low, high = (low, middle) if falls(middle) < 0 else (middle, high)
            best.append(low)
    seen.fastest = max([seen.fastest, *(abs(value(speed, at)) for at in best)])
