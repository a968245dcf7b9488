"""A sensitivity analysis: from the rows of a run to tables of indices, uncertainties and derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analyses.sensitivity import indices
from tribosweep.sweep.analyses.sensitivity.request import PLANE, SIZES, SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import DERIVATIVES, INDICES, UNCERTAINTY, Line, Sensitivity, group_noun
from tribosweep.sweep.analyses.sensitivity.sample import Kept, Sample, chosen, method_of, parts_of, read_sample
from tribosweep.sweep.analyses.sensitivity.uncertainty import LEAST, chance, propagate
from tribosweep.sweep.design.sensitivity import Fast, Morris, Saltelli, Sampling, count_of, remarks_on
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.comparison import limit_in
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.event import Event, named_in, outcome_in, read_events, subject_of

FEWEST = 8  # smallest number of groups in estimates by sample size
METHODS = {"saltelli": "Sobol indices", "morris": "elementary effects", "fast": "extended FAST"}
RBD = "RBD-FAST"


def analyse(path: Path, config: Config, request: SensitivityRequest) -> Sensitivity:
    """Analyse the rows of a run.

    Args:
        path: directory of the run. config: its study. request: the requested results.

    Raises:
        ConfigError: the design does not sample, no group is left to analyse, or SALib is needed and missing.
    """
    quantities, events = check(config, request)
    known = by_name(config.model.observables)
    of_events = [known[name] for event in events for name in named_in(event)]
    return analyse_sample(read_sample(path, config, list(dict.fromkeys([*quantities, *of_events]))), quantities, events, request)


def check(config: Config, request: SensitivityRequest) -> tuple[list[Quantity], tuple[Event, ...]]:
    """The observables and the events of a request; ConfigError if a name is wrong, or the design has no indices or no such picture."""
    parts = parts_of(config)
    if request.picture is not None and (reason := why_not_drawn(request.picture, parts)):
        raise ConfigError("--picture", [Problem("", reason)])
    words = {quantity.name for quantity in config.model.observables if quantity.kind == "word"}
    above = [text if text.partition("=")[0].strip() in words else text.replace("=", ">", 1) for text in request.exceeds]
    events = (*read_events("--exceeds", above, config.model), *read_events("--chance", request.chances, config.model))
    point_of(config, request)
    known = by_name(config.model.observables)
    of_events = [name for event in events for name in named_in(event)]
    problems = [Problem("--chance", lacking) for name in of_events if (lacking := config.lacking(known[name]))]
    if problems:
        raise ConfigError("tribosweep sensitivity", problems)
    return chosen(config, [*request.observables, *(name for name in of_events if known[name].kind != "word")]), events


def why_not_drawn(picture: str, parts: Sequence[Sampling]) -> str:
    """Why a picture cannot be drawn of a sample, as far as its design tells; empty if it can."""
    design = parts[0]
    if picture == PLANE and not isinstance(design, Morris):
        return f"plane shows elementary effects: it needs design morris, not {method_of(design)}"
    if picture == SIZES and isinstance(design, Fast):
        return "sizes has none of design fast, whose indices are of whole curves"
    if picture == SIZES and len(parts) > 1:
        return "sizes has none of replicates"
    least, there = fewest_of(method_of(design)), count_of(design)
    if picture == SIZES and there < least:
        return f"sizes needs a count of {least} at least, and the study has {there}"
    return ""


def fewest_of(method: str) -> int:
    """The smallest number of groups in estimates by sample size."""
    return FEWEST if method in METHODS else 8 * FEWEST


def point_of(config: Config, request: SensitivityRequest) -> dict[str, float]:
    """The parameters of the point of elasticities that are given; their numbers may have a unit."""
    units = {q.name: q.unit for q in config.model.parameters}
    found, problems = {}, []
    for text in request.at:
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            found[name] = limit_in(value, units.get(name, ""))
        except ValueError as error:
            problems.append(Problem("", f"{text!r} must be NAME=NUMBER, such as mu=0.2: {error}"))
    if problems:
        raise ConfigError("--at", problems)
    return found


def analyse_sample(sample: Sample, quantities: Sequence[Quantity], events: tuple[Event, ...], request: SensitivityRequest) -> Sensitivity:
    """Analyse rows that have been read; see `analyse`."""
    notes = [sentence for part in sample.parts for sentence in remarks_on(part)]
    kept = {quantity.name: sample.kept(quantity.name, request.regime) for quantity in quantities}
    quantities = [q for q in quantities if len(kept[q.name].groups) or not only_in_events(q, events, request)]
    lines: dict[str, list[Line]] = {INDICES: [], UNCERTAINTY: [], DERIVATIVES: [], SIZES: []}
    for quantity in quantities:
        name = quantity.name
        explain(sample, quantity, kept[name], request, notes)
        if useful(sample, name, kept[name], notes):
            lines[INDICES] += indices_of(sample, name, kept[name].groups, request)
        lines[UNCERTAINTY] += uncertainty_of(sample, name, kept[name].total, request)
        if request.by_size:
            lines[SIZES] += by_size(sample, name, kept[name].groups, events, request)
    if request.derivatives:
        from tribosweep.sweep.analyses.sensitivity.derivatives import derivatives_of

        point = point_of(sample.config, request)
        lines[DERIVATIVES] = derivatives_of(sample, [q for q in quantities if q.kind == "float"], kept, point, request, notes)
    without = {}
    for event in events:
        lines[UNCERTAINTY] += chance_of(sample, event, len(sample.missing) // sample.group_size, request)
        good, unknown = sample.with_results(request.regime), outcome_in(event, sample.config.model, sample.values).unknown
        void = np.any([np.isnan(sample.values[name]) for name in named_in(event)], axis=0)
        without[str(event)] = int(np.count_nonzero(of_distribution(sample, good & void)))
        if count := int(np.count_nonzero(of_distribution(sample, good & unknown))):
            notes.append(
                f"Of {count:,} rows it is unknown whether {event} happened, since {named_in_words(sample, event, good & unknown)} could "
                "not be computed there. The probability leaves them out; its interval counts them as rows without and with "
                "the event."
            )
    if events and isinstance(sample.design, Morris | Fast):
        notes.append(f"The points of a {sample.method} design are no sample of the distributions: they have no probabilities.")
    return Sensitivity(sample, request, list(quantities), events, kept, lines, without, list(dict.fromkeys(notes)))


def only_in_events(quantity: Quantity, events: Sequence[Event], request: SensitivityRequest) -> bool:
    """Whether an observable is asked for in events only, and not by itself."""
    return quantity.name not in request.observables and any(quantity.name in named_in(event) for event in events)


def named_in_words(sample: Sample, event: Event, rows: np.ndarray) -> str:
    """The names of the observables of an event that have no value in some of the (N,) mask `rows`."""
    return ", ".join(name for name in named_in(event) if np.isnan(sample.values[name][rows]).any())


def of_distribution(sample: Sample, rows: np.ndarray) -> np.ndarray:
    """The entries of (N,) `rows` that sample the distributions, (groups, ...): of Saltelli's groups only the rows of A and B."""
    return rows.reshape(-1, sample.group_size)[:, [0, -1] if isinstance(sample.design, Saltelli) else [0]]


