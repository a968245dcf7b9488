"""Two-level sums of a run in float32: what a few hundred steps add is moved to totals in float64.

A sum of 10^5 small numbers in float32 is wrong by as much as 10^-3, always to the same side where they are alike (times in contact); one of
512 by 10^-5 at most and mostly 10^-6. So inner loops carry no more numbers, and none in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax.numpy as jnp

from kernels.numerics.numbers import Array
from kernels.observables import impacts
from kernels.stepping import observe_friction

_FRICTION, _SHOCK = ("distance", "drift", "stuck_time", "wear", "friction"), ("contact_time", "impulse")
_Sums = TypeVar("_Sums", observe_friction.Tally, impacts.Shock)
_Shocks: TypeAlias = tuple[impacts.Shock, ...]


class Totals(NamedTuple):
    """What was moved out of the sums of friction and of each wall: name -> float64."""

    friction: dict[str, Array]
    shocks: tuple[dict[str, Array], ...]


def init(friction: observe_friction.Tally, shocks: _Shocks) -> Totals | None:
    """Totals before the run; None where the sums are in float64 themselves."""
    if friction.distance.dtype == jnp.float64:
        return None
    return Totals(_nothing(friction, _FRICTION), tuple(_nothing(shock, _SHOCK) for shock in shocks))


def close(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks, Totals]:
    """The sums begun anew, and the totals with what the sums were."""
    anew = [_anew(friction, totals.friction), *(_anew(shock, each) for shock, each in zip(shocks, totals.shocks, strict=True))]
    grown = [_all(friction, totals.friction), *(_all(shock, each) for shock, each in zip(shocks, totals.shocks, strict=True))]
    begun = tuple(_with(shock, values) for shock, values in zip(shocks, anew[1:], strict=True))
    return _with(friction, anew[0]), begun, Totals(grown[0], tuple(grown[1:]))


def whole(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks]:
    """The sums of all of the run, in float64."""
    complete = tuple(_with(shock, _all(shock, each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    return _with(friction, _all(friction, totals.friction)), complete


def _nothing(sums: Any, names: tuple[str, ...]) -> dict[str, Array]:
    """0 in float64 for each sum that there is."""
    return {name: jnp.zeros_like(getattr(sums, name), jnp.float64) for name in names if getattr(sums, name) is not None}


def _anew(sums: Any, totals: dict[str, Array]) -> dict[str, Array]:
    """0 of the sums' own type for each sum that has a total."""
    return {name: jnp.zeros_like(getattr(sums, name)) for name in totals}


def _all(sums: Any, totals: dict[str, Array]) -> dict[str, Array]:
    """Each total plus its sum."""
    return {name: total + getattr(sums, name) for name, total in totals.items()}


def _with(sums: _Sums, values: dict[str, Array]) -> _Sums:
    """Sums with some of them replaced."""
    return sums._replace(**values)
