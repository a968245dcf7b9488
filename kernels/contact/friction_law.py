"""The interface of friction laws to the time schemes.

A law receives the displacement and the velocity relative to its support, which may move (`belt`). Its state is a `Grip`, or a NamedTuple
with the same properties. `friction_registry` lists the laws and the parameters that select them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.numerics.numbers import Array


class NormalForces(NamedTuple):
    """Normal force, possibly negative, at the start, in the middle and at the end of a step [N]."""

    start: Array
    middle: Array
    end: Array

    def at(self, part: Array) -> Array:
        """The normal force at a fraction of the step in [0, 1], from the parabola through the three values."""
        early, late = (1.0 - part) * (1.0 - 2.0 * part), part * (2.0 * part - 1.0)
        return early * self.start + 4.0 * part * (1.0 - part) * self.middle + late * self.end


class SupportStep(NamedTuple):
    """A step in the frame of the support.

    Attributes:
        h: length [s]. v0, v1: velocities at its ends [m/s]. slid: displacement [m].
        normal_forces: normal force if it varies in time, else None.
        before, after: state of the law at its ends.
    """

    h: Array
    v0: Array
    v1: Array
    slid: Array
    normal_forces: NormalForces | None
    before: Any
    after: Any


class Sliding(NamedTuple):
    """Slip and energies of a step.

    Attributes:
        slid: slip distance [m], of either sign.
        wear: integral of F_n |w| [J]; None where it is F_n times the distance.
        touches: whether the mass is pressed in the middle of the step; None where it always is.
        friction: energy dissipated by friction [J]; None where it is mu_d times the wear energy.
        always: 1 where `slid` is the part of the motion that no spring of the contact follows, which counts whether the contact slips or
            not; None where a step counts as a whole or not at all.
    """

    slid: Array
    wear: Array | None = None
    touches: Array | None = None
    friction: Array | None = None
    always: Array | None = None

    def slips(self, after: Any) -> Array:
        """Whether a step counts as slip, given the contact at its end."""
        if self.always is not None:
            return self.always > 0.0
        slips: Array = after.slips if self.touches is None else (after.slips | after.is_away) & self.touches
        return slips

    def works(self, after: Any) -> Array:
        """Whether its energies count. They are 0 while the mass is off its support."""
        if self.always is not None:
            return self.always > 0.0
        works: Array = after.slips if self.touches is None else after.slips | after.is_away
        return works


class FrictionLaw:
    """A law of friction of the time schemes, for one oscillator; a law is a NamedTuple of numbers that inherits from this class.

    Attributes:
        belt: velocity of the support [m/s]; None where it rests.
        pressing: the normal force where it varies in time, else None.
        cheap: whether an evaluation is cheap enough for many steps in one iteration of the loop.
        reads_time: whether `evaluate` reads the time since the instant that the law remembers.
    """

    belt: Array | None = None
    pressing: Pressing | None = None
    cheap = False
    reads_time = False

    @property
    def observes(self) -> tuple[bool, bool]:
        """Whether the wear energy, and the energy dissipated, are integrals that `rubs` returns."""
        return False, False

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        raise NotImplementedError

    def at_start(self, v: Array, normal: Array | None = None) -> Any:
        """The state of the contact at t = 0.

        Args:
            v: velocity against the support [m/s]. normal: signed normal force [N] (see `Pressing`); None if it is constant.
        """
        raise NotImplementedError

    def evaluate(
        self, memory: Any, moved: Array, v: Array, needed: Array, normal: Array | None = None, elapsed: Array | None = None
    ) -> tuple[Array, Any]:
        """One evaluation: the friction force [N], and the state after the step if it is accepted.

        Args:
            memory: state of the law at the start of the step.
            moved, v: displacement since then [m] and velocity [m/s], both against the support.
            needed: sum of all other forces where the mass moves with the support [N].
            normal: signed normal force now [N] (see `Pressing`); None if it is constant.
            elapsed: time since the start of the step [s]; None if the law does not read it.
        """
        raise NotImplementedError

    def force(self, memory: Any, v: Array) -> Array:
        """Friction force after a step [N], from the state and the velocity relative to the support [m/s]."""
        raise NotImplementedError

    def lets_go_at(self, step: SupportStep, course: Any, speed: Any, since: Array) -> Array:  # noqa: ARG002
        """The fraction of a step from which on the contact slips.

        Args:
            step: which slips at its end, and before that holds from a fraction `since` on.
            course, speed: displacement [m] and velocity [m/s] over it, against the support (`stepping.dense_output.Polynomial`).
        """
        return since

    def late(self, step: SupportStep) -> tuple[Array, Array] | None:  # noqa: ARG002
        """The fractions of a step at which slip begins and ends within it, as numbers 0 with their derivatives; None where not known."""
        return None

    def lacking(self, step: SupportStep) -> Array | None:  # noqa: ARG002
        """What the impulse of a step lacks where the force jumps within it [N s]: 0, with a derivative. None if it never jumps."""
        return None

    def rubs(self, step: SupportStep) -> Sliding | None:  # noqa: ARG002
        """Slip and energies of a step; None if the step slips by its whole displacement or not at all."""
        return None

    def rubs_between(self, step: SupportStep, begin: Array, end: Array) -> Sliding | None:  # noqa: ARG002
        """Slip and energies between two fractions of a step. They are 0 for a step of length 0."""
        return None
