"""The motion and the forces of one oscillator at an instant between two events or at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact import event_loop, oscillator
from tribosweep.kernels.models.contacts import Kind
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.numbers import Array


class Moment(NamedTuple):
    """The motion and the forces at an instant.

    Attributes:
        x, v: displacement [m] and velocity [m/s]. driven: excitation plus load [N].
        friction: force on the mass [N]. wall: sum of the magnitudes of the wall forces [N].
        reaction: sum of the forces of the mass on the walls [N], positive on a wall at the right.
    """

    x: jax.Array
    v: jax.Array
    driven: jax.Array
    friction: jax.Array
    wall: jax.Array
    reaction: jax.Array


def between(made: oscillator.EventSetup, s: Any) -> Callable[[jax.Array], Moment]:
    """A function tau -> `Moment`, with tau the time since the state `s` of the event loop [s]. It holds up to the next event."""
    p, excitation = made.p, made.excitation
    motion, course = oscillator.build(made).course(s)
    contact, law, omega = s.memory.friction, made.friction, excitation.omega
    follows = None if law is None or contact is None else law.following(contact)
    belt = None if law is None else law.belt

    def moment(tau: jax.Array) -> Moment:
        m = motion(tau)
        x, v = s.x + m.d, m.v
        friction = wall = reaction = jnp.zeros_like(x)
        driven = event_loop.moving_force(excitation, sincos(s.anchor.angle + omega * tau)[0], s.pieces)
        for force, piece in zip(event_loop.piecewise_of(excitation), s.pieces, strict=True):
            driven = driven + force.force(piece, s.t + tau)
        for n, (each, pressed) in enumerate(zip(made.walls, s.memory.walls, strict=True)):
            y, side = each.compression(pressed, x), pressed.side
            push = each.force(pressed, y).at(y, side * v)
            wall, reaction = (push, side * push) if n == 0 else (wall + push, reaction + side * push)
        if contact is not None and law is not None:
            needed = -(p["k"] * x + reaction - driven)
            moved = m.d if belt is None else m.d - belt * tau
            if belt is not None and law.spring is None:
                needed = needed - p["c"] * belt
            holds = law.holding_force(contact, moved, m.v - s.anchor.v, needed)
            slides, normal = contact.force, course(tau).normal
            if follows is not None and normal is not None:
                slides = slides + follows * normal[0]
            friction = jnp.where(contact.holds, holds, slides + wall * 0.0)
        return Moment(x, v, driven, friction, wall, reaction)

    return moment


def simulate(p: dict[str, Any], kind: Kind, nested: bool = False) -> tuple[dict[str, Array], Array]:
    """As `oscillator.simulate`, with the motion and the forces at the end of the run as further observables.

    These are x [m], v [m/s], friction_force [N] and wall_force [N]. For two bodies x and v are those of the first minus those of the
    second. Arguments, derivatives and status are those of `oscillator.simulate`. Validated by tests/kernels/exact/test_forces.py.
    """
    made = oscillator.setup(p, kind)
    last = oscillator.last_state(p, kind, nested)
    found, status = oscillator.finish(made, last, event_loop.outcome(last, made.finite), jnp.zeros_like(last.t))
    now = between(made, last)(jnp.zeros_like(last.t))
    return found | {"x": now.x, "v": now.v, "friction_force": now.friction, "wall_force": now.wall}, status
