"""Measures from the exact derivatives of the engine: DGSM with bounds of total indices, and elasticities at a point.

The engine computes derivatives with every value (`tribosweep.simulate` in forward mode); no finite differences are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.batch.solve import check
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import RESULTS, SENTENCES, Status
from tribosweep.sweep.analyses.sensitivity.estimates import Estimate, around, factor_of, means, resampled
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import Line
from tribosweep.sweep.analyses.sensitivity.sample import Kept, Sample
from tribosweep.sweep.analysis.derivative_blocks import compiled, in_blocks
from tribosweep.sweep.design.axis import RECORD, SCHEME, Axis, Continuous
from tribosweep.sweep.design.distributions import LOG_NORMAL, NORMAL, TRUNCATED, Drawn, Scaled, log_normal_scale
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.design.sampling import points_at
from tribosweep.sweep.design.sensitivity import Fast, Morris, Saltelli
from tribosweep.sweep.execution.record_bank import choice, numbers_of, rows_without_draw
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.excitation import kernel_model

METHOD, POINT_METHOD = "exact derivatives", "derivatives at one point"

WIDTH = 32  # lanes of a block


def smooth_axes(config: Config, axes: Sequence[Axis]) -> list[Axis]:
    """The axes along which derivatives exist: those with a range or a continuous distribution."""
    kinds = {quantity.name: quantity.kind for quantity in config.model.parameters}
    return [axis for axis in axes if isinstance(axis, Scaled) or (isinstance(axis, Continuous | Drawn) and kinds[axis.name] == "float")]


def poincare(axis: Axis) -> tuple[bool, float]:
    """Whether an axis is differentiated by its logarithm, and its Poincare constant: Var f <= constant times the mean square derivative.

    It is width^2 / pi^2 for a uniform and the variance for a normal distribution. It is at most width^2 / pi^2 for log-concave densities on
    an interval, such as a triangular or truncated normal one, and at most the normal variance for the latter. Sources: L. E. Payne and
    H. F. Weinberger, Archive for Rational Mechanics and Analysis 5 (1960), 286-292; O. Roustant, F. Barthe and B. Iooss, Electronic
    Journal of Statistics 11 (2017), 3081-3119.
    """
    drawn = axis.factor if isinstance(axis, Scaled) else axis
    if isinstance(drawn, Continuous):
        width = math.log(drawn.stop / drawn.start) if drawn.logarithmic else drawn.stop - drawn.start
        return drawn.logarithmic, (width / math.pi) ** 2
    if not isinstance(drawn, Drawn):
        raise TypeError(f"{axis.name} is not drawn from a continuous distribution")
    at = dict(drawn.numbers)
    if drawn.law == NORMAL:
        return False, at["std"] ** 2
    if drawn.law == LOG_NORMAL:
        return True, log_normal_scale(at["mean"], at["std"])[1] ** 2
    if drawn.law == TRUNCATED:
        width = at.get("upper", math.inf) - at.get("lower", -math.inf)
        return False, min(at["std"] ** 2, (width / math.pi) ** 2)
    return False, ((at["to"] - at["from"]) / math.pi) ** 2


def factors(axes: Sequence[Axis], smooth: Sequence[Axis], coordinates: np.ndarray) -> dict[str, np.ndarray]:
    """The (n,) numbers drawn along every smooth axis; for a table this is its random factor.

    Args:
        axes: the d axes of the design. smooth: its smooth axes. coordinates: (n, d) of points in the unit cube.
    """
    return {
        axis.name: (axis.factor if isinstance(axis, Scaled) else axis).at(coordinates[:, place])
        for place, axis in enumerate(axes)
        if axis in smooth
    }


def differentiate(
    config: Config, smooth: Sequence[Axis], points: Points, drawn: Mapping[str, np.ndarray], observables: Sequence[str]
) -> dict[Any, np.ndarray]:
    """Compute observables and their derivatives along the smooth axes.

    Args:
        config: the study. smooth: its smooth axes.
        points: n of its points. drawn: for each smooth axis the (n,) drawn numbers of these points.
        observables: names of float observables.

    Returns:
        "status": (n,) codes; observable -> (n,) values; (observable, axis) -> (n,) derivatives, in the observable's unit over the axis's.

    Raises:
        ConfigError: some points lack a parameter, or there are several schemes.
    """
    if points.schemes is not None or any(mask.any() for mask in points.absent.values()):
        message = f'derivatives need one {SCHEME} for all points, and no value "default" among them'
        raise ConfigError(config.source, [Problem("sweep.axes", message)])
    tables = {axis.name: axis.table for axis in smooth if isinstance(axis, Scaled)}
    excitation, selects = config.excitation, () if config.excitation is None else (choice(config.excitation)[0],)
    others = {name: values for name, values in points.columns.items() if name not in (*drawn, *selects)}
    shared = None
    if excitation is not None:
        numbers = np.broadcast_to(numbers_of(config, excitation, points), (points.count,))

        def shared(rows: np.ndarray) -> tuple[dict[str, np.ndarray], tuple[Any, ...]]:
            positions, bank = excitation.take(numbers[rows], WIDTH)
            return {RECORD: positions}, (bank,)

    key = (config.digest, tuple(observables), tuple(drawn))
    first = key not in PROGRAMS
    if first:
        PROGRAMS[key] = program_of(config, tables, tuple(observables))
    found = in_blocks(PROGRAMS[key], drawn, others, points.count, WIDTH, shared, "rows with derivatives" if first else "")
    missed = rows_without_draw(config, points)
    return {name: np.where(missed, np.nan, values) if name != "status" else values for name, values in found.items()}


PROGRAMS: dict[Any, Any] = {}  # the compiled programs, by study, observables and axes


def program_of(config: Config, tables: Mapping[str, tuple[float, ...]], observables: tuple[str, ...]) -> Any:
    """The compiled program that differentiates blocks of points; `tables` are multiplied by a random factor."""
    from tribosweep.kernels import simulate
    from tribosweep.kernels.excitation.record import Records

    excitation = config.excitation
    model = config.model if excitation is None else kernel_model(config.model)
    fixed = {name: value for name, value in config.fixed.items() if excitation is None or name != choice(excitation)[0]}

    def place(drawn: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
        scaled = {name: each * np.asarray(tables[name]) if name in tables else each for name, each in drawn.items()}
        return {**fixed, **others, **scaled}

    def run(parameters: dict[str, Any], bank: Any = None) -> dict[str, Any]:
        records: dict[str, Any] = {} if excitation is None else {"records": Records(bank, excitation.interval)}
        chosen = model if model.structure is not None else model.name
        return simulate(chosen, parameters, config.scheme, config.window, **config.asked.keywords, **records)

    return compiled(run, place, observables, ())


def dgsm(
    axes: Sequence[Axis], drawn: Mapping[str, np.ndarray], values: np.ndarray, slopes: Mapping[str, np.ndarray], resamples: int,
    level: float, seed: int,
) -> list[Estimate]:  # fmt: skip
    """Compute derivative-based measures (DGSM) and the upper bounds of total indices that follow from them.

    D is d f / d x, or x d f / d x along an axis that is differentiated by its logarithm. "dgsm" is the mean of D^2. "ST_bound" is that mean
    times the Poincare constant, over the variance of f. Source: I. M. Sobol and S. Kucherenko, Mathematics and Computers in Simulation 79
    (2009), 3009-3017, and `poincare`.

    Args:
        axes: the smooth axes. drawn: axis -> (n,) drawn numbers.
        values: (n,) values of an observable. slopes: axis -> (n,) derivatives of the observable.
        resamples, level, seed: number of bootstrap samples, level of the intervals, seed of the bootstrap.
    """
    scale = float(values.std())
    centred = (values - values.mean()) / scale
    constants = [poincare(axis) for axis in axes]
    squares = [
        (slopes[axis.name] * (drawn[axis.name] if logarithmic else 1.0) / scale) ** 2
        for axis, (logarithmic, _) in zip(axes, constants, strict=True)
    ]
    plain, again = means([centred, centred**2, *squares], resampled(len(values), resamples, seed))
    found, z = [], factor_of(level)
    for place, (axis, (_, constant)) in enumerate(zip(axes, constants, strict=True)):
        mean, spread = plain[2 + place], z * again[:, 2 + place].std(ddof=1)
        found.append(around("dgsm", mean * scale**2, spread * scale**2, axis.name))
        ratio = again[:, 2 + place] / (again[:, 1] - again[:, 0] ** 2)
        found.append(around("ST_bound", constant * mean / plain[1], constant * z * ratio.std(ddof=1), axis.name))
    return found


def elasticities(config: Config, design: Sequence[Axis], observables: Sequence[str], at: Mapping[str, float]) -> dict[str, list[Estimate]]:
    """Compute derivatives and elasticities (x / f) d f / d x at one point, for each observable.

    Args:
        config: the study. design: the axes of its design. observables: names of float observables.
        at: axis -> its value (or factor) at the point; default: its median.

    Raises:
        ConfigError: `at` names an axis that is not smooth, or the point has no results.
    """
    axes = smooth_axes(config, design)
    names = [axis.name for axis in axes]
    for name in at:
        if name not in names:
            raise ConfigError(
                "--at", [Problem("", f"{name!r} is no axis with a range or a continuous distribution; {advise(name, names)}")]
            )
    middle = np.full((1, len(design)), 0.5)
    points = points_at(tuple(design), list(middle.T), 0, 1)
    numbers = {**factors(design, axes, middle), **{name: np.array([value]) for name, value in at.items()}}
    tables = {axis.name: np.multiply.outer(numbers[axis.name], np.array(axis.table)) for axis in axes if isinstance(axis, Scaled)}
    columns = {**config.fixed, **points.columns, **numbers, **tables}
    code = int(check(config.model, config.scheme, config.model.resolve(columns), columns, {}, 1)[0])
    found = differentiate(config, axes, points, numbers, observables) if code == Status.OK else {}
    if found:
        code = int(found["status"][0])
    if code not in RESULTS:
        place = ", ".join(f"{name} = {each[0]:g}" for name, each in numbers.items())
        raise ConfigError("--at", [Problem("", f"the run at {place} has no results: {SENTENCES[code]}")])
    results: dict[str, list[Estimate]] = {}
    for observable in observables:
        value = float(found[observable][0])
        slopes = {name: float(found[observable, name][0]) for name in names}
        results[observable] = [
            *(Estimate("derivative", slopes[name], parameter=name) for name in names),
            *(
                Estimate("elasticity", slopes[name] * float(numbers[name][0]) / value if value else math.nan, parameter=name)
                for name in names
            ),
        ]
    return results


def derivatives_of(
    sample: Sample, quantities: Sequence[Quantity], kept: Mapping[str, Kept], at: Mapping[str, float], request: SensitivityRequest,
    notes: list[str],
) -> list[Line]:  # fmt: skip
    """Compute DGSM and bounds of total indices from the first points of a sample, and elasticities at the values `at`, else medians.

    Raises:
        ConfigError: no parameter has a derivative, the parameters are correlated, or the point of elasticities has no results.
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
    point = elasticities(config, sample.design.axes, names, at)
    return lines + [Line(name, POINT_METHOD, 1, each) for name in names for each in point[name]]


def measures(sample: Sample, names: Sequence[str], name: str, kept: Kept, request: SensitivityRequest, notes: list[str]) -> list[Line]:
    """Compute DGSM and bounds of one observable; one program computes all the observables `names`."""
    step = sample.group_size if isinstance(sample.design, Saltelli) else 1  # only the rows of A
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
    estimates = dgsm(axes, numbers, values, slopes, request.resamples, request.confidence, request.seed)
    return [Line(name, METHOD, len(values), each) for each in estimates]


def coordinates_of(sample: Sample, rows: np.ndarray) -> np.ndarray:
    """(n, d) coordinates of some of the points in the unit cube."""
    found = []
    before = 0
    for part in sample.parts:
        own = rows[(rows >= before) & (rows < before + part.count)] - before
        if own.size:
            first, last = int(own[0]), int(own[-1]) + 1
            found.append(np.stack(part.coordinates(first, last), axis=1)[own - first])
        before += part.count
    return np.concatenate(found)
