"""Floquet multipliers of a periodic motion: the eigenvalues of the Jacobian of its Poincare map over a period of the motion.

The Jacobian has n <= 3 rows (see `poincare`). With penalised friction the third coordinate is the stretch of a sticking contact. Where the
contact slips during the period the motion passes through states that velocity and displacement describe, so that one eigenvalue is 0. Where
it never slips the mass hangs on the stretched spring, and displacement less stretch stays what it was: one eigenvalue is 1. The other two
follow from a quadratic equation.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Harmonic
from tribosweep.kernels.models.observables import STABILITY
from tribosweep.kernels.numerics.numbers import Array

NEAR = 0.01  # distance from 1, from -1, or of a complex multiplier from the unit circle
ON = 1e-10  # the same, where a multiplier counts as on the unit circle
_CODES = {word: float(code) for code, word in enumerate(STABILITY)}


def multipliers(matrix: Array) -> tuple[Array, Array]:
    """The eigenvalues of a Jacobian (n, n), n <= 3: real and imaginary parts (n,), the largest modulus first."""
    n = matrix.shape[0]
    if n == 1:
        return matrix[0], 0.0 * matrix[0]
    a, b, c, d = matrix[0, 0], matrix[0, 1], matrix[1, 0], matrix[1, 1]
    half, det = 0.5 * (a + d), a * d - b * c
    square = (0.5 * (a - d)) ** 2 + b * c
    known = []
    if n == 3:
        trace = jnp.trace(matrix)
        second = det + a * matrix[2, 2] - matrix[0, 2] * matrix[2, 0] + d * matrix[2, 2] - matrix[1, 2] * matrix[2, 1]
        whole = matrix[0, 2] * (c * matrix[2, 1] - d * matrix[2, 0]) - matrix[1, 2] * (a * matrix[2, 1] - b * matrix[2, 0])
        whole += matrix[2, 2] * det
        third = jnp.where(jnp.abs(whole) <= jnp.abs(1.0 - trace + second - whole), 0.0, 1.0)
        half, det = 0.5 * (trace - third), second - third * (trace - third)
        square = half * half - det
        known = [third]
    real, size = square >= 0.0, jnp.abs(square)
    root = jnp.where(size > 0.0, jnp.sqrt(jnp.where(size > 0.0, size, 1.0)), 0.0)
    larger = half + jnp.where(half < 0.0, -root, root)
    smaller = jnp.where(larger == 0.0, 0.0, det / jnp.where(larger == 0.0, 1.0, larger))
    re = jnp.stack([jnp.where(real, larger, half), jnp.where(real, smaller, half), *known])
    im = jnp.stack([jnp.where(real, 0.0, root), jnp.where(real, 0.0, -root), *(0.0 * each for each in known)])
    if not known:
        return re, im
    order = jnp.argsort(-modulus(re, im), stable=True)
    return re[order], im[order]


def modulus(re: Array, im: Array) -> Array:
    """Modulus of complex numbers of any shape."""
    square = re * re + im * im
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)


def columns(matrix: Array, near_touch: Array) -> dict[str, Array]:
    """The observables of a Jacobian (n, n) over a period of the motion: moduli and arguments [rad] of the two largest, and stability.

    Args:
        matrix: the Jacobian; all are NaN where it is not finite. near_touch: whether the motion is near a grazing.
    """
    re, im = multipliers(matrix)
    size = modulus(re, im)
    angle = jnp.where(size > 0.0, jnp.abs(jnp.arctan2(im, jnp.where(size > 0.0, re, 1.0))), 0.0)
    found = {}
    for place in range(2):
        there = place < matrix.shape[0]
        found[f"multiplier_{place + 1}"] = size[place] if there else jnp.nan * size[0]
        found[f"multiplier_angle_{place + 1}"] = angle[place] if there else jnp.nan * size[0]
    words = [
        (jnp.any(size > 1.0 + ON), "unstable"),
        (jnp.any(size >= 1.0 - ON), "neutral"),
        (near_touch, "grazing near"),
        (jnp.any((im == 0.0) & (jnp.abs(re - 1.0) <= NEAR)), "fold near"),
        (jnp.any((im == 0.0) & (jnp.abs(re + 1.0) <= NEAR)), "flip near"),
        (jnp.any((im != 0.0) & (size >= 1.0 - NEAR)), "Neimark-Sacker near"),
    ]
    code = jnp.full_like(size[0], _CODES["stable"])
    for holds, word in reversed(words):
        code = jnp.where(holds, _CODES[word], code)
    known = jnp.all(jnp.isfinite(matrix))
    return {name: jnp.where(known, value, jnp.nan) for name, value in (found | {"stability": code}).items()}


def nearest_touch(p: dict[str, Any], observed: dict[str, Array], sums: Any) -> Array:
    """How near a motion is to touching a wall with zero speed, over |f0 - m a0| / (m omega); inf without a wall.

    That is the speed of the slowest impact; without contact the distance between the extremes of the motion and the wall, times omega.

    Args:
        p: parameters of the model. observed: observables of the motion, with its extremes where there is a wall, and the plastic sets of
            walls that buckle. sums: of the event loop.
    """
    scale = jnp.abs(Harmonic.of(p).amplitude) / (p["m"] * p["omega"])
    impacting = getattr(sums, "impacting", None)
    nearest: Array = scale + jnp.inf
    if impacting is None:
        return nearest
    zero = jnp.zeros_like(scale)
    left = p["left_gap"] if "left_gap" in p else jnp.where(p.get("sides", zero) > 1.0, p["gap"], jnp.inf)
    dent = observed.get("right_plastic_set", observed.get("plastic_set", zero))
    right, left = p["gap"] + dent, left + observed.get("left_plastic_set", zero)
    apart = jnp.minimum(right - observed["x_max"], left + observed["x_min"])
    clear = jnp.where(impacting.inside > 0.0, jnp.inf, apart * p["omega"])
    usable = jnp.where(scale > 0.0, scale, 1.0)
    return jnp.where(scale > 0.0, jnp.minimum(impacting.slowest, clear) / usable, nearest)
