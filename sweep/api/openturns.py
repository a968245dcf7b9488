"""Rows of a run as OpenTURNS samples, and the distribution of the parameters of a design that samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.axis import SCHEME, Axis, Continuous
from tribosweep.sweep.design.copula import matrix_of
from tribosweep.sweep.design.distributions import LOG_NORMAL, NORMAL, TRIANGULAR, TRUNCATED, Drawn, Scaled, Weighted, log_normal_scale
from tribosweep.sweep.design.posterior import Posterior
from tribosweep.sweep.design.sampling import Sampled
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.results.frames import library
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

NAME, POINT, STATUS = "to_openturns", "point", "status"
FACTOR = "factor of {name}"  # how the input is called that multiplies a table


@dataclass(frozen=True, slots=True, repr=False)
class OpenTurnsSamples:
    """Rows of a run for OpenTURNS: what its algorithms of metamodels, sensitivity and reliability take.

    Attributes:
        inputs: `openturns.Sample` of n rows and one component for each parameter, in SI units; its description has names and units:
            "a0 [m/s^2]".
        outputs: `openturns.Sample` of n rows and one component for each observable.
        points: (n,) numbers of the points of these rows: rows that failed, or in which an output has no value, are left out.
        left_out: their number.
    """

    inputs: Any
    outputs: Any
    points: np.ndarray
    left_out: int
    config: Config = field(repr=False)
    names: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        """One line: inputs, outputs, rows."""
        left = f", {self.left_out:,} rows left out" if self.left_out else ""
        lists = (", ".join(sample.getDescription()) for sample in (self.inputs, self.outputs))
        return f"<OpenTURNS samples: {len(self.points):,} rows of {' -> '.join(lists)}{left}>"

    @property
    def distribution(self) -> Any:
        """The distribution of the inputs, an `openturns.JointDistribution` of the laws of the study and its Gaussian copula.

        Ranges are Uniform or LogUniform, "normal" is Normal, "truncated_normal" TruncatedNormal or, with one bound, TruncatedDistribution,
        "log_normal" LogNormal, "triangular" Triangular; whole numbers, lists and weighted choices are
        FiniteDiscreteDistribution. Draws of a posterior are one FiniteDiscreteDistribution of whole rows, so that it is a
        BlockIndependentDistribution.

        Raises:
            ConfigError: the design does not draw its points (a grid, points side by side, a table, several designs).
        """
        return distribution_of(self.config, self.names)


def to_openturns(table: pa.Table, config: Config, inputs: Sequence[str] | None, outputs: Sequence[str] | None) -> OpenTurnsSamples:
    """The rows of a study, `point` and `status` among their columns; see `Run.to_openturns`."""
    openturns = library("openturns")
    known = by_name(config.model.parameters)
    parameters = [known[name] for name in table.column_names if name in known]
    observables = [q for q in config.returns if q.name in table.column_names]
    axes = {axis.name: axis for axis in config.design.axes}
    ins = chosen(inputs, parameters, "inputs", lambda q: q.name in config.swept and has_number(q, axes.get(q.name)))
    outs = chosen(outputs, observables, "outputs", lambda q: q.kind != "list" and not (q.optional and table.column(q.name).null_count))
    left = [numbers_in(table, q, axes.get(q.name)) for q in ins]
    right = [numbers_in(table, q, None) for q in outs]
    with_results = np.isin(np.asarray(table.column(STATUS).to_pylist(), dtype=object), [status.sentence for status in RESULTS])
    kept = with_results & np.isfinite(np.stack([*left, *right], axis=1)).all(axis=1)
    if not kept.any():
        raise ConfigError(NAME, [Problem("", "no row has values of all these inputs and outputs")])
    samples = [openturns.Sample(np.stack(columns, axis=1)[kept]) for columns in (left, right)]
    for sample, quantities in zip(samples, (ins, outs), strict=True):
        sample.setDescription([described(q, axes.get(q.name)) for q in quantities])
    points = np.asarray(table.column(POINT).to_numpy())[kept]
    return OpenTurnsSamples(samples[0], samples[1], points, int((~kept).sum()), config, tuple(q.name for q in ins))


def has_number(quantity: Quantity, axis: Axis | None) -> bool:
    """Whether a parameter has one number in each row, or is a table times a factor."""
    return quantity.kind != "list" or isinstance(axis, Scaled)


def chosen(names: Sequence[str] | None, there: list[Quantity], argument: str, default: Callable[[Quantity], bool]) -> list[Quantity]:
    """The quantities of some names, by default those that a function accepts; ConfigError if one is unknown or a list, or there is none."""
    known = {q.name: q for q in there}
    if names is not None and (unknown := [name for name in names if name not in known]):
        problems = [Problem(argument, f"the run has no column {name!r} of this kind; {advise(name, known)}") for name in unknown]
        raise ConfigError(NAME, problems)
    found = [q for q in there if default(q)] if names is None else [known[name] for name in names]
    if not found:
        raise ConfigError(NAME, [Problem(argument, "there is none: the run varies no number" if names is None else "name at least one")])
    return found


def numbers_in(table: pa.Table, quantity: Quantity, axis: Axis | None) -> np.ndarray:
    """(n,) numbers of a column, of words their codes, of a table times a factor that factor; NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(quantity.name)
    if quantity.kind == "word":
        column = pc.index_in(column.cast(pa.string()), pa.array(quantity.words))
    elif quantity.kind == "list":
        if not isinstance(axis, Scaled):
            message = f"{quantity.name} has a list in every row, and a component of a sample has one number"
            raise ConfigError(NAME, [Problem("", message)])
        node = int(np.flatnonzero(axis.values[0])[0])
        column = pc.divide(pc.list_element(column, node), axis.table[node])
    values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    default = quantity.default
    return np.where(np.isnan(values), default, values) if isinstance(default, int | float) and axis is not None else values


