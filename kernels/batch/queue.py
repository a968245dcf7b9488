"""How lanes take rows: all lanes block by block, or each lane row by row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import asked_for, contacts_of, engine, section_of
from tribosweep.kernels.models.schemes import EXACT, STEADY


def blocks(run: Callable[[dict[str, Any], dict[str, Any]], Any], varying: dict[str, Any], fixed: dict[str, Any], share: Any) -> Any:
    """Run rows in blocks of lanes, one block after the other. Unlike `jax.lax.map` this skips blocks that have no rows.

    Args:
        run: (name -> (width,) array), (name -> scalar) to observables and codes, (width,).
        varying: name -> (blocks, width) array. fixed: name -> scalar. share: number of rows that run, from the first on.

    Returns:
        Observables and codes, (blocks, width), lists (blocks, width, L); 0 in blocks that were not run.
    """
    count, width = next(iter(varying.values())).shape[:2]
    run = jax.jit(run, inline=True)  # traced once, for its shapes and for the loop
    shapes = jax.eval_shape(lambda: run({name: values[0] for name, values in varying.items()}, fixed))
    start = jax.tree.map(lambda one: jnp.zeros((count, *one.shape), one.dtype), shapes)

    def block(index: Any, results: Any) -> Any:
        found = run({name: values[index] for name, values in varying.items()}, fixed)
        return jax.tree.map(lambda old, new: old.at[index].set(new), results, found)

    return jax.lax.fori_loop(0, -(-share // width), block, start)


class Driver(NamedTuple):
    """How a lane runs one row, some of its steps at a time. Functions of one row.

    Attributes:
        prepare: parameters -> what the other functions need. begin: setup -> the run at t = 0. advance: (setup, run) -> the run after some
            steps or events. active: (setup, run) -> whether it goes on. finish: (setup, run) -> observables and status code.
    """

    prepare: Callable[[dict[str, Any]], Any]
    begin: Callable[[Any], Any]
    advance: Callable[[Any, Any], Any]
    active: Callable[[Any, Any], Any]
    finish: Callable[[Any, Any], Any]


def driver(key: ProgramKey) -> Driver:
    """The driver of a program."""
    by = engine(key)
    if key.engine == STEADY:
        begin = functools.partial(by.begin, multipliers=key.asked.multipliers)
        parts = begin, by.advance, by.active, by.result
        return Driver(lambda p: p, *(functools.partial(part, build=section_of(key)) for part in parts))
    if key.scheme == EXACT:
        return Driver(functools.partial(by.setup, kind=contacts_of(key)), by.begin, by.advance, by.active, by.result)
    stepper = by.STEPPERS[key.scheme]
    begin = functools.partial(by.begin, stepper)
    if key.structure is not None:
        prepare = functools.partial(by.prepare, stepper, key=key.structure)
        return Driver(prepare, begin, functools.partial(by.chunk, stepper), by.active, by.finish)

    def attempts(setup: Any, run: Any) -> Any:
        return by.closed(setup, jax.lax.fori_loop(0, by.CHUNK, lambda _, now: by.attempt(stepper, setup, now), run))

    return Driver(functools.partial(by.prepare, stepper, asked=key.asked, laws=key.walls), begin, attempts, by.active, by.finish)


def queue(key: ProgramKey, varying: dict[str, Any], fixed: dict[str, Any], share: Any) -> Any:
    """Run rows through one block of lanes. After some steps or events, lanes that are done store their results and take the next rows.

    Args:
        key: a key that `queues` (compile-time).
        varying: name -> (blocks, width) array. fixed: name -> scalar. share: number of rows that run, from the first on.

    Returns:
        Observables and status codes, (blocks, width). Where a row was not run, observables are NaN (integers -1) and the code is 0.
    """
    lane = driver(key)
    blocks, width = next(iter(varying.values())).shape[:2]
    count = blocks * width
    rows = {name: values.reshape(count, *values.shape[2:]) for name, values in varying.items()}

    def each(function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one run's setup, mapped over the lanes and traced once. Fixed parameters stay one number for all lanes."""

        def of_lanes(lanes: dict[str, Any], fixed: dict[str, Any], *others: Any) -> Any:
            return jax.vmap(lambda p, *rest: function(lane.prepare({**p, **fixed}), *rest))(lanes, *others)

        traced = jax.jit(of_lanes, inline=True)
        return lambda row, *others: traced({name: values[jnp.minimum(row, count - 1)] for name, values in rows.items()}, fixed, *others)

    def attempts(setup: Any, run: Any) -> Any:
        run = lane.advance(setup, run)
        found, status = lane.finish(setup, run)
        return run, lane.active(setup, run), (asked_for(key, found), status)

    begin, advance = each(lane.begin), each(attempts)

    def chunk(carry: Any) -> Any:
        row, following, run, results, codes = carry
        run, active, (found, status) = advance(row, run)
        done = (row < share) & ~active
        place = jnp.where(done, row, count)
        results = {name: values.at[place].set(found[name], mode="drop") for name, values in results.items()}
        codes = codes.at[place].set(status, mode="drop")
        row = jnp.where(done, following + jnp.cumsum(done) - 1, row)
        run = jax.tree.map(lambda new, old: jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old), begin(row), run)
        return row, following + jnp.sum(done), run, results, codes

    row = jnp.arange(width)
    run = begin(row)
    found, status = jax.eval_shape(lambda: advance(row, run)[2])
    results = {
        name: jnp.full((count, *one.shape[1:]), jnp.nan if jnp.issubdtype(one.dtype, jnp.floating) else -1, one.dtype)
        for name, one in found.items()
    }
    start = row, jnp.asarray(width), run, results, jnp.zeros(count, status.dtype)
    *_, results, codes = jax.lax.while_loop(lambda carry: jnp.any(carry[0] < share), chunk, start)
    return {name: values.reshape(blocks, width, *values.shape[1:]) for name, values in results.items()}, codes.reshape(blocks, width)
