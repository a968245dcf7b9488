"""High-precision reference for a mass that hits an elastic stop or a wall that buckles, with or without friction: what is measured.

`shock_events` integrates the motion; the integrals are taken by a Gauss-Legendre rule on every segment.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from mpmath import mp, mpf

from .linear_motion import root_in
from .shock_events import DIGITS, NEAR, Oscillator, Rest, Segment
from .walls import FORCELESS, Jet, Wall, seen

NODES = 40  # of the Gauss-Legendre rule


@cache
def gauss() -> list[tuple[mpf, mpf]]:
    """Nodes and weights on [0, 1]."""
    found = []
    for i in range(NODES):
        x = mp.cos(mp.pi * (i + mpf("0.75")) / (NODES + mpf("0.5")))
        for _ in range(12):
            before, value = mpf(1), x
            for n in range(1, NODES):
                before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
            slope = NODES * (x * value - before) / (x * x - 1)
            x -= value / slope
        found.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return found


def integrate(segment: Segment, rates: Callable[[mpf, Jet], list[mpf]]) -> list[mpf]:
    """Integrals over a segment of functions of the time of the run and the motion."""
    span, (swing, rate) = segment.stop - segment.start, segment.rates
    low, total = mpf(0), [mpf(0)] * len(rates(segment.start, segment.path.jet(mpf(0))))
    while low < span:
        high = low + max(low, 1 / rate if rate else span)
        high = min(span, high, low + 2 / swing if swing else span)
        for node, weight in gauss():
            tau = low + (high - low) * node
            values = rates(segment.start + tau, segment.path.jet(tau))
            total = [a + weight * (high - low) * b for a, b in zip(total, values, strict=True)]
        low = high
    return total


@dataclass
class Impact:
    """From one entry into |x| > gap to the next exit."""

    time: mpf
    approach_velocity: mpf
    peak_force: mpf = field(default_factory=mpf)
    impulse: mpf = field(default_factory=mpf)
    contact_time: mpf = field(default_factory=mpf)
    duration: mpf = field(default_factory=lambda: mp.nan)


def _peak(wall: Wall, segment: Segment) -> mpf:
    """Largest force of ``wall`` in a segment."""
    points = [wall.push(seen(wall, jet)) for _, jet in segment.mesh] or [wall.push(seen(wall, segment.jet(segment.start)))]
    best = max(point[0] for point in points)
    for (low, _), (high, _), a, b in zip(segment.mesh, segment.mesh[1:], points, points[1:], strict=False):
        if a[1] > 0 > b[1] and max(a[0], b[0]) > best * (1 - 2 * NEAR):

            def slope(tau: mpf) -> tuple[mpf, mpf]:
                _, first, second = wall.push(seen(wall, segment.path.jet(tau)))
                return first, second

            top = root_in(slope, low, high)
            best = max(best, wall.push(seen(wall, segment.path.jet(top)))[0])
    return best


def _impacts(run_: Oscillator) -> list[Impact]:
    """Every impact of the run but its integrals."""
    found: list[Impact] = []
    for time, name, _, v in run_.events:
        if name == "contact":
            found.append(Impact(time, v))
        elif name == "leave":
            found[-1].duration = time - found[-1].time
    return found


def _integrals(run_: Oscillator, impacts: list[Impact]) -> list[mpf]:
    """Work of the excitation, of the wall, of its damper, of c, of friction and of the spring k; peaks and impulses of the impacts."""
    total = [mpf(0)] * 5
    for segment in run_.segments:
        pushing = [w for w in segment.walls if w.phase not in FORCELESS]
        touching = [w for w in segment.walls if w.phase != "OFF"]
        wall = touching[0] if touching else None

        def rates(t: mpf, jet: Jet, wall: Wall | None = wall) -> list[mpf]:
            v = jet[1]
            force = spring = speed = mpf(0)
            if wall is not None:
                y, speed, _, _ = each = seen(wall, jet)
                force, spring = wall.push(each)[0], wall.spring(y)[0]
            return [run_.drive(t) * v, force * speed, (force - spring) * speed, run_.mck[1] * v * v, force]

        if isinstance(segment.path, Rest):
            span = segment.stop - segment.start
            *works, impulse = (span * rate for rate in rates(segment.start, segment.jet(segment.start)))
        else:
            *works, impulse = integrate(segment, rates)
        slid = abs(segment.jet(segment.stop)[0] - segment.jet(segment.start)[0]) if segment.slips else mpf(0)
        total = [a + b for a, b in zip(total, [*works, run_.slide * slid], strict=True)]
        for each in pushing:
            impact = next(i for i in reversed(impacts) if i.time <= segment.start)
            impact.impulse += impulse
            impact.contact_time += segment.stop - segment.start
            impact.peak_force = max(impact.peak_force, _peak(each, segment))
    return total


def _shock(run_: Oscillator, impacts: list[Impact]) -> dict[str, Any]:
    """What is counted and timed on a run."""

    def first(name: str) -> tuple[mpf, mpf]:
        return next(((t, v) for t, each, _, v in run_.events if each == name), (mp.nan, mp.nan))

    zeros = [(t, v) for t, name, _, v in run_.events if name == "force zero"]
    separation, rebound = zeros[-1] if zeros else (mp.nan, mp.nan)
    wall = run_.walls[0]
    plastic = wall.d
    if wall.phase == "YIELD":
        plastic = max(mpf(0), wall.piece.plastic(run_.segments[-1].jet(run_.end)[0] - wall.gap))
    elif wall.phase == "RELOAD":
        plastic = run_.segments[-1].jet(run_.end)[0] - wall.gap - wall.stretch
    x0, v0 = run_.released
    comes_out = sum(w.side * x0 > w.gap and w.side * v0 <= 0 for w in run_.walls)  # a start inside that does not move inwards
    reach = [w.side * jet[0] - w.gap for s in run_.segments for w in s.walls for jet in (s.jet(s.start), s.jet(s.stop))]
    reach += [w.side * jet[0] - w.gap for s in run_.segments for w in s.walls for _, jet in s.mesh]
    return {
        "impacts": len(impacts) - comes_out,
        "peak_force": max((i.peak_force for i in impacts), default=mpf(0)),
        "contact_time": mp.fsum(i.contact_time for i in impacts),
        "impulse": mp.fsum(i.impulse for i in impacts),
        "first_contact_time": first("contact")[0],
        "first_contact_velocity": first("contact")[1],
        "buckling_time": first("criterion")[0],
        "plastic_set": plastic,
        "max_compression": max(mpf(0), *reach),
        "rebound_velocity": rebound,
        "separation_time": separation,
        "return_time": first("leave")[0],
        "beyond_table": bool(wall.pieces) and wall.piece.name == "beyond",
    }


def _measure(run_: Oscillator) -> dict[str, Any]:
    """Everything that is measured on a run."""
    impacts = _impacts(run_)
    drive, wall_work, viscous, damper, friction = _integrals(run_, impacts)
    x, v, _, _ = run_.segments[-1].jet(run_.end)
    x0, v0, _, _ = run_.segments[0].jet(mpf(0))
    last = run_.segments[-1].walls
    elastic = mp.fsum(w.spring(w.side * x - w.gap)[1] for w in last)
    m, _, k = run_.mck
    if not run_.rigid and run_.hold:  # work on the contact's spring and damper too
        friction = drive - wall_work - damper - m * (v * v - v0 * v0) / 2 - k * (x * x - x0 * x0) / 2
    start = mp.fsum(w.spring(w.side * x0 - w.gap)[1] for w in run_.segments[0].walls)
    return {
        **_shock(run_, impacts),
        "x_end": x,
        "v_end": v,
        "input_energy": drive,
        "kinetic_energy": m * (v * v - v0 * v0) / 2,
        "spring_energy": k * (x * x - x0 * x0) / 2,
        "elastic_energy": elastic - start,
        "plastic_energy": wall_work - (elastic - start) - viscous,
        "viscous_energy": viscous + damper,
        "friction_energy": friction,
        "n_events": len(run_.events),
        "events": run_.events,
        "each_impact": impacts,
        "margin": run_.margin,
    }


def run(params: Mapping[str, Any], end: float) -> dict[str, Any]:
    """Integrate from 0 to ``end`` and measure over the whole run.

    ``params`` may hold the names of ``DEFAULTS``, ``OPTIONAL``, ``TABLES`` and ``OTHER``. With ``f_crit`` the wall buckles; without it
    it is an elastic stop. With ``k_t`` friction is penalised. A start at x0 >= gap with a motion inwards counts as an impact
    at t = 0. Times and velocities of what did not happen are NaN; counts, sums and largest values are then 0. The return is the
    first exit through the plane of the gap. Energies are those since t = 0: input = kinetic + spring + elastic + plastic + viscous +
    friction. ``events`` holds (time, name, x, v). ``margin`` is the smallest relative distance of any decision of the run from turning
    out the other way. Numbers are returned as mpf.
    """
    with mp.workdps(DIGITS):
        return _measure(Oscillator(params, end))
