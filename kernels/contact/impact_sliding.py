"""Impact and sliding at one contact: the normal force of a penalty drives the friction, with one or two tangential directions.

A group of supports of one kind is computed at once: arrays (G,) have one entry for each support, or (G, lanes) where many structures run
side by side. Vectors are tuples with one such array for each axis. The first axis of a plane is its normal; a ring lies in the plane of the
first two axes. Forces act on the structure.

Normal: with the penetration p, F_n = max(0, k_n p + c_n p') where p >= 0, and 0 elsewhere: at p = 0 the damper acts on a point that moves
in. Where a point lies on both of two planes, or in the middle of a ring without clearance, it touches the side to which it moves.

Tangential, "return mapping": a spring's elongation e grows by the tangential way while there is contact, in a ring along the arc.
T = -(k_t e + c_t v_t) holds while |T| <= mu_s F_n (mu_d F_n while it slips). Beyond, |T| = mu_d F_n in the same direction, and
e = -(T + c_t v_t) / k_t: the anchor of the spring follows. Without normal force e = 0 and T = 0.

Tangential, "stored force": the law of one oscillator (`penalised`) with the present normal force. Slip goes on at -mu_d F_n v_t / |v_t|
while v_t keeps its direction; otherwise a spring that starts from the force of the last slip holds up to mu_s F_n. Where F_n falls
it may let a loaded spring push the mass on; it is here for comparison with the tool that SDND104 validates.

Source: the ruling on contacts whose normal force varies in the project's notes on physics, section 8, copied in docs/how-to/structures.md.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.penalised import SLIP_SPEED_FLOOR
from tribosweep.kernels.models.supports import PLANE, RING, STORED_FORCE, ContactKind
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, choice

Vector = tuple[Array, ...]  # along each axis


class Touch(NamedTuple):
    """State of G supports with A axes, of which T are tangential, after an evaluation. Numbers are (G,), vectors tuples of them.

    Attributes:
        depth: penetration, negative off the support [m]. pull: k_n p + c_n p' [N], of any sign. normal: F_n [N].
        tangential: friction force along the T axes [N]. elongation: of the spring [m], T.
        slips: 1 where it slips, else 0. rate: p' [m/s]. speed: |v_t| [m/s].
        place: of the point along the A axes [m]. force: along them, on the structure [N].
        way: tangential way in contact since the start of the step [m], T; see `anew`.
    """

    depth: Array
    pull: Array
    normal: Array
    tangential: Vector
    elongation: Vector
    slips: Array
    rate: Array
    speed: Array
    place: Vector
    force: Vector
    way: Vector

    def enters(self, after: Touch) -> Array:
        """Whether a step makes contact (G,), also where the point comes to the face just at its end: a damper pushes it there.

        `after`: the state at the end of the step, this one being that at its start.
        """
        return (self.depth < 0.0) & (after.depth >= 0.0)


def size(vector: Vector, like: Array) -> Array:
    """Length of a vector; its derivative at 0 is 0. `like`: an array of the shape of the result, which is 0 of a vector without axes."""
    if not vector:
        return 0.0 * like
    if len(vector) == 1:
        return jnp.abs(vector[0])
    square = scalar(vector, vector)
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)


def scalar(one: Vector, other: Vector) -> Array:
    """The scalar product of two vectors with at least one axis."""
    total = one[0] * other[0]
    for first, second in zip(one[1:], other[1:], strict=True):
        total = total + first * second
    return total


def across(outward: Vector, vector: Vector) -> Array:
    """The cross product (G,) of two vectors in the plane of a ring, in the product of their units.

    With a unit vector `outward` it is the part of `vector` around the ring.
    """
    return outward[0] * vector[1] - outward[1] * vector[0]


def anew(touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
    """The states at the start of a step."""
    return tuple(touch._replace(way=tuple(jnp.zeros_like(way) for way in touch.way)) for touch in touches)


class ImpactSliding(NamedTuple):
    """G supports of one kind.

    Attributes:
        kind: what they have in common (compile-time).
        gap, k_n, c_n, mu_s, mu_d, k_t, c_t: parameters, (G,) each.
        centre: of the clearance along the axes [m]; 0 along the third.
    """

    kind: ContactKind
    gap: Array
    k_n: Array
    c_n: Array
    mu_s: Array
    mu_d: Array
    k_t: Array
    c_t: Array
    centre: Vector

    @property
    def tangents(self) -> int:
        """Number of tangential axes."""
        return self.kind.axes - 1

    def untouched(self) -> Touch:
        """The state before the first evaluation: nothing is remembered."""
        none = 0.0 * self.gap
        along, axes = (none,) * self.tangents, (none,) * self.kind.axes
        return Touch(none, none, none, along, along, none, none, none, axes, axes, along)

    def evaluate(
        self, memory: Touch, place: Vector, moved: Vector, velocity: Vector, keeps: Array | None = None, arc: Array | None = None
    ) -> tuple[Vector, Touch]:
        """One evaluation.

        Args:
            memory: of the last evaluation, or at the start of the step. place, velocity: of the points along the axes [m], [m/s].
            moved: displacement since the instant of the memory [m].
            keeps: where True, the contact keeps the phase of the memory (off, stuck, or slipping in that direction), whatever forces that
                takes, so that they are smooth; None for nowhere. See `phases`.
            arc: way around a ring since the instant of the memory [m]; None: that of the mean radius, in error by the cube of the way.

        Returns:
            The forces along the axes on the structure [N], and the state if the step is accepted.
        """
        centred = tuple(along - centre for along, centre in zip(place, self.centre, strict=True))
        depth, rate, outward, ways, tangential_speed = self._geometry(memory, centred, moved, velocity, keeps)
        pull = self.k_n * depth + self.c_n * rate
        normal = jnp.where(depth >= 0.0, jnp.maximum(pull, 0.0), 0.0)
        if keeps is not None:
            normal = jnp.where(keeps, jnp.where(memory.normal > 0.0, pull, 0.0), normal)
        depth, rate, normal = fusion_barrier(depth, rate, normal)
        pressed = normal > 0.0
        # a step that begins off the support slides only from its entry on
        entering = (memory.depth < 0.0) & pressed
        if keeps is not None:
            pressed, entering = jnp.where(keeps, memory.normal > 0.0, pressed), entering & ~keeps
        part = jnp.where(pressed, jnp.where(entering, depth / jnp.where(entering, depth - memory.depth, 1.0), 1.0), 0.0)
        way = tuple(part * each for each in (ways if arc is None else (arc, *ways[1:])))
        if way:
            way = fusion_barrier(*way)
        tangential, elongation, slips = self._friction(memory, normal, pressed, way, tangential_speed, keeps)
        force = self.forces(normal, tangential, outward)
        total = tuple(before + each for before, each in zip(memory.way, way, strict=True))
        speed = size(tangential_speed, normal)
        return force, Touch(depth, pull, normal, tangential, elongation, slips, rate, speed, place, force, total)

    def around(self, place: Vector, velocity: Vector) -> Array:
        """Velocity around a ring [m/s] at a place [m]."""
        toward = tuple(along - centre for along, centre in zip(place[:2], self.centre[:2], strict=True))
        radius = size(toward, toward[0])
        return across(toward, velocity) / jnp.where(radius > 0.0, radius, 1.0)

    def _geometry(
        self, memory: Touch, place: Vector, moved: Vector, velocity: Vector, keeps: Array | None
    ) -> tuple[Array, Array, Vector, Vector, Vector]:
        """Penetration, its rate, the outward direction along one or two axes, tangential ways and velocities."""
        if self.kind.obstacle == RING:
            radius, before = size(place[:2], place[0]), memory.depth + self.gap  # before the way: of the memory's instant
            (radius,) = fusion_barrier(radius)
            # in the very middle the point is on its way to where it moves
            off = radius > 0.0
            quick = size(velocity[:2], radius)
            toward, along = (jnp.where(off, of_place, of_speed) for of_place, of_speed in zip(place[:2], velocity[:2], strict=True))
            length = jnp.where(off, radius, quick)
            by_length = 1.0 / jnp.where(length > 0.0, length, 1.0)
            first, second = jnp.where(length > 0.0, toward * by_length, 1.0), along * by_length
            first, second = fusion_barrier(first, second)
            # the sine of the angle about the centre is |before x place| / (before radius)
            sine = jnp.clip(across((first, second), moved) / jnp.where(before > 0.0, before, 1.0), -1.0, 1.0)
            angle = sine * (1.0 + sine * sine * (1.0 / 6.0 + sine * sine * (3.0 / 40.0)))  # arcsine of a small angle
            arc = 0.5 * (radius + before) * angle
            rate = first * velocity[0] + second * velocity[1]
            (around,) = fusion_barrier(across((first, second), velocity))
            return radius - self.gap, rate, (first, second), (arc, *moved[2:]), (around, *velocity[2:])
        away, speed = place[0], velocity[0]
        left = (away < 0.0) | ((away == 0.0) & (speed < 0.0))
        if keeps is not None and self.kind.obstacle != PLANE:  # what is pressed stays on its side
            was = memory.place[0] - self.centre[0]
            left = jnp.where(keeps & (memory.normal > 0.0) & (was != 0.0), was < 0.0, left)
        side = jnp.ones_like(away) if self.kind.obstacle == PLANE else choice(left, -1.0, 1.0, away)
        return side * away - self.gap, side * speed, (side,), moved[1:], velocity[1:]

    def _friction(
        self, memory: Touch, normal: Array, pressed: Array, way: Vector, speed: Vector, keeps: Array | None
    ) -> tuple[Vector, Vector, Array]:
        """Friction force and elongation along the tangential axes, and whether it slips."""
        if not self.tangents:
            return way, way, 0.0 * normal
        elongation = tuple(jnp.where(pressed, before + each, 0.0) for before, each in zip(memory.elongation, way, strict=True))
        held = memory.slips < 0.5
        trial = fusion_barrier(*(-(self.k_t * spring + self.c_t * each) for spring, each in zip(elongation, speed, strict=True)))
        length = size(trial, normal)
        sliding = self.mu_d * normal
        if self.kind.law == STORED_FORCE:
            on = scalar(speed, memory.tangential) < 0.0
            quick = size(speed, normal)
            on = ~held & on & (quick > SLIP_SPEED_FLOOR)
            slips = pressed & (on | (length > self.mu_s * normal))
            if keeps is not None:
                slips = jnp.where(keeps, pressed & ~held, slips)
            still = quick > 0.0
            by_quick, by_length = 1.0 / jnp.where(still, quick, 1.0), 1.0 / jnp.where(length > 0.0, length, 1.0)
            force = tuple(
                jnp.where(slips, sliding * jnp.where(still, -each * by_quick, along * by_length), jnp.where(pressed, along, 0.0))
                for each, along in zip(speed, trial, strict=True)
            )
            force = self._lasting(memory, sliding, slips, force, keeps)
            stretched = tuple(jnp.where(slips, -along / self.k_t, spring) for along, spring in zip(force, elongation, strict=True))
            return force, stretched, choice(slips, 1.0, 0.0, normal)
        beyond = pressed & (length > jnp.where(held, self.mu_s, self.mu_d) * normal)
        slides = choice(beyond if keeps is None else jnp.where(keeps, pressed & ~held, beyond), 1.0, 0.0, normal)
        (slides,) = fusion_barrier(slides)
        slips = slides > 0.5
        long = slips if keeps is None else slips & (length > 0.0)
        scale = jnp.where(slips, sliding / jnp.where(long, length, 1.0), jnp.where(pressed, 1.0, 0.0))
        force = fusion_barrier(*self._lasting(memory, sliding, slips, tuple(along * scale for along in trial), keeps))
        by_k = 1.0 / self.k_t
        stretched = tuple(
            jnp.where(slips, -(along + self.c_t * each) * by_k, spring)
            for along, each, spring in zip(force, speed, elongation, strict=True)
        )
        return force, stretched, slides

    def _lasting(self, memory: Touch, sliding: Array, slips: Array, force: Vector, keeps: Array | None) -> Vector:
        """The friction force; along one axis, a slip that is kept goes on in its direction."""
        if keeps is None or self.tangents != 1:
            return force
        (was,), (now,) = memory.tangential, force
        goes_on = keeps & slips & (memory.slips > 0.5) & (was != 0.0)
        return (jnp.where(goes_on, jnp.where(was > 0.0, sliding, -sliding), now),)

    def forces(self, normal: Array, tangential: Vector, outward: Vector) -> Vector:
        """Forces along the axes of the support [N]."""
        if self.kind.obstacle != RING:
            return (-outward[0] * normal, *tangential)
        (first, second), arc = outward, tangential[0]
        return (-first * normal - second * arc, first * arc - second * normal, *tangential[1:])
