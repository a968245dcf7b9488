"""Backbone curves: the frequency of free motions without damping and friction, over their energy.

A mass on a spring, under a constant force and between elastic stops, moves in a potential V of pieces that are parabolas. Of a motion of
energy E above the equilibrium each piece takes a known part of the period,

    t = (2/w) atan(w (x_b - x_a)/(v_a + v_b)),    w^2 = K/m,

with K the stiffness of the piece and v the speed at its ends a and b; without stiffness t = 2 (x_b - x_a)/(v_a + v_b). With F = dV/dx, the
force that brings the mass back, a turning point d beyond a, where 2 (E - V_a) = 2 F_a d + K d^2, is
d = 2 (E - V_a)/(F_a + sqrt(F_a^2 + 2 K (E - V_a))).

Validated by tests/kernels/branches/test_backbone.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Spring = tuple[float, float]  # where an elastic stop is, from x = 0 outwards [m], and its stiffness [N/m]


@dataclass(frozen=True, slots=True)
class Backbone:
    """Free motions, one entry for each, in order of their energy.

    Attributes:
        energy: above that at rest [J]. omega: angular frequency [rad/s]. x_max, x_min: its turning points [m]. v_max: largest speed [m/s].
        max_compression: largest compression of a stop [m]; 0 without contact. peak_force: largest force of a stop [N].
    """

    energy: np.ndarray
    omega: np.ndarray
    x_max: np.ndarray
    x_min: np.ndarray
    v_max: np.ndarray
    max_compression: np.ndarray
    peak_force: np.ndarray


@dataclass(frozen=True, slots=True)
class Potential:
    """The potential of a mass m [kg] on a spring k [N/m] under a constant `load` [N], with stops.

    Attributes:
        right, left: stops at x = right[0] and x = -left[0]; at infinity where there is none.
    """

    m: float
    k: float
    load: float = 0.0
    right: Spring = (np.inf, 0.0)
    left: Spring = (np.inf, 0.0)

    @staticmethod
    def of(p: Mapping[str, float]) -> Potential:
        """That of resolved parameters of an oscillator with elastic stops, or without; dampers and friction are left out."""
        right = (float(p["gap"]), float(p["k_n"])) if "gap" in p else (np.inf, 0.0)
        left = right if p.get("sides", 1.0) > 1.0 else (float(p.get("left_gap", np.inf)), float(p.get("left_k_n", 0.0)))
        return Potential(float(p["m"]), float(p["k"]), float(p["load"]), right, left)

    @property
    def mirrored(self) -> Potential:
        """The same, seen from the other side."""
        return Potential(self.m, self.k, -self.load, self.left, self.right)

    def pressed(self, x: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Compressions of the right and of the left stop [m] at x [m], of the same shape."""
        (gap, _), (left_gap, _) = self.right, self.left
        return np.maximum(0.0, np.asarray(x) - gap), np.maximum(0.0, -np.asarray(x) - left_gap)

    def force(self, x: np.ndarray | float) -> np.ndarray:
        """dV/dx [N] at x [m], of the same shape."""
        right, left = self.pressed(x)
        return np.asarray(self.k * np.asarray(x) - self.load + self.right[1] * right - self.left[1] * left)

    def stiffness(self, x: float) -> float:
        """d2V/dx2 [N/m]."""
        right, left = self.pressed(x)
        return self.k + self.right[1] * float(right > 0.0) + self.left[1] * float(left > 0.0)

    def rest(self) -> float:
        """Where the mass rests [m]: the middle, where it may rest anywhere between two stops; NaN where nothing brings it back."""
        joints = self.joints()
        here = [float(self.force(x)) for x in joints]
        still = [x for x, force in zip(joints, here, strict=True) if force == 0.0]
        if still:
            alone = len(still) == 1 and self.k == 0.0 and not np.isfinite(max(self.left[0], self.right[0]))
            return np.nan if alone else float(np.mean(still))
        before = [x for x, force in zip(joints, here, strict=True) if force < 0.0]
        after = [x for x, force in zip(joints, here, strict=True) if force > 0.0]
        start, side = (before[-1], 1.0) if before else (after[0], -1.0) if after else (0.0, 1.0)
        inside = start + side if not (before and after) else 0.5 * (before[-1] + after[0])
        stiffness = self.stiffness(inside)
        return start - float(self.force(start)) / stiffness if stiffness > 0.0 else np.nan

    def joints(self) -> list[float]:
        """Where stops begin, in order [m]."""
        return sorted(x for x in (-self.left[0], self.right[0]) if np.isfinite(x))

    def energy(self, x: np.ndarray | float) -> np.ndarray:
        """V at x [m] above that at rest [J], of the same shape."""
        rest = self.rest()
        (right, left), (right_0, left_0) = self.pressed(x), self.pressed(rest)
        bent = 0.5 * self.k * (np.asarray(x) - rest) * (np.asarray(x) + rest) - self.load * (np.asarray(x) - rest)
        return np.asarray(bent + 0.5 * self.right[1] * (right**2 - right_0**2) + 0.5 * self.left[1] * (left**2 - left_0**2))

    def outwards(self, energy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Time [s] from rest's place to the turning point at the right, and that point [m], of motions with these energies > 0 (N,)."""
        rest = self.rest()
        starts = [rest, *(x for x in self.joints() if x > rest)]
        time, turn = np.zeros_like(energy), np.full_like(energy, np.nan)
        for place, a in enumerate(starts):
            b = starts[place + 1] if place + 1 < len(starts) else np.inf
            stiffness = self.stiffness(0.5 * (a + b) if np.isfinite(b) else a + 1.0)
            at_a = 0.0 if place == 0 else max(0.0, float(self.force(a)))
            left = energy - (0.0 if place == 0 else float(self.energy(a)))
            goes = left > 0.0
            room = np.where(goes, 2.0 * left, 1.0)
            root = at_a + np.sqrt(at_a**2 + stiffness * room)
            d = np.where(root > 0.0, room / np.where(root > 0.0, root, 1.0), np.inf)
            stops = a + d <= b
            way = np.minimum(d, b - a)
            v_a = np.sqrt(room / self.m)
            at_b = at_a + stiffness * way
            v_b = np.where(stops, 0.0, np.sqrt(np.maximum(0.0, room - (at_a + at_b) * way) / self.m))
            time += np.where(goes, _time(np.sqrt(stiffness / self.m), v_a + v_b, way), 0.0)
            turn = np.where(goes & stops, a + d, turn)
        return time, turn

    def backbone(self, energy: np.ndarray) -> Backbone:
        """The free motions of energies > 0 (N,) [J]; NaN where nothing brings the mass back."""
        energy = np.sort(np.asarray(energy, dtype=float))
        time, x_max = self.outwards(energy)
        back, x_min = self.mirrored.outwards(energy)
        right, left = self.pressed(x_max)[0], self.pressed(-x_min)[1]
        x_min = -x_min
        bounded = np.isfinite(x_max) & np.isfinite(x_min)
        omega = np.where(bounded, np.pi / np.where(bounded, time + back, 1.0), np.nan)
        compression, force = np.maximum(right, left), np.maximum(self.right[1] * right, self.left[1] * left)
        return Backbone(energy, omega, x_max, x_min, np.sqrt(2.0 * energy / self.m), compression, force)


def _time(own: float, speeds: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Time through a piece [s], from its angular frequency [rad/s], the sum of the speeds at its ends [m/s] and its length [m]."""
    return np.asarray(2.0 / own * np.arctan2(own * way, speeds) if own > 0.0 else 2.0 * way / speeds)
