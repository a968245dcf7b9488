"""What a reader should know of a calibration, in sentences."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from sweep.analysis.calibration.fitting import OUTCOMES
from sweep.analysis.calibration.jumps import Crossing
from sweep.analysis.calibration.results import Result
from sweep.analysis.calibration.uncertainty import pairs_together

UNLIKELY = 1e-3  # a scatter that standard deviations allow more rarely than this is said to be too large
SHOWN = 5  # jumps that are said in words
RIDGE = 1e-3  # of the range between bounds: further apart, fits with the same numbers have different parameters


def notes_on(result: Result) -> list[str]:
    """What a reader should know, the most serious first."""
    space, best, known, data = result.space, result.optima[0], result.known[0], result.calibration.data
    notes = []
    if not result.converged:
        notes.append("No fit converged: what is shown is the best place that one came to, and no optimum.")
    notes += [f"Not told: {direction.sentence(space)}. Fix one of them, give a prior, or measure something else."
              for direction in known.blind]  # fmt: skip
    apart = [space.names[place] for place in np.flatnonzero(best.spread > RIDGE) if known.told[place]]
    if apart:
        where = ", ".join(f"{name} by {best.spread[space.names.index(name)]:.2g} of its range" for name in apart)
        notes.append(f"Fits with the same computed numbers differ in {where}: the data do not tell them as well as the intervals say.")
    notes += [f"{one} and {other} move together (correlation {rho:+.3f}): better known than either is what they do jointly."
              for one, other, rho in pairs_together(space, known)]  # fmt: skip
    notes += [f"{space.names[place]} lies on a bound and counts as known there: widen its bounds, or ask what holds it."
              for place in np.flatnonzero(known.bound)]  # fmt: skip
    if result.calibration.known and known.freedom > 0:
        chance = float(stats.chi2.sf(best.chi2, known.freedom))
        if chance < UNLIKELY:
            notes.append(
                f"chi^2 = {best.chi2:.4g} with {known.freedom} degrees of freedom: the scatter is larger than the standard deviations say "
                f"(chance {chance:.1g}). The model misses something, or they are too small, and so are the intervals."
            )
    near = [each for each in result.optima[1:] if each.chi2 - best.chi2 < 9.0 * known.scale**2]
    if near:
        notes.append(f"{len(near)} more optima fit nearly as well (chi^2 within 9 of the best): intervals speak of the best alone.")
    total = len(result.fits.outcome)
    notes += [f"{count} of {total} fits {OUTCOMES[word]}." for word, count in result.counts().items() if word in OUTCOMES and count]
    if data.skipped:
        notes.append(f"{data.skipped} samples at t = 0 say nothing and are left out.")
    return notes + notes_on_crossings(result)


def notes_on_crossings(result: Result) -> list[str]:
    """What the fits of the best optimum passed through."""
    data, space = result.calibration.data, result.space
    jumping: dict[tuple[int, str, frozenset[str]], list[Crossing]] = {}
    for each in result.crossings:
        for jump in each.jumps:  # samples of one trace that jump together are one
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
    """A number, or that there is none."""
    return f"{value:.6g}" if math.isfinite(value) else "nothing"
