"""Sine, cosine, arc sine, exponential and logarithm in plain arithmetic, so that XLA vectorises them.

XLA's own float64 ones on CPU are scalar calls; these were measured about ten times faster there.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp

Array = jax.Array

_TWO_OVER_PI = 2.0 / math.pi
# by the width of a float: pi/2 in three parts whose products with an integer below 2^20 (float32: 2^12) are exact (Cody and Waite 1980),
# and how many terms of the series of sine and cosine there are on |x| <= pi/4
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
# ln 2 in two parts, of which the product of the first with an integer below 2^20 is exact
_LN2_PARTS = (0.6931471803691238, 1.9082149292705877e-10)
_EXP_SERIES = tuple(1.0 / math.factorial(n) for n in range(14))
_ATANH_SERIES = tuple(2.0 / (2 * n + 1) for n in range(11))
# by the width of a float: the integer of that width, and the number of bits and the bias of its exponent
_LAYOUT = {4: (jnp.int32, 23, 127), 8: (jnp.int64, 52, 1023)}


_Number = TypeVar("_Number", int, float)


def by_width(like: Array, double: _Number, single: _Number) -> _Number:
    """The one of two numbers that suits how wide the float `like` is: thresholds of rounding and lengths of series differ with it."""
    return double if like.dtype.itemsize == 8 else single


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """The polynomial sum of coefficients[n] x^n."""
    value = jnp.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def settle(*values: Array) -> tuple[Array, ...]:
    """The same values, each computed once.

    XLA on CPU makes one fused loop per output and repeats in each the arithmetic that they share; it does not repeat divisions. It takes
    this one for a division by a number that it does not know, and stores the value: multiplications in the compiled event loop fell from
    2520 to 719. LLVM, which comes after it, sees that the last bit of any number is below 2, divides by 1.0, and leaves that out, so that
    nothing is paid for it but the store (a true division cost 1.1 times in all).

    Args:
        values: floats of any shape.
    """

    def unity(value: Array) -> Array:
        unsigned = jnp.uint32 if value.dtype == jnp.float32 else jnp.uint64
        last_bit = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(value), unsigned) & 1
        return jax.lax.convert_element_type(last_bit < 2, value.dtype)

    return tuple(value / unity(value) for value in values)


def unit(x: Array) -> Array:
    """+1 or -1, of any shape, with the sign bit of x: one operation, where a comparison and a choice are two. Its derivative is 0."""
    integer, bits, bias = _LAYOUT[x.dtype.itemsize]
    sign = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(x), integer) & -(1 << (8 * x.dtype.itemsize - 1))
    return jax.lax.bitcast_convert_type(sign | (bias << bits), x.dtype)


def choice(mask: Array, yes: float, no: float, like: Array | None = None) -> Array:
    """One of two numbers, as wide as `like` is: of Python's numbers `where` makes float64, and float32 only later."""
    single = like is not None and like.dtype == jnp.float32
    return jnp.where(mask, jnp.float32(yes), jnp.float32(no)) if single else jnp.where(mask, yes, no)


def decide(*masks: Array, like: Array | None = None) -> tuple[Array, ...]:
    """The same decisions, each taken once.

    A comparison repeated in several fused loops can come out differently in each, as products and sums are contracted or not: one output
    then says "converged" and another goes on. Every decision that more than one output depends on must pass here.

    Args:
        masks: booleans of any shape. like: a number as wide as those that it is taken for, which costs least; None for float64.
    """
    return tuple(flag > 0.5 for flag in settle(*(choice(mask, 1.0, 0.0, like) for mask in masks)))


def of_type(value: Array, like: Array) -> Array:
    """The same numbers in the type of others; not touched where they have it."""
    return value if value.dtype == like.dtype else value.astype(like.dtype)


def all_finite(values: Iterable[Array]) -> Array:
    """Whether every one of the values (scalars) is a finite number."""
    return functools.reduce(operator.and_, (jnp.isfinite(value) for value in values))


_Function = TypeVar("_Function", bound=Callable[..., Any])
_Tree = TypeVar("_Tree")


