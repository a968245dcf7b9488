"""The time history of one point of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

TIME = Quantity("time", "s", "time")
MOST_SUPPORTS = 4  # of a picture
MOST_COORDINATES = 6  # of the printed table


@dataclass(frozen=True, slots=True)
class Clearance:
    """A support as it is drawn.

    Attributes:
        name: of the support. obstacle: one of `tribosweep.kernels.models.supports.OBSTACLES`. gap: clearance [m].
        flat: whether the structure moves along its first axis alone.
    """

    name: str
    obstacle: str
    gap: float
    flat: bool


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TimeTrace(Result):
    """One point of a study in time.

    Attributes:
        study: name of the study. point: number of the point. scheme: what computed the trace.
        columns: name -> (n,) values, `time` [s] first. quantities: what each column is.
        clearances: the supports of a structure, in the order of the study; none of an oscillator with one coordinate.
        period: period of a single sine that shakes an oscillator with one coordinate [s]; NaN if there is none.
    """

    study: str
    point: int
    scheme: str
    columns: dict[str, np.ndarray]
    quantities: tuple[Quantity, ...]
    clearances: tuple[Clearance, ...]
    period: float

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader: there is nothing to note on a time history."""
        return []

    def line(self) -> str:
        """The point, and how many instants there are."""
        return f"{self.study!r}: {len(self.time):,} instants of point {self.point} by {self.scheme}"

    @property
    def time(self) -> np.ndarray:
        """(n,) times [s]."""
        return self.columns[TIME.name]

    @property
    def drawn(self) -> tuple[Clearance, ...]:
        """The supports that are drawn: all, or those with the largest normal forces, in the order of the trace."""
        peaks = {each.name: -float(self.columns[named("normal_force", each.name)].max()) for each in self.clearances}
        chosen = sorted(peaks, key=lambda name: peaks[name])[:MOST_SUPPORTS]
        return tuple(each for each in self.clearances if each.name in chosen)

    def tables(self) -> dict[str, pa.Table]:
        """The "trace", one row for each instant: `point`, and the columns."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        of = {quantity.name: quantity for quantity in self.quantities}
        fields = [described("point", pa.int64(), "", "number of the point")]
        cells = [pa.array(np.full(len(self.time), self.point), pa.int64())]
        for name, values in self.columns.items():
            cells.append(pa.array(values, from_pandas=True))
            fields.append(described(name, cells[-1].type, of[name].unit, of[name].description))
        return {"trace": pa.Table.from_arrays(cells, schema=pa.schema(fields))}

    def facts(self) -> dict[str, Any]:
        """The point, its scheme and the columns."""
        return {"point": self.point, "scheme": self.scheme, **{name: values.tolist() for name, values in self.columns.items()}}

    @property
    def left_out(self) -> list[str]:
        """The columns of coordinates, if they are too many for the printed table."""
        found = [name for name in self.columns if name.startswith(("q_", "v_"))]
        return found if len(found) > 2 * MOST_COORDINATES else []

    def printed(self) -> Iterator[PrintedTable | str]:
        """For each column: unit, first and last value, least value and its time [s], largest value and its time [s]."""
        units = {quantity.name: quantity.unit_suffix.strip() for quantity in self.quantities}
        rows = []
        for name in (name for name in self.columns if name not in self.left_out):
            values = self.columns[name]
            low, high = int(np.argmin(values)), int(np.argmax(values))
            ends = (values[0], values[-1], values[low], self.time[low], values[high], self.time[high])
            rows.append((name, units[name], *map(float, ends)))
        header = ["column", "unit", "first", "last", "least", "at t", "largest", "at t "]
        yield PrintedTable("", header, rows, header[2:])

    def hints(self, drawn: bool) -> Sequence[str]:
        """What a picture leaves out, or what the printed numbers are."""
        if drawn:
            shown = [each.name for each in self.drawn]
            few = f"Drawn are the {len(shown)} of {len(self.clearances)} supports that push most, {', '.join(shown)}; --support picks one."
            return [few] * (len(shown) < len(self.clearances))
        more = f" {len(self.left_out) // 2} coordinates are in --out and --json." if self.left_out else ""
        return [f"{len(self.time):,} instants of point {self.point} by {self.scheme}; a picture: --out trace.png.{more}"]
