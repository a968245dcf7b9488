"""What the links beside k and c do in the window."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.link_law import Travel
from tribosweep.kernels.contact.links import LinkMemory
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import only_tangent
from tribosweep.kernels.stepping import dense_output
from tribosweep.kernels.stepping.observe_wall import WindowPart
from tribosweep.kernels.stepping.scheme import Body, StepState


class LinkSums(NamedTuple):
    """Sums over the window: largest force without sign [N], energy dissipated [J]."""

    peak: Array
    dissipation: Array


def init(body: Body) -> LinkSums | None:
    """The sums before the run; None without links."""
    zero = 0.0 * body.one
    return None if body.links is None else LinkSums(zero, zero)


def update(
    sums: LinkSums | None, body: Body, before: StepState, after: StepState, moved: Array, h: Array, part: WindowPart, curved: bool = False
) -> LinkSums | None:
    """The sums after a step of `h` [s] and `moved` [m], of which a `part` lies in the window.

    The force is linear between its ends. Where it is `curved` (compile-time) the peak is that of the polynomial through three forces more;
    such a step lies inside the window or outside.
    """
    links = body.links
    if sums is None or links is None:
        return sums
    travel = Travel(before.x, Path.of(h, before.v, after.v, moved))
    first, last = (links.force(state.memory.links, state.x, state.v) for state in (before, after))
    ends = [jnp.abs(first + (last - first) * place) for place in (part.start, part.end)]
    largest = jnp.maximum(sums.peak, jnp.maximum(*ends))
    if curved:
        inner = []
        for u in dense_output.FIFTHS[1:-1]:
            v = travel.path.velocity(u)
            inner.append(links.force(LinkMemory(v, links.along(before.memory.links, travel.part(0.0, u))), travel.place(u), v))
        whole = only_tangent(jnp.asarray(part.start)), 1.0 + only_tangent(jnp.asarray(part.end))
        lowest, highest = dense_output.through((first, *inner, last)).extremes(*whole)
        largest = jnp.maximum(largest, jnp.maximum(jnp.abs(lowest), jnp.abs(highest)))
    return LinkSums(
        peak=jnp.where(jnp.asarray(part.end) > part.start, largest, sums.peak),
        dissipation=sums.dissipation + links.dissipated(before.memory.links, travel, part.start, part.end),
    )


def finish(sums: LinkSums | None, body: Body, state: StepState) -> dict[str, Array]:
    """The observables of the links by name (SI units); none without links."""
    links = body.links
    if sums is None or links is None:
        return {}
    found = links.finish(state.memory.links)
    force = links.force(state.memory.links, state.x, state.v)
    return {**found, "link_peak_force": sums.peak, "link_force_end": force, "link_dissipation": sums.dissipation}
