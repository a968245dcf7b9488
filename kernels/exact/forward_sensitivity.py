"""Forward sensitivities of an event-driven run: derivatives along several directions at little more than the cost of one.

Each event is linearised once. The linear map is then applied to every direction. The loop carries the derivatives of each direction as
separate numbers, not as one array, so that their arithmetic vectorises over oscillators like that of the values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.fusion import for_every_lane

State = Any
Params = dict[str, Any]


class EventLoop(Protocol):
    """The parts of the event loop of one oscillator."""

    @property
    def start(self) -> State:
        """The state at t = 0. Only its fields `stage` and `events` are read here."""

    @property
    def next_event(self) -> Callable[[State], State]:
        """The function from the state after one event to the state after the next."""


def _of_one_row(p: Params) -> Params:
    """The parameters that may differ between oscillators: all but the bank of records, which is large and shared."""
    return {name: value for name, value in p.items() if name != "bank"}


def along_all(push: Callable[..., Any], one_by_one: bool, *along: Any) -> Any:
    """The results of the linear map `push` for all directions. Each item of `along` lists one argument of `push` for every direction."""
    if one_by_one and len(along[0]) > 1:
        stacked = jax.lax.map(lambda each: push(*each), tuple(jax.tree.map(lambda *leaves: jnp.stack(leaves), *each) for each in along))
        return [jax.tree.map(lambda leaf, i=i: leaf[i], stacked) for i in range(len(along[0]))]
    return [push(*each) for each in zip(*along, strict=True)]


def _goes_on(s: State, most_events: int) -> Any:
    """Whether a run has not ended."""
    return (s.stage < 3.0) & (s.events < most_events)


def last_state(build: Callable[[Params], EventLoop], most_events: int, p: Params) -> State:
    """The last state of one oscillator (see `forward_sensitivity`), without a derivative of its own."""
    machine = build(p)
    start = for_every_lane(machine.start, _of_one_row(p))
    return jax.lax.while_loop(functools.partial(_goes_on, most_events=most_events), machine.next_event, start)


def forward_sensitivity(
    build: Callable[[Params], EventLoop],
    most_events: int,
    p: Params,
    one_by_one: bool = False,
    nested: bool = False,
    values: Callable[[Params], State] | None = None,
) -> State:
    """The last state of one oscillator: at the end of its run, or after `most_events` events.

    Args:
        build: parameters -> its event loop. p: resolved parameters (scalars, tables (n,)).
        one_by_one: apply the linear map to the directions in a loop. Needed for an event so large that a program with one copy of the map
            per direction takes minutes to compile.
        nested: differentiate the loop itself, as JAX does it: for derivatives of order 2 and more.
        values: parameters -> the same state where no derivative is taken, for a loop that is faster then; None for the loop of `build`.
    """
    if nested:
        return last_state(build, most_events, p)

    def end_and_rates(p: Params, directions: list[Params]) -> tuple[State, list[State]]:
        """The last state and its derivatives along every direction. All directions hold the same parameters."""
        chosen = {name: p[name] for name in directions[0]}
        shape = jax.eval_shape(lambda: build(p).start)
        leaves, tree = jax.tree.flatten(shape)
        counts = [not jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves]

        def split(s: State) -> tuple[list[Any], list[Any]]:
            each = list(zip(jax.tree.leaves(s), counts, strict=True))
            return [leaf for leaf, count in each if not count], [leaf for leaf, count in each if count]

        def join(floats: list[Any], whole: list[Any]) -> State:
            ours, others = iter(floats), iter(whole)
            return jax.tree.unflatten(tree, [next(others) if count else next(ours) for count in counts])

        def begin(chosen: Params) -> Any:
            return split(build({**p, **chosen}).start)

        def event(whole: list[Any]) -> Callable[[Params, list[Any]], Any]:
            return lambda chosen, floats: split(build({**p, **chosen}).next_event(join(floats, whole)))

        def body(carry: Any) -> Any:
            floats, whole, rates = carry
            after, push, left = jax.linearize(event(whole), chosen, floats, has_aux=True)
            return after, left, along_all(push, one_by_one, directions, rates)

        floats, push, whole = jax.linearize(begin, chosen, has_aux=True)
        first = for_every_lane((floats, whole, along_all(push, one_by_one, directions)), _of_one_row(p))
        floats, whole, rates = jax.lax.while_loop(lambda carry: _goes_on(join(*carry[:2]), most_events), body, first)
        none = [jnp.zeros_like(count, float) for count in whole]
        return join(floats, whole), [join(rate, none) for rate in rates]

    def along_one(p: Params, direction: Params) -> tuple[State, State]:
        last, (rate,) = end_and_rates(p, [direction])
        return last, rate

    along_each = jax.custom_batching.custom_vmap(along_one)

    @along_each.def_vmap
    def _(size: int, batched: Any, p: Params, direction: Params) -> Any:
        if any(jax.tree.leaves(batched[0])):  # mapped over oscillators, not over the directions of one
            axes = jax.tree.map(lambda each: 0 if each else None, tuple(batched))
            found = jax.vmap(along_one, axes, axis_size=size)(p, direction)
            return found, jax.tree.map(lambda _: True, found)
        each = [{name: value[i] if batched[1][name] else value for name, value in direction.items()} for i in range(size)]
        last, rates = end_and_rates(p, each)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *rates)
        return (last, stacked), (jax.tree.map(lambda _: False, last), jax.tree.map(lambda _: True, stacked))

    differentiable = jax.custom_jvp(values or functools.partial(last_state, build, most_events))

    def jvp(primals: tuple[Params], tangents: tuple[Params]) -> tuple[State, State]:
        (p,), (rates,) = primals, tangents
        last, rate = along_each(
            p, {name: each for name, each in rates.items() if not isinstance(each, jax.custom_derivatives.SymbolicZero)}
        )

        def of_float(value: Any, each: Any) -> Any:
            is_float = jnp.issubdtype(value.dtype, jnp.floating)
            return each if is_float else jax.custom_derivatives.zero_from_primal(value, symbolic_zeros=True)

        return last, jax.tree.map(of_float, last, rate)

    differentiable.defjvp(jvp, symbolic_zeros=True)
    state: State = differentiable(p)
    return state
