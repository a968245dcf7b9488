"""The posterior of a calibration: its problem, draws by one of the samplers, their diagnostics and notes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.sweep.analysis.calibration.fitting import FitStep
from tribosweep.sweep.analysis.calibration.jumps import find_crossings
from tribosweep.sweep.analysis.calibration.load import Calibration
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.posterior import diagnostics, nuts, smc, smc_diagnostics
from tribosweep.sweep.analysis.calibration.posterior.draws import Draws
from tribosweep.sweep.analysis.calibration.posterior.likelihood import NormalErrors
from tribosweep.sweep.analysis.calibration.posterior.modes import modes_of, words
from tribosweep.sweep.analysis.calibration.posterior.problem import Problem
from tribosweep.sweep.analysis.calibration.posterior.smc_stages import StageFiles
from tribosweep.sweep.analysis.calibration.results import CalibrationResult, digest
from tribosweep.sweep.design.distributions import LOG_UNIFORM, UNIFORM
from tribosweep.sweep.design.priors import Sampled
from tribosweep.sweep.execution.answers import OF_NUTS, Answers, answers_of
from tribosweep.sweep.io.version import VERSION

NUTS, SMC = "nuts", "smc"
METHODS = {NUTS: "no-U-turn sampler", SMC: "tempered sequential Monte Carlo"}
LOGISTIC = np.pi**2 / 3.0  # variance of a coordinate whose prior is uniform between the bounds
FARTHEST = 6.0  # coordinates of optima that lie on a bound
NEAR = 25.0  # chi^2 above the best: chains start around all optima below
LOOKED_AT = 64  # draws between which jumps are looked for
SHOWN = 3  # number of jumps that are described
EDGE, CROWDED = 0.01, 0.05  # of the range between bounds, and of the draws: more of these within that press against a bound
BESIDE = 2.0  # standard deviations of the draws between their median and the end of a prior against which they press
FAR = 6.0  # ln of the highest density of a prior over that at the median of the draws, as 3.5 standard deviations of a normal one
TOLD = 0.9  # standard deviation over that of the prior: above it the data say hardly anything

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a sampler found.

    Attributes:
        coordinates: (chains, draws, p). log_density: (chains, draws) of the coordinates.
        facts: of the method, ready for JSON. notes: sentences for the reader.
    """

    coordinates: np.ndarray
    log_density: np.ndarray
    facts: dict[str, Any]
    notes: list[str]


def check_packages(method: str) -> None:
    """Import the packages of a method, before fits take their time.

    Raises:
        ConfigError: one is missing.
    """
    if method == NUTS:
        nuts.libraries()
    diagnostics.arviz()


def problem_of(result: CalibrationResult) -> Problem:
    """The posterior of a calibration as a problem for samplers."""
    calibration = result.calibration
    return Problem(numbers_of(calibration), NormalErrors(result.system, not calibration.known))


def numbers_of(calibration: Calibration) -> list[Sampled]:
    """What is sampled: the free parameters, and the factor of the standard deviations if noise = "estimated"."""
    frees = [free.sampled for free in calibration.space.frees]
    return frees if calibration.known else [*frees, calibration.noise]


