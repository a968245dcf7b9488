"""The probability of a rare event, and the levels that lead to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution.adaptive.subset_simulation import subset_design
from tribosweep.sweep.io.text import exactly
from tribosweep.sweep.results.printed import PrintedTable, short
from tribosweep.sweep.results.result import Result
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

CURVE = ("value", "chance", "low", "high")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A probability and its uncertainty.

    Attributes:
        probability: the probability; 0 if no state has the event.
        variation: its coefficient of variation, by the families of the states with the event; NaN without a state.
        families: number of families, those states of level 0 from which states with the event descend.
        low, high: ends of its interval.
    """

    probability: float
    variation: float
    families: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, repr=False)
class RareEvent(Result):
    """The probability of a rare event with its coefficient of variation and interval, and the levels that lead to it; a notebook shows it.

    Attributes:
        state: state of the run (`run_state.state_of`). config: its study.
        observable: the quantity of the event; of a joined one its margin.
        confidence: level of the intervals.
        estimate: the probability of the event; None if no repeat has reached it.
        repeats: the estimate of each repeat that has reached it, by number.
        by_chains: coefficient of variation with the correlation within chains alone (Au and Beck 2001); NaN without estimate.
        levels: one entry per repeat and level, as in levels.parquet.
        curve: (k, 4) observable (or its difference from the parameter that is the limit), probability to pass it, ends of the interval.
        rows, failed, unknown: number of rows, of those without results, and of those with results in which the event is unknown.
        notes: sentences for the reader.
    """

    state: dict[str, Any] = field(repr=False)
    config: Config = field(repr=False)
    observable: Quantity
    confidence: float
    estimate: Estimate | None
    repeats: dict[int, Estimate] = field(repr=False)
    by_chains: float
    levels: list[dict[str, Any]] = field(repr=False)
    curve: np.ndarray = field(repr=False)
    rows: int
    failed: int
    unknown: int
    notes: list[str]

    @property
    def design(self) -> SubsetSimulation:
        """The design of the study."""
        return subset_design(self.config)

    @property
    def monte_carlo_rows(self) -> float:
        """The number of rows with which plain random points have the same coefficient of variation; NaN without estimate."""
        if self.estimate is None or not self.estimate.variation > 0.0:
            return math.nan
        p = self.estimate.probability
        return (1.0 - p) / (p * self.estimate.variation**2)

    @property
    def event(self) -> str:
        """The event with the unit of its limit: "peak_force > 5000 N"."""
        single = self.design.single
        if single is None:
            return str(self.design.event)
        shown = single.limit if isinstance(single.limit, str) else f"{exactly(single.limit)}{self.observable.unit_suffix}"
        return f"{self.observable.name} {single.relation} {shown}"

    @property
    def across(self) -> str:
        """What the curve is over: the observable, its difference from the parameter that is the limit, or the margin of a joined event."""
        single = self.design.single
        return self.observable.name if single is None or isinstance(single.limit, float) else f"{self.observable.name} - {single.limit}"

    @property
    def probability(self) -> float:
        """The probability of the event; NaN if no repeat has reached it."""
        return math.nan if self.estimate is None else self.estimate.probability

    @property
    def variation(self) -> float:
        """The coefficient of variation of the probability; NaN if no repeat has reached the event."""
        return math.nan if self.estimate is None else self.estimate.variation

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval of the probability; (0, NaN) if no repeat has reached the event."""
        return (0.0, math.nan) if self.estimate is None else (self.estimate.low, self.estimate.high)

    @property
    def has_failures(self) -> bool:
        """Whether rows failed, or no repeat has reached the event."""
        return self.failed > 0 or self.estimate is None

    def line(self) -> str:
        """The event and its probability."""
        if self.estimate is None:
            return f"{self.event}: not reached"
        return f"{self.event}: {self.probability:.3g} ({self.interval[0]:.2g} to {self.interval[1]:.2g})"

    def tables(self) -> dict[str, pa.Table]:
        """The "levels" (one row for each repeat and level) and the "curve" (probability to pass each value, with its interval)."""
        import pyarrow as pa

        from tribosweep.sweep.execution.adaptive.levels_table import columns_of
        from tribosweep.sweep.execution.parquet import described

        kinds = {"integer": pa.int64(), "word": pa.string(), "float": pa.float64()}
        levels = pa.schema([described(q.name, kinds[q.kind], q.unit, q.description) for q in columns_of(self.config)])
        about = (self.observable.description, "probability to pass it", "lower end of its interval", "upper end of its interval")
        units = (self.observable.unit, "1", "1", "1")
        curve = pa.schema([described(*each) for each in zip(CURVE, [pa.float64()] * 4, units, about, strict=True)])
        return {
            "levels": pa.Table.from_pylist(self.facts()["levels"], schema=levels),
            "curve": pa.Table.from_arrays(list(map(pa.array, np.ascontiguousarray(self.curve.T))), schema=curve),
        }

    def facts(self) -> dict[str, Any]:
        """The results: `estimate` (null if the event is not reached), `repeats`, `levels`, `curve`, and numbers of rows."""
        whole = self.estimate
        return {
            "study": self.state["study"],
            "event": self.event,
            "confidence": self.confidence,
            "estimate": None if whole is None else _fields_of(whole),
            "variation_by_chains": _finite(self.by_chains),
            "rows": self.rows,
            "failed": self.failed,
            "unknown": self.unknown,
            "monte_carlo_rows": _finite(self.monte_carlo_rows),
            "repeats": [{"repeat": number, **_fields_of(each)} for number, each in self.repeats.items()],
            "levels": [{name: _finite(value) for name, value in row.items()} for row in self.levels],
            "across": self.across,
            "unit": self.observable.unit,
            "curve": [dict(zip(CURVE, map(float, row), strict=True)) for row in self.curve],
        }

    def printed(self) -> Iterator[PrintedTable | str]:
        """The probability of the event, of all repeats together and of each, and the levels of every repeat."""
        level = f"{100.0 * self.confidence:g} %"
        yield f"probability of {self.event} and its coefficient of variation"
        header = ["probability", f"from ({level})", "to", "variation", "families", "rows", "by Monte Carlo"]
        named = [] if self.estimate is None else [("all repeats", self.estimate)]
        several = self.design.repeats > 1
        if several:
            named += [(f"repeat {number}", each) for number, each in self.repeats.items()]
        rows = []
        for name, each in named:
            cells = [short(each.probability), short(each.low), short(each.high), short(each.variation, 3), f"{each.families:,}"]
            cost = [f"{self.rows:,}", f"{self.monte_carlo_rows:.3g}"] if each is self.estimate else ["", ""]
            rows.append([*([name] if several else []), *cells, *cost])
        if not rows:
            rows = [["-"] * (len(header) + several)]
        yield PrintedTable("", [*(["of"] if several else []), *header], rows, header)
        yield ""
        yield self._printed_levels()

    def _printed_levels(self) -> PrintedTable:
        """The levels of every repeat."""
        unit = self.observable.unit_suffix.strip()
        goal = f"{self.across}{f' [{unit}]' if unit else ''}"
        several = self.design.repeats > 1
        header = ["level", goal, "share", "probability", "correlation", "variation", "accepted", "rows", "failed"]
        header += [UNKNOWN] if self.unknown else []
        rows = []
        for row in self.levels:
            shares = [short(row[name], 4) for name in ("goal", "probability", "exceedance", "correlation", "variation", "accepted")]
            cells = [str(row["level"]), *shares, f"{row['rows']:,}", f"{row['failed']:,}"]
            cells += [f"{row[UNKNOWN]:,}"] if self.unknown else []
            rows.append([*([str(row["repeat"])] if several else []), *cells])
        title = "levels: beyond the limit in the second column lies the next level"
        return PrintedTable(title, [*(["repeat"] if several else []), *header], rows, header)


def _fields_of(estimate: Estimate) -> dict[str, Any]:
    """An estimate for JSON."""
    return {name: _finite(value) for name, value in asdict(estimate).items()}


def _finite(value: Any) -> Any:
    """A value for JSON, null for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
