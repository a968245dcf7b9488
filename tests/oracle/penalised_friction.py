"""High-precision reference for an oscillator with penalised Coulomb friction.

    m x'' + c x' + k x = A sin(omega t + phase) + load + T,    A = f0 - m a0

While the contact holds T = T0 - k_t (x - xa) - c_t v; it lets go when |T| exceeds mu_s F_n, slips in the direction of v with
T = -mu_d F_n sign(v), and holds again from the first v = 0 on with T0 = -mu_d F_n sign(v), xa = x. Parameters are taken exactly as
the binary64 numbers they are and the motion is integrated event by event in 50-digit arithmetic. Events are searched on a fine mesh
in double precision, with a look at every interior extremum that comes near; what is found there is decided, and refined, in 50
digits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

from .linear_motion import Motion, root_in

DIGITS = 50
MESH = 60  # mesh points per fastest period or time
CHUNK = 4096
NEAR = 0.05  # an extremum is looked at in full precision where the mesh comes this near, relative to the largest value around

DEFAULTS: dict[str, float] = {
    "m": 1.0, "c": 0.0, "k": 0.0, "g": 10.0, "mu": 0.0, "a0": 0.0, "omega": 1.0,
    "phase": 0.0, "f0": 0.0, "load": 0.0, "x0": 0.0, "v0": 0.0,
}  # fmt: skip
OPTIONAL = ("mu_s", "mu_d", "normal_force")
CONTACT = ("k_t", "c_t")

Floats = NDArray[np.float64]
Curve = Callable[[mpf], tuple[mpf, mpf]]


@dataclass
class Stretch:
    """A time interval in which the contact holds (direction 0) or slips in one direction."""

    start: mpf
    stop: mpf
    direction: int
    rests: bool
    begins: bool
    motion: Motion
    peaks: list[mpf] = field(default_factory=list)  # times of largest |v|

    def state(self, t: mpf) -> tuple[mpf, mpf]:
        """Position and velocity at the time ``t``."""
        x, v, _, _ = self.motion.jet(t - self.start)
        return x, v


def _coarse(motion: Motion, times: Floats) -> Floats:
    """Position to jerk of ``motion`` less its position at 0, in double precision, shape (4, times)."""
    total = np.zeros((4, times.size))
    for exponent, chain in motion._modes:  # noqa: SLF001
        for order, polynomial in enumerate(chain):
            value = np.zeros(times.size, dtype=complex)
            for coefficient in reversed(polynomial):
                value = value * times + complex(coefficient)
            total[order] += (value * np.exp(complex(exponent) * times)).real
    return total


class Oscillator:
    """One run: the list of stretches from 0 to ``end`` and its smallest margin."""

    def __init__(self, params: Mapping[str, Any], end: float) -> None:
        unknown = set(params) - set(DEFAULTS) - set(OPTIONAL) - set(CONTACT)
        if unknown:
            raise ValueError(f"unknown parameters: {sorted(unknown)}")
        p = {name: mpf(params.get(name, value)) for name, value in DEFAULTS.items()}
        given = {n: mpf(params[n]) for n in OPTIONAL if params.get(n) is not None}
        force = given.get("normal_force", p["m"] * p["g"])
        self.mck = (p["m"], p["c"], p["k"])
        self.k_t, self.c_t = mpf(params["k_t"]), mpf(params["c_t"])
        self.amplitude = p["f0"] - p["m"] * p["a0"]
        self.omega, self.phase, self.load = p["omega"], p["phase"], p["load"]
        self.normal_force = force
        self.hold, self.slide = given.get("mu_s", p["mu"]) * force, given.get("mu_d", p["mu"]) * force
        if not self.hold >= self.slide or self.hold == 0:
            raise ValueError("mu_s F_n must be positive and not smaller than mu_d F_n")
        self.end = mpf(end)
        self.margin = mpf(1)
        self.stretches: list[Stretch] = []
        self._run(p["x0"], p["v0"])

    def note(self, margin: mpf) -> None:
        """Keep the smallest margin."""
        self.margin = min(self.margin, abs(margin))

    def _angle(self, t: mpf) -> mpf:
        return self.omega * t + self.phase

    def needed(self, t: mpf, x: mpf) -> mpf:
        """Every force on the mass but friction, at v = 0."""
        return self.amplitude * mp.sin(self._angle(t)) + self.load - self.mck[2] * x

    def _motion(self, t: mpf, x: mpf, v: mpf, extra: tuple[mpf, mpf], constant: mpf) -> Motion:
        m, c, k = self.mck
        harmonic = (self.amplitude, self.omega, self._angle(t))
        return Motion((m, c + extra[0], k + extra[1]), self.load + constant, harmonic, (x, v))

    def _fastest(self, stuck: bool) -> mpf:
        m, c, k = self.mck
        damping, stiffness = (c + self.c_t, k + self.k_t) if stuck else (c, k)
        return self.omega + mp.sqrt(stiffness / m) + damping / m

    def _first(
        self, curve: Curve, coarse: Callable[[Floats], tuple[Floats, Floats]], span: mpf, scale: mpf, rate: mpf, slow: mpf
    ) -> mpf | None:
        """First time in (0, span] at which ``curve`` becomes negative; ``coarse`` is the same with its slope in double precision."""
        fine, last, start = 2 * np.pi / float(rate) / MESH, float(span), 0.0
        young = fine * 1e-9
        while start < last:
            if start == 0.0:
                times = np.concatenate([[0.0], young * 1.35 ** np.arange(72)])
                times = np.append(times[times < fine], fine)
            elif start * float(rate) < 2 * np.pi or self.rings:
                times = start + fine * np.arange(CHUNK + 1)
            else:  # what is overdamped dies out
                times = start + np.cumsum(np.minimum(2 * np.pi / float(slow) / MESH, fine * 1.02 ** np.arange(CHUNK + 1))) - fine
            times = np.append(times[times < last], last) if times[-1] >= last else times
            value, slope = coarse(times)
            for i in range(len(times) - 1):
                if not (value[i + 1] <= 1e-7 * scale or (slope[i] < 0.0 < slope[i + 1] and min(value[i], value[i + 1]) < NEAR * scale)):
                    continue
                low, high = mpf(times[i]), min(mpf(times[i + 1]), span)
                (f_low, s_low), (f_high, s_high) = curve(low), curve(high)
                if low == 0 and f_low <= mpf(10) ** (10 - mp.dps) * scale and f_high < 0:
                    raise ArithmeticError("a guard crosses at its start")
                if f_high < 0:
                    return root_in(curve, low, high)
                if low > 0 and s_low < 0 < s_high:

                    def tilt(t: mpf) -> tuple[mpf, mpf]:
                        h = mpf(10) ** (-mp.dps // 3) / rate
                        (_, s), (_, ahead) = curve(t), curve(t + h)
                        return s, (ahead - s) / h

                    dip = root_in(tilt, low, high)
                    f_dip = curve(dip)[0]
                    self.note(f_dip / scale)
                    if f_dip < 0:
                        return root_in(curve, low, dip)
            start = float(times[-1])
        return None

    @property
    def rings(self) -> bool:
        """Whether the stuck mass oscillates."""
        m, c, k = self.mck
        return (c + self.c_t) ** 2 < 4 * m * (k + self.k_t)

    def _held(self, t: mpf, x: mpf, v: mpf, stored: mpf) -> tuple[Motion, mpf, int]:
        """Follow the stuck mass until |T| exceeds the hold, or to the end: motion, time, and the sign of T (0 at the end)."""
        motion = self._motion(t, x, v, (self.c_t, self.k_t), stored + self.k_t * x)
        found: list[tuple[mpf, int]] = []
        span = self.end - t
        # the same seen from x, where double precision does not lose what the contact stretches
        shifted = self._motion(t, mpf(0), v, (self.c_t, self.k_t), stored - self.mck[2] * x)

        for side in (1, -1):
            if found and found[0][0] == 0:
                break

            def curve(tau: mpf, side: int = side) -> tuple[mpf, mpf]:
                position, speed, a, _ = motion.jet(tau)
                force = stored - self.k_t * (position - x) - self.c_t * speed
                return self.hold - side * force, side * (self.k_t * speed + self.c_t * a)

            def coarse(times: Floats, side: int = side) -> tuple[Floats, Floats]:
                position, speed, a, _ = _coarse(shifted, times)
                k_t, c_t = float(self.k_t), float(self.c_t)
                return float(self.hold) - side * (float(stored) - k_t * position - c_t * speed), side * (k_t * speed + c_t * a)

            crossing = self._first(curve, coarse, span, self.hold, self._fastest(True), self.omega)
            if crossing is not None:
                found.append((crossing, side))
                span = crossing
        if not found:
            return motion, self.end, 0
        tau, side = min(found)
        return motion, t + tau, side

    def _slips(self, t: mpf, x: mpf, v: mpf, side: int) -> tuple[Motion, mpf, list[mpf]]:
        """Follow a slip to its first v = 0, or to the end: motion, time, times of peaks."""
        motion = self._motion(t, x, v, (mpf(0), mpf(0)), -side * self.slide)
        shifted = self._motion(t, mpf(0), v, (mpf(0), mpf(0)), -side * self.slide - self.mck[2] * x)
        rate, span = self._fastest(False), self.end - t
        size = (abs(self.amplitude) + abs(self.load) + self.hold + self.mck[2] * abs(x)) / self.mck[0] / rate + abs(v)

        def curve(tau: mpf) -> tuple[mpf, mpf]:
            _, first, second, _ = motion.jet(tau)
            return side * first, side * second

        def coarse(times: Floats) -> tuple[Floats, Floats]:
            _, speed, a, _ = _coarse(shifted, times)
            return side * speed, side * a

        crossing = self._first(curve, coarse, span, size, rate, rate)
        stop = span if crossing is None else crossing
        # every interior maximum of the speed
        times = np.linspace(0.0, float(stop), 2 + int(MESH * float(stop * rate) / 6.0))
        slopes = coarse(times)[1]
        peaks = []
        for i in np.flatnonzero((slopes[:-1] > 0.0) & (slopes[1:] < 0.0)):
            low, high = mpf(times[i]), min(mpf(times[i + 1]), stop)
            top = root_in(lambda tau: (motion.jet(tau)[2], motion.jet(tau)[3]), low, high)
            peaks.append(t + top)
        return motion, t + stop, peaks

    def _run(self, x: mpf, v: mpf) -> None:
        t, stored, side, rests, last = mpf(0), mpf(0), 0, True, 0
        if v != 0:  # a mass that moves slips from the start
            side, last, rests = int(mp.sign(v)), int(mp.sign(v)), False
        begins = False
        while t < self.end:
            if side == 0:
                motion, stop, sign = self._held(t, x, v, stored)
                self.stretches.append(Stretch(t, stop, 0, rests, False, motion))
                x, v, _, _ = motion.jet(stop - t)
                side = 0 if sign == 0 else int(mp.sign(v)) or -sign
                begins = rests or side * last < 0
                last, rests = side, False
            else:
                motion, stop, peaks = self._slips(t, x, v, side)
                self.stretches.append(Stretch(t, stop, side, False, begins, motion, peaks))
                x, v = motion.jet(stop - t)[0], mpf(0)
                if stop < self.end:
                    needed = self.needed(stop, x)
                    self.note((abs(needed) - self.hold) / self.hold)
                    rests, stored, side = abs(needed) <= self.hold, -side * self.slide, 0
            t = stop

    def state(self, t: mpf) -> tuple[mpf, mpf]:
        """Position and velocity at the time ``t`` of the run."""
        return next(s for s in self.stretches if t <= s.stop).state(t)


def _measure(run_: Oscillator, first: mpf, last: mpf) -> dict[str, Any]:
    """Measure one run in the window [first, last]."""
    distance, stuck, fastest, slips, stops = mpf(0), mpf(0), mpf(0), 0, False
    period = 2 * mp.pi / run_.omega
    counted, moved = False, False
    for s in run_.stretches:
        for bound in (first, last):
            if s.stop < run_.end:
                run_.note((s.stop - bound) / period)
        begin, stop = max(s.start, first), min(s.stop, last)
        if s.direction and s.begins:
            counted = False
        if stop > begin:
            if s.direction == 0:
                stuck += stop - begin
                stops = stops or (s.rests and moved)
            else:
                slips += not counted
                counted = True
                distance += abs(s.state(stop)[0] - s.state(begin)[0])
                times = [begin, stop, *(t for t in s.peaks if begin < t < stop)]
                fastest = max(fastest, *(abs(s.state(t)[1]) for t in times))
        moved = moved or s.direction != 0
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


def run(params: Mapping[str, Any], end: float, window: tuple[float, float]) -> dict[str, Any]:
    """Integrate from 0 to ``end`` and measure in ``window``.

    ``params`` must hold ``k_t`` and ``c_t`` and may hold the names of ``DEFAULTS`` and ``OPTIONAL``; ``mu`` stands for both
    coefficients unless ``mu_s`` or ``mu_d`` is given, and the normal force is m g unless given. ``n_events`` counts the changes
    between stretches before ``end``. ``margin`` is the smallest relative distance of any decision of the run (rest or not, grazing,
    event on a window bound) from turning out the other way. Numbers are returned as mpf.
    """
    with mp.workdps(DIGITS):
        first, last = mpf(window[0]), mpf(window[1])
        if not 0 <= first < last <= end:
            raise ValueError("the window must lie in [0, end]")
        return _measure(Oscillator(params, end), first, last)
