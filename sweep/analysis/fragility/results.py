"""Results of a fragility analysis as tables, for JSON, and as Parquet files beside the points of the run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis.fragility.analysis import METHODS, Curve, FragilityResult
from tribosweep.sweep.analysis.fragility.intervals import INTERVALS
from tribosweep.sweep.io.atomic import make_inner_folder, write_together

if TYPE_CHECKING:
    import pyarrow as pa

FITS, POINTS, CURVES = "fits", "points", "curves"
FOLDER = "fragility"
ABOUT = {
    "curve": "number of the curve, from 0 on",
    "by": "value of the parameter that the curve stands for, such as mu = 0.2; empty if there is one curve",
    "rows": "number of rows used",
    "events": "number of those with the event",
    "groups": "number of records, draws or single rows that are independent",
    "failed": "number of rows that failed and are left out",
    "unknown": "number of rows of which it is unknown whether the event happened; left out, and intervals hold both outcomes of them",
    "void": "number of rows left out because they have no intensity, or for a cloud no demand, above 0",
    "theta": "intensity at which the chance is one half; null without a finite maximum of the likelihood",
    "theta_low": "lower end of its interval",
    "theta_high": "upper end of its interval; infinite if the data do not bound it",
    "beta": "standard deviation of the logarithm of the intensity at which the event first happens",
    "beta_low": "lower end of its interval",
    "beta_high": "upper end of its interval; infinite if the data do not bound it",
    "log_likelihood": "logarithm of the likelihood at its maximum",
    "misfit": "p-value of the counted chances under the curve, by chi-squared; null if rows are not independent, or too few",
    "interval": f"how the intervals were found: {'; '.join(f'{name}: {what}' for name, what in INTERVALS.items())}",
    "reason": "why there is no curve; empty if there is one",
    "intensity": "intensity; of a bin its geometric mean",
    "start": "smallest intensity of the bin",
    "stop": "largest intensity of the bin",
    "share": "part of the rows with the event",
    "low": "lower end of the interval of the chance",
    "high": "upper end of the interval of the chance",
    "chance": "chance of the event by the lognormal curve; null without one",
}
COLUMNS = {
    FITS: ("curve", "by", "rows", "events", "groups", "failed", "unknown", "void", "theta", "theta_low", "theta_high", "beta", "beta_low",
           "beta_high", "log_likelihood", "misfit", "interval", "reason"),
    POINTS: ("curve", "by", "intensity", "start", "stop", "rows", "events", "unknown", "share", "low", "high", "chance"),
    CURVES: ("curve", "by", "intensity", "chance", "low", "high"),
}  # fmt: skip
OF_INTENSITY = ("theta", "theta_low", "theta_high", "intensity", "start", "stop")
WHOLE, WORDS = ("curve", "rows", "events", "groups", "failed", "unknown", "void"), ("by", "interval", "reason")


def name_of(curve: Curve) -> str:
    """The value that a curve stands for: "mu = 0.2"; empty if there is one curve."""
    return ", ".join(f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}" for name, value in curve.label.items())


def records(result: FragilityResult, which: str) -> list[dict[str, Any]]:
    """The rows of one of the tables."""
    found: list[dict[str, Any]] = []
    for number, curve in enumerate(result.curves):
        own = {"curve": number, "by": name_of(curve)}
        found += [own | row for row in {FITS: fit_of, POINTS: points_of, CURVES: line_of}[which](curve)]
    return found


def fit_of(curve: Curve) -> list[dict[str, Any]]:
    """The line of a curve in the table of fits."""
    row: dict[str, Any] = {
        name: getattr(curve, name) for name in ("rows", "events", "groups", "failed", "unknown", "void", "interval", "reason")
    }
    row |= dict.fromkeys(COLUMNS[FITS][8:16])
    if curve.fit is not None and curve.intervals is not None:
        row |= {"theta": curve.fit.theta, "beta": curve.fit.beta, "log_likelihood": curve.fit.log_likelihood}
        row["misfit"] = curve.misfit if math.isfinite(curve.misfit) else None
        row["theta_low"], row["theta_high"] = curve.intervals.theta
        row["beta_low"], row["beta_high"] = curve.intervals.beta
    return [row]


def points_of(curve: Curve) -> list[dict[str, Any]]:
    """The counted chances of a curve."""
    columns = {
        name: getattr(curve.points, name).tolist()
        for name in ("intensity", "start", "stop", "rows", "events", "unknown", "share", "low", "high")
    }
    columns["chance"] = [None] * len(curve.points.rows) if curve.fit is None else curve.fit.chance(curve.points.intensity).tolist()
    columns["share"] = [None if math.isnan(share) else share for share in columns["share"]]  # of a bin of unknown rows alone
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def line_of(curve: Curve) -> list[dict[str, Any]]:
    """The curve with its band at the intensities of its grid; none without a fit."""
    if curve.fit is None or curve.intervals is None:
        return []
    columns = {
        "intensity": curve.grid.tolist(), "chance": curve.fit.chance(curve.grid).tolist(), "low": curve.intervals.low.tolist(),
        "high": curve.intervals.high.tolist(),
    }  # fmt: skip
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def kinds_of(which: str) -> dict[str, pa.DataType]:
    """The types of the columns of one of the tables."""
    import pyarrow as pa

    return {name: pa.string() if name in WORDS else pa.int64() if name in WHOLE else pa.float64() for name in COLUMNS[which]}


def to_arrow(result: FragilityResult, which: str) -> pa.Table:
    """One of the tables; the metadata of its schema hold the request."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    unit = result.rows.intensity.unit
    fields = [described(name, kind, unit if name in OF_INTENSITY else "", ABOUT[name]) for name, kind in kinds_of(which).items()]
    request = json.dumps({**asdict(result.request), "over": result.rows.over, "event": str(result.rows.event)})
    metadata = {"config_hash": str(result.rows.state.get("config_hash", "")), "request": request}
    return pa.Table.from_pylist(records(result, which), schema=pa.schema(fields, metadata=metadata))


def facts(result: FragilityResult) -> dict[str, Any]:
    """Everything for JSON, infinite ends as null."""
    tables = {which: [finite(row) for row in records(result, which)] for which in (FITS, POINTS, CURVES)}
    return {
        "event": str(result.rows.event), "intensity": result.rows.intensity.name, "unit": result.rows.intensity.unit,
        "over": list(result.rows.over), "held": result.rows.held, "method": result.request.method,
        "about_method": METHODS[result.request.method], "confidence": result.request.confidence, **tables, "notes": result.notes,
    }  # fmt: skip


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row without numbers that JSON has not."""
    return {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in row.items()}


def write(result: FragilityResult, path: Path) -> Sequence[Path]:
    """Write the tables into `fragility/` of a run's directory, in place of those of an earlier call; OSError if they cannot be written."""
    from tribosweep.sweep.io import sealed_parquet

    folder = path / FOLDER
    make_inner_folder(folder)
    tables = {folder / f"{which}.parquet": sealed_parquet.to_bytes(to_arrow(result, which)) for which in (FITS, POINTS, CURVES)}
    write_together(tables)
    return [*tables]
