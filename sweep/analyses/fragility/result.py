"""Fragility curves: fits, counted probabilities and bands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tribosweep.sweep.analyses.fragility.cloud import Regression
from tribosweep.sweep.analyses.fragility.intervals import INTERVALS, Intervals
from tribosweep.sweep.analyses.fragility.lognormal import Fit
from tribosweep.sweep.analyses.fragility.request import METHODS, FragilityRequest
from tribosweep.sweep.analyses.fragility.rows import FragilityRows
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.printed import PrintedTable, short
from tribosweep.sweep.results.result import Result, metadata_of
from tribosweep.sweep.study.event import Comparison

if TYPE_CHECKING:
    import pyarrow as pa

FITS, POINTS, CURVES = "fits", "points", "curves"
ABOUT = {
    "curve": "number of the curve, from 0 on",
    "by": "value of the parameter that the curve stands for, such as mu = 0.2; empty if there is one curve",
    "rows": "number of rows used",
    "events": "number of those with the event",
    "groups": "number of records, draws or single rows that are independent",
    "failed": "number of rows that failed and are left out",
    "unknown": "number of rows of which it is unknown whether the event happened; left out, and intervals hold both outcomes of them",
    "void": "number of rows left out because they have no intensity, or for a cloud no demand, above 0",
    "theta": "intensity at which the probability is one half; null without a finite maximum of the likelihood",
    "theta_low": "lower end of its interval",
    "theta_high": "upper end of its interval; infinite if the data do not bound it",
    "beta": "standard deviation of the logarithm of the intensity at which the event first happens",
    "beta_low": "lower end of its interval",
    "beta_high": "upper end of its interval; infinite if the data do not bound it",
    "log_likelihood": "logarithm of the likelihood at its maximum",
    "misfit": "p-value of the counted probabilities under the curve, by chi-squared; null if rows are not independent, or too few",
    "interval": f"how the intervals were found: {'; '.join(f'{name}: {what}' for name, what in INTERVALS.items())}",
    "reason": "why there is no curve; empty if there is one",
    "intensity": "intensity; of a bin its geometric mean",
    "start": "smallest intensity of the bin",
    "stop": "largest intensity of the bin",
    "share": "part of the rows with the event",
    "low": "lower end of the interval of the probability",
    "high": "upper end of the interval of the probability",
    "chance": "probability of the event by the lognormal curve; null without one",
}
COLUMNS = {
    FITS: ("curve", "by", "rows", "events", "groups", "failed", "unknown", "void", "theta", "theta_low", "theta_high", "beta", "beta_low",
           "beta_high", "log_likelihood", "misfit", "interval", "reason"),
    POINTS: ("curve", "by", "intensity", "start", "stop", "rows", "events", "unknown", "share", "low", "high", "chance"),
    CURVES: ("curve", "by", "intensity", "chance", "low", "high"),
}  # fmt: skip
OF_INTENSITY = ("theta", "theta_low", "theta_high", "intensity", "start", "stop")
WHOLE, WORDS = ("curve", "rows", "events", "groups", "failed", "unknown", "void"), ("by", "interval", "reason")


@dataclass(frozen=True, slots=True)
class Points:
    """Probabilities that are counted, (k,) each.

    Attributes:
        intensity: of a stripe, or geometric mean of a bin. start, stop: ends of the bin.
        rows, events: counts. share: the part with the event; low, high: its interval (`clusters.interval_of_clusters`), which holds both
            outcomes of the `unknown` rows.
    """

    intensity: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    rows: np.ndarray
    events: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unknown: np.ndarray


@dataclass(frozen=True, slots=True)
class Curve:
    """The fragility of one value of the parameter `by`, or of all rows.

    Attributes:
        label: parameter `by` -> its value. rows, events, groups: numbers of those used.
        failed, void: numbers of rows left out: failed ones, and those without an intensity (for a cloud, a demand) above 0.
        unknown: number of rows left out because it is unknown whether the event happened. Intervals hold both outcomes of them, but for a
            cloud, which needs demands.
        points: counted probabilities. grid: (GRID,) intensities of the curve.
        fit: the lognormal curve, or None. reason: why there is none. limit: the error with its limits.
        interval: how the intervals were found. intervals: of the curve.
        misfit: p-value of the counted probabilities under the curve (`goodness.misfit`); NaN if rows are not independent, or too few.
        line, demand: of a cloud, its straight line, and (n, 2) intensities and demands.
    """

    label: dict[str, Any]
    rows: int
    events: int
    groups: int
    failed: int
    void: int
    unknown: int
    points: Points
    grid: np.ndarray
    interval: str
    fit: Fit | None = None
    reason: str = ""
    intervals: Intervals | None = None
    misfit: float = math.nan
    line: Regression | None = None
    demand: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))


@dataclass(frozen=True, slots=True, repr=False)
class Fragility(Result):
    """How the probability of an event grows with an intensity: lognormal curves and counted probabilities; a notebook shows them.

    Attributes:
        request: what was asked. rows: what was read. curves: one for each value of `by`, or one. notes: sentences for the reader.
    """

    request: FragilityRequest
    rows: FragilityRows
    curves: list[Curve]
    notes: list[str]

    @property
    def fitted(self) -> bool:
        """Whether every curve has a fit."""
        return all(curve.fit is not None for curve in self.curves)

    folder: ClassVar[str] = "fragility"

    @property
    def failed(self) -> int:
        """Number of failed rows."""
        return int(np.count_nonzero(~(self.rows.good | self.rows.unknown)))

    @property
    def has_failures(self) -> bool:
        """Whether rows failed, or a curve has no fit."""
        return self.failed > 0 or not self.fitted

    def line(self) -> str:
        """The event, the intensity, and theta and beta of each curve."""
        unit = self.rows.intensity.unit_suffix
        curves = []
        for curve in self.curves:
            name = f"{name_of(curve)}: " if curve.label else ""
            curves.append(f"{name}theta = {curve.fit.theta:.4g}{unit}, beta = {curve.fit.beta:.3g}" if curve.fit else f"{name}no curve")
        return f"{self.rows.event} over {self.rows.intensity.name}: {'; '.join(curves)}"

    def chance(self, intensity: Any, curve: int = 0) -> np.ndarray:
        """The probability of the event by the lognormal curve.

        Args:
            intensity: intensities > 0 of any shape, in SI units. curve: number of the curve, in the order of the values of `by`.

        Raises:
            ConfigError: no such curve, or it has no fit.
        """
        if not 0 <= curve < len(self.curves):
            raise ConfigError("chance", [Problem("curve", f"{curve} is none of {len(self.curves)}")])
        found = self.curves[curve]
        if found.fit is None:
            raise ConfigError("chance", [Problem("curve", f"{curve} has no fit: {found.reason}")])
        return found.fit.chance(np.asarray(intensity, dtype=np.float64))

    def tables(self) -> dict[str, pa.Table]:
        """The "fits" (theta, beta and their intervals), the "points" (counted probabilities) and the "curves" (with their bands)."""
        return {which: _table(self, which) for which in COLUMNS}

    def facts(self) -> dict[str, Any]:
        """The event, the intensity, what was asked, and the tables."""
        tables = {which: [finite(row) for row in records(self, which)] for which in COLUMNS}
        return {
            "event": str(self.rows.event), "intensity": self.rows.intensity.name, "unit": self.rows.intensity.unit,
            "over": list(self.rows.over), "held": self.rows.held, "method": self.request.method,
            "about_method": METHODS[self.request.method], "confidence": self.request.confidence, **tables,
        }  # fmt: skip

    def printed(self) -> Iterator[PrintedTable | str]:
        """Theta and beta of all curves with their intervals, and the counted probabilities of each beside those of its fit."""
        unit = self.rows.intensity.unit_suffix.strip()
        level = f"{100.0 * self.request.confidence:g} %"
        over = f"{self.rows.intensity.name}{f' [{unit}]' if unit else ''}"
        yield f"probability of {self.rows.event} over {over}: {METHODS[self.request.method]}"
        header = ["curve", "rows", "events", *filter(None, ["groups" * bool(self.rows.over)]), "theta", f"from ({level})", "to", "beta",
                  f"from ({level}) ", "to ", "interval"]  # fmt: skip
        rows = []
        for row in records(self, FITS):
            cells = [row["by"], f"{row['rows']:,}", f"{row['events']:,}", *([f"{row['groups']:,}"] if self.rows.over else [])]
            cells += [_short_end(row[name]) for name in ("theta", "theta_low", "theta_high", "beta", "beta_low", "beta_high")]
            rows.append([*cells, row["interval"] if row["theta"] is not None else "-"])
        if not self.request.by:
            header, rows = header[1:], [cells[1:] for cells in rows]
        yield PrintedTable("", header, rows, header[1 if self.request.by else 0 : -1])
        yield ""
        for curve in self.curves:
            binned = bool((curve.points.stop > curve.points.start).any())
            header = [self.rows.intensity.name, *(["bin from", "bin to"] if binned else []), "rows", "events", "share", f"from ({level})",
                      "to", "lognormal"]  # fmt: skip
            names = ["intensity", *(["start", "stop"] if binned else []), "rows", "events", "share", "low", "high", "chance"]
            rows = [[f"{row[n]:,}" if isinstance(row[n], int) else short(row[n], 4) for n in names] for row in points_of(curve)]
            yield PrintedTable(name_of(curve), header, rows, header)


def _short_end(value: float | None) -> str:
    """A number with few digits; "inf" where the data give no end."""
    return "inf" if value is not None and value > 1e300 else short(value)


def limit_of(rows: FragilityRows) -> float:
    """The limit of the demand of a cloud."""
    return float(rows.event.value) if isinstance(rows.event, Comparison) else math.nan


def name_of(curve: Curve) -> str:
    """The value that a curve stands for: "mu = 0.2"; empty if there is one curve."""
    return ", ".join(f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}" for name, value in curve.label.items())


def records(result: Fragility, which: str) -> list[dict[str, Any]]:
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
    """The counted probabilities of a curve."""
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


def _table(result: Fragility, which: str) -> pa.Table:
    """One of the tables; the metadata of its schema hold the request."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    unit = result.rows.intensity.unit
    fields = [described(name, kind, unit if name in OF_INTENSITY else "", ABOUT[name]) for name, kind in kinds_of(which).items()]
    request = {**result.request.model_dump(), "over": result.rows.over, "event": str(result.rows.event)}
    metadata = metadata_of(result.rows.state, request)
    return pa.Table.from_pylist(records(result, which), schema=pa.schema(fields, metadata=metadata))


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row without numbers that JSON has not."""
    return {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in row.items()}