def chance_of(sample: Sample, event: Event, groups: int, request: SensitivityRequest) -> list[Line]:
    """The probability of an event from the first `groups` groups; empty for Morris and FAST designs and without any row.

    Every row with results counts. One in which the observable has no value is one in which the event did not happen, or if the value
    could not be computed (`Quantity.unknown`), one that the interval counts both ways.
    """
    if isinstance(sample.design, Morris | Fast):
        return []
    name, measure = subject_of(event)
    masks = (*outcome_in(event, sample.config.model, sample.values), sample.with_results(request.regime))
    rows, unknown, good = (of_distribution(sample, each)[:groups] for each in masks)
    each = per_replicate(sample, rows, good & ~unknown)
    if min(map(len, each)) == 0:
        return []
    method, found = "replicates" if len(each) > 1 else "points", chance(each, measure, request.confidence)
    if (good & unknown).any():
        least, most = (chance(per_replicate(sample, mask, good), measure, request.confidence) for mask in (rows, rows | unknown))
        found = replace(found, low=least.low, high=most.high)
    return [Line(name, method, sum(map(len, each)), found)]


def per_replicate(sample: Sample, rows: np.ndarray, good: np.ndarray) -> list[np.ndarray]:
    """The entries of `rows` where `good`, one array for each replicate."""
    length = len(rows) if len(sample.parts) == 1 else sample.design.count
    return [rows[first : first + length][good[first : first + length]] for first in range(0, len(rows), length)]


