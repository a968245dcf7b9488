"""Histograms of impacts: how many ended in each part of a window with a force and a duration in each class."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.impacts import Shock


class Classes(NamedTuple):
    """Counts of impacts, and where they belong.

    Attributes:
        peak_edges, duration_edges: lower bounds of the classes [N], [s], (P,) and (D,), ascending; the last class has no end.
        start, length: start of the first part [s], and the length of each [s].
        peaks, durations: numbers of impacts, (parts, S, P) and (parts, S, D), of S supports.
    """

    peak_edges: Array
    duration_edges: Array
    start: Array
    length: Array
    peaks: Array
    durations: Array


def init(peak_edges: Array, duration_edges: Array, start: Array, length: Array, parts: int, supports: int) -> Classes:
    """No impact so far."""
    none = jnp.zeros((parts, supports, 1)) + 0.0 * start
    return Classes(peak_edges, duration_edges, start, length, none + jnp.zeros_like(peak_edges), none + jnp.zeros_like(duration_edges))


def count(classes: Classes, ended: Array, time: Array, peak: Array, duration: Array) -> Classes:
    """The counts after impacts of all supports (S,) that `ended` at a `time` [s] with these forces [N] and durations [s]."""
    part = jnp.floor((time - classes.start) / classes.length)
    there = (jnp.arange(classes.peaks.shape[0])[:, None] == part) & ended

    def added(counts: Array, edges: Array, value: Array) -> Array:
        if not edges.shape[0]:
            return counts
        above = jnp.append(edges[1:], jnp.inf)
        return counts + jnp.where(there[:, :, None] & (value[:, None] >= edges) & (value[:, None] < above), 1.0, 0.0)

    return classes._replace(
        peaks=added(classes.peaks, classes.peak_edges, peak), durations=added(classes.durations, classes.duration_edges, duration)
    )


def take(classes: Classes, shocks: tuple[Shock, ...]) -> tuple[tuple[Shock, ...], Classes]:
    """Count the impacts that ended since the last call; the sums of a wall then begin anew, for its next impact."""
    if not shocks or not classes.peaks.shape[1]:
        return shocks, classes
    after = []
    for shock in shocks:
        left = ~jnp.isnan(shock.left)
        ended = left & (shock.impacts > 0.0)  # a visit that is an impact, or the begin of one; not one that only touches
        force, lasted = shock.peak[None], (shock.left - shock.first_time)[None]
        classes = count(classes, ended[None], shock.left, force, lasted)
        after.append(
            shock._replace(
                peak=jnp.where(left, 0.0, shock.peak),
                first_time=jnp.where(left, jnp.nan, shock.first_time),
                impacts=jnp.where(left, 0.0, shock.impacts),
                left=jnp.full_like(shock.left, jnp.nan),
            )
        )
    return tuple(after), classes
