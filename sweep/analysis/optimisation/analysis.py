"""The steps of an optimisation: searches, optima, jumps, a polish without derivatives, the front, a slice, and notes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tribosweep.sweep.analysis.calibration.optima import starts_of
from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.analysis.optimisation.evolution import AROUND, evolve
from tribosweep.sweep.analysis.optimisation.front import FrontPoint, front_of
from tribosweep.sweep.analysis.optimisation.functions import QUANTILE
from tribosweep.sweep.analysis.optimisation.jumps import Jump, find_jumps
from tribosweep.sweep.analysis.optimisation.load import Optimisation
from tribosweep.sweep.analysis.optimisation.optimality import AT_BOUND, Optimum, conditions, ends_of, optima_of
from tribosweep.sweep.analysis.optimisation.results import END_OF_FRONT, OptimisationRequest, OptimisationResult, Slice, value_and_unit
from tribosweep.sweep.analysis.optimisation.searching import KEPT, Candidate, Scales, Task, candidate_of, limits_of, scales_of, search
from tribosweep.sweep.execution.answers import OF_OPTIMISE, Answers, answers_of
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.optimise import EVOLUTION

SAMPLE = 4  # points for each start, computed without derivatives, from which the starts are chosen
SHOWN = 3  # number of jumps that are described
STEEP = 300.0  # scales over the ranges: a steeper objective follows its variables chaotically
FEW_BEYOND = 20  # rows beyond a quantile, on average: with fewer it depends on the draws
CLOSE = 0.05  # of the scaled objective: another optimum is mentioned
GAIN = 1e-6  # of the scaled objective: what a polish must gain
SIDE, MOST_POINTS = 41, 20_000  # of a slice: points along an axis, rows at most


def check(request: OptimisationRequest, optimisation: Optimisation) -> None:
    """Raise ConfigError if a slice does not have two variables."""
    names = optimisation.space.names
    problems = [Problem("--slice", f"{name!r} is no variable; {advise(name, names)}") for name in request.slice if name not in names]
    if request.slice and len(set(request.slice)) != 2:
        problems.append(Problem("--slice", "two variables make a slice: --slice k_n --slice gap"))
    if problems:
        raise ConfigError(optimisation.config.source, problems)


def carry_out(
    optimisation: Optimisation,
    request: OptimisationRequest | None = None,
    tell: Callable[[int, int], None] | None = None,
    answers: Answers | None = None,
) -> OptimisationResult:
    """Search from every start and derive optima, sensitivities, the front and notes.

    Args:
        optimisation: see `load.load`. request: additional results. tell: called with the number of finished searches and the total number.
        answers: what is known, and where what is computed is kept; see `answers_for`. None to keep nothing.

    Raises:
        ConfigError: no start has results, or the request is invalid.
    """
    request = request or OptimisationRequest()
    check(request, optimisation)
    with answers or Answers() as known:
        return searched(Evaluator(optimisation, known), request, tell)


def searched(evaluator: Evaluator, request: OptimisationRequest, tell: Callable[[int, int], None] | None) -> OptimisationResult:
    """The same, by an evaluator."""
    optimisation = evaluator.optimisation
    space = evaluator.space
    sample = (starts_of(evaluator, SAMPLE * optimisation.starts, optimisation.seed) - space.low) / space.width
    measures = evaluator.measures(space.low + space.width * sample)
    whole = np.isfinite(measures).all(axis=1)
    if not whole.any():
        message = f"none of {len(sample)} starts has results: choose other bounds or another start"
        raise ConfigError(optimisation.config.source, [Problem("optimise.variables", message)])
    signs = np.array([each.sign for each in evaluator.functions])
    scales = scales_of(measures, signs, np.array([each.limit for each in optimisation.constraints]))
    starts = chosen_starts(optimisation, sample[whole], measures[whole], scales)
    if optimisation.method == EVOLUTION:
        candidates: list[Candidate] = []
        place = evolve(evaluator, scales, optimisation.seed, tell=tell)
        optima = [Optimum(candidate_at(evaluator, place, scales, 0, candidates), None, (0,))]
        return finished(OptimisationResult(optimisation, evaluator, scales, optima, candidates), request)
    candidates = search(evaluator, [Task(place) for place in starts], scales, tell)
    if not any(candidate.kept for candidate in candidates):
        candidates += restored(evaluator, starts, scales, candidates)
    optima = optima_of(candidates, scales)
    if not optima:
        message = f'no search finds a point with results and derivatives: method = "{EVOLUTION}" needs no derivatives'
        raise ConfigError(optimisation.config.source, [Problem("optimise.method", message)])
    jumps = find_jumps(evaluator, optima[0].candidate, candidates, scales)
    polished = False
    if optima[0].candidate.kept and (not optima[0].converged or (jumps and jumps[0].distance < AROUND)):
        optima, polished = polish(evaluator, optima, scales, candidates, optimisation.seed)
        jumps = find_jumps(evaluator, optima[0].candidate, candidates, scales) if polished else jumps
    front: list[FrontPoint] = []
    if len(optimisation.objectives) > 1 and optima[0].candidate.kept:
        front = front_of(evaluator, candidates, starts, optimisation.front, scales)
    return finished(OptimisationResult(optimisation, evaluator, scales, optima, candidates, jumps, polished, front), request)


def answers_for(optimisation: Optimisation, folder: Path) -> Answers:
    """What is known of an optimisation that was interrupted in a directory."""
    section = json.dumps(optimisation.section, sort_keys=True, default=str)
    return answers_of(folder, OF_OPTIMISE, optimisation.config, optimisation.space.names, section)


def chosen_starts(optimisation: Optimisation, sample: np.ndarray, measures: np.ndarray, scales: Scales) -> np.ndarray:
    """Half of the starts: the best points of a sample; the others: its first points, which fill the space. (starts, n)."""
    count = len(optimisation.objectives)
    goal = optimisation.objectives[0].sign * measures[:, 0] / scales.objectives[0]
    excess = np.zeros(len(sample))
    for place, constraint in enumerate(optimisation.constraints):
        beyond = constraint.sign * (measures[:, count + place] - constraint.limit) / scales.constraints[place]
        excess = np.maximum(excess, beyond)
    best = np.lexsort([goal, excess])
    order = list(dict.fromkeys([0, *best[: optimisation.starts // 2].tolist(), *range(len(sample))]))
    return sample[order[: optimisation.starts]]


def finished(result: OptimisationResult, request: OptimisationRequest) -> OptimisationResult:
    """A result with its slice and its notes."""
    if request.landscape:
        result.slice = slice_of(result, request.slice)
    result.notes.extend(notes_on(result))
    return result


def candidate_at(evaluator: Evaluator, place: np.ndarray, scales: Scales, number: int, candidates: list[Candidate]) -> Candidate:
    """The candidate of one point; its derivatives are computed if there are any."""
    coordinates = (evaluator.space.low + evaluator.space.width * place)[np.newaxis]
    if any(each.measure.counts for each in evaluator.functions):
        rows = evaluator.plain_rows(coordinates)
        functions = evaluator.functions_of(rows.values[0], rows.slopes[0], rows.codes[0], bool(rows.good[0]))
    else:
        functions = evaluator.at(coordinates)[0]
    candidates.append(candidate_of(number, place, functions, Task(place), scales))
    return candidates[-1]


def restored(evaluator: Evaluator, starts: np.ndarray, scales: Scales, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Search for points that keep the constraints, by least violation, and go on from those that do."""
    ends = [candidate.place for candidate in ends_of(candidates).values()]
    number = 1 + max(candidate.search for candidate in candidates)
    found = search(evaluator, [Task(place, objective=None) for place in (*starts, *ends)], scales, first=number)
    again = [candidate_of(each.search, each.place, each.functions, Task(each.place), scales) for each in found]
    kept = [candidate.place for candidate in ends_of(again).values() if candidate.kept]
    if kept:
        again += search(evaluator, [Task(place) for place in kept], scales, first=1 + max(candidate.search for candidate in again))
    return again


