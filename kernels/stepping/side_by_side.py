"""Structures side by side: under `vmap` a loop runs with the axis of lanes at the end of every array, where the vector unit wants it.

`vmap` puts that axis in front, so that coordinates or supports are contiguous: their numbers are small, and not those of a vector register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from tribosweep.kernels.numerics.numbers import Array

_Run = TypeVar("_Run")
_MATRICES = ("shapes", "coupling", "vectors", "points", "bank")  # these have no axis of lanes unless the lanes differ in them


def side_by_side(function: Callable[[Any, _Run], _Run], setup: Any, run: _Run) -> _Run:
    """`function(setup, run)`, for one structure or under `vmap`.

    Args:
        function: it must allow an axis of lanes at the end of every array: of length 1 where the lanes share the numbers of `setup`, and
            none in matrices that they share. Its result has the shapes of `run`.
        setup: a tree of arrays and of what is known at compile time. run: a tree of arrays.
    """
    paths, tree = cast("tuple[Any, Any]", jax.tree_util.tree_flatten_with_path(setup))
    carried, run_tree = cast("tuple[Any, Any]", jax.tree.flatten(run))
    leaves = [leaf for _, leaf in paths]
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
    matrices = {place for place in places if getattr(paths[place][0][-1], "name", getattr(paths[place][0][-1], "key", "")) in _MATRICES}
    count = len(places)

    def whole(arrays: list[Array]) -> Any:
        values = dict(zip(places, arrays, strict=True))
        return tree.unflatten([values.get(place, leaf) for place, leaf in enumerate(leaves)])

    @custom_vmap
    def plain(*arrays: Array) -> list[Array]:
        return jax.tree.leaves(function(whole(list(arrays[:count])), run_tree.unflatten(arrays[count:])))

    @plain.def_vmap
    def _(lanes: int, mapped: list[bool], *arrays: Array) -> Any:
        def last(array: Array, has: bool, matrix: bool) -> Array:
            if has:
                return jnp.moveaxis(array, 0, -1)
            return array if matrix or not array.ndim else array[..., None]

        given = [last(array, has, place in matrices) for array, has, place in zip(arrays, mapped, places, strict=False)]
        states = [
            jnp.moveaxis(array, 0, -1) if has else jnp.broadcast_to(array[..., None], (*array.shape, lanes))
            for array, has in zip(arrays[count:], mapped[count:], strict=True)
        ]
        found = jax.tree.leaves(function(whole(given), run_tree.unflatten(states)))
        return [jnp.moveaxis(array, -1, 0) for array in found], [True] * len(found)

    return cast("_Run", run_tree.unflatten(plain(*(leaves[place] for place in places), *carried)))
