"""Rigid Coulomb friction of a mass pressed on a surface: its limits, and the instant at which a rest ends."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Harmonic, wrap
from tribosweep.kernels.numerics.elementary import asin
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.slip import holds_to

_AT_THRESHOLD = 1e-6


class Release(NamedTuple):
    """End of a rest: the remaining angle of the excitation [rad], whether rest ever ends, and the direction of slip (+1 or -1)."""

    turn: Array
    happens: Array
    direction: Array


class Thresholds(NamedTuple):
    """Angles at which the force needed to hold the mass leaves the static limit, for an excitation of positive amplitude.

    Attributes:
        forward, backward: angles [rad] where it leaves upwards and downwards.
        pushes, pulls: whether it ever leaves upwards and downwards.
    """

    forward: Array
    pushes: Array
    backward: Array
    pulls: Array


class Coulomb(NamedTuple):
    """Rigid friction: |F_t| <= static_limit at rest, F_t = -dynamic_force sign(v) in slip.

    Attributes:
        static_limit: mu_s F_n [N], as `slip.holds_to` has it.
        dynamic_force: mu_d F_n [N], at most the static limit.
    """

    static_limit: Array
    dynamic_force: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Coulomb:
        """The law of resolved parameters (scalars)."""
        return cls(holds_to(p["mu_s"] * p["normal_force"]), p["mu_d"] * p["normal_force"])

    @property
    def constants(self) -> tuple[()]:
        """It has no number but its limits."""
        return ()

    def direction_at_rest(self, needed: Array) -> Array:
        """Direction in which a contact at v = 0 starts to slip when rest needs the friction -`needed` [N]; 0 when it holds."""
        return jnp.where(jnp.abs(needed) > self.static_limit, jnp.sign(needed), 0.0)

    def thresholds(self, excitation: Harmonic, pull: Array) -> Thresholds:
        """Where rest ends under the external force plus `pull`, a constant force [N] besides its harmonic part: load - k x."""
        size = jnp.abs(excitation.amplitude)
        safe = jnp.where(size > 0.0, size, 1.0)

        def one_side(direction: float) -> tuple[Array, Array]:
            level = (self.static_limit - direction * pull) / safe
            reached = (size > 0.0) & (level < 1.0)
            return asin(jnp.clip(jnp.where(reached, level, 0.0), -1.0, 1.0)), reached

        (forward, pushes), (backward, pulls) = one_side(1.0), one_side(-1.0)
        return Thresholds(forward, pushes, backward + math.pi, pulls)


def release(thresholds: Thresholds, excitation: Harmonic, angle: Array) -> Release:
    """First instant at which rest needs more than the static limit.

    Args:
        thresholds: of the contact at rest; the force needed at `angle` is within the static limit.
        excitation: the external force.
        angle: omega t + phase [rad].

    Returns:
        See `Release`. `turn` is 0 when the threshold is just being crossed. A force that only touches the threshold does not release.
    """
    seen = angle + jnp.where(excitation.amplitude < 0.0, jnp.pi, 0.0)

    def turn_to(threshold: Array, above: Array) -> Array:
        turn = wrap(threshold - seen)
        # a threshold crossed at this instant up to rounding counts at once; one that was crossed back again waits a whole turn
        return jnp.where(turn > 2.0 * jnp.pi - jnp.minimum(_AT_THRESHOLD, above), 0.0, turn)

    # the force exceeds the limit from the threshold to its mirror image about the crest
    forward = turn_to(thresholds.forward, jnp.pi - 2.0 * thresholds.forward)
    backward = turn_to(thresholds.backward, 3.0 * jnp.pi - 2.0 * thresholds.backward)
    goes_forward = thresholds.pushes & (~thresholds.pulls | (forward <= backward))
    return Release(jnp.where(goes_forward, forward, backward), thresholds.pushes | thresholds.pulls, jnp.where(goes_forward, 1.0, -1.0))
