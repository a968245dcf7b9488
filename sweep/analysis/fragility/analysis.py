"""Fragility of a run: chances of an event over an intensity, counted and as lognormal curves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.sweep.analysis.fragility import intervals
from tribosweep.sweep.analysis.fragility.cloud import Cloud, Regression, regress
from tribosweep.sweep.analysis.fragility.clusters import interval_of_clusters
from tribosweep.sweep.analysis.fragility.goodness import misfit
from tribosweep.sweep.analysis.fragility.intervals import BOOTSTRAP, DELTA, INTERVALS, PROFILE, Intervals
from tribosweep.sweep.analysis.fragility.lognormal import Capacities, Fit, NoMaximumError, fit, rows_of
from tribosweep.sweep.analysis.fragility.rows import FragilityRows, read
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.event import Comparison, named_in

STRIPES, CLOUD, INCREMENTAL = "stripes", "cloud", "incremental"
METHODS = {
    STRIPES: "maximum likelihood of the rows with and without the event",
    CLOUD: "straight line through ln(demand) over ln(intensity), lognormal about it",
    INCREMENTAL: "maximum likelihood of the intensities at which the event first happens to each record or draw",
}
STRIPE = 4  # rows with the same intensity that make a stripe; else points are bins
MOST_BINS, FEWEST_IN_BIN = 16, 10
GRID = 101  # intensities at which a curve is tabulated
FEW_GROUPS = 10
MISFIT = 1e-3  # p-value below which a note says that the curve does not fit


@dataclass(frozen=True, slots=True)
class FragilityRequest:
    """What is asked.

    Attributes:
        event: such as "buckled" or "peak_force > 5 kN or buckled". intensity: see `rows.read`.
        over: parameters whose values are random; default draws and records. by: parameter with a curve for each value.
        at: "name=value" texts of parameters that are held.
        method: one of METHODS. interval: one of INTERVALS; default bootstrap if rows share a record or a draw, else profile (cloud: delta).
        capacity_beta: for a cloud, logarithmic standard deviation of the limit itself.
        confidence, resamples, seed: level of the intervals; number of bootstrap samples and their seed.
    """

    event: str
    intensity: str
    over: tuple[str, ...] = ()
    by: str | None = None
    at: tuple[str, ...] = ()
    method: str = STRIPES
    interval: str | None = None
    capacity_beta: float = 0.0
    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Points:
    """Chances that are counted, (k,) each.

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
        points: counted chances. grid: (GRID,) intensities of the curve.
        fit: the lognormal curve, or None. reason: why there is none. limit: the error with its limits.
        interval: how the intervals were found. intervals: of the curve.
        misfit: p-value of the counted chances under the curve (`goodness.misfit`); NaN if rows are not independent, or too few.
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


