"""Observables and their exact derivatives, computed by one compiled program in blocks of rows (`tribosweep.simulate` in forward mode)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from tribosweep.kernels.runtime import program_cache
from tribosweep.kernels.runtime.compiling import compiling

Columns = Mapping[str, np.ndarray]
Shared = Callable[[np.ndarray], tuple[Columns, Any]]
Place = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
# these programs are long but run briefly: with less effort the program of a wall compiles in 2/3 of the time and runs as fast. A loop over
# blocks within the program makes it compile up to twice as long.
EFFORT = {"xla_backend_optimization_level": 1}


def compiled(run: Callable[..., dict[str, Any]], place: Place, observables: tuple[str, ...], others: tuple[str, ...]) -> Any:
    """Compile a program that differentiates a block of rows.

    The program takes (along, other columns), each (width, ...), and what all rows of a block share. It returns derivatives by observable
    and name, and values.

    Args:
        run: row parameters, and what rows share if they share anything -> observables, including `status`.
        place: (numbers to differentiate by, other columns) -> row parameters.
        observables: differentiated. others: computed without derivatives.
    """
    import jax

    from tribosweep.kernels.runtime import jax_setup

    jax_setup.prepare()
    program_cache.use()

    def one(along: dict[str, Any], columns: dict[str, Any], shared: tuple[Any, ...]) -> Any:
        def values(along: dict[str, Any]) -> Any:
            found = run(place(along, columns), *shared)
            wanted = {name: found[name] for name in observables}
            return wanted, {**wanted, **{name: found[name] for name in (*others, "status")}}

        return jax.jacfwd(values, has_aux=True)(along)

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None)), compiler_options=EFFORT)


def compiled_values(run: Callable[[dict[str, Any]], dict[str, Any]], place: Place, observables: tuple[str, ...]) -> Any:
    """Compile a program as `compiled` does, but without derivatives: it is shorter, and its lanes do not wait for each other's events."""
    import jax

    from tribosweep.kernels.runtime import jax_setup

    jax_setup.prepare()
    program_cache.use()

    def one(along: dict[str, Any], columns: dict[str, Any], _shared: tuple[Any, ...]) -> Any:
        found = run(place(along, columns))
        return {}, {name: found[name] for name in (*observables, "status")}

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None)), compiler_options=EFFORT)


def in_blocks(
    program: Any,
    along: Columns,
    columns: Columns,
    count: int,
    width: int,
    shared: Shared | None = None,
    new: str = "",
) -> dict[Any, np.ndarray]:
    """Run `count` rows through a program of `compiled` or `compiled_values`, `width` lanes a call; the last row fills unused ones.

    Args:
        program: compiled. along, columns: (count, ...) each. count: number of rows. width: lanes of a call.
        shared: the rows of a call -> more columns of these rows, and what the program takes besides; None where it takes nothing.
        new: what the program does, in words, if this is its first call, which compiles it.

    Returns:
        Observable -> (count, ...) values, including "status"; (observable, name) -> (count, ...) derivatives. The further axes are those of
        an observable that is an array.
    """
    calls = []
    for start in range(0, count, width):
        rows = np.minimum(np.arange(start, start + width), count - 1)
        own, others = ({name: each[rows] for name, each in some.items()} for some in (along, columns))
        more, besides = ({}, ()) if shared is None else shared(rows)
        with compiling(new) if new and not start else nullcontext():
            calls.append(program(own, {**others, **more}, besides))
    found = [{name: np.asarray(each) for name, each in flatten(results).items()} for results in calls]
    return {name: np.concatenate([block[name] for block in found])[:count] for name in found[0]}


def flatten(results: Any) -> dict[Any, Any]:
    """Values and derivatives of a program in one dict."""
    slopes, values = results
    return {**values, **{(observable, name): each for observable, along in slopes.items() for name, each in along.items()}}
