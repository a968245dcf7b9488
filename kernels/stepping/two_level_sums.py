"""Sums of a run in float32, closed from time to time: what a few hundred steps add is moved to totals in float64.

A sum of 10^5 small numbers in float32 is wrong by as much as 10^-3, always to the same side where they are alike (times in contact); one of
512 by 10^-5 at most and mostly 10^-6. So inner loops carry no more numbers, and none in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import jax.numpy as jnp

from kernels.numerics.numbers import Array
from kernels.observables import impacts
from kernels.stepping import observe_friction

_FRICTION, _SHOCK = ("distance", "drift", "stuck_time", "wear", "friction"), ("contact_time", "impulse")
_Sums = TypeVar("_Sums", bound="observe_friction.Tally | impacts.Shock | None")


class Totals(NamedTuple):
    """What is closed of the sums of friction and of shock: name -> float64."""

    friction: dict[str, Array]
    shock: dict[str, Array]


def init(friction: observe_friction.Tally, hits: impacts.Shock | None) -> Totals | None:
    """Totals before the run; None where the sums are in float64 themselves."""
    if friction.distance.dtype == jnp.float64:
        return None
    return Totals(_nothing(friction, _FRICTION), _nothing(hits, _SHOCK))


def close(
    friction: observe_friction.Tally, hits: impacts.Shock | None, totals: Totals
) -> tuple[observe_friction.Tally, impacts.Shock | None, Totals]:
    """The sums begun anew, and the totals with what they were."""
    anew = [{name: jnp.zeros_like(getattr(sums, name)) for name in part} for sums, part in zip((friction, hits), totals, strict=True)]
    grown = Totals(_all(friction, totals.friction), _all(hits, totals.shock))
    return _with(friction, anew[0]), _with(hits, anew[1]), grown


def whole(
    friction: observe_friction.Tally, hits: impacts.Shock | None, totals: Totals
) -> tuple[observe_friction.Tally, impacts.Shock | None]:
    """The sums of all of the run, in float64 where there are totals."""
    return _with(friction, _all(friction, totals.friction)), _with(hits, _all(hits, totals.shock))


def _nothing(sums: Any, names: tuple[str, ...]) -> dict[str, Array]:
    """0 of each sum that there is."""
    there = [] if sums is None else [name for name in names if getattr(sums, name) is not None]
    return {name: jnp.zeros_like(getattr(sums, name), jnp.float64) for name in there}


def _all(sums: Any, totals: dict[str, Array]) -> dict[str, Array]:
    """Totals and what the sums have besides."""
    return {name: total + getattr(sums, name) for name, total in totals.items()}


def _with(sums: _Sums, values: dict[str, Array]) -> _Sums:
    """Sums with some of them replaced."""
    return sums if sums is None else sums._replace(**values)  # type: ignore[return-value]
