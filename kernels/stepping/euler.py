"""Symplectic Euler: order 1, fixed step.

    v += h a;  x += h v;  a = a(x, v, t + h)

The first acceleration comes from the initial state. Stable on a stuck mass while 4 m - 2 h (c + c_t) - h^2 (k + k_t) > 0 (see
`models.largest_stable_step`). Source: scheme EULER of the tool that SDND104 and SDND105 validate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kernels.elementary import Array

Memory = TypeVar("Memory")


def step(
    acceleration: Callable[[Memory, Array, Array, Array], tuple[Array, Memory]],
    memory: Memory,
    x: Array,
    v: Array,
    a: Array,
    h: Array,
) -> tuple[Array, Array, Array, Memory]:
    """One step.

    Args:
        acceleration: (memory, x, v, displacement of the step) at the new instant -> acceleration [m/s^2] and the memory to commit.
        memory: what contact and excitation remember, at the old instant.
        x, v, a: displacement [m], velocity [m/s], acceleration [m/s^2] (scalars).
        h: step [s].

    Returns:
        New x, v, a and memory.
    """
    v = v + h * a
    moved = h * v
    x = x + moved
    a, memory = acceleration(memory, x, v, moved)
    return x, v, a, memory
