"""Two-level sums of a run in float32: the sum over a few hundred steps is added to a total in float64.

In float32 a sum of 10^5 small numbers has a relative error of up to 10^-3, of one sign where they are alike (times in contact). A sum of
512 has 10^-5 at most, mostly 10^-6. Inner loops carry no further numbers, and none in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp

from kernels.numerics.numbers import Array
from kernels.observables import impacts
from kernels.stepping import observe_friction

_FRICTION, _SHOCK = ("distance", "drift", "stuck_time", "wear", "friction"), ("contact_time", "impulse")
_IN_SHOCK = (*_SHOCK, *(f"{place} {name}" for place, each in enumerate(impacts.IN_WINDOW) for name in each.SUMMED))
_Shocks: TypeAlias = tuple[impacts.Shock, ...]


class Totals(NamedTuple):
    """Totals of the sums of friction and of each wall, without the present sums: name -> float64."""

    friction: dict[str, Array]
    shocks: tuple[dict[str, Array], ...]


def init(friction: observe_friction.Tally, shocks: _Shocks) -> Totals | None:
    """Totals before the run; None if the sums themselves are in float64."""
    if friction.distance.dtype == jnp.float64:
        return None
    return Totals(_nothing(friction._asdict(), _FRICTION), tuple(_nothing(_flat(shock), _IN_SHOCK) for shock in shocks))


def close(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks, Totals]:
    """The sums set to 0, and the totals with the former sums added."""
    grown = tuple(_all(_flat(shock), each) for shock, each in zip(shocks, totals.shocks, strict=True))
    begun = tuple(_joined(shock, _anew(_flat(shock), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    anew = friction._replace(**_anew(friction._asdict(), totals.friction))
    return anew, begun, Totals(_all(friction._asdict(), totals.friction), grown)


def whole(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks]:
    """The sums over the whole run, in float64."""
    complete = tuple(_joined(shock, _all(_flat(shock), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    return friction._replace(**_all(friction._asdict(), totals.friction)), complete


def _flat(shock: impacts.Shock) -> dict[str, Array]:
    """All sums of a wall by name. For those in the window the position of their module in `IN_WINDOW` stands before the name."""
    windowed = {f"{place} {name}": value for place, seen in enumerate(shock.in_window) for name, value in seen._asdict().items()}
    return {**shock._asdict(), **windowed}


def _joined(shock: impacts.Shock, values: dict[str, Array]) -> impacts.Shock:
    """The sums of a wall with some of them replaced, by the names of `_flat`."""
    windowed = []
    for place, seen in enumerate(shock.in_window):
        own = {name: values[f"{place} {name}"] for name in seen._fields if f"{place} {name}" in values}
        windowed.append(seen._replace(**own))
    return shock._replace(in_window=tuple(windowed), **{name: value for name, value in values.items() if name in shock._fields})


def _nothing(sums: Mapping[str, Array | None], names: tuple[str, ...]) -> dict[str, Array]:
    """0 in float64 for each named sum that is not None."""
    return {name: jnp.zeros_like(value, jnp.float64) for name in names if (value := sums[name]) is not None}


def _anew(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Array]:
    """0 of the sums' own type for each sum that has a total."""
    return {name: jnp.zeros_like(sums[name]) for name in totals}


def _all(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Array]:
    """Each total plus its sum."""
    return {name: total + sums[name] for name, total in totals.items()}
