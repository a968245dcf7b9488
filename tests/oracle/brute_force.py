"""Rubbing masses stepped by brute force: every linear phase by its own matrix, every guard looked at after every step.

    m x'' + c x' + k x = A sin(omega t + phase) + load + T,    A = f0 - m a0

Rigid: at rest |T| <= mu_s F_n, in slip T = -mu_d F_n sign(v). Penalised: while the contact holds T = T0 - k_t (x - xa) - c_t v; it lets go
when |T| exceeds mu_s F_n, slips the way it moves, and holds again from v = 0 on with T0 = -mu_d F_n sign(v), xa = x. An event is where a
guard is negative after a step and was not before; bisection on the motion's Taylor series finds it inside that step. Nothing is looked for
between steps: two crossings within one are missed. Arrays of lanes, each at its own time; JAX only repeats the step.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

STEP = 1e-6
CHUNK, WIDTH = 1000, 200
ORDER, HALVINGS = 12, 44
RELEASE, STOP, REVERSAL = 1, 2, 3

Floats = NDArray[np.float64]


class Events(NamedTuple):
    """All events, sorted by oscillator and then in their order, and the states at the end."""

    lane: NDArray[np.int64]
    time: Floats
    kind: NDArray[np.int64]
    x_end: Floats
    v_end: Floats


@jax.jit
def march(state: Any, left: Any, numbers: Any) -> Any:
    """CHUNK steps of (blocks, WIDTH) lanes; each lane stops when its guard would be negative, or when it has no steps left."""

    def block(state: Any, left: Any, numbers: Any) -> Any:
        yy, yv, ys, yc, y1, vy, vv, vs, vc, v1, ss, sc, limit, q0, qy, qv, qs, side = numbers

        def step(_: Any, now: Any) -> Any:
            y, v, s, c, n, goes = now
            # increments: a matrix of ones but for 1e-12 would have lost the motion
            ahead_y, ahead_v = y + (yy * y + yv * v + ys * s + yc * c + y1), v + (vy * y + vv * v + vs * s + vc * c + v1)
            ahead_s, ahead_c = s + (ss * s + sc * c), c + (ss * c - sc * s)
            guard = limit - jnp.abs(q0 + qy * ahead_y + qv * ahead_v + qs * ahead_s) + side * ahead_v
            goes = jnp.where((guard >= 0.0) & (n < left), goes, 0.0)
            ahead = (ahead_y, ahead_v, ahead_s, ahead_c)
            return *(jnp.where(goes > 0.0, a, b) for a, b in zip(ahead, (y, v, s, c), strict=True)), n + goes, goes

        return jax.lax.fori_loop(0, CHUNK, step, (*state, jnp.zeros_like(left), jnp.ones_like(left)))

    return jax.lax.map(lambda lanes: block(*lanes), (state, left, numbers))


def generator(p: Mapping[str, Floats], k_t: Floats, c_t: Floats, moves: float) -> Floats:
    """The matrix of d/dt (x - xa, v, sin, cos, constant acceleration), (lanes, 5, 5)."""
    a = np.zeros((len(k_t), 5, 5))
    a[:, 0, 1] = moves
    a[:, 1, :3] = moves * np.stack([-(p["k"] + k_t), -(p["c"] + c_t), p["amplitude"]], axis=1) / p["m"][:, None]
    a[:, 1, 4] = moves
    a[:, 2, 3], a[:, 3, 2] = p["omega"], -p["omega"]
    return a


def increments(a: Floats) -> Floats:
    """exp(a STEP) - 1, entry by entry to rounding: all of its norm is small."""
    term = total = a * STEP
    for n in range(2, 3 * ORDER):
        term = term @ a * (STEP / n)
        total = total + term
    return total


class Lanes:
    """The oscillators: where each is, and what it does there."""

    def __init__(self, p: Mapping[str, Floats], penalised: bool) -> None:
        count, self.penalised = len(p["m"]), penalised
        self.p = {
            **p,
            "amplitude": p["f0"] - p["m"] * p["a0"],
            "hold": p["mu_s"] * p["normal_force"],
            "slide": p["mu_d"] * p["normal_force"],
        }
        zero = np.zeros(count)
        self.k_t, self.c_t = (p["k_t"], p["c_t"]) if penalised else (zero, zero)
        slip = generator(self.p, zero, zero, 1.0)
        stick = generator(self.p, self.k_t, self.c_t, 1.0 if penalised else 0.0)
        self.generator = np.stack([slip, stick], axis=1)
        self.increments = increments(self.generator)
        self.t, self.x, self.v, self.stored = zero.copy(), p["x0"].copy(), p["v0"].copy(), zero.copy()
        everyone = np.arange(count)
        needed = self.needed(everyone)
        if penalised:
            self.side = np.sign(self.v)
        else:
            self.side = np.where(self.v != 0.0, np.sign(self.v), np.where(np.abs(needed) > self.p["hold"], np.sign(needed), 0.0))
        onward = np.where(self.v != 0.0, np.sign(self.v), np.where(needed != 0.0, np.sign(needed), np.sign(self.p["amplitude"])))
        self.side = np.where(self.p["hold"] > 0.0, self.side, onward)
        self.state = np.zeros((count, 4))
        self.begin(everyone)

    def wave(self, i: Any) -> tuple[Floats, Floats]:
        """Sine and cosine of the excitation."""
        angle = self.p["omega"][i] * self.t[i] + self.p["phase"][i]
        return np.sin(angle), np.cos(angle)

    def needed(self, i: Any) -> Floats:
        """Every force but friction, at v = 0."""
        needed: Floats = self.p["amplitude"][i] * self.wave(i)[0] + self.p["load"][i] - self.p["k"][i] * self.x[i]
        return needed

    def begin(self, i: Any) -> None:
        """Begin the phases of the lanes `i` at their present states."""
        self.state[i] = np.stack([np.zeros(len(i)), self.v[i], *self.wave(i)], axis=1)

    def numbers(self) -> Floats:
        """What a step of every lane needs, (18, lanes)."""
        p, stuck = self.p, self.side == 0.0
        e = self.increments[np.arange(len(stuck)), stuck.astype(int)]
        b = self.constant()
        zero = np.zeros_like(b)
        rows = [
            e[:, 0, 0],
            e[:, 0, 1],
            e[:, 0, 2],
            e[:, 0, 3],
            e[:, 0, 4] * b,
            e[:, 1, 0],
            e[:, 1, 1],
            e[:, 1, 2],
            e[:, 1, 3],
            e[:, 1, 4] * b,
        ]
        return np.stack([*rows, e[:, 2, 2], e[:, 2, 3], np.where(stuck, p["hold"], zero), *self.held(), self.side])

    def constant(self) -> Floats:
        """Acceleration by the forces that stay as they are."""
        friction = np.where(self.side == 0.0, self.stored, -self.side * self.p["slide"])
        constant: Floats = (self.p["load"] - self.p["k"] * self.x + friction) / self.p["m"]
        return constant

    def held(self) -> tuple[Floats, ...]:
        """The friction that holds, up to its sign: its constant part and its rates with x - xa, v and the sine; 0 in slip."""
        stuck, zero = self.side == 0.0, np.zeros_like(self.side)
        if self.penalised:
            return tuple(np.where(stuck, each, zero) for each in (self.stored, -self.k_t, -self.c_t, zero))
        return tuple(np.where(stuck, each, zero) for each in (self.p["load"] - self.p["k"] * self.x, zero, zero, self.p["amplitude"]))

    def inside(self, i: Any, longest: Floats, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Time in (0, longest] when guards of the lanes `i` cross in their next step (else longest), whether they do, the state then."""
        a = self.generator[i, (self.side[i] == 0.0).astype(int)]
        series = [np.concatenate([self.state[i], self.constant()[i, None]], axis=1)]
        for n in range(1, ORDER):
            series.append(np.einsum("nij,nj->ni", a, series[-1]) / n)
        terms = np.stack(series, axis=1)
        limit, q0, qy, qv, qs, side = numbers[12:, i]

        def state(tau: Floats) -> Floats:
            return np.einsum("nki,nk->ni", terms, tau[:, None] ** np.arange(ORDER))

        def guard(tau: Floats) -> Floats:
            y, v, s, *_ = state(tau).T
            value: Floats = limit - np.abs(q0 + qy * y + qv * v + qs * s) + side * v
            return value

        crosses = guard(longest) < 0.0
        low, high = np.zeros(len(i)), longest.copy()
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            negative = guard(middle) < 0.0
            low, high = np.where(negative, low, middle), np.where(negative, middle, high)
        tau = np.where(crosses, high, longest)
        return tau, crosses, state(tau)

    def turn(self, i: Any, state: Floats) -> NDArray[np.int64]:
        """Change the phases of the lanes `i` at their events, from their states; return the kinds of event."""
        hold, side = self.p["hold"][i], self.side[i]
        slipped = side != 0.0
        v = np.where(slipped, 0.0, state[:, 1])
        needed = self.needed(i)
        if self.penalised:
            pull = -(self.stored[i] - self.k_t[i] * state[:, 0] - self.c_t[i] * v)
            catches, away = hold > 0.0, np.where(v != 0.0, np.sign(v), np.sign(pull))
        else:
            catches, away = (hold > 0.0) & (np.abs(needed) <= hold), np.sign(needed)
        self.v[i] = v
        self.stored[i] = np.where(slipped & self.penalised, -side * self.p["slide"][i], 0.0)
        self.side[i] = np.where(slipped, np.where(catches, 0.0, np.sign(needed)), away)
        return np.where(slipped, np.where(catches, STOP, REVERSAL), RELEASE)


