"""What a step did at a wall.

Instants, peaks and impulses within the step are those of the motion between its ends: a polynomial of the order of the scheme
(`dense_output`), or straight lines for a scheme of low order, whose own error is of that size.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.wall import Crush, Wall
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent, with_tangent_of
from tribosweep.kernels.observables import impacts
from tribosweep.kernels.observables.push import Push, Unresolved, Within
from tribosweep.kernels.stepping import dense_output, saltation
from tribosweep.kernels.stepping.dense_output import Polynomial
from tribosweep.kernels.stepping.scheme import Body, StepState


class WindowPart(NamedTuple):
    """Where the part of a step that lies in the window starts and ends, as fractions of the step."""

    start: Array | float
    end: Array | float


def init(body: Body, state: StepState, window_start: Array, straight: bool = False) -> tuple[impacts.Shock, ...]:
    """The sums of each wall at t = 0, where the oscillator is in `state`. `straight`: see `impacts.visited`."""
    walls = zip(body.walls, state.memory.walls, strict=True)
    shocks = tuple(
        impacts.init(
            0.0 * body.one, compression(wall, state.x), state.v, _side(wall, state.x), crush.buckled > 0.0, window_start,
            first=_side(wall, state.x) == wall.stands, rounded=wall.rounded,
        )
        for wall, crush in walls
    )  # fmt: skip
    return tuple(shock._replace(unresolved=impacts.nothing_unresolved(shock.deepest)) for shock in shocks) if straight else shocks


def update(
    shocks: tuple[impacts.Shock, ...],
    walls: tuple[Wall, ...],
    before: StepState,
    after: StepState,
    since: Array,
    h: Array,
    part: WindowPart | None,
    course: Polynomial | None = None,
    unsure: Array | None = None,
) -> tuple[impacts.Shock, ...]:
    """The sums of each wall after a step of `h` [s] from the time `since` [s].

    Args:
        shocks: the sums before. walls: of the body. before, after: its states at the ends of the step.
        part: the part of the step in the window; None for none. course: displacement over the step (see `dense_output.motion`) [m];
            None for straight lines.
        unsure: what the displacement lacks by the tolerance of the scheme [m]; None without a tolerance.
    """

    def pushed(sums: impacts.Shock, wall: Wall, was: Crush, now: Crush) -> Push:
        found = push(wall, before, after, was, now, since, h, part, course)
        if unsure is not None:
            return found._replace(unresolved=Unresolved(unsure, jnp.zeros_like(unsure)))
        if sums.unresolved is None:
            return found
        # the side of the present impact has been left where the mass is at the other one: with a gap of 0 there is nothing between
        outside = (compression(wall, after.x, after.rest) <= 0.0) | (sums.held * wall.stands * _side(wall, after.x) < 0.0)
        change = h * jnp.minimum(jnp.abs(before.a), jnp.abs(after.a))
        unresolved = impacts.unresolved(change, h, sums.unresolved, outside)
        return found._replace(arrival=_side(wall, before.x) * before.v, unresolved=unresolved)

    every = zip(shocks, walls, before.memory.walls, after.memory.walls, strict=True)
    return tuple(impacts.update(each[0], pushed(*each)) for each in every)


def _side(wall: Wall, x: Array) -> Array:
    """The side of the nearer wall, +1 or -1."""
    return choice((wall.two_sided > 0.0) & (x < 0.0), -wall.stands, wall.stands, x)


def compression(wall: Wall, x: Array, rest: Array | None = None) -> Array:
    """Compression [m] of the nearer wall, negative if none is touched; `rest` [m] is the part of `x` lost by rounding."""
    y = jnp.where(wall.two_sided > 0.0, jnp.abs(x), wall.stands * x) - wall.gap
    return y if rest is None else y + jnp.where((wall.two_sided > 0.0) & (x < 0.0), -rest, wall.stands * rest)


def push(
    wall: Wall,
    start: StepState,
    end: StepState,
    before: Crush,
    after: Crush,
    since: Array,
    h: Array,
    part: WindowPart | None,
    course: Polynomial | None = None,
) -> Push:
    """What a step of `h` [s] from the time `since` [s] did at the wall, whose state is `before` at its start and `after` at its end."""
    if course is not None:
        return _along(wall, (start, end), (before, after), since, h, part, course)
    y0, y = compression(wall, start.x, start.rest), compression(wall, end.x, end.rest)
    side = _side(wall, start.x)
    entered, left = (y0 <= 0.0) & (y > 0.0), (y0 > 0.0) & (y <= 0.0)
    pushed, pushes = before.force > 0.0, after.force > 0.0
    parted, met = pushed & ~pushes, ~pushed & pushes
    buckled = after.buckled > before.buckled
    at_first = wall.stands * end.x - wall.gap  # compression of the first wall
    at_first = at_first if end.rest is None else at_first + wall.stands * end.rest

    def crossing(low: Array, high: Array) -> Array:
        """The fraction of the step, in [0, 1], at which a line from `low` to `high` crosses 0."""
        return jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)

    through, without, at_criterion = crossing(y0, y), crossing(before.trial, after.trial), jnp.zeros_like(y)
    entering, entry, span, _ = saltation.entry_of_wall(wall, before, start, end, h)
    begins = jnp.where(entering, saltation.force_at_entry(wall, before, span, h), before.force)  # what derivatives know
    largest = with_tangent_of(jnp.where(entering, begins, after.force), after.force)
    _, drop, jump = saltation.drop_of_wall(wall, before, start, end, h)
    knee: Array | None = None
    if wall.envelope is not None:  # the force grows as without buckling; the end of the step may lie beyond the buckling
        k, c = wall.envelope.stiffness(before.largest), wall.envelope.damping(before.largest)
        growth = 0.5 * h * k * (start.v + end.v) + jnp.where(wall.included > 0.0, c * (end.v - start.v), 0.0)
        growth = wall.stands * growth
        short = before.reach - wall.envelope.criterion(before.largest)
        at_criterion = crossing(short, short + growth)
        at_criterion = jnp.where(entering, jnp.maximum(at_criterion, entry), at_criterion)
        yields = (short < 0.0) & (short + growth > 0.0) & (after.reach >= wall.envelope.criterion(after.largest))
        limit = _force_at_criterion(wall, before, wall.stands * (start.v + (end.v - start.v) * at_criterion))
        knee = jnp.where(yields, limit, 0.0)
    place = jnp.where(entered | left, through, jnp.where(parted | met, without, jnp.where(buckled, at_criterion, 1.0)))
    separated = jnp.where(left & parted, without, place)
    instant = since + h * place
    x0, x = side * start.x, side * end.x  # back at x = 0, or at a face beyond it
    homeward = crossing(x0, x)
    met_at = place if wall.envelope is None else jnp.where(entering, entry, place)

    def within(part: WindowPart) -> Within:
        first = jnp.where(met & (met_at > part.start), met_at, part.start)
        overlap = jnp.where(parted & (separated < part.end), separated, part.end) - first
        pressed = jnp.where(pushed | pushes, h * jnp.maximum(overlap, 0.0), 0.0)

        def at_ends(low: Array, high: Array) -> Array:
            """The larger of a line's values at the ends of the part."""
            larger: Array = jnp.maximum(low + (high - low) * part.start, low + (high - low) * part.end)
            return jnp.where(part.end > part.start, jnp.maximum(larger, 0.0), 0.0)

        peak = at_ends(before.force, largest)
        if knee is not None:  # where the force falls once the wall yields, it is largest there
            peak = jnp.maximum(peak, jnp.where((part.start <= at_criterion) & (at_criterion < part.end), knee, 0.0))
        struck = jnp.clip((wall.rounded - y0) / jnp.where(y > y0, y - y0, 1.0), 0.0, 1.0)
        impulse = with_tangent_of(pressed * (0.5 * (begins + after.force)), pressed * (0.5 * (before.force + after.force)))
        if wall.envelope is not None:
            dropped = jnp.clip(drop, part.start, part.end) - part.start
            impulse = moved_with(impulse, -h * jump * only_tangent(dropped))
        return Within(
            event=(part.start <= place) & (place < part.end),
            back=(part.start <= homeward) & (homeward < part.end),
            struck=(part.start <= struck) & ((struck < part.end) | (part.end >= 1.0)),
            force=peak,
            pressed=pressed,
            impulse=impulse,
            compression=at_ends(y0, y),
        )

    return Push(
        time=jnp.where(buckled, since + h * at_criterion, instant),
        velocity=_arrival(start, h, entered, place, start.v + (end.v - start.v) * place),
        entered=entered,
        left=left,
        parted=parted,
        buckled=buckled,
        back=jnp.where(wall.gap > 0.0, (x0 > 0.0) & (x <= 0.0), left),
        back_time=jnp.where(wall.gap > 0.0, since + h * homeward, instant),
        low=at_first,
        high=at_first,
        room=wall.room,
        rounded=wall.rounded,
        within=None if part is None else within(part),
    )


