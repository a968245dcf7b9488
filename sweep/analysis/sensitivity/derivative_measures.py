"""Derivative-based measures of a run: its points again, each with its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernels.quantity import Quantity
from kernels.status import RESULTS
from sweep.analysis.sensitivity.derivatives import dgsm, differentiate, elasticities, factors, smooth_axes
from sweep.analysis.sensitivity.results import Line, SensitivityRequest
from sweep.analysis.sensitivity.sample import Kept, Sample
from sweep.design.sampling import points_at
from sweep.design.sensitivity import Fast, Morris, Saltelli
from sweep.io.errors import ConfigError, Problem

METHOD, POINT_METHOD = "exact derivatives", "derivatives at one point"


def derivatives_of(
    sample: Sample, quantities: Sequence[Quantity], kept: Mapping[str, Kept], request: SensitivityRequest, notes: list[str]
) -> list[Line]:
    """DGSM with the bounds of total indices, from the first points of a sample, and elasticities at the medians of the parameters.

    Raises:
        ConfigError: no parameter has a derivative, or they are correlated, or the point of elasticities has no results.
    """
    config, axes = sample.config, smooth_axes(sample.config, sample.design.axes)
    if not axes or not quantities:
        message = "derivatives need a parameter with a range or a continuous distribution, and an observable that is no count"
        raise ConfigError(config.source, [Problem("--derivatives", message)])
    names = [quantity.name for quantity in quantities]
    lines: list[Line] = []
    if isinstance(sample.design, Morris | Fast):
        notes.append(f"DGSM needs a sample of the distributions, which the points of a {sample.method} design are not: it is left out.")
    elif not sample.independent:
        notes.append("DGSM bounds the indices of independent parameters, and these are correlated: it is left out.")
    else:
        for name in names:
            lines += measures(sample, names, name, kept[name], request, notes)
    point = elasticities(config, sample.design.axes, names, request.at)
    return lines + [Line(name, POINT_METHOD, 1, each) for name in names for each in point[name]]


def measures(sample: Sample, names: Sequence[str], name: str, kept: Kept, request: SensitivityRequest, notes: list[str]) -> list[Line]:
    """DGSM and bounds of one of the observables `names`, which one program computes."""
    step = sample.group_size if isinstance(sample.design, Saltelli) else 1  # the rows of A
    groups = kept.groups[: request.derivatives]
    rows = groups * step
    coordinates = coordinates_of(sample, rows)
    axes = smooth_axes(sample.config, sample.design.axes)
    points = points_at(sample.design.axes, list(np.ascontiguousarray(coordinates.T)), 0, len(rows))
    numbers = factors(sample.design.axes, axes, coordinates)
    found = differentiate(sample.config, axes, points, numbers, names)
    good = np.isin(found["status"], RESULTS) & np.isfinite(found[name])
    for axis in axes:
        good &= np.isfinite(found[name, axis.name])
    if not good.all():
        notes.append(f"{np.count_nonzero(~good):,} of {len(rows):,} points have no derivative of {name} and are left out.")
    values = found[name][good]
    if len(values) < 2 or np.ptp(values) == 0.0:
        return []
    slopes = {axis.name: found[name, axis.name][good] for axis in axes}
    numbers = {key: each[good] for key, each in numbers.items()}
    estimates = dgsm(axes, numbers, values, slopes, request.resamples, request.level, request.seed)
    return [Line(name, METHOD, len(values), each) for each in estimates]


def coordinates_of(sample: Sample, rows: np.ndarray) -> np.ndarray:
    """(n, d) places in the unit cube of some of the points."""
    found = []
    before = 0
    for part in sample.parts:
        own = rows[(rows >= before) & (rows < before + part.count)] - before
        if own.size:
            first, last = int(own[0]), int(own[-1]) + 1
            found.append(np.stack(part.coordinates(first, last), axis=1)[own - first])
        before += part.count
    return np.concatenate(found)
