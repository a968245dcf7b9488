"""First reversal of any segment: the first instant at which the velocity of a slip vanishes."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact.search import reversal_newton, reversal_scan, reversal_undamped, reversal_undamped_float32
from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.numerics.fusion import decide
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor
from tribosweep.kernels.segments.undamped import Undamped
from tribosweep.kernels.segments.undamped_float32 import UndampedFloat32


def first_reversal(segment: Damped | Undamped | UndampedFloat32, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """First zero of the velocity in (0, limit], never a later one.

    Args:
        segment: the motion.
        anchor: state seen along the slip direction: v >= 0, and rising when v = 0.
        limit: end of the search [s]; where it is not positive there is no search.
        guess: angles of the excitation near which the slip is fastest and stops; any numbers are allowed.

    With a spring or a damper, `reversal_newton` searches from the guess. Where it cannot prove that its zero is the first, the result of
    `reversal_scan` is taken.
    """
    if isinstance(segment, UndampedFloat32):
        return reversal_undamped_float32.first_reversal(segment, anchor, limit, guess)
    if isinstance(segment, Undamped):
        return reversal_undamped.first_reversal(segment, anchor, limit, guess)
    found, certain = reversal_newton.first_reversal(segment, anchor, limit, guess)
    (certain,) = decide(certain, like=limit)
    scanned = reversal_scan.first_reversal(segment, anchor, jnp.where(certain, 0.0, limit), guess)
    first: Reversal = jax.tree.map(lambda quick, thorough: jnp.where(certain, quick, thorough), found, scanned)
    return first