def _force_at_criterion(wall: Wall, before: Crush, speed: Array) -> Array:
    """The force [N] of a wall, in state `before`, where it begins to yield under a mass that comes in at `speed` [m/s]."""
    if wall.envelope is None:  # an elastic stop never yields
        return jnp.zeros_like(speed)
    added = jnp.where(wall.included > 0.0, 0.0, wall.envelope.damping(before.largest) * speed)
    return wall.envelope.criterion(before.largest) + added


def _arrival(start: StepState, h: Array, entered: Array, place: Array, velocity: Array) -> Array:
    """The velocity at an event, with the derivative of that with which the mass arrives: the end of the step lies behind the jump."""
    return with_tangent_of(jnp.where(entered, start.v + place * h * start.a, velocity), velocity)


def _along(
    wall: Wall,
    states: tuple[StepState, StepState],
    crushes: tuple[Crush, Crush],
    since: Array,
    h: Array,
    part: WindowPart | None,
    course: Polynomial,
) -> Push:
    """The same along a `course` of the displacement [m]."""
    (start, end), (before, after) = states, crushes
    y0, y = compression(wall, start.x, start.rest), compression(wall, end.x, end.rest)
    entered, left = (y0 <= 0.0) & (y > 0.0), (y0 > 0.0) & (y <= 0.0)
    pushed, pushes = before.force > 0.0, after.force > 0.0
    parted, met = pushed & ~pushes, ~pushed & pushes
    buckled = after.buckled > before.buckled
    side = jnp.where(y > 0.0, _side(wall, end.x), _side(wall, start.x))
    depth, place = course.plus(side * start.x - wall.gap, side), course.plus(start.x)
    speed = dense_output.velocity(course, h)
    growth = speed.plus(0.0, side)

    def pushes_with(u: Array) -> Array:
        """The force of a stop by a law of its own [N], also negative, at a fraction of the step."""
        return wall.through(depth.at(u), growth.at(u))

    if wall.envelope is None:
        stiffness, damping, plastic = wall.k_n, wall.c_n, 0.0 * y
    else:  # the end of a push belongs to the unloading, the rest of the step to the state before it
        largest = jnp.where(parted, after.largest, before.largest)
        stiffness, damping = wall.envelope.stiffness(largest), wall.envelope.damping(largest)
        plastic = jnp.where(parted, after.plastic, before.plastic)
    elastic = depth.plus(-stiffness * plastic, stiffness)
    trial = elastic + growth.plus(0.0, damping)
    ends = trial.at(0.0), trial.at(1.0)
    through, without = depth.crossing(), trial.crossing()
    if wall.by_law is not None:
        ends = before.trial, after.trial
        without = jnp.where(wall.by_law, dense_output.zero(pushes_with, *ends), without)
    finish = jnp.where(parted, jnp.where(ends[0] * ends[1] < 0.0, without, through), 1.0)
    begin = jnp.where(met, jnp.where(entered, through, without), 0.0)
    at_criterion, yields = jnp.zeros_like(y), jnp.zeros_like(entered)
    if wall.envelope is not None:
        reach = elastic + growth.plus(0.0, jnp.where(wall.included > 0.0, damping, 0.0))
        short = reach.plus(-wall.envelope.criterion(before.largest))
        at_criterion = jnp.where(short.at(0.0) < 0.0, short.crossing(), 0.0)
        yields = (short.at(0.0) < 0.0) & (short.at(1.0) > 0.0)
        inward = depth.plus(-plastic)  # the force begins at the plastic set, or where it would exceed the criterion at once
        dent = jnp.where(inward.at(1.0) > 0.0, inward.crossing(), 1.0)
        begins = jnp.where((short.at(0.0) < 0.0) & (short.at(1.0) > 0.0), jnp.minimum(dent, at_criterion), dent)
        starts = jnp.where(plastic > 0.0, jnp.where(entered, jnp.maximum(through, begins), begins), through)
        entering = met & saltation.entry_of_wall(wall, before, start, end, h)[0]
        begin = jnp.where(entering, starts, jnp.where(met, without, 0.0))
        at_criterion = jnp.where(entering, jnp.maximum(at_criterion, begin), at_criterion)
    event = jnp.where(entered | left, through, jnp.where(parted, finish, jnp.where(met, begin, jnp.where(buckled, at_criterion, 1.0))))
    event = jnp.where(left & parted, finish, event)
    homeward = place.crossing()
    at_first = wall.stands * end.x - wall.gap  # compression of the first wall
    at_first = at_first if end.rest is None else at_first + wall.stands * end.rest
    x0, x = side * start.x, side * end.x  # back at x = 0, or at a face beyond it

    def force(u: Array) -> Array:
        """The force of the wall [N] at a fraction of the step."""
        return wall.evaluate(before, place.at(u), speed.at(u))[1].force

    def within(part: WindowPart) -> Within:
        reached = depth.plus(-wall.rounded)
        struck = jnp.where(reached.at(0.0) < 0.0, reached.crossing(), 0.0)
        # a contact that lasts from the start of a step, or to its end, is cut by the bounds of the window, in derivatives too
        first, last = jnp.where(begin > part.start, begin, part.start), jnp.where(finish < part.end, finish, part.end)
        lasts = (pushed | pushes) & (last > first)
        last = jnp.where(lasts, last, first)
        if wall.envelope is None:
            impulse, peak = trial.integral(first, last), trial.extremes(first, last)[1]
            if wall.by_law is not None:
                largest = dense_output.through(tuple(pushes_with(first + (last - first) * node) for node in dense_output.FIFTHS))
                by_law = dense_output.integral(pushes_with, first, last), largest.extremes()[1]
                impulse, peak = (jnp.where(wall.by_law, *both) for both in zip(by_law, (impulse, peak), strict=True))
        else:
            # a wall that yields may do so from within the step on: the force is largest there, or where the elastic one is
            rate = trial.rate
            turn = jnp.where(rate.at(first) * rate.at(last) < 0.0, jax.lax.stop_gradient(rate.crossing(first, last)), last)
            drops, drop, _ = saltation.drop_of_wall(wall, before, start, end, h)

            def inside(place: Array) -> Array:
                return jnp.where(place > first, jnp.where(place < last, place, last), first)

            knee, parts = inside(at_criterion), inside(jnp.where(drops, drop, at_criterion))
            impulse = dense_output.integral(force, first, parts) + dense_output.integral(force, parts, last)
            limit = _force_at_criterion(wall, before, growth.at(at_criterion))
            peak = jnp.maximum(force(turn), jnp.where(yields & (at_criterion >= first) & (at_criterion <= last), limit, force(knee)))
            peak = jnp.maximum(peak, jnp.where(last >= 1.0, after.force, 0.0))
            peak = jnp.maximum(peak, jnp.where(first <= 0.0, with_tangent_of(force(first), before.force), 0.0))
        return Within(
            event=(part.start <= event) & (event < part.end),
            back=(part.start <= homeward) & (homeward < part.end),
            struck=(part.start <= struck) & ((struck < part.end) | (part.end >= 1.0)),
            force=jnp.where(lasts, jnp.maximum(peak, 0.0), 0.0),
            pressed=jnp.where(lasts, h * (last - first), 0.0),
            impulse=jnp.where(lasts, h * impulse, 0.0),
            compression=jnp.where(part.end > part.start, jnp.maximum(depth.extremes(part.start, part.end)[1], 0.0), 0.0),
        )

    return Push(
        time=since + h * jnp.where(buckled, at_criterion, event),
        velocity=_arrival(start, h, entered, event, speed.at(event)),
        entered=entered,
        left=left,
        left_time=since + h * through,
        parted=parted,
        buckled=buckled,
        back=jnp.where(wall.gap > 0.0, (x0 > 0.0) & (x <= 0.0), left),
        back_time=since + h * jnp.where(wall.gap > 0.0, homeward, event),
        low=at_first,
        high=at_first,
        room=wall.room,
        rounded=wall.rounded,
        within=None if part is None else within(part),
    )
