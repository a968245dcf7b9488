"""Poincare sections of the oscillators: the states at the instants t = n T, T = 2 pi / omega.

The coordinates y of a state are in units of velocity. The first is the velocity. With a spring or a wall the displacement is the second.
With penalised friction the stretch of a sticking contact is the third. The direction of slip is kept beside y. Elastic stops have no
memory: their force follows from displacement and velocity. What walls that buckle remember is kept beside y too, and changes in a period in
which they yield. Of two bodies y is the relative motion; their centre of mass, a linear oscillator, moves by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import wall_outcome
from tribosweep.kernels.contact.combined import Contacts
from tribosweep.kernels.contact.friction_phases import FrictionState
from tribosweep.kernels.contact.law import Instant
from tribosweep.kernels.contact.wall import Wall
from tribosweep.kernels.exact import oscillator, rigid_loop
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.models.arguments import LOOKS
from tribosweep.kernels.models.contacts import Kind
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import for_every_lane
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_pattern, impacts, rubbing, statistics
from tribosweep.kernels.observables.slip import Slip

NOT_OF_A_WINDOW = ("first_contact_time", "separation_time", "exit_time", "return_time")  # a steady motion has no first instant


class Section(NamedTuple):
    """The Poincare section of an event loop. Its states are those of the loop.

    Attributes:
        start: the state at t = 0. finite: whether all parameters are finite numbers.
        next_event: the state after one event -> the state after the next. Stage 1 ends after the periods given to `lasting`.
        read: state -> y (n,) [m/s]. write: (state, y) -> that state with this y, at t = 0 and in the window.
        direction: state -> +1 or -1 in slip, 0 in stick or without friction. turned: (state, direction) -> the state with that direction.
        scale: (state after some periods, y before them, speed amplitude of the excitation [m/s]) -> scales of y (n,) [m/s].
        observe: (state at the end of the window, parameters of `lasting`, whether the motion is periodic) -> observables by name, and the
            status code of a run that is well else.
        p: the parameters of the motion: resolved ones, of two bodies those of their relative motion.
        kept: state -> largest compressions, 0 until they have buckled, and plastic sets (2, walls) [m] of the walls that may buckle; None
            without such a wall.
    """

    start: Any
    finite: Array
    next_event: Callable[[Any], Any]
    read: Callable[[Any], Array]
    write: Callable[[Any, Array], Any]
    direction: Callable[[Any], Array]
    turned: Callable[[Any, Array], Any]
    scale: Callable[[Any, Array, Array], Array]
    observe: Callable[[Any, dict[str, Any], Array], tuple[dict[str, Array], Array]]
    p: dict[str, Any]
    kept: Callable[[Any], Array] | None = None

    def after(self, s: Any) -> Any:
        """The state at the end of the periods that begin with `s`."""
        return jax.lax.while_loop(_goes_on, self.next_event, for_every_lane(s, self.finite))

    def image(self, s: Any, y: Array, runs: Array, adds: bool = False) -> tuple[Any, Array, Array]:
        """The state after the periods that begin with `s` at y, and the Jacobian (n, n) of its section point with respect to y.

        The third result is whether what walls keep depends on y, because a wall has yielded on the way: there is more to the state then.

        A lane that does not run (`runs` false) stays where it is, whatever the others do. `adds`: the periods add to the sums of `s`.

        As in `forward_sensitivity`, each event is linearised once, and derivatives are carried as separate numbers. This loop
        differentiates with respect to y alone. The search for a periodic orbit needs no derivatives of the sums, so it carries none.
        """

        def split(s: Any) -> tuple[Any, Any]:
            return s._replace(sums=None, events=None), (s.sums, s.events)

        def join(motion: Any, rest: Any) -> Any:
            return motion._replace(sums=rest[0], events=rest[1])

        def event(carry: Any) -> Any:
            motion, rest, rates = carry
            after, push, left = jax.linearize(lambda motion: split(self.next_event(join(motion, rest))), motion, has_aux=True)
            return after, left, [push(rate) for rate in rates]

        motion, push, rest = jax.linearize(lambda y: split(self.write(s, y)), y, has_aux=True)
        rest = (s.sums, s.events) if adds else rest
        motion = motion._replace(stage=jnp.where(runs, motion.stage, 3.0))
        first = for_every_lane((motion, rest, [push(direction) for direction in jnp.eye(y.shape[0])]), self.finite)
        motion, rest, rates = jax.lax.while_loop(lambda carry: _goes_on(join(*carry[:2])), event, first)

        def ends(motion: Any) -> tuple[Array, Array]:
            last = join(motion, rest)
            return self.read(last), jnp.zeros_like(y) if self.kept is None else self.kept(last)

        _, push = jax.linearize(ends, motion)
        columns, kept = zip(*(push(rate) for rate in rates), strict=True)
        return join(motion, rest), jnp.stack(columns, axis=1), jnp.any(jnp.stack(kept) != 0.0)


def _goes_on(s: Any) -> Array:
    """Whether the periods are not over yet."""
    goes_on: Array = (s.stage < 2.0) & (s.events < rigid_loop.MOST_EVENTS)
    return goes_on


Build = Callable[[dict[str, Any]], Section]


def lasting(p: dict[str, Any], periods: Array | float) -> dict[str, Any]:
    """The parameters of a run over a number of periods of the excitation, all of it in the window."""
    end = periods * (2.0 * math.pi / p["omega"])
    return {**p, "window_start": jnp.zeros_like(end), "window_end": end, "end": end}


def rigid(p: dict[str, Any], free: bool) -> Section:
    """The section of a mass with rigid friction alone (`rigid_loop.machine`); `free` promises k = c = 0."""
    machine = rigid_loop.machine(p, free)
    omega, zero = p["omega"], jnp.zeros_like(machine.start.t)

    def read(s: rigid_loop.RigidState) -> Array:
        return jnp.stack([s.anchor.v] if free else [s.anchor.v, jnp.where(p["k"] > 0.0, s.x * omega, 0.0)])

    def write(s: rigid_loop.RigidState, y: Array) -> rigid_loop.RigidState:
        origin = p["x0"] + zero
        placed = machine.place(s, origin if free else jnp.where(p["k"] > 0.0, y[1] / omega, origin), y[0])
        sums = rubbing.established(zero, (placed.direction != 0.0) & (placed.anchor.v != 0.0))
        return placed._replace(stage=jnp.where(machine.finite, placed.stage, 3.0), sums=sums)

    return Section(
        machine.start, machine.finite, machine.next_event, read, write,
        lambda s: s.direction, lambda s, direction: s._replace(direction=direction),
        lambda s, y, speed: _slipped(s.sums.slip, y, speed, omega), lambda s, p, _: (_rubbed(s.sums, p), zero), p,
    )  # fmt: skip


def contacts(p: dict[str, Any], kind: Kind) -> Section:
    """The section of an oscillator that `event_loop` runs: with penalised friction, walls, or friction and walls."""
    made = oscillator.setup(p, kind)
    p, machine = made.p, oscillator.build(made)
    friction, walls = made.friction, made.walls
    k_t = None if friction is None else friction.spring
    omega, zero = p["omega"], jnp.zeros_like(machine.start.t)
    held = jnp.ones_like(zero, dtype=bool) if walls else p["k"] > 0.0

    def rubs(s: Any) -> FrictionState:
        contact: FrictionState = s.memory.friction
        return contact

    def read(s: Any) -> Array:
        y = [s.anchor.v, jnp.where(held, s.x * omega, 0.0)]
        if k_t is not None:
            y.append(jnp.where(rubs(s).direction == 0.0, -rubs(s).force / k_t, 0.0) * omega)
        return jnp.stack(y)

    def write(s: Any, y: Array) -> Any:
        v, x = y[0], jnp.where(held, y[1] / omega, p["x0"])
        sine, _ = sincos(wrap(p["phase"] + zero))
        needed = made.excitation.force(sine) - p["k"] * x
        free = Instant(x, zero, v, (needed - p["c"] * v) / p["m"], zero, zero, needed, p["c"])
        started = [wall.start(free, wall.kept(each, s.x)) for wall, each in zip(walls, s.memory.walls, strict=True)]
        pressed, push = tuple(memory for memory, _ in started), sum((force for _, force in started), zero)
        if friction is None:
            contact = None
            a = (needed + push - p["c"] * v) / p["m"]
        else:
            contact = rubs(s)
            slips = contact.direction != 0.0
            direction = jnp.where(slips & (v != 0.0), jnp.sign(v), contact.direction)
            hold = -(needed + push) if k_t is None else -k_t * y[2] / omega
            force = jnp.where(slips, -friction.law.dynamic_force * direction, hold)
            a = (needed + push - p["c"] * v + force) / p["m"]
            if k_t is None:  # rigid friction that sticks holds the mass at rest
                v, a = jnp.where(slips, v, 0.0), jnp.where(slips, a, 0.0)
            a = jnp.where(slips & (v == 0.0), s.anchor.a, a)
            rising = jnp.where(v == 0.0, contact.rising, jnp.where(direction * a >= 0.0, jnp.abs(direction), 0.0))
            contact = contact._replace(direction=direction, rising=rising, force=force, last=jnp.where(slips, direction, contact.last))
        if friction is not None or len(walls) > 1:  # what `start` saw was not the whole acceleration
            pressed = tuple(wall.refreshed(each, x, v, a) for wall, each in zip(walls, pressed, strict=True))
        placed = machine.place(s, x, v, a, Contacts(contact, pressed))
        rubbed = None if friction is None else rubbing.established(zero, slips & (v != 0.0))
        hits = tuple(
            impacts.nothing(wall.compression(each, x), each.side == wall.stands) for wall, each in zip(walls, pressed, strict=True)
        )
        seen = None
        if walls:
            seen = impact_pattern.init(zero) if s.sums.impacting is None else impact_pattern.window(s.sums.impacting)
        sums = oscillator.EventSums(rubbed, hits, seen, statistics=made.sums.statistics)
        return placed._replace(stage=jnp.where(made.finite, placed.stage, 3.0), sums=sums)

    def scale(s: Any, y: Array, speed: Array) -> Array:
        if not walls:
            return _slipped(s.sums.rubbing.slip, y, speed, omega)
        return jnp.full_like(y, speed + jnp.max(jnp.abs(y)))

    def observe(s: Any, lasts: dict[str, Any], periodic: Array) -> tuple[dict[str, Array], Array]:
        found, status = rubbing.nothing(zero) if friction is None else _rubbed(s.sums.rubbing, lasts), zero
        if walls:
            speed = jnp.abs(made.excitation.amplitude) / (p["m"] * omega)
            struck, status = _struck(made, s, lasts, speed, periodic)
            found |= struck
        return found | _seen(s.sums.statistics, p.get(LOOKS)), status

    start = machine.start
    if walls:
        start = start._replace(sums=start.sums._replace(impacting=impact_pattern.init(zero)))
    direction, turned = (_direction, _turned) if friction is not None else (lambda s: jnp.zeros_like(s.t), lambda s, _: s)
    return Section(start, made.finite, machine.next_event, read, write, direction, turned, scale, observe, p, _remembers(walls))


def _remembers(walls: tuple[Wall, ...]) -> Callable[[Any], Array] | None:
    """What `Section.kept` is of these walls."""
    if all(wall.envelope is None for wall in walls):
        return None

    def kept(s: Any) -> Array:
        remembered = [wall.kept(each, s.x) for wall, each in zip(walls, s.memory.walls, strict=True)]
        return jnp.stack([jnp.stack([each.buckled * each.largest, each.plastic]) for each in remembered if each is not None], axis=1)

    return kept


def _direction(s: Any) -> Array:
    """The direction of slip of a state with friction."""
    direction: Array = s.memory.friction.direction
    return direction


def _turned(s: Any, direction: Array) -> Any:
    """The state with this direction of slip."""
    return s._replace(memory=s.memory._replace(friction=s.memory.friction._replace(direction=direction, last=direction)))


def _struck(made: oscillator.EventSetup, s: Any, lasts: dict[str, Any], speed: Array, periodic: Array) -> tuple[dict[str, Array], Array]:
    """The observables of walls, the regime, and the status. `speed`: that which the excitation alone would give the mass [m/s]."""
    zero, sums, ends = jnp.zeros_like(speed), s.sums, oscillator.wall_ends(made, s)
    found, status = wall_outcome.finish(made.kind.walls, made.walls, ends, sums.shocks, lasts, zero)
    if "buckled" in found:  # in any period before
        for name, end in zip(wall_outcome.prefixes(made.kind.walls), ends, strict=True):
            found |= {name + "buckled": end.buckled, name + "buckling_time": zero + jnp.nan}
        found |= {**wall_outcome.of_either([end.buckled for end in ends]), "buckling_time": zero + jnp.nan}
    found |= dict.fromkeys(NOT_OF_A_WINDOW, zero + jnp.nan)
    found["regime"] = zero if sums.impacting is None else impact_pattern.finish(sums.impacting, speed, periodic)
    if made.centre is not None:
        bodies = made.centre.settled(made.p).bodies({**made.p, "end": lasts["end"]}, s.x, s.anchor.v)
        found |= dict(zip(("x_end", "v_end", "x_end_2", "v_end_2"), bodies, strict=True))
    return found, status


def _seen(sums: statistics.Statistics | None, looks: Array | None) -> dict[str, Array]:
    """The statistics, if there are any; NaN where they were not looked at."""
    found = {} if sums is None else statistics.finish(sums)
    return found if looks is None else {name: jnp.where(looks > 0.0, value, jnp.nan) for name, value in found.items()}


def _slipped(slip: Slip, y: Array, speed: Array, omega: Array) -> Array:
    """The scales of y without a wall: the largest speed for the velocity, the distance slipped for the rest; `speed` without slip."""
    sizes = jnp.where(jnp.arange(y.shape[0]) == 0, slip.top_speed, slip.distance * omega)
    return jnp.where(slip.distance > 0.0, sizes, speed)


def _rubbed(sums: rubbing.Rubbing, p: dict[str, Any]) -> dict[str, Array]:
    """The observables of friction. Slip that lasts through the whole window counts as one phase."""
    slip = sums.slip
    phases = jnp.maximum(slip.phases, jnp.where(slip.distance > 0.0, 1.0, 0.0))
    return rubbing.finish(sums._replace(slip=slip._replace(phases=phases)), p)