def explain(sample: Sample, quantity: Quantity, kept: Kept, request: SensitivityRequest, notes: list[str]) -> None:
    """Append notes on dropped groups and their consequences; ConfigError if none is left."""
    what = "curves" if isinstance(sample.design, Fast) else group_noun(sample)
    if not len(kept.groups):
        raise ConfigError(sample.config.name, [Problem("", nothing_left(sample, quantity, kept, request))])
    why = "it could not be computed there" if quantity.unknown else "it did not happen there"
    size = f", of {sample.group_size} rows each, because of one row or more in each" if sample.group_size > 1 else ""
    for count, reason in (
        (kept.missing, "are not computed yet: tribosweep resume computes them"),
        (kept.failed, f"failed and are dropped whole{size}: tribosweep show DIR --failed lists the rows"),
        (
            kept.void,
            f"have no {quantity.name} ({why}) and are dropped whole{size}; what is left is a part of the space",
        ),
        (kept.elsewhere, f"are not {request.regime} throughout and are dropped whole{size}"),
    ):
        if count:
            notes.append(f"{count:,} of {kept.total:,} {what} {reason}.")
    if kept.elsewhere:
        notes.append(
            f"Within {request.regime} the parameters are no longer independent of each other: "
            "the indices need not add up as those of independent parameters do."
        )


def nothing_left(sample: Sample, quantity: Quantity, kept: Kept, request: SensitivityRequest) -> str:
    """The reason why there is nothing to analyse."""
    what = "curves" if isinstance(sample.design, Fast) else group_noun(sample)
    if sample.failed.all():
        return f"all {len(sample.failed):,} rows failed: there is nothing to analyse; tribosweep show DIR --failed says why"
    reasons = [
        f"{count:,} {reason}"
        for count, reason in (
            (kept.missing, "are not computed"),
            (kept.failed, "have a row that failed"),
            (kept.void, f"have a row without {quantity.name}"),
            (kept.elsewhere, f"have a row that is not {request.regime}"),
        )
        if count
    ]
    return f"none of {kept.total:,} {what} is left to analyse: {', '.join(reasons)}"


def useful(sample: Sample, name: str, kept: Kept, notes: list[str]) -> bool:
    """Whether indices are defined. If none or only some of them are, the reason is added to `notes`."""
    values = sample.grouped(name)[kept.groups]
    least, most = float(values.min()), float(values.max())
    if most - least <= 4.0 * np.finfo(float).eps * max(abs(least), abs(most)):
        notes.append(f"{name} is {values.flat[0]:.7g} at all points: it is constant, and its indices are undefined.")
        return False
    if len(kept.groups) < LEAST and not isinstance(sample.design, Fast):
        notes.append(f"{len(kept.groups)} is too small a number of {group_noun(sample)} for indices: at least {LEAST} are needed.")
        return False
    if sample.method not in METHODS and len(kept.groups) < indices.LEAST_RBD:
        notes.append(f"{len(kept.groups)} points are too few for {RBD}: at least {indices.LEAST_RBD} are needed.")
        return False
    if sample.method not in METHODS and (few := of_few_values(sample)):
        notes.append(
            f"{', '.join(few)}: an effect in few steps has harmonics beyond the {indices.RBD_HARMONICS} of {RBD}, so that the index is too "
            "small, by 4 % for two values; its interval does not show that."
        )
    if isinstance(sample.design, Saltelli) and sample.design.second_order and len(kept.groups) < indices.LEAST_SECOND:
        notes.append(
            f"{len(kept.groups)} groups are too few for second-order indices, which need {indices.LEAST_SECOND} at least: "
            "they are left out."
        )
    if not sample.independent:
        notes.append("The parameters are correlated: a first-order index also holds what the correlated parameters explain.")
    return True


