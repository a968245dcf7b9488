"""The probability of a rare event from the levels of a subset simulation, with its coefficient of variation and interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tribosweep.sweep.analyses.rare_event.result import Estimate, RareEvent
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.design.subset_simulation import SUBSET, SubsetSimulation
from tribosweep.sweep.execution.adaptive.history import read_levels
from tribosweep.sweep.execution.adaptive.levels_table import goal_of, in_unit, level_rows
from tribosweep.sweep.execution.adaptive.subset_simulation import (
    ALL_LEVELS,
    GOING,
    REACHED,
    STALLED,
    Climb,
    ClimbingHistory,
    Level,
    empty_history,
    subset_design,
)
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.event import share_interval
from tribosweep.sweep.study.load import load

CURVE_POINTS = 24  # of each level
FEW_FAMILIES = 10
SLOW = 0.1  # share of accepted candidates below which a note warns


def read(path: Path, confidence: float = 0.95) -> RareEvent:
    """Estimate the probability of the event of a run, complete or not.

    The states of the last level that descend from the same state of level 0 are a family. Families are independent, so that the spread of
    their sizes tells the variance of the estimate, with all correlations within and between levels; see A. Lee and N. Whiteley, Biometrika
    105 (2018), 609-625. The interval is lognormal, with the quantile of Student's t of the number of families less one.

    Args:
        path: directory of the run. confidence: level of the interval, in (0, 1).

    Raises:
        ConfigError: there is no run, its design is no subset simulation, or no level is complete.
    """
    state = state_of(path)
    if state["design"] != SUBSET:
        message = (
            f'its design is {state["design"]!r}: the probability of a rare event needs design = "{SUBSET}"; probabilities of other events: '
            "tribosweep sensitivity --chance, tribosweep fragility"
        )
        raise ConfigError(str(path), [Problem("", message)])
    directory = RunDirectory(path)
    config = load(directory.read_document())
    history = read_levels(directory, config, empty_history(config))
    if not history.climbs[0].levels:
        raise ConfigError(str(path), [Problem("", "level 0 is not complete: there is no probability yet; tribosweep resume goes on")])
    reached = {climb.repeat: climb for climb in history.climbs if climb.end == REACHED}
    ended = [climb for climb in history.climbs if climb.end != GOING]
    repeats = {number: widened(estimate_of([at_last(climb)], confidence), [climb], confidence) for number, climb in reached.items()}
    estimate, by_chains = None, math.nan
    if reached and len(ended) == len(history.climbs):
        estimate = widened(estimate_of([at_last(climb) for climb in ended], confidence), ended, confidence)
        by_chains = variation_by_chains(list(reached.values()), len(ended))
    levels = level_rows(config, history)
    return RareEvent(
        state=state,
        config=config,
        observable=goal_of(config),
        confidence=confidence,
        estimate=estimate,
        repeats=repeats,
        by_chains=by_chains,
        levels=levels,
        curve=curve_of(history, confidence),
        rows=history.computed,
        failed=sum(int(level["failed"]) for level in levels),
        unknown=sum(int(level["unknown"]) for level in levels),
        notes=notes_on(config, history, estimate),
    )


def at_last(climb: Climb) -> tuple[Climb, int, np.ndarray]:
    """A repeat, the number of its last level, and the mask of the states there with the event."""
    return climb, len(climb.levels) - 1, climb.levels[-1].hit


def before(climb: Climb, level: int) -> float:
    """The probability of the domain of a level of a repeat."""
    return math.prod(each.probability for each in climb.levels[:level])


def family_sizes(level: Level, hit: np.ndarray) -> np.ndarray:
    """The numbers of the states in the mask `hit` of a level by family."""
    roots = np.broadcast_to(level.roots, hit.shape)
    return np.unique(roots[hit], return_counts=True)[1] if len(level.margins) > 1 else np.ones(np.count_nonzero(hit))


def estimate_of(parts: list[tuple[Climb, int, np.ndarray]], confidence: float) -> Estimate:
    """The estimate of several independent repeats: for each a repeat, the number of a level, and the mask of its states with the event."""
    from scipy.special import stdtrit

    total = variance = 0.0
    families = 0
    for climb, number, hit in parts:
        sizes = family_sizes(climb.levels[number], hit)
        if not len(sizes):
            continue
        own = before(climb, number) * float(hit.mean())
        shares = sizes / sizes.sum()
        count = climb.levels[0].margins.size
        variance += own**2 * max(float(np.sum(shares**2)) - 1.0 / count, 0.0)
        total += own
        families += len(sizes)
    if not families:
        return Estimate(0.0, math.nan, 0, 0.0, math.nan)
    variation = math.sqrt(variance) / total
    width = float(stdtrit(max(families - 1, 1), 0.5 + 0.5 * confidence)) * math.sqrt(math.log1p(variation**2))
    probability = total / len(parts)
    return Estimate(probability, variation, families, probability * math.exp(-width), min(probability * math.exp(width), 1.0))


def widened(estimate: Estimate, climbs: Sequence[Climb], confidence: float) -> Estimate:
    """The estimate with an interval that also holds the probability if all unknown rows had the event, and if none had it.

    States are those in which the event is known: their probability p is that among known ones. Of a space whose part u is unknown the event
    has p (1 - u) at least and p (1 - u) + u at most. u is bounded by the plain sample of level 0 (Clopper and Pearson), also where only
    chains have met unknown rows.
    """
    if not any(level.unknown for climb in climbs for level in climb.levels):
        return estimate
    first = [climb.levels[0] for climb in climbs]
    rows = sum(level.rows - level.failed for level in first)
    most = float(share_interval(sum(level.unknown for level in first), rows, confidence)[1])
    return replace(estimate, low=estimate.low * (1.0 - most), high=min(estimate.high * (1.0 - most) + most, 1.0))


def variation_by_chains(climbs: list[Climb], count: int) -> float:
    """The coefficient of variation by Au and Beck (2001), levels taken as independent, of the mean of `count` repeats."""
    chances = np.array([before(climb, len(climb.levels)) for climb in climbs])
    squares = np.array([sum(level.variation**2 for level in climb.levels) for climb in climbs])
    return float(np.sqrt(np.sum(chances**2 * squares)) / np.sum(chances)) if count else math.nan


def curve_of(history: ClimbingHistory, confidence: float) -> np.ndarray:
    """(k, 4) the probability to pass values of the observable, with its interval, by the levels that all repeats have finished."""
    design = history.design
    common = min(len(climb.levels) for climb in history.climbs)
    longest = max(history.climbs, key=lambda climb: len(climb.levels))
    whole = common if any(climb.end == GOING for climb in history.climbs) else len(longest.levels)
    margins: list[float] = []
    for level in longest.levels[:whole]:
        inside = level.margins[(level.margins >= level.domain) & np.isfinite(level.margins)]
        if inside.size:  # without the least value of all, which no sample passes with a probability below 1
            margins += list(np.quantile(inside, np.arange(len(margins) == 0, CURVE_POINTS) / CURVE_POINTS))
    if whole and longest.levels[whole - 1].goal <= 0.0:
        margins.append(longest.levels[whole - 1].goal)
    last = longest.levels[whole - 1].goal if whole else -math.inf
    found = []
    for margin in sorted({each for each in margins if each <= last}):
        parts = []
        for climb in history.climbs:
            number = max(place for place, level in enumerate(climb.levels[:whole]) if level.domain <= margin)
            parts.append((climb, number, passes(design, climb.levels[number].margins, margin)))
        estimate = widened(estimate_of(parts, confidence), history.climbs, confidence)
        if estimate.probability > 0.0:
            found.append((in_unit(design, margin), estimate.probability, estimate.low, estimate.high))
    return np.array(found).reshape(-1, 4)


def passes(design: SubsetSimulation, margins: np.ndarray, margin: float) -> np.ndarray:
    """Mask of the states beyond a margin; at the limit itself those with the event."""
    mask: np.ndarray = design.happens(margins) if margin == 0.0 else margins >= margin
    return mask


def notes_on(config: Config, history: ClimbingHistory, estimate: Estimate | None) -> list[str]:
    """Sentences on what the reader must know of an estimate."""
    design, found = subset_design(config), []
    ends, name = [climb.end for climb in history.climbs], goal_of(config).name
    if GOING in ends:
        found.append("The run is not complete: what is shown are the levels so far; tribosweep resume goes on.")
    for climb in history.climbs:
        chance, where = before(climb, len(climb.levels) - 1), "" if design.repeats == 1 else f"Repeat {climb.repeat}: "
        domain = climb.levels[-1].domain
        same = f"the same {name} ({in_unit(design, domain):.6g})" if np.isfinite(domain) else f"the same {name}"
        if climb.end == STALLED:
            found.append(
                f"{where}level {len(climb.levels) - 1} cannot climb: too many of its states have {same}, or none. "
                "Name another observable, or take a larger count."
            )
        if climb.end == ALL_LEVELS:
            found.append(f"{where}the event is not reached in {design.levels} levels, where the probability is {chance:.2g}: raise levels.")
    lost = [(level.failed / level.rows, number) for climb in history.climbs for number, level in enumerate(climb.levels)]
    failed = sum(level.failed for climb in history.climbs for level in climb.levels)
    if failed:
        share, number = max(lost)
        found.append(
            f"{failed:,} of {history.computed:,} rows failed, up to {100.0 * share:.3g} % of a level (level {number}): they count "
            "neither as rows with the event nor as rows without it, so that the probability is that among rows with results."
        )
    if unknown := sum(level.unknown for climb in history.climbs for level in climb.levels):
        first = sum(climb.levels[0].unknown for climb in history.climbs)
        found.append(
            f"Of {unknown:,} of {history.computed:,} rows it is unknown whether the event happened, as {' or '.join(design.observables)} "
            f"could not be computed there; {first:,} of them are in level 0. The probability leaves them out; its interval counts them as "
            "rows without the event and as rows with it."
        )
    paces = [(level.accepted, number) for climb in history.climbs for number, level in enumerate(climb.levels) if number]
    if paces and min(paces)[0] < SLOW:
        share, number = min(paces)
        found.append(
            f"Chains hardly move: {100.0 * share:.2g} % of the candidates of level {number} were accepted. Draws, records and words have "
            "no neighbours to which a chain could move: take a larger count, and compare repeats."
        )
    if estimate is not None and 0 < estimate.families < FEW_FAMILIES * sum(end == REACHED for end in ends):
        found.append(
            f"The states with the event descend from only {estimate.families} states of level 0: the interval is rough; take a larger "
            "count."
        )
    return found
