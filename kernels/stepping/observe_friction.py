"""Friction as a time scheme observes it: the sums of `observables.rubbing`, with fewer numbers to carry from step to step.

Every number that a step loop carries costs time. The definition of the observables (`rubbing.update`) also carries whether the
present slip phase, and the present rest, is already counted. `Tally` leaves that out: in the window each is counted, unless it begins now
or none was counted before. Where all steps lie in the window, `Few` sums some of them in three numbers, more accurately in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import FrictionLaw, Sliding, SupportStep
from tribosweep.kernels.contact.grip import UNMOVED, Grip
from tribosweep.kernels.contact.penalised import SLIP_SPEED_FLOOR
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import moved_with
from tribosweep.kernels.observables import regime, rubbing, slip
from tribosweep.kernels.stepping import dense_output, window_bounds
from tribosweep.kernels.stepping.dense_output import Polynomial

BASE = 256.0  # three counts below BASE fit in one whole number of 24 bits, which float32 holds exactly
MOST = int(BASE) - 1  # largest number of steps that `Few` can count


class Tally(NamedTuple):
    """Sums over the window: see `slip.Slip`; `stops`: number of rests after the first slip of the run.

    `wear` and `friction` are the wear energy and the dissipated energy [J] where the law integrates them (see `Sliding`), else None.
    """

    distance: Array
    drift: Array
    stuck_time: Array
    top_speed: Array
    phases: Array
    stops: Array
    wear: Array | None = None
    friction: Array | None = None


class SlipPart(NamedTuple):
    """The part of a step that lies in the window.

    Attributes:
        duration: length [s]. displacement: [m]. rubbed: slip and energies where the law gives them.
        within: what slips in it, where that is known better than for the step as a whole; else None.
        late: where slip begins and ends within it (see `FrictionLaw.late`).
        bounds: where the window begins and ends in it; not read where there is `within`, whose `top_speed` has these derivatives.
    """

    duration: Array
    displacement: Array
    rubbed: Sliding | None = None
    within: SlipWithin | None = None
    late: tuple[Array, Array] | None = None
    bounds: Bounds | None = None


class Bounds(NamedTuple):
    """The bounds of a window in a step.

    Attributes:
        acceleration: at the end of the step [m/s^2].
        begins, ends: how much later than the step ends the window begins and ends, if it does so in the step: 0 [s], with derivatives.
    """

    acceleration: Array
    begins: Array
    ends: Array


class SlipWithin(NamedTuple):
    """Slip within a step.

    Attributes:
        share: the fraction of the step that slips. distance: slipped then [m]. top_speed: largest speed in it [m/s].
        at_once: whether it slips from its start on.
    """

    share: Array
    distance: Array
    top_speed: Array
    at_once: Array


class Few(NamedTuple):
    """Sums of at most MOST steps; `counts`: steps that do not stick + BASE x slip phases begun + BASE^2 x rests begun."""

    distance: Array
    top_speed: Array
    counts: Array
    wear: Array | None
    friction: Array | None


def init(like: Array, law: FrictionLaw) -> Tally:
    """Sums before the run; `wear` and `friction` only where the law of friction integrates them."""
    zero = jnp.zeros_like(like)
    wear, friction = law.observes
    return Tally(zero, zero, zero, zero, zero, zero, zero if wear else None, zero if friction else None)


def _more(total: Array | None, work: Array | None, counts: Array) -> Array | None:
    """A sum of energies [J] plus one more energy, where that counts."""
    return None if total is None or work is None else total + jnp.where(counts, work, 0.0)


def update(sums: Tally, before: Grip, after: Grip, speed: Array, part: SlipPart) -> Tally:
    """Sums after one more step.

    Args:
        before, after: the contact at the start and end of the step. speed: velocity at its end, against the support [m/s].
        part: its part in the window.
    """
    inside = part.duration > 0.0
    slips = after.slips & inside
    begins = slips & (after.begins(before) | (sums.phases == 0.0))
    stops = after.rests & inside & (after.stops(before) | (sums.stops == 0.0))
    rubbed = part.rubbed or Sliding(part.displacement)
    rubs, works = rubbed.slips(after) & inside, rubbed.works(after) & inside
    touching = part.duration if sums.wear is None else jnp.where(after.is_away, 0.0, part.duration)
    stuck, slid, top = jnp.where(after.slips, 0.0, touching), jnp.abs(rubbed.slid), jnp.abs(speed)
    if part.late is not None and part.within is None and rubbed.always is None:  # the step counts as a whole: not in derivatives
        begins_at, ends_at = part.late
        stuck = moved_with(stuck, (begins_at - ends_at) * touching)
        slid = moved_with(slid, -begins_at * slid)
        rubbed = rubbed._replace(
            wear=None if rubbed.wear is None else moved_with(rubbed.wear, -begins_at * rubbed.wear),
            friction=None if rubbed.friction is None else moved_with(rubbed.friction, -begins_at * rubbed.friction),
        )
    if part.bounds is not None and part.within is None:
        # a largest speed at the first or last end of a step in the window stands for that at its bound
        growth = jnp.sign(speed) * part.bounds.acceleration
        top = moved_with(top, jnp.minimum(growth, 0.0) * part.bounds.begins + jnp.maximum(growth, 0.0) * part.bounds.ends)
    if part.within is not None:
        some = part.within.share > 0.0
        # a step that lands slipping after its middle has no share, and does not stick
        stuck, top = jnp.where(after.slips & ~some, 0.0, (1.0 - part.within.share) * touching), part.within.top_speed
        if rubbed.always is None:
            rubs, works = inside & some, inside & (some | works)
            slid = part.within.distance
    return Tally(
        distance=sums.distance + jnp.where(rubs, slid, 0.0),
        drift=sums.drift + part.displacement,
        stuck_time=sums.stuck_time + stuck,
        top_speed=jnp.where(rubs, jnp.maximum(sums.top_speed, top), sums.top_speed),
        phases=sums.phases + choice(begins, 1.0, 0.0, speed),
        stops=sums.stops + choice(stops, 1.0, 0.0, speed),
        wear=_more(sums.wear, rubbed.wear, works),
        friction=_more(sums.friction, rubbed.friction, works),
    )


def along(law: FrictionLaw, step: SupportStep, course: Polynomial, begin: Array) -> tuple[Sliding | None, SlipWithin]:
    """Slip and energies of a step along a `course` of the displacement against the support [m], and when it slips.

    The largest speed is that from the fraction `begin` of the step on, which is 0 and has a derivative.

    A slip ends where the velocity is 0, and begins where the spring of the contact reaches the static limit. A step can hold both.
    """
    before, after, speed = step.before, step.after, dense_output.velocity(course, step.h)
    zero = jnp.zeros_like(step.slid)
    whole = law.rubs(step)
    was = before.slips & (before.slip_state * speed.at(0.0) > SLIP_SPEED_FLOOR)  # else a slip that the contact tries to hold
    if whole is not None and whole.touches is not None:
        was = was & whole.touches
    now = after.slips if whole is None or whole.always is not None else whole.slips(after)
    goes_on = was & now & ((before.slip_state * after.slip_state > 0.0) | after.is_away)
    stops = jnp.where(speed.at(0.0) * speed.at(1.0) < 0.0, speed.crossing(), 1.0)
    stopped = jnp.where(was, stops, zero)  # from there on the spring is stretched
    begins = jnp.where(after.is_away | before.is_away, zero, law.lets_go_at(step, course, speed, stopped))
    first, last = jnp.where(now & ~goes_on, begins, zero), jnp.where(now, 1.0, stops)
    again = was & now & ~goes_on  # a slip, a hold and a slip the other way
    share = jnp.where(now | was, last - first, zero) + jnp.where(again, stops, zero)
    distance = jnp.abs(course.at(last) - course.at(first)) + jnp.where(again, jnp.abs(course.at(stops)), zero)
    slowest, fastest = speed.extremes(begin)
    within = SlipWithin(share, distance, jnp.maximum(jnp.abs(slowest), jnp.abs(fastest)), was | (now & ~goes_on & (begins <= 0.0)))
    if whole is None or whole.always is not None:
        return whole, within
    rubbed, earlier = law.rubs_between(step, first, last), law.rubs_between(step, zero, jnp.where(again, stops, zero))
    if rubbed is None or earlier is None:
        return None, within
    return rubbed._replace(wear=_both(rubbed.wear, earlier.wear), friction=_both(rubbed.friction, earlier.friction)), within


def from_later(sums: Tally, law: FrictionLaw, step: SupportStep, slips: SlipWithin, v: Array, late: Array) -> Tally:
    """The sums after a first step in a window that begins `late` [s] after it, 0 with a derivative.

    They lack slip, rest and energy of that time.

    `v`: velocity at the start of the step [m/s]. For laws whose contact slips or does not (`Sliding.always`).
    """
    begin = window_bounds.part_of(late, step.h)
    late = late.astype(v.dtype)
    lost = law.rubs_between(step, jnp.zeros_like(begin), begin)
    rests = ~slips.at_once if sums.wear is None else ~slips.at_once & ~step.before.is_away

    def less(total: Array | None, work: Array | None) -> Array | None:
        return total if total is None or work is None else moved_with(total, jnp.where(slips.at_once, -work, 0.0))

    return sums._replace(
        distance=moved_with(sums.distance, jnp.where(slips.at_once, -jnp.abs(step.v0), 0.0) * late),
        drift=moved_with(sums.drift, -v * late),
        stuck_time=moved_with(sums.stuck_time, jnp.where(rests, -late, 0.0)),
        wear=less(sums.wear, None if lost is None else lost.wear),
        friction=less(sums.friction, None if lost is None else lost.friction),
    )


def _both(one: Array | None, other: Array | None) -> Array | None:
    """The sum of two energies [J] that a law integrates; None where it does not."""
    return None if one is None or other is None else one + other


def counted(sums: Tally, grip: Grip) -> Grip:
    """The contact after the first step of the window. A slip phase that is not counted yet begins anew when it goes on."""
    held = ~grip.slips & (grip.slip_state != 0.0) & (sums.phases == 0.0)
    if sums.wear is not None:
        held = held & ~grip.is_away
    return grip._replace(slip_state=jnp.where(held, UNMOVED, grip.slip_state))


def few(sums: Tally) -> Few:
    """The sums before the first of a few steps."""
    zero = jnp.zeros_like(sums.distance)
    return Few(zero, sums.top_speed, zero, *(None if total is None else zero for total in (sums.wear, sums.friction)))


def one_more(sums: Few, before: Grip, after: Grip, speed: Array, moved: Array, rubbed: Sliding | None = None) -> Few:
    """Sums after one more step, of displacement `moved` [m]. The other arguments are those of `update`."""
    rubbed = rubbed or Sliding(moved)
    works = rubbed.works(after)
    # a step that holds adds 1e-30 at most; `add` leaves that out if no step slips
    slid, speed, slips = jnp.abs(after.slip_state * rubbed.slid), after.slip_state * speed, after.slip_state * after.slip_state
    if sums.wear is not None:  # where contact may be lost
        rubs = rubbed.slips(after)
        slid, speed = jnp.where(rubs, jnp.abs(rubbed.slid), 0.0), jnp.where(rubs, jnp.abs(speed), 0.0)
        slips = slips + choice(after.is_away, 1.0, 0.0, speed)
    counts = sums.counts + slips
    counts = jnp.where(after.begins(before), counts + BASE, counts)
    return Few(
        distance=sums.distance + slid,
        top_speed=jnp.where(speed > sums.top_speed, speed, sums.top_speed),
        counts=jnp.where(after.stops(before), counts + BASE * BASE, counts),
        wear=_more(sums.wear, rubbed.wear, works),
        friction=_more(sums.friction, rubbed.friction, works),
    )


def add(sums: Tally, now: Few, drift: Array, h: Array, steps: Array) -> Tally:
    """Sums after a few `steps` (a whole float) of length `h` [s], in which the mass moved by `drift` [m]."""
    stops = jnp.floor(now.counts / BASE**2)
    phases = jnp.floor(now.counts / BASE) - BASE * stops
    slips = jnp.round(now.counts - BASE * (phases + BASE * stops))
    return Tally(
        sums.distance + (jnp.where(slips > 0.0, now.distance, 0.0) if sums.wear is None else now.distance),
        sums.drift + drift,
        sums.stuck_time + (steps - slips) * h,
        jnp.where(slips > 0.0, now.top_speed, sums.top_speed),
        sums.phases + phases,
        sums.stops + stops,
        None if sums.wear is None or now.wear is None else sums.wear + now.wear,
        None if sums.friction is None or now.friction is None else sums.friction + now.friction,
    )


def finish(sums: Tally, p: dict[str, Any]) -> dict[str, Array]:
    """The observables of friction and wear by name (SI units; `regime` as its code)."""
    zero, seen = jnp.zeros_like(sums.stops), jnp.minimum(sums.stops, 1.0)
    slips = slip.Slip(sums.distance, sums.drift, sums.stuck_time, sums.top_speed, sums.phases, zero)
    return rubbing.finish(rubbing.Rubbing(slips, regime.Regime(zero, seen, sums.stops, zero)), p, sums.wear, sums.friction)
