"""High-precision reference for an oscillator with rigid Coulomb friction.

    m x'' + c x' + k x = A sin(omega t + phase) + load + F_t,    A = f0 - m a0

with ``|F_t| <= mu_s F_n`` while the mass sticks and ``F_t = -mu_d F_n sign(v)`` while
it slips. Parameters are taken exactly as the binary64 numbers they are and the motion
is integrated event by event in 70-digit arithmetic. The end of a slip is searched by
scanning v on a fine mesh, with a look at every interior minimum of |v|, and refined by
Newton steps kept inside a bracket.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mpmath import mp, mpf

from .linear_motion import Motion, root_in

DIGITS = 70
MESH = 40  # mesh points per fastest period
MESH_START = mpf("1e-8")  # first mesh point of a slip, in mesh steps
MESH_GROWTH = mpf("0.4")  # largest step relative to the time since the slip began

DEFAULTS: dict[str, float] = {
    "m": 1.0, "c": 0.0, "k": 0.0, "g": 10.0, "mu": 0.0, "a0": 0.0, "omega": 1.0,
    "phase": 0.0, "f0": 0.0, "load": 0.0, "x0": 0.0, "v0": 0.0,
}  # fmt: skip
OPTIONAL = ("mu_s", "mu_d", "normal_force")


@dataclass
class Stretch:
    """A time interval of sticking (direction 0) or of slip in one direction."""

    start: mpf
    stop: mpf
    direction: int
    x: mpf
    motion: Motion | None = None
    peaks: list[mpf] = field(default_factory=list)  # times of largest |v|

    def state(self, t: mpf) -> tuple[mpf, mpf]:
        """Position and velocity at the time ``t``."""
        if self.motion is None:
            return self.x, mpf(0)
        x, v, _, _ = self.motion.jet(t - self.start)
        return x, v


class Oscillator:
    """One run: the list of stretches from 0 to ``end`` and its smallest margin."""

    def __init__(self, params: Mapping[str, Any], end: float, mesh: int = MESH) -> None:
        unknown = set(params) - set(DEFAULTS) - set(OPTIONAL)
        if unknown:
            raise ValueError(f"unknown parameters: {sorted(unknown)}")
        p = {name: mpf(params.get(name, value)) for name, value in DEFAULTS.items()}
        given = {n: mpf(params[n]) for n in OPTIONAL if params.get(n) is not None}
        force = given.get("normal_force", p["m"] * p["g"])
        self.mck = (p["m"], p["c"], p["k"])
        self.amplitude = p["f0"] - p["m"] * p["a0"]
        self.omega, self.phase, self.load = p["omega"], p["phase"], p["load"]
        self.normal_force = force
        self.hold = given.get("mu_s", p["mu"]) * force
        self.slide = given.get("mu_d", p["mu"]) * force
        if self.hold < self.slide:
            raise ValueError("mu_s must not be smaller than mu_d")
        self.end, self.mesh = mpf(end), mesh
        self.margin = mpf(1)
        self.stretches: list[Stretch] = []
        self._run(p["x0"], p["v0"])

    def note(self, margin: mpf) -> None:
        """Keep the smallest margin."""
        self.margin = min(self.margin, abs(margin))

    def _angle(self, t: mpf) -> mpf:
        return self.omega * t + self.phase

    def _direction_at_rest(self, t: mpf, x: mpf) -> int:
        """0 if the mass holds at (t, x) with v = 0, else the direction it takes."""
        rest = self.load - self.mck[2] * x
        needed = self.amplitude * mp.sin(self._angle(t)) + rest
        if needed == 0 == self.hold:
            return 0
        scale = abs(self.amplitude) + abs(rest) + self.hold
        self.note((abs(needed) - self.hold) / scale)
        return 0 if abs(needed) <= self.hold else int(mp.sign(needed))

    def _release(self, t: mpf, x: mpf) -> tuple[mpf, int]:
        """Time at which the force first exceeds the hold, and its direction."""
        rest = self.load - self.mck[2] * x
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
            wait = (angle - self._angle(t)) % (2 * mp.pi)
            if 2 * mp.pi - wait < mpf(10) ** (30 - mp.dps):
                wait = mpf(0)
            found.append((t + wait / self.omega, side))
        return min(found)

    def _slip(self, t: mpf, x: mpf, v: mpf, side: int) -> Stretch:
        """Follow the slip that starts at (t, x, v) to its first v = 0 or to the end."""
        motion = Motion(
            self.mck,
            self.load - side * self.slide,
            (self.amplitude, self.omega, self._angle(t)),
            (x, v),
        )
        stretch = Stretch(t, self.end, side, x, motion)

        def speed(tau: mpf) -> tuple[mpf, mpf]:
            _, first, second, _ = motion.jet(tau)
            return side * first, side * second

        def slope(tau: mpf) -> tuple[mpf, mpf]:
            _, _, second, third = motion.jet(tau)
            return side * second, side * third

        largest = 2 * mp.pi / motion.fastest / self.mesh
        low, (w_low, a_low) = mpf(0), speed(mpf(0))
        best, last = abs(v), self.end - t
        while low < last:
            step = min(largest, max(MESH_GROWTH * low, MESH_START * largest))
            high = min(low + step, last)
            w_high, a_high = speed(high)
            if low == 0 == v and w_high <= 0:
                raise ArithmeticError("slip does not start in its direction")
            crossing = high if w_high <= 0 else None
            if low > 0 and a_low > 0 > a_high:
                top = root_in(slope, low, high)
                stretch.peaks.append(t + top)
                best = max(best, speed(top)[0])
            elif (low > 0 or v != 0) and a_low < 0 < a_high:
                dip = root_in(slope, low, high)
                w_dip = speed(dip)[0]
                self.note(w_dip / max(best, w_low))
                if w_dip <= 0:
                    crossing = dip
            best = max(best, w_low, w_high)
            if crossing is not None:
                zero = root_in(speed, low, crossing)
                _, _, a, jerk = motion.jet(zero)
                if jerk:  # depth of the excursion that follows a nearly grazing zero
                    self.note(a * a / (2 * jerk * best))
                stretch.stop = t + zero
                return stretch
            low, w_low, a_low = high, w_high, a_high
        return stretch

    def _run(self, x: mpf, v: mpf) -> None:
        t = mpf(0)
        side = int(mp.sign(v)) or self._direction_at_rest(t, x)
        while t < self.end:
            if side == 0:
                go, side = self._release(t, x)
                stop = min(go, self.end)
                if stop > t:
                    self.stretches.append(Stretch(t, stop, 0, x))
            else:
                stretch = self._slip(t, x, v, side)
                self.stretches.append(stretch)
                stop, v = stretch.stop, mpf(0)
                if stop < self.end:
                    x = stretch.state(stop)[0]
                    side = self._direction_at_rest(stop, x)
            t = stop

    def state(self, t: mpf) -> tuple[mpf, mpf]:
        """Position and velocity at the time ``t`` of the run."""
        return next(s for s in self.stretches if t <= s.stop).state(t)


def _measure(run_: Oscillator, first: mpf, last: mpf) -> dict[str, Any]:
    """Measure one run in the window [first, last]."""
    distance, stuck, fastest, slips, stops = mpf(0), mpf(0), mpf(0), 0, False
    period = 2 * mp.pi / run_.omega
    for index, s in enumerate(run_.stretches):
        for bound in (first, last):
            if s.stop < run_.end:
                run_.note((s.stop - bound) / period)
        begin, stop = max(s.start, first), min(s.stop, last)
        if stop <= begin:
            continue
        if s.direction == 0:
            stuck += stop - begin
            stops = stops or index > 0
            continue
        slips += 1
        distance += abs(s.state(stop)[0] - s.state(begin)[0])
        times = [begin, stop, *(t for t in s.peaks if begin < t < stop)]
        fastest = max(fastest, *(abs(s.state(t)[1]) for t in times))
    length, energy = last - first, run_.normal_force * distance
    x_end, v_end = run_.state(run_.end)
    return {
        "wear_power": energy / length,
        "wear_energy": energy,
        "slip_distance": distance,
        "stick_fraction": stuck / length,
        "slip_phases": slips,
        "regime": "stick" if not slips else "stick-slip" if stops else "slip-slip",
        "max_slip_speed": fastest,
        "drift": run_.state(last)[0] - run_.state(first)[0],
        "x_end": x_end,
        "v_end": v_end,
        "n_events": len(run_.stretches) - 1,
        "margin": run_.margin,
    }


def run(
    params: Mapping[str, Any],
    end: float,
    window: tuple[float, float],
    mesh: int = MESH,
) -> dict[str, Any]:
    """Integrate from 0 to ``end`` and measure in ``window``.

    ``params`` may hold the names of ``DEFAULTS`` and ``OPTIONAL``; ``mu`` stands for
    both coefficients unless ``mu_s`` or ``mu_d`` is given, and the normal force is
    m g unless given. ``n_events`` counts the changes between stretches before ``end``
    (release, arrest, reversal). ``margin`` is the smallest relative distance of any
    decision of the run (hold or slip, grazing, event on a window bound) from turning
    out the other way. Numbers are returned as mpf.
    """
    with mp.workdps(DIGITS):
        first, last = mpf(window[0]), mpf(window[1])
        if not 0 <= first < last <= end:
            raise ValueError("the window must lie in [0, end]")
        return _measure(Oscillator(params, end, mesh), first, last)
