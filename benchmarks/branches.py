"""Branches of a rubbing stop over gap and friction: `python -m benchmarks branches`, `python -m benchmarks.branches --workers 2`.

The mass is shaken at ever other frequencies. Its resonance leans over at the stop, so that a sweep up jumps elsewhere than a sweep
down. For each gap and mu the branches of periodic motions are followed in the frequency: branches a second, points, and what was located
on them.

Then some of the rows are swept, by plain runs alone: the frequency goes up and then down in small steps, each of which begins with the
motion at the end of the one before and lasts a given number of periods. Each motion that a step has settled on must be one of those on the
branches of its row, at the same frequency; else it counts as lost. The motion of a branch is that to which Newton's method goes from
between its two nearest points.

Blocks of rows are dealt out to workers, processes with one core each. Each block that is done prints a line. A block that would not end
before the time is up is not begun, and what is not done then is given up.
"""

from __future__ import annotations

import argparse
import collections
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.collect import at_zero, branches
from tribosweep.kernels.branches.problem import Plane, Points, Problem, joined
from tribosweep.kernels.branches.section_map import SectionMap
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.kernels.runtime import jax_setup, program_cache

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

FIXED = {"m": 1.0, "k": 1.0, "c": 0.05, "a0": 0.4, "g": 1.0, "k_n": 30.0, "c_n": 0.5}
GAP, MU, OMEGA = (0.5, 1.5), (0.02, 0.2), (0.8, 2.4)  # m, 1, rad/s
PERIODS, PLACES = 2, 3
ROWS, BLOCK = 4300, 1075  # rows, which have about 10^4 branches; most rows of a block
SAMPLE, STEPS, LASTING = 200, 81, 200  # rows that are swept, frequencies of a sweep, periods at each
SWEEPS = 0.15  # part of the time that is left to the sweeps
SETTLED, SAME, OTHER = 1e-8, 1e-6, 1e-3  # differences of velocities over the largest speed


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


@dataclass(frozen=True, slots=True)
class Followed:
    """Branches of a block of rows: numbers of the rows, branches, seconds of the processor; `row` and `parent` count within the block."""

    rows: np.ndarray
    branches: list[Branch]
    worked: float


@dataclass(frozen=True, slots=True)
class Compared:
    """Sweeps of some rows, held against their branches.

    Attributes:
        rows: numbers of the rows. steps: of the sweeps in all. settled: number of motions on which they settled. differ: rows whose two
            sweeps differ somewhere. farthest: of the motions that are on a branch, from it. lost: a line for each motion that is not.
        worked: seconds of the processor.
    """

    rows: np.ndarray
    steps: int
    settled: int
    differ: int
    farthest: float
    lost: list[str]
    worked: float


