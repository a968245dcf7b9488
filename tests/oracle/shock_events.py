"""A mass that hits an elastic stop or a wall that buckles, with or without friction, event by event in 50-digit arithmetic.

    m x'' + c x' + k x = A sin(omega t + phase) + load - F + T,    A = f0 - m a0

`walls` says what F is and derives its phases in continuous time; T is rigid Coulomb friction or, with k_t and c_t, penalised. Parameters
are taken exactly as the binary64 numbers they are. A guard is linear in position and velocity; it is searched on a mesh with a look at
every interior extremum that comes near 0.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from mpmath import mp, mpf

from .linear_motion import Motion, root_in
from .quadratic_motion import Quadratic
from .walls import FORCELESS, YIELDING, Jet, Line, Wall, as_x, envelope, seen

DIGITS = 50
MESH = 32  # mesh points per fastest period
GROWTH = mpf("0.12")  # largest mesh step relative to the time since the phase began
NEAR = mpf("0.05")  # an extremum is looked at where the mesh comes this near, relative to the largest value so far
MAX_SEGMENTS = 20000

DEFAULTS: dict[str, float] = {
    "m": 1.0, "c": 0.0, "k": 0.0, "g": 10.0, "mu": 0.0, "a0": 0.0, "omega": 1.0, "phase": 0.0, "f0": 0.0, "load": 0.0, "x0": 0.0, "v0": 0.0,
    "k_n": 0.0, "c_n": 0.0, "gap": 0.0,
}  # fmt: skip
OPTIONAL = ("mu_s", "mu_d", "normal_force", "k_t", "c_t", "f_crit", "f_post", "k_post", "c_buckled")
TABLES = ("post_set", "post_stiffness", "post_damping")
OTHER = ("sides", "plateau", "softening", "damping_criterion")


class Path(Protocol):
    """The motion in one segment."""

    def jet(self, t: mpf) -> Jet:
        """Position and its first three derivatives at ``t``."""


class Rest:
    """A mass that does not move."""

    def __init__(self, x: mpf) -> None:
        self.x = x

    def jet(self, _t: mpf) -> Jet:
        """Position and its first three derivatives."""
        return [self.x, mpf(0), mpf(0), mpf(0)]


@dataclass
class Segment:
    """A time interval in one phase of every element."""

    start: mpf
    stop: mpf
    path: Path
    walls: list[Wall]  # as they were in it
    direction: int  # of slip, 0 where friction holds or is absent
    slips: bool
    mesh: list[tuple[mpf, Jet]] = field(default_factory=list)
    rates: tuple[mpf, mpf] = (mpf(0), mpf(0))  # of what swings or grows, and of everything

    def jet(self, t: mpf) -> Jet:
        """Position and its derivatives at the time ``t``."""
        return self.path.jet(t - self.start)


def along(line: Line, jet: Jet) -> Jet:
    """Value and two derivatives of a line."""
    return [line[0] + line[1] * jet[0] + line[2] * jet[1], line[1] * jet[1] + line[2] * jet[2], line[1] * jet[2] + line[2] * jet[3]]


class Oscillator:
    """One run: its segments and events from 0 to ``end``, and its smallest margin."""

    def __init__(self, params: Mapping[str, Any], end: float) -> None:
        left = {name.removeprefix("left_"): value for name, value in params.items() if name.startswith("left_")}
        params = {name: value for name, value in params.items() if not name.startswith("left_")}
        unknown = (set(params) | set(left)) - set(DEFAULTS) - set(OPTIONAL) - set(TABLES) - set(OTHER)
        if unknown:
            raise ValueError(f"unknown parameters: {sorted(unknown)}")
        p = {name: mpf(params.get(name, value)) for name, value in DEFAULTS.items()}
        given = {n: mpf(params[n]) for n in OPTIONAL if params.get(n) is not None}
        self.mck = (p["m"], p["c"], p["k"])
        self.amplitude = p["f0"] - p["m"] * p["a0"]
        self.omega, self.phase, self.load = p["omega"], p["phase"], p["load"]
        pieces, sides = envelope(params), int(params.get("sides", 1))
        if sides not in (1, 2) or (pieces and sides == 2) or (sides == 2 and p["gap"] < 0):
            raise ValueError("sides is 1 or 2, a wall that buckles has one, and two need gap >= 0")
        self.walls = [Wall(params, side, pieces) for side in (1, -1)[:sides]]
        if left:  # a wall of its own
            self.walls = [Wall(params, 1, pieces), Wall(left, -1, envelope(left))]
        self.joined = len(self.walls) == 2 and self.walls[0].gap + self.walls[1].gap == 0
        normal = given.get("normal_force", p["m"] * p["g"])
        self.hold, self.slide = given.get("mu_s", p["mu"]) * normal, given.get("mu_d", p["mu"]) * normal
        if self.hold < self.slide:
            raise ValueError("mu_s must not be smaller than mu_d")
        self.rigid = self.hold > 0 and "k_t" not in given
        self.k_t, self.c_t = given.get("k_t", mpf(0)), given.get("c_t", mpf(0))
        self.slips, self.direction = False, 0  # slips: the friction is -direction slide
        self.stored, self.anchor = mpf(0), mpf(0)
        self.end, self.margin = mpf(end), mpf(1)
        self.segments: list[Segment] = []
        self.events: list[tuple[mpf, str, mpf, mpf]] = []
        self.released = p["x0"], p["v0"]  # exactly: a path at t = 0 has rounding errors
        self._run(*self.released)

    def note(self, margin: mpf) -> None:
        """Keep the smallest margin."""
        self.margin = min(self.margin, abs(margin))

    @property
    def stuck(self) -> bool:
        """Whether rigid friction holds the mass."""
        return self.rigid and not self.slips

    def drive(self, t: mpf) -> mpf:
        """Force of the excitation and the load."""
        return self.amplitude * mp.sin(self.omega * t + self.phase) + self.load

    def coefficients(self) -> tuple[tuple[mpf, mpf, mpf], mpf, mpf, mpf]:
        """Of the equation of motion now: (m, c, k), constant force, slope of the damping, where the slope counts from."""
        m, c, k = self.mck
        constant, beta, anchor = self.load, mpf(0), mpf(0)
        for wall in self.walls:
            line, slope, start = wall.law()
            f0, f1, f2 = as_x(wall, line)
            constant, k, c = constant - wall.side * f0, k + wall.side * f1, c + wall.side * f2
            if slope:
                beta, anchor = wall.side * slope, wall.side * (start + wall.gap)
        if self.slips:
            constant -= self.direction * self.slide
        elif self.hold and not self.rigid:
            constant, k, c = constant + self.stored + self.k_t * self.anchor, k + self.k_t, c + self.c_t
        return (m, c, k), constant, beta, anchor

    def path(self, t: mpf, x: mpf, v: mpf) -> tuple[Path, tuple[mpf, mpf]]:
        """The motion from here on, and its rates."""
        if self.stuck:
            return Rest(x), (self.omega, self.omega)
        mck, constant, beta, anchor = self.coefficients()
        harmonic = (self.amplitude, self.omega, self.omega * t + self.phase)
        m, c, k = mck
        swing = self.omega if self.amplitude else mpf(0)
        if beta:
            rate = swing + (abs(c) + abs(beta) * abs(x - anchor)) / m + mp.sqrt((abs(k) + abs(beta * v)) / m)
            return Quadratic(mck, beta, anchor, constant, harmonic, (x, v)), (rate, rate)
        root = mp.sqrt(mp.mpc(c * c - 4 * m * k))
        exponents = [(-c + root) / (2 * m), (-c - root) / (2 * m)]
        swing = max(swing, *(abs(e.imag) for e in exponents), *(e.real for e in exponents))
        return Motion(mck, constant, harmonic, (x, v)), (swing, max(swing, *(abs(e) for e in exponents)))

    def guards(self) -> list[tuple[str, Wall | None, Line]]:
        """Every guard of this moment, in x and v."""
        zero, one = mpf(0), mpf(1)
        found: list[tuple[str, Wall | None, Line]] = []
        for wall in self.walls:
            if wall.phase == "OFF" and self.joined and any(w.phase != "OFF" for w in self.walls):
                continue  # the mass comes in when it leaves the other side
            found += [(name, wall, as_x(wall, line)) for name, line in wall.guards()]
        if self.slips and not any(name == "turn" for name, _, _ in found):
            found.append(("turn", None, (zero, zero, self.direction * one)))
        elif self.hold and not self.slips and not self.rigid:
            tangential = (self.stored + self.k_t * self.anchor, -self.k_t, -self.c_t)
            for side in (1, -1):
                found.append(("slip", None, (self.hold - side * tangential[0], -side * tangential[1], -side * tangential[2])))
        return found

    def _crossing(self, path: Path, line: Line, low: mpf, high: mpf, scale: mpf) -> mpf | None:
        """First zero between two neighbouring points of the mesh."""

        def curve(tau: mpf) -> tuple[mpf, mpf]:
            value, slope, _ = along(line, path.jet(tau))
            return value, slope

        def tilt(tau: mpf) -> tuple[mpf, mpf]:
            _, slope, bend = along(line, path.jet(tau))
            return slope, bend

        (f_low, s_low), (f_high, s_high) = curve(low), curve(high)
        if f_high < 0:
            if low == 0 and f_low <= mpf(10) ** (15 - mp.dps) * scale:
                raise ArithmeticError("a guard crosses at its start")
            return root_in(curve, low, high)
        if low > 0 and s_low < 0 < s_high:
            dip = root_in(tilt, low, high)
            value = curve(dip)[0]
            self.note(value / scale)
            if value < 0:
                return root_in(curve, low, dip)
        return None

    def _follow(self, segment: Segment, guards: list[tuple[str, Wall | None, Line]]) -> int | None:
        """Find the first guard that crosses, set the end and the mesh of ``segment``; the guard's index."""
        path, span = segment.path, self.end - segment.start
        swing, rate = segment.rates
        largest = span / 8
        if swing:
            largest = min(largest, 2 * mp.pi / swing / MESH)
        young = min(largest, 1 / rate if rate else largest) * mpf("1e-8")
        low, jet_low = mpf(0), path.jet(mpf(0))
        segment.mesh.append((low, jet_low))
        values = [along(line, jet_low) for _, _, line in guards]
        scales = [max(abs(value[0]), abs(line[0])) for value, (_, _, line) in zip(values, guards, strict=True)]
        while low < span:
            high = min(low + min(largest, max(GROWTH * low, young)), span)
            jet = path.jet(high)
            ahead = [along(line, jet) for _, _, line in guards]
            found: list[tuple[mpf, int]] = []
            for i, (before, after) in enumerate(zip(values, ahead, strict=True)):
                scales[i] = max(scales[i], abs(after[0]))
                if after[0] < 0 or (before[1] < 0 < after[1] and min(before[0], after[0]) < NEAR * scales[i]):
                    crossing = self._crossing(path, guards[i][2], low, high, scales[i])
                    if crossing is not None:
                        found.append((crossing, i))
            if found:
                tau, which = min(found)
                segment.stop = segment.start + tau
                segment.mesh.append((tau, path.jet(tau)))
                value = along(guards[which][2], path.jet(tau))
                if value[2] and scales[which]:  # depth of what follows a nearly grazing crossing
                    self.note(value[1] ** 2 / (2 * value[2] * scales[which]))
                for other, i in found:
                    if i != which:
                        self.note((other - tau) * (swing or rate or 1 / span))
                return which
            low, values = high, ahead
            segment.mesh.append((high, jet))
        segment.stop = self.end
        return None

    def _needed(self, t: mpf, x: mpf) -> mpf:
        """Every force on the mass but friction, at v = 0."""
        rest = [wall.side * wall.push(seen(wall, [x, mpf(0), mpf(0), mpf(0)]))[0] for wall in self.walls]
        return self.drive(t) - self.mck[2] * x - mp.fsum(rest)

    def _release(self, t: mpf, x: mpf) -> tuple[mpf, int]:
        """Time at which rigid friction gives way, and where to."""
        rest = self._needed(t, x) - self.drive(t) + self.load
        scale = abs(self.amplitude) + abs(rest) + self.hold
        found: list[tuple[mpf, int]] = [(mp.inf, 0)]
        for side in (1, -1):
            if self.amplitude == 0:
                break
            self.note((abs(self.amplitude) + side * rest - self.hold) / scale)
            sine = (side * self.hold - rest) / self.amplitude
            if abs(sine) >= 1:
                continue
            angle = mp.asin(sine)
            if side * self.amplitude < 0:  # the force must be rising on this side
                angle = mp.pi - angle
            wait = (angle - self.omega * t - self.phase) % (2 * mp.pi)
            if 2 * mp.pi - wait < mpf(10) ** (30 - mp.dps):
                wait = mpf(0)
            found.append((t + wait / self.omega, side))
        return min(found)

    def _settle(self, t: mpf, x: mpf) -> None:
        """Friction at v = 0: rigid friction holds or not, penalised friction holds."""
        if not self.rigid:
            self.stored, self.anchor, self.slips, self.direction = -self.direction * self.slide, x, False, 0
            return
        needed = self._needed(t, x)
        self.note((abs(needed) - self.hold) / (abs(needed) + self.hold))
        self.slips = abs(needed) > self.hold
        self.direction = int(mp.sign(needed)) if self.slips else 0
        if self.slips:
            self._set_off(t, x)

    def _set_off(self, t: mpf, x: mpf) -> None:
        for wall in self.walls:
            before = wall.phase
            wall.set_off(wall.side * x - wall.gap, wall.side * self.direction)
            self._log(t, before, wall, x, mpf(0))

    def _begin(self, x: mpf, v: mpf) -> None:
        """Choose the first phase of everything."""
        heading = v
        if self.rigid:
            self.slips, self.direction = v != 0, int(mp.sign(v))
            for wall in self.walls:
                wall.begin(wall.side * x - wall.gap, wall.side * v, mpf(-1))
            if v == 0:
                self._settle(mpf(0), x)
                heading = mpf(self.direction)
        elif self.hold:
            self.slips = v != 0
            self.direction, self.anchor = int(mp.sign(v)), x
        if not self.rigid and v == 0:
            for wall in self.walls:  # at rest in it, only to learn where it goes
                wall.begin(wall.side * x - wall.gap, mpf(0), mpf(-1))
            heading = self._needed(mpf(0), x) or self.amplitude * self.omega * mp.cos(self.phase)
        for i, wall in enumerate(self.walls):
            fresh = copy(wall)
            fresh.phase, fresh.X, fresh.d, fresh.index = "OFF", mpf(0), mpf(0), 0
            fresh.begin(wall.side * x - wall.gap, wall.side * v, wall.side * heading)
            self.walls[i] = fresh
            if fresh.phase != "OFF":
                self._log(mpf(0), "OFF", fresh, x, v)
            if fresh.index or fresh.d:
                self.events.append((mpf(0), "criterion", x, v))

    def _log(self, t: mpf, before: str, wall: Wall, x: mpf, v: mpf) -> None:
        """Write down what the change of phase means."""
        after, name = wall.phase, ""
        if before == after:
            return
        if before == "OFF":
            self.events.append((t, "contact", x, v))
        if after in YIELDING and before not in YIELDING:
            name = "criterion"
        elif before not in FORCELESS and after in FORCELESS:
            name = "force zero"
        elif before != "OFF" and after != "OFF":
            name = f"{before} {after}"
        if name:
            self.events.append((t, name, x, v))
        if after == "OFF":
            self.events.append((t, "leave", x, v))

    def _pass(self, t: mpf, x: mpf, v: mpf, guard: tuple[str, Wall | None, Line]) -> None:
        """Every element goes on after a guard has been reached."""
        name, wall, _ = guard
        for each in self.walls:
            y = each.side * x - each.gap
            before, piece, plastic = each.phase, each.index, each.d
            if each is wall and name != "turn":
                each.pass_guard(name, y, each.side * v)
            elif name == "turn":
                if each.phase == "YIELD" and each.piece.upper < mp.inf:
                    self.note((each.piece.upper - y) / (each.piece.upper - each.piece.lower))
                each.rest(y)
            self._log(t, before, each, x, v)
            if each.yields and each.d < plastic:
                self.events.append((t, "healed", x, v))
            if each.index != piece:
                self.events.append((t, each.piece.name, x, v))
        if wall is not None and wall.phase == "OFF" and name != "contact" and self.joined:
            for each in self.walls:
                if each is not wall:  # two walls without a gap: from one into the other
                    each.enter(each.side * x - each.gap, each.side * v)
                    self._log(t, "OFF", each, x, v)
        if name == "turn" and self.slips:
            self.events.append((t, "slip ends", x, v))
            self._settle(t, x)
        elif name == "slip":
            self.slips, self.direction = True, int(mp.sign(v))
            self.events.append((t, "slip", x, v))

    def _run(self, x: mpf, v: mpf) -> None:
        self._begin(x, v)
        t = mpf(0)
        while t < self.end:
            if len(self.segments) == MAX_SEGMENTS:
                raise ArithmeticError("too many segments")
            path, rates = self.path(t, x, v)
            segment = Segment(t, self.end, path, [copy(w) for w in self.walls], self.direction, self.slips, rates=rates)
            self.segments.append(segment)
            if self.stuck:
                go, self.direction = self._release(t, x)
                segment.stop = t = min(go, self.end)
                if go < self.end:
                    self.slips = True
                    self.events.append((t, "slip", x, v))
                    self._set_off(t, x)
                if segment.stop == segment.start:
                    self.segments.pop()
                continue
            guards = self.guards()
            which = self._follow(segment, guards)
            self._largest(segment)
            t = segment.stop
            x, v = segment.jet(t)[:2]
            if which is None:
                break
            if guards[which][0] == "turn":
                v = mpf(0)
            self.note((self.end - t) / self.end)
            self._pass(t, x, v, guards[which])

    def _largest(self, segment: Segment) -> None:
        """Extrema of x in the segment: add them to its mesh, and tell the walls."""
        tops = []
        for (low, a), (high, b) in pairwise(segment.mesh):
            if a[1] * b[1] < 0:
                top = root_in(lambda tau: (segment.path.jet(tau)[1], segment.path.jet(tau)[2]), low, high)
                tops.append((top, segment.path.jet(top)))
        segment.mesh = sorted([*segment.mesh, *tops], key=lambda point: point[0])
        for wall in self.walls:
            wall.moved(max(wall.side * jet[0] - wall.gap for _, jet in segment.mesh))

    def state(self, t: mpf) -> tuple[mpf, mpf]:
        """Position and velocity at the time ``t`` of the run."""
        x, v, _, _ = next(s for s in self.segments if t <= s.stop).jet(t)
        return x, v
