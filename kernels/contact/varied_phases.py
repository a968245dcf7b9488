"""Friction of one mass as linear phases on a surface that moves, or under a normal force that varies, for the event loop.

    n(t) = n0 + n1 sin(omega_n t + phase_n),   F_n = max(0, n) on one surface, |n| between two,   w = v - belt speed

While the mass slips its friction -mu_d F_n sign(w) follows n: the mass feels one more sine. While the contact holds, its limit mu_s F_n
does. One more guard ends a phase where n comes to 0: the mass leaves its support, or presses on the other surface.

Penalised friction is the limit of `varying_friction.Varied` for small steps. A contact that can no longer hold, because its limit has
fallen, slips against the force that it had. If the mass still creeps the other way, that slip ends at once: the spring is left with
mu_d F_n. This happens again and again, ever sooner, until the mass has turned round. Where a slip stops while the limit falls faster than
the force of the contact, the contact cannot hold, and the mass creeps back from rest through such a sequence of grips and slips. Where the
sequence begins is not determined by the law: step by step it is the first step, however short, that decides. Here the slip lasts beyond
its stop (`FrictionState.back`) until the damper's force is 1e-8 of the limits.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.friction_phases import (
    FRICTION_EVENTS,
    FrictionPhases,
    FrictionState,
    Held,
    PenalisedPhases,
    RigidPhases,
    Stop,
    way,
)
from tribosweep.kernels.contact.law import Guard, Instant, Phase, choose, idle
from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.models.contacts import PENALISED, RIGID
from tribosweep.kernels.models.schemes import same_friction
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.slip import holds_to

VARIED_EVENTS = (*FRICTION_EVENTS, "loss of contact", "contact", "other surface")
_NO_FORCE = 1e-12  # of the limits: a smaller force of the damper changes nothing
_FIRST_GRIP = 1e-8  # of the limits: the force of the damper at which a contact grips whose limit falls faster than its force
_LEAST_DAMPER = 1e-4  # of sqrt(m k_t): with less the speed of that grip would not be small, and such a row ends with too many events
_CREEPS = 4.0 * _NO_FORCE  # of the limit: a force of the damper at which a mass that is held goes on creeping
_PHASES: dict[str, type[RigidPhases | PenalisedPhases]] = {RIGID: RigidPhases, PENALISED: PenalisedPhases}  # by the kind of friction


class _Numbers(NamedTuple):
    m: Array
    law: Any
    base: RigidPhases | PenalisedPhases
    mu_s: Array
    mu_d: Array
    pressing: Pressing | None
    moving: Array | None


class VariedPhases(_Numbers, FrictionPhases):
    """Friction that varies (see `friction_phases.FrictionPhases`, whose phases these are).

    Attributes:
        m: mass [kg]. law: the contact under its mean normal force. base: the phases under that force, on a surface at rest.
        mu_s, mu_d: coefficients of friction. pressing: normal force; None where it is constant.
        moving: velocity of the surface [m/s]; None where it rests.
    """

    @classmethod
    def of(cls, p: dict[str, Any], kind: str) -> VariedPhases:
        """The friction of resolved parameters (scalars), rigid or penalised."""
        base = _PHASES[kind].of(p)
        pressing = Pressing.of(p) if "normal_amplitude" in p else None
        if pressing is not None and kind == PENALISED:  # the spring counts if there is friction at any time
            acts = p["mu_s"] > 0.0
            law = base.law._replace(k_t=jnp.where(acts, p["k_t"], 1.0), c_t=jnp.where(acts, p["c_t"], 0.0))
            base = base._replace(law=law)
        return cls(p["m"], base.law, base, holds_to(p["mu_s"]), p["mu_d"], pressing, p.get("belt_speed"))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events."""
        return VARIED_EVENTS

    @property
    def guard_count(self) -> int:
        """Number of guards of each phase."""
        return 2 if self.pressing is None else 3

    @property
    def belt(self) -> Array | None:
        """Velocity of the surface [m/s]; None where it rests."""
        return self.moving

    @property
    def acts(self) -> Array:
        """Whether there is any friction."""
        acts: Array = self.base.acts if self.pressing is None else self.mu_s > 0.0
        return acts

    @property
    def spring(self) -> Array | None:
        """Stiffness of the spring that holds the contact [N/m]; None for a rigid contact."""
        return self.base.spring

    @property
    def held(self) -> Held:
        """The rates of the friction that holds the mass."""
        return self.base.held

    def following(self, memory: FrictionState) -> Array | None:
        """Growth of the friction on a slipping mass with the normal force; None where that is constant."""
        return None if memory.pressed is None else -self.mu_d * memory.pressed * memory.direction

    def _against(self, v: Array) -> Array:
        """Velocity against the surface [m/s]."""
        return v if self.moving is None else v - self.moving

    def _pull(self, at: Instant) -> Array:
        """The force on a mass that moves with its surface, without friction [N]."""
        return at.needed if self.moving is None else at.needed - at.drag * self.moving

    def holding_force(self, state: FrictionState, moved: Array, gained: Array, needed: Array) -> Array:
        """The friction that holds the mass [N]; `moved` is against the surface, `needed` the force on a mass that moves with it."""
        return self.base.holding_force(state, moved, gained, needed)

    def phase(self, memory: FrictionState, x: Array, v: Array, a: Array) -> Phase:  # noqa: ARG002 (friction is the same everywhere)
        """The present phase (see `law.ContactLaw`)."""
        side, zero, w = memory.direction, jnp.zeros_like(v), self._against(v)
        holds, slips, rising = memory.holds, memory.slips, memory.rising > 0.0
        k, c, m = (rate + zero for rate in self.held)
        limit = self.law.static_limit if memory.limit is None else memory.limit
        on_n = None if memory.pressed is None else self.mu_s * memory.pressed
        on_t = None if self.moving is None else -k * self.moving
        upper = Guard(limit - memory.force, k, c, m, on_n, on_t)
        lower = Guard(limit + memory.force, -k, -c, -m, on_n, None if on_t is None else -on_t)
        stop = Guard(side * w if memory.back is None else side * w + memory.back, zero, side, zero)
        peak, valley = Guard(side * a, zero, zero, side), Guard(-side * a, zero, zero, -side)
        first = choose(holds, upper, choose(slips, choose(rising, peak, stop), idle(v)))
        second = choose(holds, lower, choose(slips & ~rising, valley, idle(v)))
        guards: tuple[Guard, ...] = (first, second)
        if self.pressing is not None and memory.pressed is not None and memory.normal is not None:
            sign = jnp.where(memory.pressed == 0.0, -1.0, memory.pressed)
            guards = (choose(self.pressing.crosses, Guard(sign * memory.normal, zero, zero, zero, sign), idle(v)), *guards)
        stiffness = jnp.where(holds, k, 0.0)
        return Phase(
            stiffness,
            jnp.where(holds, c, 0.0),
            guards,
            jnp.where(holds, 0.0, 1.0) if self.spring is None else None,
            on_n=self.following(memory),
            carries=None if self.moving is None else jnp.where(holds, self.moving, 0.0),
            own_stiffness=None if self.moving is None else stiffness,
        )

    def _limits(self, pressed: Array | None, normal: Array | None) -> tuple[Array, Array]:
        """mu_s F_n and mu_d F_n [N]."""
        if pressed is None or normal is None:
            return self.law.static_limit, self.law.dynamic_force
        force = jnp.maximum(pressed * normal, 0.0)
        return self.mu_s * force, self.mu_d * force

    def start(self, at: Instant) -> tuple[FrictionState, Array]:
        """State of the contact at t = 0, and its force [N] (see `law.ContactLaw`)."""
        zero, pressed, normal = jnp.zeros_like(at.v), None, None
        if self.pressing is not None and at.swing is not None:
            normal = self.pressing.swing.load + at.swing[0]
            sign = jnp.where(normal != 0.0, jnp.sign(normal), jnp.sign(at.swing[1]))
            sign = jnp.where(self.pressing.crosses, sign, jnp.sign(self.pressing.swing.load))
            between = self.pressing.sides > 1.0
            pressed = jnp.where(between, jnp.where(sign == 0.0, 1.0, sign), jnp.maximum(sign, 0.0))
        static, dynamic = self._limits(pressed, normal)
        pull, w = self._pull(at), self._against(at.v)
        follows = jnp.where(self.acts & (w == 0.0), jnp.sign(pull), way(at._replace(v=w), self.acts))
        if self.spring is None:
            slips, held = (jnp.abs(pull) > static) | ~self.acts | (w != 0.0), -pull
        else:
            slips, held, follows = (w != 0.0) | ~self.acts, zero, way(at._replace(v=w), self.acts)
        touches = slips if pressed is None else slips & (pressed != 0.0)
        side = jnp.where(touches, follows, 0.0)
        state = FrictionState(side, zero, zero, side, zero, zero)
        if pressed is not None:
            state = state._replace(pressed=pressed, normal=normal, limit=static, back=zero)
        force = jnp.where(state.slips, -dynamic * side, jnp.where(state.holds, held, 0.0))
        a = (at.needed - at.drag * at.v + force) / self.m
        rising = jnp.where(side * a >= 0.0, jnp.abs(side), 0.0)
        return state._replace(rising=rising, force=force, resting=jnp.where(state.holds, 1.0, zero)), force

    def transition(self, memory: FrictionState, crossed: tuple[Array, ...], v0: Array, at: Instant) -> tuple[FrictionState, Array, Array]:
        """The memory and the motion after an event (see `law.ContactLaw`)."""
        side, holds, slips, rising = memory.direction, memory.holds, memory.slips, memory.rising > 0.0
        first, second = crossed[-2:]
        pull = self._pull(at)
        moved = at.moved if self.moving is None or at.elapsed is None else at.moved - self.moving * at.elapsed
        held = self.holding_force(memory, moved, at.v - v0, pull)
        breaks = jnp.zeros_like(holds)
        if at.jumped is not None:  # the jump asks for more than the limit
            breaks = holds & at.jumped & ~functools.reduce(operator.or_, crossed)
            breaks = breaks & (jnp.abs(held) > self._limits(*self._pressed_after(memory, crossed, at)[:2])[0])
        released = holds & (first | second) | breaks
        peaked, valley, stopped = slips & rising & first, slips & second & ~first, slips & ~rising & first
        pressed, normal, lifts, lands = self._pressed_after(memory, crossed, at)
        static, dynamic = self._limits(pressed, normal)
        against = jnp.where(first, -1.0, 1.0)  # away from the friction, which has reached +limit at the first guard
        against = jnp.where(breaks, -jnp.sign(held), against)
        w = self._against(at.v)
        backs = jnp.zeros_like(stopped) if memory.back is None else stopped & (memory.back > 0.0)
        lasts = stopped & ~backs & self._limit_falls_away(memory, pull, static, dynamic, at)
        halts = (stopped & ~backs) | self._creeps_to_a_halt(released, against, w, static + dynamic)
        w, v = jnp.where(halts, 0.0, w), jnp.where(halts, 0.0 if self.moving is None else self.moving, at.v)

        stop = self._at_stop(side, pull, static, dynamic, at._replace(v=w))
        freed = against if self.pressing is not None else jnp.where(w != 0.0, jnp.sign(w), against)
        stuck, turned = stopped & stop.sticks & ~lasts, stopped & ~stop.sticks
        landed = lands & (w == 0.0) & ((pull == 0.0) if self.spring is None else self.acts)  # it rests where it lands
        slides = lands & ~landed
        onward = jnp.where(w != 0.0, jnp.sign(w), jnp.sign(pull))
        regrips, grip = self._grips_again(released, freed, w, static, dynamic)
        starts = (released & ~regrips) | turned | slides
        freed = jnp.where(released & (self._flips(freed, w, static, dynamic)), jnp.sign(w), freed)
        direction = jnp.where(
            released, freed, jnp.where(turned, stop.direction, jnp.where(slides, onward, jnp.where(stuck | lifts, 0.0, side)))
        )
        direction = jnp.where(regrips | landed, 0.0, direction)

        force = jnp.where(direction != 0.0, -dynamic * direction, jnp.where(stuck, stop.force, jnp.where(regrips, grip, held)))
        off = landed if pressed is None else landed | (pressed == 0.0)
        force = jnp.where(off, 0.0, force)
        fresh = (at.needed - at.drag * v + force) / self.m
        if self.spring is None:  # exact, because its sign decides the direction of motion
            excess = jnp.maximum(static - dynamic, 0.0)
            fresh = jnp.where(stuck | landed, 0.0, jnp.where(released & ~breaks, direction * excess / self.m, fresh))
        left = lifts & holds
        a = jnp.where(peaked | valley, 0.0, jnp.where(starts | stuck | landed | left | regrips | lasts, fresh, at.a))
        calm = peaked | stuck | lifts | landed | regrips
        rising_now = jnp.where(
            starts, jnp.where(direction * a >= 0.0, 1.0, 0.0), jnp.where(calm, 0.0, jnp.where(valley, 1.0, memory.rising))
        )
        if at.jumped is not None:
            going = jnp.where(direction * a >= 0.0, jnp.abs(direction), 0.0)
            rising_now = jnp.where(at.jumped & slips & ~stopped, going, rising_now)
        rising_now = jnp.where(lasts, 0.0, rising_now)
        begins = starts & (slides | (memory.resting > 0.0) | (direction * memory.last < 0.0))
        within = jnp.abs(pull) <= static
        resting = jnp.where(stuck, jnp.where(within, 1.0, 0.0), jnp.where(landed, 1.0, jnp.where(starts | lifts, 0.0, memory.resting)))
        last = jnp.where(starts, direction, memory.last)
        after = FrictionState(direction, rising_now, force, last, resting, jnp.where(begins, 1.0, 0.0))
        if pressed is not None and memory.back is not None:
            c_t = self.held.damping
            back = 2.0 * _FIRST_GRIP * static / jnp.where(c_t > 0.0, c_t, 1.0)
            goes_on = slips & ~stopped & ~starts & (direction == side)
            after = after._replace(
                pressed=pressed, normal=normal, limit=static, back=jnp.where(lasts, back, jnp.where(goes_on, memory.back, 0.0))
            )
        return after, v, a

    def _pressed_after(
        self, memory: FrictionState, crossed: tuple[Array, ...], at: Instant
    ) -> tuple[Array | None, Array | None, Array, Array]:
        """Sign and value of the normal force [N] after an event, and whether the mass leaves its support there, or lands on it."""
        never = jnp.zeros_like(crossed[0])
        if self.pressing is None or memory.pressed is None or at.swing is None:
            return None, None, never, never
        ends, between, away = crossed[0], self.pressing.sides > 1.0, memory.pressed == 0.0
        turned = jnp.where(between, -memory.pressed, jnp.where(away, 1.0, 0.0))
        pressed = jnp.where(ends, turned, memory.pressed)
        normal = jnp.where(ends, 0.0, self.pressing.swing.load + at.swing[0])
        return pressed, normal, ends & ~away & ~between, ends & away

    def _at_stop(self, side: Array, pull: Array, static: Array, dynamic: Array, at: Instant) -> Stop:
        """What follows where slip stops (see `FrictionPhases.at_stop`)."""
        if self.spring is not None:
            return Stop(self.acts, -dynamic * side - self.held.damping * at.v, way(at, self.acts))
        return Stop(self.acts & (jnp.abs(pull) <= static), -pull, jnp.where(self.acts, jnp.sign(pull), way(at, self.acts)))

    def _limit_falls_away(self, memory: FrictionState, pull: Array, static: Array, dynamic: Array, at: Instant) -> Array:
        """Whether a penalised contact that holds from the end of a slip, at its limit, loses force more slowly than that limit falls."""
        if self.spring is None or memory.pressed is None or at.swing is None:
            return jnp.zeros_like(memory.holds)
        c_t = self.held.damping
        turns = c_t * jnp.abs(memory.direction * pull - dynamic)
        falls = -self.mu_s * memory.pressed * at.swing[1] * self.m
        away: Array = same_friction(static, dynamic) & (c_t > _LEAST_DAMPER * jnp.sqrt(self.m * self.spring)) & (turns < falls)
        return away

    def _creeps_to_a_halt(self, released: Array, freed: Array, w: Array, most: Array) -> Array:
        """Whether a contact that grips again and again, ever sooner, comes to the limit of this: the mass turns round, and slips."""
        if self.spring is None or self.pressing is None:
            return jnp.zeros_like(released)
        drag = self.held.damping * jnp.abs(w)
        return released & (freed * w < 0.0) & (self.held.damping > 0.0) & (drag <= _NO_FORCE * most)

    def _flips(self, freed: Array, w: Array, static: Array, dynamic: Array) -> Array:
        """Whether a mass that creeps against its release is too fast for the damper of a penalised contact to hold it again."""
        if self.spring is None or self.pressing is None:
            return jnp.zeros_like(w, dtype=bool)
        return (freed * w < 0.0) & (self.held.damping * jnp.abs(w) > static + dynamic)

    def _grips_again(self, released: Array, freed: Array, w: Array, static: Array, dynamic: Array) -> tuple[Array, Array]:
        """Whether a penalised contact that slips at its limit holds again at once, since the mass creeps back; its force then [N]."""
        if self.spring is None or self.pressing is None:
            return jnp.zeros_like(released), jnp.zeros_like(w)
        again = released & (freed * w < 0.0) & ~self._flips(freed, w, static, dynamic)
        return again, -dynamic * freed - self.held.damping * w

    def rest(self, memory: FrictionState, at: Instant) -> tuple[FrictionState, Array, Array]:
        """Where stops and releases accumulate, the contact holds a mass at rest, and slips with one that creeps."""
        if self.spring is None or self.pressing is None or memory.limit is None:
            return memory, at.v, at.a
        w, pull = self._against(at.v), self._pull(at)
        _, dynamic = self._limits(memory.pressed, memory.normal)
        direction = jnp.sign(w)
        force = jnp.where(direction != 0.0, -dynamic * direction, jnp.clip(-pull, -memory.limit, memory.limit))
        a = (at.needed - at.drag * at.v + force) / self.m
        rising = jnp.where(direction * a >= 0.0, jnp.abs(direction), 0.0)
        rested = memory._replace(
            direction=direction,
            rising=rising,
            force=force,
            resting=jnp.where(direction == 0.0, 1.0, 0.0),
            last=jnp.where(direction == 0.0, memory.last, direction),
            back=jnp.zeros_like(w),
        )
        creeps = memory.holds & (self.held.damping * jnp.abs(w) > _CREEPS * memory.limit)  # and grips ever later
        touches = (memory.pressed != 0.0) & ~creeps
        chosen: tuple[FrictionState, Array, Array] = jax.tree.map(
            lambda new, old: jnp.where(touches, new, old), (rested, at.v, a), (memory, at.v, at.a)
        )
        return chosen

    def kind(self, memory: FrictionState, crossed: tuple[Array, ...], after: FrictionState) -> Array:
        """Position of the event in `kinds`."""
        code = self.base.kind(memory, crossed[-2:], after)
        if memory.pressed is None or after.pressed is None:
            return code
        change = jnp.where(after.pressed == 0.0, 6.0, jnp.where(memory.pressed == 0.0, 7.0, 8.0))
        off = memory.pressed == 0.0
        return jnp.where(crossed[0], change, jnp.where(off, 0.0, code))


def phases_of(p: dict[str, Any], kind: str) -> FrictionPhases:
    """The friction of resolved parameters (scalars), RIGID or PENALISED."""
    varies = "normal_amplitude" in p or "belt_speed" in p
    return VariedPhases.of(p, kind) if varies else _PHASES[kind].of(p)