@dataclass(frozen=True, slots=True)
class FragilityResult:
    """The fragility of a run.

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

    @property
    def failed(self) -> int:
        """Number of failed rows."""
        return int(np.count_nonzero(~(self.rows.good | self.rows.unknown)))


def analyse(path: Path, request: FragilityRequest) -> FragilityResult:
    """Count the chances of an event in a run over an intensity, and fit lognormal curves.

    Raises:
        ConfigError: as `rows.read`; or an option is unknown, out of bounds or does not fit the method.
    """
    check(request)
    rows = read(path, request.event, request.intensity, request.over, request.by, request.at)
    check_rows(request, rows)
    curves = [curve_of(rows, request, number) for number in range(len(rows.labels))]
    return FragilityResult(request, rows, curves, notes_on(rows, request, curves))


def check(request: FragilityRequest) -> None:
    """Refuse a request whose numbers and words are wrong for any run."""
    problems = []
    if request.method not in METHODS:
        problems.append(Problem("--method", f"{request.method!r} is none; {advise(request.method, METHODS)}"))
    if request.interval is not None and request.interval not in INTERVALS:
        problems.append(Problem("--interval", f"{request.interval!r} is none; {advise(request.interval, INTERVALS)}"))
    if request.interval == PROFILE and request.method == CLOUD:
        problems.append(Problem("--interval", "a cloud has no profile likelihood: delta or bootstrap"))
    if not 0.0 < request.confidence < 1.0:
        problems.append(Problem("--confidence", f"{request.confidence:g} is out of bounds: must be > 0 and < 1"))
    if request.resamples < 2:
        problems.append(Problem("--resamples", f"{request.resamples} is out of bounds: must be >= 2"))
    if not 0.0 <= request.capacity_beta < math.inf:
        problems.append(Problem("--capacity-beta", f"{request.capacity_beta:g} is out of bounds: must be >= 0"))
    if request.capacity_beta and request.method != CLOUD:
        problems.append(Problem("--capacity-beta", "is of the limit of a cloud: it needs --method cloud"))
    if problems:
        raise ConfigError("fragility", problems)


def check_rows(request: FragilityRequest, rows: FragilityRows) -> None:
    """Refuse a method that the rows or the event do not allow."""
    problems = []
    if request.method == CLOUD:
        single = isinstance(rows.event, Comparison) and rows.event.ordered and rows.event.relation[0] == ">"
        if not single or limit_of(rows) <= 0.0:
            message = f"a cloud needs an observable above a limit > 0, such as 'peak_force > 5 kN', not {str(rows.event)!r}"
            problems.append(Problem("--event", message))
        elif rows.demand.name == rows.intensity.name:
            problems.append(Problem("--intensity", f"{rows.intensity.name} is the demand itself"))
    if request.method == INCREMENTAL and not rows.over:
        message = "needs records or draws that are each scaled up: the run varies neither; name a parameter with --over"
        problems.append(Problem("--method", f"incremental {message}"))
    if problems:
        raise ConfigError("fragility", problems)


def curve_of(rows: FragilityRows, request: FragilityRequest, number: int) -> Curve:
    """Count and fit one curve."""
    own = rows.curves == number
    positive = np.isfinite(rows.x) & (rows.x > 0.0)
    unknown = own & rows.unknown & positive
    if request.method == CLOUD:
        positive &= np.isfinite(rows.values) & (rows.values > 0.0)
    used = own & rows.good & positive
    facts: dict[str, Any] = {
        "label": rows.labels[number], "rows": int(used.sum()), "events": int(rows.happened[used].sum()),
        "failed": int(np.count_nonzero(own & ~(rows.good | rows.unknown))), "unknown": int(np.count_nonzero(unknown)),
        "void": int(np.count_nonzero(own & rows.good & ~positive)),
    }  # fmt: skip
    x, happened = rows.x[used], rows.happened[used]
    if not len(x):
        empty = np.empty(0)
        none = Points(*[empty] * 9)
        return Curve(**facts, groups=0, points=none, grid=empty, interval="", reason="no row has an intensity above 0 and a result")
    groups = np.unique(rows.groups[used], return_inverse=True)[1]
    facts["groups"] = int(groups.max()) + 1
    shared = facts["groups"] < len(groups)
    kind = request.interval or (BOOTSTRAP if shared and request.method != INCREMENTAL else DELTA if request.method == CLOUD else PROFILE)
    facts |= {"points": counted(rows, used, unknown, request.confidence), "grid": grid_over(x), "interval": kind}
    curve = fitted(rows, request, used, rows.happened, facts)
    if unknown.any() and request.method != CLOUD and curve.intervals is not None:
        curve = replace(curve, intervals=hull(curve.intervals, *(
            fitted(rows, request, used | unknown, rows.happened | more, facts).intervals for more in (np.False_, unknown)
        )))  # fmt: skip
    if curve.fit is None or shared:
        return curve
    return replace(curve, misfit=misfit(curve.fit.chance(x), happened, bins_of(x)))


def limit_of(rows: FragilityRows) -> float:
    """The limit of the demand of a cloud."""
    return float(rows.event.value) if isinstance(rows.event, Comparison) else math.nan


def fitted(rows: FragilityRows, request: FragilityRequest, used: np.ndarray, mask: np.ndarray, facts: dict[str, Any]) -> Curve:
    """Fit one curve to the rows that are used, (n,) mask, by the requested method, where `mask`, (n,), says in which the event happened."""
    x, happened, groups = rows.x[used], mask[used], np.unique(rows.groups[used], return_inverse=True)[1]
    if request.method == CLOUD:
        return of_cloud(facts, Cloud(np.log(x), np.log(rows.values[used]), math.log(limit_of(rows)), request.capacity_beta),
                        groups, request)  # fmt: skip
    if request.method == INCREMENTAL:
        known = first_happens(np.log(x), happened, groups)
        return of_likelihood(facts, known, np.arange(len(known.weight)), np.arange(len(known.weight)), request)
    known, kinds = rows_of(np.log(x), happened)
    return of_likelihood(facts, known, kinds, groups, request)


def of_likelihood(
    facts: dict[str, Any], known: Capacities, kinds: np.ndarray, groups: np.ndarray, request: FragilityRequest
) -> Curve:  # fmt: skip
    """The curve of capacities that are known between two intensities."""
    try:
        found = fit(known)
    except NoMaximumError as limit:
        return Curve(**facts, reason=str(limit))

    def refit(weight: np.ndarray) -> Fit:
        return fit(Capacities(known.lower, known.upper, np.bincount(kinds, weight, len(known.weight))))

    if facts["interval"] == PROFILE:
        return Curve(**facts, fit=found, intervals=intervals.by_profile(known, found, facts["grid"], request.confidence))
    return Curve(**facts, fit=found, intervals=of_either(facts, found, refit, groups, request, math.inf))


def of_cloud(facts: dict[str, Any], cloud: Cloud, groups: np.ndarray, request: FragilityRequest) -> Curve:
    """The curve of demands over intensities."""
    demand = np.exp(np.stack([cloud.log_intensity, cloud.log_demand], axis=1))
    try:
        line, found = regress(cloud)
    except NoMaximumError as limit:
        return Curve(**facts, reason=str(limit), demand=demand)

    def refit(weight: np.ndarray) -> Fit:
        return regress(cloud, weight)[1]

    ends = of_either(facts, found, refit, groups, request, len(groups) - 2.0)
    return Curve(**facts, fit=found, intervals=ends, line=line, demand=demand)


def of_either(
    facts: dict[str, Any], found: Fit, refit: Callable[[np.ndarray], Fit], groups: np.ndarray, request: FragilityRequest, freedom: float
) -> Intervals:  # fmt: skip
    """Intervals by the delta method, with Student's t of `freedom`, or by the bootstrap."""
    from scipy.stats import t

    if facts["interval"] == DELTA:
        return intervals.by_delta(found, facts["grid"], float(t.ppf(0.5 + 0.5 * request.confidence, freedom)))
    return intervals.by_bootstrap(refit, groups, facts["grid"], request.confidence, request.resamples, request.seed)


