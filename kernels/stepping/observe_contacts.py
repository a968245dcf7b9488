"""What supports and points of a structure do in the window, added up step by step.

Forces are linear over a step, as for the stop (`observe_wall`): where a force begins or ends within the step, so does its line.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.contact.impact_sliding import ImpactSliding, Touch, size
from kernels.models.outputs import OBSERVED
from kernels.models.supports import named
from kernels.numerics.numbers import Array, choice, of_type
from kernels.stepping.observe_wall import WindowPart


class ContactSums(NamedTuple):
    """Sums of G supports over the window, (G,) each: in `Added` what is added up, in `Extremes` what is largest or smallest.

    Attributes:
        peak: largest force of the present impact [N]; counts: number of impacts in each class of it, (G, n). None without classes.
    """

    added: Added
    extremes: Extremes
    peak: Array | None = None
    counts: Array | None = None


class Added(NamedTuple):
    """Energies [J], times [s], impulses [N s], integrals of squares, and numbers of entries, (G,)."""

    wear: Array
    friction: Array
    impact: Array
    slid: Array
    pressed: Array
    impacts: Array
    impulse: Array
    normal_square: Array
    rubbing: Array
    rubbing_square: Array
    displacement_square: Array


class Extremes(NamedTuple):
    """Largest forces [N] and penetration [m], the box of the orbit [m], and whether the support was ever left, (G,)."""

    normal: Array
    tangential: Array
    depth: Array
    low: Array
    high: Array
    away: Array


def init(group: ImpactSliding, touch: Touch, window_start: Array, edges: tuple[float, ...] = ()) -> ContactSums:
    """The sums at t = 0, of supports in the state `touch`. A start in contact is an entry if the point moves inwards."""
    none = 0.0 * group.gap
    begins = choice((touch.depth > 0.0) & (touch.rate > 0.0) & (window_start <= 0.0), 1.0, 0.0, none)
    added = Added(**dict.fromkeys(Added._fields, none))._replace(impacts=begins + none)
    flat = jnp.stack([none] * min(group.kind.axes, 2), axis=-1)
    sums = ContactSums(added, Extremes(none, none, none - jnp.inf, flat + jnp.inf, flat - jnp.inf, none))
    if not edges:
        return sums
    return sums._replace(peak=touch.normal, counts=jnp.stack([none] * (len(edges) - 1), axis=-1))


def update(
    sums: ContactSums,
    group: ImpactSliding,
    before: Touch,
    after: Touch,
    h: Array,
    part: WindowPart,
    edges: tuple[float, ...] = (),
) -> ContactSums:
    """The sums after a step of `h` [s] from `before` to `after`, where `part` of it lies in the window."""
    entered, left = (before.depth <= 0.0) & (after.depth > 0.0), (before.depth > 0.0) & (after.depth <= 0.0)
    pushed, pushes = before.normal > 0.0, after.normal > 0.0
    parted, met = pushed & ~pushes, ~pushed & pushes

    def crossing(low: Array, high: Array) -> Array:
        """The fraction of the step, in [0, 1], at which a line from `low` to `high` crosses 0."""
        return jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)

    through, without = crossing(before.depth, after.depth), crossing(before.pull, after.pull)
    place = jnp.where(entered | left, through, jnp.where(parted | met, without, 1.0))
    first = jnp.where(met, place, 0.0)
    last = jnp.where(parted, jnp.where(left, without, place), 1.0)
    overlap = jnp.minimum(last, part.end) - jnp.maximum(first, part.start)
    pressed = jnp.where(pushed | pushes, h * jnp.maximum(overlap, 0.0), 0.0)
    length = h * (part.end - part.start)
    inside = part.end > part.start
    slips = jnp.where(after.slips > 0.5, pressed, 0.0)
    one, other = size(before.tangential), size(after.tangential)
    speed = 0.5 * (before.speed + after.speed)
    # the anchor follows the part of the way that does not stretch the spring
    followed = after.way - (after.elongation - before.elongation)
    dragged = -0.5 * jnp.sum((before.tangential + after.tangential) * followed, axis=-1)
    whole = jnp.where(h > 0.0, pressed / jnp.where(h > 0.0, h, 1.0), 0.0)
    held = jnp.where((after.slips > 0.5) & pushes, jnp.maximum(dragged, 0.0), 0.0)
    start, end = before.place, after.place
    flat_start, flat_end = start[..., :2] - group.centre[..., :2], end[..., :2] - group.centre[..., :2]
    squares = jnp.sum(flat_start * flat_start + flat_start * flat_end + flat_end * flat_end, axis=-1) / 3.0

    def at_ends(low: Array, high: Array) -> Array:
        """The larger of a line's values at the ends of the part in the window."""
        larger: Array = jnp.maximum(low + (high - low) * part.start, low + (high - low) * part.end)
        return larger

    added = Added(
        wear=sums.added.wear + slips * 0.5 * (before.normal * before.speed + after.normal * after.speed),
        friction=sums.added.friction + held * jnp.minimum(whole, 1.0),
        impact=sums.added.impact + pressed * group.c_n * 0.5 * (before.rate * before.rate + after.rate * after.rate),
        slid=sums.added.slid + slips * speed,
        pressed=sums.added.pressed + pressed,
        impacts=sums.added.impacts + choice(entered & (part.start <= place) & (place < part.end), 1.0, 0.0, h),
        impulse=sums.added.impulse + 0.5 * pressed * (before.normal + after.normal),
        normal_square=sums.added.normal_square + pressed * _square(before.normal, after.normal),
        rubbing=sums.added.rubbing + 0.5 * pressed * (one + other),
        rubbing_square=sums.added.rubbing_square + pressed * _square(one, other),
        displacement_square=sums.added.displacement_square + length * squares,
    )
    was = sums.extremes
    ends = start[..., :2] + (end - start)[..., :2] * part.start, start[..., :2] + (end - start)[..., :2] * part.end
    within = inside & (after.depth > -jnp.inf)
    extremes = Extremes(
        normal=jnp.where(inside, jnp.maximum(was.normal, at_ends(before.normal, after.normal)), was.normal),
        tangential=jnp.where(inside, jnp.maximum(was.tangential, at_ends(one, other)), was.tangential),
        depth=jnp.where(inside, jnp.maximum(was.depth, at_ends(before.depth, after.depth)), was.depth),
        low=jnp.where(within[..., None], jnp.minimum(was.low, jnp.minimum(*ends)), was.low),
        high=jnp.where(within[..., None], jnp.maximum(was.high, jnp.maximum(*ends)), was.high),
        away=jnp.where(inside & ~(pushed & pushes), 1.0, was.away),
    )
    if sums.peak is None or sums.counts is None:
        return ContactSums(added, extremes)
    largest = jnp.maximum(sums.peak, after.normal)
    bounds = jnp.asarray(edges, largest.dtype)
    ended = left & (part.start <= place) & (place < part.end)
    hit = (largest[:, None] >= bounds[:-1]) & (largest[:, None] < bounds[1:]) & ended[:, None]
    return ContactSums(added, extremes, jnp.where(after.depth > 0.0, largest, 0.0), sums.counts + choice(hit, 1.0, 0.0, h))


