"""What a step rubs where friction varies: slip against a support that moves, and the works of a normal force and a coefficient that vary.

    wear = integral of F_n |w|,   dissipation = integral of mu(w) F_n |w|,   w = v - belt speed

over a step by Simpson's rule, with the velocity of the cubic through positions and velocities at its ends: of order 4 where F_n is smooth,
and F_n times the distance where it is constant.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.contact.coulomb import Grip
from kernels.contact.varying_friction import Varied, is_away
from kernels.numerics.numbers import Array


class Swings(NamedTuple):
    """What presses the mass at the start, in the middle and at the end of a step [N]."""

    start: Array
    middle: Array
    end: Array

    def at(self, part: Array) -> Array:
        """The same at a part of the step in [0, 1], by the parabola through them."""
        early, late = (1.0 - part) * (1.0 - 2.0 * part), part * (2.0 * part - 1.0)
        return early * self.start + 4.0 * part * (1.0 - part) * self.middle + late * self.end


class Rubbed(NamedTuple):
    """What a step did against the support.

    Attributes:
        slid: displacement against it [m], of either sign.
        wear: integral of F_n |w| [J]; touches: whether the mass is pressed in the middle of it, which tells whether it counts as slip where
            contact is lost or made; both None where F_n is constant.
        friction: integral of mu(w) F_n |w| [J]; None where mu is constant.
    """

    slid: Array
    wear: Array | None = None
    touches: Array | None = None
    friction: Array | None = None

    def slips(self, after: Grip) -> Array:
        """Whether a step counts as slip, given the contact at its end."""
        return after.slips if self.touches is None else (after.slips | is_away(after)) & self.touches

    def works(self, after: Grip) -> Array:
        """Whether its works count: there are none while the mass is off its support."""
        return after.slips if self.touches is None else after.slips | is_away(after)


class Step(NamedTuple):
    """A step: length `h` [s], velocities at its ends [m/s] and displacement [m] against the support, and what presses the mass."""

    h: Array
    v0: Array
    v1: Array
    slid: Array
    swings: Swings | None


def whole(law: Varied, step: Step) -> Rubbed:
    """What all of a step rubs."""
    first, last = step.h * step.v0, step.h * step.v1
    middle = 1.5 * step.slid - 0.25 * (first + last)
    return _integrated(law, (first, middle, last), step.swings, 1.0 / step.h, 1.0, step.slid)


def part(law: Varied, step: Step, begin: Array, end: Array) -> Rubbed:
    """What the part of a step between two fractions of it rubs; a step of length 0 rubs nothing."""
    early, late = step.h * step.v0 - step.slid, step.h * step.v1 - step.slid

    def speed(u: Array) -> Array:
        return step.slid + early * (1.0 - u) * (1.0 - 3.0 * u) - late * u * (2.0 - 3.0 * u)

    def place(u: Array) -> Array:
        return u * (step.slid + (1.0 - u) * ((1.0 - u) * early - u * late))

    places = begin, 0.5 * (begin + end), end
    swings = None if step.swings is None else Swings(*(step.swings.at(u) for u in places))
    by_step = 1.0 / jnp.where(step.h > 0.0, step.h, 1.0)
    return _integrated(law, tuple(speed(u) for u in places), swings, by_step, end - begin, place(end) - place(begin))


def _integrated(law: Varied, ways: tuple[Array, ...], swings: Swings | None, by_step: Array, width: Array | float, slid: Array) -> Rubbed:
    """Simpson's rule over a `width` of the step, from its speeds times its length at three places [m]."""
    pressing, normals = law.pressing, [law.normal_force] * 3
    if pressing is not None and swings is not None:
        normals = [pressing.contact(n) for n in swings]
    touches = None if pressing is None else normals[1] > 0.0
    rates = [n * way for n, way in zip(normals, ways, strict=True)]
    wear = None if pressing is None else _simpson(rates, width)
    if law.stribeck is None:
        return Rubbed(slid, wear, touches)
    dissipated = [rate * law.coefficient(way * by_step) for rate, way in zip(rates, ways, strict=True)]
    return Rubbed(slid, wear, touches, _simpson(dissipated, width))


def _simpson(values: list[Array], width: Array | float) -> Array:
    """The integral without its sign, from values at the start, in the middle and at the end."""
    first, middle, last = values
    return jnp.abs((1.0 / 6.0) * width * (first + 4.0 * middle + last))
