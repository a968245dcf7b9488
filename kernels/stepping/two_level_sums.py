"""Two-level sums of a run in float32: the sum over a few hundred steps is added to a total in float64.

In float32 a sum of 10^5 small numbers has a relative error of up to 10^-3, of one sign where they are alike (times in contact). A sum of
512 has 10^-5 at most, mostly 10^-6. Inner loops carry no further numbers, and none in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impacts
from tribosweep.kernels.stepping import observe_friction

FRICTION = ("distance", "drift", "stuck_time", "wear", "friction")
_Shocks: TypeAlias = tuple[impacts.Shock, ...]


class Totals(NamedTuple):
    """Totals of the sums of friction and of each wall, without the present sums: name -> float64."""

    friction: dict[str, Array]
    shocks: tuple[dict[str, Array], ...]


def init(friction: observe_friction.Tally, shocks: _Shocks) -> Totals | None:
    """Totals before the run; None if the sums themselves are in float64."""
    if friction.distance.dtype == jnp.float64:
        return None
    return Totals(_nothing(friction._asdict(), FRICTION), tuple(_nothing(shock._asdict(), impacts.SUMMED) for shock in shocks))


def close(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks, Totals]:
    """The sums set to 0, and the totals with the former sums added."""
    grown = tuple(_all(shock._asdict(), each) for shock, each in zip(shocks, totals.shocks, strict=True))
    begun = tuple(shock._replace(**_anew(shock._asdict(), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    anew = friction._replace(**_anew(friction._asdict(), totals.friction))
    return anew, begun, Totals(_all(friction._asdict(), totals.friction), grown)


def whole(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks]:
    """The sums over the whole run, in float64."""
    complete = tuple(shock._replace(**_all(shock._asdict(), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    return friction._replace(**_all(friction._asdict(), totals.friction)), complete


def _nothing(sums: Mapping[str, Array | None], names: tuple[str, ...]) -> dict[str, Array]:
    """0 in float64 for each named sum that is not None."""
    return {name: jnp.zeros_like(value, jnp.float64) for name in names if (value := sums[name]) is not None}


def _anew(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Any]:
    """0 of the sums' own type for each sum that has a total."""
    return {name: jnp.zeros_like(sums[name]) for name in totals}


def _all(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Any]:
    """Each total plus its sum."""
    return {name: total + sums[name] for name, total in totals.items()}
