"""Which parameters that a study gives change nothing in its structure. Nothing here imports JAX."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any

from tribosweep.kernels.models import arrays
from tribosweep.kernels.models.model import Rule
from tribosweep.kernels.models.quantity import Values
from tribosweep.kernels.models.supports import FRICTION, SUPPORT, named

TURNS = ("angle", "centre_2")  # what a support whose point moves along its first axis alone does not have


def idle(structure: Any, given: Collection[str]) -> list[str]:
    """The names among the given ones that change nothing, whatever their values, in the order of `given`."""
    used: set[str] = set()
    for support in structure.supports:
        used |= _used_at(structure, support, given)
    for load in structure.loads:
        if named("amplitude", load.name) in given:
            used |= {named("omega", load.name), named("phase", load.name)}
    if "record" in given:
        used.add("record_scale")
    if not structure.body:
        used |= {name for name, value in (("start_factor", structure.start), ("start_rate_factor", structure.start_rate)) if value.any()}
    judged = {q.name for q in SUPPORT} | {"record_scale", "start_factor", "start_rate_factor"}
    judged |= {named(q.name, support.name) for q in SUPPORT for support in structure.supports}
    judged |= {named(name, load.name) for name in ("omega", "phase") for load in structure.loads}
    return [name for name in given if name in judged - used]


def _used_at(structure: Any, support: Any, given: Collection[str]) -> set[str]:
    """The given names that a support reads: its own, or those of all supports."""

    def read(name: str) -> str:
        own = named(name, support.name)
        return own if own in given else name

    flat = structure.kind_of(support).axes == 1
    used = {read(q.name) for q in SUPPORT if not (flat and q.name in (*FRICTION, *TURNS))}
    if flat:
        return used
    # mu gives way to mu_s and mu_d: those of the support, and those of all unless mu is its own
    own = named("mu", support.name) in given
    instead = [named(name, support.name) in given or (name in given and not own) for name in ("mu_s", "mu_d")]
    if all(instead):
        used -= {"mu", named("mu", support.name)}
    if own:
        used -= {"mu_s", "mu_d"}
    if not used & set(given) & {name for q in ("mu", "mu_s", "mu_d") for name in (q, named(q, support.name))}:
        used -= {name for q in ("k_t", "c_t") for name in (q, named(q, support.name))}  # without friction
    return used


def rules(structure: Any) -> list[Rule]:
    """The rules that refuse `angle` and `centre_2` of all supports where one of them has no such parameter."""
    flat = [support.name for support in map(structure.support, structure.order) if structure.kind_of(support).axes == 1]
    if not flat:
        return []

    return [
        Rule(
            (name,),
            f"{name} of all supports needs points that move along two axes, and that of {flat[0]} moves along its first axis alone: give "
            f"{name}[SUPPORT] of the others, or directions as the axes of that support",
            functools.partial(_is_given, name),
        )
        for name in TURNS
    ]


def _is_given(name: str, p: Values, _scheme: str) -> Any:
    """Mask of the rows in which a parameter is not 0."""
    return arrays.asarray(p[name]) != 0.0
