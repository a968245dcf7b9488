"""A calibration carried out: fits from every start, the optima they end in, what is known there, and what it leaves on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from sweep import config as studies
from sweep.calibration.fitting import CONVERGED, FAILED, STUCK, UNFINISHED, Fits, fit
from sweep.calibration.jumps import Crossing, crossings
from sweep.calibration.optima import Optimum, optima_of, starts_of
from sweep.calibration.parameters import Space
from sweep.calibration.reading import Calibration, at_values
from sweep.calibration.system import System
from sweep.calibration.uncertainty import Knowledge, Profile, knowledge, pairs_together, profiles
from sweep.directory import write_text, write_whole
from sweep.document import to_toml
from sweep.problems import ConfigError, Problem, advise

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.json"
UNLIKELY = 1e-3  # a scatter that standard deviations allow more rarely than this is said to be too large
SHOWN = 5  # jumps that are said in words
RIDGE = 1e-3  # of the range between bounds: further apart, fits with the same numbers have different parameters
OUTCOMES = {
    STUCK: "got stuck where no step lowers the loss although its gradient is not 0: a jump or a kink of an observable is in the way",
    UNFINISHED: "did not end within their steps",
    FAILED: "failed at their start: a run has no results there",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a calibration besides the fit.

    Attributes:
        profiles: parameters whose profile likelihood is wanted.
        slice: the two parameters of the landscape; none for those that are told apart the least.
        landscape: whether one is wanted.
    """

    profiles: tuple[str, ...] = ()
    slice: tuple[str, ...] = ()
    landscape: bool = False


@dataclass(frozen=True, slots=True)
class Landscape:
    """The loss over two parameters, the others at the optimum.

    Attributes:
        names: of the two. along: (side,) values of each. chi2: (side, side), the first along the first axis; NaN where a run fails.
    """

    names: tuple[str, str]
    along: tuple[np.ndarray, np.ndarray]
    chi2: np.ndarray


@dataclass(frozen=True, slots=True)
class Result:
    """A calibration that was carried out.

    Attributes:
        calibration: what was asked. system: its residuals.
        fits: from every start. optima: the distinct ones, the best first, and what is known at each.
        crossings: boundaries that the fits of the best optimum crossed.
        profiles, landscape: where they were asked for.
        notes: what a reader should know, in sentences.
    """

    calibration: Calibration
    system: System
    fits: Fits
    optima: list[Optimum]
    known: list[Knowledge]
    crossings: list[Crossing]
    profiles: list[Profile] = field(default_factory=list)
    landscape: Landscape | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def space(self) -> Space:
        """The free parameters."""
        return self.calibration.space

    @property
    def best(self) -> int:
        """The lane of the best fit."""
        return int(self.optima[0].lanes[0])

    @property
    def estimates(self) -> np.ndarray:
        """(n,) the fitted values."""
        return self.space.values(self.optima[0].coordinates)

    @property
    def converged(self) -> bool:
        """Whether the best fit did."""
        return bool(self.fits.outcome[self.best] == CONVERGED)

    def counts(self) -> dict[str, int]:
        """How the fits ended, and how many each."""
        return {word: int(np.count_nonzero(self.fits.outcome == word)) for word in (CONVERGED, *OUTCOMES)}

    def fitted(self) -> studies.Config:
        """The study at the fitted values, with the tests as its points."""
        document = {**self.calibration.config.document}
        document["parameters"] = at_values(document.get("parameters", {}), self.space.frees, self.estimates.tolist())
        return studies.load(document)


def check(request: Request, calibration: Calibration) -> None:
    """ConfigError where a request names what is not free, or a slice is not of two parameters."""
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


def carry_out(calibration: Calibration, request: Request | None = None, tell: Callable[[int, int], None] | None = None) -> Result:
    """Fit from every start, and say what the data tell.

    Args:
        calibration: see `reading.load`. request: what is wanted besides. tell: called with the fits that are done and their number.

    Raises:
        ConfigError: all fits failed at their start, the request makes no sense, or optimistix is missing.
    """
    request = request or Request()
    check(request, calibration)
    system = System(calibration.config, calibration.space, calibration.data)
    fits = fit(system, starts_of(system, calibration.starts, calibration.seed), trace=True, tell=tell)
    if (fits.outcome == FAILED).all():
        message = f"all {len(fits.outcome)} starts failed: at none of them all runs have results; choose other bounds or another start"
        raise ConfigError(calibration.config.source, [Problem("calibration.free", message)])
    optima = optima_of(fits, system)
    known = [
        knowledge(
            calibration.space, each.coordinates, fits.point.jacobian[each.lanes[0]], each.chi2, calibration.known, calibration.confidence
        )
        for each in optima
    ]
    found = crossings(system, fits, optima[0].lanes.tolist())
    profiled = profiles(system, optima[0].coordinates, optima[0].chi2, known[0], request.profiles) if request.profiles else []
    drawn = landscape(system, optima[0], known[0], request.slice) if request.landscape else None
    result = Result(calibration, system, fits, optima, known, found, profiled, drawn)
    result.notes.extend(notes_on(result))
    return result


