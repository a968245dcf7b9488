"""First reversal of any segment: the first instant at which the velocity of a slip vanishes."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from kernels.exact.search import reversal_newton, reversal_scan, reversal_undamped, reversal_undamped_float32
from kernels.exact.search.reversal import Guess, Reversal
from kernels.numerics.fusion import decide
from kernels.numerics.numbers import Array
from kernels.segments.damped import Damped
from kernels.segments.interface import Anchor
from kernels.segments.undamped import Undamped
from kernels.segments.undamped_float32 import UndampedFloat32


def first_reversal(segment: Damped | Undamped | UndampedFloat32, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """First zero of the velocity in (0, limit], never a later one.

    Args:
        segment: the motion.
        anchor: state seen along the slip direction: v >= 0, and rising when v = 0.
        limit: time to stop looking [s]; where it is not positive there is nothing to look for.
        guess: of the angles at which it is fastest and stops; any numbers do.

    With a spring or a damper the search starts from the guess (`reversal_newton`). Where that does not prove that the zero is the first,
    the scan of `reversal_scan` replaces it.
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