def of_few_values(sample: Sample) -> list[str]:
    """The parameters with fewer values than two for each harmonic of RBD-FAST, such as a list that is crossed with draws."""
    columns = zip(sample.names, sample.coordinates().T, strict=True)
    return [name for name, column in columns if len(np.unique(column)) < 2 * indices.RBD_HARMONICS]


def indices_of(sample: Sample, name: str, groups: np.ndarray, request: SensitivityRequest) -> list[Line]:
    """Compute the indices of an observable from some of the groups."""
    design, names = sample.design, sample.names
    settings = (request.resamples, request.confidence, request.seed)
    rows = sample.grouped(name)
    method = METHODS.get(sample.method, RBD)
    if isinstance(design, Saltelli):
        found = indices.sobol(names, rows[groups], design.second_order, *settings)
    elif isinstance(design, Morris):
        cube = sample.coordinates().reshape(-1, design.group_size, len(names))[groups].reshape(-1, len(names))
        found = indices.morris(names, cube, rows[groups].reshape(-1), design.levels, *settings)
    elif isinstance(design, Fast):
        curves = np.full_like(rows, np.nan)
        curves[groups] = rows[groups]
        return [Line(name, method, design.samples, each) for each in indices.fast(names, curves, design.harmonics)]
    else:
        found = indices.rbd_fast(names, sample.coordinates()[groups], rows[groups, 0], *settings)
    return [Line(name, method, len(groups), each) for each in found]


def uncertainty_of(sample: Sample, name: str, groups: int, request: SensitivityRequest) -> list[Line]:
    """Mean, spread and quantiles of an observable, from the first `groups` groups; empty for Morris and FAST designs.

    Each row counts by itself here, even if another row of its group failed. Of Saltelli's groups only the rows of A and B count, because
    the others repeat their coordinates. The points of Morris and FAST designs are no sample of the distributions.
    """
    if isinstance(sample.design, Morris | Fast):
        return []
    rows, good = (of_distribution(sample, each)[:groups] for each in (sample.values[name], sample.usable(name, request.regime)))
    values = per_replicate(sample, rows, good)
    if min(map(len, values)) < LEAST:
        return []
    method = "replicates" if len(values) > 1 else "points"
    found = propagate(values, request.quantiles, request.confidence)
    return [Line(name, method, sum(map(len, values)), each) for each in found]


def by_size(sample: Sample, name: str, groups: np.ndarray, events: Sequence[Event], request: SensitivityRequest) -> list[Line]:
    """Indices and uncertainties from the first half, quarter ... of the groups and from all of them, in ascending order of size."""
    if isinstance(sample.design, Fast) or len(sample.parts) > 1:
        return []  # FAST analyses whole curves, and replicates follow each other in the rows
    least = fewest_of(sample.method)
    sizes = [len(groups) >> halvings for halvings in range(64) if len(groups) >> halvings >= least][::-1]
    found: list[Line] = []
    for size in sizes:
        first = groups[:size]
        if np.ptp(sample.grouped(name)[first]) > 0.0:
            found += indices_of(sample, name, first, request)
        found += uncertainty_of(sample, name, int(first[-1]) + 1, request)
        for event in events:
            found += chance_of(sample, event, int(first[-1]) + 1, request) if subject_of(event)[0] == name else []
    return found
