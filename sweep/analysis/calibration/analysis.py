"""The steps of a calibration: fits from every start, optima, uncertainties, profiles and notes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import stats

from tribosweep.sweep.analysis.calibration.fitting import FAILED, KINK, OPTIMAL, OUTCOMES, Fits, fit
from tribosweep.sweep.analysis.calibration.jumps import BoundaryCrossing, find_crossings
from tribosweep.sweep.analysis.calibration.load import Calibration
from tribosweep.sweep.analysis.calibration.optima import Optimum, improved, optima_of, starts_of
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.results import CalibrationRequest, CalibrationResult, Landscape
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import (
    LEAST_FREEDOM,
    FitUncertainty,
    fit_uncertainty,
    freedom_of,
    pairs_together,
    profiles,
)
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

UNLIKELY = 1e-3  # a scatter with a smaller probability is reported as too large
SHOWN = 5  # number of jumps that are described
SLICES = 3  # largest number of optima with a landscape
STEP_MATTERS = 0.3  # part of a standard deviation: if half the step moves a parameter farther, the step is too long
NOISE_ROUNDS = 30  # of fits with the scatter that the one before left
SETTLED = 1e-4  # a factor nearer to 1 ends them
NOISELESS = 1e-18  # sum of squares for each datum: fits of exact data have no scatter
RIDGE = 1e-3  # as a part of the range: a larger distance between fits with the same numbers is reported


def check(request: CalibrationRequest, calibration: Calibration) -> None:
    """Raise ConfigError if a request names a parameter that is not free, or if a slice does not have two parameters."""
    names = calibration.space.names
    problems = []
    for option, asked in (("--profile", request.profiles), ("--slice", request.slice)):
        problems += [Problem(option, f"{name!r} is not free; {advise(name, names)}") for name in asked if name not in names]
    if request.slice and len(set(request.slice)) != 2:
        problems.append(Problem("--slice", "two parameters make a slice: --slice k_t --slice c_t"))
    if request.landscape and len(names) < 2:
        problems.append(Problem("--landscape", "one free parameter has no slice of two: --profile shows its loss"))
    if problems:
        raise ConfigError(calibration.config.source, problems)


def carry_out(
    calibration: Calibration, request: CalibrationRequest | None = None, tell: Callable[[int, int], None] | None = None
) -> CalibrationResult:
    """Fit from every start and derive optima, uncertainties, profiles and notes.

    Args:
        calibration: see `load.load`. request: additional results. tell: called with the number of finished fits and the total number.

    Raises:
        ConfigError: all fits failed at their start, the request is invalid, or optimistix is missing.
    """
    request = request or CalibrationRequest()
    check(request, calibration)
    system = System(calibration.config, calibration.space, calibration.data)
    fits = fit(system, starts_of(system, calibration.starts, calibration.seed), trace=True, tell=tell)
    if (fits.outcome == FAILED).all():
        message = f"all {len(fits.outcome)} starts failed: at none of them all runs have results; choose other bounds or another start"
        raise ConfigError(calibration.config.source, [Problem("calibration.free", message)])
    fits = improved(system, with_noise(calibration, system, fits), calibration.seed)
    optima = optima_of(fits, system)
    known = [
        fit_uncertainty(
            calibration.space,
            each.coordinates,
            fits.point.jacobian[each.lanes[0]],
            each.chi2,
            calibration.known,
            calibration.confidence,
            calibration.data.count,
        )
        for each in optima
    ]
    found = find_crossings(system, fits.path, optima[0].lanes.tolist())
    profiled = profiles(system, optima[0].coordinates, optima[0].chi2, known[0], request.profiles) if request.profiles else []
    pair = request.slice or pair_of(system.space, known[0])
    around = list(zip(optima, known, strict=True))[:SLICES] if request.landscape else []
    drawn = tuple(landscape(system, optimum, own, pair) for optimum, own in around)
    result = CalibrationResult(calibration, system, fits, optima, known, found, profiled, drawn)
    result.notes.extend(notes_on(result))
    return result


def with_noise(calibration: Calibration, system: System, fits: Fits) -> Fits:
    """Fits in which the estimated scatter counts for the data alone: `system.noise` becomes its factor. Priors keep their widths.

    The factor s is the root of the sum of squared data residuals over their degrees of freedom, which depend on s: a fixed point.
    Without priors s moves no optimum, and is applied afterwards. Source: see `uncertainty.freedom_of`.
    """
    if calibration.known or not system.priors:
        return fits
    for _ in range(NOISE_ROUNDS):
        best, count = int(np.argmin(fits.chi2)), system.data.count
        freedom = freedom_of(system.space, fits.coordinates[best], fits.point.jacobian[best], count)
        squares = float(np.sum(fits.point.residuals[best, :count] ** 2))
        if freedom <= LEAST_FREEDOM or squares <= NOISELESS * count:
            break
        factor = math.sqrt(squares / freedom)
        if abs(factor - 1.0) < SETTLED:
            break
        system.noise *= factor
        more = fit(system, fits.coordinates, trace=True)
        fits = replace(more, steps=fits.steps + more.steps, path=[*fits.path, *more.path])
    return fits


def landscape(system: System, optimum: Optimum, known: FitUncertainty, names: tuple[str, ...]) -> Landscape:
    """The loss around an optimum: four standard deviations to each side, or up to the bounds if the data do not determine a parameter."""
    space = system.space
    side = max(13, min(31, math.isqrt(20_000 // len(system.data.runs))))
    axes = []
    for name in names:
        place = space.names.index(name)
        reach = 4.0 * known.sd[place] if known.identifiable[place] else space.width[place]
        low, high = space.low[place], space.low[place] + space.width[place]
        axes.append(np.linspace(max(low, optimum.coordinates[place] - reach), min(high, optimum.coordinates[place] + reach), side))
    places = [space.names.index(name) for name in names]
    lanes = np.tile(optimum.coordinates, (side * side, 1))
    lanes[:, places] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    chi2 = np.sum(system.at(lanes).residuals ** 2, axis=1).reshape(side, side)
    values = [np.exp(u) if space.logarithmic[place] else u for place, u in zip(places, axes, strict=True)]
    return Landscape((names[0], names[1]), (values[0], values[1]), chi2)


def pair_of(space: Space, known: FitUncertainty) -> tuple[str, ...]:
    """The two parameters that the data separate worst."""
    for direction in known.undetermined:
        members = direction.members(space)
        if len(members) > 1:
            return members[0].name, members[1].name
    closeness = np.abs(np.nan_to_num(known.correlation))
    np.fill_diagonal(closeness, -1.0)
    first, second = np.unravel_index(int(np.argmax(closeness)), closeness.shape)
    return space.names[min(first, second)], space.names[max(first, second)]


def notes_on(result: CalibrationResult) -> list[str]:
    """Sentences for the reader, the most serious first."""
    space, best, known, data = result.space, result.optima[0], result.known[0], result.calibration.data
    notes = []
    if not result.converged:
        why = OUTCOMES[best.outcome]
        notes.append(f"The best fit did not converge: the result shown is the best point that a fit reached, not an optimum. It {why}.")
    if best.outcome == KINK:
        notes.append(
            "The optimum is at a kink or a jump of an observable, where derivatives hold on one side only: --profile gives intervals."
        )
    lower = [(float(each.gains[place]), each.name, float(each.values[place])) for each in result.profiles
             for place in np.flatnonzero(each.gains < -RIDGE)]  # fmt: skip
    if lower:
        gain, name, value = min(lower)
        notes.append(
            f"The profile of {name} has a better fit than the optimum (chi^2 less by {-gain:.2g} at {value:.6g}): take more starts."
        )
    if math.isnan(known.scale):
        notes.append(
            f"{data.count} numbers for {len(space.names)} parameters leave nothing to estimate the scatter, so there are no intervals: "
            f'measure more, or state the standard deviations and noise = "known".'
        )
    notes += [f"Not identifiable: {direction.sentence(space)}. Fix one of them, give a prior, or measure something else."
              for direction in known.undetermined]  # fmt: skip
    apart = [space.names[place] for place in np.flatnonzero(best.spread > RIDGE) if known.identifiable[place]]
    if apart:
        where = ", ".join(f"{name} by {best.spread[space.names.index(name)]:.2g} of its range" for name in apart)
        notes.append(f"Fits with the same computed numbers differ in {where}: the data do not tell them as well as the intervals say.")
    notes += [f"{one} and {other} move together (correlation {rho:+.3f}): the data tell their joint effect better than either."
              for one, other, rho in pairs_together(space, known)]  # fmt: skip
    notes += [f"{space.names[place]} lies on a bound and counts as known there: widen its bounds, or find out what keeps it there."
              for place in np.flatnonzero(known.bound)]  # fmt: skip
    if result.calibration.known and known.freedom > 0:
        probability = float(stats.chi2.sf(best.chi2, known.freedom))
        if probability < UNLIKELY:
            notes.append(
                f"chi^2 = {best.chi2:.4g} with {known.freedom:g} degrees of freedom: the scatter is larger than the standard deviations "
                f"say (probability {probability:.1g}). The model misses something, or they are too small, and so are the intervals."
            )
    near = [each for each in result.optima[1:] if each.outcome in OPTIMAL and each.chi2 - best.chi2 < 9.0 * known.scale**2]
    if near:
        notes.append(f"{len(near)} more optima fit nearly as well (chi^2 within 9 of the best): the intervals are those of the best alone.")
    total = len(result.fits.outcome)
    notes += [f"{count} of {total} fits {OUTCOMES[word]}." for word, count in result.counts().items() if word in OUTCOMES and count]
    if data.paths is not None:
        notes.append("Loops are compared at the displacements of their samples; inertia, k, c and the excitation count for nothing there.")
    elif moments := int(np.count_nonzero(np.isfinite(data.times))):
        how = "linearly between the ends of steps" if result.system.stepped else "nothing is interpolated"
        notes.append(f"Traces are compared at the times of their own {moments:,} samples: {how}.")
    notes += notes_on_steps(result)
    if data.skipped:
        notes.append(f"{data.skipped} samples at t = 0 say nothing and are left out.")
    return notes + notes_on_crossings(result)


def notes_on_steps(result: CalibrationResult) -> list[str]:
    """What half the step of a time scheme would change: the computed numbers, and by a Gauss-Newton step the parameters."""
    system, best, known = result.system, result.optima[0], result.known[0]
    if not system.stepped:
        return []
    space, point, data = system.space, result.fits.point, system.data
    finer = system.at(best.coordinates[np.newaxis], step=0.5)
    change = (finer.predicted[0] - point.predicted[result.best]) / data.spread
    if not np.isfinite(change).all():
        return ["With half the step the tests at the optimum have other events or no results: choose a shorter step."]
    largest = int(np.argmax(np.abs(change)))
    where = f"{data.names[data.observable[largest]]} of {data.runs[int(data.run[largest])]}"
    said = f"Half the step changes the computed numbers by {np.abs(change).max():.2g} standard deviations at most ({where})"
    told, jacobian = np.flatnonzero(known.identifiable), point.jacobian[result.best]
    if not told.size:
        return [f"{said}."]
    lacks = np.append(change / system.noise, np.zeros(len(jacobian) - len(change)))
    moved = np.abs(np.linalg.lstsq(jacobian[:, told], lacks, rcond=None)[0]) / known.sd[told]
    most = int(np.argmax(moved))
    advice = ": choose a shorter step" if moved[most] > STEP_MATTERS else ""
    return [f"{said}, and the parameters by {moved[most]:.2g} of theirs ({space.names[told[most]]}){advice}."]


def notes_on_crossings(result: CalibrationResult) -> list[str]:
    """Sentences on the boundaries that the fits of the best optimum crossed."""
    data, space = result.calibration.data, result.space
    jumping: dict[tuple[int, str, frozenset[str]], list[BoundaryCrossing]] = {}
    for each in result.crossings:
        for jump in each.jumps:  # samples of one trace that jump together count as one jump
            key = (int(data.tests[each.run]), jump.observable, frozenset((each.before, each.after)))
            jumping.setdefault(key, []).append(each)
    notes = []
    for (_, observable, _), met in list(jumping.items())[:SHOWN]:
        first = met[0]
        jump = next(jump for jump in first.jumps if jump.observable == observable)
        where = ", ".join(f"{name} = {value:.6g}" for name, value in zip(space.names, first.where, strict=True))
        more = f" (and at {len(met) - 1} more times)" if len(met) > 1 else ""
        notes.append(
            f"On the way {observable} of {data.runs[first.run]} jumps from {words(jump.before)} to {words(jump.after)}{more} where "
            f"{first.before} becomes {first.after}: {where}."
        )
    if len(jumping) > SHOWN:
        notes.append(f"{len(jumping) - SHOWN} more jumps were met on the way: calibration.parquet has them in its metadata.")
    smooth = sum(not each.jumps for each in result.crossings)
    if smooth:
        notes.append(f"{smooth} boundaries of regimes or counts were crossed where what is compared does not jump.")
    return notes


def words(value: float) -> str:
    """A number as text, or "nothing" if it is not finite."""
    return f"{value:.6g}" if math.isfinite(value) else "nothing"