def sample(
    result: CalibrationResult,
    method: str = NUTS,
    tell: Tell | None = None,
    folder: Path | None = None,
    answers: Answers | None = None,
) -> Draws:
    """Draw from the posterior of a calibration.

    Args:
        result: the fits, around whose optima NUTS starts. method: NUTS or SMC. tell: called with what is done and the total.
        folder: where SMC keeps its particles and NUTS its densities, so that interrupted sampling goes on; None to keep nothing.
        answers: of NUTS, if they were read from the folder already.

    Raises:
        ConfigError: a package is missing, or nothing can be sampled.
    """
    diagnostics.arviz()
    problem = problem_of(result)
    found = (
        by_nuts(result, problem, tell, answers or answers_for(result, folder))
        if method == NUTS
        else by_smc(result, problem, tell, stage_files(result, folder))
    )
    chains, count, p = found.coordinates.shape
    flat = found.coordinates.reshape(-1, p)
    values = problem.values(flat)
    rows = summary(result, problem, values.reshape(chains, count, p))
    notes = [*found.notes, *notes_on_jumps(result, problem, found.coordinates), *notes_on(result, problem, values, rows, chains)]
    facts = {
        "method": method, "chains": chains, "draws": count, "confidence": result.calibration.confidence,
        "noise": "known" if result.calibration.known else "estimated", **found.facts,
        "summary": rows, "correlation": correlation(problem, values), "notes": notes, "calibration": digest(result.calibration),
    }  # fmt: skip
    return Draws(
        names=problem.names,
        units=problem.units,
        roles=tuple(each.role for each in problem.numbers),
        values=values,
        chain=np.repeat(np.arange(chains), count),
        draw=np.tile(np.arange(count), chains),
        log_density=problem.log_density_of_values(flat, found.log_density.reshape(-1)),
        facts=facts,
        config_hash=result.calibration.config.digest,
    )


def by_nuts(result: CalibrationResult, problem: Problem, tell: Tell | None, answers: Answers) -> Sampling:
    """Draws by NUTS, around the optima of the fits."""
    calibration, space = result.calibration, result.space
    near = [
        each for each in result.optima if each is result.optima[0] or each.chi2 - result.optima[0].chi2 < NEAR * result.known[0].scale ** 2
    ]
    around = [laplace(problem, space.values(each.coordinates), result.fits.point.jacobian[each.lanes[0]], space) for each in near]
    found = nuts.sample(problem, np.array([y for y, _ in around]), around[0][1], nuts_settings(calibration), tell, answers)
    diverging, cut = int(found.diverging.sum()), int(found.depth_reached.sum())
    notes = []
    if diverging:
        notes.append(
            f"{diverging:,} of {found.diverging.size:,} draws diverged: there the density changes too abruptly for the steps, and is "
            f"sampled too rarely. acceptance = 0.95 in [calibration.posterior] makes steps smaller; where observables jump, "
            f"--posterior smc needs no steps."
        )
    if cut:
        notes.append(f"{cut:,} draws used all of their steps: chains move slowly. A longer warmup may help.")
    facts = {
        "warmup": calibration.posterior.warmup, "seed": calibration.seed, "divergences": diverging, "evaluations": found.evaluations,
        "step_size": found.step_size.tolist(), "steps": float(found.steps.mean()), "acceptance": float(found.acceptance.mean()),
    }  # fmt: skip
    return Sampling(found.coordinates, found.log_density, facts, notes)


def answers_for(result: CalibrationResult, folder: Path | None) -> Answers:
    """The densities that are known of a calibration whose sampling by NUTS was interrupted in a directory."""
    values, jacobian = result.optima[0].coordinates, result.fits.point.jacobian[result.optima[0].lanes[0]]
    centre = hashlib.sha256(np.ascontiguousarray(values).tobytes() + np.ascontiguousarray(jacobian).tobytes()).hexdigest()
    return answers_of(folder, OF_NUTS, result.calibration.config, result.space.names, f"{digest(result.calibration)} {centre}")


def by_smc(result: CalibrationResult, problem: Problem, tell: Tell | None, store: smc.Store | None) -> Sampling:
    """Draws by tempered sequential Monte Carlo, from the prior on; each chain is a population of its own."""
    found = smc.sample(problem, smc_settings(result.calibration), store, tell)
    log_density = np.array([each.log_prior + each.log_likelihood for each in found.chains])
    facts = {"seed": result.calibration.seed, **smc_diagnostics.facts(found)}
    return Sampling(np.array([each.coordinates for each in found.chains]), log_density, facts, smc_diagnostics.notes(found))


