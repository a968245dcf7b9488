"""A bifurcation diagram: Poincare points of the steady motions of a run over one parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

APERIODIC = 0


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bifurcation(Result):
    """The points of a bifurcation diagram.

    Attributes:
        study: name of the study. model: the simulated model.
        x: the parameter. y: the observable.
        x_values, y_values: (n,) coordinates of the drawn points, in their units. periods: (n,) periods of their motions, or APERIODIC.
        fixed: parameter -> value, for the parameters that the study sets for all rows.
        failed: number of failed rows. rows: number of rows in the run. points: number of points of the study. notes: for the reader.
    """

    study: str
    model: Model
    x: Quantity
    y: Quantity
    x_values: np.ndarray
    y_values: np.ndarray
    periods: np.ndarray
    fixed: dict[str, Any]
    failed: int
    rows: int
    points: int
    notes: list[str] = field(default_factory=list)

    def line(self) -> str:
        """The axes, and how many points there are."""
        return f"{self.study!r}: {self.y.name} over {self.x.name}, {len(self.y_values):,} points"

    def tables(self) -> dict[str, pa.Table]:
        """The "points": parameter, observable and `period`, null where the motion has none."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        fields = [described(q.name, pa.float64(), q.unit, q.description) for q in (self.x, self.y)]
        fields.append(described("period", pa.int64(), "", "periods of the excitation after which the motion repeats"))
        columns = [pa.array(self.x_values, pa.float64()), pa.array(self.y_values, pa.float64())]
        periods = pa.array(self.periods.astype(np.int64), mask=self.periods == APERIODIC)
        return {"points": pa.Table.from_arrays([*columns, periods], schema=pa.schema(fields))}
