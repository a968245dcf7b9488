"""The first reversal of a slip: the guess that a search starts from, and the result that it returns."""

from __future__ import annotations

from typing import NamedTuple

from tribosweep.kernels.numerics.numbers import Array


class Guess(NamedTuple):
    """Where a slip was fastest and where it ended: angles of the excitation [rad], seen along the slip.

    In [0, 2 pi); negative before the first slip. If the motion repeats in the other direction after half a period, the next slip has the
    same angles.
    """

    peak: Array
    stop: Array


class Reversal(NamedTuple):
    """The first instant at which slip stops.

    Attributes:
        tau: time from the anchor [s]. If `stops`: near the first zero of the velocity, within reach of `roots.root_step`; that zero may lie
            slightly beyond the limit. Otherwise: the time up to which there is no zero, the limit or less if the search is exhausted.
        stops: True if the velocity vanishes near `tau`.
        peak: time from the anchor [s] of the largest speed in [0, tau], if it exceeds the speeds at both ends; else any time in [0, tau].
        guess: the guess for the next slip.
    """

    tau: Array
    stops: Array
    peak: Array
    guess: Guess
