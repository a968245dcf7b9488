"""The first reversal of a slip: what a search for it is given and what it returns."""

from __future__ import annotations

from typing import NamedTuple

from kernels.numerics.numbers import Array


class Guess(NamedTuple):
    """Where a slip was fastest and where it ended: angles of the excitation [rad], seen along the slip.

    In [0, 2 pi); negative where there was none yet. In motion that repeats in the other direction after half a period they are those of
    the next slip.
    """

    peak: Array
    stop: Array


class Reversal(NamedTuple):
    """The first instant at which slip stops.

    Attributes:
        tau: time from the anchor [s], so close to that of the first zero of the velocity that `roots.root_step` leads there, also if
            it lies as little beyond the limit; when it does not `stop`, the time up to which there is none: the limit, or less where the
            search was exhausted.
        stops: True when the velocity vanishes near `tau`.
        peak: time from the anchor [s] of the largest speed in [0, tau], where that exceeds the speeds at both ends; else any time in it.
        guess: for the next slip.
    """

    tau: Array
    stops: Array
    peak: Array
    guess: Guess
