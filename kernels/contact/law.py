"""The interface of contact laws to the event loop: linear phases, the guards that end them, and the transitions at events.

In a phase the contact either acts as a spring and a damper or holds the mass. In the first case m x'' + c x' + k x = constant + harmonic.
A phase lasts while none of its guards is negative. A guard is a linear function of the motion since the last evaluation of the phase (the
anchor). When a guard is about to become negative, `transition` returns the next phase. All lanes do the same arithmetic: a phase only
selects numbers. `combined.Combined` makes one law of the several contacts of a mass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array

Memory = TypeVar("Memory")


class Guard(NamedTuple):
    """A quantity that must not become negative: value + on_d d + on_v (v - v0) + on_a (a - a0) + on_n (n - n0) + on_t t, in any unit.

    Attributes:
        value: at the anchor, >= 0. A value of 0 is exact: the law sets it and does not compute it.
        on_d, on_v, on_a: its rates with displacement since the anchor, velocity and acceleration.
        on_n, on_t: its rates with a normal force that varies (`Damped.swing`) and with time; None where no guard of the law has any.
    """

    value: Array
    on_d: Array
    on_v: Array
    on_a: Array
    on_n: Array | None = None
    on_t: Array | None = None


class Phase(NamedTuple):
    """A linear phase of motion.

    Attributes:
        stiffness, damping: what the contact adds to those of the oscillator [N/m], [N s/m], any sign.
        guards: the conditions that end it. If two cross together, the first counts; the other crosses at the start of the next phase.
        moves: 1 if the mass moves, 0 if the contact holds it; None if the contact never holds it. For a held mass, a - a0 in the guards
            is the change of the external force divided by the mass; the other terms are 0.
        damping_slope: growth of the damping with the displacement [N s/m^2]; None if the damping is constant in all phases of the law.
        on_n: growth of the force on the mass with a normal force that varies; None if no phase of the law has any.
        carries: velocity at which the surface moves [m/s], and the mass with it while the contact holds it; None if the surface rests.
            The stiffness then acts on the way against the surface.
        own_stiffness: stiffness of the contact with that surface alone [N/m]; None where `carries` is None.
    """

    stiffness: Array
    damping: Array
    guards: tuple[Guard, ...]
    moves: Array | None = None
    damping_slope: Array | None = None
    on_n: Array | None = None
    carries: Array | None = None
    own_stiffness: Array | None = None


class Instant(NamedTuple):
    """Motion and forces at an instant, the input of a law.

    Attributes:
        x: displacement [m]. moved: displacement since the anchor [m]. v, a, jerk, snap: velocity [m/s] and its time derivatives.
        needed: all other forces on the mass if it were at rest there [N]: excitation, load, -k x, other contacts.
        drag: damping of the mass without that of this contact [N s/m].
        jumped: whether the external force has just jumped; `needed` and `a` are those after it. None if it never does (compile-time).
        elapsed: time since the anchor [s]; None at t = 0.
        swing: the part of the normal force that varies [N] and its rate [N/s]; None where the normal force is constant.
    """

    x: Array
    moved: Array
    v: Array
    a: Array
    jerk: Array
    snap: Array
    needed: Array
    drag: Array
    jumped: Array | None = None
    elapsed: Array | None = None
    swing: tuple[Array, Array] | None = None


class ContactLaw(Protocol[Memory]):
    """A contact law, or several contacts combined, for the event loop. `Memory` is a NamedTuple of floats."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events. The first name stands for no event."""

    def start(self, at: Instant) -> tuple[Memory, Array]:
        """The memory at t = 0 and the force on the mass [N]. `at.a` to `at.snap` are the values without contact."""

    def phase(self, memory: Memory, x: Array, v: Array, a: Array) -> Phase:
        """The present phase, evaluated at displacement x, velocity v and acceleration a. The number of guards is fixed."""

    def transition(self, memory: Memory, crossed: tuple[Array, ...], v0: Array, at: Instant) -> tuple[Memory, Array, Array]:
        """The memory and the motion after an event.

        Args:
            memory: before the event. crossed: one mask per guard; at most one is true, and none if the phase is only evaluated again.
            v0: velocity at the last evaluation of the phase [m/s]. at: the motion at the event.

        Returns:
            The memory, and the velocity [m/s] and acceleration [m/s^2] after the event. After a rebound the velocity differs from `at.v`.
        """

    def rest(self, memory: Memory, at: Instant) -> tuple[Memory, Array, Array]:
        """The limit of the motion where events accumulate (Zeno). Arguments and results are those of `transition`."""

    def kind(self, memory: Memory, crossed: tuple[Array, ...], after: Memory) -> Array:
        """Position of the event in `kinds`, from the memory before and after it."""


def choose(mask: Array, one: Guard, other: Guard) -> Guard:
    """`one` where the mask holds, else `other`."""
    one, other = alike(one, other)
    return each_of(lambda a, b: jnp.where(mask, a, b), one, other)


def each_of(function: Callable[..., Array], *guards: Guard) -> Guard:
    """The guard whose every number is a function of the same numbers of other guards, which are `alike`."""
    made: Guard = jax.tree.map(function, *guards)
    return made


def alike(*guards: Guard) -> tuple[Guard, ...]:
    """The same guards with rates of 0 where one has a rate and others have none."""
    for name in ("on_n", "on_t"):
        if any(getattr(guard, name) is not None for guard in guards):
            zero = jnp.zeros_like(guards[0].value)
            guards = tuple(guard if getattr(guard, name) is not None else guard._replace(**{name: zero}) for guard in guards)
    return guards


def idle(like: Array) -> Guard:
    """A guard that never crosses."""
    zero = jnp.zeros_like(like)
    return Guard(zero + 1.0, zero, zero, zero)