def first_happens(log_intensity: np.ndarray, happened: np.ndarray, groups: np.ndarray) -> Capacities:
    """The capacity of each group: between its last intensity without the event and the first with it."""
    order = np.lexsort((log_intensity, groups))
    u, hit, group = log_intensity[order], happened[order], groups[order]
    count = int(group[-1]) + 1
    upper = np.full(count, np.inf)
    np.minimum.at(upper, group[hit], u[hit])
    lower = np.full(count, -np.inf)
    before = ~hit & (u < upper[group])
    np.maximum.at(lower, group[before], u[before])
    return Capacities(lower, upper, np.ones(count))


def bins_of(x: np.ndarray) -> np.ndarray:
    """(n,) numbers of stripes, the rows with one intensity, if these have STRIPE rows on average; else of bins with equally many rows."""
    places, inverse = np.unique(x, return_inverse=True)
    if len(places) * STRIPE <= len(x):
        return np.asarray(inverse)
    bins = int(np.clip(len(x) // FEWEST_IN_BIN, 1, MOST_BINS))
    return np.asarray((np.argsort(np.argsort(x, kind="stable"), kind="stable") * bins) // len(x))


def hull(own: Intervals, least: Intervals | None, most: Intervals | None) -> Intervals:
    """The intervals that hold those of a curve, and those with an event in none and in all of the unknown rows, None without a curve."""
    nothing = Intervals((0.0, math.inf), (0.0, math.inf), np.zeros_like(own.low), np.ones_like(own.high))
    each = (own, least or replace(nothing, high=own.high), most or replace(nothing, low=own.low))
    theta, beta = ([getattr(e, name) for e in each] for name in ("theta", "beta"))
    low, high = np.min([e.low for e in each], axis=0), np.max([e.high for e in each], axis=0)
    return Intervals(
        (min(a for a, _ in theta), max(b for _, b in theta)), (min(a for a, _ in beta), max(b for _, b in beta)), low, high,
        max(e.limits for e in each),
    )  # fmt: skip


def counted(of: FragilityRows, used: np.ndarray, unknown: np.ndarray, confidence: float) -> Points:
    """Chances in bins, of the rows that are used and with those of which it is unknown whether the event happened, (n,) masks each.

    Rows of a group may be alike.
    """
    every = used | unknown
    x, happened, known = of.x[every], of.happened[every], used[every]
    inverse, groups = bins_of(x), np.unique(of.groups[every], return_inverse=True)[1]
    count = int(inverse.max()) + 1
    rows, events = np.bincount(inverse[known], minlength=count), np.bincount(inverse[happened], minlength=count)
    start, stop = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(start, inverse, x)
    np.maximum.at(stop, inverse, x)
    each = np.bincount(inverse, minlength=count)
    middle = np.clip(np.exp(np.bincount(inverse, np.log(x), count) / each), start, stop)
    low = interval_of_clusters(happened, inverse, groups, confidence)[0]
    high = interval_of_clusters(happened | ~known, inverse, groups, confidence)[1]
    with np.errstate(invalid="ignore"):
        return Points(middle, start, stop, rows, events, events / rows, low, high, each - rows)


def grid_over(x: np.ndarray) -> np.ndarray:
    """Intensities from the smallest to the largest, evenly spaced in the logarithm."""
    return np.geomspace(x.min(), x.max(), GRID) if x.min() < x.max() else x[:1]


def notes_on(rows: FragilityRows, request: FragilityRequest, curves: list[Curve]) -> list[str]:
    """Sentences for the reader about rows left out, missing maxima and weak intervals."""
    notes = []
    for curve in curves:
        where = "".join(f"{name} = {value}: " for name, value in curve.label.items())
        if curve.fit is None:
            notes.append(f"{where}no lognormal curve: {curve.reason}.")
        if curve.misfit < MISFIT:
            notes.append(
                f"{where}the counted chances are far from the curve (chi-squared, p = {curve.misfit:.2g}): the event is not lognormal over "
                f"{rows.intensity.name}, so read the counted chances instead."
            )
        if curve.void:
            what = "intensity or demand" if request.method == CLOUD else "intensity"
            notes.append(f"{where}{curve.void:,} rows have no {what} above 0, which has no logarithm: left out.")
        if curve.intervals is not None and curve.intervals.limits:
            notes.append(
                f"{where}{curve.intervals.limits:,} of {request.resamples:,} bootstrap samples are separated or fall: they count with the "
                "limits of theta and beta."
            )
        if curve.interval == BOOTSTRAP and curve.groups < FEW_GROUPS:
            what = f"values of {' and '.join(rows.over)}" if rows.over else "rows"
            notes.append(f"{where}a bootstrap of {curve.groups} {what} says little of their spread.")
        if curve.fit is not None and curve.interval != BOOTSTRAP and request.method != INCREMENTAL and curve.groups < curve.rows:
            notes.append(f"{where}rows that share a {' and '.join(rows.over)} are taken as independent: --interval bootstrap does not.")
    if failed := int(np.count_nonzero(~(rows.good | rows.unknown))):
        notes.append(f"{failed:,} of {len(rows.good):,} rows failed and are left out; their column `status` says why.")
    if unknown := int(np.count_nonzero(rows.unknown)):
        ends = "so are its intervals" if request.method == CLOUD else "its intervals hold both outcomes of them"
        notes.append(
            f"Of {unknown:,} of {len(rows.good):,} rows it is unknown whether the event happened, since "
            f"{' or '.join(named_in(rows.event))} could not be computed there. The curve is without them, and {ends}."
        )
    if rows.state["state"] != "complete":
        notes.append(f"The run is not complete: {rows.state['points_done']:,} of {rows.state['points']:,} points are there.")
    return notes
