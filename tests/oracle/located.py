"""A body in a plane with one support, phase by phase, many at once: every event is located, by steps of order 8 that begin anew there.

It shares nothing with the kernels nor with `contact_phases`, whose law it has; it is a thousand times as fast as that one, so that
derivatives can be differences. Lanes are rows: all arrays end with them. The support is off, lifted (inside, but the damper would pull),
stuck or slipping. `rises` says whether the normal force grows, so that its largest value is that of an instant at which it ceases to;
`heads` is the sign of the tangential velocity, whose size is summed while the contact slips.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as order_8

OFF, LIFTED, STUCK, SLIPS = range(4)
OBSTACLES = ("plane", "two planes", "ring")
SUMS = ("wear", "friction", "impulse", "slid")
CHANGES = ("entries", "exits", "sticks", "slips")
STEP = 1e-4  # [s]; the fastest spring has some 500 rad/s
PARAMETERS = ("m", "k", "gap", "k_n", "c_n", "mu_s", "mu_d", "k_t", "c_t")
_A, _B = order_8.A[:12, :12], order_8.B


class State(NamedTuple):
    """x, y, their rates, the elongation and `SUMS`, (9, L); the phase, the way of the anchor, if the force rises, and `heads`, (L,)."""

    y: Any
    phase: Any
    way: Any
    rises: Any
    heads: Any


class Motion(NamedTuple):
    """Penetration, its first two rates, tangential velocity and acceleration, k_n p + c_n p' and its rate, T, speed of the anchor, y'."""

    depth: Any
    rate: Any
    quickening: Any
    speed: Any
    faster: Any
    pull: Any
    stiffening: Any
    trial: Any
    anchor: Any
    rates: Any


def motion(obstacle: str, p: Mapping[str, Any], s: State) -> Motion:
    """What follows from a state in its phase."""
    x, z, vx, vz, e = s.y[:5]
    if obstacle == "ring":
        r = np.hypot(x, z)
        first, second = x / r, z / r
    else:
        first, second = np.sign(x) if obstacle == "two planes" else np.ones_like(x), np.zeros_like(x)
        r = first * x
    along = (-second, first) if obstacle == "ring" else (second, np.ones_like(x))
    rate, speed = first * vx + second * vz, along[0] * vx + along[1] * vz
    pull = p["k_n"] * (r - p["gap"]) + p["c_n"] * rate
    trial = p["k_t"] * e + p["c_t"] * speed
    presses, slips = s.phase >= STUCK, s.phase == SLIPS
    normal = np.where(presses, pull, 0.0)
    rubs = np.where(slips, -p["mu_d"] * normal * s.way, np.where(presses, -trial, 0.0))
    ax = (-p["k"] * x - first * normal + along[0] * rubs) / p["m"]
    az = (-p["k"] * z - second * normal + along[1] * rubs) / p["m"]
    quickening, faster = first * ax + second * az, along[0] * ax + along[1] * az
    if obstacle == "ring":
        quickening, faster = quickening + speed**2 / r, faster - rate * speed / r
    stiffening = p["k_n"] * rate + p["c_n"] * quickening
    longer = (p["mu_d"] * stiffening * s.way - p["c_t"] * faster) / p["k_t"]
    anchor = s.way * (speed - longer)
    slid = slips * s.heads * speed
    rates = np.stack([vx, vz, ax, az, np.where(presses, np.where(slips, longer, speed), 0.0), normal * slid,
                      p["mu_d"] * normal * slips * anchor, normal, slid])  # fmt: skip
    return Motion(r - p["gap"], rate, quickening, speed, faster, pull, stiffening, trial, anchor, rates)


def guards(p: Mapping[str, Any], s: State, m: Motion) -> Any:
    """(4, L) numbers of which one falls below 0 where a phase ends, or a rate or velocity changes sign: lengths [m], the third [m/s]."""
    inf = np.full_like(m.depth, np.inf)
    first = np.select([s.phase == OFF, s.phase == LIFTED], [-m.depth, m.depth], m.pull / p["k_n"])
    holds = (p["mu_s"] * m.pull - np.abs(m.trial)) / p["k_t"]
    second = np.select([s.phase == OFF, s.phase == LIFTED, s.phase == STUCK], [inf, -m.pull / p["k_n"], holds], m.anchor * STEP)
    third = np.where(s.phase >= STUCK, np.where(s.rises, 1.0, -1.0) * m.stiffening / p["k_n"], inf)
    return np.stack([first, second, third, np.where(s.phase == SLIPS, s.heads * m.speed * STEP, inf)])


def stepped(obstacle: str, p: Mapping[str, Any], s: State, h: Any) -> State:
    """The state after a step in its phase, by the formula of order 8 of Dormand and Prince."""
    slopes: list[Any] = []
    for row in _A:
        y = s.y + h * sum((a * k for a, k in zip(row, slopes, strict=False) if a), start=np.zeros_like(s.y))
        slopes.append(motion(obstacle, p, s._replace(y=y)).rates)
    return s._replace(y=s.y + h * sum(b * k for b, k in zip(_B, slopes, strict=True)))


def turned(obstacle: str, p: Mapping[str, Any], s: State, which: Any) -> State:
    """The state after an event; which: the guard that fell below 0, (L,)."""
    m = motion(obstacle, p, s)
    off, lifted, stuck, slips = (s.phase == each for each in (OFF, LIFTED, STUCK, SLIPS))
    enters = (off & (which == 0)) | (lifted & (which == 1))
    releases = (stuck | slips) & (which == 0)
    e, phase, way = s.y[4].copy(), s.phase.copy(), s.way.copy()
    phase[releases] = np.where(m.depth > 1e-13, LIFTED, OFF)[releases]
    phase[lifted & (which == 0)] = OFF
    phase[enters] = STUCK
    e[enters | releases] = 0.0
    pull = np.maximum(m.pull, 0.0)
    trial = p["k_t"] * e + p["c_t"] * m.speed
    rate = p["k_t"] * m.speed + p["c_t"] * m.faster
    none = (pull <= 1e-9) & (np.abs(trial) <= 1e-9)
    beyond = np.where(none, np.abs(rate) > p["mu_s"] * m.stiffening, np.abs(trial) > p["mu_s"] * pull)
    slides = (stuck & (which == 1)) | (enters & beyond)
    way[slides] = np.where(none, np.sign(rate), np.sign(trial))[slides]
    phase[slides] = SLIPS
    stops = slips & (which == 1)
    phase[stops] = STUCK
    sets = slides | stops
    e[sets] = ((p["mu_d"] * pull * way - p["c_t"] * m.speed) / p["k_t"])[sets]
    # where mu_s > mu_d the anchor of what was stuck jumps under the mean of both forces
    lost = np.where(stuck & slides, 0.5 * (np.abs(m.trial) + p["mu_d"] * pull) * way * (s.y[4] - e), 0.0)
    s = State(np.concatenate([s.y[:4], e[None], s.y[5:6], s.y[6:7] + lost, s.y[7:]]), phase, way, s.rises, s.heads)
    rises = motion(obstacle, p, s).stiffening > 0.0
    heads = np.where(m.speed < 0.0, -1.0, 1.0)
    heads = np.select([which == 3, slips & (which == 2)], [-s.heads, s.heads], heads)
    return s._replace(rises=np.where(which == 2, ~s.rises, rises), heads=heads)


def run(obstacle: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Ends, sums, the largest normal force and the numbers of events (all, and `CHANGES`) of rows, (L,) each.

    Args:
        rows: `PARAMETERS`, a start in the clearance (`x0[x]` to `v0[y]`) and `end`.
    """
    p = {name: np.asarray(rows[name], float) for name in PARAMETERS}
    end, none = np.asarray(rows["end"], float), np.zeros_like(p["gap"])
    start = [none + rows[name] for name in ("x0[x]", "x0[y]", "v0[x]", "v0[y]")]
    s = State(np.stack([*start, *[none] * 5]), none.astype(int), none + 1.0, none > 0.0, none + 1.0)
    t, peak, events, changes = none.copy(), none.copy(), none.astype(int), np.zeros((4, *none.shape), int)
    while (t < end).any():
        h = np.minimum(STEP, end - t)
        new = stepped(obstacle, p, s, h)
        lanes = np.flatnonzero((guards(p, new, motion(obstacle, p, new)) < 0.0).any(axis=0) & (h > 0.0))
        if lanes.size:
            few = {name: value[lanes] for name, value in p.items()}
            now = State(s.y[:, lanes], *(each[lanes] for each in s[1:]))
            parts, fell = _located(obstacle, few, now, h[lanes])
            h[lanes] = parts
            there = stepped(obstacle, few, now, parts)
            after = turned(obstacle, few, there, fell)
            force = np.where(after.phase >= STUCK, motion(obstacle, few, after).pull, 0.0)
            peak[lanes] = np.maximum(peak[lanes], force)
            new.y[:, lanes] = after.y
            others = [each.copy() for each in new[1:]]
            for each, now in zip(others, after[1:], strict=True):
                each[lanes] = now
            new = State(new.y, *others)
            events[lanes] += 1
            one, other = there.phase, after.phase
            changes[:, lanes] += [(one < STUCK) & (other >= STUCK), (one >= STUCK) & (other < STUCK),
                                  (one != STUCK) & (other == STUCK), (one != SLIPS) & (other == SLIPS)]  # fmt: skip
        lands = t + h >= end
        t, s = np.where(lands, end, t + h), new
    last = np.where(s.phase >= STUCK, motion(obstacle, p, s).pull, 0.0)
    return {"x": s.y[0], "y": s.y[1], "v_x": s.y[2], "v_y": s.y[3], **dict(zip(SUMS, s.y[5:], strict=True)),
            "peak": np.maximum(peak, last), "events": events, **dict(zip(CHANGES, changes, strict=True))}  # fmt: skip