def nuts_settings(calibration: Calibration) -> nuts.NutsSettings:
    """The settings of NUTS that a calibration asks for."""
    asked = calibration.posterior
    return nuts.NutsSettings(asked.chains, asked.warmup, asked.draws, calibration.seed, asked.acceptance)


def smc_settings(calibration: Calibration) -> smc.SmcSettings:
    """The settings of SMC that a calibration asks for."""
    asked = calibration.posterior
    return smc.SmcSettings(particles=asked.particles, chains=asked.chains, seed=calibration.seed, ess=asked.ess)


def stage_files(result: CalibrationResult, folder: Path | None) -> StageFiles | None:
    """The files of the stages of SMC for this calibration and this version; None without a folder."""
    calibration = result.calibration
    return (
        None
        if folder is None
        else StageFiles(folder, f"{VERSION} {digest(calibration)}", smc_settings(calibration), len(numbers_of(calibration)))
    )


def laplace(problem: Problem, values: np.ndarray, jacobian: np.ndarray, space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of an optimum, and the covariance of the normal density around it, which starts the sampler.

    Args:
        problem: the posterior. values: (n,) of the free parameters. jacobian: (m, n) of the residuals by the coordinates of the fit.
        space: of the free parameters.
    """
    p, n = len(problem.names), len(space.names)
    whole = np.ones(p)
    whole[:n] = values
    y = np.clip(problem.coordinates(whole[np.newaxis])[0], -FARTHEST, FARTHEST)
    along = problem.rates(y[np.newaxis])[0]
    precision = np.eye(p) / LOGISTIC
    scaled = jacobian * along[:n]
    precision[:n, :n] += scaled.T @ scaled
    if p > n:  # of the logarithm of the factor of the noise
        precision[n, n] += 2.0 * len(jacobian) * along[n] ** 2
    return y, np.linalg.inv(precision)


def summary(result: CalibrationResult, problem: Problem, by_chain: np.ndarray) -> list[dict[str, Any]]:
    """One flat dict for each sampled number, from draws (chains, draws, p): moments, interval, diagnostics, prior."""
    half = 0.5 * result.calibration.confidence
    found = diagnostics.summary(by_chain)
    rows = []
    for place, each in enumerate(problem.numbers):
        drawn = by_chain[:, :, place].reshape(-1)
        low, median, high = np.quantile(drawn, [0.5 - half, 0.5, 0.5 + half]).tolist()
        rows.append({
            "parameter": each.name, "unit": each.unit, "role": each.role, "mean": float(drawn.mean()), "std": float(drawn.std(ddof=1)),
            "median": median, "low": low, "high": high, "rhat": nothing(found.rhat[place]), "ess_bulk": nothing(found.bulk[place]),
            "ess_tail": nothing(found.tail[place]), "mcse": nothing(found.mcse[place]), "prior": each.words(), "prior_given": each.given,
        })  # fmt: skip
    return rows


def nothing(value: float) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if np.isfinite(value) else None


def correlation(problem: Problem, values: np.ndarray) -> list[list[float | None]]:
    """Correlations of the draws."""
    with np.errstate(all="ignore"):
        found = np.atleast_2d(np.corrcoef(values.T)) if len(problem.names) > 1 else np.ones((1, 1))
    return [[nothing(each) for each in row] for row in found]


def notes_on(result: CalibrationResult, problem: Problem, values: np.ndarray, rows: list[dict[str, Any]], chains: int) -> list[str]:
    """Sentences on convergence, and on what the data told."""
    notes = []
    apart = [row["parameter"] for row in rows if row["rhat"] is not None and row["rhat"] > diagnostics.MOST_RHAT]
    if apart:
        notes.append(
            f"R-hat is above {diagnostics.MOST_RHAT:g} for {', '.join(apart)}: the chains have not found the same distribution. Take more "
            f"draws and warmup, or --posterior smc if there are several modes."
        )
    least = diagnostics.LEAST_EFFECTIVE * chains
    few = [row["parameter"] for row in rows if min(row["ess_bulk"] or 0.0, row["ess_tail"] or 0.0) < least]
    if few:
        notes.append(f"Fewer than {least:,} effective draws of {', '.join(few)}: ends of intervals are uncertain. Take more draws.")
    places = (np.where(problem.logarithmic, np.log(values), values) - problem.low) / problem.width
    for place, each in enumerate(problem.numbers):
        if not each.given and max(np.mean(places[:, place] < EDGE), np.mean(places[:, place] > 1.0 - EDGE)) > CROWDED:
            notes.append(f"{each.name} presses against a bound, which counts as prior knowledge: widen its bounds, or give a prior.")
        modes = modes_of(values[:, place])
        if len(modes) > 1:
            notes.append(words(each.name, each.unit, modes))
        notes += notes_on_prior(each, values[:, place], places[:, place])
    inadmissible = ~result.system.admissible(values[:, : len(result.space.names)])
    if inadmissible.any():
        notes.append(f"{int(inadmissible.sum()):,} draws contradict the rules of the model.")
    return notes


def notes_on_prior(each: Sampled, drawn: np.ndarray, places: np.ndarray) -> list[str]:
    """Sentences on how the draws of a number compare with its prior.

    Args:
        each: the number. drawn: (n,) draws. places: (n,) of the draws between the ends of the prior, on the scale of the number, in [0, 1].
    """
    prior = each.quantile((np.arange(1000) + 0.5) / 1000.0)
    centre, spread = float(np.median(drawn)), float(drawn.std())
    if spread > TOLD * prior.std() and abs(drawn.mean() - prior.mean()) < prior.std():
        return [f"The data say hardly anything of {each.name}: its posterior is as wide as its prior."]
    if not each.given:
        return []
    unit = f" {each.unit}" if each.unit not in ("", "1") else ""
    for end, near in zip(each.support, (places < EDGE, places > 1.0 - EDGE), strict=True):
        if near.mean() > CROWDED and abs(centre - end) < BESIDE * spread:
            return [
                f"{each.name} presses against an end of its prior, {end:g}{unit}: the data contradict the prior, unless that end is sure."
            ]
    highest = each.log_density(prior)[0].max()
    if each.law not in (UNIFORM, LOG_UNIFORM) and each.log_density(np.array([centre]))[0][0] < highest - FAR:
        return [f"The data contradict the prior of {each.name}: draws lie around {centre:.4g}{unit}, far out in {each.words()}."]
    return []


def notes_on_jumps(result: CalibrationResult, problem: Problem, coordinates: np.ndarray) -> list[str]:
    """Sentences on observables that jump at boundaries between draws (chains, draws, p)."""
    system, data = result.system, result.calibration.data
    if not system.words:
        return []
    flat = coordinates.reshape(-1, coordinates.shape[-1])
    chosen = flat[np.linspace(0, len(flat) - 1, min(LOOKED_AT, len(flat))).astype(int)]
    frees = result.space.coordinates(problem.values(chosen)[:, : len(result.space.names)])
    codes = system.at(frees).codes
    path = [FitStep(np.array([0]), one[np.newaxis], code[np.newaxis]) for one, code in zip(frees, codes, strict=True)]
    jumps = {
        (data.runs[each.run], jump.observable): (each, jump) for each in find_crossings(system, path, [0]) for jump in each.jumps
    }  # one for each observable of a run
    found = []
    for (run, observable), (each, _) in list(jumps.items())[:SHOWN]:
        found.append(f"{observable} of {run} (where {each.before} becomes {each.after})")
    if not found:
        return []
    more = f" and {len(jumps) - SHOWN} more" if len(jumps) > SHOWN else ""
    return [
        f"Within the posterior what is compared jumps: {'; '.join(found)}{more}. NUTS crosses jumps badly: compare with --posterior smc."
    ]
