"""The functions of numpy by their names; those of jax.numpy where an argument is a number that JAX traces. Nothing here imports JAX.

Rules and derived defaults are written once and hold for plain numbers, for columns, and within jit, vmap and grad.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy import errstate, float64, ndarray

__all__ = ["errstate", "float64", "is_traced", "ndarray", "plain"]


def is_traced(value: Any) -> bool:
    """Whether JAX knows a value only by its shape."""
    jax = sys.modules.get("jax")  # None if nobody has imported JAX: then nothing is traced
    return jax is not None and isinstance(value, jax.core.Tracer)


def plain(value: Any) -> Any:
    """The value as a number or an array of numpy, unless JAX traces it or an entry of it.

    Within a trace JAX traces whatever is computed from one of its arrays, and then nobody knows the numbers.
    """
    if is_traced(value) or isinstance(value, float | int):
        return value
    return sys.modules["jax"].numpy.asarray(value) if _any_traced((value,)) else np.asarray(value)


def _any_traced(values: Any) -> bool:
    """Whether one of some arguments is traced, or an entry of a list among them."""
    return any(_any_traced(each) if isinstance(each, list | tuple) else is_traced(each) for each in values)


def __getattr__(name: str) -> Any:
    """The function of that name, or the constant or type of numpy."""
    of_numpy = getattr(np, name)
    if not callable(of_numpy) or isinstance(of_numpy, type):
        return of_numpy

    def function(*args: Any, **options: Any) -> Any:
        if _any_traced((*args, *options.values())):
            return getattr(sys.modules["jax"].numpy, name)(*args, **options)
        return of_numpy(*args, **options)

    return function