def _located(obstacle: str, p: Mapping[str, Any], s: State, h: Any) -> tuple[Any, Any]:
    """The length of a step at whose end the first guard is 0 (Illinois' rule), and which it is."""

    def least(part: Any) -> Any:
        there = stepped(obstacle, p, s, part)
        return guards(p, there, motion(obstacle, p, there))

    low, high = np.zeros_like(h), h.copy()
    end = least(high)
    begin = guards(p, s, motion(obstacle, p, s)).min(axis=0)
    worth = end.min(axis=0)
    begin = np.where(begin > 0.0, begin, -1e-3 * worth)
    side, fell = np.zeros_like(h), end.argmin(axis=0)
    for _ in range(60):
        part = low + (high - low) * np.clip(begin / (begin - worth), 1e-6, 1.0 - 1e-6)
        value = least(part)
        passed = value.min(axis=0) < 0.0
        fell = np.where(passed, value.argmin(axis=0), fell)
        begin = np.where(passed, np.where(side > 0, 0.5 * begin, begin), value.min(axis=0))
        worth = np.where(passed, value.min(axis=0), np.where(side < 0, 0.5 * worth, worth))
        low, high, side = np.where(passed, low, part), np.where(passed, part, high), np.where(passed, 1.0, -1.0)
        if np.all((high - low <= 1e-15) | (np.minimum(np.abs(begin), np.abs(worth)) < 1e-17)):
            break
    return np.where(np.abs(begin) < np.abs(worth), low, high), fell
