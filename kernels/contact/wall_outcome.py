"""Observables of the walls of a run, from the state of each wall at the end. Both engines return them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.wall import Wall
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impacts

RIGHT = "right_"  # of two walls the first, whose parameters have no prefix


class WallEnd(NamedTuple):
    """A wall at the end of a run: its plastic set and its largest compression [m], and 1 if it has buckled."""

    plastic: Array
    largest: Array
    buckled: Array


def finish(
    laws: Sequence[WallLaw],
    walls: Sequence[Wall],
    ends: Sequence[WallEnd],
    shocks: Sequence[impacts.Shock],
    p: dict[str, Any],
    status: Array,
) -> tuple[dict[str, Array], Array]:
    """The observables summed over all walls, and those of each single wall.

    Args:
        laws, walls, ends, shocks: one entry a wall: its name in the program, its law, its state at the end, and its sums.
        p: resolved parameters (the ends of the window [s]). status: code of the run so far.

    Returns:
        Observables by name (scalars, SI units), and the status code: BEYOND_TABLE where a run that was OK pressed a wall beyond its table.
    """
    if not walls:
        return {}, status
    shocks = [impacts.without_touch(shock, wall.rounded) for shock, wall in zip(shocks, walls, strict=True)]
    found = impacts.finish(functools.reduce(impacts.merged, shocks), p)
    if len(walls) == 1 and walls[0].envelope is None:  # a stop never buckles
        del found["buckling_time"]
        return found, status
    regimes = []
    for name, wall, end, shock in zip(prefixes(laws), walls, ends, shocks, strict=True):
        pressed = (jnp.maximum(end.largest, shock.deepest) > wall.rounded) | (
            jnp.abs(shock.first_velocity) > 0.0
        )  # a mass at rest at its face does not press the wall
        if wall.envelope is None:
            regime = jnp.where(pressed, 1, 0)
        else:
            regime = wall.envelope.regime(end.largest, end.buckled, pressed)
            beyond = (status == int(Status.OK)) & wall.envelope.beyond_table(end.largest)
            status = jnp.where(beyond, int(Status.BEYOND_TABLE), status)
        found |= impacts.of_wall(shock, end.plastic, regime, name)
        regimes.append(regime)
    if len(walls) > 1:
        found |= of_either([end.buckled for end in ends]) | {
            "plastic_set": functools.reduce(operator.add, (end.plastic for end in ends)),
            "wall_regime": functools.reduce(jnp.maximum, regimes),
        }
    return found, status


def prefixes(laws: Sequence[WallLaw]) -> tuple[str, ...]:
    """Prefixes of the observables of each single wall: none of an only wall, whose observables have the names of the run."""
    return tuple(law.prefix or (RIGHT if len(laws) > 1 else "") for law in laws)


def of_either(buckled: Sequence[Array]) -> dict[str, Array]:
    """Whether any of several walls has buckled."""
    return {"buckled": functools.reduce(jnp.maximum, buckled)}
