"""Floats of either width (float32, float64): constants and choices that keep the width of the numbers used with them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import TypeVar

import jax
import jax.numpy as jnp

Array = jax.Array

# by the bytes of a float: the integer type of that width, the number of mantissa bits, and the bias of the exponent
LAYOUT = {4: (jnp.int32, 23, 127), 8: (jnp.int64, 52, 1023)}

_Number = TypeVar("_Number", int, float)


def by_width(like: Array, double: _Number, single: _Number) -> _Number:
    """One of two numbers, by the width of the float `like`: rounding thresholds and lengths of series depend on it."""
    return double if like.dtype.itemsize == 8 else single


def choice(mask: Array, yes: float, no: float, like: Array | None = None) -> Array:
    """One of two numbers, of the width of `like`. From Python numbers `where` makes float64, which is converted to float32 only later."""
    single = like is not None and like.dtype == jnp.float32
    return jnp.where(mask, jnp.float32(yes), jnp.float32(no)) if single else jnp.where(mask, yes, no)


def of_type(value: Array, like: Array) -> Array:
    """The same numbers in the type of `like`; unchanged if they have it already."""
    return value if value.dtype == like.dtype else value.astype(like.dtype)


def unit(x: Array) -> Array:
    """+1 or -1, of any shape, with the sign bit of x. This is one operation; comparison and choice are two. The derivative is 0."""
    integer, bits, bias = LAYOUT[x.dtype.itemsize]
    sign = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(x), integer) & -(1 << (8 * x.dtype.itemsize - 1))
    return jax.lax.bitcast_convert_type(sign | (bias << bits), x.dtype)


def all_finite(values: Iterable[Array]) -> Array:
    """Whether every one of the values (scalars) is a finite number."""
    return functools.reduce(operator.and_, (jnp.isfinite(value) for value in values))


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """The polynomial sum of coefficients[n] x^n."""
    value = jnp.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value
