"""The results of an optimisation: as records, tables and files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.analysis.optimisation.front import FrontPoint
from tribosweep.sweep.analysis.optimisation.functions import Measure
from tribosweep.sweep.analysis.optimisation.jumps import Jump
from tribosweep.sweep.analysis.optimisation.load import Optimisation
from tribosweep.sweep.analysis.optimisation.optimality import ACTIVE, AT_BOUND, Optimum
from tribosweep.sweep.analysis.optimisation.searching import KEPT, Candidate, Scales, limits_of
from tribosweep.sweep.execution.answers import OF_OPTIMISE, forget
from tribosweep.sweep.execution.directory import OPTIMISED, STUDY
from tribosweep.sweep.io.atomic import make_folders, write_together
from tribosweep.sweep.io.toml import to_toml
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.free import at_values
from tribosweep.sweep.study.load import load
from tribosweep.sweep.study.optimise import OPTIMISE

if TYPE_CHECKING:
    import pyarrow as pa

END_OF_FRONT = "The end of the front with the best {}"  # the point of an optimum, its limits and its notes, of two objectives
CONSTRAINTS, HISTORY, FRONT, SLICE = "constraints.parquet", "history.parquet", "front.parquet", "slice.parquet"


@dataclass(frozen=True, slots=True)
class OptimisationRequest:
    """What a user asks for in addition to the optimum.

    Attributes:
        landscape: whether a slice around the optimum is computed. slice: its two variables; if empty, the first two.
    """

    landscape: bool = False
    slice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """Objectives and constraints over two variables, or one; the other variables stay at the optimum.

    Attributes:
        names: the variables. along: (side,) values of each. measures: (side, side or none, objectives + constraints); NaN without results.
    """

    names: tuple[str, ...]
    along: tuple[np.ndarray, ...]
    measures: np.ndarray


@dataclass(slots=True)
class OptimisationResult:
    """The result of an optimisation.

    Attributes:
        optimisation: the checked optimisation. evaluator: its functions. scales: of the functions.
        optima: the distinct ends of searches, the best first. candidates: every computed point.
        jumps: boundaries near the best optimum where a function jumps. polished: whether a search without derivatives found it.
        front: of two objectives. slice: if requested. notes: sentences for the reader.
    """

    optimisation: Optimisation
    evaluator: Evaluator
    scales: Scales
    optima: list[Optimum]
    candidates: list[Candidate]
    jumps: list[Jump] = field(default_factory=list)
    polished: bool = False
    front: list[FrontPoint] = field(default_factory=list)
    slice: Slice | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> bool:
        """Whether the best optimum keeps all constraints."""
        return self.optima[0].candidate.kept

    @property
    def converged(self) -> bool:
        """Whether the best optimum keeps all constraints and the optimality conditions hold there."""
        return self.optima[0].converged

    @property
    def best_values(self) -> np.ndarray:
        """(n,) the variables at the best optimum."""
        return self.values_at(self.optima[0].candidate)

    def values_at(self, candidate: Candidate) -> np.ndarray:
        """(n,) the variables of a computed point."""
        space = self.optimisation.space
        return space.values(space.low + space.width * candidate.place)

    def optimised(self) -> Config:
        """The study at the best optimum, with the rows of every point as its points."""
        document = {**self.optimisation.config.document}
        document["parameters"] = at_values(document.get("parameters", {}), self.optimisation.space.frees, self.best_values.tolist())
        return load(document)


def value_and_unit(value: float, measure: Measure) -> str:
    """A value with its unit, in words."""
    return f"{value:.6g}{measure.unit_suffix}"


def nothing(value: float) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def records(result: OptimisationResult) -> list[dict[str, Any]]:
    """One flat dict for each optimum and variable."""
    space, objectives = result.optimisation.space, result.optimisation.objectives
    found = []
    for number, optimum in enumerate(result.optima):
        values = result.values_at(optimum.candidate)
        for place, free in enumerate(space.frees):
            part = optimum.candidate.place[place]
            found.append({
                "optimum": number, "searches": len(optimum.searches), "kept": optimum.candidate.kept, "converged": optimum.converged,
                "residual": None if optimum.conditions is None else nothing(optimum.conditions.residual),
                "objective": str(objectives[0]), "objective_value": nothing(optimum.candidate.functions.measures[0]),
                "objective_unit": objectives[0].measure.unit, "variable": free.name, "unit": free.unit, "value": float(values[place]),
                "on_bound": bool(part < AT_BOUND or part > 1.0 - AT_BOUND), "lower": free.lower, "upper": free.upper,
                "scale": "log" if free.logarithmic else "linear",
            })  # fmt: skip
    return found


def limits(result: OptimisationResult) -> list[dict[str, Any]]:
    """One flat dict for each optimum and constraint."""
    optimisation, scales = result.optimisation, result.scales
    count, objective = len(optimisation.objectives), optimisation.objectives[0]
    found = []
    for number, optimum in enumerate(result.optima):
        excess = [float(g.max()) for g, _ in limits_of(optimum.candidate.functions, scales)]
        for place, constraint in enumerate(optimisation.constraints):
            value = float(optimum.candidate.functions.measures[count + place])
            slack = constraint.sign * (constraint.limit - value)
            active = abs(slack) <= ACTIVE * scales.constraints[place]
            multiplier = math.nan if optimum.conditions is None else float(optimum.conditions.multipliers[place])
            kept = bool(excess[place] <= KEPT)
            if not kept:  # the optimum is that of another question
                multiplier = math.nan
            per_unit = -objective.sign * constraint.sign * multiplier * scales.objectives[0] / scales.constraints[place]
            found.append({
                "optimum": number, "constraint": str(constraint), "value": nothing(value), "limit": constraint.limit,
                "unit": constraint.measure.unit, "slack": nothing(slack), "kept": kept,
                "active": bool(active), "multiplier": nothing(abs(per_unit)), "sensitivity": nothing(per_unit + 0.0),
            })  # fmt: skip
    return found


def history(result: OptimisationResult) -> list[dict[str, Any]]:
    """One flat dict for each computed point, in the order of computation."""
    names = (*(str(each) for each in result.optimisation.objectives), *(str(each) for each in result.optimisation.constraints))
    found = []
    for number, candidate in enumerate(result.candidates):
        values = zip(result.optimisation.space.names, result.values_at(candidate).tolist(), strict=True)
        functions = candidate.functions
        measures = {name: nothing(value) for name, value in zip(names, functions.measures, strict=True)} if functions.good else {}
        found.append({"evaluation": number, "search": candidate.search, **dict(values), **measures,
                      "excess": nothing(candidate.excess), "kept": candidate.kept})  # fmt: skip
    return found


def front(result: OptimisationResult) -> list[dict[str, Any]]:
    """One flat dict for each point of the front."""
    optimisation = result.optimisation
    first, second = (*optimisation.objectives, None, None)[:2]
    names = (*(str(each) for each in optimisation.objectives), *(str(each) for each in optimisation.constraints))
    found = []
    for number, point in enumerate(result.front):
        values = zip(optimisation.space.names, result.values_at(point.candidate).tolist(), strict=True)
        measures = zip(names, point.candidate.functions.measures.tolist(), strict=True)
        sign = first.sign * second.sign if first is not None and second is not None else 1.0
        found.append({"point": number, **dict(measures), **dict(values), "trade_off": nothing(-sign * point.trade_off),
                      "converged": point.converged})  # fmt: skip
    return found


def facts(result: OptimisationResult) -> dict[str, Any]:
    """The results that are not in the tables, ready for JSON."""
    optimisation, best, evaluator = result.optimisation, result.optima[0], result.evaluator
    count = len(optimisation.objectives)
    return {
        "objectives": [{"text": str(each), "verb": each.verb, "value": nothing(value), "unit": each.measure.unit}
                       for each, value in zip(optimisation.objectives, best.candidate.functions.measures[:count], strict=True)],
        "variables": dict(zip(optimisation.space.names, result.best_values.tolist(), strict=True)),
        "method": optimisation.method,
        "kept": result.kept,
        "converged": result.converged,
        "kkt_residual": None if best.conditions is None else nothing(best.conditions.residual),
        "searches": len({candidate.search for candidate in result.candidates}),
        "rows_of_a_point": evaluator.count,
        "points": len(result.candidates),
        "simulations": {"with_derivatives": evaluator.runs, "values_alone": evaluator.plain},
        "jumps": [{"function": str(evaluator.functions[each.function].measure), "before": nothing(each.before),
                   "after": nothing(each.after), "change": each.change, "distance": each.distance} for each in result.jumps],
        "notes": result.notes,
    }  # fmt: skip


def to_arrow(result: OptimisationResult) -> dict[str, pa.Table]:
    """The tables of a result, by file name."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    def table(rows: list[dict[str, Any]], columns: Mapping[str, tuple[Any, str, str]]) -> pa.Table:
        fields = [described(name, kind, unit, text) for name, (kind, unit, text) in columns.items()]
        metadata = {OPTIMISE: json.dumps(facts(result)), "config_hash": result.optimisation.config.digest}
        return pa.Table.from_pylist(rows, schema=pa.schema(fields, metadata=metadata))

    number, text, whole, truth = pa.float64(), pa.string(), pa.int64(), pa.bool_()
    variables = {free.name: (number, free.unit, free.quantity.description) for free in result.optimisation.space.frees}
    measures = {str(each): (number, each.measure.unit, each.measure.quantity.description) for each in result.evaluator.functions}
    found = {
        OPTIMISED: table(records(result), {
            "optimum": (whole, "", "number of the optimum, 0 for the best"), "searches": (whole, "", "how many searches ended there"),
            "kept": (truth, "", "whether all constraints are kept"), "converged": (truth, "", "whether the optimality conditions hold too"),
            "residual": (number, "1", "length of the gradient of the Lagrangian, in scales of the objective over the ranges"),
            "objective": (text, "", "what is minimised or maximised"), "objective_value": (number, "", "its value"),
            "objective_unit": (text, "", "its unit"), "variable": (text, "", "variable"), "unit": (text, "", "its unit"),
            "value": (number, "", "its value"), "on_bound": (truth, "", "whether it lies on a bound"), "lower": (number, "", "lower bound"),
            "upper": (number, "", "upper bound"), "scale": (text, "", "scale of its coordinate"),
        }),
        CONSTRAINTS: table(limits(result), {
            "optimum": (whole, "", "number of the optimum, 0 for the best"), "constraint": (text, "", "as the study states it"),
            "value": (number, "", "of the measure at the optimum"), "limit": (number, "", "what it must keep"),
            "unit": (text, "", "of both"), "slack": (number, "", "distance from the limit, negative where it is violated"),
            "kept": (truth, "", "whether the limit is kept"), "active": (truth, "", "whether the measure is at its limit"),
            "multiplier": (number, "", "Lagrange multiplier, unit of the objective over that of the limit; null without derivatives"),
            "sensitivity": (number, "", "derivative of the optimal objective by the limit; null without derivatives"),
        }),
        HISTORY: table(history(result), {
            "evaluation": (whole, "", "number of the computed point"), "search": (whole, "", "number of the search that asked for it"),
            **variables, **measures, "excess": (number, "1", "largest violation of a constraint, in parts of its limit"),
            "kept": (truth, "", "whether all constraints are kept"),
        }),
    }  # fmt: skip
    if result.front:
        found[FRONT] = table(front(result), {
            "point": (whole, "", "number of the point of the front"), **measures, **variables,
            "trade_off": (number, "", "slope of the front: change of the first objective over that of the second; null at its ends"),
            "converged": (truth, "", "whether the optimality conditions hold"),
        })  # fmt: skip
    if result.slice is not None:
        drawn = result.slice
        grid = [each.ravel() for each in np.meshgrid(*drawn.along, indexing="ij")]
        flat = drawn.measures.reshape(len(grid[0]), -1)
        rows = [{**{name: float(each[row]) for name, each in zip(drawn.names, grid, strict=True)},
                 **{name: nothing(value) for name, value in zip(measures, flat[row], strict=True)}}
                for row in range(len(grid[0]))]  # fmt: skip
        found[SLICE] = table(rows, {**{name: variables[name] for name in drawn.names}, **measures})
    return found


def write(result: OptimisationResult, directory: Path) -> list[Path]:
    """Write config.toml, optimised.toml and the tables into a directory. At any instant all that are there belong together.

    The table of optima comes first: where it is, config.toml is the study of an optimisation, and may be replaced. The caller holds the
    directory; see `tribosweep.sweep.execution.directory.hold_apart`.

    Raises:
        OSError: a file cannot be written.
    """
    from tribosweep.sweep.io import sealed_parquet

    make_folders(directory)
    document = result.optimisation.config.document
    texts = {STUDY: to_toml({**document, OPTIMISE: result.optimisation.section}), "optimised.toml": result.optimised().to_toml()}
    tables = {directory / name: sealed_parquet.to_bytes(table) for name, table in to_arrow(result).items()}
    first = directory / OPTIMISED
    files = {first: tables[first], **{directory / name: content.encode() for name, content in texts.items()}, **tables}
    obsolete = [directory / name for name in (FRONT, SLICE) if directory / name not in files]
    write_together(files, obsolete)
    forget(directory, OF_OPTIMISE)
    return [*files]
