"""Spectral densities by Welch's method, segment after segment (P. D. Welch, IEEE Transactions on Audio and Electroacoustics 15, 1967)."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.models.signals import Signals
from tribosweep.kernels.numerics.numbers import Array


class Welch(NamedTuple):
    """Sums over segments.

    Attributes:
        last: the last samples of each channel, (channels, segment). segments: their number so far.
        power: sums of squares of the transforms, (channels, frequencies). cross: sums of products, (pairs, frequencies), complex.
    """

    last: Array
    segments: Array
    power: Array
    cross: Array


def taper_of(name: str, length: int) -> np.ndarray:
    """A taper (length,), periodic, as transforms need it."""
    angle = 2.0 * math.pi * np.arange(length) / length
    return {
        "boxcar": np.ones(length),
        "hann": 0.5 - 0.5 * np.cos(angle),
        "hamming": 0.54 - 0.46 * np.cos(angle),
        "blackman": 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2.0 * angle),
    }[name]


def init(asked: Signals, like: Array) -> Welch:
    """No segment so far."""
    count, pairs, frequencies = len(asked.spectral), len(asked.cross_psd), asked.segment // 2 + 1
    zero = 0.0 * like
    return Welch(
        zero + jnp.zeros((count, asked.segment)),
        zero,
        zero + jnp.zeros((count, frequencies)),
        zero + jnp.zeros((pairs, frequencies), complex),
    )


def update(sums: Welch, asked: Signals, samples: Array, first: Array, count: Array) -> Welch:
    """The sums after `hop` more samples (channels, hop); the first is sample number `first` of the `count` of the window."""
    last = jnp.concatenate([sums.last[:, asked.hop :], samples], axis=1)
    end = first + asked.hop
    whole = (end >= asked.segment) & (end <= count)
    piece = last - jnp.mean(last, axis=1, keepdims=True) if asked.detrend == "constant" else last
    lines = jnp.fft.rfft(piece * taper_of(asked.taper, asked.segment), axis=1)
    place = {name: row for row, name in enumerate(asked.spectral)}
    power = jnp.square(lines.real) + jnp.square(lines.imag)
    one, other = ([place[pair[side]] for pair in asked.cross_psd] for side in (0, 1))
    cross = jnp.conj(lines[jnp.array(one, int)]) * lines[jnp.array(other, int)]
    return Welch(
        last,
        sums.segments + jnp.where(whole, 1.0, 0.0),
        sums.power + jnp.where(whole, power, 0.0),
        sums.cross + jnp.where(whole, cross, 0.0),
    )


def finish(sums: Welch, asked: Signals) -> tuple[Array, Array]:
    """One-sided densities (channels, frequencies) and (pairs, frequencies), in the units of the channels per Hz; NaN without a segment."""
    weight = np.full(asked.segment // 2 + 1, 2.0)
    weight[0] = 1.0
    if asked.segment % 2 == 0:
        weight[-1] = 1.0
    scale = weight * asked.interval / np.sum(np.square(taper_of(asked.taper, asked.segment)))
    segments = jnp.where(sums.segments > 0.0, sums.segments, jnp.nan)
    return sums.power * scale / segments, sums.cross * scale / segments