def rows(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Gaps and friction coefficients of rows, spread evenly over their plane, by the numbers of the rows (count,)."""
    even = {"gap": 0.7548776662466927, "mu": 0.5698402909980532}
    parts = {name: np.modf(numbers * ratio)[0] for name, ratio in even.items()}
    return {name: low + (high - low) * parts[name] for name, (low, high) in (("gap", GAP), ("mu", MU))}


def followed(numbers: np.ndarray) -> Followed:
    """The branches of some rows."""
    worked = time.process_time()
    columns: dict[str, np.ndarray | float] = {**FIXED, **rows(numbers)}
    found = branches(STOP, columns, "omega", OMEGA, places=PLACES, periods=PERIODS, rows=len(numbers))
    return Followed(numbers, found, time.process_time() - worked)


def compared(numbers: np.ndarray, found: list[Branch], steps: int, room: int) -> Compared:
    """Sweeps of some rows, held against their branches, whose `row` is a place in `numbers`; by the program of a map of `room` rows."""
    worked, columns = time.process_time(), rows(numbers)
    motions, taken, differ = swept(columns, steps)
    apart = distances(found, rows(np.resize(numbers, max(room, len(numbers)))), motions)
    lost = []
    for i in np.flatnonzero(~(apart < SAME)):
        row, omega, (v, x) = motions.row[i], motions.omega[i], motions.y[i]
        lost.append(
            f"lost: gap {columns['gap'][row]:.17g}, mu {columns['mu'][row]:.17g}, omega {omega:.17g}, periods {motions.periods[i]}, "
            f"way {motions.way[i]:+d}, v, x {v:.9g}, {x / omega:.9g}, nearest {apart[i]:.1e}"
        )
    farthest = float(apart[apart < SAME].max(initial=0.0))
    return Compared(numbers, taken, len(motions.row), differ, farthest, lost, time.process_time() - worked)


def compiled(part: int, count: int) -> None:
    """Have one of three programs of `count` rows compiled: those of the map, of runs to steady motions, and of runs."""
    columns: dict[str, np.ndarray | float] = {**FIXED, **rows(np.arange(count)), "omega": np.full(count, OMEGA[0])}
    if part == 0:
        one = np.ones(1)
        section = SectionMap(STOP, columns, ("omega",), (OMEGA,), count)
        section(np.zeros(1, int), one[:, None], np.zeros((1, 2)), one, one, 0 * one)
        return
    started = {**columns, "x0": np.zeros(count), "v0": np.zeros(count)}
    if part == 1:
        solve(STOP, EXACT, started, count=count, window=STEADY)
    else:
        solve(STOP, EXACT, {**started, "end": 1.0, "window_start": 0.0}, count=count)


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
            # a motion of one period that swings in slowly from side to side is nearly the same after two periods, and has not settled
            near = np.min([np.abs(y[i] - y[0]).max(axis=1) for i in range(1, PERIODS)], axis=0, initial=np.inf)
            settled[(settled == PERIODS) & (near < OTHER * size)] = 0
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


Part, Result = TypeVar("Part"), TypeVar("Result")


def begin(cores: multiprocessing.Queue[int]) -> None:
    """Set up a worker: one core, one thread."""
    os.sched_setaffinity(0, {cores.get()})
    single = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "1", "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {single}".strip()}
    jax_setup.prepare()
    program_cache.use()


def in_time(work: tuple[Callable[..., Result], tuple[Any, ...], float]) -> Result | None:
    """What a function gives, or None if the time to begin is over. A task of a worker."""
    function, arguments, last = work
    return function(*arguments) if time.time() < last else None


def dealt(pool: Pool, work: Callable[..., Result], parts: Sequence[tuple[Any, ...]], last: float, end: float) -> Iterator[Result]:
    """The results of parts of some work, as they come until `end`; none is begun after `last` (times as of `time.time`)."""
    results = pool.imap_unordered(in_time, [(work, part, last) for part in parts])
    for _ in parts:
        try:
            found = results.next(max(0.0, end - time.time()))
        except multiprocessing.TimeoutError:
            return
        if found is not None:
            yield found


def line(text: str, begun: float) -> None:
    """Print a line with the time since the beginning."""
    print(f"{time.time() - begun:5.0f} s: {text}", flush=True)


def followed_by_all(pool: Pool, blocks: Sequence[np.ndarray], begun: float, last: float, end: float) -> list[Followed]:
    """The branches of blocks of rows. Prints a line for each, and the tables."""
    found: list[Followed] = []
    for block in dealt(pool, followed, [(numbers,) for numbers in blocks], last, end):
        found.append(block)
        points = sum(len(branch.value) for branch in block.branches)
        line(f"{len(block.rows)} rows: {len(block.branches)} branches, {points:,} points in {block.worked:.0f} s", begun)
    if not found:
        return found
    took, every = time.time() - begun, [branch for block in found for branch in block.branches]
    kinds = collections.Counter(kind for branch in every for kind in branch.kinds if kind)
    ends = collections.Counter(end for branch in every for end in branch.ends)
    done, worked = sum(len(block.rows) for block in found), sum(block.worked for block in found)
    points = sum(len(branch.value) for branch in every)
    print("\n| rows | branches | points | time [s] | branches/s | processor time a branch [s] |\n|---|---|---|---|---|---|")
    print(f"| {done:,} | {len(every):,} | {points:,} | {took:.0f} | {len(every) / took:.3g} | {worked / max(len(every), 1):.3g} |\n")
    print("Located: " + ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) + ".")
    print("Ends of branches: " + ", ".join(f"{number:,} {end}" for end, number in ends.most_common()) + ".\n", flush=True)
    return found


def compared_by_all(pool: Pool, parts: Sequence[tuple[np.ndarray, list[Branch], int, int]], last: float, end: float) -> None:
    """Sweep rows and hold them against their branches. Prints a line for each part, and the table."""
    begun = time.time()
    found: list[Compared] = []
    for part in dealt(pool, compared, parts, last, end):
        found.append(part)
        line(
            f"{len(part.rows)} rows swept: {part.settled:,} of {part.steps:,} settled, {len(part.lost)} lost in {part.worked:.0f} s", begun
        )
    swept_rows, steps, settled = (
        sum(len(part.rows) for part in found),
        sum(part.steps for part in found),
        sum(part.settled for part in found),
    )
    differ, farthest = sum(part.differ for part in found), max((part.farthest for part in found), default=0.0)
    lost = [each for part in found for each in part.lost]
    print("\n| swept rows | steps | settled | rows with hysteresis | time [s] | farthest | lost |\n|---|---|---|---|---|---|---|")
    print(
        f"| {swept_rows:,} | {steps:,} | {settled:,} | {differ:,} | {time.time() - begun:.0f} | {farthest:.1e} | {len(lost)} |", flush=True
    )
    for each in lost[:40]:
        print(f"\n{each}", flush=True)


def sampled(found: Sequence[Followed], count: int, parts: int) -> list[tuple[np.ndarray, list[Branch]]]:
    """Some of the rows that were followed, in parts, and their branches."""
    of_row: dict[int, list[Branch]] = collections.defaultdict(list)
    for block in found:
        for branch in block.branches:
            of_row[int(block.rows[branch.row])].append(branch)
    done = np.sort(np.concatenate([block.rows for block in found]))
    chosen = np.sort(np.random.default_rng(1).choice(done, min(count, len(done)), replace=False))
    several = np.array_split(chosen, min(parts, len(chosen)))
    return [
        (numbers, [replace(branch, row=place) for place, row in enumerate(numbers.tolist()) for branch in of_row[row]])
        for numbers in several
    ]


def report(count: int, sample: int, steps: int, seconds: float, workers: int) -> None:
    """Follow, sweep, compare, and print the tables."""
    started = time.time()
    context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    cores, every = context.Queue(), sorted(os.sched_getaffinity(0))
    for number in range(workers):
        cores.put(every[number % len(every)])
    sample = min(sample, count)
    size, parts = min(BLOCK, -(-count // workers)), max(workers, sample // BLOCK)
    blocks = np.array_split(np.arange(count), -(-count // size))
    with context.Pool(workers, begin, (cores,)) as pool:  # its end ends the workers
        end = started + seconds
        for _ in dealt(pool, compiled, [(0, size), (1, size), *([(2, -(-sample // parts))] if sample else [])], end, end):
            pass  # until all are compiled
        begun = time.time()
        line("compiled", started)
        found = followed_by_all(pool, blocks, begun, begun + (1.0 - SWEEPS) * (end - begun), end - SWEEPS * (end - begun))
        if not found:
            line("no block of rows was done in time", started)
            return
        if sample:
            compared_by_all(pool, [(*part, steps, size) for part in sampled(found, sample, parts)], end, end)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many rows are followed")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many of them are swept")
    parser.add_argument("--steps", type=int, default=STEPS, help="frequencies of a sweep")
    parser.add_argument("--seconds", type=float, default=600.0, help="after so many it ends, with what is done")
    parser.add_argument("--workers", type=int, default=1, help="processes, one core each")
    asked = parser.parse_args(arguments)
    report(asked.rows, asked.sample, asked.steps, asked.seconds, asked.workers)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
