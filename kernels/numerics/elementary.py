"""Sine, cosine, arc sine, exponential and logarithm in plain arithmetic, so that XLA vectorises them.

XLA's own float64 functions are scalar calls on CPU; these were measured to be about ten times faster.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import LAYOUT, Array, choice, horner

_TWO_OVER_PI = 2.0 / math.pi
# Keys are the bytes of a float. pi/2 in three parts whose products with an integer below 2^20 (float32: 2^12) are exact (Cody and Waite
# 1980), and the number of terms in the series of sine and cosine on |x| <= pi/4
_HALF_PI_PARTS = {
    8: (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
    4: (1.5703125, 4.837512969970703125e-4, 7.549789948768648e-8),
}
_TERMS = {8: 8, 4: 4}
_SIN_SERIES = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(1, 9))
_COS_SERIES = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(2, 10))
# (asin(x)/x - 1)/x^2 in x^2 on [0, 1/4]: Chebyshev interpolation in 50 digits, relative error of asin 6e-17
_ASIN_SERIES = (
    0.1666666666666665, 0.07500000000020764, 0.044642857103423646, 0.03038194736709848, 0.02237204763174451, 0.017355259955786323,
    0.013929652902326633, 0.011875494382636922, 0.0078029494773533175, 0.01603551434914882, -0.010749050339697808, 0.028169218060881414,
)  # fmt: skip
# ln 2 in two parts; the product of the first with an integer below 2^20 is exact
_LN2_PARTS = (0.6931471803691238, 1.9082149292705877e-10)
_EXP_SERIES = tuple(1.0 / math.factorial(n) for n in range(14))
_ATANH_SERIES = tuple(2.0 / (2 * n + 1) for n in range(11))


@jax.custom_jvp
def chord(angle: Array) -> tuple[Array, Array]:
    """Sine and versine (1 - cos) of an angle [rad], any shape, to rounding for |angle| < 1e6 (float32: 6e3); NaN for NaN and infinity."""
    quadrant = jnp.round(angle * _TWO_OVER_PI)
    r = angle
    for part in _HALF_PI_PARTS[angle.dtype.itemsize]:
        r = r - quadrant * part
    (r,) = fusion_barrier(r)
    z = r * r
    terms = _TERMS[angle.dtype.itemsize]
    s, c = fusion_barrier(r + r * z * horner(_SIN_SERIES[:terms], z), 0.5 * z - z * z * horner(_COS_SERIES[:terms], z))
    fourth = 0.25 * quadrant
    (turn,) = fusion_barrier(fourth - jnp.floor(fourth))  # 0, 1/4, 1/2 or 3/4
    odd = (turn == 0.25) | (turn == 0.75)
    sine = jnp.where(odd, 1.0 - c, s)
    cosine = jnp.where(odd, s, 1.0 - c)
    versine = jnp.where(turn == 0.0, c, 1.0 - jnp.where(turn == 0.75, cosine, -cosine))
    sine, versine = fusion_barrier(jnp.where(turn >= 0.5, -sine, sine), versine)
    return sine, versine


@chord.defjvp
def _chord_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The derivative of the sine is cos, that of the versine is sin."""
    (angle,), (rate,) = primals, tangents
    sine, versine = chord(angle)
    return (sine, versine), ((1.0 - versine) * rate, sine * rate)


def sincos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine of an angle [rad], any shape, with absolute errors below 2.5e-16 and 5e-16."""
    sine, versine = chord(angle)
    return sine, 1.0 - versine


def single_sincos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine in float32 of a float64 angle [rad], any shape, with relative error 1.2e-7 also near their zeros."""
    quadrant = jnp.round(angle * _TWO_OVER_PI)
    r = (angle - quadrant * (0.5 * math.pi)).astype(jnp.float32)
    fourth = 0.25 * quadrant
    r, turn = fusion_barrier(r, (fourth - jnp.floor(fourth)).astype(jnp.float32))
    z = r * r
    s, c = r + r * z * horner(_SIN_SERIES[: _TERMS[4]], z), 1.0 - (0.5 * z - z * z * horner(_COS_SERIES[: _TERMS[4]], z))
    odd = (turn == 0.25) | (turn == 0.75)
    sine, cosine = jnp.where(odd, c, s), jnp.where(odd, s, c)
    return fusion_barrier(jnp.where(turn >= 0.5, -sine, sine), jnp.where((turn == 0.25) | (turn == 0.5), -cosine, cosine))  # type: ignore[return-value]


