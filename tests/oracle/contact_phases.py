"""Bodies with contacts along one normal and one tangential direction, phase by phase: scipy integrates, and every event is located.

It shares nothing with the kernels: no return mapping, no steps across an event. Each contact is off, lifted (inside, but the damper would
pull), stuck or slipping. Off and lifted it has no force. Else F_n = k_n p + c_n p'. Stuck: T = -(k_t e + c_t v) with e' = v. Slipping:
T = -mu_d F_n s, where s = 1 or -1 is the way of the anchor, which moves at s (v - e') with e = (mu_d F_n s - c_t v) / k_t. Slip begins
where |k_t e + c_t v| reaches mu_s F_n and ends where the anchor stops. At entry e = 0; if c_t |v| is beyond the cone there, the anchor
starts ahead, where spring and damper bear just that: a place that is given to it, no way along which it was dragged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

OFF, LIFTED, STUCK, SLIPS = range(4)
SUMS = ("wear", "friction", "impact", "impulse", "slid", "pressed")


class Contact(NamedTuple):
    """A plane: penetration `normal` q - gap, tangential way `along` q."""

    normal: tuple[float, ...]
    along: tuple[float, ...]
    gap: float
    k_n: float
    c_n: float = 0.0
    mu_s: float = 0.0
    mu_d: float = 0.0
    k_t: float = 1.0
    c_t: float = 0.0


class Bodies:
    """m_i q_i'' + c_i q_i' + k_i q_i = load(t)_i + contacts."""

    def __init__(self, mass: Any, contacts: list[Contact], load: Callable[[float], Any], stiffness: Any = 0.0, drag: Any = 0.0) -> None:
        """All coefficients are lists over the coordinates, or one number."""
        self.mass = np.asarray(mass, float)
        self.contacts, self.load = contacts, load
        self.stiffness, self.drag = np.asarray(stiffness, float), np.asarray(drag, float)
        self.n = self.mass.size

    def run(self, q: Any, v: Any, end: float, tolerance: float = 1e-12) -> dict[str, Any]:  # noqa: C901
        """Coordinates, velocities, sums of each contact (`SUMS`, (C,) each), largest normal force, impacts and number of events."""
        n, count = self.n, len(self.contacts)
        state = np.concatenate([np.asarray(q, float), np.asarray(v, float), np.zeros(count * (1 + len(SUMS)))])
        phases, ways = [OFF] * count, [1.0] * count
        impacts, peak = np.zeros(count), np.zeros(count)
        t, events = 0.0, 0
        for place in range(count):
            depth, rate = self._depth(place, state)
            if depth > 0.0:
                impacts[place] += rate > 0.0
                self._enter(place, t, state, phases, ways)
        while t < end:
            for _ in range(4 * count):  # phases that end where they begin
                if not any(self._settle(place, t, state, phases, ways) for place in range(count)):
                    break
            guards = [(place, guard, self._guard(place, guard, phases, ways)) for place in range(count) for guard in _GUARDS[phases[place]]]
            for _, _, guard in guards:
                guard.terminal, guard.direction = True, -1.0
            found = solve_ivp(
                lambda time, s: self._rates(time, s, phases, ways), (t, end), state, method="DOP853", rtol=tolerance, atol=1e-9 * tolerance,
                events=[guard for _, _, guard in guards], max_step=(end - t) / 3.0, dense_output=True,
            )  # fmt: skip
            fine = found.sol(np.linspace(t, found.t[-1], 200))
            for place in range(count):
                if phases[place] >= STUCK:
                    peak[place] = max(peak[place], *(self._normal(place, 0.0, s, phases, ways) for s in fine.T))
            t, state = found.t[-1], found.y[:, -1].copy()
            if found.status != 1:
                break
            events += 1
            place, what, _ = guards[next(each for each, times in enumerate(found.t_events) if len(times))]
            if what == "enters":
                impacts[place] += 1
                self._enter(place, t, state, phases, ways)
            elif what == "leaves":
                phases[place] = OFF
            elif what == "pushes":
                self._enter(place, t, state, phases, ways)
            elif what == "releases":
                phases[place] = LIFTED if self._depth(place, state)[0] > 1e-13 and self.contacts[place].c_n else OFF
                state[2 * n + place] = 0.0
            elif what == "slides":
                self._slide(place, t, state, phases, ways)
            else:
                self._stick(place, t, state, phases, ways)
        sums = state[2 * n + count :].reshape(count, len(SUMS))
        return {"q": state[:n], "v": state[n : 2 * n], "impacts": impacts, "peak": peak, "events": events,
                **{name: sums[:, column] for column, name in enumerate(SUMS)}}  # fmt: skip

    def _depth(self, place: int, s: Any) -> tuple[float, float]:
        contact = self.contacts[place]
        return float(np.dot(contact.normal, s[: self.n]) - contact.gap), float(np.dot(contact.normal, s[self.n : 2 * self.n]))

    def _pull(self, place: int, s: Any) -> float:
        depth, rate = self._depth(place, s)
        return self.contacts[place].k_n * depth + self.contacts[place].c_n * rate

    def _normal(self, place: int, _t: float, s: Any, phases: list[int], _ways: list[float]) -> float:
        return self._pull(place, s) if phases[place] >= STUCK else 0.0

    def _speed(self, place: int, s: Any) -> float:
        return float(np.dot(self.contacts[place].along, s[self.n : 2 * self.n]))

    def _trial(self, place: int, s: Any) -> float:
        contact = self.contacts[place]
        return contact.k_t * float(s[2 * self.n + place]) + contact.c_t * self._speed(place, s)

    def _friction(self, place: int, t: float, s: Any, phases: list[int], ways: list[float]) -> float:
        if phases[place] == STUCK:
            return -self._trial(place, s)
        return -self.contacts[place].mu_d * self._normal(place, t, s, phases, ways) * ways[place]

    def _acceleration(self, t: float, s: Any, phases: list[int], ways: list[float]) -> Any:
        q, v = s[: self.n], s[self.n : 2 * self.n]
        force = np.asarray(self.load(t), float) - self.stiffness * q - self.drag * v
        for place, contact in enumerate(self.contacts):
            if phases[place] >= STUCK:
                force = force - np.asarray(contact.normal) * self._normal(place, t, s, phases, ways)
                force = force + np.asarray(contact.along) * self._friction(place, t, s, phases, ways)
        return force / self.mass

    def _anchor(self, place: int, t: float, s: Any, phases: list[int], ways: list[float]) -> tuple[float, float]:
        """Speed of the anchor along its way, and rate of the elongation, of a contact that slips."""
        contact, way = self.contacts[place], ways[place]
        a = self._acceleration(t, s, phases, ways)
        stiffer = contact.k_n * self._depth(place, s)[1] + contact.c_n * float(np.dot(contact.normal, a))
        longer = (contact.mu_d * stiffer * way - contact.c_t * float(np.dot(contact.along, a))) / contact.k_t
        return way * (self._speed(place, s) - longer), longer

    def _rates(self, t: float, s: Any, phases: list[int], ways: list[float]) -> Any:
        n, count = self.n, len(self.contacts)
        found = np.zeros_like(s)
        found[:n], found[n : 2 * n] = s[n : 2 * n], self._acceleration(t, s, phases, ways)
        for place, contact in enumerate(self.contacts):
            if phases[place] < STUCK:
                continue
            normal, speed, slips = self._normal(place, t, s, phases, ways), self._speed(place, s), phases[place] == SLIPS
            anchor, longer = self._anchor(place, t, s, phases, ways) if slips else (0.0, speed)
            found[2 * n + place] = longer
            rates = (slips * normal * abs(speed), contact.mu_d * normal * anchor, contact.c_n * self._depth(place, s)[1] ** 2,
                     normal, slips * abs(speed), 1.0)  # fmt: skip
            found[2 * n + count + place * len(SUMS) : 2 * n + count + (place + 1) * len(SUMS)] = rates
        return found

    def _guard(self, place: int, what: str, phases: list[int], ways: list[float]) -> Any:
        contact = self.contacts[place]
        of = {
            "enters": lambda _, s: -self._depth(place, s)[0],
            "leaves": lambda _, s: self._depth(place, s)[0],
            "pushes": lambda _, s: -self._pull(place, s),
            "releases": lambda _, s: self._pull(place, s),
            "slides": lambda _, s: contact.mu_s * self._pull(place, s) - abs(self._trial(place, s)),
            "stops": lambda t, s: self._anchor(place, t, s, phases, ways)[0],
        }[what]
        return lambda t, s: of(t, s)  # noqa: PLW0108 (events are marked one by one)

    def _enter(self, place: int, t: float, s: Any, phases: list[int], ways: list[float]) -> None:
        s[2 * self.n + place] = 0.0
        if self._pull(place, s) < 0.0 and self.contacts[place].c_n:
            phases[place] = LIFTED
            return
        phases[place] = STUCK
        if abs(self._trial(place, s)) > self.contacts[place].mu_s * max(self._pull(place, s), 0.0):
            self._slide(place, t, s, phases, ways)

    def _slide(self, place: int, _t: float, s: Any, phases: list[int], ways: list[float]) -> None:
        contact, trial = self.contacts[place], self._trial(place, s)
        ways[place] = float(np.sign(trial) or np.sign(self._speed(place, s)) or 1.0)
        phases[place] = SLIPS
        s[2 * self.n + place] = (
            contact.mu_d * max(self._pull(place, s), 0.0) * ways[place] - contact.c_t * self._speed(place, s)
        ) / contact.k_t

    def _stick(self, place: int, _t: float, s: Any, phases: list[int], ways: list[float]) -> None:
        contact = self.contacts[place]
        s[2 * self.n + place] = (contact.mu_d * self._pull(place, s) * ways[place] - contact.c_t * self._speed(place, s)) / contact.k_t
        phases[place] = STUCK

    def _settle(self, place: int, t: float, s: Any, phases: list[int], ways: list[float]) -> bool:
        """Whether a contact changed at once: slip whose anchor would go back, or a spring without force that grows faster than the cone."""
        contact = self.contacts[place]
        if phases[place] == SLIPS and self._anchor(place, t, s, phases, ways)[0] < 0.0:
            self._stick(place, t, s, phases, ways)
            return True
        if phases[place] == STUCK and contact.mu_s * self._pull(place, s) - abs(self._trial(place, s)) <= 1e-12 * contact.k_t * 1e-6:
            a = self._acceleration(t, s, phases, ways)
            stiffer = contact.k_n * self._depth(place, s)[1] + contact.c_n * float(np.dot(contact.normal, a))
            grows = contact.k_t * self._speed(place, s) + contact.c_t * float(np.dot(contact.along, a))
            way = np.sign(self._trial(place, s)) or np.sign(grows) or 1.0
            if contact.mu_s * stiffer < way * grows:
                self._slide(place, t, s, phases, ways)
                ways[place] = float(way)
                return True
        return False


_GUARDS = {OFF: ("enters",), LIFTED: ("leaves", "pushes"), STUCK: ("releases", "slides"), SLIPS: ("releases", "stops")}
