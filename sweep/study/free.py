"""Free parameters, which a calibration, an optimisation or a study of branches varies: their bounds, scale, start and prior."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import Field, WithJsonSchema

from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import Continuous
from tribosweep.sweep.design.distributions import LOG_NORMAL, LOG_UNIFORM, NORMAL, TRUNCATED, UNIFORM, Drawn, log_normal_scale
from tribosweep.sweep.design.priors import PRIORS, Sampled, from_bounds
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.values import read_number
from tribosweep.sweep.study import structures
from tribosweep.sweep.study.axis_distributions import read_law
from tribosweep.sweep.study.document import belongs, read_document
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.schema import PARTS, TIME_KEYS
from tribosweep.sweep.study.value_types import UNIT, Filled, Form, Given, OneOf, TableSchema

SCALES = ("log", "linear")
FREE_MISSING = "missing: parameters with their bounds, such as k_n = { from = 0.1, to = 10.0 }"
MOST_FREE, MOST_STARTS = 100, 10_000
QUANTILES = 4096  # of a prior, from which its mean and standard deviation on another scale follow
LEAST_MASS = 1e-6  # a prior that leaves the bounds a smaller probability contradicts them
NODE = re.compile(r"(\w++)\[([0-9]{1,9})\]")
OF_PRIOR = {
    "type": "object",
    "properties": {
        "distribution": {"type": "string", "enum": list(PRIORS)},
        **{key: {UNIT: ""} for key in ("mean", "std", "lower", "upper", "from", "mode", "to")},
    },
    "additionalProperties": False,
}
GivenPrior = Annotated[Any, WithJsonSchema(OF_PRIOR)]  # a table whose keys depend on its distribution and its unit on the parameter


class Bounds(TableSchema):
    """A parameter that changes between two bounds."""

    lower: Given = Field(alias="from", description="lower bound")
    upper: Given = Field(alias="to", description="upper bound")
    scale: Annotated[str, OneOf(SCALES)] | None = Field(
        default=None, description="log or linear; default log for stiffness, damping and forces, which are not negative"
    )


class Variable(Bounds):
    """A parameter that is chosen between two bounds."""

    start: Given = Field(default=None, description="where the first search starts; default the value of [parameters], else the middle")


class Fitted(Variable):
    """A parameter that is fitted between two bounds."""

    start: Given = Field(default=None, description="where the first fit starts; default the value of [parameters], else the middle")
    prior: GivenPrior = Field(
        default=None,
        description="what is known of it without these measurements: { mean, std }, or { distribution = ... }; default uniform on its "
        "scale",
    )


T = TypeVar("T", bound=Bounds)
FreeTables = Annotated[
    dict[str, Annotated[T, Form("must have bounds, { from = 0.1, to = 10.0 }")] | None],
    Filled(FREE_MISSING, MOST_FREE, "parameters"),
]


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior knowledge of a parameter.

    Attributes:
        law: name of its distribution, one of `design.priors.PRIORS`. numbers: its keys with their values, in the parameter's unit.
    """

    law: str
    numbers: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Free:
    """One free number.

    Attributes:
        name: name in the study: a parameter, or a node of a table such as "post_stiffness[0]".
        quantity: the parameter. node: index of the node of a table; None for other parameters.
        lower, upper: bounds, in its unit. logarithmic: whether its scale is logarithmic.
        start: value where the first fit or search begins.
        prior: its prior, or None.
    """

    name: str
    quantity: Quantity
    node: int | None
    lower: float
    upper: float
    logarithmic: bool
    start: float
    prior: Prior | None = None

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.quantity.unit

    @property
    def symbol(self) -> str:
        """Its symbol in pictures, in mathtext."""
        head = f"${self.quantity.symbol}$" if self.quantity.symbol else self.quantity.name.replace("_", " ").replace("$", r"\$")
        return head if self.node is None else f"{head} [{self.node}]"

    @property
    def sampled(self) -> Sampled:
        """The parameter with its prior, which without one of its own is uniform between the bounds, on its scale."""
        if self.prior is None:
            return from_bounds(self.name, self.unit, self.lower, self.upper, self.logarithmic, symbol=self.symbol)
        prior = self.prior
        return Sampled(
            self.name, self.unit, self.lower, self.upper, self.logarithmic, prior.law, prior.numbers, given=True, symbol=self.symbol
        )

    @property
    def known(self) -> tuple[float, float] | None:
        """Mean and standard deviation of the coordinate that the fit, which is least squares, takes from the prior.

        Those of a normal prior on a linear scale, and of a log-normal one on a logarithmic scale, are exact. Uniform priors give none.
        """
        if self.prior is None or self.prior.law in (UNIFORM, LOG_UNIFORM):
            return None
        at = dict(self.prior.numbers)
        if self.prior.law in (NORMAL, TRUNCATED) and not self.logarithmic:
            return at["mean"], at["std"]
        if self.prior.law == LOG_NORMAL and self.logarithmic:
            median, spread = log_normal_scale(at["mean"], at["std"])
            return math.log(median), spread
        values = self.sampled.quantile((np.arange(QUANTILES) + 0.5) / QUANTILES)
        coordinates = np.log(values) if self.logarithmic else values
        return float(coordinates.mean()), float(coordinates.std())


