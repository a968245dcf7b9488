"""Fusion barriers, which keep XLA from computing a value several times, and helpers that keep JAX from repeated tracing."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array, choice

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Tree = TypeVar("_Tree")


def fusion_barrier(*values: Array) -> tuple[Array, ...]:
    """The same values, each computed once.

    XLA on CPU makes one fused loop per output and repeats shared arithmetic in each, but it does not repeat divisions. The barrier is a
    division by 1.0 that XLA cannot recognise as such, so XLA stores the value: multiplications in the compiled event loop fell from 2520 to
    719. LLVM runs after XLA. It finds that the last bit of any number is below 2 and removes the division by 1.0, so that only the store
    costs time (with a true division the whole loop took 1.1 times as long).

    Args:
        values: floats of any shape.
    """

    def unity(value: Array) -> Array:
        unsigned = jnp.uint32 if value.dtype == jnp.float32 else jnp.uint64
        last_bit = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(value), unsigned) & 1
        return jax.lax.convert_element_type(last_bit < 2, value.dtype)

    return tuple(value / unity(value) for value in values)


def decide(*masks: Array, like: Array | None = None) -> tuple[Array, ...]:
    """The same decisions, each computed once.

    A comparison repeated in several fused loops may differ between them, because products and sums are contracted in some only. Then one
    output is "converged" and another is not. Every decision that more than one output depends on must pass through this function.

    Args:
        masks: booleans of any shape. like: a number of the float width of these outputs, which costs least; None for float64.
    """
    return tuple(flag > 0.5 for flag in fusion_barrier(*(choice(mask, 1.0, 0.0, like) for mask in masks)))


def traced_once(function: _Function) -> _Function:
    """The same function of arrays (or tuples of arrays), which JAX traces, maps and differentiates once for each set of shapes.

    Without it, JAX does this again at every call. The compiler inlines the function, so the compiled code is the same. A program with a
    wall is traced five to eight times faster.
    """
    return cast("_Function", jax.jit(function))


def for_every_lane(tree: _Tree, *like: Any) -> _Tree:
    """The same numbers, each mapped over the lanes (elements of a batch) over which any array in `like` is mapped.

    JAX maps a loop that starts from such numbers once. Otherwise it maps the loop repeatedly, until it knows which numbers differ by lane.
    """
    known = functools.reduce(operator.and_, (~jnp.any(jnp.isnan(value)) for value in jax.tree.leaves(like)))
    (zero,) = fusion_barrier(jnp.where(known, 0.0, 0.0))
    spread = jax.tree.map(lambda value: value | (zero > 0.0) if value.dtype == bool else value + zero.astype(value.dtype), tree)
    return cast("_Tree", spread)
