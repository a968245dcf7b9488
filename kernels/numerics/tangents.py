"""Values with the derivative of something else, for computed motions whose steps do not show how an instant within them moves."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array


@jax.custom_jvp
def moved_with(value: Array, change: Array) -> Array:  # noqa: ARG001 (only its derivative counts)
    """The value itself, whose derivative is that of `value` + `change`; both have the same shape and type.

    Without derivatives `change` is not computed: no program refers to it.
    """
    return value


@moved_with.defjvp
def _moved_with_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """The sum of both tangents."""
    (value, change), (rate, other) = primals, tangents
    return moved_with(value, change), rate + other


def with_tangent_of(other: Array, value: Array) -> Array:
    """The value itself, with the derivative of another number that it approximates."""
    change = other - value
    return moved_with(value, jnp.broadcast_to(change, value.shape).astype(value.dtype))


def only_tangent(value: Array) -> Array:
    """0 with the derivative of a value."""
    return value - jax.lax.stop_gradient(value)
