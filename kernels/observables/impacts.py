"""Shock: impacts on a wall with their forces, times and velocities, in the window, and what happened first in the run.

An impact begins when the mass comes deeper into the wall than a least depth, and is over when it is farther out than that. The depth is the
part OF_DEEPEST of the largest compression of the run so far, plus what rounding may decide (`rounded`). A mass that only touches the face
has no impact, and one that comes back to the face without leaving it goes on with the same impact. A contact that begins before the run, at
rest or on the way out at t = 0, is no impact. All engines and schemes, and the list of single impacts (`time_history.impacts`), count the
impacts of walls by `update`; supports of structures have the same rules in `visited`.

A scheme of order 1 or 2 with straight lines does not resolve what lasts STEPS steps or less. So what would be over after STEPS steps under
the force on a mass just outside the wall does not count: an excursion that ends no impact, and a mass that comes in no deeper and no faster
than that (`unresolved`). Where steps follow a tolerance, an excursion ends an impact only beyond the tolerance times the largest
displacement so far; at a support of a structure, times its |gap| plus its largest penetration so far.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array, by_width, choice
from tribosweep.kernels.observables.push import Push, Unresolved

SUMMED = ("contact_time", "impulse")  # sums of many small numbers, which float32 runs sum in two levels
OF_DEEPEST = 1e-6
ROUNDED = (1e-12, 1e-6)  # of the length of a row, in float64 and in float32
STEPS = 4.0  # what lasts no longer is not resolved by straight lines


def rounded(p: dict[str, Any], gap: Array) -> Array:
    """The depth [m] that rounding may decide in a row with these parameters: a small part of its length.

    The length is |gap| + |x0| + |v0| / W + (m |a0| + |f0| + |load|) / (m W^2) with W^2 = omega^2 + k / m.
    """
    square = p["omega"] ** 2 + p["k"] / p["m"]
    force = p["m"] * jnp.abs(p.get("a0", 0.0)) + jnp.abs(p["load"]) + jnp.abs(p.get("f0", 0.0))  # tones and pulses may lack a sine
    length = jnp.abs(gap) + jnp.abs(p["x0"]) + jnp.abs(p["v0"]) / jnp.sqrt(square) + force / (p["m"] * square)
    depth: Array = by_width(length, *ROUNDED) * length
    return depth


class Shock(NamedTuple):
    """Sums over the window, and first events of the run. Times and velocities are NaN until their event has happened.

    Attributes:
        first_time, first_velocity: of the first contact of the run [s], [m/s].
        buckling_time: when the force first reached the criterion in the run [s].
        away: 1 from where the mass leaves the wall until it is back at x = 0, else 0.
        held: +1 or -1 during an impact on the first or the second of two sides, else 0. deepest: largest compression of the run so far [m].
        impacts: number of impacts. peak: largest force [N]. contact_time: time with a force [s]. impulse: integral of the force [N s].
        compression: largest compression [m]. rebound, separation: velocity [m/s] and time [s] when the force last came to 0.
        left: when the mass last left the wall [s]. returned: when it last came back through x = 0 after that [s].
    """

    first_time: Array
    first_velocity: Array
    buckling_time: Array
    away: Array
    held: Array
    deepest: Array
    impacts: Array
    peak: Array
    contact_time: Array
    impulse: Array
    compression: Array
    rebound: Array
    separation: Array
    left: Array
    returned: Array
    unresolved: Unresolved | None = None


def unresolved(change: Array, h: Array, was: Unresolved | None = None, outside: Array | None = None) -> Unresolved:
    """What a scheme of straight lines does not resolve from a step on; numbers of a wall, or (G,) of the supports of a group.

    Under an even force an excursion that lasts STEPS steps begins with half the velocity that changes in that time, and comes a quarter of
    that time that far.

    Args:
        change: change of the velocity in the step [m/s], with any sign. h: length of the step [s].
        was: before the step, where steps are chosen. outside: whether the step ends outside the wall; within it nothing changes then.
    """
    speed = 0.5 * STEPS * jax.lax.stop_gradient(jnp.abs(change))
    way = 0.25 * STEPS * h * speed
    if was is None or outside is None:
        return Unresolved(way, speed)
    return Unresolved(jnp.where(outside, way, was.way), jnp.where(outside, speed, was.speed))


def nothing_unresolved(like: Array) -> Unresolved:
    """What a scheme of straight lines does not resolve before its first step: nothing. `like`: a number, or (G,)."""
    zero = jnp.zeros_like(like)
    return Unresolved(zero, zero)


def init(
    like: Array, compression: Array, velocity: Array, side: Array | float, buckled: Array, window_start: Array | float = 0.0,
    first: Array | bool = True, rounded: Array | float = 0.0,
) -> Shock:  # fmt: skip
    """Sums before the run.

    A mass that starts inside the wall, or at rest at its face, is in contact from t = 0 on. If it moves inwards from inside, that is an
    impact. At rest inside, or on the way out, it has none until it has been outside. One that starts inside by no more than rounding may
    decide starts at the face: its impact begins when it is deeper.

    Args:
        compression: of the wall at t = 0 [m], negative outside. velocity: of the mass [m/s]. side: +1 or -1, the side of the wall.
        buckled: whether the wall has buckled at t = 0. window_start: start of the window [s].
        first: whether that side is the first of two. rounded: see there.
    """
    zero = jnp.zeros_like(like)
    never = zero + jnp.nan
    inside, inwards = compression > 0.0, side * velocity
    touches = inside | ((compression == 0.0) & (velocity == 0.0))
    hits = (compression > rounded) & (inwards > 0.0) & (window_start <= 0.0)
    return Shock(
        jnp.where(touches, zero, never), jnp.where(touches, velocity, never), jnp.where(buckled, zero, never), zero,
        holds(jnp.where(compression > rounded, compression, 0.0), first), jax.lax.stop_gradient(jnp.maximum(compression, 0.0)),
        jnp.where(hits, 1.0, zero),
        zero, zero, zero, zero, never, never, never, never,
    )  # fmt: skip


def holds(compression: Array, first: Array | bool) -> Array:
    """`Shock.held` of a mass at this compression of a wall [m]; `first`: whether that is the first side of two."""
    return jnp.where(compression > 0.0, jnp.where(first, 1.0, -1.0), jnp.zeros_like(compression))


def nothing(compression: Array, first: Array | bool) -> Shock:
    """Sums at the start of a window of a periodic motion (see `holds`)."""
    zero = jnp.zeros_like(compression)
    never = zero + jnp.nan
    return Shock(
        never, never, never, zero, holds(compression, first), jnp.maximum(compression, 0.0), zero, zero, zero, zero, zero,
        never, never, never, never,
    )  # fmt: skip


def update(sums: Shock, now: Push) -> Shock:
    """Sums after one more stretch of time."""
    touched = (sums.first_time > 0.0) & ~(sums.deepest > now.rounded)  # what came before the first contact
    first = now.entered & (jnp.isnan(sums.first_time) | touched)
    least = OF_DEEPEST * sums.deepest + now.rounded
    far = least if now.unresolved is None else least + now.unresolved.way
    gone = jnp.where(sums.held > 0.0, now.low < -far, now.high > far - now.room)
    held = jnp.where(gone, 0.0, sums.held)
    one, other = now.high > least, now.low < -now.room - least
    if now.arrival is not None and now.unresolved is not None:
        fast = now.arrival > now.unresolved.speed
        one, other = one & (fast | (now.high > far) | (held > 0.0)), other & (fast | (now.low < -now.room - far) | (held < 0.0))
    struck = one & (held <= 0.0) | other & (held >= 0.0)
    away = jnp.where(now.left, 1.0, sums.away)
    back = now.back & (away > 0.0)
    sums = sums._replace(
        first_time=jnp.where(first, now.time, sums.first_time),
        first_velocity=jnp.where(first, now.velocity, sums.first_velocity),
        buckling_time=jnp.where(now.buckled, now.time, sums.buckling_time),
        away=jnp.where(back | now.entered, 0.0, away),
        held=jnp.where(one, 1.0, jnp.where(other, -1.0, held)),
        deepest=jax.lax.stop_gradient(jnp.maximum(sums.deepest, jnp.maximum(now.high, -now.low - now.room))),
        unresolved=None if sums.unresolved is None else now.unresolved,
    )
    part = now.within
    if part is None:
        return sums
    return sums._replace(
        impacts=sums.impacts + choice(struck & part.struck, 1.0, 0.0, part.force),
        peak=jnp.maximum(sums.peak, part.force),
        contact_time=sums.contact_time + part.pressed,
        impulse=sums.impulse + part.impulse,
        compression=jnp.maximum(sums.compression, part.compression),
        rebound=jnp.where(now.parted & part.event, now.velocity, sums.rebound),
        separation=jnp.where(now.parted & part.event, now.time, sums.separation),
        left=jnp.where(now.left & part.event, now.time if now.left_time is None else now.left_time, sums.left),
        returned=jnp.where(back & part.back, now.back_time, sums.returned),
    )


class Visit(NamedTuple):
    """What supports with one side remember of their impacts, (G,): one number in place of two costs a loop much less time.

    Attributes:
        signed: largest penetration so far [m], with a minus sign between impacts; at first such that its part OF_DEEPEST is rounding.
        unresolved: what the last step that ended outside did not resolve; None where each step tells (fixed ones), or a tolerance.
    """

    signed: Array
    unresolved: Unresolved | None = None

    @property
    def held(self) -> Array:
        """Whether there is an impact."""
        return self.signed > 0.0

    @property
    def deepest(self) -> Array:
        """Largest penetration so far [m]."""
        return jnp.abs(self.signed)


def arrives(depth: Array, length: Array, remembers: bool) -> Visit:
    """What is remembered at t = 0, at a penetration [m] of supports with a `length` [m]; `remembers`: `Visit.unresolved` too."""
    rounded = by_width(depth, *ROUNDED) * (length + jnp.abs(depth))
    least = jnp.maximum(rounded * (1.0 / OF_DEEPEST), depth)
    deepest = jax.lax.stop_gradient(jnp.where(depth > rounded, least, -least))
    return Visit(deepest, nothing_unresolved(deepest) if remembers else None)


def visited(
    was: Visit, depths: tuple[Array, Array], rates: tuple[Array, Array], h: Array, straight: bool, unsure: Array | float = 0.0
) -> Visit:  # fmt: skip
    """What is remembered after a step of `h` [s]. An impact begins where it is then `held` and was not, by the rules of `update`.

    Args:
        was: what was remembered. depths, rates: penetration [m] and its rate [m/s] at the ends of the step.
        straight: whether the motion of the scheme within a step is a straight line. unsure: how far out an excursion may come by the
            tolerance of another scheme that ends no impact [m].
    """
    least = OF_DEEPEST * was.deepest
    far, deep, now = least + unsure, depths[1] > least, None
    if straight:
        now = unresolved(rates[1] - rates[0], h, was.unresolved, depths[1] <= 0.0)
        far = least + now.way
        deep = deep & ((rates[0] > now.speed) | (depths[1] > far))
    holds = jnp.where(was.held, depths[1] >= -far, deep)
    deepest = jnp.maximum(was.deepest, depths[1])
    return Visit(jax.lax.stop_gradient(jnp.where(holds, deepest, -deepest)), None if was.unresolved is None else now)


def without_touch(sums: Shock, rounded: Array | float) -> Shock:
    """The sums of a run: without a first and a last contact if the mass has at most touched the wall. `rounded`: see there."""
    never = (sums.first_time > 0.0) & ~(sums.deepest > rounded)
    names = ("first_time", "first_velocity", "rebound", "separation", "left", "returned")
    changed: dict[str, Any] = {name: jnp.where(never, jnp.nan, getattr(sums, name)) for name in names}
    return sums._replace(**changed)


def merged(one: Shock, other: Shock) -> Shock:
    """The sums over two walls: counts, durations and impulses added, the larger force and compression, the first entry, the last exit."""
    first = jnp.isnan(other.first_time) | (one.first_time <= other.first_time)
    parted = jnp.isnan(other.separation) | (one.separation >= other.separation)
    left = jnp.isnan(other.left) | (one.left >= other.left)
    returned = jnp.isnan(other.returned) | (one.returned >= other.returned)
    buckled = jnp.isnan(other.buckling_time) | (one.buckling_time <= other.buckling_time)
    return Shock(
        first_time=jnp.where(first, one.first_time, other.first_time),
        first_velocity=jnp.where(first, one.first_velocity, other.first_velocity),
        buckling_time=jnp.where(buckled, one.buckling_time, other.buckling_time),
        away=jnp.maximum(one.away, other.away),
        held=jnp.where(one.held != 0.0, one.held, other.held),
        deepest=jnp.maximum(one.deepest, other.deepest),
        impacts=one.impacts + other.impacts,
        peak=jnp.maximum(one.peak, other.peak),
        contact_time=one.contact_time + other.contact_time,
        impulse=one.impulse + other.impulse,
        compression=jnp.maximum(one.compression, other.compression),
        rebound=jnp.where(parted, one.rebound, other.rebound),
        separation=jnp.where(parted, one.separation, other.separation),
        left=jnp.where(left, one.left, other.left),
        returned=jnp.where(returned, one.returned, other.returned),
    )


def finish(sums: Shock, p: dict[str, Any]) -> dict[str, Array]:
    """Observables of shock by name (scalars, SI units), without those of `of_wall`. `p` has the ends of the window [s]."""
    length = p["window_end"] - p["window_start"]
    return {
        "impacts": sums.impacts,
        "impact_rate": sums.impacts / length,
        "peak_force": sums.peak,
        "contact_time": sums.contact_time,
        "contact_ratio": sums.contact_time / length,
        "impulse": sums.impulse,
        "first_contact_time": sums.first_time,
        "first_contact_velocity": sums.first_velocity,
        "max_compression": sums.compression,
        "rebound_velocity": sums.rebound,
        "separation_time": sums.separation,
        "exit_time": sums.left,
        "return_time": sums.returned,
        "buckling_time": sums.buckling_time,
    }


def of_wall(sums: Shock, plastic: Array, regime: Array, prefix: str) -> dict[str, Array]:
    """Observables of one wall of a model whose walls may buckle, by name with the wall's prefix.

    Args:
        sums: of this wall. plastic: its plastic set [m]. regime: code of how far it was pressed.
        prefix: empty for the first wall. A wall with a prefix also has its own number of impacts, largest force and largest compression.
    """
    buckled = jnp.where(jnp.isnan(sums.buckling_time), 0.0, 1.0)
    found = {"buckled": buckled, "buckling_time": sums.buckling_time, "plastic_set": plastic, "wall_regime": regime}
    if prefix:
        found |= {"impacts": sums.impacts, "peak_force": sums.peak, "max_compression": sums.compression}
    return {prefix + name: value for name, value in found.items()}
