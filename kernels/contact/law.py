"""What a contact law tells the event loop, as data: linear phases, the guards that end them, and what holds after an event.

While a phase lasts the contact is a spring and a damper, so that the mass moves by m x'' + c x' + k x = constant + harmonic; or it holds
the mass. It lasts as long as its guards are not negative; each guard is a linear function of the motion since the phase was last looked at
(its anchor). When one is about to become negative, the law's `transition` says what comes next. All lanes do the same arithmetic: a phase
only selects numbers. Several contacts of one mass are one law, made of theirs (`combined.Combined`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import jax.numpy as jnp

from kernels.numerics.numbers import Array

Memory = TypeVar("Memory")


class Guard(NamedTuple):
    """A quantity that must not become negative: value + on_d d + on_v (v - v0) + on_a (a - a0), in any unit.

    Attributes:
        value: at the anchor, >= 0. Known exactly where it is 0 there: the law sets it, and nobody computes it.
        on_d, on_v, on_a: its rates with displacement since the anchor, velocity and acceleration.
    """

    value: Array
    on_d: Array
    on_v: Array
    on_a: Array


class Phase(NamedTuple):
    """A linear phase of motion.

    Attributes:
        stiffness, damping: what the contact adds to those of the oscillator [N/m], [N s/m], any sign.
        guards: what ends it. Of two that cross together the first counts; the other then crosses at once in the phase that follows.
        moves: 1, or 0 where the contact holds the mass where it is; None where it never does. Guards of a held mass see in a - a0 the
            external force over the mass, and nothing else moves.
        damping_slope: how the damping grows with the displacement from here on [N s/m^2]; None where no phase of the law has that.
    """

    stiffness: Array
    damping: Array
    guards: tuple[Guard, ...]
    moves: Array | None = None
    damping_slope: Array | None = None


class Point(NamedTuple):
    """The motion at an instant, as a law sees it.

    Attributes:
        x: displacement [m]. moved: displacement since the anchor [m]. v, a, jerk, snap: velocity [m/s] and its time derivatives.
        needed: all other forces on the mass if it were at rest there [N]: excitation, load, -k x, other contacts.
        drag: what damps the mass besides this contact [N s/m].
    """

    x: Array
    moved: Array
    v: Array
    a: Array
    jerk: Array
    snap: Array
    needed: Array
    drag: Array


class Law(Protocol[Memory]):
    """What the event loop asks of a contact law, or of several contacts taken together. `Memory` is a NamedTuple of floats."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events, the first for none."""

    def start(self, at: Point) -> tuple[Memory, Array]:
        """The memory at t = 0, and the force on the mass [N]; `at.a` to `at.snap` are those without contact."""

    def phase(self, memory: Memory, x: Array, v: Array, a: Array) -> Phase:
        """The present phase, looked at where displacement, velocity and acceleration are x, v and a; its number of guards is fixed."""

    def transition(self, memory: Memory, crossed: tuple[Array, ...], v0: Array, at: Point) -> tuple[Memory, Array, Array]:
        """What holds after an event.

        Args:
            memory: before it. crossed: which of the phase's guards crosses, at most one; none where the phase is only looked at again.
            v0: velocity where the phase was last looked at [m/s]. at: the motion at the event.

        Returns:
            The memory, and velocity [m/s] and acceleration [m/s^2] after the event: a reset is a velocity other than `at.v`.
        """

    def rest(self, memory: Memory, at: Point) -> tuple[Memory, Array, Array]:
        """What the motion comes to where events accumulate (Zeno): as `transition`, after many of them in next to no time."""

    def kind(self, memory: Memory, crossed: tuple[Array, ...], after: Memory) -> Array:
        """Which event it was, as a position in `kinds`, given the memory before and after it."""


def choose(mask: Array, one: Guard, other: Guard) -> Guard:
    """`one` where the mask holds, else `other`."""
    return Guard(*(jnp.where(mask, a, b) for a, b in zip(one, other, strict=True)))


def idle(like: Array) -> Guard:
    """A guard that never crosses."""
    zero = jnp.zeros_like(like)
    return Guard(zero + 1.0, zero, zero, zero)
