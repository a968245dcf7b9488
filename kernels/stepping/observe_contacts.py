"""What supports and points of a structure do in the window, added up step by step.

Forces are linear over a step, as for the stop (`observe_wall`): where a force begins or ends within the step, so does its line.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import contact_phases
from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, Vector, scalar, size
from tribosweep.kernels.models.outputs import OBSERVED
from tribosweep.kernels.models.supports import RETURN_MAPPING, RING, named
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, choice, of_type
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent, with_tangent_of
from tribosweep.kernels.observables import impacts
from tribosweep.kernels.observables.impacts import Visit
from tribosweep.kernels.stepping import dense_output, window_bounds
from tribosweep.kernels.stepping.observe_wall import WindowPart
from tribosweep.kernels.stepping.structure_course import Course


class ContactSums(NamedTuple):
    """Sums of G supports over the window, (G,) each: in `Added` what is added up, in `Extremes` what is largest or smallest.

    Attributes:
        visit: the present impact, and the largest penetration of the run so far.
        peak: largest force of the present impact [N], infinite where it began before the run, which is in no class; None without
            classes. counts: number of impacts in each class.
    """

    added: Added
    extremes: Extremes
    visit: Visit
    peak: Array | None = None
    counts: tuple[Array, ...] = ()


class Added(NamedTuple):
    """Energies [J], times [s], impulses [N s], integrals of squares, and numbers of impacts, (G,)."""

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
    """Largest forces [N] and penetration [m], the box of the orbit along up to two axes [m], and whether it was ever left, (G,)."""

    normal: Array
    tangential: Array
    depth: Array
    low: Vector
    high: Vector
    away: Array


def init(group: ImpactSliding, touch: Touch, window_start: Array, remembers: bool, edges: tuple[float, ...] = ()) -> ContactSums:
    """The sums at t = 0, of supports in the state `touch`. A start in contact is an impact if the point moves inwards.

    `remembers`: whether the scheme chooses its steps and has straight lines within them; see `impacts.Visit`.
    """
    none = 0.0 * group.gap
    visit = impacts.arrives(touch.depth, functools.reduce(operator.add, map(jnp.abs, group.centre), jnp.abs(group.gap)), remembers)
    begins = choice(visit.held & (touch.rate > 0.0) & (window_start <= 0.0), 1.0, 0.0, none)
    added = Added(**dict.fromkeys(Added._fields, none))._replace(impacts=begins + none)
    axes = min(group.kind.axes, 2)
    sums = ContactSums(added, Extremes(none, none, none - jnp.inf, (none + jnp.inf,) * axes, (none - jnp.inf,) * axes, none), visit)
    if not edges:
        return sums
    began_before = visit.held & ~(touch.rate > 0.0)
    return sums._replace(peak=jnp.where(began_before, jnp.inf, touch.normal), counts=(none,) * (len(edges) - 1))


def update(
    sums: ContactSums,
    group: ImpactSliding,
    before: Touch,
    after: Touch,
    h: Array,
    part: WindowPart | None,
    stop: Array,
    straight: bool,
    edges: tuple[float, ...] = (),
) -> ContactSums:
    """The sums after a step of `h` [s] from `before` to `after`, where `part` of it lies in the window; `straight`: see `impacts.visited`.

    Args:
        part: None stands for the whole step, if the end of the step before was in the window too.
        stop: how the instant moves at which slip ends within the step [s]: 0, with a derivative.
    """
    pushed, pushes = before.normal > 0.0, after.normal > 0.0
    entered = before.enters(after)
    visit = impacts.visited(sums.visit, (before.depth, after.depth), (before.rate, after.rate), h, straight)
    # where the force begins or ends within the step: it begins with the entry, or later with k_n p + c_n p' > 0, and ends with that
    low, high = jnp.where(entered, before.depth, before.pull), jnp.where(entered, after.depth, after.pull)
    place = _crossing(low, high)
    if part is None:
        share = jnp.where(pushed, jnp.where(pushes, 1.0, place), jnp.where(pushes, 1.0 - place, 0.0))
    else:
        first = jnp.where(pushes & ~pushed & (place > part.start), place, part.start)
        overlap = jnp.where(pushed & ~pushes & (place < part.end), place, part.end) - first
        share = jnp.where(pushed | pushes, jnp.maximum(overlap, 0.0), 0.0)
    (share,) = fusion_barrier(share)
    pressed = h * share
    begun = _began(group, before, after, entered, pushes & ~pushed)
    slipping, dragged = _slip(group, before, after, begun)
    slips = jnp.where(pushes, after.slips, before.slips) * pressed * slipping  # what slips where it lifts off slips until then
    one, other = size(before.tangential, share), size(after.tangential, share)
    entry, grip = begun.normal, size(begun.tangential, share)  # the forces that the step begins with, in derivatives
    late = only_tangent(jnp.where(begun.held & (after.slips > 0.5), slipping, 0.0))  # slip that begins earlier
    limit = before.normal + (1.0 - slipping) * (after.normal - before.normal)

    def mean(of: Callable[[Array, Array], Array], first: Array, begins: Array, last: Array, jump: Array | float = 0.0) -> Array:
        """A mean over the contact, of a line from `first`, with the derivative of one from `begins`, less a `jump` where slip begins."""
        return with_tangent_of(pressed * (of(begins, last) - late * jump), pressed * of(first, last))

    rubbed = [begun.normal * before.speed, after.normal * after.speed]
    rubbed[0], slow = (low + (1.0 - slipping) * (high - low) for low, high in (rubbed, (before.speed, after.speed)))
    # a contact that begins just at the end of the step has no way in it, in whose direction its anchor would be given its place
    dragged = jnp.where((after.slips > 0.5) & pushes & (share > 0.0), jnp.maximum(dragged, 0.0), 0.0)
    if part is not None:  # the way of a step is that in contact
        lasts = jnp.where(pushed, 1.0, 1.0 - place)
        dragged = dragged * (share / jnp.where(lasts > 0.0, lasts, 1.0))
    start = tuple(along - centre for along, centre in zip(before.place[:2], group.centre, strict=False))
    end = tuple(along - centre for along, centre in zip(after.place[:2], group.centre, strict=False))
    squares = (scalar(start, start) + scalar(start, end) + scalar(end, end)) * (1.0 / 3.0)
    length = h if part is None else h * (part.end - part.start)

    def within(instant: Array, what: Array) -> Array:
        """1 where something happens, at an instant of the step that is in the window; else 0."""
        return choice(what if part is None else what & (part.start <= instant) & (instant < part.end), 1.0, 0.0, h)

    def with_stop(total: Array, rate: Array) -> Array:
        """A sum with the derivative by the instant at which slip ends, at a rate that ends then."""
        ends = stop if part is None else jnp.where(part.end > part.start, stop, 0.0)
        return moved_with(total, rate * ends + 0.0 * total)

    added = Added(
        wear=with_stop(sums.added.wear + slips * 0.5 * (rubbed[0] + rubbed[1]), entry * before.speed),
        friction=sums.added.friction + dragged,
        impact=sums.added.impact + pressed * group.c_n * 0.5 * (before.rate * before.rate + after.rate * after.rate),
        slid=with_stop(sums.added.slid + slips * 0.5 * (slow + after.speed), before.speed),
        pressed=sums.added.pressed + pressed,
        impacts=sums.added.impacts + within(jnp.where(entered, place, 0.0), visit.held & ~sums.visit.held),
        impulse=sums.added.impulse + mean(_half, before.normal, entry, after.normal),
        normal_square=sums.added.normal_square + mean(_square, before.normal, entry, after.normal),
        rubbing=sums.added.rubbing + mean(_half, one, grip, other, (group.mu_s - group.mu_d) * limit),
        rubbing_square=sums.added.rubbing_square
        + mean(_square, one, grip, other, (group.mu_s * group.mu_s - group.mu_d * group.mu_d) * limit * limit),
        displacement_square=sums.added.displacement_square + length * squares,
    )
    whole = pushed & pushes
    # a force that is largest at an entry is largest there, however late that is in its step
    largest = with_tangent_of(jnp.where(entered, entry, after.normal), after.normal)
    other = with_tangent_of(jnp.where(entered, grip, other), other)
    extremes = _extremes(sums.extremes, before, after._replace(normal=largest), (one, other), whole, part)
    if sums.peak is None:
        return ContactSums(added, extremes, visit)
    largest = jnp.maximum(sums.peak, after.normal)
    left = jnp.where(before.depth >= 0.0, _crossing(before.depth, after.depth), 0.0)  # it may be over only farther out, in a later step
    ended = within(left, sums.visit.held & ~visit.held)
    counts = tuple(
        count + jnp.where((largest >= least) & (largest < most), ended, 0.0)
        for count, least, most in zip(sums.counts, edges[:-1], edges[1:], strict=True)
    )
    return ContactSums(added, extremes, visit, _since(visit, after, largest), counts)


def _since(visit: Visit, after: Touch, largest: Array) -> Array:
    """The largest force of the present impact [N], or of what may become one; 0 outside."""
    return jnp.where(visit.held | (after.depth > 0.0), largest, 0.0)


def update_along(
    sums: ContactSums, group: ImpactSliding, course: Course, inside: Array, tolerance: Array, edges: tuple[float, ...] = ()
) -> ContactSums:
    """The sums after a step of a Runge-Kutta scheme along its `course`, `inside` the window or not, with a relative `tolerance`.

    The phases of the supports are those of its start (`contact_phases`), so that what is summed is smooth in it: Boole's rule.
    """
    touches = course.touches
    before, after, h = touches[0], touches[-1], course.h
    mean, peak = dense_output.mean, dense_output.peak
    length = jnp.where(inside, h, 0.0)
    presses = [jnp.where(course.keeps, before.normal, touch.normal) > 0.0 for touch in touches]
    normals = tuple(_positive(touch.normal, held) for touch, held in zip(touches, presses, strict=True))
    unsure = tolerance * (jnp.abs(group.gap) + sums.visit.deepest)
    visit = impacts.visited(sums.visit, (before.depth, after.depth), (before.rate, after.rate), h, straight=False, unsure=unsure)
    was, to = sums.added, sums.extremes
    sliding = [margin.sliding for margin in course.margins]
    rates = [rate(group, *each) for each in zip(touches, presses, sliding, strict=True)]
    added = Added(*(total + length * mean(each) for total, each in zip(was, zip(*rates, strict=True), strict=True)))
    added = added._replace(
        impacts=was.impacts + choice(visit.held & ~sums.visit.held & inside, 1.0, 0.0, h),
        rubbing=was.rubbing + length * _mean_sizes(_signed(touches), may_turn=group.tangents == 1)[0],
    )
    if group.tangents == 1:  # the velocity may turn within slip
        speeds = tuple(
            group.around(touch.place, velocity) if group.kind.obstacle == RING else velocity[1]
            for touch, velocity in zip(touches, course.speeds, strict=True)
        )
        slips = tuple(touch.slips * speed for touch, speed in zip(touches, speeds, strict=True))
        slid, wear = _mean_sizes(slips, tuple(normal * speed for normal, speed in zip(normals, slips, strict=True)))
        added = added._replace(slid=was.slid + length * slid, wear=was.wear + length * wear)
    axes = [tuple(touch.place[axis] for touch in touches) for axis in range(len(to.low))]
    rubbed = jnp.maximum(*(peak(tuple(sign * rub for rub in _signed(touches))) for sign in (1.0, -1.0)))
    found = Extremes(
        normal=jnp.maximum(to.normal, peak(normals)),
        tangential=jnp.maximum(to.tangential, rubbed),
        depth=jnp.maximum(to.depth, peak(tuple(touch.depth for touch in touches))),
        low=tuple(jnp.minimum(low, -peak(tuple(-place for place in places))) for low, places in zip(to.low, axes, strict=True)),
        high=tuple(jnp.maximum(high, peak(places)) for high, places in zip(to.high, axes, strict=True)),
        away=jnp.where(functools.reduce(operator.and_, presses), to.away, 1.0),
    )
    extremes = Extremes(*(jax.tree.map(lambda new, old: jnp.where(inside, new, old), new, old) for new, old in zip(found, to, strict=True)))
    if sums.peak is None:
        return ContactSums(added, extremes, visit)
    largest = jnp.maximum(sums.peak, peak(normals))
    ended = choice(sums.visit.held & ~visit.held & inside, 1.0, 0.0, h)
    counts = tuple(
        count + jnp.where((largest >= least) & (largest < most), ended, 0.0)
        for count, least, most in zip(sums.counts, edges[:-1], edges[1:], strict=True)
    )
    return ContactSums(added, extremes, visit, _since(visit, after, largest), counts)


def rate(group: ImpactSliding, touch: Touch, presses: Array, sliding: Array) -> Added:
    """What is added up in a second of contact in a state, its number of impacts 0.

    Args:
        presses: whether it is in contact. sliding: speed of the anchor [m/s].
    """
    normal, rubs = _positive(touch.normal, presses), size(touch.tangential, touch.normal)
    rubs = with_tangent_of(jnp.where((touch.slips > 0.5) & (touch.normal < 0.0), -rubs, rubs), rubs)  # by rounding, where it lifts off
    centred = tuple(along - centre for along, centre in zip(touch.place[:2], group.centre, strict=False))
    return Added(
        wear=touch.slips * normal * touch.speed,
        friction=touch.slips * rubs * _positive(sliding, presses & (group.kind.law == RETURN_MAPPING)),
        impact=jnp.where(presses, group.c_n * touch.rate * touch.rate, 0.0),
        slid=touch.slips * touch.speed,
        pressed=choice(presses, 1.0, 0.0, normal),
        impacts=0.0 * normal,
        impulse=normal,
        normal_square=normal * normal,
        rubbing=rubs,
        rubbing_square=rubs * rubs,
        displacement_square=scalar(centred, centred),
    )


def _positive(value: Array, lasts: Array) -> Array:
    """A number of a phase that ends where it comes to 0, where rounding may leave less; its derivative `lasts` until then."""
    return moved_with(jnp.maximum(value, 0.0), jnp.where(lasts & (value <= 0.0), only_tangent(value), 0.0))


def moved(sums: ContactSums, before: Added, after: Added, late: Array) -> ContactSums:
    """The sums with the derivative by an instant at which rates change from `before` to `after`; `late`: 0 s, with its derivative."""
    changes = (jax.lax.stop_gradient(low - high) * late for low, high in zip(before, after, strict=True))
    return sums._replace(added=Added(*(moved_with(total, change + 0.0 * total) for total, change in zip(sums.added, changes, strict=True))))


def _signed(touches: tuple[Touch, ...]) -> tuple[Array, ...]:
    """The friction force at the nodes of a step: with its sign where there is one direction, else its size."""
    return tuple(touch.tangential[0] if len(touch.tangential) == 1 else size(touch.tangential, touch.normal) for touch in touches)


def _mean_sizes(*signed: tuple[Array, ...], may_turn: bool = True) -> list[Array]:
    """Mean sizes over a step of what is known at its nodes. The sign of all may change once, where the first one does, if it `may_turn`."""
    first = signed[0]
    if not may_turn:
        return [jnp.abs(dense_output.through(values).integral()) for values in signed]
    turns = jax.lax.stop_gradient(jnp.where(first[0] * first[-1] < 0.0, dense_output.through(first).crossing(), 0.0))
    courses = [dense_output.through(values) for values in signed]
    return [jnp.abs(course.integral(0.0, turns)) + jnp.abs(course.integral(turns, 1.0)) for course in courses]


def let_go(
    group: ImpactSliding, sums: ContactSums, before: Touch, after: Touch, counts: Array, motion: tuple[Vector, Vector], late: Array
) -> ContactSums:
    """The sums after an instant at which supports changed from a state `before` to `after`, where it `counts`.

    Where mu_s > mu_d the anchor jumps as slip begins, under the mean of both forces.

    Args:
        motion: velocity and acceleration of the points along the axes before that instant [m/s], [m/s^2].
        late: how it moves [s]: 0, with a derivative.
    """
    begins = counts & (before.slips < 0.5) & (after.slips > 0.5) & (before.normal > 0.0)
    lost, growing = 0.0 * before.normal, 0.0 * before.normal
    if group.tangents:
        _, stiffening, speed, quickening = contact_phases.rates(group, before, *motion)
        sliding = size(after.tangential, lost)  # 0 where mu_d is
        eases = group.mu_d * stiffening / jnp.where(begins & (sliding > 0.0), sliding, 1.0)
        anchor = contact_phases.anchor(group, after, *motion)
        every = zip(before.tangential, after.tangential, before.elongation, after.elongation, speed, quickening, anchor, strict=True)
        for force, less, longer, shorter, v, a, drawn in every:
            lost = lost - 0.5 * (force + less) * (longer - shorter)
            changes = eases * less - group.k_t * v - group.c_t * a
            growing = growing - 0.5 * (changes * (longer - shorter) + (force + less) * drawn)
    lost = moved_with(lost, jax.lax.stop_gradient(jnp.where(begins, growing, 0.0)) * late)
    return sums._replace(added=sums.added._replace(friction=sums.added.friction + jnp.where(begins, lost, 0.0)))


class _Begun(NamedTuple):
    """A contact at the start of a step, or at its entry within it: F_n [N], the friction force [N], the elongation [m], if it holds."""

    normal: Array
    tangential: Vector
    elongation: Vector
    held: Array


def _began(group: ImpactSliding, before: Touch, after: Touch, entered: Array, starts: Array) -> _Begun:
    """What friction starts from: the state `before`, but that of the entry where the normal force `starts` within the step.

    At an entry F_n jumps to c_n p'. If the damper c_t alone is beyond the cone there, the anchor begins where spring and damper bear what
    the cone allows. That place is given to it: it was not dragged there, so nothing was dissipated.
    """
    normal = jnp.where(starts, jnp.where(entered, group.c_n * jnp.maximum(before.rate, 0.0), 0.0), before.normal)
    if not group.tangents:
        return _Begun(normal, (), (), before.slips < 0.5)
    pull = group.c_t * before.speed
    beyond = pull > group.mu_s * normal
    force = jnp.where(beyond, group.mu_d * normal, pull)
    longer = jnp.where(beyond, (force - pull) / group.k_t, 0.0)
    distance = size(after.way, normal)
    ways = tuple(way / jnp.where(distance > 0.0, distance, 1.0) for way in after.way)
    return _Begun(
        normal,
        tuple(jnp.where(starts, -force * way, was) for way, was in zip(ways, before.tangential, strict=True)),
        tuple(jnp.where(starts, longer * way, was) for way, was in zip(ways, before.elongation, strict=True)),
        jnp.where(starts, ~beyond, before.slips < 0.5),
    )


def _slip(group: ImpactSliding, before: Touch, after: Touch, begun: _Begun) -> tuple[Array, Array]:
    """Of a step that ends with slip: the part of its time in contact that slips, and the work on the anchor [J].

    A spring that holds at the start slides from where the line of what the cone leaves passes 0: at the end the return mapping has taken
    k_t times the way of the anchor. The anchor follows the part of the way that does not stretch the spring.
    """
    none = 0.0 * after.normal
    dragged, taken = none, []
    for was, begins, now, pulled, way, force in zip(
        before.elongation, begun.elongation, after.elongation, begun.tangential, after.way, after.tangential, strict=True
    ):
        dragged = dragged - 0.5 * (pulled + force) * (way - (now - begins))
        taken.append(way - (now - was))
    left = group.mu_s * begun.normal - size(begun.tangential, none)
    lacks = size(after.tangential, none) + group.k_t * size(tuple(taken), none) - group.mu_s * after.normal
    within = begun.held & (after.slips > 0.5)
    part = jnp.where(within, 1.0 - _crossing(left, -lacks), 1.0)
    if group.tangents and group.kind.law == RETURN_MAPPING:
        # the anchor jumps by (mu_s - mu_d) F_n / k_t under the mean of both limits, at the instant at which slip begins, and then slides
        limit = begun.normal + (1.0 - part) * (after.normal - begun.normal)
        jump = (group.mu_s - group.mu_d) * limit / group.k_t
        slides = group.mu_d * 0.5 * (limit + after.normal) * (size(tuple(taken), none) - jump)
        dragged = with_tangent_of(jnp.where(within, 0.5 * (group.mu_s + group.mu_d) * limit * jump + slides, dragged), dragged)
    return part, dragged


def outside(sums: ContactSums, before: Touch, after: Touch, h: Array, straight: bool) -> ContactSums:
    """The sums after a step of `h` [s] outside the window: only the present impact and its largest force are followed."""
    visit = impacts.visited(sums.visit, (before.depth, after.depth), (before.rate, after.rate), h, straight)
    if sums.peak is None:
        return sums._replace(visit=visit)
    return sums._replace(visit=visit, peak=_since(visit, after, jnp.maximum(sums.peak, after.normal)))


def narrowed(extremes: Extremes, start: Touch, end: Touch, part: Array) -> Extremes:
    """The extremes after a first step between two states, with the derivative by the start of the window; see `window_bounds.narrowed`."""
    first, last = (
        Extremes(
            normal=touch.normal,
            tangential=size(touch.tangential, touch.normal),
            depth=touch.depth,
            low=touch.place[: len(extremes.low)],
            high=touch.place[: len(extremes.high)],
            away=extremes.away,
        )
        for touch in (start, end)
    )
    follows = functools.partial(window_bounds.narrowed, part=part)
    return Extremes(*(jax.tree.map(follows, *each) for each in zip(extremes, first, last, strict=True)))


def _extremes(was: Extremes, before: Touch, after: Touch, rubs: Vector, whole: Array, part: WindowPart | None) -> Extremes:
    """Extremes after a step, of which `part` is in the window (see `update`).

    `rubs` are friction forces [N] at its start and its end, and `whole` says whether the normal force acts at both.
    """
    places = list(zip(before.place[:2], after.place[:2], strict=True))
    if part is None:
        return Extremes(
            normal=jnp.maximum(was.normal, after.normal),
            tangential=jnp.maximum(was.tangential, rubs[1]),
            depth=jnp.maximum(was.depth, after.depth),
            low=tuple(jnp.minimum(low, end) for low, (_, end) in zip(was.low, places, strict=True)),
            high=tuple(jnp.maximum(high, end) for high, (_, end) in zip(was.high, places, strict=True)),
            away=jnp.where(whole, was.away, 1.0),
        )
    inside = part.end > part.start

    def ends(low: Array, high: Array) -> tuple[Array, Array]:
        """A line's values at the ends of the part in the window."""
        return low + (high - low) * part.start, low + (high - low) * part.end

    def larger(most: Array, low: Array, high: Array) -> Array:
        return jnp.where(inside, jnp.maximum(most, jnp.maximum(*ends(low, high))), most)

    within = inside & (after.depth > -jnp.inf)
    return Extremes(
        normal=larger(was.normal, before.normal, after.normal),
        tangential=larger(was.tangential, *rubs),
        depth=larger(was.depth, before.depth, after.depth),
        low=tuple(jnp.where(within, jnp.minimum(low, jnp.minimum(*ends(*place))), low) for low, place in zip(was.low, places, strict=True)),
        high=tuple(
            jnp.where(within, jnp.maximum(high, jnp.maximum(*ends(*place))), high) for high, place in zip(was.high, places, strict=True)
        ),
        away=jnp.where(inside & ~whole, 1.0, was.away),
    )


