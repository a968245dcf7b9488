"""Designs for sensitivity: Halton, Saltelli, Morris and FAST; any block of points can be computed from its index range.

Points of a group follow each other, so that a design of more groups begins with the same points: groups of d + 2 or 2 d + 2 points for
Saltelli, trajectories of d + 1 points for Morris. A FAST design has one curve for each parameter.
"""

from __future__ import annotations

import copy
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.sweep.design.axis import Axis
from tribosweep.sweep.design.latin_hypercube import LatinHypercube
from tribosweep.sweep.design.posterior import Posterior
from tribosweep.sweep.design.sampling import PlainSample, Sampled
from tribosweep.sweep.design.sobol import Sobol, sobol

LEVELS, HARMONICS = 4, 4  # default values


@dataclass(frozen=True, slots=True)
class Halton(PlainSample):
    """Points of the scrambled Halton sequence, equal to those of `scipy.stats.qmc.Halton`."""

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """The `coordinates` before parameters are correlated."""
        engine = copy.copy(halton(len(self.axes), self.seed))
        engine.num_generated = start  # a point depends only on its number
        found = engine.random(stop - start) if stop > start else np.empty((0, len(self.axes)))
        return list(np.ascontiguousarray(found.T))


@functools.lru_cache(maxsize=8)
def halton(dimensions: int, seed: int) -> Any:
    """The sequence of scipy with its permutations of digits."""
    from scipy.stats import qmc

    return qmc.Halton(dimensions, scramble=True, rng=np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class Saltelli(Sampled):
    """Saltelli's design: rows of two samples A and B, which are the halves of a scrambled Sobol sequence of twice as many dimensions.

    A group is a row of A; this row with one coordinate from B, for each coordinate; with `second_order` the row of B with one coordinate
    from A, for each coordinate; and the row of B. The order is that of `SALib.sample.sobol`, as tests check. Source: A. Saltelli et al.,
    Computer Physics Communications 181 (2010), 259-270; second order: Computer Physics Communications 145 (2002), 280-297.

    Attributes:
        axes: the axes, one dimension each, d of them.
        groups: number of groups; powers of two are balanced best.
        seed: seed of the scrambling.
        second_order: whether the groups have the rows for second-order indices.
    """

    axes: tuple[Axis, ...]
    groups: int
    seed: int
    second_order: bool = False

    @property
    def group_size(self) -> int:
        """The number of points of a group."""
        return len(self.axes) * (2 if self.second_order else 1) + 2

    @property
    def count(self) -> int:
        """The number of points."""
        return self.groups * self.group_size

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1) of the points from `start` up to, not including, `stop`, one array per axis."""
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
    """Trajectories through a grid of `levels` levels per axis; in each trajectory every parameter moves once.

    Trajectory t is that of `SALib.sample.morris` with the random numbers of `numpy.random.default_rng([seed, t])`. Source: M. D. Morris,
    Technometrics 33 (1991), 161-174.

    Attributes:
        axes: the axes, one dimension each, d of them.
        groups: number of trajectories, of d + 1 points each.
        seed: seed of the random numbers.
        levels: an even number; a step is levels / (2 (levels - 1)) of the unit range.
    """

    axes: tuple[Axis, ...]
    groups: int
    seed: int
    levels: int = LEVELS

    @property
    def group_size(self) -> int:
        """The number of points of a trajectory."""
        return len(self.axes) + 1

    @property
    def count(self) -> int:
        """The number of points."""
        return self.groups * self.group_size

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1] of the points from `start` up to, not including, `stop`, one array per axis."""
        size = self.group_size
        first, last = start // size, -(-stop // size)
        whole = [self.trajectory(number) for number in range(first, last)]
        rows = np.concatenate([np.empty((0, len(self.axes))), *whole])[start - first * size : stop - first * size]
        return list(np.ascontiguousarray(rows.T))

    def trajectory(self, number: int) -> np.ndarray:
        """(d + 1, d) coordinates of one trajectory."""
        d, step = len(self.axes), self.levels / (2.0 * (self.levels - 1.0))
        rng = np.random.default_rng([self.seed, number])
        turn = np.eye(d)  # row j is the order of the move of parameter j; shuffled as in SALib
        rng.shuffle(turn)
        direction = rng.choice([-1, 1], d)
        base = rng.choice(np.linspace(0.0, 1.0 - step, self.levels // 2), d)
        moved = np.arange(d + 1)[:, np.newaxis] > np.argmax(turn, axis=1)
        return np.asarray(base + step / 2.0 * ((2.0 * moved - 1.0) * direction + 1.0))


@dataclass(frozen=True, slots=True)
class Fast(Sampled):
    """Curves of the extended Fourier amplitude sensitivity test, one per parameter, each with a random phase.

    The points are those of `SALib.sample.fast_sampler` with the same seed. Source: A. Saltelli, S. Tarantola and K. Chan, Technometrics 41
    (1999), 39-56.

    Attributes:
        axes: the axes, one dimension each, d of them.
        samples: number of points of a curve, more than 4 harmonics^2.
        seed: seed of the phases.
        harmonics: number of harmonics of the parameter's own frequency in the analysis of its curve.
    """

    axes: tuple[Axis, ...]
    samples: int
    seed: int
    harmonics: int = HARMONICS

    @property
    def group_size(self) -> int:
        """The number of points of a curve."""
        return self.samples

    @property
    def groups(self) -> int:
        """The number of curves."""
        return len(self.axes)

    @property
    def count(self) -> int:
        """The number of points."""
        return self.samples * len(self.axes)

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1] of the points from `start` up to, not including, `stop`, one array per axis."""
        d = len(self.axes)
        phases = 2.0 * math.pi * np.random.default_rng(self.seed).random(d)
        curve, place = np.divmod(np.arange(start, stop), self.samples)
        s = (2.0 * math.pi / self.samples) * place
        own, others = self.frequencies()
        found = []
        for axis in range(d):
            # on the curve of parameter i, parameter i has the frequency `own`, and the others have those of `others` in order
            omega = np.array([own if curve_of == axis else others[axis - (axis > curve_of)] for curve_of in range(d)])
            found.append(0.5 + (1.0 / math.pi) * np.arcsin(np.sin(omega[curve] * s + phases[curve])))
        return found

    def frequencies(self) -> tuple[float, np.ndarray]:
        """The frequency of a curve's own parameter, and the (d - 1,) frequencies of the other parameters."""
        d = len(self.axes)
        own = math.floor((self.samples - 1) / (2 * self.harmonics))
        most = math.floor(own / (2 * self.harmonics))
        others = np.floor(np.linspace(1, most, d - 1)) if most >= d - 1 else np.arange(d - 1) % most + 1.0
        return float(own), others


Sampling = Sobol | LatinHypercube | Halton | Saltelli | Morris | Fast | Posterior
SAMPLERS: dict[str, type[Sampling]] = {
    "sobol": Sobol,
    "latin_hypercube": LatinHypercube,
    "halton": Halton,
    "saltelli": Saltelli,
    "morris": Morris,
    "fast": Fast,
    "posterior": Posterior,
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "second_order": ("saltelli",),
    "levels": ("morris",),
    "harmonics": ("fast",),
    "columns": ("posterior",),
}
ABOUT: dict[str, str] = {
    "halton": "`count` points of the scrambled Halton sequence; any number of them is as good as a power of two",
    "saltelli": "`count` groups of d + 2 points (2 d + 2 with second_order = true) for Sobol indices of d parameters",
    "morris": "`count` trajectories of d + 1 points through a grid of `levels` (4) levels an axis, for elementary effects",
    "fast": "a curve of `count` points for each parameter, analysed by `harmonics` (4) harmonics (extended FAST)",
    "posterior": "`count` draws from the rows of a CSV or Parquet `file`, correlation kept; axes with a distribution get a value "
    "for each draw, which runs at every combination of the other axes' values",
}


def count_of(design: Sampling) -> int:
    """The value of the key `count` of a design: number of points, groups, trajectories, or points of a curve."""
    if isinstance(design, Saltelli | Morris):
        return design.groups
    if isinstance(design, Posterior):
        return design.draws
    return design.samples if isinstance(design, Fast) else design.count


def settings_of(design: Sampling) -> dict[str, Any]:
    """The keys of a design except its axes, in the format of a study file."""
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
    """Remarks on a design before it is computed."""
    if isinstance(design, Posterior) and design.combinations > 1:
        mixed = f"The {design.combinations:,} points of a draw share its parameters"
        return [f"{mixed}: numbers over all points mix them, and their intervals are those of independent points."]
    if not isinstance(design, Sobol | Saltelli):
        return []
    count, noun = (design.groups, "groups") if isinstance(design, Saltelli) else (design.count, "points")
    below = 1 << (count.bit_length() - 1)
    if count == below:
        return []
    part = f"the last {count - below:,} fill a part of their block only, so that means are biased towards it"
    lost = f"{part}, and the error falls hardly faster than 1/sqrt(N)"
    return [f"{count:,} {noun} of a Sobol sequence are no power of two: {lost}; {below:,} or {2 * below:,} {noun} are balanced."]