def _square(low: Array, high: Array) -> Array:
    """Mean of the square of a line from `low` to `high`."""
    return (low * low + low * high + high * high) * (1.0 / 3.0)


def finish(sums: ContactSums, names: list[str], length: Array) -> dict[str, Array]:
    """Observables of supports by name, over a window of `length` [s]."""
    added, extremes = sums.added, sums.extremes
    impacts = of_type(added.impacts, added.pressed)
    hit = impacts > 0.0
    touched = added.pressed > 0.0
    depth = jnp.where(extremes.depth > 0.0, extremes.depth, jnp.nan)
    found = {
        "wear_power": added.wear / length,
        "friction_power": added.friction / length,
        "impact_power": added.impact / length,
        "sliding_distance": added.slid,
        "contact_ratio": added.pressed / length,
        "impacts": impacts,
        "impact_rate": impacts / length,
        "impact_duration": jnp.where(hit, added.pressed / jnp.where(hit, impacts, 1.0), jnp.nan),
        "impulse": added.impulse,
        "normal_force_mean": added.impulse / length,
        "normal_force_rms": _root(added.normal_square / length),
        "normal_force_peak": extremes.normal,
        "tangential_force_mean": added.rubbing / length,
        "tangential_force_rms": _root(added.rubbing_square / length),
        "tangential_force_peak": extremes.tangential,
        "max_penetration": depth,
        "displacement_rms": _root(added.displacement_square / length),
        "contact_regime": jnp.where(touched, jnp.where(extremes.away > 0.0, 1.0, 2.0), 0.0),
    }
    for axis in range(extremes.low.shape[-1]):
        found |= {f"orbit_{axis + 1}_min": extremes.low[:, axis], f"orbit_{axis + 1}_max": extremes.high[:, axis]}
    if sums.counts is not None:
        found["peak_counts"] = padded(sums.counts)
    return {named(name, each): values[place] for name, values in found.items() for place, each in enumerate(names)}


def padded(values: Array) -> Array:
    """Lists (..., n) padded with NaN to the length of list observables."""
    return jnp.concatenate([values, jnp.full((*values.shape[:-1], OBSERVED - values.shape[-1]), jnp.nan, values.dtype)], axis=-1)


def _root(square: Array) -> Array:
    """Square root whose derivative at 0 is 0."""
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)
