"""When a contact of a structure changes its phase (off, stuck, slipping), and its state after that.

A Runge-Kutta step keeps the phases that it begins with (`ImpactSliding.evaluate`), so that its forces are smooth and its error estimate
holds. A margin [N] says how far a contact is from the next phase, and is below 0 beyond it:

- off: minus the smaller of k_n p and k_n p + c_n p'; pressed: the smaller of k_n p and k_n p + c_n p';
- stuck: mu_s F_n less the force that spring and damper bear;
- slipping: what the anchor moves in a step, times k_t; with "stored force" what the point moves against the friction force.

Source: the law in `impact_sliding`; `test_structure_tolerance.py` and `test_contact_power.py` in tests/kernels/stepping,
against integrations phase by phase.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, Vector, across, scalar, size
from tribosweep.kernels.models.supports import RING, STORED_FORCE
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import moved_with

_LEAST = 1.2e-38  # normal force [N] of a contact that is pressed, where rounding leaves none


class Margins(NamedTuple):
    """Margins of G contacts: of the normal force, and of friction (inf where it has no phases) [N]. sliding: speed of the anchor [m/s]."""

    normal: Array
    friction: Array
    sliding: Array

    @property
    def least(self) -> Array:
        """The smaller margin; that of the normal force where it is below 0, as friction has no meaning there."""
        return jnp.where(self.normal < 0.0, self.normal, jnp.minimum(self.normal, self.friction))

    @property
    def leaves(self) -> Array:
        """Whether `least` is that of the normal force."""
        return (self.normal < 0.0) | (self.normal <= self.friction)


def pressed(touch: Touch) -> Array:
    """Where the phase of a state is stuck or slipping."""
    return touch.normal > 0.0


def margins(group: ImpactSliding, memory: Touch, now: Touch, velocity: Vector, acceleration: Vector, h: Array) -> Margins:
    """Margins of a contact in the phase of its `memory`.

    Args:
        now: evaluated in that phase. velocity, acceleration: of the point along the axes [m/s], [m/s^2]. h: length of the step [s].
    """
    inside = jnp.where(group.k_n > 0.0, group.k_n, 1.0) * now.depth
    least = jnp.minimum(inside, now.pull)
    presses = pressed(memory)
    normal = jnp.where(presses, least, -least)
    none = jnp.full_like(normal, jnp.inf)
    if not group.tangents:
        return Margins(normal, none, 0.0 * normal)
    _, stiffening, speed, quickening = rates(group, now, velocity, acceleration)
    ahead = _ahead(now, speed)
    drive = scalar(ahead, tuple(group.k_t * v + group.c_t * a for v, a in zip(speed, quickening, strict=True)))
    sliding = (drive - group.mu_d * stiffening) / group.k_t
    moves = scalar(ahead, speed) if group.kind.law == STORED_FORCE else sliding
    slips = memory.slips > 0.5
    stays = jnp.where(group.mu_s > 0.0, moves * group.k_t * h, none)  # without friction slip never ends
    holds = group.mu_s * now.normal - size(now.tangential, normal)
    return Margins(normal, jnp.where(presses, jnp.where(slips, stays, holds), none), jnp.where(presses & slips, sliding, 0.0))


def rates(group: ImpactSliding, now: Touch, velocity: Vector, acceleration: Vector) -> tuple[Array, Array, Vector, Vector]:
    """Outward acceleration p'' [m/s^2], rate of k_n p + c_n p' [N/s], tangential velocities and accelerations."""
    if group.kind.obstacle == RING:
        first, second = (along - centre for along, centre in zip(now.place[:2], group.centre[:2], strict=True))
        radius = size((first, second), first)
        by_radius = 1.0 / jnp.where(radius > 0.0, radius, 1.0)
        first, second = first * by_radius, second * by_radius
        around = across((first, second), velocity)
        outward = first * acceleration[0] + second * acceleration[1] + around * around * by_radius
        turning = across((first, second), acceleration) - now.rate * around * by_radius
        speed, quickening = (around, *velocity[2:]), (turning, *acceleration[2:])
    else:
        away, clear = now.place[0] - group.centre[0], now.depth + group.gap
        side = jnp.where(jnp.abs(away - clear) <= jnp.abs(away + clear), 1.0, -1.0)
        outward, speed, quickening = side * acceleration[0], velocity[1:], acceleration[1:]
    return outward, group.k_n * now.rate + group.c_n * outward, speed, quickening


def _ahead(now: Touch, speed: Vector) -> Vector:
    """The direction in which the anchor moves: against the friction force, or without one along the velocity."""
    bears = size(now.tangential, now.normal) > 0.0
    drawn = tuple(jnp.where(bears, -force, v) for force, v in zip(now.tangential, speed, strict=True))
    length = size(drawn, now.normal)
    by_length = 1.0 / jnp.where(length > 0.0, length, 1.0)
    return tuple(each * by_length for each in drawn)


