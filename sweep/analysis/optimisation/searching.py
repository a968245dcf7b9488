"""Searches by SLSQP from many starts at once: all of them wait until each has asked for a point, and one batch computes these.

SLSQP (D. Kraft, DFVLR-FB 88-28, 1988; scipy) is written for one start. So each search is a thread, and while a batch runs all of them wait.
The points of a batch are in the order of the searches, so that the same study gives the same numbers.

Coordinates are parts of the ranges between the bounds, and functions are divided by their scale, so that one tolerance fits all. A worst
case is no smooth function: it is the least t that no row exceeds (epigraph form), whose derivatives are those of the rows.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue

import numpy as np

from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator, Functions

MOST_STEPS = 60
TOLERANCE = 1e-10  # of SLSQP: of the scaled objective and the scaled constraints
MARGIN = 1e-9  # part of a limit's scale: searches stay so far inside, because a run of the optimum rounds otherwise than they do
KEPT = 0.5 * MARGIN  # likewise: what is left of the margin where a constraint counts as kept
PRICE = 1e3  # of a violation within that tolerance, so that points at the limit are preferred to points behind it
PATIENCE = 15  # points without a gain after which a search begins anew at its best point, because a kink or a jump is in the way
GAIN = 1e-7  # of the scaled objective or of the largest violation: what counts as a gain
BEGINS = 4  # at most
WALL = 10.0  # scales by which functions rise where a point has no results, so that the line search turns back


@dataclass(frozen=True, slots=True)
class Scales:
    """Sizes of the functions, by which they are divided.

    Attributes:
        objectives, constraints: one positive number for each.
    """

    objectives: np.ndarray
    constraints: np.ndarray


@dataclass(frozen=True, slots=True)
class Task:
    """What a search minimises.

    Attributes:
        start: (n,) in parts of the ranges. objective: position of the objective, or None for the largest violation of a constraint.
        cap: for a front the largest value of the second objective, in its unit times its sign; None for none.
    """

    start: np.ndarray
    objective: int | None = 0
    cap: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point that a search computed.

    Attributes:
        search: its number. place: (n,) in parts of the ranges. functions: there. goal: scaled objective. excess: largest scaled violation.
    """

    search: int
    place: np.ndarray
    functions: Functions
    goal: float
    excess: float

    @property
    def kept(self) -> bool:
        """Whether all constraints are kept."""
        return self.excess <= KEPT

    @property
    def rank(self) -> tuple[float, float]:
        """Small is good: first constraints are kept, then the objective counts (K. Deb, CMAME 186, 2000, 311-338)."""
        return (0.0, self.goal + PRICE * self.excess) if self.kept else (self.excess, self.goal)


def limits_of(functions: Functions, scales: Scales) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scaled constraints, for each (k,) values and (k, n) derivatives: kept where all values are at most KEPT.

    They include MARGIN, except where no variable moves a value: a count, or a force that is 0, may equal its limit.
    """
    return [(each / scale + MARGIN * rates.any(axis=1), rates / scale)
            for (each, rates), scale in zip(functions.constraints, scales.constraints, strict=True)]  # fmt: skip


def rows_of(task: Task, functions: Functions, scales: Scales) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scaled functions of a task: objective (k,), its derivatives (k, n), constraints (m,) that are kept at most 0, theirs (m, n)."""
    n = len(task.start)
    limits = limits_of(functions, scales)
    if task.cap is not None:
        each, rates = functions.objectives[1]
        limits.append(((each - task.cap) / scales.objectives[1], rates / scales.objectives[1]))
    g = np.concatenate([each for each, _ in limits]) if limits else np.zeros(0)
    dg = np.concatenate([rates for _, rates in limits]) if limits else np.zeros((0, n))
    if task.objective is None:
        return g, dg, np.zeros(0), np.zeros((0, n))
    each, rates = functions.objectives[task.objective]
    scale = scales.objectives[task.objective]
    return each / scale, rates / scale, g, dg


Questions = SimpleQueue[tuple[int, np.ndarray | BaseException | None]]  # numbers of searches with their points; at the end, what ended them


class StopSearchError(Exception):
    """Ends a search from outside."""


def search(
    evaluator: Evaluator, tasks: Sequence[Task], scales: Scales, tell: Callable[[int, int], None] | None = None, first: int = 0
) -> list[Candidate]:
    """Carry out searches together.

    Args:
        evaluator: the functions. tasks: one for each search. scales: of the functions.
        tell: called with the numbers of ended searches and of all. first: number of the first search.

    Returns:
        Every computed point, batch by batch.
    """
    space, candidates = evaluator.space, list[Candidate]()
    questions: Questions = SimpleQueue()
    answers = [SimpleQueue[Functions | None]() for _ in tasks]

    def ask(number: int, place: np.ndarray) -> Functions:
        questions.put((number, np.array(place)))
        functions = answers[number].get()
        if functions is None:
            raise StopSearchError
        return functions

    def run(number: int) -> None:
        failure: BaseException | None = None
        try:
            improve(lambda place: ask(number, place), tasks[number], scales)
        except StopSearchError:
            pass
        except BaseException as error:
            failure = error
        questions.put((number, failure))

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(tasks))]
    running, errors = set(range(len(tasks))), list[BaseException]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SLSQP says when rounding leads it past a bound
        try:
            for thread in threads:
                thread.start()
            while batch := next_batch(questions, running, errors):
                functions = evaluator.at(space.low + space.width * np.stack([*batch.values()]))
                for (number, place), values in zip(batch.items(), functions, strict=True):
                    candidates.append(candidate_of(first + number, place, values, tasks[number], scales))
                    answers[number].put(values)
                if tell is not None:
                    tell(len(tasks) - len(running), len(tasks))
        finally:
            for answer in answers:
                answer.put(None)
            for thread in threads:
                thread.join()
    if errors:
        raise errors[0]
    return candidates


