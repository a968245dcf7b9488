"""The events or impacts of single points of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

POINT, EVENT, SUPPORT = "point", "event", "support"
MOST_LINES = 10_000  # of a printed table
FORCES = ("a", "friction_force", "wall_force")  # what is left out last where a table is too wide


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Events(Result):
    """The events or impacts of single points, in the order of the points and of time.

    Attributes:
        study: its name. what: "events" or "impacts".
        quantities: what each column besides `point` is. columns: `point` and the name of each quantity -> (n,) values, in SI units.
    """

    study: str
    what: str
    quantities: tuple[Quantity, ...]
    columns: dict[str, np.ndarray]

    def line(self) -> str:
        """How many there are."""
        return f"{self.study!r}: {counted(len(self.columns[POINT]), self.what[:-1])}"

    @property
    def notes(self) -> list[str]:
        """A sentence for each point whose events do not reach the end of its run."""
        if EVENT not in self.columns:
            return []
        numbers = self.columns[POINT]
        last = np.flatnonzero(np.append(numbers[1:] != numbers[:-1], np.ones(min(len(numbers), 1), bool)))
        return [
            f"Point {numbers[row]} has no end: its events stop at t = {self.columns['time'][row]:g} s, because it has more of them "
            "than `most`, no longer advances, or is not finite: see the column `status` of its row."
            for row in last
            if self.columns[EVENT][row] != "end"
        ]

    @property
    def has_failures(self) -> bool:
        """Whether events of a point are missing."""
        return bool(self.notes)

    def tables(self) -> dict[str, pa.Table]:
        """The "events" or "impacts": `point`, and the columns of `tribosweep.event_log`, `impacts` or `structure_history.impacts`."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        fields, cells = [described(POINT, pa.int64(), "", "number of the point")], [pa.array(self.columns[POINT], pa.int64())]
        for quantity in self.quantities:
            kind, values = pa.float64(), self.columns[quantity.name]
            if quantity.name in (EVENT, SUPPORT):
                kind, values = pa.string(), values.astype(object)
            fields.append(described(quantity.name, kind, quantity.unit, quantity.description))
            cells.append(pa.array(values, kind, from_pandas=True))
        return {self.what: pa.Table.from_arrays(cells, schema=pa.schema(fields))}

    def facts(self) -> pd.DataFrame:
        """The rows of the table."""
        return self.to_pandas()

    def printed(self) -> Iterator[PrintedTable | str]:
        """The table; what does not fit on the terminal is left out, forces last."""
        names = [*self.columns]
        spare = [*reversed(names[names.index("a") + len(FORCES) :]), *FORCES] if "a" in names else []
        rows = [*zip(*(values.tolist() for values in self.columns.values()), strict=True)]
        right = [name for name in names if name not in (EVENT, SUPPORT)]
        yield PrintedTable("", names, rows, right, MOST_LINES, self.what, spare)