def model_of(study: dict[str, Any], names: Iterable[str], folder: Path) -> tuple[Model | None, dict[str, Any], dict[str, str]]:
    """The model of a study with free parameters of these names, or None if it cannot be determined.

    Returns also the study with all its parameters in [parameters], and the keys of those that stood with their support or load.
    """
    if not all(isinstance(study.get(key, {}), dict) for key in ("study", "parameters", "time", *PARTS)):
        return None, study, {}
    name = study.get("study", {}).get("model", next(iter(MODELS)))
    if name in structures.NAMES:
        return structure_of(study, names, folder)
    return MODELS.get(name) if isinstance(name, str) else None, study, {}


def structure_of(study: dict[str, Any], names: Iterable[str], folder: Path) -> tuple[Model | None, dict[str, Any], dict[str, str]]:
    """`model_of` for a study of a body or a structure; no model if its structure is wrong."""
    given, problems = study.get("parameters", {}), list[Problem]()
    modes = {name: 0.0 for name in names if structures.OF_A_MODE.fullmatch(name)}
    document = read_document({**study, "parameters": {**modes, **given}}, problems)
    read = structures.read(document, folder, problems)
    found, homes = structures.with_parameters(document, problems)
    if read.model is None or any(problem.path.split(".")[0] in ("structure", *PARTS) for problem in problems):
        return None, study, {}
    parameters = {key: value for key, value in found.items() if key in given or key not in modes}
    here = {*homes.values()}
    tables = {
        part: {
            name: {key: value for key, value in table.items() if f"{part}.{name}.{key}" not in here} for name, table in study[part].items()
        }
        for part in PARTS
        if part in study
    }
    return read.model, {**study, **tables, "parameters": parameters}, homes


def at_home(problems: list[Problem], homes: Mapping[str, str]) -> None:
    """Move the problems of parameters that stand in the table of their support or load to that key."""
    problems[:] = [Problem(homes.get(each.path.removeprefix("parameters."), each.path), each.message) for each in problems]


def read_free(
    tables: Mapping[str, Bounds | None], model: Model, parameters: Mapping[str, Any], problems: list[Problem], path: str
) -> list[Free]:
    """Read the free parameters; add problems if the model lacks one, its numbers are invalid, or there are none.

    Args:
        tables: what is free, by its name; None if its table is wrong. path: key of these tables.
        model: of the study. parameters: its [parameters]. problems: list to which problems are added.
    """
    if not tables and unsaid(path, problems):
        problems.append(Problem(path, FREE_MISSING))
    found = [read_one(name, table, model, parameters, problems, f"{path}.{name}") for name, table in tables.items()]
    return [free for free in found if free is not None]


def read_one(
    name: str, table: Bounds | None, model: Model, parameters: Mapping[str, Any], problems: list[Problem], path: str
) -> Free | None:  # fmt: skip
    """Read one free parameter, see `read_free`; None and problems if it is wrong."""
    known = by_name(model.parameters)
    node = None if name in known else NODE.fullmatch(name)
    head, place = (node[1], int(node[2])) if node else (name, None)
    quantity = known.get(head)
    if quantity is None or head in TIME_KEYS:
        message = f"{head} is a time of the run and cannot be found" if quantity else belongs(head, model)
    elif quantity.kind == "list" and place is None:
        message = f'a table is found node by node: "{name}[0]", "{name}[1]" ...'
    elif quantity.kind != "list" and place is not None:
        message = f"{head} is a number and has no nodes: {head}"
    elif quantity.kind not in ("float", "list"):
        message = f"{head} is no number that varies smoothly ({quantity.description}): it cannot be found"
    else:
        return None if table is None else read_numbers(name, quantity, place, table, parameters.get(head), problems, path)
    problems.append(Problem(path, message))
    return None


