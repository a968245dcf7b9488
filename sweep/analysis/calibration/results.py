"""The results of a calibration: as records, tables and files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, OPTIMAL, OUTCOMES, Fits
from tribosweep.sweep.analysis.calibration.jumps import BoundaryCrossing
from tribosweep.sweep.analysis.calibration.load import Calibration
from tribosweep.sweep.analysis.calibration.optima import Optimum
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.posterior.draws import POSTERIOR, Draws, read, to_bytes
from tribosweep.sweep.analysis.calibration.posterior.smc_stages import FILES
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import FitUncertainty, Profile
from tribosweep.sweep.execution.answers import OF_NUTS, forget
from tribosweep.sweep.execution.directory import CALIBRATED, STUDY
from tribosweep.sweep.io.atomic import make_folders, write_together
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.toml import to_toml
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.free import at_values
from tribosweep.sweep.study.load import load

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """The results that a user asks for in addition to the fit.

    Attributes:
        profiles: parameters whose profile likelihood is computed.
        slice: the two parameters of the landscape; if empty, the two that the data separate worst.
        landscape: whether landscapes are computed.
    """

    profiles: tuple[str, ...] = ()
    slice: tuple[str, ...] = ()
    landscape: bool = False


@dataclass(frozen=True, slots=True)
class Landscape:
    """The loss over two parameters around an optimum; the other parameters stay at it.

    Attributes:
        names: the two parameters. along: (side,) values of each. chi2: (side, side), first parameter first; NaN if a run fails.
    """

    names: tuple[str, str]
    along: tuple[np.ndarray, np.ndarray]
    chi2: np.ndarray


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The result of a calibration.

    Attributes:
        calibration: the checked calibration. system: its residuals.
        fits: one from every start. optima: the distinct points where they ended, the best first. known: the uncertainties at each optimum.
        crossings: boundaries that the fits of the best optimum crossed.
        profiles, landscapes: present if requested; a landscape for each of the best optima.
        notes: sentences for the reader.
        posterior: draws, if they were requested.
    """

    calibration: Calibration
    system: System
    fits: Fits
    optima: list[Optimum]
    known: list[FitUncertainty]
    crossings: list[BoundaryCrossing]
    profiles: list[Profile] = field(default_factory=list)
    landscapes: tuple[Landscape, ...] = ()
    notes: list[str] = field(default_factory=list)
    posterior: Draws | None = None

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
        """Whether the best of all fits converged, or is a minimum at a kink."""
        return self.optima[0].outcome in OPTIMAL

    def counts(self) -> dict[str, int]:
        """Outcome -> number of fits."""
        return {word: int(np.count_nonzero(self.fits.outcome == word)) for word in (CONVERGED, *OUTCOMES)}

    def fitted(self) -> Config:
        """The study at the fitted values, with the tests as its points."""
        document = {**self.calibration.config.document}
        document["parameters"] = at_values(document.get("parameters", {}), self.space.frees, self.estimates.tolist())
        return load(document)


def records(result: CalibrationResult) -> list[dict[str, Any]]:
    """One flat dict for each optimum and parameter; missing values are None."""
    space = result.space
    profiled = {profile.name: profile for profile in result.profiles}
    found = []
    for number, (optimum, known) in enumerate(zip(result.optima, result.known, strict=True)):
        values = space.values(optimum.coordinates)
        rates = space.rates(values)
        for place, free in enumerate(space.frees):
            profile = profiled.get(free.name) if number == 0 else None
            found.append({
                "optimum": number, "fits": len(optimum.lanes), "outcome": optimum.outcome, "chi2": optimum.chi2,
                "parameter": free.name, "unit": free.unit, "value": float(values[place]),
                "std": nothing(known.sd[place] * rates[place]), "low": nothing(known.low[place]),
                "high": nothing(known.high[place]), "told": bool(known.identifiable[place]), "on_bound": bool(known.bound[place]),
                "profile_low": nothing(profile.low) if profile else None, "profile_high": nothing(profile.high) if profile else None,
                "lower": free.lower, "upper": free.upper, "scale": "log" if free.logarithmic else "linear",
            })  # fmt: skip
    return found


def nothing(value: float) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def numbers(result: CalibrationResult) -> list[dict[str, Any]]:
    """One flat dict for each measured number, with its value computed at the best optimum and its residual."""
    data, point = result.calibration.data, result.fits.point
    found = []
    for place in range(data.count):
        run, quantity = int(data.run[place]), data.observables[data.names[data.observable[place]]]
        computed = float(point.predicted[result.best, place])
        found.append({
            "run": data.runs[run], "time": nothing(data.times[run]), "observable": quantity.name, "unit": quantity.unit,
            "measured": float(data.measured[place]), "std": float(data.spread[place]), "fitted": nothing(computed),
            "residual": float(point.residuals[result.best, place]) * result.system.noise,
        })  # fmt: skip
    return found