def polish(
    evaluator: Evaluator, optima: list[Optimum], scales: Scales, candidates: list[Candidate], seed: int
) -> tuple[list[Optimum], bool]:
    """Look around the best optimum without derivatives, then with them from what was found; whether that gained anything."""
    best = optima[0]
    number = 1 + max(candidate.search for candidate in candidates)
    place = evolve(evaluator, scales, seed, best.candidate.place)
    candidates += search(evaluator, [Task(place)], scales, first=number)
    end = ends_of([candidate for candidate in candidates if candidate.search == number]).get(number, best.candidate)
    if end.rank >= (best.candidate.rank[0], best.candidate.rank[1] - GAIN):
        return optima, False
    return [Optimum(end, conditions(end, Task(end.place), scales), (number,)), *optima], True


def slice_of(result: OptimisationResult, asked: Sequence[str]) -> Slice:
    """The functions over two variables (or the only one) around the best optimum, the others at it."""
    evaluator, space = result.evaluator, result.optimisation.space
    names = tuple(asked) or space.names[:2]
    places = [space.names.index(name) for name in names]
    side = max(9, min(SIDE, math.isqrt(MOST_POINTS // evaluator.count))) if len(names) == 2 else 4 * SIDE
    axes = [np.linspace(0.0, 1.0, side) for _ in names]
    lanes = np.tile(result.optima[0].candidate.place, (side ** len(names), 1))
    lanes[:, places] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(names))
    coordinates = space.low + space.width * lanes
    measures = np.where(evaluator.admissible(space.values(coordinates))[:, np.newaxis], evaluator.measures(coordinates), np.nan)
    values = space.values(coordinates)
    along = tuple(values.reshape(*[side] * len(names), -1)[(slice(None), 0) if k == 0 and len(names) == 2 else (0,) * k][..., place]
                  for k, place in enumerate(places))  # fmt: skip
    return Slice(names, along, measures.reshape(*[side] * len(names), -1))


def notes_on(result: OptimisationResult) -> list[str]:
    """Sentences for the reader, the most serious first."""
    best = result.optima[0]
    notes = notes_on_limits(result)
    if best.conditions is None:
        notes.append("Differential evolution found this point from values alone: it has no multipliers, and may not be the optimum.")
    else:
        if best.candidate.kept and not best.converged:
            notes.append(
                f"The optimality conditions do not hold (residual {best.conditions.residual:.2g}): this is the best point found, "
                "perhaps at a jump or a kink, and no proven optimum."
            )
        if (steep := steepness(best, result.scales)) > STEEP:
            notes.append(
                f"The objective is so steep there ({steep:.2g} of its spread over the starts, over a range) that the motion must "
                'be chaotic, and derivatives say little: shorten the run, average over draws, or choose method = "differential_evolution".'
            )
    notes += notes_on_jumps(result)
    if result.polished:
        notes.append("A search without derivatives around the best end found a better point, which is shown.")
    near = [each for each in result.optima[1:] if each.converged and each.candidate.goal - best.candidate.goal < CLOSE]
    if near:
        many = "1 more optimum is" if len(near) == 1 else f"{len(near)} more optima are"
        notes.append(f"{many} nearly as good (within {100.0 * CLOSE:g} % of the spread over the starts).")
    if not result.front:
        return notes + notes_on_rows(result) + notes_on_bounds(result)
    notes = [f"{END_OF_FRONT.format(result.optimisation.objectives[0])}: {note}" for note in notes] + notes_on_rows(result)
    if bad := [point for point in result.front if not point.converged]:
        count = f"{len(bad)} of {len(result.front)}"
        notes.append(f"{count} points of the front do not fulfil the optimality conditions: jumps or kinks are in the way.")
    return notes + notes_on_bounds(result)


def notes_on_bounds(result: OptimisationResult) -> list[str]:
    """A sentence on variables that lie on a bound, at the optimum or at points of the front."""
    places = np.stack([point.candidate.place for point in result.front] or [result.optima[0].candidate.place])
    at = ((places < AT_BOUND) | (places > 1.0 - AT_BOUND)).sum(axis=0)
    names = result.optimisation.space.names
    if result.front:
        bounds = [f"{name} at {count}" for name, count in zip(names, at, strict=True) if count]
        return [f"Of the {len(places)} points of the front these lie on a bound of a variable: {', '.join(bounds)}."] if bounds else []
    bounds = [name for name, count in zip(names, at, strict=True) if count]
    lie = "lies" if len(bounds) == 1 else "lie"
    return [f"{', '.join(bounds)} {lie} on a bound: a wider one would change the optimum."] if bounds else []


def notes_on_rows(result: OptimisationResult) -> list[str]:
    """A sentence on quantiles of few rows, which an optimum fits closely."""
    for constraint in result.optimisation.constraints:
        level = constraint.measure.level
        if constraint.measure.kind == QUANTILE and result.evaluator.count * min(level, 1.0 - level) < FEW_BEYOND:
            return [
                (
                    f"{constraint.measure} is that of the {result.evaluator.count:,} rows of [sweep], the same at every point: other draws "
                    "may exceed the limit. Run optimised.toml with another seed, or with more draws, to see."
                )
            ]
    return []


def steepness(optimum: Optimum, scales: Scales) -> float:
    """The largest derivative of the scaled objective at an optimum."""
    return float(np.abs(optimum.candidate.functions.objectives[0][1]).max() / scales.objectives[0])


def notes_on_limits(result: OptimisationResult) -> list[str]:
    """Sentences on constraints that no point keeps."""
    best, scales = result.optima[0].candidate, result.scales
    if best.kept:
        return []
    count = len(result.optimisation.objectives)
    wrong = []
    for place, (constraint, (excess, _)) in enumerate(zip(result.optimisation.constraints, limits_of(best.functions, scales), strict=True)):
        value = float(best.functions.measures[count + place])
        if excess.max() > KEPT:
            wrong.append(f"{constraint} (it is {value_and_unit(value, constraint.measure)})")
    return [f"No point keeps all constraints. The nearest one, which is shown, violates {'; '.join(wrong)}."]


def notes_on_jumps(result: OptimisationResult) -> list[str]:
    """Sentences on functions that jump near the best optimum."""
    found: dict[int, Jump] = {}
    for jump in result.jumps:
        found.setdefault(jump.function, jump)
    notes = []
    for jump in list(found.values())[:SHOWN]:
        measure, space = result.evaluator.functions[jump.function].measure, result.evaluator.space
        place = space.values(space.low + space.width * jump.place)
        where = ", ".join(f"{name} = {value:.6g}" for name, value in zip(space.names, place, strict=True))
        ends = [value_and_unit(value, measure) for value in (jump.before, jump.after)]
        notes.append(
            f"{measure} jumps from {ends[0]} to {ends[1]} where {jump.change}: {where}, {jump.distance:.2g} of the range from the optimum. "
            "Derivatives do not show such a jump."
        )
    return notes