def single_swing(angle: Array) -> tuple[Array, Array, Array, Array]:
    """Sine s and versine c of an angle [rad], any shape, in float32; also angle - s and angle^2 / 2 - c, which keep their digits near 0.

    The error of a value y is below 3e-7 max(1, |y|) for |angle| < 6e3, and below 3e-7 |y| for |angle| < pi/2.
    """
    half_turns = jnp.round(angle * (1.0 / math.pi))
    r = angle
    for part in _HALF_PI_PARTS[4]:
        r = r - half_turns * (2.0 * part)
    near, half_turns, r = fusion_barrier(choice(half_turns == 0.0, 1.0, 0.0, angle), half_turns, r)
    odd = half_turns - 2.0 * jnp.floor(0.5 * half_turns)
    z = r * r
    lag, bow = -r * z * horner(_SIN_SERIES[: _TERMS[4] + 1], z), z * z * horner(_COS_SERIES[: _TERMS[4] + 1], z)
    sine, versine = (r - lag) * (1.0 - 2.0 * odd), jnp.where(odd > 0.0, 2.0 - (0.5 * z - bow), 0.5 * z - bow)
    sine, versine, lag, bow = fusion_barrier(sine, versine, lag, bow)
    return sine, versine, jnp.where(near > 0.0, lag, angle - sine), jnp.where(near > 0.0, bow, 0.5 * angle * angle - versine)


@jax.custom_jvp
def asin(x: Array) -> Array:
    """Arc sine [rad] of x in [-1, 1], any shape, to rounding. The derivative is set to 0 at |x| = 1, where it is infinite."""
    magnitude = jnp.abs(x)
    large = magnitude > 0.5
    z = jnp.where(large, 0.5 * (1.0 - magnitude), x * x)
    root = jnp.where(large, jnp.sqrt(z), magnitude)
    small_angle = root + root * z * horner(_ASIN_SERIES, z)
    return jnp.sign(x) * jnp.where(large, 0.5 * math.pi - 2.0 * small_angle, small_angle)


@asin.defjvp
def _asin_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """The derivative is 1 / sqrt(1 - x^2), or 0 where that is infinite."""
    (x,), (rate,) = primals, tangents
    cosine_squared = (1.0 - x) * (1.0 + x)
    regular = cosine_squared > 0.0
    return asin(x), jnp.where(regular, rate / jnp.sqrt(jnp.where(regular, cosine_squared, 1.0)), 0.0)


@jax.custom_jvp
def exp(x: Array) -> Array:
    """The exponential of x, any shape, with relative error 4e-16 (float32: 5e-6); x is clipped to |x| <= 690 (float32: 85)."""
    integer, bits, bias = LAYOUT[x.dtype.itemsize]
    most = 690.0 if bits == 52 else 85.0
    x = jnp.clip(x, -most, most)
    doublings = jnp.round(x * (1.0 / math.log(2.0)))
    rest = (x - doublings * _LN2_PARTS[0]) - doublings * _LN2_PARTS[1]
    scale = jax.lax.bitcast_convert_type((bias + doublings.astype(integer)) << bits, x.dtype)
    return scale * horner(_EXP_SERIES, rest)


@exp.defjvp
def _exp_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """The derivative is exp(x)."""
    value = exp(primals[0])
    return value, value * tangents[0]


@jax.custom_jvp
def log(x: Array) -> Array:
    """Natural logarithm of a normal number x > 0, any shape, with error below 2e-16 max(1, |log x|)."""
    integer, bits, bias = LAYOUT[x.dtype.itemsize]
    pattern = jax.lax.bitcast_convert_type(x, integer)
    exponent = ((pattern >> bits) - bias).astype(x.dtype)
    fraction = jax.lax.bitcast_convert_type((pattern & ((1 << bits) - 1)) | (bias << bits), x.dtype)  # in [1, 2)
    high = fraction > math.sqrt(2.0)
    fraction, exponent = jnp.where(high, 0.5 * fraction, fraction), jnp.where(high, exponent + 1.0, exponent)
    s = (fraction - 1.0) / (fraction + 1.0)
    return exponent * _LN2_PARTS[0] + (s * horner(_ATANH_SERIES, s * s) + exponent * _LN2_PARTS[1])


@log.defjvp
def _log_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """The derivative is 1 / x."""
    return log(primals[0]), tangents[0] / primals[0]
