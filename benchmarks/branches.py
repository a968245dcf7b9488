"""Branches of a rubbing stop over gap and friction: `python -m benchmarks branches`, or `python -m benchmarks.branches --rows 1024`.

The mass is shaken at ever other frequencies. Its resonance leans over at the stop, so that a sweep up jumps elsewhere than a sweep
down. For each gap and mu the branches of periodic motions are followed in the frequency: branches a second, points, and what was located
on them.

Then some of the rows are swept, by plain runs alone: the frequency goes up and then down in small steps, each of which begins with the
motion at the end of the one before and lasts a given number of periods. Each motion that a step has settled on must be one of those on the
branches of its row, at the same frequency; else it counts as lost. The motion of a branch is that to which Newton's method goes from
between its two nearest points.
"""

from __future__ import annotations

import argparse
import collections
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.batch.solve import solve
from kernels.branches.collect import Branch, at_zero, branches
from kernels.branches.problem import Plane, Points, Problem, joined
from kernels.branches.section_map import SectionMap
from kernels.models import STOP
from kernels.models.schemes import EXACT, STEADY
from kernels.runtime import jax_setup, program_cache

FIXED = {"m": 1.0, "k": 1.0, "c": 0.05, "a0": 0.4, "g": 1.0, "k_n": 30.0, "c_n": 0.5}
GAP, MU, OMEGA = (0.5, 1.5), (0.02, 0.2), (0.8, 2.4)  # m, 1, rad/s
PERIODS, PLACES, BLOCK = 2, 3, 32
SIDE = 100  # gaps, and values of mu
SAMPLE, STEPS, LASTING = 200, 81, 200  # rows that are swept, frequencies of a sweep, periods at each
SETTLED, SAME = 1e-8, 1e-6  # differences of velocities over the largest speed


@dataclass(frozen=True, slots=True)
class Motions:
    """Motions on which sweeps have settled (N,).

    Attributes:
        row: numbers of the rows. omega: frequency [rad/s]. periods: of the excitation after which they repeat. y: (N, 2) velocity, and
            displacement times omega, at the start of a period [m/s]. way: +1 up, -1 down.
    """

    row: np.ndarray
    omega: np.ndarray
    periods: np.ndarray
    y: np.ndarray
    way: np.ndarray


def rows(count: int) -> dict[str, np.ndarray]:
    """Gaps and friction coefficients of rows (count,): a plane of `SIDE` times `SIDE`, or places spread evenly over it."""
    if count == SIDE**2:
        gap, mu = (values.ravel() for values in np.meshgrid(np.linspace(*GAP, SIDE), np.linspace(*MU, SIDE), indexing="ij"))
        return {"gap": gap, "mu": mu}
    even = {"gap": 0.7548776662466927, "mu": 0.5698402909980532}
    parts = {name: np.modf(np.arange(count) * ratio)[0] for name, ratio in even.items()}
    return {name: low + (high - low) * parts[name] for name, (low, high) in (("gap", GAP), ("mu", MU))}


def followed(columns: dict[str, np.ndarray], seconds: float) -> tuple[list[Branch], int, float, float]:
    """The branches of the rows, block by block until `seconds` are over; the number of rows; seconds of the clock and of the processor."""
    found: list[Branch] = []
    count, done = len(columns["gap"]), 0
    begun, worked = time.perf_counter(), time.process_time()
    while done < count and (not done or time.perf_counter() - begun < seconds):
        stop = min(done + BLOCK, count)
        some: dict[str, np.ndarray | float] = {**FIXED, **{name: values[done:stop] for name, values in columns.items()}}
        more = branches(STOP, some, "omega", OMEGA, places=PLACES, periods=PERIODS, rows=stop - done)
        first = len(found)
        found += [replace(one, row=one.row + done, parent=one.parent + first if one.parent >= 0 else -1) for one in more]
        done = stop
    return found, done, time.perf_counter() - begun, time.process_time() - worked