def read_numbers(
    name: str, quantity: Quantity, node: int | None, table: Bounds, given: Any, problems: list[Problem], path: str
) -> Free | None:
    """Read bounds, start and prior of a free parameter whose value in [parameters] is `given`; None and problems if they are wrong."""
    found: list[Problem] = []
    single = Quantity(
        quantity.name, quantity.unit, quantity.description, lower=quantity.lower, upper=quantity.upper, lower_open=quantity.lower_open,
        upper_open=quantity.upper_open,
    )  # fmt: skip
    at = start_of(table, given, node, path, name, found)
    lower, upper = (read_number(single, f"{path}.{key}", each, found) for key, each in (("from", table.lower), ("to", table.upper)))
    logarithmic = table.scale == "log" if table.scale is not None else quantity.lower >= 0.0 and quantity.unit.startswith("N")
    if lower is not None and upper is not None and not found:
        check_ends(path, lower, upper, logarithmic, quantity.unit, found)
    if found or lower is None or upper is None:
        problems += found
        return None
    prior = None
    if isinstance(table, Fitted) and table.prior is not None:
        prior = read_prior(table.prior, single, f"{path}.prior", logarithmic, (lower, upper), problems)
    middle = math.sqrt(lower * upper) if logarithmic else 0.5 * (lower + upper)
    where, value = at if at is not None else (path, middle)
    start = read_number(single, where, value, problems)
    if start is not None and not lower <= start <= upper:
        message = f"the start {start:g} is outside the bounds of {path}, from {lower:g} to {upper:g} (unit {quantity.unit})"
        problems.append(Problem(where, message))
    return None if start is None else Free(name, quantity, node, lower, upper, logarithmic, start, prior)


def start_of(table: Bounds, given: Any, node: int | None, path: str, head: str, found: list[Problem]) -> tuple[str, Any] | None:
    """The key and the value of the start of the parameter `head`: from `start`, else from [parameters]; None if neither gives one."""
    if node is not None:
        of = head.partition("[")[0]
        if not isinstance(given, list):
            found.append(Problem(path, f"[parameters] must give the table {of}, of which this is a node"))
            return None
        if node >= len(given):
            found.append(Problem(path, f"the table {of} of [parameters] has {len(given)} nodes, from {of}[0] on"))
            return None
        given = given[node]
    if isinstance(table, Variable) and table.start is not None:
        return f"{path}.start", table.start
    return None if given is None else (f"parameters.{head}", given)


def check_ends(path: str, lower: float, upper: float, logarithmic: bool, unit: str, found: list[Problem]) -> None:
    """Check that the bounds form a range on their scale."""
    if lower >= upper:
        found.append(Problem(path, f"from must be below to: from = {lower:g}, to = {upper:g} (unit {unit})"))
    elif logarithmic and lower <= 0.0:
        message = f'a logarithm needs positive bounds: from = {lower:g}, to = {upper:g} (unit {unit}); or scale = "linear"'
        found.append(Problem(path, message))


def read_prior(
    raw: Any, quantity: Quantity, path: str, logarithmic: bool, bounds: tuple[float, float], problems: list[Problem]
) -> Prior | None:
    """Read a prior; None and problems if it is wrong.

    Without the key `distribution` it is normal on a linear scale and log-normal on a logarithmic one.
    """
    if not isinstance(raw, dict):
        problems.append(
            Problem(path, f"must be {{ mean = 1.0, std = 0.1 }} in {quantity.unit}, or {{ distribution = ... }}, not {shorten(raw)}")
        )
        return None
    word = raw.get("distribution", LOG_NORMAL if logarithmic else NORMAL)
    if not isinstance(word, str) or word not in PRIORS:
        problems.append(Problem(f"{path}.distribution", f"{shorten(word)} is no distribution of a prior; {advise(word, PRIORS)}"))
        return None
    found: list[Problem] = []
    anywhere = Quantity(quantity.name, quantity.unit, quantity.description)
    axis = read_law(anywhere, path, raw, word, found)
    problems += found
    if found or not isinstance(axis, Drawn | Continuous):
        return None
    law, numbers = word, tuple(axis.numbers) if isinstance(axis, Drawn) else (("from", axis.start), ("to", axis.stop))
    sampled = Sampled(quantity.name, quantity.unit, *bounds, logarithmic, law, numbers)
    low, high = sampled.support
    if low >= high or sampled.mass < LEAST_MASS:
        ends = f"from = {bounds[0]:g}, to = {bounds[1]:g} (unit {quantity.unit})"
        message = f"leaves hardly any probability to the bounds {ends}: change one of them"
        problems.append(Problem(path, message))
        return None
    return Prior(law, numbers)


def at_values(parameters: Mapping[str, Any], frees: Sequence[Free], values: Sequence[float]) -> dict[str, Any]:
    """[parameters] with the free parameters replaced by numbers."""
    changed = {key: list(value) if isinstance(value, list) else value for key, value in parameters.items()}
    for free, value in zip(frees, values, strict=True):
        if free.node is None:
            changed[free.name] = float(value)
        else:
            changed[free.quantity.name][free.node] = float(value)
    return changed
