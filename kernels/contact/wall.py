"""Walls that a mass hits: an elastic stop on one or both sides, and a wall that buckles.

Compression y = side x - gap is positive inside the wall, whose force F >= 0 pushes the mass back: it never pulls. A buckling wall remembers
its largest compression X and its plastic set d. Its force is elastic, k_u(X) (y - d), until it reaches the criterion F_c(X). With
X the criterion follows the envelope: constant on the plateau, falling over the softening, constant beyond. `evaluate` is the step-by-step
law of the tool that SDND105 validates. The phases in continuous time are its limit for step -> 0:

    off       y < 0                       no force; after a contact x = 0 is an event, for the time of the return
    behind    0 < y < d                   no force: the wall has kept the plastic set d
    lifted    y > d, k_u (y-d) + c v < 0  no force: the damper would pull
    elastic   F = k_u (y - d) + c v       until 0, or until the criterion
    yielding  y = X, v > 0                F = F_c(y), plus the damping force if the criterion excludes it; until v = 0
    reloaded  y < X, v > 0                F = F_c(X), where elastic and viscous force together reach an included criterion before y = X
    capped    y < f/k_u, d = 0            F = F_c(X), where the viscous force makes most of it; until it no longer does

An included criterion can reduce the plastic set: reloaded and capped set it to what the elastic force F_c leaves, d = max(0, y - F_c/k_u).
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple, cast

import jax.numpy as jnp

from tribosweep.kernels.contact.envelope import BEYOND, PLATEAU, SOFTENING, Envelope
from tribosweep.kernels.contact.law import Guard, Instant, Phase, choose, idle
from tribosweep.kernels.contact.stop_law import StopLaw, stop_law
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.observables import impacts

# parameters that are infinite or NaN if their part of the model is absent
MAY_BE_ABSENT = ("k_t", "c_t", "m_2", "k_post", "post_set", "post_stiffness", "post_damping")

_FACE = 1e-100  # m, a compression at the face of a stop
OFF, BEHIND, LIFTED, ELASTIC, YIELDING, RELOADED, CAPPED = (float(n) for n in range(7))
WALL_EVENTS = (
    "", "impact", "separation", "leaves the wall", "touches again", "buckles", "yields again", "end of yielding", "next piece",
    "turns back", "extreme force", "back at x = 0",
)  # fmt: skip


class Pressed(NamedTuple):
    """State of a wall between two events.

    Attributes:
        phase: one of the seven. side: +1 or -1, the side of the last contact.
        largest: compression X reached so far [m]. plastic: plastic set d [m].
        piece: interval of the envelope while the wall yields. buckled: 1 once the force has reached the criterion.
        inward: 1 while the mass goes in. rising: 1 while the force grows; with a damper this differs from `inward`.
        returns: 1 from where the mass leaves a wall with a gap until it is back at x = 0.
    """

    phase: Array
    side: Array
    largest: Array
    plastic: Array
    piece: Array
    buckled: Array
    inward: Array
    rising: Array
    returns: Array


class Kept(NamedTuple):
    """What a wall that buckles remembers: its largest compression X and its plastic set d [m], and 1 once it has buckled."""

    largest: Array
    plastic: Array
    buckled: Array


class Force(NamedTuple):
    """Force of a wall during a phase: constant + stiffness y + damping y', y the compression [N]."""

    constant: Array
    stiffness: Array
    damping: Array

    def at(self, y: Array, v: Array) -> Array:
        """Force [N] at compression `y` [m], growing at `v` [m/s]."""
        return self.constant + self.stiffness * y + self.damping * v


class Crush(NamedTuple):
    """State of a wall between two steps.

    Attributes:
        largest: compression X reached so far [m]. plastic: plastic set d [m]. buckled: 1 once the force has reached the criterion.
        force: of the last evaluation, >= 0 [N]. trial: elastic plus viscous force without any limit [N].
        reach: force that was compared with the criterion [N].
    """

    largest: Array
    plastic: Array
    buckled: Array
    force: Array
    trial: Array
    reach: Array


