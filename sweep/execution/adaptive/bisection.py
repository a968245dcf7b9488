"""Bisection on the sides of the smallest cells: brackets whose ends differ in class are narrowed.

Brackets between words are bisected, on a logarithmic scale as long as their ends differ by many orders of magnitude. If a bracket has
heights above and below a level, it is narrowed by the truncated and projected regula falsi of Oliveira and Takahashi ("An enhancement of
the bisection method average performance preserving minmax optimality", ACM Trans. Math. Softw. 47, 2020). This takes at most one step more
than bisection, and for smooth observables a few steps instead of a dozen. A third class between the ends splits a bracket into two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from tribosweep.sweep.design.axis import Spaced

TRUNCATION, SPARE_STEPS = 0.2, 1.0  # kappa_1 (kappa_2 = 2) and n_0 of the source, with the first bracket as unit of length
APART = 2.0**40  # how many times as large one end of a bracket must be as the other for the middle to be that of their logarithms


@dataclass(frozen=True, slots=True)
class Brackets:
    """Brackets on sides of cells, (n,) each, ordered by side and along each side.

    Attributes:
        sides: number of the side: twice the key of its lower node, plus 1 for a side along the second axis.
        others: value of the parameter that is constant along the side.
        low, high: values of the other parameter at the ends. low_class, high_class, low_height, high_height: class and height there.
        begun: first value of low. length: first signed length of the bracket. steps: number of steps so far.
        goal: largest final length.
    """

    sides: np.ndarray
    others: np.ndarray
    low: np.ndarray
    high: np.ndarray
    low_class: np.ndarray
    high_class: np.ndarray
    low_height: np.ndarray
    high_height: np.ndarray
    begun: np.ndarray
    length: np.ndarray
    steps: np.ndarray
    goal: np.ndarray

    @property
    def count(self) -> int:
        """The number of brackets."""
        return len(self.sides)

    @property
    def along(self) -> np.ndarray:
        """The axis that each bracket lies along, 0 or 1."""
        found: np.ndarray = self.sides % 2
        return found

    def part(self, rows: np.ndarray) -> Brackets:
        """Select brackets by mask or position."""
        return Brackets(*(getattr(self, field.name)[rows] for field in fields(self)))

    def with_classes(self, low: np.ndarray, high: np.ndarray) -> Brackets:
        """The brackets with other classes at their ends."""
        return replace(self, low_class=low, high_class=high)

    @classmethod
    def concatenated(cls, parts: Sequence[Brackets]) -> Brackets:
        """Brackets one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def wide(self) -> np.ndarray:
        """Mask of the brackets to narrow; a bracket between neighbouring floats cannot be narrowed."""
        middle = self.middle()
        mask: np.ndarray = (np.abs(self.high - self.low) > self.goal) & (middle != self.low) & (middle != self.high)
        return mask

    def trials(self) -> np.ndarray:
        """The next trial values, between the ends."""
        middle = self.middle()
        with np.errstate(all="ignore"):  # heights of words are NaN
            # as in the source, with the length of the first bracket as the unit
            low, high = (self.low - self.begun) / self.length, (self.high - self.begun) / self.length
            half, width = 0.5 * (low + high), high - low
            radius_at_last = 0.5 * self.goal / np.abs(self.length)
            most = np.ceil(np.log2(0.5 / radius_at_last)) + SPARE_STEPS
            radius = np.maximum(radius_at_last * 2.0 ** (most - self.steps) - 0.5 * width, 0.0)
            chord = (high * self.low_height - low * self.high_height) / (self.low_height - self.high_height)
            side, step = np.sign(half - chord), TRUNCATION * width**2
            shifted = np.where(step <= np.abs(half - chord), chord + side * step, half)
            chosen = np.where(np.abs(shifted - half) <= radius, shifted, half - side * radius)
            found = self.begun + chosen * self.length
            between = (found - self.low) * (self.high - found) > 0.0
            differ = self.low_height * self.high_height <= 0.0
        trials: np.ndarray = np.where(differ & between & ~self.apart(), found, middle)
        return trials

    def apart(self) -> np.ndarray:
        """Mask of the brackets between numbers of one sign and of sizes so different that halving takes up to a thousand steps."""
        small, large = np.sort(np.abs([self.low, self.high]), axis=0)
        mask: np.ndarray = (np.sign(self.low) == np.sign(self.high)) & (large / APART > small) & (small > 0.0)
        return mask

    def middle(self) -> np.ndarray:
        """The middle of each bracket: of the numbers, or of their logarithms if they are far `apart`."""
        found: np.ndarray = 0.5 * self.low + 0.5 * self.high
        geometric = np.sign(self.low) * np.sqrt(np.abs(self.low)) * np.sqrt(np.abs(self.high))
        return np.where(self.apart(), geometric, found)

    def narrowed(self, trials: np.ndarray, classes: np.ndarray, heights: np.ndarray) -> Brackets:
        """The brackets narrowed by the results at `trials`: one part of each bracket, or both parts if a third class lies between.

        Args:
            trials: the trial values. classes, heights: the results there.
        """
        like_low, like_high = classes == self.low_class, classes == self.high_class
        third = ~like_low & ~like_high
        lower = self.with_end("high", trials, classes, heights, third).part(~like_low)
        upper = self.with_end("low", trials, classes, heights, third).part(~like_high)
        order = np.argsort(np.concatenate([np.flatnonzero(~like_low), np.flatnonzero(~like_high)]), kind="stable")
        every = (np.concatenate([getattr(lower, field.name), getattr(upper, field.name)])[order] for field in fields(self))
        return Brackets(*every)

    def with_end(self, end: str, trials: np.ndarray, classes: np.ndarray, heights: np.ndarray, anew: np.ndarray) -> Brackets:
        """The brackets with one end replaced; brackets in the mask `anew` restart their count of steps."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {end: trials, f"{end}_class": classes, f"{end}_height": heights}
        values["begun"] = np.where(anew, values["low"], self.begun)
        values["length"] = np.where(anew, values["high"] - values["low"], self.length)
        values["steps"] = np.where(anew, 0.0, self.steps + 1.0)
        return Brackets(**values)


def goals(axis: Spaced, low: np.ndarray, high: np.ndarray, width: float) -> np.ndarray:
    """The final length of brackets on an axis: `width` times the value, or times the larger end of the axis if the axis touches 0."""
    if axis.start * axis.stop <= 0.0:
        return np.full(len(low), width * max(abs(axis.start), abs(axis.stop)))
    goal: np.ndarray = width * np.minimum(np.abs(low), np.abs(high))
    return goal
