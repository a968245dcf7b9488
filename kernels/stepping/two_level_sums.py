"""Two-level sums of a run in float32: what a few hundred steps add is moved to totals in float64.

A sum of 10^5 small numbers in float32 is wrong by as much as 10^-3, always to the same side where they are alike (times in contact); one of
512 by 10^-5 at most and mostly 10^-6. So inner loops carry no more numbers, and none in float64.
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
    """What was moved out of the sums of friction and of each wall: name -> float64."""

    friction: dict[str, Array]
    shocks: tuple[dict[str, Array], ...]


def init(friction: observe_friction.Tally, shocks: _Shocks) -> Totals | None:
    """Totals before the run; None where the sums are in float64 themselves."""
    if friction.distance.dtype == jnp.float64:
        return None
    return Totals(_nothing(friction._asdict(), _FRICTION), tuple(_nothing(_flat(shock), _IN_SHOCK) for shock in shocks))


def close(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks, Totals]:
    """The sums begun anew, and the totals with what the sums were."""
    grown = tuple(_all(_flat(shock), each) for shock, each in zip(shocks, totals.shocks, strict=True))
    begun = tuple(_joined(shock, _anew(_flat(shock), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    anew = friction._replace(**_anew(friction._asdict(), totals.friction))
    return anew, begun, Totals(_all(friction._asdict(), totals.friction), grown)


def whole(friction: observe_friction.Tally, shocks: _Shocks, totals: Totals) -> tuple[observe_friction.Tally, _Shocks]:
    """The sums of all of the run, in float64."""
    complete = tuple(_joined(shock, _all(_flat(shock), each)) for shock, each in zip(shocks, totals.shocks, strict=True))
    return friction._replace(**_all(friction._asdict(), totals.friction)), complete


def _flat(shock: impacts.Shock) -> dict[str, Array]:
    """All sums of a wall by name; those in the window have the place of their observable before the name."""
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
    """0 in float64 for each sum that there is."""
    return {name: jnp.zeros_like(value, jnp.float64) for name in names if (value := sums[name]) is not None}


def _anew(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Array]:
    """0 of the sums' own type for each sum that has a total."""
    return {name: jnp.zeros_like(sums[name]) for name in totals}


def _all(sums: Mapping[str, Array], totals: dict[str, Array]) -> dict[str, Array]:
    """Each total plus its sum."""
    return {name: total + sums[name] for name, total in totals.items()}
