"""Sensitivity of observables: tables of indices, uncertainties and derivatives."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.sensitivity.estimates import Estimate
from tribosweep.sweep.analyses.sensitivity.request import PICTURES, SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.sample import Kept, Sample
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import PrintedTable, short
from tribosweep.sweep.results.result import Result, finite_or_none, metadata_of
from tribosweep.sweep.study.event import Event, subject_of

if TYPE_CHECKING:
    import pyarrow as pa

INDICES, UNCERTAINTY, DERIVATIVES = "indices", "uncertainty", "derivatives"  # the tables besides SIZES
SECOND = "S2"
COLUMNS = {
    "observable": "observable to which the number belongs",
    "method": "how it was estimated",
    "groups": "number of groups, trajectories or points used",
    "measure": "name of the measure",
    "parameter": "parameter to which the number belongs",
    "other": "other parameter of a pair",
    "value": "estimate",
    "low": "lower end of its confidence interval",
    "high": "upper end of its confidence interval",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One number of a result, as a line of a table.

    Attributes:
        observable: its name. method: name of the method of estimation.
        groups: number of groups used: points of a sample, Saltelli's groups, trajectories, or points of a curve.
        estimate: the number.
    """

    observable: str
    method: str
    groups: int
    estimate: Estimate


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sensitivity(Result):
    """How observables depend on the parameters of a sample, and how uncertain they are; a notebook shows the tables.

    Attributes:
        sample: the rows. request: what was asked.
        quantities: the observables. events: those whose probabilities were asked for.
        kept: observable -> the groups that were used for it.
        lines: INDICES, UNCERTAINTY, DERIVATIVES, SIZES -> their lines. Probabilities of events are among those of UNCERTAINTY.
        without: event -> number of rows that count for its probability although one of its observables has no value there.
        notes: sentences for the reader.
    """

    sample: Sample
    request: SensitivityRequest
    quantities: list[Quantity]
    events: tuple[Event, ...]
    kept: dict[str, Kept]
    lines: dict[str, list[Line]]
    without: dict[str, int]
    notes: list[str] = field(default_factory=list)

    folder: ClassVar[str] = "sensitivity"
    shown: ClassVar[int] = 3
    optional: ClassVar[bool] = True
    pictures: ClassVar[Sequence[str]] = PICTURES

    def line(self) -> str:
        """The observables, and what there is of them."""
        there = ", ".join(f"{len(lines)} {table}" for table, lines in self.lines.items() if lines)
        return f"{', '.join(quantity.name for quantity in self.quantities)}: {there}"

    @property
    def failed(self) -> int:
        """Number of failed rows."""
        return int(np.count_nonzero(self.sample.failed))

    @property
    def has_failures(self) -> bool:
        """Whether rows failed."""
        return self.failed > 0

    def tables(self) -> dict[str, pa.Table]:
        """The "indices", "uncertainty" (mean, spread, quantiles and probabilities), "derivatives" and "sizes", one row for each number."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        kinds = {"groups": pa.int64(), **dict.fromkeys(("value", "low", "high"), pa.float64())}
        fields = [described(name, kinds.get(name, pa.string()), "", about) for name, about in COLUMNS.items()]
        facts = metadata_of({"config_hash": self.sample.config.digest}, self.request.model_dump())
        dropped = {name: {key: each for key, each in counts.items() if key != "used"} for name, counts in self._groups().items()}
        facts |= {"groups": json.dumps(dropped), "without_value": json.dumps(self.without)}
        schema = pa.schema(fields, metadata=facts)
        return {which: pa.Table.from_pylist(records(lines), schema=schema) for which, lines in self.lines.items()}

    def facts(self) -> dict[str, Any]:
        """The design, numbers of rows and groups, and the numbers of each table."""
        tables = {which: records(lines) for which, lines in self.lines.items()}
        return {"design": self.sample.method, "rows": len(self.sample.failed), "failed": self.failed, "groups": self._groups(), **tables}

    def _groups(self) -> dict[str, dict[str, int]]:
        """Of each observable, how many groups there are, and how many were used or dropped."""
        reasons = ("total", "missing", "failed", "void", "elsewhere")
        return {
            name: {"used": len(kept.groups), **{reason: getattr(kept, reason) for reason in reasons}} for name, kept in self.kept.items()
        }

    def printed(self) -> Iterator[PrintedTable | str]:
        """The tables of each observable, then the probabilities of events."""
        chances = {subject_of(event)[1] for event in self.events}
        for quantity in self.quantities:
            own = {which: [line for line in lines if line.observable == quantity.name] for which, lines in self.lines.items()}
            if own[INDICES]:
                yield from self._printed_indices(quantity, own[INDICES])
            if spread := [line for line in own[UNCERTAINTY] if line.estimate.measure not in chances]:
                yield from self._printed_uncertainty(quantity, spread)
            for method in dict.fromkeys(line.method for line in own[DERIVATIVES]):
                lines = [line for line in own[DERIVATIVES] if line.method == method]
                points = f", {lines[0].groups:,} points" if lines[0].groups > 1 else ""
                yield from (f"{quantity.name}: {method}{points}", by_parameter(lines), "")
        yield from self._printed_chances()

    def _printed_indices(self, quantity: Quantity, lines: Sequence[Line]) -> Iterator[PrintedTable | str]:
        """One row for each parameter with all its indices, then one row for each pair of parameters."""
        yield f"{quantity.name}: {lines[0].method} from {lines[0].groups:,} {group_noun(self.sample)}"
        yield from (by_parameter([line for line in lines if not line.estimate.other]), "")
        pairs = [line.estimate for line in lines if line.estimate.other]
        if pairs:
            rows = [(each.parameter, each.other, each.value, each.half_width) for each in pairs]
            header = ["parameter", "other", SECOND, "+-"]
            yield from (PrintedTable(f"{quantity.name}: second order", header, rows, header[2:]), "")

    def _printed_uncertainty(self, quantity: Quantity, lines: Sequence[Line]) -> Iterator[PrintedTable | str]:
        """Mean, spread and quantiles, each with the ends of its interval."""
        unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
        origin = counted(lines[0].groups, "point") + (f" in {len(self.sample.parts)} replicates" if lines[0].method == "replicates" else "")
        origin += ", those where it happened" if self.kept[quantity.name].void else ""
        header = ["number", "estimate", self._from, "to"]
        rows = [(e.measure, short(e.value, 7), short(e.low, 7), short(e.high, 7)) for e in (line.estimate for line in lines)]
        yield f"{quantity.name}{unit}: uncertainty from {origin}"
        yield from (PrintedTable("", header, rows, header[1:]), "")

    def _printed_chances(self) -> Iterator[PrintedTable | str]:
        """The probability of each event with the ends of its interval, and the number of rows that count without a value."""
        found = {(line.observable, line.estimate.measure): line for line in self.lines[UNCERTAINTY]}
        rows = []
        for event in self.events:
            if line := found.get(subject_of(event)):
                e, void = line.estimate, self.without[str(event)]
                rows.append((str(event), short(e.value, 7), short(e.low, 7), short(e.high, 7), f"{line.groups:,}", f"{void:,}"))
        if rows:
            header = ["event", "probability", self._from, "to", "rows", "without value"]
            yield "probabilities; where an observable has no value, nothing happened: such a row counts as one without the event"
            yield from (PrintedTable("", header, rows, header[1:]), "")

    @property
    def _from(self) -> str:
        """The heading of the lower ends of intervals."""
        return f"from ({100.0 * self.request.confidence:g} %)"


def group_noun(sample: Sample) -> str:
    """The word for what the indices of a design are estimated from."""
    return {"saltelli": "Saltelli groups", "morris": "trajectories", "fast": "points of a curve"}.get(sample.method, "points")


def by_parameter(lines: Sequence[Line]) -> PrintedTable:
    """One row for each parameter and one column for each measure; half the confidence interval follows its measure."""
    measures = list(dict.fromkeys(line.estimate.measure for line in lines))
    cells = {(line.estimate.parameter, line.estimate.measure): line.estimate for line in lines}
    bounded = [measure for measure in measures if any(math.isfinite(e.half_width) for (_, m), e in cells.items() if m == measure)]
    header = ["parameter"]
    for measure in measures:
        header += [measure, f"+- {measure}"] if measure in bounded else [measure]
    rows = []
    for parameter in dict.fromkeys(line.estimate.parameter for line in lines):
        row = [parameter]
        for measure in measures:
            estimate = cells[parameter, measure]
            row += [short(estimate.value), *([short(estimate.half_width, 2)] if measure in bounded else [])]
        rows.append(row)
    return PrintedTable("", header, rows, header[1:])  # a narrow table would wrap a title


def records(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Lines as flat dicts; a missing value or interval end is None."""
    found = []
    for line in lines:
        flat = {**asdict(line), **asdict(line.estimate)}
        cells = {name: finite_or_none(flat[name]) if isinstance(flat[name], float) else flat[name] for name in COLUMNS}
        found.append({name: None if cell == "" else cell for name, cell in cells.items()})
    return found