def next_batch(questions: Questions, running: set[int], errors: list[BaseException]) -> dict[int, np.ndarray]:
    """Wait until every running search has asked or ended; the points by search, none if all have ended."""
    batch: dict[int, np.ndarray] = {}
    while batch.keys() < running:
        number, asked = questions.get()
        if isinstance(asked, np.ndarray):
            batch[number] = asked
        else:
            running.discard(number)
            errors += [] if asked is None else [asked]
    return dict(sorted(batch.items()))


def candidate_of(number: int, place: np.ndarray, functions: Functions, task: Task, scales: Scales) -> Candidate:
    """A candidate, with its objective and its violation; both are infinite without results."""
    if not functions.good:
        return Candidate(number, place, functions, np.inf, np.inf)
    f, _, g, _ = rows_of(task, functions, scales)
    return Candidate(number, place, functions, float(f.max(initial=-np.inf)), float(g.max(initial=0.0)))


@dataclass(slots=True)
class BestPoint:
    """The best point of a search so far, and for how many points there was no better one.

    Attributes:
        place: (n,) in parts of the ranges. merit: largest violation, and the objective. waited: number of points since then.
    """

    place: np.ndarray
    merit: tuple[float, float] = (np.inf, np.inf)
    waited: int = 0

    def look(self, place: np.ndarray, f: np.ndarray, g: np.ndarray) -> None:
        """Compare a point with the best one; StalledError if there was no gain for too long."""
        excess, goal = float(g.max(initial=0.0)), float(f.max(initial=-np.inf))
        merit = (0.0 if excess <= KEPT else excess, goal + PRICE * excess)
        gained = merit[0] < self.merit[0] - GAIN or (merit[0] <= self.merit[0] and merit[1] < self.merit[1] - GAIN)
        self.waited = 0 if gained else self.waited + 1
        if merit < self.merit:
            self.place, self.merit = place, merit
        if self.waited >= PATIENCE:
            raise StalledError


class StalledError(Exception):
    """Ends SLSQP where it does not get on."""


def improve(ask: Callable[[np.ndarray], Functions], task: Task, scales: Scales) -> None:
    """One search: SLSQP, and again from the best point as long as that gains."""
    progress = BestPoint(task.start)
    for _ in range(BEGINS):
        before, progress.waited = progress.merit, 0
        try:
            descend(ask, replace(task, start=progress.place), scales, progress)
        except StalledError:
            pass
        else:
            break
        if progress.merit[0] > before[0] - GAIN and progress.merit[1] > before[1] - GAIN:
            break


def descend(ask: Callable[[np.ndarray], Functions], task: Task, scales: Scales, progress: BestPoint) -> None:
    """Minimise by SLSQP; every point that it tries is asked for once."""
    from scipy.optimize import minimize

    n = len(task.start)
    last: dict[str, np.ndarray] = {}
    known: dict[str, tuple[np.ndarray, ...]] = {}

    def at(x: np.ndarray) -> tuple[np.ndarray, ...]:
        place = np.clip(x[:n], 0.0, 1.0)
        if "place" not in last or not np.array_equal(last["place"], place):
            functions = ask(place)
            if functions.good:
                known["rows"] = known["good"] = rows_of(task, functions, scales)
            elif "good" in known:
                f, df, g, dg = known["good"]
                known["rows"] = (f + WALL, 0.0 * df, g + WALL, 0.0 * dg)
            else:
                raise StopSearchError
            last["place"] = place
            if functions.good:
                progress.look(place, known["rows"][0], known["rows"][2])
        return known["rows"]

    f, _, g, _ = at(task.start)
    several = len(f) > 1 or task.objective is None  # a worst case: t, the last variable, is no less than any row
    bounds = [(0.0, 1.0)] * n + [(None, None)] * several
    x0 = np.append(task.start, f.max()) if several else task.start
    constraints = []
    if len(g):
        constraints.append({"type": "ineq", "fun": lambda x: -at(x)[2], "jac": lambda x: widened(-at(x)[3], several, 0.0)})
    if several:
        constraints.append({"type": "ineq", "fun": lambda x: x[-1] - at(x)[0], "jac": lambda x: widened(-at(x)[1], several, 1.0)})
    unit = np.append(np.zeros(n), 1.0)
    minimize(
        (lambda x: float(x[-1])) if several else (lambda x: float(at(x)[0][0])),
        x0,
        jac=(lambda _: unit) if several else (lambda x: at(x)[1][0]),
        bounds=bounds, constraints=constraints, method="SLSQP", options={"maxiter": MOST_STEPS, "ftol": TOLERANCE},
    )  # fmt: skip


def widened(jacobian: np.ndarray, several: bool, by: float) -> np.ndarray:
    """A Jacobian with a column for t, if there is one."""
    return np.column_stack([jacobian, np.full(len(jacobian), by)]) if several else jacobian


def scales_of(measures: np.ndarray, signs: np.ndarray, limits: np.ndarray) -> Scales:
    """Sizes of the functions from (starts, objectives + constraints) measures at the starts, NaN where there are none.

    An objective is divided by its spread over the starts, a constraint by its limit, or by its spread where the limit is 0.
    """
    count = len(signs) - len(limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without numbers
        spread = np.nanstd(measures, axis=0)
        size = np.nanmedian(np.abs(measures), axis=0)
    spread, size = np.nan_to_num(spread), np.nan_to_num(size)
    sizes = np.where(spread > 1e-6 * size, spread, np.where(size > 0.0, size, 1.0))
    bounds = np.where(limits != 0.0, np.abs(limits), sizes[count:])
    return Scales(sizes[:count], bounds)