def compiled(columns: dict[str, np.ndarray]) -> None:
    """Have the programs of a block compiled."""
    count = len(columns["gap"])
    solve(
        STOP,
        EXACT,
        {**FIXED, **columns, "omega": np.full(count, OMEGA[0]), "x0": np.zeros(count), "v0": np.zeros(count)},
        {},
        count,
        STEADY,
    )
    one = np.ones(1)
    SectionMap(STOP, {**FIXED, **columns}, ("omega",), (OMEGA,), count)(np.zeros(1, int), one[:, None], np.zeros((1, 2)), one, one, 0 * one)


def swept(columns: dict[str, np.ndarray], steps: int = STEPS) -> tuple[Motions, int, int]:
    """Motions on which sweeps up and down settle; the number of steps in all; rows whose two sweeps differ somewhere."""
    count = len(columns["gap"])
    state = np.zeros((count, 2))  # velocity, displacement
    up = np.linspace(*OMEGA, steps)
    found: list[Motions] = []
    seen = np.full((2, steps, count), np.nan)

    def after(periods: int, omega: float, state: np.ndarray) -> np.ndarray:
        end = periods * 2.0 * math.pi / omega
        run: dict[str, np.ndarray | float] = {"x0": state[:, 1], "v0": state[:, 0], "omega": omega, "end": end, "window_start": 0.0}
        ended = solve(STOP, EXACT, {**FIXED, **columns, **run}, count=count)
        return np.stack([ended.observables["v_end"], ended.observables["x_end"]], axis=1)

    for way, places in ((1, range(steps)), (-1, range(steps - 1, -1, -1))):
        for place in places:
            omega = float(up[place])
            sections = [after(LASTING, omega, state)]
            for _ in range(PERIODS):
                sections.append(after(1, omega, sections[-1]))
            state = sections[-1]
            y = np.stack(sections) * np.array([1.0, omega])
            size = np.abs(y).max(axis=(0, 2)) + FIXED["a0"] / omega
            settled = np.zeros(count, dtype=int)
            for periods in range(PERIODS, 0, -1):
                settled[np.abs(y[periods] - y[0]).max(axis=1) < SETTLED * size] = periods
            here = np.flatnonzero(settled)
            found.append(Motions(here, np.full(here.size, omega), settled[here], y[0, here], np.full(here.size, way)))
            seen[(1 - way) // 2, place] = np.where(settled > 0, y[0, :, 0], np.nan)
    differ = np.nanmax(np.nan_to_num(np.abs(seen[0] - seen[1])), axis=0) > 1e-3
    names = ("row", "omega", "periods", "y", "way")
    whole = Motions(*(np.concatenate([getattr(each, name) for each in found]) for name in names))
    return whole, 2 * steps * count, int(differ.sum())


def between(found: Sequence[Branch], motions: Motions) -> tuple[np.ndarray, list[Points], np.ndarray]:
    """Guesses for the motions of branches at the frequencies of other motions: number of the motion, point before it, unknowns u."""
    owner, points, guesses = [], [], []
    low, high = OMEGA
    for branch in found:
        s = branch.points.u[:, -1]
        for number in np.flatnonzero((motions.row == branch.row) & (motions.periods == branch.periods)):
            at = (motions.omega[number] - low) / (high - low)
            for i in np.flatnonzero((s[:-1] - at) * (s[1:] - at) <= 0.0):
                one, other = branch.points.take(np.array([i])), branch.points.take(np.array([i + 1]))
                if one.shift[0] != other.shift[0]:
                    one = other
                part = 0.0 if s[i] == s[i + 1] else (at - s[i]) / (s[i + 1] - s[i])
                u = one.u[0] + part * (other.u[0] * np.append(np.repeat(other.speed / one.speed, len(one.u[0]) - 1), 1.0) - one.u[0])
                u[-1] = at
                owner.append(number)
                points.append(one)
                guesses.append(u)
    return np.array(owner, dtype=int), points, np.array(guesses)


def distances(found: Sequence[Branch], columns: dict[str, np.ndarray], motions: Motions) -> np.ndarray:
    """How far each motion (N,) is from the nearest one on a branch of its row at its frequency, over its speed; infinite without any."""
    nearest = np.full(len(motions.row), np.inf)
    owner, points, u = between(found, motions)
    if not owner.size:
        return nearest
    section = SectionMap(STOP, {**FIXED, **columns}, ("omega",), (OMEGA,), len(columns["gap"]))
    problem = Problem(section, *OMEGA, False, motions.row[owner], motions.periods[owner].astype(float))
    at = replace(joined(points), branch=np.arange(owner.size))
    across = np.zeros_like(u)
    across[:, -1] = 1.0
    with np.errstate(all="ignore"):
        exact, good, _ = problem.correct(at.places, u, Plane.through(u, across))
        y = at_zero(problem, exact)[:, :2]
        later, _ = problem.later(exact, np.ones(owner.size) + np.where(exact.shift > 0.0, 1.0 - exact.shift, 0.0))
    y_later = later[:, :2] * exact.speed[:, None]  # one period on, of motions of two periods
    size = np.abs(motions.y[owner]).max(axis=1) + FIXED["a0"] / motions.omega[owner]
    apart = np.minimum(*(np.abs(each - motions.y[owner]).max(axis=1) for each in (y, y_later))) / size
    np.minimum.at(nearest, owner[good], apart[good])
    return nearest


def report(count: int, sample: int, steps: int, seconds: float) -> None:
    """Follow, sweep, compare, and print the table."""
    jax_setup.prepare()
    program_cache.use()
    columns = rows(count)
    compiled({name: values[:BLOCK] for name, values in columns.items()})
    found, done, took, worked = followed(columns, seconds)
    kinds = collections.Counter(kind for branch in found for kind in branch.kinds if kind)
    ends = collections.Counter(end for branch in found for end in branch.ends)
    print("| rows | branches | points | time [s] | branches/s | processor time a branch [s] |\n|---|---|---|---|---|---|")
    points = sum(len(branch.value) for branch in found)
    print(f"| {done:,} | {len(found):,} | {points:,} | {took:.0f} | {len(found) / took:.3g} | {worked / max(len(found), 1):.3g} |\n")
    print("Located: " + ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) + ".")
    print("Ends of branches: " + ", ".join(f"{number:,} {end}" for end, number in ends.most_common()) + ".\n", flush=True)
    chosen = np.sort(np.random.default_rng(1).choice(done, min(sample, done), replace=False))
    some = {name: values[chosen] for name, values in columns.items()}
    place = {int(row): number for number, row in enumerate(chosen)}
    theirs = [replace(branch, row=place[branch.row]) for branch in found if branch.row in place]
    begun = time.perf_counter()
    motions, all_steps, differ = swept(some, steps)
    took = time.perf_counter() - begun
    apart = distances(theirs, some, motions)
    lost = np.flatnonzero(~(apart < SAME))
    print("| swept rows | steps | settled | rows with hysteresis | time [s] | farthest | lost |\n|---|---|---|---|---|---|---|")
    farthest = apart[apart < SAME].max(initial=0.0)
    print(f"| {len(chosen)} | {all_steps:,} | {len(motions.row):,} | {differ} | {took:.0f} | {farthest:.1e} | {lost.size} |", flush=True)
    for i in lost[:40]:
        row = motions.row[i]
        print(
            f"\nlost: gap {some['gap'][row]:.17g}, mu {some['mu'][row]:.17g}, omega {motions.omega[i]:.17g}, periods {motions.periods[i]}, "
            f"way {motions.way[i]:+d}, v, x {motions.y[i, 0]:.9g}, {motions.y[i, 1] / motions.omega[i]:.9g}, nearest {apart[i]:.1e}"
        )


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SIDE**2, help="how many rows are followed")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many of them are swept")
    parser.add_argument("--steps", type=int, default=STEPS, help="frequencies of a sweep")
    parser.add_argument("--seconds", type=float, default=600.0, help="no further block of rows is begun after so many")
    asked = parser.parse_args(arguments)
    report(asked.rows, asked.sample, asked.steps, asked.seconds)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