def _crossing(low: Array, high: Array) -> Array:
    """The fraction of the step, in [0, 1], at which a line from `low` to `high` crosses 0."""
    return jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)


def _half(low: Array, high: Array) -> Array:
    """Mean of a line from `low` to `high`."""
    return 0.5 * (low + high)


def _square(low: Array, high: Array) -> Array:
    """Mean of the square of a line from `low` to `high`."""
    return (low * low + low * high + high * high) * (1.0 / 3.0)


def finish(sums: ContactSums, names: list[str], length: Array) -> dict[str, Array]:
    """Observables of supports by name, over a window of `length` [s]."""
    added, extremes = sums.added, sums.extremes
    hits = of_type(added.impacts, added.pressed)
    hit = hits > 0.0
    touched = added.pressed > 0.0
    depth = jnp.where(extremes.depth > 0.0, extremes.depth, jnp.nan)
    found = {
        "wear_power": added.wear / length,
        "friction_power": added.friction / length,
        "impact_power": added.impact / length,
        "sliding_distance": added.slid,
        "contact_ratio": added.pressed / length,
        "impacts": hits,
        "impact_rate": hits / length,
        "impact_duration": jnp.where(hit, added.pressed / jnp.where(hit, hits, 1.0), jnp.nan),
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
    for axis, (low, high) in enumerate(zip(extremes.low, extremes.high, strict=True)):
        found |= {f"orbit_{axis + 1}_min": low, f"orbit_{axis + 1}_max": high}
    if sums.counts:
        found["peak_counts"] = padded(jnp.stack(sums.counts, axis=-1))
    return {named(name, each): values[place] for name, values in found.items() for place, each in enumerate(names)}


def padded(values: Array) -> Array:
    """Lists (..., n) padded with NaN to the length of list observables."""
    return jnp.concatenate([values, jnp.full((*values.shape[:-1], OBSERVED - values.shape[-1]), jnp.nan, values.dtype)], axis=-1)


def _root(square: Array) -> Array:
    """Square root whose derivative at 0 is 0."""
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)
