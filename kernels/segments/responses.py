"""Free, step and ramp responses of x'' + 2 zeta x' + w2 x, accurate to rounding, at critical damping and for k -> 0 as well."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import traced_once
from tribosweep.kernels.numerics.numbers import Array, by_width, horner

_COSH_SERIES = tuple(1.0 / math.factorial(2 * n) for n in range(9))
_SINHC_SERIES = tuple(1.0 / math.factorial(2 * n + 1) for n in range(9))
_MEAN_SERIES = tuple((-1.0) ** n / math.factorial(n + 1) for n in range(16))
_LAG_SERIES = tuple((-1.0) ** n / math.factorial(n + 2) for n in range(16))
_AREA_SERIES = tuple((-1.0) ** n / math.factorial(n + 3) for n in range(16))
_STEP_TERMS = 20


@traced_once
def _mean_decay(y: Array) -> Array:
    """(1 - exp(-y)) / y, through y = 0."""
    small = jnp.abs(y) < 0.5
    inside, outside = jnp.where(small, y, 0.0), jnp.where(small, 1.0, y)
    return jnp.where(small, horner(_MEAN_SERIES, inside), (1.0 - jnp.exp(-outside)) / outside)


@traced_once
def _mean_lag(y: Array) -> Array:
    """(y - 1 + exp(-y)) / y^2, through y = 0."""
    small = jnp.abs(y) < 0.5
    inside, outside = jnp.where(small, y, 0.0), jnp.where(small, 1.0, y)
    return jnp.where(small, horner(_LAG_SERIES, inside), (outside - 1.0 + jnp.exp(-outside)) / (outside * outside))


@traced_once
def _mean_area(y: Array) -> Array:
    """(y^2 / 2 - y + 1 - exp(-y)) / y^3, through y = 0."""
    small = jnp.abs(y) < 0.5
    inside, outside = jnp.where(small, y, 0.0), jnp.where(small, 1.0, y)
    return jnp.where(small, horner(_AREA_SERIES, inside), (0.5 * outside * outside - outside + 1.0 - jnp.exp(-outside)) / outside**3)


class Responses(NamedTuple):
    """Free and step responses at tau; whether the motion oscillates, and its damped frequency, for use near resonance.

    C = e^(-zeta tau) cosh(delta tau), S = e^(-zeta tau) sinh(delta tau) / delta, H = integral of S, G = integral of H.
    """

    C: Array
    S: Array
    H: Array
    G: Array
    oscillates: Array
    damped_frequency: Array


@traced_once
def responses(zeta: Array, w2: Array, tau: Array) -> Responses:
    """Responses of x'' + 2 zeta x' + w2 x at tau (scalars), to rounding times a small factor. All are entire in zeta, w2 and tau.

    Let z = (zeta^2 - w2) tau^2. C and S come from the two real roots for z > 0.1, from sine and cosine for z < -0.3, else from series.
    H comes from the two real roots for z > 0.1, from its Taylor series if both zeta tau and w2 tau^2 are small, and else from
    1 - C - zeta S = w2 H. G follows in the same way, with tau - S - 2 zeta H = w2 G. The compiler omits responses that are not used.
    """
    discriminant = zeta * zeta - w2
    z = discriminant * tau * tau
    over, under = z > 0.1, z < -0.3
    between = ~(over | under)

    delta = jnp.sqrt(jnp.where(over, discriminant, 1.0))
    fast = zeta + delta
    slow_root = w2 / jnp.where(over, fast, 1.0)
    decay = jnp.exp(-jnp.where(over, slow_root, zeta) * tau)
    gap = jnp.exp(-2.0 * jnp.where(over, delta * tau, 0.0))

    oscillates = discriminant < 0.0
    frequency = jnp.sqrt(jnp.where(oscillates, -discriminant, 1.0))
    sine, cosine = sincos(jnp.where(under, frequency * tau, 0.0))
    series_z, terms = jnp.where(between, z, 0.0), by_width(tau, len(_COSH_SERIES), 5)

    c = decay * jnp.where(over, 0.5 * (1.0 + gap), jnp.where(under, cosine, horner(_COSH_SERIES[:terms], series_z)))
    s = decay * jnp.where(
        over, (1.0 - gap) / (2.0 * delta), jnp.where(under, sine / frequency, tau * horner(_SINHC_SERIES[:terms], series_z))
    )

    by_roots = tau * (_mean_decay(slow_root * tau) - _mean_decay(jnp.where(over, fast * tau, 1.0))) / (2.0 * delta)
    taylor = between & (zeta * tau < 0.5)
    p, q = jnp.where(taylor, 2.0 * zeta * tau, 0.0), jnp.where(taylor, w2 * tau * tau, 0.0)
    previous, term, total, area = jnp.zeros_like(tau), 0.5 + jnp.zeros_like(tau), 0.5 + jnp.zeros_like(tau), 1.0 / 6.0 + jnp.zeros_like(tau)
    for n in range(1, by_width(tau, _STEP_TERMS, 12) - 2):
        previous, term = term, -(p * (n + 1) * term + q * previous) / ((n + 2) * (n + 1))
        total, area = total + term, area + term / (n + 3)
    by_balance = (1.0 - c - zeta * s) / jnp.where(over | taylor, 1.0, w2)
    h = jnp.where(over, by_roots, jnp.where(taylor, total * tau * tau, by_balance))
    lag_by_roots = tau * tau * (_mean_lag(slow_root * tau) - _mean_lag(jnp.where(over, fast * tau, 1.0))) / (2.0 * delta)
    lag_by_balance = (tau - s - 2.0 * zeta * h) / jnp.where(over | taylor, 1.0, w2)
    g = jnp.where(over, lag_by_roots, jnp.where(taylor, area * tau**3, lag_by_balance))
    return Responses(c, s, h, g, oscillates, frequency)


@traced_once
def lag_area(zeta: Array, w2: Array, tau: Array, r: Responses) -> Array:
    """The integral of G up to tau, given the responses at tau: the integral of the displacement under a ramp of 1 over the mass.

    It comes from the two real roots, from its Taylor series, or from tau^2 / 2 - H - 2 zeta G = w2 times it, as H and G in `responses`.
    """
    discriminant = zeta * zeta - w2
    z = discriminant * tau * tau
    over, under = z > 0.1, z < -0.3
    delta = jnp.sqrt(jnp.where(over, discriminant, 1.0))
    fast = zeta + delta
    slow_root = w2 / jnp.where(over, fast, 1.0)
    by_roots = tau**3 * (_mean_area(slow_root * tau) - _mean_area(jnp.where(over, fast * tau, 1.0))) / (2.0 * delta)
    taylor = ~(over | under) & (zeta * tau < 0.5)
    p, q = jnp.where(taylor, 2.0 * zeta * tau, 0.0), jnp.where(taylor, w2 * tau * tau, 0.0)
    previous, term, total = jnp.zeros_like(tau), 0.5 + jnp.zeros_like(tau), 1.0 / 24.0 + jnp.zeros_like(tau)
    for n in range(1, _STEP_TERMS - 2):
        previous, term = term, -(p * (n + 1) * term + q * previous) / ((n + 2) * (n + 1))
        total = total + term / ((n + 3) * (n + 4))
    by_balance = (0.5 * tau * tau - r.H - 2.0 * zeta * r.G) / jnp.where(over | taylor, 1.0, w2)
    return jnp.where(over, by_roots, jnp.where(taylor, total * tau**4, by_balance))
