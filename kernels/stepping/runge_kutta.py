"""Embedded Runge-Kutta steps whose last stage is the first of the next step (FSAL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Body, External, StepState, Trial


@dataclass(frozen=True, slots=True)
class Tableau:
    """Butcher tableau of an embedded pair.

    Attributes:
        nodes: times of the stages after the first, as fractions of the step; the last stage is the end of the step.
        rows: weights of the earlier stages in each stage after the first; the last row gives the end of the step.
        error: weights of all stages in the difference of the two solutions.
    """

    nodes: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]

    @property
    def fractions(self) -> tuple[float, ...]:
        """The nodes without repetition."""
        return tuple(dict.fromkeys(self.nodes))

    def step(self, body: Body, loads: tuple[External, ...], s: StepState, h: Array) -> Trial:
        """One step; see `Stepper.step`. Every stage evaluates the contact from its memory at the start of the step."""
        speeds, accelerations, turns = [s.v], [s.a], [body.around(s.memory, s.v)]
        moved, memory, slack = 0.0 * h, s.memory, s.slack
        for node, row in zip(self.nodes, self.rows, strict=True):
            moved = h * weigh(row, speeds)
            v, slack = s.faster(h * weigh(row, accelerations))
            x, rest = s.after(moved)
            load = loads[self.fractions.index(node)]
            if turns[0]:
                arcs = tuple(None if each[0] is None else h * weigh(row, list(each)) for each in zip(*turns, strict=True))
                load = cast("Any", load)._replace(arcs=arcs)  # only loads of structures (`Acting`) have them
            a, memory = body.acceleration(load, s.memory, x, moved, v, rest)
            turns.append(body.around(memory, v))
            v, a = fusion_barrier(v, a)
            speeds.append(v)
            accelerations.append(a)
        doubt = h * weigh(self.error, speeds), h * weigh(self.error, accelerations)
        x, rest = s.after(moved)
        return Trial(StepState(x, speeds[-1], accelerations[-1], memory, (), rest, slack), moved, doubt)


def weigh(weights: tuple[float, ...], values: list[Array]) -> Array:
    """The weighted sum, without the terms of weight 0."""
    terms = [weight * value for weight, value in zip(weights, values, strict=True) if weight != 0.0]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