def changed(group: ImpactSliding, memory: Touch, now: Touch, velocity: Vector, acceleration: Vector, h: Array, changes: Array) -> Touch:
    """The state `now` at the end of a step in the phase of its `memory`, with the next phase where it `changes`.

    Forces are those of the state before; evaluate it once more, with the phases kept.
    """
    margin = margins(group, memory, now, velocity, acceleration, h)
    was, slipped = pressed(memory), memory.slips > 0.5
    leaves = changes & was & margin.leaves
    enters, turns = changes & ~was, changes & was & ~leaves
    presses = enters | (was & ~leaves)
    slips = presses & jnp.where(enters, _slides_at_once(group, now, velocity, acceleration), jnp.where(turns, ~slipped, slipped))
    kept = presses & ~enters
    return now._replace(
        normal=jnp.where(presses, jnp.maximum(now.normal, _LEAST), 0.0),
        tangential=tuple(jnp.where(kept & slipped & slips, force, 0.0) for force in now.tangential),
        elongation=tuple(jnp.where(kept, spring, 0.0) for spring in now.elongation),
        slips=choice(slips, 1.0, 0.0, now.normal),
    )


def remembered(before: Touch, after: Touch) -> Touch:
    """The state `after` an evaluation in the phase of the state `before`, whose phase rounding may not change."""
    return after._replace(normal=jnp.where(pressed(before), jnp.maximum(after.normal, _LEAST), 0.0))


def _slides_at_once(group: ImpactSliding, now: Touch, velocity: Vector, acceleration: Vector) -> Array:
    """Whether a contact that begins slips from its beginning on."""
    if not group.tangents:
        return now.pull > jnp.inf
    _, stiffening, speed, _ = rates(group, now, velocity, acceleration)
    quick = size(speed, now.normal)
    # an entry is where p is least, and the damper pushes at once; else the contact begins where the wall ceases to pull
    entry = group.k_n * now.depth <= now.pull
    normal = jnp.where(entry, group.c_n * jnp.maximum(now.rate, 0.0), 0.0)
    limit, bears = group.mu_s * normal, group.c_t * quick
    none = (limit == 0.0) & (bears == 0.0)
    return (bears > limit) | (none & (group.k_t * quick > group.mu_s * stiffening)) | (group.mu_s == 0.0)


def held(group: ImpactSliding, now: Touch, velocity: Vector, acceleration: Vector) -> Touch:
    """The state at the start of a step: what slips sticks if its anchor would go back."""
    if not group.tangents:
        return now
    stops = margins(group, now, now, velocity, acceleration, jnp.ones_like(now.normal)).friction < 0.0
    return now._replace(slips=jnp.where((now.slips > 0.5) & stops, 0.0, now.slips))


def begun(group: ImpactSliding, before: Touch, now: Touch, velocity: Vector, accelerations: tuple[Vector, Vector], late: Array) -> Touch:
    """The state at the start of a step, as `held` has it, whose springs follow how that instant moves.

    At it phases change, and accelerations too. A spring that begins to hold, or whose anchor stops, holds from that instant on.

    Args:
        before, now: evaluated in the phases before and after. velocity: of the point along the axes [m/s].
        accelerations: before and after [m/s^2]. late: how the instant moves [s]: 0, with a derivative.
    """
    if not group.tangents:
        return now
    stuck = held(group, now, velocity, accelerations[1])
    starts = pressed(now) & ~pressed(before) & (now.slips < 0.5)
    stops = (now.slips > 0.5) & (stuck.slips < 0.5)
    speeds, drawn = rates(group, now, velocity, accelerations[0])[2], anchor(group, now, velocity, accelerations[0])
    ways = (jnp.where(stops, one, jnp.where(starts, other, 0.0)) for one, other in zip(drawn, speeds, strict=True))
    springs = zip(now.elongation, ways, strict=True)
    return stuck._replace(elongation=tuple(moved_with(spring, -jax.lax.stop_gradient(way) * late) for spring, way in springs))


def anchor(group: ImpactSliding, now: Touch, velocity: Vector, acceleration: Vector) -> Vector:
    """Velocity of the anchor of a contact that slips in one direction [m/s]."""
    _, stiffening, speed, quickening = rates(group, now, velocity, acceleration)
    drag = 0.0 if group.kind.law == STORED_FORCE else group.c_t  # elongations leave out the damper there
    eases = group.mu_d * stiffening
    return tuple(v + (drag * a - eases * way) / group.k_t for v, a, way in zip(speed, quickening, _ahead(now, speed), strict=True))