def described(quantity: Quantity, axis: Axis | None) -> str:
    """Name and unit of a component, with the words of codes."""
    name = FACTOR.format(name=quantity.name) if isinstance(axis, Scaled) else quantity.name
    if quantity.kind == "word":
        return f"{name} [{', '.join(f'{code} = {word}' for code, word in enumerate(quantity.words))}]"
    return name if isinstance(axis, Scaled) or quantity.unit in ("", "1") else f"{name} [{quantity.unit}]"


def distribution_of(config: Config, names: Sequence[str]) -> Any:
    """The joint distribution of some parameters of a design that samples; see `OpenTurnsSamples.distribution`."""
    openturns = library("openturns")
    design = config.design
    if not isinstance(design, Sampled):
        message = "only a design that draws its points between ends or from distributions (sobol, latin_hypercube ...) has a distribution"
        raise ConfigError(NAME, [Problem("distribution", message)])
    axes = {axis.name: axis for axis in design.axes}
    if wrong := [name for name in names if name not in axes or name == SCHEME]:
        raise ConfigError(NAME, [Problem("distribution", f"{wrong[0]} is set for all rows and not drawn: leave it out of the inputs")])
    if isinstance(design, Posterior):
        found = of_draws(openturns, design, names)
        found.setDescription([described(config.model.parameter(name), axes[name]) for name in names])
        return found
    marginals = [marginal(openturns, axes[name]) for name in names]
    correlations = tuple(each for each in getattr(design, "correlations", ()) if each[0] in names and each[1] in names)
    copula = openturns.NormalCopula(openturns.CorrelationMatrix(matrix_of(list(names), correlations).tolist()))
    found = openturns.JointDistribution(marginals, copula if correlations else openturns.IndependentCopula(len(names)))
    found.setDescription([described(config.model.parameter(name), axes[name]) for name in names])
    return found


def of_draws(openturns: Any, design: Posterior, names: Sequence[str]) -> Any:
    """The distribution of draws from a file, each row of which is equally likely, and of the other axes, which do not depend on them."""
    drawn = [axis for axis in design.drawn if axis.name in names]
    others = [axis for axis in (*design.crossed, *design.random) if axis.name in names]
    rows = [openturns.FiniteDiscreteDistribution(openturns.Sample(np.stack([axis.values for axis in drawn], axis=1)))] if drawn else []
    together = openturns.BlockIndependentDistribution([*rows, *(marginal(openturns, axis) for axis in others)])
    there = [axis.name for axis in (*drawn, *others)]
    return together.getMarginal([there.index(name) for name in names])


def marginal(openturns: Any, axis: Axis) -> Any:
    """The distribution of OpenTURNS that an axis has."""
    axis = axis.factor if isinstance(axis, Scaled) else axis
    if isinstance(axis, Continuous):
        ends = sorted((axis.start, axis.stop))
        if not axis.logarithmic:
            return openturns.Uniform(*ends)
        sizes = sorted(abs(end) for end in ends)
        found = openturns.LogUniform(*np.log(sizes).tolist())
        return found if ends[0] > 0.0 else found * -1.0
    if isinstance(axis, Drawn):
        return of_law(openturns, axis.law, dict(axis.numbers))
    if isinstance(axis, Weighted):
        weights = np.asarray(axis.weights) / np.sum(axis.weights)
        return openturns.FiniteDiscreteDistribution(openturns.Sample(axis.values[:, np.newaxis]), weights.tolist())
    values = np.asarray(axis.at(np.arange(axis.count)), dtype=np.float64)  # type: ignore[attr-defined]  # a Counted axis
    return openturns.FiniteDiscreteDistribution(openturns.Sample(values[:, np.newaxis]))


def of_law(openturns: Any, law: str, at: dict[str, float]) -> Any:
    """The distribution of OpenTURNS with the numbers of a law of `tribosweep.sweep.design.distributions`."""
    if law == NORMAL:
        return openturns.Normal(at["mean"], at["std"])
    if law == LOG_NORMAL:
        median, spread = log_normal_scale(at["mean"], at["std"])
        return openturns.LogNormal(float(np.log(median)), spread, 0.0)
    if law == TRIANGULAR:
        return openturns.Triangular(at["from"], at["mode"], at["to"])
    if law != TRUNCATED:
        raise ConfigError(NAME, [Problem("distribution", f"{law!r} is no distribution of OpenTURNS that is known here")])
    if {"lower", "upper"} <= at.keys():
        return openturns.TruncatedNormal(at["mean"], at["std"], at["lower"], at["upper"])
    whole = openturns.Normal(at["mean"], at["std"])
    if "lower" in at:
        return openturns.TruncatedDistribution(whole, at["lower"], openturns.TruncatedDistribution.LOWER)
    return openturns.TruncatedDistribution(whole, at["upper"], openturns.TruncatedDistribution.UPPER)
