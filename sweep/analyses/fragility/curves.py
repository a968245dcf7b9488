"""Fragility of a run: probabilities of an event over an intensity, counted and as lognormal curves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.sweep.analyses.fragility import intervals
from tribosweep.sweep.analyses.fragility.cloud import Cloud, regress
from tribosweep.sweep.analyses.fragility.clusters import interval_of_clusters
from tribosweep.sweep.analyses.fragility.goodness import misfit
from tribosweep.sweep.analyses.fragility.intervals import BOOTSTRAP, DELTA, PROFILE, Intervals
from tribosweep.sweep.analyses.fragility.lognormal import Capacities, Fit, NoMaximumError, fit, rows_of
from tribosweep.sweep.analyses.fragility.request import CLOUD, INCREMENTAL, FragilityRequest
from tribosweep.sweep.analyses.fragility.result import Curve, Fragility, Points, limit_of
from tribosweep.sweep.analyses.fragility.rows import FragilityRows, read
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.event import Comparison, named_in

STRIPE = 4  # rows with the same intensity that make a stripe; else points are bins
MOST_BINS, FEWEST_IN_BIN = 16, 10
GRID = 101  # intensities at which a curve is tabulated
FEW_GROUPS = 10
MISFIT = 1e-3  # p-value below which a note says that the curve does not fit


def analyse(path: Path, request: FragilityRequest) -> Fragility:
    """Count the probabilities of an event in a run over an intensity, and fit lognormal curves.

    Raises:
        ConfigError: as `rows.read`; or the rows or the event do not allow the method.
    """
    rows = read(path, request.event, request.intensity, request.over, request.by, request.at)
    check_rows(request, rows)
    curves = [curve_of(rows, request, number) for number in range(len(rows.labels))]
    return Fragility(request, rows, curves, notes_on(rows, request, curves))


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
    """Probabilities in bins, of the rows that are used and with those of which it is unknown whether the event happened, (n,) masks each.

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
                f"{where}the counted probabilities are far from the curve (chi-squared, p = {curve.misfit:.2g}): the event is not "
                f"lognormal over {rows.intensity.name}, so read the counted probabilities instead."
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
