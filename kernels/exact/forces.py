"""The motion and the forces of one oscillator at an instant between two events or at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kernels.exact import event_loop, oscillator
from kernels.numerics.elementary import sincos
from kernels.numerics.numbers import Array
from kernels.segments.damped import Damped
from kernels.segments.taylor import TaylorSegment


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
    p, law = made.p, made.law
    phase = law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
    moves = 1.0 if phase.moves is None else phase.moves
    excitation = made.excitation
    alpha, omega = event_loop.amplitude_of(excitation, s.pieces) / p["m"], excitation.omega
    zeta, w2 = 0.5 * (p["c"] + phase.damping) / p["m"], (p["k"] + phase.stiffness) / p["m"]
    ramp = event_loop.ramp_of(excitation, s.pieces, p["m"])
    segment = Damped(alpha, omega, zeta, w2, ramp, event_loop.pace_of(excitation, p["end"]))
    contact = s.memory.friction

    def moment(tau: jax.Array) -> Moment:
        m = segment.motion(s.anchor, tau)
        if phase.damping_slope is not None:
            slope = moves * phase.damping_slope
            taylor = TaylorSegment(alpha, omega, zeta, w2, slope / p["m"], ramp).motion(s.anchor, jnp.where(slope != 0.0, tau, 0.0))
            m = jax.tree.map(lambda other, one: jnp.where(slope != 0.0, other, one), taylor, m)
        x, v = s.x + m.d * moves, m.v * moves
        friction = wall = reaction = jnp.zeros_like(x)
        driven = event_loop.moving_force(excitation, sincos(s.anchor.angle + omega * tau)[0], s.pieces)
        for force, piece in zip(event_loop.piecewise_of(excitation), s.pieces, strict=True):
            driven = driven + force.force(piece, s.t + tau)
        for n, (each, pressed) in enumerate(zip(made.walls, s.memory.walls, strict=True)):
            y, side = each.compression(pressed, x), pressed.side
            push = each.force(pressed, y).at(y, side * v)
            wall, reaction = (push, side * push) if n == 0 else (wall + push, reaction + side * push)
        if contact is not None and made.friction is not None:
            holds = made.friction.holding_force(contact, m.d, m.v - s.anchor.v, -(p["k"] * x + reaction - driven))
            friction = jnp.where(contact.direction == 0.0, holds, contact.force + wall * 0.0)
        return Moment(x, v, driven, friction, wall, reaction)

    return moment


def simulate(p: dict[str, Any], kind: oscillator.Kind, nested: bool = False) -> tuple[dict[str, Array], Array]:
    """As `oscillator.simulate`, with the motion and the forces at the end of the run as further observables.

    These are x [m], v [m/s], friction_force [N] and wall_force [N]. For two bodies x and v are those of the first minus those of the
    second. Arguments, derivatives and status are those of `oscillator.simulate`. Validated by tests/kernels/exact/test_forces.py.
    """
    made = oscillator.setup(p, kind)
    last = oscillator.last_state(p, kind, nested)
    found, status = oscillator.finish(made, last, event_loop.outcome(last, made.finite), jnp.zeros_like(last.t))
    now = between(made, last)(jnp.zeros_like(last.t))
    return found | {"x": now.x, "v": now.v, "friction_force": now.friction, "wall_force": now.wall}, status