def new_crush(like: Array) -> Crush:
    """A wall that nothing has touched."""
    zero = jnp.zeros_like(like)
    return Crush(zero, zero, zero, zero, zero, zero)


class Wall(NamedTuple):
    """A wall: its law step by step (`evaluate`, for the time schemes) and as linear phases (for the event loop).

    Attributes:
        m: mass [kg]. gap: free way to the wall [m]. two_sided: 1 for walls at +gap and -gap, 0 for one of them.
        k_n: stiffness [N/m] of an elastic stop. c_n: its damping [N s/m].
        envelope: of a wall that buckles; None for an elastic stop. included: 1 if the criterion limits the sum of elastic and
            viscous force, 0 if it limits the elastic force only and the viscous force is added.
        varying_damping: whether an added damping may vary while the wall yields (compile-time). Those phases are not linear.
        stands: +1.0 for a wall at +gap, -1.0 for one at -gap (compile-time).
        rounded: penetration [m] that rounding may decide (`impacts.rounded`).
        law, by_law: of an elastic stop of the time schemes, in place of k_n and c_n where `by_law`; None for these alone.
    """

    m: Array
    gap: Array
    two_sided: Array
    k_n: Array
    c_n: Array
    envelope: Envelope | None
    included: Array
    varying_damping: bool = False
    stands: float = 1.0
    rounded: Array | float = 0.0
    law: StopLaw | None = None
    by_law: Array | None = None

    @classmethod
    def of(cls, p: dict[str, Any], buckles: bool, varying_damping: bool = False, prefix: str = "", sides: int = 0) -> Wall:
        """The wall of resolved parameters.

        Args:
            p: scalars (see `Envelope` for tables). buckles: whether the wall may buckle; else it is an elastic stop.
            prefix: prefix of the names of its parameters.
            sides: +1 or -1, the side of the wall; with 0 the parameter `sides` decides whether there is a second wall on the left.
        """
        zero = jnp.zeros_like(p["m"])
        own = {name.removeprefix(prefix): value for name, value in p.items() if name.startswith(prefix)}
        two_sided = zero if sides or buckles else jnp.where(p["sides"] > 1.0, 1.0, zero)
        stands = -1.0 if sides < 0 else 1.0
        limit = impacts.rounded(p, own["gap"])
        if not buckles:
            return cls(p["m"], own["gap"], two_sided, own["k_n"], own["c_n"], None, zero, False, stands, limit, *stop_law(p))
        included = jnp.where(own["damping_criterion"] == 0.0, 1.0, zero)
        return cls(p["m"], own["gap"], two_sided, own["k_n"], own["c_n"], Envelope.of(own), included, varying_damping, stands, limit)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events."""
        return WALL_EVENTS

    @property
    def room(self) -> Array:
        """Distance between two faces [m]; infinite with one wall."""
        return jnp.where(self.two_sided > 0.0, 2.0 * self.gap, jnp.inf)

    @property
    def guard_count(self) -> int:
        """Number of guards of each phase."""
        return 3 if self.envelope is None else 4

    # ---- step by step

    def evaluate(self, memory: Crush, x: Array, v: Array, rest: Array | None = None) -> tuple[Array, Crush]:
        """One evaluation: the force on the mass [N], and the state after the step if it is accepted.

        With y the compression: X = max(X, y), F = k_u(X) (y - d) + c(X) y' (the damping term if it is included). If F reaches
        F_c(X), F = F_c and d = max(0, y - F_c / k_u). An excluded viscous force is added after that. F >= 0, and F = 0 where y < d.

        Args:
            memory: at the start of the step. x: displacement [m]. v: velocity [m/s]. rest: part of x lost by rounding [m], if known.

        Source: the law of the tool that SDND105 (V5.01.105) validates.
        """
        # on both of two walls without a gap the mass touches the one to which it moves
        left = (x < 0.0) | ((x == 0.0) & (v < 0.0))
        side = choice((self.two_sided > 0.0) & left, -self.stands, self.stands, x)
        y, speed = side * x - self.gap, side * v
        if rest is not None:  # near the wall x - gap is exact, so that the lost part of x counts
            y = y + side * rest
        inside = y >= 0.0  # at y = 0 the damper acts on a mass that moves in
        if self.envelope is None:
            trial = self.pressed(y, speed)
            force = jnp.where(inside, jnp.maximum(trial, 0.0), 0.0)
            return -side * force, memory._replace(largest=jnp.maximum(memory.largest, y), force=force, trial=trial)
        largest = jnp.maximum(memory.largest, y)
        k, c, limit = self.envelope.stiffness(largest), self.envelope.damping(largest), self.envelope.criterion(largest)
        viscous, included = c * speed, self.included > 0.0
        elastic = k * (y - memory.plastic)
        reach = elastic + jnp.where(included, viscous, 0.0)
        yields = inside & (reach >= limit)
        plastic = jnp.where(yields, jnp.maximum(0.0, y - limit / k), memory.plastic)
        pushed = jnp.where(yields, limit, reach) + jnp.where(included, 0.0, viscous)
        force = jnp.where(inside & (y >= plastic), jnp.maximum(pushed, 0.0), 0.0)
        buckled = jnp.where(yields, 1.0, memory.buckled)
        return -side * force, Crush(largest, plastic, buckled, force, elastic + viscous, reach)

    # ---- forces

    def pressed(self, y: Array, speed: Array) -> Array:
        """Force of an elastic stop [N], also negative, at a compression [m] that grows at a speed [m/s]."""
        linear = self.k_n * y + self.c_n * speed
        if self.by_law is None:
            return linear
        return jnp.where(self.by_law, self.through(y, speed), linear)

    def through(self, y: Array, speed: Array) -> Array:
        """Force of a law [N]; in front of the face it is that at the face, beyond which a law may not be defined."""
        inside = y > _FACE
        return cast("StopLaw", self.law).force(jnp.where(inside, y, _FACE), speed)

    def received(self, speed: Array) -> Array:
        """Force [N] with which an elastic stop receives a mass at a speed [m/s]."""
        if self.by_law is None:
            return self.c_n * speed
        return jnp.where(self.by_law, self.through(0.0 * speed, speed), self.c_n * speed)

    def _elastic(self, memory: Pressed) -> tuple[Array, Array]:
        """Stiffness [N/m] and damping [N s/m] while the wall is elastic."""
        if self.envelope is None:
            return self.k_n, self.c_n
        return self.envelope.stiffness(memory.largest), self.envelope.damping(memory.largest)

    def _criterion(self, memory: Pressed) -> tuple[Array, Array]:
        """Force at which the wall yields [N], and the elastic compression under that force [m]."""
        if self.envelope is None:
            return jnp.full_like(memory.phase, jnp.inf), jnp.full_like(memory.phase, jnp.inf)
        force = self.envelope.criterion(memory.largest)
        return force, force / self.envelope.stiffness(memory.largest)

    def force(self, memory: Pressed, y: Array) -> Force:
        """The force of the wall in the present phase. A varying damping is evaluated at compression `y` [m]."""
        phase, zero = memory.phase, jnp.zeros_like(memory.phase)
        k, c = self._elastic(memory)
        elastic = phase == ELASTIC
        constant, stiffness, damping = (jnp.where(elastic, value, zero) for value in (-k * memory.plastic, k, c))
        envelope = self.envelope
        if envelope is None:
            return Force(constant, stiffness, damping)
        limit, _ = self._criterion(memory)
        constant = jnp.where((phase == RELOADED) | (phase == CAPPED), limit, constant)
        yields, softens = phase == YIELDING, memory.piece == SOFTENING
        plain = jnp.where(memory.piece == PLATEAU, envelope.f_crit, envelope.f_post)
        constant = jnp.where(yields, jnp.where(softens, envelope.f_crit + envelope.slope * envelope.u0, plain), constant)
        stiffness = jnp.where(yields & softens, -envelope.slope, stiffness)
        on_top = jnp.where(memory.piece >= BEYOND, envelope.c_buckled, envelope.c_n)
        if self.varying_damping:
            on_top = envelope.damping_on(memory.piece, y)
        damping = jnp.where(yields & (self.included == 0.0), on_top, damping)
        return Force(constant, stiffness, damping)

    def damping_slope(self, memory: Pressed) -> Array | None:
        """Growth of the damping with the compression in the present phase [N s/m^2]; None if the damping is constant in every phase."""
        if self.envelope is None or not self.varying_damping:
            return None
        varies = (memory.phase == YIELDING) & (self.included == 0.0)
        return jnp.where(varies, self.envelope.damping_slope_on(memory.piece), 0.0)

    def compression(self, memory: Pressed, x: Array) -> Array:
        """Compression y [m] at displacement `x` [m]."""
        return memory.side * x - self.gap

    def at_rest(self, memory: Pressed, x: Array) -> tuple[Array, Array]:
        """Force on the mass [N] if it were at rest at `x` [m], and the damping of the wall [N s/m]."""
        y = self.compression(memory, x)
        force = self.force(memory, y)
        return -memory.side * force.at(y, jnp.zeros_like(x)), force.damping

    # ---- phases

    def phase(self, memory: Pressed, x: Array, v: Array, a: Array) -> Phase:
        """The present phase (see `law.ContactLaw`)."""
        side, phase, zero = memory.side, memory.phase, jnp.zeros_like(x)
        y, speed = self.compression(memory, x), side * v
        force = self.force(memory, y)
        k, c = self._elastic(memory)
        stretch = y - memory.plastic

        def guard(value: Array, on_y: Array | float = 0.0, on_v: Array | float = 0.0, on_a: Array | float = 0.0) -> Guard:
            return Guard(value, side * on_y + zero, side * on_v + zero, side * on_a + zero)

        def whether(code: float, guard: Guard, other: Guard) -> Guard:
            return choose(phase == code, guard, other)

        one, nothing = zero + 1.0, idle(zero)
        turn = jnp.where(memory.inward > 0.0, 1.0, -1.0)
        crest = jnp.where(memory.rising > 0.0, 1.0, -1.0)
        # without a damper the force is extreme where the mass turns back; a constant force has no extreme
        growth = force.stiffness * speed + force.damping * side * a
        extreme = choose(force.damping != 0.0, guard(crest * growth, 0.0, crest * force.stiffness, crest * force.damping), nothing)
        pulled = guard(-(k * stretch + c * speed), -k, -c)
        off = Guard(self.gap - self.stands * x, -self.stands * one, zero, zero)
        other = Guard(jnp.where(self.two_sided > 0.0, self.gap + x, 1.0), self.two_sided, zero, zero)
        leaves = whether(ELASTIC, guard(k * stretch + c * speed, k, c), whether(LIFTED, guard(stretch, 1.0), off))
        second = whether(ELASTIC, guard(turn * speed, 0.0, turn), whether(LIFTED, pulled, other))
        homeward = choose(memory.returns > 0.0, guard(side * x, 1.0), nothing)
        third = whether(ELASTIC, extreme, whether(OFF, homeward, nothing))
        if self.envelope is None:
            return Phase(force.stiffness, force.damping, (leaves, second, third))

        envelope = self.envelope
        limit, under_limit = self._criterion(memory)
        included = self.included > 0.0
        stops = guard(speed, 0.0, 1.0)
        viscous = jnp.where(included, c, 0.0)
        reached = guard(limit - k * stretch - viscous * speed, -k, -viscous)
        piece_end = envelope.end_of(memory.piece, self.varying_damping)
        leaves = whether(BEHIND, guard(y, 1.0), leaves)
        leaves = choose((phase == YIELDING) | (phase == RELOADED), stops, leaves)
        leaves = whether(CAPPED, guard(k * y + c * speed - limit, k, c), leaves)
        second = whether(BEHIND, guard(-stretch, -1.0), second)
        last = piece_end == jnp.inf
        second = whether(YIELDING, choose(last, nothing, guard(jnp.where(last, 0.0, piece_end) - y, -1.0)), second)
        second = whether(RELOADED, guard(memory.largest - y, -1.0), second)
        second = whether(CAPPED, guard(under_limit - y, -1.0), second)
        third = whether(BEHIND, guard(turn * speed, 0.0, turn), third)
        slope = self.damping_slope(memory)
        # where the damping varies an extreme of the force is no event: stretches are short there, and `hit` looks within them
        steady = phase == YIELDING if slope is None else (phase == YIELDING) & (slope == 0.0)
        third = choose(steady, extreme, third)
        fourth = choose((phase == ELASTIC) | ((phase == BEHIND) & included), reached, nothing)
        return Phase(force.stiffness, force.damping, (leaves, second, third, fourth), None, None if slope is None else slope * side)

    def start(self, at: Instant, kept: Kept | None = None) -> tuple[Pressed, Array]:
        """State of the wall at release, and its force on the mass [N]. The mass may start inside the wall (see `law.ContactLaw`).

        `kept`: what a wall that buckles remembers of what was before; None for a new wall.
        """
        zero, one = jnp.zeros_like(at.x), jnp.ones_like(at.x)
        side = jnp.where((self.two_sided > 0.0) & (at.x < 0.0), -self.stands * one, self.stands * one)
        y, speed = side * at.x - self.gap, side * at.v
        inside = y > 0.0
        memory = Pressed(jnp.where(inside, ELASTIC, OFF) + zero, side, jnp.maximum(y, 0.0), zero, zero, zero, zero, zero, zero)
        if self.envelope is not None:
            if kept is not None:
                memory = memory._replace(largest=jnp.maximum(memory.largest, kept.largest), plastic=kept.plastic, buckled=kept.buckled)
                memory = _phase(memory, inside & (y <= kept.plastic), BEHIND)
            limit, _ = self._criterion(memory)
            k, c = self._elastic(memory)
            stretch = y - memory.plastic
            reached = k * stretch + jnp.where(self.included > 0.0, c * speed, 0.0) >= limit
            buckled = (memory.phase == ELASTIC) & reached
            yielding = self._yielding(memory, y, speed, at.a * side, at.jerk * side)
            memory = _where(buckled, yielding, memory)
        k, c = self._elastic(memory)
        pulls = (memory.phase == ELASTIC) & (k * (y - memory.plastic) + c * speed < 0.0)
        memory = memory._replace(phase=jnp.where(pulls, LIFTED, memory.phase))
        force = -side * self.force(memory, y).at(y, speed)
        return self._flags(memory, y, at.v, at.a + force / self.m), force

    def touched(self, memory: Pressed, at: Instant) -> Pressed:
        """The wall at t = 0 where a mass starts at rest at its face and is driven inwards: in contact, without an event at which v is 0.

        Args:
            memory: what `start` returned. at: the motion at release, with the acceleration under all forces.
        """
        first = (self.stands * at.x == self.gap) & (self.stands * at.a > 0.0)
        second = (self.two_sided > 0.0) & (-self.stands * at.x == self.gap) & (self.stands * at.a < 0.0)
        meets = (memory.phase == OFF) & (at.v == 0.0) & (first | second)
        side = jnp.where(first, self.stands, -self.stands)
        pressed = memory._replace(phase=jnp.where(meets, ELASTIC, memory.phase), side=jnp.where(meets, side, memory.side))
        return _where(meets, self._flags(pressed, jnp.zeros_like(at.x), at.v, at.a), memory)

    def _piece(self, X: Array) -> Array:
        """Piece of the envelope at X."""
        if self.envelope is None:
            return jnp.zeros_like(X)
        nodes = jnp.sum(X >= self.envelope.ends, axis=-1) if self.varying_damping else 0.0
        return jnp.where(X < self.envelope.u0, PLATEAU, jnp.where(X < self.envelope.u1, SOFTENING, BEYOND + nodes))

    def _yielding(self, memory: Pressed, y: Array, speed: Array, a: Array, jerk: Array) -> Pressed:
        """The wall where the force has just reached the criterion at compression `y` [m], whose first three derivatives are the others."""
        envelope = self.envelope
        if envelope is None:
            return memory
        _, under_limit = self._criterion(memory)
        included = self.included > 0.0
        largest = jnp.maximum(memory.largest, y)
        on_envelope = ~included | (y >= memory.largest)
        capped = included & (y < under_limit)
        phase = jnp.where(capped, CAPPED, jnp.where(on_envelope, YIELDING, RELOADED))
        plastic = jnp.maximum(0.0, jnp.where(included & ~capped & ~on_envelope, y - under_limit, envelope.plastic(largest)))
        plastic = jnp.where(capped, 0.0, plastic)
        # at rest or on the way out the wall is elastic at once
        goes = (speed > 0.0) | ((speed == 0.0) & ((a > 0.0) | ((a == 0.0) & (jerk > 0.0))))
        return memory._replace(
            phase=jnp.where(goes | capped, phase, ELASTIC),
            plastic=plastic,
            largest=jnp.where(capped, memory.largest, largest),
            piece=self._piece(memory.largest),  # where the force drops at u0 that is an event of its own
            buckled=jnp.ones_like(y),
        )

    def _flags(self, memory: Pressed, y: Array, v: Array, a: Array) -> Pressed:
        """The memory, its two flags set from velocity and acceleration."""
        speed, push = memory.side * v, memory.side * a
        force = self.force(memory, y)
        inward = (speed > 0.0) | ((speed == 0.0) & (push > 0.0))
        rising = force.stiffness * speed + force.damping * push >= 0.0
        return memory._replace(inward=jnp.where(inward, 1.0, 0.0), rising=jnp.where(rising, 1.0, 0.0))

    def plastic_set(self, memory: Pressed, x: Array) -> Array:
        """The present plastic set [m]. The memory holds its value at the last event."""
        if self.envelope is None:
            return jnp.zeros_like(x)
        y = self.compression(memory, x)
        yields = jnp.where(memory.phase == YIELDING, self.envelope.plastic(jnp.maximum(y, memory.largest)), memory.plastic)
        return jnp.maximum(0.0, jnp.where(memory.phase == RELOADED, y - self._criterion(memory)[1], yields))

    def energy(self, memory: Pressed, x: Array) -> Array:
        """Elastic energy of the wall [J]."""
        stretch = jnp.maximum(0.0, self.compression(memory, x) - self.plastic_set(memory, x))
        k, _ = self._elastic(memory)
        force = k * stretch
        if self.envelope is not None:  # where it yields the force is that of the envelope
            y = jnp.maximum(memory.largest, self.compression(memory, x))
            force = jnp.where(memory.phase == YIELDING, self.envelope.criterion(y), force)
        return 0.5 * force * stretch

    def reached(self, memory: Pressed, x: Array) -> Array:
        """The present largest compression of a buckled wall [m]. The memory holds its value at the last event."""
        return jnp.maximum(memory.largest, jnp.where(memory.phase == YIELDING, self.compression(memory, x), 0.0))

    def kept(self, memory: Pressed, x: Array) -> Kept | None:
        """What it remembers; None of an elastic stop."""
        return None if self.envelope is None else Kept(self.reached(memory, x), self.plastic_set(memory, x), memory.buckled)

    def refreshed(self, memory: Pressed, x: Array, v: Array, a: Array) -> Pressed:
        """The memory after another contact has changed velocity or acceleration."""
        return self._flags(memory, self.compression(memory, x), v, a)

    def transition(self, memory: Pressed, crossed: tuple[Array, ...], v0: Array, at: Instant) -> tuple[Pressed, Array, Array]:  # noqa: ARG002
        """The memory and the motion after an event (see `law.ContactLaw`)."""
        phase, first, second, third = memory.phase, *crossed[:3]
        enters = (phase == OFF) & (first | second)
        side = jnp.where(enters, jnp.where(first, self.stands, -self.stands), memory.side)
        here = memory._replace(side=side)
        y, speed, push = self.compression(here, at.x), side * at.v, side * at.a
        _, c = self._elastic(here)
        set_back = here.plastic > 0.0
        outside = jnp.where(set_back, BEHIND, OFF)

        after = _phase(here, enters, outside + 0.0 * y)
        after = _phase(after, enters & ~set_back, ELASTIC)
        after = _phase(after, (phase == LIFTED) & first, outside)
        after = _phase(after, (phase == LIFTED) & second & ~first, ELASTIC)
        loses = (phase == ELASTIC) & first
        after = _phase(after, loses, jnp.where(c > 0.0, LIFTED, outside))
        turns, extreme = (phase == ELASTIC) & second & ~first, third & ~first & ~second
        if self.envelope is not None:
            turns = turns | (phase == BEHIND) & extreme
        largest = jnp.where(turns | enters, jnp.maximum(here.largest, y), here.largest)
        jumps = enters
        v, lag = jnp.where(turns, 0.0, at.v), None
        if self.envelope is None:
            after = after._replace(largest=largest)
        else:
            envelope, fourth = self.envelope, crossed[3] & ~first & ~second & ~third
            limit, under_limit = self._criterion(here)
            after = _phase(after, (phase == BEHIND) & first, OFF)
            touches = (phase == BEHIND) & second & ~first
            after = _phase(after, touches, ELASTIC)
            yields = fourth & ((phase == ELASTIC) | (phase == BEHIND))
            at_once = enters & (self.included > 0.0) & (c * speed - here.plastic * self._elastic(here)[0] >= limit)
            after = _where(yields | at_once, self._yielding(here, jnp.where(enters, 0.0, y), speed, push, side * at.jerk), after)
            # the end of yielding: the largest compression and its plastic set stay
            stops = (phase == YIELDING) & first
            stopped = here._replace(phase=ELASTIC + 0.0 * y, largest=y, plastic=jnp.maximum(0.0, envelope.plastic(y)))
            after = _where(stops, stopped, after)
            goes_on = (phase == YIELDING) & second & ~first
            end = envelope.end_of(here.piece, self.varying_damping)
            ended = jnp.where(end == jnp.inf, y, end)
            following = jnp.where((here.piece == PLATEAU) & ~envelope.softens, BEYOND, here.piece + 1.0)
            after = _where(goes_on, here._replace(piece=following, largest=ended), after)
            reload_ends = (phase == RELOADED) & first
            after = _where(reload_ends, here._replace(phase=ELASTIC + 0.0 * y, plastic=jnp.maximum(0.0, y - under_limit)), after)
            reaches = (phase == RELOADED) & second & ~first
            after = _where(reaches, here._replace(phase=YIELDING + 0.0 * y, piece=self._piece(here.largest)), after)
            uncapped, caught = (phase == CAPPED) & first, (phase == CAPPED) & second & ~first
            grown = jnp.maximum(here.largest, y)
            after = _where(uncapped, here._replace(phase=ELASTIC + 0.0 * y, plastic=0.0 * y, largest=grown), after)
            virgin = under_limit >= here.largest
            beyond = jnp.where(virgin, jnp.maximum(here.largest, under_limit), here.largest)
            after = _where(
                caught, here._replace(phase=jnp.where(virgin, YIELDING, RELOADED), largest=beyond, piece=self._piece(here.largest)), after
            )
            v = jnp.where(stops | reload_ends, 0.0, v)
            jumps = enters | touches | (yields & (phase == BEHIND)) | goes_on
            # a softening of no width, whose derivative by its width is that of the mean force along it
            drops = goes_on & (here.piece == PLATEAU) & ~envelope.softens & (speed > 0.0)
            lag = jnp.where(drops, 0.5 * (envelope.u1 - envelope.u0) / jnp.where(drops, speed, 1.0), 0.0)
        leaves, home = (phase != OFF) & (after.phase == OFF), (phase == OFF) & third & ~first & ~second
        after = after._replace(returns=jnp.where(leaves & (self.gap > 0.0), 1.0, jnp.where(enters | home, 0.0, memory.returns)))
        edge = jnp.where(enters, 0.0, y)
        before_force = jnp.where(enters, 0.0, self.force(here, edge).at(y, speed))
        jump = self.force(after, edge).at(edge, speed) - before_force
        a = at.a - jnp.where(jumps, side * jump / self.m, 0.0)
        if lag is not None:
            less = side * jump / self.m * lag
            v, a = v + less, a - (at.drag + self.force(after, edge).damping) / self.m * less
        # where the force vanishes it is exactly 0: a remaining rounding error would act on the mass throughout its flight
        a = jnp.where(loses, (at.needed - at.drag * v) / self.m, a)
        flagged = self._flags(after, edge, v, a)
        # at an extreme of the force only that flag changes: both rates are rounding errors there
        extreme = extreme & ((phase == ELASTIC) | (phase == YIELDING))
        after = after._replace(
            inward=jnp.where(turns, 1.0 - memory.inward, jnp.where(after.phase == phase, memory.inward, flagged.inward)),
            rising=jnp.where(
                extreme, 1.0 - memory.rising, jnp.where((after.phase == phase) & (after.piece == here.piece), memory.rising, flagged.rising)
            ),
        )
        return after, v, a

    def rest(self, memory: Pressed, at: Instant) -> tuple[Pressed, Array, Array]:
        """Unchanged: events of springs and dampers do not accumulate."""
        return memory, at.v, at.a

    def kind(self, memory: Pressed, crossed: tuple[Array, ...], after: Pressed) -> Array:
        """Position of the event in `kinds`."""
        same = after.phase == memory.phase
        code = jnp.where(same & (after.rising != memory.rising), 10.0, 0.0)
        code = jnp.where(same & (after.returns < memory.returns), 11.0, code)
        code = jnp.where(same & (after.inward != memory.inward), 9.0, code)
        code = jnp.where(same & (after.piece != memory.piece), 8.0, code)
        yields = (after.phase == YIELDING) | (after.phase == RELOADED) | (after.phase == CAPPED)
        did = (memory.phase == YIELDING) | (memory.phase == RELOADED) | (memory.phase == CAPPED)
        code = jnp.where(did & ~yields, 7.0, code)
        code = jnp.where(~same & yields & ~did, 6.0, code)
        code = jnp.where(after.buckled > memory.buckled, 5.0, code)
        pressed, was = after.phase >= ELASTIC, memory.phase >= ELASTIC
        code = jnp.where(~was & pressed & (memory.phase != OFF) & ~yields, 4.0, code)
        code = jnp.where(~was & ~pressed & (after.phase == OFF) & (memory.phase != OFF), 3.0, code)
        code = jnp.where(was & ~pressed, 2.0, code)
        code = jnp.where((memory.phase == OFF) & (after.phase != OFF), 1.0, code)
        return jnp.where(functools.reduce(operator.or_, crossed), code, 0.0)


def _phase(memory: Pressed, mask: Array, phase: Array | float) -> Pressed:
    """The memory with another phase where the mask holds."""
    return memory._replace(phase=jnp.where(mask, phase, memory.phase))


def _where(mask: Array, one: Pressed, other: Pressed) -> Pressed:
    """`one` where the mask holds, else `other`."""
    return Pressed(*(jnp.where(mask, a, b) for a, b in zip(one, other, strict=True)))
