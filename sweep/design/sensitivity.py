"""Designs for sensitivity: Halton's sequence, Saltelli's crossings, Morris's trajectories, FAST curves; any block from its index range.

Points that belong together follow each other, so that a design of more groups begins with the same points: groups of d + 2 or 2 d + 2
points (Saltelli), trajectories of d + 1 points (Morris). Of a FAST design each parameter has its curve.
"""

from __future__ import annotations

import copy
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.design.axis import Axis
from sweep.design.latin_hypercube import LatinHypercube
from sweep.design.sampling import PlainSample, Sampled
from sweep.design.sobol import Sobol, sobol

LEVELS, HARMONICS = 4, 4  # unless given


@dataclass(frozen=True, slots=True)
class Halton(PlainSample):
    """Points of the scrambled Halton sequence, those of `scipy.stats.qmc.Halton`."""

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """`coordinates` before parameters are correlated."""
        engine = copy.copy(halton(len(self.axes), self.seed))
        engine.num_generated = start  # a point is computed from its number alone
        found = engine.random(stop - start) if stop > start else np.empty((0, len(self.axes)))
        return list(np.ascontiguousarray(found.T))


@functools.lru_cache(maxsize=8)
def halton(dimensions: int, seed: int) -> Any:
    """The sequence of scipy with its permutations of digits."""
    from scipy.stats import qmc

    return qmc.Halton(dimensions, scramble=True, rng=np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class Saltelli(Sampled):
    """Saltelli's crossings of two samples A and B, the halves of a scrambled Sobol sequence of twice as many dimensions.

    A group is a row of A; the same with one coordinate from B, for each; with `second_order` the row of B with one coordinate from A, for
    each; the row of B. The order is that of `SALib.sample.sobol`, which tests hold it against. Source: A. Saltelli et al., Computer
    Physics Communications 181 (2010), 259-270; second order: the same 145 (2002), 280-297.

    Attributes:
        axes: one dimension each, d of them.
        groups: how many groups; a power of two is balanced best.
        seed: of the scrambling.
        second_order: whether groups serve indices of second order too.
    """

    axes: tuple[Axis, ...]
    groups: int
    seed: int
    second_order: bool = False

    @property
    def group_size(self) -> int:
        """How many points a group has."""
        return len(self.axes) * (2 if self.second_order else 1) + 2

    @property
    def count(self) -> int:
        """How many points."""
        return self.groups * self.group_size

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1) of the points from `start` up to, not including, `stop`, one array an axis."""
        d, size = len(self.axes), self.group_size
        first, last = start // size, -(-stop // size)
        base = sobol(2 * d, self.seed, np.arange(first, last))
        group, member = np.divmod(np.arange(start, stop), size)
        found = []
        for axis in range(d):
            crossed = (member == axis + 1) | (self.second_order & (member == d + axis + 1))
            of_b = (member > d) ^ crossed
            found.append(np.where(of_b, base[d + axis][group - first], base[axis][group - first]))
        return found


@dataclass(frozen=True, slots=True)
class Morris(Sampled):
    """Trajectories through a grid of `levels` levels an axis, in each of which every parameter moves once.

    Trajectory t is that of `SALib.sample.morris` with the random numbers of `numpy.random.default_rng([seed, t])`. Source: M. D. Morris,
    Technometrics 33 (1991), 161-174.

    Attributes:
        axes: one dimension each, d of them.
        groups: how many trajectories, of d + 1 points each.
        seed: of the random numbers.
        levels: an even number; a step is levels / (2 (levels - 1)) of the unit range.
    """

    axes: tuple[Axis, ...]
    groups: int
    seed: int
    levels: int = LEVELS

    @property
    def group_size(self) -> int:
        """How many points a trajectory has."""
        return len(self.axes) + 1

    @property
    def count(self) -> int:
        """How many points."""
        return self.groups * self.group_size

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1] of the points from `start` up to, not including, `stop`, one array an axis."""
        size = self.group_size
        first, last = start // size, -(-stop // size)
        whole = [self.trajectory(number) for number in range(first, last)]
        rows = np.concatenate([np.empty((0, len(self.axes))), *whole])[start - first * size : stop - first * size]
        return list(np.ascontiguousarray(rows.T))

    def trajectory(self, number: int) -> np.ndarray:
        """(d + 1, d) coordinates of one trajectory."""
        d, step = len(self.axes), self.levels / (2.0 * (self.levels - 1.0))
        rng = np.random.default_rng([self.seed, number])
        turn = np.eye(d)  # row j tells when parameter j moves; shuffled as SALib does
        rng.shuffle(turn)
        direction = rng.choice([-1, 1], d)
        base = rng.choice(np.linspace(0.0, 1.0 - step, self.levels // 2), d)
        moved = np.arange(d + 1)[:, np.newaxis] > np.argmax(turn, axis=1)
        return np.asarray(base + step / 2.0 * ((2.0 * moved - 1.0) * direction + 1.0))


@dataclass(frozen=True, slots=True)
class Fast(Sampled):
    """Curves of the extended Fourier amplitude sensitivity test, one a parameter, each with a random phase.

    The points are those of `SALib.sample.fast_sampler` with the same seed. Source: A. Saltelli, S. Tarantola and K. Chan, Technometrics 41
    (1999), 39-56.

    Attributes:
        axes: one dimension each, d of them.
        samples: how many points a curve has, more than 4 harmonics^2.
        seed: of the phases.
        harmonics: of the frequency of its own parameter that a curve is analysed by.
    """

    axes: tuple[Axis, ...]
    samples: int
    seed: int
    harmonics: int = HARMONICS

    @property
    def group_size(self) -> int:
        """How many points a curve has."""
        return self.samples

    @property
    def groups(self) -> int:
        """How many curves."""
        return len(self.axes)

    @property
    def count(self) -> int:
        """How many points."""
        return self.samples * len(self.axes)

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1] of the points from `start` up to, not including, `stop`, one array an axis."""
        d = len(self.axes)
        phases = 2.0 * math.pi * np.random.default_rng(self.seed).random(d)
        curve, place = np.divmod(np.arange(start, stop), self.samples)
        s = (2.0 * math.pi / self.samples) * place
        own, others = self.frequencies()
        found = []
        for axis in range(d):
            # of the curve of parameter i, i has the own frequency, and the others have theirs in order
            omega = np.array([own if curve_of == axis else others[axis - (axis > curve_of)] for curve_of in range(d)])
            found.append(0.5 + (1.0 / math.pi) * np.arcsin(np.sin(omega[curve] * s + phases[curve])))
        return found

    def frequencies(self) -> tuple[float, np.ndarray]:
        """The frequency of the parameter of a curve, and the (d - 1,) frequencies of the others."""
        d = len(self.axes)
        own = math.floor((self.samples - 1) / (2 * self.harmonics))
        most = math.floor(own / (2 * self.harmonics))
        others = np.floor(np.linspace(1, most, d - 1)) if most >= d - 1 else np.arange(d - 1) % most + 1.0
        return float(own), others


Sampling = Sobol | LatinHypercube | Halton | Saltelli | Morris | Fast
SAMPLERS: dict[str, type[Sampling]] = {
    "sobol": Sobol,
    "latin_hypercube": LatinHypercube,
    "halton": Halton,
    "saltelli": Saltelli,
    "morris": Morris,
    "fast": Fast,
}
OPTIONS: dict[str, tuple[str, ...]] = {"second_order": ("saltelli",), "levels": ("morris",), "harmonics": ("fast",)}
ABOUT: dict[str, str] = {
    "halton": "`count` points of the scrambled Halton sequence; any number of them is as good as a power of two",
    "saltelli": "`count` groups of d + 2 points (2 d + 2 with second_order = true) for Sobol indices of d parameters",
    "morris": "`count` trajectories of d + 1 points through a grid of `levels` (4) levels an axis, for elementary effects",
    "fast": "a curve of `count` points for each parameter, analysed by `harmonics` (4) harmonics (extended FAST)",
}


def count_of(design: Sampling) -> int:
    """What the key `count` of a design says: points, groups, trajectories, points of a curve."""
    if isinstance(design, Saltelli | Morris):
        return design.groups
    return design.samples if isinstance(design, Fast) else design.count


def settings_of(design: Sampling) -> dict[str, Any]:
    """A design's keys but its axes, as a file gives them."""
    found: dict[str, Any] = {"count": count_of(design), "seed": design.seed}
    if isinstance(design, Saltelli) and design.second_order:
        found["second_order"] = True
    if isinstance(design, Morris):
        found["levels"] = design.levels
    if isinstance(design, Fast):
        found["harmonics"] = design.harmonics
    if isinstance(design, PlainSample) and design.correlations:
        found["correlations"] = [list(each) for each in design.correlations]
    return found


def remarks_on(design: Any) -> list[str]:
    """Notes on a design before it is computed."""
    if not isinstance(design, Sobol | Saltelli):
        return []
    count, noun = (design.groups, "groups") if isinstance(design, Saltelli) else (design.count, "points")
    below = 1 << (count.bit_length() - 1)
    if count == below:
        return []
    part = f"the last {count - below:,} fill a part of their block only, so that means are biased towards it"
    lost = f"{part}, and the error falls hardly faster than 1/sqrt(N)"
    return [f"{count:,} {noun} of a Sobol sequence are no power of two: {lost}; {below:,} or {2 * below:,} {noun} are balanced."]
