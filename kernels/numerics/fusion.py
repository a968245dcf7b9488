"""Fusion barriers: what keeps XLA from computing a value several times, or from tracing a function again and again."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp

from kernels.numerics.numbers import Array, choice

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Tree = TypeVar("_Tree")


def fusion_barrier(*values: Array) -> tuple[Array, ...]:
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


def decide(*masks: Array, like: Array | None = None) -> tuple[Array, ...]:
    """The same decisions, each taken once.

    A comparison repeated in several fused loops can come out differently in each, as products and sums are contracted or not: one output
    then says "converged" and another goes on. Every decision that more than one output depends on must pass here.

    Args:
        masks: booleans of any shape. like: a number as wide as those that it is taken for, which costs least; None for float64.
    """
    return tuple(flag > 0.5 for flag in fusion_barrier(*(choice(mask, 1.0, 0.0, like) for mask in masks)))


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