def traced_once(function: _Function) -> _Function:
    """The same function of arrays (and tuples of such), which JAX traces, maps and differentiates once for each set of shapes.

    Without it that is done again wherever it is called. The compiler puts it in its places: the compiled code is the same, and a program
    with a wall is traced five to eight times faster.
    """
    return cast("_Function", jax.jit(function))


def for_every_lane(tree: _Tree, *like: Any) -> _Tree:
    """The same numbers, each of them one for every lane that any of the numbers (arrays of any shape) in `like` has one for.

    A loop that begins with such is mapped once; else again and again, until it is known which of its numbers differ between lanes.
    """
    known = functools.reduce(operator.and_, (~jnp.any(jnp.isnan(value)) for value in jax.tree.leaves(like)))
    zero = jnp.where(known, 0.0, 0.0)
    spread = jax.tree.map(lambda value: value | (zero > 0.0) if value.dtype == bool else value + zero.astype(value.dtype), tree)
    return cast("_Tree", spread)


@jax.custom_jvp
def chord(angle: Array) -> tuple[Array, Array]:
    """Sine and versine (1 - cos) of an angle [rad] of any shape, to rounding for |angle| < 1e6 (float32: 6e3); NaN for NaN and infinity."""
    quadrant = jnp.round(angle * _TWO_OVER_PI)
    r = angle
    for part in _HALF_PI_PARTS[angle.dtype.itemsize]:
        r = r - quadrant * part
    (r,) = settle(r)
    z = r * r
    terms = _TERMS[angle.dtype.itemsize]
    s, c = settle(r + r * z * horner(_SIN_SERIES[:terms], z), 0.5 * z - z * z * horner(_COS_SERIES[:terms], z))
    fourth = 0.25 * quadrant
    (turn,) = settle(fourth - jnp.floor(fourth))  # 0, 1/4, 1/2 or 3/4
    odd = (turn == 0.25) | (turn == 0.75)
    sine = jnp.where(odd, 1.0 - c, s)
    cosine = jnp.where(odd, s, 1.0 - c)
    versine = jnp.where(turn == 0.0, c, 1.0 - jnp.where(turn == 0.75, cosine, -cosine))
    sine, versine = settle(jnp.where(turn >= 0.5, -sine, sine), versine)
    return sine, versine


@chord.defjvp
def _chord_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Rates: cos of the sine, sin of the versine."""
    (angle,), (rate,) = primals, tangents
    sine, versine = chord(angle)
    return (sine, versine), ((1.0 - versine) * rate, sine * rate)


def sincos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine of an angle [rad] of any shape, to 2.5e-16 and 5e-16 absolute."""
    sine, versine = chord(angle)
    return sine, 1.0 - versine