def run(p: Mapping[str, Floats], end: float, penalised: bool) -> Events:
    """Step every oscillator from 0 to `end` [s].

    Args:
        p: m, c, k, mu_s, mu_d, normal_force, a0, f0, omega, phase, load, x0, v0, and k_t and c_t where penalised, (lanes,); the number of
            lanes is a multiple of WIDTH.
    """
    lanes = Lanes(p, penalised)
    count = len(lanes.t)
    done = np.zeros(count, dtype=bool)
    found: list[tuple[Floats, ...]] = []
    numbers = lanes.numbers()
    blocks = functools.partial(np.reshape, shape=(-1, WIDTH))
    while not done.all():
        left = np.where(done, 0.0, np.floor((end - lanes.t) / STEP))
        *state, steps, goes = march(tuple(blocks(each) for each in lanes.state.T), blocks(left), tuple(blocks(each) for each in numbers))
        lanes.state = np.stack([np.asarray(each).ravel() for each in state], axis=1)
        since = np.asarray(steps).ravel()
        lanes.t = lanes.t + since * STEP
        i = np.flatnonzero(~done & (np.asarray(goes).ravel() == 0.0))
        if i.size:
            rest = end - lanes.t[i]
            tau, crosses, inner = lanes.inside(i, np.minimum(rest, STEP), numbers)
            lanes.t[i], lanes.state[i] = lanes.t[i] + tau, inner[:, :4]
            done[i[~crosses & (rest <= STEP)]] = True
            hit = i[crosses]
            lanes.x[hit] += lanes.state[hit, 0]
            kinds = lanes.turn(hit, inner[crosses])
            found.append((hit, lanes.t[hit], kinds))
            lanes.begin(hit)
            numbers = lanes.numbers()
    lane, time, kind = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(lane, kind="stable")
    return Events(lane[order], time[order], kind[order], lanes.x + lanes.state[:, 0], lanes.state[:, 1])
