"""Impact and sliding at one contact: the normal force of a penalty drives the friction, with one or two tangential directions.

A group of supports of one kind is computed at once: arrays have the supports in front and the axes of a support last. The first axis of a
plane is its normal; a ring lies in the plane of the first two axes. Forces act on the structure.

Normal: with the penetration p, F_n = max(0, k_n p + c_n p') where p > 0, and 0 elsewhere.

Tangential, "return mapping": a spring's elongation e grows by the tangential way while there is contact, in a ring along the arc.
T = -(k_t e + c_t v_t) holds while |T| <= mu_s F_n (mu_d F_n while it slips). Beyond, |T| = mu_d F_n in the same direction, and
e = -(T + c_t v_t) / k_t: the anchor of the spring follows. Without normal force e = 0 and T = 0.

Tangential, "stored force": the law of one oscillator (`penalised`) with the present normal force. Slip goes on at -mu_d F_n v_t / |v_t|
while v_t keeps its direction; otherwise a spring that starts from the force of the last slip holds up to mu_s F_n. Where F_n falls
it may let a loaded spring push the mass on; it is here for comparison with the tool that SDND104 validates.

Source: the ruling on contacts whose normal force varies in the project's notes on physics, section 8, copied in docs/structures.md.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.contact.penalised import SLIP_SPEED_FLOOR
from kernels.models.supports import PLANE, RING, STORED_FORCE, ContactKind
from kernels.numerics.numbers import Array, choice


class Touch(NamedTuple):
    """State of G supports with T tangential axes after an evaluation.

    Attributes:
        depth: penetration, negative off the support [m], (G,). pull: k_n p + c_n p' [N], of any sign, (G,). normal: F_n [N], (G,).
        tangential: friction force along the tangential axes [N], (G, T). elongation: of the spring [m], (G, T).
        slips: 1 where it slips, else 0, (G,). rate: p' [m/s], (G,). speed: |v_t| [m/s], (G,).
        place: of the point along the axes [m], (G, A). force: along the axes, on the structure [N], (G, A).
        way: tangential way in contact since the start of the step [m], (G, T); see `anew`.
    """

    depth: Array
    pull: Array
    normal: Array
    tangential: Array
    elongation: Array
    slips: Array
    rate: Array
    speed: Array
    place: Array
    force: Array
    way: Array


def size(vector: Array) -> Array:
    """Length of a vector along the last axis; its derivative at 0 is 0."""
    square = jnp.sum(vector * vector, axis=-1)
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)


def anew(touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
    """The states at the start of a step."""
    return tuple(touch._replace(way=0.0 * touch.way) for touch in touches)


class ImpactSliding(NamedTuple):
    """G supports of one kind.

    Attributes:
        kind: what they have in common (compile-time).
        gap, k_n, c_n, mu_s, mu_d, k_t, c_t: parameters, (G,) each.
        centre: of the clearance along the axes [m], (G, A); 0 along the third.
    """

    kind: ContactKind
    gap: Array
    k_n: Array
    c_n: Array
    mu_s: Array
    mu_d: Array
    k_t: Array
    c_t: Array
    centre: Array

    @property
    def tangents(self) -> int:
        """Number of tangential axes."""
        return self.kind.axes - 1

    def untouched(self) -> Touch:
        """The state before the first evaluation: nothing is remembered."""
        none = 0.0 * self.gap
        along = jnp.zeros((*self.gap.shape, self.tangents), self.gap.dtype) + none[..., None]
        axes = jnp.zeros((*self.gap.shape, self.kind.axes), self.gap.dtype) + none[..., None]
        return Touch(none, none, none, along, along, none, none, none, axes, axes, along)

    def evaluate(self, memory: Touch, place: Array, moved: Array, velocity: Array) -> tuple[Array, Touch]:
        """One evaluation.

        Args:
            memory: of the last evaluation, or at the start of the step. place, velocity: of the points along the axes [m], [m/s], (G, A).
            moved: displacement since the instant of the memory [m], (G, A).

        Returns:
            The forces along the axes on the structure [N], (G, A), and the state if the step is accepted.
        """
        depth, rate, outward, ways, tangential_speed = self._geometry(place - self.centre, moved, velocity)
        pull = self.k_n * depth + self.c_n * rate
        normal = jnp.where(depth > 0.0, jnp.maximum(pull, 0.0), 0.0)
        pressed = normal > 0.0
        # a step that begins off the support slides only from its entry on
        entering = memory.depth < 0.0
        part = jnp.where(entering & pressed, depth / jnp.where(entering & pressed, depth - memory.depth, 1.0), 1.0)
        way = jnp.where(pressed[..., None], part[..., None] * ways, 0.0)
        tangential, elongation, slips = self._friction(memory, normal, pressed, way, tangential_speed)
        force = self._forces(normal, tangential, outward)
        return force, Touch(
            depth, pull, normal, tangential, elongation, slips, rate, size(tangential_speed), place, force, memory.way + way
        )

    def _geometry(self, place: Array, moved: Array, velocity: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Penetration, its rate, the outward direction (G,) or (G, 2), tangential ways and velocities (G, T)."""
        if self.kind.obstacle == RING:
            flat, speeds, before = place[..., :2], velocity[..., :2], (place - moved)[..., :2]
            radius, radius_before = size(flat), size(before)
            safe = jnp.where(radius > 0.0, radius, 1.0)
            first = jnp.where(radius > 0.0, flat[..., 0] / safe, 1.0)
            second = flat[..., 1] / safe
            turned = before[..., 0] * flat[..., 1] - before[..., 1] * flat[..., 0]
            product = radius * radius_before
            sine = jnp.clip(turned / jnp.where(product > 0.0, product, 1.0), -1.0, 1.0)
            angle = sine * (1.0 + sine * sine * (1.0 / 6.0 + sine * sine * (3.0 / 40.0)))  # arcsine of a small angle
            arc = 0.5 * (radius + radius_before) * angle
            rate = first * speeds[..., 0] + second * speeds[..., 1]
            around = first * speeds[..., 1] - second * speeds[..., 0]
            ways = jnp.concatenate([arc[..., None], moved[..., 2:]], axis=-1)
            slides = jnp.concatenate([around[..., None], velocity[..., 2:]], axis=-1)
            return radius - self.gap, rate, jnp.stack([first, second], axis=-1), ways, slides
        across, speed = place[..., 0], velocity[..., 0]
        side = jnp.ones_like(across) if self.kind.obstacle == PLANE else choice(across < 0.0, -1.0, 1.0, across)
        return side * across - self.gap, side * speed, side, moved[..., 1:], velocity[..., 1:]

    def _friction(self, memory: Touch, normal: Array, pressed: Array, way: Array, speed: Array) -> tuple[Array, Array, Array]:
        """Friction force and elongation (G, T), and whether it slips (G,)."""
        if not self.tangents:
            return way, way, 0.0 * normal
        elongation = jnp.where(pressed[..., None], memory.elongation + way, 0.0)
        held = memory.slips < 0.5
        k_t, c_t = self.k_t[..., None], self.c_t[..., None]
        trial = -(k_t * elongation + c_t * speed)
        length = size(trial)
        sliding = self.mu_d * normal
        if self.kind.law == STORED_FORCE:
            on = jnp.sum(speed * memory.tangential, axis=-1) < 0.0
            quick = size(speed)
            on = ~held & on & (quick > SLIP_SPEED_FLOOR)
            slips = pressed & (on | (length > self.mu_s * normal))
            still = quick > 0.0
            direction = jnp.where(
                still[..., None],
                -speed / jnp.where(still, quick, 1.0)[..., None],
                trial / jnp.where(length > 0.0, length, 1.0)[..., None],
            )
            force = jnp.where(slips[..., None], sliding[..., None] * direction, jnp.where(pressed[..., None], trial, 0.0))
            return force, jnp.where(slips[..., None], -force / k_t, elongation), choice(slips, 1.0, 0.0, normal)
        slips = pressed & (length > jnp.where(held, self.mu_s, self.mu_d) * normal)
        scale = jnp.where(slips, sliding / jnp.where(slips, length, 1.0), 1.0)
        force = jnp.where(pressed[..., None], trial * scale[..., None], 0.0)
        return force, jnp.where(slips[..., None], -(force + c_t * speed) / k_t, elongation), choice(slips, 1.0, 0.0, normal)

    def _forces(self, normal: Array, tangential: Array, outward: Array) -> Array:
        """Forces along the axes of the support [N], (G, A)."""
        if self.kind.obstacle != RING:
            return jnp.concatenate([(-outward * normal)[..., None], tangential], axis=-1)
        first, second, arc = outward[..., 0], outward[..., 1], tangential[..., 0]
        return jnp.concatenate(
            [(-first * normal - second * arc)[..., None], (-second * normal + first * arc)[..., None], tangential[..., 1:]], axis=-1
        )