def landscape(system: System, optimum: Optimum, known: Knowledge, names: tuple[str, ...]) -> Landscape:
    """The loss around an optimum, four standard deviations to each side, or to the bounds where the data do not tell."""
    space = system.space
    pair = names or pair_of(space, known)
    side = max(13, min(31, math.isqrt(20_000 // len(system.data.runs))))
    axes = []
    for name in pair:
        place = space.names.index(name)
        reach = 4.0 * known.sd[place] if known.told[place] else space.width[place]
        low, high = space.low[place], space.low[place] + space.width[place]
        axes.append(np.linspace(max(low, optimum.coordinates[place] - reach), min(high, optimum.coordinates[place] + reach), side))
    places = [space.names.index(name) for name in pair]
    lanes = np.tile(optimum.coordinates, (side * side, 1))
    lanes[:, places] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    chi2 = np.sum(system.at(lanes).residuals ** 2, axis=1).reshape(side, side)
    values = [np.exp(u) if space.logarithmic[place] else u for place, u in zip(places, axes, strict=True)]
    return Landscape((pair[0], pair[1]), (values[0], values[1]), chi2)


def pair_of(space: Space, known: Knowledge) -> tuple[str, ...]:
    """The two parameters that the data tell apart the least."""
    for direction in known.blind:
        members = direction.members(space)
        if len(members) > 1:
            return members[0].name, members[1].name
    closeness = np.abs(np.nan_to_num(known.correlation))
    np.fill_diagonal(closeness, -1.0)
    first, second = np.unravel_index(int(np.argmax(closeness)), closeness.shape)
    return space.names[min(first, second)], space.names[max(first, second)]


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


def records(result: Result) -> list[dict[str, Any]]:
    """One flat dict for each optimum and parameter; what there is none of is None."""
    space = result.space
    profiled = {profile.name: profile for profile in result.profiles}
    found = []
    for number, (optimum, known) in enumerate(zip(result.optima, result.known, strict=True)):
        values = space.values(optimum.coordinates)
        rates = space.rates(values)
        for place, free in enumerate(space.frees):
            profile = profiled.get(free.name) if number == 0 else None
            found.append({
                "optimum": number, "fits": len(optimum.lanes), "chi2": optimum.chi2, "parameter": free.name, "unit": free.unit,
                "value": float(values[place]), "std": nothing(known.sd[place] * rates[place]), "low": nothing(known.low[place]),
                "high": nothing(known.high[place]), "told": bool(known.told[place]), "on_bound": bool(known.bound[place]),
                "profile_low": nothing(profile.low) if profile else None, "profile_high": nothing(profile.high) if profile else None,
                "lower": free.lower, "upper": free.upper, "scale": "log" if free.logarithmic else "linear",
            })  # fmt: skip
    return found


def nothing(value: float) -> float | None:
    """A number, or None where it is not finite."""
    return float(value) if math.isfinite(value) else None


def numbers(result: Result) -> list[dict[str, Any]]:
    """One flat dict for each measured number: what was measured, what is computed at the best optimum, and the residual."""
    data, point = result.calibration.data, result.fits.point
    found = []
    for place in range(data.count):
        run, quantity = int(data.run[place]), data.observables[data.names[data.observable[place]]]
        computed = float(point.predicted[result.best, place])
        found.append({
            "run": data.runs[run], "time": nothing(data.times[run]), "observable": quantity.name, "unit": quantity.unit,
            "measured": float(data.measured[place]), "std": float(data.spread[place]), "fitted": nothing(computed),
            "residual": float(point.residuals[result.best, place]),
        })  # fmt: skip
    return found


def facts(result: Result) -> dict[str, Any]:
    """What is known besides the tables, as JSON takes it."""
    known = result.known[0]
    correlation = [[nothing(value) for value in row] for row in known.correlation]
    return {
        "data": result.calibration.data.count,
        "runs": len(result.calibration.data.runs),
        "fits": result.counts(),
        "converged": result.converged,
        "chi2": result.optima[0].chi2,
        "degrees_of_freedom": known.freedom,
        "confidence": result.calibration.confidence,
        "noise": "known" if result.calibration.known else "estimated",
        "noise_scale": nothing(known.scale),
        "parameters": list(result.space.names),
        "correlation": correlation,
        "not_told": [[free.name for free in direction.members(result.space)] for direction in known.blind],
        "crossings": [
            {"run": result.calibration.data.runs[each.run], "before": each.before, "after": each.after, "values": each.where.tolist(),
             "jumps": [{"observable": j.observable, "before": nothing(j.before), "after": nothing(j.after)} for j in each.jumps]}
            for each in result.crossings
        ],
        "notes": result.notes,
    }  # fmt: skip


def to_arrow(result: Result) -> dict[str, pa.Table]:
    """The tables of a result by the name of their file."""
    import pyarrow as pa

    from sweep.store import described

    def table(rows: list[dict[str, Any]], columns: Mapping[str, tuple[Any, str]]) -> pa.Table:
        fields = [described(name, kind, "", text) for name, (kind, text) in columns.items()]
        metadata = {"calibration": json.dumps(facts(result)), "config_hash": result.calibration.config.digest}
        return pa.Table.from_pylist(rows, schema=pa.schema(fields, metadata=metadata))

    number, text = pa.float64(), pa.string()
    ends = "end of its confidence interval, from the Jacobian; null where the data do not tell the parameter"
    found = {
        "calibration.parquet": table(records(result), {
            "optimum": (pa.int64(), "number of the optimum, 0 for the best"), "fits": (pa.int64(), "how many fits ended there"),
            "chi2": (number, "sum of squared residuals there"), "parameter": (text, "free parameter"), "unit": (text, "its unit"),
            "value": (number, "its value"), "std": (number, "its standard deviation"), "low": (number, f"lower {ends}"),
            "high": (number, f"upper {ends}"), "told": (pa.bool_(), "whether the data tell it"),
            "on_bound": (pa.bool_(), "whether it lies on a bound"), "profile_low": (number, "lower end of the interval of its profile"),
            "profile_high": (number, "upper end of the interval of its profile"), "lower": (number, "lower bound"),
            "upper": (number, "upper bound"), "scale": (text, "scale of its coordinate"),
        }),
        "residuals.parquet": table(numbers(result), {
            "run": (text, "test, or trace and time"), "time": (number, "of a sample of a trace [s]"),
            "observable": (text, "what was measured"),
            "unit": (text, "its unit"), "measured": (number, "what was measured"),
            "std": (number, "its standard deviation, with its weight"),
            "fitted": (number, "what is computed at the best optimum"),
            "residual": (number, "their difference over the standard deviation"),
        }),
    }  # fmt: skip
    if result.profiles:
        rows = [{"parameter": each.name, "value": float(value), "gain": nothing(gain)}
                for each in result.profiles for value, gain in zip(each.values, each.gains, strict=True)]  # fmt: skip
        columns = {"parameter": (text, "parameter that is held"), "value": (number, "where"), "gain": (number, "chi^2 above its least")}
        found["profiles.parquet"] = table(rows, columns)
    return found


def write(result: Result, directory: Path) -> list[Path]:
    """Write config.toml, fitted.toml and the tables into a directory, each whole; tables of an earlier call that are no longer there go.

    Raises:
        ConfigError: the directory is that of a run. OSError: something cannot be written.
    """
    import pyarrow.parquet as pq

    check_directory(directory)
    directory.mkdir(parents=True, exist_ok=True)
    document = {key: value for key, value in result.calibration.config.document.items() if key != "sweep"}
    texts = {"config.toml": to_toml({**document, "calibration": result.calibration.section}), "fitted.toml": result.fitted().to_toml()}
    files = []
    for name, content in texts.items():
        write_text(directory / name, content)
        files.append(directory / name)
    tables = to_arrow(result)
    for name, table in tables.items():
        write_whole(directory / name, lambda temporary, table=table: pq.write_table(table, temporary))  # type: ignore[misc]
        files.append(directory / name)
    if "profiles.parquet" not in tables:
        (directory / "profiles.parquet").unlink(missing_ok=True)
    return files


def check_directory(directory: Path) -> None:
    """ConfigError where a calibration must not go to: the directory of a run."""
    if (directory / MANIFEST).exists():
        message = f"{directory} is the directory of a run: a calibration goes to one of its own (--out DIR)"
        raise ConfigError("tribosweep calibrate", [Problem("", message)])
