"""Coulomb friction of a mass pressed on a surface: the rigid law by its transitions, and the penalised law by its return mapping."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.contact.law import Guard, Phase, Point, choose, idle
from kernels.excitation.harmonic import Harmonic, wrap
from kernels.numerics.elementary import asin
from kernels.numerics.numbers import Array, unit

# Below this slip speed [m/s] the penalised law tries to stick, as the tool that SDND104 validates does.
SLIP_SPEED_FLOOR = 1e-6
_AT_THRESHOLD = 1e-6
# `Grip.slip_state` while the contact holds: so small that its product with any velocity is below that floor
BRIEFLY, UNMOVED = 2.0**-100, 2.0**-120
# `Grip.slip_state` while the mass is off its support: positive once it has slipped. Its product with another is below that of `BRIEFLY`
AWAY = 2.0**-110
FRICTION_EVENTS = ("", "release", "stop", "reversal", "largest speed", "least speed")


class Release(NamedTuple):
    """End of a rest: the remaining angle of the excitation [rad], whether rest ever ends, and the direction of slip (+1 or -1)."""

    turn: Array
    happens: Array
    direction: Array


class Thresholds(NamedTuple):
    """Angles at which the force needed to hold the mass leaves the static limit, for an excitation of positive amplitude.

    Attributes:
        forward, backward: angles [rad] where it leaves upwards and downwards.
        pushes, pulls: whether it ever leaves upwards and downwards.
    """

    forward: Array
    pushes: Array
    backward: Array
    pulls: Array


class Coulomb(NamedTuple):
    """Rigid friction: |F_t| <= static_limit at rest, F_t = -dynamic_force sign(v) in slip.

    Attributes:
        static_limit: mu_s F_n [N].
        dynamic_force: mu_d F_n [N], at most the static limit.
    """

    static_limit: Array
    dynamic_force: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Coulomb:
        """The law of resolved parameters (scalars)."""
        return cls(p["mu_s"] * p["normal_force"], p["mu_d"] * p["normal_force"])

    def direction_at_rest(self, needed: Array) -> Array:
        """Direction in which a contact at v = 0 starts to slip when rest needs the friction -`needed` [N]; 0 when it holds."""
        return jnp.where(jnp.abs(needed) > self.static_limit, jnp.sign(needed), 0.0)

    def thresholds(self, excitation: Harmonic, pull: Array) -> Thresholds:
        """Where rest ends under the external force plus `pull`, a constant force [N] besides its harmonic part: load - k x."""
        size = jnp.abs(excitation.amplitude)
        safe = jnp.where(size > 0.0, size, 1.0)

        def one_side(direction: float) -> tuple[Array, Array]:
            level = (self.static_limit - direction * pull) / safe
            reached = (size > 0.0) & (level < 1.0)
            return asin(jnp.clip(jnp.where(reached, level, 0.0), -1.0, 1.0)), reached

        (forward, pushes), (backward, pulls) = one_side(1.0), one_side(-1.0)
        return Thresholds(forward, pushes, backward + math.pi, pulls)


def release(thresholds: Thresholds, excitation: Harmonic, angle: Array) -> Release:
    """First instant at which rest needs more than the static limit.

    Args:
        thresholds: of the contact at rest; the force needed at `angle` is within the static limit.
        excitation: the external force.
        angle: omega t + phase [rad].

    Returns:
        See `Release`. `turn` is 0 when the threshold is just being crossed. A force that only touches the threshold does not release.
    """
    seen = angle + jnp.where(excitation.amplitude < 0.0, jnp.pi, 0.0)

    def turn_to(threshold: Array, above: Array) -> Array:
        turn = wrap(threshold - seen)
        # a threshold crossed at this instant up to rounding counts at once; one that was crossed back again waits a whole turn
        return jnp.where(turn > 2.0 * jnp.pi - jnp.minimum(_AT_THRESHOLD, above), 0.0, turn)

    # the force exceeds the limit from the threshold to its mirror image about the crest
    forward = turn_to(thresholds.forward, jnp.pi - 2.0 * thresholds.forward)
    backward = turn_to(thresholds.backward, 3.0 * jnp.pi - 2.0 * thresholds.backward)
    goes_forward = thresholds.pushes & (~thresholds.pulls | (forward <= backward))
    return Release(jnp.where(goes_forward, forward, backward), thresholds.pushes | thresholds.pulls, jnp.where(goes_forward, 1.0, -1.0))


class Grip(NamedTuple):
    """State of the penalised contact between two steps.

    Attributes:
        slip_state: the state in one number, because every number that a step loop carries costs time.
            +1 or -1: it slips in that direction. +-BRIEFLY: it holds just after such a slip, while its spring unloads. 0: the mass rests.
            UNMOVED: it has never slipped. +-AWAY: the mass is off its support.
        spring: force of its spring [N], T0 - k_t (x - xa) while it holds and T0 while it slips; it is updated with the displacement
            of each step, because x is many orders larger than x - xa.
    """

    slip_state: Array
    spring: Array

    @property
    def slips(self) -> Array:
        """Whether it slips."""
        return jnp.abs(self.slip_state) > 0.5

    @property
    def rests(self) -> Array:
        """Whether the mass rests on its support after a slip."""
        return self.slip_state == 0.0

    @property
    def is_away(self) -> Array:
        """Whether the mass is off its support."""
        return jnp.abs(self.slip_state) == AWAY

    def force(self, c_t: Array, v: Array) -> Array:
        """Friction force [N] of a contact whose damper is `c_t` [N s/m], at the velocity `v` [m/s] against the support."""
        return jnp.where(self.slips | self.is_away, self.spring, self.spring - c_t * v)

    def begins(self, before: Grip) -> Array:
        """Whether a slip begins in the step since `before`: after a rest, or in the direction opposite to the last slip."""
        # the product is at most 2^-9 unless the contact slips, and -1 where a slip went on
        return self.slip_state * (self.slip_state - (2.0 / BRIEFLY) * before.slip_state) > 0.5

    def stops(self, before: Grip) -> Array:
        """Whether a rest begins with the step since `before`."""
        return (self.slip_state == 0.0) & (before.slip_state != 0.0)


def new_grip(like: Array) -> Grip:
    """An unloaded contact that sticks."""
    zero = jnp.zeros_like(like)
    return Grip(zero + UNMOVED, zero)


class Penalised(NamedTuple):
    """Penalised friction: a spring k_t and a damper c_t that hold the contact until mu_s F_n, then slip at mu_d F_n.

    Attributes:
        static_limit, dynamic_force: mu_s F_n, mu_d F_n [N].
        k_t: tangential stiffness [N/m]. c_t: tangential damping [N s/m].
    """

    static_limit: Array
    dynamic_force: Array
    k_t: Array
    c_t: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Penalised:
        """The law of resolved parameters (scalars). Without friction the stiffness has no effect: the contact never holds."""
        static_limit = p["mu_s"] * p["normal_force"]
        any_stiffness = jnp.isinf(p["k_t"]) & (static_limit == 0.0)
        return cls(
            static_limit,
            p["mu_d"] * p["normal_force"],
            jnp.where(any_stiffness, 1.0, p["k_t"]),
            jnp.where(any_stiffness, 0.0, p["c_t"]),
        )

    def evaluate(
        self,
        memory: Grip,
        moved: Array,
        v: Array,
        needed: Array,
        normal: Array | None = None,  # noqa: ARG002 (constant)
        elapsed: Array | None = None,  # noqa: ARG002
        lets_go: Array | None = None,
    ) -> tuple[Array, Grip]:
        """One evaluation: the friction force [N], and the state after the step if it is accepted.

        Slip goes on while v keeps its sign and |v| > 1e-6 m/s. Otherwise a stick trial T = T0 - k_t (x - xa) - c_t v holds if
        |T| <= mu_s F_n, and T0 and xa stay; if not, the contact slips at -mu_d F_n sign(v) and both move on. At v = 0 (below 1e-30 T in SI
        units) the sign is the trial's. A slip that stops leads to rest if the friction to hold the mass there is within mu_s F_n.

        Args:
            memory, moved, v, needed: see `FrictionLaw.evaluate`. normal, elapsed: not read.
            lets_go: mask of runs in which a new slip goes against the trial force and not in the direction of v; None for no run.

        Source: the penalised law of the tool that SDND104 (V5.01.104) validates.
        """
        spring = memory.spring - self.k_t * moved
        trial = spring - self.c_t * v
        sticks = ~(memory.slip_state * v > SLIP_SPEED_FLOOR) & (jnp.abs(trial) <= self.static_limit)
        held = jnp.where(memory.slips, jnp.where(jnp.abs(needed) <= self.static_limit, 0.0, BRIEFLY * memory.slip_state), memory.slip_state)
        onward = v - BRIEFLY * trial
        if lets_go is not None:
            onward = jnp.where(lets_go, -trial, onward)
        slip_state = jnp.where(sticks, held, unit(onward))
        sliding = -self.dynamic_force * slip_state
        after = Grip(slip_state, spring)
        return jnp.where(after.slips, sliding, trial), after._replace(spring=jnp.where(after.slips, sliding, spring))

    @property
    def belt(self) -> None:
        """The support rests."""
        return None

    @property
    def pressing(self) -> None:
        """The normal force is constant."""
        return None

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return self.k_t, self.c_t

    @property
    def observes(self) -> tuple[bool, bool]:
        """Wear and dissipation follow from the distance slipped."""
        return False, False

    @property
    def cheap(self) -> bool:
        """An evaluation is little work."""
        return True

    @property
    def reads_time(self) -> bool:
        """The law does not read the time since the instant that it remembers."""
        return False

    def new_memory(self, like: Array) -> Grip:
        """An unloaded contact that sticks."""
        return new_grip(like)

    def force(self, memory: Grip, v: Array) -> Array:
        """Friction force after a step [N] (see `FrictionLaw.force`)."""
        return memory.force(self.c_t, v)

    def rubs(self, step: Any) -> None:  # noqa: ARG002
        """A step slips by its displacement as a whole or not at all."""
        return

    def rubs_between(self, step: Any, begin: Array, end: Array) -> None:  # noqa: ARG002
        """As `rubs`."""
        return


class Contact(NamedTuple):
    """State of a contact with friction between two events.

    Attributes:
        direction: of slip, +1 or -1; 0 while it holds.
        rising: 1 while the speed of slip grows, else 0.
        force: friction on the mass at the last evaluation of the phase [N]. At a limit it is set to that limit exactly.
        last: direction of the last slip, 0 before the first.
        resting: 1 while the mass rests on its support; not in the brief stuck state in which a penalised contact's spring unloads.
        begins: 1 just after a slip phase has begun, else 0.
    """

    direction: Array
    rising: Array
    force: Array
    last: Array
    resting: Array
    begins: Array


class FrictionPhases(NamedTuple):
    """Friction of one mass as linear phases, for the event loop. The time schemes use `Penalised.evaluate`.

    stick         rigid: nothing moves; penalised: k_t and c_t are added; until the friction that holds the mass exceeds mu_s F_n
    slip, rising  until a = 0, the largest speed; the law stays the same
    slip, falling until v = 0, or a = 0 again

    At the release the mass slips in the direction of v (against the friction where v is exactly 0) at mu_d F_n. Where slip stops, a
    penalised contact holds from there on with that force; a rigid one holds if the force needed is within mu_s F_n; otherwise the
    mass turns back. Without friction it always slips.

    Attributes:
        m: mass [kg]. law: the contact.
    """

    m: Array
    law: Penalised | Coulomb

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events."""
        return FRICTION_EVENTS

    @property
    def holds(self) -> Array:
        """Whether there is any friction."""
        return self.law.static_limit > 0.0

    def phase(self, memory: Contact, x: Array, v: Array, a: Array) -> Phase:  # noqa: ARG002 (friction is the same everywhere)
        """The present phase, evaluated at velocity `v` [m/s] and acceleration `a` [m/s^2] (see `law.Law`)."""
        law, side, zero = self.law, memory.direction, jnp.zeros_like(v)
        sticks, rising = side == 0.0, memory.rising > 0.0
        # the friction that holds the mass changes by -k_t d - c_t (v - v0), or with the external force
        k_t, c_t, m = (law.k_t, law.c_t, zero) if isinstance(law, Penalised) else (zero, zero, self.m + zero)
        upper = Guard(law.static_limit - memory.force, k_t, c_t, m)
        lower = Guard(law.static_limit + memory.force, -k_t, -c_t, -m)
        peak, stop, valley = Guard(side * a, zero, zero, side), Guard(side * v, zero, side, zero), Guard(-side * a, zero, zero, -side)
        return Phase(
            jnp.where(sticks, k_t, 0.0),
            jnp.where(sticks, c_t, 0.0),
            (choose(sticks, upper, choose(rising, peak, stop)), choose(sticks, lower, choose(rising, idle(v), valley))),
            None if isinstance(law, Penalised) else jnp.where(sticks, 0.0, 1.0),
        )

    def start(self, at: Point) -> tuple[Contact, Array]:
        """State of the contact at release, and its force [N]. A penalised contact starts unloaded (see `law.Law`)."""
        law = self.law
        if isinstance(law, Penalised):
            held, onward = -law.c_t * at.v, _way(at, self.holds)
        else:
            held = -at.needed
            onward = jnp.where(self.holds & (at.v == 0.0), jnp.sign(at.needed), _way(at, self.holds))
        slips = (jnp.abs(held) > law.static_limit) | ~self.holds
        if isinstance(law, Coulomb):
            slips = slips | (at.v != 0.0)
        side = jnp.where(slips, onward, 0.0)
        force = jnp.where(side == 0.0, held, -law.dynamic_force * side)
        a = (at.needed - at.drag * at.v + force) / self.m
        zero = jnp.zeros_like(at.v)
        resting = jnp.where(side == 0.0, 1.0, zero)
        return Contact(side, jnp.where(side * a >= 0.0, jnp.abs(side), 0.0), force, side, resting, zero), force

    def transition(self, memory: Contact, crossed: tuple[Array, ...], v0: Array, at: Point) -> tuple[Contact, Array, Array]:
        """The memory and the motion after an event (see `law.Law`)."""
        contact, law, side = memory, self.law, memory.direction
        first, second = crossed
        sticks, rising = side == 0.0, contact.rising > 0.0
        released = sticks & (first | second)
        peaked, valley, stopped = ~sticks & rising & first, ~sticks & second & ~first, ~sticks & ~rising & first
        within = jnp.abs(at.needed) <= law.static_limit
        onward = _way(at._replace(v=jnp.zeros_like(at.v)), self.holds)
        if isinstance(law, Penalised):
            stuck = stopped & self.holds
            held, caught = contact.force - law.k_t * at.moved - law.c_t * (at.v - v0), -law.dynamic_force * side
        else:
            stuck = stopped & self.holds & within
            held = caught = -at.needed
            onward = jnp.where(self.holds, jnp.sign(at.needed), onward)
        turned = stopped & ~stuck

        v = jnp.where(stopped, 0.0, at.v)
        against = jnp.where(first, -1.0, 1.0)  # away from the friction, which has reached +limit at the first guard
        away = jnp.where(v != 0.0, jnp.sign(v), against)
        direction = jnp.where(released, away, jnp.where(stuck, 0.0, jnp.where(turned, onward, side)))
        starts = released | turned
        force = jnp.where(starts, -law.dynamic_force * direction, jnp.where(stuck, caught, jnp.where(sticks, held, contact.force)))
        fresh = (at.needed - at.drag * v + force) / self.m
        if isinstance(law, Coulomb):  # exact, because its sign decides the direction of motion
            excess = jnp.maximum(law.static_limit - law.dynamic_force, 0.0)
            fresh = jnp.where(stuck, 0.0, jnp.where(released, direction * excess / self.m, fresh))
        a = jnp.where(peaked | valley, 0.0, jnp.where(starts | stuck, fresh, at.a))
        rising_now = jnp.where(
            starts, jnp.where(direction * a >= 0.0, 1.0, 0.0), jnp.where(peaked | stuck, 0.0, jnp.where(valley, 1.0, contact.rising))
        )
        begins = starts & ((contact.resting > 0.0) | (direction * contact.last < 0.0))
        resting = jnp.where(stuck, jnp.where(within, 1.0, 0.0), jnp.where(starts, 0.0, contact.resting))
        last = jnp.where(starts, direction, contact.last)
        return Contact(direction, rising_now, force, last, resting, jnp.where(begins, 1.0, 0.0)), v, a

    def rest(self, memory: Contact, at: Point) -> tuple[Contact, Array, Array]:
        """Unchanged: stops and releases of a friction contact do not accumulate."""
        return memory, at.v, at.a

    def kind(self, memory: Contact, crossed: tuple[Array, ...], after: Contact) -> Array:
        """Position of the event in `kinds`."""
        first, second = crossed
        sticks, rising = memory.direction == 0.0, memory.rising > 0.0
        stops = jnp.where(after.direction == 0.0, 2.0, 3.0)
        slipping = jnp.where(first, jnp.where(rising, 4.0, stops), jnp.where(second, 5.0, 0.0))
        return jnp.where(sticks, jnp.where(first | second, 1.0, 0.0), slipping)


def _way(at: Point, holds: Array) -> Array:
    """Direction in which a mass moves from an instant on: the sign of its velocity, or without friction of the first rate that is not 0."""
    sign = jnp.sign(at.v)
    for rate in (at.a, at.jerk, at.snap):
        sign = jnp.where(holds | (sign != 0.0), sign, jnp.sign(rate))
    return sign