def facts(result: CalibrationResult) -> dict[str, Any]:
    """The results that are not in the tables, ready for JSON."""
    known = result.known[0]
    correlation = [[nothing(value) for value in row] for row in known.correlation]
    return {
        "data": result.calibration.data.count,
        "runs": len(result.calibration.data.runs),
        "fits": result.counts(),
        "converged": result.converged,
        "chi2": result.optima[0].chi2,
        "degrees_of_freedom": int(known.freedom) if known.freedom.is_integer() else known.freedom,
        "confidence": result.calibration.confidence,
        "noise": "known" if result.calibration.known else "estimated",
        "noise_scale": nothing(known.scale * result.system.noise),
        "parameters": list(result.space.names),
        "correlation": correlation,
        "not_told": [[free.name for free in direction.members(result.space)] for direction in known.undetermined],
        "crossings": [
            {"run": result.calibration.data.runs[each.run], "before": each.before, "after": each.after, "values": each.where.tolist(),
             "jumps": [{"observable": j.observable, "before": nothing(j.before), "after": nothing(j.after)} for j in each.jumps]}
            for each in result.crossings
        ],
        "notes": result.notes,
    }  # fmt: skip


def to_arrow(result: CalibrationResult) -> dict[str, pa.Table]:
    """The tables of a result, by file name."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    def table(rows: list[dict[str, Any]], columns: Mapping[str, tuple[Any, str]]) -> pa.Table:
        fields = [described(name, kind, "", text) for name, (kind, text) in columns.items()]
        metadata = {"calibration": json.dumps(facts(result)), "config_hash": result.calibration.config.digest}
        return pa.Table.from_pylist(rows, schema=pa.schema(fields, metadata=metadata))

    number, text = pa.float64(), pa.string()
    ends = "end of its confidence interval, from the Jacobian; null where the data do not determine it"
    found = {
        CALIBRATED: table(records(result), {
            "optimum": (pa.int64(), "number of the optimum, 0 for the best"), "fits": (pa.int64(), "how many fits ended there"),
            "outcome": (text, "how these fits ended"),
            "chi2": (number, "sum of squared residuals there"), "parameter": (text, "free parameter"), "unit": (text, "its unit"),
            "value": (number, "its value"), "std": (number, "its standard deviation"), "low": (number, f"lower {ends}"),
            "high": (number, f"upper {ends}"), "told": (pa.bool_(), "whether the data determine it"),
            "on_bound": (pa.bool_(), "whether it lies on a bound"), "profile_low": (number, "lower end of the interval of its profile"),
            "profile_high": (number, "upper end of the interval of its profile"), "lower": (number, "lower bound"),
            "upper": (number, "upper bound"), "scale": (text, "scale of its coordinate"),
        }),
        "residuals.parquet": table(numbers(result), {
            "run": (text, "test, or trace and time"), "time": (number, "time of a sample of a trace [s]"),
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
        columns = {"parameter": (text, "parameter that is held"), "value": (number, "held at"), "gain": (number, "chi^2 above its least")}
        found["profiles.parquet"] = table(rows, columns)
    return found


def write(result: CalibrationResult, directory: Path) -> list[Path]:
    """Write config.toml, fitted.toml, the tables and the draws into a directory. At any instant all that are there belong together.

    The table of parameters comes first: where it is, config.toml is the study of a calibration, and may be replaced. The caller holds the
    directory; see `tribosweep.sweep.execution.directory.hold_apart`.

    Raises:
        OSError: a file cannot be written.
    """
    from tribosweep.sweep.io import sealed_parquet

    make_folders(directory)
    document = {key: value for key, value in result.calibration.config.document.items() if key != "sweep"}
    texts = {STUDY: to_toml({**document, "calibration": result.calibration.section}), "fitted.toml": result.fitted().to_toml()}
    tables = {directory / name: sealed_parquet.to_bytes(table) for name, table in to_arrow(result).items()}
    first = directory / CALIBRATED
    files = {first: tables[first], **{directory / name: content.encode() for name, content in texts.items()}, **tables}
    posterior = directory / POSTERIOR
    if result.posterior is not None:
        files[posterior] = to_bytes(result.posterior)
    obsolete = [path for path in (directory / "profiles.parquet",) if path not in files]
    obsolete += directory.glob(FILES) if result.posterior is not None else []  # the draws are there: nothing has to go on
    if posterior not in files and not belongs(posterior, result.calibration):
        obsolete.append(posterior)
    write_together(files, obsolete)
    if result.posterior is not None:
        forget(directory, OF_NUTS)
    return [*files]


def belongs(posterior: Path, calibration: Calibration) -> bool:
    """Whether the draws that are there are of this calibration: they took longer than its fit, and stay."""
    try:
        return bool(read(posterior).facts.get("calibration") == digest(calibration))
    except ConfigError:
        return False


def digest(calibration: Calibration) -> str:
    """A name for what a posterior depends on: the study, what is free and compared, and the data."""
    data = calibration.data
    text = json.dumps([calibration.config.digest, calibration.section], sort_keys=True, default=str)
    return hashlib.sha256(b"".join([text.encode(), data.measured.tobytes(), data.spread.tobytes(), data.run.tobytes()])).hexdigest()