def single_sincos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine in float32 of a float64 angle [rad] of any shape, each to 1.2e-7 of itself: float64 says how far the next zero is."""
    quadrant = jnp.round(angle * _TWO_OVER_PI)
    r = (angle - quadrant * (0.5 * math.pi)).astype(jnp.float32)
    fourth = 0.25 * quadrant
    r, turn = settle(r, (fourth - jnp.floor(fourth)).astype(jnp.float32))
    z = r * r
    s, c = r + r * z * horner(_SIN_SERIES[: _TERMS[4]], z), 1.0 - (0.5 * z - z * z * horner(_COS_SERIES[: _TERMS[4]], z))
    odd = (turn == 0.25) | (turn == 0.75)
    sine, cosine = jnp.where(odd, c, s), jnp.where(odd, s, c)
    return settle(jnp.where(turn >= 0.5, -sine, sine), jnp.where((turn == 0.25) | (turn == 0.5), -cosine, cosine))  # type: ignore[return-value]


def single_swing(angle: Array) -> tuple[Array, Array, Array, Array]:
    """Sine s and versine c of an angle [rad] of any shape in float32, and angle - s and angle^2 / 2 - c, which keep their digits near 0.

    To 3e-7 of the larger of 1 and themselves for |angle| < 6e3, and as much of themselves for |angle| < pi/2.
    """
    half_turns = jnp.round(angle * (1.0 / math.pi))
    r = angle
    for part in _HALF_PI_PARTS[4]:
        r = r - half_turns * (2.0 * part)
    near, half_turns, r = settle(choice(half_turns == 0.0, 1.0, 0.0, angle), half_turns, r)
    odd = half_turns - 2.0 * jnp.floor(0.5 * half_turns)
    z = r * r
    lag, bow = -r * z * horner(_SIN_SERIES[: _TERMS[4] + 1], z), z * z * horner(_COS_SERIES[: _TERMS[4] + 1], z)
    sine, versine = (r - lag) * (1.0 - 2.0 * odd), jnp.where(odd > 0.0, 2.0 - (0.5 * z - bow), 0.5 * z - bow)
    sine, versine, lag, bow = settle(sine, versine, lag, bow)
    return sine, versine, jnp.where(near > 0.0, lag, angle - sine), jnp.where(near > 0.0, bow, 0.5 * angle * angle - versine)


@jax.custom_jvp
def asin(x: Array) -> Array:
    """Arc sine [rad] of x in [-1, 1], any shape, to rounding. Its derivative is taken as 0 at |x| = 1, where it has none."""
    magnitude = jnp.abs(x)
    large = magnitude > 0.5
    z = jnp.where(large, 0.5 * (1.0 - magnitude), x * x)
    root = jnp.where(large, jnp.sqrt(z), magnitude)
    small_angle = root + root * z * horner(_ASIN_SERIES, z)
    return jnp.sign(x) * jnp.where(large, 0.5 * math.pi - 2.0 * small_angle, small_angle)


@asin.defjvp
def _asin_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Rate 1 / sqrt(1 - x^2), and 0 where that is infinite."""
    (x,), (rate,) = primals, tangents
    cosine_squared = (1.0 - x) * (1.0 + x)
    regular = cosine_squared > 0.0
    return asin(x), jnp.where(regular, rate / jnp.sqrt(jnp.where(regular, cosine_squared, 1.0)), 0.0)


@jax.custom_jvp
def exp(x: Array) -> Array:
    """The exponential of x, any shape, to 4e-16 relative (float32: 5e-6); beyond |x| = 690 (float32: 85) that of these."""
    integer, bits, bias = _LAYOUT[x.dtype.itemsize]
    most = 690.0 if bits == 52 else 85.0
    x = jnp.clip(x, -most, most)
    doublings = jnp.round(x * (1.0 / math.log(2.0)))
    rest = (x - doublings * _LN2_PARTS[0]) - doublings * _LN2_PARTS[1]
    scale = jax.lax.bitcast_convert_type((bias + doublings.astype(integer)) << bits, x.dtype)
    return scale * horner(_EXP_SERIES, rest)


@exp.defjvp
def _exp_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Rate exp(x)."""
    value = exp(primals[0])
    return value, value * tangents[0]


@jax.custom_jvp
def log(x: Array) -> Array:
    """Natural logarithm of a normal number x > 0, any shape, to 2e-16 of the larger of 1 and its size."""
    integer, bits, bias = _LAYOUT[x.dtype.itemsize]
    pattern = jax.lax.bitcast_convert_type(x, integer)
    exponent = ((pattern >> bits) - bias).astype(x.dtype)
    fraction = jax.lax.bitcast_convert_type((pattern & ((1 << bits) - 1)) | (bias << bits), x.dtype)  # in [1, 2)
    high = fraction > math.sqrt(2.0)
    fraction, exponent = jnp.where(high, 0.5 * fraction, fraction), jnp.where(high, exponent + 1.0, exponent)
    s = (fraction - 1.0) / (fraction + 1.0)
    return exponent * _LN2_PARTS[0] + (s * horner(_ATANH_SERIES, s * s) + exponent * _LN2_PARTS[1])


@log.defjvp
def _log_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Rate 1 / x."""
    return log(primals[0]), tangents[0] / primals[0]
